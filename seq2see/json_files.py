"""Reads untrusted JSON files within bounds."""

import json
from pathlib import Path
from typing import Any

from seq2see.errors import UserError

MAX_BYTES = 2**26  # twice the largest vocabulary of a published model


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; UserError if it is invalid, too large or not an object."""
    if (size := path.stat().st_size) > MAX_BYTES:
        raise UserError(f"{path} has {size:,} bytes; expected at most {MAX_BYTES:,}")
    try:
        found = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # RecursionError: nested too deeply
        raise UserError(f"{path} is not valid JSON: {str(error).partition(chr(10))[0][:200]}") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} contains a {type(found).__name__}; expected an object")
    return found
