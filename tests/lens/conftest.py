"""The tiny models of `tests/tiny.py`, one of each kind a session."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch

from seq2see.lens import VIEWS, add_views, measure_trust
from seq2see.text.word_links import Links


@pytest.fixture(scope="session", params=tiny.MOST_KINDS)
def any_model(request):
    """(model, tokenizer): a Marian, a BART, a T5, a Seq2See."""
    return tiny.make(request.param)


@pytest.fixture(scope="session")
def uneven_model(any_model):
    """The same with biases and norms that are not 0 and 1, as training leaves them: left out, they would be missed."""
    model, tokenizer = copy.deepcopy(any_model[0]), any_model[1]
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(torch.randn_like(weight) * 0.3)
        for name, buffer in model.named_buffers():
            if name == "final_logits_bias":
                buffer.normal_()
    return model, tokenizer


@pytest.fixture(scope="session")
def full_trace(seq2see, trace):
    """The same with every view."""
    [made] = add_views(*seq2see, [trace], views=VIEWS)
    return made


@pytest.fixture(scope="session")
def planted(trace):
    """A trace whose head (1, 0) looks at one source word a target word, and whose words left out say the same.

    `plant(head)` moves what that head sees to another head, and gives the trace and its true links.
    """
    sources, targets = len(trace.source_words), len(trace.target_words)
    links = {j: j * 5 % sources for j in range(targets)}

    def plant(head):
        raw = np.full_like(trace.cross["raw"], 1 / len(trace.source))
        fall = np.zeros((len(trace.target), sources), dtype=np.float32)
        for t, token in enumerate(trace.target):
            if token.word is not None:
                raw[head][t] = [float(one.word == links[token.word]) for one in trace.source]
                raw[head][t] /= raw[head][t].sum()
                fall[t, links[token.word]] = 3
                fall[t, links[token.word] - 1] = 0.1  # a tau compares two words at least
        return replace(trace, cross={"raw": raw}, left_out=fall), Links(frozenset((i, j) for j, i in links.items()))

    return plant


@pytest.fixture(scope="session")
def trust(planted):
    trace, gold = planted((1, 0))
    return measure_trust([trace], [trace] * 9, dev_gold=[gold], test_gold=[gold] * 9, measured_on="nine lines",
                         weights="abc")
