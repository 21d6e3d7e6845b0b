"""Two changes to Gradio itself, for which Gradio 6.31 has no setting."""

import json
import logging
import sys
from types import SimpleNamespace
from typing import Any

import gradio.queueing
import gradio.routes

log = logging.getLogger("seq2see.serve")


def _log_failure() -> None:
    log.error("a call of the page failed: %s", type(sys.exc_info()[1]).__name__)


# Gradio prints tracebacks of failures before a handler is called, and they quote the caller.
gradio.routes.traceback = gradio.queueing.traceback = SimpleNamespace(print_exc=_log_failure)


def answer_in_json(tools: Any) -> None:
    """Gradio's MCP server writes a result as Python's repr; clients need JSON."""
    written = tools.postprocess_output_data
    tools.postprocess_output_data = lambda data, root_url: written(
        [json.dumps(one, ensure_ascii=False) for one in data], root_url)
