"""`Trace`: the record of everything seen while one hypothesis was predicted.

`tracing.py` makes it and `views.py` adds views to it.  Other modules depend on `TraceData` only.
"""

from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from .explorer import to_iframe
from .files import load, save
from .kinds import KINDS
from .summary import summarise
from .trace_data import Candidate as Candidate  # pickled traces name it here
from .trace_data import TraceData
from .views import WITH_HEADS


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

    def to_bertviz(self, view: str = "raw") -> dict[str, Any]:
        """The keyword arguments of BertViz's `head_view` and `model_view`: `head_view(**trace.to_bertviz())`.

        BertViz names the rows and the columns of the decoder alike, so both are the decoder's inputs: a row is the
        step that reads its token.  `view` is one that has heads.
        """
        import torch

        if view not in WITH_HEADS:
            raise UserError(f"BertViz draws heads, {view!r} has none: expected {' or '.join(WITH_HEADS)}", exit_code=2)
        tokens = {"encoder_tokens": self.source, "decoder_tokens": self.inputs}
        return {
            **{f"{kind}_attention": [torch.tensor(layer)[None] for layer in self.maps(kind, view)] for kind in KINDS},
            **{name: [token.text for token in spans] for name, spans in tokens.items()},
        }

    def _repr_html_(self) -> str:
        return to_iframe(self)
