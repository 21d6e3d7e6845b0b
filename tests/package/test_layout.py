"""The layout's laws: which folder may import which, and how Python and other tools find it as a part of `seq2see`."""

import ast
import os
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# What each folder may import of ours.  What is no folder is a file of seq2see/, which needs no library but yaml and
# pydantic.
MAY_IMPORT = {
    "modeling": {"modeling"},
    "passes": {"passes", "errors"},
    "webpage": {"webpage", "rules", "streams"},
    "tokenizer": {"tokenizer", "modeling", "errors", "rules"},
    "text": {"text", "tokenizer", "errors", "rules"},
    "storybook": {"storybook", "tokenizer"},
    "lens": {
        "lens", "text", "tokenizer", "webpage", "passes", "atomic", "errors", "folders", "importing", "rules",
        "streams", "validation",
    },
    "documents": {"documents", "passes", "text", "tokenizer", "errors", "streams"},
    "translate": {
        "translate", "lens", "text", "tokenizer", "passes", "modeling", "errors", "folders", "importing",
        "json_files", "manifest", "memory", "pretrained", "rules", "validation",
    },
    "training": {
        "training", "translate", "storybook", "text", "tokenizer", "passes", "modeling", "__version__", "atomic",
        "errors", "folders", "json_files", "languages", "manifest", "memory", "pretrained", "settings_file",
        "streams", "validation",
    },
    "webpage_data": {"webpage_data", "tokenizer", "translate", "lens", "webpage", "errors", "importing", "json_files"},
    "measures": {
        "measures", "training", "translate", "lens", "storybook", "text", "tokenizer", "passes", "modeling",
        "__version__", "atomic", "errors", "folders", "json_files", "manifest", "pretrained", "settings_file",
        "streams",
    },
    "serve": {
        "serve", "webpage_data", "translate", "documents", "lens", "text", "tokenizer", "webpage", "passes",
        "modeling", "__version__", "errors", "folders", "importing", "languages", "pretrained", "settings_file",
        "streams", "validation",
    },
    "lessons": {
        "lessons", "measures", "training", "translate", "lens", "storybook", "text", "tokenizer", "webpage",
        "passes", "modeling", "__version__", "atomic", "errors", "folders",
    },
}
# Where the folder's rule is not the whole story.
EXCEPTIONS = {
    "modeling/loading.py": {"modeling", "errors", "folders", "memory"},  # save_pretrained does not ship it
    "seq2see/__init__.py": {"translate", "lens", "text", "tokenizer", "modeling", "serve"},  # the lazy names, for types
    "seq2see/__main__.py": {"cli"},
    "seq2see/errors.py": set(),
    "seq2see/folders.py": {"errors", "json_files", "manifest", "pretrained", "settings_file"},
    "seq2see/importing.py": set(),
    "seq2see/languages.py": set(),
    "seq2see/manifest.py": {"errors"},
    "seq2see/pretrained/__init__.py": {"errors", "manifest"},
    "seq2see/rules.py": set(),
    "seq2see/settings_file.py": {"errors"},
    "seq2see/streams.py": {"errors"},
    "seq2see/atomic.py": set(),
    "seq2see/validation.py": {"errors"},
    "seq2see/json_files.py": {"errors"},
    "seq2see/memory.py": {"errors"},
}
EVERYTHING = {
    *MAY_IMPORT, "cli", "errors", "folders", "json_files", "memory", "pretrained", "settings_file", "streams",
    "atomic", "__version__", "",
}
# Without Gradio and FastAPI the five lines of Python must work; the lens must not know a corpus or a page.
WITHOUT_A_PAGE = ("lens/", "lessons/", "measures/", "modeling/", "storybook/", "tokenizer/", "training/", "translate/",
                  "serve/service.py", "serve/batcher.py")
LIBRARIES = {"accelerate", "datasets", "gradio", "numpy", "peft", "ray", "tokenizers", "torch", "transformers", "yaml"}

DATA = "configs"  # a folder without modules
FILES = sorted(path for folder in [*MAY_IMPORT, "seq2see"] for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] == "seq2see" else ("seq2see", *parts)).removesuffix(".__init__")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(tree(path))]


@cache
def imports(path: Path) -> list[tuple[str, str, int]]:
    """Each import, inside functions and for type checkers too: from which module, by full name, and after how many dots
    what; `from seq2see import lens` and `import seq2see.lens` are both of `seq2see.lens`."""
    return [one for node in nodes(path) for one in imported(path, node)]


def imported(path: Path, node: ast.AST) -> list[tuple[str, str, int]]:
    """The same of one statement."""
    if isinstance(node, ast.Import):
        return [(alias.name, "", 0) for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    package = (module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]).split(".")
    above = package[: len(package) - node.level + 1] if node.level else []
    module = ".".join([*above, *filter(None, [node.module])])
    return [(f"seq2see.{alias.name}", "", node.level) if module == "seq2see" else (module, alias.name, node.level)
            for alias in node.names]


@pytest.mark.parametrize("folder", [*MAY_IMPORT, "seq2see"])
def test_imports_point_one_way_and_other_folders_are_imported_relatively(folder: str) -> None:
    """`..lens` in serve/ is lens/ to any tool, and fails if the folder is imported as `serve`, not `seq2see.serve`."""
    for path in (path for path in FILES if path.relative_to(ROOT).parts[0] == folder):
        allowed = EVERYTHING if name_of(path).startswith("seq2see/cli/") else MAY_IMPORT.get(folder, set())
        ours = [(module.split("."), dots) for module, _, dots in imports(path) if module.split(".")[0] == "seq2see"]
        assert {(*parts, "")[1] for parts, _ in ours} <= EXCEPTIONS.get(name_of(path), allowed), name_of(path)
        absolute = {(*parts, "")[1] for parts, dots in ours if not dots}
        assert folder == "seq2see" or absolute.isdisjoint(MAY_IMPORT), name_of(path)


def test_no_imports_run_in_a_circle() -> None:
    graph: dict[str, set[str]] = {module_of(path): set() for path in FILES}
    for path in FILES:
        for module, name, _ in imports(path):
            nearest = (one for one in (f"{module}.{name}", module, module.rpartition(".")[0]) if one in graph)
            graph[module_of(path)] |= {next(nearest, "")} & graph.keys() - {module_of(path)}
    TopologicalSorter(graph).prepare()  # CycleError names the circle


LARGE = {"torch", "transformers", "ctranslate2", "gradio", "matplotlib", "py3langid", "safetensors", "tokenizers"}


@cache
def is_large(module: str) -> bool:
    """Whether to import this module, or a name in it, is to import a large library."""
    path = {module_of(path): path for path in FILES}.get(module)
    if path is None:
        return module.split(".")[0] in LARGE
    return any(is_large(one) for node in tree(path).body for module, name, _ in
               imported(path, node) for one in (module, f"{module}.{name}"))


def test_large_libraries_are_imported_by_one_thread_at_a_time() -> None:
    """Inside a function only with the one lock: translators are used from several threads."""
    for path in (path for path in FILES if name_of(path).startswith(("translate/", "lens/", "serve/"))):
        every = nodes(path)
        locked = {inner for node in every if isinstance(node, ast.With) and "IMPORTS" in ast.unparse(node.items[0])
                  for inner in ast.walk(node)}
        inside = {inner for node in every if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                  for inner in ast.walk(node)}
        free = [ast.unparse(node) for node in inside - locked for module, name, _ in imported(path, node)
                if is_large(module) or is_large(f"{module}.{name}")]
        assert not free, f"{name_of(path)}: put `with IMPORTS:` around {free}"


def test_nothing_is_imported_by_its_bare_name() -> None:
    """`import modeling` works in the checkout, and every class would exist twice."""
    beside = [path for folder in ("tests", "benchmarks", "docs") for path in (ROOT / folder).rglob("*.py")]
    for path in [*FILES, *beside]:
        roots = {module.split(".")[0] for module, _, dots in imports(path) if not dots}
        assert roots.isdisjoint(MAY_IMPORT), name_of(path)


def test_modeling_can_be_shipped_as_remote_code() -> None:
    """transformers copies what `from .x import y` names, and nothing else: no folder below, no `from . import x`."""
    assert not [item for item in (ROOT / "modeling").iterdir() if item.is_dir() and item.name != "__pycache__"]
    for path in (ROOT / "modeling").glob("*.py"):
        for module, _, dots in imports(path):
            if module.startswith("seq2see"):
                shipped = dots == 1 and module.count(".") == 2
                assert shipped or (path.name, module) in [
                    ("loading.py", f"seq2see.{name}") for name in ("errors", "folders", "memory")
                ], name_of(path)


def test_the_base_install_is_enough() -> None:
    for path in FILES:
        if name_of(path).startswith(WITHOUT_A_PAGE):
            roots = {module.split(".")[0] for module, _, _ in imports(path)}
            assert roots.isdisjoint({"gradio", "fastapi", "uvicorn", "starlette", "ray"}), name_of(path)


def test_no_module_has_the_name_of_a_library() -> None:
    """`python training/x.py` puts training/ first on the path, where datasets.py would hide the library."""
    assert not {path.stem for path in FILES} & LIBRARIES


def test_no_two_modules_share_a_name() -> None:
    """Each says what it does, whichever folder is open; and remote code is copied into one flat folder.  A module of
    cli/ has the name of its verb."""
    names = [path.stem for path in FILES if path.parent.name != "cli" and not path.stem.startswith("__")]
    assert not [name for name, times in Counter(names).items() if times > 1]


def test_the_checkout_is_the_package_by_its_own_name(tmp_path: Path) -> None:
    """Where it is cloned as seq2see and Python starts in the folder above."""
    (tmp_path / "seq2see").symlink_to(ROOT)
    code = "import seq2see; from seq2see.translate.results import Translation as one; print(seq2see.errors.__file__)"
    command = [sys.executable, "-c", f"{code}; print(one is seq2see.Translation)"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True)
    assert done.stdout.split() == [str(tmp_path / "seq2see" / "seq2see" / "errors.py"), "True"], done.stderr


def test_every_folder_of_the_package_is_installed_and_found_by_tools() -> None:
    """A new folder must be named twice in pyproject.toml, or it works in the checkout only; and linked, by a link that
    git writes as a file with the same text where the system has none."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    folders = {name_of(path.parent) for path in FILES} | {DATA}
    assert set(settings["package-dir"].values()) == folders
    assert set(settings["packages"]) == set(settings["package-dir"])
    assert all(f"seq2see/{folder.removeprefix('seq2see/')}" == name.replace(".", "/")
               for name, folder in settings["package-dir"].items() if name != "seq2see")
    for folder in (*MAY_IMPORT, DATA):
        link = ROOT / "seq2see" / folder
        assert (str(link.readlink()) if link.is_symlink() else link.read_text("utf-8")) == f"../{folder}"


def test_a_checkout_may_lie_in_a_folder_of_any_name(tmp_path: Path) -> None:
    """GitHub's archive is named seq2see-main, which no package can be; pytest imports its `__init__.py` though."""
    checkout = tmp_path / "seq2see-main"
    checkout.mkdir()
    for name in ("__init__.py", "pyproject.toml"):
        (checkout / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    (checkout / "test_it.py").write_text("def test_it():\n    pass\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "test_it.py"], cwd=checkout, capture_output=True, text=True,
                          env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
