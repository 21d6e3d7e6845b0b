"""A page of tables in a file: without a script, in both themes."""

import html
from collections.abc import Iterable, Sequence

from seq2see.streams import printable
from .assembly import html_document
from .palette import css_of_both

STYLE = """
:root { color-scheme: light dark }
body { margin: 0 auto; max-width: 1500px; padding: 16px; background: var(--page); color: var(--ink);
       font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 22px } h2 { font-size: 18px; margin: 28px 0 8px } p { max-width: 90ch } .soft { color: var(--soft) }
table { border-collapse: collapse; background: var(--card) }
th, td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
mark { background: var(--flash); color: inherit; border-radius: 3px }
.wide { overflow-x: auto }
"""
NO_BREAK = dict.fromkeys((0xA0, 0x202F), " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table with HTML cells; columns in `numbers` are aligned as numbers."""
    top = "".join(f"<th scope=col>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td{' class=n' * (n in numbers)}>{cell}</td>" for n, cell in enumerate(row)) +
                   "</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def page(title: str, body: str) -> str:
    """A whole page with this HTML body."""
    return html_document(f"{_plain(title)} · Seq2See", f"<h1>{escaped(title)}</h1>{body}", style=css_of_both() + STYLE)


def escaped(text: str) -> str:
    """A text as HTML, with no-break spaces as spaces."""
    return html.escape(_plain(text))


def _plain(text: str) -> str:
    return printable(text.translate(NO_BREAK))


def percent(share: float) -> str:
    """One decimal; never 100 for a smaller share or 0 for a larger one."""
    return "> 99.9 %" if 0.9995 <= share < 1 else "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"
