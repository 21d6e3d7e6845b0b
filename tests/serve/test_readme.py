"""The clients of the README, as it has them, against a live server; the rest of its Python is run by test_wheel.py."""

import re
from pathlib import Path

import pytest

ADDRESS = "http://localhost:8000"


def clients():
    readme = (Path(__file__).resolve().parent.parent.parent / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", readme, flags=re.MULTILINE | re.DOTALL)
    return [block for block in blocks if ADDRESS in block]


def test_there_are_clients():
    assert len(clients()) >= 3


@pytest.mark.parametrize("client", clients())
def test_a_client_of_the_readme_is_answered(live, translator, client, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.is_offline_mode", lambda: False)  # or its client would not ask
    *imports, last = client.replace(ADDRESS, live).strip().splitlines()
    space = {}
    exec("\n".join(imports), space)
    answer = eval(last, space)
    text = answer["translation"] if isinstance(answer, dict) else answer
    assert text == translator("The cat is tired.", target="fr").text
