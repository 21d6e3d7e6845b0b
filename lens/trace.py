"""`Trace`: the record of one hypothesis: every attention map, and the probabilities of every step.

`tracing.py` makes it and `views.py` adds views to it.  Other modules depend on `TraceData` only.
"""

from html import escape
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from .explorer import to_html
from .files import load, save
from .kinds import KINDS
from .summary import summarise
from .trace_data import Candidate as Candidate  # pickled traces name it here
from .trace_data import TraceData
from .views import WITH_HEADS


class Trace(TraceData):
    """The record of one hypothesis, read by teacher forcing: every attention map, and the probabilities of every step.

    There are S source tokens, T decoder steps (`</s>` and a language tag are steps), L layers, H heads, W source words
    and V tokens in the vocabulary.  `source` has the source tokens.  Step t predicts the token `target[t]` and reads
    `inputs[t]`: the start, then the previous prediction.  Maps are float32, in one dictionary for each kind of
    attention, by view:

        encoder [L,H,S,S]   row: the source token being re-encoded        column: the source token looked at
        decoder [L,H,T,T]   row: the step, named by what it predicts      column: `inputs`; later ones are masked
        cross   [L,H,T,S]   row: the step, named by what it predicts      column: the source token looked at

    The view "raw" always exists: the attention weights themselves (Vaswani et al. 2017, eq. 1).  Its rows sum to 1.
    `views.py` describes the other views, with their papers.  Views without heads have no axis H: [L,S,S], [L,T,T],
    [L,T,S].  `left_out` [T,W] is the view of that name, in nats.

    - `log_probs` [T], `entropies` [T], `top`: the model's own, before any generation rule, in nats.  `top` has the best
      20 candidates of each step.
    - `logits` [T,V], float16: shifted so that the best of each step is 0, where float16 is most precise.  The shift is
      `top[t][0].log_prob + log_normalisers[t]`.  None in a trace from JSON.
    - `given`: the number of forced tokens at the start (a language tag, a prefix), which do not count in `log_prob`.
    - `engine`, `precision`, `score`, `engine_log_prob`: the engine that made the hypothesis, and its figures.  `engine`
      is "" for a given translation.  Maps always come from the float32 weights.
    - `trust`: the measured faithfulness of the views for this model; None if not measured.
    - `calibrated`: the calibrated probabilities; None if the model has no calibration or the caller
      asked for uncalibrated ones.

    `Translator.look`, `trace_texts` and `trace_hypotheses` make traces.

    Raises:
        ValueError: arrays and tokens that do not fit together.
        UserError: a view that the trace does not hold.
    """

    def summary(self) -> dict[str, Any]:
        """The figures of the trace, with sinks: see `summarise`."""
        return summarise(self)

    def save(self, path: str | Path) -> None:
        """Write the trace as .json (for any program, without `logits`) or .npz (everything), by suffix.

        Raises UserError for another suffix.
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read a file of `save`; nothing is unpickled.

        Raises UserError for any other file, or a damaged one.
        """
        return load(path, cls)

    def to_bertviz(self, view: str = "raw") -> dict[str, Any]:
        """The keyword arguments of BertViz's `head_view` and `model_view`: `head_view(**trace.to_bertviz())`.

        BertViz uses the same names for the rows and the columns of the decoder, so both are the decoder's inputs: a row
        is the step that reads its token.  `view` is "raw" or "norm".  Raises UserError for a view without heads.
        """
        with IMPORTS:
            import torch

        if view not in WITH_HEADS:
            raise UserError(f"BertViz draws heads, {view!r} has none: expected {' or '.join(WITH_HEADS)}", exit_code=2)
        tokens = {"encoder_tokens": self.source, "decoder_tokens": self.inputs}
        return {
            **{f"{kind}_attention": [torch.tensor(layer)[None] for layer in self.maps(kind, view)] for kind in KINDS},
            **{name: [token.text for token in spans] for name, spans in tokens.items()},
        }

    def _repr_html_(self) -> str:
        """The page in a frame for notebooks, isolated from the notebook's style and scripts."""
        height = 680 + 16 * max(len(self.source), len(self.target))
        return ('<iframe title="Attention maps" sandbox="allow-scripts allow-downloads" '
                f'style="width:100%;height:{height}px;border:0" srcdoc="{escape(to_html(self))}"></iframe>')
