"""The benchmark of translating, in miniature: every contender does its work, and the peer writes as much as ours."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
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
    shape, theirs = ours.translator.model.config, peer.model.config
    for key in ("d_model", "vocab_size", "encoder_ffn_dim", "activation_function", "scale_embedding"):
        assert getattr(theirs, key) == getattr(shape, key), key
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


def test_the_peer_has_the_faster_attention(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, chosen, tried = [0.0], [], []
    peer = bench.Marian.__new__(bench.Marian)
    peer.texts = ["a", "b"]
    peer.model = SimpleNamespace(set_attn_implementation=chosen.append)

    def translate(indices: Any, beams: int, size: int) -> None:
        tried.append((chosen[-1], size))
        clock[0] += {"eager": 2.0, "sdpa": 3.0}[chosen[-1]] + (size == 32)

    peer.translate = translate
    monkeypatch.setattr(bench.time, "perf_counter", lambda: clock[0])
    assert peer.all(beams=4) == 2.0
    assert sorted(tried) == [("eager", 32), ("eager", 64), ("sdpa", 32), ("sdpa", 64)]
    assert peer.singles(count=100) == 2.0


def test_bare_uses_the_shortlist_as_ours_does(bench: Any, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    tiny = importlib.import_module("tiny")
    model, tokenizer = tiny.make("seq2see")
    run = tiny.save(tmp_path / "run", model, tokenizer)
    (run / "shortlist.json").write_text(json.dumps({"always": list(range(len(tokenizer))), "candidates": {}}))
    bare = bench.Bare(str(run), threads=1, texts=tiny.SENTENCES[:1])
    translate, told = bare.translator.translate_batch, []

    def spy(*sources: Any, **settings: Any) -> Any:
        told.append(settings["use_vmap"])
        return translate(*sources, **settings)

    bare.translator = SimpleNamespace(translate_batch=spy)
    assert bare.all(beams=1) > 0
    assert told == [True]


def test_every_second_round_is_in_reverse(bench: Any) -> None:
    asked: list[str] = []

    class Fake:
        def ask(self, *, what: str) -> float:
            asked.append(what)
            return float(len(asked))

    found = bench.take_turns({"a": Fake(), "b": Fake()}, {"a": {"what": "x"}, "b": {"what": "y"}}, rounds=2)
    assert asked == ["x", "y", "y", "x", "x", "y"]
    assert found == {"a": [4.0, 5.0], "b": [3.0, 6.0]}  # the first round warms up


def test_a_row_says_what_was_measured(bench: Any) -> None:
    row = bench.row("ready tokens", 2, 4, [2.0, 1.0, 4.0], [3.0, 3.0, 3.0], 60, 600)
    assert (row["ours"], row["peer"], row["ratio"], row["wanted"]) == (30.0, 20.0, 1.5, 0.95)
    assert row["ours_tokens_per_s"] == 300 and (row["threads"], row["beams"]) == (2, 4)
