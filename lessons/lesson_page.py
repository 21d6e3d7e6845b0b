"""The record as one HTML page that needs nothing else: offline, light and dark, on a phone and on paper.

Every text enters it escaped; the pictures are `drawing.to_svg`'s, whose text matplotlib has escaped.
"""

import html
import re
import shlex
from importlib.resources import files
from typing import Any

from ..lens.palette import css_of_both

KINDS = {"holds": "holds", "does not hold here": "not", "not decidable here": "open"}
FIGURE = re.compile(r"[−+±<>≈~]?\s?\d[\d,.\s%×e±−–-]*\S{0,3}")
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    lessons = {lesson["number"]: lesson for lesson in record["lessons"]}
    body = "".join(
        f'<h2>{text(chapter["title"])}</h2><p class="about">{text(chapter["about"])}</p>'
        + "".join(article(lessons[number], record) for number in chapter["lessons"])
        for chapter in record["chapters"]
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>Attention, measured · Seq2See lessons</title><style>{css_of_both()}{asset("page.css")}</style></head>
<body>{head(record)}<main>{contents(record, lessons)}{body}</main>{foot(record)}
<script>{asset("page.js")}</script></body></html>
"""


def asset(name: str) -> str:
    """The text of `page.js` or `page.css`."""
    return files("seq2see.lessons").joinpath(name).read_text(encoding="utf-8")


def head(record: dict[str, Any]) -> str:
    warning = "" if record["budget"] == "full" else (
        '<p class="warning">This page was made with <code>--quick</code>, which only shows that every lesson'
        " runs. Its verdicts mean nothing.</p>"
    )
    return f"""<header><button class="theme" type="button" hidden>Dark</button><h1>Attention, measured</h1>
<p class="lead">Textbooks and papers say how attention works. Here each claim is put to the test on a small translation
model: with numbers, a picture, and a verdict that follows from comparing a number with a threshold.</p>
<p class="soft">The model: {text(record["model"])}.</p>{warning}</header>"""


def contents(record: dict[str, Any], lessons: dict[int, Any]) -> str:
    parts = []
    for chapter in record["chapters"]:
        rows = "".join(
            f'<li><span class="number">{number}</span><a href="#lesson-{number}">{text(lessons[number]["title"])}</a>'
            f'{tally(lessons[number]["verdict"])}</li>'
            for number in chapter["lessons"]
        )
        parts.append(f'<h2>{text(chapter["title"])}</h2><ol>{rows}</ol>')
    return f'<nav aria-label="Contents">{"".join(parts)}</nav>'


def article(lesson: dict[str, Any], record: dict[str, Any]) -> str:
    verdict = lesson["verdict"]
    findings = "".join(
        f'<li>{badge(item["word"])} <b>{text(item["claim"])}</b><br>{text(item["why"])}'
        f'<br><span class="soft">Measured: {text("; ".join(item["checks"]))}.</span></li>'
        for item in verdict["findings"]
    )
    slips = "".join(f"<li>{text(slip)}</li>" for slip in lesson["slips"])
    how = "".join(f"<p>{text(part)}</p>" for part in re.split(r"\n\s*\n", lesson["how"].strip()))
    return f"""<article id="lesson-{lesson["number"]}">
<h3><span class="soft">{lesson["number"]}.</span> {text(lesson["title"])}</h3>
<p class="claim">{text(lesson["claim"])}</p>
<p>{tally(verdict)} {text(verdict["why"])}</p>
<figure>{lesson["svg"]}</figure>
<h4>What was done</h4>{how}
<h4>What came out</h4><ul class="findings">{findings}</ul>
<div class="tables">{"".join(table(item) for item in lesson["tables"])}</div>
<h4>The lines that matter</h4>{listings(lesson["code"])}
<h4>Try next</h4><p>{text(lesson["try"])}</p>{look_command(lesson["look"], record)}
{f'<h4>Common slips</h4><ul class="findings">{slips}</ul>' if slips else ""}</article>"""


def listings(code: list[dict[str, Any]]) -> str:
    """Functions as they appear in their files."""
    return "".join(
        f'<details open><summary><code>{text(item["name"])}</code> in <code>{text(item["file"])}</code>, line'
        f' {item["line"]}</summary><pre><code>{html.escape(item["source"])}</code></pre></details>'
        for item in code
    )


def look_command(look: dict[str, Any] | None, record: dict[str, Any]) -> str:
    """The command that opens the lesson's map."""
    if look is None:
        return ""
    command = (f'seq2see look {shlex.quote(record["run"])} {shlex.quote(look["text"])} --kind {look["kind"]}'
               f' --layer {look["layer"]} --head {look["head"]}')
    return f"<p>To see the attention itself:</p><pre><code>{html.escape(command)}</code></pre>"


def table(item: dict[str, Any]) -> str:
    """Columns of figures are right-aligned, columns with any text left-aligned."""
    aligned = [
        ' class="figure"' if all(FIGURE.fullmatch(row[i]) or row[i] in ("", "–") for row in item["rows"]) else ""
        for i in range(len(item["columns"]))
    ]

    def line(tag: str, cells: list[str], scope: str = "") -> str:
        return "".join(f"<{tag}{scope}{how}>{text(cell)}</{tag}>" for cell, how in zip(cells, aligned, strict=True))

    rows = "".join(f"<tr>{line('td', row)}</tr>" for row in item["rows"])
    caption, caption_text = text(item["caption"]), html.escape(re.sub("[*`]", "", item["caption"]))
    columns = line("th", item["columns"], ' scope="col"')
    whole = f'<table aria-label="{caption_text}"><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>'
    if item["folded"]:
        size = f"{len(item['rows'])} × {len(item['columns']) - 1}"
        return f'<details><summary>{caption} ({size})</summary><div class="table">{whole}</details>'
    return f'<div class="table"><p class="caption">{caption}</p>{whole}'


def badge(word: str, kind: str | None = None) -> str:
    return f'<span class="badge {kind or KINDS[word]}">{word}</span>'


def tally(verdict: dict[str, Any]) -> str:
    """How many claims hold; green if none is refuted."""
    refuted = any(item["word"] == "does not hold here" for item in verdict["findings"])
    return badge(verdict["word"], "partly" if refuted else "holds")


def text(plain: str) -> str:
    """Escaped, with `code` between backquotes, *emphasis* between stars, and numbers as in print:
    a true minus, powers of ten, and a thin space before per cent."""
    parts = re.split(r"(`[^`]+`)", html.escape(plain))
    return "".join(f"<code>{part[1:-1]}</code>" if part.startswith("`") else printed(part) for part in parts)


def printed(part: str) -> str:
    part = re.sub(r"\*([\w“][^*]*)\*", r"<em>\1</em>", part)
    part = re.sub(r"\b0(?:\.0)?e[+]00\b", "0", part)
    part = re.sub(r"\b(\d(?:\.\d+)?)e[-−]0*(\d+)", r"\1 × 10<sup>−\2</sup>", part)
    part = re.sub(r"(\d) ?%", "\\1\u202f%", part)
    return re.sub(r"(?<![\w.&;)-])-(?=\d)", "−", part)


def foot(record: dict[str, Any]) -> str:
    seeds = ", ".join(map(str, record["seeds"]))
    return (f'<footer><p>Made by <code>{html.escape(record["command"])}</code>, Seq2See {text(record["version"])}, in'
            f" {record['seconds']:,.0f} s; seeds {seeds}.</p></footer>")
