"""`/v1/lessons`: the record of the lessons (`lessons/record.py`), from a run on this machine or else from the package.

`seq2see lessons` runs them in a separate process and writes its record to the folder in the settings.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from seq2see.folders import LESSONS_FORMAT, LESSONS_RECORD, packaged_lessons
from seq2see.pretrained import is_packaged
from seq2see.streams import printable
from ..api_errors import APIError
from ..service import Service
from .bodies import Body, JSONRoute, key_wanted

COMMAND = [sys.executable, "-m", "seq2see", "lessons"]
LINES = 12  # of the running lessons' output, shown on the page


class LessonsBody(Body):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"run": False}]})

    run: bool = Field(default=False, description="run the lessons on the first model, if the operator allows it")


class LessonsReply(BaseModel):
    record: dict[str, Any] | None = Field(description="the record of all lessons; null during a run")
    own: bool = Field(description="true: the record is from a run on this machine, not from the package")
    running: bool = Field(description="whether a run is in progress")
    said: list[str] = Field(description="the last lines of the run's output")
    may_run: bool = Field(description="whether the operator allows runs")


class Lessons:
    """The lessons of one server; at most one run at a time."""

    def __init__(self, service: Service):
        self.service = service
        self.folder = Path(service.settings.lessons)
        self._log = self.folder / "lessons.log"
        self._process: subprocess.Popen[bytes] | None = None
        service.at_end.append(self.stop)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def reply(self) -> LessonsReply:
        running = self.running
        own = None if running else own_record(self.folder / LESSONS_RECORD)
        record = None if running else own or json.loads(gzip.decompress(packaged_lessons()))
        lines = self._log.read_text("utf-8", "replace").splitlines()[-LINES:] if self._process else []
        return LessonsReply(record=record, own=own is not None, running=running, said=list(map(printable, lines)),
                            may_run=self.service.settings.run_lessons)

    def start(self) -> None:
        """Start a run; raises APIError if the server does not allow it."""
        if not self.service.settings.run_lessons or not self.service.ready:
            raise APIError(400, "not_run", "the lessons cannot run: the setting run_lessons is off, or the model is"
                           " still loading")
        if self.running:
            return
        first = next(iter(self.service.models.values())).folder
        chosen = ["--run", str(first)] if first and not is_packaged(first) else []
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen([*COMMAND, "--out", str(self.folder), *chosen], stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=log)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()


def own_record(path: Path) -> dict[str, Any] | None:
    """The record of a run on this machine; None if there is none, or if it is damaged or of another version."""
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("format") == LESSONS_FORMAT else None


def router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["Seq2See"], route_class=JSONRoute)
    lessons = Lessons(service)

    @routes.post("/lessons", summary="Read the record of the lessons, or start a run", dependencies=key_wanted(service))
    async def read(body: LessonsBody, request: Request) -> LessonsReply:
        service.access.authenticate(request)
        if body.run:
            lessons.start()
        return await asyncio.to_thread(lessons.reply)

    return routes
