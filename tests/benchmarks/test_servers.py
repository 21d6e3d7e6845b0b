"""The benchmarks of serving ask a server what they say they ask, and compare every response."""

import pytest
from serving import running

from seq2see import Translator


@pytest.fixture(scope="module")
def translator():
    pytest.importorskip("ctranslate2")
    return Translator.from_pretrained("storybook")


@pytest.fixture(scope="module")
def server(translator):
    with running({"storybook": lambda: translator}) as made:
        yield made


def test_records_of_clients_are_the_engine_s_translations(server, imported, translator):
    bench = imported("serving")
    texts = [f"The cat did not cross the street {number}." for number in range(40)]
    before = bench.batches(server.url)
    _, records = bench.ask(server.url, texts, clients=8, settings={"num_beams": 1})
    assert sorted(record[0] for record in records) == list(range(40))
    for number, status, seconds, translation, _ in records:
        assert (status, translation) == (200, translator(texts[number], num_beams=1).text) and seconds > 0
    sources, batches = (now - then for now, then in zip(bench.batches(server.url), before, strict=True))
    assert sources >= 40 and batches < sources, "texts share batches"
