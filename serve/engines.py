"""Engines elsewhere: what a `Service` without engines of its own hands its work to (`replicated.py` does it there)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Engines(ABC):
    """Any number of identical engines, each a `Replica`."""

    @abstractmethod
    async def send(self, method: str, *arguments: Any, **request: Any) -> Any:
        """What a method of one of them returns; APIError also if none can answer."""

    @abstractmethod
    async def metrics(self) -> dict[str, bytes]:
        """Those of each engine that answers, by its name."""
