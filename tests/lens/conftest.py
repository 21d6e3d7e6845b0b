"""The tiny models of `tests/tiny.py`, one of each kind a session."""

import copy
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tiny


@pytest.fixture(scope="session", params=tiny.KINDS)
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
def seq2see():
    return tiny.make("seq2see")


@pytest.fixture(scope="session")
def trace(seq2see):
    """A Seq2See's trace with pieces of every sort: a tag, a word in several pieces, bytes, punctuation."""
    from seq2see.lens import trace_hypotheses

    model, tokenizer = seq2see
    source = "The cat, <b>猫</b>, did not cross."
    target = tokenizer.encode_target("Le chat n'a pas traversé.", language="fr")
    [made] = trace_hypotheses(
        model, tokenizer, [source], [target], source_language="en", target_language="fr", given=1, scores=[-1.5]
    )
    return made
