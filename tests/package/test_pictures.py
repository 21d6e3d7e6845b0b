"""The pictures in docs/ are used by a document, and up to date: else docs/pictures.py, animation.py or plots.py."""

import hashlib
import importlib.util
import re
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
USED = {
    (document.parent / name).resolve()
    for document in DOCUMENTS for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", document.read_text("utf-8"))
}  # fmt: skip
SPEC = importlib.util.spec_from_file_location("plots", ROOT / "docs" / "plots.py")
plots = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(plots)
PICTURES = sorted(path for kind in ("png", "svg", "webp") for path in (ROOT / "docs").glob(f"*.{kind}"))


def test_every_picture_is_used_and_there():
    assert set(PICTURES) == USED


@pytest.mark.parametrize("path", [path for path in PICTURES if path.name.startswith(("page", "seq2see"))],
                         ids=lambda path: path.name)  # fmt: skip
def test_a_picture_of_the_page_shows_it_as_it_is(path):
    """Its words, labels, layers and figures: they are all in the first view, which a test of the page holds true."""
    now = hashlib.sha256((ROOT / "serve/ui/first_view.html").read_bytes()).hexdigest()
    with Image.open(path) as picture:
        assert now in (picture.info.get("first view"), picture.info.get("xmp", b"").decode())


def test_the_plot_shows_the_figures_of_its_tables():
    assert (ROOT / "docs" / "speed.svg").read_text("utf-8") == plots.speed(), "python docs/plots.py"
