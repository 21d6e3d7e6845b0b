"""What stands before a live server: bodies, names, other sites, keys, rates and proxies."""

import contextlib
import json
import re
import socket
import urllib.parse

import fastapi.testclient
import httpx
import psutil
import pytest
from serving import Stub, counters, raw, stub_server, translate

from seq2see.serve.access import WRONG_KEYS
from seq2see.serve.server import Server
from seq2see.serve.settings import ServerSettings

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


def test_a_client_that_closes_afterwards_reads_why_too(stub):
    """As urllib does; were the rest left unread, the system would reset the connection."""
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n"
    assert raw(stub, head + b"x" * 20_000_000).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("head", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 2**20,
                                  b"GET /healthz HTTP/1.1\r\n" + b"X: y\r\n" * 2**17, b"GET /" + b"x" * 2**20])
def test_a_head_without_end_is_refused(stub, head):
    with contextlib.suppress(ConnectionError):  # it is still sending
        assert raw(stub, head).startswith(b"HTTP/1.1 400 ")
    assert stub.get("/healthz").status_code == 200


def test_nor_is_the_head_of_a_later_request(stub):
    url = urllib.parse.urlsplit(str(stub.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=10) as connection:
        for _ in range(2):  # the connection stays
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        with contextlib.suppress(ConnectionError):  # it is still sending
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 2**20)
            assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_a_long_text_in_an_address_is_no_head_without_end():
    with stub_server() as client:
        answer = client.post("/translate?source=en&target=fr&q=" + "%F0%9F%98%80" * 5_000)
    assert answer.status_code == 200 and answer.json()["translatedText"] == "😀" * 5_000


def test_unused_connections_are_kept_longer_than_clients_keep_them():
    """One that the server closes while a request is under way to it is an error for the client."""
    with stub_server() as client:
        assert client.server.config.timeout_keep_alive > max(httpx.Limits().keepalive_expiry, 15)  # 15: aiohttp


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil"])
def test_another_sites_name_for_this_machine_is_refused(stub, host):
    answer = stub.get("/healthz", headers={"Host": host})
    assert answer.status_code == 400


def test_a_refused_request_is_read_and_the_next_one_served(stub):
    """A client that is still sending reads no answer where the server closes the connection."""
    refused = b"POST /translate HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 15000\r\n\r\n" + b"x" * 15_000
    answers = raw(stub, refused + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answers.startswith(b"HTTP/1.1 400 ") and answers.count(b"HTTP/1.1 200 ") == 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:99", "[::1]:8000", "LOCALHOST"])
def test_this_machines_own_names_are_served(stub, host):
    assert stub.get("/healthz", headers={"Host": host}).status_code == 200


ELSEWHERE = {"Origin": "https://elsewhere.example"}
ASKED = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
WORDS = {"q": "a", "source": "en", "target": "fr", "inputs": "a", "texts": ["a"], "text": "a"}


@pytest.mark.parametrize("path", ["/translate", "/detect", "/", "/models/stub", "/v1/translate", "/v1/look"])
@pytest.mark.parametrize("media", ["text/plain", "application/json", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("who", [ELSEWHERE, {"Origin": "null"}, {"Origin": "http://localhost:1"},
                                 {"Origin": "http://127.0.0.1.evil.example", "Sec-Fetch-Site": "cross-site"},
                                 {"Origin": "http://localhost", "Sec-Fetch-Site": "same-site"}])
def test_scripts_of_other_sites_are_refused(stub, path, media, who):
    before = list(stub.stub.seen)
    answer = stub.post(path, content=json.dumps(WORDS), headers={**who, "Content-Type": media, "Host": "localhost"})
    assert (answer.status_code, answer.json()["code"]) == (403, "origin")
    assert "cors_origins" in answer.json()["error"] and "access-control-allow-origin" not in answer.headers
    assert stub.options(path, headers={**who, **ASKED}).status_code == 400
    assert stub.stub.seen == before


@pytest.mark.parametrize("who", [
    {}, {"Origin": "http://localhost"}, {"Origin": "http://[::1]:8000", "Host": "[::1]:8000"},
    {"Origin": "https://mt.example", "Sec-Fetch-Site": "same-origin"},
])
def test_programs_and_pages_of_this_server_are_answered_behind_a_proxy_too(stub, who):
    answer = stub.post("/v1/translate", json={"texts": ["a"]}, headers={"Host": "localhost", **who})
    assert answer.status_code == 200


def test_scripts_of_any_site_may_use_the_api_without_cookies_if_the_operator_says_so():
    headers = {**ELSEWHERE, "Cookie": "a=b"}
    with stub_server(cors_origins=("*",)) as client:
        answer = client.post("/translate", json={"q": "a", "source": "en", "target": "fr"}, headers=headers)
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
        assert client.options("/translate", headers={**headers, **ASKED}).status_code == 200


def test_scripts_of_allowed_sites_are_shown_refusals_too():
    with stub_server(cors_origins=("*",), body_bytes=20_000) as client:
        big = client.post("/translate", content=b"x" * 30_000, headers=ELSEWHERE)
        elsewhere = client.get("/healthz", headers={**ELSEWHERE, "Host": "evil.example"})
        assert (big.status_code, elsewhere.status_code) == (413, 400)
        for answer in (big, elsewhere):
            assert answer.headers["access-control-allow-origin"] == "*"
            assert answer.headers["access-control-expose-headers"] == "Retry-After"


@pytest.mark.parametrize("second", [b"evil.example", b"localhost"])
def test_two_host_headers_are_one_too_many(stub, second):
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: %s\r\nConnection: close\r\n\r\n" % second
    assert raw(stub, head).startswith(b"HTTP/1.1 400 ")


def test_every_refusal_is_counted_once(tmp_path):
    (tmp_path / "keys").write_text("ann a-key-of-some-length\n")
    key = {"Authorization": "Bearer a-key-of-some-length"}
    with stub_server(keys_file=str(tmp_path / "keys"), body_bytes=1000, texts=2, rate=2) as client:
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


def test_origins_can_be_named():
    with stub_server(cors_origins=("https://a.example",)) as client:
        for origin, allowed in (("https://a.example", "https://a.example"), ("https://b.example", None)):
            answer = client.get("/languages", headers={"Origin": origin})
            assert answer.status_code == (200 if allowed else 403)
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


def test_no_other_site_reads_the_page_nor_calls_it_nor_frames_it(live):
    for host in ({}, {"Host": "localhost:80"}):
        headers = {"Origin": "http://evil.example", "Cookie": "session=1", **host}
        for answer in (httpx.get(f"{live}/ui/config", headers=headers),
                       httpx.post(f"{live}/ui/gradio_api/run/translate", json={"data": ["a"]}, headers=headers)):
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers
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


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "HEAD"])
@pytest.mark.parametrize("name", ["upload", "upload/", "upload_progress?upload_id=a", "%75pload", "process_recording"])
def test_the_page_takes_no_files(live, method, name):
    parts = {"content": b"x", "headers": {"Content-Type": "text/plain"}} if method == "PUT" else {}
    if method == "POST":
        parts = {"files": {"files": ("a.txt", b"x" * 1000)}}
    answer = httpx.request(method, f"{live}/ui/gradio_api/{name}", **parts)
    assert answer.status_code == 404


def test_the_operator_says_which_sites_may_show_the_page_in_a_frame():
    for sites, told in ((("'self'", "https://huggingface.co"), "'self' https://huggingface.co"), ((), "'none'")):
        with stub_server(frame_ancestors=sites) as client:  # no page: even what says so has the headers
            assert client.get("/ui/").headers["content-security-policy"].endswith(f"; frame-ancestors {told}")


def test_with_keys_the_page_wants_one(tmp_path):
    (tmp_path / "keys").write_text("ann a-key-of-some-length\n")
    settings = ServerSettings(keys_file=str(tmp_path / "keys"))
    server = Server({"stub": Stub}, host="127.0.0.1", port=0, settings=settings)
    with fastapi.testclient.TestClient(server.app, base_url="http://localhost") as client:
        for path in ("/ui", "/ui/", "/ui/config"):
            answer = client.get(path)
            assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Basic")
        assert client.get("/ui/", auth=("any", "a-key-of-some-length")).status_code == 503  # no page there yet
    server.socket.close()


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


DIALECTS = ["libretranslate", "huggingface", "own"]


def asked_for(client, dialect, *addresses):
    """The status of a request that a proxy says to have forwarded, for each X-Forwarded-For."""
    return [ask_with(client, dialect, **{"X-Forwarded-For": one}).status_code for one in addresses]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_who_calls_is_not_believed_unless_a_proxy_says_so(dialect):
    addresses = [f"10.0.0.{number}" for number in range(4)]
    with stub_server(rate=2) as client:
        assert asked_for(client, dialect, *addresses) == [200, 200, 429, 429]
    with stub_server(rate=2, trusted_proxies=("10.0.0.9",)) as client:
        assert asked_for(client, dialect, *addresses) == [200, 200, 429, 429], "127.0.0.1 is not that proxy"


def test_through_a_proxy_every_client_has_a_rate_of_its_own():
    with stub_server(rate=2, trusted_proxies=("127.0.0.1", "10.0.0.9")) as client:
        for number, dialect in enumerate(DIALECTS):
            ann, bob = f"192.0.2.{number}", f"2001:db8::{number}"
            assert asked_for(client, dialect, ann, ann, ann, bob) == [200, 200, 429, 200]
            assert asked_for(client, dialect, f"{bob}, {ann}") == [429], "a proxy adds to what its client says"
            assert asked_for(client, dialect, f"{bob}, 10.0.0.9", bob) == [200, 429], "two proxies, one after another"
            refused = ask_with(client, dialect, **{"X-Forwarded-For": ann})
            assert refused.json()["code"] == "rate_limit" and int(refused.headers["retry-after"]) > 0
        assert ask_with(client, "own").status_code == 200, "the proxy itself"


@pytest.mark.parametrize("path", ["/v1/translate", "/ui/", "/ui/gradio_api/run/translate"])
def test_wrong_keys_are_throttled_and_counted(tmp_path, path):
    (tmp_path / "keys").write_text("ann a-key-of-some-length\n")
    with stub_server(keys_file=str(tmp_path / "keys"), trusted_proxies=("127.0.0.1",)) as client:
        def status(key, address="192.0.2.1"):
            headers = {"Authorization": f"Bearer {key}", "X-Forwarded-For": address}
            return client.post(path, json={"texts": ["a"]}, headers=headers)

        fine = status("a-key-of-some-length").status_code
        assert {status(f"wrong-key-{number}").status_code for number in range(WRONG_KEYS)} <= {401, 403} - {fine}
        late = status("wrong-key-entirely")
        assert (late.status_code, late.json()["code"]) == (429, "wrong_keys")
        assert int(late.headers["Retry-After"]) > 0
        assert status("a-key-of-some-length").status_code == fine
        assert status("wrong-key-entirely", "192.0.2.2").status_code not in (fine, 429)
        found = counters(client)
        assert found["seq2see_refusals_total", "key_wrong"] == WRONG_KEYS + 1
        assert found["seq2see_refusals_total", "wrong_keys"] == 1
