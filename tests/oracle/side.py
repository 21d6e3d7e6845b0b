"""One tree under observation: its command line, a private copy of the model, and what must be masked in its output."""

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Records = Iterator[tuple[str, Any]]
PAIRS = [tuple(line.split("\t")) for line in
         Path(__file__).with_name("pairs.tsv").read_text("utf-8").splitlines()[1:]]  # of the storybook's test set
VARIES = [  # what no two calls agree on
    (r"\S+\.py:\d+", "<line of code>"),
    (r"\b0x[0-9a-f]+", "<address>"),
    (r"(?:reading|tokenizing).*: [\d,]+(?: of [\d,]+)?\n|  \S+ left\b", ""),  # told when it takes long
    (r'("(?:trainer_state.json|of_these_sums)": )"\w+"', r"\1<checksum>"),  # of times
    (r"\b\d+:\d\d:\d\d\b", "<time>"),
    (r"\b\d[\d.,]* (?:ms|s|min|seconds|minutes)\b", "<time>"),
    (r'"seconds": [\d.]+', '"seconds": <time>'),
    (r"\b[\d,]+ target tokens/s", "<speed>"),
    (r"(runtime) [\d.]+", r"\1 <time>"),
    (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?", "<date>"),
]


@dataclass(frozen=True)
class Side:
    """`run` is a model of this side's own; `made` holds what the baseline wrote, and both sides only read."""

    tree: Path
    run: Path
    made: Path
    scratch: Path

    def call(self, *arguments: str) -> dict[str, Any]:
        """What a command says, and its exit code."""
        command = [sys.executable, "-m", "seq2see", *as_named(self.tree, arguments)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        return {"code": done.returncode, "out": done.stdout.decode(), "err": done.stderr.decode()}

    def masked(self, value: Any) -> Any:
        """The value with every text in it rid of this side's folders, of times and of ports."""
        if isinstance(value, dict):
            return {self.masked(key): self.masked(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return list(map(self.masked, value))
        return self._masked(value) if isinstance(value, str) else value

    def _masked(self, text: str) -> str:
        places = {sys.prefix: "<python>", self.scratch: "<scratch>", self.made: "<made>", self.tree: "<tree>"}
        for place, name in places.items():
            text = text.replace(str(place), name)
        for pattern, name in VARIES:
            text = re.sub(pattern, name, text)
        return text

    def copy(self, folder: Path, name: str) -> Path:
        """Another copy of a model for this side to write into."""
        return Path(shutil.copytree(folder, self.scratch / name, ignore=shutil.ignore_patterns("ctranslate2-*")))

    def files(self, place: Path) -> dict[str, str]:
        """A file, or every file below a folder: weights by their checksum."""
        paths = sorted(place.rglob("*")) if place.is_dir() else [place]
        return {path.relative_to(place).as_posix(): self._content(path) for path in paths if path.is_file()}

    def _content(self, path: Path) -> str:
        if path.suffix == ".safetensors":
            return tensors(path)
        if path.suffix in {".pt", ".pth", ".png"} or path.name == "trainer_state.json":
            return "<not compared>"
        return path.read_bytes().decode(errors="replace")


def as_named(tree: Path, arguments: Iterable[str]) -> list[str]:
    """A command's arguments as this tree names its settings."""
    earlier = "\ngeneration:" not in (tree / "configs" / "reference.yaml").read_text("utf-8")
    return [one.replace("generation.", "evaluation.") if earlier else one for one in arguments]


def tensors(path: Path) -> str:
    """The checksum of all weights, with their names."""
    from safetensors.numpy import load_file

    data = b"".join(name.encode() + array.tobytes() for name, array in sorted(load_file(path).items()))
    return hashlib.sha256(data).hexdigest()


def attributes(thing: Any, names: str) -> dict[str, Any]:
    """The public attributes of a result, which is told apart from another type by nothing else."""
    return {name: getattr(thing, name) for name in names.split()}


def outcome(function: Callable[[], Any]) -> Any:
    """What a call gives, or how it refuses."""
    try:
        return function()
    except Exception as error:
        return {"refused": type(error).__name__, "message": str(error)}
