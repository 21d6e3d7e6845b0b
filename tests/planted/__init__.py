"""Faults that the tests must notice: realistic slips, each against a law.  `tests/seed_faults.py` plants them.

A fault replaces a name of the package while pytest runs, so renaming or rewriting what is inside a function leaves it
valid.  Its function is called with the original in front of the arguments:

    @fault("the encoder sees padding", "modeling.modeling_seq2see:create_bidirectional_mask", "modeling")
    def _(original, config, embeddings, mask, **others):
        return original(config, embeddings, None, **others)

This package is a pytest plug-in too: with `-p planted` it plants the fault that SEQ2SEE_FAULT names.
"""

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SUBJECTS = ("modeling", "tokenizer", "translate", "lens", "training", "serve", "page", "cli", "storybook", "package")


@dataclass(frozen=True)
class Fault:
    """`target` is `module:name` or `module:Class.name`; of `tests`, files or tests in `tests/`, one must fail."""

    name: str
    target: str
    tests: str
    slip: Any  # a function, as above, or the value of a constant

    def find(self) -> tuple[Any, str, Any]:
        """The module or class, the name in it, and what has this name."""
        module, _, path = self.target.partition(":")
        *classes, name = path.split(".")
        owner = functools.reduce(getattr, classes, importlib.import_module(f"seq2see.{module}"))
        return owner, name, inspect.getattr_static(owner, name)


FAULTS: list[Fault] = []


def fault(name: str, target: str, tests: str) -> Callable[[Any], Any]:
    return lambda slip: FAULTS.append(Fault(name, target, tests, slip))


def all_faults() -> list[Fault]:
    for subject in SUBJECTS:
        importlib.import_module(f"{__name__}.{subject}")
    return FAULTS


def plant(one: Fault) -> None:
    """Replace the target; if it is a module's own, also where other modules have imported it by name."""
    owner, name, original = one.find()
    replacement = _planted(original, one.slip) if callable(one.slip) else one.slip
    setattr(owner, name, replacement)
    if getattr(original, "__module__", None) == getattr(owner, "__name__", ""):
        for module in [module for place, module in sys.modules.items() if place.startswith("seq2see")]:
            if vars(module).get(name) is original:
                setattr(module, name, replacement)


def _planted(original: Any, slip: Callable[..., Any]) -> Any:
    if isinstance(original, property | functools.cached_property):
        getter = original.fget if isinstance(original, property) else original.func
        return property(lambda self: slip(getter, self))
    method = isinstance(original, classmethod | staticmethod)
    inner = original.__func__ if method else original

    @functools.wraps(inner)
    def planted(*args: Any, **kwargs: Any) -> Any:
        return slip(inner, *args, **kwargs)

    return type(original)(planted) if method else planted


def pytest_sessionstart() -> None:
    """Not before, since `tests/conftest.py` prepares the environment that torch is imported in."""
    plant(next(one for one in all_faults() if one.name == os.environ["SEQ2SEE_FAULT"]))
