"""The page's script and style, each as one text, from the files of this room, and the HTML around them."""

import base64
import html
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from seq2see.rules import RULES
from .palette import COLOURS, HEADS, RAMPS, css_variables

POLICY = ("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
          "font-src data:")  # of a page that needs nothing from elsewhere
Texts = Mapping[str, Mapping[str, Any]]  # of each view

WEIGHTS = (400, 700)
STYLES = ("explorer", "see", "lab", "machine", "machine_inside", "lesson", "narrow")
IMPORT = re.compile(r'^import \{([^}]*)\} from "\.{1,2}/(?:\w+/)*(\w+)\.js";$', re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)


def bundle(*modules: str, views: Texts) -> str:
    """The given modules of this room as one script, which defines `s2s_NAME` for each: an object of its exports.  Lines
    that are comments are left out.

    Each keeps its own scope and takes its imports from the modules before it.  `data.js` is not a file but the result
    of `shared_data`, with the texts of the `views`.
    """
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        if name == "data":
            done[name] = f"const s2s_data = {as_data(shared_data(views))};"
            return
        text = COMMENT.sub("", asset(f"{name}.js"))
        for _, needed in IMPORT.findall(text):
            add(needed)
        exported = ", ".join(EXPORT.findall(text))
        text = IMPORT.sub(lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = s2s_{found[2]};", text)
        text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
        done[name] = f"const s2s_{name} = (() => {{\n{text}\nreturn {{ {exported} }};\n}})();"

    for module in modules:
        add(module)
    return "\n".join(done.values())


def shared_data(views: Texts) -> dict[str, Any]:
    """The data that the scripts take from Python: the colours, the texts of the views, and `rules.py`."""
    return {"COLOURS": COLOURS, "RAMPS": RAMPS, "HEADS": HEADS, "VIEWS": views, "RULES": RULES}


def style() -> str:
    """The explorer's CSS, including its two fonts and its colours."""
    faces = "".join(
        f"@font-face {{ font-family: 'Seq2See Sans'; font-weight: {weight}; src: url(data:font/woff2;base64,"
        f"{base64.b64encode(_assets()[f'sans-{weight}.woff2'].read_bytes()).decode()}) }}\n" for weight in WEIGHTS)
    pages = " ".join(f"--s2s-{theme}-page: {colours['page']};" for theme, colours in COLOURS.items())  # of the body
    colours = {":root": pages, ".s2s": css_variables("light"), ".s2s[data-theme=dark]": css_variables("dark")}
    rules = (f"{where} {{ {declarations} }}" for where, declarations in colours.items())
    return faces + "\n".join([*rules, *(asset(f"{name}.css") for name in STYLES)])


def asset(name: str) -> str:
    """The text of a file of `webpage/`."""
    return _assets()[name].read_text(encoding="utf-8")


@cache
def _assets() -> dict[str, Traversable]:
    """The files of the page's rooms by name, which is unique."""
    rooms = (room for room in files("seq2see.webpage").iterdir() if room.is_dir())
    return {file.name: file for room in rooms for file in room.iterdir()}


def as_data(value: Any) -> str:
    """JSON that is safe inside a script element, whatever its texts contain."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def html_document(title: str, body: str, *, style: str, policy: str | None = POLICY, head: str = "") -> str:
    """A whole document: the `title` is text, `head` is HTML after the style; policy None: the server sends it."""
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n' if policy else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
{meta}<title>{html.escape(title)}</title><style>{style}</style>{head}</head>
<body>{body}</body></html>
"""
