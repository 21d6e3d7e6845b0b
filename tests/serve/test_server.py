"""A live server: what its guards refuse, what it says of itself, and how it begins and ends."""

import asyncio
import contextlib
import dataclasses
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import fastapi.testclient
import httpx
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import HERE, Process, Stub, running, stub_server

from seq2see.errors import UserError
from seq2see.serve.server import make_server
from seq2see.serve.settings import ServerSettings

MOST_MEMORY = 350 * 2**20


@pytest.fixture(scope="module")
def stub():
    """A stub's server with small limits, for tests that leave it as it was."""
    with stub_server(body_bytes=20_000, read_seconds=1.0, characters=100, texts=3) as client:
        yield client


def translate(client, *texts, **more):
    return client.post("/v1/translate", json={"texts": list(texts), "source": "en", "target": "fr", **more})


def counters(client):
    return {(one.name, *one.labels.values()): one.value
            for family in text_string_to_metric_families(client.get("/metrics").text) for one in family.samples}


def raw(client, data, *, until=None, seconds=10):
    """What the server answers to these bytes, until it closes the connection."""
    url = urllib.parse.urlsplit(str(client.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=seconds) as connection:
        connection.sendall(data)
        received = b""
        while part := connection.recv(65536):
            received += part
            if until and until in received:
                break
        return received


# --- bodies, hosts, origins


def test_a_body_over_the_limit_is_413_and_the_next_request_is_served(stub):
    big = b"x" * 30_000
    answers = [stub.post("/translate", content=big), stub.post("/translate", content=iter([big[:10_000]] * 3)),
               stub.post("/v1/translate", content=b"y" * 5_000_000)]
    for answer in answers:
        assert answer.status_code == 413 and answer.json()["code"] == "body_too_large"
    assert translate(stub, "hello").json()["translations"][0]["text"] == "HELLO"


def test_large_bodies_are_not_kept(stub):
    process = psutil.Process()
    translate(stub, "warm up")
    before = process.memory_info().rss
    for _ in range(4):
        assert stub.post("/translate", content=(b"x" * 2**20 for _ in range(16))).status_code == 413
    assert process.memory_info().rss - before < 30 * 2**20


def test_a_body_is_too_large_before_its_end(stub):
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = raw(stub, head + b"7530\r\n" + b"x" * 0x7530 + b"\r\n")  # 30,000 bytes, and no last chunk
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_body_that_does_not_come_is_408(stub):
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
    answer = raw(stub, head)
    assert answer.startswith(b"HTTP/1.1 408 ") and b"connection: close" in answer.lower()


def test_half_open_connections_are_closed_and_health_answers_meanwhile(stub):
    url = urllib.parse.urlsplit(str(stub.base_url))
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(socket.create_connection((url.hostname, url.port))) for _ in range(200)]
        for connection in connections:
            connection.sendall(b"POST /translate HTTP/1.1\r\nHost: loc")
        assert stub.get("/healthz").status_code == 200
        for connection in connections:
            connection.settimeout(20)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil"])
def test_another_sites_name_for_this_machine_is_refused(stub, host):
    answer = stub.get("/healthz", headers={"Host": host})
    assert answer.status_code == 400


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:99", "[::1]:8000", "LOCALHOST"])
def test_this_machines_own_names_are_served(stub, host):
    assert stub.get("/healthz", headers={"Host": host}).status_code == 200


def test_scripts_of_any_site_may_use_the_api_without_cookies(stub):
    headers = {"Origin": "https://elsewhere.example", "Cookie": "a=b"}
    answer = stub.post("/translate", json={"q": "a", "source": "en", "target": "fr"}, headers=headers)
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    assert stub.options("/translate", headers={**headers, **asked}).status_code == 200


def test_origins_can_be_named():
    with stub_server(cors_origins=("https://a.example",)) as client:
        for origin, allowed in (("https://a.example", "https://a.example"), ("https://b.example", None)):
            answer = client.get("/languages", headers={"Origin": origin})
            assert answer.headers.get("access-control-allow-origin") == allowed


@pytest.mark.parametrize(("method", "path", "status"), [
    ("GET", "/translate", 405), ("POST", "/languages", 405), ("GET", "/nowhere", 404), ("POST", "/readyz", 405),
])  # fmt: skip
def test_what_is_not_there_is_told_in_json(stub, method, path, status):
    answer = stub.request(method, path)
    assert answer.status_code == status and "error" in answer.json()


def test_answers_are_not_to_be_guessed_at(stub):
    assert stub.get("/healthz").headers["x-content-type-options"] == "nosniff"


def test_the_documentation_loads_nothing_and_can_be_switched_off(stub):
    page = stub.get("/docs").text
    assert "POST /v1/translate" in page and "POST /translate" in page and "curl" in page
    assert not re.search(r"<script|<link|<img|src=|url\(", page)
    with stub_server(docs=False, metrics=False) as client:
        assert [client.get(path).status_code for path in ("/docs", "/openapi.json", "/metrics")] == [404] * 3


# --- the page


def test_a_body_over_the_limit_is_413_on_the_page_too(live):
    big = b"x" * 1_100_000
    for content in (big, iter([big[:100_000]] * 11)):
        answer = httpx.post(f"{live}/ui/gradio_api/run/predict", content=content, headers={"Content-Type": "text/json"})
        assert answer.status_code == 413
    assert httpx.get(f"{live}/ui/").status_code == 200


def test_no_other_site_reads_the_page_nor_frames_it(live):
    for host in ({}, {"Host": "localhost:80"}):
        headers = {"Origin": "http://evil.example", "Cookie": "session=1", **host}
        answer = httpx.get(f"{live}/ui/config", headers=headers)
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    policy = httpx.get(f"{live}/ui/").headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'self'" in policy
    assert httpx.get(f"{live}/ui/", headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("path", [
    "/ui/gradio_api/file=/etc/passwd", "/ui/gradio_api/file=%2e%2e/%2e%2e/etc/passwd",
    "/ui/gradio_api/file=http://169.254.169.254/", "/ui/gradio_api/proxy=http://169.254.169.254/", "/ui/monitoring",
])  # fmt: skip
def test_the_page_gives_no_files_away(live, path):
    answer = httpx.get(live + path)
    assert 400 <= answer.status_code < 500 and "root:" not in answer.text


def test_with_keys_the_page_wants_one(tmp_path):
    (tmp_path / "keys").write_text("ann a-key-of-some-length\n")
    server = make_server({"stub": Stub}, host="127.0.0.1", port=0, settings=ServerSettings(keys_file=tmp_path / "keys"))
    with fastapi.testclient.TestClient(server.app, base_url="http://localhost") as client:
        for path in ("/ui", "/ui/", "/ui/config"):
            answer = client.get(path)
            assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Basic")
        assert client.get("/ui/", auth=("any", "a-key-of-some-length")).status_code == 503  # no page there yet
    server.socket.close()


# --- who goes, who is late, who is poisoned


def test_who_goes_is_counted_and_does_not_reach_the_engine():
    with stub_server(wait_ms=0) as client:
        before = counters(client)
        held = threading.Thread(target=translate, args=(client, "hold"))
        held.start()
        assert client.stub.entered.wait(20)
        for number in range(20):
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(f"{client.base_url}/v1/translate", json={"texts": [f"gone {number}"], "target": "fr",
                                                                    "source": "en"}, timeout=0.02)
        while client.server.service.running > 1:
            time.sleep(0.01)
        client.stub.gate.set()
        held.join()
        assert translate(client, "here").status_code == 200
        assert not [text for text in client.stub.seen if "gone" in text]
        after = counters(client)
    assert after["seq2see_cancelled_total",] - before["seq2see_cancelled_total",] == 20
    assert after["seq2see_queue_tokens",] == 0 == after["seq2see_requests_running",]


def test_who_is_late_gets_504_and_the_others_theirs():
    with stub_server(deadline_seconds=0.3, wait_ms=0) as client:
        late = translate(client, "sleep 0.8")
        assert (late.status_code, late.json()["code"]) == (504, "deadline")
        deadline = time.monotonic() + 10
        while (answer := translate(client, "next")).status_code == 504 and time.monotonic() < deadline:
            pass
        assert answer.json()["translations"][0]["text"] == "NEXT"


@pytest.mark.parametrize("poison", ["poison", "venom"])
def test_a_poisoned_text_fails_alone(poison, caplog):
    async def ask(url):
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            texts = [f"text {number}" for number in range(10)] + [f"{poison} of a user"]
            asked = [client.post("/v1/translate", json={"texts": [text], "source": "en", "target": "fr"})
                     for text in texts]
            return await asyncio.gather(*asked)

    with stub_server(wait_ms=50) as client, caplog.at_level(logging.DEBUG):
        *good, bad = asyncio.run(ask(client.server.url))
        assert [one.json()["translations"][0]["text"] for one in good] == [f"TEXT {number}" for number in range(10)]
        assert bad.status_code == 500 and "user" not in bad.text
        assert translate(client, "after").status_code == 200
    assert "Panic" in caplog.text and "of a user" not in caplog.text


def test_when_the_queue_is_full_the_rest_is_refused_at_once_and_no_answer_is_swapped():
    async def ask(url, stub):
        async def one(client, number):
            text = f"hold on, number {number}"
            answer = await client.post("/v1/translate", json={"texts": [text], "source": "en", "target": "fr"})
            return text, answer

        async with httpx.AsyncClient(base_url=url, timeout=60, limits=httpx.Limits(max_connections=300)) as client:
            tasks = [asyncio.create_task(one(client, number)) for number in range(200)]
            refused = 0
            for done in asyncio.as_completed(tasks):
                text, answer = await done
                if answer.status_code == 503:
                    refused += 1
                    assert answer.json()["code"] == "queue_full" and int(answer.headers["Retry-After"]) >= 1
                else:
                    assert answer.json()["translations"][0]["text"] == text.upper()
                if refused == 150:  # the accepted ones are all held: these came before any of them was done
                    stub.gate.set()
            return refused

    with stub_server(queue_tokens=500, batch_tokens=250, wait_ms=0) as client:
        refused = asyncio.run(ask(client.server.url, client.stub))
        assert 150 <= refused < 200
        assert len(client.stub.seen) == 200 - refused
        assert counters(client)["seq2see_refusals_total", "queue_full"] == refused


# --- keys, rates, proxies


def ask_with(client, dialect, **headers):
    path, body = {
        "libretranslate": ("/translate", {"q": "hello", "source": "en", "target": "fr"}),
        "huggingface": ("/", {"inputs": "hello"}),
        "own": ("/v1/translate", {"texts": ["hello"], "source": "en", "target": "fr"}),
        "look": ("/v1/look", {"text": "hello", "source": "en", "target": "fr"}),
    }[dialect]
    return client.post(path, json=body, headers=headers)


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text("ann a-key-of-some-length\nbob another-key-of-some\n")
    with stub_server(keys_file=str(path), rate=5) as client:
        yield client


@pytest.mark.parametrize("dialect", ["libretranslate", "huggingface", "own", "look"])
def test_without_a_key_every_dialect_refuses(locked, dialect):
    for headers in ({}, {"Authorization": "Bearer wrong-key-entirely"}):
        assert ask_with(locked, dialect, **headers).status_code == 403


def test_a_key_opens_and_its_rate_is_its_own(locked):
    ann, bob = ({"Authorization": f"Bearer {key}"} for key in ("a-key-of-some-length", "another-key-of-some"))
    statuses = [ask_with(locked, "own", **ann).status_code for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2
    assert int(ask_with(locked, "libretranslate", **ann).headers["Retry-After"]) > 0
    assert ask_with(locked, "own", **bob).status_code == 200


def statuses_by_proxy(client):
    return [ask_with(client, "own", **{"X-Forwarded-For": f"10.0.0.{number}"}).status_code for number in range(4)]


def test_who_calls_is_not_believed_unless_a_proxy_says_so():
    with stub_server(rate=2) as client:
        assert statuses_by_proxy(client) == [200, 200, 429, 429]
    with stub_server(rate=2, trusted_proxies=("127.0.0.1",)) as client:
        assert statuses_by_proxy(client) == [200] * 4


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


def test_counters_match_what_was_sent():
    with stub_server() as client:
        for texts in (["one", "two"], ["three"], []):
            translate(client, *texts)
        found = counters(client)
    assert found["seq2see_requests_total", "done"] == 2
    assert found["seq2see_batch_sources_sum",] == 3
    assert found["seq2see_tokens_total", "source"] == 11 == found["seq2see_tokens_total", "target"]
    assert found["seq2see_request_seconds_count",] == 2


# --- beginning


def test_while_it_loads_it_lives_and_is_not_ready():
    gate = threading.Event()

    def load():
        assert gate.wait(20)
        return Stub()

    server = make_server({"slow": load}, host="127.0.0.1", port=0, settings=ServerSettings(page=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        with httpx.Client(base_url=server.url) as client:
            assert client.get("/healthz").status_code == 200
            assert client.get("/readyz").status_code == 503
            answer = translate(client, "hello")
            assert answer.status_code == 503 and answer.headers["Retry-After"]
            gate.set()
            while client.get("/readyz").status_code == 503:
                time.sleep(0.01)
            assert translate(client, "hello").status_code == 200
    finally:
        gate.set()
        server.should_exit = True
        thread.join(20)


class Silent(Stub):
    def finish(self, job, found):
        done = super().finish(job, found)
        return dataclasses.replace(done, hypotheses=(dataclasses.replace(done.hypotheses[0], score=float("nan")),))


def test_a_model_whose_probabilities_are_not_numbers_is_never_ready():
    server = make_server({"broken": Silent}, host="127.0.0.1", port=0, settings=ServerSettings(page=False))
    server.run()
    assert not server.service.ready
    assert isinstance(server.failure, UserError) and "broken does not translate" in str(server.failure)


def test_a_model_that_is_not_there_ends_the_command_in_one_line(tmp_path):
    done = subprocess.run([sys.executable, "-m", "seq2see", "serve", str(tmp_path), "--port", "0"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "no config.json" in done.stderr


def test_a_port_in_use_is_told(stub):
    port = stub.base_url.port
    with pytest.raises(UserError, match=f"port {port}: .*choose another by --port"):
        make_server({"stub": Stub}, host="127.0.0.1", port=port)


def test_several_models_serve_their_pairs():
    first, second = Stub(pairs=[("en", "fr")]), Stub(pairs=[("fr", "en"), ("en", "hi")])
    with running({"a": lambda: first, "b": lambda: second}) as server, httpx.Client(base_url=server.url) as client:
        for source, target, asked in (("en", "fr", first), ("fr", "en", second), ("en", "hi", second)):
            assert client.post("/translate", json={"q": "x", "source": source, "target": target}).status_code == 200
            assert asked.seen.pop() == "x"
        assert not first.seen and not second.seen
        targets = {one["code"]: one["targets"] for one in client.get("/languages").json()}
        assert targets == {"en": ["fr", "hi"], "fr": ["en"]}


# --- ending


def test_sigterm_lets_a_call_finish_with_a_tab_open():
    with Process("--port", "0") as server:
        answers = []
        call = threading.Thread(target=lambda: answers.append(ask_with_text(server.url, "sleep 1.5")))
        with httpx.stream("GET", f"{server.url}/ui/gradio_api/heartbeat/tab", timeout=30) as tab:
            next(tab.iter_raw())
            call.start()
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            assert httpx.get(f"{server.url}/readyz").status_code == 503
            refused = ask_with_text(server.url, "too late")
            assert refused.status_code == 503 and refused.headers["Retry-After"]
            call.join()
            assert answers[0].json()["translations"][0]["text"] == "SLEEP 1.5"
            assert server.process.wait(timeout=30) == 143
        assert server.process.stderr.read() == ""


def ask_with_text(url, text):
    return httpx.post(f"{url}/v1/translate", json={"texts": [text], "source": "en", "target": "fr"}, timeout=60)


def ask_in_vain(url, text):
    with contextlib.suppress(httpx.HTTPError):
        assert ask_with_text(url, text).status_code >= 500


@pytest.mark.parametrize(("first", "second", "code"), [
    (signal.SIGTERM, signal.SIGTERM, 143), (signal.SIGINT, signal.SIGTERM, 130), (signal.SIGTERM, None, 143),
])  # fmt: skip
def test_a_second_signal_or_the_end_of_the_grace_forces_it(first, second, code):
    grace = "60" if second else "1"
    with Process("--port", "0", "--set", "page=false", "--set", f"grace_seconds={grace}") as server:
        call = threading.Thread(target=lambda: ask_in_vain(server.url, "sleep 50"))
        call.start()
        time.sleep(0.5)
        server.process.send_signal(first)
        time.sleep(0.3)
        if second:
            assert server.process.poll() is None
            server.process.send_signal(second)
        assert server.process.wait(timeout=20) == code
        call.join(10)


def test_after_sigkill_the_same_port_serves_again():
    with Process("--port", "0", "--set", "page=false") as server:
        port = server.url.rpartition(":")[2]
        with httpx.Client(base_url=server.url) as client:  # a connection that is open when it dies
            assert client.get("/readyz").status_code == 200
            server.process.kill()
            server.process.wait()
            with Process("--port", port, "--set", "page=false") as again:
                assert ask_with_text(again.url, "hello").json()["translations"][0]["text"] == "HELLO"


# --- a real model


def test_before_the_first_look_there_is_no_torch_and_little_memory(folder):
    """With the page, a translation and a detected language."""
    from seq2see.serve.export import exported

    exported(folder, quantization="int8")  # by torch, once, beside the checkpoint
    with Process(str(folder), "--port", "0", stub=False) as server:
        answer = httpx.post(f"{server.url}/translate", json={"q": "The cat.", "source": "auto", "target": "fr"})
        assert answer.status_code == 200
        assert httpx.post(f"{server.url}/detect", json={"q": "The cat."}).status_code == 200
        assert httpx.get(f"{server.url}/ui/").status_code == 200
        loaded = {one.path for one in psutil.Process(server.pid).memory_maps()}
        assert any("_ext" in path and "ctranslate2" in path for path in loaded)
        assert not [path for path in loaded if "libtorch" in path]
        assert psutil.Process(server.pid).memory_info().rss < MOST_MEMORY
        look = httpx.post(f"{server.url}/v1/look", json={"text": "The cat.", "source": "en", "target": "fr"},
                          timeout=200)
        assert look.status_code == 200
        assert any("libtorch" in one.path for one in psutil.Process(server.pid).memory_maps())
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=60) == 130
        assert server.process.stderr.read() == "seq2see: interrupted\n"


def test_serving_imports_neither_torch_nor_transformers(folder):
    code = ("import sys; from seq2see.serve.server import launch; from seq2see.serve.page import build_page; "
            "from seq2see.serve.languages import detect; detect('The cat.', ['en', 'fr']); "
            "print([name for name in ('torch', 'transformers', 'datasets') if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE.parent)
    assert done.stdout == "[]\n", done.stderr
