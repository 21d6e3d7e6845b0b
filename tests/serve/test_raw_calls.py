"""Anybody can call the page's handlers by hand: what they send is checked, and fails in one line."""

import json

import httpx
import pytest

import seq2see

ASK = {"text": "The cat.", "source": "en", "target": "fr"}


@pytest.fixture(scope="module")
def alone(server, translator):
    """The address of a page that is launched by itself, without `/v1`."""
    blocks = seq2see.page(translator)
    yield blocks.launch(prevent_thread_lock=True, quiet=True)[1].rstrip("/")
    blocks.close()


def post(server, path, sent):
    return httpx.post(f"{server.url}/ui/gradio_api/{path}", json=sent, timeout=60)


def ask(alone, route, body):
    """What the function that the explorer calls answers where there is no `/v1`."""
    return httpx.post(f"{alone}/gradio_api/run/ask", json={"data": [route, body]}, timeout=60).json()


@pytest.mark.parametrize(("route", "body", "told"), [
    ("look", ASK | {"text": 3}, "text: "), ("look", ASK | {"text": "cat " * 1000}, "characters"),
    ("look", ASK | {"num_beams": 10**6}, "num_beams"), ("look", ASK | {"more": 1}, "unknown key"),
    ("nothing", {}, "no such route"), ("look", [], "expected"), ("inside", {"question": {"tool": "x"}}, "tool"),
    ("inside", {"question": {"tool": "layers", "text": "x" * 1001, "translation": "y"}}, "1000"),
])
def test_this_and_other_questions_are_checked(alone, capfd, route, body, told):
    error = ask(alone, route, body)["error"]
    assert told in error and "\n" not in error
    assert "Traceback" not in capfd.readouterr().err


def test_it_answers_what_v1_answers(server, alone):
    texts = {"texts": ["The cat."], "source": "en", "target": "fr"}
    for route, body in (("look", ASK | {"maps": ["cross"]}), ("translate", texts)):
        answer = httpx.post(f"{server.url}/v1/{route}", json=body, timeout=60)
        assert ask(alone, route, body)["data"][0] == answer.json()


GOOD = ["The cat.", "en", "fr", 1]


@pytest.mark.few(16)
@pytest.mark.parametrize(("path", "sent", "status"), [
    *((f"{kind}/translate", sent, 400) for kind in ("run", "api", "call") for sent in (
        '{"data": [NaN]}', '{"data": ["a", "en", "fr", Infinity]}', '{"data": ["\\ud800", "en", "fr", 1]}', "[]", "",
        {"data": []}, {"data": GOOD[:3]}, {"data": [*GOOD, 2]}, {"data": "x"}, {"data": None}, {},
        {"data": GOOD, "batched": True})),
    *((f"{kind}/{name}", {"data": GOOD}, 404) for kind in ("run", "api", "call") for name in ("nope", "predict", "")),
    *(("run/translate", {"data": GOOD, "fn_index": number}, 404) for number in (99, -1, "x", 1.5, True)),
    *(("run/translate", {"data": GOOD[:n] + [wrong] + GOOD[n + 1:]}, 400) for n in range(4) for wrong in (
        {}, [], True, "zz", 10**30, 1.5) if (n, wrong) not in ((0, "zz"),)),
    ("run/look", {"data": ["a", "en", "zz", -1, -1]}, 400), ("run/look", {"data": ["a", "en", "fr", 99, -1]}, 400),
    ("call/v2/nope", {"text": "a"}, 404), ("call/v2/translate", "[]", 400),
    ("queue/join", {"data": [], "fn_index": 99}, 404), ("queue/join", '{"data": [NaN], "fn_index": 0}', 400),
    ("cancel", '{"data": NaN}', 400), ("reset", '{"event_id": NaN}', 400), ("run/translate", {"data": GOOD}, 200),
])
def test_what_is_wrong_with_a_call_is_its_callers_fault(server, path, sent, status):
    content = sent if isinstance(sent, str) else json.dumps(sent)
    answer = httpx.post(f"{server.url}/ui/gradio_api/{path}", content=content, timeout=60,
                        headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert status == 200 or "\n" not in answer.json()["error"]


def test_arguments_may_be_named(server, translator):
    event = post(server, "call/v2/translate", {"text": "The cat.", "target": "fr"}).json()["event_id"]
    events = httpx.get(f"{server.url}/ui/gradio_api/call/v2/translate/{event}").text
    assert json.dumps(translator("The cat.", target="fr").text) in events


@pytest.mark.parametrize("path", ["queue/data?session_hash=nobody", "queue/data", "call/translate/nobody",
                                  "call/v2/translate/nobody"])
def test_an_unknown_session_is_refused_in_one_line(server, caplog, path):
    answer = httpx.get(f"{server.url}/ui/gradio_api/{path}", timeout=60)
    assert answer.status_code == 404 and "\n" not in answer.json()["error"] and not caplog.records


def test_of_a_failing_handler_nothing_is_logged_but_the_type_of_its_error(server, monkeypatch, capfd, caplog):
    async def fail(*given, **more):
        raise ValueError("secret")

    monkeypatch.setattr(server.service, "translate", fail)
    assert post(server, "run/translate", {"data": ["secret", "en", "fr", 1]}).status_code == 500
    logged = capfd.readouterr().err + caplog.text
    assert "ValueError" in logged and "secret" not in logged and "Traceback" not in logged


def test_nobody_runs_the_lessons_where_the_operator_did_not_say_so(server):
    assert httpx.post(f"{server.url}/v1/lessons", json={"run": True}).status_code == 400
    assert httpx.post(f"{server.url}/v1/lessons", json={}).json()["record"]["run"] == "storybook"


@pytest.mark.parametrize(("path", "sent", "status"), [
    ("vibe-edit", {"prompt": "x"}, 404), ("component_server", {"data": 1, "component_id": 0, "fn_name": "x"}, 404),
    ("run/translate", {"data": [{"path": "http://files.example/x", "meta": {"_type": "gradio.FileData"}}]}, 400),
])
def test_what_gradio_would_take_or_fetch_is_refused(server, path, sent, status):
    answer = post(server, path, sent)
    assert answer.status_code == status and "the page takes no files" in answer.json()["error"]
