"""A live server: what becomes of requests that go wrong, what it says of itself, and how it begins and ends."""

import argparse
import contextlib
import http.client
import json
import logging
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
from serving import Process, Stub, counters, leave, running, stub_server, translate

from seq2see.cli import serve
from seq2see.serve.server import Server, outside_address
from seq2see.serve.settings import ServerSettings

STOPPING = "stopping: requests in progress have {} s to finish; a second signal stops immediately\n"


def test_who_goes_is_counted_and_does_not_reach_the_engine():
    with stub_server(wait_ms=0) as client:
        held = threading.Thread(target=translate, args=(client, "hold"))
        held.start()
        assert client.stub.entered.wait(60)
        present = lambda: counters(client)["seq2see_requests_running",]  # noqa: E731
        for number in range(5):
            leave(client, f"gone {number}", when=lambda: present() > 1)
            while present() > 1:
                time.sleep(0.01)
        client.stub.gate.set()
        held.join()
        assert translate(client, "here").status_code == 200
        assert not [text for text in client.stub.seen if "gone" in text]
        found = counters(client)
    assert found["seq2see_cancelled_total",] == 5
    assert found["seq2see_queue_tokens",] == 0 == found["seq2see_requests_running",]


# --- logs and counters


SECRETS = ["a-secret-sentence", "hf_sEcReTtOkEn", "203.0.113.77"]


def test_nothing_of_a_user_is_logged_or_counted(capfd, caplog):
    headers = {"Authorization": f"Bearer {SECRETS[1]}", "X-Forwarded-For": SECRETS[2], "User-Agent": SECRETS[0]}
    bodies = [{"texts": [SECRETS[0]]}, {"texts": [f"poison {SECRETS[0]}"]}, {"texts": [f"venom {SECRETS[0]}"]},
              {"texts": [3]}, {"texts": [SECRETS[0]], "target": SECRETS[0]}, {"texts": [SECRETS[0] * 1000]}]
    with stub_server(trusted_proxies=("127.0.0.1",)) as client, caplog.at_level(logging.DEBUG):
        logging.getLogger("httpx").setLevel(logging.WARNING)  # the client's own
        logging.getLogger("httpcore").setLevel(logging.WARNING)
        statuses = [client.post("/v1/translate", json=body, headers=headers).status_code for body in bodies]
        client.post("/translate", content=json.dumps({"q": SECRETS[0]})[:-3], headers=headers)
        client.get(f"/{SECRETS[0]}", headers=headers)
        said = client.get("/metrics").text
    assert statuses == [200, 500, 500, 400, 400, 400]
    said += caplog.text + "".join(capfd.readouterr())
    assert "Panic" in said
    assert not [secret for secret in SECRETS if secret in said]


# --- beginning


def test_while_it_loads_it_lives_and_is_not_ready():
    gate = threading.Event()

    def load():
        assert gate.wait(60)
        return Stub()

    with running({"slow": load}, wait=False) as server, httpx.Client(base_url=server.url) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503
        asked = {"q": "hello", "source": "de", "target": "fr"}
        # No route says of models and languages what will not be true in a moment; clients keep such answers.
        answers = [*(client.get(path) for path in ("/health", "/languages", "/info", "/models/slow/health")),
                   *(client.post(path, json=asked) for path in ("/translate", "/detect")),
                   *(client.post(path, json={"inputs": "hello"}) for path in ("/", "/models/slow")),
                   translate(client, "hello")]
        assert [(one.status_code, "Retry-After" in one.headers) for one in answers] == [(503, True)] * len(answers)
        gate.set()
        while client.get("/readyz").status_code == 503:
            time.sleep(0.01)
        assert translate(client, "hello").status_code == 200
        assert client.get("/health").status_code == client.get("/models/slow/health").status_code == 200


def test_a_server_that_others_reach_without_a_key_warns(monkeypatch, capsys):
    for host, keys, lines in (("0.0.0.0", "", 1), ("0.0.0.0", "ann a-key-of-some-length", 0), ("127.0.0.1", "", 0)):
        monkeypatch.setenv("SEQ2SEE_API_KEYS", keys)
        Server({"stub": Stub}, host=host, port=0).socket.close()
        told = capsys.readouterr().err
        assert told.count("WARNING: there are no API keys") == told.count("\n") == lines


@pytest.mark.parametrize(("host", "opens", "other"), [
    ("0.0.0.0", "127.0.0.1", True), ("::", "[::1]", True), ("127.0.0.1", "127.0.0.1", False)])
def test_the_address_it_names_can_be_opened(monkeypatch, capsys, host, opens, other):
    monkeypatch.setattr("seq2see.serve.server.outside_address", lambda host: None)
    server = Server({"stub": Stub}, host=host, port=0)
    server.socket.close()
    server._announce()
    assert server.url == f"http://{opens}:{server.url.rpartition(':')[2]}"
    last = capsys.readouterr().err.splitlines()[-1]
    assert server.url in last and ("every other address" in last) == other


@pytest.mark.parametrize("outside", ["192.168.1.5", None])
def test_it_names_the_address_for_other_machines_if_there_is_one(monkeypatch, capsys, outside):
    monkeypatch.setattr("seq2see.serve.server.outside_address", lambda host: outside)
    server = Server({"stub": Stub}, host="0.0.0.0", port=0)
    server.socket.close()
    server._announce()
    last, port = capsys.readouterr().err.splitlines()[-1], server.url.rpartition(":")[2]
    also = f", at http://{outside}:{port}/" if outside else ""
    assert f"is at http://127.0.0.1:{port}/{also}, and at every other address of this machine" in last


def test_without_a_network_there_is_no_address_for_other_machines(monkeypatch):
    def unreachable(*_):
        raise OSError("Network is unreachable")

    monkeypatch.setattr("socket.socket.connect", unreachable)
    assert outside_address("0.0.0.0") is None and outside_address("::") is None


@pytest.mark.parametrize("keys", ["", "ann a-key-of-some-length"])
def test_the_start_says_what_is_served(monkeypatch, capsys, keys):
    monkeypatch.setenv("SEQ2SEE_API_KEYS", keys)
    with running({"a": Stub, "b": lambda: Stub(pairs=[])}) as server:
        pass
    told = capsys.readouterr().err
    assert server.url in told and "models: a (en to fr, de to fr, en to de), b (any)" in told
    assert f"API keys: {'on' if keys else 'off'}" in told and told.count("\n") == 1


def test_several_models_serve_their_pairs():
    first, second = Stub(pairs=[("en", "fr")]), Stub(pairs=[("fr", "en"), ("en", "hi")])
    with running({"a": lambda: first, "b": lambda: second}) as server, httpx.Client(base_url=server.url) as client:
        for source, target, asked in (("en", "fr", first), ("fr", "en", second), ("en", "hi", second)):
            assert client.post("/translate", json={"q": "x", "source": source, "target": target}).status_code == 200
            assert asked.seen.pop() == "x"
        assert not first.seen and not second.seen
        targets = {one["code"]: one["targets"] for one in client.get("/languages").json()}
        assert targets == {"en": ["fr", "hi"], "fr": ["en"], "hi": []}


# --- ending


def ask_with_text(url, text):
    return httpx.post(f"{url}/v1/translate", json={"texts": [text], "source": "en", "target": "fr"}, timeout=60)


def wait_for_a_request(url):
    with httpx.Client(base_url=url, timeout=30) as client:
        while not counters(client)["seq2see_requests_running",]:
            time.sleep(0.05)


def ask_in_vain(url, text):
    with contextlib.suppress(httpx.HTTPError):
        assert ask_with_text(url, text).status_code >= 500


def test_sighup_loads_the_models_anew_and_sigterm_lets_a_call_finish_with_a_tab_open():
    with Process("--port", "0") as server:
        for _ in range(2):
            server.process.send_signal(signal.SIGHUP)
            assert server.process.stderr.readline() == "reloaded: stub\n"
        answers = []
        call = threading.Thread(target=lambda: answers.append(ask_with_text(server.url, "sleep 1.5")))
        with httpx.stream("GET", f"{server.url}/ui/gradio_api/heartbeat/tab", timeout=30) as tab:
            next(tab.iter_raw())
            call.start()
            wait_for_a_request(server.url)
            server.process.send_signal(signal.SIGTERM)
            with pytest.raises(httpx.TransportError):
                while True:  # until it has heard the signal
                    ask_with_text(server.url, "too late")
            call.join()
            assert answers[0].json()["translations"][0]["text"] == "SLEEP 1.5"
            assert server.process.wait(timeout=30) == 143
        assert server.process.stderr.read() == STOPPING.format(10)


def test_sighup_is_ignored_until_the_server_takes_it(monkeypatch):
    seen = []

    class Fake:
        def __init__(self, *_, hangups, **more):
            seen.append((hangups, signal.getsignal(signal.SIGHUP)))

        def run(self):
            pass

    def read(*_):
        os.kill(os.getpid(), signal.SIGHUP)
        return ServerSettings()

    monkeypatch.setattr("seq2see.serve.server.Server", Fake)
    monkeypatch.setattr("seq2see.serve.settings.read_settings", read)
    args = argparse.Namespace(run=["a"], host="127.0.0.1", port=0, config=None, set=[], engine=None, device=None,
                              trust_remote_code=False)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        serve.run(args)
        serve.run(args)  # as under nohup
    finally:
        signal.signal(signal.SIGHUP, before)
    assert seen == [(True, signal.SIG_IGN), (False, signal.SIG_IGN)]


def test_the_last_answer_on_a_connection_says_that_it_closes():
    with running({"stub": Stub}) as server:
        connection, closes = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60), []
        for stopping in (False, True):
            server.should_exit = stopping
            while server.service.stopping != stopping:
                time.sleep(0.001)
            connection.request("POST", "/translate", json.dumps({"q": "a", "source": "en", "target": "fr"}),
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read()
            closes.append(answer.getheader("Connection") == "close")
    assert closes == [False, True]


@pytest.mark.parametrize(("first", "second", "code"), [
    (signal.SIGINT, signal.SIGTERM, 130), (signal.SIGTERM, None, 143),
])
def test_a_second_signal_or_the_end_of_the_grace_forces_it(first, second, code):
    grace = "60" if second else "1"
    with Process("--port", "0", "--set", "page=false", "--set", f"grace_seconds={grace}") as server:
        call = threading.Thread(target=lambda: ask_in_vain(server.url, "sleep 50"))
        call.start()
        wait_for_a_request(server.url)
        server.process.send_signal(first)
        time.sleep(0.3)
        if second:
            assert server.process.poll() is None and server.process.stderr.readline() == STOPPING.format(60)
            server.process.send_signal(second)
        assert server.process.wait(timeout=60) == code
        call.join(60)


# --- a real model


@pytest.mark.long
def test_the_first_two_requests_may_both_need_torch(folder):
    """One looks, the other samples, at the same time."""
    with Process(str(folder), "--port", "0", "--set", "page=false", stub=False) as server, ThreadPoolExecutor() as both:
        body = {"source": "en", "target": "fr"}
        asked = (("look", {"text": "The cat."}), ("translate", {"texts": ["The cat."], "temperature": 0.7}))
        answers = both.map(lambda one: httpx.post(f"{server.url}/v1/{one[0]}", json=body | one[1], timeout=100), asked)
        assert [one.status_code for one in answers] == [200, 200]


def test_before_the_first_look_there_is_no_torch(folder):
    """With the page, a translation and a detected language."""
    from seq2see.translate.ctranslate2_export import exported

    exported(folder, quantization="int8")  # by torch, once, beside the checkpoint
    with Process(str(folder), "--port", "0", stub=False) as server:
        answer = httpx.post(f"{server.url}/translate", json={"q": "The cat.", "source": "auto", "target": "fr"},
                            timeout=60)
        assert answer.status_code == 200
        assert httpx.post(f"{server.url}/detect", json={"q": "The cat."}, timeout=60).status_code == 200
        assert httpx.get(f"{server.url}/ui/", timeout=60).status_code == 200
        loaded = {one.path for one in psutil.Process(server.pid).memory_maps()}
        assert any("_ext" in path and "ctranslate2" in path for path in loaded)
        assert not [path for path in loaded if "libtorch" in path]
        look = httpx.post(f"{server.url}/v1/look", json={"text": "The cat.", "source": "en", "target": "fr"},
                          timeout=200)
        assert look.status_code == 200
        assert any("libtorch" in one.path for one in psutil.Process(server.pid).memory_maps())
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=60) == 130
        assert server.process.stderr.read() == STOPPING.format(10) + "seq2see: interrupted\n"
