"""How much of the engine's speed reaches clients over HTTP, and what happens under overload?

    python benchmarks/serving.py RUN            RUN: a trained model, storybook by default; five rounds
    python benchmarks/serving.py RUN --quick    one short round

Sentences are storybook's test set, or lines of --text FILE, each made unique by a number.  They are translated by the
engine offline (`Translator`, strings to strings, in int8, on all cores); by `seq2see serve` for 64 clients in a second
process (`_clients.py`); by the same without batching; and by a server that calls `generate` once per request
(`_plain_server.py`).  The four take turns.  The last one uses torch in float32 on one thread, and gets 150 sentences.
The clients use the same cores.  *swapped or different*: responses of `seq2see serve` that differ in any character from
the engine's translation of that sentence alone.  *overload*: ten times the served request rate with a small queue; each
request has eight sentences and eight beams, so that the clients can send that many on the same cores.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from _frame import arguments, end, is_trained, sentences, show

HERE = Path(__file__).resolve().parent
CLIENTS = 64
PLAIN = 150  # sentences for the plain server
HEAVY = 8  # sentences, and beams, of a request under overload
PARTS = """
import sys, psutil
def said(part):
    print(part, psutil.Process().memory_info().rss / 2**20, sep="\\t")
said("Python")
import numpy; said("numpy")
from seq2see.translate.translator import Translator
translator = Translator.from_pretrained(sys.argv[1]); translator("Hello."); said("model and engine")
import seq2see.serve.server; said("FastAPI, uvicorn and the service")
import gradio; said("Gradio")
from seq2see.serve.ui.page import build_page
from seq2see.serve.service import Service
build_page(Service({"model": translator})); said("the page")
from seq2see.serve.languages import detect
detect("Hello.", ["en"]); said("language detection")
import torch; said("torch")
import transformers.modeling_utils; said("transformers")
translator.look(translator("Hello.")); said("the first look")
"""


def main() -> None:
    parser = arguments(__doc__, run=True, text=True)
    parser.add_argument("--beams", type=int, default=1)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        texts = numbered(args.text, 300 if args.quick else 3000)
        rows = [*speed(args, texts), *overload(args, texts), *beginning(args)]
    show(rows)
    end("serving", rows, run=args.run, beams=args.beams, clients=CLIENTS)


def numbered(path: Path | None, count: int) -> list[str]:
    """Sentences, each made unique by a number in place of its last character."""
    found = sentences(path)
    random.Random(0).shuffle(found)
    return [f"{found[number % len(found)][:-1]} {number}." for number in range(count)]


# --- servers and clients


@contextlib.contextmanager
def server(args: argparse.Namespace, *settings: str) -> Iterator[tuple[str, int]]:
    """Start `seq2see serve`; yields its address and process id."""
    options = [part for one in ("rate=0", "deadline_seconds=300", *settings) for part in ("--set", one)]
    command = [sys.executable, "-m", "seq2see", "serve", args.run, "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://[\d.]+:\d+", line)
        if not found:
            raise RuntimeError(line)
        try:
            yield found[0], process.pid
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def plain_server(args: argparse.Namespace) -> Iterator[tuple[str, int]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(HERE / "_plain_server.py"), args.run, str(port), str(args.beams), "1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}"
        while not answers(url):
            time.sleep(0.1)
        yield url, process.pid
        process.terminate()
        process.wait()


def answers(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"{url}/readyz").status == 200)
    except OSError:
        return False


def ask(args: argparse.Namespace, url: str, texts: list[str], **more: Any) -> dict[str, Any]:
    """The output of the clients' process."""
    plan = {"texts": texts, "clients": CLIENTS, "rate": None, "seconds": 600, "path": "/v1/translate",
            "settings": {"num_beams": args.beams}, **more}
    done = subprocess.run([sys.executable, str(HERE / "_clients.py"), url], input=json.dumps(plan), text=True,
                          capture_output=True, check=True)
    return dict(json.loads(done.stdout))


def batch_sizes(url: str) -> dict[str, float]:
    text = urllib.request.urlopen(f"{url}/metrics").read().decode()
    found = dict(re.findall(r"^(seq2see_batch_sources_(?:sum|count)) (\S+)$", text, re.MULTILINE))
    return {name.rpartition("_")[2]: float(value) for name, value in found.items()}


# --- what is measured


def speed(args: argparse.Namespace, texts: list[str]) -> list[dict[str, Any]]:
    from seq2see import Translator

    engine = Translator.from_pretrained(args.run)
    alone = [engine(text, num_beams=args.beams).text for text in texts]
    servers = {"batched": partial(server, args), "unbatched": partial(server, args, "batch_tokens=1", "wait_ms=0"),
               "plain": partial(plain_server, args)}
    found: dict[str, list[float]] = {way: [] for way in ("offline", *servers)}
    seconds: list[float] = []
    wrong = requests = failed = 0
    sizes: list[float] = []
    for turn in range(1 if args.quick else 5):
        for way in list(found)[:: -1 if turn % 2 else 1]:  # in alternating order, against drift
            if way == "offline":
                began = time.perf_counter()
                engine(texts, num_beams=args.beams)
                found[way].append(len(texts) / (time.perf_counter() - began))
                continue
            few = texts[:PLAIN] if way == "plain" else texts
            with servers[way]() as (url, _):
                ask(args, url, texts[:CLIENTS])  # warm
                before = batch_sizes(url) if way == "batched" else {}
                result = ask(args, url, few)
                found[way].append(len(few) / result["seconds"])
                if way == "batched":
                    after = batch_sizes(url)
                    sizes.append((after["sum"] - before["sum"]) / (after["count"] - before["count"]))
                    seconds += [record[2] for record in result["records"]]
                if way != "plain":
                    requests += len(result["records"])
                    failed += sum(record[1] != 200 for record in result["records"])
                    wrong += sum(record[3] != alone[record[0]] for record in result["records"])
    medians = {way: statistics.median(rates) for way, rates in found.items()}
    centiles = statistics.quantiles(seconds, n=100)

    def row(name: str, peer: str, wanted: float | None) -> dict[str, Any]:
        ratio = round(medians["batched"] / medians[peer], 2)
        return {"name": name, "ours": round(medians["batched"], 1), "peer": round(medians[peer], 1),
                "unit": "sentences/s", "ratio": ratio, "wanted": wanted}

    return [
        row("64 clients vs offline", "offline", 0.7),
        row("64 clients vs batching off", "unbatched", 2.0),
        row("64 clients vs one generate per request", "plain", None),
        {"name": "latency", "p50": round(centiles[49] * 1000), "p99": round(centiles[98] * 1000), "unit": "ms"},
        {"name": "batch", "ours": round(statistics.median(sizes), 1), "unit": "sentences"},
        {"name": "swapped or different", "ours": wrong, "of": requests, "failed": failed, "wanted": 0},
    ]


def overload(args: argparse.Namespace, texts: list[str]) -> list[dict[str, Any]]:
    import psutil

    length = 5 if args.quick else 20
    heavy: dict[str, Any] = {"settings": {"num_beams": HEAVY}}
    texts = [" ".join(texts[begin : begin + HEAVY]) for begin in range(0, len(texts) - HEAVY + 1, HEAVY)]
    with server(args, "queue_tokens=4000") as (url, pid):
        ask(args, url, texts[:16], clients=16, **heavy)  # warm
        result = ask(args, url, texts[:100], clients=16, **heavy)
        rate = sum(record[1] == 200 for record in result["records"]) / result["seconds"]
        process = psutil.Process(pid)
        before = process.memory_info().rss
        result = ask(args, url, texts, rate=10 * rate, seconds=length, clients=500, **heavy)
        after = process.memory_info().rss
        ready = answers(url)
    records = result["records"]
    refused = [record for record in records if record[1] in (429, 503)]
    times = sorted(record[2] * 1000 for record in refused)
    return [
        {"name": "overload, requested", "ours": round(len(records) / length), "peer": round(rate),
         "unit": "requests/s", "ratio": round(len(records) / length / rate, 1)},
        {"name": "overload, refused within", "p50": round(times[len(times) // 2]) if times else None,
         "p99": round(times[len(times) * 99 // 100]) if times else None, "ours": round(times[-1]) if times else None,
         "unit": "ms", "wanted": 100, "refused": len(refused),
         "without Retry-After": sum(record[4] is None for record in refused)},
        {"name": "overload, accepted and not finished",
         "ours": sum(record[1] not in (200, 429, 503) for record in records), "of": len(records) - len(refused),
         "wanted": 0, "ready afterwards": ready},
        {"name": "overload, growth of memory", "ours": round((after - before) / 2**20, 1), "unit": "MiB"},
    ]


def beginning(args: argparse.Namespace) -> list[dict[str, Any]]:
    import psutil

    starts, sizes, looked = [], [], []
    for _ in range(1 if args.quick else 5):
        began = time.perf_counter()
        with server(args) as (url, pid):
            while not answers(url):
                time.sleep(0.01)
            starts.append(time.perf_counter() - began)
            ask(args, url, ["Hello."], settings={"source": "auto"})
            sizes.append(psutil.Process(pid).memory_info().rss / 2**20)
            body = json.dumps({"text": "Hello."}).encode()
            urllib.request.urlopen(urllib.request.Request(f"{url}/v1/look", body, {"Content-Type": "application/json"}))
            looked.append(psutil.Process(pid).memory_info().rss / 2**20)
    done = subprocess.run([sys.executable, "-c", PARTS, args.run], capture_output=True, text=True, check=True)
    parts = [line.split("\t") for line in done.stdout.splitlines()]
    levels = [0.0, *(float(level) for _, level in parts)]
    return [
        {"name": "start to ready", "ours": round(statistics.median(starts), 2), "unit": "s", "wanted": 5},
        {"name": "memory before a look", "ours": round(statistics.median(sizes)), "unit": "MiB", "wanted": 350},
        {"name": "memory after a look", "ours": round(statistics.median(looked)), "unit": "MiB", "wanted": 700},
        {"name": "memory by part", "unit": "MiB", **{part: round(level - before) for (part, _), before, level
                                                     in zip(parts, levels, levels[1:], strict=False)}},
    ]


if __name__ == "__main__":
    main()
