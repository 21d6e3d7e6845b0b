"""The page at /: the explorer as one HTML document, which asks `/v1`.  It needs no Gradio."""

from __future__ import annotations

from typing import Any

from ...documents.formats import usable_formats
from ...lens.show.trace_page import script
from ...webpage.assembly import as_data, html_document, style
from ...webpage.palette import css_of_both
from ..service import Service
from .first import settings_of

# Relative, as the page's other addresses: a proxy may serve it in a folder.
API = "v1"
FILES = {"address": "translate_file", "downloads": "download_file/"}

# No script may send requests from an address with a name and a password in it, which the browser knows by now.
PLAIN_ADDRESS = """
const here = new URL(document.baseURI);
if (here.username || here.password) location.replace(Object.assign(here, { username: "", password: "" }));
"""

# Until the explorer is drawn, a moment after the first paint: its name, where it will stand.
BEHIND = """
body { margin: 0; }
body:has(> #explorer > h1) { color-scheme: light dark; background: var(--page); color: var(--ink); }
#explorer > h1 { max-width: 1440px; margin: 0 auto; padding: 10px 24px; font: 700 23px system-ui, sans-serif; }
"""

# Styles and script go to the explorer as text too: a page that it exports has them.
START = """
const home = document.getElementById("explorer"), text = (id) => document.getElementById(id).textContent;
const begin = () => {
  home.replaceChildren();
  explorer(home, { ...JSON.parse(text("settings")), css: text("style"), script: text("script") });
};
if (document.hidden) begin(); else requestAnimationFrame(() => setTimeout(begin));
"""


def files_of(service: Service) -> dict[str, Any]:
    """What the explorer must know to translate files; nothing for models that do not name their languages."""
    limits, formats = service.settings, usable_formats()
    if not (formats and service.language_pairs):
        return {}
    return {"files": FILES | {"formats": formats, "bytes": limits.file_bytes, "seconds": limits.download_seconds}}


def document(service: Service) -> str:
    """The page of these models, which must be loaded."""
    head = f"""<link rel="icon" href="favicon.ico"><script>(() => {{{PLAIN_ADDRESS}}})();</script>
<style id="style">{style()}</style>"""
    return html_document("Seq2See", style=css_of_both() + BEHIND, policy=None, head=head, body=f"""
<div id="explorer"><h1>Seq2See</h1><noscript>This page needs JavaScript.</noscript></div>
<script type="application/json" id="settings">{as_data(settings_of(service, api=API) | files_of(service))}</script>
<script id="script">"use strict";
{script()}</script>
<script>(() => {{{START}}})();</script>
""")
