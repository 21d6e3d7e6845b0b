"""`Trace`: the record of one hypothesis: every attention map, and the probabilities of every step.

`tracing.py` makes it and `view_names.py` adds views to it.  Other modules depend on `TraceData` only.
"""

import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from ..passes.attention_kinds import KINDS
from .data import trace_data
from .data.summary import summarise
from .data.tables import attention_table
from .data.trace_data import Candidate as Candidate  # pickled traces name it here
from .data.trace_data import TraceData
from .data.trace_files import load, save
from .data.view_names import WITH_HEADS
from .records import calibration, intervals, trust
from .show.trace_page import to_html

if TYPE_CHECKING:
    import pandas

# A pickled trace of version 0.3 names this module first, then those of its parts as they were.
PARTS = {"calibration": calibration, "intervals": intervals, "trace_data": trace_data, "trust": trust}
sys.modules |= {f"seq2see.lens.{name}": module for name, module in PARTS.items()}


class Trace(TraceData):
    """A record of one hypothesis under teacher forcing: every attention map, and the probabilities at every step.

    There are S source tokens, T decoder steps (`</s>` and a language tag are steps), L layers, H heads, W source words
    and V tokens in the vocabulary.  `source` has the source tokens.  Step t predicts the token `target[t]` and reads
    `inputs[t]`: the start token, then the token that the previous step predicts.  Each kind of attention has a
    dictionary from the name of a view to its maps, in float32:

        encoder [L,H,S,S]   row: the source token being re-encoded        column: the source token looked at
        decoder [L,H,T,T]   row: the step, named by what it predicts      column: `inputs`; later ones are masked
        cross   [L,H,T,S]   row: the step, named by what it predicts      column: the source token looked at

    The view "raw" always exists: the attention weights themselves (Vaswani et al. 2017, eq. 1).  Its rows sum to 1.
    `view_names.py` describes the other views, with their papers.  Views without heads have no axis H: [L,S,S], [L,T,T],
    [L,T,S].  `left_out` [T,W] is the view "left_out" (erasure): the drop of each token's log-probability when a source
    word is erased, in nats.

    - `log_probs` [T], `entropies` [T], `top`: log-probabilities and entropies of the model's own distribution, before
      any generation rule, in nats.  `top` has the 20 most probable candidates of each step.
    - `logits` [T,V], float16: shifted so that the largest logit of each step is 0, where float16 is most precise.  Add
      `top[t][0].log_prob + log_normalisers[t]` to undo the shift.  None in a trace from JSON.
    - `given`: the number of forced tokens at the start (a language tag, a prefix).  `log_prob` does not include these
      tokens.
    - `engine`, `precision`, `score`, `engine_log_prob`: the engine that generated the hypothesis, its precision, and
      the score and log-probability that it computed.  `engine` is "" for a given translation.  Maps are always computed
      with the float32 weights.
    - `replaced`: the caller's texts and words, if the model read and wrote stand-ins for protected text.  Pictures, the
      page and tables show these words, not the stand-ins.
    - `trust`: the measured faithfulness of the views for this model; None if not measured.
    - `calibrated`: the calibrated probabilities; None if the model has no calibration or the caller
      asked for uncalibrated ones.

    `Translator.look`, `trace_texts` and `trace_hypotheses` make traces.

    Raises:
        ValueError: arrays and tokens that do not fit together.
        UserError: a view that the trace does not have.
    """

    def summary(self) -> dict[str, Any]:
        """The figures of the trace, with the shares on sinks: see `summarise`."""
        return summarise(self)

    def save(self, path: str | Path) -> None:
        """Write the trace to a .json file (for any program, without `logits`) or a .npz file (everything).

        Raises UserError for another suffix.
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read a file that `save` wrote; nothing is unpickled.

        Raises UserError for any other file, or a damaged one.
        """
        return load(path, cls)

    def to_pandas(self, view: str = "raw") -> "pandas.DataFrame":
        """The attention of every head in one table: a row for each cell of each map, without the masked ones.

        - `kind`: "encoder", "decoder" or "cross".
        - `layer`, `head`: from 0, as in every array and table; `on_page`: as the page names it, from 1, such as
          "layer 1, head 1".
        - `row`, `row_token`: the token that looks, or whose prediction looks; `column`, `column_token`: the token
          looked at.  Positions count from 0; see `Trace`.
        - `weight`: the attention weight, or the value of another view with heads.

        `view` is "raw" or "norm".  Raises UserError for a view without heads.
        """
        return attention_table(self, self._with_heads(view, "a table has"))

    def to_bertviz(self, view: str = "raw") -> dict[str, Any]:
        """The keyword arguments of BertViz's `head_view` and `model_view`: `head_view(**trace.to_bertviz())`.

        BertViz labels the rows and the columns of decoder maps with the same tokens.  Both get the decoder's inputs: a
        row belongs to the step that reads the token.  `view` is "raw" or "norm".  Raises UserError for a view without
        heads.
        """
        with IMPORTS:
            import torch

        self._with_heads(view, "BertViz draws")
        tokens = {"encoder_tokens": self.source, "decoder_tokens": self.inputs}
        return {
            **{f"{kind}_attention": [torch.tensor(layer)[None] for layer in self.maps(kind, view)] for kind in KINDS},
            **{name: [token.text for token in spans] for name, spans in tokens.items()},
        }

    def _with_heads(self, view: str, wanted: str) -> str:
        if view not in WITH_HEADS:
            raise UserError(f"{wanted} heads, {view!r} has none: expected {' or '.join(WITH_HEADS)}", exit_code=2)
        return view

    def _repr_html_(self) -> str:
        """The page in a frame for notebooks, isolated from the notebook's style and scripts."""
        height = 680 + 16 * max(len(self.source), len(self.target))
        return ('<iframe title="Attention maps" sandbox="allow-scripts allow-downloads" '
                f'style="width:100%;height:{height}px;border:0" srcdoc="{escape(to_html(self))}"></iframe>')
