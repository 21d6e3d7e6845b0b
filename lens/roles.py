"""What a head might be for: roles, each defined by which columns of its map it would look at, given the truth.

Everything is by words (sums over a looked-at word's tokens, means over the tokens that look).  A *place* is a role
that positions alone define (previous, first, ...); a *content* role needs the truth about the sentence, which the
caller hands in as `GoldPair`: links, antecedents, which word is an action or a state.

Voita et al. 2019 (positional, syntactic and rare-word heads), Clark et al. 2019 (coreference, sinks), Raganato and
Tiedemann 2018 (translation models).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .by_words import Unit
from .kinds import KINDS, Kind

# R rows and C columns of a map by words

FILE = "heads.json"  # beside the run it was measured on
PLACES = {
    "previous": "the word before the one at hand (in the decoder: before the one just read)",
    "next": "the word after it",
    "same": "the word itself (in the decoder: the one just read)",
    "first": "the first column",
    "end": "</s>; in the decoder, which never reads it, the start and the language tag",
    "punctuation": "punctuation marks",
    "diagonal": "the source word at the same share of the length, or a neighbour of it",
}
CONTENTS = {
    "same word": "another place where the same word stands (in the decoder: the one just read)",
    "alignment": "the source words linked to the word that the step predicts",
    "alignment, read": "the source words linked to the word that the step reads",
    "antecedent": "from a pronoun, or the step that writes it, to the noun it stands for",
    "state": "from a pronoun, or the step that writes it, to what is said of it",
    "action": "from a pronoun, or the step that writes it, to the verb before it",
    "adjective to noun": "from an adjective to its noun",
    "noun to adjective": "from a noun to its adjective",
}
ROLES = {**PLACES, **CONTENTS}


@dataclass(frozen=True)
class GoldPronoun:
    """Word numbers: the source pronoun, its antecedent, the pronoun in the target, and nouns it might have meant."""

    source: int
    antecedent: int
    target: int
    rivals: tuple[int, ...] = ()


@dataclass(frozen=True)
class GoldPair:
    """A sentence pair and the truth about it; word numbers are those of `split_words`.

    `links` are (source word, target word); `actions` and `states` source words; `adjectives` (adjective, noun) in the
    source.  Sentences of one `group` are variants of each other and count as one in intervals.
    """

    source: str
    target: str
    links: tuple[tuple[int, int], ...] = ()
    pronouns: tuple[GoldPronoun, ...] = ()
    actions: tuple[int, ...] = ()
    states: tuple[int, ...] = ()
    adjectives: tuple[tuple[int, int], ...] = ()
    group: str | None = None

    def on_target(self, word: int) -> set[int]:
        """The target words linked to a source word."""
        return {target for source, target in self.links if source == word}


def role_masks(
    kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair, *, visible: np.ndarray
) -> dict[str, np.ndarray]:
    """For each role that this kind can have here, the cells [R,C] that a head of that role looks at.

    `visible` [R,C] are the cells that are not masked.  A row without a cell is one that the role says nothing about;
    a role without any is left out.
    """
    masks = {**_places(kind, rows, columns), **_contents(kind, rows, columns, gold)}
    masks = {role: mask & visible for role, mask in masks.items()}
    return {role: mask for role, mask in masks.items() if mask.any()}


def rival_mask(
    kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair, *, visible: np.ndarray
) -> np.ndarray:
    """[R,C] of floats: as "antecedent", but shared evenly between the nouns that the pronoun does not stand for."""
    mask = np.zeros(visible.shape)
    for pronoun in gold.pronouns:
        for rival in pronoun.rivals:
            mask += _cells(kind, rows, columns, gold, pronoun, rival) / len(pronoun.rivals)
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
    """The column at the same share of the length as each row: [R]."""
    return np.round(np.arange(rows) * (columns - 1) / max(rows - 1, 1)).astype(int)


def _contents(kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair) -> dict[str, np.ndarray]:
    masks = {role: np.zeros((len(rows), len(columns)), dtype=bool) for role in CONTENTS}
    read = [None, *(unit.word for unit in rows[:-1])]  # the word before the one that a decoder step predicts
    texts = [unit.text.casefold() for unit in columns]
    own = [unit.text.casefold() for unit in rows]
    named = own if kind != "decoder" else ["", *own[:-1]]
    for r, c in np.ndindex(len(rows), len(columns)):
        elsewhere = kind == "cross" or columns[c].word != (rows[r].word if kind == "encoder" else read[r])
        wordlike = any(letter.isalnum() for letter in texts[c]) and not columns[c].special
        masks["same word"][r, c] = wordlike and elsewhere and named[r] == texts[c]
        if kind == "cross":
            masks["alignment"][r, c] = (columns[c].word, rows[r].word) in gold.links
            masks["alignment, read"][r, c] = (columns[c].word, read[r]) in gold.links
    for pronoun in gold.pronouns:
        masks["antecedent"] |= _cells(kind, rows, columns, gold, pronoun, pronoun.antecedent)
        for role, words in (("state", gold.states), ("action", gold.actions)):
            for word in words:
                masks[role] |= _cells(kind, rows, columns, gold, pronoun, word)
    for adjective, noun in gold.adjectives:
        masks["adjective to noun"] |= _between(kind, rows, columns, gold, adjective, noun)
        masks["noun to adjective"] |= _between(kind, rows, columns, gold, noun, adjective)
    return masks


def _cells(
    kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair, pronoun: GoldPronoun, word: int
) -> np.ndarray:
    """From a pronoun to a source word, or to what stands for it in the target."""
    looking = {pronoun.source} if kind == "encoder" else {pronoun.target}
    return _grid(rows, columns, looking, gold.on_target(word) if kind == "decoder" else {word})


def _between(
    kind: Kind, rows: Sequence[Unit], columns: Sequence[Unit], gold: GoldPair, looking: int, seen: int
) -> np.ndarray:
    row_words = {looking} if kind == "encoder" else gold.on_target(looking)
    return _grid(rows, columns, row_words, gold.on_target(seen) if kind == "decoder" else {seen})


def _grid(rows: Sequence[Unit], columns: Sequence[Unit], row_words: set[int], column_words: set[int]) -> np.ndarray:
    """The cells whose row is one of some words and whose column is one of others: [R,C]."""
    return np.outer([unit.word in row_words for unit in rows], [unit.word in column_words for unit in columns])


# --- as `seq2see heads RUN --json RUN/heads.json` measured them: only roles that may be claimed, of these very weights


@dataclass(frozen=True)
class HeadRole:
    """A role that a head plays, with its score on held-out sentences, the 95 % interval, what the best of its baselines
    gets, and whether the head was trained with gold links."""

    role: str
    score: float
    low: float
    high: float
    baseline: float
    supervised: bool = False

    def __str__(self) -> str:
        taught = "; supervised: this head was trained with gold links" if self.supervised else ""
        return (f"{self.role}: {self.score:.0%} of its attention [{self.low:.0%}, {self.high:.0%}]"
                f", {self.baseline:.0%} without knowing anything{taught}")


Roles = Mapping[tuple[Kind, int, int], tuple[HeadRole, ...]]


def read_roles(path: Path, *, weights: str) -> Roles:
    """The roles of each head that has one; none where the file is of other weights, or damaged."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["weights"] != weights:
            return {}
        found = {
            (head[0], int(head[1]), int(head[2])): tuple(
                HeadRole(str(one["role"]), float(one["score"]), float(one["low"]), float(one["high"]),
                         max(float(one[name] or 0) for name in ("uniform", "positional", "rival")),
                         row.get("supervised") is True)
                for one in row["roles"]
            )
            for row in report["heads"] if (head := row["head"])
        }  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}
    return {head: roles for head, roles in found.items() if roles and head[0] in KINDS}


@dataclass(frozen=True)
class Apart:
    """How well the model tells *il* from *elle* with the average of a head in its place, by head; `whole`: with every
    head.  0.5 is chance, 1 always right; measured on so many held-out `pronouns`."""

    heads: Mapping[tuple[Kind, int, int], float]
    whole: float
    pronouns: int


def read_apart(path: Path, *, weights: str) -> Apart | None:
    """None where the file is of other weights, or damaged."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["weights"] != weights:
            return None
        heads = {(row["head"][0], int(row["head"][1]), int(row["head"][2])): float(row["apart"][0])
                 for row in report["heads"]}
        return Apart(heads, float(report["whole"]["apart"][0]), int(report["pronouns"]["test"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
