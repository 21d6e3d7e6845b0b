"""Looking inside: what every head attended to, for exactly the translation shown.

A public name is imported when it is first used: drawing needs no torch, and a server draws before it looks.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lens, not lens: under the bare name every class would exist twice")

if TYPE_CHECKING:
    from seq2see.lens.aer import Agreement as Agreement
    from seq2see.lens.aer import agreement as agreement
    from seq2see.lens.alignment import AlignmentChoice as AlignmentChoice
    from seq2see.lens.by_words import Unit as Unit
    from seq2see.lens.by_words import WordMap as WordMap
    from seq2see.lens.by_words import word_map as word_map
    from seq2see.lens.fitting import fit_alignment as fit_alignment
    from seq2see.lens.logits import LogitLens as LogitLens
    from seq2see.lens.logits import Outlook as Outlook
    from seq2see.lens.logits import logit_lens as logit_lens
    from seq2see.lens.logits import outlook as outlook
    from seq2see.lens.reading import trace_hypotheses as trace_hypotheses
    from seq2see.lens.reading import trace_texts as trace_texts
    from seq2see.lens.show import to_html as to_html
    from seq2see.lens.summary import sink_shares as sink_shares
    from seq2see.lens.summary import summarise as summarise
    from seq2see.lens.terminal import to_terminal as to_terminal
    from seq2see.lens.trace import Candidate as Candidate
    from seq2see.lens.trace import Trace as Trace
    from seq2see.lens.views import VIEWS as VIEWS
    from seq2see.lens.views import add_views as add_views

_HOME_OF = {
    "Agreement": "aer",
    "AlignmentChoice": "alignment",
    "Candidate": "trace",
    "LogitLens": "logits",
    "Outlook": "logits",
    "Trace": "trace",
    "Unit": "by_words",
    "VIEWS": "views",
    "WordMap": "by_words",
    "add_views": "views",
    "agreement": "aer",
    "fit_alignment": "fitting",
    "logit_lens": "logits",
    "outlook": "logits",
    "sink_shares": "summary",
    "summarise": "summary",
    "to_html": "show",
    "to_terminal": "terminal",
    "trace_hypotheses": "reading",
    "trace_texts": "reading",
    "word_map": "by_words",
}
__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
