"""The page: type a sentence, read its translation, look at every head.  Gradio, offline, one process.

Gradio runs a handler for anybody who can reach the port, whatever the page shows, so each checks what it is given.
Text goes to the browser as data that JavaScript sets as text, never through a Gradio template: those evaluate `${...}`
in a value as code, also where the value is escaped.
"""

import os
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: nothing leaves this machine

import gradio as gr  # noqa: E402
from fastapi import FastAPI  # noqa: E402
from starlette.routing import Mount  # noqa: E402

from seq2see.lens.show import asset, view_data  # noqa: E402
from seq2see.lens.trace import VIEWS  # noqa: E402
from seq2see.serve.dialects.names import NAMES  # noqa: E402
from seq2see.serve.guard import PAGE  # noqa: E402
from seq2see.serve.page_api import add_api, mcp_installed  # noqa: E402
from seq2see.serve.service import Refusal, Request, Service  # noqa: E402

LONGEST_TEXT = 2_000  # characters; a page of maps is unreadable long before
LONGEST_IN_ALL_VIEWS = 300  # characters; of a longer text they would take seconds, and megabytes in the browser
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


def build_page(service: Service) -> gr.Blocks:
    """The page as Gradio Blocks, to be put in its place by `mount`."""
    pairs = service.language_pairs
    choices = [f"{NAMES.get(source, source)} → {NAMES.get(target, target)}" for source, target in pairs]
    longest = min(LONGEST_TEXT, service.settings.characters)

    async def translate(text: Any, choice: Any, request: gr.Request) -> tuple[str, dict[str, Any]]:
        if not isinstance(text, str) or not text.strip():
            raise _refusal("Type a sentence first.")
        if len(text) > longest:
            raise _refusal(f"The text has {len(text):,} characters; this page takes {longest:,} at most.")
        if choices and choice not in choices:
            raise _refusal(f"This model does not have that pair of languages; it has {', '.join(choices)}.")
        source, target = pairs[choices.index(choice)] if choices else (None, None)
        try:
            asked = Request((text.strip(),), source, target)
            views = VIEWS if len(text) <= LONGEST_IN_ALL_VIEWS else ("raw",)
            [result], traces = await service.translate_and_look(asked, caller=service.access.caller(request),
                                                                views=views)
        except Refusal as error:
            raise _refusal(error.message) from None
        if len(traces) > 1:
            gr.Info(f"The text was translated in {len(traces)} parts; the maps are of the first.")
        if not result.hypotheses[0].finished:
            gr.Warning("The translation stopped at the model's limit of length; its end is missing.")
        return result.text, view_data(traces[0], unseen=result.parts[0].unknown_words)

    with gr.Blocks(title="Seq2See", analytics_enabled=False) as page:
        add_api(service)  # first, so that its names are free
        gr.Markdown("# Seq2See\nThe translation model you can see through: translate a sentence, then see where every "
                    "attention head looked.", elem_id="title")
        with gr.Row():
            with gr.Column(min_width=300):
                source = gr.Textbox(label="Text", lines=3, max_length=longest, elem_id="source", autofocus=True,
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
        names = ", ".join(f"`{one.name.replace('`', '')}`" for one in service.models.values())
        gr.Markdown(f"Model: {names}. Everything runs on this machine.", elem_id="model")
    return page


def mount(page: gr.Blocks) -> tuple[FastAPI, gr.routes.App]:
    """The page as an application, and the parent whose lifespan it lives by.

    A parent of its own: in ours, Gradio would leave it to our CORS to say which sites may read the page.
    """
    parent = FastAPI()
    theme = gr.themes.Soft(primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"])
    gr.mount_gradio_app(parent, page, PAGE, theme=theme, css=CSS, js=SUBMIT_KEY, footer_links=[], run_history=False,
                        ssr_mode=False, show_error=True, enable_monitoring=False, max_file_size="1mb",
                        mcp_server=mcp_installed())
    [mounted] = (route.app for route in parent.routes if isinstance(route, Mount))
    return parent, mounted


def _refusal(message: str) -> gr.Error:
    return gr.Error(message, title="Not translated", print_exception=False, duration=8)
