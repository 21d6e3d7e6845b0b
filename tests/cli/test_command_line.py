"""The command line's laws: it answers at once, fails in one line with the right exit code, and dies quietly."""

import gc
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from seq2see.cli import command as cli
from seq2see.cli import env
from seq2see.errors import UserError

ROOT = Path(__file__).resolve().parent.parent.parent
VERBS = {
    "demo": [],
    "train": ["storybook", "data.path=x.tsv"],
    "distil": ["runs/x", "data.path=x.tsv", "--out", "taught"],
    "evaluate": ["runs/x"],
    "translate": ["runs/x", "--from", "en", "--to", "fr"],
    "score": ["runs/x", "--to", "fr"],
    "export": ["runs/x", "--quantization", "float32"],
    "look": ["runs/x", "The cat.", "--layer", "0", "--head", "1"],
    "models": [],
    "align": ["runs/x", "--src", "in.en", "--tgt", "in.fr"],
    "heads": ["runs/x", "--sentences", "300"],
    "calibrate": ["runs/x"],
    "lessons": ["3", "--quick"],
    "serve": ["runs/x", "--port", "0"],
    "env": [],
}
HEAVY = {
    "torch", "transformers", "tokenizers", "datasets", "gradio", "fastapi", "matplotlib", "numpy", "yaml", "asyncio",
}  # fmt: skip


def python(code: str, **options: object) -> subprocess.Popen[str]:
    """A Python of its own running `code`, with text pipes."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], **{**pipes, **options})  # type: ignore[call-overload]


def command_that(statement: str) -> str:
    """Code that runs the command line with a verb that does nothing but `statement`."""
    return (
        "import sys, time, seq2see.cli.env\nfrom seq2see.cli.command import main\n"
        f"def verb(args):\n    {statement}\n"
        "seq2see.cli.env.run = verb\nsys.exit(main(['env']))"
    )


# --- it answers at once


def seconds(code: str) -> float:
    """The least processor time of three runs: unlike the clock it does not count what else the machine is doing."""
    clock = "import atexit, sys, time\natexit.register(lambda: print(time.process_time(), file=sys.stderr))\n"
    return min(float(python(clock + code).communicate()[1]) for _ in range(3))


def test_importing_the_package_is_instant() -> None:
    assert seconds("import seq2see") < 0.3


def test_help_is_instant() -> None:
    assert seconds("from seq2see.cli.command import main; main(['--help'])") < 0.5


@pytest.mark.parametrize("code", ["import seq2see",
                                  "from seq2see.cli.parser import build_parser; build_parser().format_help()"])
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    out, _ = python(f"{code}\nimport sys; print(*sys.modules)").communicate()
    assert HEAVY.isdisjoint(out.split())
    assert not [name for name in out.split() if name.startswith("seq2see.modeling")]


# --- the verbs


def test_the_collector_rests_while_a_verb_is_imported_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work: list[bool] = []

    def note(name: str) -> object:
        at_work.append(gc.isenabled())
        return importlib.import_module(name)

    monkeypatch.setattr(cli, "import_module", note)
    monkeypatch.setattr(env, "run", lambda args: at_work.append(gc.isenabled()))
    assert cli.main(["env"]) == 0
    assert at_work == [False, True]


@pytest.mark.skipif(sys.platform != "linux", reason="torch brings another OpenMP")
@pytest.mark.parametrize(
    ("set_by_user", "count"),
    [({}, cli.SPINS), ({"GOMP_SPINCOUNT": "77"}, "77"), ({"OMP_WAIT_POLICY": "active"}, None)],
    ids=["nothing", "the count", "the policy"],
)
def test_threads_sleep_soon_unless_the_user_says_otherwise(set_by_user: dict[str, str], count: str | None) -> None:
    ours = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    environment = {**ours, "OMP_DISPLAY_ENV": "verbose", **set_by_user}
    told = python(command_that("import torch"), env=environment).communicate()[1]  # what OpenMP itself has read
    [spins] = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", told)
    assert (spins == count) if count else int(spins) > int(cli.SPINS)


def test_the_verbs_are_those_that_work_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["nonsense"])
    assert stopped.value.code == 2
    named = capsys.readouterr().err.partition("choose from")[2].partition(")")[0]
    assert {name.strip(" '") for name in named.split(",")} == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_parses_and_has_a_module(verb: str) -> None:
    args = cli.build_parser().parse_args([verb, *VERBS[verb]])
    assert callable(importlib.import_module(f"seq2see.cli.{args.name}").run)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([verb, "--help"])
    assert stopped.value.code == 0
    assert f"usage: seq2see {verb}" in capsys.readouterr().out


def test_how_long_the_lessons_take_is_said_alike(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["lessons", "--help"])
    page = resources.files("seq2see.lens").joinpath("drawing/lessons.js").read_text("utf-8")
    said = capsys.readouterr().out + page
    assert said.count("10 to 20 minutes") == said.count("20 minutes") == 2


def test_python_m_runs_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "seq2see", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("seq2see 0.")


def test_env_names_versions_and_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(env, "PACKAGES", (*env.PACKAGES, "no-such-package"))
    assert cli.main(["env"]) == 0
    facts = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert facts["torch"] == importlib.import_module("torch").__version__
    assert facts["python"].startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert facts["no-such-package"] == "not installed"
    assert f"{os.cpu_count()} cores, torch uses" in facts["cpu"]
    assert {"platform", "gpu", "transformers", "gradio", "ctranslate2"} <= set(facts)


# --- it fails in one line


def one_line(err: str) -> str:
    """The one line of stderr, which is no traceback."""
    (line,) = err.splitlines()
    assert line.startswith("seq2see: ")
    return line


@pytest.mark.parametrize(
    "argv, said",
    [
        (["trian"], "invalid choice: 'trian'"),
        (["look", "runs/x"], "required: TEXT"),
        (["train"], "required: CONFIG (see"),
        (["look", "runs/x", "a", "--kind", "both"], "invalid choice: 'both'"),
        (["look", "runs/x", "a", "--layer", "-1"], "-1 is not a whole number of at least 0"),
        (["look", "runs/x", "a", "--head", "two"], "'two' is not a whole number"),
        (["translate", "runs/x", "--num-beams", "0"], "0 is not a whole number of at least 1"),
        (["serve", "runs/x", "--port", "70000"], "70000 is not a whole number from 0 to 65535"),
        (["translate", "runs/x", "--frm", "en"], "unrecognized arguments: --frm en (see seq2see translate --help)"),
        (["--frm"], "unrecognized arguments: --frm (see seq2see --help)"),
        (["translate", ""], "argument RUN: it is empty; expected a model name, a run folder, or a Hub id"),
        (["serve", "runs/x", " "], "argument RUN: it is empty"),
        (["demo", "--run", ""], "argument --run: it is empty"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(argv)
    assert stopped.value.code == 2
    line = one_line(capsys.readouterr().err)
    assert said in line and "--help" in line


def test_no_verb_shows_the_help_and_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "examples:" in capsys.readouterr().err


def failing_with(error: BaseException) -> Callable[[object], None]:
    def verb(args: object) -> None:
        raise error

    return verb


@pytest.mark.parametrize(
    "error, code, said",
    [
        (UserError("no key 'x' in a.yaml;\n did you mean 'y'?"), 1, "error: no key 'x' in a.yaml; did you mean 'y'?"),
        (UserError("used wrongly", exit_code=2), 2, "error: used wrongly"),
        (FileNotFoundError(2, "No such file or directory", "a.tsv"), 1, "error: No such file or directory: a.tsv"),
        (OSError(28, "No space left on device"), 1, "error: No space left on device"),
        (OSError("many\nlines"), 1, "error: many lines"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 1, "not UTF-8"),
        (ModuleNotFoundError("No module named 'gradio'", name="gradio"), 1, "pip install 'seq2see[serve]'"),
        (ModuleNotFoundError("No module named 'torch.x'", name="torch.x"), 1, "torch is missing: pip install torch"),
        (ModuleNotFoundError("No module named 'yaml'", name="yaml"), 1, "error: yaml is missing: pip install pyyaml"),
        (ModuleNotFoundError("No module named 'ctranslate2.x'", name="ctranslate2.x"), 1, "'seq2see[fast]'"),
        (ModuleNotFoundError("No module named 'typo'", name="typo"), 1, "internal error: ModuleNotFoundError"),
        (KeyError("two\nlines"), 1, "internal error: KeyError: 'two\\nlines' (rerun with SEQ2SEE_DEBUG=1"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_failure_is_one_line_and_its_exit_code(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(env, "run", failing_with(error))
    assert cli.main(["env"]) == code
    assert said in one_line(capsys.readouterr().err)


def test_debugging_shows_the_traceback_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(env, "run", failing_with(KeyError("x")))
    monkeypatch.setenv("SEQ2SEE_DEBUG", "1")
    assert cli.main(["env"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_every_dependency_is_named_with_what_brings_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {f"'seq2see[{extra}]'": packages for extra, packages in project["optional-dependencies"].items()}
    del extras["'seq2see[dev]'"], extras["'seq2see[docs]'"]  # no module of the package imports them
    named = {(re.split(r"[^\w-]", package)[0].replace("-", "_"), extra) for extra, packages in extras.items()
             for package in packages if "[" not in package}
    base = {re.split(r"[^\w-]", package)[0] for package in project["dependencies"]}
    assert named <= cli.PACKAGE_OF.items() and base <= set(cli.PACKAGE_OF.values())


WITHOUT_TORCH = ("import sys; sys.modules['torch'] = None; from seq2see.cli.command import main;"
                 "sys.exit(main(sys.argv[1:]))")


@pytest.mark.parametrize(("argv", "code", "said"), [
    (["--help"], 0, "usage: seq2see"),
    (["env"], 0, "torch cannot be imported"),
    (["translate", "RUN", "--to", "fr"], 0, "\n"),
    (["export", "RUN"], 0, "ctranslate2-int8-"),
    (["export", "RUN", "--format", "endpoint", "--out", "OUT"], 0, "handler.py"),
    (["translate", "runs/none"], 1, "error: there is no folder runs/none; give"),
    (["look", "RUN", "The cat."], 1, "error: torch is missing: pip install torch"),
    (["train", "storybook"], 1, "error: torch is missing: pip install torch"),
])  # fmt: skip
def test_what_can_works_without_torch_and_the_rest_says_what_is_missing(
    argv: list[str], code: int, said: str, exported_run: Path, tmp_path: Path
) -> None:
    argv = [{"RUN": str(exported_run), "OUT": str(tmp_path / "out")}.get(word, word) for word in argv]
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *argv], input="The cat.\n", capture_output=True,
                          text=True, cwd=tmp_path)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done.stderr
    assert code == 0 or one_line(done.stderr.splitlines()[-1])


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_a_server_translates_without_torch_and_says_what_looking_needs(exported_run: Path, tmp_path: Path) -> None:
    def post(path: str, **body: object) -> tuple[int, dict[str, Any]]:
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(address + path, json.dumps(body).encode(), kind)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    command = [sys.executable, "-c", WITHOUT_TORCH, "serve", str(exported_run), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr is not None
        try:
            address = process.stderr.readline().removeprefix("Seq2See is at ").partition("/ (")[0]
            page = "<p>The <b>cat</b> did.</p>"
            assert "<b>" in post("/translate", q=page, source="en", target="fr", format="html")[1]["translatedText"]
            told = {"error": "torch is not installed on this server; looking inside a model and sampling need it",
                    "code": "not_installed"}
            assert post("/v1/look", text="The cat.") == (501, told)
        finally:
            process.terminate()


TEXTS = {
    "utf-16": ("The cat.\tLe chat.\n".encode("utf-16"), "not UTF-8 but UTF-16"),
    "utf-16 without its mark": ("The cat.\tLe chat.\n".encode("utf-16-le"), "not UTF-8 but UTF-16"),
    "latin-1": ("The cat.\tL'été.\n".encode("latin-1"), "not UTF-8"),
    "a late latin-1": (b"The cat.\tLe chat.\n" * 9000 + "L'été\tsummer\n".encode("latin-1"), "line 9001"),
    "a long line": (b"The cat. " * 120_000 + b"\tLe chat.\n", "line 1"),
    "a long word": (b"a" * 20_000 + b"\tLe chat.\n", "a word has 20,000 characters"),
}  # fmt: skip


@pytest.mark.parametrize("argv", [["translate", "runs/none", "--engine", "torch"], ["score", "runs/none"],
                                  ["align", "runs/none", "--src", "IN", "--tgt", "IN"]], ids=lambda argv: argv[0])
@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_refused_before_a_model_is_looked_for(argv: list[str], kind: str, tmp_path: Path) -> None:
    content, said = TEXTS[kind]
    file = tmp_path / "in.txt"
    file.write_bytes(content)
    argv = [str(file) if word == "IN" else word for word in argv]
    with file.open("rb") as stdin:
        done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *argv], stdin=stdin, capture_output=True, text=True,
                              cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "") and said in one_line(done.stderr)


def test_a_long_word_to_look_at_is_refused_before_a_model_is_looked_for(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, "look", "runs/none", "a" * 20_000],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "a word has 20,000 characters" in one_line(done.stderr)


@pytest.fixture(scope="session")
def exported_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny run with its export."""
    pytest.importorskip("ctranslate2")
    sys.path.insert(0, str(ROOT / "tests"))
    import tiny

    from seq2see.translate.export import exported

    run: Path = tiny.save(tmp_path_factory.mktemp("run"), *tiny.make("seq2see"))
    exported(run, quantization="int8")
    return run


@pytest.mark.parametrize("verb", ["demo", "serve"])
def test_a_page_without_gradio_is_told_how_to_get_it(verb: str, tmp_path: Path) -> None:
    argv = [verb, *VERBS[verb]]
    code = f"import sys; sys.modules['gradio'] = None\nfrom seq2see.cli.command import main; sys.exit(main({argv}))"
    process = python(code, cwd=tmp_path)
    _, err = process.communicate()
    assert process.returncode == 1
    assert "pip install 'seq2see[serve]'" in one_line(err)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "argv",
    [
        ["train", "no-such-config"],
        ["train", "storybook", "trainin.seed=1"],
        ["evaluate", "no/such/run"],
        ["translate", "no/such/run", "--to", "fr"],
        ["look", "no/such/run", "The cat."],
        ["serve", "no/such/run", "--port", "0"],
    ],
    ids=lambda argv: " ".join(argv[:2]),
)
def test_what_is_not_there_is_told_in_one_line(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert cli.main(argv) in (1, 2)
    line = one_line(capsys.readouterr().err)
    assert line.startswith("seq2see: error: ")
    assert any(word in line for word in argv[1:])
    assert not list(tmp_path.iterdir())


# --- it dies quietly


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize("number, code, said", [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "")])
def test_signals_end_it_with_their_own_exit_code(number: int, code: int, said: str) -> None:
    # Many short sleeps: a signal between Python's last look for one and the system call does not end that call.
    process = python(command_that("print('ready', flush=True); [time.sleep(0.05) for _ in range(1200)]"))
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert said in err and "Traceback" not in err


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_an_import_that_makes_an_error_of_the_signal_is_interrupted_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb(args: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("numpy could not be imported") from None

    monkeypatch.setattr(env, "run", verb)
    assert cli.main(["env"]) == 130
    assert one_line(capsys.readouterr().err) == "seq2see: interrupted"


def test_the_callers_handlers_are_given_back_and_ignored_signals_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    inside: list[object] = []
    monkeypatch.setattr(env, "run", lambda args: inside.append(signal.getsignal(signal.SIGINT)))
    try:
        assert cli.main(["env"]) == 0
        assert (inside, signal.getsignal(signal.SIGINT)) == ([signal.SIG_IGN], signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) is before[1]
    finally:
        signal.signal(signal.SIGINT, before[0])


@pytest.mark.skipif(os.name != "posix", reason="POSIX pipes")
@pytest.mark.parametrize("size", [10, 100_000], ids=["at the end", "while writing"])
def test_a_reader_that_goes_away_is_no_error(size: int) -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = python(command_that(f"time.sleep(0.5); print('x' * {size})"), env=buffered)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=20) == 141


def test_streams_are_utf8_whatever_the_locale_says() -> None:
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    pipes = {"text": False, "stdin": subprocess.PIPE, "env": ascii_only}
    process = python(command_that("print(sys.stdin.read(), end=''); print(chr(233), file=sys.stderr)"), **pipes)
    out, err = process.communicate("l'été हिन्दी".encode())  # type: ignore[arg-type]
    assert (process.returncode, out.decode(), err.decode().strip()) == (0, "l'été हिन्दी", "é")  # type: ignore[attr-defined]
