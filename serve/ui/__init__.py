"""The page at /ui: Gradio, offline, in the server's process.  `page.py` builds it around the explorer, whose scripts
and styles come from `lens`.

Nothing is computed here: content comes from `service.translate` and `service.examine`, which run in the service's own
threads, within its limits.  Gradio runs a handler for anyone who can reach the port, whatever the page shows, so each
handler checks its input.  Text goes to the browser as data that JavaScript sets as text, never through a Gradio
template: those evaluate `${...}` in a value as code, even if it is escaped.
"""

import inspect
import os
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: nothing leaves this machine


def import_gradio() -> None:
    """Import Gradio without the type stubs that it writes beside its components: a third of the import time, and
    site-packages may be read-only.  It skips classes whose file is unknown."""
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
