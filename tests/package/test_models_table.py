"""docs/models.md says of each model family what it can do here: every cell is tried on a tiny random model.

    pytest tests/package/test_models_table.py
"""

import re
from pathlib import Path

import families
import httpx
import pytest
import serving
import tiny

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import VIEWS, Head, ablate
from seq2see.lens.views.attribution_methods import obstacle
from seq2see.measures.measure import Measure, measures_of

pytestmark = pytest.mark.docs
PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
CELLS = [re.split(r" *\| *", line.strip("| ")) for line in PAGE.read_text("utf-8").splitlines() if line[:1] == "|"]
ROWS = {family: cells for family, *cells in CELLS}
[(_, COLUMNS), _, *FAMILIES] = ROWS.items()


def made(family):
    if family == "Seq2See":
        return tiny.seq2see()
    if family == "Marian (OPUS-MT)":
        return tiny.published_marian()
    return families.made(family), tiny.foreign_tokenizer()


def served(translator):
    with serving.running({"tiny": lambda: translator}) as server:
        answer = httpx.post(f"{server.url}/v1/translate", json={"texts": [TEXT]}, timeout=60).json()
    assert answer["translations"][0]["engine"] == translator.engine.name


def every_view(translator):
    views = [view for view in VIEWS if obstacle(translator.model, view) is None]
    [trace] = translator.look(translator(TEXT), views=views)
    assert trace.maps("cross", "contributions").ndim == 3


def measured(translator):
    """Its views and roles; the calibration of a model so small needs more text than it reads at a time."""
    pairs = translator.folder.parent / "own.csv"
    pairs.write_text("en,fr\n" + "".join(f"The cat {i}.,Le chat {i}.\n" for i in range(24)), "utf-8")
    for one in measures_of(translator, [str(pairs)], source="en", target="fr"):
        if isinstance(one, Measure) and one.name != "calibration":
            one.take(6)


def without_a_head(translator):
    with translator.inside() as (model, _), ablate(model, [Head("cross", 0, 0)]):
        pass


def fast(translator):
    Translator.from_pretrained(translator.folder, engine="ctranslate2")


TEXT = tiny.SENTENCES[0]
TRIES = {
    "translates": lambda translator: translator(TEXT),
    "looks": lambda translator: translator.look(translator(TEXT)),
    "all views": every_view,
    "heads off": without_a_head,
    "scores": lambda translator: translator.score([TEXT], [tiny.SENTENCES[3]]),
    "measured": measured,
    "serves": served,
    "CTranslate2": fast,
}


def test_the_table_has_every_family_and_column():
    assert list(TRIES) == COLUMNS
    assert [name for name, _ in FAMILIES] == ["Seq2See", "Marian (OPUS-MT)", *families.CONFIGS]


@pytest.mark.parametrize(("family", "cells"), FAMILIES)
def test_what_a_family_can_do_is_what_the_table_says(tmp_path, family, cells):
    translator = Translator.from_pretrained(tiny.save(tmp_path / "model", *made(family)), engine="torch")
    found = []
    for tried in TRIES.values():
        try:
            tried(translator)
            found.append("yes")
        except UserError:
            found.append("no")
    assert found == cells
