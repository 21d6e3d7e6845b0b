"""Looking inside: what every head attended to, for exactly the translation shown."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lens, not lens: under the bare name every class would exist twice")

from seq2see.lens.ablation import Head, ablate, all_heads, mean_outputs
from seq2see.lens.aer import Agreement, agreement
from seq2see.lens.alignment import AlignmentChoice
from seq2see.lens.beams import BeamTree, beam_tree
from seq2see.lens.by_words import Unit, WordMap, word_map
from seq2see.lens.choices import Choice, margins
from seq2see.lens.embeddings import Contextual, Neighbour, analogy, contextual, distances, neighbours, project, static
from seq2see.lens.fitting import fit_alignment
from seq2see.lens.logits import LogitLens, Outlook, logit_lens, outlook
from seq2see.lens.patching import MinimalPairs, Recording, patch, record
from seq2see.lens.picture import Picture, picture
from seq2see.lens.plot import save_plot
from seq2see.lens.reading import trace_hypotheses, trace_texts
from seq2see.lens.show import to_html
from seq2see.lens.steering import steer
from seq2see.lens.summary import sink_shares, summarise
from seq2see.lens.terminal import to_terminal
from seq2see.lens.trace import Candidate, Trace
from seq2see.lens.trust import Trust, measure_trust
from seq2see.lens.views import VIEWS, add_views
from seq2see.lens.what_if import WhatIf

__all__ = [
    "VIEWS",
    "Agreement",
    "AlignmentChoice",
    "BeamTree",
    "Candidate",
    "Choice",
    "Contextual",
    "Head",
    "LogitLens",
    "MinimalPairs",
    "Neighbour",
    "Outlook",
    "Picture",
    "Recording",
    "Trace",
    "Trust",
    "Unit",
    "WhatIf",
    "WordMap",
    "ablate",
    "add_views",
    "agreement",
    "all_heads",
    "analogy",
    "beam_tree",
    "contextual",
    "distances",
    "fit_alignment",
    "logit_lens",
    "margins",
    "mean_outputs",
    "measure_trust",
    "neighbours",
    "outlook",
    "patch",
    "picture",
    "project",
    "record",
    "save_plot",
    "sink_shares",
    "static",
    "steer",
    "summarise",
    "to_html",
    "to_terminal",
    "trace_hypotheses",
    "trace_texts",
    "word_map",
]
