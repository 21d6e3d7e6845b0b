"""The server by Ray Serve, one front and two engines: the dialects' contract holds, and an engine may be lost."""

import asyncio
import os
import signal
import socket
import time

import httpx
import pytest
from replicas import REFUSALS

from seq2see.errors import UserError

ray = pytest.importorskip("ray", reason="the extra ray is not installed")

TEXT = "The cat did not cross."


@pytest.fixture(scope="module")
def cluster(folder):
    from ray import serve

    from seq2see.serve.ray_app import application

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    paths = os.environ.get("PYTHONPATH", "")
    ray.init(num_cpus=4, include_dashboard=False, configure_logging=False, object_store_memory=10**8,
             runtime_env={"env_vars": {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}})
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        serve.run(application({"models": str(folder), "engine": "torch", "least": "2", "most": "2"}))
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        ray.shutdown()


def engines():
    """The processes of the engines."""
    import psutil

    return [one.pid for one in psutil.Process().children(recursive=True)
            if one.status() != psutil.STATUS_ZOMBIE and "Engines" in "".join(one.cmdline())]


def test_each_dialect_answers(cluster, translator):
    expected = translator(TEXT, target="de").text
    asked = {"q": TEXT, "source": "en", "target": "de"}
    assert httpx.post(f"{cluster}/translate", data=asked).json() == {"translatedText": expected}
    body = {"inputs": [TEXT, " "], "parameters": {"tgt_lang": "de"}}
    assert httpx.post(cluster, json=body).json() == [{"translation_text": expected}, {"translation_text": ""}]
    looked = httpx.post(f"{cluster}/v1/look", json={"text": TEXT, "target": "de", "maps": ["cross"]}, timeout=120)
    [trace] = looked.json()["traces"]
    assert trace["target_text"] == expected and trace["maps"]["cross"]["raw"]["shape"]
    assert httpx.get(f"{cluster}/languages").json()[0]["targets"] == ["fr", "de"]
    assert httpx.get(f"{cluster}/readyz").text == "ready"
    assert "Seq2See" in httpx.get(f"{cluster}/ui/").text


@pytest.mark.parametrize(("path", "body", "status", "error"), REFUSALS)
def test_refusals_are_the_same(cluster, path, body, status, error):
    answer = httpx.post(cluster + path, json=body)
    assert answer.status_code == status and answer.json()["error"].startswith(error)


def test_an_engine_is_asked_what_a_word_rests_on(cluster, translator):
    """What the page asks is for `test_replicated.py`; here that Ray carries it."""
    asked = {"text": TEXT, "translation": translator(TEXT, target="de").text, "source": "en", "target": "de",
             "evidence": True, "maps": []}
    [trace] = httpx.post(f"{cluster}/v1/look", json=asked, timeout=120).json()["traces"]
    assert len(trace["evidence"]["margins"]) == len(trace["target_ids"])


def test_an_engine_is_lost_under_load(cluster, translator):
    """Each of many clients gets its own answer, or 503 with Retry-After; none waits for ever."""
    texts = ["The cat did not cross.", "The cat.", "The box."] * 2
    expected = {text: translator(text, target="de").text for text in texts}
    assert len(set(expected.values())) == 3
    before = engines()
    assert len(before) == 2

    async def one(client, text):
        answers = []
        for _ in range(20):
            answers.append(await client.post(f"{cluster}/v1/translate", json={"texts": [text], "target": "de"}))
        return text, answers

    async def main():
        async with httpx.AsyncClient(timeout=60) as client:
            work = [asyncio.create_task(one(client, text)) for text in texts]
            await asyncio.sleep(0.5)
            os.kill(before[0], signal.SIGKILL)
            return await asyncio.gather(*work)

    done = refused = 0
    for text, answers in asyncio.run(main()):
        for answer in answers:
            if answer.status_code == 200:
                done += 1
                assert answer.json()["translations"][0]["text"] == expected[text]
            else:
                refused += 1
                assert answer.status_code == 503 and answer.headers["retry-after"]
    assert done + refused == 120 and done > 100
    deadline = time.monotonic() + 120
    while len(set(engines())) < 2 or before[0] in engines():
        assert time.monotonic() < deadline, "the lost engine was not started anew"
        time.sleep(0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"expected models=RUN"),
        ({"models": "x", "leest": "2"}, r"expected models=RUN"),
        ({"models": "x", "least": "two"}, r"least, most and the delays must be numbers: .*'two'"),
        ({"models": "x", "upscale_delay_s": "5s"}, r"least, most and the delays must be numbers: .*'5s'"),
    ],
)
def test_wrong_arguments_are_one_line(arguments, message):
    from seq2see.serve.ray_app import application

    with pytest.raises(UserError, match=message):
        application(arguments)
