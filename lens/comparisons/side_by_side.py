"""Pages that compare two models, each in one file that works offline.

`comparison_page` is the explorer on one sentence.  `differences_page` lists the sentences of a file that the models
translate most differently.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from ...tokenizer.words import Word, split_words
from ...webpage.static_page import escaped, page, table
from ..show.trace_page import look_record, trace_record
from ..show.trace_page import page as explorer_page
from ..trace import Trace
from .two_models import Comparison, compare


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
                title=f"{names[0]} and {names[1]}: {own[0].texts[0]}")


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


