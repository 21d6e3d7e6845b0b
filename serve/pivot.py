"""Translation through a third language, with two models: the setting `pivot`.

    legs = legs_of(models, "fr", "de", through="en")    # fr to en with one model, en to de with another (or the same)
    results = await translate_through(legs, translate, texts)

The second model reads the first model's best translation.  Attention connects each text only with this intermediate
text, so a pivoted translation cannot be looked into.  Each of its legs can.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any

from ..tokenizer.language_codes import codes_of, iso
from ..tokenizer.language_pairs import LanguagePairs
from ..tokenizer.words import Word
from ..translate.decoding import NO_OPTIONS, DecodingOptions
from ..translate.results import Translation, Warned
from ..translate.translator import Translator
from .api_errors import APIError

TranslateAlike = Callable[..., Awaitable[list[Translation]]]


@dataclass(frozen=True)
class Leg:
    """A model, and its codes of the two languages."""

    model: str
    source: str | None
    target: str | None


@dataclass(frozen=True)
class Pivot:
    """The intermediate step between a text and its translation."""

    language: str = field(metadata={"description": "the intermediate language"})
    text: str = field(metadata={"description": "the intermediate text"})
    models: tuple[str, ...] = field(metadata={"description": "names of the two models"})


@dataclass(frozen=True)
class PivotedTranslation(Translation):
    """A translation of a translation.

    Its log-probabilities and scores are those of the second model, given the intermediate text.  No hypothesis has a
    calibrated `probability`, and its parts, unknown and omitted words are those of the first leg.  Its unlikely and
    invented words are those of the second leg, its warnings those of both.
    """

    first: Translation = field(kw_only=True)
    second: Translation = field(kw_only=True)
    pivot: Pivot = field(kw_only=True)

    @property
    def parts(self) -> tuple[Translation, ...]:
        return self.first.parts

    @cached_property
    def unknown_words(self) -> tuple[Word, ...] | None:
        return self.first.unknown_words

    @cached_property
    def invented_words(self) -> tuple[Word, ...] | None:
        return self.second.invented_words

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        return tuple(dict.fromkeys((*self.first.warnings, *self.second.warnings)))

    @classmethod
    def joined(cls, legs: Sequence[Leg], first: Translation, second: Translation) -> PivotedTranslation:
        finished = all(one.finished for one in first.hypotheses[:1])
        hypotheses = tuple(replace(one, probability=None, finished=one.finished and finished)
                           for one in second.hypotheses)
        own = {one.name: getattr(second, one.name) for one in fields(Translation)}
        both = {name: " and ".join(dict.fromkeys(getattr(one, name) for one in (first, second)))
                for name in ("engine", "precision")}
        return cls(**own | both | {
            "source_text": first.source_text, "source_language": first.source_language, "hypotheses": hypotheses,
            "segments": (), "model_input": None, "omitted_words": first.omitted_words, "seen": None,
            "one_by_one": first.one_by_one or second.one_by_one,
        }, first=first, second=second, pivot=Pivot(first.target_language, first.text, (legs[0].model, legs[1].model)))


@lru_cache(maxsize=8)
def pivoted_pairs(models: tuple[LanguagePairs, ...], through: str) -> LanguagePairs:
    """The pairs that none of these models has, and that two of them translate through a language."""
    direct = LanguagePairs.union(models)
    sources = dict.fromkeys(code for one in models for code in one.sources_to(through))
    targets = dict.fromkeys(code for one in models for own in codes_of(through, one.sources)[:1]
                            for code in one.targets_of(own))
    between = iso(through)
    return LanguagePairs.of([(source, target) for source in sources for target in targets
                             if len({iso(source), iso(target), between}) == 3
                             and (source, target) not in direct and not direct.has(source, target)])


def fitting_model(models: Mapping[str, Translator], source: str | None, target: str | None) -> str | None:
    """The name of the first model with these codes, else of the first with these languages."""
    fitting = [name for name, one in models.items() if not one.language_pairs or one.language_pairs.has(source, target)]
    return next((name for name in fitting if models[name].language_pairs.fitting(source, target)),
                fitting[0] if fitting else None)


def legs_of(models: Mapping[str, Translator], source: str | None, target: str | None, *,
            through: str) -> tuple[Leg, Leg] | None:
    """The two legs of a pair that no model has; None if there are none."""
    pairs = pivoted_pairs(tuple(one.language_pairs for one in models.values()), through)
    if source is None or target is None or not pairs.has(source, target):
        return None
    first, second = fitting_model(models, source, through), fitting_model(models, through, target)
    return (Leg(first, source, through), Leg(second, through, target)) if first and second else None


async def translate_through(legs: Sequence[Leg], translate: TranslateAlike, texts: Sequence[str], *,
                            options: DecodingOptions = NO_OPTIONS, prefix: str = "",
                            **request: Any) -> list[Translation]:
    """Translate texts with the first model, and its output with the second.

    Alternatives, samples and a prefix are the second model's.  The first model returns its best translation.
    """
    if request.get("glossary"):
        raise APIError(400, "pivoted", f"a glossary does not apply here: {route_of(legs)} is translated by two models,"
                       " one after the other; omit the glossary, or translate in two steps")
    one, two = legs
    best = replace(NO_OPTIONS, num_beams=options.num_beams, max_new_tokens=options.max_new_tokens)
    first = await translate(one.model, texts, source=one.source, target=one.target, options=best, **request)
    second = await translate(two.model, [each.text for each in first], source=two.source, target=two.target,
                             options=options, prefix=prefix, **request)
    return [PivotedTranslation.joined(legs, *both) for both in zip(first, second, strict=True)]


def route_of(legs: Sequence[Leg]) -> str:
    """The route as text, such as `fr to de`."""
    return f"{legs[0].source} to {legs[-1].target}"


def no_look(result: PivotedTranslation) -> APIError:
    """The error for a request to look inside a pivoted translation."""
    source, between, target = result.source_language, result.pivot.language, result.target_language
    return APIError(400, "pivoted", f"{source} to {target} is translated by two models, through {between}, and has no"
                    f" attention from one text to the other: look at {source} to {between} and {between} to {target}")
