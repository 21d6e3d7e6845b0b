"""With twenty people on the page at once, do all get their translations, how long do they wait, and are they informed?

    python benchmarks/visitors.py RUN            RUN: a trained model, storybook by default; for sixty seconds
    python benchmarks/visitors.py RUN --quick    for ten

Each visitor sends the requests of the page's JavaScript, without a browser: load the page, request a translation
through Gradio's queue, then its word links, then the next sentence, without a pause.  *first*: from loading the page to
the first translation of a single visitor.  *waiting*: how often a visitor saw a position in the queue.  When the time
is up, no new requests are made; requests without a response a minute later have failed.
The visitors run on the same cores as the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from typing import Any

import httpx
from _frame import arguments, end, is_trained, show
from serving import numbered, server

PAGE = "/ui"
PATIENCE = 60  # seconds to wait for responses at the end


class Visitor:
    """One open page."""

    def __init__(self, client: httpx.AsyncClient, number: int):
        self.client = client
        self.number = number
        self.session = f"visitor{number}"
        self.handlers: dict[str, int] = {}
        self.places: list[int] = []
        self.requests = 0

    async def load(self) -> None:
        (await self.client.get(f"{PAGE}/")).raise_for_status()
        config = (await self.client.get(f"{PAGE}/config")).raise_for_status().json()
        for one in config["dependencies"]:
            for _, event in one["targets"]:
                self.handlers.setdefault(event, one["id"])
        shown = next(one["id"] for one in config["components"] if one["type"] == "json")
        self.handlers["align"] = next(one["id"] for one in config["dependencies"] if one["inputs"] == [shown]
                                      and (shown, "change") in map(tuple, one["targets"]))

    async def translate(self, text: str) -> tuple[str, dict[str, Any]]:
        """The translation, and the state that Look and the alignment need."""
        self.requests += 1
        event = {"n": self.requests, "text": text, "source": "en", "target": "fr", "num_beams": 4, "alternatives": 3}
        answer: dict[str, Any] = {}
        shown: dict[str, Any] = {}
        async for data in self._queue(self.handlers["ask"], [], event):
            if isinstance(data[0], list):  # a partial update; the full answer comes last
                continue
            box = {**data[0], **data[0].get("props", {})} if data[0] else {}
            if box.get("line"):
                self.places.append(box["line"]["before"])
            if box.get("told"):
                raise RuntimeError(box["told"]["message"])
            if box.get("value"):
                answer, shown = box["value"], data[1]
        return answer["hypotheses"][0]["text"], shown

    async def align(self, shown: dict[str, Any]) -> None:
        async for data in self._queue(self.handlers["align"], [shown], None):
            assert data[0]["props"]["links"]["parts"], data

    async def _queue(self, handler: int, data: list[Any], event: Any) -> Any:
        body = {"fn_index": handler, "data": data, "event_data": event, "session_hash": self.session}
        joined = (await self.client.post(f"{PAGE}/gradio_api/queue/join", json=body)).raise_for_status().json()
        url = f"{PAGE}/gradio_api/queue/data?session_hash={self.session}"
        async with self.client.stream("GET", url) as stream:
            async for line in stream.aiter_lines():
                if not line.startswith("data:"):
                    continue
                message = json.loads(line[5:])
                if message["msg"] == "close_stream":  # leaving earlier would lose the session
                    return
                if message.get("event_id") not in (None, joined["event_id"]):
                    continue
                if message["msg"] in ("process_generating", "process_completed"):
                    if not message["success"]:
                        raise RuntimeError(message["output"])
                    if message["output"].get("data"):
                        yield message["output"]["data"]


async def visit(url: str, args: argparse.Namespace, texts: list[str]) -> list[dict[str, Any]]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=600, limits=limits) as client:
        lone = Visitor(client, -1)
        await lone.load()
        began = time.perf_counter()
        text, shown = await lone.translate(texts[0])
        first = time.perf_counter() - began
        await lone.align(shown)  # loads torch
        visitors = [Visitor(client, number) for number in range(args.visitors)]
        translated: list[float] = []
        aligned: list[float] = []
        failures: list[str] = []

        began = time.perf_counter()
        until = began + (10 if args.quick else 60)

        async def sit(visitor: Visitor, own: list[str]) -> None:
            await visitor.load()
            for text in own:
                asks = time.perf_counter()
                if asks > until:
                    return
                _, shown = await visitor.translate(text)
                translated.append(time.perf_counter() - asks)
                await visitor.align(shown)
                aligned.append(time.perf_counter() - asks)

        async def bounded(visitor: Visitor, own: list[str]) -> None:
            try:
                async with asyncio.timeout(until + PATIENCE - began):
                    await sit(visitor, own)
            except Exception as error:
                failures.append(f"{type(error).__name__}: {error}")

        await asyncio.gather(*(bounded(one, texts[one.number :: args.visitors]) for one in visitors))
        seconds = time.perf_counter() - began
    if failures:
        print("\n".join(sorted(set(failures))), file=sys.stderr)
    places = [place for one in visitors for place in one.places]

    def row(name: str, found: list[float]) -> dict[str, Any]:
        return {"name": name, "p50": round(statistics.median(found), 2), "most": round(max(found), 2), "unit": "s"}

    return [
        {"name": "first", "ours": round(first, 2), "unit": "s", "wanted": 1.0},
        *(row(name, found) for name, found in (("translation", translated), ("with which word is which", aligned))
          if found),
        {"name": "failed", "ours": len(failures), "of": len(translated) + len(failures), "wanted": 0},
        {"name": "translations a second", "ours": round(len(translated) / seconds, 1)},
        {"name": "waiting", "ours": len(places), "most before": max(places, default=0)},
    ]


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.add_argument("--visitors", type=int, default=20)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        texts = numbered(None, 10_000)
        random.Random(0).shuffle(texts)
        with server(args) as (url, _):
            rows = asyncio.run(visit(url, args, texts))
    show(rows)
    end("visitors", rows, run=args.run, visitors=args.visitors)


if __name__ == "__main__":
    main()
