"""What is said of kinds of attention, of views and of rows: the same words in the terminal, on a page, in a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..tokenizer.words import Piece
from .kinds import Kind, Rows

NAMES: dict[Kind, str] = {"cross": "Cross-attention", "encoder": "Encoder", "decoder": "Decoder"}
ABOUT: dict[Kind, str] = {
    "cross": "where each step of the translation looked in the source",
    "encoder": "where each source piece looked in the source",
    "decoder": "where each step looked in what was already written",
}
ROWS: dict[Kind, str] = {
    "cross": "row: the step that predicts this piece",
    "encoder": "row: the source piece that looks",
    "decoder": "row: the step that predicts this piece",
}
ROWS_READ = "row: the step that reads this piece"
STEPS_BY_WORDS: dict[Rows, str] = {
    "predicts": "row: the mean of the steps that predict this word",
    "reads": "row: the mean of the steps that read this word",
}
SOURCE_BY_WORDS = "row: the mean of the source pieces of this word"
COLUMNS: dict[Kind, str] = {
    "cross": "column: the source piece looked at",
    "encoder": "column: the source piece looked at",
    "decoder": "column: the piece already written",
}
COLUMNS_BY_WORDS: dict[Kind, str] = {
    "cross": "column: the source word looked at, the sum over its pieces",
    "encoder": "column: the source word looked at, the sum over its pieces",
    "decoder": "column: the word already written, the sum over its pieces",
}
LEFT_OUT = "Source words left out"
LEFT_OUT_COLUMNS = "column: the source word left out"
LEFT_OUT_WORDS = "row: a word of the translation, the sum over its pieces"

OF_SHARES = ("raw", "rollout", "mixing", "contributions")  # the views whose cells are shares, of 1 at most

SUMS_TO_ONE = "Every row sums to 1."
TOGETHER = "A row of cross-attention and the same row of the decoder sum to 1 together."


@dataclass(frozen=True)
class ViewText:
    """A view in words: what it is, what a cell is, what a row sums to, and how a cell is read aloud."""

    about: str
    cell: str
    sums: dict[Kind, str]
    reading: str


VIEW_TEXTS: dict[str, ViewText] = {
    "raw": ViewText(
        "the weights themselves: where the head looked, not why the model chose its words", "weight",
        dict.fromkeys(NAMES, SUMS_TO_ONE), "gives this share of its attention to",
    ),
    "norm": ViewText(
        "how long the vector is that came from there: weight, value and output projection (Kobayashi et al. 2020)",
        "length of the vector", dict.fromkeys(NAMES, "Lengths of vectors: rows do not sum to 1."),
        "takes a vector of this length from",
    ),
    "rollout": ViewText(
        "where the content of a state comes from through all layers up to this one, if each passes on half of the mean"
        " of its heads and half of its residual (Abnar and Zuidema 2020)", "share",
        {"encoder": SUMS_TO_ONE, "cross": TOGETHER, "decoder": TOGETHER}, "has this share of its content from",
    ),
    "mixing": ViewText(
        "within this layer, how near each piece brings to what the attention block gives (ALTI, Ferrando et al. 2022)",
        "share", {
            "encoder": SUMS_TO_ONE, "decoder": SUMS_TO_ONE,
            "cross": "What a row lacks to 1 is what the block kept of its own state.",
        }, "has this share of the block's output from",
    ),
    "contributions": ViewText(
        "what a state owes to each piece through all layers up to this one (ALTI+, Ferrando et al. 2022)", "share",
        {"encoder": SUMS_TO_ONE, "cross": TOGETHER, "decoder": TOGETHER}, "owes this share of its state to",
    ),
    "left_out": ViewText(
        "how much less probable each piece of the translation becomes when a source word is left out",
        "fall in log-probability, nats",
        dict.fromkeys(NAMES, "Nats, not shares: below 0 the piece is more probable without the word."),
        "loses this much log-probability without",
    ),
}  # fmt: skip


def printable(text: str) -> str:
    """The text with escapes for what could move a cursor, ring a bell or turn a line round."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def label(text: str) -> str:
    """A piece as it is shown: printable, its space visible."""
    return printable(text).replace(" ", "▁")


def labels(pieces: Sequence[Piece]) -> list[str]:
    """The pieces of a text as they are shown: one that continues the word of the piece before it begins with `·`."""
    words = [None, *(piece.word for piece in pieces)]
    continues = (piece.word is not None and piece.word == before for piece, before in zip(pieces, words, strict=False))
    return [("·" if goes_on else "") + label(piece.text) for piece, goes_on in zip(pieces, continues, strict=True)]


def row_meaning(kind: Kind, view: str, *, rows: Rows, words: bool) -> str:
    """What a row stands for, as an axis says it."""
    if words:
        return LEFT_OUT_WORDS if view == "left_out" else SOURCE_BY_WORDS if kind == "encoder" else STEPS_BY_WORDS[rows]
    return ROWS_READ if rows == "reads" and kind != "encoder" else ROWS[kind]


def column_meaning(kind: Kind, view: str, *, words: bool) -> str:
    """What a column stands for, as an axis says it."""
    if view == "left_out":
        return LEFT_OUT_COLUMNS
    return COLUMNS_BY_WORDS[kind] if words else COLUMNS[kind]
