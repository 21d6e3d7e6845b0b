"""The server by Ray Serve, one front and two engines: it answers as any server, and an engine may be lost.

What else a front is asked is for `test_replicated.py`; here that Ray carries it.
"""

import os
import signal
import socket
import time

import httpx
import psutil
import pytest

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
    variables = {"PYTHONPATH": os.environ.get("PYTHONPATH", ""), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    ray.init(num_cpus=4, include_dashboard=False, configure_logging=False, object_store_memory=10**8,
             runtime_env={"env_vars": variables})
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        serve.run(application({"models": str(folder), "engine": "torch", "least": "2", "most": "2"}))
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        ray.shutdown()


def engines():
    """The processes of the engines."""
    return [one.pid for one in psutil.Process().children(recursive=True)
            if one.status() != psutil.STATUS_ZOMBIE and "Engines" in "".join(one.cmdline())]


def test_it_translates_looks_and_refuses(cluster, translator):
    expected = translator(TEXT, target="de").text
    sent = {"text": TEXT, "target": "de", "evidence": True, "maps": ["cross"]}
    [trace] = httpx.post(f"{cluster}/v1/look", json=sent, timeout=120).json()["traces"]
    assert trace["target_text"] == expected and len(trace["evidence"]["log_odds"]) == len(trace["words"]["target"])
    answer = httpx.post(f"{cluster}/translate", json={"q": TEXT, "source": "en", "target": "zz"}, timeout=60)
    assert answer.status_code == 400 and answer.json()["error"].startswith("this model does not translate to zz")
    assert "Seq2See" in httpx.get(f"{cluster}/ui/", timeout=60).text


def test_an_engine_is_lost_under_load(cluster, translator):
    """Each request gets its own answer, or 503 with Retry-After; none waits for ever."""
    expected = {text: translator(text, target="de").text for text in (TEXT, "The cat.", "The box.")}
    before, done = engines(), 0
    assert len(before) == 2
    for number in range(40):
        if number == 5:
            os.kill(before[0], signal.SIGKILL)
        for text, translation in expected.items():
            answer = httpx.post(f"{cluster}/v1/translate", json={"texts": [text], "target": "de"}, timeout=60)
            if answer.status_code == 200:
                assert answer.json()["translations"][0]["text"] == translation
                done += 1
            else:
                assert answer.status_code == 503 and answer.headers["retry-after"]
    assert done > 100
    deadline = time.monotonic() + 120
    while len(set(engines())) < 2 or before[0] in engines():
        assert time.monotonic() < deadline, "the lost engine was not started again"
        time.sleep(0.5)


@pytest.mark.parametrize("arguments", [{}, {"models": "x", "leest": "2"}, {"models": "x", "least": "two"}])
def test_wrong_arguments_are_one_line(arguments):
    from seq2see.serve.ray_app import application

    with pytest.raises(UserError, match="expected models=RUN|must be numbers"):
        application(arguments)
