"""Does a server that stops answer everything that it accepted?

    python benchmarks/stop.py RUN            RUN: a model, storybook by default; 100 rounds
    python benchmarks/stop.py RUN --quick    a smoke test

In a round, half of twelve clients translate over one connection and half over a new one each time, until the server,
which stops as at SIGTERM, refuses a connection.  *answered*: after the signal; *lost*: connections that were accepted,
and closed or reset without an answer.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from typing import Any

from _frame import arguments, end, is_trained, show

CLIENTS = 12
BODY = json.dumps({"texts": ["The cat sees the dog."]})
HEADERS = {"Content-Type": "application/json"}


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.add_argument("--rounds", type=int, default=100)
    args = parser.parse_args()
    rows = [measured(args.run, 2 if args.quick else args.rounds)] if is_trained(args.run) else []
    show(rows)
    end("stop", rows, run=args.run, clients=CLIENTS)


def measured(run: str, rounds: int) -> dict[str, Any]:
    from seq2see import Translator
    from seq2see.serve.server import Server
    from seq2see.serve.settings import ServerSettings

    translator, found = Translator.from_pretrained(run), Counter[str]()
    for number in range(rounds):
        server = Server({"model": lambda: translator}, host="127.0.0.1", port=0,
                        settings=ServerSettings(page=False, texts_per_minute=0))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.service.ready:
            time.sleep(0.01)
        stopping = threading.Event()
        with ThreadPoolExecutor(CLIENTS) as threads:
            clients = [threads.submit(client, server.port, stopping, one % 2 == 0) for one in range(CLIENTS)]
            time.sleep(0.2 + random.Random(number).random() / 10)
            stopping.set()
            server.should_exit = True
        found += sum((one.result() for one in clients), Counter())
        thread.join()
    return {"rounds": rounds, "answered": found.pop("answered", 0), "lost": found.total(), **found}


def client(port: int, stopping: threading.Event, keeps: bool) -> Counter[str]:
    """Translate until a connection is refused."""
    found: Counter[str] = Counter()
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    while True:
        new = connection.sock is None
        try:
            connection.request("POST", "/v1/translate", BODY, HEADERS)
            answer = connection.getresponse()
            answer.read()
        except ConnectionRefusedError:
            return found
        except (OSError, HTTPException) as error:
            found[f"{type(error).__name__} on {'a new' if new else 'an open'} connection"] += 1
            connection.close()
            continue
        if stopping.is_set():
            found["answered" if answer.status == 200 else str(answer.status)] += 1
        if not keeps:
            connection.close()


if __name__ == "__main__":
    main()
