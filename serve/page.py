"""The page: type a sentence, read its translation, look at every head.  Gradio, offline, one process.

Gradio runs a handler for anybody who can reach the port, whatever the page shows, so each checks what it is given.
Text goes to the browser as data that JavaScript sets as text, never through a Gradio template: those evaluate `${...}`
in a value as code, also where the value is escaped.
"""

import os
import socket
import sys
import threading
import webbrowser
from types import FrameType
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: nothing leaves this machine

import gradio as gr  # noqa: E402
import uvicorn  # noqa: E402
from fastapi import FastAPI  # noqa: E402
from fastapi.responses import RedirectResponse  # noqa: E402
from starlette.middleware.trustedhost import TrustedHostMiddleware  # noqa: E402
from starlette.routing import Mount  # noqa: E402

from seq2see.errors import UserError  # noqa: E402
from seq2see.lens.show import asset, view_data  # noqa: E402
from seq2see.lens.views import VIEWS  # noqa: E402
from seq2see.serve.translator import Translator  # noqa: E402

LONGEST_TEXT = 2_000  # characters; a page of maps is unreadable long before
LONGEST_IN_ALL_VIEWS = 300  # characters; of a longer text they would take seconds, and megabytes in the browser
NAMES = {"cs": "Czech", "de": "German", "en": "English", "fr": "French", "hi": "Hindi"}
EXAMPLES = [
    "The cat did not cross the street because it was too tired.",
    "The cat did not cross the street because it was too wide.",
    "The box did not fit in the bag because it was too big.",
    "The box did not fit in the bag because it was too small.",
]
CSS = """
.gradio-container { max-width: 1220px !important; margin: 0 auto !important; }
#title h1 { font-size: 26px; margin: 10px 0 0; } #title p { margin: 2px 0 6px; opacity: .8; }
#translation textarea, #source textarea { font-size: 17px; line-height: 1.5; }
#attention .html-container { padding: 0; }
footer { display: none !important; }
"""
SUBMIT_KEY = """() => document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) document.querySelector("#translate").click();
})"""


def attention_map(**settings: Any) -> gr.HTML:
    """The drawing of `seq2see.lens` as a Gradio component, whose value is `view_data(trace)`, or None for nothing.

    Not a subclass of gr.HTML: Gradio writes a .pyi file beside the source of every class derived from a component.
    """
    show = "map.show(props.value)"
    return gr.HTML(
        html_template='<div class="s2s"></div>',
        css_template=asset("attention_map.css"),
        js_on_load=f"""{asset("attention_map.js")}
const map = attentionMap(element.querySelector(".s2s"));
watch("value", () => {show});
{show}""",
        apply_default_css=False,
        **settings,
    )


def build_page(translator: Translator) -> gr.Blocks:
    """The page as Gradio Blocks, to be mounted by `make_server`, or anywhere else."""
    pairs = translator.language_pairs
    choices = [f"{NAMES.get(source, source)} → {NAMES.get(target, target)}" for source, target in pairs]

    def translate(text: Any, choice: Any) -> tuple[str, dict[str, Any]]:
        if not isinstance(text, str) or not text.strip():
            raise _refusal("Type a sentence first.")
        if len(text) > LONGEST_TEXT:
            raise _refusal(f"The text has {len(text):,} characters; this page takes {LONGEST_TEXT:,} at most.")
        if choices and choice not in choices:
            raise _refusal(f"This model does not have that pair of languages; it has {', '.join(choices)}.")
        source, target = pairs[choices.index(choice)] if choices else (None, None)
        try:
            result = translator(text.strip(), source=source, target=target)
            first = result.parts[0]
            views = VIEWS if len(first.source_text) <= LONGEST_IN_ALL_VIEWS else ("raw",)
            data = view_data(*translator.look(first, views=views), unseen=first.unknown_words)
        except UserError as error:
            raise _refusal(str(error)) from None
        if len(result.parts) > 1:
            gr.Info(f"The text was translated in {len(result.parts)} parts; the maps are of the first.")
        if not result.hypotheses[0].finished:
            gr.Warning("The translation stopped at the model's limit of length; its end is missing.")
        return result.text, data

    with gr.Blocks(title="Seq2See", analytics_enabled=False) as page:
        gr.Markdown("# Seq2See\nThe translation model you can see through: translate a sentence, then see where every "
                    "attention head looked.", elem_id="title")
        with gr.Row():
            with gr.Column(min_width=300):
                source = gr.Textbox(label="Text", lines=3, max_length=LONGEST_TEXT, elem_id="source", autofocus=True,
                                    placeholder="Type a sentence, then press Ctrl-Enter")
            with gr.Column(min_width=300):
                target = gr.Textbox(label="Translation", lines=3, interactive=False, elem_id="translation",
                                    buttons=["copy"])
        with gr.Row(equal_height=True):
            languages = gr.Dropdown(choices, value=choices[0] if choices else None, label="Languages", min_width=220,
                                    interactive=True, visible=bool(choices), scale=1)
            languages.preprocess = lambda choice: choice  # our handler checks it; Gradio would log a traceback
            button = gr.Button("Translate", variant="primary", elem_id="translate", scale=1, min_width=160)
        if not pairs or pairs[0][0] == "en":
            gr.Examples([[text] for text in EXAMPLES], inputs=[source], label="Examples: one word changes what “it” is",
                        api_visibility="private")
        attention = attention_map(elem_id="attention")
        gr.on([button.click, source.submit], translate, [source, languages], [target, attention],
              show_progress="minimal", api_visibility="private", concurrency_limit=2)
        gr.Markdown(f"Model: `{translator.name.replace('`', '')}`. Everything runs on this machine.", elem_id="model")
    return page


def make_server(translator: Translator, *, host: str, port: int | None) -> "Server":
    """A server of the page on a port of its own, bound already: a port in use is a UserError, 0 takes a free one."""
    page = build_page(translator)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/", include_in_schema=False)
    def to_page() -> RedirectResponse:
        return RedirectResponse("/ui/")

    if host in ("127.0.0.1", "localhost"):  # a site elsewhere whose name is made to mean this machine must not read it
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    theme = gr.themes.Soft(primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"])
    gr.mount_gradio_app(app, page, "/ui", theme=theme, css=CSS, js=SUBMIT_KEY, footer_links=[], run_history=False,
                        ssr_mode=False, show_error=True, enable_monitoring=False, max_file_size="1mb")
    [mounted] = (route.app for route in app.routes if isinstance(route, Mount))
    return Server(app, mounted, host=host, socket_=_bind(host, port))


def launch(translator: Translator, *, host: str, port: int | None, open_browser: bool) -> None:
    """Serve the page until Ctrl-C or SIGTERM; returns, or raises what the signal means, when all is closed."""
    make_server(translator, host=host, port=port).serve_page(open_browser=open_browser)


class Server(uvicorn.Server):
    """uvicorn, but an open tab does not keep it alive: Gradio's heartbeat is told first that the end has come."""

    def __init__(self, app: FastAPI, gradio_app: gr.routes.App, *, host: str, socket_: socket.socket):
        super().__init__(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))
        self.gradio_app = gradio_app
        self.open_browser = False
        self.socket = socket_
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{socket_.getsockname()[1]}"

    def serve_page(self, *, open_browser: bool = False) -> None:
        self.open_browser = open_browser
        self.run(sockets=[self.socket])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(f"Seq2See is at {self.url}/ (Ctrl-C ends it)", file=sys.stderr, flush=True)
        if self.open_browser:
            threading.Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.gradio_app.stop_event.set()
        super().handle_exit(sig, frame)


def _bind(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port or 0))
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise UserError(f"cannot listen on {host} port {port}: {reason}; choose another by --port") from error
    return listener


def _refusal(message: str) -> gr.Error:
    return gr.Error(message, title="Not translated", print_exception=False, duration=8)
