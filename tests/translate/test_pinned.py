"""What was loaded is what is looked into: files that change while a model is served are never mixed with it, and those
of a server are pinned."""

import gc
import json
import os
import shutil
from functools import partial
from pathlib import Path

import httpx
import pytest
import serving
import tiny

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens.heads.alignment_choice import FILE as ALIGNMENT
from seq2see.lens.heads.alignment_choice import AlignmentChoice
from seq2see.lens.records.roles import FILE as ROLES
from seq2see.lens.records.trust import FILE as TRUST
from seq2see.modeling import loading
from seq2see.translate import pinned_files
from seq2see.translate.loaded_checkpoint import ModelChanged, fingerprint

pytest.importorskip("ctranslate2")
TEXT = "The cat did not cross."


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Two runs, alike in all but their weights."""
    folder = tmp_path_factory.mktemp("runs")
    return [tiny.save(folder / f"{seed}", *tiny.seq2see(seed=seed)) for seed in (0, 1)]


@pytest.fixture
def run(others, tmp_path):
    return shutil.copytree(others[0], tmp_path / "run")


def raising(error):
    def fail(*_, **__):
        raise type(error)(*error.args)  # a new one: its traceback would keep what failed

    return fail


def edit(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


CHANGES = {
    "weights": lambda run, other: shutil.copy(other / "model.safetensors", run),
    "settings": lambda run, other: edit(run / "generation_config.json", num_beams=7),
    "vocabulary": lambda run, other: edit(run / "tokenizer.json", added_tokens=[]),
    "gone": lambda run, other: shutil.rmtree(run),
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_its_files_changed_a_model_translates_as_before_and_looking_says_so(run, others, change):
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    before = translator(TEXT)
    CHANGES[change](run, others[1])
    assert translator(TEXT) == before
    for ask in (lambda: translator.look(before), lambda: translator.score([TEXT], ["Le chat."]),
                lambda: translator(TEXT, temperature=1.0)):
        with pytest.raises(ModelChanged, match="changed since it was loaded"):
            ask()


def renamed_over(run, other):
    for path in other.glob("*.*"):
        shutil.copy(path, run / ".new")
        (run / ".new").replace(run / path.name)
    (run / ALIGNMENT).unlink()
    (run / ROLES).write_text("not even JSON")  # later than the model


REPLACED = {
    "renamed over": renamed_over,
    "deleted": lambda run, _: shutil.rmtree(run),
    "moved": lambda run, other: (run.rename(run.with_name("old")), shutil.copytree(other, run)),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("linked", ["by descriptor", "by hard link", "copied"])
@pytest.mark.parametrize("change", REPLACED)
def test_pinned_files_may_be_replaced_and_deleted(run, others, change, linked, monkeypatch):
    """Weights, tokenizer and what was measured stay those of the model that translates."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.with_name("cache")))
    if linked != "by descriptor":
        monkeypatch.setattr(pinned_files, "DESCRIPTORS", run / "none")
    elif not pinned_files.DESCRIPTORS.is_dir():
        pytest.skip("only Linux has links to open files")
    if linked == "copied":
        monkeypatch.setattr(os, "link", raising(OSError(18, "Invalid cross-device link")))
    AlignmentChoice("raw", "predicts", ((1, 0),), "target", 0.0, fingerprint=fingerprint(run)).save(run / ALIGNMENT)
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    result = translator(TEXT)
    [before] = Translator.from_pretrained(run, engine="ctranslate2").look(result)
    translator.pin()
    later = Path(os.environ["XDG_CACHE_HOME"], "seq2see", "measurements", fingerprint(run), TRUST)
    later.parent.mkdir(parents=True)
    later.write_text("not even JSON")
    REPLACED[change](run, others[1])
    [trace] = translator.look(result)
    assert trace.log_prob == before.log_prob
    assert translator.alignment and translator.alignment.maps == ((1, 0),)
    assert translator.trust is None and not translator.roles, "what came later"
    assert translator(TEXT) == result and translator.folder == run
    made = translator.files
    del translator
    gc.collect()
    assert not made.exists(), "nothing is left"


def test_what_is_written_into_a_pinned_file_is_noticed_and_a_reload_helps(run, others, monkeypatch):
    monkeypatch.setenv("SEQ2SEE_API_KEYS", "ann a-key-of-some-length")
    asked = {"headers": {"X-API-Key": "a-key-of-some-length"}, "timeout": 60}
    load = partial(Translator.from_pretrained, run)
    with serving.running({"tiny": load}, may_reload=("ann",)) as server, httpx.Client(
            base_url=server.url, **asked) as client:
        CHANGES["weights"](run, others[1])
        assert client.post("/v1/translate", json={"texts": [TEXT]}).status_code == 200
        answer = client.post("/v1/look", json={"text": TEXT})
        assert (answer.status_code, answer.json()["code"]) == (503, "model_changed"), answer.text
        assert "reload the model" in answer.text and str(run) not in answer.text
        assert client.post("/v1/reload").status_code == 200
        assert client.post("/v1/look", json={"text": TEXT}).status_code == 200


def test_files_that_changed_before_they_could_be_pinned_are_not_pinned(run, others):
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    CHANGES["weights"](run, others[1])
    with pytest.raises(ModelChanged):
        translator.pin()


def test_without_room_for_links_the_model_is_served_as_it_is(run, others, monkeypatch, capsys):
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    monkeypatch.setattr(pinned_files, "TemporaryDirectory", raising(OSError(30, "Read-only file system")))
    translator.pin()
    assert "its files cannot be pinned (Read-only file system)" in capsys.readouterr().err
    assert translator.look(translator(TEXT))


def test_errors_name_the_folder_that_the_user_knows(run, monkeypatch):
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    translator.pin()
    monkeypatch.setattr(loading, "load_checkpoint", lambda folder, **_: raising(UserError(f"{folder} is too large"))())
    with pytest.raises(UserError, match=f"^{run} is too large$"):
        translator.look(translator(TEXT))


def test_files_put_back_and_notes_laid_beside_change_nothing(run, others):
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    result = translator(TEXT)
    [before] = Translator.from_pretrained(run, engine="ctranslate2").look(result)
    for name in (TRUST, ALIGNMENT, ROLES, "README.md", "metrics.json", "notes.json"):
        (run / name).write_text("{}")
    for name in (TRUST, ALIGNMENT):
        (run / name).unlink()
    CHANGES["weights"](run, others[1])
    CHANGES["weights"](run, others[0])
    [trace] = translator.look(result)
    assert trace.log_prob == before.log_prob


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_files_that_change_while_they_are_loaded_are_not_taken(run, others, engine, monkeypatch):
    load = loading.load_checkpoint

    def slow(*args, **kwargs):
        loaded = load(*args, **kwargs)
        CHANGES["weights"](run, others[1])
        return loaded

    translator = Translator.from_pretrained(run, engine="ctranslate2") if engine == "ctranslate2" else None
    monkeypatch.setattr(loading, "load_checkpoint", slow)
    with pytest.raises(ModelChanged):
        if translator:
            translator.look(translator(TEXT))
        else:
            Translator.from_pretrained(run, engine="torch")
