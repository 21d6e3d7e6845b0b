"""How much of the engine's speed reaches clients over HTTP, and what happens under overload?

    python benchmarks/serving.py RUN            RUN: a trained model, storybook by default; five rounds
    python benchmarks/serving.py RUN --quick    one short round

Sentences are storybook's test set, or lines of --text FILE, each made unique by a number.  They are translated by the
engine offline (`Translator`, strings to strings, in int8, on all cores), by `seq2see serve` for 64 clients in a second
process (`_clients.py`), on the same cores, and by the same without batching.  The three take turns.  *swapped*:
responses of `seq2see serve` that are the engine's translation of another sentence.  *different in a batch*: other
responses that differ in any character from the translation of that sentence alone: int8 products are rounded
differently in batches of other shapes.  *per processor second*: sentences for each second that the cores together work
for the server's process, and for the offline one; other load on the machine changes their ratio little.  *light load,
above the engine*: requests one after another, about five a second, each less the time that the engine needs for the
same sentence.  *overload*: ten times the served request rate with a small queue; each request has eight sentences and
eight beams, so that the clients can send that many on the same cores.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from _frame import answers, arguments, centiles, end, is_trained, numbered, server, show, timed, turns

CLIENTS = 64
LIGHT = 5  # requests a second
HEAVY = 8  # sentences, and beams, of a request under overload
WAYS = {"offline": (), "batched": (), "unbatched": ("batch_tokens=1", "wait_ms=0")}  # settings of the server
REFUSED = (429, 503)


def main() -> None:
    parser = arguments(__doc__, run=True, text=True)
    parser.add_argument("--beams", type=int, default=1)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        texts = numbered(args.text, 300 if args.quick else 3000)
        rounds = 1 if args.quick else 5
        rows = [*speed(args.run, texts, beams=args.beams, rounds=rounds),
                *overload(args.run, texts, seconds=5 if args.quick else 20)]
    show(rows)
    end("serving", rows, run=args.run, beams=args.beams, clients=CLIENTS)


def ask(url: str, texts: list[str], **plan: Any) -> tuple[float, list[list[Any]]]:
    """The seconds that the clients' process took, and its records: number of the text, status, seconds, translation,
    Retry-After."""
    plan = {"clients": CLIENTS, "rate": None, "seconds": 600, "settings": {}} | plan | {"texts": texts}
    command = [sys.executable, str(Path(__file__).with_name("_clients.py")), url]
    done = subprocess.run(command, input=json.dumps(plan), text=True, capture_output=True, check=True)
    result = json.loads(done.stdout)
    return result["seconds"], result["records"]


def batches(url: str) -> tuple[float, float]:
    """How many sentences were translated so far, in how many batches."""
    text = urllib.request.urlopen(f"{url}/metrics").read().decode()
    found = dict(re.findall(r"^seq2see_batch_sources_(sum|count) (\S+)$", text, re.MULTILINE))
    return float(found["sum"]), float(found["count"])


def speed(run: str, texts: list[str], *, beams: int, rounds: int) -> list[dict[str, Any]]:
    from seq2see import Translator

    engine = Translator.from_pretrained(run)
    cpu: dict[str, list[float]] = {"offline": [], "batched": []}
    alone = [engine(text, num_beams=beams).text for text in texts]
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    seconds: list[float] = []
    slower: list[float] = []
    sizes: list[float] = []
    swapped = different = requests = failed = 0
    for _, way in turns(list(WAYS), rounds):
        if way == "offline":
            worked = time.process_time()
            found[way].append(len(texts) / timed(lambda: engine(texts, num_beams=beams)))
            cpu[way].append(len(texts) / (time.process_time() - worked))
            continue
        with server(run, *WAYS[way]) as (url, pid):
            ask(url, texts[:CLIENTS], settings={"num_beams": beams})  # warm
            before, worked = batches(url), work_of(pid)
            took, records = ask(url, texts, settings={"num_beams": beams})
            found[way].append(len(texts) / took)
            if way == "batched":
                cpu[way].append(len(texts) / (work_of(pid) - worked))
                sources, count = (now - then for now, then in zip(batches(url), before, strict=True))
                sizes.append(sources / count)
                seconds += [record[2] for record in records]
                slower += slowdown(url, engine, texts[: 3 * LIGHT], beams=beams)
            requests += len(records)
            failed += sum(record[1] != 200 for record in records)
            wrong = [record[3] for record in records if record[3] != alone[record[0]]]
            swapped += sum(map(set(alone).__contains__, wrong))
            different += len(wrong)
    medians = {way: statistics.median(rates) for way, rates in found.items()}
    served, offline = (statistics.median(cpu[way]) for way in ("batched", "offline"))

    def row(name: str, peer: str, wanted: float) -> dict[str, Any]:
        return {"name": name, "ours": round(medians["batched"], 1), "peer": round(medians[peer], 1),
                "unit": "sentences/s", "ratio": round(medians["batched"] / medians[peer], 2), "wanted": wanted}

    return [
        row("64 clients vs offline", "offline", 0.7),
        row("64 clients vs batching off", "unbatched", 2.0),
        {"name": "per processor second", "ours": round(served, 1), "peer": round(offline, 1), "unit": "sentences/s",
         "ratio": round(served / offline, 2), "wanted": 0.75},
        {"name": "light load, above the engine", **centiles([1000 * one for one in slower], digits=1), "unit": "ms",
         "wanted": 3},
        {"name": "latency", **centiles([1000 * one for one in seconds]), "unit": "ms"},
        {"name": "batch", "ours": round(statistics.median(sizes), 1), "unit": "sentences"},
        {"name": "swapped", "ours": swapped, "of": requests, "failed": failed, "wanted": 0},
        {"name": "different in a batch", "ours": different - swapped, "of": requests},
    ]


def work_of(pid: int) -> float:
    """The processor seconds of a process so far, of all its threads."""
    import psutil

    return sum(psutil.Process(pid).cpu_times()[:2])


def slowdown(url: str, engine: Any, texts: list[str], *, beams: int) -> list[float]:
    """The seconds of a request above those of the engine for the same sentence, LIGHT of each a second."""
    own = []
    for text in texts:
        own.append(timed(lambda text=text: engine(text, num_beams=beams)))
        time.sleep(1 / LIGHT)
    _, records = ask(url, texts, clients=1, rate=LIGHT, seconds=len(texts) / LIGHT, settings={"num_beams": beams})
    return [record[2] - own[record[0]] for record in records]


def overload(run: str, texts: list[str], *, seconds: int) -> list[dict[str, Any]]:
    import psutil

    heavy: dict[str, Any] = {"settings": {"num_beams": HEAVY}}
    texts = [" ".join(texts[begin : begin + HEAVY]) for begin in range(0, len(texts) - HEAVY + 1, HEAVY)]
    with server(run, "queue_tokens=4000") as (url, pid):
        ask(url, texts[:16], clients=16, **heavy)  # warm
        took, records = ask(url, texts[:100], clients=16, **heavy)
        rate = sum(record[1] == 200 for record in records) / took
        process = psutil.Process(pid)
        before = process.memory_info().rss
        _, records = ask(url, texts, rate=10 * rate, seconds=seconds, clients=500, **heavy)
        grown = process.memory_info().rss - before
        ready = answers(url)
    refused = [record for record in records if record[1] in REFUSED]
    within = centiles([1000 * record[2] for record in refused]) if refused else {}
    return [
        {"name": "overload, requested", "ours": round(len(records) / seconds), "peer": round(rate),
         "unit": "requests/s", "ratio": round(len(records) / seconds / rate, 1)},
        {"name": "overload, refused within", **within, "unit": "ms", "wanted": 100, "refused": len(refused),
         "without Retry-After": sum(record[4] is None for record in refused)},
        {"name": "overload, accepted and not finished",
         "ours": sum(record[1] not in (200, *REFUSED) for record in records), "of": len(records) - len(refused),
         "wanted": 0, "ready afterwards": ready},
        {"name": "overload, growth of memory", "ours": round(grown / 2**20, 1), "unit": "MiB"},
    ]


if __name__ == "__main__":
    main()
