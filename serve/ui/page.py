"""Gradio's page: a text, its translation, and the explorer of what the model looked at; and where it is mounted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

import gradio as gr
from fastapi import FastAPI
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from ...lens.show.trace_page import script
from ...tokenizer.language_codes import language_name
from ...translate.translator import Translator
from ...webpage.assembly import style
from ...webpage.palette import COLOURS
from ...webpage_data.example_pairs import SOURCE, TARGET, sentences, texts_of
from ..access import AccessControl
from ..apis.v1 import LookBody
from ..request_checks import PAGE
from ..service import Service
from ..settings import ServerSettings
from . import text_of
from .api import add_api, add_ask, page_errors
from .calls import CheckedCalls
from .first import settings_of
from .gradio_patches import answer_in_json

MOST_VISITS = 100  # whose last state Gradio keeps in memory
API = "../v1"  # from the page
TITLE = "# Seq2See\nTranslate a text and see where every attention head looked."
ON_LOAD = """
const explorer = new Function(`${props.script}\nreturn explorer;`)();  // kept as text too: an exported page has it
if (!document.getElementById("s2s-style")) {
  const style = document.head.appendChild(document.createElement("style"));
  Object.assign(style, { id: "s2s-style", textContent: props.css });
}
const gradio = (window.gradio_config?.root || "") + (window.gradio_config?.api_prefix || "/gradio_api");
const theme = document.body.classList.contains("dark") ? "dark" : "light", { css, script, settings } = props;
const shown = explorer(element.querySelector(".s2s-home"), { ...settings, gradio, css, script, start: { theme } });
watch("asked", () => {
  const { text, ...languages } = props.asked;
  shown.open(text, languages);
});
"""


def page(translator: Translator) -> gr.Blocks:
    """The explorer of one model as Gradio Blocks.  Call `launch()`, mount it in an app, or put it into other Blocks
    with `render()`.

        seq2see.page(seq2see.Translator.from_pretrained("everyday")).launch()
    """
    service = Service({translator.name or "model": translator}, ServerSettings(), access=AccessControl())
    return build_page(service, api=None)


def build_page(service: Service, *, api: str | None = API) -> gr.Blocks:
    """The page as Gradio Blocks; `api` is the address of `/v1`, or None where it is not served."""
    about = settings_of(service, api=api)
    first, start = about["first"], about["text"]  # the answer shipped with the page, or the text that it begins with
    pair = service.language_pairs.fitting(SOURCE if first or start else None, TARGET if first else None)

    async def show(text: str, source: str | None, target: str | None, request: gr.Request) -> tuple[str, Any]:
        """The translation, and what the explorer then asks for itself."""
        with page_errors(service.metrics):
            body = LookBody.model_validate({"text": text, "source": source or None, "target": target or None})
            caller = service.access.authenticate(request)
            [result] = await service.translate([text], caller=caller, **body.arguments())
        languages = {"source": result.source_language or None, "target": result.target_language or None}
        return result.text, gr.update(asked={"text": text, **languages})

    with gr.Blocks(title="Seq2See", analytics_enabled=False, fill_width=True) as blocks:
        add_api(service)  # first, so that its names are free
        if api is None:
            add_ask(service)
        with gr.Row(elem_classes="s2s-page"):
            with gr.Column(scale=2, min_width=320):
                gr.Markdown(TITLE)
                text = gr.Textbox(start or (first and sentences()[0][0]), label="Text", lines=2,
                                  max_length=service.settings.look_characters, placeholder="Type a text")
                with gr.Row():
                    source, target = _languages(service, *(pair or (None, None)))
                    button = gr.Button("Translate", variant="primary", min_width=120)
                translation = gr.Textbox(first and first["translation"]["text"], label="Translation", lines=2,
                                         interactive=False)
                if about["pairs"]:
                    gr.Examples([text for one in about["pairs"] if one["model"] == about["exampleModel"]
                                 for text in texts_of(one)], text)
            with gr.Column(scale=3, min_width=640):
                explorer = gr.HTML(html_template='<div class="s2s-home"></div>', js_on_load=ON_LOAD, script=script(),
                                   apply_default_css=False, css=style() + text_of("gradio.css"), asked=None,
                                   settings={**about, "embedded": True, "models": [], "pairs": [], "text": None})
        given: dict[str, Any] = {"fn": show, "inputs": [text, source, target], "outputs": [translation, explorer],
                                 "queue": False, "show_progress": "hidden", "api_visibility": "private"}
        gr.on([button.click, text.submit], **given)
        if start:
            blocks.load(**given)
    return blocks


def _languages(service: Service, source: str | None, target: str | None) -> tuple[gr.Dropdown, gr.Dropdown]:
    """The choice of the source and of the target language, with these chosen; hidden for a model that names none."""
    pairs = service.language_pairs
    sources, targets = ([(language_name(code), code) for code in codes] for codes in (pairs.sources, pairs.targets))
    if len(sources) > 1:
        sources.insert(0, ("Detect language", "auto"))
    return (gr.Dropdown(sources, value=source, label="From", visible=bool(pairs), min_width=120),
            gr.Dropdown(targets, value=target, label="To", visible=bool(pairs), min_width=120))


def _theme() -> gr.themes.Default:
    """The colours of the explorer, in Gradio's blocks."""
    light, dark = COLOURS["light"], COLOURS["dark"]
    parts = {"body_background_fill": "page", "block_background_fill": "card", "body_text_color": "ink",
             "body_text_color_subdued": "soft", "block_label_text_color": "soft", "block_label_background_fill": "card",
             "block_title_text_color": "soft", "input_background_fill": "card", "input_border_color": "edge",
             "input_placeholder_color": "soft", "border_color_primary": "line", "button_primary_background_fill": "ink",
             "button_primary_background_fill_hover": "soft", "button_primary_text_color": "card",
             "table_text_color": "ink"}
    return gr.themes.Default().set(**{part: light[name] for part, name in parts.items()},
                                   **{f"{part}_dark": dark[name] for part, name in parts.items()})


@asynccontextmanager
async def shown(app: FastAPI, blocks: gr.Blocks, service: Service) -> AsyncIterator[Callable[[], None]]:
    """Mount the page for the length of the context; gives the function that ends the endless requests of open tabs.

    The page has its own parent: in ours, Gradio would let our CORS settings decide which sites may read the page.
    """
    blocks.state_session_capacity = MOST_VISITS
    parent = FastAPI()
    gr.mount_gradio_app(parent, blocks, PAGE, footer_links=[], run_history=False, ssr_mode=False, show_error=True,
                        enable_monitoring=False, max_file_size="1mb", theme=_theme(),
                        mcp_server=find_spec("mcp") is not None)
    if blocks.mcp_server_obj is not None:
        answer_in_json(blocks.mcp_server_obj)
    [mounted] = (route.app for route in parent.routes if isinstance(route, Mount))
    async with parent.router.lifespan_context(parent):
        app.state.page = CheckedCalls(InFolder(mounted, service.settings.root_path), blocks)
        yield mounted.stop_event.set


class InFolder:
    """ASGI: Gradio gets the path with the folder of a proxy, for the addresses that it writes into its page."""

    def __init__(self, app: ASGIApp, folder: str):
        self.app = app
        self.folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        there = {**scope, "path": self.folder + scope["path"], "root_path": self.folder + scope["root_path"]}
        await self.app(there, receive, send)
