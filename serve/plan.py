"""What one call asks for, with everything it leaves open filled in from the checkpoint, and checked.

Knows nothing of any engine: each of them is handed the same `Plan`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from seq2see.errors import UserError

MOST_BEAMS = 64
SHORT = 64  # pieces, up to which a sentence is never cut, however short those of training were
MOST_NEW_TOKENS = 512  # where neither the checkpoint nor the caller sets a limit
MOST_PIECES = 2**15  # of a model without positions


@dataclass(frozen=True)
class Plan:
    """The settings of one translation, of any number of sentences.

    Every hypothesis begins with `prefix`: the language tag, if the model has tags, and what the caller wants it to
    begin with.  `max_length` pieces are the most of a hypothesis, prefix and `</s>` included.  The search is a beam
    search of `num_beams` (1: greedy), or, where `temperature` is set, a draw from the model's distribution: at that
    temperature, from the `top_k` best pieces (0: all), and of these from the fewest that hold `top_p` of the
    probability.  Draws depend on `seed`, the source and the number of the alternative, and on nothing else.
    """

    prefix: tuple[int, ...] = ()
    num_beams: int = 1
    alternatives: int = 1
    max_length: int = MOST_NEW_TOKENS
    length_penalty: float = 1.0
    early_stopping: bool = False
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    temperature: float | None = None
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def begun(self, ids: Sequence[int]) -> Plan:
        """The same for a translation that is to begin with these ids, after its tag."""
        return dataclasses.replace(self, prefix=(*self.prefix, *ids)) if ids else self


class Settings(TypedDict, total=False):
    """What a caller may ask for; what is left out or None is as the checkpoint says.

    `alternatives` hypotheses of each text are found by at least as many beams.  `num_beams` 1 is greedy search.
    `max_new_tokens` pieces are the most of a translation, its tag and `</s>` among them.  `length_penalty` above 1
    favours longer ones, `repetition_penalty` above 1 makes pieces already written less probable, and no run of
    `no_repeat_ngram_size` pieces comes twice (0: any may).  Any of `temperature`, `top_k` and `top_p` draws
    translations instead of searching for the best; draws are the same for the same `seed`, text and settings, whatever
    else is translated with them.
    """

    alternatives: int | None
    num_beams: int | None
    max_new_tokens: int | None
    length_penalty: float | None
    repetition_penalty: float | None
    no_repeat_ngram_size: int | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None


@dataclass(frozen=True)
class Limits:
    """What a checkpoint says of how to translate with it: its generation_config.json, and how long a text may be."""

    defaults: Mapping[str, Any]
    positions: int | None  # None: no limit (T5)

    @property
    def together(self) -> int:
        """How many sentences a source may have: as many as in training, where the checkpoint says."""
        return max(1, int(self.defaults.get("source_sentences") or 1))

    @property
    def longest(self) -> int | None:
        """How many pieces a source should have at most: longer ones were not in training, or have no positions."""
        seen = self.defaults.get("source_pieces")
        known = [self.positions, max(seen, SHORT) if seen else None]
        return min((limit for limit in known if limit), default=None)

    @property
    def end(self) -> frozenset[int]:
        """The ids that end a hypothesis."""
        ids = self.defaults.get("eos_token_id")
        return frozenset([ids] if isinstance(ids, int) else ids or ())

    def plan(self, *, first: int | None = None, **asked: Unpack[Settings]) -> Plan:
        """The checkpoint's settings, changed by what the caller asks; UserError for a number out of bounds.

        `first` is the id that every hypothesis must begin with (a language tag), instead of the checkpoint's default.
        A checkpoint that samples by default is searched all the same: drawing is the caller's choice.
        """
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        unknown = next((name for name in given if name not in _BOUNDS), None)
        if unknown is not None:
            raise UserError(f"there is no setting {unknown}: expected one of {', '.join(_BOUNDS)}", exit_code=2)
        for name, value in given.items():
            _check(name, value, self.positions or MOST_PIECES)
        draws = {"temperature", "top_k", "top_p"} & set(given)
        alternatives, beams = given.get("alternatives", 1), given.get("num_beams")
        if draws and beams not in (None, 1):
            raise UserError(f"num_beams {beams}: a draw (temperature, top_k, top_p) has no beams", exit_code=2)
        said = {name: value for name, value in self.defaults.items() if value is not None}
        first = said.get("forced_bos_token_id") if first is None else first
        most = min(self.positions or MOST_NEW_TOKENS, said.get("max_length", MOST_NEW_TOKENS + 1) - 1)
        both = {**said, **given}
        return Plan(
            prefix=() if first is None else (first,),
            num_beams=1 if draws else max(both.get("num_beams", 1), alternatives),
            alternatives=alternatives,
            max_length=given.get("max_new_tokens", most),
            length_penalty=both.get("length_penalty", 1.0),
            early_stopping=bool(said.get("early_stopping")),
            repetition_penalty=both.get("repetition_penalty", 1.0),
            no_repeat_ngram_size=both.get("no_repeat_ngram_size", 0),
            temperature=given.get("temperature", 1.0) if draws else None,
            top_k=given.get("top_k", 0),
            top_p=given.get("top_p", 1.0),
            seed=given.get("seed", 0),
        )


# The type of each number a caller may give, its least and its greatest value; None: the model's positions.
_BOUNDS: dict[str, tuple[type, float, float | None]] = {
    "num_beams": (int, 1, MOST_BEAMS),
    "alternatives": (int, 1, MOST_BEAMS),
    "max_new_tokens": (int, 1, None),
    "length_penalty": (float, -10.0, 10.0),
    "repetition_penalty": (float, 0.1, 10.0),
    "no_repeat_ngram_size": (int, 0, 100),
    "temperature": (float, 0.01, 100.0),
    "top_k": (int, 0, 2**20),
    "top_p": (float, 0.001, 1.0),
    "seed": (int, 0, 2**63 - 1),
}


def _check(name: str, value: Any, positions: int) -> None:
    kind, least, most = _BOUNDS[name]
    most = positions if most is None else most
    fits = type(value) is int if kind is int else type(value) in (int, float)
    if not (fits and least <= value <= most):
        expected = "a whole number" if kind is int else "a number"
        raise UserError(f"{name} {value!r}: expected {expected} from {least:g} to {most:g}", exit_code=2)
