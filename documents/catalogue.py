"""Catalogues of gettext (PO), read and written by polib.

Entries without a translation, and those marked fuzzy, are translated; what translators have confirmed stays, and so do
contexts, comments, references, obsolete entries and the header.  Each entry that is written gets the flag `fuzzy`, as
gettext marks what nobody has confirmed: `msgattrib --clear-fuzzy` accepts them all.  An entry whose placeholders did
not survive, or whose plural forms the header does not say, is left as it is: `msgfmt --check` would refuse it.

A catalogue is the same in meaning, not byte for byte: polib wraps lines in its own way.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from gettext import c2py
from typing import Any

import polib

from seq2see.errors import UserError
from ..text.protection import DEFAULT_PROTECTION
from ..tokenizer.language_codes import iso, language_name
from .fragments import Fragment, HtmlToken
from .protocol import Document, FileOptions

COUNTS = 1_000  # that a plural form is tried with
RARE = 5  # counts of a form whose translation may leave out the number, as gettext has it
MOST_FORMS = 10
MOST_COMMENTS = 1_000  # lines
_RULES = {
    "nplurals=1; plural=0;": "id ja jv km ko lo ms my su th vi zh",
    "nplurals=2; plural=(n != 1);": "af ast az bg bn ca da de el en eo es et eu fi gl gu he hu hy is it ka kk kn lb ml"
                                   " mn mr nb ne nl nn no pa pt sq sv sw ta te tr ur uz",
    "nplurals=2; plural=(n > 1);": "ak br fa fil fr hi ln mg mi oc pt_BR ti wa",
    "nplurals=2; plural=(n%10==1 && n%100!=11 ? 0 : 1);": "mk",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);": "lv",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);": "lt",
    "nplurals=4; plural=(n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 : n%100>10 && n%100<20 ? 2 : 3);": "mt",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4);": "ga",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);":
        "be bs hr ru sr uk",
    "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;": "cs sk",
    "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);": "pl",
    "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2);": "ro",
    "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);": "sl",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);": "ar",
}
PLURAL_FORMS = {language: rule for rule, languages in _RULES.items() for language in languages.split()}
_FORMS = re.compile(r"\s*nplurals\s*=\s*(\d{1,3})\s*;\s*plural\s*=\s*([^;]+);?\s*")
_BETWEEN_ENTRIES = re.compile(r"((?:\r?\n[ \t]*){2,})")
_OBSOLETE = re.compile(r"^#~", re.MULTILINE)
_MESSAGE = re.compile(r"^msg", re.MULTILINE)
_NEWLINES = "\r\n"
_CONTINUED = re.compile(r'"[ \t]*\r?\n(?:#~)?[ \t]*"')
_JOIN = "\ufdd2"  # in place of a line break inside a message
_UNCLOSED = re.compile(r'^(?:#[~|]+[ \t]*)?(?:msg[\w\[\]]+[ \t]*)?"(?:[^"\\\r\n]|\\[^\r\n])*+\\?\r?$', re.MULTILINE)
_CHARSET = re.compile(rb"^\"Content-Type:[^\n]*?charset=([\w-]+)", re.MULTILINE)
_HELD = str.maketrans(" -", "\ufdd0\ufdd1")  # no characters of any text
_LET_GO = str.maketrans("\ufdd0\ufdd1", " -")
_LAYOUT = re.compile(r"[^\S ]|  |^ | $")
_ENDS = re.compile(r"(\n*)(.*?)(\n*)", re.DOTALL)
_DIRECTIVES = {  # by the flag of an entry: what its translations must have too
    "c": r"%(?:(?P<place>\d+)\$)?[-+ #0'I]*(?P<width>\*|\d+)?(?:\.(?:\*|\d+))?(?:hh?|ll?|[qjztL])?"
         r"(?:[diouxXeEfFgGaAcspm%]|<PRI\w+>)",
    "python": r"%(?:\(\w+\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?[diouxXeEfFgGcrsa%]",
    "python-brace": r"\{\{|\}\}|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}",
    "": r"%(?:\(\w+\)|<\w+>|\d+\$)?[-+#0]*\d*(?:\.\d+)?(?:ll?|[hzjt])?[diouxXeEfFgGcrs](?!\w)|\$?\{\w*\}|%\d+|\$\w+",
}


def read(data: bytes, options: FileOptions, *, name: str) -> Document:
    _, entries, _ = _opened(data, options, name)
    messages = [(entry, message) for entry in entries for message in _messages(entry)]
    lost = list[int]()

    def write(translations: Sequence[str]) -> bytes:
        catalogue, entries, obsolete = _opened(data, options, name)  # again, for it is changed
        lost.clear()
        number = 0
        for entry in entries:
            numbers = range(number, number := number + len(_messages(entry)))
            if not _fill(entry, translations[numbers.start : number], catalogue.metadata.get("Plural-Forms", "")):
                lost.extend(numbers)
        return (_written(catalogue).rstrip("\n") + obsolete + "\n").encode()

    return Document([_text(message, entry.flags) for entry, message in messages], write,
                    [f"near line {max(entry.linenum, 1):,}" for entry, _ in messages], lost=lost)


def _opened(data: bytes, options: FileOptions, name: str) -> tuple[Any, list[Any], str]:
    """The catalogue with its new header, its entries to translate, and the obsolete ones, which polib does not keep
    whole, as they are.
    """
    text = _decoded(data, name)
    blocks = _BETWEEN_ENTRIES.split(text)
    obsolete = [number for number, block in enumerate(blocks) if _OBSOLETE.search(block) and not _MESSAGE.search(block)]
    kept = "".join(f"\n\n{blocks[number].strip(_NEWLINES)}" for number in obsolete)
    for number in obsolete:
        blocks[number] = "\n" * blocks[number].count("\n")  # errors name lines
    catalogue = _parsed("".join(blocks), name)
    _set_header(catalogue, options, name)
    return catalogue, [one for one in catalogue if not one.obsolete and one.msgid and not one.translated()], kept


def _written(catalogue: Any) -> str:
    """The catalogue, with its lines of comment as they were: polib would wrap them."""
    for entry in catalogue:
        entry.comment, entry.tcomment = entry.comment.translate(_HELD), entry.tcomment.translate(_HELD)
    text = str(catalogue).translate(_LET_GO)
    return (text if catalogue.header else text.removeprefix("#\n")).rstrip("\n") + "\n"


def _decoded(data: bytes, name: str) -> str:
    declared = _CHARSET.search(data)
    encoding = declared[1].decode() if declared and declared[1] != b"CHARSET" else "utf-8"
    try:
        if not getattr(codecs.lookup(encoding), "_is_text_encoding", True):
            raise LookupError(encoding)
        return data.decode(encoding).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError):
        raise UserError(f"{name} is not {encoding}: convert it with msgconv -t UTF-8") from None


def _parsed(text: str, name: str) -> Any:
    if unclosed := _UNCLOSED.search(text):  # polib would cut its last character
        raise _broken(name, text.count("\n", 0, unclosed.start()) + 1)
    marked = _CONTINUED.sub(_JOIN, text)
    text = marked.replace(_JOIN, "")  # polib would copy a message once for each of its lines
    _check_comments(text, name)
    try:
        return polib.pofile("\n" + text, wrapwidth=78)  # it would open a file of this name, were the text one
    except (OSError, ValueError, IndexError, AttributeError) as error:
        line = re.search(r"line (\d+)", str(error))
        before = marked.split("\n")[: int(line[1]) - 2] if line else []
        raise _broken(name, len(before) + 1 + "".join(before).count(_JOIN) if line else 0) from None


def _broken(name: str, line: int) -> UserError:
    where = f" (line {line})" if line else ""
    return UserError(f"{name} is not a gettext catalogue{where}; check it with msgfmt --check")


def _check_comments(text: str, name: str) -> None:
    """UserError for an entry with too many lines of comment: polib copies all for each."""
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        count = count + 1 if line.startswith(("# ", "#.")) or line == "#" else 0
        if count > MOST_COMMENTS:
            raise UserError(f"{name} has an entry with more than {MOST_COMMENTS:,} lines of comment (line {number:,})")


def _set_header(catalogue: Any, options: FileOptions, name: str) -> None:
    """Language, encoding and plural forms as the translations have them."""
    metadata, target = catalogue.metadata, iso(options.target)
    named = metadata.get("Language", "")
    if target and named and iso(named) != target:
        if any(entry.translated() for entry in catalogue):
            raise UserError(f"{name} contains translations into {language_name(named)}; give a catalogue of"
                            f" {language_name(target)}, or the template")
        named = ""
    catalogue.metadata_is_fuzzy = False  # as that of a template is: msgfmt would leave it out
    metadata["MIME-Version"] = metadata.get("MIME-Version", "1.0")
    metadata["Content-Type"] = "text/plain; charset=UTF-8"
    metadata["Content-Transfer-Encoding"] = "8bit"
    if target and not named:
        metadata["Language"] = options.target.replace("-", "_")
    rule = PLURAL_FORMS.get(options.target.replace("-", "_")) or PLURAL_FORMS.get(target)
    if rule and (not named or not _FORMS.fullmatch(metadata.get("Plural-Forms", ""))):
        metadata["Plural-Forms"] = rule


def _messages(entry: Any) -> list[str]:
    return [entry.msgid, entry.msgid_plural] if entry.msgid_plural else [entry.msgid]


def _fill(entry: Any, translations: Sequence[str], plural_forms: str) -> bool:
    """Translate an entry; False if a placeholder is lost, or its plural forms are not known."""
    kept = [_as_source(message, one, entry.flags) for message, one in zip(_messages(entry), translations, strict=True)]
    if any(one is None for one in kept):
        return False
    if entry.msgid_plural:
        forms = _forms(plural_forms, kept, same=_directives(entry.msgid, entry.flags) == _directives(
            entry.msgid_plural, entry.flags))
        if not forms:
            return False
        own = {} if entry.fuzzy else entry.msgstr_plural
        entry.msgstr_plural = {number: own.get(number) or form for number, form in enumerate(forms)}
    else:
        entry.msgstr = kept[0]
    entry.previous_msgid = entry.previous_msgid_plural = entry.previous_msgctxt = None
    if "fuzzy" not in entry.flags:
        entry.flags.insert(0, "fuzzy")
    return True


def _text(message: str, flags: Sequence[str]) -> str:
    """A message without the line breaks at its ends; with elements for placeholders that have an unusual shape."""
    fragment = _fragment(message, flags)
    return fragment.texts[0] if fragment else message.strip("\n")


def _fragment(message: str, flags: Sequence[str]) -> Fragment | None:
    """A message whose placeholders a translator would not know by their shape, if its spaces say nothing."""
    inside = message.strip("\n")
    known = {place for span in DEFAULT_PROTECTION.spans(inside) for place in range(*span)}
    runs = list(re.finditer(rf"(?:{_DIRECTIVES[_kind(flags)]})+", inside)) if _kind(flags) else []
    if _LAYOUT.search(inside) or all(known.issuperset(range(*run.span())) for run in runs):
        return None
    tokens, done = list[HtmlToken](), 0
    for run in runs:
        tokens += [HtmlToken(inside[done : run.start()]), HtmlToken(run[0], "word")]
        done = run.end()
    fragment = Fragment([*tokens, HtmlToken(inside[done:])])
    return fragment if fragment.texts else None


def _as_source(message: str, translation: str, flags: Sequence[str]) -> str | None:
    """The translation with the line breaks that its message begins and ends with; None if a placeholder is lost."""
    fragment = _fragment(message, flags)
    if fragment:
        tokens = fragment.translated(translation)
        if tokens is None:
            return None
        translation = "".join(token.raw for token in tokens)
    before, _, after = _ENDS.fullmatch(message).groups()  # type: ignore[union-attr]
    return _with_directives(message, before + translation.strip("\n") + after, flags)


def _kind(flags: Sequence[str]) -> str:
    """Which placeholders an entry has, by its flags."""
    kinds = (flag.removesuffix("-format") for flag in flags)
    return next((kind for kind in kinds if kind in _DIRECTIVES), "")


def _directives(text: str, flags: Sequence[str]) -> list[str]:
    return [one[0] for one in re.finditer(_DIRECTIVES[_kind(flags)], text) if one[0] != "%%"]


def _with_directives(message: str, translation: str, flags: Sequence[str]) -> str | None:
    """The translation if it has the placeholders of its message, numbered if C would read them in another order; None
    if it has not."""
    own, new = _directives(message, flags), _directives(translation, flags)
    kind = _kind(flags)
    if kind in ("c", "python") and "%" in re.sub(_DIRECTIVES[kind], "", translation):
        return None  # half a placeholder
    by_place = kind == "c" or (kind == "python" and not any("(" in directive for directive in own))
    if own == new or (not by_place and Counter(own) == Counter(new)):
        return translation
    if kind != "c" or Counter(own) != Counter(new) or any("*" in directive or "$" in directive for directive in own):
        return None
    left = dict[str, list[int]]()
    for place, directive in enumerate(own, 1):
        left.setdefault(directive, []).append(place)
    return re.sub(_DIRECTIVES["c"], lambda found: found[0] if found[0] == "%%" else
                  f"%{left[found[0]].pop(0)}${found[0][1:]}", translation)


def _forms(plural_forms: str, translations: Sequence[str | None], *, same: bool) -> list[str | None]:
    """The translation of each plural form: that of the singular for the form of 1, that of the plural for others.
    Empty if the header does not say how many there are."""
    singular, plural = translations
    rule = _FORMS.fullmatch(plural_forms)
    if not rule or not 0 < int(rule[1]) <= MOST_FORMS:
        return []
    try:
        form_of = c2py(rule[2])
        forms = Counter(int(form_of(count)) for count in range(COUNTS))
        of_one = int(form_of(1))
    except (ValueError, ZeroDivisionError, RecursionError, OverflowError):
        return []
    count = int(rule[1])
    may_be_singular = count > 1 and (same or forms[of_one] <= RARE)
    return [singular if form == of_one and may_be_singular else plural for form in range(count)]
