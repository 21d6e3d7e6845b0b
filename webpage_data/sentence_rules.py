"""What the page needs to split a language into sentences as sentencex does: its word lists, and some of its rules.

sentencex does not export its lists, but they lie as text in its library.  So each short line of that file is a
candidate, and `segment` decides for a text with it.  `webpage/answers/sentence_ends.js` has the algorithm.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Any
from unicodedata import category

from sentencex import segment

LONGEST = 25  # characters of a word
_LETTERS = re.compile(r"[^\W\d_]+")
_DOTTED = re.compile(r"[^\W\d_]+(?:\. ?[^\W\d_]+)*")
_NAMES = re.compile(r"[A-ZÀ-Ž][a-zà-ž]{2,12}")


@cache
def sentence_rules(language: str) -> dict[str, Any]:
    """The rules of sentencex for a language with this ISO code.

        terminators     marks that may end a sentence
        lowercase       letters that continue a sentence right after a mark
        after_gap       whether these letters continue it after spaces and marks, too
        comma           whether a comma does
        ellipsis_i      whether *I* does after an ellipsis
        months          names that do
        abbreviations   in lower case
        starters        words that begin a sentence even after an abbreviation
        markers         [suffix, any case, only after a digit, ends a sentence before a digit]: 7 p.m.
        fronting        words before a marker inside a sentence: In the evening at 7 p.m.
    """
    def continues(text: str) -> bool:
        return len(segment(language, text)) == 1

    def is_marker(word: str, before: str = "qxq 5") -> bool:
        return continues(f"{before} {word}. b") and not (
            continues(f"qxq/{word}. b") and continues(f"{before} {word}. É"))

    words, names = _candidates()
    after_gap = continues("qxq. b")
    abbreviations = [one for one in words if one == one.lower() and not re.search(r"[\s./]", one)
                     and continues(f"qxq/{one}. É")]
    starters = [one for one in words if one[0].isupper() and "." not in one and not continues(f"qxq A. {one} qxq")
                ] if continues("qxq A. É") else []
    dotted = [one for one in words if _DOTTED.fullmatch(one)]
    markers = [one for one in dotted if starters and is_marker(one)]
    return {
        "terminators": "".join(mark for mark in map(chr, range(0x20000)) if category(mark)[0] == "P"
                               and not continues(f"qxq{mark} É")),
        "lowercase": "".join(letter for letter in map(chr, range(0x600)) if letter.islower()
                             and continues(f"qxq.{letter}")),
        "after_gap": after_gap,
        "comma": continues("qxq. , É"),
        "ellipsis_i": continues("qxq... I É"),
        "months": [one for one in names if continues(f"qxq. {one} É")] if after_gap else [],
        "abbreviations": abbreviations + [one for one in dotted if one[-2:-1] == "." and starters and one == one.lower()
                                          and continues(f"qxq {one}. É") and not continues(f"qxq {one}. The")],
        "starters": starters,
        "markers": [[one, is_marker(one.swapcase()), not is_marker(one, "qxq"), not continues(f"qxq 5 {one}. 5")]
                    for one in markers if one == one.lower() or not is_marker(one.lower())],
        "fronting": [one for one in words if markers and one == one.lower() and _LETTERS.fullmatch(one)
                     and one not in abbreviations and continues(f"{one} 5 p.m. É")],
    }


@cache
def _candidates() -> tuple[list[str], list[str]]:
    """Words of the lists, and capitalised words that lie in the library without a separator."""
    [library] = (file for file in files("sentencex").iterdir() if file.name.startswith("sentencex."))
    text = library.read_bytes().decode(errors="ignore")
    lines = {line.split("|")[0].strip() for line in text.split("\n") if len(line) < 200}
    words = {one for one in lines if 0 < len(one) < LONGEST and re.fullmatch(r"[^\W\d_](?:[^!?]*[^\s.!?])?", one)}
    names = {name[:end] for name in _NAMES.findall(text) for end in range(3, len(name) + 1)}
    return sorted(words | {one.lower() for one in words}), sorted(names)
