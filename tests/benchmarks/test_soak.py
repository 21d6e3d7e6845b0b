"""The benchmark of a server for half an hour, in miniature: each kind of request gets the status it should have."""

import asyncio
import importlib
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture(scope="module")
def serving(imported: Callable[[str], Any]) -> Any:
    return imported("serving")


@pytest.fixture(scope="module")
def bench(serving: Any, imported: Callable[[str], Any]) -> Any:
    return imported("soak")


def test_each_kind_of_request_is_answered_as_it_should_be(bench: Any, serving: Any, tmp_path: Path) -> None:
    tiny = importlib.import_module("tiny")
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    text, seen = tiny.SENTENCES[0], bench.Seen()

    async def ask_all(url: str) -> None:
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            for kind in bench.kinds(*await bench.languages(client)):
                await bench.one(client, kind, text, seen)

    with serving.server(Namespace(run=str(run)), "page=false") as (url, _):
        asyncio.run(ask_all(url))
    assert not seen.wrong
    [translation] = seen.answers["LibreTranslate", text]
    assert translation in seen.answers["own", text] and translation in seen.answers["Hugging Face", text]
    assert translation not in seen.answers["no such language", text]
