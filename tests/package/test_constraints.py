"""constraints.txt is what uv.lock says, and this environment has its versions."""

import subprocess
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from uv import find_uv_bin

ROOT = Path(__file__).resolve().parent.parent.parent
CONSTRAINTS = ROOT / "constraints.txt"


def test_the_constraints_are_those_of_the_lock(tmp_path: Path) -> None:
    command = CONSTRAINTS.read_text("utf-8").splitlines()[1].removeprefix("#").split()
    assert command[:2] == ["uv", "export"] and command[-2] == "-o"
    made = tmp_path / "constraints.txt"
    # --locked is among them: the lock is that of pyproject.toml
    options = [*command[1:-1], str(made), "--offline", "--no-cache"]
    subprocess.run([find_uv_bin(), *options], cwd=ROOT, capture_output=True, check=True)
    assert made.read_text("utf-8").splitlines()[2:] == CONSTRAINTS.read_text("utf-8").splitlines()[2:], "make lock"


def test_what_is_installed_is_at_its_pin() -> None:
    """PyTorch, which pip installs, as well: another build of the pinned version satisfies the pin."""
    lines = [line for line in CONSTRAINTS.read_text("utf-8").splitlines() if not line.startswith("#")]
    pins = {canonicalize_name(pin.name): pin.specifier for pin in map(Requirement, lines)}
    installed = {canonicalize_name(one.name): one.version for one in distributions()}
    assert {"torch", "transformers", "gradio"} <= set(installed) & set(pins)
    assert not {name: found for name, found in installed.items() if name in pins and found not in pins[name]}
