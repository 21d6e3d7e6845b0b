"""Does any request hold up the others, and does a server stay well under mixed load?

    python benchmarks/load.py RUN            RUN: a trained model, storybook by default; 64 clients for ten minutes
    python benchmarks/load.py RUN --quick    a smoke test

*held*: while one request of a nasty shape, as large as the server takes, is being worked on, and again while three are,
`/healthz` is asked every 50 ms and a short text is translated every 200 ms.  *mixed*: 64 clients at once send texts of
1 to 2,000 characters, now and then a file or a look, for ten minutes; each text has a number that its translation must
have.  *short*: texts of at most 60 characters, against one client alone.  *memory*: the server's, in the first minute
and in the last.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import psutil
from _frame import arguments, centiles, end, is_trained, sentences, server, show

CLIENTS = 64
LONGEST = 20  # seconds that a request is left working
SHORT = 60  # characters
FEW, LOOKS = 0.03, 0.05  # shares of files and of looks
TEXT, FILE = 5_000, 200_000  # characters that a server takes
REFUSED = (429, 503)


def full(shape: str, characters: int = TEXT) -> str:
    return (shape * (characters // len(shape) + 1))[:characters]


HELD: dict[str, Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]] = {
    **{f"text {shape}": lambda client, shape=shape: translated(client, full(shape))
       for shape in ("a—", "[a](", "“a” ", "%a", "\n\n", "a.", "The cat sees the dog. ")},
    **{f"HTML {shape}": lambda client, shape=shape: translated(client, full(shape), format="html")
       for shape in ("<p>a", "a-", "<")},
    "keep (?s).*": lambda client: translated(client, *(["0 " + "a b " * 900] * 3), keep="(?s).*"),
    "keep (a|b| )*c": lambda client: translated(client, *(["0 " + "a b " * 900] * 3), keep="(a|b| )*c"),
    **{f".{ending} {shape}": lambda client, ending=ending, shape=shape: file(client, ending, full(shape, FILE))
       for ending, shape in (("md", "_a"), ("md", "*a"), ("md", "[a]("), ("html", "‹"), ("html", "&lt;"),
                             ("html", "<b>a"), ("txt", "a-"), ("json", '{"a":'), ("csv", '"'), ("po", '"a"\n'))},
}


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.add_argument("--minutes", type=float, default=10, help="of mixed load")
    parser.add_argument("--only", choices=("held", "mixed"))
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        with server(args.run, "deadline_seconds=30") as (url, pid):
            minutes = 0.2 if args.quick else args.minutes
            rows = asyncio.run(measured(url, psutil.Process(pid), only=args.only, minutes=minutes, quick=args.quick))
    show(rows)
    end("load", rows, run=args.run, clients=CLIENTS)


async def measured(url: str, process: psutil.Process, *, only: str | None, minutes: float,
                   quick: bool) -> list[dict[str, Any]]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as client:
        shapes = dict([*HELD.items()][::8]) if quick else HELD
        rows = [await held(client, name, ask, times) for name, ask in shapes.items() for times in (1, 3)
                if only != "mixed"]
        return rows + (await mixed(client, process, seconds=60 * minutes) if only != "held" else [])


async def held(client: httpx.AsyncClient, name: str, ask: Callable[..., Any], times: int) -> dict[str, Any]:
    began = time.perf_counter()
    work = [asyncio.create_task(ask(client)) for _ in range(times)]
    found: dict[str, list[float]] = {"healthz": [], "short": []}

    async def probe(kind: str, pause: float, one: Callable[[], Awaitable[httpx.Response]]) -> None:
        while not all(task.done() for task in work) and time.perf_counter() - began < LONGEST:
            start = time.perf_counter()
            (await one()).raise_for_status()
            found[kind].append(1000 * (time.perf_counter() - start))
            await asyncio.sleep(pause)

    await asyncio.gather(probe("healthz", 0.05, lambda: client.get("/healthz")),
                         probe("short", 0.2, lambda: translated(client, "The cat sees the dog.")))
    passed = round(time.perf_counter() - began, 1)
    for task in work:
        task.cancel()
    ended = await asyncio.gather(*work, return_exceptions=True)
    status = [one.status_code if isinstance(one, httpx.Response) else "cancelled" for one in ended]
    waits = {f"{kind} {part} ms": centiles(values)[part] for kind, values in found.items() for part in ("p95", "most")}
    row = {"held": name[:30], "times": times, "status": status, "seconds": passed, **waits}
    print(row, file=sys.stderr, flush=True)
    return row


async def mixed(client: httpx.AsyncClient, process: psutil.Process, *, seconds: float) -> list[dict[str, Any]]:
    known, draw = sentences(None), random.Random(0)
    counts, took, memory = Counter[str](), dict[str, list[float]](short=[], quiet=[], refused=[]), list[int]()
    numbers = iter(range(10**9))

    async def one(kind: str) -> None:
        number = next(numbers)
        text = f"{draw.choice(known)[:-1]} {number}."
        while draw.random() < 0.5 and len(text) < 1900:
            text += " " + " ".join(draw.choices(known, k=draw.choice((1, 3, 9))))
        what = draw.random()
        began = time.perf_counter()
        if kind == "quiet" or what > FEW + LOOKS:
            text = text[: 2000 if kind == "short" else SHORT]
            response = await translated(client, text)
        elif what < FEW:
            response = await file(client, "txt", text)
        else:
            text = text.split(".")[0] + "."
            response = await client.post("/v1/look", json={"text": text})
        passed = 1000 * (time.perf_counter() - began)
        counts[f"{response.status_code}"] += 1
        if response.status_code in REFUSED:
            took["refused"].append(passed)
        elif response.status_code == 200:
            if what > FEW or kind == "quiet":
                wanted = re.findall(r"\d+", text)
                counts["without its number"] += not set(wanted) <= set(re.findall(r"\d+", response.text))
            if len(text) <= SHORT and (kind == "quiet" or what > FEW + LOOKS):
                took[kind].append(passed)

    for _ in range(40):
        await one("quiet")
    counts.clear()
    stop, began = time.perf_counter() + seconds, time.perf_counter()

    async def one_after_the_other() -> None:
        while time.perf_counter() < stop:
            await one("short")

    async def watch() -> None:
        while time.perf_counter() < stop:
            memory.append(process.memory_info().rss)
            await asyncio.sleep(1)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(watch())
        for _ in range(CLIENTS):
            tasks.create_task(one_after_the_other())
    minute = min(60, len(memory) // 2)
    first, last = (round(max(some) / 2**20) for some in (memory[:minute], memory[-minute:]))
    quiet, busy = centiles(took["quiet"]), centiles(took["short"])
    return [
        {"mixed": "requests", "ours": sum(counts[one] for one in counts if one.isdigit()), **counts,
         "seconds": round(time.perf_counter() - began)},
        {"mixed": "short texts, p95", "ours": busy["p95"], "peer": quiet["p95"], "unit": "ms",
         "ratio": round(busy["p95"] / quiet["p95"], 1), "wanted": 10},
        {"mixed": "refused within", **(centiles(took["refused"]) if took["refused"] else {}), "unit": "ms"},
        {"mixed": "memory", "first minute": first, "last minute": last, "unit": "MiB"},
    ]


async def translated(client: httpx.AsyncClient, *texts: str, **more: Any) -> httpx.Response:
    return await client.post("/v1/translate", json={"texts": texts, **more})


async def file(client: httpx.AsyncClient, ending: str, text: str) -> httpx.Response:
    """The request for a file and, as a second one, its download."""
    data = {"source": "en", "target": "fr"}
    response = await client.post("/translate_file", data=data, files={"file": (f"a.{ending}", text.encode())})
    if response.status_code == 200:
        return await client.get(response.json()["translatedFileUrl"])
    return response


if __name__ == "__main__":
    main()
