"""Reading what passes through a model, and putting something else in its place."""

import pytest
import torch

from seq2see.errors import UserError
from seq2see.lens import ablate
from seq2see.lens.hooks import all_heads, all_sites, capture, replaced
from seq2see.lens.teacher_forcing import encode_source, eval_mode, forced_pass

TARGET = [7, 9, 8, 2]


@pytest.fixture
def run(any_model):
    """One pass over a sentence: its logits."""
    model, tokenizer = any_model
    return lambda: forced_pass(model, [encode_source(tokenizer, "The cat did not cross.")], [TARGET])[0].logits


def test_what_is_captured_and_put_back_changes_nothing_and_in_another_place_it_does(any_model, run):
    model, _ = any_model
    sites = {(site.kind, site.layer): site.output for site in all_sites(model)}
    with eval_mode(model):
        with capture(sites, "in") as read, capture(sites, "out") as written:
            plain = run()
        assert read.keys() == written.keys() == sites.keys()
        for side, kept in (("in", read), ("out", written)):
            with replaced((sites[key], side, lambda _, key=key, kept=kept: kept[key]) for key in sites):
                assert torch.equal(run(), plain)
            with replaced((sites[key], side, lambda own, key=key, kept=kept: kept[key].flip(1)) for key in sites):
                assert not torch.allclose(run(), plain, atol=1e-3)
        with replaced((module, "out", lambda own: None) for module in sites.values()):
            assert torch.equal(run(), plain), "None leaves it as it is"


def test_what_comes_later_sees_what_was_put_in(any_model, run):
    model, _ = any_model
    site = all_sites(model)[0]
    with eval_mode(model), capture({"out": site.output}, "out") as seen:
        with replaced([(site.output, "out", torch.zeros_like)]):
            run()
        assert not seen["out"].any()
        run()
        assert seen["out"].any()


def test_no_hook_is_left_after_an_exception(any_model):
    model, _ = any_model
    count = lambda: sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())  # noqa: E731
    before, site = count(), all_sites(model)[0]
    with pytest.raises(RuntimeError, match="broken"), capture({0: site.output}, "in"), replaced(
            [(site.output, "in", torch.zeros_like), (site.value, "out", torch.zeros_like)]):
        assert count() == before + 3
        raise RuntimeError("broken")
    assert count() == before


def test_one_head_where_a_list_is_meant_is_an_error(any_model):
    model, _ = any_model
    with pytest.raises(UserError, match=r"\('encoder', 0, 0\) is a single head, expected a list"), ablate(
            model, all_heads(model)[0]):
        pass


def test_hooks_are_registered_in_one_module(root):
    texts = {path.name: path.read_text("utf-8") for path in (root / "lens").glob("*.py")}
    assert [name for name, text in texts.items() if "register_forward" in text] == ["hooks.py"]
