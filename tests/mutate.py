"""Mutation testing of a random sample: does a test fail when one operator, number or word of the code is another?

    pip install cosmic-ray && python tests/mutate.py --mutants 100      # survivors are printed as a diff

cosmic-ray makes the mutants; its own runner would import torch anew for each.  Here each is a fork of one process
that has imported the libraries, and none of ours; the mutated module's text is put in when it is imported.  Only the
tests named beside the files are run.  The last line on stdout is one JSON object.
"""

import argparse
import collections
import difflib
import importlib.machinery
import io
import json
import os
import random
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files, and the quick tests that speak of them.
SUBJECTS = {
    "seq2see/manifest.py": ["tests/package/test_manifest.py"],
    "seq2see/vetting.py": ["tests/package/vetting", "tests/package/test_manifest.py"],
    "seq2see/vetting_tokenizer.py": ["tests/package/vetting"],
    "modeling/loading.py": ["tests/modeling/test_saving.py"],
    "modeling/attention.py": ["tests/modeling/test_attention_laws.py", "tests/modeling/test_network_laws.py"],
    "modeling/configuration_seq2see.py": ["tests/modeling/test_network_laws.py", "tests/modeling/test_saving.py"],
    "modeling/layers.py": ["tests/modeling/test_network_laws.py"],
    "modeling/modeling_seq2see.py": ["tests/modeling/test_network_laws.py", "tests/modeling/test_attention_laws.py"],
    "modeling/positions.py": ["tests/modeling/test_network_laws.py"],
    "tokenizer/layout.py": ["tests/tokenizer/test_tokenizer.py"],
    "tokenizer/segments.py": ["tests/tokenizer/test_segments.py"],
    "tokenizer/subwords.py": ["tests/tokenizer/test_tokenizer.py"],
    "tokenizer/words.py": ["tests/tokenizer/test_words.py", "tests/tokenizer/test_spans.py"],
    "lens/hooks.py": ["tests/lens/test_hooks.py", "tests/lens/test_interventions.py"],
    "lens/intervals.py": ["tests/lens/test_alignment.py", "tests/lens/test_heads.py"],
    "lens/plain_json.py": ["tests/lens/test_files.py", "tests/lens/test_calibration.py"],
    "lens/files.py": ["tests/lens/test_files.py"],
    "lens/attention_blocks.py": ["tests/lens/test_views.py"],
    "lens/terminal.py": ["tests/lens/test_show.py"],
    "lens/trace_data.py": ["tests/lens/test_trace.py", "tests/lens/test_files.py"],
    "lens/views.py": ["tests/lens/test_views.py"],
    "lens/by_words.py": ["tests/lens/test_by_words.py"],
}
UNUSED = ("NoOp", "Decorator", "Inserter", "VariableReplacer", "BitOr")  # do nothing, want arguments, or are types
SKIPPED = "not test_code_of_a_folder and not stranger and not same_texts"  # those that start a Python of their own


def places(path: Path) -> list[tuple[str, int]]:
    """(name of an operator of cosmic-ray, which of its places in the file it is)."""
    from cosmic_ray.ast import get_ast
    from cosmic_ray.operators.provider import OperatorProvider

    provider, nodes = OperatorProvider(), list(walk(get_ast(path.read_text("utf-8"))))
    names = [name for name in sorted(provider) if not any(word in name for word in UNUSED)]
    counts = {name: sum(1 for node in nodes for _ in provider[name]().mutation_positions(node)) for name in names}
    return [(name, number) for name, count in counts.items() for number in range(count)]


def mutant(path: Path, name: str, number: int) -> str:
    from cosmic_ray.mutating import MutationVisitor
    from cosmic_ray.operators.provider import OperatorProvider

    return str(MutationVisitor.mutate_code(path.read_text("utf-8"), OperatorProvider()[name](), number))


def walk(node):
    yield node
    for child in getattr(node, "children", ()):
        yield from walk(child)


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

    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(io.StringIO()):
        return int(pytest.main(["-x", "-q", "--no-showlocals", "--tb=no", "-p", "no:cacheprovider", "-k", SKIPPED,
                                "-p", "no:randomly", *tests]))  # fmt: skip


def outcome(path: Path, text: str, tests: list[str], seconds: int) -> str:
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.alarm(seconds)
        try:
            os._exit(min(run(path, text, tests), 100))
        except BaseException:
            os._exit(100)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "killed by time" if os.WTERMSIG(status) == signal.SIGALRM else "killed"
    return "survived" if os.WEXITSTATUS(status) == 0 else "killed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60, help="stop after so many (%(default)s)")
    args = parser.parse_args()
    import hypothesis  # noqa: F401
    import pytest  # noqa: F401
    import tokenizers  # noqa: F401
    import torch
    import transformers.models.auto.modeling_auto  # noqa: F401
    from transformers import (  # noqa: F401
        BartForConditionalGeneration,
        MarianMTModel,
        PreTrainedTokenizerFast,
        T5ForConditionalGeneration,
    )

    torch.set_num_threads(1)
    every = [(file, *place) for file in SUBJECTS for place in places(ROOT / file)]
    print(f"{len(every)} mutants of {len(SUBJECTS)} files", flush=True)
    counts: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    for file, name, number in random.Random(args.seed).sample(every, args.mutants):
        if time.monotonic() > start + 60 * args.minutes:
            break
        path = (ROOT / file).resolve()
        text = mutant(path, name, number)
        said = outcome(path, text, SUBJECTS[file], 240)
        counts[said] += 1
        before = path.read_text("utf-8").splitlines()
        diff = list(difflib.unified_diff(before, text.splitlines(), n=0, lineterm=""))[2:]
        print(f"{said}: {file} {name}" + ("\n  " + "\n  ".join(diff) if said != "killed" else ""), flush=True)
    print(json.dumps({"benchmark": "mutate", "of": len(every), "rows": [dict(counts)]}))


if __name__ == "__main__":
    sys.exit(main())
