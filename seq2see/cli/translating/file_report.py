"""Remarks on translated texts, on stderr and in the file of `--report`."""

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from seq2see.atomic import atomic_write
from seq2see.streams import printable
from seq2see.tokenizer.language_codes import language_name
from seq2see.translate.remarks import Remarks


def print_remarks(remarks: Remarks, *, source: str = "") -> None:
    """Print them; `source` is the language that the texts were read as, if the model says it."""
    lines = [*remarks.lines(), *([seems] if source and (seems := _in_another_language(remarks, source)) else [])]
    for line in lines:
        print(printable(line), file=sys.stderr)


def _in_another_language(remarks: Remarks, source: str) -> str | None:
    """That the texts are in another language.  None also without doubts, since the detector takes half a second to
    load, and where it is not installed (`serve`)."""
    if not remarks.doubtful or find_spec("py3langid") is None:
        return None
    from seq2see.serve.language_detection import UNDETERMINED, other_language

    other = other_language(remarks.sample, source)
    if other is None:
        return None
    seems = f"not to be {language_name(source)}" if other == UNDETERMINED else f"to be {language_name(other)}"
    return (f"{remarks.of}the text seems {seems}, and was read as {language_name(source)}: name a model that reads its"
            " language")


def write_report(path: str, files: Sequence[dict[str, Any]]) -> None:
    """Write what became of each file as JSON."""
    atomic_write(Path(path), json.dumps({"files": files}, ensure_ascii=False, indent=1).encode() + b"\n")
