"""The means that replace heads are those of the model as it is, however it came to be that."""

import json
from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch

from seq2see.lens import ablate, mean_outputs, patch, record, steer, trace_texts
from seq2see.lens.changes.means import EXAMPLES, head_means
from seq2see.passes.weights_checksum import checksum

CROSS = ("cross", 1, 0)


@pytest.fixture
def own():
    """A model of this test's own, and its tokenizer."""
    return tiny.seq2see()


@pytest.fixture
def folder(tmp_path):
    return examples(tmp_path, ["The cat.", "The box."], ["Le chat.", ""])


def examples(folder, sources, targets):
    folder.mkdir(exist_ok=True)
    content = {"sentences": sources, "torch": {"en-fr": targets}}
    (folder / EXAMPLES).write_text(json.dumps(content), encoding="utf-8")
    return folder


def fresh(model, tokenizer):
    """The means over the one example that has a translation."""
    return mean_outputs(model, [tokenizer.encode_source("The cat.")],
                        [tokenizer.encode_target("Le chat.", language="fr")])


def alike(means, others):
    return all(torch.equal(means[head], others[head]) for head in others)


def test_they_are_over_the_examples_of_a_packaged_model(own, trace, folder):
    means, count = head_means(*own, trace, folder)
    assert count == 1, "a translation that is empty is none"
    assert alike(means, fresh(*own))
    again, _ = head_means(*own, trace, folder)
    assert again is means, "computed once"


def step(model, **how):
    """One step of training."""
    ids = torch.tensor([[5, 6, 2]])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **how)
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()


def of_one_head(model):
    """An edit of a few weights that PyTorch's version counters do not see."""
    model.get_decoder().layers[1].encoder_attn.v_proj.weight.data[3:5] *= 2


CHANGES = [step, lambda model: step(model, fused=True), of_one_head,
           lambda model: model.load_state_dict(tiny.seq2see(seed=1)[0].state_dict())]


@pytest.mark.parametrize("change", CHANGES, ids=["trained", "trained by fused kernels", "edited", "loaded"])
def test_they_follow_the_weights(own, trace, folder, change):
    model, tokenizer = own
    before, _ = head_means(model, tokenizer, trace, folder)
    weights = checksum(model)
    change(model)
    assert checksum(model) != weights
    after, _ = head_means(model, tokenizer, trace, folder)
    assert alike(after, fresh(model, tokenizer)) and not alike(after, before)


def test_a_pass_and_another_mode_leave_the_checksum(own):
    model, tokenizer = own
    weights = checksum(model)
    fresh(model.train(), tokenizer)
    model.eval().requires_grad_(False)
    assert checksum(model) == weights == checksum(tiny.seq2see()[0])


def patched(model, tokenizer):
    source, target = tokenizer.encode_source("The cat."), tokenizer.encode_target("Le chat.", language="fr")
    return patch(model, record(model, [source[::-1]], [target]), heads=[CROSS])


INSIDE = {
    "ablated": lambda model, _: ablate(model, [CROSS]),
    "patched": patched,
    "at another temperature": lambda model, _: steer(model, temperatures={CROSS: 3.0}),
    "with other weights": lambda model, _: steer(model, weights={("encoder", 0, 0): np.eye(4)}),  # "The cat."
}


@pytest.mark.parametrize("inside", INSIDE.values(), ids=INSIDE)
def test_those_of_an_intervention_are_not_kept(own, trace, folder, inside):
    """They are first asked for inside, then outside, then inside."""
    model, tokenizer = own
    with inside(model, tokenizer):
        within, _ = head_means(model, tokenizer, trace, folder)
        assert alike(within, fresh(model, tokenizer))
    whole, _ = head_means(model, tokenizer, trace, folder)
    assert alike(whole, fresh(model, tokenizer)) and not alike(whole, within)
    with inside(model, tokenizer):
        assert alike(head_means(model, tokenizer, trace, folder)[0], within)


def test_they_are_of_the_folder_that_is_given(own, trace, folder, tmp_path):
    model, tokenizer = own
    here, _ = head_means(model, tokenizer, trace, folder)
    other = examples(tmp_path / "other", ["The box did not fit.", "The cat."], ["La boîte.", "Le chat."])
    there, count = head_means(model, tokenizer, trace, other)
    assert count == 2 and not alike(there, here)
    alone, count = head_means(model, tokenizer, trace, None)
    assert count == 0 and not alike(alone, here)
    examples(folder, ["The box."], ["Le chat."])
    assert not alike(head_means(model, tokenizer, trace, folder)[0], here), "nor if the file has changed"


def test_a_forced_prefix_is_no_part_of_the_examples(folder):
    """Of a model without language tags only the tokens tell that a prefix was forced."""
    model, tokenizer = tiny.make("marian")
    [free] = trace_texts(model, tokenizer, ["The cat."], ["La boîte."], source_language="en", target_language="fr")
    forced = replace(free, given=2)
    assert not free.given and not forced.target[0].special
    assert head_means(model, tokenizer, forced, folder)[0] is head_means(model, tokenizer, free, folder)[0]
