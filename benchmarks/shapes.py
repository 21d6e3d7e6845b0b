"""Does the work around the model grow with the length of a text, or faster, whatever the text looks like?

    python benchmarks/shapes.py               minutes
    python benchmarks/shapes.py --quick       a smoke test

A shape is repeated until the text, the HTML text or the file has an eighth, a quarter, half and all of the characters
that the server takes.  It is translated with an engine that returns its sources, and elements of HTML are placed by
position.  *seconds* are those of a processor for the longest; *growth* is the largest ratio of seconds between a length
and its half: 2 where the work is linear.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from _frame import arguments, end, show

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))  # for `identity`

from identity import copying  # noqa: E402

from seq2see.documents.formats import read_document  # noqa: E402
from seq2see.documents.protocol import FileOptions  # noqa: E402
from seq2see.errors import UserError  # noqa: E402
from seq2see.serve.settings import ServerSettings  # noqa: E402
from seq2see.text.html_markup import Html  # noqa: E402
from seq2see.text.placing import Alignment  # noqa: E402
from seq2see.translate.results import Translation  # noqa: E402

SHORTEST = 0.05  # seconds; a ratio of less says nothing
TEXTS = (
    "a", "a ", "a-", "a.", "a'", ":a", "%a", "_a", "@a", "#a", "$a", "&a", "a/", "\\a", "0", "0 ", "1,", "1.",
    "1-", "a1", "(", ")",
    "()", "[a](", "«", "‹", "\"", "“a” ", "'", "‘", "`", "`a", "*", "*a", "$", "{", "{a", "{{a}} ", "%s", "<",
    "<a", "<a>", "&amp;", "&#", "!",
    "?! ", "...", "…", "—", "a—", "\n", "\n\n", "\t", "- ", "| ", "A. ", "Dr. ", "e.g. ", "http://a.", "a@b.",
    "www.", "😀", "é", "e\u0301",
    "中", "。", "ß", "İ", "\u00a0", "The cat ", "The cat sees the dog. ", "Anna ", "ANNA ", "a" * 50 + " ",
)
MARKUP = ("<b>", "<b>a</b>", "<i>a", "</b>", "<br>", "<!--", "<!-- a -->", "<a href='", "<p>a", "&amp;", "&", "<",
    ">", "<script>", "a-", "<b> a ")
FILES = {
    "md": ("_a", "*a", "**a** ", "`a", "[a](", "[a](b) ", "![", "> a\n", "- a\n", "\n", "| a ", "| a |\n", "# a\n",
        "```\n", "<a", "$a", "\\", "a  \n"),
    "html": ("‹", "&lt;", "&#65;", "\n", "<p>", "<p>a</p>", "<b>a", "<div>", "a ", "<!--", "<script>", "<a b="),
    "txt": ("a\n", "\n", "a-", "a ", "The cat sees the dog. "),
    "srt": ("1\n00:00:01,000 --> 00:00:02,000\na\n\n", "\n", "a\n", "-->", "{\\i1}a"),
    "json": ('"', "[", '{"a":'), "po": ('msgid "a"\nmsgstr ""\n\n', '"a"\n', "#"), "csv": ("a,", "a\n", '"', '"a"\n'),
}


def main() -> None:
    args = arguments(__doc__).parse_args()
    limits, translator = ServerSettings(), copying()
    translator._alignments = by_position
    rows = []

    def measure(kind: str, shape: str, most: int, work: Callable[[str], Any]) -> None:
        seconds = [cost(lambda n=n: work((shape * (n // len(shape) + 1))[:n])) for n in lengths(most, args.quick)]
        ratios = [after / before for before, after in zip(seconds, seconds[1:], strict=False) if before > SHORTEST]
        rows.append({"kind": kind, "shape": repr(shape)[1:-1][:24], "seconds": round(seconds[-1], 2),
                     "growth": round(max(ratios, default=0), 1)})
        print(rows[-1], file=sys.stderr, flush=True)

    for shape in TEXTS:
        measure("text", shape, limits.characters, lambda text: translator(text, target="fr"))
    for shape in MARKUP:
        measure("HTML text", shape, limits.characters, lambda text: translator(text, target="fr", format="html"))
    for name, shapes in FILES.items():
        for shape in shapes:
            measure(f".{name}", shape, limits.file_characters, lambda text, name=name: file(translator, name, text))
    rows.sort(key=lambda row: -row["growth"])
    show(rows)
    end("shapes", rows)


def file(translator: Any, name: str, text: str) -> None:
    document = read_document(f"a.{name}", text.encode(), FileOptions(target="fr"))
    document.write([translator(one, target="fr", format="html" if isinstance(one, Html) else "text").text
                    for one in document.texts])


def by_position(parts: Sequence[Translation]) -> list[Alignment]:
    """Instead of a pass of the model."""
    return [Alignment.by_place(one.source_text, one.text, protection=one.protection) for one in parts]


def lengths(most: int, quick: bool) -> list[int]:
    return [most // 8, most // 4] if quick else [most // 8, most // 4, most // 2, most]


def cost(work: Callable[[], Any]) -> float:
    """The less of two attempts, without the collection of garbage, whose moments are chance."""
    return min(_cost(work), _cost(work))


def _cost(work: Callable[[], Any]) -> float:
    gc.collect()
    gc.disable()
    began = time.process_time()
    with suppress(UserError):  # a word or a file that is refused
        work()
    seconds = time.process_time() - began
    gc.enable()
    return seconds


if __name__ == "__main__":
    main()
