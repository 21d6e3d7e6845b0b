"""Pairs as ids, kept and found again; the plan of batches: a pure function of seed and epoch, each pair once."""


import numpy as np
import pytest
from accelerate import skip_first_batches
from torch.utils.data import DataLoader

from seq2see.errors import UserError
from seq2see.tokenizer.tokenization_seq2see import train_tokenizer
from seq2see.training import batching
from seq2see.training.batching import EncodedPairs, MicroBatches, plan_epoch
from seq2see.training.config import DataConfig
from seq2see.training.pair_encoding import PairEncoder
from seq2see.training.pairs import StoredPairs, load_corpus


@pytest.fixture
def stored(toy_file, tmp_path, monkeypatch) -> StoredPairs:
    """The toy pairs in a cache of their own."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    return load_corpus(DataConfig(path=str(toy_file), val_fraction=0.1)).train


def items(pairs: EncodedPairs) -> list[tuple[list[int], list[int]]]:
    return [(list(item.source), list(item.labels)) for item in (pairs[index] for index in range(len(pairs)))]


def test_items_are_what_the_tokenizer_makes_of_the_pairs(stored, tokenizer):
    encoded = EncodedPairs(stored, tokenizer, max_length=64)
    expected = [
        (tokenizer.encode_source(pair.source), tokenizer.encode_target(pair.target, language="fr")) for pair in stored
    ]
    assert items(encoded) == items(EncodedPairs(list(stored), tokenizer, max_length=64)) == expected
    assert [encoded.pairs[index] for index in range(len(encoded))] == list(stored)
    assert encoded.lengths().tolist() == [sorted(map(len, sides), reverse=True) for sides in expected]


def test_stored_pairs_are_tokenised_once_for_each_tokenizer(stored, tokenizer, monkeypatch):
    before = items(EncodedPairs(stored, tokenizer, max_length=64))
    other = train_tokenizer([pair.source for pair in stored], vocab_size=320, languages=["fr"])
    assert items(EncodedPairs(stored, other, max_length=64)) != before
    monkeypatch.setattr(PairEncoder, "__call__", None)
    assert items(EncodedPairs(stored, tokenizer, max_length=64)) == before


@pytest.mark.long
def test_several_workers_tokenise_as_one(stored, tokenizer, monkeypatch):
    expected = items(EncodedPairs(list(stored), tokenizer, max_length=64))
    monkeypatch.setattr(batching, "PAIRS_PER_WORKER", len(stored) // 3)
    monkeypatch.setattr(batching, "usable_cores", lambda: 3)
    encoded = EncodedPairs(stored, tokenizer, max_length=64)
    assert len(list(stored.folder.glob("ids-*/*.arrow"))) == 3 and items(encoded) == expected


def test_a_pair_with_more_tokens_than_positions_is_named(stored, tokenizer):
    with pytest.raises(UserError, match=r"a pair has \d+ tokens, but the model has 4 positions; lower") as told:
        EncodedPairs(stored, tokenizer, max_length=4)
    assert "for a new model, raise model.max_position_embeddings" in str(told.value)  # others have a shape


@pytest.fixture
def lengths() -> np.ndarray:
    return np.sort(np.random.default_rng(0).integers(2, 60, size=(500, 2)), axis=1)[:, ::-1]


def flat(batches) -> list[list[int]]:
    return [list(map(int, batch)) for batch in batches]


def test_a_plan_has_each_pair_once_within_the_budget_in_an_order_of_seed_and_epoch(lengths):
    plans = []
    for seed, epoch in ((0, 0), (0, 1), (1, 0)):
        plans.append(flat(plan_epoch(lengths, max_tokens=400, seed=seed, epoch=epoch)))
        assert sorted(index for batch in plans[-1] for index in batch) == list(range(500))
        assert all(len(batch) * lengths[batch].max() <= 400 for batch in plans[-1])
        assert sum(len(batch) * lengths[batch].max() for batch in plans[-1]) < 1.1 * lengths[:, 0].sum()
    assert plans[0] != plans[1] and plans[0] != plans[2] and len(plans[0]) == len(plans[1])
    alone = flat(plan_epoch(np.array([[900, 3], [4, 4], [5, 5]]), max_tokens=100, seed=0, epoch=0))
    assert sorted(map(sorted, alone)) == [[0], [1, 2]], "a pair longer than the budget"


def plainly_planned(lengths: np.ndarray, *, max_tokens: int, seed: int, epoch: int) -> list[list[int]]:
    """The law of batches, pair by pair."""
    rng = np.random.default_rng([seed, epoch])
    ties = rng.permutation(len(lengths))
    batches: list[list[int]] = [[]]
    for index in sorted(range(len(lengths)), key=lambda i: (*lengths[i], ties[i])):
        if batches[-1] and (len(batches[-1]) + 1) * lengths[index][0] > max_tokens:
            batches.append([])
        batches[-1].append(index)
    return [batches[index] for index in rng.permutation(len(batches))]


@pytest.mark.parametrize(("count", "longest"), [(1, 5), (300, 3), (500, 200)])
@pytest.mark.parametrize("max_tokens", [1, 100, 400, 100_000])
def test_plan_is_that_of_the_plain_loop(count, longest, max_tokens):
    """To the bit: the batches of a given seed must never change, or old runs could not be resumed."""
    sides = np.random.default_rng(count).integers(2, longest, size=(count, 2)).astype(np.int32)
    lengths = np.sort(sides, axis=1)[:, ::-1]
    for epoch in range(2):
        settings = {"max_tokens": max_tokens, "seed": 1, "epoch": epoch}
        assert flat(plan_epoch(lengths, **settings)) == plainly_planned(lengths, **settings)


@pytest.mark.parametrize(("accumulation", "processes"), [(4, 1), (2, 3), (40, 2)])
@pytest.mark.parametrize("skipped", [0, 7])  # batches done before an interruption
def test_micro_batches_are_the_plan_dealt_out(lengths, accumulation, processes, skipped):
    plan = flat(plan_epoch(lengths, max_tokens=400, seed=0, epoch=2))[skipped:]
    hands = []
    for rank in range(processes):
        sampler = MicroBatches(
            lengths, max_tokens=400, seed=0, accumulation=accumulation, processes=processes, rank=rank
        )
        sampler.set_epoch(2)
        loader = DataLoader(range(len(lengths)), batch_sampler=sampler, collate_fn=list)
        hands.append(list(skip_first_batches(loader, skipped * accumulation)))
        assert len(hands[-1]) == len(sampler) - skipped * accumulation == len(plan) * accumulation
    for step, batch in enumerate(plan):
        mine = [hand[step * accumulation : (step + 1) * accumulation] for hand in hands]
        assert sorted(index for steps in mine for micro in steps for index in micro) == sorted(batch)
