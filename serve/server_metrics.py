"""The Prometheus metrics, in a registry of their own.  No text, key or address is ever a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from .api_errors import APIError
from .current_request import current

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
OF_ENGINES = ("seq2see_queue_tokens", "seq2see_batch_sources", "seq2see_tokens")  # not of the front before them


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        given = {"registry": self.registry, "namespace": "seq2see"}
        self.requests = Counter("requests", "Requests that passed the first checks, by outcome", ["outcome"], **given)
        self.refusals = Counter("refusals", "Errors except 500, by code, also of the first checks", ["reason"], **given)
        self.cancelled = Counter("cancelled", "Requests whose client disconnected early", **given)
        self.running = Gauge("requests_running", "Requests in progress", **given)
        self.latency = Histogram("request_seconds", "Time to answer a request", buckets=SECONDS, **given)
        self.queued = Gauge("queue_tokens", "Source tokens waiting for an engine", **given)
        self.batch_size = Histogram("batch_sources", "Sources per engine call", buckets=SIZES, **given)
        self.tokens = Counter("tokens", "Source tokens read and target tokens written", ["side"], **given)

    def count(self, error: APIError) -> None:
        """Count a refusal when its response is sent; failures (500) are not refusals."""
        current().error = error.code
        if error.status != 500:
            self.refusals.labels(error.code).inc()

    def text(self) -> bytes:
        """The metrics in Prometheus text format."""
        return bytes(generate_latest(self.registry))


class _AllMetrics(Collector):
    """The counters of a front and of the engines behind it; an engine's name is a label."""

    def __init__(self, own: bytes, engines: Mapping[str, bytes]):
        self.own, self.engines = own, engines

    def collect(self) -> Iterator[Metric]:
        yield from (one for one in _families(self.own) if not one.name.startswith(OF_ENGINES))
        found: dict[str, Metric] = {}
        for name, text in self.engines.items():
            for family in (one for one in _families(text) if one.name.startswith(OF_ENGINES)):
                all_of_it = found.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for sample in family.samples:
                    all_of_it.add_sample(sample.name, {**sample.labels, "engine": name}, sample.value)
        yield from found.values()
        answering = Metric("seq2see_engines", "Engines that answered for this", "gauge")
        answering.add_sample("seq2see_engines", {}, len(self.engines))
        yield answering


def _families(text: bytes) -> Iterator[Metric]:
    return text_string_to_metric_families(text.decode())


def with_engines(own: bytes, engines: Mapping[str, bytes]) -> bytes:
    """The metrics of a front and of the engines behind it, in Prometheus text format.

    Args:
        own: the front's, with requests, refusals and their duration.
        engines: each engine's, by its name, with queues, batches and tokens.
    """
    registry = CollectorRegistry()
    registry.register(_AllMetrics(own, engines))
    return bytes(generate_latest(registry))
