"""Does the work around the model grow with the length of a text, or faster, whatever the text looks like?

    python benchmarks/shapes.py               an hour
    python benchmarks/shapes.py --quick       a smoke test
    python benchmarks/shapes.py --only files --share 8

A shape is repeated until the text, the HTML text or the file has an eighth, a quarter, half and all of the characters
that the server takes; with --share, of that part of them.  It is translated with an engine that returns its sources,
and elements of HTML are placed by position.  A file is also read and written with each text changed, without a
translator (`changed`).  *seconds* are those of a processor for the longest that is not refused; *growth* is the largest
ratio of seconds between a length and its half: 2 where the work is linear.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
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
# Inside a text of a file, which is changed: what stands before it, the shapes, and what stands after it.
CHANGED = {
    "md": ("[a]: b\n\nThe cat ", (
        "a\n", "- a\n", "> a\n", "| a |\n|-|\n", "*a ", "a* ", "*a* ", "***a** ", "*_", "_a ", "~~a", "`a ", "a `b` ",
        "[", "](", "[a](", "[[a]]", "[a][a] ", "![", "![a](", "![a](b)\n", "[a](b\"", "<a ", "<b>a", "<b>a</b> ",
        "<!-- a --> ", "&amp;a ", "{{a}} ", "$a$ ", "a\\\n", "a  \n", "\\*a ", "# a\n\n[a](#a)\n\n", "[^a] ",
        "http://a ", "a | ", "1. a\n", ": a\n", "a"), ""),
    "html": ("", ("a ", "<p>a", "<b>a</b> ", "<i>a", "a</b>", "<br>a", '<a alt="a">', "<img alt=a>", "&amp;a ",
                  "<!-- a -->a", "<ruby>a<rt>b</rt></ruby>", "<li>a", "‹", '"', "<"), ""),
    "txt": ("", ("a\n", "a\n\n", "a "), ""),
    "srt": ("1\n00:00:01,000 --> 00:00:02,000\nThe cat\n", (
        "a\n", "a b\n", "- a\n", "<i>a\n", "<i>a</i>\n", "{\\an8}a\n", "a\\N", "\\h", "--> ", "a\n\n", "0:",
        "<a"), ""),
    "vtt": ("WEBVTT\n\n00:01.000 --> 00:02.000\nThe cat\n", ("a\n", "<00:01.000>a ", "&amp; ", "<v a>b\n"), ""),
    "json": ('{"a": "The cat ', ("a ", '"\\', "{n, plural, one {a} other {b}} ", "{", "{a, select, ", "a' ",
                                "<b>a</b> ", "%s "), '"}'),
    "po": ('msgid "The cat ', ("a ", '"\n"a ', "%s ", "%(a)s ", "%", "{", "{a} ", "<b>a</b> ", "&a", "\\n"),
           '"\nmsgstr ""\n'),
    "csv": ('a,b\n1,"The cat ', ("a ", '""a', "a\n"), '"\n'),
    "xliff": ('<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"'
              ' target-language="fr" original="a" datatype="plaintext"><body><trans-unit id="1"><source>The cat ',
              ("a ", '<g id="1">a</g> ', '<x id="1"/>a ', "&amp;"),
              "</source></trans-unit></body></file></xliff>"),
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=("texts", "files", "changed"))
    parser.add_argument("--share", type=int, default=1, help="a part of the limits: 8 is an eighth (%(default)s)")
    args = parser.parse_args()
    limits, translator = ServerSettings(), copying()
    translator._alignments = by_position
    rows = []

    def measure(kind: str, shape: str, most: int, work: Callable[[str], Any]) -> None:
        tried = [cost(lambda n=n: work(shape * (n // len(shape))))
                 for n in lengths(most // args.share, args.quick)]
        seconds = [one for one in tried if one is not None]
        ratios = [after / before for before, after in zip(seconds, seconds[1:], strict=False) if before > SHORTEST]
        rows.append({"kind": kind, "shape": repr(shape)[1:-1][:24], "seconds": round(max(seconds, default=0), 2),
                     "growth": round(max(ratios, default=0), 1), "refused": len(tried) - len(seconds)})
        print(rows[-1], file=sys.stderr, flush=True)

    for shape in TEXTS if args.only in (None, "texts") else ():
        measure("text", shape, limits.characters, lambda text: translator(text, target="fr"))
    for shape in MARKUP if args.only in (None, "texts") else ():
        measure("HTML text", shape, limits.characters, lambda text: translator(text, target="fr", format="html"))
    for name, shapes in FILES.items() if args.only in (None, "files") else ():
        for shape in shapes:
            measure(f".{name}", shape, limits.file_characters, lambda text, name=name: file(translator, name, text))
    for name, (before, shapes, after) in CHANGED.items() if args.only in (None, "changed") else ():
        for shape in shapes:
            measure(f".{name} changed", shape, limits.file_characters,
                    lambda text, name=name, before=before, after=after: changed(name, before + text + after))
    rows.sort(key=lambda row: -row["growth"])
    show(rows)
    end("shapes", rows)


def file(translator: Any, name: str, text: str) -> None:
    document = read_document(f"a.{name}", text.encode(), FileOptions(target="fr"))
    document.write([translator(one, target="fr", format="html" if isinstance(one, Html) else "text").text
                    for one in document.texts])


def changed(name: str, text: str) -> None:
    document = read_document(f"a.{name}", text.encode(), FileOptions(target="fr"))
    document.write([f"{one}." for one in document.texts])


def by_position(parts: Sequence[Translation]) -> list[Alignment]:
    """Instead of a pass of the model."""
    return [Alignment.by_place(one.source_text, one.text, protection=one.protection) for one in parts]


def lengths(most: int, quick: bool) -> list[int]:
    return [most // 8, most // 4] if quick else [most // 8, most // 4, most // 2, most]


def cost(work: Callable[[], Any]) -> float | None:
    """The less of two attempts, without the collection of garbage, whose moments are chance; None if it is refused."""
    first = _cost(work)
    return None if first is None else min(first, _cost(work) or first)


def _cost(work: Callable[[], Any]) -> float | None:
    gc.collect()
    gc.disable()
    began = time.process_time()
    try:
        work()
    except UserError:  # a word or a file that is refused
        return None
    finally:
        gc.enable()
    return time.process_time() - began


if __name__ == "__main__":
    main()
