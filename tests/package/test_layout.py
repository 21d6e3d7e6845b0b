"""The layout's laws: which folder may import which, and how Python and other tools find it as a part of `seq2see`."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# What each folder may import of ours.  What is no folder is a file of seq2see/, which needs no library but yaml.
MAY_IMPORT = {
    "modeling": {"modeling"},
    "tokenizer": {"tokenizer", "modeling", "errors"},
    "lens": {"lens", "tokenizer", "modeling", "errors", "atomic"},
    "translate": {
        "translate", "lens", "tokenizer", "modeling", "errors", "cores", "folders", "json_files", "manifest",
        "pretrained", "vetting",
    },
    "storybook": {"storybook", "tokenizer"},
    "training": {
        "training", "translate", "storybook", "tokenizer", "modeling", "atomic", "configs", "cores", "errors",
        "folders", "json_files", "manifest", "pretrained", "settings_file", "streams", "vetting", "__version__",
    },
    "measures": {
        "measures", "translate", "storybook", "training", "lens", "tokenizer", "modeling", "atomic", "errors",
        "folders", "json_files", "manifest", "pretrained", "settings_file", "streams", "vetting", "__version__",
    },
    "lessons": {
        "lessons", "measures", "translate", "storybook", "training", "lens", "tokenizer", "modeling", "atomic",
        "errors", "__version__",
    },
    "serve": {
        "serve", "translate", "lens", "tokenizer", "modeling", "errors", "folders", "pretrained", "settings_file",
        "streams", "__version__",
    },
    "configs": set(),
}
# Where the folder's rule is not the whole story.
EXCEPTIONS = {
    "modeling/loading.py": {"modeling", "errors", "folders", "vetting"},  # save_pretrained does not ship it
    "seq2see/__init__.py": {"translate", "lens", "tokenizer", "modeling", "serve"},  # the lazy names, for type checkers
    "seq2see/__main__.py": {"cli"},
    "seq2see/cores.py": set(),
    "seq2see/demo_run.py": {"errors", "lens", "training"},
    "seq2see/demo_worker.py": {"demo_run", "errors", "lens", "measures", "training", "translate", "atomic"},
    "seq2see/errors.py": set(),
    "seq2see/folders.py": {"errors", "pretrained"},
    "seq2see/manifest.py": {"errors"},
    "seq2see/pretrained/__init__.py": {"errors", "manifest"},
    "seq2see/settings_file.py": {"errors"},
    "seq2see/streams.py": {"errors"},
    "seq2see/atomic.py": set(),
    "seq2see/json_files.py": {"errors"},
    "seq2see/vetting.py": {"errors", "json_files", "manifest", "pretrained", "vetting_tokenizer"},
    "seq2see/vetting_tokenizer.py": {"errors", "json_files"},
}
EVERYTHING = {
    *MAY_IMPORT, "cli", "demo_run", "errors", "folders", "json_files", "pretrained", "streams", "atomic",
    "__version__", "",
}
# Without Gradio and FastAPI the five lines of Python must work; the lens must not know a corpus or a page.
WITHOUT_A_PAGE = ["lens", "lessons", "measures", "modeling", "storybook", "tokenizer", "training", "translate",
                  "serve/service.py", "serve/batcher.py"]
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
    allowed = EVERYTHING if name_of(path).startswith("seq2see/cli/") else MAY_IMPORT.get(folder, set())
    assert ours(path) <= EXCEPTIONS.get(name_of(path), allowed)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] == "seq2see" else ("seq2see", *parts)).removesuffix(".__init__")


def test_no_imports_run_in_a_circle() -> None:
    """Those inside functions count too, and those for type checkers alone."""
    graph: dict[str, set[str]] = {module_of(path): set() for path in FILES}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *filter(None, [node.module])])
                named = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in graph else base for alias in node.names]
            else:
                continue
            graph[module_of(path)] |= {name for name in named if name in graph and name != module_of(path)}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_folders_import_each_other_relatively(path: Path) -> None:
    """`..lens` in serve/ is lens/ to any tool, and fails if the folder is imported as `serve`, not `seq2see.serve`."""
    absolute = {".".join(module.split(".")[:2]) for module, dots in imports(path) if not dots}
    assert name_of(path).startswith("seq2see/") or absolute.isdisjoint(f"seq2see.{folder}" for folder in MAY_IMPORT)


@pytest.mark.parametrize("folder", [*MAY_IMPORT, "seq2see", "tests", "benchmarks", "docs"])
def test_nothing_is_imported_by_its_bare_name(folder: str) -> None:
    """`import modeling` works in the checkout, and every class would exist twice."""
    for path in (ROOT / folder).rglob("*.py"):
        roots = {module.split(".")[0] for module, dots in imports(path) if not dots}
        assert roots.isdisjoint(MAY_IMPORT), name_of(path)


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
def test_tools_find_each_folder_in_the_package(folder: str) -> None:
    """By a link, which git writes as a file with the same text where the system has none."""
    link = ROOT / "seq2see" / folder
    assert (str(link.readlink()) if link.is_symlink() else link.read_text("utf-8")) == f"../{folder}"


def test_modules_come_from_the_folders_not_the_links() -> None:
    from seq2see.tokenizer import words

    assert words.__file__ == str(ROOT / "tokenizer" / "words.py")


def test_the_checkout_is_the_package_by_its_own_name(tmp_path: Path) -> None:
    """Where it is cloned as seq2see and Python starts in the folder above."""
    (tmp_path / "seq2see").symlink_to(ROOT)
    code = "import seq2see; from seq2see.tokenizer import Seq2SeeTokenizer as one; print(seq2see.errors.__file__)"
    command = [sys.executable, "-c", f"{code}; print(one is seq2see.Seq2SeeTokenizer)"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)
    assert done.stdout.split() == [str(tmp_path / "seq2see" / "seq2see" / "errors.py"), "True"], done.stderr


def test_every_folder_of_the_package_is_installed() -> None:
    """A new folder must be named three times in pyproject.toml; forgotten, it works in the checkout only."""
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    folders = {name_of(path.parent) for path in FILES}
    assert set(settings["package-dir"].values()) == folders
    assert set(settings["packages"]) == set(settings["package-dir"])
    assert all(f"seq2see/{folder.removeprefix('seq2see/')}" == name.replace(".", "/")
               for name, folder in settings["package-dir"].items() if name != "seq2see")


def test_a_checkout_may_lie_in_a_folder_of_any_name(tmp_path: Path) -> None:
    """GitHub's archive is named seq2see-main, which no package can be; pytest imports its `__init__.py` though."""
    checkout = tmp_path / "seq2see-main"
    checkout.mkdir()
    for name in ("__init__.py", "pyproject.toml"):
        (checkout / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    (checkout / "test_it.py").write_text("def test_it():\n    pass\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "test_it.py"], cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
