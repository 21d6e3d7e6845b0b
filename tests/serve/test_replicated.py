"""A front whose engine is elsewhere answers as a server does that has its engine at hand."""

import json

import httpx
import pytest
from looking import call
from replicas import REFUSALS, Wired
from serving import running

from seq2see.serve.ui.adapter import Shown

TEXT = "The cat did not cross."


@pytest.fixture(scope="module", params=["here", "elsewhere"])
def server(request, translator):
    if request.param == "here":
        with running({"tiny": lambda: translator}, page=True) as made:
            yield made
    else:
        with running({}, service=lambda settings: Wired({"tiny": translator}, settings), page=True) as made:
            yield made


def test_each_dialect_answers(server, translator):
    expected = translator(TEXT, target="de").text
    asked = {"q": TEXT, "source": "en", "target": "de"}
    assert httpx.post(f"{server.url}/translate", data=asked).json() == {"translatedText": expected}
    body = {"inputs": [TEXT, " "], "parameters": {"tgt_lang": "de"}}
    assert httpx.post(server.url, json=body).json() == [{"translation_text": expected}, {"translation_text": ""}]
    looked = httpx.post(f"{server.url}/v1/look", json={"text": TEXT, "target": "de", "maps": ["cross"]}, timeout=120)
    [trace] = looked.json()["traces"]
    assert trace["target_text"] == expected and trace["maps"]["cross"]["raw"]["shape"]
    assert httpx.get(f"{server.url}/languages").json()[0]["targets"] == ["fr", "de"]
    assert httpx.get(f"{server.url}/v1/models").json()["models"][0]["engine"] == "torch"
    assert httpx.get(f"{server.url}/info").json()["precision"] == "float32"
    assert httpx.get(f"{server.url}/readyz").text == "ready"


@pytest.mark.parametrize(("path", "body", "status", "error"), REFUSALS)
def test_refusals_are_the_same(server, path, body, status, error):
    answer = httpx.post(server.url + path, json=body)
    assert answer.status_code == status and answer.json()["error"].startswith(error)


def test_the_page_translates_links_words_and_compares(server, translator):
    page = httpx.get(f"{server.url}/ui/config").json()
    numbers = {event: one["id"] for one in page["dependencies"] for _, event in one["targets"]}
    [shown] = [one["id"] for one in page["components"] if one["type"] == "json"]
    links = next(one["id"] for one in page["dependencies"] if (shown, "change") in map(tuple, one["targets"])
                 and one["inputs"] == [shown])  # fmt: skip

    def ask(number, *data, **event):
        body = {"fn_index": number, "data": data, "event_data": event or None, "session_hash": "tests"}
        answer = httpx.post(f"{server.url}/ui/gradio_api/run/predict", json=body, timeout=120)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    beams = translator.defaults.resolve().num_beams
    known = f'{{"name":"tiny","pairs":[["en","fr"],["en","de"]],"usual":{{"num_beams":{beams}'
    assert known in json.dumps(page, separators=",:")
    box, shown = ask(numbers["ask"], n=1, text="The cat.", source="en", target="fr")
    assert box["value"]["hypotheses"][0]["text"] == translator("The cat.").text
    assert box["value"]["learnt"] == "5 English words"
    [linked] = ask(links, shown)
    assert linked["props"]["links"]["parts"][0]["target_text"] == translator("The cat.").text
    [compared] = ask(numbers["compare"], n=1, texts=["The cat.", "The box."], source="en", target="fr")
    assert json.dumps(compared).count("The box.") == 1


def test_what_is_asked_of_the_front_is_counted_there(translator):
    with running({}, service=lambda settings: Wired({"tiny": translator}, settings), rate=2, page=True) as front:
        codes = [httpx.post(f"{front.url}/v1/translate", json={"texts": ["The cat."]}).status_code for _ in range(4)]
        counters = httpx.get(f"{front.url}/metrics").text
        shown = Shown.of(translator("The cat."), model="tiny").model_dump(mode="json")
        _, answer = call(f"{front.url}/ui", "maps", {"shown": shown})
    assert codes == [200, 200, 429, 429]
    assert answer["error"].startswith("more than 2 texts a minute")
    assert 'requests_total{outcome="done"} 2.0' in counters
