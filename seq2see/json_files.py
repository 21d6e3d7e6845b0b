"""Reads untrusted JSON files within bounds."""

import json
from pathlib import Path
from typing import Any

from seq2see.errors import UserError

MAX_BYTES = 2**26  # twice the largest vocabulary of a published model


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; UserError if it is invalid, too large or not an object."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UserError(f"{path} has {path.stat().st_size:,} bytes; expected at most {MAX_BYTES:,}")
        found = json.loads(path.read_text("utf-8"))
    except RecursionError as error:
        raise UserError(f"{path} is not valid JSON: nested too deeply") from error
    except (ValueError, OSError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is not valid JSON: {str(error).partition(chr(10))[0][:200]}") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} contains a {type(found).__name__}; expected an object")
    return found
