"""What an engine is: source ids and options in, hypotheses out, in the order of the input.

There are two: `torch_engine.py`, for every model and every option, and `ctranslate2_engine.py`, the fast one.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from .decoding import DecodingOptions
from .results import Hypothesis

Wanted = Callable[[int], bool]  # whether anybody still waits for what becomes of source i; asked from any thread


class Engine(Protocol):
    """Safe to call from several threads."""

    name: str
    precision: str
    threads: int  # how many calls it works on at a time

    def translate(
        self, sources: Sequence[Sequence[int]], options: DecodingOptions, *, wanted: Wanted | None = None
    ) -> list[tuple[Hypothesis, ...]]:
        """The best hypotheses of each source (`</s>` included), best first and without their texts.

        The options are resolved: none but those of samples is None.  What is found for sources that are not `wanted`
        any more need not be finished, or be anything at all.
        """
