"""Anybody can call the page's handlers by hand: what they send is checked, and fails in one line."""

import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

ASK = {"text": "The cat.", "source": "en", "target": "fr"}


def post(server, path, sent, media="application/json"):
    content = sent if isinstance(sent, bytes) else json.dumps(sent)
    return httpx.post(f"{server.url}/ui/gradio_api/{path}", content=content, headers={"Content-Type": media},
                      timeout=60)


def ask(server, route, body):
    """What the function that the explorer calls answers where there is no `/v1`: the status and the body."""
    answer = post(server, "run/ask", {"data": [route, body]})
    return answer.status_code, answer.json()


@pytest.mark.parametrize(("route", "body", "told"), [
    ("look", ASK | {"text": 3}, "text: "), ("look", ASK | {"text": "a" + "\u0301" * 100}, "too long"),
    ("look", ASK | {"num_beams": 10**6}, "num_beams"), ("look", ASK | {"more": 1}, "unknown field"),
    ("nothing", {}, ""), ("look", [], ""), (None, None, ""), ("inside", {"question": {"tool": "x"}}, ""),
    ("inside", {"question": {"tool": "layers", "text": "x" * 1001, "translation": "y"}}, "1000"),
])  # fmt: skip
def test_this_and_other_questions_are_checked(server, capfd, route, body, told):
    status, answer = ask(server, route, body)
    assert 400 <= status < 500 and told in answer["error"] and "\n" not in answer["error"]
    assert "Traceback" not in capfd.readouterr().err


def test_it_answers_what_v1_answers(server):
    texts = {"texts": ["The cat."], "source": "en", "target": "fr"}
    for route, body in (("look", ASK | {"maps": ["cross"]}), ("translate", texts)):
        status, answer = ask(server, route, body)
        assert status == 200
        assert answer["data"][0] == httpx.post(f"{server.url}/v1/{route}", json=body, timeout=60).json()


def test_arguments_may_be_named(server, translator):
    event = post(server, "call/v2/translate", {"text": "The cat.", "target": "fr"}).json()["event_id"]
    events = httpx.get(f"{server.url}/ui/gradio_api/call/v2/translate/{event}").text
    assert json.dumps(translator("The cat.", target="fr").text) in events


def test_of_a_failing_handler_nothing_is_logged_but_the_type_of_its_error(server, monkeypatch, capfd, caplog):
    async def fail(*given, **more):
        raise ValueError("secret")

    monkeypatch.setattr(server.service, "translate", fail)
    assert post(server, "run/translate", {"data": ["secret", "en", "fr", 1]}).status_code == 500
    logged = capfd.readouterr().err + caplog.text
    assert "ValueError" in logged and "secret" not in logged and "Traceback" not in logged


def test_nobody_runs_the_lessons_where_the_operator_did_not_say_so(server):
    assert ask(server, "lessons", {"run": True})[0] == 400
    assert httpx.post(f"{server.url}/v1/lessons", json={"run": True}).status_code == 400
    assert "Attention, measured" in httpx.post(f"{server.url}/v1/lessons", json={}).json()["html"]


# --- whatever is posted

BODY = {"fn_index": 0, "data": ["The cat.", "en", "fr", 1], "session_hash": "s"}
PATHS = ["queue/join", "run/predict", "run/ask", "run/translate", "api/look", "call/translate", "call/v2/look", "reset",
         "cancel", "component_server"]  # fmt: skip
NAMES = ["fn_index", "data", "event_data", "session_hash", "trigger_id", "batched", "event_id", "component_id", "text"]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*NAMES, "path"]), inner, max_size=3),
    max_leaves=8,
)


@given(path=st.sampled_from(PATHS), changes=st.dictionaries(st.sampled_from(NAMES), JUNK, max_size=4))
def test_whatever_is_posted_is_no_fault_of_the_server(server, path, changes):
    """Gradio itself answers some such requests with 500."""
    answer = post(server, path, BODY | changes)
    assert answer.status_code < 500, answer.text[:100]


@pytest.mark.parametrize(("path", "sent", "status"), [
    ("run/predict", {"fn_index": 10**6, "data": []}, 404), ("run/nothing", {"data": []}, 404),
    ("queue/join", {"fn_index": -1, "data": [], "session_hash": "s"}, 404), ("vibe-edit", {"prompt": "x"}, 404),
    ("component_server", {"data": 1, "component_id": 10**6, "session_hash": "s", "fn_name": "x"}, 404),
    ("call/v2/translate", {"text": "a", "colour": 1}, 400), ("run/translate", {"data": ["a", "en", "zz", 1]}, 400),
    ("run/translate", {"data": ["a"]}, 400), ("cancel", {"fn_index": 1}, 400), ("reset", [], 400),
])  # fmt: skip
def test_what_is_not_there_or_cannot_be_read_is_told_in_one_line(server, path, sent, status):
    answer = post(server, path, sent)
    assert answer.status_code == status and "\n" not in answer.json()["error"].strip()


@pytest.mark.parametrize("sent", [json.dumps(BODY).encode("utf-16"), b"\xff" + json.dumps(BODY).encode()])
@pytest.mark.parametrize("path", ["queue/join", "call/v2/translate", "reset"])
def test_a_body_that_is_no_json_in_utf_8_is_refused_in_one_line(server, path, sent):
    answer = post(server, path, sent)
    assert 400 <= answer.status_code < 500 and len(answer.text) < 200 and "\n" not in answer.json()["error"].strip()


@pytest.mark.parametrize("media", ["text/plain", "multipart/form-data; boundary=x", ""])
def test_a_body_that_does_not_say_it_is_json_is_not_sent_back(server, media):
    answer = post(server, "queue/join", BODY, media)
    assert (answer.status_code, answer.json()["error"]) == (400, "Content-Type: expected application/json")
