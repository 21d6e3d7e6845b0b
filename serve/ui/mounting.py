"""Where the pages are mounted, the explorer at / and Gradio's at /ui; what is shown until they are ready, and the other
files that browsers request."""

from functools import lru_cache

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ...webpage.palette import css_of_both
from ..api_errors import APIError
from ..request_checks import PAGE
from ..service import Service
from . import text_of
from .document import document


def add_page(app: FastAPI, service: Service) -> None:
    @lru_cache(maxsize=1)
    def made(_: int) -> bytes:
        return document(service).encode()

    @lru_cache(maxsize=1)
    def expect_looks(_: int) -> None:
        service.expect_looks()

    def explorer(request: Request) -> Response:  # in a thread, for the first time takes a moment
        if not service.ready:
            return starting(request)
        if request.method == "GET":  # monitors look without reading
            expect_looks(service.served.number)
        return HTMLResponse(made(service.served.number))

    async def gradio(scope: Scope, receive: Receive, send: Send) -> None:
        await app.state.page(scope, receive, send)

    app.state.page = loading
    app.add_api_route("/", explorer, methods=["HEAD"], include_in_schema=False)
    app.add_api_route("/", explorer, tags=["server"], summary="The page", response_class=HTMLResponse,
                      responses={503: {"description": "Still loading"}})
    app.add_api_route(PAGE, to_gradio, methods=["GET", "HEAD"], include_in_schema=False)
    app.mount(PAGE, gradio)
    # Browsers request both.
    icon, manifest = text_of("icon.svg"), {"name": "Seq2See", "start_url": "."}
    app.add_api_route("/favicon.ico", lambda: Response(icon, media_type="image/svg+xml"), include_in_schema=False)
    app.add_api_route("/manifest.json", lambda: JSONResponse(manifest), include_in_schema=False)


async def to_gradio(request: Request) -> Response:
    """From the address without its slash to a relative one, which a proxy's folder keeps."""
    return RedirectResponse(str(URL(path=f"{PAGE[1:]}/", query=request.url.query)))


def starting(request: Request) -> Response:
    """Shown to browsers until the models are ready; others get the error."""
    error = APIError(503, "loading", "the server is loading: try again in a few seconds", retry_after=5)
    if "text/html" not in request.headers.get("accept", ""):
        raise error
    return HTMLResponse(text_of("starting.html").replace("COLOURS", css_of_both()), error.status)


async def loading(scope: Scope, receive: Receive, send: Send) -> None:
    await starting(Request(scope))(scope, receive, send)


async def without_gradio(scope: Scope, receive: Receive, send: Send) -> None:
    raise APIError(404, "not_found", "gradio is not installed: pip install 'seq2see[serve]'; the page is at /")
