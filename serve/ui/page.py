"""The page as a whole: its frame, its three tabs, and where it is mounted."""

from typing import Any

import gradio as gr
from fastapi import FastAPI
from starlette.routing import Mount

from seq2see.serve.guard import PAGE
from seq2see.serve.page_api import add_api, mcp_installed
from seq2see.serve.service import Service
from seq2see.serve.ui.files import text_of
from seq2see.serve.ui.learn_tab import build_learn
from seq2see.serve.ui.look_tab import build_look
from seq2see.serve.ui.translate_tab import build_translate


def build_page(service: Service) -> gr.Blocks:
    """The page as Gradio Blocks, to be put in its place by `mount`."""
    with gr.Blocks(title="Seq2See", analytics_enabled=False) as page:
        add_api(service)  # first, so that its names are free
        gr.Markdown("# Seq2See\nThe translation model you can see through: translate a sentence, then see where every "
                    "attention head looked.", elem_id="title")
        shown = gr.JSON(visible="hidden")  # `shown.Shown`: the translation that Look looks into
        with gr.Tabs():
            with gr.Tab("Translate", id="translate"):
                build_translate(service, shown)
            with gr.Tab("Look", id="look") as looking:
                build_look(service, looking, shown)
            with gr.Tab("Learn", id="learn"):
                build_learn()
        names = ", ".join(f"`{one.name.replace('`', '')}`" for one in service.models.values())
        gr.Markdown(f"Model: {names}. Everything runs on this machine.", elem_id="model")
    return page


def mount(page: gr.Blocks) -> tuple[FastAPI, gr.routes.App]:
    """The page as an application, and the parent whose lifespan it lives by.

    A parent of its own: in ours, Gradio would leave it to our CORS to say which sites may read the page.
    """
    parent = FastAPI()
    theme = gr.themes.Soft(primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"])
    settings: dict[str, Any] = {"theme": theme, "css": text_of("style.css"), "js": text_of("page.js")}
    gr.mount_gradio_app(parent, page, PAGE, **settings, footer_links=[], run_history=False, ssr_mode=False,
                        show_error=True, enable_monitoring=False, max_file_size="1mb", mcp_server=mcp_installed())
    [mounted] = (route.app for route in parent.routes if isinstance(route, Mount))
    return parent, mounted
