"""Looking inside: what every head attended to, for exactly the translation shown.

A public name is imported when it is first used: drawing needs no torch, and a server draws before it looks.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from seq2see.views import VIEWS as VIEWS
from .picture import Picture, picture  # at once: the function has the name of its module

if TYPE_CHECKING:
    from .ablation import Head as Head
    from .ablation import ablate as ablate
    from .ablation import all_heads as all_heads
    from .ablation import mean_outputs as mean_outputs
    from .aer import Agreement as Agreement
    from .aer import agreement as agreement
    from .alignment import AlignmentChoice as AlignmentChoice
    from .beams import BeamTree as BeamTree
    from .beams import beam_tree as beam_tree
    from .by_words import Unit as Unit
    from .by_words import WordMap as WordMap
    from .by_words import word_map as word_map
    from .calibration import Calibration as Calibration
    from .calibration import Calibrator as Calibrator
    from .choices import Choice as Choice
    from .choices import margins as margins
    from .confidence import with_confidence as with_confidence
    from .embeddings import Contextual as Contextual
    from .embeddings import Neighbour as Neighbour
    from .embeddings import analogy as analogy
    from .embeddings import contextual as contextual
    from .embeddings import distances as distances
    from .embeddings import neighbours as neighbours
    from .embeddings import project as project
    from .embeddings import static as static
    from .fitting import fit_alignment as fit_alignment
    from .logits import LogitLens as LogitLens
    from .logits import Outlook as Outlook
    from .logits import logit_lens as logit_lens
    from .logits import outlook as outlook
    from .patching import MinimalPairs as MinimalPairs
    from .patching import Recording as Recording
    from .patching import patch as patch
    from .patching import record as record
    from .plot import save_plot as save_plot
    from .reading import trace_hypotheses as trace_hypotheses
    from .reading import trace_texts as trace_texts
    from .show import to_html as to_html
    from .steering import steer as steer
    from .summary import sink_shares as sink_shares
    from .summary import summarise as summarise
    from .terminal import to_terminal as to_terminal
    from .trace import Trace as Trace
    from .trace_data import Candidate as Candidate
    from .trust import Trust as Trust
    from .trust_measurement import measure_trust as measure_trust
    from .views import add_views as add_views
    from .what_if import WhatIf as WhatIf

_NAMES_IN = {
    "ablation": "Head ablate all_heads mean_outputs",
    "aer": "Agreement agreement",
    "alignment": "AlignmentChoice",
    "beams": "BeamTree beam_tree",
    "by_words": "Unit WordMap word_map",
    "calibration": "Calibration Calibrator",
    "choices": "Choice margins",
    "confidence": "with_confidence",
    "embeddings": "Contextual Neighbour analogy contextual distances neighbours project static",
    "fitting": "fit_alignment",
    "logits": "LogitLens Outlook logit_lens outlook",
    "patching": "MinimalPairs Recording patch record",
    "plot": "save_plot",
    "reading": "trace_hypotheses trace_texts",
    "show": "to_html",
    "steering": "steer",
    "summary": "sink_shares summarise",
    "terminal": "to_terminal",
    "trace": "Trace",
    "trace_data": "Candidate",
    "trust": "Trust",
    "trust_measurement": "measure_trust",
    "views": "add_views",
    "what_if": "WhatIf",
}
_HOME_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}
__all__ = ["VIEWS", "Picture", "picture", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
