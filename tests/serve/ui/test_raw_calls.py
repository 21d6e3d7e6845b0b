"""Anybody can call the page's handlers by hand: what they send is checked, and fails in one line."""

import json
import urllib.error
import urllib.request

import pytest


@pytest.fixture(scope="module")
def targets(server):
    """The number of the handler of each event."""
    config = json.load(urllib.request.urlopen(f"{server.url}/ui/config"))
    here = [one for one in config["dependencies"] if one["backend_fn"]]  # others run in the browser alone
    return {event: one["id"] for one in here for _, event in one["targets"]}


def call(server, index, *, data=(), event=None):
    """What a handler answers to a raw call: the status and the body."""
    body = json.dumps({"fn_index": index, "data": list(data), "event_data": event, "session_hash": "tests"}).encode()
    headers = {"Content-Type": "application/json"}
    try:
        request = urllib.request.Request(f"{server.url}/ui/gradio_api/run/predict", body, headers)
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


ASK = {"n": 1, "text": "The cat.", "source": "en", "target": "fr"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"text": 3}, "text: "),
        ({"text": " "}, "no text"),
        ({"text": "\x85\x1c"}, "no text"),
        ({"text": "x" * 6000}, "characters"),
        ({"text": "a" + "\u0301" * 100}, "too long"),
        ({"text": "a\ud800b"}, "Invalid JSON"),
        ({"target": "tlh"}, "that pair of languages"),
        ({"num_beams": 10**6}, "num_beams"),
        ({"num_beams": True}, "num_beams"),
        ({"alternatives": 100}, "alternatives"),
        ({"temperature": 1e9}, "temperature"),
        ({"prefix": [[10**9]]}, "prefix in ids"),
        ({"prefix": [[], [-1]]}, "prefix in ids"),
        ({"prefix": [[2]]}, "do not end it"),
        ({"prefix": "Le"}, "prefix"),
        ({"model": "another"}, "no such model"),
        ({"start": {"layer": -1}}, "start.layer"),
        ({"shown": 64}, "shown"),
        ({"more": 1}, "no such field"),
    ],
)
def test_a_question_is_checked(server, targets, capfd, change, told):
    status, body = call(server, targets["ask"], event={**ASK, **change})
    assert status == 200, "or the page waits for ever"
    answer = json.loads(body)["data"][0]["props"]["told"]
    assert told in answer["message"] and answer["n"] == ASK["n"]
    assert "Traceback" not in body + capfd.readouterr().err


@pytest.mark.parametrize(("event", "sent"), [
    ("stop", None), ("stop", "x"), ("stop", {"n": "1"}), ("choose", {"shown": {}}), ("compare", {"texts": ["a"]}),
    ("compare", {"n": 1, "texts": ["x" * 301, "y"], "source": "en", "target": "fr"}), ("look", {"text": 1}),
])
def test_other_events_are_checked(server, targets, capfd, event, sent):
    status, body = call(server, targets[event], event=sent)
    assert status >= 400 and "Traceback" not in body + capfd.readouterr().err


@pytest.mark.parametrize("sent", [None, "x", []])
def test_what_is_no_question_is_refused(server, targets, sent):
    status, body = call(server, targets["ask"], event=sent)
    assert status == 200 and json.loads(body)["data"][0]["props"]["told"]["message"] == "Input should be an object"


def test_a_good_question_is_answered(server, targets, translator):
    status, body = call(server, targets["ask"], event=ASK)
    assert status == 200
    [box, shown] = json.loads(body)["data"]
    assert box["value"]["hypotheses"][0]["text"] == translator("The cat.").text
    assert shown["parts"][0]["ids"] == list(translator("The cat.").hypotheses[0].token_ids)


@pytest.mark.parametrize("part", [{"text": "The cat. " * 30}, {"ids": [5] * 201}])
def test_words_are_not_linked_in_parts_that_the_text_says_nothing_of(server, targets, part):
    _, body = call(server, targets["ask"], event=ASK)
    shown = json.loads(body)["data"][1]
    status, body = call(server, targets["change"], data=[shown | {"parts": [shown["parts"][0] | part] * 10}])
    assert status == 200 and "texts up to 2,000 characters" in body and "source_text" not in body


def test_nobody_runs_the_lessons_where_the_operator_did_not_say_so(server, targets):
    assert call(server, targets["run"])[0] >= 400
