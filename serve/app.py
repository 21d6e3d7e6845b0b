"""The application: the dialects, health, counters, and the page at /ui once the models are there."""

from __future__ import annotations

from functools import cache, partial

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from seq2see import __version__
from .dialects import huggingface, libretranslate, v1
from .dialects.bodies import bad_request
from .docs import docs_page
from .errors import APIError
from .guard import PAGE, Application, Guard, Receive, Scope, Send, answer
from .service import Service
from .settings import ServerSettings
from .ui.files import text_of

MANIFEST = {"name": "Seq2See", "start_url": f"{PAGE}/"}
CODES = {404: "not_found", 405: "method_not_allowed"}


def make_app(service: Service, settings: ServerSettings, *, host: str = "127.0.0.1") -> FastAPI:
    """Everything but the page, whose place is kept in `app.state.page`; `host` is what it will listen on."""
    app = FastAPI(title="Seq2See", version=__version__, docs_url=None, redoc_url=None,
                  openapi_url="/openapi.json" if settings.docs else None,
                  description="Translates, and shows what every attention head did meanwhile.")
    app.add_middleware(Guard, service=service, settings=settings, hosts=settings.hosts(host))
    for kind in (APIError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, partial(_error, service))
    _add_health(app, service, settings)
    for dialect in (v1, libretranslate, huggingface):  # in this order a request is looked for
        app.include_router(dialect.router(service))
    if settings.docs:
        docs = cache(lambda: docs_page(app.openapi()))
        app.add_api_route("/docs", lambda: HTMLResponse(docs()), methods=["GET"], include_in_schema=False)
    app.state.page = PagePlace()
    if settings.page:
        app.add_api_route("/", lambda: RedirectResponse(f"{PAGE}/"), methods=["GET"], tags=["server"],
                          summary="To the page", status_code=307, response_class=RedirectResponse,
                          responses={200: {"description": "the page", "content": {"text/html": {}}}})
        app.add_api_route("/", _wrong_at_root, methods=["DELETE", "OPTIONS", "PATCH", "PUT", "TRACE"],
                          include_in_schema=False)
        for path, give in (("/favicon.ico", lambda: Response(text_of("icon.svg"), media_type="image/svg+xml")),
                           ("/manifest.json", lambda: JSONResponse(MANIFEST))):  # browsers ask for both
            app.add_api_route(path, give, methods=["GET"], include_in_schema=False)
        app.mount(PAGE, app.state.page)
    return app


class PagePlace:
    """Where the page will be: until then browsers are shown that it comes, and everybody else is refused."""

    def __init__(self) -> None:
        self.app: Application | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if app is None:
            error = APIError(503, "loading", "the server is loading: try again in a few seconds", retry_after=5)
            browser = "text/html" in HttpRequest(scope).headers.get("accept", "")
            app = HTMLResponse(text_of("starting.html"), error.status) if browser else answer(error)
        await app(scope, receive, send)


def _add_health(app: FastAPI, service: Service, settings: ServerSettings) -> None:
    @app.get("/healthz", tags=["server"], summary="The process is alive", response_class=PlainTextResponse)
    async def healthz() -> str:
        return "ok"

    @app.get("/readyz", tags=["server"], summary="The models are loaded, and have translated",
             response_class=PlainTextResponse, responses={503: {"description": "Still loading, or ending"}})
    async def readyz() -> Response:
        state = "draining" if service.draining else "ready" if service.ready else "loading"
        return PlainTextResponse(state, 200 if state == "ready" else 503)

    if settings.metrics:

        @app.get("/metrics", tags=["server"], summary="Counters, in Prometheus's format",
                 response_class=PlainTextResponse)
        async def metrics() -> Response:
            return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _wrong_at_root() -> None:
    """Else Starlette would name the methods of one of its two routes alone."""
    raise HTTPException(405, headers={"Allow": "GET, POST"})


async def _error(service: Service, request: HttpRequest, error: Exception) -> Response:
    """Every error as the one body that clients know."""
    headers = None
    if isinstance(error, RequestValidationError):
        error = bad_request(error)
    elif isinstance(error, HTTPException):
        headers = error.headers
        error = APIError(error.status_code, CODES.get(error.status_code, "bad_request"), str(error.detail))
    assert isinstance(error, APIError)
    service.metrics.count(error)
    return answer(error, headers)
