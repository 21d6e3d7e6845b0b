"""The service: limits hold whatever the checkpoint says, and the languages choose the model."""

import asyncio
import re
import threading
from contextlib import contextmanager

import pytest
from fastapi.testclient import TestClient
from serving import Stub

from seq2see import Translator
from seq2see.lens import tracing
from seq2see.passes.forced_pass import forced_pass
from seq2see.passes.pausing import pause
from seq2see.serve.apis.v1 import LookBody, look_reply
from seq2see.serve.app import make_app
from seq2see.serve.service import APIError, Caller, Service
from seq2see.serve.settings import ServerSettings
from seq2see.text.segments import cut_sentences
from seq2see.translate import segment_translator
from seq2see.translate.decoding import DecodingOptions, GenerationDefaults

CALLER = Caller("10.0.0.1")
ENGLISH = "The weather was so bad that nobody wanted to go for a walk."
GERMAN = "Das Wetter war so schlecht, dass niemand spazieren gehen wollte."
ASKED = {"source": "en", "target": "fr", "caller": CALLER}


def ask(service, *texts, options=None, **more):
    more |= {"options": DecodingOptions(**options)} if options else {}
    return asyncio.run(service.translate(texts, **(ASKED | more)))


def api_error(service, *texts, **more):
    with pytest.raises(APIError) as refused:
        ask(service, *texts, **more)
    return refused.value.status, refused.value.code


@pytest.fixture
def stub():
    return Stub()


@pytest.fixture
def service(stub):
    return Service({"stub": stub}, ServerSettings(characters=70, texts=3, beams=4, alternatives=2, new_tokens=20))


def test_over_a_limit_is_400_and_nothing_is_translated(service, stub):
    for texts, more, told in (
        ((), {}, "no_text"), (("a",) * 4, {}, "too_many_texts"), (("a" * 71,), {}, "text_too_long"),
        (("a",), {"prefix": "a" * 71}, "prefix_too_long"),
        (("a",), {"options": {"num_beams": 5}}, "num_beams_too_large"),
        (("a",), {"options": {"max_new_tokens": 2**15}}, "max_new_tokens_too_large"),
        (("a",), {"source": "fr", "target": "en"}, "unknown_language"),
    ):
        assert api_error(service, *texts, **more) == (400, told)
    assert not stub.seen


def test_a_request_that_would_fill_the_queue_is_refused_but_one_text_is_not():
    service = Service({"stub": Stub()}, ServerSettings(queue_tokens=10))
    assert api_error(service, "a" * 6, "b" * 5) == (400, "too_much_text")
    assert [one.text for one in ask(service, "a" * 11)] == ["A" * 11]
    assert len(ask(service, "a" * 5, "b" * 5)) == 2


def test_the_server_bounds_what_the_checkpoint_asks_for(service, stub):
    stub.defaults = GenerationDefaults({"num_beams": 50, "max_length": 10**9}, None)
    seen = []
    stub.prepare = lambda texts, _real=stub.prepare, **more: seen.append(more["options"]) or _real(texts, **more)
    ask(service, "a")
    ask(service, "a", options={"temperature": 1.0})
    ask(service, "a", options={"num_beams": 2, "max_new_tokens": 3})
    assert [(one.num_beams, one.max_new_tokens) for one in seen] == [(4, 20), (None, 20), (2, 3)]


def test_every_text_is_detected_for_itself(service):
    found = ask(service, ENGLISH, GERMAN, source="auto", target=None)
    assert [one.source_language for one in found] == ["en", "de"]
    assert [one.text for one in found] == [ENGLISH.upper(), GERMAN.upper()]


@pytest.mark.anyio
async def test_a_draw_that_takes_long_keeps_no_search_waiting(service, stub):
    draw = asyncio.create_task(service.translate(["hold"], options=DecodingOptions(temperature=1.0), **ASKED))
    while not stub.entered.is_set():
        await asyncio.sleep(0.001)
    [searched] = await asyncio.wait_for(service.translate(["a"], **ASKED), 60)
    assert searched.text == "A" and not draw.done()
    stub.gate.set()
    assert (await draw)[0].text == "HOLD"


@pytest.mark.anyio
async def test_looks_come_with_their_translations_and_are_bounded(stub, monkeypatch):
    monkeypatch.setattr("seq2see.serve.service.MOST_LOOKS", 2)
    service, gate = Service({"stub": stub}), threading.Event()
    stub.look = lambda results, **more: gate.wait(60) and [f"trace of {one.text}" for one in results]
    two = [asyncio.create_task(service.translate_and_look("a", **ASKED)) for _ in range(2)]
    await asyncio.sleep(0.05)
    with pytest.raises(APIError) as refused:
        await service.translate_and_look("a", **ASKED)
    assert refused.value.code == "queue_full"
    gate.set()
    for translation, traces in await asyncio.gather(*two):
        assert translation.text == "A" and traces == ["trace of A"]


TAGS = "a b, " * 96


@pytest.mark.anyio
@pytest.mark.parametrize("body", [
    {"text": TAGS, "evidence": True}, {"text": TAGS, "views": ["left_out"]},
    {"text": "a b, " * 180, "evidence": True},
    {"text": "a", "translation": TAGS, "evidence": True}, {"text": TAGS, "translation": "a", "views": ["left_out"]},
    {"text": "The cat did not cross.", "evidence": True},
])
async def test_what_looking_costs_is_bounded_before_it_begins(translator, monkeypatch, body):
    """By words times tokens: 480 characters took 95 s."""
    service, began = Service({"tiny": translator}, ServerSettings(look_tokens=20_000)), []
    monkeypatch.setattr(tracing, "forced_batches", lambda *_, **__: began.append(1) or iter(()))
    with pytest.raises(APIError) as refused:
        await look_reply(service, LookBody(target="fr", **body), CALLER)
    fits = body["text"].startswith("The")
    assert bool(began) == fits
    assert fits or (refused.value.status, refused.value.code) == (400, "text_too_long")
    service.close()


@pytest.mark.anyio
async def test_a_look_holds_up_neither_html_nor_samples(translator):
    service, gate, entered = Service({"tiny": translator}), threading.Event(), threading.Event()

    def work(translator):
        with translator.inside() as (model, _):
            entered.set()
            assert gate.wait(60)
            return forced_pass(model, [[5, 2]], [[4, 2]])[0].logits.shape

    long = asyncio.create_task(service.examine("a", work, caller=CALLER))
    while not entered.is_set():
        await asyncio.sleep(0.01)
    text = "The cat did not cross."
    html = await service.translate([f"<p>The <b>cat</b> {text}</p>"], format="html", **ASKED)
    sampled = await service.translate([text], options=DecodingOptions(temperature=1.0), **ASKED)
    assert html[0].text.startswith("<p>") and sampled[0].text and not long.done()
    gate.set()
    await long
    service.close()


async def cancelled_at_work(task, service, *, gate, entered):
    """Cancel a task whose thread has `entered` and waits for the gate, then let the threads end."""
    while not entered.is_set():
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    gate.set()
    service.close()
    for threads in (*service._preparing.values(), service._patient, service._looks._threads):
        threads.shutdown(wait=True)
    assert task.cancelled()


@pytest.mark.anyio
@pytest.mark.parametrize("html", [False, True])
async def test_work_stops_when_nobody_waits(translator, monkeypatch, html):
    """At its next pass: the rest never begin."""
    service, passes, gate, entered = Service({"tiny": translator}), [], threading.Event(), threading.Event()

    def look(*_, **__):
        for _ in range(10**4):
            pause()
            passes.append(1)
            entered.set()
            assert gate.wait(60)
        raise AssertionError("it went on")

    monkeypatch.setattr(translator, "look", look)
    asked = service.translate(["<p>The <b>cat</b> sat.</p>"], format="html", **ASKED) if html else service.examine(
        "a", lambda translator: look(), caller=CALLER)
    task = asyncio.create_task(asked)
    await cancelled_at_work(task, service, gate=gate, entered=entered)
    assert len(passes) == 1


@pytest.mark.anyio
async def test_work_on_texts_stops_when_nobody_waits(translator, monkeypatch):
    """At its next step: of a hundred texts of a file the rest are not prepared."""
    service, gate, entered, cuts = Service({"tiny": translator}), threading.Event(), threading.Event(), []

    def cut(text, **how):
        cuts.append(text)
        entered.set()
        assert gate.wait(60)
        return cut_sentences(text, **how)

    monkeypatch.setattr(segment_translator, "cut_sentences", cut)
    lines = "\n".join(f"The {{cat}} {number} did not cross.\n" for number in range(100))
    task = asyncio.create_task(service.translate_document("a.md", lines.encode(), caller=CALLER, source="en",
                                                          target="fr"))
    await cancelled_at_work(task, service, gate=gate, entered=entered)
    assert len(cuts) < 4


@pytest.mark.anyio
@pytest.mark.parametrize("html", [False, True])
async def test_a_long_text_keeps_no_short_one_waiting(translator, monkeypatch, html):
    """Nor the event loop, wherever it is prepared."""
    service, gate, entered = Service({"tiny": translator}), threading.Event(), threading.Event()
    prepare = translator.prepare

    def prepared(texts, **how):
        if len(texts[0]) > 1_000:
            entered.set()
            assert gate.wait(60)
        return prepare(texts, **how)

    monkeypatch.setattr(translator, "prepare", prepared)
    how = {"format": "html" if html else "text", **ASKED}
    long = asyncio.create_task(service.translate(["The cat. " * 200], **how))
    while not entered.is_set():
        await asyncio.sleep(0.01)
    for more in ({}, {"keep": "c.t"}, {"format": "html"}):
        [short] = await service.translate(["The cat did not cross."], **{**ASKED, **more})
        assert short.text and not long.done()
    gate.set()
    await long
    service.close()


@pytest.mark.anyio
async def test_batched_answers_equal_those_alone(folder):
    translator = Translator.from_pretrained(folder, engine="ctranslate2", precision="float32", threads=2)
    service = Service({"tiny": translator}, ServerSettings(wait_ms=300, texts_per_minute=0))
    texts = [f"The cat number {number} did not cross" + " the street" * (number % 5) for number in range(40)]
    together = await asyncio.gather(*(service.translate([text], **ASKED) for text in texts))
    assert [one.text for [one] in together] == [translator(text, source="en", target="fr").text for text in texts]
    calls, sources = (float(re.search(rb"seq2see_batch_sources_%s (\S+)" % name, service.metrics.text())[1])
                      for name in (b"count", b"sum"))
    assert sources >= 40 and calls <= sources / 4, "what lost a number is asked again, in batches too"


def test_html_has_the_time_of_a_look_for_the_first_one_loads_torch(stub):
    settings = ServerSettings(deadline_seconds=0.2, look_seconds=30.0)
    [result] = ask(Service({"stub": stub}, settings), "sleep 0.5", format="html")
    assert result.text == "SLEEP 0.5"
    assert api_error(Service({"stub": stub}, settings), "sleep 0.5") == (504, "deadline")


def test_elements_are_placed_by_a_thread_that_looks_and_not_by_the_event_loop(translator, monkeypatch):
    """To place them is to look inside the model: nobody else's request waits for it."""
    seen = []
    look = translator.look
    monkeypatch.setattr(translator, "look", lambda *given, **more: (
        seen.append(threading.current_thread().name), look(*given, **more))[1])
    page = "<p>The <b>cat</b> did not cross.</p>"
    [result] = ask(Service({"tiny": translator}), page, format="html")
    assert "seq2see-worker" in seen[0] and result.text == translator(page, format="html").text
    ask(Service({"tiny": translator}), "<p>The cat did not cross.</p>", format="html")
    assert seen[2:] == []


def test_the_first_visit_of_the_page_loads_the_model_to_look_inside():
    loaded = threading.Event()

    class Opened(Stub):
        @contextmanager
        def separate_copy(self):
            loaded.set()
            yield self

    client = TestClient(make_app(Service({"stub": Opened()})), base_url="http://localhost")
    assert client.head("/").status_code == client.get("/health").status_code == 200 and not loaded.wait(0.2)
    assert client.get("/").status_code == 200 and loaded.wait(60)
