"""A server of a model of 202 languages: every API takes any name of a language, and none lists 40,804 pairs."""

import httpx
import pytest
import tiny
from libretranslatepy import LibreTranslateAPI
from serving import running

from seq2see import Translator

TEXT = "The cat did not cross the street."


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The page of a random NLLB beside a tiny model of English, French and German."""
    folder = tiny.nllb(tmp_path_factory.mktemp("hub") / "nllb")
    loaders = {"own": lambda: Translator(*tiny.seq2see()), "nllb": lambda: Translator.from_pretrained(folder)}
    with running(loaders, page=True) as made:
        yield made


@pytest.mark.few(4)
@pytest.mark.parametrize(("asked", "model", "pair"), [
    ({"source": "en", "target": "fr"}, "own", ("en", "fr")), ({"source": "de", "target": "French"}, "nllb", None),
    ({"source": "eng_Latn", "target": "fra_Latn"}, "nllb", ("eng_Latn", "fra_Latn")),
    ({"target": "Hindi"}, "nllb", ("eng_Latn", "hin_Deva")),
    ({"source": "auto", "target": "fra_Latn"}, "own", ("en", "fr")),
    ({"source": "en-US", "target": "zt"}, "nllb", ("eng_Latn", "zho_Hant")),
    *(({"source": "en", "target": code}, "nllb", ("eng_Latn", own)) for code, own in (
        ("zh", "zho_Hans"), ("ar", "arb_Arab"), ("fa", "pes_Arab"), ("no", "nob_Latn"), ("ku", "kmr_Latn"))),
])
def test_the_languages_choose_the_model(server, asked, model, pair):
    answer = httpx.post(f"{server.url}/v1/translate", json={"texts": [TEXT], "max_new_tokens": 5, **asked}, timeout=60)
    [found] = answer.json()["translations"]
    got = found["source_language"], found["target_language"]
    assert got in server.service.models[model].language_pairs and (pair is None or got == pair)
    hugging = {"src_lang": asked.get("source"), "tgt_lang": asked["target"], "max_new_tokens": 5}
    if asked.get("source") != "auto":
        assert httpx.post(server.url, json={"inputs": TEXT, "parameters": hugging}, timeout=60).status_code == 200
    libre = {"q": TEXT, "source": asked.get("source", "auto"), "target": asked["target"]}
    assert httpx.post(f"{server.url}/translate", json=libre, timeout=60).status_code == 200


@pytest.mark.parametrize(("asked", "said"), [
    ({"target": "kr"}, "kr is several languages of this model; choose knc_Arab"),
    ({"target": "Frensh"}, "the nearest of its 202 languages are fra_Latn (French)"),
    ({"source": "eng_Latn"}, "this model translates to 202 languages: choose one"),
])
def test_what_is_ambiguous_or_unknown_is_told(server, asked, said):
    answer = httpx.post(f"{server.url}/v1/translate", json={"texts": [TEXT], "model": "nllb", **asked}, timeout=60)
    assert answer.status_code == 400 and said in answer.json()["error"]


def test_no_answer_and_no_log_lists_every_pair(server):
    models = httpx.get(f"{server.url}/v1/models")
    own, nllb = models.json()["models"]
    assert own["language_pairs"] == [["en", "fr"], ["en", "de"]]
    assert own["languages"] == [{"sources": ["en"], "targets": ["fr", "de"]}]
    [both] = nllb["languages"]
    assert nllb["language_pairs"] is None and len(both["sources"]) == len(both["targets"]) == 202
    languages = httpx.get(f"{server.url}/languages")
    entries = {one["code"]: one for one in languages.json()}
    assert entries["fra_Latn"] == {"code": "fra_Latn", "name": "French"}
    assert entries["en"]["targets"] == ["fr", "de"] and len(entries) == 205
    info = httpx.get(f"{server.url}/models/nllb/info")
    assert info.json()["language_pairs"] is None and info.json()["languages"] == nllb["languages"]
    assert httpx.get(f"{server.url}/").text.count('"fra_Latn"') <= 2
    assert all(len(answer.content) < 40_000 for answer in (models, languages, info)), "a pair each would be 900 KB"
    assert "202 languages to 202 languages" in server._about() and len(server._about()) < 300
    assert {one["code"] for one in LibreTranslateAPI(f"{server.url}/").languages()} == {*entries}
