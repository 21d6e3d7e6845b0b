"""Nouns of the training pairs, with their translations and plurals, found by rule.

A noun is what stands after an article or a possessive and ends its phrase: *my umbrella.*, *un parapluie.*  Two nouns
translate each other if each is the other's most frequent partner in the pairs.  English, French and Spanish plurals are
made by rule.  So are German ones of feminine endings; another is the form that the pairs have most often after a number
(*zwei Regenschirme*) or, if it is not feminine, after *die*, and a noun without one is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from .variation import Pair

LEAST = 2  # sentences in which a noun and its translation meet
SHARE = 0.2  # of the sentences with either noun that have both
DETERMINERS = {
    "en": "a an the my your his her our their this that",
    "fr": "un une le la l' mon ma ton ta son sa notre votre leur ce cet cette",
    "de": "ein eine einen einem einer der die das den dem mein meine meinen meinem meiner dein deine deinen sein seine"
          " seinen ihr ihre ihren unser unsere unseren diese dieser dieses diesen",
    "es": "un una el la mi tu su nuestro nuestra este esta ese esa",
}
INDEFINITE = {"fr": "un une", "de": "ein eine", "es": "un una"}
DEFINITE = {"fr": "le la l'", "de": "der das", "es": "el la"}
AFTER = {  # words that may stand after a noun that ends its phrase
    "en": "is was in on at to of for with from by and or has had will can yesterday today now",
    "fr": "est était dans sur à de du des pour avec et ou a qui que hier",
    "de": "ist war in im auf an am zu für mit von und oder hat hatte gestern heute",
    "es": "es está era en a de del para con y o ha que ayer hoy",
}
SEVERAL = re.compile(r"\b(?:zwei|drei|vier|fünf|sechs|zehn|viele|alle|einige|mehrere) ([A-ZÄÖÜ][a-zäöüß]+)")
DIE = re.compile(r"\b[Dd]ie ([A-ZÄÖÜ][a-zäöüß]+)")
IRREGULAR = {
    "child": "children", "person": "people", "foot": "feet", "tooth": "teeth",
    "mouse": "mice", "goose": "geese", "knife": "knives", "wife": "wives", "life": "lives", "leaf": "leaves",
    "wolf": "wolves", "shelf": "shelves", "half": "halves", "loaf": "loaves", "thief": "thieves", "potato": "potatoes",
    "tomato": "tomatoes", "hero": "heroes", "œil": "yeux",
    "travail": "travaux", "bal": "bals", "carnaval": "carnavals", "festival": "festivals", "bijou": "bijoux",
    "genou": "genoux", "chou": "choux", "pneu": "pneus", "monsieur": "messieurs", "madame": "mesdames",
    "país": "países", "régimen": "regímenes", "carácter": "caracteres", "mes": "meses", "dios": "dioses",
    "gas": "gases",
}
UMLAUT = {"au": "äu", "a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}
INVARIABLE = {
    "sheep", "fish", "deer", "series", "species", "police", "advice", "luggage", "furniture", "news", "money", "time",
    "work", "weather", "water", "milk", "information", "homework", "one", "bit", "lot",
}
ACCENTS = (("a", "á"), ("e", "é"), ("i", "í"), ("o", "ó"), ("u", "ú"))  # Spanish: canción, canciones; crimen, crímenes
PLURALS = {  # endings and what they become, the first that fits
    "en": (("(?<!hu)man", "men"), ("(?<=[^aeiou])y", "ies"), ("(?:s|x|z|ch|sh)", r"\g<0>es"), ("", "s")),
    "fr": (("[sxz]", r"\g<0>"), ("e?au|eu", r"\g<0>x"), ("al", "aux"), ("", "s")),
    "es": (("z", "ces"), *((accented + last, plain + last + "es") for plain, accented in ACCENTS for last in "ns"),
           *((f"{plain}([^aeiouáéíóú]+en)", rf"{accented}\1es") for plain, accented in ACCENTS),
           ("s", "s"), ("[aeiouáéó]", r"\g<0>s"), ("", "es")),
    "de": (("e", "en"), ("in", "innen"), ("(?:ung|heit|keit|schaft|ion|tät|ik|ur|ei|enz|anz)", r"\g<0>en")),
}


@dataclass(frozen=True)
class KnownNoun:
    english: str
    plural: str
    word: str  # its translation, with the plural and the articles
    words: str
    a: str
    the: str


def find_nouns(pairs: Iterable[Pair], language: str) -> list[KnownNoun]:
    """The nouns of the pairs to one language, sorted."""
    met, counts, after = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    several, die, countable = Counter[str](), Counter[str](), set[str]()
    for source, target, _ in pairs:
        english, foreign = ends(source, "en"), ends(target, language)
        countable.update(noun for article, noun in english if article in ("a", "an"))
        after.update(foreign)
        one, other = {noun for _, noun in english}, {noun for _, noun in foreign}
        counts.update([*(("en", noun) for noun in one), *((language, noun) for noun in other)])
        met.update((noun, word) for noun in one for word in other)
        if language == "de":
            several.update(SEVERAL.findall(target))
            die.update(DIE.findall(target))
    best = dict[tuple[str, str], str]()
    for (noun, partner), _ in sorted(met.items(), key=lambda item: (item[1], item[0])):
        best["en", noun], best[language, partner] = partner, noun
    return [
        KnownNoun(noun, plural(noun, "en"), word, words, a, the)
        for noun in sorted(countable - INVARIABLE)
        if (word := best.get(("en", noun), "")) and best[language, word] == noun != word.lower()
        and met[noun, word] >= max(LEAST, SHARE * max(counts["en", noun], counts[language, word]))
        and (a := most_common(word, INDEFINITE[language], after))
        and (the := "die" if a == "eine" else most_common(word, DEFINITE[language], after))
        and (words := german_plural(word, a, several, die) if language == "de" else plural(word, language))
    ]


def ends(text: str, language: str) -> set[tuple[str, str]]:
    """Determiner and noun of each phrase that ends with its noun; in lower case but for German nouns."""
    text = text[:1].lower() + text[1:]
    return {(article.strip(), noun) for article, noun in _after(DETERMINERS[language], language).findall(text)}


@cache
def _after(determiners: str, language: str) -> re.Pattern[str]:
    """A determiner and a noun at the end of a phrase."""
    words = "|".join(f"{word} " if word[-1] != "'" else word for word in determiners.split())
    noun = "[A-ZÄÖÜ][a-zäöüß]{2,}" if language == "de" else r"[^\W\d_A-Z]{3,}"
    return re.compile(rf"\b({words})({noun})(?=[.,!?;:]| ?[!?;:]| (?:{AFTER[language].replace(' ', '|')})\b)")


def plural(noun: str, language: str) -> str:
    """By rule."""
    if noun in IRREGULAR:
        return IRREGULAR[noun]
    return next(re.sub(f"(?:{ending})$", new, noun) for ending, new in PLURALS[language]
                if re.search(f"(?:{ending})$", noun))


def german_plural(noun: str, article: str, several: Counter[str], die: Counter[str]) -> str | None:
    """By rule for a feminine noun, else the most frequent of the forms that it may have, if it is in the text."""
    if article == "eine" and any(re.search(f"(?:{ending})$", noun) for ending, _ in PLURALS["de"]):
        return plural(noun, "de")
    changed = re.sub("au|[aouAOU](?!.*[aou])", lambda found: UMLAUT[found[0]], noun)
    forms = {stem + ending for stem in (noun, changed) for ending in ("", "e", "n", "en", "er", "s", "se")}
    seen = {form: several[form] + (die[form] if article == "ein" else 0) for form in forms}
    found = max(sorted(seen), key=lambda form: seen[form])
    return found if seen[found] > 1 else None


def most_common(noun: str, articles: str, after: Counter[tuple[str, str]]) -> str | None:
    found = max(articles.split(), key=lambda article: after[article, noun])
    return found if after[found, noun] else None
