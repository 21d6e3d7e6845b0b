"""The page: Gradio Blocks around the explorer, and where it is mounted."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

import gradio as gr
from fastapi import FastAPI
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from ...lens.explorer import as_data, script, style
from ...translate.example_pairs import sentences
from ...translate.translator import Translator
from ..access import AccessControl
from ..request_checks import PAGE
from ..service import Service
from ..settings import ServerSettings
from . import text_of
from .api import add_api, add_ask
from .calls import CheckedCalls
from .first import settings_of, static_view
from .gradio_patches import answer_in_json

MOST_VISITS = 100  # whose last state Gradio keeps in memory
SECONDS = 1.0  # between two looks at a model in training
API = "../v1"  # from the page
ON_LOAD = """
const explorer = new Function(`${props.script}\nreturn explorer;`)();  // kept as text too: an exported page has it
const theirs = props.settings;
if (!document.getElementById("s2s-style")) {
  const style = document.head.appendChild(document.createElement("style"));
  Object.assign(style, { id: "s2s-style", textContent: props.css });
}
const home = element.querySelector(".s2s-home"), early = document.querySelector(".s2s-early .s2s");
const begin = (settings) => {
  const root = (window.gradio_config?.root || "") + (window.gradio_config?.api_prefix || "/gradio_api");
  explorer(home, { ...settings, gradio: root, css: props.css, script: props.script });
  document.querySelectorAll(".s2s-first").forEach((one) => one.remove());
};
let watched = theirs.learning ? explorer(home, theirs) : null;
if (watched) watched.show(theirs.learning);
else if (early) {  // moves in, with what the reader has done meanwhile
  if (home.moveBefore) home.moveBefore(early, null); else home.append(early);
  document.querySelector(".s2s-early").remove();
} else begin(theirs);
watch("settings", () => {
  const { settings } = props;
  if (!watched) return;
  if (settings.learning) return watched.show(settings.learning);
  watched.root.remove();
  watched = null;
  begin(settings);
});
"""

# What is shown before any script is the first sentence: not of a reader who comes back to another one, or to Lessons.
ELSEWHERE = """<script>(() => {
const kept = history.state && history.state.s2s && history.state.s2s.address;
const text = new URLSearchParams(kept || location.search).get("text");
if (/^#lesson/.test(location.hash) || (text && text !== %s)) document.documentElement.classList.add("s2s-elsewhere");
})();</script>"""

# No script may send requests from an address with a name and a password in it, which the browser knows by now.
PLAIN_ADDRESS = b"""<script>(() => {
const here = new URL(document.baseURI);
if (here.username || here.password) location.replace(Object.assign(here, { username: "", password: "" }));
})();</script>"""

# Before Gradio has started, which takes most of a second: the same explorer, outside it.
EARLY = b"""<div class="s2s-early"><div class="s2s-home"></div></div><script>(() => {
const { props } = window.gradio_config.components.find(({ props }) => props.props?.settings?.first) || {};
if (!props || props.props.settings.learning) return;
document.title ||= window.gradio_config.title;
const start = new Function("element", "props", "watch", props.js_on_load);
start(document.querySelector(".s2s-early"), props.props, () => {});
})();</script>"""


def page(translator: Translator) -> gr.Blocks:
    """The explorer of one model as Gradio Blocks: to `launch()`, to mount, or to put into other Blocks by `render()`.

        seq2see.page(seq2see.Translator.from_pretrained("everyday")).launch()
    """
    service = Service({translator.name or "model": translator}, ServerSettings(), access=AccessControl())
    return build_page(service, api=None)


def build_page(service: Service, *, learning: Callable[[], dict[str, Any]] | None = None,
               api: str | None = API) -> gr.Blocks:
    """The page as Gradio Blocks.  `learning` gives the progress of a model in training; `api` is the address of
    `/v1`, or None."""

    def about() -> dict[str, Any]:
        return settings_of(service, api=api, learning=learning() if learning and not service.ready else None)

    def refresh() -> tuple[Any, Any]:
        return gr.update(settings=about()), gr.update(active=not service.ready)

    with gr.Blocks(title="Seq2See", analytics_enabled=False, fill_width=True) as blocks:
        add_api(service)  # first, so that its names are free
        if api is None:
            add_ask(service)
        explorer = gr.HTML(html_template='<div class="s2s-home"></div>', js_on_load=ON_LOAD, script=script(),
                           apply_default_css=False, css=style() + text_of("gradio.css"), settings=about())
        if learning:  # open and later tabs learn when the model is ready
            timer = gr.Timer(SECONDS)
            gr.on([blocks.load, timer.tick], refresh, None, [explorer, timer], show_progress="hidden", queue=False,
                  api_visibility="private")
    return blocks


@asynccontextmanager
async def shown(app: FastAPI, blocks: gr.Blocks, service: Service) -> AsyncIterator[Callable[[], None]]:
    """Mount the page for the length of the context; gives the function that ends the endless requests of open tabs.

    The page has its own parent: in ours, Gradio would let our CORS settings decide which sites may read the page.
    """
    blocks.state_session_capacity = MOST_VISITS
    parent = FastAPI()
    gr.mount_gradio_app(parent, blocks, PAGE, footer_links=[], run_history=False, ssr_mode=False, show_error=True,
                        enable_monitoring=False, max_file_size="1mb", mcp_server=find_spec("mcp") is not None)
    if blocks.mcp_server_obj is not None:
        answer_in_json(blocks.mcp_server_obj)
    [mounted] = (route.app for route in parent.routes if isinstance(route, Mount))
    async with parent.router.lifespan_context(parent):
        app.state.page = CheckedCalls(WithFirstView(mounted, service), blocks)
        yield mounted.stop_event.set


class WithFirstView(BaseHTTPMiddleware):
    """The page with the first view as plain HTML, readable before any script has run, and then with the explorer, which
    works at once and moves into Gradio's component when that is there.

    Gradio gets the path with the folder of a proxy, for the addresses that it writes into the page.
    """

    def __init__(self, app: ASGIApp, service: Service):
        super().__init__(app)
        view = static_view(service)
        elsewhere = (ELSEWHERE % as_data(sentences()[0][0])).encode()
        self.view = PLAIN_ADDRESS + (elsewhere + view + EARLY if view else b"")
        self.folder = service.settings.root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        there = {**scope, "path": self.folder + scope["path"], "root_path": self.folder + scope["root_path"]}
        is_page = scope["method"] == "GET" and scope["path"].rstrip("/") == PAGE
        await (super().__call__ if is_page else self.app)(there, receive, send)

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        answer = await call_next(request)
        body = b"".join([part async for part in answer.body_iterator])
        body = re.sub(rb"<body[^>]*>", lambda tag: tag[0] + self.view, body, count=1)
        del answer.headers["content-length"]
        return Response(body, answer.status_code, answer.headers)
