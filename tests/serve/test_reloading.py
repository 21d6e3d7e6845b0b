"""Models are reloaded while a server goes on: nothing is lost, no answer mixes two models, and the old one goes."""

import asyncio
import gc
import os
import shutil
import threading
import time
import weakref
from dataclasses import replace

import httpx
import pytest
import serving
import tiny
from serving import Stub, running, translate

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.serve.access import Caller
from seq2see.serve.current_request import begin
from seq2see.serve.reloading import Reloading
from seq2see.serve.service import Service
from seq2see.translate.results import Translation

KEY = {"X-API-Key": "a-key-of-some-length"}
TEXTS = ["The cat did not cross.", "The box.", "The dog was tired. It did not fit.", "The cat."]


@pytest.fixture
def keys(monkeypatch):
    monkeypatch.setenv("SEQ2SEE_API_KEYS", "ann a-key-of-some-length,bob another-key-of-some")


def reload(client, **headers):
    return client.post("/v1/reload", headers=KEY | headers, timeout=60)


class Stubs:
    """A loader that gives another stub each time; `fails` says how the next one fails."""

    def __init__(self):
        self.made, self.fails = [], None

    def __call__(self):
        if self.fails:
            raise self.fails
        self.made.append(Stub())
        return self.made[-1]


def test_who_began_ends_with_the_old_model_and_who_begins_gets_the_new_one(keys, capsys):
    stubs = Stubs()
    with running({"stub": stubs}, may_reload=("ann",), wait_ms=0) as server, httpx.Client(
            base_url=server.url, headers=KEY, timeout=30) as client:
        capsys.readouterr()
        answers = []
        held = threading.Thread(target=lambda: answers.append(translate(client, "hold", "and more")))
        held.start()
        assert stubs.made[0].entered.wait(60)
        assert reload(client).json() == {"reloaded": ["stub"]}
        assert translate(client, "new").status_code == 200
        assert "new" in stubs.made[1].seen and "new" not in stubs.made[0].seen
        old = weakref.ref(stubs.made[0])
        stubs.made.pop(0).gate.set()
        held.join()
        assert [one["text"] for one in answers[0].json()["translations"]] == ["HOLD", "AND MORE"]
        until = time.monotonic() + 60
        while old() and time.monotonic() < until:
            time.sleep(0.01)
        assert old() is None, "nobody needs the old model"
        assert capsys.readouterr().err == "reloaded: stub\n"


def test_a_look_that_waits_is_of_the_model_that_translated(keys):
    """The queue of looks is longer than a reload."""
    class Looking(Stub):
        def look(self, results, **_):
            return [f"{id(self)}"]

    stubs = [Looking(), Looking()]
    left = iter(stubs)
    with running({"stub": lambda: next(left)}, may_reload=("ann",)) as server:
        service = server.service
        gate, began, on = threading.Event(), threading.Event(), server._loading.get_loop()

        async def look():
            begin("look")
            return await service.translate_and_look("a text", caller=Caller("ann", "somebody"), source="en",
                                                    target="fr")

        def hold():
            began.set()
            assert gate.wait(60)

        holding = asyncio.run_coroutine_threadsafe(service._looks.run("other", hold), on)
        assert began.wait(60)
        looking = asyncio.run_coroutine_threadsafe(look(), on)
        while len(service._looks._present) < 2:
            time.sleep(0.01)
        assert httpx.post(f"{server.url}/v1/reload", headers=KEY, timeout=30).status_code == 200
        gate.set()
        assert looking.result(60)[1] == [f"{id(stubs[0])}"]
        holding.result(60)


def test_a_request_sees_the_same_models_to_its_end():
    """In all that it calls, as `/v1/compare` does; what its context starts later sees those of the time."""
    service = Service({"stub": Stub()})
    first = service.models
    request = begin("one")
    assert service.models == first
    service.add("stub", Stub())
    assert service.models == first
    request.ended = True
    assert service.models != first
    begin("two")
    assert service.models["stub"] is not first["stub"]
    service.close()


@pytest.mark.parametrize(("fails", "reason"), [
    (UserError("the model in\nruns/x is damaged"), "the model in runs/x is damaged"),
    (RuntimeError("out of memory"), "RuntimeError: out of memory"), (serving.Panic("rust"), "Panic: rust"),
])
def test_a_model_that_cannot_be_loaded_leaves_the_old_one_and_one_line(keys, capsys, fails, reason):
    stubs = Stubs()
    with running({"bad": stubs, "good": Stubs()}, may_reload=("ann",)) as server, httpx.Client(
            base_url=server.url, headers=KEY) as client:
        capsys.readouterr()
        stubs.fails = fails
        answer = reload(client)
        assert (answer.status_code, answer.json()["code"]) == (500, "reload_failed")
        assert answer.json()["error"] == f"not reloaded; the old versions stay in use: bad: {reason}"
        assert capsys.readouterr().err == (
            f"bad was not reloaded; the old version stays in use: {reason}\nreloaded: good\n")
        assert translate(client, "a", model="bad").status_code == 200
        stubs.fails = None
        assert reload(client).json() == {"reloaded": ["bad", "good"]}


def test_only_a_key_that_the_setting_names_reloads(keys, monkeypatch):
    with running({"stub": Stubs()}, may_reload=("ann",)) as server, httpx.Client(base_url=server.url) as client:
        for key, status in ((KEY["X-API-Key"], 200), ("another-key-of-some", 403), ("a-wrong-key", 403), ("", 403)):
            assert client.post("/v1/reload", headers={"X-API-Key": key}).status_code == status
    monkeypatch.delenv("SEQ2SEE_API_KEYS")
    with running({"stub": Stubs()}) as server:  # a proxy on this machine would make everybody local
        assert httpx.post(f"{server.url}/v1/reload").json()["code"] == "may_not_reload"


@pytest.mark.anyio
async def test_many_calls_share_reloads():
    """The one that the first call began, and one for all that came after."""
    loads, began, gate = [], asyncio.Event(), asyncio.Event()

    async def load(name):
        loads.append(name)
        began.set()
        await gate.wait()
        return Stub()

    service = Service({"stub": Stub()})
    reload = Reloading(service, ["stub"], load)
    calls = [asyncio.create_task(reload())]
    await began.wait()
    calls += [asyncio.create_task(reload()) for _ in range(19)]
    await asyncio.sleep(0)  # now each has called
    gate.set()
    assert await asyncio.gather(*calls) == [{}] * 20
    assert loads == ["stub", "stub"]
    service.close()


# --- under load


async def attacked(url, texts, meanwhile):
    """The answers that 24 clients get, text by text, while `meanwhile(client)` runs."""
    ended, answers = asyncio.Event(), []
    async with httpx.AsyncClient(base_url=url, headers=KEY, timeout=60) as client:
        async def one(number):
            while not ended.is_set():
                text = texts[number % len(texts)]
                answers.append((text, await asked(client, text)))

        clients = [asyncio.create_task(one(number)) for number in range(24)]
        await meanwhile(client)
        ended.set()
        await asyncio.gather(*clients)
    return answers


async def asked(client, text):
    body = {"texts": [text], "max_new_tokens": 12, "source": "en", "target": "fr"}
    answer = await client.post("/v1/translate", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["translations"][0]["text"]


class Numbered(Stub):
    """A stub whose translations begin with its number, in both steps that a text may take."""

    count = 0

    def __init__(self):
        super().__init__(threads=2)
        Numbered.count += 1
        self.number = Numbered.count

    def _translations(self, texts, source, target, options):
        first = yield [(tuple(map(ord, text)), options) for text in texts]
        again = yield [(found[0].token_ids, options) for found in first]
        return [Translation.of(text, (replace(one[0], text=f"{self.number} {one[0].text}"),), source_language=source,
                               target_language=target, engine="stub", precision="none")
                for text, one in zip(texts, again, strict=True)]

    def translate(self, sources, options, *, wanted=None):
        time.sleep(0.002)
        return [(replace(serving.written(source), text=f"{self.number} {''.join(map(chr, source))}"),)
                for source in sources]


def test_under_load_every_request_is_answered_by_one_model(keys):
    """Both steps of a text, the batch that translates and what puts the text together are of one."""
    async def reload_three_times(client):
        for number in range(2, 5):
            await asyncio.sleep(0.1)
            assert (await client.post("/v1/reload")).status_code == 200
            assert (await asked(client, "a")).startswith(f"{number} {number} ")

    Numbered.count = 0
    with running({"stub": Numbered}, may_reload=("ann",), wait_ms=1) as server:
        answers = asyncio.run(attacked(server.url, ["one", "two"], reload_three_times))
    assert len(answers) >= 24 and all(found.split()[0] == found.split()[1] for _, found in answers)
    assert all(found.split()[2] == text for text, found in answers)
    assert {found.split()[0] for _, found in answers} == {"1", "2", "3", "4"}


def replace_files(run, by):
    """As a careful operator does: each file is renamed over the old one."""
    for path in by.iterdir():
        if path.is_file():
            shutil.copy(path, run / f".{path.name}")
            os.replace(run / f".{path.name}", run / path.name)


@pytest.mark.long
def test_under_load_three_reloads_lose_nothing_and_show_the_changed_model(keys, tmp_path, capsys):
    pytest.importorskip("ctranslate2")
    folders = [tiny.save(tmp_path / f"{seed}", *tiny.seq2see(seed=seed)) for seed in (0, 1)]
    expected = [{text: Translator.from_pretrained(one)(text, max_new_tokens=12).text for text in TEXTS}
                for one in folders]
    assert all(expected[0][text] != expected[1][text] for text in TEXTS)
    run = shutil.copytree(folders[0], tmp_path / "run")
    loaded = []

    def load():
        translator = Translator.from_pretrained(run)
        loaded.append(weakref.ref(translator))
        return translator

    async def replace_three_times(client):
        for which in (1, 0, 1):
            await asyncio.sleep(0.3)
            replace_files(run, folders[which])
            assert (await client.post("/v1/reload")).status_code == 200
            for text in TEXTS:
                assert await asked(client, text) == expected[which][text]

    with running({"run": load}, may_reload=("ann",)) as server:
        texts = asyncio.run(attacked(server.url, TEXTS, replace_three_times))
        assert len(texts) > 100 and all(found in (expected[0][text], expected[1][text]) for text, found in texts)
        assert {found == expected[0][text] for text, found in texts} == {True, False}
        assert httpx.post(f"{server.url}/v1/look", headers=KEY, json={"text": TEXTS[0]}, timeout=60).status_code == 200
        gc.collect()
        assert [one() is None for one in loaded] == [True] * 3 + [False], "the old ones are freed"
        shutil.rmtree(run)
        answer = httpx.post(f"{server.url}/v1/reload", headers=KEY, timeout=60)
        assert answer.status_code == 500 and "run: there is no folder" in answer.json()["error"]
        found = httpx.post(f"{server.url}/v1/translate", headers=KEY, json={"texts": TEXTS, "max_new_tokens": 12})
        assert [one["text"] for one in found.json()["translations"]] == [expected[1][text] for text in TEXTS]
