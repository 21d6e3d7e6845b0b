"""The templates of Hub Spaces: one as the Hub runs it, `python app.py` under a plain `launch()`, and a static one."""

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import yaml

from seq2see.cli.parser import build_parser

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


@pytest.mark.long
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


def test_the_static_one_names_the_page_that_its_command_writes():
    [about, text] = (APP.parent / "static" / "README.md").read_text("utf-8").split("---\n")[1:]
    about, [command] = yaml.safe_load(about), re.findall(r"^    seq2see (.*)$", text, re.MULTILINE)
    asked = build_parser().parse_args(command.split())
    assert about["sdk"] == "static" and (asked.format, asked.out) == ("web", about["app_file"])
