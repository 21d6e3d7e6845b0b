"""Batches of bounded size, and their ids side by side."""

from collections.abc import Callable, Collection, Iterator, Sequence

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

# B sentences

CELLS_AT_ONCE = 1_000_000  # cells of one head's three maps in one batch: bounds memory to a few hundred megabytes
LOGITS_AT_ONCE = 2**24  # logits of one batch: 64 MiB in float32
ROWS = 64  # sentences of a batch by length


def cut_at_end(ids: Sequence[int], end: Collection[int]) -> tuple[int, ...]:
    """A generated row up to and including its first `end` id; all of it if there is none."""
    return tuple(ids[: next((i for i, token in enumerate(ids, 1) if token in end), len(ids))])


def packed(
    lengths: Sequence[tuple[int, ...]], fits: Callable[..., bool], *, by_length: bool = False
) -> Iterator[list[int]]:
    """Indices in batches as large as fit, at least one each; in the given order, or sorted by length.

    Each item has a length for each of its sides; `fits(rows, longest, ...)` receives the longest of each side.
    """
    batch: list[int] = []
    longest: tuple[int, ...] = ()
    for i in sorted(range(len(lengths)), key=lengths.__getitem__) if by_length else range(len(lengths)):
        longest = tuple(map(max, longest, lengths[i])) if batch else lengths[i]
        if batch and not fits(len(batch) + 1, *longest):
            yield batch
            batch, longest = [], lengths[i]
        batch.append(i)
    if batch:
        yield batch


def by_length(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[int]]:
    """The indices of all sentences in batches of at most ROWS, sorted by length to limit padding."""
    lengths = [(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
    return list(packed(lengths, lambda rows, *_: rows <= ROWS, by_length=True))


def fitting(model: PreTrainedModel, lengths: Sequence[tuple[int, ...]], *, copies: int = 1) -> Iterator[list[int]]:
    """The indices of sentences with these source and target lengths, in batches in order.

    Maps stay under CELLS_AT_ONCE and logits, with their `copies`, under LOGITS_AT_ONCE.
    """
    most = LOGITS_AT_ONCE // (copies * vocabulary_size(model))
    return packed(lengths, lambda rows, source, target: rows * target <= most
                  and rows * 3 * max(source, target) ** 2 <= CELLS_AT_ONCE)


def vocabulary_size(model: PreTrainedModel) -> int:
    """The number of logits of a step; an `EncoderDecoderModel` has it in its decoder's config."""
    return int(model.config.get_text_config(decoder=True).vocab_size)


def real_positions(sequences: Sequence[Sequence[int]]) -> torch.Tensor:
    """[B, longest]: True where the padded sequences have no padding."""
    lengths_B = torch.tensor([len(ids) for ids in sequences])
    return torch.arange(int(lengths_B.max())) < lengths_B[:, None]


def padded(sequences: Sequence[Sequence[int]]) -> torch.Tensor:
    """[B, longest], on the right."""
    return pad_sequence([torch.tensor(ids, dtype=torch.long) for ids in sequences], batch_first=True)
