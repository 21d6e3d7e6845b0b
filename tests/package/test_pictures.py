"""The pictures in docs/ are used by a document, and the plot is up to date; those of the page are tested with it
(tests/webpage/test_first_view.py).
"""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
USED = {
    (document.parent / name).resolve()
    for document in DOCUMENTS for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", document.read_text("utf-8"))
}
SPEC = importlib.util.spec_from_file_location("plots", ROOT / "docs" / "plots.py")
plots = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(plots)
PICTURES = sorted(path for kind in ("png", "svg", "webp") for path in (ROOT / "docs").glob(f"*.{kind}"))


def test_every_picture_is_used_and_there():
    assert set(PICTURES) == USED


def test_the_plot_shows_the_figures_of_its_tables():
    assert (ROOT / "docs" / "speed.svg").read_text("utf-8") == plots.speed(), "python docs/plots.py"
