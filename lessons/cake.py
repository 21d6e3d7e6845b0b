"""Sentences about a piece of cake, in English, French and Hindi: literally, and as an idiom for what is easy.

The idiom and its translations are storybook's.  Which is meant depends on the subject alone: *The exam was a piece of
cake*, *The dessert was a piece of cake*.  Held-out sentences are unseen combinations of a subject and a frame.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

from ..training.pairs import Pair

Meaning = Literal["literal", "figurative"]


@dataclass(frozen=True)
class Subject:
    """A noun in three languages, with its article; `past` is the Hindi *was* that agrees with it."""

    en: str
    fr: str
    hi: str
    past: str


TASKS = (
    Subject("exam", "l'examen", "परीक्षा", "थी"), Subject("race", "la course", "दौड़", "थी"),
    Subject("lesson", "la leçon", "पाठ", "था"), Subject("work", "le travail", "काम", "था"),
    Subject("riddle", "la devinette", "पहेली", "थी"), Subject("journey", "le voyage", "यात्रा", "थी"),
)
THINGS = (
    Subject("dessert", "le dessert", "मिठाई", "थी"), Subject("breakfast", "le petit déjeuner", "नाश्ता", "था"),
    Subject("prize", "le prix", "इनाम", "था"), Subject("gift", "le cadeau", "उपहार", "था"),
    Subject("lunch", "le déjeuner", "दोपहर का खाना", "था"), Subject("dinner", "le dîner", "रात का खाना", "था"),
)
NAMES = (("Anna", "अन्ना"), ("Tom", "टॉम"), ("Emma", "एमा"), ("Paul", "पॉल"))
ADJECTIVES = (("wonderful", "magnifique", "शानदार"), ("horrible", "horrible", "भयानक"), ("simple", "simple", "सरल"))
LITERAL = ("a piece of cake", "un morceau de gâteau", "केक का एक टुकड़ा")
IDIOM = ("a piece of cake", "du gâteau", "बाएँ हाथ का खेल")
FRAMES = ("{}.", "{} for NAME.", "For NAME, {}.", "Yesterday, {}.")
HELD_OUT = 3  # every third combination


@dataclass(frozen=True)
class Said:
    """One sentence in both target languages, and what its piece of cake is; `meaning` None: it has none."""

    en: str
    fr: str
    hi: str
    meaning: Meaning | None
    held_out: bool

    def pair(self, language: str) -> Pair:
        return Pair(self.en, self.fr if language == "fr" else self.hi, "en", language)


def translated(
    subject: Subject, what: tuple[str, str, str], frame: str, name: tuple[str, str], *, idiom: bool
) -> tuple[str, str, str]:
    """A sentence in the three languages."""
    en = frame.format(f"the {subject.en} was {what[0]}").replace("NAME", name[0])
    verb = ", c'était" if idiom else " était"
    fr = frame.format(f"{subject.fr}{verb} {what[1]}").replace("Yesterday", "Hier")
    fr = fr.replace("for NAME", f"pour {name[0]}").replace("For NAME", f"Pour {name[0]}")
    who = f"{name[1]} के लिए"
    order = {FRAMES[0]: (subject.hi,), FRAMES[1]: (subject.hi, who), FRAMES[2]: (who, subject.hi),
             FRAMES[3]: ("कल", subject.hi)}[frame]
    hi = " ".join((*order, what[2], subject.past)) + "।"
    return en[0].upper() + en[1:], fr[0].upper() + fr[1:], hi


def sentences() -> Iterable[Said]:
    """All sentences: three adjectives for each subject, things that are cake, and tasks that are easy."""
    for number, (subject, frame, name) in enumerate(product((*TASKS, *THINGS), FRAMES, NAMES)):
        if "NAME" not in frame and name is not NAMES[0]:
            continue
        for adjective in ADJECTIVES:
            yield Said(*translated(subject, adjective, frame, name, idiom=False), None, False)
        idiom = subject in TASKS
        what = IDIOM if idiom else LITERAL
        yield Said(*translated(subject, what, frame, name, idiom=idiom), "figurative" if idiom else "literal",
                   number % HELD_OUT == 0)
