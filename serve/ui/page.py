"""The page as a whole: its frame, its three tabs, and where it is mounted."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from itertools import count
from typing import Any

import gradio as gr
from fastapi import FastAPI
from starlette.routing import Mount

from ..guard import PAGE
from ..service import Service
from .api import add_api
from .calls import CheckedCalls
from .files import text_of
from .first_minute import build_first_minute
from .gradio_patches import answer_in_json
from .learn_tab import build_learn
from .look_tab import build_look
from .translate_tab import about, asked_by_link, build_translate

MOST_VISITS = 100  # of which Gradio keeps in memory what was shown last
TITLE = """<header><h1>Seq2See</h1>
<p>The translation model you can see through: translate a sentence, then see where every attention head looked.</p>
</header>"""


@asynccontextmanager
async def shown(app: FastAPI, page: gr.Blocks) -> AsyncIterator[Callable[[], None]]:
    """The page in its place in the application, while this lasts; gives what ends the endless requests of open tabs."""
    parent, mounted = mount(page)
    async with parent.router.lifespan_context(parent):
        app.state.page = CheckedCalls(mounted, page)
        yield mounted.stop_event.set


def build_page(service: Service, *, learning: Callable[[], dict[str, Any]] | None = None) -> gr.Blocks:
    """The page as Gradio Blocks, to be put in its place by `shown`.  `learning` tells of a model that is trained."""
    asked = count()

    def visit(request: gr.Request) -> tuple[Any, Any]:
        """What there is now, and what the link that the page was opened by asks for."""
        wish = asked_by_link(request.query_params, longest=service.settings.characters)
        if wish is None:
            return gr.update(about=about(service)), gr.skip()
        return open_look(wish)

    def open_look(wish: dict[str, Any]) -> tuple[Any, Any]:
        """Have a text translated as the box would, and, where a map of it is wanted, go there."""
        chosen = gr.update(selected="look") if "start" in wish else gr.skip()
        return gr.update(about=about(service, asked=wish | {"n": next(asked) + 1})), chosen

    with gr.Blocks(title="Seq2See", analytics_enabled=False, fill_width=True) as page:
        add_api(service)  # first, so that its names are free
        gr.HTML(TITLE, elem_id="head")
        shown = gr.JSON(visible="hidden")  # `adapter.Shown`: the translation that Look looks into
        with gr.Tabs() as tabs:
            with gr.Tab("Translate", id="translate"):
                watch = build_first_minute(service, learning) if learning else None
                box = build_translate(service, shown)
                if watch:
                    watch(page, box)
            with gr.Tab("Look", id="look") as looking:
                build_look(service, looking, shown)
            with gr.Tab("Learn", id="learn") as learn:
                build_learn(service, learn, open_look, [box, tabs])
        gr.Markdown("Everything runs on the machine that serves this page; what you type is neither saved nor logged.",
                    elem_id="foot")
        page.load(visit, None, [box, tabs], show_progress="hidden", queue=False, api_visibility="private")
    return page


def mount(page: gr.Blocks) -> tuple[FastAPI, gr.routes.App]:
    """The page as an application, and the parent whose lifespan it lives by.

    A parent of its own: in ours, Gradio would leave it to our CORS to say which sites may read the page.
    """
    page.state_session_capacity = MOST_VISITS
    parent = FastAPI()
    theme = gr.themes.Soft(primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"])
    settings: dict[str, Any] = {"theme": theme, "css": text_of("style.css")}
    gr.mount_gradio_app(parent, page, PAGE, **settings, footer_links=[], run_history=False, ssr_mode=False,
                        show_error=True, enable_monitoring=False, max_file_size="1mb",
                        mcp_server=find_spec("mcp") is not None)
    if page.mcp_server_obj is not None:
        answer_in_json(page.mcp_server_obj)
    [mounted] = (route.app for route in parent.routes if isinstance(route, Mount))
    return parent, mounted
