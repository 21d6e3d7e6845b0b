"""Remote engines, for a `Service` without engines of its own (see `replicated.py`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Engines(ABC):
    """Any number of identical engines, each a `Replica`."""

    @abstractmethod
    async def send(self, method: str, *arguments: Any, **request: Any) -> Any:
        """The result of a method of one of the engines.

        Raises APIError, also if no engine responds.
        """

    @abstractmethod
    async def metrics(self) -> dict[str, bytes]:
        """The metrics of each engine that responds, by its name."""
