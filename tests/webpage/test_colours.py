"""Colours for readers who tell few of them apart: the tones as three kinds of dichromats see them, and even ramps.

What a dichromat sees is Machado, Oliveira and Fernandes (2009), "A Physiologically-based Model for Simulation of Color
Vision Deficiency", table 1, severity 1, on linear RGB; how far apart two colours are, CIE 1976 (L*a*b*).
"""

import itertools
import re

import numpy as np
import pytest

from seq2see.webpage import palette

SEES = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.41246, 0.35758, 0.18044], [0.21267, 0.71515, 0.07217], [0.01933, 0.11919, 0.95030]])  # of linear RGB
JUST = 2.3  # what an eye can just tell


def lab(rgb: np.ndarray, sees: np.ndarray) -> np.ndarray:
    """L*, a*, b* of a colour given in 0 to 255."""
    share = np.asarray(rgb) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    ratio = XYZ @ np.clip(np.asarray(sees) @ linear, 0, 1) / (0.95047, 1, 1.08883)
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def channels(code: str) -> np.ndarray:
    return np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)])


def ramps(theme: str) -> dict[str, list[np.ndarray]]:
    return {name: list(map(channels, ramp)) for name, ramp in palette.RAMPS[theme].items()}


def test_every_colour_of_the_page_the_lessons_and_the_pictures_stands_in_one_file(root):
    drawn = [*root.glob("webpage/*/*.*s"), *root.glob("serve/ui/*.css"), root / "serve/ui/starting.html",
             *root.glob("webpage/*.py"), *root.glob("lens/**/*.py"), *root.glob("lessons/*.py")]
    named = {path.name for path in drawn if re.search(r"#[0-9a-fA-F]{6}\b", path.read_text("utf-8"))}
    assert named == {"palette.py"}
    used = {name for path in drawn for name in re.findall(r"var\(--([\w-]+)\)", path.read_text("utf-8"))}
    assert palette.COLOURS["light"].keys() == palette.COLOURS["dark"].keys() <= used | {"purple", "red"}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sees", SEES)
def test_more_weight_is_further_from_the_page(theme, sees):
    assert set(ramps(theme)) == {"blue", "orange", "green", "slate"}
    for name, ramp in ramps(theme).items():
        lightness = [lab(rgb, SEES[sees])[0] for rgb in ramp]
        steps = np.diff(lightness) * (-1 if theme == "light" else 1)
        assert (steps > JUST).all(), name


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sees", ["all", "no red", "no green"])
def test_the_tones_are_distinct(theme, sees):
    middle = [lab(ramp[4], SEES[sees]) for ramp in ramps(theme).values()]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(middle, 2)) > JUST


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sees", SEES)
def test_heads_that_are_overlaid_are_distinct(theme, sees):
    codes = palette.HEADS[theme]
    assert len(codes) == 8
    *heads, page = [lab(channels(code), SEES[sees]) for code in (*codes, palette.COLOURS[theme]["card"])]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(heads, 2)) > 10 * JUST
    assert min(abs(one[0] - page[0]) for one in heads) > 10 * JUST
