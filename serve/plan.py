"""What one call asks for, with everything it leaves open filled in from the checkpoint, and checked.

Knows nothing of any engine: each of them is handed the same `Plan`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seq2see.errors import UserError

MOST_BEAMS = 64
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

    def with_prefix(self, prefix: Sequence[int]) -> Plan:
        return dataclasses.replace(self, prefix=tuple(prefix))


@dataclass(frozen=True)
class Limits:
    """What a checkpoint says of how to translate with it: its generation_config.json, and how long a text may be."""

    defaults: Mapping[str, Any]
    positions: int | None  # None: no limit (T5)

    @property
    def end(self) -> frozenset[int]:
        """The ids that end a hypothesis."""
        ids = self.defaults.get("eos_token_id")
        return frozenset([ids] if isinstance(ids, int) else ids or ())

    def plan(
        self,
        *,
        first: int | None = None,
        prefix: Sequence[int] = (),
        num_beams: int | None = None,
        alternatives: int = 1,
        max_new_tokens: int | None = None,
        length_penalty: float | None = None,
        repetition_penalty: float | None = None,
        no_repeat_ngram_size: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
    ) -> Plan:
        """The checkpoint's settings, changed by what the caller asks; UserError for a number out of bounds.

        `first` is the id that every hypothesis must begin with (a language tag), instead of the checkpoint's default.
        A checkpoint that samples by default is searched all the same: drawing is the caller's choice.
        """
        asked = {name: value for name, value in locals().items() if name in _BOUNDS and value is not None}
        for name, value in asked.items():
            _check(name, value, self.positions or MOST_PIECES)
        if (top_k is not None or top_p is not None) and temperature is None:
            temperature = 1.0
        if temperature is not None and num_beams not in (None, 1):
            raise UserError(f"num_beams {num_beams}: a draw (temperature, top_k, top_p) has no beams", exit_code=2)
        defaults = self.defaults
        if first is None:
            first = defaults.get("forced_bos_token_id")
        prefix = (*(() if first is None else (first,)), *prefix)
        most = min(self.positions or MOST_NEW_TOKENS, (defaults.get("max_length") or MOST_NEW_TOKENS + 1) - 1)
        beams = num_beams or defaults.get("num_beams") or 1
        return Plan(
            prefix=prefix,
            num_beams=1 if temperature is not None else max(beams, alternatives),
            alternatives=alternatives,
            max_length=max_new_tokens or most,
            length_penalty=_first(length_penalty, defaults.get("length_penalty"), 1.0),
            early_stopping=bool(defaults.get("early_stopping")),
            repetition_penalty=_first(repetition_penalty, defaults.get("repetition_penalty"), 1.0),
            no_repeat_ngram_size=_first(no_repeat_ngram_size, defaults.get("no_repeat_ngram_size"), 0),
            temperature=temperature,
            top_k=top_k or 0,
            top_p=1.0 if top_p is None else top_p,
            seed=seed,
        )


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


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
