"""The tab Learn: the lessons, where they have been run; else how to run them, and their progress.

The lessons are run by `seq2see lessons` in a process of its own, which leaves a record that is read here.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from seq2see.pretrained import is_packaged
from ...lens.wording import printable
from ..errors import APIError
from ..service import Service
from .adapter import Start, page_errors, read
from .components.lessons import lessons_list

LESSONS = [sys.executable, "-m", "seq2see", "lessons"]
LINES = 12  # of what the running lessons say, that are shown
SECONDS = 2.0  # between two looks at it


class Look(Start):
    """What a lesson's "try it" opens: its text, and the map."""

    text: str


class Running:
    """A run of the lessons, one at a time."""

    def __init__(self, command: Sequence[str]):
        self.command = list(command)
        self.said: deque[str] = deque(maxlen=LINES)
        self._process: subprocess.Popen[str] | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        if self.running:
            return
        self.said.clear()
        self._process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True, errors="replace")
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr
        for line in process.stderr:
            self.said.append(printable(line.rstrip()))


def build_learn(service: Service, tab: gr.Tab, open_look: Callable[[dict[str, Any]], Any], outputs: list[Any]) -> None:
    """In its tab.  `open_look` gives, for a text and a start, what the `outputs` are to be told."""
    folder = Path(service.settings.lessons)
    command = [*LESSONS, "--out", str(folder)]
    running = Running(command)
    service.at_end.append(running.stop)

    def show() -> tuple[Any, Any]:
        value = read_lessons(folder, running, may_run=service.settings.run_lessons, ready=service.ready)
        return gr.update(value=value), gr.update(active=running.running or not service.ready)

    def run(request: gr.Request) -> tuple[Any, Any]:
        with page_errors("Not run"):
            service.access.caller(request)
            if not service.settings.run_lessons or not service.ready:
                raise APIError(400, "not_run", "The lessons cannot be run from this page now.")
        first = next(iter(service.models.values())).folder
        running.command = [*command, *(["--run", str(first)] if first and not is_packaged(first) else [])]
        running.start()
        return show()

    def look(event: gr.EventData) -> Any:
        with page_errors():
            asked = read(Look, event._data)
        return open_look({"text": asked.text, "start": asked.model_dump(exclude={"text"})})

    timer = gr.Timer(SECONDS, active=False)
    lessons = lessons_list(elem_id="lessons")
    gr.on([tab.select, timer.tick], show, None, [lessons, timer], show_progress="hidden", queue=False,
          api_visibility="private")
    lessons.run(run, None, [lessons, timer], show_progress="hidden", queue=False, api_visibility="private")
    lessons.look(look, None, outputs, show_progress="hidden", queue=False, api_visibility="private")


def read_lessons(folder: Path, running: Running, *, may_run: bool, ready: bool) -> dict[str, Any]:
    """The record that a run left, without the figures that nobody reads here; or what becomes of the run.

    `may_run`: the operator lets the page run them; `ready`: there is a model to run them on.
    """
    path = folder / "lessons.json"
    state = {"running": running.running, "said": list(running.said), "may_run": may_run, "ready": ready,
             "command": shlex.join(["seq2see", "lessons", "--out", str(folder)])}
    if running.running:
        return state
    try:
        record = json.loads(path.read_text("utf-8"))
        for lesson in record["lessons"]:
            del lesson["result"]
        return {"stamp": path.stat().st_mtime, "record": record}
    except (OSError, ValueError, KeyError, TypeError):  # none, or one of another version
        return state
