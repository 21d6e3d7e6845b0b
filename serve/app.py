"""The application: the APIs, health checks, metrics, and the pages once the models are loaded."""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request

from seq2see import __version__
from seq2see.errors import UserError
from .access import KEYS_VARIABLE
from .api_errors import APIError
from .apis import comparing, huggingface, inside, lessons, libretranslate, translate_file, v1
from .apis.bodies import ERRORS, bad_request
from .reloading import reload_router
from .request_checks import PAGE, RequestChecks
from .request_log import HEADER, RequestLines, RequestLog
from .service import Service
from .ui import text_of
from .ui.mounting import add_page

logging.getLogger("python_multipart").setLevel(logging.ERROR)  # its warnings quote what was sent
CODES = {404: "not_found", 405: "method_not_allowed"}


def make_app(service: Service, *, host: str = "127.0.0.1") -> FastAPI:
    """The application without Gradio's page, which goes into `app.state.page`; `host` is the address to listen on.

    Raises UserError if the settings require a key that does not exist.
    """
    settings = service.settings
    _check_keys(service)
    app = FastAPI(title="Seq2See", version=__version__, docs_url=None, redoc_url=None, responses=ERRORS,
                  openapi_url="/openapi.json" if settings.docs else None, redirect_slashes=False,
                  exception_handlers={RequestValidationError: _raise_api_error, HTTPException: _raise_api_error},
                  description="Translates, and shows what every attention head does.")
    app.add_middleware(RequestChecks, service=service, hosts=settings.hosts(host))
    app.add_middleware(GZipMiddleware, minimum_size=10_000, compresslevel=6)  # maps are larger
    app.add_middleware(CORSMiddleware, allow_origins=settings.cors_origins, allow_methods=["GET", "POST"],
                       allow_headers=["Authorization", "Content-Type", "X-API-Key", HEADER],
                       expose_headers=["Retry-After", HEADER])

    @app.get("/healthz", tags=["server"], summary="Check whether the process is alive",
             response_class=PlainTextResponse)
    async def healthz() -> str:
        return "ok"

    @app.get("/readyz", tags=["server"], summary="Check whether the models are loaded and tested",
             response_class=PlainTextResponse, responses={503: {"description": "Still loading"}})
    async def readyz() -> Response:
        return PlainTextResponse("ready") if service.ready else PlainTextResponse("loading", 503)

    if settings.metrics:

        @app.get("/metrics", tags=["server"], summary="Read the metrics in Prometheus format",
                 response_class=PlainTextResponse)
        async def metrics() -> Response:
            return Response(await service.metrics_text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    apis = v1, comparing, inside, lessons, libretranslate, translate_file, huggingface
    routers = [reload_router(service), *(one.router(service) for one in apis)]  # routes match in this order
    for router in routers:
        app.include_router(router)
    if settings.docs:
        app.add_api_route("/docs", lambda: HTMLResponse(docs_page(app.openapi())), include_in_schema=False)
    if settings.page:
        add_page(app, service)
    routes = [route for router in (app, *routers) for route in router.routes]
    app.state.lines = RequestLines(settings)
    app.add_middleware(RequestLog, lines=app.state.lines, routes=routes, page=PAGE)  # outermost, as the last added
    return app


def _check_keys(service: Service) -> None:
    """Raises UserError for a setting that admits callers with a key, if there is no such key."""
    settings, names = service.settings, set(service.access.keys.values())
    guarded = [name for name in ("docs", "metrics") if getattr(settings, name) == "key"]
    if guarded and not names:
        raise UserError(f"the setting {guarded[0]}=key needs an API key, but there are none: set {KEYS_VARIABLE}"
                        " or keys_file", exit_code=2)
    if unknown := sorted(set(settings.may_reload) - names):
        raise UserError(f"may_reload names {unknown[0]}, but no API key has that name: add one to keys_file",
                        exit_code=2)


async def _raise_api_error(_: Request, error: Exception) -> Response:
    """Pass the error to `RequestChecks`, which writes all errors in one format."""
    if isinstance(error, RequestValidationError):
        raise bad_request(error)
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "bad_request")
    raise APIError(error.status_code, code, str(error.detail), headers=dict(error.headers or {}))


def docs_page(document: Mapping[str, Any]) -> str:
    """The documentation as one HTML page without scripts or downloads: FastAPI's own needs a CDN."""
    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["as_argument"] = lambda example: shlex.quote(json.dumps(example, ensure_ascii=False))
    return environment.from_string(text_of("docs.html")).render(document)
