"""The verb `look`: the translation and a map on the terminal, or a file, whole, with all that is asked for."""

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
from tiny import calibrate_by_hand

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import Calibrator, Trace, measure_trust, to_terminal
from seq2see.lens.data.view_names import OF_ATTENTION
from seq2see.lens.records.trust import UNMEASURED
from seq2see.lens.show.maps import NOT_CALIBRATED
from seq2see.streams import printable
from seq2see.translate.ctranslate2_export import weights_hash
from seq2see.translate.loaded_checkpoint import fingerprint
from tests.full_disk import files_of_at_most


@pytest.fixture
def look(command, folder):
    """Look at a text with the tiny Seq2See, or another run; gives the exit code, stdout and stderr."""
    return lambda text, *arguments, run=folder: command("look", run, "--engine", "torch", text, *arguments)


def test_it_draws_the_view_rows_and_words_asked_for(look, translator, folder):
    asked = ["--view", "norm", "--kind", "decoder", "--layer", "1", "--head", "1", "--words", "--rows", "reads"]
    code, out, _ = look("The cat did not cross.", *asked)
    [trace] = translator.look(translator("The cat did not cross."), views=["raw", "norm"])
    trace = replace(trace, model=str(folder))  # a server among the tests calls it by another name
    wanted = to_terminal(trace, view="norm", kind="decoder", layer=1, head=1, words=True, rows="reads")
    assert code == 0 and out == f"{printable(trace.target_text)}\n\n{wanted}\n" and "\x1b" not in out


def test_it_writes_numbers_that_are_the_traces(look, translator, tmp_path):
    path = tmp_path / "x.json"
    code, out, err = look("The cat zebra.", "--to", "fr", "--alternative", "2", "--out", path)
    assert (code, out) == (0, "") and f"wrote {path}" in err and "zebra" in err
    [expected] = translator.look(translator("The cat zebra.", target="fr", alternatives=3), alternative=2)
    np.testing.assert_array_equal(Trace.load(path).cross["raw"], expected.cross["raw"])
    assert json.loads(path.read_text())["target_ids"] == list(expected.target_ids)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["x.png", "x.svg", "x.pdf", "x.npz"])
def test_it_writes_pictures_and_all_numbers(look, tmp_path, name):
    path = tmp_path / name
    assert look("The cat.", "--view", "left_out", "--out", path)[0] == 0
    if name == "x.npz":
        assert Trace.load(path).views == ("raw", "left_out") and Trace.load(path).logits is not None
    else:
        starts = {"x.png": b"\x89PNG\r\n\x1a\n", "x.svg": b"<?xml", "x.pdf": b"%PDF"}
        assert path.read_bytes().startswith(starts[name])


def test_a_page_has_the_roles_of_a_packaged_model(command, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "x.html"
    assert command("look", "storybook", "--engine", "torch", "The cat.", "--out", path)[0] == 0
    roles = Translator.from_pretrained("storybook", engine="torch").roles
    assert path.read_text("utf-8").count('"baseline":') >= sum(map(len, roles.values())) > 0


def test_a_page_has_every_view_or_the_one_asked_for(look, tmp_path):
    path = tmp_path / "x.html"
    for asked, held in (([], OF_ATTENTION), (["--view", "norm"], ("raw", "norm"))):
        assert look("The zebra.", *asked, "--out", path)[0] == 0
        page = path.read_text("utf-8")
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        [trace] = data["first"]["traces"]
        assert set(trace["maps"]["cross"]) == set(held) and data["start"]["view"] == held[-1 if asked else 0]
        assert page.startswith("<!doctype html>") and '"unknown_words": ["zebra"]' in page
        assert """http-equiv="Content-Security-Policy" content="default-src 'none';""" in page


def test_every_part_of_a_text_has_its_map_and_file(look, translator, tmp_path):
    text = "The cat.\nThe box did not fit."
    first, second = translator.look(translator(text))
    assert first.source_text == "The cat." and second.source_text == "The box did not fit."
    assert look(text)[1] == look(first.source_text)[1] + "\n" + look(second.source_text)[1]
    code, out, err = look(text, "--out", tmp_path / "maps.npz")
    assert (code, out) == (0, "") and err.count("wrote") == 2 and not (tmp_path / "maps.npz").exists()
    for number, trace in ((1, first), (2, second)):
        written = Trace.load(tmp_path / f"maps-{number}.npz")
        np.testing.assert_allclose(written.maps("cross"), trace.maps("cross"), atol=1e-5)


def test_trust_is_shown_for_the_weights_it_was_measured_on(look, folder, translator, tmp_path):
    [trace] = translator.look(translator("The cat did."), views=["raw", "left_out"])
    assert trace.trust is None and UNMEASURED in look("The cat.")[1]
    copy = shutil.copytree(folder, tmp_path / "run")
    weights = fingerprint(copy)
    made = measure_trust([trace], [trace] * 4, dev_gold=None, test_gold=None, measured_on="four", weights=weights)
    made.save(copy / "trust.json")
    assert look("The cat.", "--out", tmp_path / "x.json", run=copy)[0] == 0
    assert Trace.load(tmp_path / "x.json").trust == made
    assert fingerprint(copy) == weights and weights_hash(copy) == weights_hash(folder), "no part of the model"
    replace(made, weights="of others").save(copy / "trust.json")
    assert Translator.from_pretrained(copy, engine="torch").trust is None
    (copy / "trust.json").write_text("[]")
    with pytest.raises(UserError, match="measure again"):
        _ = Translator.from_pretrained(copy, engine="torch").trust


def test_calibrated_probabilities_are_shown_unless_raw_ones_are_asked_for(look, folder, tmp_path):
    run = shutil.copytree(folder, tmp_path / "run")
    calibrate_by_hand(run, "fr", Calibrator(0.1, 0.7))
    assert "(calibrated mean over its tokens)" in look("The cat.", run=run)[1]
    assert NOT_CALIBRATED in look("The cat.", "--raw", run=run)[1]
    for flags, calibrated in (([], True), (["--raw"], False)):
        assert look("The cat.", *flags, "--out", tmp_path / "x.json", run=run)[0] == 0
        assert (Trace.load(tmp_path / "x.json").calibrated is not None) == calibrated
    (run / "calibration.json").write_text("{}")
    code, _, err = look("The cat.", run=run)
    assert code == 1 and "calibration.json is not a valid calibration" in err and err.count("\n") == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("suffix", ["html", "json", "npz", "png", "svg"])
def test_a_file_that_cannot_be_written_leaves_the_one_before(look, tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_text("good")
    with files_of_at_most(1000):
        code, out, err = look("The cat.", "--out", path)
    told = f"seq2see: error: cannot write {path} (File too large); choose a writable file with --out\n"
    assert (code, out, err) == (1, "", told)
    assert path.read_text() == "good" and os.listdir(tmp_path) == [path.name]


def test_characters_without_a_font_are_told(look, folder, tmp_path):
    """A picture has boxes for them; .svg and .html leave them to the reader's own fonts."""
    run = shutil.copytree(folder, tmp_path / "run")
    (run / "seen_words.json").unlink()  # it reads any character
    for suffix, text, told in ((".png", "The 𒀀 cat.", True), (".png", "The cat.", False), (".svg", "The 𒀀.", False)):
        code, _, err = look(text, "--out", tmp_path / f"x{suffix}", run=run)
        assert code == 0 and ("these characters, so the picture shows boxes: 𒀀; use .svg" in err) == told


@pytest.mark.few(4)
@pytest.mark.parametrize(("arguments", "code", "told"), [
    (["The cat.", "--out", "x.gif"], 2, "one of .html (a page), .json (numbers), .npz (numbers), .png (a picture)"),
    (["The cat.", "--view", "rollout", "--head", "0"], 2, "view rollout has no heads"),
    (["The cat.", "--view", "left_out", "--kind", "decoder"], 2, "has no decoder map"),
    (["The cat.", "--kind", "encoder", "--rows", "reads"], 2, "reads no token"),
    (["The cat.", "--kind", "encoder", "--layer", "2", "--out", "x.json"], 2, "no layer 2 here: expected 0 to 1"),
    (["The cat.", "--head", "2"], 2, "there is no head 2 here: expected 0 to 1"),
    (["The cat.", "--out", "no/such/x.html"], 1, "cannot write no/such/x.html (No such file or directory)"),
    (["The cat.", "--alternative", "99"], 2, "alternatives is 100, expected at most 64"),
    (["12345"], 1, "the text has no words"),
    (["The cat.", "--to", "hi"], 1, "choose en to fr, en to de"),
])
def test_it_refuses_in_one_line(look, arguments, code, told):
    got, out, err = look(*arguments)
    assert (got, out) == (code, "")
    assert told in err and err.count("\n") == 1
