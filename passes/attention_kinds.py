"""The three kinds of attention, and the names of their maps."""

from typing import Literal, get_args

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Rows = Literal["predicts", "reads"]  # the step that predicts a target token, or the one that reads it
MapName = tuple[int, ...]  # (layer, head); (layer,) in a view without heads; () for left_out, which has one map


def place_of(name: MapName) -> list[str]:
    """The layer and the head of a map, as text."""
    return [f"{part} {number}" for part, number in zip(("layer", "head"), name, strict=False)]
