"""Section: what each command of commands.txt prints, returns and writes, used well and used badly."""

import json
import shlex
import shutil
from pathlib import Path

from side import PAIRS, Records, Side
from traces import with_arrays

SOURCES, TARGETS = ("".join(f"{text}\n" for text in side) for side in zip(*PAIRS[:60], strict=True))
COLUMNS = "".join(f"{source}\t{target}\n" for source, target in PAIRS[:20])
FILES = {
    "lines": "The cat slept.\n\nThe 3 zebras.\n<b>The cat</b>\n  \nThe cat is tired. The owl saw it.\nAn owl.",
    "columns": COLUMNS, "long": "a" * 20_000, "latin-1": b"The cat.\nb\xe9\nAn owl.\n",
    "p.tsv": f"en\tfr\n{COLUMNS}", "bad.tsv": "en\tfr\nThe cat.\n", "two.tsv": "en\tfr\nA cat.\tUn chat.\nOne.\tUn.\n",
    "a.en": SOURCES, "a.fr": TARGETS, "short.fr": "Le chat.\n", "links": "0-0 1-1\n" * 60, "bad.links": "0-0 x\n" * 60,
    "bad.yaml": "data: [\n", "key.yaml": "port: 1\n", "odd.yaml": "data: {path: p.tsv, sauce: en}\n", "full/file": "",
}  # fmt: skip


def record(side: Side) -> Records:
    for name in ("empty", "full"):
        Path(name).mkdir()
    for name, text in FILES.items():
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    shutil.copy(side.made / "pairs.tsv", ".")
    side.copy(side.run, "copy")
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()[3:]:
        command, _, stdin = line.partition(" < ")
        yield line, side.call(*shlex.split(command), stdin=Path(stdin).read_bytes() if stdin else b"")
    for name in ("heads.json", "copy/alignment.json"):
        yield f"written {name}", with_arrays(json.loads(Path(name).read_text("utf-8")))
    for name in ("lessons", "out-int8", "out-endpoint", "look.html", "parts-1.svg"):
        yield f"written {name}", side.files(side.scratch / name)
