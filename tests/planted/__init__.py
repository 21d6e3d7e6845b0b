"""Realistic slips, each against a law: with any of them in place, a test must fail.  `tests/seed_faults.py` tries them.

The name of a function says what is wrong.  It is called instead of the function that `@fault` names, which it gets in
front of the arguments:

    @fault("modeling.attention.attend", "modeling/test_attention_laws.py")
    def scores_are_not_scaled(original, *tensors, scaling, **how):
        return original(*tensors, scaling=1.0, **how)

So a fault stays valid while the inside of a function is rewritten.  It can also replace a method, a property or a
constant.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    target: str  # what it replaces, without `seq2see.`
    tests: tuple[str, ...]  # files in tests/, of which one must fail
    slip: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.slip.__name__

    def find(self) -> tuple[Any, str, Any]:
        """The module or class that has the target, its name there, and the target; KeyError if it is gone."""
        home, _, name = f"seq2see.{self.target}".rpartition(".")
        owner = pkgutil.resolve_name(home)
        return owner, name, vars(owner)[name]


FAULTS: list[Fault] = []


def fault(target: str, *tests: str) -> Callable[[Any], None]:
    """Adds the function below it to the list."""
    return lambda slip: FAULTS.append(Fault(target, tests, slip))


def all_faults() -> list[Fault]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return FAULTS
