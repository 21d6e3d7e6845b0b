"""The wheel works with no checkout: built, installed beside this environment's libraries, run from another folder.

CI runs this once more on an environment into which pip put the wheel and its dependencies alone: `SEQ2SEE_ENVIRONMENT`.
"""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import tiny

from seq2see.pretrained import NAMES

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
EVERY_MODULE = """
import gc
gc.disable()
import importlib, pkgutil, seq2see
for module in pkgutil.walk_packages(seq2see.__path__, "seq2see."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        extras = ("gradio", "fastapi", "uvicorn", "starlette", "prometheus_client", "ctranslate2", "ray")
        assert error.name in extras, error
    else:
        print(module.name)
print(seq2see.__file__)
gc.freeze()
"""


@pytest.fixture(scope="module")
def homes(request: pytest.FixtureRequest) -> dict[str, Path]:
    """The folder of each packaged model: the checkout's, or what stands in for it."""
    here = {name: ROOT / "seq2see" / "pretrained" / name for name in NAMES}
    return {name: folder if folder.is_dir() else request.getfixturevalue("stand_ins") / name
            for name, folder in here.items()}  # fmt: skip


@pytest.fixture(scope="module")
def wheel(homes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    builder = Path(__file__).with_name("build_wheel.py")
    subprocess.run([sys.executable, builder, folder, *homes.values()], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel, and sees the libraries of this one but not its editable install."""
    if given := os.environ.get("SEQ2SEE_ENVIRONMENT"):
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / PROGRAMS / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/*/site-packages")
    # A path alone: .pth files inside the folder that it names, such as the editable install's, are not read.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture(scope="module")
def workplace(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder far from the checkout, with a model trained there from a file of pairs and a packaged configuration."""
    folder = tmp_path_factory.mktemp("workplace")
    words = [("red", "rouge"), ("big", "énorme"), ("sad", "triste"), ("young", "jeune"), ("calm", "calme")]
    pairs = [f"The {a} cat sees {n} boats.\tLe chat {b} voit {n} bateaux.\n" for a, b in words for n in range(2, 22)]
    (folder / "pairs.tsv").write_text("".join(pairs), "utf-8")
    small = ["model.d_model=32", "model.encoder_layers=1", "model.decoder_layers=1", "tokenizer.vocab_size=400"]
    small += ["model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "evaluation.max_length=12"]
    settings = ["data.path=pairs.tsv", "data.val_fraction=0.1", *small, "training.max_steps=2"]
    settings += ["training.output_dir=runs/storybook"]
    done = run(environment, "seq2see", "train", "storybook", *settings, folder=folder)
    assert done.returncode == 0, done.stderr
    (folder / "Helsinki-NLP").mkdir()  # the README's model of the Hub
    tiny.save(folder / "Helsinki-NLP" / "opus-mt-en-fr", *tiny.published_marian())
    return folder


def run(
    environment: Path, program: str, *arguments: str, folder: Path, given: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in `folder`, with `given` on its standard input."""
    command = [environment / PROGRAMS / program, *arguments]
    env = os.environ | {"PYTHONPATH": ""} | variables  # or it would find the checkout
    return subprocess.run(command, cwd=folder, input=given, capture_output=True, encoding="utf-8", env=env)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"seq2see"}
    assert not [name for name in names if "test" in name or "__pycache__" in name or name.endswith(".pyi")]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_holds_every_file_that_the_checkout_has(wheel: Path) -> None:
    folders = ("seq2see", "modeling", "tokenizer", "translate", "storybook", "training", "lens", "measures", "lessons",
               "serve", "configs")
    kinds = {".py", ".yaml", ".js", ".css", ".html", ".typed"}  # of the packaged models the test below tells
    here = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    here += (ROOT / "lessons").glob("*.md")
    wanted = {path.relative_to(ROOT).as_posix() for path in [*here, ROOT / "seq2see/py.typed"]}
    wanted = {name if name.startswith("seq2see/") else f"seq2see/{name}" for name in wanted}
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_holds_every_file_of_the_packaged_models_and_is_small(homes: dict[str, Path], wheel: Path) -> None:
    wanted = {f"seq2see/pretrained/{name}/{path.relative_to(folder).as_posix()}"
              for name, folder in homes.items() for path in folder.rglob("*") if path.is_file()}  # fmt: skip
    held = {name for name in zipfile.ZipFile(wheel).namelist() if re.match("seq2see/pretrained/.*/", name)}
    assert held == wanted and len(wanted) > 2 * 15
    assert wheel.stat().st_size < 40_000_000


def test_packaged_models_are_used_where_they_lie(environment: Path, tmp_path: Path) -> None:
    """With nowhere else to write to either: as in an environment that is read-only."""
    (site,) = environment.rglob("seq2see/pretrained")
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*") if "__pycache__" not in path.parts}
    nowhere = {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none", "HF_HOME": "/proc/none"}
    done = run(environment, "seq2see", "translate", "--to", "fr", folder=tmp_path, given="The red cat.\n\n", **nowhere)
    assert (done.returncode, done.stdout.count("\n")) == (0, 2), done.stderr
    assert "torch translates" not in done.stderr
    done = run(environment, "seq2see", "look", "storybook", "The red cat.", folder=tmp_path, **nowhere)
    assert done.returncode == 0 and "Cross-attention" in done.stdout, done.stderr
    done = run(environment, "seq2see", "models", folder=tmp_path, **nowhere)
    assert [line.partition(":")[0] for line in done.stdout.splitlines() if line[0] != " "] == [*NAMES], done.stderr
    after = {path: path.stat().st_mtime_ns for path in site.rglob("*") if "__pycache__" not in path.parts}
    assert after == before and not list(tmp_path.iterdir())


def test_every_module_can_be_imported_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    done = run(environment, "python", "-c", EVERY_MODULE, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    *modules, place = done.stdout.splitlines()
    assert Path(place).is_relative_to(environment)
    wanted = {"seq2see.modeling.loading", "seq2see.lens.explorer", "seq2see.storybook", "seq2see.translate.translator"}
    assert wanted <= set(modules)


def test_the_command_is_installed(environment: Path, tmp_path: Path) -> None:
    done = run(environment, "seq2see", "--help", folder=tmp_path)
    assert done.returncode == 0 and "seq2see demo" in done.stdout
    assert re.search(r"^torch +2\.", run(environment, "seq2see", "env", folder=tmp_path).stdout, re.MULTILINE)


def test_lines_become_as_many_translated_lines(environment: Path, workplace: Path) -> None:
    arguments = ("translate", "runs/storybook", "--to", "fr")
    done = run(environment, "seq2see", *arguments, folder=workplace, given="The sad cat.\n\nThe boats.\n")
    cut = r"the translation reached the model's maximum length, .* of 3 lines \(first: line 1\)\n"
    assert done.returncode == 0 and re.fullmatch(f"(?:{cut})?", done.stderr)  # a model trained for a moment rarely ends
    assert len(done.stdout.split("\n")) == 4 and done.stdout.split("\n")[1] == ""


def test_a_sentence_becomes_a_page_that_stands_alone(environment: Path, workplace: Path) -> None:
    arguments = ("look", "runs/storybook", "The sad cat.", "--out", "look.html")
    done = run(environment, "seq2see", *arguments, folder=workplace)
    assert done.returncode == 0, done.stderr
    page = (workplace / "look.html").read_text("utf-8")
    first = [path.read_text("utf-8").splitlines()[0] for path in (ROOT / "lens/drawing").glob("*.js")]
    assert all(line in page for line in first)
    assert '"The sad cat."' in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)


def test_a_run_can_be_evaluated(environment: Path, workplace: Path) -> None:
    arguments = ("evaluate", "runs/storybook", "--data", "pairs.tsv", "--split", "val", "--num-beams", "1")
    done = run(environment, "seq2see", *arguments, folder=workplace)
    assert done.returncode == 0, done.stderr
    assert "BLEU" in done.stdout and "chrF" in done.stdout


def test_the_python_of_the_readme_runs_as_written(environment: Path, workplace: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, flags=re.MULTILINE | re.DOTALL)
    assert blocks and "Translator" in blocks[0]
    for block in blocks:
        done = run(environment, "python", "-c", block, folder=workplace)
        assert done.returncode == 0, done.stderr
