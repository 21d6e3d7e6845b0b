"""What the lessons that train something compute, on small networks that have not been trained."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from seq2see.lessons import l04_causal_mask as mask
from seq2see.lessons import l05_many_heads as heads
from seq2see.lessons import l13_positions as positions
from seq2see.lessons import l18_overfitting as overfitting
from seq2see.lessons import small
from seq2see.lessons.recurrent import RecurrentTranslator
from seq2see.lessons.small import Recipe
from seq2see.lessons.workbench import Workbench
from seq2see.modeling.positions import sinusoids
from seq2see.tokenizer import Seq2SeeTokenizer, train_tokenizer
from seq2see.training.batching import EncodedPairs
from seq2see.training.pairs import Pair
from tests import tiny

VOCABULARY = 40


def a_network(**recipe: Any) -> small.SmallModel:
    """Weights that are spread out: of a fresh network attention is nearly even, and much looks equal."""
    torch.manual_seed(0)
    model = small.build(Recipe(**recipe), vocabulary=VOCABULARY).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(std=0.3)
    return model


def ids(*shape: int) -> torch.Tensor:
    return torch.randint(4, VOCABULARY, shape, generator=torch.Generator().manual_seed(1))


def test_a_position_that_is_hardly_there_is_not_read_off_worse_than_by_the_mean() -> None:
    """What ridge regression shrinks, however small, never points the other way."""
    def encoder(input_ids: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(last_hidden_state=0.01 * torch.arange(input_ids.shape[1])[None, :, None].float())

    stories = [SimpleNamespace(source="a b c d e f", contrast_key=None)] * 12
    bench: Any = SimpleNamespace(tokenizer=lambda text, **_: {"input_ids": [*range(7)]},
                                 corpus=SimpleNamespace(test=stories), pick=lambda whole, quick: quick)
    model: Any = SimpleNamespace(model=SimpleNamespace(encoder=encoder))
    assert positions.read_off(model, bench) > 0


@pytest.mark.parametrize("causal", [True, False])
def test_one_pass_gives_the_losses_of_all_beginnings_only_with_the_mask(causal: bool) -> None:
    model = a_network(causal=causal)
    at_once, one_by_one = (loss(model, ids(1, 7), ids(1, 9)) for loss in (mask.losses_at_once, mask.losses_one_by_one))
    assert bool(((at_once - one_by_one).abs() < 1e-4).all()) is causal
    assert torch.allclose(at_once[-1], one_by_one[-1], atol=1e-4)  # the whole has nothing to come


@pytest.mark.parametrize("causal", [True, False])
def test_without_the_mask_a_later_word_changes_what_is_said_before_it_and_padding_does_not(causal: bool) -> None:
    model, source, target = a_network(causal=causal), ids(1, 5), ids(1, 6)
    everything = torch.ones_like(source)
    memory = model.encode(source, everything)
    real = torch.ones_like(target)
    padded = torch.cat([real[:, :-1], torch.zeros(1, 1, dtype=torch.long)], dim=1)
    other = target.clone()
    other[0, -1] = 3
    with_all, changed, hidden, hidden_changed = (
        model.decode(memory, everything, read, seen)[0, :-1]
        for read, seen in ((target, real), (other, real), (target, padded), (other, padded))
    )
    assert torch.allclose(with_all, changed, atol=1e-5) is causal
    assert torch.allclose(hidden, hidden_changed, atol=1e-5)


@pytest.mark.parametrize("positions", [True, False])
def test_without_positions_neither_side_knows_the_order(positions: bool) -> None:
    """The mask is off too: by it alone a decoder would know."""
    model, source, target = a_network(positions=positions, causal=False), ids(1, 6), ids(1, 5)
    seen, read = torch.ones_like(source), torch.ones_like(target)
    memory = model.encode(source, seen)
    assert torch.allclose(model.encode(source.flip(1), seen).flip(1), memory, atol=1e-4) is not positions
    states = model.decode(memory, seen, target, read)
    assert torch.allclose(model.decode(memory, seen, target.flip(1), read).flip(1), states, atol=1e-4) is not positions


def test_each_epoch_has_the_same_pairs_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(["the cat"] * (1 + number)) for number in range(9)]
    data = EncodedPairs([Pair(text, text, "en", "fr") for text in texts], tiny.make("seq2see")[1], max_length=99)
    monkeypatch.setattr(small, "MAX_TOKENS", 1)  # each pair is a batch
    shown = [batch["input_ids"].shape[1] for batch in small.batches(data, steps=27, seed=0)]
    epochs = [shown[:9], shown[9:18], shown[18:]]
    assert [len(set(one)) for one in epochs] == [9] * 3 and len({tuple(sorted(one)) for one in epochs}) == 1
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]


def test_heads_side_by_side_and_projected_are_heads_added_up() -> None:
    per_head, output = torch.randn(3, 5, 4).double(), torch.randn(12, 12).double()
    assert torch.allclose(heads.together(per_head, output), heads.added_up(per_head, output), atol=1e-12)
    swapped = per_head[[1, 0, 2]]  # each head needs its own part of the projection
    assert not torch.allclose(heads.together(per_head, output), heads.added_up(swapped, output), atol=1e-2)


def test_sinusoids_shift_by_a_rotation_and_a_learnt_table_does_not() -> None:
    table = sinusoids(64, 16).double().numpy()
    other = np.random.default_rng(0).standard_normal(table.shape)
    assert positions.shift_error(table) < 1e-5 < positions.shift_error(other)
    assert positions.by_distance(table) < 1e-5 < positions.by_distance(other)


@pytest.mark.parametrize("network", ["elman", "gru", "gru with attention"])
def test_a_recurrent_translator_reads_from_left_to_right_and_writes_from_the_last_state(network: str) -> None:
    torch.manual_seed(0)
    model = RecurrentTranslator(network, width=16, vocabulary=VOCABULARY)
    source, target = ids(1, 6), ids(1, 4)
    seen = torch.ones_like(source)
    memory = model.encode(source, seen)
    later = source.clone()
    later[0, 4] = 3
    assert torch.equal(model.encode(later, seen)[:, :4], memory[:, :4])
    padded = torch.cat([source, torch.zeros(1, 2, dtype=torch.long)], dim=1)
    shown = torch.cat([seen, torch.zeros(1, 2, dtype=torch.long)], dim=1)
    written = model.decode(memory, seen, target, target)
    assert torch.allclose(model.decode(model.encode(padded, shown), shown, target, target), written, atol=1e-6)
    earlier = memory.clone()
    earlier[:, :-1] += 1
    assert torch.allclose(model.decode(earlier, seen, target, target), written) is (network != "gru with attention")


@pytest.fixture
def toy() -> tuple[small.SmallModel, list[Pair], Seq2SeeTokenizer]:
    texts = ["a", "a cat", "the cat sees a dog", "a dog and a cat see the bird"] * 3
    tokenizer = train_tokenizer(texts, vocab_size=320, languages=["fr"])
    torch.manual_seed(0)
    return small.build(Recipe(), vocabulary=len(tokenizer)), [Pair(one, one, "en", "fr") for one in texts], tokenizer


def test_the_learning_rate_rises_to_its_peak_and_falls_straight_down_to_nothing(toy: Any) -> None:
    rates = []
    handle = register_optimizer_step_pre_hook(lambda optimizer, *_: rates.append(optimizer.param_groups[0]["lr"]))
    small.fit(*toy, steps=20, seed=0)
    handle.remove()
    assert max(rates) == pytest.approx(small.LEARNING_RATE, rel=0.1) and rates.index(max(rates)) <= 2
    assert np.diff(rates[2:]) == pytest.approx(-small.LEARNING_RATE / 18, rel=1e-3)
    assert rates[-1] < 0.06 * small.LEARNING_RATE


def test_the_test_loss_counts_each_token_alike_however_batches_are_cut(
        toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = []
    for most in (1, 5, 10_000):
        monkeypatch.setattr(small, "MAX_TOKENS", most)
        losses.append(small.test_loss(*toy))
    model, pairs, tokenizer = toy
    losses.append(small.test_loss(model, pairs * 2, tokenizer))
    assert losses == pytest.approx(losses[:1] * 4, rel=1e-5)


def test_what_was_trained_does_not_depend_on_what_was_before_and_tests_on_unseen_sentences(
        bench: Workbench, tmp_path: Path) -> None:
    bench = replace(bench, shelf=tmp_path / "one")  # the session's own shelf holds what other tests trained
    first = small.trained(bench, Recipe(), 0)
    torch.rand(5)
    assert first.losses == small.trained(replace(bench, shelf=tmp_path / "two"), Recipe(), 0).losses
    task = small.task_of(bench)
    assert not {story.source for story in task.train} & {story.source for story in task.test}
    sources = [story.source for story in task.test[:3]]
    together = small.translate(first.model, task.tokenizer, sources, longest=8)
    assert together == [small.translate(first.model, task.tokenizer, [one], longest=8)[0] for one in sources]


def test_a_head_is_chosen_in_validation_and_reported_on_other_sentences(
        bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    def scores(*by_head: float) -> Any:
        return {("encoder", role): SimpleNamespace(scores=np.array([[by_head]])) for role in ("antecedent", "state")}

    halves = iter((scores(0.2, 0.9), scores(0.8, 0.3)))
    monkeypatch.setattr(overfitting, "measured_on", lambda model, tokenizer, stories: next(halves))
    task = small.task_of(bench)
    model = small.build(small.Recipe(), vocabulary=len(task.tokenizer))
    assert overfitting.of_attention(model, task, task.test[:1], task.test[1:2]) == [0.3, 0.3]
