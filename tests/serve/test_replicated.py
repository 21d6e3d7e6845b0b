"""A front whose engine is elsewhere answers as a server does that has its engine at hand."""


import httpx
import pytest
from replicas import REFUSALS, Wired
from serving import running

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


def test_the_page_and_its_lab_answer(server, translator):
    page = httpx.get(f"{server.url}/ui/", headers={"Accept-Encoding": "identity"}).text
    assert '"name":"tiny","pairs":[["en","fr"],["en","de"]]' in page.replace(": ", ":").replace(", ", ",")
    sent = {"text": TEXT, "source": "en", "target": "fr", "evidence": True, "maps": ["cross"]}
    [trace] = httpx.post(f"{server.url}/v1/look", json=sent, timeout=120).json()["traces"]
    assert trace["evidence"]["heads"] and trace["target_text"] == translator(TEXT).text
    question = {"tool": "layers", "text": TEXT, "translation": "Le chat.", "source": "en", "target": "fr"}
    found = httpx.post(f"{server.url}/v1/inside", json={"question": question}, timeout=120)
    assert found.status_code == 200 and len(found.json()["top"]) == 3


def test_what_is_asked_of_the_front_is_counted_there(translator):
    with running({}, service=lambda settings: Wired({"tiny": translator}, settings), rate=2, page=True) as front:
        codes = [httpx.post(f"{front.url}/v1/translate", json={"texts": ["The cat."]}).status_code for _ in range(4)]
        counters = httpx.get(f"{front.url}/metrics").text
        answer = httpx.post(f"{front.url}/ui/gradio_api/run/ask", json={"data": ["look", {"text": "The cat."}]}).json()
    assert codes == [200, 200, 429, 429]
    assert answer["error"].startswith("more than 2 texts per minute")
    assert 'requests_total{outcome="done"} 2.0' in counters
