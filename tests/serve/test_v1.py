"""Our own interface: all that a translation and a trace hold, exactly."""

import base64
import gzip
import json
from dataclasses import replace

import httpx
import numpy as np
import pytest

from seq2see.lens.changes.interventions import ablate
from seq2see.lens.changes.means import head_means
from seq2see.lens.questions.what_if import WhatIf
from seq2see.passes.hooks import all_heads
from seq2see.serve.apis.v1 import OneTranslation
from seq2see.text.glossary import Glossary

TEXT = "The cat did not cross."


def post(url, path, body, **more):
    return httpx.post(f"{url}/v1/{path}", json=body, timeout=60, **more)


def array(sent):
    return np.frombuffer(base64.b64decode(sent["data"]), sent["dtype"]).reshape(sent["shape"])


def test_translate_tells_all_there_is(live, translator):
    texts = ["The zebra did not cross.", " ", TEXT]
    answer = post(live, "translate", {"texts": texts, "source": "en", "target": "de", "alternatives": 2})
    expected = translator(texts, target="de", alternatives=2)
    for got, want in zip(answer.json()["translations"], expected, strict=True):
        assert got["text"] == want.text and got["target_language"] == "de"
        assert [one["text"] for one in got["hypotheses"]] == [one.text for one in want.hypotheses]
        assert [one["token_ids"] for one in got["hypotheses"]] == [list(one.token_ids) for one in want.hypotheses]
        for one, two in zip(got["hypotheses"], want.hypotheses, strict=True):
            assert (one["score"], one["log_prob"]) == pytest.approx((two.score, two.log_prob), abs=1e-4)
            assert one["finished"] is two.finished
        assert got["unknown_words"] == [word.text for word in want.unknown_words]
        assert got["doubts"] == [{"kind": one.kind, "word": one.word} for one in want.doubts]
        assert (got["engine"], got["precision"]) == ("torch", "float32")
    assert answer.json()["translations"][0]["unknown_words"] == ["zebra"]


@pytest.mark.few(1)
@pytest.mark.parametrize(("text", "found"), [(TEXT, None), ("Le chat n'a pas traversé la rue.", "fr"), ("Tom", None)])
def test_text_in_another_language_is_flagged(live, text, found):
    [translation] = post(live, "translate", {"texts": [text], "source": "en"}).json()["translations"]
    looked = post(live, "look", {"text": text, "source": "en"}).json()["translation"]
    assert translation["other_language"] == looked["other_language"] == found


def test_markup_is_not_text_of_another_language(live):
    french = ('<p class="first paragraph" style="color: white; margin: auto">'
              'Où est <b title="station">la gare</b> ?</p>')
    texts = ["<strong>The cat</strong> did <em>not</em> cross.", french]
    found = post(live, "translate", {"texts": texts, "source": "en", "format": "html"}).json()["translations"]
    assert [one["other_language"] for one in found] == [None, "fr"]


@pytest.mark.few(1)
@pytest.mark.parametrize("settings", [
    {"num_beams": 3, "max_new_tokens": 6, "length_penalty": 0.5}, {"temperature": 2, "seed": 3}, {"prefix": "Le"},
])
def test_settings_reach_the_engine(live, translator, settings):
    answer = post(live, "translate", {"texts": [TEXT], "source": "en", "target": "fr", **settings}).json()
    assert answer["translations"][0]["text"] == translator(TEXT, **settings).text != translator(TEXT).text


def test_a_glossary_is_of_a_request(live, translator):
    terms = {"cat": "minou", "dog": "toutou"}
    body = {"texts": [TEXT, "The owl."], "source": "en", "target": "fr", "glossary": terms}
    answer = post(live, "translate", body).json()["translations"]
    expected = translator(body["texts"], target="fr", glossary=Glossary.of(terms))
    assert [one["text"] for one in answer] == [one.text for one in expected] and "minou" in answer[0]["text"].lower()
    assert [one["missing_terms"] for one in answer] == [[], []]


def test_the_missing_terms_of_a_glossary_are_its_source_terms(translator):
    result = replace(translator("The cat saw the owl.", target="fr"), glossary=Glossary.of({"owl": "zorkmid"}))
    assert result.missing_terms == (("owl", "zorkmid"),) and OneTranslation.of(result).missing_terms == ["owl"]
    assert OneTranslation.of(replace(result, glossary=None)).missing_terms == []


@pytest.mark.parametrize(("glossary", "wrong"), [
    ({"a": ""}, "glossary"), ({str(n): "b" for n in range(201)}, "200"), ({"a" * 101: "b"}, "100"),
    ({"a": 1}, "glossary"), ([1], "expected a JSON object"),
    ({"a": "b\n\x00"}, "term 1 of the glossary: the target term has a control"), ([["a", "b"]], "glossary"),
])
def test_a_glossary_has_bounds(live, glossary, wrong):
    answer = post(live, "translate", {"texts": [TEXT], "source": "en", "target": "fr", "glossary": glossary})
    assert answer.status_code == 400 and wrong in answer.json()["error"] and "\n" not in answer.json()["error"]


def test_look_is_the_trace_of_that_very_translation(live, translator):
    asked = {"text": TEXT, "source": "en", "target": "de", "alternatives": 2, "alternative": 1,
             "maps": ["cross", "encoder", "decoder"], "views": ["raw", "norm", "rollout", "left_out"]}
    answer = post(live, "look", asked).json()
    result = translator(TEXT, target="de", alternatives=2)
    assert [one["text"] for one in answer["translation"]["hypotheses"]] == [one.text for one in result.hypotheses]
    [trace] = translator.look(result, alternative=1, views=("raw", "norm", "rollout", "left_out"))
    [got] = answer["traces"]
    assert got["model"] == "tiny", "and not where it lies"
    assert got["target_text"] == trace.target_text and got["target_ids"] == list(trace.target_ids)
    assert [one["text"] for one in got["source"]] == [one.text for one in trace.source]
    assert got["log_probs"] == pytest.approx(trace.log_probs.tolist(), abs=1e-5)
    assert got["log_prob"] == pytest.approx(trace.log_prob, abs=1e-4) and got["calibrated"] is None
    assert [one["id"] for one in got["top"][2]] == [one.id for one in trace.top[2]]
    for kind in ("encoder", "decoder", "cross"):
        for view in ("raw", "norm", "rollout"):
            want = trace.maps(kind, view)
            assert array(got["maps"][kind][view]) == pytest.approx(want, rel=1e-3, abs=1e-6), "float16, not colours"
        assert array(got["maps"][kind]["raw"]).astype(float).sum(-1) == pytest.approx(1, abs=2e-3)
    assert array(got["maps"]["cross"]["left_out"]) == pytest.approx(trace.left_out, rel=1e-3, abs=1e-3)


def test_look_is_compressed_where_the_client_takes_it(live):
    body = {"text": TEXT, "maps": ["cross"]}
    with httpx.stream("POST", f"{live}/v1/look", json=body, headers={"Accept-Encoding": "gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip" and "accept-encoding" in answer.headers["vary"].lower()
    plain = post(live, "look", body, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert json.loads(gzip.decompress(packed)) == plain.json() and len(packed) < len(plain.content) / 2


def test_what_a_client_keeps_stays_in_text_and_html(live):
    for keep, text in ((r"Zq\w+", "The Zqxv did not cross."), ("Zq.v", "<p>The Zqxv did not cross.</p>")):
        kind = "html" if "<" in text else "text"
        body = {"texts": [text], "source": "en", "target": "fr", "keep": keep, "format": kind}
        assert "Zqxv" in post(live, "translate", body).json()["translations"][0]["text"]


@pytest.mark.few(4)
@pytest.mark.parametrize(("path", "fields", "error"), [
    ("translate", {"texts": ["a"], "keep": "["}, "keep is not a regular expression"),
    ("translate", {"texts": ["a" * 900], "keep": "(?:a|aa)+c"}, "keep takes more than 0.5 s"),
    ("translate", {"texts": ["a"], "keep": "a" * 1_001}, "keep: expected at most 1000 characters"),
    ("translate", {"texts": ["a", 2]}, "texts[1]: expected a text"),
    ("translate", {"texts": ["a"], "num_beams": True}, "num_beams: expected a whole number"),
    ("translate", {"texts": ["a"], "num_beams": 9}, "num_beams 9: at most 8"),
    ("look", {"text": "  "}, "the text has no words"),
    ("look", {"text": "a " * 501}, "at most 1000 are allowed for looking inside"),
    ("look", {"text": "a", "alternative": 3}, "there is no alternative 3"),
    ("look", {"text": "a", "without": [["cross", 9, 0]]}, "there is no cross layer 9"),
    ("look", {"text": "a", "translation": "x" * 1001}, "at most 1000"),
])
def test_what_is_wrong_is_told_in_one_line(live, path, fields, error):
    answer = post(live, path, {"target": "fr"} | fields)
    assert answer.status_code == 400
    assert error in answer.json()["error"] and "\n" not in answer.json()["error"]


def test_look_takes_a_translation_that_is_given(live, translator):
    given = "Le chat a traversé."
    body = {"text": TEXT, "source": "en", "target": "fr", "translation": given, "maps": ["cross"]}
    answer = post(live, "look", body).json()
    trace = translator.look_at(TEXT, given, source="en", target="fr")
    [got] = answer["traces"]
    assert answer["translation"] is None and got["target_text"] == given
    assert got["target_ids"] == list(trace.target_ids)
    assert array(got["maps"]["cross"]["raw"]) == pytest.approx(trace.maps("cross"), abs=1e-3)
    assert post(live, "look", body | {"source": "AUTO"}).json()["traces"] == answer["traces"]


def test_look_without_heads_translates_with_their_averages(live, translator):
    asked = {"text": TEXT, "source": "en", "target": "fr"}
    [own] = translator.look(translator(TEXT))
    with translator.inside() as (model, tokenizer):
        heads = [head for head in all_heads(model) if head.kind == "cross"]
        means, _ = head_means(model, tokenizer, own, translator.folder)
        with ablate(model, heads, replace="mean", means=means):
            wanted = WhatIf(model, tokenizer, "en", "fr").again(own).target_text
    assert wanted != own.target_text, "choose heads that matter"
    answer = post(live, "look", asked | {"without": [list(head) for head in heads]}).json()
    assert answer["traces"][0]["target_text"] == answer["translation"]["text"] == wanted
    assert answer["with_every_head"]["text"] == own.target_text


def test_a_check_finds_what_the_translator_finds(live, translator):
    texts = ["The zebra did not cross the street.", TEXT]
    answer = post(live, "translate", {"texts": texts, "source": "en", "target": "de", "check": True})
    expected = translator.check(translator(texts, target="de"))
    found = [one["doubts"] for one in answer.json()["translations"]]
    assert found == [[{"kind": one.kind, "word": one.word} for one in want.doubts] for want in expected]
    assert any(one["kind"] in ("unlikely_word", "omitted_word") for some in found for one in some)
    long = post(live, "translate", {"texts": [" ".join([TEXT] * 20)] * 60, "source": "en", "check": True})
    assert long.status_code == 400 and "to check these texts" in long.text
