"""Does Ray Serve lose requests when it starts a second engine under load and stops it afterwards?

    python benchmarks/scaling.py RUN            RUN: a trained model, storybook by default; some two minutes
    python benchmarks/scaling.py RUN --quick    without the last twenty seconds of each load

Needs the extra `ray`.  The cluster is this machine alone, with one or two engines, which Ray may start and stop after
five seconds (by default 30 and 600).  Three loads: few clients; many, until there are two engines; few, until there is
one.  Each client requests texts one after the other.  *lost*: no response within a minute; *wrong*: a translation that
differs from the engine's own, or a status other than 200 or 503 with Retry-After.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from typing import Any

import httpx
from _frame import arguments, end, is_trained, sentences, show

LOADS = ((2, 1), (48, 2), (2, 1))  # clients, and engines to wait for
PATIENCE = 180  # seconds for Ray to start or stop an engine
LONGER = 20  # seconds that a load continues after the engines have changed
DELAY = 5
TOGETHER = 8  # sentences in a text: with one the front would be as busy as the engines


def running_engines() -> int:
    from ray import serve

    [application] = serve.status().applications.values()
    return application.deployments["Engines"].replica_states.get("RUNNING", 0)


async def outcome(client: httpx.AsyncClient, text: str, expected: str) -> str:
    try:
        answer = await client.post("/v1/translate", json={"texts": [text], "num_beams": 1})
    except httpx.HTTPError as error:
        print(f"lost: {error!r}", file=sys.stderr)
        return "lost"
    if answer.status_code == 503 and answer.headers.get("retry-after"):
        await asyncio.sleep(0.1)
        return "refused"
    if answer.status_code == 200 and answer.json()["translations"][0]["text"] == expected:
        return "right"
    print(f"wrong: {answer.status_code} {answer.text}", file=sys.stderr)
    return "wrong"


async def measure(url: str, expected: dict[str, str], *, longer: float) -> list[dict[str, Any]]:
    texts, loads = itertools.cycle(expected), []
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=httpx.Limits(max_connections=None)) as client:
        for clients, wanted in LOADS:
            over, seen, began = asyncio.Event(), Counter(), time.perf_counter()

            async def ask(over: asyncio.Event = over, seen: Counter[str] = seen) -> None:
                while not over.is_set():
                    text = next(texts)
                    seen[await outcome(client, text, expected[text])] += 1

            work = [asyncio.create_task(ask()) for _ in range(clients)]
            before = engines = await asyncio.to_thread(running_engines)
            while engines != wanted and time.perf_counter() - began < PATIENCE:
                await asyncio.sleep(1)
                engines = await asyncio.to_thread(running_engines)
            after = round(time.perf_counter() - began, 1)
            await asyncio.sleep(longer)
            over.set()
            await asyncio.gather(*work)
            loads.append({"clients": clients, "engines before": before, "engines": engines, "wanted": wanted,
                          "after": after, **dict.fromkeys(("right", "refused", "wrong", "lost"), 0), **seen})
            show(loads[-1:])
    return loads


def main() -> None:
    args = arguments(__doc__, run=True, text=True).parse_args()
    if not is_trained(args.run):
        return
    if not find_spec("ray"):
        print("ray is not installed: nothing to measure", file=sys.stderr)
        return
    import ray
    from ray import serve

    from seq2see.serve.ray_app import application
    from seq2see.translate.translator import Translator

    known = sentences(args.text)[: 100 * TOGETHER]
    texts = [" ".join(known[start : start + TOGETHER]) for start in range(0, len(known), TOGETHER)]
    found = Translator.from_pretrained(args.run)(texts, num_beams=1)
    expected = {text: one.text for text, one in zip(texts, found, strict=True)}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    ray.init(num_cpus=4, include_dashboard=False, configure_logging=False, object_store_memory=10**8,
             runtime_env={"env_vars": variables})  # fmt: skip
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("texts_per_minute: 0\n")
            config.flush()
            serve.run(application({"models": args.run, "config": config.name, "least": "1", "most": "2",
                                   "upscale_delay_s": str(DELAY), "downscale_delay_s": str(DELAY)}))
        rows = asyncio.run(measure(f"http://127.0.0.1:{port}", expected, longer=0 if args.quick else LONGER))
    finally:
        serve.shutdown()
        ray.shutdown()
    end("scaling", rows, run=args.run)


if __name__ == "__main__":
    main()
