"""Looking inside: what every head attended to, for exactly the translation shown.

A public name is imported when it is first used: drawing needs no torch, and a server draws before it looks.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lens, not lens: under the bare name every class would exist twice")

from seq2see.lens.picture import Picture, picture  # at once: the function has the name of its module

if TYPE_CHECKING:
    from seq2see.lens.ablation import Head as Head
    from seq2see.lens.ablation import ablate as ablate
    from seq2see.lens.ablation import all_heads as all_heads
    from seq2see.lens.ablation import mean_outputs as mean_outputs
    from seq2see.lens.aer import Agreement as Agreement
    from seq2see.lens.aer import agreement as agreement
    from seq2see.lens.alignment import AlignmentChoice as AlignmentChoice
    from seq2see.lens.beams import BeamTree as BeamTree
    from seq2see.lens.beams import beam_tree as beam_tree
    from seq2see.lens.by_words import Unit as Unit
    from seq2see.lens.by_words import WordMap as WordMap
    from seq2see.lens.by_words import word_map as word_map
    from seq2see.lens.choices import Choice as Choice
    from seq2see.lens.choices import margins as margins
    from seq2see.lens.embeddings import Contextual as Contextual
    from seq2see.lens.embeddings import Neighbour as Neighbour
    from seq2see.lens.embeddings import analogy as analogy
    from seq2see.lens.embeddings import contextual as contextual
    from seq2see.lens.embeddings import distances as distances
    from seq2see.lens.embeddings import neighbours as neighbours
    from seq2see.lens.embeddings import project as project
    from seq2see.lens.embeddings import static as static
    from seq2see.lens.fitting import fit_alignment as fit_alignment
    from seq2see.lens.logits import LogitLens as LogitLens
    from seq2see.lens.logits import Outlook as Outlook
    from seq2see.lens.logits import logit_lens as logit_lens
    from seq2see.lens.logits import outlook as outlook
    from seq2see.lens.patching import MinimalPairs as MinimalPairs
    from seq2see.lens.patching import Recording as Recording
    from seq2see.lens.patching import patch as patch
    from seq2see.lens.patching import record as record
    from seq2see.lens.plot import save_plot as save_plot
    from seq2see.lens.reading import trace_hypotheses as trace_hypotheses
    from seq2see.lens.reading import trace_texts as trace_texts
    from seq2see.lens.show import to_html as to_html
    from seq2see.lens.steering import steer as steer
    from seq2see.lens.summary import sink_shares as sink_shares
    from seq2see.lens.summary import summarise as summarise
    from seq2see.lens.terminal import to_terminal as to_terminal
    from seq2see.lens.trace import VIEWS as VIEWS
    from seq2see.lens.trace import Candidate as Candidate
    from seq2see.lens.trace import Trace as Trace
    from seq2see.lens.trust import Trust as Trust
    from seq2see.lens.trust import measure_trust as measure_trust
    from seq2see.lens.views import add_views as add_views
    from seq2see.lens.what_if import WhatIf as WhatIf

_NAMES_IN = {
    "ablation": "Head ablate all_heads mean_outputs",
    "aer": "Agreement agreement",
    "alignment": "AlignmentChoice",
    "beams": "BeamTree beam_tree",
    "by_words": "Unit WordMap word_map",
    "choices": "Choice margins",
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
    "trace": "VIEWS Candidate Trace",
    "trust": "Trust measure_trust",
    "views": "add_views",
    "what_if": "WhatIf",
}
_HOME_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}
__all__ = ["Picture", "picture", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
