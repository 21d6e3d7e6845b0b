"""The wheel works with no checkout: built, installed beside this environment's libraries, run from another folder.

CI has an environment into which pip put the wheel and its dependencies alone: SEQ2SEE_INSTALLED is the folder of both.
"""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

from seq2see.pretrained import NAMES
from .build_wheel import build_wheel

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
FOLDERS = ("seq2see", "modeling", "tokenizer", "translate", "storybook", "training", "lens", "measures",
           "lessons", "documents", "serve", "configs", "webpage", "passes", "text", "webpage_data")
EVERY_MODULE = """
import importlib, pkgutil, sys
extras = ("gradio", "fastapi", "uvicorn", "starlette", "prometheus_client", "ctranslate2", "peft", "ray",
          "polib")
sys.modules.update(dict.fromkeys(extras))  # as pip installs the wheel without them
import seq2see
from seq2see.cli.command import main
for module in pkgutil.walk_packages(seq2see.__path__, "seq2see."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        assert error.name.partition(".")[0] in extras, error
        print("without", module.name)
    else:
        print(module.name)
main(["env"])
print(seq2see.__file__)
"""


@pytest.fixture(scope="module")
def homes(request):
    """The folder of each packaged model: the checkout's, or what stands in for it."""
    here = {name: ROOT / "seq2see" / "pretrained" / name for name in NAMES}
    return {name: folder if folder.is_dir() else request.getfixturevalue("stand_ins") / name
            for name, folder in here.items()}


@pytest.fixture(scope="module")
def wheel(homes, tmp_path_factory):
    if given := os.environ.get("SEQ2SEE_INSTALLED"):
        (built,) = Path(given).glob("*.whl")
        return built
    return build_wheel(tmp_path_factory.mktemp("wheel"), *homes.values())


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """An environment that has the wheel, and sees the libraries of this one but not its editable install."""
    if given := os.environ.get("SEQ2SEE_INSTALLED"):
        return Path(given).resolve() / "environment"
    folder = tmp_path_factory.mktemp("environment")
    for command in (["venv", "--clear", "--python", sys.executable, folder],
                    ["pip", "install", "--python", folder, "--no-deps", "--no-index", wheel]):
        subprocess.run([find_uv_bin(), *command, "--quiet", "--offline", "--no-config", "--no-cache"], check=True)
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/*/site-packages")
    # A path alone: .pth files inside the folder that it names, such as the editable install's, are not read.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture(scope="module")
def run(environment, tmp_path_factory):
    """Runs a program of the environment in a folder far from the checkout; gives its standard output."""
    far = tmp_path_factory.mktemp("far")

    def run(*command, folder=far, given="", **variables):
        program, *arguments = command
        env = os.environ | {"PYTHONPATH": ""} | variables  # or it would find the checkout
        done = subprocess.run([environment / PROGRAMS / program, *arguments], cwd=folder, input=given,
                              capture_output=True, encoding="utf-8", env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def workplace(run, tmp_path_factory):
    """A folder with a model trained there from a file of pairs and a packaged configuration."""
    folder = tmp_path_factory.mktemp("workplace")
    words = [("red", "rouge"), ("big", "énorme"), ("sad", "triste"), ("young", "jeune"), ("calm", "calme")]
    pairs = [f"The {a} cat sees {n} boats.\tLe chat {b} voit {n} bateaux.\n" for a, b in words for n in range(2, 22)]
    (folder / "pairs.tsv").write_text("".join(pairs), "utf-8")
    small = ["model.d_model=32", "model.encoder_layers=1", "model.decoder_layers=1", "tokenizer.vocab_size=400",
             "model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "generation.max_length=12"]
    run("seq2see", "train", "storybook", "data.path=pairs.tsv", "data.val_fraction=0.1", *small,
        "training.max_steps=2", "training.output_dir=runs/storybook", "--no-measures", folder=folder)
    return folder


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(homes, wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"seq2see"}
    assert not [name for name in names if "test" in name or "__pycache__" in name or name.endswith(".pyi")]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    kinds = {".py", ".yaml", ".js", ".css", ".html", ".typed"}
    here = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    here = [path.relative_to(ROOT).as_posix() for path in [*here, *(ROOT / "lessons").glob("*.md")]]
    assert {name if name.startswith("seq2see/") else f"seq2see/{name}" for name in here} <= set(names)
    models = {f"seq2see/pretrained/{name}/{path.relative_to(folder).as_posix()}"
              for name, folder in homes.items() for path in folder.rglob("*") if path.is_file()}
    assert {name for name in names if re.match("seq2see/pretrained/.*/", name)} == models and len(models) > 2 * 15
    assert wheel.stat().st_size < 42_000_000


@pytest.mark.long
def test_packaged_models_are_used_where_they_lie(run, environment, tmp_path):
    """With nowhere else to write to either: as in an environment that is read-only."""
    (site,) = environment.rglob("seq2see/pretrained")

    def times():
        return {path: path.stat().st_mtime_ns for path in site.rglob("*") if "__pycache__" not in path.parts}

    before = times()
    nowhere = {"folder": tmp_path, "HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none", "HF_HOME": "/proc/none"}
    assert run("seq2see", "translate", "--to", "fr", given="The red cat.\n\n", **nowhere).count("\n") == 2
    assert "Cross-attention" in run("seq2see", "look", "storybook", "The red cat.", **nowhere)
    listed = run("seq2see", "models", **nowhere).splitlines()
    assert [line.partition(":")[0] for line in listed if line[0] != " "] == [*NAMES]
    assert times() == before and not list(tmp_path.iterdir())


@pytest.mark.long
def test_every_module_can_be_imported_from_the_wheel_and_env_says_what_is_there(run, environment):
    *said, place = run("python", "-c", EVERY_MODULE).splitlines()
    assert Path(place).is_relative_to(environment)
    wanted = {"seq2see.modeling.loading", "seq2see.lens.show.trace_page", "seq2see.storybook",
              "seq2see.translate.translator"}
    assert wanted <= set(said)
    page = ("without seq2see.serve.", "without seq2see.documents.", "without seq2see.translate.ctranslate2_engine")
    assert all(line.startswith(page) for line in said if line.startswith("without ")), "an extra is asked for elsewhere"
    assert any(re.match(r"torch +2\.", line) for line in said)


@pytest.mark.long
def test_a_trained_run_translates_and_can_be_evaluated(run, workplace):
    out = run("seq2see", "translate", "runs/storybook", "--to", "fr", given="The sad cat.\n\nThe boats.\n",
              folder=workplace)
    assert len(out.split("\n")) == 4 and out.split("\n")[1] == ""
    out = run("seq2see", "evaluate", "runs/storybook", "--data", "pairs.tsv", "--split", "val", "--num-beams", "1",
              folder=workplace)
    assert "BLEU" in out and "chrF" in out
