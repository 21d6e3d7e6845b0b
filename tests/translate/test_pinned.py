"""What was loaded is what is looked into: files that change while a model is served are never mixed with it."""

import json
import shutil

import httpx
import pytest
import serving
import tiny

from seq2see import Translator
from seq2see.lens.alignment_choice import FILE as ALIGNMENT
from seq2see.lens.roles import FILE as ROLES
from seq2see.lens.trust import FILE as TRUST
from seq2see.modeling import loading
from seq2see.translate.loaded_checkpoint import ModelChanged

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


def test_a_server_of_changed_files_says_what_to_do(run, others):
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    CHANGES["weights"](run, others[1])
    with serving.running({"tiny": lambda: translator}) as server, httpx.Client(base_url=server.url) as client:
        assert client.post("/v1/translate", json={"texts": [TEXT]}).status_code == 200
        answer = client.post("/v1/look", json={"text": TEXT}, timeout=60)
    assert (answer.status_code, answer.json()["code"]) == (503, "model_changed"), answer.text
    assert "restart the server" in answer.text and str(run) not in answer.text


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
