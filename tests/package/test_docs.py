"""Every code block of README and of the pages in docs/ runs as it is written, offline, page by page and in order.

A page has a folder of its own with the files that the blocks name.  `seq2see train` stops after its dry run, which
reads the configuration and the data, and tokenises, or, where `training.max_steps` is given, after three steps in one
process, and measures nothing; `seq2see serve` serves the rest of its page, at a free port.  Each command is a process
of its own, forked from one that has imported everything (forked.py).  A block after a line
`<!-- not run by the tests: why -->`, which no reader of the page sees, is left out; there are few.
"""

import ast
import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest
import tiny
import yaml
from forked import fork_server

from seq2see.manifest import write_manifest
from seq2see.pretrained import home_of

pytestmark = [pytest.mark.docs, pytest.mark.timeout(900)]  # each of its commands imports torch
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^(?:<!-- not run by the tests: ([^\n]+) -->\n)?```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL
)
PORT = re.compile(r"localhost:(\d+)")
SHELL = """
seq2see() {
    case "$*" in
        train*training.max_steps=*)
            set -- "$@" training.max_steps=3 training.warmup_steps=1 training.cpu_processes=1 --no-measures ;;
        train*) set -- "$@" --dry-run ;;
    esac
    python -m seq2see "$@"
}
curl() { command curl --fail-with-body --no-progress-meter "$@"; }
set -euo pipefail
"""
ADJECTIVES = [("red", "rouge"), ("big", "énorme"), ("sad", "triste"), ("young", "jeune"), ("calm", "calme")]
ROWS = [(f"The {a} cat sees {n} boats.", f"Le chat {b} voit {n} bateaux.") for a, b in ADJECTIVES for n in range(2, 22)]


@pytest.fixture(scope="module")
def seq2see(tmp_path_factory):
    """The words that begin a command."""
    with fork_server(tmp_path_factory.mktemp("fork") / "socket") as words:
        yield words


def blocks(page):
    return [(kind, code) for why, kind, code in BLOCK.findall(page.read_text("utf-8")) if not why]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the blocks name: runs, pairs, and a tiny model under the name of one of the Hub's.

    Runs are copies of storybook's model that were trained on `mine.tsv`: of those, some are set aside for a test where
    `seq2see train` says so, and in the run of storybook, which has a test of its own.
    """
    table = "".join(f"{source}\t{target}\n" for source, target in ROWS)
    for name in ("mine.tsv", "pairs.tsv"):
        (tmp_path / name).write_text(table, "utf-8")
    (tmp_path / "mine.csv").write_text("en,fr\n" + table.replace("\t", ","), "utf-8")
    for side, name in enumerate(("en", "fr")):
        text = "".join(f"{row[side]}\n" for row in ROWS[:3])
        (tmp_path / f"dev.{name}").write_text(text, "utf-8")
    (tmp_path / "in.txt").write_text("The cat is tired.\n\nThe box was big.\n", "utf-8")
    (tmp_path / "multi30k").mkdir()
    for split, rows in (("train", ROWS), ("val", ROWS[:9]), ("test_2016_flickr", ROWS[:9])):
        for side, name in enumerate(("en", "de")):
            (tmp_path / "multi30k" / f"{split}.{name}").write_text("".join(f"{row[side]}\n" for row in rows), "utf-8")
    (tmp_path / "db").mkdir()
    with closing(sqlite3.connect(tmp_path / "db" / "api_keys.db")) as keys, keys:  # as LibreTranslate makes it
        keys.execute("CREATE TABLE api_keys (api_key TEXT NOT NULL, req_limit INTEGER NOT NULL, char_limit INTEGER,"
                     " PRIMARY KEY(api_key))")
        keys.execute("INSERT INTO api_keys VALUES ('0b36b1c8-4ac9-4a41-9c2d-6f1a3dbb0a59', 60, NULL)")
    hub = tmp_path / "Helsinki-NLP" / "opus-mt-en-fr"
    hub.mkdir(parents=True)
    tiny.opus_mt(hub)
    for name in ("nllb", "facebook/nllb-200-distilled-600M"):
        tiny.nllb(tmp_path / name)
    for name in ("storybook", "finetune", "mine", "opus-mine"):
        own = hub if name == "opus-mine" else home_of("storybook")
        run = shutil.copytree(own, tmp_path / "runs" / name)
        shutil.copyfile(home_of("storybook") / "run.yaml", run / "run.yaml")
        settings = yaml.safe_load((run / "run.yaml").read_text("utf-8"))
        settings["data"] |= {"path": "mine.tsv", "val_fraction": 0.1, "test_fraction": 0.1 * (name == "storybook")}
        (run / "run.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        write_manifest(run)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.is_offline_mode", lambda: False)  # or its client would not ask
    return tmp_path


def record_data(code):
    """In the runs that a block trains, as training would: where the pairs are, and how many are set aside."""
    for line in re.findall(r"^seq2see train .*", code.replace("\\\n", ""), re.MULTILINE):
        recipe, *settings = shlex.split(line, comments=True)[2:]
        given = dict(word.partition("=")[::2] for word in settings)
        record = Path("runs", given.get("name", recipe), "run.yaml")
        if record.is_file():
            written = yaml.safe_load(record.read_text("utf-8"))
            written["data"] |= {name: yaml.safe_load(given[f"data.{name}"]) for name in ("path", "test_fraction")
                                if f"data.{name}" in given}
            record.write_text(yaml.safe_dump(written), "utf-8")


@contextmanager
def serving(seq2see, command, port):
    """`seq2see serve ...`, as it is written but for its port."""
    arguments = shlex.split(re.sub(r"--port \d+|\\\n", "", command))[1:]
    words = [*seq2see, *arguments, "--port", str(port)]
    words += ["--no-browser"] if "demo" in words else []
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + 240
            while True:
                try:
                    if httpx.get(f"http://localhost:{port}/readyz").status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < end, f"{command} is not ready"
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


def run(kind, code, space, port, stack, seq2see):
    code = PORT.sub(f"localhost:{port}", code)
    if kind == "python":
        tree = ast.parse(code)
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "a block", "exec"), space)
        value = eval(compile(last, "a block", "eval"), space) if last else None
        assert "localhost" not in code or value, "a client got no answer"  # a table has no truth
    elif server := re.search(r"^seq2see (?:serve|demo)\b(?:\\\n|[^#\n])*", code, re.MULTILINE):
        rest = re.sub(r"#.*", "", code.replace(server[0], ""))
        assert not rest.strip(), "a server stands in a block of its own"
        stack.close()  # the page's earlier server
        stack.enter_context(serving(seq2see, server[0], port))
    elif kind == "sh":
        env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        record_data(code)
        shell = SHELL.replace("python -m seq2see", shlex.join(seq2see))
        done = subprocess.run(["bash", "-c", shell + code], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr[-2000:]
    elif kind == "json":
        json.loads(code)
    elif kind == "yaml":
        from seq2see.serve.settings import ServerSettings

        assert {name: getattr(ServerSettings(), name) for name in yaml.safe_load(code)} == {
            name: tuple(value) if isinstance(value, list) else value for name, value in yaml.safe_load(code).items()}
    else:
        assert kind == "text", f"a block of {kind or 'no language'} is not run"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, folder, seq2see):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    space = {"__name__": "__main__"}
    with ExitStack() as stack:
        for kind, code in blocks(page):
            if kind == "sh" and re.search(r"^make ", code, re.MULTILINE):
                continue  # below
            try:
                run(kind, code, space, port, stack, seq2see)
            except BaseException as error:
                raise AssertionError(f"this block of {page.name} fails:\n{code}") from error


def test_a_command_that_fails_fails_its_block(folder, seq2see):
    with pytest.raises(AssertionError, match="there is no folder runs/none"):
        run("sh", "seq2see translate runs/none < in.txt\necho done", {}, 0, ExitStack(), seq2see)


def test_make_has_the_targets_that_are_named():
    named = {target for page in PAGES for _, code in blocks(page) for target in re.findall(r"^make (\w+)", code, re.M)}
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert "demo" in named and named <= targets


def test_few_blocks_are_left_out():
    told = [(why, code) for page in PAGES for why, _, code in BLOCK.findall(page.read_text("utf-8")) if why]
    assert all("pip " in code for why, code in told if why == "it installs")
    others = [why for why, _ in told if why != "it installs"]
    allowed = {"takes minutes", "needs GPUs or several machines", "the file is yours",
               "downloads a model", "it runs until it is stopped"}
    assert len(others) <= 9 and set(others) <= allowed, others
