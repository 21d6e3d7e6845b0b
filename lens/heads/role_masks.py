"""The columns that a head of each role would look at, given gold annotation."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from ...passes.attention_kinds import Kind
from ..data.word_maps import Unit
from ..records.roles import CONTENTS, GoldPair


def role_masks(
    kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair, *, visible: np.ndarray
) -> dict[str, np.ndarray]:
    """For each role that is possible here: the cells [R,C] that a head of this role looks at.

    `visible` [R,C] marks the cells that are not masked.  Rows without a cell do not count for the role.  Roles without
    any cell are omitted.
    """
    masks = {**_places(kind, rows, columns), **_contents(kind, rows, columns, gold)}
    masks = {role: mask & visible for role, mask in masks.items()}
    return {role: mask for role, mask in masks.items() if mask.any()}


def rival_mask(
    kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair, *, visible: np.ndarray
) -> np.ndarray:
    """[R,C] of floats: as "antecedent", but for the competing nouns, with the weight split evenly between them."""
    mask = np.zeros(visible.shape)
    for pronoun in gold.pronouns:
        for rival in pronoun.rivals:
            mask += _cells(kind, rows, columns, gold, {pronoun.source}, {pronoun.target}, rival) / len(pronoun.rivals)
    return mask * visible


def _places(kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit]) -> dict[str, np.ndarray]:
    R, C = len(rows), len(columns)
    everywhere = np.ones((R, 1), dtype=bool)
    punctuation = np.array([not unit.special and not any(c.isalnum() for c in unit.text) for unit in columns])
    masks = {
        "first": everywhere & (np.arange(C) == 0),
        "end": everywhere & np.array([unit.special for unit in columns]),
        "punctuation": everywhere & punctuation,
    }
    if kind == "cross":
        masks["diagonal"] = abs(np.arange(C) - diagonal(R, C)[:, None]) <= 1
    else:  # row r of the decoder reads column r
        masks |= {"previous": np.eye(R, C, k=-1, dtype=bool), "same": np.eye(R, C, dtype=bool)}
        masks |= {"next": np.eye(R, C, k=1, dtype=bool)} if kind == "encoder" else {}
    return masks


def diagonal(rows: int, columns: int) -> np.ndarray:
    """The column at the same relative position as each row: [R]."""
    return np.round(np.arange(rows) * (columns - 1) / max(rows - 1, 1)).astype(int)


def _contents(kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair) -> dict[str, np.ndarray]:
    masks = {role: np.zeros((len(rows), len(columns)), dtype=bool) for role in CONTENTS}
    named = rows if kind != "decoder" else [None, *rows[:-1]]  # a decoder step reads the word before its own
    for (r, row), (c, column) in product(enumerate(named), enumerate(columns)):
        masks["same word"][r, c] = (
            row is not None and row.text.casefold() == column.text.casefold() and not column.special
            and any(letter.isalnum() for letter in column.text) and (kind == "cross" or row.word != column.word)
        )
    seen = [("alignment", {source}, {target}, source) for source, target in gold.links if kind == "cross"]
    seen += [("antecedent", {one.source}, {one.target}, one.antecedent) for one in gold.pronouns]
    seen += [(role, {one.source}, {one.target}, word) for one in gold.pronouns
             for role, words in (("state", gold.states), ("action", gold.actions)) for word in words]
    for adjective, noun in gold.adjectives:
        seen.append(("adjective to noun", {adjective}, gold.on_target(adjective), noun))
        seen.append(("noun to adjective", {noun}, gold.on_target(noun), adjective))
    for role, source, target, word in seen:
        masks[role] |= _cells(kind, rows, columns, gold, source, target, word)
    masks["alignment, read"][1:] = masks["alignment"][:-1]
    return masks


def _cells(
    kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair, source: set[int], target: set[int],
    seen: int,
) -> np.ndarray:
    """[R,C]: the cells from these words to a source word or, in the decoder, to its translation.

    The words are those of the source in the encoder, otherwise those of the target.
    """
    row_words = source if kind == "encoder" else target
    column_words = gold.on_target(seen) if kind == "decoder" else {seen}
    return np.outer([unit.word in row_words for unit in rows], [unit.word in column_words for unit in columns])
