"""JSON files of strangers, read in bounds."""

import json
from pathlib import Path
from typing import Any

from seq2see.errors import UserError

MOST_BYTES = 2**26  # the largest vocabularies of published models take half of that


def read_json(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds, in bounds; UserError for anything else."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(f"{path} has {path.stat().st_size:,} bytes; expected at most {MOST_BYTES:,}")
        found = json.loads(path.read_text("utf-8"))
    except RecursionError as error:
        raise UserError(f"{path} is not valid JSON: it is nested too deeply") from error
    except (ValueError, OSError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is not valid JSON: {str(error).partition(chr(10))[0][:200]}") from error
    if not isinstance(found, dict):
        raise UserError(f"{path} holds a {type(found).__name__}, expected an object")
    return found
