"""`Trace`: the record of everything seen while one hypothesis was predicted.

`reading.py` makes it, `views.py` adds views to it, `files.py` saves and loads it, `by_words.py` and `summary.py`
condense it, `show.py` and `terminal.py` draw it.  What these need of it is `TraceData`.
"""

from pathlib import Path
from typing import Any

from .files import load, save
from .show import to_iframe
from .summary import summarise
from .trace_data import Candidate as Candidate  # pickles of traces name it here
from .trace_data import TraceData


class Trace(TraceData):
    """`TraceData` that can save, condense and draw itself."""

    def summary(self) -> dict[str, Any]:
        """The trace in numbers, sinks among them: see `summary.summarise`."""
        return summarise(self)

    def save(self, path: str | Path) -> None:
        """Write the record as .json or .npz: see `files.save`."""
        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read what `save` wrote: see `files.load`."""
        return load(path, cls)

    def _repr_html_(self) -> str:
        return to_iframe(self)
