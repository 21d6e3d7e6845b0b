"""What stands before a live server: bodies, names, other sites, keys, rates and proxies."""

import contextlib
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from serving import counters, raw, stub_server, translate

from seq2see.errors import UserError
from seq2see.serve import access, request_checks
from seq2see.serve.settings import read_settings

# --- bodies, hosts, origins


def refusal(connection):
    """Which may come in several parts, and before the connection is closed."""
    found = b""
    while not found.endswith(b"}") and (part := connection.recv(4_000)):
        found += part
    return found


def test_a_body_over_the_limit_is_413_and_the_next_request_is_served(stub):
    big = b"x" * 30_000
    answers = [stub.post("/translate", content=big), stub.post("/translate", content=iter([big[:10_000]] * 3)),
               stub.post("/v1/translate", content=b"y" * 5_000_000)]
    for answer in answers:
        assert answer.status_code == 413 and answer.json()["code"] == "body_too_large"
    assert translate(stub, "hello").json()["translations"][0]["text"] == "HELLO"


@pytest.fixture(scope="module")
def of_ann(tmp_path_factory):
    """A stub's server to which one key opens."""
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text("ann the-key-of-ann", encoding="utf-8")
    with stub_server(body_bytes=50_000, keys_file=str(keys)) as client:
        yield client


@pytest.mark.parametrize(("path", "headers", "code"), [
    ("/v1/translate", "X-API-Key: the-key-of-ann\r\n", "body_too_large"), ("/v1/look", "", "key_missing"),
    ("/v1/translate", "X-API-Key: a-wrong-key\r\n", "key_wrong"), ("/translate", "", "body_too_large"),
    ("/translate", "X-API-Key: a-wrong-key\r\n", "key_wrong"),
    ("/translate_file", "Authorization: Bearer a-wrong-key\r\n", "key_wrong"),
    ("/translate", "Authorization: Basic YTpi\r\n", "body_too_large"),
    ("/ui/gradio_api/run/translate", "", "key_missing"),
])
def test_a_body_without_end_is_cut_at_the_limit_and_the_key_is_checked_before_it(
        of_ann, monkeypatch, path, headers, code):
    """The answer comes while the client sends, and soon after it the connection is closed."""
    monkeypatch.setattr(request_checks, "LINGER_BYTES", 1_000_000)
    chunk = b"2710\r\n" + b"x" * 10_000 + b"\r\n"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Transfer-Encoding: chunked\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", of_ann.base_url.port), timeout=60) as connection:
        connection.sendall(head + 6 * chunk)
        answer = refusal(connection)
        assert f'"code":"{code}"'.encode() in answer and b"connection: close" in answer.lower()
        with pytest.raises(ConnectionError):
            for _ in range(100_000):
                connection.sendall(chunk)


@pytest.mark.parametrize("path", ["/translate", "/v1/translate", "/translate_file", "/", "/healthz"])
def test_a_body_declared_too_large_is_not_invited(stub, path):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n"
    with socket.create_connection(("127.0.0.1", stub.base_url.port), timeout=60) as connection:
        connection.sendall(head.encode())
        answer = refusal(connection)
    assert answer.startswith(b"HTTP/1.1 413 ") and b'"code":"body_too_large"' in answer


@pytest.mark.parametrize("upgrade", ["h2c", "websocket", "TLS/1.0", "h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__"])
def test_whoever_offers_another_protocol_is_answered_and_the_body_is_no_request(stub, caplog, upgrade):
    """As Java's HttpClient and `curl --http2` do."""
    body = b'{"texts": ["a"]}GET /languages HTTP/1.1\r\nHost: localhost\r\n\r\n'
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    head = f"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: {upgrade}\r\n"
    for sent, status in ((body[:16], b"200"), (body, b"400")):
        found = raw(stub, head.encode() + b"Content-Length: %d\r\n\r\n" % len(sent) + sent + last)
        assert [part[:3] for part in found.split(b"HTTP/1.1 ")[1:]] == [status, b"200"] and found.endswith(b"ok")
    assert not [one for one in caplog.records if one.name.startswith("uvicorn")]


def test_a_body_that_ends_in_two_places_is_refused_and_its_connection_closed(stub):
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = raw(stub, head + b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1 and b'"code":"malformed"' in answer


def test_junk_after_a_request_leaves_it_its_answer(stub, caplog):
    body = b'{"texts": ["sleep 0.2"]}'
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    answers = raw(stub, head + body + b"JUNK\r\n\r\n").split(b"HTTP/1.1 ")[1:]
    assert [one[:3] for one in answers] == [b"200", b"400"] and b"SLEEP" in answers[0] and b"malformed" in answers[1]
    form = {"Content-Type": "multipart/form-data; boundary=xx"}
    assert stub.post("/translate_file", content=b"{secret}", headers=form).status_code == 400
    assert not [one for one in caplog.records if one.name.startswith(("uvicorn", "python_multipart"))]


def test_a_slash_too_many_leads_nowhere(stub):
    """A redirection would leave the folder of a proxy, and send text and key there."""
    for path in ("/translate/", "/v1/translate/", "/languages/", "/docs/", "/models/"):
        for method in ("GET", "POST"):
            answer = stub.request(method, path, headers={"Host": "localhost"})
            assert answer.status_code in (400, 404, 405) and "location" not in answer.headers, path


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/languages", "/health", "/frontend/settings", "/metrics",
                                  "/docs", "/v1/models", "/openapi.json", "/download_file/none", "/nowhere",
                                  "/translate"])
def test_head_is_get_without_a_body(stub, path):
    found, head = stub.get(path), stub.head(path)
    assert head.status_code == found.status_code and not head.content
    assert path == "/metrics" or head.headers["content-length"] == found.headers["content-length"]


@pytest.mark.parametrize("path", ["/", "/translate", "/v1/translate", "/models/stub"])
def test_when_the_queue_is_full_it_is_told_before_the_body_is_read(path):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n".encode()
    with stub_server(queue_tokens=100, wait_ms=0) as client, ThreadPoolExecutor(2) as waiting, socket.create_connection(
            ("127.0.0.1", client.base_url.port), timeout=60) as one:
        held = [waiting.submit(translate, client, "hold")]
        assert client.stub.entered.wait(60)
        held.append(waiting.submit(translate, client, "x" * 95))
        while not counters(client)["seq2see_queue_tokens",]:
            time.sleep(0.01)
        assert translate(client, "too large").json()["code"] == "queue_full"
        one.sendall(head)
        answer = refusal(one)
        assert answer.startswith(b"HTTP/1.1 503 ") and b"queue_full" in answer and b"retry-after: 1" in answer.lower()
        one.sendall(b"x" * 100 + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert one.recv(4_000).startswith(b"HTTP/1.1 200 "), "the connection is used on"
        client.stub.gate.set()
        assert [one.result().status_code for one in held] == [200, 200]
        assert translate(client, "now").status_code == 200


def test_when_too_many_look_it_is_told_before_the_body_is_read(monkeypatch):
    head = b"POST /v1/look HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
    with stub_server() as client, socket.create_connection(("127.0.0.1", client.base_url.port), timeout=60) as one:
        monkeypatch.setattr(client.server.service._looks, "most", 0)
        one.sendall(head)
        assert b"queue_full" in refusal(one)
        assert translate(client, "others").status_code == 200


def test_a_client_that_closes_afterwards_reads_why_too(stub):
    """As urllib does; were the rest left unread, the system would reset the connection."""
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n"
    assert raw(stub, head + b"x" * 20_000_000).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("head", [b"GET /healthz HTTP/1.1\r\n" + b"X: y\r\n" * 2**17, b"GET /" + b"x" * 2**20])
def test_a_head_without_end_is_refused(stub, head):
    with contextlib.suppress(ConnectionError):  # it is still sending
        assert raw(stub, head).startswith(b"HTTP/1.1 400 ")
    assert stub.get("/healthz").status_code == 200


def test_a_trailer_without_end_is_refused_and_a_short_one_is_not(stub):
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b'%x\r\n{"texts": ["a"]}\r\n0\r\n' % len('{"texts": ["a"]}')
    assert raw(stub, head + body + b"X: y\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    for endless in (b"X: y\r\n" * 2**17, b"X: " + b"y" * 2**20):
        with contextlib.suppress(ConnectionError):
            assert raw(stub, head + body + endless).startswith(b"HTTP/1.1 400 ")
    assert stub.get("/healthz").status_code == 200


def test_two_hosts_are_none(stub):
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert raw(stub, head).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(("hosts", "status"), [
    (("evil.example", "127.0.0.1.evil.example", "", "localhost.evil"), 400),
    (("[::1].evil.com", "[::1]:80.evil.com", "127.0.0.1:80:80", "[::1"), 400),
    (("localhost", "127.0.0.1:99", "[::1]:8000", "LOCALHOST"), 200),
])
def test_another_sites_name_for_this_machine_is_refused_and_its_own_are_served(stub, hosts, status):
    assert [stub.get("/healthz", headers={"Host": host}).status_code for host in hosts] == [status] * 4


PATHS = ("/healthz", "/metrics", "/docs", "/", "/ui/", "/v1/models", "/translate", "/nowhere")
NO_HOSTS = [b"", b"Host: localhost\r\nHost: localhost\r\n", b"Host: localhost\r\nhost: evil.example\r\n", *(
    b"Host: " + junk + b"\r\n" for junk in (b"", b"localhost/x", b"local host", b"me@localhost", b"localhost,other",
                                           b"localhost:123456", b"localhost:x", b"loc\xc3\xa4l", b"[::1"))]


@pytest.mark.parametrize("allowed", ["*", "localhost"])
def test_not_exactly_one_plain_host_is_refused_on_every_route(allowed):
    """Whichever names are allowed."""
    with stub_server(allowed_hosts=(allowed,)) as client:
        for path in PATHS:
            for method in ("GET", "POST"):
                for host in NO_HOSTS:
                    head = f"{method} {path} HTTP/1.1\r\nContent-Length: 0\r\n".encode()
                    answer = raw(client, head + host + b"Connection: close\r\n\r\n")
                    assert answer.startswith(b"HTTP/1.1 400 ") and b"x-request-id: " in answer.lower(), host
                    assert b'"host"' in answer or b'"malformed"' in answer, (path, method, host)
        old = raw(client, b"GET /healthz HTTP/1.0\r\n\r\n")
        assert old.split(b" ")[1] == (b"200" if allowed == "*" else b"400"), "HTTP/1.0 may leave it out"


ELSEWHERE = {"Origin": "https://elsewhere.example"}
ASKED = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
WORDS = {"q": "a", "source": "en", "target": "fr", "inputs": "a", "texts": ["a"], "text": "a"}


@pytest.mark.parametrize("who", [ELSEWHERE, {"Origin": "null"}, {"Origin": "http://localhost:1"},
                                 {"Origin": "http://127.0.0.1.evil.example", "Sec-Fetch-Site": "cross-site"},
                                 {"Origin": "http://localhost", "Sec-Fetch-Site": "same-site"}])
def test_scripts_of_other_sites_are_refused(stub, who):
    before = list(stub.stub.seen)
    for path, media in (("/translate", "text/plain"), ("/", "application/json"), ("/v1/look", "text/plain")):
        answer = stub.post(path, content=json.dumps(WORDS), headers={**who, "Content-Type": media, "Host": "localhost"})
        assert (answer.status_code, answer.json()["code"]) == (403, "origin")
        assert "cors_origins" in answer.json()["error"] and "access-control-allow-origin" not in answer.headers
        assert stub.options(path, headers={**who, **ASKED}).status_code == 400
    assert stub.stub.seen == before


def test_programs_and_pages_of_this_server_are_answered_behind_a_proxy_too(stub):
    for who in ({}, {"Origin": "http://localhost"}, {"Origin": "http://[::1]:8000", "Host": "[::1]:8000"},
                {"Origin": "https://mt.example", "Sec-Fetch-Site": "same-origin"}):
        answer = stub.post("/v1/translate", json={"texts": ["a"]}, headers={"Host": "localhost", **who})
        assert answer.status_code == 200, who


def test_scripts_of_sites_that_the_operator_names_use_the_api_without_cookies_and_read_refusals():
    asked = {"json": {"q": "a", "source": "en", "target": "fr"}, "headers": {**ELSEWHERE, "Cookie": "a=b"}}
    with stub_server(cors_origins=(ELSEWHERE["Origin"],), body_bytes=20_000) as client:
        answers = [client.post("/translate", **asked), client.options("/translate", headers={**ELSEWHERE, **ASKED}),
                   client.post("/translate", content=b"x" * 30_000, headers=ELSEWHERE)]
        assert [one.status_code for one in answers] == [200, 200, 413]
        for answer in answers:
            assert answer.headers["access-control-allow-origin"] == ELSEWHERE["Origin"]
            assert "access-control-allow-credentials" not in answer.headers
        other = client.post("/translate", json={}, headers={"Origin": "https://another.example"})
        assert other.status_code == 403 and "access-control-allow-origin" not in other.headers


def test_every_refusal_is_counted_once(tmp_path):
    (tmp_path / "keys").write_text("ann a-key-of-some-length\n")
    key = {"Authorization": "Bearer a-key-of-some-length"}
    with stub_server(keys_file=str(tmp_path / "keys"), body_bytes=1000, texts=2, texts_per_minute=2) as client:
        ask_with(client, "own")
        ask_with(client, "libretranslate", Authorization="Bearer wrong-key-entirely")
        client.post("/translate", content=b"x" * 2000)
        client.post("/translate", content=b"{")
        client.post("/v1/translate", json={"texts": 5}, headers=key)
        client.post("/", json={"inputs": ["a"] * 3}, headers=key)
        client.post("/", json={"inputs": ["a"] * 2}, headers=key)
        client.post("/", json={"inputs": ["a"] * 2}, headers=key)
        client.get("/healthz", headers={"Host": "evil.example"})
        found = {label: value for (name, *label), value in counters(client).items() if name == "seq2see_refusals_total"
                 for label in label}
    assert found == {"key_missing": 1, "key_wrong": 1, "body_too_large": 1, "bad_request": 2, "too_many_texts": 1,
                     "rate_limit": 1, "host": 1}


def test_what_is_not_there_is_told_in_json(stub):
    for path, status, code in (("/translate", 405, "method_not_allowed"), ("/nowhere", 404, "not_found")):
        answer = stub.get(path)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer.headers["x-content-type-options"] == "nosniff"


# --- the page


def test_no_other_site_reads_the_page_nor_calls_it_nor_frames_it(live):
    headers = {"Origin": "http://evil.example", "Cookie": "session=1"}
    for answer in (httpx.get(f"{live}/ui/config", headers=headers),
                   httpx.post(f"{live}/ui/gradio_api/run/translate", json={"data": ["a"]}, headers=headers)):
        assert answer.status_code == 403 and "access-control-allow-origin" not in answer.headers
    for path, policy in (("/", "default-src 'none'"), ("/ui/", "default-src 'self'")):
        assert httpx.get(live + path, headers=headers).status_code == 403
        sent = httpx.get(live + path).headers["content-security-policy"]
        assert policy in sent and "frame-ancestors 'self'" in sent and "http" not in sent
        assert httpx.get(live + path, headers={"Host": "evil.example"}).status_code == 400
    assert "unsafe-eval" not in httpx.get(f"{live}/").headers["content-security-policy"]
    big = httpx.post(f"{live}/ui/gradio_api/run/predict", content=b"x" * 1_100_000)
    assert big.status_code == 413
    with stub_server(frame_ancestors=("'self'", "https://a.example")) as client:  # no page: even that has the headers
        policies = [client.get(path).headers["content-security-policy"] for path in ("/", "/ui/")]
    assert all(one.endswith("; frame-ancestors 'self' https://a.example") for one in policies)


def test_the_page_gives_no_files_away_and_takes_none(live):
    for path in ("gradio_api/file=/etc/passwd", "gradio_api/file=http://169.254.169.254/",
                 "gradio_api/proxy=http://169.254.169.254/", "monitoring"):
        answer = httpx.get(f"{live}/ui/{path}")
        assert 400 <= answer.status_code < 500 and "root:" not in answer.text
    for name in ("upload", "upload/", "upload_progress?upload_id=a", "%75pload"):
        for method, parts in (("GET", {}), ("POST", {"files": {"files": ("a.txt", b"x" * 1000)}})):
            assert httpx.request(method, f"{live}/ui/gradio_api/{name}", **parts).status_code == 404


def test_with_keys_the_page_wants_one(tmp_path):
    (tmp_path / "keys").write_text("ann a-key-of-some-length\n")
    with stub_server(keys_file=str(tmp_path / "keys")) as client:
        for path in ("/", "/?text=a", "/ui", "/ui/", "/ui/config"):
            answer = client.get(path)
            assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Basic")
        assert client.get("/ui/", auth=("any", "a-key-of-some-length")).status_code == 404  # no page here
        for headers, status in (({"Origin": "http://localhost"}, 401), ({}, 403)):  # the page's own requests, programs
            answer = ask_with(client, "own", Host="localhost", **headers)
            assert (answer.status_code, "www-authenticate" in answer.headers) == (status, status == 401)


# --- keys, rates, proxies


DOORS = [("POST", "/translate"), ("POST", "/detect"), ("POST", "/"), ("POST", "/models/stub"),
         ("POST", "/v1/translate"), ("POST", "/v1/look"), ("POST", "/v1/inside"), ("POST", "/v1/compare"),
         ("POST", "/v1/lessons"), ("POST", "/v1/reload"), ("GET", "/"), ("GET", "/ui/"),
         ("POST", "/ui/gradio_api/run/translate"), ("POST", "/ui/gradio_api/mcp/"),
         ("GET", "/metrics"), ("GET", "/docs"), ("GET", "/openapi.json")]


@pytest.mark.parametrize("named", [True, False])
def test_every_wrong_key_at_every_door_is_counted_and_who_sends_many_is_logged_once(monkeypatch, caplog, named):
    monkeypatch.setenv("SEQ2SEE_API_KEYS", "ann a-key-of-some-length")
    monkeypatch.setattr(access, "WRONG_KEYS", 3)
    wrong = [{"X-API-Key": "a-wrong-key"}, {"Authorization": "Bearer a-wrong-key"},
             {"Authorization": "Basic YTphLXdyb25nLWtleQ=="}, {"X-API-Key": "another"}, {"X-API-Key": "one-more"}]
    with stub_server(trusted_proxies=("127.0.0.1",), metrics="key", docs="key", log_addresses=named) as client:
        for number, (method, path) in enumerate(DOORS):
            statuses = [client.request(method, path, headers={**key, "X-Forwarded-For": f"192.0.2.{number}"},
                                       json={"q": "a", "source": "en", "target": "fr"} if method == "POST" else None)
                        .status_code for key in wrong]
            asks_browsers = method == "GET" or path.startswith("/ui/")
            asks_again = path in ("/", "/ui/") and method == "GET"  # as a browser that guessed shows nothing else
            assert statuses == [401 if asks_browsers else 403] * 3 + [401 if asks_again else 429] * 2, path
        form = {"q": "a", "source": "en", "target": "fr", "api_key": "a-wrong-key"}
        assert client.post("/translate", data=form, headers={"X-Forwarded-For": "192.0.3.1"}).status_code == 403
        client.headers["X-API-Key"] = "a-key-of-some-length"
        found = counters(client)
    assert found["seq2see_refusals_total", "key_wrong"] == 3 * len(DOORS) + 1
    assert found["seq2see_refusals_total", "wrong_keys"] == 2 * len(DOORS)
    told = [one for one in caplog.messages if "wrong API keys" in one]
    assert len(told) == len(DOORS) and "a-wrong-key" not in caplog.text
    assert all(("192.0.2." in one) == named for one in told)


def test_metrics_and_docs_are_for_everyone_for_those_with_a_key_or_for_nobody(monkeypatch):
    monkeypatch.setenv("SEQ2SEE_API_KEYS", "ann a-key-of-some-length")
    paths, key = ("/metrics", "/docs", "/openapi.json", "/spec", "/%6Detrics"), "a-key-of-some-length"
    for setting, without, with_key in ((True, 200, 200), ("key", 401, 200), (False, 404, 404)):
        with stub_server(metrics=setting, docs=setting) as client:
            client.follow_redirects = True
            for path in paths:
                assert client.get(path).status_code == without
                for given in ({"headers": {"Authorization": f"Bearer {key}"}}, {"auth": ("prometheus", key)}):
                    assert client.get(path, **given).status_code == with_key
            assert client.get("/metrics").headers.get("www-authenticate", "").startswith("Basic") == (setting == "key")


def test_a_setting_that_asks_for_a_key_needs_one(tmp_path, monkeypatch):
    for settings, told in (({"metrics": "key"}, "the setting metrics=key needs an API key, but there are none: set"),
                           ({"docs": "key"}, "the setting docs=key needs an API key"),
                           ({"may_reload": ("bob",)}, "may_reload names bob, but no API key has that name")):
        with pytest.raises(UserError, match=told), stub_server(**settings):
            pass
    assert read_settings(None, ["metrics=key", "docs=false"]).guarded == {"/metrics"}
    with pytest.raises(UserError, match='metrics .*is "kye", expected'):
        read_settings(None, ["metrics=kye"])


def ask_with(client, dialect, **headers):
    path, body = {
        "libretranslate": ("/translate", {"q": "hello", "source": "en", "target": "fr"}),
        "huggingface": ("/", {"inputs": "hello"}),
        "own": ("/v1/translate", {"texts": ["hello"], "source": "en", "target": "fr"}),
        "look": ("/v1/look", {"text": "hello", "source": "en", "target": "fr"}),
    }[dialect]
    return client.post(path, json=body, headers=headers)


def test_every_dialect_wants_a_key_and_its_rate_is_its_own(tmp_path):
    (tmp_path / "keys").write_text("ann a-key-of-some-length\nbob another-key-of-some\n")
    ann, bob = ({"Authorization": f"Bearer {key}"} for key in ("a-key-of-some-length", "another-key-of-some"))
    with stub_server(keys_file=str(tmp_path / "keys"), texts_per_minute=5) as client:
        for dialect in ("libretranslate", "huggingface", "own", "look"):
            assert ask_with(client, dialect).status_code == 403
            assert ask_with(client, dialect, Authorization="Bearer wrong-key-entirely").status_code == 403
        assert [ask_with(client, "own", **ann).status_code for _ in range(7)] == [200] * 5 + [429] * 2
        assert int(ask_with(client, "libretranslate", **ann).headers["Retry-After"]) > 0
        assert ask_with(client, "own", **bob).status_code == 200


def forwarded(client, *addresses):
    """The status of a request that a proxy says to have forwarded, for each X-Forwarded-For."""
    return [ask_with(client, "own", **{"X-Forwarded-For": one}).status_code for one in addresses]


def test_who_calls_is_not_believed_unless_a_proxy_says_so():
    with stub_server(texts_per_minute=2, trusted_proxies=("10.0.0.9",)) as client:
        assert forwarded(client, *(f"10.0.0.{number}" for number in range(4))) == [200, 200, 429, 429]


def test_through_a_proxy_every_client_has_a_rate_of_its_own():
    ann, bob = "192.0.2.1", "2001:db8::1"
    with stub_server(texts_per_minute=2, trusted_proxies=("127.0.0.1", "10.0.0.9")) as client:
        assert forwarded(client, ann, ann, ann, bob) == [200, 200, 429, 200]
        assert forwarded(client, f"{bob}, {ann}") == [429], "a proxy adds to what its client says"
        assert forwarded(client, f"{bob}, 10.0.0.9", bob) == [200, 429], "two proxies, one after another"
        assert ask_with(client, "own").status_code == 200, "the proxy itself"
