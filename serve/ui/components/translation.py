"""The box of the tab Translate: two texts side by side, and all that is done with them.

Events, each with plain data: "ask" (`adapter.Ask`), "stop" ({n}), "choose" ({shown}), "compare" (`one_word.Compare`),
"emptied" (nothing: there is no text any more).
What it is sent, each as a property of its own: `about` (what there is to choose from), `value` (a translation), `links`
(which words belong together), `told` (why there is no translation), `compared` (what one word changed).
"""

from typing import Any

import gradio as gr

from . import asset, element


def translation_box(*, about: dict[str, Any], **settings: Any) -> gr.HTML:
    js = f"""{asset("dom.js")}
{asset("words.js")}
{asset("search.js")}
{asset("small_map.js")}
{asset("one_word.js")}
{asset("copying.js")}
{asset("translation.js")}
const ask = (data) => trigger("ask", data), stop = (data) => trigger("stop", data);
const choose = (data) => trigger("choose", data), compare = (data) => trigger("compare", data);
const emptied = () => trigger("emptied");
translationBox(element.querySelector(".tr"), {{ props, watch, ask, stop, choose, compare, emptied }});"""
    return element(template='<div class="tr"></div>', css=asset("translation.css") + asset("one_word.css"), js=js,
                   about=about, links=None, told=None, compared=None, **settings)
