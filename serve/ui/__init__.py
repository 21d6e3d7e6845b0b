"""Two pages, offline, in the server's process.  / is the explorer of `webpage` (`document.py`); /ui is Gradio's
(`page.py`), with the explorer in a component and functions for Gradio clients and MCP (`api.py`).  `first.py` chooses
what they show first.

Nothing is computed here: the explorer asks `/v1`, or without it `api.py`, which calls the service under its limits.
Gradio runs a handler for anybody who can reach the port, whatever the page shows, so each checks its input.  Text goes
to the browser as data that JavaScript sets as text, never through a Gradio template: templates evaluate `${...}` in a
value as code, even where the value is escaped.

Imports serve, apis and webpage.
Begin with `document.py`.
"""

import inspect
import os
from importlib.resources import files
from typing import Any

from seq2see.importing import IMPORTS

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: nothing leaves this machine


def text_of(name: str) -> str:
    """The text of a file of the page."""
    return files("seq2see.serve.ui").joinpath(name).read_text(encoding="utf-8")


def import_gradio() -> None:
    """Import Gradio without the type stubs that it writes beside its components each time: they take a third of its
    import, and site-packages may be read-only.  Gradio skips classes whose file is unknown."""
    file_of = inspect.getfile

    def getfile(of: Any) -> str:
        if isinstance(of, type) and of.__module__.startswith("gradio."):
            raise OSError("no stubs")
        return file_of(of)

    inspect.getfile = getfile  # type: ignore[assignment]
    try:
        with IMPORTS:
            import gradio  # noqa: F401
    finally:
        inspect.getfile = file_of
