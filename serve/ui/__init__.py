"""The page at /ui: Gradio, offline, in the server's process.  `page.py` puts it together, one module a tab; each
element of our own lies in `components/`, as a function of Python with its JavaScript and CSS beside it.

Nothing is computed here: what is shown comes from `service.translate` and `service.examine`, which runs what `lens` has
in the service's own thread, under its limits.  Gradio runs a handler for anybody who can reach the port, whatever the
page shows, so each checks what it is given.  Text goes to the browser as data that JavaScript sets as text, never
through a Gradio template: those evaluate `${...}` in a value as code, also where the value is escaped.
"""

import inspect
import os
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: nothing leaves this machine


def import_gradio() -> None:
    """Import Gradio, which would write type stubs beside its components each time: a third of its import, and nothing
    in site-packages need be writable.  It leaves out classes of which no file is known."""
    file_of = inspect.getfile

    def getfile(of: Any) -> str:
        if isinstance(of, type) and of.__module__.startswith("gradio."):
            raise OSError("no stubs")
        return file_of(of)

    inspect.getfile = getfile  # type: ignore[assignment]
    try:
        import gradio  # noqa: F401
    finally:
        inspect.getfile = file_of
