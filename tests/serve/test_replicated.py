"""A front whose engine is elsewhere answers as a server does that has its engine at hand."""

import asyncio
import pickle
import re
from contextlib import contextmanager

import cloudpickle
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import running

from seq2see.serve.api_errors import APIError
from seq2see.serve.engines import Engines
from seq2see.serve.replicated import Replica
from seq2see.serve.service import Service

TEXT = "The cat did not cross."


class Wired(Engines):
    """Two engines in the front's process, with all that goes between them pickled, as Ray does it."""

    def __init__(self, models, settings):
        self.replicas = [Replica(models, settings) for _ in range(2)]

    async def send(self, method, *arguments, **asked):
        arguments, asked = pickle.loads(cloudpickle.dumps((arguments, asked)))
        try:
            return pickle.loads(cloudpickle.dumps(await getattr(self.replicas[0], method)(*arguments, **asked)))
        except APIError as error:
            raise pickle.loads(pickle.dumps(error)) from None

    async def metrics(self):
        return {str(number): await one.metrics() for number, one in enumerate(self.replicas)}


def front(translator, settings):
    engines = Wired({"tiny": translator}, settings)
    service = Service(settings=settings, engines=engines)
    service.at_end += [one.service.close for one in engines.replicas]
    asyncio.run(service.describe_engines())
    service.ready = False  # the server says when
    return service


@contextmanager
def elsewhere(translator, **settings):
    with running({}, service=lambda made: front(translator, made), **settings) as server:
        yield server.url


@pytest.fixture(scope="module")
def url(translator):
    with elsewhere(translator, page=True) as url:
        yield url


def test_each_dialect_and_the_page_answer(url, translator):
    expected = translator(TEXT, target="de").text
    asked = {"q": TEXT, "source": "en", "target": "de"}
    assert httpx.post(f"{url}/translate", data=asked).json()["translatedText"] == expected
    body = {"inputs": [TEXT, " "], "parameters": {"tgt_lang": "de"}}
    assert [one["translation_text"] for one in httpx.post(url, json=body).json()] == [expected, " "]
    sent = {"text": TEXT, "source": "en", "target": "de", "evidence": True, "maps": ["cross"]}
    [trace] = httpx.post(f"{url}/v1/look", json=sent, timeout=120).json()["traces"]
    assert trace["target_text"] == expected and trace["maps"]["cross"]["raw"]["shape"] and trace["evidence"]["heads"]
    question = {"tool": "layers", "text": TEXT, "translation": "Le chat.", "source": "en", "target": "fr"}
    found = httpx.post(f"{url}/v1/inside", json={"question": question}, timeout=120)
    assert found.status_code == 200 and len(found.json()["top"]) == 3
    assert httpx.get(f"{url}/languages").json()[0]["targets"] == ["fr", "de"]
    assert httpx.get(f"{url}/info").json()["precision"] == "float32"
    assert httpx.get(f"{url}/readyz").text == "ready"
    for path, body, status in (("/", {"inputs": "x" * 5001}, 400),
                               ("/v1/translate", {"texts": [TEXT], "model": "other"}, 404)):
        assert httpx.post(url + path, json=body).status_code == status
    page = httpx.get(f"{url}/").text
    assert '"languages":[[["en"],["fr","de"]]]' in page.replace(": ", ":").replace(", ", ",")


def test_what_is_asked_of_the_front_is_counted_there(translator):
    with elsewhere(translator, texts_per_minute=2) as url:
        codes = [httpx.post(f"{url}/v1/translate", json={"texts": ["The cat."]}).status_code for _ in range(4)]
        counters = httpx.get(f"{url}/metrics").text
        answer = httpx.post(f"{url}/v1/look", json={"text": "The cat."}).json()
    assert codes == [200, 200, 429, 429]
    assert answer["error"].startswith("more than 2 texts per minute")
    assert 'requests_total{outcome="done"} 2.0' in counters and "seq2see_engines 2.0" in counters


def test_metrics_are_those_of_the_front_and_of_each_engine(translator):
    """A request is counted once, by the front, and its tokens once, by the engine that had it."""
    with elsewhere(translator) as url:
        assert httpx.post(f"{url}/v1/translate", json={"texts": ["The cat."], "target": "de"}).status_code == 200
        text = httpx.get(f"{url}/metrics").text
    found = {(one.name, *one.labels.items()): one.value for family in text_string_to_metric_families(text)
             for one in family.samples}
    assert found["seq2see_requests_total", ("outcome", "done")] == found["seq2see_request_seconds_count",] == 1
    for side in ("source", "target"):
        counted = {labels[0]: value for (name, *labels), value in found.items()
                   if name == "seq2see_tokens_total" and ("side", side) in labels}
        assert list(counted) == [("engine", "0")] and counted["engine", "0"] > 0
    assert found["seq2see_batch_sources_bucket", ("engine", "0"), ("le", "1.0")] == 1
    assert len(re.findall("^# TYPE seq2see_tokens_total ", text, re.MULTILINE)) == 1
