"""The vocabulary shortlist of a run (`shortlist.json`, written by training) as CTranslate2 reads it.

It is a text file whose lines name a source token, and after a tab the target tokens that it may become, parted by
spaces; the line of no source token names those that are always candidates.  So a token may hold no space.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from seq2see.errors import UserError

FILE = "shortlist.json"
# No two tokens get one name.
_NAMES = str.maketrans({" ": "▁", "▁": "\\▁", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def spaceless(token: str) -> str:
    """What CTranslate2 is told a token is called."""
    return token.translate(_NAMES)


def write_vocabulary_map(run: Path, tokens: Sequence[str], path: Path) -> bool:
    """Write the run's shortlist to `path`; False where it has none, UserError where it makes no sense."""
    try:
        content = json.loads((run / FILE).read_text("utf-8"))
        rows = [("", content["always"]), *((tokens[int(key)], ids) for key, ids in content["candidates"].items())]
        named = [(spaceless(source), [spaceless(tokens[id]) for id in ids]) for source, ids in rows]
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UserError(f"{run / FILE} is no shortlist of this vocabulary; remove it") from error
    path.write_text("".join(f"{source}\t{' '.join(targets)}\n" for source, targets in named if targets), "utf-8")
    return True
