"""Looking inside: what every head attended to, for exactly the translation shown."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lens, not lens: under the bare name every class would exist twice")

from seq2see.lens.aer import Agreement, agreement
from seq2see.lens.alignment import AlignmentChoice
from seq2see.lens.by_words import Unit, WordMap, word_map
from seq2see.lens.fitting import fit_alignment
from seq2see.lens.logits import LogitLens, Outlook, logit_lens, outlook
from seq2see.lens.reading import trace_hypotheses, trace_texts
from seq2see.lens.show import to_html
from seq2see.lens.summary import sink_shares, summarise
from seq2see.lens.terminal import to_terminal
from seq2see.lens.trace import Candidate, Trace
from seq2see.lens.views import VIEWS, add_views

__all__ = [
    "VIEWS",
    "Agreement",
    "AlignmentChoice",
    "Candidate",
    "LogitLens",
    "Outlook",
    "Trace",
    "Unit",
    "WordMap",
    "add_views",
    "agreement",
    "fit_alignment",
    "logit_lens",
    "outlook",
    "sink_shares",
    "summarise",
    "to_html",
    "to_terminal",
    "trace_hypotheses",
    "trace_texts",
    "word_map",
]
