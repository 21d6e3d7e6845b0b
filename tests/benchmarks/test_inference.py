"""The benchmarks of translating and of looking: contenders take turns, and the peer writes as much as ours."""


import pytest
import tiny


@pytest.fixture(scope="module")
def bench(imported):
    return imported("inference")


@pytest.mark.parametrize("beams", [1, 3])
def test_the_peer_ends_each_sentence_where_ours_did(bench, tmp_path, beams):
    pytest.importorskip("ctranslate2")
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
    written, decode = [], peer.tokenizer.batch_decode

    def spy(ids, **settings):
        written.extend(row.index(2) for row in ids.tolist())  # the start comes first
        return decode(ids, **settings)

    peer.tokenizer.batch_decode = spy
    peer.translate(range(len(texts)), beams, 4)
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    assert written == [lengths[index] for index in order]
    for contender in (ours, bench.Bare(str(run), threads=1, texts=texts)):
        assert contender.all(beams=beams) > 0


def test_every_second_round_is_in_reverse_and_the_first_does_not_count(bench):
    asked = []

    def seconds_of(name):
        asked.append(name)
        return float(len(asked))

    assert bench.in_turn(["a", "b"], 2, seconds_of) == {"a": [4.0, 5.0], "b": [3.0, 6.0]}
    assert "".join(asked) == "abbaab"
    row = bench.row("ready tokens", 2, 4, [2.0, 1.0, 4.0], [3.0, 3.0, 3.0], 60)
    assert (row["ours"], row["peer"], row["ratio"], row["wanted"]) == (30.0, 20.0, 1.5, 0.95)


def test_the_cost_of_a_trace_is_relative_to_its_translation(imported, monkeypatch):
    bench, calls, seconds = imported("look"), [], {"translate": 2.0, "raw": 1.0, "norm": 3.0}

    class Fake:
        def __call__(self, texts, *, num_beams):
            calls.append("translate")
            return "results"

        def look(self, results, *, views):
            assert results == "results"
            calls.append(views[0])

    for name in ("perf_counter", "process_time"):
        monkeypatch.setattr(f"time.{name}", lambda: sum(seconds[call] for call in calls))
    rows = bench.measure(Fake(), ["a", "b"], rounds=5, views=["raw", "norm"])
    assert calls == ["translate", "raw", "norm"] * 6
    assert [(row["ours"], row["peer"], row["ratio"]) for row in rows] == [(3.0, 2.0, 1.5), (5.0, 2.0, 2.5)]
