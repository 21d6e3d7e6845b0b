"""What became of the texts of a file: how many are doubtful or stayed as they were, on stderr and for `--report`."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seq2see.atomic import atomic_write
from seq2see.translate import Translation
from seq2see.translate.results import Doubted, Warned

UNKNOWN = "words not seen in training, so their translation is a guess"
INVENTED = "words in the translation that may not exist: neither seen in training nor in the source"
CUT_OFF = "the translation reached the model's maximum length, so its end is missing"
WARNINGS: dict[Warned, str] = {
    "unchanged": "the translation is the same as its source",
    "too_short": "the translation is far shorter than its source, so some of it is missing",
    "cut_off": CUT_OFF,
}
LOST = "the translation lost a placeholder or an element"
WORDS_SHOWN = 60  # characters of such words
MOST_PLACES = 10_000  # of a file in a report


class Doubts(NamedTuple):
    """What is doubtful of the translations of a text."""

    unknown: tuple[str, ...]  # words of the source
    invented: tuple[str, ...]  # words of the translations
    warnings: tuple[Warned, ...]

    @classmethod
    def of(cls, results: Sequence[Translation]) -> "Doubts":
        """Of the translations of a text, one to each target."""
        words: dict[Doubted, list[str]] = {"unknown_word": [], "invented_word": []}
        for doubt in dict.fromkeys(one for result in results for one in result.doubts):
            words[doubt.kind].append(doubt.word)
        return cls(tuple(words["unknown_word"]), tuple(words["invented_word"]),
                   tuple(dict.fromkeys(name for result in results for name in result.warnings)))


class Remarks:
    """Remarks on many lines, or other texts: how many each concerns, the first of them, and the places of all."""

    def __init__(self, unit: str, *, of: str = "") -> None:
        self.unit, self.of = unit, of and f"{of}: "
        self.texts = self.left = self.doubtful = 0
        self.counts: Counter[str] = Counter()
        self.stays: Counter[str] = Counter()  # why texts stay as they are
        self.first: dict[str, str] = {}
        self.places: list[dict[str, Any]] = []

    def note(self, number: int, doubts: Doubts, *, place: str = "", text: str = "", translation: str = "") -> None:
        """Count a text with its doubts; `place` where it stands, if its number does not say it."""
        self.texts = number
        if not any(doubts):
            return
        place = place or f"{self.unit[:-1]} {number:,}"
        whys = [WARNINGS[name] for name in doubts.warnings]
        kinds = ((UNKNOWN, doubts.unknown), (INVENTED, doubts.invented))
        named = [(why, ", ".join(words)) for why, words in kinds if words]
        for why, words in named:
            self._count(self.counts, why, f"{place}: {words[:WORDS_SHOWN]}{'…' * (len(words) > WORDS_SHOWN)}")
        for why in whys:
            self._count(self.counts, why, place)
        self.doubtful += 1
        whys = [*(f"{why}: {words}" for why, words in named), *whys]
        self._list({"place": place, "doubtful": whys, "text": text, "translation": translation})

    def leave(self, why: str, *, place: str, text: str) -> None:
        """Count a text that stays as it is."""
        self.left += 1
        self._count(self.stays, why, place)
        self._list({"place": place, "left": why, "text": text})

    def _count(self, counts: Counter[str], what: str, first: str) -> None:
        counts[what] += 1
        self.first.setdefault(what, first)

    def _list(self, place: dict[str, Any]) -> None:
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def print(self) -> None:
        if not self.counts and not self.stays:
            return  # before the slow import of the lens
        from seq2see.streams import printable

        for what, count in self.counts.items():
            where = f"{count:,} of {self.texts:,} {self.unit}"
            print(f"{self.of}{where}: {what} (first: {printable(self.first[what])})", file=sys.stderr)
        for why, count in self.stays.items():
            print(f"{self.of}{count:,} not translated: {why} (first: {printable(self.first[why])})", file=sys.stderr)

    def record(self) -> dict[str, Any]:
        """For a report."""
        return {"texts": self.texts, "left": self.left, "doubtful": self.doubtful, "places": self.places}


def write_report(path: str, files: Sequence[dict[str, Any]]) -> None:
    """Write what became of each file as JSON."""
    atomic_write(Path(path), json.dumps({"files": files}, ensure_ascii=False, indent=1).encode() + b"\n")
