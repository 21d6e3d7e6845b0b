"""A server to test against: in a thread of this process, or in one of its own, with a translator that does as it is
told by its texts.  Imports no torch."""

import contextlib
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from seq2see.lens.measurements import NOTHING
from seq2see.tokenizer.language_pairs import LanguagePairs
from seq2see.translate.decoding import NO_OPTIONS, GenerationDefaults
from seq2see.translate.results import Hypothesis, Translation
from seq2see.translate.segment_translator import WorkLoop

HERE = Path(__file__).resolve().parent


class Panic(BaseException):
    """As the Rust part of a tokenizer raises it: no Exception."""


class Stub:
    """Writes in capitals.  `hold` stays with the engine until the gate opens, `sleep 2` for two seconds, `poison` makes
    the engine panic, and `venom` what makes texts ready."""

    name = "stub"
    precision = "none"
    defaults = GenerationDefaults({}, None)
    folder = files = None
    measured_files = NOTHING

    def __init__(self, *, pairs=(("en", "fr"), ("de", "fr"), ("en", "de")), threads=1):
        self.language_pairs = LanguagePairs.of(pairs)
        self.threads = threads
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.seen = []

    @property
    def engine(self):
        return self

    def engine_for(self, options):
        return self

    def seen_words(self, language):
        return None

    def pin(self):
        pass

    def __call__(self, text, *, source=None, target=None, **options):
        job = self.prepare(text if isinstance(text, list) else [text], source=source, target=target)
        while job.work:
            job.advance([(written(ids),) for ids, _ in job.work])
        return job.result if isinstance(text, list) else job.result[0]

    def prepare(self, texts, *, source=None, target=None, prefix="", format="text", keep="", glossary=None,
                options=NO_OPTIONS):
        if any("venom" in text for text in texts):
            raise Panic(texts[0])
        pair = self.language_pairs[0] if self.language_pairs else ("", "")
        return WorkLoop(self._translations(texts, source or pair[0], target or pair[1], self.defaults.resolve(options)))

    def _translations(self, texts, source, target, options):
        wanted = [text for text in texts if text.strip()]
        found = iter((yield [(tuple(map(ord, text)), options) for text in wanted]) if wanted else [])
        return [Translation.of(text, next(found) if text.strip() else (), source_language=source,
                               target_language=target, engine="stub", precision="none") for text in texts]

    def translate(self, sources, options, *, wanted=None):
        texts = ["".join(map(chr, source)) for source in sources]
        self.seen += texts
        self.entered.set()
        if any("poison" in text for text in texts):
            raise Panic(texts[0])
        if any("hold" in text for text in texts):
            assert self.gate.wait(60)
        for text in texts:
            if "sleep" in text:
                time.sleep(float(re.search(r"sleep ([\d.]+)", text)[1]))
        return [(written(source),) for source in sources]

    @contextlib.contextmanager
    def separate_copy(self):
        yield self

    def look(self, results, *, alternative=0, views=("raw",)):
        return [f"trace of {one.text}" for one in results]


def written(source):
    return Hypothesis("".join(map(chr, source)).upper(), source, -1.0, -1.0, True)


@contextlib.contextmanager
def running(loaders, *, wait=True, service=None, **settings):
    """A server in a thread; it must end by itself afterwards.  It is ready when the block begins or, without `wait`,
    answers that it is loading.  `service(settings)` makes another service than the usual one."""
    from seq2see.serve.server import Server
    from seq2see.serve.settings import ServerSettings

    settings = ServerSettings(**{"page": False, "texts_per_minute": 0, "grace_seconds": 5.0, **settings})
    server = Server(loaders, host="127.0.0.1", port=0, settings=settings, service=service and service(settings))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not (server.service.ready if wait else server.started) and thread.is_alive():
            time.sleep(0.01)
        yield server
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


@contextlib.contextmanager
def stub_server(stub=None, **settings):
    """A stub and a client of its server."""
    stub = stub or Stub()
    with running({"stub": lambda: stub}, **settings) as server, httpx.Client(base_url=server.url, timeout=30) as client:
        client.server, client.stub = server, stub
        try:
            yield client
        finally:
            stub.gate.set()


COMMAND = """
import signal, sys
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
sys.path.insert(0, sys.argv.pop(1))
from serving import Stub
from seq2see.translate.translator import Translator
Translator.from_pretrained = lambda run, **settings: Stub()
from seq2see.cli.command import main
sys.exit(main(["serve", "stub", *sys.argv[1:]]))
"""


class Process:
    """`seq2see serve` in a process of its own; `stub`: with the stub instead of a model."""

    def __init__(self, *arguments, stub=True, stdout=None):
        command = ["-c", COMMAND, str(HERE)] if stub else ["-m", "seq2see", "serve"]
        self.process = subprocess.Popen([sys.executable, *command, *arguments], stdin=subprocess.DEVNULL,
                                        stdout=stdout, stderr=subprocess.PIPE, text=True)
        self.first_line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", self.first_line)
        self.url = found[0] if found else None
        self.pid = self.process.pid

    def __enter__(self):
        assert self.url, self.first_line + self.process.stderr.read()
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()


def translate(client, *texts, **more):
    return client.post("/v1/translate", json={"texts": list(texts), "source": "en", "target": "fr", **more})


def leave(client, text, *, when):
    """Ask for a translation, and close the connection once `when()` says that the server is at it."""
    body = json.dumps({"texts": [text], "source": "en", "target": "fr"}).encode()
    head = ("POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n")
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=60) as connection:
        connection.sendall(head.encode() + body)
        while not when():
            time.sleep(0.01)


def counters(client):
    return {(one.name, *one.labels.values()): one.value
            for family in text_string_to_metric_families(client.get("/metrics").text) for one in family.samples}


def raw(client, data):
    """What the server answers to these bytes, until it closes the connection."""
    url = urllib.parse.urlsplit(str(client.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=60) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))
