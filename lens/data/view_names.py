"""The views of a trace: their names and texts, and `add_views`, which computes them.

`--help` reads the names, so no library is imported until a view is made.

raw and norm have heads, [L,H,rows,columns]; rollout, mixing and contributions are of whole layers, [L,rows,columns].
left_out is of source words: `trace.left_out` [T,W].  Attributions are of the output, not of attention: they have no
encoder map, and no layers but for gradient_x_activation: [rows,columns].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from seq2see.errors import UserError
from ...passes.attention_kinds import KINDS, Kind

if TYPE_CHECKING:

    pass

ViewName = Literal["raw", "norm", "rollout", "mixing", "contributions", "left_out", "input_x_gradient",
                   "integrated_gradients", "gradient_x_activation", "occlusion", "value_zeroing"]
VIEWS: tuple[ViewName, ...] = get_args(ViewName)

SEGMENTS = 16  # of the way of integrated gradients: half of what `attribute` takes
SUMS_TO_ONE = "Every row sums to 1."
TOGETHER = "A row of cross-attention and the same row of the decoder sum to 1 together."
SIGNED = "In nats, not shares. Below 0, the token becomes less probable."
OF_ALL_LAYERS: dict[Kind, str] = {"encoder": SUMS_TO_ONE, "cross": TOGETHER, "decoder": TOGETHER}


@dataclass(frozen=True)
class View:
    """A view's title, a short summary for the page, and a text with its paper for the terminal and pictures; what the
    number in a cell is, and what a row of each kind sums to.

    `heads`: every head has its own map, else every layer; without `layers` there is one.  `shares`: cells are shares,
    at most 1.  `through_layers`: a layer's map is about all layers up to it.  `attribution`: by one of the methods of
    `attribution_methods.py`.
    """

    title: str
    summary: str
    about: str
    cell: str
    sums: dict[Kind, str]
    heads: bool = False
    layers: bool = True
    shares: bool = True
    through_layers: bool = False
    attribution: bool = False


def _attribution(
    title: str, summary: str, about: str, cell: str, sums: str = SIGNED, *, layers: bool = False
) -> View:
    return View(title, summary, about, cell, dict.fromkeys(KINDS, sums), layers=layers, shares=False, attribution=True)


VIEW: dict[str, View] = {
    "raw": View(
        "Attention weights", "Where the head looked. Every row adds up to 100%.",
        "the weights themselves: where the head looked, not why the model chose its words", "weight",
        dict.fromkeys(KINDS, SUMS_TO_ONE), heads=True,
    ),
    "norm": View(
        "Weighted by signal", "Attention weighted by the strength of the signal that it carries.",
        "the length of the vector that came from there: weight, value and output projection (Kobayashi et al. 2020)",
        "length of the vector", dict.fromkeys(KINDS, "In lengths of vectors. Rows do not sum to 1."), heads=True,
        shares=False,
    ),
    "rollout": View(
        "Rollout", "Traces the weights back through all layers.",
        "where a state comes from, through all layers up to this one, if each layer passes on half of the mean of its"
        " heads and half of its residual (Abnar and Zuidema 2020)", "share", OF_ALL_LAYERS,
        through_layers=True,
    ),
    "mixing": View(
        "Mixing (ALTI)", "How much of each token arrives, within one layer.",
        "each token's share of the attention block's output, within this layer (ALTI, Ferrando et al. 2022)",
        "share", {
            "encoder": SUMS_TO_ONE, "decoder": SUMS_TO_ONE,
            "cross": "The rest of a row, up to 1, is the residual's share.",
        },
    ),
    "contributions": View(
        "Contributions (ALTI+)", "How much of each token arrives, through all layers.",
        "each token's contribution to a state through all layers up to this one (ALTI+, Ferrando et al. 2022)", "share",
        OF_ALL_LAYERS, through_layers=True,
    ),
    "left_out": View(
        "Leave a word out", "How much less likely a word becomes when a source word is erased.",
        "how much less probable each token of the translation becomes when a source word is left out",
        "fall in log-probability, nats",
        dict.fromkeys(KINDS, "In nats, not shares. Below 0, the token is more probable without the word."),
        layers=False, shares=False,
    ),
    "input_x_gradient": _attribution(
        "Input × gradient", "What each token adds, estimated from the gradient.",
        "how fast a token of the translation becomes more probable as another token's embedding grows (input times"
        " gradient, Shrikumar et al. 2016)", "embedding times gradient, nats",
    ),
    "integrated_gradients": _attribution(
        "Integrated gradients", "What each token adds, compared with unknown tokens.",
        "what each token adds to the log-probability, compared with unknown tokens everywhere (integrated gradients,"
        " Sundararajan et al. 2017)", "added log-probability, nats",
        "In nats. A row of cross-attention and the same row of the decoder sum to the change in log-probability.",
    ),
    "gradient_x_activation": _attribution(
        "Gradient × activation", "What each token adds, estimated at the input of each layer.",
        "how fast a token becomes more probable as another token's state grows at the input of a layer, in the encoder"
        " for source tokens", "state times gradient, nats", layers=True,
    ),
    "occlusion": _attribution(
        "Occlusion", "How much less likely a word becomes when a token is replaced.",
        "how much less probable each token of the translation becomes when the unknown token replaces another one"
        " (Zeiler and Fergus 2014)", "fall in log-probability, nats",
    ),
    "value_zeroing": _attribution(
        "Value zeroing", "How much less likely a word becomes when a token’s values are zero.",
        "how much less probable each token of the translation becomes when the values of another token are zero in"
        " every layer that reads it (after Mohebbi et al. 2023)", "fall in log-probability, nats",
    ),
}
ATTRIBUTIONS = tuple(name for name in VIEWS if VIEW[name].attribution)
OF_ATTENTION = tuple(name for name in VIEWS if not VIEW[name].attribution)  # and erasure
SLOW = ("left_out", *ATTRIBUTIONS)  # they cost a pass for each word, token or step, or more
WITH_HEADS = tuple(name for name in VIEWS if VIEW[name].heads)


def shown_texts() -> dict[str, dict[str, Any]]:
    """What the page shows of every view."""
    return {name: {"title": one.title, "summary": one.summary, "heads": one.heads, "attribution": one.attribution}
            for name, one in VIEW.items()}


def check_views(views: Sequence[str]) -> None:
    """UserError for an unknown view, and for a bare string instead of a list."""
    if isinstance(views, str):
        raise UserError(f'views="{views}": expected a list of names, such as views=["{views}"]', exit_code=2)
    for view in views:
        if view not in VIEWS:
            raise UserError(f"there is no view {view!r}; there are {', '.join(VIEWS)}", exit_code=2)


