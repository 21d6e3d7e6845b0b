"""Every family of models is served: each API translates with it, names its languages, and looks inside."""

import families
import httpx
import pytest
import tiny
from serving import running

from seq2see import Translator
from seq2see.passes.hooks import all_heads

TEXT = "The cat did not cross the street."
WORDS = ["The", "cat", "did", "not", "cross", "the", "street", "."]
TASK = {"translation_en_to_fr": "translate English to French: "}


def marian(folder):
    folder.mkdir()
    return tiny.opus_mt(folder)


def many(folder):
    folder.mkdir()
    return tiny.opus_mt(folder, tags=[">>fra<<", ">>deu<<"], source_lang="en", target_lang="mul")


def nameless(family):
    return lambda folder: tiny.save(folder, families.made(family), tiny.foreign_tokenizer())


FAMILIES = {  # what makes one, the model's own codes of English and French, and how many languages it names
    "Marian": (marian, ("en", "fr"), 2), "tagged Marian": (many, ("en", "fra"), 3),
    "NLLB": (tiny.nllb, ("eng_Latn", "fra_Latn"), 202), "M2M-100": (tiny.m2m_100, ("en", "fr"), 100),
    "mBART-50": (tiny.mbart_50, ("en_XX", "fr_XX"), 52),
    "T5": (lambda folder: tiny.t5(folder, **TASK), ("en", "fr"), 2),
    "MADLAD": (lambda folder: tiny.t5(folder, tags=["<2en>", "<2fr>"]), ("en", "fr"), 2),
    "T5 without tasks": (tiny.t5, ("en", "fr"), 0), "BART": (nameless("BART"), ("en", "fr"), 0),
    "Pegasus": (nameless("Pegasus"), ("en", "fr"), 0),
}


EACH_TIME = ("Marian", "NLLB", "MADLAD", "T5 without tasks")  # tags of each sort, and a family that names no languages


@pytest.mark.few(2)
@pytest.mark.parametrize("family", [family if family in EACH_TIME else pytest.param(family, marks=pytest.mark.long)
                                    for family in FAMILIES])
def test_a_family_is_served_by_every_api(family, tmp_path):
    make, pair, count = FAMILIES[family]
    translator = Translator.from_pretrained(make(tmp_path / "model"), precision="float32", threads=1)
    asked, few = {"source": "en", "target": "fr"}, {"max_new_tokens": 6}
    expected = translator(TEXT, **asked, **few)
    with running({"model": lambda: translator}) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        [found] = said(client.post("/v1/translate", json={"texts": [TEXT], **asked, **few}))["translations"]
        assert (found["source_language"], found["target_language"]) == pair and found["engine"] == "ctranslate2"
        assert found["text"] == expected.text
        languages = {one["code"]: one for one in said(client.get("/languages"))}
        assert len(languages) == count and (not count or {*pair} <= {*languages})
        libre = said(client.post("/translate", json={"q": TEXT, **asked}))
        assert libre["translatedText"] == translator(TEXT, **asked).text
        look = said(client.post("/v1/look", json={"text": TEXT, "evidence": True, "maps": ["cross"], **asked, **few}))
        assert look["translation"]["text"] == expected.text
        [trace] = look["traces"]
        steps = len(expected.hypotheses[0].token_ids)
        assert trace["maps"]["cross"]["raw"]["shape"][2] == len(trace["target"]) == steps
        assert [one["text"] for one in trace["words"]["source"] if one["word"] is not None] == WORDS
        evidence, words = trace["evidence"], len(trace["evidence"]["log_odds"])
        assert {(one["kind"], one["layer"], one["head"]) for one in evidence["heads"]} == {*all_heads(translator.model)}
        assert len(evidence["erased"]) == len(WORDS) and words
        assert all(len(one["log_odds"]) == words for one in (*evidence["heads"], *evidence["erased"]))
        assert len(evidence["source_share"]) == words and all(0 <= share <= 1 for share in evidence["source_share"])


def said(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()
