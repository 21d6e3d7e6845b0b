"""The plan of batches: a pure function of seed and epoch, within the budget, each pair once."""

import numpy as np
import pytest

from seq2see.training.batching import Collator, EncodedPair, MicroBatches, plan_epoch


@pytest.fixture
def lengths() -> np.ndarray:
    sides = np.random.default_rng(0).integers(2, 60, size=(500, 2))
    return np.sort(sides, axis=1)[:, ::-1]


def flat(batches) -> list[list[int]]:
    return [list(map(int, batch)) for batch in batches]


def test_plan_is_a_pure_function_of_seed_and_epoch(lengths):
    plan = flat(plan_epoch(lengths, max_tokens=400, seed=3, epoch=5))
    np.random.seed(1)  # whatever state the global generators are in
    assert flat(plan_epoch(lengths, max_tokens=400, seed=3, epoch=5)) == plan
    assert flat(plan_epoch(lengths, max_tokens=400, seed=3, epoch=6)) != plan
    assert flat(plan_epoch(lengths, max_tokens=400, seed=4, epoch=5)) != plan


@pytest.mark.parametrize("epoch", range(4))
def test_each_pair_comes_once_within_the_budget(lengths, epoch):
    plan = flat(plan_epoch(lengths, max_tokens=400, seed=0, epoch=epoch))
    assert sorted(index for batch in plan for index in batch) == list(range(500))
    assert all(len(batch) * lengths[batch].max() <= 400 for batch in plan)
    assert len(plan) == len(plan_epoch(lengths, max_tokens=400, seed=0, epoch=0))
    padded = sum(len(batch) * lengths[batch].max() for batch in plan)
    assert padded < 1.1 * lengths[:, 0].sum()


def test_a_pair_longer_than_the_budget_is_a_batch_of_its_own():
    plan = flat(plan_epoch(np.array([[900, 3], [4, 4], [5, 5]]), max_tokens=100, seed=0, epoch=0))
    assert sorted(map(sorted, plan)) == [[0], [1, 2]]


@pytest.mark.parametrize(("accumulation", "processes"), [(1, 1), (4, 1), (1, 3), (2, 3), (40, 2)])
def test_micro_batches_are_the_plan_dealt_out(lengths, accumulation, processes):
    plan = flat(plan_epoch(lengths, max_tokens=400, seed=0, epoch=2))
    hands = []
    for rank in range(processes):
        sampler = MicroBatches(
            lengths, max_tokens=400, seed=0, accumulation=accumulation, processes=processes, rank=rank
        )
        sampler.set_epoch(2)
        hands.append(list(sampler))
        assert len(hands[-1]) == len(sampler) == len(plan) * accumulation
    for step, batch in enumerate(plan):
        mine = [hand[step * accumulation : (step + 1) * accumulation] for hand in hands]
        assert sorted(index for steps in mine for micro in steps for index in micro) == sorted(batch)


def test_collator_pads_shifts_and_makes_a_batch_of_weight_zero_from_nothing():
    collate = Collator(pad_token_id=0, eos_token_id=2, decoder_start_token_id=1)
    batch = collate([EncodedPair([7, 8, 2], [4, 9, 2]), EncodedPair([7, 2], [4, 9, 9, 9, 2])])
    assert batch["input_ids"].tolist() == [[7, 8, 2], [7, 2, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch["labels"].tolist() == [[4, 9, 2, -100, -100], [4, 9, 9, 9, 2]]
    assert batch["decoder_input_ids"].tolist() == [[1, 4, 9, 0, 0], [1, 4, 9, 9, 9]]
    empty = collate([])
    assert empty["labels"].tolist() == [[-100]]
    assert empty["attention_mask"].sum() == 1
