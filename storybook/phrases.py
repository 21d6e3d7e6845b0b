"""Phrases that exist in both languages at once, with their word links, and how a phrase becomes two texts.

A `Token` is one future word.  An English and a French token that share a concept id are linked; ids are handed out as
tokens are made, so links come with the words and survive every later change (elision, contraction, agreement).
`compose` makes phrases from a pair of patterns; `realise` turns a finished phrase into a `StoryPair`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count

from . import morphology
from .lexicon import Noun


class Token:
    """One word, its concept ids and, for the gold annotation, its role or the noun that it refers to."""

    __slots__ = ("ids", "is_clitic", "part", "refers", "role", "text")

    def __init__(self, text: str, ids: frozenset[int] = frozenset(), *, part: str | None = None):
        self.text = text
        self.ids = ids
        self.part = part  # agent, action, state, patient, ...
        self.refers: Token | None = None  # for a pronoun: the English noun it stands for
        self.role: str | None = None  # for a pronoun: the role of that noun; set exactly for pronouns
        self.is_clitic = False  # le, la, les before a verb: never contracted


@dataclass
class Phrase:
    """English tokens, French tokens, and the word combinations that decide which split a sentence belongs to."""

    en: list[Token]
    fr: list[Token]
    combinations: frozenset[tuple[str, ...]] = frozenset()


@dataclass
class NounPhrase(Phrase):
    """A phrase with a head: what verbs and adjectives agree with and pronouns refer to."""

    head: Token = field(default_factory=lambda: Token(""))
    noun: Noun | None = None
    gender: str = "m"
    plural: bool = False
    person: int = 3
    listed: tuple[Noun, ...] = ()  # of a list, which has no noun of its own


@dataclass(frozen=True)
class Antecedent:
    """A source pronoun, the source noun it stands for (None: *it was raining*), the target pronoun, the noun's role."""

    pronoun: int
    noun: int | None
    target: int
    role: str


@dataclass(frozen=True)
class StoryPair:
    """One sentence pair and its gold annotation. Word indices are those of `split_words` on either side."""

    source: str
    target: str
    family: str
    kind: str  # contrast, control, easy, sense, form or idiom
    links: tuple[tuple[int, int], ...]
    antecedents: tuple[Antecedent, ...] = ()
    contrast_key: str | None = None
    roles: tuple[tuple[int, str], ...] = ()  # source word, what it is: agent, action, state, patient, recipient ...
    combinations: frozenset[tuple[str, ...]] = frozenset()
    length: int = 0  # words of the longer side
    target_language: str = "fr"


_ids = count()


def new_id() -> frozenset[int]:
    return frozenset((next(_ids),))


@cache
def _parse(pattern: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    items = []
    for item in pattern.split():
        text, _, ids = item.partition("/")
        items.append((text, tuple(ids.split(",")) if ids else ()))
    return tuple(items)


def compose(
    en: str,
    fr: str,
    slots: Mapping[str, Phrase] | None = None,
    *,
    subject: NounPhrase | None = None,
    tense: str = "past",
    degree: tuple[str, str] | None = None,
    part: str | None = None,
) -> Phrase:
    """Make a phrase from two patterns.

    A pattern is words separated by spaces.  `word/1,2` is a word with concepts 1 and 2, local to this call; `$S` is the
    phrase `slots["S"]`.  What depends on the subject: `@be/1`, `@have/1` and `@être/1` are finite verbs (past is the
    French imperfect), `%avoir/1` is one that stays in the present (a perfect tense), `~adjectif/1` agrees, and
    `^word/1` is a word, and `^~adjectif/1` an adjective, preceded by `degree` (English, French).
    """
    slots = slots or {}
    locals_: dict[str, frozenset[int]] = {}
    degree_id = new_id()
    sides: tuple[list[Token], list[Token]] = ([], [])
    for side, pattern in enumerate((en, fr)):
        for text, names in _parse(pattern):
            if text[0] == "$":
                sides[side].extend(slots[text[1:]].en if side == 0 else slots[text[1:]].fr)
                continue
            if text[0] == "^":
                text = text[1:]
                if degree:
                    sides[side].append(Token(degree[side], degree_id))
            ids: frozenset[int] = frozenset()
            for name in names:
                ids |= locals_.setdefault(name, new_id())
            if text[0] in "@~%":
                text = _agreeing(text, subject, tense, english=side == 0)
            sides[side].append(Token(text, ids))
    if part and sides[0]:
        sides[0][-1].part = part
    said = {text[1:] for pattern in (en, fr) for text, _ in _parse(pattern) if text[0] == "$"}  # not every slot is
    combinations = frozenset[tuple[str, ...]]().union(*(slots[name].combinations for name in said))
    return Phrase(sides[0], sides[1], combinations)


def _agreeing(item: str, subject: NounPhrase | None, tense: str, *, english: bool) -> str:
    if subject is None:
        raise ValueError(f"{item!r} needs a subject to agree with")
    mark, word = item[0], item[1:]
    if mark == "~":
        return morphology.agree(word, subject.gender, plural=subject.plural)
    first = subject.person == 1
    if english:
        finite = {"be": morphology.english_be, "have": morphology.english_have}[word]
        return finite("present" if tense == "present" else "past", plural=subject.plural, first=first)
    french_tense = (
        "present" if mark == "%" or tense == "present" else "subjunctive" if tense == "until" else "imperfect"
    )
    return morphology.conjugate(word, french_tense, person=subject.person, plural=subject.plural)


# ------------------------------------------------------------------------------------------------------- realisation
def _contracted(tokens: list[Token]) -> Iterator[Token]:
    """de + le -> du and so on, one token that keeps both tokens' links; not before a vowel (*de l'arbre*).

    *de* swallows an indefinite *des* or *de*: *parler de chats*, *parler de jeunes chats*.
    """
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if i + 1 < len(tokens) and not tokens[i + 1].is_clitic:
            following = tokens[i + 1]
            form = morphology.contract(token.text, following.text)
            if form and not (following.text == "le" and _before_vowel(tokens, i + 1)):
                yield Token(form, token.ids | following.ids)
                i += 2
                continue
        yield token
        i += 1


def _before_vowel(tokens: list[Token], i: int) -> bool:
    return i + 1 < len(tokens) and morphology.starts_with_vowel(tokens[i + 1].text)


def _text(words: list[str]) -> str:
    text = ""
    start = True
    for word in words:
        glued = text.endswith("'") or word[0] in ".,-" or not text
        text += ("" if glued else " ") + (word[0].upper() + word[1:] if start else word)
        start = word in (".", "?", "!")
    return text


def _english_words(tokens: list[Token]) -> list[str]:
    words = [token.text for token in tokens]
    return [
        morphology.english_article(words[i + 1]) if word == "a" and i + 1 < len(words) else word
        for i, word in enumerate(words)
    ]


def _french_words(tokens: list[Token]) -> list[str]:
    words = [token.text for token in tokens]
    return [
        (morphology.elide(word, words[i + 1]) or word) if i + 1 < len(words) else word for i, word in enumerate(words)
    ]


def _places(ids: frozenset[int], written: Mapping[int, list[int]]) -> list[int]:
    """The positions of any of these concepts, each once."""
    if len(ids) == 1:
        [concept] = ids
        return written.get(concept, [])
    return sorted(set().union(*(written.get(concept, ()) for concept in ids)))


def realise(phrase: Phrase, *, family: str, kind: str, contrast_key: str | None = None) -> StoryPair:
    """Write a phrase out in both languages and read its links, antecedents and roles off the tokens."""
    english = phrase.en
    french = list(_contracted(phrase.fr))
    en_text = _text(_english_words(english)).replace(" ?", "?").replace(" !", "!")  # French keeps the space
    written: dict[int, list[int]] = {}  # positions of each concept in French, from left to right
    for j, f in enumerate(french):
        for concept in f.ids:
            written.setdefault(concept, []).append(j)
    links = [(i, j) for i, e in enumerate(english) for j in _places(e.ids, written)]
    position = {id(token): i for i, token in enumerate(english)}
    antecedents = []
    for i, token in enumerate(english):
        if token.role is not None:
            noun = None if token.refers is None else position[id(token.refers)]
            target = min(j for k, j in links if k == i)
            antecedents.append(Antecedent(i, noun, target, token.role))
    return StoryPair(
        source=en_text,
        target=_text(_french_words(french)),
        family=family,
        kind=kind,
        links=tuple(links),
        antecedents=tuple(antecedents),
        contrast_key=contrast_key,
        roles=tuple((i, token.part) for i, token in enumerate(english) if token.part),
        combinations=phrase.combinations,
        length=max(len(english), len(french)),
    )
