"""The Markdown beside a lesson's module: its sections, and the placeholders that take the record's figures.

    # Title
    What the lesson is about, with its source.
    ## Claims             a list, `- key: statement`
    ## What was done
    ## What came out      a paragraph, then a list, `- key: sentence`
    ## Try next
    ## Common slips       a list; may be missing

A placeholder is a field of `str.format` that names a figure: `{accuracy:.1%}`, `{owed[source].value:.0%}`.
"""

import re
from dataclasses import dataclass
from importlib.resources import files
from string import Formatter
from typing import Any

from .figures import written

SECTIONS = ("Claims", "What was done", "What came out", "Try next")
SLIPS = "Common slips"


@dataclass(frozen=True)
class Prose:
    """One lesson's text. `claims` and `findings` are by the keys of the module's claims."""

    title: str
    claim: str
    claims: dict[str, str]
    how: str
    summary: str
    findings: dict[str, str]
    next: str
    slips: tuple[str, ...]


class Filler(Formatter):
    """Notes in `unknown` whether a figure was NaN."""

    unknown = False

    def format_field(self, value: Any, format_spec: str) -> str:
        text = written(value, format_spec)
        self.unknown |= "–" in text
        return text


def fill(text: str, figures: Any) -> str:
    """The text with its placeholders filled; KeyError or AttributeError for one that names no figure."""
    filler = Filler()
    filled = filler.vformat(text, (), vars(figures))
    return f"{filled} (–: could not be measured here.)" if filler.unknown else filled


def read_prose(module: str) -> Prose:
    """Of `l05_many_heads` the text of `05-many-heads.md`; ValueError if its sections are not these."""
    name = f"{module[1:3]}-{module[4:].replace('_', '-')}.md"
    return parse(files("seq2see.lessons").joinpath(name).read_text("utf-8"), name)


def parse(markdown: str, name: str) -> Prose:
    head, *parts = re.split(r"^## +", markdown, flags=re.MULTILINE)
    sections = {title.strip(): body.strip() for title, _, body in (part.partition("\n") for part in parts)}
    if tuple(sections) not in (SECTIONS, (*SECTIONS, SLIPS)):
        raise ValueError(f"{name}: the sections must be {', '.join(SECTIONS)} and perhaps {SLIPS}, not"
                         f" {', '.join(sections)}")
    title, _, claim = head.strip().partition("\n")
    summary, findings = items(sections["What came out"])
    return Prose(
        title.lstrip("# ").strip(), joined(claim), keyed(items(sections["Claims"])[1]),
        "\n\n".join(map(joined, re.split(r"\n\s*\n", sections["What was done"]))), summary, keyed(findings),
        joined(sections["Try next"]), tuple(items(sections.get(SLIPS, ""))[1]),
    )


def items(body: str) -> tuple[str, list[str]]:
    """What stands before a list, and the items of the list."""
    lead, *listed = re.split(r"^- ", body, flags=re.MULTILINE)
    return joined(lead), [joined(one) for one in listed]


def keyed(listed: list[str]) -> dict[str, str]:
    """`key: text` of each item."""
    return {key: text for key, _, text in (item.partition(": ") for item in listed)}


def joined(text: str) -> str:
    return " ".join(text.split())
