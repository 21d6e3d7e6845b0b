"""Storybook's pronoun families in German and Spanish: the same English sentences, with other targets.

The English comes from the families themselves; this module writes what each sentence says in German, where *it* is
*er*, *sie* or *es* by the gender of its noun, or in Spanish, which leaves the pronoun out and shows the gender in
adjectives. Singular nouns and the past tense only, no word links. A model of three target languages
needs them: with storybook in French alone, it turns storybook's sentences French, whatever language is asked for.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from . import controls, pronouns
from .build import Storybook, generate
from .clauses import Form
from .families import HARD, Predicate
from .german_spanish_words import ADJECTIVES, CLAUSES, NOUNS, PREDICATES
from .phrases import StoryPair
from .scenes import Description
from .splits import split_of
from .verbs import VERBS, SetVerb, Verb

_LEFT_EMPTY = {"be empty": "estaba ^vací{o}", "be small": "era ^pequeñ{o}"}  # of a place, not of a jug that is emptied

_DEGREES = {
    "too": ("zu", "demasiado"), "so": ("so", "tan"), "very": ("sehr", "muy"), "really": ("wirklich", "realmente"),
    "quite": ("ziemlich", "bastante"), "completely": ("ganz", "completamente"), "almost": ("fast", "casi"),
}  # fmt: skip
_JOINTS = {
    "because": (", weil", "porque"), "until": (", bis", "hasta que"), ", so": (", sodass", ", así que"),
    ".": (".", "."),
}  # fmt: skip

_GENDERS, _CASES = "mfn", ("nom", "acc", "dat")
_ENDINGS = {  # of *dieser*, of *ein*, *mein* and *unser*, of an adjective after either
    "nom": (("er", "e", "es"), ("", "e", ""), ("e", "e", "e"), ("er", "e", "es")),
    "acc": (("en", "e", "es"), ("en", "e", ""), ("en", "e", "e"), ("en", "e", "es")),
    "dat": (("em", "er", "em"), ("em", "er", "em"), ("en", "en", "en"), ("en", "en", "en")),
}
_ARTICLES = {"nom": ("der", "die", "das"), "acc": ("den", "die", "das"), "dat": ("dem", "der", "dem")}
_OWN = {"a": "ein", "my": "mein", "our": "unser"}
_SPANISH = {"the": ("el", "la"), "a": ("un", "una"), "this": ("este", "esta"), "my": ("mi", "mi"),
            "our": ("nuestro", "nuestra")}  # fmt: skip


def _rows(table: str, separator: str | None = ":") -> Iterator[list[str]]:
    for row in table.replace("|", "\n").strip().split("\n"):
        yield [part.strip() for part in row.split(separator)]


_DICTIONARY = {row[0]: row[1:] for row in _rows(NOUNS, None)}
_LOOKS = {row[0]: row[1:] for row in _rows(ADJECTIVES, None)}
_SAID = {row[0]: row[1:] for row in _rows(CLAUSES)}
_STATES = {row[0]: row[1:] for row in _rows(PREDICATES)}
_NAMES = {verb: name.split(" ~")[0] for (_, name), verb in VERBS.items()}


@dataclass(frozen=True)
class GermanNoun:
    """A noun phrase in three cases, and the pronoun for it."""

    nom: str
    acc: str
    dat: str
    pronoun: str


@dataclass(frozen=True)
class SpanishNoun:
    """A noun phrase, also after *a* and *de*, and the ending of what agrees with it."""

    text: str
    o: str

    def __str__(self) -> str:
        return self.text

    @property
    def a(self) -> str:
        return f"a {self.text}".replace("a el ", "al ")

    @property
    def de(self) -> str:
        return f"de {self.text}".replace("de el ", "del ")


def _german(described: Description, det: str) -> GermanNoun:
    word, gender, *_ = _DICTIONARY[described.noun.en]
    subject, _, oblique = word.partition("/")
    stems = [_LOOKS[adjective.en][0] for adjective in described.adjectives]
    column = _GENDERS.index(gender)
    cases = []
    for case in _CASES:
        strong, own, after_strong, after_own = (endings[column] for endings in _ENDINGS[case])
        article = _ARTICLES[case][column] if det == "the" else _OWN[det] + own if det in _OWN else "dies" + strong
        ending = after_own if det in _OWN else after_strong
        noun = subject if case == "nom" else oblique or subject
        cases.append(" ".join([article, *(stem + ending for stem in stems), noun]))
    nominative, accusative, dative = cases
    return GermanNoun(nominative, accusative, dative, ("er", "sie", "es")[column])


def _spanish(described: Description, det: str) -> SpanishNoun:
    *_, word, gender = _DICTIONARY[described.noun.en]
    feminine = gender == "f"
    adjectives = [_LOOKS[adjective.en][1] for adjective in described.adjectives]
    looks = [word[:-1] + "a" if feminine and word.endswith("o") else word for word in adjectives]
    return SpanishNoun(" ".join([_SPANISH[det][feminine], word, *looks]), "a" if feminine else "o")


def _plain(pattern: str) -> str:
    """The words of a pattern for `compose`: `@be/1 ^hungry/2` is *be hungry*."""
    return " ".join(re.sub(r"[@%^~]|/\S*", "", word) for word in pattern.split())


def _state(
    language: str, predicate: str, degree: tuple[str, str] | None, noun: GermanNoun | SpanishNoun, joint: str
) -> str:
    german, verb, spanish = _STATES[predicate]
    spanish = _LEFT_EMPTY.get(predicate, spanish) if joint == "because" else spanish
    how = _DEGREES[degree[0]][language == "es"] + " " if degree else ""
    if isinstance(noun, SpanishNoun):
        return spanish.replace("^", how).format(o=noun.o, on="ona" if noun.o == "a" else "ón")
    rest = german.replace("^", how)
    return f"{noun.pronoun} {verb} {rest}" if joint == "." else f"{noun.pronoun} {rest} {verb}"


def _written(
    language: str, verb: str, nouns: dict[str, Description], definite: bool, meant: str,
    predicate: Predicate, degree: tuple[str, str] | None, joint: str | None,
) -> str:  # fmt: skip
    """The sentence, or without `joint` its main clause alone. KeyError: a word or a form that is not in the tables."""
    if any(noun.plural for noun in nouns.values()):
        raise KeyError("plural")
    decline: Callable[[Description, str], GermanNoun | SpanishNoun] = _german if language == "de" else _spanish
    phrases = {
        name: decline(noun, "the" if definite and name == "o" and noun.det == "a" else noun.det)
        for name, noun in nouns.items()
    }
    text = _SAID[verb][language == "es"].format(**phrases)
    if joint:
        said = _state(language, _plain(predicate.en), degree, phrases[meant], joint)
        said = said[0].upper() + said[1:] if joint == "." else said
        word = _JOINTS[joint][language == "es"]
        text = f"{text}{'' if word[0] in ',.' else ' '}{word} {said}"
    return f"{text[0].upper()}{text[1:]}."


def _name(verb: Verb | SetVerb, form: Form) -> str:
    name = _plain(verb.en) if isinstance(verb, SetVerb) else _NAMES[verb]
    return f"passive {name}" if form.passive else f"alone {name}" if verb.group == "alone" else name


def _hard(rng: Random, language: str, split: str, family: str, whole: bool) -> list[StoryPair]:
    """A group of a pronoun family; without `whole`, of each sentence its main clause alone."""
    pairs = []
    for write in pronouns.unwritten_group(rng, family, split, f"{split}/{language}/{rng.random()}"):
        assert isinstance(write, partial)
        (_, scene, verb, form, predicate, joint), how = write.args, write.keywords
        one, two = (scene.second, scene.first) if how["swapped"] else (scene.first, scene.second)
        nouns, meant = {"s": one, "o": two}, "s" if how["is_first"] else "o"
        if scene.agent:
            nouns, meant = {"s": scene.agent, "o": one, "t": two}, "o" if how["is_first"] else "t"
        elif scene.third:
            nouns["t"] = scene.third
        if scene.tense != "past" or scene.time:
            raise KeyError(scene.tense)
        conjunction = _plain(joint[0])
        target = _written(language, _name(verb, form), nouns, form.negative, meant, predicate, how["degree"],
                          conjunction if whole else None)  # fmt: skip
        pairs.append(_retold(write(), target, language, "" if whole else conjunction))
    return pairs


def _easy(rng: Random, language: str, split: str) -> list[StoryPair]:
    pairs = []
    for write in controls.unwritten_easy(rng, split, f"{split}/{language}/{rng.random()}"):
        assert isinstance(write, partial)
        easy, first, second, form, predicate, degree = write.args
        meant = "s" if write.keywords["is_first"] else "o"
        target = _written(language, _name(easy.verb, form), {"s": first, "o": second}, True, meant, predicate, degree,
                          "because")  # fmt: skip
        pairs.append(_retold(write(), target, language))
    return pairs


def _alone(rng: Random, language: str, split: str) -> list[StoryPair]:
    write = controls.unwritten_alone(rng, split)
    assert isinstance(write, partial)
    animal, verb, predicate, degree = write.args
    target = _written(language, _name(verb, Form()), {"s": animal}, False, "s", predicate, degree, "because")
    return [_retold(write(), target, language)]


def _retold(pair: StoryPair, target: str, language: str, cut_at: str = "") -> StoryPair:
    source = re.split(rf"\s*{re.escape(cut_at)}\s", pair.source)[0].rstrip(".") + "." if cut_at else pair.source
    words = re.findall(r"[\w-]+|[^\w\s]", target)
    places = [place for place, word in enumerate(words) if word.lower() in ("er", "sie", "es")]
    antecedents = tuple(replace(one, target=places[-1]) for one in pair.antecedents) if places and not cut_at else ()
    return replace(pair, source=source, target=target, target_language=language, links=(), antecedents=antecedents,
                   roles=(), length=max(len(source.split()), len(words)))  # fmt: skip


def _sentences(language: str, split: str, size: int, seed: int) -> tuple[StoryPair, ...]:
    rng = Random(f"{seed}/{split}/{language}")
    makers: tuple[Callable[[], list[StoryPair]], ...] = (
        lambda: _hard(rng, language, split, rng.choice(HARD), rng.random() < 0.85),
        lambda: _easy(rng, language, split),
        lambda: _alone(rng, language, split),
    )
    made: dict[str, StoryPair] = {}
    while len(made) < size:
        try:
            group = rng.choices(makers, (6, 6, 3))[0]()
        except KeyError:  # a word or a form that is not in the tables
            continue
        made.update((pair.source, pair) for pair in group if split_of(pair.combinations) == split)
    pairs = list(made.values())
    rng.shuffle(pairs)
    return tuple(pairs[:size])


def in_language(target: str, *, seed: int = 0, train_size: int | None = None) -> Storybook:
    """Storybook in French (`fr`), as `generate` writes it, or its pronoun families in German (`de`) or Spanish (`es`):
    10,000 training pairs unless `train_size` says otherwise, 100 for val and 400 for test, whose combinations of words
    are held out as in French."""
    if target == "fr":
        return generate(seed=seed, **({} if train_size is None else {"train_size": train_size}))
    sizes = {"train": 10_000 if train_size is None else train_size, "val": 100, "test": 400}
    train, val, test = (_sentences(target, split, size, seed) for split, size in sizes.items())
    return Storybook(train, val, test, idioms=())
