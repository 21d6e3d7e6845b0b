"""Two sentences that differ in a word: their translations, and what moved in the maps."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import gradio as gr
from pydantic import Field

from ...lens.wording import printable
from ...tokenizer.words import split_words
from ..dialects.v1 import RequestBody
from ..errors import APIError
from ..service import Service
from .adapter import read

if TYPE_CHECKING:
    from ...lens.moved import Move
    from ...lens.trace import Trace
    from ...translate.translator import Translator

LONGEST = 300  # characters of each
SENTENCES = (  # before the word, its two choices, after it
    ("The goat ", ("chased", "fled from"), " the wolf because it was hungry."),
    ("The box did not fit in the bag because it was too ", ("big", "small"), "."),
    ("The cat did not cross the street because it was too ", ("tired", "wide"), "."),
)


class Compare(RequestBody):
    n: int = Field(ge=0, lt=2**53)
    texts: list[str] = Field(min_length=2, max_length=2)


def sentences(translator: Translator) -> list[Any]:
    """Those of which the model knows every word; all of them where it does not say what it knows."""
    seen = translator.seen_words("en")

    def known(text: str) -> bool:
        words = [word.text.casefold() for word in split_words(text, language="en")]
        return seen is None or all(word in seen for word in words if word.isalpha())

    return [one for one in SENTENCES if known(" ".join([one[0], *one[1], one[2]]))]


async def compare(service: Service, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
    """What a page is shown of the two; APIError where they cannot be compared."""
    asked = read(Compare, event._data)
    if max(map(len, asked.texts)) > LONGEST:
        raise APIError(400, "text_too_long", f"Sentences of at most {LONGEST} characters are compared.")
    _, traces = await service.translate_and_look(asked.texts, caller=service.access.caller(request),
                                                 **asked.arguments())
    if len(traces) != 2:
        raise APIError(400, "too_many_parts", "One sentence each is compared.")
    return {"n": asked.n, "target": asked.target, **await asyncio.to_thread(_compared, *traces)}


def _compared(before: Trace, after: Trace) -> dict[str, Any]:
    from ...lens.changes import changed
    from ...lens.moved import moves

    sources = changed(before.source_words, after.source_words)
    targets = changed(before.target_words, after.target_words)
    return {
        "sides": [{"source": one.source_text, "source_changed": [[word.start, word.end] for word in sources[side]],
                   "target": one.target_text, "target_changed": [[word.start, word.end] for word in targets[side]]}
                  for side, one in enumerate((before, after))],
        "moves": [_move(move, (before, after)) for move in moves(before, after)],
    }  # fmt: skip


def _move(move: Move, traces: tuple[Trace, Trace]) -> dict[str, Any]:
    from ...lens.by_words import word_map

    maps = [word_map(trace, move.kind) for trace in traces]
    names = [[printable(unit.text) for unit in one.rows] for one in maps]
    columns = [[printable(unit.text) for unit in one.columns] for one in maps]

    def word(at: tuple[int, int]) -> str:
        was, now = (columns[side][at[side]] for side in (0, 1))
        return was if was == now else f"{was}/{now}"

    return {
        "kind": move.kind, "layer": move.layer, "head": move.head, "moved": round(move.moved, 4),
        "row": [names[side][move.row[side]] for side in (0, 1)],
        "away": [word(move.away), *(round(share, 4) for share in move.lost)],
        "to": [word(move.to), *(round(share, 4) for share in move.gained)],
        "maps": [{"rows": names[side], "columns": columns[side], "row": move.row[side],
                  "values": one.maps[move.layer, move.head].round(4).ravel().tolist()}
                 for side, one in enumerate(maps)],
    }  # fmt: skip
