"""What Look calls on the server, anybody can call: every call is checked."""

import asyncio

import pytest
from looking import call, serving
from replicas import Wired

from seq2see.serve.settings import ServerSettings


@pytest.mark.parametrize(("name", "value", "told"), [
    ("maps", {}, "shown"),
    ("maps", {"part": 7}, "there is no part 7"),
    ("maps", {"part": -1}, "part"),
    ("maps", {"view": "../etc"}, "view"),
    ("maps", {"more": 1}, "more"),
    ("maps", None, "object"),
    ("layers", {"part": 1.5}, "part"),
    ("arithmetic", {"kind": "cross", "layer": 10**9, "head": 0, "row": 0}, "there is no cross layer"),
    ("arithmetic", {"kind": "cross", "layer": 0, "head": 0, "row": 999}, "there is no row 999"),
    ("switch_off", {"heads": []}, "heads"),
    ("switch_off", {"heads": [["cross", 0, 99]]}, "there is no head 99"),
    ("what_if", {"text": "  "}, "blank"),
    ("what_if", {"text": "x" * 100_000}, "100000 characters"),
    ("what_if", {"num_beams": 10**6}, "num_beams"),
    ("what_if", {"model": "nobody"}, "no such model"),
    ("what_if", {"text": "a\ud800b"}, "text"),
    ("tree", {"num_beams": 10**6}, "num_beams"),
    ("words", {"word": "cat", "sentences": ["one"]}, "two sentences"),
    ("near", {"word": ""}, "expected a word"),
    ("training", {"step": 4}, "no checkpoint of step 4"),
])
def test_a_call_is_checked_and_refused_in_one_line(url, shown, capfd, name, value, told):
    asked = value if value in ({}, None) else {"shown": shown.model_dump(mode="json"), **value}
    if value and "text" in value and "\ud800" in value["text"]:
        pytest.skip("httpx sends no lone surrogate")
    status, answer = call(url, name, asked)
    assert status == 200 and told in answer["error"] and "\n" not in answer["error"]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("start", [{"layer": 99, "head": 0}, {"layer": 0, "head": 99}, {"kind": "encoder", "layer": 9}])
def test_instead_of_a_map_that_is_not_there_comes_the_usual_one(url, shown, start):
    usual = call(url, "maps", {"shown": shown.model_dump(mode="json")})[1]["start"]
    assert call(url, "maps", {"shown": shown.model_dump(mode="json") | {"start": start}})[1]["start"] == usual


def test_ids_that_are_no_pieces_are_refused(url, shown):
    part = shown.model_dump(mode="json")["parts"][0]
    part["hypothesis"]["token_ids"] = [10**6]
    _, answer = call(url, "maps", {"shown": shown.model_dump(mode="json") | {"parts": [part]}})
    assert "expected ids of pieces" in answer["error"]


@pytest.mark.parametrize("name", ["maps", "layers", "what_if"])
def test_a_part_longer_than_may_be_looked_into_is_refused(url, shown, name):
    part = shown.model_dump(mode="json")["parts"][0] | {"text": "cat " * 251}
    _, answer = call(url, name, {"shown": shown.model_dump(mode="json") | {"parts": [part]}})
    assert answer["error"] == "a part of 1004 characters: 1000 at most can be looked into"


@pytest.fixture(scope="module")
def distant(translator):
    """The page of a front whose engine is elsewhere."""
    service = Wired({"tiny": translator, "other": translator}, ServerSettings(rate=0))
    asyncio.run(service.begin())
    with serving(service) as address:
        yield address
    service.close()


@pytest.mark.parametrize(("name", "value"), [
    ("maps", {}),
    ("maps", {"view": "norm"}),
    ("take", {"form": "json"}),
    ("layers", {}),
    ("arithmetic", {"kind": "cross", "layer": 0, "head": 0, "row": 1}),
    ("switch_off", {"heads": [["cross", 0, 0]]}),
    ("what_if", {"text": "The box."}),
    ("tree", {"num_beams": 2}),
    ("words", {"word": "cat", "sentences": ["the cat did", "the cat"]}),
    ("near", {"word": "cat"}),
    ("training", {}),
    ("training", {"step": 5}),
    ("training", {"step": 4}),
])
def test_an_engine_elsewhere_answers_as_one_at_hand(url, distant, shown, name, value):
    answers = [call(address, name, {"shown": shown.model_dump(mode="json"), **value}) for address in (url, distant)]
    assert answers[0] == answers[1]
    assert ("error" in answers[0][1]) is (value == {"step": 4})
