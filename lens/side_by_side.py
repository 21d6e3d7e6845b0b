"""Pages that lay two models side by side: one sentence (`comparison_page`), or the sentences of a file that they
translate most differently (`differences_page`).  Each is one file that works offline."""

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from ..tokenizer.words import split_words
from .explorer import POLICY, to_html
from .hooks import Head
from .maps import picture
from .palette import css_of_both
from .plot import rendered
from .trace import Trace
from .two_models import Comparison, MatchedHeads
from .wording import printable

DRAWN = 6  # pairs of matched heads whose maps are drawn, the most different first
STYLE = """
:root { color-scheme: light dark }
body { margin: 0 auto; max-width: 1500px; padding: 16px; background: var(--page); color: var(--ink);
       font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 22px } h2 { font-size: 18px; margin: 28px 0 8px } p { max-width: 90ch } .soft { color: var(--soft) }
table { border-collapse: collapse; background: var(--card) }
th, td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
mark { background: var(--flash); color: inherit; border-radius: 3px }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 12px } .two > * { min-width: 0 }
img { width: 100%; background: #fff } iframe { width: 100%; height: 900px; border: 1px solid var(--line) }
.wide { overflow-x: auto } @media (max-width: 800px) { .two { grid-template-columns: 1fr } }
"""


@dataclass(frozen=True)
class Difference:
    """A pair of a file, its number from 1, what two models wrote, and the chrF of each against the reference."""

    number: int
    source: str
    reference: str
    written: tuple[str, str]
    chrf: tuple[float, float]


def marked(texts: Sequence[str], *, language: str) -> tuple[str, str]:
    """Two translations as HTML, the words that the other does not have marked."""
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
            shown = html.escape(printable(text[word.start : word.end]))
            parts += [html.escape(printable(text[at : word.start])), shown if number in kept else
                      f"<mark>{shown}</mark>"]
            at = word.end
        found.append("".join([*parts, html.escape(printable(text[at:]))]))
    return found[0], found[1]


def differences_page(names: Sequence[str], each: Iterable[Difference], *, language: str, scores: str, most: int) -> str:
    """The `most` pairs whose chrF differs most; equal chrF is left out.  `scores` says how the models did on all."""
    differ = sorted((one for one in each if one.written[0] != one.written[1]),
                    key=lambda one: (-abs(one.chrf[0] - one.chrf[1]), one.number))
    rows = []
    for one in differ[:most]:
        first, second = marked(one.written, language=language)
        rows.append([f"{one.number}", escaped(one.source), escaped(one.reference), first, second, f"{one.chrf[0]:.1f}",
                     f"{one.chrf[1]:.1f}", f"{one.chrf[0] - one.chrf[1]:+.1f}".replace("-", "−")])
    head = ["pair", "source", "reference", *map(escaped, names), *(f"chrF of {escaped(name)}" for name in names),
            "difference"]
    about = (f"{len(differ):,} translations differ; the {len(rows):,} with the largest difference in chrF. Words that"
             " the other does not have are marked. chrF of one sentence is a rough guide.")
    body = f"<p>{escaped(scores)}</p><p>{about}</p>" + table(head, rows, numbers=(0, 5, 6, 7))
    return page(f"{names[0]} and {names[1]}", body)


def comparison_page(names: Sequence[str], comparisons: Sequence[Comparison],
                    traces: Sequence[tuple[Trace, Trace]]) -> str:
    """One sentence: both models on the translation of the first and, if it is another, on that of the second; of the
    former the maps of the matched heads and both explorers.  `traces` are those of each comparison."""
    mine, other = comparisons[0], comparisons[-1]
    parts = [f"<p>{escaped(mine.source)}</p>"]
    written = marked((mine.translation, other.translation), language=traces[0][0].target_language)
    parts.append(table(["", "translation"], [[escaped(name), text] for name, text in zip(names, written, strict=True)]))
    for one in comparisons:
        rows = [[escaped(word.word), percent(word.first), percent(word.second), escaped(word.first_instead),
                 escaped(word.second_instead)] for word in one.words]
        rows.append(["<b>log-probability of the whole</b>", *(f"{value:.2f}".replace("-", "−") for value in
                                                              one.log_probs), "", ""])
        heads = ["word", *map(escaped, names), *(f"token that {escaped(name)} would write" for name in names)]
        parts += [f"<h2>How probable: {escaped(one.translation)}</h2>", table(heads, rows, numbers=(1, 2))]
    parts += ["<h2>Matched heads</h2>", f"<p>{HEADS_ABOUT}</p>", table(
        [*map(escaped, names), "distance", "differ most at", *(f"{escaped(name)} looks at" for name in names)],
        [_head_row(one) for one in mine.heads], numbers=(2,))]
    if mine.alone:
        parts.append(f"<p>{escaped(alone_line(names, mine))}</p>")
    pair = traces[0]
    for match in mine.heads[:DRAWN]:
        parts.append(f"<h2>{match.first} and {match.second}</h2><div class=two>")
        parts += [_map(trace, head) for trace, head in zip(pair, (match.first, match.second), strict=True)]
        parts.append("</div>")
    parts.append("<h2>Everything inside</h2>")
    for name, trace in zip(names, pair, strict=True):
        parts.append(f'<p>{escaped(name)}</p><iframe title="{escaped(name)}" sandbox="allow-scripts allow-downloads"'
                     f' srcdoc="{html.escape(to_html(trace))}"></iframe>')
    return page(f"{names[0]} and {names[1]}: {mine.source}", "".join(parts))


HEADS_ABOUT = ("The heads of a layer are matched such that their maps of this translation, by words, differ least in"
               " all. Distance: the share of attention that lies elsewhere, averaged over words (0: equal maps)."
               " One sentence says little about a head.")


def alone_line(names: Sequence[str], one: Comparison) -> str:
    """The heads that have no partner, by layer."""
    found = []
    for which, name in enumerate(names):
        own = groupby((head for number, head in one.alone if number == which), key=lambda head: head[:2])
        layers = [f"{kind} {layer} heads {' '.join(f'{head.head}' for head in heads)}" for (kind, layer), heads in own]
        found += [f"{name}: {', '.join(layers)}"] if layers else []
    return "Without a partner: " + "; ".join(found)


def _head_row(one: MatchedHeads) -> list[str]:
    looks = [f"{escaped(word)} {percent(share)}" for word, share in (one.row.first, one.row.second)]
    return [f"{one.first}", f"{one.second}", f"{one.distance:.2f}", escaped(one.row.word), *looks]


def _map(trace: Trace, head: Head) -> str:
    drawn = picture(trace, kind=head.kind, layer=head.layer, head=head.head, words=True)
    content, _ = rendered(drawn, trace, suffix=".svg")
    data = base64.b64encode(content).decode("ascii")
    return f'<img alt="{escaped(drawn.title)}" src="data:image/svg+xml;base64,{data}">'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table of cells that are HTML; columns of `numbers` are aligned."""
    top = "".join(f"<th scope=col>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td{' class=n' * (n in numbers)}>{cell}</td>" for n, cell in enumerate(row)) +
                   "</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def page(title: str, body: str) -> str:
    """A whole page of this body, which is HTML."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escaped(title)} · Seq2See</title><style>{css_of_both()}{STYLE}</style></head>
<body><h1>{escaped(title)}</h1>{body}</body></html>
"""


def escaped(text: str) -> str:
    """A text as HTML."""
    return html.escape(printable(text))


def percent(share: float) -> str:
    """One decimal, and never 100 for less or 0 for more."""
    return "> 99.9 %" if 0.9995 <= share < 1 else "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"
