"""Pages that compare two models, each in one file that works offline.

`comparison_page` is the explorer on one sentence.  `differences_page` lists the sentences of a file that the models
translate most differently.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from ..tokenizer.words import Word, split_words
from ..webpage.palette import css_of_both
from .explorer import POLICY, look_record, trace_record
from .explorer import page as explorer_page
from .trace import Trace
from .two_models import Comparison, compare
from .wording import printable

STYLE = """
:root { color-scheme: light dark }
body { margin: 0 auto; max-width: 1500px; padding: 16px; background: var(--page); color: var(--ink);
       font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 22px } h2 { font-size: 18px; margin: 28px 0 8px } p { max-width: 90ch } .soft { color: var(--soft) }
table { border-collapse: collapse; background: var(--card) }
th, td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
mark { background: var(--flash); color: inherit; border-radius: 3px }
.wide { overflow-x: auto }
"""


@dataclass(frozen=True)
class Difference:
    """A pair of a file, its number from 1, the translations of two models, and the chrF of each against the reference.
    """

    number: int
    source: str
    reference: str
    written: tuple[str, str]
    chrf: tuple[float, float]


def marked(texts: Sequence[str], *, language: str) -> tuple[str, str]:
    """Two translations as HTML; words that the other translation does not have are marked."""
    words = [split_words(text, language=language) for text in texts]
    same: list[set[int]] = [set(), set()]
    one, other = ([word.text for word in own] for own in words)
    for first, second, size in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        same[0].update(range(first, first + size))
        same[1].update(range(second, second + size))
    found = []
    for text, own, kept in zip(texts, words, same, strict=True):
        parts, at = [], 0
        for number, word in enumerate(own):
            shown = escaped(text[word.start : word.end])
            parts += [escaped(text[at : word.start]), shown if number in kept else
                      f"<mark>{shown}</mark>"]
            at = word.end
        found.append("".join([*parts, escaped(text[at:])]))
    return found[0], found[1]


def differences_page(names: Sequence[str], each: Iterable[Difference], *, language: str, scores: str, most: int) -> str:
    """A page of the `most` pairs with the largest difference in chrF; pairs with equal chrF are omitted.

    `scores` is the text about the models' scores on all pairs.
    """
    differ = sorted((one for one in each if one.written[0] != one.written[1]),
                    key=lambda one: (-abs(one.chrf[0] - one.chrf[1]), one.number))
    rows = []
    for one in differ[:most]:
        first, second = marked(one.written, language=language)
        rows.append([f"{one.number}", f"{one.chrf[0]:.1f}", f"{one.chrf[1]:.1f}",
                     f"{one.chrf[0] - one.chrf[1]:+.1f}".replace("-", "−"), escaped(one.source), escaped(one.reference),
                     first, second])
    head = ["pair", *(f"chrF of {escaped(name)}" for name in names), "difference", "source", "reference",
            *map(escaped, names)]
    shown = "All are listed" if len(rows) == len(differ) else f"The {len(rows):,} that differ most in chrF are listed"
    about = (f"{len(differ):,} translations differ. {shown}, the largest difference first. Marked words are missing"
             " from the other translation. chrF of one sentence is a rough guide.")
    body = f"<p>{escaped(scores)}</p><p>{about}</p>" + table(head, rows, numbers=(0, 1, 2, 3))
    return page(f"{names[0]} and {names[1]}", body)


def comparison_record(
    names: Sequence[str], traces: Sequence[tuple[Trace, Trace]], *, measured: Sequence[dict[str, Any]],
    unseen: Sequence[Sequence[Word] | None],
) -> dict[str, Any]:
    """The explorer's data for two models, as JSON.

    Args:
        names: the names of the models.
        traces: the traces by both models of the first one's translation and, if it differs, of the second one's.
        measured: of each model, the result of `measured_record`.
        unseen: of each model, the source words that were not in its training text.
    """
    def raw(trace: Trace) -> dict[str, Any]:
        record = trace_record(trace)
        return record | {"maps": {kind: {"raw": maps["raw"]} for kind, maps in record["maps"].items()}}

    return {
        "models": list(names),
        "measured": list(measured),
        "unknown_words": [None if words is None else [word.text for word in words] for words in unseen],
        "comparisons": [compare(*pair).to_dict() | {"traces": [raw(trace) for trace in pair]} for pair in traces],
    }


def comparison_page(
    names: Sequence[str], traces: Sequence[tuple[Trace, Trace]], *, own: tuple[Trace, Trace],
    measured: Sequence[dict[str, Any]], unseen: Sequence[Sequence[Word] | None],
) -> str:
    """The comparison of two models on one sentence as a page in a file.

    It adds to `comparison_record` the explorer of each model's own translation, by its trace in `own`.  Raises
    UserError for more weights than a browser can draw.
    """
    looks = [look_record(trace, unseen=words, measured=known)
             for trace, words, known in zip(own, unseen, measured, strict=True)]
    comparison = comparison_record(names, traces, measured=measured, unseen=unseen) | {"looks": looks}
    return explorer_page({"first": looks[0], "comparison": comparison, "start": {"against": names[1]}},
                title=f"{names[0]} and {names[1]}: {own[0].source_text}")


HEADS_ABOUT = ("Heads of a layer are matched one to one, so that their maps of this translation differ least in total."
               " Maps are by words. Distance: share of attention on different words, averaged over rows (0: equal"
               " maps). One sentence is little evidence about a head.")


def alone_line(names: Sequence[str], one: Comparison) -> str:
    """The heads without a partner, by layer."""
    found = []
    for which, name in enumerate(names):
        own = groupby((head for number, head in one.alone if number == which), key=lambda head: head[:2])
        layers = [f"{kind} {layer} heads {' '.join(f'{head.head}' for head in heads)}" for (kind, layer), heads in own]
        found += [f"{name}: {', '.join(layers)}"] if layers else []
    return "Without a partner: " + "; ".join(found)


NO_BREAK = dict.fromkeys((0xA0, 0x202F), " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table with HTML cells; columns in `numbers` are aligned as numbers."""
    top = "".join(f"<th scope=col>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td{' class=n' * (n in numbers)}>{cell}</td>" for n, cell in enumerate(row)) +
                   "</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def page(title: str, body: str) -> str:
    """A whole page with this HTML body."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escaped(title)} · Seq2See</title><style>{css_of_both()}{STYLE}</style></head>
<body><h1>{escaped(title)}</h1>{body}</body></html>
"""


def escaped(text: str) -> str:
    """A text as HTML, with no-break spaces as spaces."""
    return html.escape(printable(text.translate(NO_BREAK)))


def percent(share: float) -> str:
    """One decimal; never 100 for a smaller share or 0 for a larger one."""
    return "> 99.9 %" if 0.9995 <= share < 1 else "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"
