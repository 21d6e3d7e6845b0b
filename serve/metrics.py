"""What is counted, for `/metrics`, in a registry of its own.  No text, key or address is ever a label."""

from __future__ import annotations

from weakref import WeakSet

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .errors import APIError

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counted: WeakSet[APIError] = WeakSet()
        given = {"registry": self.registry, "namespace": "seq2see"}
        self.requests = Counter("requests", "Requests that were let in, by what came of them",
                                ["outcome"], **given)
        self.refusals = Counter("refusals", "Requests refused, by the reason", ["reason"], **given)
        self.cancelled = Counter("cancelled", "Requests whose client went before the answer", **given)
        self.running = Gauge("requests_running", "Requests being served", **given)
        self.latency = Histogram("request_seconds", "From a request to its answer", buckets=SECONDS, **given)
        self.queued = Gauge("queue_tokens", "Source pieces that wait for an engine", **given)
        self.batch_size = Histogram("batch_sources", "Sources in one call of an engine", buckets=SIZES, **given)
        self.tokens = Counter("tokens", "Pieces read from sources and written into translations", ["side"], **given)

    def count(self, error: APIError) -> None:
        """Count it, once, however often it is met on its way out; a failure (500) is none."""
        if error not in self._counted and error.status != 500:
            self._counted.add(error)
            self.refusals.labels(error.code).inc()

    def batch(self, *, sources: int, pieces: int) -> None:
        self.batch_size.observe(sources)
        self.tokens.labels("source").inc(pieces)

    def text(self) -> bytes:
        """In Prometheus's text format."""
        return bytes(generate_latest(self.registry))
