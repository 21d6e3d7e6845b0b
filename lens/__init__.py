"""Looking inside: what every head attended to, for exactly the translation shown.

A public name is imported when it is first used: the names of the views need no library, drawing needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .alignment import AlignmentChoice as AlignmentChoice
    from .beams import BeamTree as BeamTree
    from .beams import beam_tree as beam_tree
    from .by_words import Unit as Unit
    from .by_words import WordMap as WordMap
    from .by_words import word_map as word_map
    from .calibration import Calibration as Calibration
    from .calibration import Calibrator as Calibrator
    from .choices import Choice as Choice
    from .choices import MinimalPairs as MinimalPairs
    from .choices import margins as margins
    from .embeddings import Contextual as Contextual
    from .embeddings import Neighbour as Neighbour
    from .embeddings import analogy as analogy
    from .embeddings import contextual as contextual
    from .embeddings import distances as distances
    from .embeddings import neighbours as neighbours
    from .embeddings import project as project
    from .embeddings import static as static
    from .explorer import to_html as to_html
    from .faithfulness import measure_trust as measure_trust
    from .fitting import fit_alignment as fit_alignment
    from .hooks import Head as Head
    from .hooks import all_heads as all_heads
    from .intervals import Agreement as Agreement
    from .intervals import agreement as agreement
    from .interventions import Recording as Recording
    from .interventions import ablate as ablate
    from .interventions import mean_outputs as mean_outputs
    from .interventions import patch as patch
    from .interventions import record as record
    from .interventions import steer as steer
    from .logits import LogitLens as LogitLens
    from .logits import logit_lens as logit_lens
    from .maps import Picture as Picture
    from .maps import picture as picture
    from .plot import save_plot as save_plot
    from .probabilities import Outlook as Outlook
    from .probabilities import outlook as outlook
    from .probabilities import with_confidence as with_confidence
    from .summary import sink_shares as sink_shares
    from .summary import summarise as summarise
    from .terminal import to_terminal as to_terminal
    from .trace import Candidate as Candidate
    from .trace import Trace as Trace
    from .tracing import trace_hypotheses as trace_hypotheses
    from .tracing import trace_texts as trace_texts
    from .trust import Trust as Trust
    from .views import VIEWS as VIEWS
    from .views import add_views as add_views
    from .what_if import WhatIf as WhatIf

_NAMES_IN = {
    "alignment": "AlignmentChoice",
    "beams": "BeamTree beam_tree",
    "by_words": "Unit WordMap word_map",
    "calibration": "Calibration Calibrator",
    "choices": "Choice MinimalPairs margins",
    "embeddings": "Contextual Neighbour analogy contextual distances neighbours project static",
    "explorer": "to_html",
    "faithfulness": "measure_trust",
    "fitting": "fit_alignment",
    "hooks": "Head all_heads",
    "intervals": "Agreement agreement",
    "interventions": "Recording ablate mean_outputs patch record steer",
    "logits": "LogitLens logit_lens",
    "maps": "Picture picture",
    "plot": "save_plot",
    "probabilities": "Outlook outlook with_confidence",
    "summary": "sink_shares summarise",
    "terminal": "to_terminal",
    "trace": "Candidate Trace",
    "tracing": "trace_hypotheses trace_texts",
    "trust": "Trust",
    "views": "VIEWS add_views",
    "what_if": "WhatIf",
}
_HOME_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}
__all__ = [*_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
