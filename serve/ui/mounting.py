"""Where the page is mounted: what is shown until it is ready, and the other files that browsers request."""

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ...lens.palette import css_of_both
from ..api_errors import APIError
from ..request_checks import PAGE
from . import text_of


def add_page(app: FastAPI) -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await app.state.page(scope, receive, send)

    app.state.page = loading
    app.add_api_route(PAGE, to_page, methods=["GET", "HEAD"], include_in_schema=False)
    app.mount(PAGE, page)
    app.add_api_route("/", to_page, methods=["HEAD"], include_in_schema=False)
    app.add_api_route("/", to_page, tags=["server"], summary="To the page",
                      status_code=307, response_class=RedirectResponse,
                      responses={200: {"description": "the page", "content": {"text/html": {}}}})
    # Browsers request both.
    icon, manifest = text_of("icon.svg"), {"name": "Seq2See", "start_url": f"{PAGE[1:]}/"}
    app.add_api_route("/favicon.ico", lambda: Response(icon, media_type="image/svg+xml"), include_in_schema=False)
    app.add_api_route("/manifest.json", lambda: JSONResponse(manifest), include_in_schema=False)


# From "/" and from the page's address without its slash: a relative address, which a proxy's folder keeps.
async def to_page(request: Request) -> Response:
    return RedirectResponse(str(URL(path=f"{PAGE[1:]}/", query=request.url.query)))


async def loading(scope: Scope, receive: Receive, send: Send) -> None:
    """Shown until the page is ready."""
    error = APIError(503, "loading", "the server is loading: try again in a few seconds", retry_after=5)
    if "text/html" not in Request(scope).headers.get("accept", ""):
        raise error
    starting = text_of("starting.html").replace("COLOURS", css_of_both())
    await HTMLResponse(starting, error.status)(scope, receive, send)
