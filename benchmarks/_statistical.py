"""Runs the statistical aligner eflomal (Östling and Tiedemann 2016), and symmetrises its two directions.

It is licensed under the GPL and not part of Seq2See: install it anywhere (`pip install eflomal`, which compiles), and
set EFLOMAL=/path/to/eflomal-align if it is not on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from seq2see.tokenizer.links import Link, read_pharaoh
from seq2see.tokenizer.words import split_words

NEIGHBOURS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def find_eflomal() -> str | None:
    """The program, or None if it is not installed."""
    beside = Path(sys.executable).with_name("eflomal-align")
    return os.environ.get("EFLOMAL") or shutil.which("eflomal-align") or (str(beside) if beside.is_file() else None)


def both_directions(
    program: str, sources: Sequence[str], targets: Sequence[str], *, languages: tuple[str, str]
) -> tuple[list[frozenset[Link]], list[frozenset[Link]]]:
    """Links of each pair, learnt from these pairs alone: one source word per target word, and in reverse.

    Words are those of `split_words`; eflomal lower-cases them itself.
    """
    with tempfile.TemporaryDirectory() as scratch:
        files = {name: Path(scratch) / name for name in ("source", "target", "forward", "reverse")}
        for name, texts, language in zip(("source", "target"), (sources, targets), languages, strict=True):
            lines = (" ".join(word.text.replace(" ", "_") for word in split_words(text, language=language))
                     for text in texts)
            files[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        options = zip(("-s", "-t", "-f", "-r"), map(str, files.values()), strict=True)
        command = [program, *(word for option in options for word in option)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        forward, reverse = ([links.sure for links in read_pharaoh(files[name])] for name in ("forward", "reverse"))
    return forward, reverse


def symmetrised(forward: frozenset[Link], reverse: frozenset[Link]) -> dict[str, frozenset[Link]]:
    """The usual symmetrisations (Koehn et al. 2003), and each direction alone."""
    return {
        "forward": forward,
        "reverse": reverse,
        "intersection": forward & reverse,
        "union": forward | reverse,
        "grow-diag-final-and": grow_diag_final_and(forward, reverse),
    }


def grow_diag_final_and(forward: frozenset[Link], reverse: frozenset[Link]) -> frozenset[Link]:
    """Grow the intersection by neighbours from the union that link an unlinked word; finally add links of either
    direction whose words are both unlinked."""
    links, union = set(forward & reverse), forward | reverse
    grown = True
    while grown:
        grown = False
        for i, j in sorted(links):
            for di, dj in NEIGHBOURS:
                new = (i + di, j + dj)
                if new in union and new not in links and (_free(new, links, 0) or _free(new, links, 1)):
                    links.add(new)
                    grown = True
    for direction in (forward, reverse):
        for new in sorted(direction):
            if _free(new, links, 0) and _free(new, links, 1):
                links.add(new)
    return frozenset(links)


def _free(link: Link, links: Iterable[Link], side: int) -> bool:
    return all(link[side] != other[side] for other in links)
