"""The template of a Hub Space, as the Hub runs it: `python app.py` under a plain `launch()`."""

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

APP = Path(__file__).resolve().parents[2] / "docs" / "space" / "app.py"


@pytest.fixture
def url(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(APP)], cwd=tmp_path, stdout=subprocess.DEVNULL,
                               env=os.environ | {"GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"})
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait()


def test_it_translates_and_shows_the_page(url):
    end, page = time.monotonic() + 120, None
    while page is None:
        try:
            page = httpx.get(url, timeout=30)
        except httpx.TransportError:
            assert time.monotonic() < end, "nobody listens"
            time.sleep(0.1)
    assert page.status_code == 200 and re.search(r"\"title\":\s*\"Seq2See\"", page.text)
    answer = httpx.post(f"{url}/gradio_api/run/translate", json={"data": ["Where is the station?", "en", "fr", 1]},
                        timeout=60)
    assert answer.json()["data"][0]["target"] == "fr" and answer.json()["data"][0]["translation"]
