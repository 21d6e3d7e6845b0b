"""Does a server stay stable?  Sends mixed requests for half an hour and watches memory, files and responses.

    python benchmarks/soak.py RUN                  RUN: a trained model, storybook by default; 30 minutes
    python benchmarks/soak.py RUN --minutes 5
    python benchmarks/soak.py RUN --quick          twenty seconds

`seq2see serve` gets --rate requests per second: translations through its own API, LibreTranslate's and Hugging Face's
(not Gradio's), HTML, looks, invalid requests, and requests whose client disconnects early.  Every response must have
the expected status and the same texts as the first time (scores vary, as int8 rounding depends on the batch).  *memory*
is the slope of a line through the resident memory in the second half; *files* (open file descriptors) and *threads*
compare the end with the middle.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import psutil
from _frame import arguments, centiles, end, is_trained, numbered, server, show

TEXTS = 40  # distinct texts; each has been answered before the second half begins
PAUSE = 5.0  # seconds between samples
ABANDONED = 0.005  # seconds after which some clients disconnect


def main() -> None:
    parser = arguments(__doc__, run=True, text=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=20, help="requests per second")
    args = parser.parse_args()
    seconds = 20 if args.quick else 60 * args.minutes
    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        with server(args.run) as (url, pid):
            rows = asyncio.run(soak(url, pid, numbered(args.text, TEXTS), seconds=seconds, rate=args.rate))
    show(rows)
    end("soak", rows, run=args.run, seconds=seconds, rate=args.rate)


@dataclass(frozen=True)
class Kind:
    """One kind of request: its name, path, body for a text, expected status, and how often it is sent."""

    name: str
    path: str
    body: Callable[[str], Any]
    status: int = 200
    weight: int = 1


def kinds(source: str, target: str) -> list[Kind]:
    """All kinds; LibreTranslate's with these languages."""
    libre = {"source": source, "target": target}
    return [
        Kind("own", "/v1/translate", lambda text: {"texts": [text]}, weight=8),
        Kind("html", "/v1/translate", lambda text: {"texts": [f"<p>{text}</p>"], "format": "html"}, weight=2),
        Kind("LibreTranslate", "/translate", lambda text: {"q": text, **libre}, weight=4),
        Kind("Hugging Face", "/", lambda text: {"inputs": text}, weight=4),
        Kind("look", "/v1/look", lambda text: {"text": text, "maps": ["cross"]}),
        Kind("no such language", "/translate", lambda text: {"q": text, **libre, "target": "auto"}, status=400),
        Kind("too many beams", "/v1/translate", lambda text: {"texts": [text], "num_beams": 10_000}, status=400),
        Kind("no text", "/v1/translate", lambda text: {"texts": []}, status=400),
        Kind("abandoned", "/v1/translate", lambda text: {"texts": [text] * 8}),
    ]


@dataclass
class Seen:
    """The outcomes of the requests."""

    seconds: list[float] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    answers: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    samples: list[tuple[float, float, int, int]] = field(default_factory=list)  # seconds, MiB, files, threads


async def soak(url: str, pid: int, texts: list[str], *, seconds: float, rate: float) -> list[dict[str, Any]]:
    seen, dice = Seen(), random.Random(0)
    limits = httpx.Limits(max_connections=256)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client, asyncio.TaskGroup() as tasks:
        first = (await client.get("/languages")).json()[0]
        among = kinds(first["code"], first["targets"][0])
        tasks.create_task(watch(psutil.Process(pid), seen, seconds))
        began = time.perf_counter()
        for number in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, number / rate - (time.perf_counter() - began)))
            if time.perf_counter() - began > seconds:
                break
            [kind] = dice.choices(among, [kind.weight for kind in among])
            tasks.create_task(one(client, kind, dice.choice(texts), seen))
    return rows(seen)


async def one(client: httpx.AsyncClient, kind: Kind, text: str, seen: Seen) -> None:
    seen.kinds[kind.name] += 1
    began = time.perf_counter()
    try:
        async with asyncio.timeout(ABANDONED if kind.name == "abandoned" else None):
            answer = await client.post(kind.path, json=kind.body(text))
    except TimeoutError:
        return
    except httpx.HTTPError as error:
        seen.wrong[f"{kind.name}: {type(error).__name__}"] += 1
        return
    seen.seconds.append(time.perf_counter() - began)
    if answer.status_code != kind.status:
        seen.wrong[f"{kind.name}: {answer.status_code}"] += 1
    elif seen.answers.setdefault((kind.name, text), found := list(strings(answer.json()))) != found:
        seen.wrong[f"{kind.name}: another answer"] += 1


def strings(value: Any) -> Iterator[str]:
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


async def watch(process: psutil.Process, seen: Seen, seconds: float) -> None:
    began = time.perf_counter()
    while (now := time.perf_counter() - began) < seconds:
        seen.samples.append((now, process.memory_info().rss / 2**20, process.num_fds(), process.num_threads()))
        await asyncio.sleep(min(PAUSE, seconds / 10))


def rows(seen: Seen) -> list[dict[str, Any]]:
    times, memory, files, threads = zip(*seen.samples[len(seen.samples) // 2 :], strict=True)
    slope = statistics.linear_regression(times, memory).slope * 3600
    return [
        {"name": "requests", "ours": sum(seen.kinds.values()), **seen.kinds},
        {"name": "wrong status or another answer", "ours": sum(seen.wrong.values()), "wanted": 0, **seen.wrong},
        {"name": "latency", **centiles([1000 * one for one in seen.seconds]), "unit": "ms"},
        {"name": "memory", "ours": round(memory[-1]), "in the middle": round(memory[0]), "unit": "MiB",
         "slope": f"{slope:+.1f} MiB per hour"},
        {"name": "files", "ours": files[-1], "in the middle": files[0]},
        {"name": "threads", "ours": threads[-1], "in the middle": threads[0]},
    ]  # fmt: skip


if __name__ == "__main__":
    main()
