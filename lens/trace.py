"""`Trace`: the record of everything seen while one hypothesis was predicted.

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
    """Everything seen while a model predicted one hypothesis, read by teacher forcing: every attention map, and the
    probabilities of every step.

    There are S source tokens, T decoder steps (`</s>` and a language tag are steps), L layers, H heads, W source words
    and V tokens in the vocabulary.  `source` has the source tokens; `target[t]` is the token that step t predicts and
    `inputs[t]` the one it reads (the start, then the previous prediction).  Maps are float32, one dictionary for each
    kind of attention, keyed by view:

        encoder [L,H,S,S]   row: the source token being re-encoded        column: the source token looked at
        decoder [L,H,T,T]   row: the step, named by what it predicts      column: `inputs`; later ones are masked
        cross   [L,H,T,S]   row: the step, named by what it predicts      column: the source token looked at

    "raw", the attention weights themselves (Vaswani et al. 2017, eq. 1), is always there; its rows sum to 1.
    `views.py` describes the other views, with their papers.  Views without heads have no axis H: [L,S,S], [L,T,T],
    [L,T,S].  `left_out` [T,W] is the view of that name, in nats.

    `log_probs` [T], `entropies` [T] (both in nats) and `top` (the best 20 candidates of each step) are the model's own,
    before any generation rule.  `logits` [T,V], float16, are shifted so that the best of each step is 0, where float16
    is most precise; the shift is `top[t][0].log_prob + log_normalisers[t]`.  They are None in a trace read from JSON.

    The first `given` tokens were forced (a language tag, a prefix), not chosen, and do not count in `log_prob`.
    `score` and `engine_log_prob` come from the engine, in its `precision`; `engine` is "" if the translation was given.
    The maps always come from the float32 weights.  `trust` says how faithful the views are for this model; None if not
    measured.  `calibrated` has the probabilities to show; None if the model is not calibrated or its own were asked
    for.

    Made by `Translator.look`, `trace_texts` and `trace_hypotheses`.  Raises ValueError if arrays and tokens do not fit
    together, UserError for a view that it does not hold.
    """

    def summary(self) -> dict[str, Any]:
        """The trace in plain numbers, sinks among them: see `summarise`."""
        return summarise(self)

    def save(self, path: str | Path) -> None:
        """Write .json (readable anywhere, without `logits`) or .npz (everything), by suffix; UserError for another."""
        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read what `save` wrote.  Nothing is unpickled.  UserError for any other or damaged file."""
        return load(path, cls)

    def to_bertviz(self, view: str = "raw") -> dict[str, Any]:
        """The keyword arguments of BertViz's `head_view` and `model_view`: `head_view(**trace.to_bertviz())`.

        BertViz names the rows and the columns of the decoder alike, so both are the decoder's inputs: a row is the
        step that reads its token.  `view` is raw or norm; UserError for one without heads.
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
