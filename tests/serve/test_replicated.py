"""A front whose engine is elsewhere answers as a server does that has its engine at hand."""

import asyncio
import pickle
from contextlib import contextmanager

import cloudpickle
import httpx
import pytest
from serving import running

from seq2see.serve.api_errors import APIError
from seq2see.serve.replicated import Replica, Replicated

TEXT = "The cat did not cross."


class Wired(Replicated):
    """A front and an engine in one process, with all that goes between them pickled, as Ray does it."""

    def __init__(self, models, settings):
        super().__init__(settings=settings)
        self.replica = Replica(models, settings)
        self.models = asyncio.run(self.send("describe"))  # and the server says when it is ready

    async def send(self, method, *arguments, **asked):
        arguments, asked = pickle.loads(cloudpickle.dumps((arguments, asked)))
        try:
            return pickle.loads(cloudpickle.dumps(await getattr(self.replica, method)(*arguments, **asked)))
        except APIError as error:
            raise pickle.loads(pickle.dumps(error)) from None

    def close(self):
        super().close()
        self.replica.service.close()


@contextmanager
def elsewhere(translator, **settings):
    with running({}, service=lambda made: Wired({"tiny": translator}, made), **settings) as server:
        yield server.url


@pytest.fixture(scope="module")
def url(translator):
    with elsewhere(translator, page=True) as url:
        yield url


def test_each_dialect_and_the_page_answer(url, translator):
    expected = translator(TEXT, target="de").text
    asked = {"q": TEXT, "source": "en", "target": "de"}
    assert httpx.post(f"{url}/translate", data=asked).json() == {"translatedText": expected}
    body = {"inputs": [TEXT, " "], "parameters": {"tgt_lang": "de"}}
    assert httpx.post(url, json=body).json() == [{"translation_text": expected}, {"translation_text": " "}]
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
    assert 'requests_total{outcome="done"} 2.0' in counters
