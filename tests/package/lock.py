"""Write the hashes of what `make` installs, at the pins of constraints.txt: requirements-use.txt, requirements-dev.txt
and, for the site, requirements-docs.txt.

    uv pip install uv && python tests/package/lock.py        # needs uv and the network

torch is left out, and what only its CUDA builds bring: which build is right depends on the machine, and the index of
PyTorch's own builds is another one.  `make` installs it by its pin.  Everything else is checked by hash.
"""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXTRAS = {"use": ["serve", "fast"], "dev": ["serve", "fast", "lora", "tensorboard", "mcp", "dev"]}
HEAD = "# Made by tests/package/lock.py: `make` installs these, with --require-hashes, before torch.\n"


def main() -> None:
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    of_torch = ["torch", *re.findall(r"^((?:nvidia|cuda|triton)[\w-]*)==", pins, re.MULTILINE)]
    left_out = [part for package in of_torch for part in ("--no-emit-package", package)]
    for name, extras in EXTRAS.items():
        asked = [part for extra in extras for part in ("--extra", extra)]
        lock(name, "pyproject.toml", "-", *asked, *left_out, given="setuptools>=77\n")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lock("docs", "-", given="\n".join(project["optional-dependencies"]["docs"]))  # beside the others


def lock(name: str, *what: str, given: str) -> None:
    made = subprocess.run(
        ["uv", "pip", "compile", "--quiet", "--no-config", "--universal", "--python-version", "3.11.5",
         "--generate-hashes", "--no-annotate", "--no-header", "--constraint", "constraints.txt",
         "--default-index", "https://pypi.org/simple", *what],
        cwd=ROOT, input=given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (ROOT / f"requirements-{name}.txt").write_text(HEAD + made.stdout, "utf-8")


if __name__ == "__main__":
    main()
