"""All that is changed in Gradio itself, and why: Gradio 6.31 has no setting for either."""

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


# Gradio prints tracebacks of what fails before a handler is called, and its messages quote what the caller sent.
gradio.routes.traceback = gradio.queueing.traceback = SimpleNamespace(print_exc=_log_failure)


def answer_in_json(tools: Any) -> None:
    """Gradio's MCP server writes a result as Python's repr; clients need JSON."""
    written = tools.postprocess_output_data
    tools.postprocess_output_data = lambda data, root_url: written(
        [json.dumps(one, ensure_ascii=False) for one in data], root_url)
