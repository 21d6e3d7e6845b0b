"""The API's documentation as one page, made from its OpenAPI document: FastAPI's own would load a script from a CDN."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment

from .ui.files import text_of


def docs_page(document: Mapping[str, Any]) -> str:
    """HTML, with nothing to load and nothing to run."""
    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["as_argument"] = lambda example: shlex.quote(json.dumps(example, ensure_ascii=False))
    return environment.from_string(text_of("docs.html")).render(document)
