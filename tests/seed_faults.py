"""Do the tests notice?  Plants the faults of tests/planted.toml one at a time and runs the tests that should notice.

    python tests/seed_faults.py [--table FILE] [WORD ...]    # only faults with one of the words in name or tests

A fault replaces `before` by `after` inside a function, which is found by its name in whatever file of the package it
is.  It is planted in a clone of the last commit.  Prints for each fault the first test that fails with it and passes
without it; exits with 1 if a fault survives.  With --table, faults that FILE has by then are not tried again.
"""

import argparse
import ast
import importlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1200  # seconds for the tests of a fault
PYTEST = ("-p", "no:randomly", "-p", "no:cacheprovider", "--tb=no", "--no-showlocals", "-o", "timeout=150",
          "-o", f"session_timeout={LIMIT}")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::\w+)*(?:\[.*?\](?= - |$))?)(?: - (.*))?$", re.MULTILINE)
WITH_BROWSER = "not docs and not long"  # these tiers too, for faults in JavaScript
JAVASCRIPT = re.compile(r"^(?:export )?(?:default )?(?:async )?(?:function\*?|const|let|class) +(\w+)", re.MULTILINE)
SURVIVES = "SURVIVES"


@dataclass(frozen=True)
class Fault:
    name: str
    function: str  # Class.method in Python; the top-level name in JavaScript
    before: str  # occurs once in the functions of that name
    after: str
    tests: list[str]  # test files, each by the end of its path
    drawn: bool = False


def all_faults() -> list[Fault]:
    return [Fault(**one) for one in tomllib.loads((ROOT / "tests/planted.toml").read_text("utf-8"))["fault"]]


def sources(root: Path) -> list[Path]:
    """The package's files in Python and JavaScript."""
    listed = subprocess.run(["git", "ls-files", "*.py", "*.js"], cwd=root, capture_output=True, text=True, check=True)
    aside = ("tests/", "docs/", "benchmarks/")
    return [root / name for name in listed.stdout.splitlines() if not name.startswith(aside)]


def functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Every function of a file: its name, and where its text starts and ends."""
    text = path.read_text("utf-8")
    if path.suffix == ".js":
        starts = [*JAVASCRIPT.finditer(text)]
        for one, after in zip(starts, [*(found.start() for found in starts[1:]), len(text)], strict=True):
            yield one[1], one.start(), after
        return
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def inside(node: ast.AST, name: str) -> Iterator[tuple[str, int, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                full = f"{name}.{child.name}".lstrip(".")
                if not isinstance(child, ast.ClassDef):
                    yield full, lines[child.lineno - 1], lines[child.end_lineno or child.lineno]
                yield from inside(child, full)

    yield from inside(ast.parse(text), "")


def find(fault: Fault, root: Path) -> tuple[Path, int]:
    """The file, and where in it the text is that the fault replaces."""
    found = []
    for path in sources(root):
        text = path.read_text("utf-8")
        if fault.before in text:
            for name, start, end in functions(path):
                if name == fault.function:
                    places = re.finditer(re.escape(fault.before), text[start:end])
                    found += [(path, start + place.start()) for place in places]
    if len(found) != 1:
        raise SystemExit(f"{fault.name} no longer fits the code: found {len(found)} times in {fault.function}")
    return found[0]


@contextmanager
def planted(fault: Fault, root: Path) -> Iterator[Path]:
    path, at = find(fault, root)
    text, stat = path.read_text("utf-8"), path.stat()
    path.write_text(text[:at] + fault.after + text[at + len(fault.before):], "utf-8")
    try:
        yield path
    finally:
        path.write_text(text, "utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # what was compiled from it holds again


def test_files(fault: Fault, root: Path) -> list[str]:
    paths = sorted((root / "tests").rglob("test_*.py"))
    found = [[str(path.relative_to(root)) for path in paths if str(path).endswith(f"/{end}")] for end in fault.tests]
    for end, files in zip(fault.tests, found, strict=True):
        if len(files) != 1:
            raise SystemExit(f"{fault.name}: {len(files)} files of tests end with {end}")
    return [files[0] for files in found]


def run_tests(arguments: list[str], root: Path) -> tuple[int, str]:
    """The exit code of pytest and what it printed, in a fork of this process, which has imported libraries and none of
    our modules."""
    with tempfile.TemporaryFile("w+") as file:
        if (child := os.fork()) == 0:
            os.chdir(root)
            os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
            import pytest

            code = 3
            try:
                code = int(pytest.main([*PYTEST, *arguments]))
            finally:
                sys.stdout.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        file.seek(0)
        return code, file.read()


def verdict(fault: Fault, root: Path) -> str:
    """The first test that fails with the fault, and why; else that none does."""
    tests = test_files(fault, root)
    with planted(fault, root) as path:
        options = ["-m", WITH_BROWSER] if path.suffix == ".js" else []
        code, said = run_tests(["-x", *options, *tests], root)
    if not code:
        return SURVIVES
    if "session-timeout" in said:
        return f"{SURVIVES} for {LIMIT} seconds"
    if failed := FAILED.search(said):
        return f"{failed[1]} - {failed[2] or 'error'}"
    raise SystemExit(f"{fault.name}: pytest ended with {code}\n{said[-4000:]}")


def check_without(tests: Iterable[str], root: Path) -> None:
    """SystemExit if one of the tests that fail with a fault fails without any."""
    code, said = run_tests(["-m", WITH_BROWSER, *dict.fromkeys(tests)], root)
    if code:
        names = [one[0] for one in FAILED.finditer(said)]
        raise SystemExit("\n".join(["without a fault too:", *(names or [said[-4000:]])]))


def prepare(root: Path) -> None:
    """Clone the last commit, and import the libraries that the package and its tests import."""
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, root], check=True)
    os.environ["PYTHONPATH"] = str(root)  # for what tests start
    os.environ["BUILD_NUMBER"] = "1"  # with it pytest cuts no reason short
    sys.path[:0] = [str(root), str(root / "tests")]
    import conftest  # noqa: F401  # prepares the environment

    load_all = "import conftest, forked, importlib, sys; [*map(importlib.import_module, forked.IMPORTS)]"
    command = [sys.executable, "-c", f"{load_all}; print(*sys.modules)"]
    names = subprocess.run(command, cwd=root / "tests", capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        if name.partition(".")[0] not in ("__main__", "conftest", "forked", "seq2see"):
            with suppress(Exception):  # some modules exist for those alone that made them
                importlib.import_module(name)


def read_table(path: Path | None) -> dict[str, str]:
    text = path.read_text("utf-8") if path and path.is_file() else ""
    return dict(line.split(": ", 1) for line in text.splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path)
    parser.add_argument("words", nargs="*", metavar="WORD")
    asked = parser.parse_args()
    words = asked.words or [""]
    faults = [one for one in all_faults() if any(word in " ".join((one.name, *one.tests)) for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        prepare(root := Path(folder) / "seq2see")
        for fault in faults:
            find(fault, root)
            test_files(fault, root)
        verdicts: dict[str, str] = {}
        for fault in faults:
            verdicts |= read_table(asked.table)
            if fault.name not in verdicts:
                verdicts[fault.name] = verdict(fault, root)
                line = f"{fault.name}: {verdicts[fault.name]}\n"
                print(line, end="", flush=True)
                with (asked.table or Path(os.devnull)).open("a", encoding="utf-8") as table:
                    table.write(line)
        survivors = [fault.name for fault in faults if verdicts[fault.name].startswith(SURVIVES)]
        check_without((verdicts[one.name].split(" - ")[0] for one in faults if one.name not in survivors), root)
    print(f"{len(faults) - len(survivors)} of {len(faults)} noticed; survivors: {', '.join(survivors) or 'none'}")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
