"""Phrases that exist in both languages at once, with their word links, and how a phrase becomes two texts.

A `StoryToken` is one future word.  An English and a French token that share a concept id are linked; ids are handed out
as tokens are made, so links come with the words and survive every later change (elision, contraction, agreement).
`compose` makes phrases from patterns; `realise` turns a finished phrase into a `StoryPair`. """

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import count, pairwise

from . import morphology
from .lexicon import DEGREES, StoryNoun


@dataclass(eq=False, slots=True)
class StoryToken:
    """One word, its concept ids and, for the gold annotation, its role or the noun that it refers to."""

    text: str
    ids: frozenset[int] = frozenset()
    part: str | None = None  # agent, action, state, patient, ...
    refers: "StoryToken | None" = None  # for a pronoun: the English noun it stands for
    role: str | None = None  # for a pronoun: the role of that noun; set exactly for pronouns
    is_clitic: bool = False  # le, la, les before a verb: never contracted


@dataclass
class Phrase:
    """English tokens, French tokens, and the word combinations that decide which split a sentence belongs to."""

    en: list[StoryToken]
    fr: list[StoryToken]
    combinations: frozenset[tuple[str, ...]] = frozenset()


@dataclass
class NounPhrase(Phrase):
    """A phrase with a head: what verbs and adjectives agree with and pronouns refer to."""

    head: StoryToken = field(default_factory=lambda: StoryToken(""))
    noun: StoryNoun | None = None
    gender: str = "m"
    plural: bool = False
    person: int = 3
    listed: tuple[StoryNoun, ...] = ()  # of a list, which has no noun of its own

    @property
    def pronoun(self) -> str:
        person = self.noun.person if self.noun else "she" if self.gender == "f" else "he"
        return "they" if self.plural else person or "it"


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


def linked(en: str, fr: str) -> Phrase:
    """Words that translate each other as a whole."""
    ids = new_id()
    return Phrase([StoryToken(word, ids) for word in en.split()], [StoryToken(word, ids) for word in fr.split()])


@cache
def _parse(pattern: str) -> list[list[tuple[str, str]]]:
    en, _, fr = pattern.partition(" = ")
    return [[item.partition("/")[::2] for item in side.split()] for side in (en, fr or en)]


def compose(
    pattern: str,
    *,
    subject: NounPhrase | None = None,
    tense: str = "past",
    degree: str | None = None,
    part: str | None = None,
    **slots: Phrase,
) -> Phrase:
    """Make a phrase from a pattern, `English = French`; one without ` = ` is the same in both languages.

    A pattern is words separated by spaces.  `word/1` is a word with concept 1, local to this call; `$S` is the phrase
    `slots["S"]`.  What depends on the subject: `@be/1`, `@have/1` and `@être/1` are finite verbs (past is the French
    imperfect), `%avoir/1` is one that stays in the present (a perfect tense), `~adjectif/1` agrees, and `^word/1` is a
    word, and `^~adjectif/1` an adjective, preceded by `degree`.
    """
    concepts: defaultdict[str, frozenset[int]] = defaultdict(new_id)
    phrase = Phrase([], [])
    for words, tokens in zip(_parse(pattern), (phrase.en, phrase.fr), strict=True):
        english = tokens is phrase.en
        for text, concept in words:
            if text[0] == "$":
                slot = slots[text[1:]]
                tokens += slot.en if english else slot.fr
                phrase.combinations |= slot.combinations
                continue
            if text[0] == "^":
                text = text[1:]
                if degree:
                    tokens.append(StoryToken(degree if english else DEGREES[degree][0], concepts["^"]))
            if text[0] in "@~%" and subject is not None:
                text = _agreeing(text, subject, tense, english=english)
            tokens.append(StoryToken(text, concepts[concept]))
    if part:
        phrase.en[-1].part = part
    return phrase


def _agreeing(item: str, subject: NounPhrase, tense: str, *, english: bool) -> str:
    mark, word = item[0], item[1:]
    if mark == "~":
        return morphology.agree(word, subject.gender, plural=subject.plural)
    if english:
        return morphology.english_finite(word, tense, plural=subject.plural)
    french_tense = "present" if mark == "%" else {"past": "imperfect", "until": "subjunctive"}.get(tense, tense)
    return morphology.conjugate(word, french_tense, plural=subject.plural)


# ------------------------------------------------------------------------------------------------------- realisation
def _contracted(tokens: list[StoryToken]) -> list[StoryToken]:
    """de + le -> du and so on, one token that keeps both tokens' links; not before a vowel (*de l'arbre*).

    *de* swallows an indefinite *des* or *de*: *parler de chats*, *parler de jeunes chats*.
    """
    done = [tokens[0]]
    for token, following in pairwise([*tokens[1:], StoryToken(".")]):
        form = morphology.contract(done[-1].text, token.text)
        elides = token.text == "le" and morphology.starts_with_vowel(following.text)
        if form and not elides and not token.is_clitic:
            done[-1] = StoryToken(form, done[-1].ids | token.ids)
        else:
            done.append(token)
    return done


def _text(tokens: list[StoryToken], change: Callable[[str, str], str]) -> str:
    """The tokens as a text; `change` gives the form of a word before another."""
    text, start = "", True
    for word, following in pairwise([*(token.text for token in tokens), "."]):
        word = change(word, following)
        text += "" if text.endswith("'") or word[0] in ".,-" or not text else " "
        text += word[0].upper() + word[1:] if start else word
        start = word in (".", "?", "!")
    return text


def realise(phrase: Phrase, *, family: str, kind: str, contrast_key: str | None = None) -> StoryPair:
    """Write a phrase out in both languages and read its links, antecedents and roles off the tokens."""
    english, french = phrase.en, _contracted(phrase.fr)
    written: defaultdict[int, list[int]] = defaultdict(list)  # the positions of each concept in French
    for j, token in enumerate(french):
        for concept in token.ids:
            written[concept].append(j)
    places = [sorted({j for concept in token.ids for j in written[concept]}) for token in english]
    return StoryPair(
        source=_text(english, morphology.english_article).replace(" ?", "?").replace(" !", "!"),  # French has a space
        target=_text(french, morphology.elide),
        family=family,
        kind=kind,
        links=tuple((i, j) for i, several in enumerate(places) for j in several),
        antecedents=tuple(
            Antecedent(i, english.index(token.refers) if token.refers else None, places[i][0], token.role)
            for i, token in enumerate(english) if token.role is not None
        ),
        contrast_key=contrast_key,
        roles=tuple((i, token.part) for i, token in enumerate(english) if token.part),
        combinations=phrase.combinations,
        length=max(len(english), len(french)),
    )
