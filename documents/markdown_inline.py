"""The text of one block of Markdown: its elements (emphasis, links, code, tags of HTML), and the text with them again.

After the rules of CommonMark, with strikethrough, footnotes and formulas; in linear time.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from unicodedata import category

from .fragments import HtmlToken

_TITLE = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"""
_ADDRESS = r"(?:<(?:[^<>\n\\]|\\.)*+>|(?!<)(?:\{[{%][^{}\n]*\}|[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*+\)){0,2000}+)"
_TARGET = re.compile(rf"\(\s{{0,9}}{_ADDRESS}(?:\s{{1,9}}{_TITLE})?\s{{0,9}}\)(?:\{{[^{{}}\n]*\}})?", re.DOTALL)
_REFERENCE = re.compile(r"\[(?P<label>(?:[^\[\]\\]|\\.){0,999}+)\]", re.DOTALL)
_HTML_ATTRIBUTE = r"""\s+[a-zA-Z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_PART = re.compile(rf"""
    (?P<break>(?:\x20{{2,}}+|\\)\n)
    |(?P<space>\x20*+\n)
    |(?P<code>`+)
    |(?P<word><(?:[a-zA-Z][a-zA-Z0-9+.-]{{1,31}}:[^\s<>]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)*)>
        |\$`[^`\n]+`\$|\$(?=[^\s$`])[^$`\n]*[^\s$`\\]\$(?!\d)|\{{\{{[^{{}}`\n]*\}}\}}
        |\\{{1,2}}\((?:[^`\n\\]|\\(?!\\?[()])[^`\n])*+\\{{1,2}}\)
        |(?<!\w)(?:https?://|www\.)[^\s<>`]*[^\s<>`?!.,:;*_~'")\]|]|<(?:kbd|code|samp|var)>[^<>\n]*</(?:kbd|code|samp|var)>)
    |\\(?P<escaped>[!-/:-@\[-`{{-~])
    |(?P<alone>\[\^[^\[\]\s]+\]|\{{[:\#.][^{{}}\n]*\}}|<!--(?:[^-]|-(?!->)){{0,2000}}+-->|<\?[^?]{{0,2000}}\?>)
    |(?P<tag></?(?P<name>[a-zA-Z][\w-]*)(?:{_HTML_ATTRIBUTE})*\s*/?>)
    |(?P<open>!?\[)
    |(?P<close>\])
    |(?P<run>\*+|_+|~~(?!~))
    |(?P<entity>&(?:[a-zA-Z][a-zA-Z0-9]{{1,31}}|\#\d{{1,7}}|\#[xX][0-9a-fA-F]{{1,6}});)
    |(?P<text>(?:[^\\`<\[\]!*_~&\x20\n$h{{w]|\x20++(?!\n)|(?<=\w)[hw])++|.)""", re.VERBOSE | re.DOTALL)
LONGEST_LABEL = 999
_VOID = frozenset(("img", "wbr", "input"))
_SPECIAL = re.compile(  # characters that may be read as markup where they stand
    r"\\(?=[!-/:-@\[-`{-~])|[`$\[\]]|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~|<(?=[a-zA-Z/!?])|&(?=\#?\w+;)")
_AS_HTML = {"*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "del"}


@dataclass(frozen=True, eq=False)
class Image(HtmlToken):
    """An image: `alt` is the text that describes it, and `target` what follows."""

    alt: str = ""
    target: str = ""


@dataclass(eq=False)
class _Run:
    """A run of `*`, `_` or `~`, with the tags that it has become."""

    sign: str
    length: int
    opens: bool
    closes: bool
    left: int  # of its signs
    ends: list[HtmlToken] = field(default_factory=list)
    starts: list[HtmlToken] = field(default_factory=list)  # the innermost first

    def tokens(self) -> list[HtmlToken]:
        return [*self.ends, *([HtmlToken(self.sign * self.left)] if self.left else []), *reversed(self.starts)]


@dataclass
class _Bracket:
    place: int  # in the parts
    start: int  # in the text, after the bracket
    image: bool


_Part = HtmlToken | _Run


def label_of(raw: str) -> str:
    """A label as references are compared."""
    return " ".join(raw.split()).casefold()


def tokens_of(text: str, labels: Set[str]) -> list[HtmlToken]:
    """The tokens of the text of a block; `labels` are those of the document's references."""
    return _Scanner(text, labels).tokens()


class _Scanner:
    """One pass over a text: brackets become links when they close, runs become emphasis inside each link first."""

    def __init__(self, text: str, labels: Set[str]):
        self.text, self.labels = text, labels
        self.parts: list[_Part] = []
        self.brackets: list[_Bracket] = []
        self.latest = 0  # the place after the last bracket that opens
        self.inside = 0  # brackets around a link, which open none themselves
        self.fences: dict[int, list[int]] = {}  # where runs of so many backticks begin
        for run in re.finditer("`+", text):
            self.fences.setdefault(len(run[0]), []).append(run.start())
        self.names = 0

    def tokens(self) -> list[HtmlToken]:
        place = 0
        while place < len(self.text):
            match = _PART.match(self.text, place)
            assert match is not None
            place = self._part(match)
        self._emphasise(0)
        every = [token for part in self.parts for token in (part.tokens() if isinstance(part, _Run) else [part])]
        return _merged(every)

    def _part(self, match: re.Match[str]) -> int:
        """Add a part; returns where the next one begins."""
        raw, kind = match[0], match.lastgroup
        if match["tag"]:
            self.parts.append(_html_tag(match))
        elif kind in ("break", "word", "alone"):
            self.parts.append(HtmlToken(raw, kind))  # type: ignore[arg-type]
        elif kind == "code":
            return self._code(match)
        elif kind == "open":
            self.brackets.append(_Bracket(len(self.parts), match.end(), raw == "!["))
            self.latest = match.end()
            self.parts.append(HtmlToken(raw))
        elif kind == "close":
            return self._close(match)
        elif kind == "run":
            self.parts.append(_run(self.text, match))
        else:
            written = {"space": " ", "escaped": match["escaped"], "entity": html.unescape(raw)}.get(str(kind), raw)
            self.parts.append(HtmlToken(written))
        return match.end()

    def _code(self, match: re.Match[str]) -> int:
        starts = self.fences.get(len(match[0]), [])
        after = bisect_right(starts, match.start())
        end = starts[after] + len(match[0]) if after < len(starts) else match.end()
        self.parts.append(HtmlToken(self.text[match.start() : end], "word" if after < len(starts) else "text"))
        return end

    def _close(self, match: re.Match[str]) -> int:
        """A link or an image ends here, or there is a bracket in the text."""
        opened = self.brackets.pop() if self.brackets else None
        may_open = opened is not None and (opened.image or len(self.brackets) >= self.inside)
        self.inside = min(self.inside, len(self.brackets))
        end = self._target_end(opened, match) if opened and may_open else None
        if opened is None or end is None:
            self.parts.append(HtmlToken("]"))
            return match.end()
        target = self.text[match.start() : end]
        if self.text[match.end() : end] in ("", "[]"):  # its text is the label
            target = f"][{self.text[opened.start : match.start()]}]"
        if opened.image:
            alt = self.text[opened.start : match.start()]
            self.parts[opened.place :] = [Image(f"![{alt}{target}", "alone", alt=alt, target=target)]
            return end
        self._emphasise(opened.place + 1)
        name = f"link {opened.start}"
        self.parts[opened.place] = HtmlToken("[", "start", name, "a")
        self.parts.append(HtmlToken(target, "end", name))
        self.inside = len(self.brackets)
        return end

    def _target_end(self, opened: _Bracket, match: re.Match[str]) -> int | None:
        """Where the address or the label after a closing bracket ends; None if this is no link."""
        if opened.image and match.start() - opened.start > LONGEST_LABEL:
            return None
        if target := _TARGET.match(self.text, match.end()):
            return target.end()
        if not self.labels:
            return None
        reference = _REFERENCE.match(self.text, match.end())
        if reference and reference["label"].strip():
            return reference.end() if label_of(reference["label"]) in self.labels else None
        if opened.start < self.latest or match.start() - opened.start > LONGEST_LABEL:
            return None  # a label has no brackets
        known = label_of(self.text[opened.start : match.start()]) in self.labels
        return (reference.end() if reference else match.end()) if known else None

    def _emphasise(self, first: int) -> None:
        """Pair the runs from this part on, as CommonMark does; what is left of them is text."""
        opened: list[_Run] = []
        bottoms: dict[tuple[str, bool, int], int] = {}  # below which no opener fits
        for run in self.parts[first:]:
            if not isinstance(run, _Run):
                continue
            kind = (run.sign, run.opens, run.length % 3)
            while run.closes and run.left:
                below = range(len(opened) - 1, bottoms.get(kind, 0) - 1, -1)
                at = next((number for number in below if _fit(opened[number], run)), None)
                if at is None:
                    bottoms[kind] = len(opened)
                    break
                self._pair(opened[at], run)
                del opened[at + (opened[at].left > 0) :]
                for one, bottom in bottoms.items():
                    bottoms[one] = min(bottom, len(opened))
            if run.opens and run.left:
                opened.append(run)
        for run in self.parts[first:]:
            if isinstance(run, _Run):
                run.opens = run.closes = False  # nothing outside a link pairs with what is inside

    def _pair(self, opener: _Run, closer: _Run) -> None:
        count = 2 if opener.left > 1 and closer.left > 1 else 1
        raw = opener.sign * count
        self.names += 1
        opener.starts.append(HtmlToken(raw, "start", f"run {self.names}", _AS_HTML[raw]))
        closer.ends.append(HtmlToken(raw, "end", f"run {self.names}", _AS_HTML[raw]))
        opener.left -= count
        closer.left -= count


def _html_tag(match: re.Match[str]) -> HtmlToken:
    name, raw = match["name"].lower(), match[0]
    if name == "br":
        return HtmlToken(raw, "break")
    if name in _VOID or raw.endswith("/>"):
        return HtmlToken(raw, "alone")
    tag = name if name in ("a", "b", "em", "i", "strong", "sub", "sup") else "span"
    return HtmlToken(raw, "end" if raw.startswith("</") else "start", f"html {name}", tag)


def _run(text: str, match: re.Match[str]) -> _Run:
    before, after = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]
    return _Run(match[0][0], len(match[0]), *_flanks(match[0], before, after), len(match[0]))


def _flanks(run: str, before: str, after: str) -> tuple[bool, bool]:
    """Whether a run can open, and whether it can close, between these characters; "" is an end of the text."""
    before, after = before or " ", after or " "
    left = not after.isspace() and (not _is_mark(after) or before.isspace() or _is_mark(before))
    right = not before.isspace() and (not _is_mark(before) or after.isspace() or _is_mark(after))
    if run[0] == "_":
        left, right = left and (not right or _is_mark(before)), right and (not left or _is_mark(after))
    return left, right


def _is_mark(char: str) -> bool:
    return category(char)[0] in "PS"


def _fit(opener: _Run, closer: _Run) -> bool:
    if opener.sign != closer.sign or (opener.sign == "~" and (opener.left, closer.left) != (2, 2)):
        return False
    either = opener.closes or closer.opens
    return not (either and (opener.length + closer.length) % 3 == 0 and (opener.length % 3 or closer.length % 3))


def _merged(tokens: Sequence[HtmlToken]) -> list[HtmlToken]:
    """The tokens with adjacent texts as one."""
    merged: list[HtmlToken] = []
    texts: list[str] = []
    for token in (*tokens, None):
        if token is not None and token.kind == "text":
            texts.append(token.raw)
            continue
        if texts:
            merged.append(HtmlToken("".join(texts)))
            texts = []
        if token is not None:
            merged.append(token)
    return merged


def written(tokens: Sequence[HtmlToken], labels: Set[str], space: str, *, cell: bool = False) -> str | None:
    """The text of a block with these tokens, its breakable spaces as `space`; None if Markdown cannot say them.

    Characters are escaped, and emphasis becomes tags, only where Markdown would read something else without.
    """
    intended = list(_tidy(tokens))
    every = {token.name for token in intended if token.raw in _AS_HTML}
    for escape, as_html in ((False, set()), (True, set()), (True, _unmarked(intended)), (True, every)):
        text = "".join(_source(token, space, escape=escape, as_html=as_html, cell=cell) for token in intended)
        if _meaning(tokens_of(text.replace(space, " "), labels)) == _meaning(intended):
            return text
    return None


def _unmarked(tokens: Sequence[HtmlToken]) -> set[str]:
    """The names of emphasis whose signs would be text where they stand."""
    names = set[str]()
    for before, token, after in zip([HtmlToken(""), *tokens], tokens, [*tokens[1:], HtmlToken("")], strict=False):
        if token.raw in _AS_HTML and not _flanks(token.raw, before.raw[-1:], after.raw[:1])[token.kind == "end"]:
            names.add(token.name)
    return names


def _source(token: HtmlToken, space: str, *, escape: bool, as_html: Set[str], cell: bool) -> str:
    if token.kind == "text":
        text = _SPECIAL.sub(r"\\\g<0>", token.raw) if escape else token.raw
        return (text.replace("|", r"\|") if cell else text).replace(" ", space)
    if token.name in as_html:
        return f"<{'/' * (token.kind == 'end')}{_AS_HTML[token.raw]}>"
    return token.raw


def _meaning(tokens: Sequence[HtmlToken]) -> list[str]:
    """What tokens mean, to compare: the texts, and the source of each element."""
    found = list[str]()
    for token in _merged(tokens):
        if token.kind == "text":
            found.append(f"text {token.raw}")
        elif token.raw in _AS_HTML:
            found.append(f"<{token.kind} {_AS_HTML[token.raw]}>")
        elif token.name.startswith("html ") and token.raw[1:-1].lstrip("/") in _AS_HTML.values():
            found.append(f"<{token.kind} {token.raw[1:-1].lstrip('/')}>")
        else:
            found.append(token.raw.strip(" "))
    return found


def _tidy(tokens: Sequence[HtmlToken]) -> Iterator[HtmlToken]:
    """The tokens with no space just inside emphasis, and no emphasis around nothing."""
    found: list[HtmlToken] = []
    for token in tokens:
        last = found[-1] if found else HtmlToken("")
        if token.kind == "text" and last.kind == "start" and last.raw in _AS_HTML and token.raw[:1] == " ":
            found.insert(-1, HtmlToken(" "))
            token = HtmlToken(token.raw.lstrip(" "))
        if token.kind == "end" and token.raw in _AS_HTML:
            if last.kind == "start" and last.name == token.name:
                found.pop()
                continue
            if last.kind == "text" and last.raw[-1:] == " ":
                found[-1] = HtmlToken(last.raw.rstrip(" "))
                found += [token, HtmlToken(" ")]
                continue
        if token.kind != "text" or token.raw:
            found.append(token)
    return iter(_merged(found))
