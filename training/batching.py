"""Encoded pairs and the batches made of them.

A batch is the pairs of one optimizer step.  The plan of an epoch is a pure function of (seed, epoch) and the lengths,
never of the number of processes or accumulation steps: those only cut each batch into micro-batches.  That is why one
process and two, and 8x1 and 1x8, follow the same trajectory, and why resuming is exact.
"""

# B pairs, S source length, T target length

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from seq2see.errors import UserError
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.training.pairs import Pair


@dataclass(frozen=True)
class EncodedPair:
    source: list[int]  # pieces </s>
    labels: list[int]  # tag pieces </s>

    def __len__(self) -> int:
        return max(len(self.source), len(self.labels))


class EncodedPairs(Dataset[EncodedPair]):
    """Pairs as token ids, each tokenised once."""

    def __init__(self, pairs: Sequence[Pair], tokenizer: Seq2SeeTokenizer, *, max_length: int):
        self.pairs = list(pairs)
        sources = tokenizer.encode_sources([pair.source for pair in pairs])
        targets = tokenizer.encode_targets(
            [pair.target for pair in pairs], [pair.target_language for pair in pairs]
        )
        self.items = [EncodedPair(source, labels) for source, labels in zip(sources, targets, strict=True)]
        for pair, item in zip(pairs, self.items, strict=True):
            if len(item) > max_length:
                raise UserError(
                    f"a pair of {len(item)} pieces, more than the model's {max_length} positions, starts"
                    f" {pair.source[:40]!r}; raise model.max_position_embeddings or lower data.max_characters"
                )

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> EncodedPair:
        return self.items[index]

    def lengths(self) -> np.ndarray:
        """The longer side of each pair, and the shorter: [N, 2]."""
        sides = np.array([[len(item.source), len(item.labels)] for item in self.items])
        return np.sort(sides, axis=1)[:, ::-1]


def plan_epoch(lengths: np.ndarray, *, max_tokens: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Batches of pair indices: like lengths together, at most `max_tokens` padded pieces a side, in random order.

    The number of batches is the same in every epoch, since cuts depend on the longer sides alone.
    """
    rng = np.random.default_rng([seed, epoch])
    order = np.lexsort((rng.permutation(len(lengths)), lengths[:, 1], lengths[:, 0]))
    batches, start = [], 0
    for end, index in enumerate(order):
        if (end + 1 - start) * lengths[index, 0] > max_tokens and end > start:
            batches.append(order[start:end])
            start = end
    batches.append(order[start:])
    return [batches[index] for index in rng.permutation(len(batches))]


class MicroBatches(Sampler[list[int]]):
    """The micro-batches of one process: each batch is dealt out to `processes` x `accumulation` hands.

    A hand may be empty, and becomes a batch of weight zero, so that all processes take as many steps.
    """

    def __init__(
        self,
        lengths: np.ndarray,
        *,
        max_tokens: int,
        seed: int,
        accumulation: int = 1,
        processes: int = 1,
        rank: int = 0,
    ):
        self.lengths, self.max_tokens, self.seed = lengths, max_tokens, seed
        self.accumulation, self.processes, self.rank = accumulation, processes, rank
        self.epoch = 0
        self.batches = len(plan_epoch(lengths, max_tokens=max_tokens, seed=seed, epoch=0))

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return self.batches * self.accumulation

    def __iter__(self) -> Iterator[list[int]]:
        hands = self.accumulation * self.processes
        for batch in plan_epoch(self.lengths, max_tokens=self.max_tokens, seed=self.seed, epoch=self.epoch):
            for step in range(self.accumulation):
                yield batch[self.rank * self.accumulation + step :: hands].tolist()


class EpochLoader(DataLoader[EncodedPair]):
    """A DataLoader that tells its sampler the epoch; the Trainer asks it to."""

    def set_epoch(self, epoch: int) -> None:
        self.batch_sampler.set_epoch(epoch)


@dataclass(frozen=True)
class Collator:
    pad_token_id: int
    eos_token_id: int
    decoder_start_token_id: int

    def __call__(self, items: Sequence[EncodedPair]) -> dict[str, Tensor]:
        """input_ids and attention_mask [B,S], decoder_input_ids and labels [B,T]; labels are -100 where padded.

        No items make one pair without labels: a batch of weight zero.
        """
        sources = [item.source for item in items] or [[self.eos_token_id]]
        labels = [item.labels for item in items] or [[-100]]
        inputs = [[self.decoder_start_token_id, *item.labels[:-1]] for item in items] or [[self.decoder_start_token_id]]
        input_ids_BS = pad(sources, self.pad_token_id)
        lengths_B = torch.tensor([len(source) for source in sources])
        return {
            "input_ids": input_ids_BS,
            "attention_mask": (torch.arange(input_ids_BS.shape[1]) < lengths_B[:, None]).long(),
            "decoder_input_ids": pad(inputs, self.pad_token_id),
            "labels": pad(labels, -100),
        }


def pad(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    """Rows of unlike length as one tensor [B, longest]."""
    table = torch.full((len(rows), max(map(len, rows))), value, dtype=torch.long)
    for index, row in enumerate(rows):
        table[index, : len(row)] = torch.tensor(row, dtype=torch.long)
    return table
