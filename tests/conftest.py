"""What every test runs under: one thread, no GPU, no network, no telemetry; and the browser that some tests drive.

`CUDA_VISIBLE_DEVICES=0 pytest` uses a GPU.

Property tests draw a few examples each time, or as many as EXAMPLES says: `EXAMPLES=5000 pytest -o timeout=0 FILE`.
"""

import os
import signal
import tempfile

# Before torch, transformers or gradio is imported, by this process or by one that a test starts.
os.environ.update(
    OMP_NUM_THREADS="1",  # the suite runs in as many processes as there are cores
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    GRADIO_ANALYTICS_ENABLED="False",
    TOKENIZERS_PARALLELISM="false",
    COLUMNS="80",  # what is printed for a terminal is cut there, however wide the one is that runs the suite
    HF_DATASETS_CACHE=f"{tempfile.gettempdir()}/seq2see-tests-{os.getpid()}",
    HYPOTHESIS_STORAGE_DIRECTORY=f"{tempfile.gettempdir()}/seq2see-tests-{os.getpid()}/hypothesis",
)

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # figures and devices are those of a CPU

# A shell that runs the suite in the background has it ignore Ctrl-C, and what it starts with it; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import atexit
import gc
import io
import ipaddress
import json
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings

BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine breaks no law
settings.register_profile("ours", max_examples=int(os.environ.get("EXAMPLES", "15")), database=None, **BUSY)
settings.load_profile("ours")
httpx._config.DEFAULT_TIMEOUT_CONFIG.read = 60  # seconds; a busy machine may take longer than the usual 5

ROOT = Path(__file__).resolve().parent.parent
# For the modules that several folders of tests share, and for processes that import the test which started them.
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]


def pytest_collectstart() -> None:
    gc.disable()  # all that the import of a module makes stays


def pytest_collection_finish() -> None:
    """Have Python's collector pass over what is imported by now, which takes 0.4 s; each training has it collect."""
    gc.freeze()
    gc.enable()
    atexit.register(gc.freeze)  # as seq2see/cli/command.py, for the same reason


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """A test that reaches beyond this machine fails: everything must work offline."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_local(address[0]):
            raise AssertionError(f"a test tried to reach {address}: tests work offline")
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign]
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True, scope="session")
def own_cache() -> Iterator[None]:
    """What tests have prepared and kept goes when they are done."""
    yield
    shutil.rmtree(os.environ["HF_DATASETS_CACHE"], ignore_errors=True)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture
def own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers copies the code of checkpoints to a folder of this test, and has imported none."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr("sys.path", sys.path.copy())
    for name in [name for name in sys.modules if name.partition(".")[0] == "transformers_modules"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`once(name, make)`: what `make()` returns, made by the first of the processes that run tests to want it, and read
    from a file by the others."""
    import pickle

    from filelock import FileLock

    def once(name: str, make: Any) -> Any:
        if "PYTEST_XDIST_WORKER" not in os.environ:
            return make()
        path = tmp_path_factory.getbasetemp().parent / f"{name}.pickle"
        with FileLock(f"{path}.lock"):
            if not path.is_file():
                path.write_bytes(pickle.dumps(make(), pickle.HIGHEST_PROTOCOL))
        return pickle.loads(path.read_bytes())

    return once


def browser_scope(fixture_name: str, config: pytest.Config) -> Any:
    alone = config.option.markexpr.startswith("browser") and "not browser" not in config.option.markexpr
    return "session" if alone else "module"


@pytest.fixture(scope=browser_scope)
def browser() -> Iterator[Any]:
    """A headless Chromium, driven by playwright. Where there is none: a skip, but a failure in CI.

    Meanwhile playwright's event loop runs, and no other test can run one of its own: with `-m browser...` one
    Chromium serves all, else each module has its own.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        reason = "no Chromium on this machine (Debian: apt-get install chromium-headless-shell)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield instance
        instance.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Seq2See, with the words it has seen."""
    import tiny

    made = tiny.save(tmp_path_factory.mktemp("run"), *tiny.make("seq2see"))
    seen = {"en": ["the", "cat", "did", "not", "cross"]}
    (made / "seen_words.json").write_text(json.dumps(seen), encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def translator(folder: Path) -> Any:
    from seq2see import Translator

    return Translator.from_pretrained(folder, engine="torch")


@pytest.fixture(scope="session")
def server(translator: Any) -> Iterator[Any]:
    """The pages of a tiny model on a free port of 127.0.0.1, until all tests are done."""
    import serving

    with serving.running({"tiny": lambda: translator}, page=True) as made:
        yield made


@pytest.fixture(scope="session")
def seq2see() -> Any:
    import tiny

    return tiny.make("seq2see")


@pytest.fixture(scope="session")
def trace(seq2see: Any) -> Any:
    """A Seq2See's trace with tokens of every sort: a tag, a word in several tokens, bytes, punctuation."""
    from seq2see.lens import trace_hypotheses

    model, tokenizer = seq2see
    target = tokenizer.encode_target("Le chat n'a pas traversé.", language="fr")
    [made] = trace_hypotheses(model, tokenizer, ["The cat, <b>猫</b>, did not cross."], [target], source_language="en",
                              target_language="fr", given=1, scores=[-1.5])
    return made


class Pipe(io.BytesIO):
    """Bytes that are read once."""

    def seekable(self) -> bool:
        return False


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> Any:
    """Runs a `seq2see` command on some standard input: its exit code, and what it wrote to stdout and stderr."""
    from seq2see.cli.command import main

    def command(*argv: object, stdin: str | bytes = b"") -> tuple[int, str, str]:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(given)))
        capfdbinary.readouterr()  # what was written before
        try:
            code = main([*map(str, argv)])
        except SystemExit as stopped:
            code = stopped.code
        out, err = capfdbinary.readouterr()
        return code, os.fsdecode(out), err.decode()

    return command


@pytest.fixture(scope="session")
def finished_run(once: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few steps, as training leaves it: to be read only."""
    import releasing

    return once("finished", lambda: releasing.finished_run(tmp_path_factory.mktemp("finished")))


@pytest.fixture(scope="session")
def stand_ins(once: Any, finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model for each name of the package's, made from that run: to be read only."""
    import releasing

    from seq2see.pretrained import NAMES

    return once("stand-ins", lambda: releasing.released(finished_run, tmp_path_factory.mktemp("stand-ins"), *NAMES))


@pytest.fixture(scope="session")
def stories(once: Any) -> Any:
    """The built-in corpus of seed 0."""
    from seq2see.storybook import generate

    return once("storybook", lambda: generate(seed=0))


@pytest.fixture(scope="session")
def short_stories(once: Any) -> Any:
    """The built-in corpus with few training pairs, and without counting their words, which is most of the work."""
    from seq2see.storybook import generate

    return once("short-storybook", lambda: generate(train_size=1))


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """A cluster of Ray, of two nodes with two CPUs each beside a head without any; none of this process's own.

    `two_nodes.lose(node)` kills all processes of a node; who does so adds another, `two_nodes.add()`.
    """
    pytest.importorskip("ray", reason="the extra ray is not installed")
    import on_ray

    with on_ray.cluster() as made:
        yield made
