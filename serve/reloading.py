"""Reloads the models of a running server: at SIGHUP, or for `POST /v1/reload`.

Each model is loaded in a thread and must pass a test translation.  New requests then get it.  Requests in progress end
with the models that they started with.  If a model cannot be loaded, its old version stays.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from seq2see.errors import UserError
from ..translate.translator import Translator
from .api_errors import APIError
from .apis.bodies import key_wanted
from .service import Service


class Reloading:
    """Callers share a reload that has not begun; one that has begun may have read older files, so another follows it.

    Args:
        names: of the models.
        load: loads and tests the model of a name.
    """

    def __init__(self, service: Service, names: Iterable[str], load: Callable[[str], Awaitable[Translator]]):
        self.service = service
        self.names = list(names)
        self.load = load
        self._wanted = False
        self._task: asyncio.Task[Mapping[str, str]] | None = None

    async def __call__(self) -> Mapping[str, str]:
        """Reload every model; returns the errors by name.  Cancelling does not stop a reload."""
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._reload())
        return await asyncio.shield(self._task)

    async def _reload(self) -> Mapping[str, str]:
        failed: dict[str, str] = {}
        while self._wanted:
            self._wanted, failed = False, {}
            for name in self.names:
                try:
                    self.service.add(name, await self.load(name))
                except asyncio.CancelledError:
                    raise
                except BaseException as error:  # a panic of the tokenizer is not an Exception
                    failed[name] = _reason(error)
                    print(f"{name} was not reloaded; the old version stays in use: {failed[name]}", file=sys.stderr,
                          flush=True)
            if done := [name for name in self.names if name not in failed]:
                print(f"reloaded: {', '.join(done)}", file=sys.stderr, flush=True)
        return failed


def _reason(error: BaseException) -> str:
    """The error in one line."""
    return " ".join((str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}").split())


class Reloaded(BaseModel):
    reloaded: list[str] = Field(description="names of the models")


def reload_router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["server"])

    @routes.post("/reload", summary="Reload the models", dependencies=key_wanted(service),
                 description="Requires an API key that the setting `may_reload` names. The response comes once every "
                 "model is loaded. Requests in progress end with the model that they started with. Status 500 names "
                 "the models that cannot be loaded; the server then keeps their old versions.")
    async def reload(request: Request) -> Reloaded:
        caller = service.access.authenticate(request)
        if caller.account not in service.settings.may_reload:  # names of keys: nobody may where there are none
            raise APIError(403, "may_not_reload", "reloading needs an API key that the setting may_reload names")
        service.check_ready()
        if service.reload is None:
            raise APIError(501, "no_reload", "behind Ray, models are reloaded by deploying the application again")
        names = [*service.models]
        if failed := await service.reload():
            reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
            raise APIError(500, "reload_failed", f"not reloaded; the old versions stay in use: {reasons}")
        return Reloaded(reloaded=names)

    return routes
