"""Mutation testing of a random sample: does a test fail when one operator, number or word of the code is another?

    pip install cosmic-ray && python tests/mutate.py --mutants 100      # survivors are printed as a diff

cosmic-ray makes the mutants; its own runner would import torch for each of them.  Here each is a fork of one process
that has imported the libraries, and none of ours; the mutated module's text is put in when it is imported.  Only the
quick tests of the module's folder that import from it run.  The last line on stdout is one JSON object.
"""

import argparse
import collections
import difflib
import importlib.machinery
import json
import os
import random
import re
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {name: name for name in ("modeling", "tokenizer", "lens", "translate")} | {"seq2see": "package"}
SLOW = ("test_wheel.py", "test_docs.py", "test_pretrained.py")
UNUSED = ("NoOp", "Decorator", "Inserter", "VariableReplacer", "BitOr")  # do nothing, want arguments, or are types
SECONDS = 240  # for the tests of one mutant


def subjects() -> dict[Path, list[str]]:
    """The modules that quick tests import from, and those tests."""
    found: dict[Path, list[str]] = {}
    for folder, tests in FOLDERS.items():
        texts = {path: path.read_text("utf-8") for path in sorted((ROOT / "tests" / tests).rglob("test_*.py"))}
        for module in sorted((ROOT / folder).glob("*.py")):
            name = module.stem if folder == "seq2see" else f"{folder}.{module.stem}"
            package = f"|{folder}" if folder in ("modeling", "tokenizer") else ""  # whose tests import from all of it
            imported = re.compile(rf"from seq2see\.({re.escape(name)}{package}) import")
            named = [str(path) for path, text in texts.items() if path.name not in SLOW and imported.search(text)]
            if named:
                found[module] = named
    return found


def places(path: Path) -> list[tuple[str, int]]:
    """(name of an operator of cosmic-ray, which of its places in the file it is)."""
    from cosmic_ray.ast import get_ast
    from cosmic_ray.operators.provider import OperatorProvider

    provider, nodes = OperatorProvider(), list(walk(get_ast(path.read_text("utf-8"))))
    names = [name for name in sorted(provider) if not any(word in name for word in UNUSED)]
    counts = {name: sum(1 for node in nodes for _ in provider[name]().mutation_positions(node)) for name in names}
    return [(name, number) for name, count in counts.items() for number in range(count)]


def walk(node):
    yield node
    for child in getattr(node, "children", ()):
        yield from walk(child)


def mutant(path: Path, name: str, number: int) -> str:
    from cosmic_ray.mutating import MutationVisitor
    from cosmic_ray.operators.provider import OperatorProvider

    return str(MutationVisitor.mutate_code(path.read_text("utf-8"), OperatorProvider()[name](), number))


def run(path: Path, text: str, tests: list[str]) -> int:
    """What pytest says of the tests with that text in place of the file's: in this process, which ends with it."""
    os.chdir(ROOT)
    get_code = importlib.machinery.SourceFileLoader.get_code

    def mutated(loader, name):
        if Path(loader.path).resolve() == path:
            return compile(text, loader.path, "exec")
        return get_code(loader, name)

    importlib.machinery.SourceFileLoader.get_code = mutated
    import pytest

    options = ["-x", "-q", "--no-showlocals", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly"]
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        return int(pytest.main([*options, *tests]))


def outcome(path: Path, text: str, tests: list[str]) -> str:
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os._exit(min(run(path, text, tests), 100))
        except BaseException:
            os._exit(100)
    return "survived" if os.waitpid(child, 0)[1] == 0 else "killed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60, help="stop after so many (%(default)s)")
    args = parser.parse_args()
    import hypothesis  # noqa: F401
    import pytest  # noqa: F401
    import torch
    import transformers.models.auto.modeling_auto  # noqa: F401
    from transformers import BartForConditionalGeneration, MarianMTModel, T5ForConditionalGeneration  # noqa: F401

    torch.set_num_threads(1)
    tests = subjects()
    every = [(path, *place) for path in tests for place in places(path)]
    counts: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    for path, name, number in random.Random(args.seed).sample(every, args.mutants):
        if time.monotonic() > start + 60 * args.minutes:
            break
        text = mutant(path, name, number)
        said = outcome(path, text, tests[path])
        counts[said] += 1
        print(f"{said}: {path.relative_to(ROOT)} {name}", flush=True)
        if said == "survived":
            before = path.read_text("utf-8").splitlines()
            print(*list(difflib.unified_diff(before, text.splitlines(), n=0, lineterm=""))[2:], sep="\n", flush=True)
    print(json.dumps({"benchmark": "mutate", "of": len(every), "rows": [dict(counts)]}))


if __name__ == "__main__":
    sys.exit(main())
