"""Characters of the targets that the tokenizer does not have: a model cannot learn to write what becomes `<unk>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc

from .batching import EncodedPairs

EXAMPLES = 5  # characters that the remark names
SEARCHED = 100  # pairs in which they are looked for


def unknown_remark(pairs: EncodedPairs, tokenizer: Any) -> str | None:
    """How many target texts have such characters, and some of these; None if there are none."""
    unknown = tokenizer.unk_token_id
    if unknown in (None, tokenizer.eos_token_id, tokenizer.pad_token_id):
        return None
    rows = list(_rows_with(pairs, unknown))
    if not rows:
        return None
    found = dict.fromkeys(each for row in rows[:SEARCHED] for each in _unknown(pairs.pairs[row].target, tokenizer))
    share = f"{len(rows):,} of {len(pairs):,} training targets ({100 * len(rows) / len(pairs):.3g} %)"
    named = ", ".join(repr(each) for each in list(found)[:EXAMPLES]) + (" ..." if len(found) > EXAMPLES else "")
    where = pairs.pairs[rows[0]].target[:60]
    return (f"{share} have characters that the tokenizer lacks, so the model cannot learn to write them: {named},"
            f" as in {where!r}; replace them, or start from a model whose tokenizer has them")


def _rows_with(pairs: EncodedPairs, id: int) -> Iterator[int]:
    """The rows whose labels have this id, in order."""
    start = 0
    for chunk in pairs.table["labels"].chunks:  # one by one: there may be millions of pairs
        places = pc.list_parent_indices(chunk).filter(pc.equal(chunk.flatten(), id))
        yield from (start + place for place in sorted(set(places.to_pylist())))
        start += len(chunk)


def _unknown(text: str, tokenizer: Any) -> Iterator[str]:
    """The characters of a text that become `<unk>`; words, where no single character does."""
    def is_unknown(part: str) -> bool:
        ids = tokenizer(text_target=part, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return tokenizer.unk_token_id in ids

    for word in filter(is_unknown, text.split()):
        yield from [char for char in dict.fromkeys(word) if is_unknown(char)] or [word]
