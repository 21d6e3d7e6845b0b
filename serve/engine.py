"""What an engine is: source ids and a plan in, hypotheses out, in the order of the input.

There are two: `torch_engine.py`, for every model and every setting, and `ctranslate2_engine.py`, the fast one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from seq2see.serve.plan import Plan

Wanted = Callable[[int], bool]  # whether anybody still waits for what becomes of source i; asked from any thread


class Found(NamedTuple):
    """A hypothesis in ids, the prefix and `</s>` included.

    `score` is the sum of the log-probabilities of the pieces (0 for those of the prefix) divided by their number to the
    power of the plan's length_penalty, so at the usual penalty of 1 it is the mean.  `finished` is False where the
    limit of length came before `</s>`.
    """

    token_ids: tuple[int, ...]
    score: float
    finished: bool

    def log_prob(self, *, length_penalty: float) -> float:
        """The sum itself."""
        return self.score * max(len(self.token_ids), 1) ** length_penalty  # nothing but `</s>` has no ids


@dataclass(frozen=True)
class Hypothesis:
    """One translation of a source: `Found`, with its text, and the sum of the log-probabilities of its tokens.

    The first `given` tokens, a language tag and a prefix, were forced and count 0 in that sum.  It is 0 in the
    hypothesis of a text of several parts: each part has its own.
    """

    text: str
    token_ids: tuple[int, ...]
    score: float
    log_prob: float
    finished: bool
    given: int = 0


class Engine(Protocol):
    """Safe to call from several threads."""

    name: str
    precision: str
    threads: int  # how many calls it works on at a time

    def translate(
        self, sources: Sequence[Sequence[int]], plan: Plan, *, wanted: Wanted | None = None
    ) -> list[tuple[Found, ...]]:
        """The `plan.alternatives` best hypotheses of each source (`</s>` included), best first.

        What is found for sources that are not `wanted` any more need not be finished, or be anything at all.
        """
