"""Remarks on translated texts, on stderr and in the file of `--report`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seq2see.atomic import atomic_write
from seq2see.streams import printable
from seq2see.translate.remarks import Remarks


def print_remarks(remarks: Remarks) -> None:
    for line in remarks.lines():
        print(printable(line), file=sys.stderr)


def write_report(path: str, files: Sequence[dict[str, Any]]) -> None:
    """Write what became of each file as JSON."""
    atomic_write(Path(path), json.dumps({"files": files}, ensure_ascii=False, indent=1).encode() + b"\n")
