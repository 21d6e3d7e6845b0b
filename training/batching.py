"""Encoded pairs and the batches made of them.

A batch is the pairs of one optimizer step.  The plan of an epoch is a pure function of (seed, epoch) and the lengths,
never of the number of processes or accumulation steps: those only cut each batch into micro-batches.  That is why one
process and two, and 8x1 and 1x8, follow the same trajectory, and why resuming is exact.
"""

# B pairs, S source length, T target length, N pairs of the whole set

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from seq2see.errors import UserError
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from ..translate.devices import usable_cores
from .cache import fingerprint, get_or_build
from .pair_encoding import PairEncoder
from .pairs import ROWS, Pair, StoredPairs

PAIRS_PER_WORKER = 50_000  # that make another process worth its start
IDS = datasets.Features(dict.fromkeys(("input_ids", "labels"), datasets.List(datasets.Value("int32"))))


@dataclass(frozen=True)
class EncodedPair:
    source: Sequence[int] | np.ndarray  # tokens </s>
    labels: Sequence[int] | np.ndarray  # tag tokens </s>
    guide: np.ndarray | None = None  # [K,3] target token, source token, weight of their link (guided.py)

    def joined(self, others: Sequence[EncodedPair]) -> EncodedPair:
        """One text of this pair and others into the same language; a word's tokens hold the space before it."""
        pairs = (self, *others)
        source = np.concatenate([*(pair.source[:-1] for pair in pairs), self.source[-1:]])
        labels = np.concatenate([self.labels[:1], *(pair.labels[1:-1] for pair in pairs), self.labels[-1:]])
        guides, at = list[np.ndarray](), np.zeros(3, dtype=np.float32)
        for pair in pairs:
            if pair.guide is not None:
                guides.append(pair.guide + at)
            at += (len(pair.labels) - 2, len(pair.source) - 1, 0)
        return EncodedPair(source, labels, np.concatenate(guides) if guides else None)


class EncodedRows(Dataset[EncodedPair]):
    """Rows of `input_ids` and `labels`, two columns of lists in an Arrow table, which may be mapped into memory."""

    def __init__(self, table: pa.Table):
        self.table = table.select(["input_ids", "labels"])
        self.lengths_N2 = np.stack([pc.list_value_length(column).to_numpy() for column in self.table.columns], axis=1)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: int) -> EncodedPair:
        source, labels = (column[index].values.to_numpy() for column in self.table.columns)
        return EncodedPair(source, labels)

    def set_epoch(self, epoch: int) -> None:
        """Say which pass over the rows comes next: they stay the same, texts joined of them (joining.py) do not."""

    def lengths(self) -> np.ndarray:
        """The longer side of each row, and the shorter: [N, 2]."""
        return np.sort(self.lengths_N2, axis=1)[:, ::-1]

    def tags(self) -> np.ndarray:
        """The language tag that each row's labels begin with: [N]."""
        return pc.list_element(self.table["labels"], 0).to_numpy()


class EncodedPairs(EncodedRows):
    """Pairs as token ids; the texts stay at hand, row by row, in `pairs`.

    Stored pairs are tokenised once, and the ids kept in a file beside them; others are tokenised here.

    Args:
        encoder: makes the ids; or a Seq2See tokenizer, for `PairEncoder`.
        max_length: tokens that a side may have; None: any number.
        guides: of each pair, in order, where a head is guided.
    """

    def __init__(
        self, pairs: Sequence[Pair], encoder: PairEncoder | Seq2SeeTokenizer, *, max_length: int | None,
        guides: Sequence[np.ndarray] | None = None,
    ):
        super().__init__(token_ids(pairs, encoder if isinstance(encoder, PairEncoder) else PairEncoder(encoder)))
        self.pairs, self.guides = pairs, guides
        longest = self.lengths_N2.max(initial=0)
        if max_length is not None and longest > max_length:
            pair = pairs[int(self.lengths_N2[:, 1].argmax())]
            raise UserError(
                f"a pair has {longest} tokens, but the model has {max_length} positions; lower data.max_characters or,"
                f" for a new model, raise model.max_position_embeddings; the pair starts"
                f" {pair.source[:40]!r}"
            )

    def __getitem__(self, index: int) -> EncodedPair:
        pair = super().__getitem__(index)
        return replace(pair, guide=self.guides[index]) if self.guides else pair


def encoded_rows(dataset: Any) -> Any:
    """A data set, or each of a dict of them, as encoded pairs."""
    if isinstance(dataset, dict):
        return {name: encoded_rows(one) for name, one in dataset.items()}
    dataset = datasets.Dataset.from_list(dataset) if isinstance(dataset, list) else dataset
    return EncodedRows(dataset.with_format("arrow")[:]) if isinstance(dataset, datasets.Dataset) else dataset


def token_ids(pairs: Sequence[Pair], encoder: PairEncoder) -> pa.Table:
    """The ids of pairs; of stored ones made in several processes where they are many, kept by the encoder's `key`."""
    if not isinstance(pairs, StoredPairs):
        texts = {name: [getattr(pair, name) for pair in pairs] for name in ("source", "target", "target_language")}
        return pa.table(encoder(texts), IDS.arrow_schema)
    workers = min(usable_cores(), len(pairs) // PAIRS_PER_WORKER)
    folder = get_or_build(pairs.folder / f"ids-{fingerprint('input_ids', encoder.key)}", lambda folder: pairs.rows.map(
        encoder,
        batched=True,
        num_proc=workers if workers > 1 else None,
        remove_columns=pairs.rows.column_names,
        features=IDS,
        writer_batch_size=ROWS,
        cache_file_name=str(folder / "ids.arrow"),
        new_fingerprint=folder.name,
        desc="tokenising",
    ))
    parts = [pa.ipc.open_stream(pa.memory_map(str(file))).read_all() for file in sorted(folder.glob("*.arrow"))]
    return pa.concat_tables(parts)


def plan_epoch(lengths: np.ndarray, *, max_tokens: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Batches of pair indices: like lengths together, at most `max_tokens` padded tokens a side, in random order.

    The number of batches is the same in every epoch, since cuts depend on the longer sides alone.
    """
    rng = np.random.default_rng([seed, epoch])
    order = np.lexsort((rng.permutation(len(lengths)), lengths[:, 1], lengths[:, 0])).astype(np.int32)
    batches = np.split(order, cuts(lengths[order, 0], max_tokens=max_tokens))
    return [batches[index] for index in rng.permutation(len(batches))]


def cuts(longer: np.ndarray, *, max_tokens: int) -> list[int]:
    """Where batches begin, but for the first, in rows sorted by their longer side: each is filled before the next."""
    found, start = [], 0
    while start < len(longer):
        room = max(1, max_tokens // int(longer[start]))  # of rows as short as the first
        padded = longer[start : start + room] * np.arange(1, room + 1)[: len(longer) - start]
        start += max(1, int(np.searchsorted(padded, max_tokens, side="right")))
        found.append(start)
    return found[:-1]


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
        self.batches = 1 + len(cuts(np.sort(lengths[:, 0]), max_tokens=max_tokens))

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return self.batches * self.accumulation

    def __iter__(self) -> Iterator[list[int]]:
        hands = self.accumulation * self.processes
        for batch in plan_epoch(self.lengths, max_tokens=self.max_tokens, seed=self.seed, epoch=self.epoch):
            for step in range(self.accumulation):
                yield batch[self.rank * self.accumulation + step :: hands].tolist()


@dataclass(frozen=True)
class Collator:
    pad_token_id: int
    eos_token_id: int
    decoder_start_token_id: int

    def __call__(self, items: Sequence[EncodedPair]) -> dict[str, Tensor]:
        """input_ids and attention_mask [B,S], decoder_input_ids and labels [B,T]; labels are -100 where padded.

        No items make one pair without labels: a batch of weight zero.  Where items have links, also `guide_rows` [K,3]
        (pair, target token, source token) and `guide_weights` [K].
        """
        input_ids_BS = pad([item.source for item in items] or [[self.eos_token_id]], self.pad_token_id)
        labels_BT = pad([item.labels for item in items] or [[-100]], -100)
        lengths_B = torch.tensor([len(item.source) for item in items] or [1])
        decoder_input_ids_BT = labels_BT.roll(1, dims=1)
        decoder_input_ids_BT[:, 0] = self.decoder_start_token_id
        decoder_input_ids_BT[:, 1:][labels_BT[:, 1:] == -100] = self.pad_token_id
        batch = {
            "input_ids": input_ids_BS,
            "attention_mask": (torch.arange(input_ids_BS.shape[1]) < lengths_B[:, None]).long(),
            "decoder_input_ids": decoder_input_ids_BT,
            "labels": labels_BT,
        }
        if guides := [(b, item.guide) for b, item in enumerate(items) if item.guide is not None]:
            rows = [np.insert(guide[:, :2].astype(np.int64), 0, b, axis=1) for b, guide in guides]
            batch["guide_rows"] = torch.from_numpy(np.concatenate(rows))
            batch["guide_weights"] = torch.from_numpy(np.concatenate([guide[:, 2] for _, guide in guides]))
        return batch


def pad(rows: Sequence[Sequence[int] | np.ndarray], value: int) -> Tensor:
    """Rows of unlike length as one tensor [B, longest]."""
    table = np.full((len(rows), max(map(len, rows))), value, dtype=np.int64)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return torch.from_numpy(table)
