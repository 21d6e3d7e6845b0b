"""Texts about kinds of attention, rows and columns, for the terminal and pictures."""

import re
from collections.abc import Sequence

from seq2see.streams import printable
from ...passes.attention_kinds import Kind, Rows
from ...tokenizer.language_codes import language_name
from ...tokenizer.words import TokenSpan
from ..data.view_names import VIEW

NAMES: dict[Kind, str] = {"cross": "Cross-attention", "encoder": "Encoder", "decoder": "Decoder"}
ABOUT: dict[Kind, str] = {
    "cross": "where each step of the translation looked in the source",
    "encoder": "where each source token looked in the source",
    "decoder": "where each step looked in what was already written",
}
LEFT_OUT = "Source words left out"
ATTRIBUTED: dict[Kind, str] = {"cross": "Source tokens", "decoder": "Tokens already written"}
# The tags of languages, as the page has them (webpage/common/trace.js); the latter two stand beside a source of that
# language.
TAG = re.compile(r"<2([\w-]+)>|>>(\S+)<<|__([a-z]{2,3})__|([a-z]{2,3}_(?:[A-Z][a-z]{3}|[A-Z]{2}))")


def label(text: str) -> str:
    """A token as it is shown: printable, its space visible."""
    return printable(text).replace(" ", "▁")


def special_label(text: str, *, source: bool) -> str:
    """A special token as it is shown: a language tag, of the `source` or of the translation, by its language."""
    tag = TAG.fullmatch(text)
    if tag is None:
        return label(text)
    beside, name = tag[3] or tag[4], language_name(next(filter(None, tag.groups())))
    return f"from {name}" if source and beside else f"to {name}"


def labels(tokens: Sequence[TokenSpan], *, source: bool = False) -> list[str]:
    """The tokens of a text, the `source` or the translation, as they are shown: one that continues the word of the
    token before it begins with `·`."""
    words = [None, *(token.word for token in tokens)]
    continues = (token.word is not None and token.word == before for token, before in zip(tokens, words, strict=False))
    return [special_label(token.text, source=source) if token.special else ("·" if goes_on else "") + label(token.text)
            for token, goes_on in zip(tokens, continues, strict=True)]


def row_meaning(kind: Kind, view: str, *, rows: Rows, words: bool) -> str:
    """What a row stands for, as the label of an axis."""
    if not words:
        return "row: the source token that looks" if kind == "encoder" else f"row: the step that {rows} this token"
    if view == "left_out" or VIEW[view].attribution:
        return "row: a word of the translation, the sum over its tokens"
    verb = rows.removesuffix("s")
    steps = "source tokens of" if kind == "encoder" else f"steps that {verb}"
    return f"row: the mean of the {steps} this word"


def column_meaning(kind: Kind, view: str, *, words: bool) -> str:
    """What a column stands for, as the label of an axis."""
    if view == "left_out":
        return "column: the source word left out"
    unit, summed = ("word", ", the sum over its tokens") if words else ("token", "")
    return f"column: the {unit} already written{summed}" if kind == "decoder" else (
        f"column: the source {unit}{'' if VIEW[view].attribution else ' looked at'}{summed}")
