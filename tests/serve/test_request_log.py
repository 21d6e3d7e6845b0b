"""Every answer has the id of its request, and the log a line of JSON for it, with nothing of the user's."""

import io
import json
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import httpx
import pytest
from serving import Process, leave, raw, stub_server, translate

from seq2see.serve import request_log

KEY = "the-key-of-ann-and-nobody"
SECRETS = ["a-secret-text", "s3cret-prefix", KEY, "hf_sEcReT", "203.0.113.77", "secret-path", "a-secret-query",
           "PROPFIND"]
FIELDS = ["time", "id", "method", "route", "status", "milliseconds", "source_tokens", "target_tokens", "account",
          "error"]


def lines(capsys, count):
    """This many lines, which are written after the answers."""
    text, until = "", time.monotonic() + 60
    while (text := text + capsys.readouterr().out).count("\n") < count and time.monotonic() < until:
        time.sleep(0.01)
    found = [json.loads(line) for line in text.splitlines()]
    assert len(found) == count
    return found


@pytest.fixture
def logged(monkeypatch):
    """A server with a key, whose clients are told apart by a proxy."""
    monkeypatch.setenv("SEQ2SEE_API_KEYS", f"ann {KEY}")
    with stub_server(request_log=True, trusted_proxies=("127.0.0.1",), body_bytes=5_000) as client:
        yield client


BODY = {"texts": [SECRETS[0], "x"], "prefix": SECRETS[1], "source": "en", "target": "fr"}
TOKENS = len(SECRETS[0]) + 1
KNOWN = {"headers": {"X-API-Key": KEY}}
REQUESTS = [  # method, path, what is sent, and of the line: route, status, tokens, account, error
    ("POST", "/v1/translate", {"json": BODY} | KNOWN, "/v1/translate", 200, TOKENS, "ann", None),
    ("POST", "/models/stub?q=a-secret-query", {"json": {"inputs": SECRETS[0]}} | KNOWN, "/models/{model}", 200,
     TOKENS - 1, "ann", None),
    ("POST", "/models/secret-path", {"json": {"inputs": SECRETS[0]}} | KNOWN, "/models/{model}", 404, 0, "ann",
     "unknown_model"),
    ("POST", f"/translate?q={SECRETS[0]}&source=en&target=fr&api_key={KEY}", {}, "/translate", 200, TOKENS - 1, "ann",
     None),
    ("POST", "/translate", {"data": {"q": SECRETS[0], "source": "en", "target": "fr", "api_key": "hf_sEcReT"}},
     "/translate", 403, 0, None, "key_wrong"),
    ("POST", "/v1/translate", {"json": BODY}, "/v1/translate", 403, 0, None, "key_missing"),
    ("POST", "/v1/translate", {"content": SECRETS[0] * 1_000} | KNOWN, "/v1/translate", 413, 0, "ann",
     "body_too_large"),
    ("POST", "/v1/translate", {"content": f'{{"texts": "{SECRETS[0]}'} | KNOWN, "/v1/translate", 400, 0, "ann",
     "bad_request"),
    ("POST", "/v1/translate", {"json": {"texts": [f"venom {SECRETS[0]}"]}} | KNOWN, "/v1/translate", 500, 0, "ann",
     "failed"),
    ("GET", "/secret-path?a-secret-query", {}, None, 404, 0, None, "not_found"),
    ("GET", "/v1/translate", {}, "/v1/translate", 405, 0, None, "method_not_allowed"),
    ("GET", "/ui/secret-path", {"headers": {"Host": "secret-path"}}, "/ui", 400, 0, None, "host"),
    ("GET", "/ui/secret-path", {}, "/ui", 401, 0, None, "key_missing"),
    ("GET", "/", {"auth": ("any", KEY)}, "/", 405, 0, "ann", "method_not_allowed"),
    ("PROPFIND", "/healthz", {}, "/healthz", 405, 0, None, "method_not_allowed"),
    ("OPTIONS", "/v1/look", {"headers": {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}},
     "/v1/look", 400, 0, None, None),
]


def test_a_line_tells_what_an_operator_needs_and_nothing_of_the_user(logged, capsys, caplog):
    capsys.readouterr()
    given = {"X-Forwarded-For": "203.0.113.77", "User-Agent": SECRETS[0]}
    ids = []
    for method, path, sent, *_ in REQUESTS:
        answer = logged.request(method, path, **{**sent, "headers": given | sent.get("headers", {})})
        ids.append(answer.headers["X-Request-ID"])
    found = lines(capsys, len(REQUESTS))
    for one, (method, _, _, route, status, tokens, account, error), id in zip(found, REQUESTS, ids, strict=True):
        assert list(one) == FIELDS
        assert one | {"time": 0, "milliseconds": 0} == {
            "time": 0, "id": id, "method": None if method == "PROPFIND" else method, "route": route, "status": status,
            "milliseconds": 0, "source_tokens": tokens, "target_tokens": tokens, "account": account, "error": error}
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["time"])
        assert abs(datetime.fromisoformat(one["time"]).timestamp() - time.time()) < 60 > one["milliseconds"] / 1000 >= 0
    assert len(set(ids)) == len(ids)
    failed = ids[[status for _, _, _, _, status, *_ in REQUESTS].index(500)]
    assert f"request {failed} failed: Panic" in caplog.messages
    said = json.dumps(found) + "".join(one for one in caplog.messages if not one.startswith("HTTP Request"))
    assert not [secret for secret in SECRETS if secret in said]


def test_addresses_are_logged_where_the_operator_allows_it(capsys):
    with stub_server(request_log=True, log_addresses=True, trusted_proxies=("127.0.0.1",)) as client:
        capsys.readouterr()
        client.get("/healthz", headers={"X-Forwarded-For": "203.0.113.77"})
        client.get("/healthz")
        assert [one["address"] for one in lines(capsys, 2)] == ["203.0.113.77", "127.0.0.1"]


def test_who_leaves_early_has_no_status(capsys):
    with stub_server(request_log=True, wait_ms=0) as client:
        leave(client, "hold", when=client.stub.entered.is_set)
        [line] = lines(capsys, 1)
    assert (line["route"], line["status"]) == ("/v1/translate", None)


def test_nothing_is_written_unasked_and_a_log_that_cannot_be_written_stops_nobody(stub, capsys, monkeypatch,
                                                                                  caplog):
    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

    assert translate(stub, "a").status_code == 200 and not capsys.readouterr().out
    with stub_server(request_log=True) as client, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Full())
        assert [translate(client, "a").status_code for _ in range(5)] == [200] * 5
    told = [one for one in caplog.messages if "log" in one]
    assert told == ["the request log cannot be written to standard output: OSError"]


def test_a_reader_that_stands_still_stops_nobody(monkeypatch, caplog):
    class Still(io.StringIO):
        def write(self, text):
            goes_on.wait(60)
            return super().write(text)

    goes_on, out = threading.Event(), Still()
    monkeypatch.setattr(request_log, "MOST_WAITING", 3)
    with stub_server(request_log=True) as client, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        assert [translate(client, "a").status_code for _ in range(9)] == [200] * 9
        told = [one for one in caplog.messages if "log" in one]
        assert told == ["lines of the request log are dropped, as nobody reads them: 1 so far"]
        goes_on.set()
        client.server.app.state.lines.close()
    assert out.getvalue().count("\n") == 4 and "5 lines of the request log were dropped" in caplog.text


def test_a_pipe_that_nobody_reads_stops_neither_the_server_nor_its_end():
    with Process("--port", "0", "--set", "page=false", "--set", "request_log=true", stdout=subprocess.PIPE) as server:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            assert {client.get("/healthz").status_code for _ in range(500)} == {200}
        server.process.terminate()
        assert server.process.wait(timeout=60) == 143
        assert "lines of the request log were dropped" in server.process.stderr.read()


def test_what_takes_longer_than_the_grace_period_is_told_that_the_server_stops(capsys, caplog):
    with stub_server(request_log=True, grace_seconds=1.0, wait_ms=0) as client, ThreadPoolExecutor(1) as waiting:
        asked = waiting.submit(translate, client, "hold")
        assert client.stub.entered.wait(60)
        capsys.readouterr()
        client.server.should_exit = True
        answer = asked.result()
        [line] = lines(capsys, 1)
        client.stub.gate.set()
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "stopping", "5")
    assert (line["status"], line["error"]) == (503, "stopping") and "Traceback" not in caplog.text


# --- ids


@pytest.mark.parametrize(("id", "taken"), [
    ("a", True), ("req-1.2_X" * 7, True), ("x" * 64, True), ("x" * 65, False), ("", False), ("a b", False),
    ('a"b', False), ("a\tb", False), ("é", False), ("a,b", False), ("{}", False), ("../a", False),
])
def test_a_sane_id_is_taken_and_another_made(stub, id, taken):
    for path in ("/healthz", "/nowhere"):
        found = stub.get(path, headers={"X-Request-ID": id.encode()}).headers["X-Request-ID"]
        assert found == id if taken else re.fullmatch("[0-9a-f]{16}", found)


@pytest.mark.parametrize("bytes_", [b"no http\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/9\r\n\r\n",
                                    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nb\xc3\xa4d name: x\r\n\r\n"])
def test_what_is_no_http_is_refused_with_an_id_a_line_and_a_count(capsys, bytes_):
    with stub_server(request_log=True) as client:
        capsys.readouterr()
        head, _, body = raw(client, bytes_).partition(b"\r\n\r\n")
        [line] = lines(capsys, 1)
        counted = client.get("/metrics").text
    assert head.startswith(b"HTTP/1.1 400 ") and json.loads(body)["code"] == "malformed"
    assert f"X-Request-ID: {line['id']}".encode() in head
    assert (line["method"], line["route"], line["status"], line["error"]) == (None, None, 400, "malformed")
    assert 'seq2see_refusals_total{reason="malformed"} 1.0' in counted


def test_scripts_of_other_sites_may_send_and_read_it():
    site = {"Origin": "https://a.example"}
    with stub_server(cors_origins=("https://a.example",)) as client:
        asked = client.options("/translate", headers={**site, "Access-Control-Request-Method": "POST",
                                                      "Access-Control-Request-Headers": "x-request-id"})
        assert asked.status_code == 200 and asked.headers["X-Request-ID"]
        assert "X-Request-ID" in translate(client, "a").headers
        assert "X-Request-ID" in client.get("/healthz", headers=site).headers["Access-Control-Expose-Headers"]


def test_in_the_middle_of_an_answer_there_is_no_second_one():
    """A body is refused while it is sent, and then goes wrong."""
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with stub_server(body_bytes=10) as client, socket.create_connection(
            ("127.0.0.1", client.base_url.port), timeout=60) as connection:
        connection.sendall(head + b"14\r\n" + b"x" * 20 + b"\r\n")
        found = connection.recv(4_000)
        connection.sendall(b"no chunk\r\n")
        found += b"".join(iter(lambda: connection.recv(4_000), b""))
    assert found.startswith(b"HTTP/1.1 413 ") and found.count(b"HTTP/1.1") == 1
