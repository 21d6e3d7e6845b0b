"""Roles of heads, each defined by the columns that a head of this role would look at, given gold annotation.

Everything is by words.  A *place* is a role defined by position (previous, first, ...).  A *content* role needs gold
annotation of the sentence: links, antecedents, actions and states.  The caller passes it as `GoldPair`.

Sources: Voita et al. 2019 (positional, syntactic and rare-word heads), Clark et al. 2019 (coreference, sinks), Raganato
and Tiedemann 2018 (translation models).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ...passes.attention_kinds import KINDS, Kind

# R rows and C columns of a map by words

Result = TypeVar("Result")
FILE = "heads.json"  # beside the run it was measured on
PLACES = {
    "previous": "the word before the current one (in the decoder: before the one just read)",
    "next": "the word after the current one",
    "same": "the current word itself (in the decoder: the one just read)",
    "first": "the first column",
    "end": "</s> (in the decoder, which never reads </s>: the start and the language tag)",
    "punctuation": "punctuation marks",
    "diagonal": "the source word at the same relative position, or its neighbour",
}
CONTENTS = {
    "same word": "another occurrence of the same word (in the decoder: of the word just read)",
    "alignment": "the source words linked to the word that the step predicts",
    "alignment, read": "the source words linked to the word that the step reads",
    "antecedent": "from a pronoun, or the step that writes the pronoun, to its noun",
    "state": "from a pronoun, or the step that writes the pronoun, to its predicate",
    "action": "from a pronoun, or the step that writes the pronoun, to the verb before it",
    "adjective to noun": "from an adjective to its noun",
    "noun to adjective": "from a noun to its adjective",
}
ROLES = {**PLACES, **CONTENTS}


@dataclass(frozen=True)
class GoldPronoun:
    """The word indices of a pronoun in the source, its antecedent, its translation, and competing nouns."""

    source: int
    antecedent: int
    target: int
    rivals: tuple[int, ...] = ()


@dataclass(frozen=True)
class GoldPair:
    """A sentence pair with gold annotation; words are numbered as in `split_words`.

    `links` are (source word, target word).  `actions` and `states` are source words.  `adjectives` are (adjective,
    noun) in the source.  Sentences of one `group` are variants of each other and are resampled together.
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


# --- the report of `seq2see measure`, for badges beside the maps


@dataclass(frozen=True)
class HeadRole:
    """A role of a head: its score on held-out sentences with a 95 % interval, and the score of its best baseline.

    `supervised`: the head was trained with gold links.
    """

    role: str
    score: float
    low: float
    high: float
    baseline: float
    supervised: bool = False


Roles = Mapping[tuple[Kind, int, int], tuple[HeadRole, ...]]


def read_roles(path: Path, *, weights: str) -> Roles:
    """The confirmed roles, by head; empty if the file belongs to other weights, or is damaged."""
    found = _read(path, weights, lambda report: {
        _head(row): tuple(
            HeadRole(str(one["role"]), float(one["score"]), float(one["low"]), float(one["high"]),
                     max(float(one[name] or 0) for name in ("uniform", "positional", "rival")),
                     row.get("supervised") is True)
            for one in row["roles"]
        )
        for row in report["heads"]
    })
    return {head: roles for head, roles in (found or {}).items() if roles and head[0] in KINDS}


def read_pronoun_effects(path: Path, *, weights: str) -> dict[str, Any] | None:
    """How well the model separates *il* from *elle*, as ROC AUC (0.5 is chance, 1 perfect), in JSON form.

    `whole` is for the model as it is.  `heads` has, by name, the value with each head replaced by its mean.  `pronouns`
    is the number of held-out pronouns.  None if the file belongs to other weights, or is damaged.
    """
    return _read(path, weights, lambda report: {
        "whole": float(report["whole"]["apart"][0]), "pronouns": int(report["pronouns"]["test"]),
        "heads": {"{}.{}.{}".format(*_head(row)): round(float(row["apart"][0]), 4) for row in report["heads"]},
    })


class Noun(NamedTuple):
    """A noun in both languages, with the gender of the target one, m or f."""

    source: str
    target: str
    gender: str


def read_nouns(path: Path, *, weights: str) -> frozenset[Noun] | None:
    """The nouns of the corpus that the roles were measured on; None if the file belongs to other weights, or is
    damaged.
    """
    return _read(path, weights, lambda report: frozenset(Noun(*one.split(" ")) for one in report["nouns"]))


def _head(row: dict[str, Any]) -> tuple[Kind, int, int]:
    kind, layer, head = row["head"]
    return kind, int(layer), int(head)


def _read(path: Path, weights: str, use: Callable[[dict[str, Any]], Result]) -> Result | None:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return use(report) if report["weights"] == weights else None
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def measured_record(roles: Roles, effects: dict[str, Any] | None) -> dict[str, Any]:
    """The measurements of a model's heads: confirmed roles, and pronoun disambiguation without each head."""
    return {"roles": [{"kind": kind, "layer": layer, "head": head, **asdict(one)}
                      for (kind, layer, head), each in roles.items() for one in each], "apart": effects}
