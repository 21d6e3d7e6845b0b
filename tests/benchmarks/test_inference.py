"""The benchmark of translating: the peer writes as much as ours."""

import pytest
import tiny


@pytest.fixture(scope="module")
def bench(imported):
    return imported("inference")


@pytest.mark.few(1)
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


def test_the_share_of_our_own_work_is_one(bench):
    pytest.importorskip("ctranslate2")
    row = bench.own_share("storybook", ["The cat is tired."] * 50, 1, 1)
    assert row["ours"] < 100 and row["beams"] == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", ["opus-mt", "nllb"])
def test_shapes_write_as_much_as_their_peers(bench, tmp_path, shape):
    pytest.importorskip("ctranslate2")
    sizes = {"d_model": 16, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "encoder_layers": 1, "decoder_layers": 1}
    run = bench.make_shape(shape, tmp_path / shape, tiny.SENTENCES, **sizes)
    common = {"run": run, "threads": 1, "texts": tiny.SENTENCES[:3], "longest": 7}
    ours, peer = bench.Ours(engine="ctranslate2", **common), bench.Generate(**common)
    assert ours.translator.engine.name == "ctranslate2"
    assert all(len(one.hypotheses[0].token_ids) == 7 for one in ours.translator(common["texts"], max_new_tokens=7))
    written, decode = [], peer.tokenizer.batch_decode
    peer.tokenizer.batch_decode = lambda ids, **how: (written.extend(ids.tolist()), decode(ids, **how))[1]
    peer.translate(2)
    assert [len(row) - 1 for row in written] == [7] * 3
    assert all(one.all(beams=2) > 0 for one in (ours, peer, bench.Bare(**common))) and ours.peak() > 0
