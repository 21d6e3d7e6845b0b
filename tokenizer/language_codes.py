"""Languages by code or name: a model's own code (`fra_Latn`, `fr_XX`), ISO 639, BCP 47, or an English name.

Codes and names are those of CLDR and ISO 639, from `langcodes`, which is imported for codes longer than two letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langcodes import Language

NEAREST = 3  # languages that an error names
SAME = 1  # CLDR's distance of two codes for one language: `cmn` and `zh`, `nb` and `no`; others are 8 or more apart
OWN = {"ns": "nso",  # M2M-100's code for Northern Sotho
       "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"}  # codes of before 1989
_LEFTWARDS = frozenset(("Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"))  # scripts


@lru_cache(maxsize=4096)
def iso(code: str) -> str:
    """The ISO 639 code of the language, with two letters if it exists: `fr` for `fra_Latn`, `zh` for `zh_CN`.

    Anything else is returned unchanged.
    """
    if len(code) < 3:
        return OWN.get(code, code)
    found = _language(code)
    return (found.prefer_macrolanguage().language or code) if found else code


@lru_cache(maxsize=4096)
def file_tag(name: str) -> str:
    """The BCP 47 tag by which files name the language of a code or a name: `fr` for `fra_Latn`, `zh-Hant` for
    `zho_Hant` and `zh_TW`, `he` for `iw`.

    Anything else is returned unchanged.
    """
    from langcodes import Language

    found = _meant(name)
    if found is None:
        return name
    language = found.prefer_macrolanguage().language or name
    script = found.script or (found.maximize().script if found.territory else None)
    if script and script != Language.get(language).maximize().script:
        return f"{language}-{script}"
    return f"{language}-{found.territory}" if found.territory and "-" in name else language


@lru_cache(maxsize=4096)
def is_right_to_left(tag: str) -> bool:
    """Whether the script of a language is written from right to left."""
    found = _language(tag)
    return found is not None and (found.script or found.maximize().script) in _LEFTWARDS


@lru_cache(maxsize=4096)
def language_name(code: str) -> str:
    """The English name: `French` for `fra_Latn`, `Chinese (Traditional)` for `zho_Hant`.

    Anything but a code is returned unchanged.
    """
    found = _language(code)
    return found.simplify_script().display_name() if found and found.is_valid() else code


@lru_cache(maxsize=4096)
def codes_of(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The codes of a model that match a code or an English name: one, none, or several choices.

    The model's own code always matches itself.
    """
    if name in known:
        return (name,)
    same = [code for code in known if _folded(name) in (_folded(code), language_name(code).casefold())]
    return tuple(same or _fitting(name, known))


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """The three known codes nearest to an unknown one.

    Codes of the same language come first, then those with the most similar spelling of code or name.
    """
    spelt = {_folded(name), language_name(name).casefold()}

    def likeness(code: str) -> float:
        own = _folded(code), language_name(code).casefold()
        alike = max(SequenceMatcher(None, one, other).ratio() for one in spelt for other in own)
        return alike + (iso(code) == iso(name))

    return sorted(known, key=likeness, reverse=True)[:NEAREST]


def with_names(codes: Iterable[str]) -> str:
    """The codes, each with its name: `fra_Latn (French), deu_Latn (German)`."""
    names = {code: language_name(code) for code in codes}
    return ", ".join(code if name == code else f"{code} ({name})" for code, name in names.items())


def language_code(name: str) -> str | None:
    """The BCP 47 code of a code or an English name: `fr` for `fra` and `French`; None if it is no language."""
    found = _meant(name)
    return found.to_tag() if found is not None else None


def is_language(name: str) -> bool:
    """Whether a code or an English name is a single language, unlike `mul`, `roa` and OPUS-MT's `ROMANCE`."""
    found = _meant(name)
    return found is not None and not found.display_name().endswith(" languages")


def _folded(code: str) -> str:
    return code.casefold().replace("_", "-")


@cache
def _two_letters() -> dict[str, str]:
    from langcodes.data_dicts import LANGUAGE_ALPHA3

    every = {three: two for two, three in LANGUAGE_ALPHA3.items() if len(two) == 2}  # it has fa-AF too
    return {three: OWN.get(two, two) for three, two in every.items()}


@lru_cache(maxsize=4096)
def _language(code: str) -> Language | None:
    """The language of a code, with two letters if they exist; None if it is no code."""
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    try:
        found = Language.get(OWN.get(code, _folded(code).removesuffix("-xx")), normalize=False)  # mBART has fr_XX
    except LanguageTagError:
        return None
    language = found.language or "und"
    return found.update_dict({"language": _two_letters().get(language, language)})


def _meant(name: str) -> Language | None:
    """The language of a code or an English name."""
    found = _language(name)
    if found and found.is_valid():
        return found
    named = _named(name)
    rough = named and _named(name[:-1]) == named and named.display_name().casefold() != name.casefold()
    return None if rough else named


def _named(name: str) -> Language | None:
    """The language with the longest English name that begins this text: for ROMANCE the Romany of the Roma."""
    from langcodes import Language

    if not name.strip() or "(" in name:  # it would be read without what is in brackets
        return None
    if not name.isprintable():  # langcodes fails at NUL and at lone surrogates
        return None
    try:
        return Language.find(name, language="en")
    except LookupError:
        return None


def _fitting(name: str, known: Sequence[str]) -> list[str]:
    """The codes of a language.

    If there are none, the codes of the languages that it comprises (Norwegian: Bokmål and Nynorsk).  Otherwise,
    equivalent codes.
    """
    from langcodes import tag_distance
    from langcodes.data_dicts import MACROLANGUAGES

    wanted = _meant(name)
    if wanted is None:
        return []
    every = [(code, language) for code in known if (language := _language(code)) and _script_fits(wanted, language)]
    same = [(code, language) for code, language in every if language.language == wanted.language]
    members = [(code, language) for code, language in every
               if MACROLANGUAGES.get(language.language or "") == wanted.language]
    if same or len(members) > 1:
        return _narrowed(wanted, same or members)
    return _narrowed(wanted, [(code, language) for code, language in every
                              if tag_distance(language.language or "und", wanted.language or "und") <= SAME])


def _script_fits(wanted: Language, one: Language) -> bool:
    """Whether two languages have the same script, as far as their scripts or territories show it."""
    scripts = [of.script or (of.maximize().script if of.territory else None) for of in (wanted, one)]
    return None in scripts or scripts[0] == scripts[1]


def _narrowed(wanted: Language, found: Sequence[tuple[str, Language]]) -> list[str]:
    """The languages that are exactly as specific as the wanted one: `pt` of `pt` and `pt_BR`."""
    ways: tuple[Callable[[Language], bool], ...] = (
        lambda language: (language.script, language.territory) == (wanted.script, wanted.territory),
        lambda language: language.territory == wanted.territory,
        lambda language: language.territory is None,
        lambda language: True,
    )
    return next(filter(None, ([code for code, language in found if fits(language)] for fits in ways)), [])
