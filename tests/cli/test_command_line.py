"""The command line's laws: it answers at once, fails in one line with the right exit code, and dies quietly."""

import contextlib
import importlib
import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tiny
import torch

from seq2see.cli import command as cli
from seq2see.cli import env
from seq2see.errors import UserError

VERBS = {
    "demo": [],
    "train": ["storybook", "data.path=x.tsv"],
    "distil": ["runs/x", "data.path=x.tsv", "--out", "distilled"],
    "evaluate": ["runs/x"],
    "translate": ["runs/x", "--from", "en", "--to", "fr"],
    "score": ["runs/x", "--to", "fr"],
    "export": ["runs/x", "--quantization", "float32"],
    "look": ["runs/x", "The cat.", "--layer", "0", "--head", "1"],
    "compare": ["runs/x", "runs/y", "The cat."],
    "circuit": ["runs/x", "The cat.", "The dog."],
    "models": [],
    "align": ["runs/x", "--src", "in.en", "--tgt", "in.fr"],
    "measure": ["runs/x", "--sentences", "300"],
    "lessons": ["3", "--quick"],
    "serve": ["runs/x", "--port", "0"],
    "env": [],
}
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and pipes")


def python(code, **options):
    """A Python of its own running `code`, with text pipes."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], **{**pipes, **options})


def verb_that(statement):
    """Code that runs the command line with a verb that does nothing but `statement`."""
    return (
        "import sys, time, seq2see.cli.env\nfrom seq2see.cli.command import main\n"
        f"def verb(args):\n    {statement}\n"
        "seq2see.cli.env.run = verb\nsys.exit(main(['env']))"
    )


def without(library, argv, **options):
    """The command in a process where that library cannot be imported: exit code, stdout and stderr."""
    code = f"import sys; sys.modules[{library!r}] = None; from seq2see.cli.command import main; sys.exit(main({argv}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)
    return done.returncode, done.stdout, done.stderr


def one_line(err):
    """The one line of stderr, which is no traceback."""
    (line,) = err.splitlines()
    assert line.startswith("seq2see: ")
    return line


# --- it answers at once


@pytest.mark.parametrize("code", ["import seq2see",
                                  "from seq2see.cli.command import main; main(['--help'])"])
def test_no_library_is_imported_before_it_is_needed(code):
    """What Python itself imports when it starts, the .pth files of its site-packages included, does not count."""
    names = "import atexit, sys; atexit.register(lambda: print('modules:', *sys.modules))\n"
    before, after = (set(python(names + one).communicate()[0].partition("modules:")[2].split()) for one in ("", code))
    assert {name.partition(".")[0] for name in after - before} - sys.stdlib_module_names == {"seq2see"}
    assert "asyncio" not in after
    assert not [name for name in after if name.startswith("seq2see.modeling")]


@pytest.mark.few(3)
@pytest.mark.parametrize("room", ["documents", "lens", "serve.service", "storybook", "text", "tokenizer", "translate"])
def test_a_room_loads_no_torch_before_it_is_needed(room):
    code = f"import sys, seq2see.{room}; sys.exit(not {{'torch', 'transformers'}}.isdisjoint(sys.modules))"
    assert python(code).wait() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="torch brings another OpenMP")
@pytest.mark.parametrize(("set_by_user", "count"), [
    ({}, cli.SPINS), ({"GOMP_SPINCOUNT": "77"}, "77"), ({"OMP_WAIT_POLICY": "active"}, None),
])
def test_threads_sleep_soon_unless_the_user_says_otherwise(set_by_user, count):
    ours = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    environment = {**ours, "OMP_DISPLAY_ENV": "verbose", **set_by_user}
    [library] = Path(torch.__file__).parent.glob("lib/libgomp*")
    loads = verb_that(f"import ctypes; ctypes.CDLL({str(library)!r})")
    told = python(loads, env=environment).communicate()[1]  # what torch's OpenMP itself has read
    [spins] = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", told)
    assert (spins == count) if count else int(spins) > int(cli.SPINS)


# --- the verbs


def test_the_verbs_are_those_that_work_and_no_others(command):
    code, _, err = command("nonsense")
    named = err.partition("there is no verb 'nonsense'; expected one of ")[2].partition(" (")[0]
    assert code == 2 and set(named.split(", ")) == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_parses_and_has_a_module_and_help(verb, command):
    args = cli.build_parser().parse_args([verb, *VERBS[verb]])
    assert callable(importlib.import_module(f"seq2see.cli.{args.name}").run)
    code, out, _ = command(verb, "--help")
    assert code == 0 and f"usage: seq2see {verb}" in out


def test_env_names_versions_and_what_is_missing(command, monkeypatch):
    monkeypatch.setattr(env, "PACKAGES", (*env.PACKAGES, "no-such-package"))
    code, out, _ = command("env")
    facts = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0 and facts["torch"] == importlib.import_module("torch").__version__
    assert facts["python"].startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert facts["no-such-package"] == "not installed"
    assert {"platform", "cpu", "gpu", "transformers", "gradio", "ctranslate2"} <= set(facts)


# --- it fails in one line


@pytest.mark.parametrize(("argv", "said"), [
    (["tranlsate", "--to", "fr"], "there is no verb 'tranlsate'; did you mean translate? (see seq2see --help)"),
    (["look", "runs/x"], "required: TEXT"),
    (["look", "runs/x", "a", "--layer", "-1"], "-1 is not a whole number of at least 0"),
    (["serve", "runs/x", "--port", "70000"], "70000 is not a whole number from 0 to 65535"),
    (["translate", "runs/x", "--frm", "en"], "unrecognized arguments: --frm en (see seq2see translate --help)"),
    (["translate", ""], "argument [RUN] FILE: the name is empty"),
    (["demo", "--run", " "], "argument --run: the name is empty"),
])
def test_wrong_use_is_one_line_and_exit_code_2(argv, said, command):
    code, out, err = command(*argv)
    assert (code, out) == (2, "") and said in one_line(err) and "--help" in err


def test_no_verb_shows_the_help_and_is_wrong_use(command):
    code, _, err = command()
    assert code == 2 and "examples:" in err


@pytest.mark.parametrize(("error", "code", "said"), [
    (UserError("no key 'x' in a.yaml;\n did you mean 'y'?"), 1, "error: no key 'x' in a.yaml; did you mean 'y'?"),
    (UserError("used wrongly", exit_code=2), 2, "error: used wrongly"),
    (FileNotFoundError(2, "No such file or directory", "a.tsv"), 1, "error: No such file or directory: a.tsv"),
    (OSError("many\nlines"), 1, "error: many lines"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 1, "not UTF-8"),
    (ModuleNotFoundError("No module named 'torch.x'", name="torch.x"), 1, "torch is missing: pip install torch"),
    (ModuleNotFoundError("No module named 'typo'", name="typo"), 1, "internal error: ModuleNotFoundError"),
    (MemoryError(), 1, "error: out of memory; close other programs"),
    (RuntimeError("DefaultCPUAllocator: can't allocate memory"), 1, "error: out of memory; close other programs"),
    (RuntimeError("could not create a primitive"), 1, "error: out of memory; close other programs"),
    (KeyError("two\nlines"), 1, "internal error: KeyError: 'two\\nlines' (rerun with SEQ2SEE_DEBUG=1"),
    (KeyboardInterrupt(), 130, "interrupted"),
])
def test_a_failure_is_one_line_and_its_exit_code(error, code, said, command, monkeypatch):
    def verb(args):
        raise error

    monkeypatch.setattr(env, "run", verb)
    got, _, err = command("env")
    assert got == code and said in one_line(err)
    monkeypatch.setenv("SEQ2SEE_DEBUG", "1")
    assert ("Traceback" in command("env")[2]) == isinstance(error, Exception)


def test_every_dependency_is_named_with_what_brings_it(root):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {f"'seq2see[{extra}]'": packages for extra, packages in project["optional-dependencies"].items()}
    del extras["'seq2see[dev]'"], extras["'seq2see[docs]'"]  # no module of the package imports them
    named = {(re.split(r"[^\w-]", package)[0].replace("-", "_"), extra) for extra, packages in extras.items()
             for package in packages if "[" not in package}
    base = {re.split(r"[^\w-]", package)[0] for package in project["dependencies"]}
    assert named <= cli.PACKAGE_OF.items() and base <= set(cli.PACKAGE_OF.values())


@pytest.fixture(scope="module")
def exported_run(tmp_path_factory):
    """A tiny run with its export."""
    pytest.importorskip("ctranslate2")
    from seq2see.translate.ctranslate2_export import exported

    run = tiny.save(tmp_path_factory.mktemp("run"), *tiny.make("seq2see"))
    exported(run, quantization="int8")
    return run


@pytest.mark.few(2)
@pytest.mark.parametrize(("argv", "code", "said"), [
    (["env"], 0, "torch cannot be imported"),
    (["translate", "RUN", "--to", "fr"], 0, "\n"),
    (["translate", "runs/none"], 1, "error: there is no folder runs/none; give"),
    (["look", "RUN", "The cat."], 1, "error: torch is missing: pip install torch"),
    (["train", "storybook"], 1, "error: torch is missing: pip install torch"),
])
def test_what_can_works_without_torch_and_the_rest_says_what_is_missing(argv, code, said, exported_run, tmp_path):
    argv = [{"RUN": str(exported_run), "OUT": str(tmp_path / "out")}.get(word, word) for word in argv]
    got, out, err = without("torch", argv, input="The cat.\n", cwd=tmp_path)
    assert (got, said in out + err) == (code, True), err
    assert code == 0 or one_line(err.splitlines()[-1])


ALIGN = ["align", "runs/none", "--src", "IN", "--tgt", "IN"]


@pytest.mark.few(2)
@pytest.mark.parametrize(("argv", "content", "said"), [
    (["translate", "runs/none"], "The cat.\n".encode("utf-16-le"), "not UTF-8 but UTF-16; convert it with iconv"),
    (["translate", "runs/none"], b"The cat.\n" * 9000 + b"L'\xe9t\xe9\n", "line 9001"),
    (["translate", "runs/none"], b"The cat. " * 120_000, "line 1"),
    (["score", "runs/none"], "The cat.\tLe chat.\n".encode("utf-16"), "not UTF-8 but UTF-16; convert it with iconv"),
    (["score", "runs/none"], b"a" * 20_000 + b"\tLe chat.\n", "a word has 20,000 characters"),
    (ALIGN, "L'été\n".encode("latin-1"), "not UTF-8"),
    (ALIGN, b"a" * 20_000, "a word has 20,000 characters"),
    (["look", "runs/none", "a" * 20_000], b"", "a word has 20,000 characters"),
])
def test_a_text_is_refused_before_a_model_is_looked_for(argv, content, said, tmp_path):
    file = tmp_path / "in.txt"
    file.write_bytes(content)
    with file.open("rb") as stdin:
        code, out, err = without("torch", [str(file) if word == "IN" else word for word in argv], stdin=stdin)
    assert (code, out) == (1, "") and said in one_line(err)


@pytest.mark.few(1)
@pytest.mark.parametrize("verb", ["demo", "serve"])
def test_a_server_without_its_extra_is_told_how_to_get_it(verb, tmp_path):
    code, _, err = without("fastapi", [verb, *VERBS[verb]], cwd=tmp_path)
    assert code == 1 and "pip install 'seq2see[serve]'" in one_line(err)
    assert not list(tmp_path.iterdir())


def test_a_busy_port_is_told_before_the_page_is_imported():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, _, err = without("gradio", ["serve", "runs/x", "--port", port])
    assert code == 1 and f"cannot listen on 127.0.0.1 port {port}" in one_line(err) and "--port" in err


@pytest.mark.parametrize("argv", [
    ["train", "no-such-config"], ["train", "storybook", "trainin.seed=1"], ["evaluate", "no/such/run"],
    ["look", "no/such/run", "The cat."], ["serve", "no/such/run", "--port", "0"],
], ids=lambda argv: " ".join(argv[:2]))
def test_what_is_not_there_is_told_in_one_line(argv, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    code, _, err = command(*argv)
    assert code in (1, 2) and one_line(err).startswith("seq2see: error: ")
    assert any(word in err for word in argv[1:])
    assert not list(tmp_path.iterdir())


# --- it dies quietly


@posix
@pytest.mark.parametrize(("number", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "")])
def test_signals_end_it_with_their_own_exit_code(number, code, said):
    # Many short sleeps: a signal between Python's last look for one and the system call does not end that call.
    process = python(verb_that("print('ready', flush=True); [time.sleep(0.05) for _ in range(1200)]"))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert said in err and "Traceback" not in err


@posix
@pytest.mark.parametrize(("number", "code", "said"), [
    (signal.SIGINT, 130, "seq2see: interrupted\n"), (signal.SIGTERM, 143, "")])
def test_an_import_that_loses_the_signal_ends_all_the_same(number, code, said, tmp_path):
    (tmp_path / "losing.py").write_text(f"""
import signal
try:
    signal.raise_signal({number:d})
except BaseException:
    pass
""")
    process = python(f"import sys; sys.path.append({str(tmp_path)!r})\n" + verb_that("import losing; print('goes on')"))
    assert process.communicate(timeout=60) == ("", said) and process.returncode == code


@posix
@pytest.mark.parametrize(("number", "raised", "code", "said"), [
    (signal.SIGINT, RuntimeError("the wait was interrupted"), 130, "seq2see: interrupted\n"),
    (signal.SIGTERM, SystemExit(1), 143, ""),  # as Ray does
])
def test_a_library_that_makes_its_own_error_of_the_signal_is_interrupted_all_the_same(
        number, raised, code, said, monkeypatch, command):
    def verb(args):
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            signal.raise_signal(number)
        raise raised

    monkeypatch.setattr(env, "run", verb)
    assert command("env") == (code, "", said)


@posix
@pytest.mark.parametrize("size", [10, 100_000], ids=["at the end", "while writing"])
def test_a_reader_that_goes_away_is_no_error(size):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = python(verb_that(f"time.sleep(0.5); print('x' * {size})"), env=buffered)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 141


def test_streams_are_utf8_whatever_the_locale_says():
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    code = verb_that("print(sys.stdin.read(), end=''); print(chr(233), file=sys.stderr)")
    process = python(code, text=False, stdin=subprocess.PIPE, env=ascii_only)
    out, err = process.communicate("l'été हिन्दी".encode())
    assert (process.returncode, out.decode(), err.decode().strip()) == (0, "l'été हिन्दी", "é")
