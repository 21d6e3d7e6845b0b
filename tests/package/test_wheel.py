"""The wheel works with no checkout: built, installed beside this environment's libraries, run from another folder."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EVERY_MODULE = """
import importlib, pkgutil, seq2see
for module in pkgutil.walk_packages(seq2see.__path__, "seq2see."):
    importlib.import_module(module.name)
    print(module.name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    builder = Path(__file__).with_name("build_wheel.py")
    subprocess.run([sys.executable, builder, folder], check=True, capture_output=True, text=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel, and sees the libraries of this one but not its editable us."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", programs / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/*/site-packages")
    # A path line only: .pth files of the folder it names, such as the editable install's, are not read.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def run(program: Path, *arguments: object, folder: Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [str(item) for item in (program, *arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, **options)  # type: ignore[call-overload]


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"seq2see"}
    assert not [name for name in names if "test" in name or "__pycache__" in name or "egg-info" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_holds_every_file_that_the_checkout_has(wheel: Path) -> None:
    folders = ("seq2see", "modeling", "tokenizer", "training", "lens", "serve", "configs")
    kinds = {".py", ".yaml", ".js", ".css", ".html", ".typed"}
    here = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    here += [ROOT / "seq2see/py.typed"]
    wanted = {path.relative_to(ROOT).as_posix() for path in here}
    wanted = {name if name.startswith("seq2see/") else f"seq2see/{name}" for name in wanted}
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())


def test_every_module_can_be_imported_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    done = run(installed / "python", "-c", EVERY_MODULE + "print(seq2see.__file__)", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    *modules, place = done.stdout.split()
    assert Path(place).is_relative_to(installed.parent)
    assert {"seq2see.modeling.loading", "seq2see.lens.trace", "seq2see.training.storybook"} <= set(modules)


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    done = run(installed / "seq2see", "--help", folder=tmp_path)
    assert done.returncode == 0 and "seq2see demo" in done.stdout
    assert "not installed" not in run(installed / "seq2see", "env", folder=tmp_path).stdout.partition("torch ")[2][:40]


def test_pairs_become_a_translation_and_a_picture(installed: Path, tmp_path: Path) -> None:
    """The whole path in a folder with nothing but a file of pairs: a packaged configuration, by its name."""
    words = [("red", "rouge"), ("big", "énorme"), ("sad", "triste"), ("young", "jeune"), ("calm", "calme")]
    pairs = [f"The {a} cat sees {n} boats.\tLe chat {b} voit {n} bateaux." for a, b in words for n in range(2, 22)]
    (tmp_path / "pairs.tsv").write_text("\n".join(pairs) + "\n", "utf-8")
    small = ["model.d_model=32", "model.encoder_layers=1", "model.decoder_layers=1", "tokenizer.vocab_size=400"]
    small += ["model.encoder_ffn_dim=32", "model.decoder_ffn_dim=32", "evaluation.max_length=12"]
    settings = ["data.path=pairs.tsv", "data.val_fraction=0.1", *small]
    settings += ["training.max_steps=2", "training.output_dir=run"]
    seq2see = installed / "seq2see"
    done = run(seq2see, "train", "storybook", *settings, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run(seq2see, "translate", "run", "--to", "fr", folder=tmp_path, input="The sad cat.\n\nThe boats.\n")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split("\n")) == 4 and done.stdout.split("\n")[1] == ""
    done = run(seq2see, "look", "run", "The sad cat.", "--out", "look.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "look.html").read_text("utf-8")
    assert "<canvas" in page or "canvas" in page
    assert "cat" in page
