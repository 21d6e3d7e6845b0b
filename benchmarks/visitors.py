"""With twenty people on the page at once, do all get their translations, and how long do they wait?

    python benchmarks/visitors.py RUN            RUN: a trained model, storybook by default; for sixty seconds
    python benchmarks/visitors.py RUN --quick    for ten

Each visitor loads the page and sends what its JavaScript sends for a sentence: the translation, the maps, the evidence
for each word; then the next sentence, without a pause.  Times are from the beginning of a sentence.  When the time is
up, visitors end with their sentence.  The visitors run on the same cores as the server.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import httpx
from _frame import arguments, centiles, end, is_trained, numbered, server, show

KINDS = ["encoder", "decoder", "cross"]
PARTS = ("translation", "with maps", "with evidence")


async def ask(client: httpx.AsyncClient, route: str, **body: Any) -> dict[str, Any]:
    return (await client.post(f"/v1/{route}", json=body)).raise_for_status().json()


async def sentence(client: httpx.AsyncClient, text: str) -> list[float]:
    """Seconds until each of PARTS was there."""
    began, seconds = time.perf_counter(), []
    await ask(client, "translate", texts=[text])
    seconds.append(time.perf_counter() - began)
    trace, *_ = (await ask(client, "look", text=text, alternative=0, maps=KINDS))["traces"]
    seconds.append(time.perf_counter() - began)
    source, target = trace["source_text"], trace["target_text"]
    await ask(client, "look", text=source, translation=target, evidence=True, maps=[])
    return [*seconds, time.perf_counter() - began]


async def visit(url: str, texts: list[str], *, visitors: int, seconds: float) -> list[dict[str, Any]]:
    found: list[list[float]] = []
    failures: list[str] = []
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=httpx.Limits(max_connections=None)) as client:
        await sentence(client, texts.pop())  # loads torch
        until = time.perf_counter() + seconds

        async def sit(own: list[str]) -> None:
            (await client.get("/ui/")).raise_for_status()
            while time.perf_counter() < until:
                try:
                    found.append(await sentence(client, own.pop()))
                except httpx.HTTPError as error:
                    failures.append(repr(error))

        began = time.perf_counter()
        await asyncio.gather(*(sit(texts[number::visitors]) for number in range(visitors)))
        took = time.perf_counter() - began
    print(*sorted(set(failures)), sep="\n", end="\n" if failures else "", file=sys.stderr)
    return [
        *({"name": name, **centiles(times, digits=2), "unit": "s"}
          for name, times in zip(PARTS, zip(*found, strict=True), strict=False)),
        {"name": "failed", "ours": len(failures), "of": len(found) + len(failures), "wanted": 0},
        {"name": "sentences a second", "ours": round(len(found) / took, 1)},
    ]


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.add_argument("--visitors", type=int, default=20)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        with server(args.run) as (url, _):
            texts = numbered(None, 10_000)
            rows = asyncio.run(visit(url, texts, visitors=args.visitors, seconds=10 if args.quick else 60))
    show(rows)
    end("visitors", rows, run=args.run, visitors=args.visitors)


if __name__ == "__main__":
    main()
