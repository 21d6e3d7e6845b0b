"""The benchmark of translating, in miniature: every contender does its work, and the peer writes as much as ours."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def bench(imported: Callable[[str], Any]) -> Any:
    return imported("inference")


@pytest.mark.parametrize("beams", [1, 3])
def test_the_peer_ends_each_sentence_where_ours_did(bench: Any, tmp_path: Path, beams: int) -> None:
    pytest.importorskip("ctranslate2")
    tiny = importlib.import_module("tiny")
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    texts = [text[:cut] for text in tiny.SENTENCES[:3] for cut in (4, 30)]
    ours = bench.Ours(str(run), engine="ctranslate2", threads=1, texts=texts)
    lengths = [3, 7, 2, 9, 5, 4]  # this model, untrained, would end all of them alike
    assert len(ours.lengths(beams=beams)) == len(texts)
    peer = bench.Marian(bench.make_marian(str(run), tmp_path / "marian"), threads=1, texts=texts)
    assert peer.model.config.d_model == 16 and peer.model.config.vocab_size == len(ours.translator.tokenizer)
    peer.end_at(lengths)
    written: dict[str, int] = {}
    decode = peer.tokenizer.batch_decode

    def spy(ids: Any, **settings: Any) -> Any:
        for row in ids.tolist():
            written[len(written)] = row.index(2)  # the start comes first
        return decode(ids, **settings)

    peer.tokenizer.batch_decode = spy
    peer.translate(range(len(texts)), beams, 4)
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    assert [written[place] for place in range(len(texts))] == [lengths[index] for index in order]
    bare = bench.Bare(str(run), threads=1, texts=texts)
    for contender in (ours, bare):
        assert contender.all(beams=beams) > 0


def test_a_row_says_what_was_measured(bench: Any) -> None:
    row = bench.row("ready tokens", 2, 4, [2.0, 1.0, 4.0], [3.0, 3.0, 3.0], 60, 600)
    assert (row["ours"], row["peer"], row["ratio"], row["wanted"]) == (30.0, 20.0, 1.5, 0.95)
    assert row["ours_tokens_per_s"] == 300 and (row["threads"], row["beams"]) == (2, 4)
