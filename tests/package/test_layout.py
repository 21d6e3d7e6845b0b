"""The layout's laws: which folder may import which, and that each can be had only as a part of `seq2see`."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# What each folder may import of ours.  `errors`, `cores`, `folders`, `manifest`, `streams`, `vetting` and `whole` are
# files of seq2see/ that need no library.
MAY_IMPORT = {
    "modeling": {"modeling"},
    "tokenizer": {"tokenizer", "modeling", "errors"},
    "training": {
        "training", "tokenizer", "modeling", "errors", "folders", "cores", "manifest", "vetting", "whole", "configs",
    },
    "lens": {"lens", "tokenizer", "modeling", "errors", "whole"},
    "lessons": {
        "lessons", "training", "lens", "tokenizer", "modeling", "align", "errors", "gold", "whole", "__version__",
    },
    "serve": {
        "serve", "lens", "tokenizer", "modeling", "errors", "cores", "folders", "manifest", "streams", "vetting",
        "whole", "__version__",
    },
    "configs": set(),
}
# Where the folder's rule is not the whole story.
EXCEPTIONS = {
    "modeling/loading.py": {"modeling", "errors", "folders", "vetting"},  # save_pretrained does not ship it
    "seq2see/__init__.py": {"serve", "lens", "tokenizer", "modeling"},  # the lazy names, for type checkers
    "seq2see/__main__.py": {"cli"},
    "seq2see/cli.py": {"errors", "verbs"},
    "seq2see/align.py": {"errors", "gold", "training", "serve", "lens", "streams", "tokenizer", "trust"},
    "seq2see/cores.py": set(),
    "seq2see/demo.py": {"errors", "learning", "training", "serve"},
    "seq2see/env.py": {""},
    "seq2see/gold.py": {"training", "lens", "tokenizer"},  # the corpus, as the lens wants it
    "seq2see/heads.py": {"errors", "gold", "heads_table", "training", "lens", "serve", "whole"},
    "seq2see/heads_table.py": {"lens"},
    "seq2see/learner.py": {"align", "errors", "gold", "learning", "lens", "serve", "training", "whole"},
    "seq2see/learning.py": {"errors", "lens", "training"},
    "seq2see/trust.py": {"align", "errors", "gold", "lens", "serve", "tokenizer"},
    "seq2see/errors.py": set(),
    "seq2see/folders.py": {"errors"},
    "seq2see/manifest.py": {"errors"},
    "seq2see/streams.py": {"errors"},
    "seq2see/verbs.py": {"__version__"},
    "seq2see/whole.py": set(),
    "seq2see/vetting.py": {"errors", "manifest", "vetting_tokenizer"},
    "seq2see/vetting_tokenizer.py": {"errors", "vetting"},
}
# Without Gradio and FastAPI the five lines of Python must work; the lens must not know a corpus or a page.
WITHOUT_A_PAGE = ["lens", "lessons", "modeling", "tokenizer", "training", "serve/translator.py", "serve/opened.py",
                  "serve/engine.py", "serve/service.py", "serve/batcher.py"]
LIBRARIES = {"accelerate", "datasets", "gradio", "numpy", "peft", "ray", "tokenizers", "torch", "transformers", "yaml"}

FILES = sorted(path for folder in [*MAY_IMPORT, "seq2see"] for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, as a full name, and how many dots it was written with."""
    package = path.relative_to(ROOT).parts[:-1]
    package = package if package[0] == "seq2see" else ("seq2see", *package)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            if module == "seq2see":  # from seq2see import lens
                yield from ((f"seq2see.{alias.name}", node.level) for alias in node.names)
            else:
                yield module, node.level


def ours(path: Path) -> set[str]:
    """The parts of `seq2see` that a file imports: `lens` for `seq2see.lens.trace`, "" for `seq2see` itself."""
    names = [module.split(".") for module, _ in imports(path)]
    return {(*parts, "")[1] for parts in names if parts[0] == "seq2see"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[0]
    allowed = EXCEPTIONS[name_of(path)] if name_of(path) in EXCEPTIONS else MAY_IMPORT[folder]
    assert ours(path) <= allowed


@pytest.mark.parametrize("path", sorted((ROOT / "modeling").glob("*.py")), ids=name_of)
def test_modeling_can_be_shipped_as_remote_code(path: Path) -> None:
    """transformers copies what `from .x import y` names, and nothing else: no folder below, no `from . import x`."""
    assert not [item for item in (ROOT / "modeling").iterdir() if item.is_dir() and item.name != "__pycache__"]
    for module, dots in imports(path):
        if module.startswith("seq2see"):
            shipped = dots == 1 and module.count(".") == 2
            assert shipped or (name_of(path), module) in [
                ("modeling/loading.py", f"seq2see.{name}") for name in ("errors", "folders", "vetting")
            ]


@pytest.mark.parametrize("part", WITHOUT_A_PAGE)
def test_the_base_install_is_enough(part: str) -> None:
    files = [ROOT / part] if part.endswith(".py") else (ROOT / part).rglob("*.py")
    for path in files:
        roots = {module.split(".")[0] for module, _ in imports(path)}
        assert roots.isdisjoint({"gradio", "fastapi", "uvicorn", "starlette", "ray"}), name_of(path)


def test_no_module_has_the_name_of_a_library() -> None:
    """`python training/x.py` puts training/ first on the path, where datasets.py would hide the library."""
    assert not {path.stem for path in FILES} & LIBRARIES


def test_no_two_shipped_modules_share_a_name() -> None:
    """Remote code is copied into one flat folder."""
    names = [path.name for folder in ("modeling", "tokenizer") for path in (ROOT / folder).glob("[!_]*.py")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_a_bare_import_of_a_folder_is_refused(folder: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"ImportError: import seq2see.{folder}, not {folder}" in done.stderr


def test_every_folder_of_the_package_is_installed() -> None:
    """A new folder must be named three times in pyproject.toml; forgotten, it works in the checkout only."""
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    folders = {name_of(path.parent) for path in FILES}
    assert set(settings["package-dir"].values()) == folders
    assert set(settings["packages"]) == set(settings["package-dir"])
    assert all(name.removeprefix("seq2see.").replace(".", "/") == folder
               for name, folder in settings["package-dir"].items())


def does_nothing(line: ast.stmt) -> bool:
    return isinstance(line, ast.Pass) or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_is_a_stub(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    protocols = [node for node in classes if "Protocol" in map(ast.unparse, node.bases)]
    promised = {method for protocol in protocols for method in protocol.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node not in promised:
            overload = any("overload" in ast.unparse(decorator) for decorator in node.decorator_list)
            assert overload or not all(does_nothing(line) for line in node.body), f"{node.name} does nothing"
        assert not (isinstance(node, ast.Name) and node.id == "NotImplementedError"), "something is not implemented"
