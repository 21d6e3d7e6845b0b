"""Measurements in the model card."""

from dataclasses import replace

import pytest

from seq2see.errors import UserError
from seq2see.lens.records.trust import FILE, Trust
from seq2see.manifest import check_manifest, write_manifest
from seq2see.measures.card_sections import show_measurements
from seq2see.pretrained import HOME


def test_a_measurement_becomes_a_section_and_replaces_an_earlier_one(tmp_path):
    card = tmp_path / "README.md"
    card.write_text("# A card\n\n## Limits\nMany.\n\n## Faithfulness\nNot measured.\n\n## Citation\nNone.\n", "utf-8")
    trust = Trust.load(HOME / "storybook" / FILE)
    trust.save(tmp_path / FILE)
    show_measurements(tmp_path)
    text = card.read_text("utf-8")
    assert text.startswith("# A card\n\n## Limits\nMany.\n\n## Faithfulness\n")
    assert text.endswith("\n\n## Citation\nNone.\n")
    assert "Not measured." not in text
    best = next(one for one in trust.best if one.view == "contributions")
    row = next(line for line in text.splitlines() if line.startswith("| contributions |"))
    assert f"| {best.aer.value:.1%} [{best.aer.low:.1%}, {best.aer.high:.1%}] |" in row
    show_measurements(tmp_path)
    assert card.read_text("utf-8") == text, "a second time changes nothing"


def test_the_manifest_of_a_released_model_stays_valid(tmp_path):
    """Its card and its measurements are listed, those of a run are not."""
    trust = Trust.load(HOME / "storybook" / FILE)
    trust.save(tmp_path / FILE)
    (tmp_path / "README.md").write_text("# A card\n", "utf-8")
    write_manifest(tmp_path, leave_out=[])
    replace(trust, sentences=1).save(tmp_path / FILE)
    show_measurements(tmp_path)
    check_manifest(tmp_path)
    (tmp_path / FILE).write_text("{}", "utf-8")
    with pytest.raises(UserError, match="its SHA-256 checksum is wrong"):
        check_manifest(tmp_path)


def test_a_folder_without_a_card_gets_none(tmp_path):
    Trust.load(HOME / "storybook" / FILE).save(tmp_path / FILE)
    show_measurements(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
