"""Section: every request of requests.txt, to a server that runs: status, headers and JSON; and whom it lets in."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from side import Records, Side, outcome
from translations import HTML, UNPLANNED

STANDS_FOR = {
    "CAT": "The cat did not cross the street.", "TWO": "The cat is tired. The owl saw the dog.", "LONG": "x " * 3000,
    "UNPLANNED": json.dumps(UNPLANNED)[1:-1], "HTML": json.dumps(HTML)[1:-1], "MANY": ", ".join(['"x"'] * 65),
}  # fmt: skip
ASKED = {"q": STANDS_FOR["CAT"], "source": "en", "target": "fr"}
BODIES: dict[str, dict[str, Any]] = {
    "form": {"data": ASKED}, "parts": {"files": {name: (None, value) for name, value in ASKED.items()}}, "nothing": {},
    "bad JSON": {"content": b"{", "headers": {"Content-Type": "application/json"}}, "text": {"content": b"hello"},
    "large": {"content": b"x" * 1_100_000}, "foreign host": {"json": ASKED, "headers": {"Host": "evil.example"}},
    "foreign origin": {"json": ASKED, "headers": {"Origin": "https://a.example"}},
}  # fmt: skip
CALLERS = {"nobody": {}, "a stranger": {"Authorization": "Bearer another"}, "Basic": {"Authorization": "Basic eDp5"},
           "alice": {"Authorization": "Bearer alices-long-key"}, "bob": {"Authorization": "Bearer bobs-long-key"}}
GUARDED = ("--engine", "torch", "--set", "keys_file=keys", "--set", "rate=3", "--set", "page=false", "--set",
           "cors_origins=[https://a.example]", "--set", "metrics=false")
UNSTEADY = {"date", "etag", "last-modified", "content-length", "retry-after"}


def record(side: Side) -> Records:
    end: dict[str, Any] = {}
    with running(side, "serve", "run", "--set", "rate=0", end=end) as client:
        yield from answers(client)
    yield "open server's end", dict(end)
    (side.scratch / "keys").write_text("alice alices-long-key  # hers\n")
    with running(side, "serve", "run", *GUARDED, end=end, SEQ2SEE_API_KEYS="bob bobs-long-key") as client:
        yield from guarded_answers(client)
    yield "guarded server's end", dict(end)
    with running(side, "demo", "--run", "run", "--no-browser", end=end) as client:
        yield "demo", answered(client.get("/v1/models"))
    yield "demo's end", dict(end)


@contextmanager
def running(side: Side, *command: str, end: dict[str, Any], **variables: str) -> Iterator[httpx.Client]:
    """A server on a free port, until Ctrl-C; `end` is told how it went."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(side.command(*command, "--port", str(port)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env={**os.environ, **variables})
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            while not is_ready(client):
                assert process.poll() is None, process.communicate()
                time.sleep(0.1)
            yield client
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    end.update(code=process.returncode, out=out, err=err)


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def answered(answer: httpx.Response) -> dict[str, Any]:
    is_json = answer.text and "json" in answer.headers.get("content-type", "")
    headers = {name: value for name, value in sorted(answer.headers.items()) if name not in UNSTEADY}
    return {"status": answer.status_code, "headers": headers, "body": answer.json() if is_json else answer.text}


def answers(client: httpx.Client) -> Records:
    from gradio_client import Client

    page = Client(f"{client.base_url}/ui/", verbose=False, analytics_enabled=False)
    yield "Gradio's names", page.view_api(return_format="dict", print_info=False)
    config = client.get("/ui/config").json()
    handlers = {event: one["id"] for one in config["dependencies"] if one["backend_fn"] for _, event in one["targets"]}
    yield "page's events", handlers
    yield "page's parts", [(one["type"], one["props"]) for one in config["components"]]
    for line in Path(__file__).with_name("requests.txt").read_text("utf-8").splitlines()[3:]:
        method, path, *rest = re.sub("|".join(STANDS_FOR), lambda word: STANDS_FOR[word[0]], line).split(" ", 2)
        body = json.loads(rest[0]) if rest else None
        if method == "CALL":
            yield line, outcome(partial(page.predict, *body, api_name=path))
            continue
        if method == "ASK":
            body = {"fn_index": handlers["ask"], "data": [], "event_data": body, "session_hash": "oracle"}
            method = "POST"
        yield line, answered(client.request(method, path, json=body) if rest else client.request(method, path))
    for path in ("/translate", "/v1/translate", "/"):
        for name, sent in BODIES.items():
            yield f"POST {path}, {name}", answered(client.post(path, **sent))
    yield "metrics", sorted(set(re.findall(r"^(\w+(?:\{[^}]*\})?) ", client.get("/metrics").text, re.MULTILINE)))


def guarded_answers(client: httpx.Client) -> Records:
    for name, headers in CALLERS.items():
        for path in ("/healthz", "/v1/models", "/languages", "/ui", "/metrics", "/", "/docs"):
            yield f"GET {path}, {name}", answered(client.get(path, headers=headers))
        for path, body in {"/v1/translate": {"texts": ["A cat."]}, "/": {"inputs": "A cat."}}.items():
            yield f"POST {path}, {name}", answered(client.post(path, json=body, headers=headers))
    yield "key in the body", answered(client.post("/translate", json=ASKED | {"api_key": "alices-long-key"}))
    for origin in ("https://a.example", "https://b.example"):
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        yield f"origin {origin}", answered(client.options("/v1/translate", headers=asked))
