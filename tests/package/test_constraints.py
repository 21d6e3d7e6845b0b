"""constraints.txt pins everything that the package and its extras ask for, and this environment has those versions."""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ASKED = [Requirement(line) for lines in (PROJECT["dependencies"], *EXTRAS.values()) for line in lines]
LINES = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
PINS = {canonicalize_name(pin.name): pin for pin in map(Requirement, LINES)}


def pinned_version(name: str) -> str:
    (specifier,) = PINS[canonicalize_name(name)].specifier
    assert specifier.operator == "=="
    return specifier.version


def test_each_dependency_is_pinned_once_within_what_is_asked_for() -> None:
    assert not [one for one in ASKED if not one.specifier.contains(pinned_version(one.name))]
    assert len(PINS) == len(LINES)
    this = ".".join(map(str, sys.version_info[:3]))
    assert Requirement(f"x{PROJECT['requires-python']}").specifier.contains(this)


def test_what_the_pinned_packages_ask_for_is_pinned_too() -> None:
    """Followed through what is installed here; `torch` alone may be another build of the pinned version."""
    seen: set[str] = set()
    queue = [(canonicalize_name(one.name), frozenset(one.extras)) for one in ASKED]
    while queue:
        name, extras = queue.pop()
        if name in seen and not extras:
            continue
        seen.add(name)
        assert name in PINS, f"{name} has no pin"
        try:
            assert version(name).partition("+")[0] == pinned_version(name), f"{name} is not at its pin"
        except PackageNotFoundError:
            continue  # an extra that is not installed here, or a package of another platform
        for wanted in map(Requirement, requires(name) or []):
            wants = wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in (extras or {""}))
            if wants and canonicalize_name(wanted.name) not in seen:
                queue.append((canonicalize_name(wanted.name), frozenset(wanted.extras)))
    assert {"numpy", "safetensors", "starlette"} <= seen


@pytest.mark.parametrize(("name", "extras"), [
    ("use", ["serve", "fast"]), ("dev", ["serve", "fast", "lora", "tensorboard", "mcp", "dev"]), ("docs", ["docs"]),
])  # fmt: skip
def test_what_make_installs_is_checked_by_hash_at_its_pin(name: str, extras: list[str]) -> None:
    """All but torch and what its builds bring: see lock.py.  The docs are installed beside one of the others."""
    text = (ROOT / f"requirements-{name}.txt").read_text("utf-8")
    blocks = re.findall(r"^(\w.*?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE)
    assert len(blocks) == len(re.findall(r"^\w", text, re.MULTILINE))
    locked = {canonicalize_name(one.name): one for one in (Requirement(line) for line, _ in blocks)}
    for package, requirement in locked.items():
        if package in PINS:
            assert requirement.specifier == PINS[package].specifier
        else:
            assert "emscripten" in str(requirement.marker)
    asked = [line for extra in extras for line in EXTRAS[extra]] + PROJECT["dependencies"] * (name != "docs")
    without = {canonicalize_name(Requirement(line).name) for line in asked} - set(locked)
    assert without == ({"torch"} if name != "docs" else set())
