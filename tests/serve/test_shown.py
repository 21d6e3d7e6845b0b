"""What is asked about a translation is answered about that very one, token for token; and two that are compared are of
one engine.  On the packaged models, which translate with int8 weights."""

import asyncio
import base64
import math

import httpx
import numpy as np
import pytest
from fastapi import FastAPI

from seq2see import Translator
from seq2see.lens import all_heads
from seq2see.serve.app import make_app
from seq2see.serve.service import Service

# The model wrote other tokens than the tokenizer cuts these translations into.
UNUSUAL = ["Note down the parameters before starting the engine.", "The rats resist every kind of poison we've tried."]
ONE_OF_THEM = [UNUSUAL[0], pytest.param(UNUSUAL[1], marks=pytest.mark.long)]
TENT = "Add two cloves of garlic."


@pytest.fixture(scope="module")
def app():
    service = Service({name: Translator.from_pretrained(name) for name in ("everyday", "storybook")})
    yield make_app(service)
    service.close()


@pytest.fixture(scope="module")
def own():
    return Translator.from_pretrained("everyday", engine="torch")


@pytest.fixture(scope="module")
def about_tent(app):
    return shown(app, TENT)[2]


def ask(app: FastAPI, path, body, status=200):
    async def send():
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 0))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=None) as client:
            return await client.post(f"/v1/{path}", json=body)

    answer = asyncio.run(send())
    assert answer.status_code == status, answer.text
    return answer.json()


def shown(app, text, **more):
    """The trace that the page shows, and what it then sends about it."""
    body = {"text": text, "source": "en", "target": "fr", "model": "everyday", "maps": ["cross", "decoder"], **more}
    answer = ask(app, "look", body)
    [trace] = answer["traces"]
    about = {"text": trace["source_text"], "translation": trace["target_text"], "target_ids": trace["target_ids"],
             "given": trace["given"], "source": "en", "target": "fr", "model": "everyday"}
    return answer["translation"], trace, about


def array(sent):
    return np.frombuffer(base64.b64decode(sent["data"]), sent["dtype"]).reshape(sent["shape"])


# --- tokens


@pytest.mark.parametrize("text", ONE_OF_THEM)
def test_the_arithmetic_and_the_layers_are_those_of_the_map(app, text):
    result, trace, about = shown(app, text)
    assert result["hypotheses"][0]["token_ids"] == trace["target_ids"]
    cut = ask(app, "look", {**about, "target_ids": None})["traces"][0]
    assert cut["target_ids"] != trace["target_ids"], "choose a text whose translation has unusual tokens"
    steps = len(trace["target"])
    for kind, layer, head, row in (("cross", 1, 4, steps - 1), ("decoder", 0, 3, steps - 2), ("cross", 0, 0, 3)):
        question = {"tool": "arithmetic", "kind": kind, "layer": layer, "head": head, "row": row}
        found = ask(app, "inside", {"question": about | question})
        weights = array(trace["maps"][kind]["raw"])[layer, head, row]
        assert found["weights"] == pytest.approx(weights.tolist(), abs=2e-3)
        assert sum(weight * value[0] for weight, value in zip(found["weights"], found["values"], strict=True)) \
            == pytest.approx(found["mixed"][0], abs=1e-5)
    layers = ask(app, "inside", {"question": about | {"tool": "layers"}})
    own = trace["calibrated"]["log_probs"]
    assert layers["log_probs"][-1] == pytest.approx(own, abs=1e-3), "the last layer is the model"


@pytest.mark.parametrize("text", ONE_OF_THEM)
def test_a_patch_and_the_evidence_are_about_the_tokens_shown(app, text):
    _, trace, about = shown(app, text)
    [more] = ask(app, "look", {**about, "evidence": True})["traces"]
    assert (more["target_ids"], more["given"]) == (trace["target_ids"], trace["given"])
    own = more["evidence"]["log_odds"]
    for unit, odds in zip(trace["words"]["target"], own, strict=True):
        log_prob = sum(trace["calibrated"]["log_probs"][step] for step in unit["pieces"])
        assert odds == pytest.approx(log_prob - math.log(-math.expm1(log_prob)), rel=0.02, abs=0.02)
    found = ask(app, "inside", {"question": about | {"tool": "patch", "other": about["text"]}})
    for one in found["heads"]:
        assert one["log_odds"] == pytest.approx(own, abs=1e-3), "its own outputs"


@pytest.mark.long
@pytest.mark.parametrize("text", ONE_OF_THEM)
def test_a_machine_is_of_the_step_shown(app, text):
    _, trace, about = shown(app, text)
    for step in (trace["given"], len(trace["target"]) // 2, len(trace["target"]) - 1):
        found = ask(app, "inside", {"question": about | {"tool": "machine", "step": step, "head_seconds": 0}})
        assert (found["step"], found["id"]) == (step, trace["target_ids"][step])
        assert [one["id"] for one in found["top"]] == [one["id"] for one in trace["top"][step][:6]]
        chances = [math.exp(log_prob) for log_prob in trace["calibrated"]["top"][step][:6]]
        assert [one["chance"] for one in found["top"]] == pytest.approx(chances, rel=0.02, abs=1e-4)
        assert found["without"] is None
    assert ask(app, "inside", {"question": about | {"tool": "machine", "step": 2}})["without"]["averaged_over"] > 1
    error = ask(app, "inside", {"question": about | {"tool": "machine", "step": len(trace["target"])}}, status=400)
    assert error["error"] == f"there is no step {step + 1} here: expected 0 to {step}"


def test_more_views_and_forced_tokens_are_of_the_translation_shown(app):
    _, trace, about = shown(app, UNUSUAL[0], prefix="J'ai essayé")
    assert trace["given"] > 1 and trace["target_text"].startswith("J'ai essayé")
    [more] = ask(app, "look", {**about, "views": ["raw", "norm"], "maps": ["cross"]})["traces"]
    assert (more["given"], more["log_prob"]) == (trace["given"], pytest.approx(trace["log_prob"], abs=1e-4))
    assert array(more["maps"]["cross"]["raw"]) == pytest.approx(array(trace["maps"]["cross"]["raw"]), abs=1e-3)
    assert more["maps"]["cross"]["norm"]["shape"] == trace["maps"]["cross"]["raw"]["shape"]


@pytest.mark.parametrize(("changes", "error"), [
    ({"target_ids": []}, "target_ids: expected 1 or more items"),
    ({"target_ids": [-1, 2]}, "target_ids[0]: expected at least 0"),
    ({"target_ids": ["6"]}, "target_ids[0]: expected a whole number"),
    ({"target_ids": [True]}, "target_ids[0]: expected a whole number"),
    ({"target_ids": [10**30]}, "the model has no token 1000000000000000000000000000000: expected ids from 0 to 11999"),
    ({"target_ids": [6, 12_000, 2]}, "the model has no token 12000: expected ids from 0 to 11999"),
    ({"target_ids": [6, 2]}, "target_ids do not spell the translation: take both from the same trace"),
    ({"target_ids": [2] * 513}, "target_ids has 513 tokens: at most 512 are allowed"),
    ({"given": -1}, "given: expected at least 0"),
    ({"given": 99}, "given 99: the translation has"),
])
@pytest.mark.parametrize("path", ["look", "inside"])
def test_tokens_that_are_not_of_the_translation_are_refused(app, about_tent, path, changes, error):
    body = about_tent | changes
    answer = ask(app, path, body if path == "look" else {"question": body | {"tool": "layers"}}, 400)
    assert error in answer["error"].replace("question.layers.", "") and "\n" not in answer["error"]


def test_tokens_without_a_translation_are_refused(app):
    answer = ask(app, "look", {"text": "A cat.", "target": "fr", "target_ids": [6, 2]}, 400)
    assert answer["error"] == "target_ids: also send the translation that they spell"


# --- heads that are off


def without(app, text, heads, **more):
    body = {"text": text, "source": "en", "target": "fr", "model": "everyday", "without": heads, **more}
    return ask(app, "look", body)


def test_what_changes_without_a_head_is_not_the_engine(app, own):
    """Int8 and float32 weights translate this sentence differently, whatever head is off."""
    result, trace, about = shown(app, TENT)
    [more] = ask(app, "look", {**about, "evidence": True})["traces"]
    falls = {(one["kind"], one["layer"], one["head"]): max(abs(before - after) for before, after in zip(
        more["evidence"]["log_odds"], one["log_odds"], strict=True)) for one in more["evidence"]["heads"]}
    idle = min(falls, key=falls.__getitem__)
    assert falls[idle] < math.log(2), "a head that hardly matters"
    answer = without(app, TENT, [idle])
    whole, changed = answer["with_every_head"], answer["translation"]
    assert whole["text"] == own(TENT, target="fr").text != result["text"] == trace["target_text"]
    assert changed["text"] == whole["text"] == answer["traces"][0]["target_text"], "so it stays"
    assert {(one["engine"], one["precision"]) for one in (whole, changed)} == {("torch", "float32")}


@pytest.mark.few(2)
@pytest.mark.parametrize("options", [
    {}, {"num_beams": 1}, {"num_beams": 8, "length_penalty": 2}, {"prefix": "Je crois"}, {"temperature": 1, "seed": 4},
    {"alternatives": 3},
])
def test_both_are_found_with_the_same_options(app, own, options):
    answer = without(app, TENT, [["encoder", 0, 1]], **options)
    assert answer["with_every_head"]["text"] == own(TENT, target="fr", **options).text
    for result in (answer["translation"], answer["with_every_head"]):
        assert result["text"].startswith(options.get("prefix", ""))
        assert len(result["hypotheses"]) == options.get("alternatives", 1)


def test_nothing_that_was_measured_is_said_of_a_model_without_heads(app, own):
    every = [list(head) for head in all_heads(own.model) if head.kind == "cross"]
    answer = without(app, "The cat is tired.", every)
    assert answer["translation"]["text"] != answer["with_every_head"]["text"]
    [trace] = answer["traces"]
    assert answer["measured"] == {"roles": [], "apart": None}
    assert (trace["trust"], trace["calibrated"], trace["confidence"]) == (None, None, None)
    assert answer["translation"]["hypotheses"][0]["probability"] is None
    later = ask(app, "look", {"text": "The cat is tired.", "target": "fr", "model": "everyday"})
    assert later["measured"]["roles"] and later["traces"][0]["trust"] and later["with_every_head"] is None


@pytest.mark.few(3)
@pytest.mark.parametrize(("more", "error"), [
    ({"text": " "}, "the text has no words, so no head is needed"), ({"num_beams": 9}, "num_beams 9: at most 8"),
    ({"prefix": "x" * 5001}, "a prefix has 5001 characters"), ({"max_new_tokens": 513}, "max_new_tokens 513: at most"),
    ({"without": [["cross", 9, 0]]}, "there is no cross layer 9"), ({"target": "xx"}, "does not translate to xx"),
    ({"alternative": 1}, "there is no alternative 1"),
])
def test_what_cannot_be_switched_off_is_told_in_one_line(app, more, error):
    body = {"text": "A cat.", "source": "en", "target": "fr", "without": [["cross", 0, 0]], "model": "everyday"} | more
    answer = ask(app, "look", body, 400)
    assert error in answer["error"] and "\n" not in answer["error"]
