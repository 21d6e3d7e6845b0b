"""Concurrent clients of a translation server, which `serving.py` starts in a separate process.

    python benchmarks/_clients.py URL < plan.json       {"texts": [...], "clients": 64, "rate": null, "seconds": 5, ...}

Each client is one connection that requests a text, waits for the response and requests the next, until all texts are
done or the time is up.  With `rate`, all connections are opened first, and then that many requests are started per
second, whether or not earlier ones are answered.  Prints JSON: for each request the text's index, the status, the
seconds, the translation and Retry-After.  HTTP is written by hand: a client library would use more CPU than the server.
"""

import asyncio
import json
import sys
import time
import urllib.parse


class Client:
    """One persistent connection."""

    def __init__(self, url, settings):
        self.address, self.settings = urllib.parse.urlsplit(url), settings
        self.reader = self.writer = None

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.address.hostname, self.address.port)

    async def ask(self, text):
        """Status, body and Retry-After of a request for one translation."""
        if self.writer is None:
            await self.open()
        body = json.dumps({"texts": [text], **self.settings}).encode()
        head = f"POST /v1/translate HTTP/1.1\r\nHost: {self.address.netloc}\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        answer = await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), answer, headers.get("retry-after")

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.writer = None


async def run(url, plan):
    texts, records = plan["texts"], []
    todo = iter(range(len(texts)))
    clients = [Client(url, plan["settings"]) for _ in range(plan["clients"])]
    if plan["rate"] is not None:
        for client in clients:
            await client.open()
    began = time.perf_counter()
    stop = began + plan["seconds"]

    async def one(client, number):
        start = time.perf_counter()
        try:
            status, answer, retry = await client.ask(texts[number % len(texts)])
        except (OSError, asyncio.IncompleteReadError):
            client.close()
            status, answer, retry = 0, None, None
        found = json.loads(answer)["translations"][0]["text"] if status == 200 else None
        records.append([number % len(texts), status, time.perf_counter() - start, found, retry])

    async def one_after_the_other(client):
        for number in todo:
            if time.perf_counter() > stop:
                break
            await one(client, number)
        client.close()

    if plan["rate"] is None:
        await asyncio.gather(*map(one_after_the_other, clients))
    else:
        await at_rate(plan["rate"], stop, clients, one)
    return {"seconds": time.perf_counter() - began, "records": records}


async def at_rate(rate, stop, clients, one):
    """Start `rate` requests per second on free connections; without a free one, none is started."""
    free = asyncio.Queue()
    for client in clients:
        free.put_nowait(client)

    async def lent(client, number):
        await one(client, number)
        free.put_nowait(client)

    began, number = time.perf_counter(), 0
    async with asyncio.TaskGroup() as tasks:
        while (now := time.perf_counter()) < stop:
            while number < (now - began) * rate and not free.empty():
                tasks.create_task(lent(free.get_nowait(), number))
                number += 1
            await asyncio.sleep(0.001)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1], json.load(sys.stdin)))))
