"""A corpus traced to disk: the numbers of a trace and of other code, whenever it was stopped; mistakes in one line."""

import io
import math
import os
import signal
import sys
from itertools import islice

import numpy as np
import pyarrow.parquet as pq
import pytest
import tiny
import torch

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import VIEWS, Corpus, trace_corpus, trace_texts
from seq2see.lens.corpora import corpus_tracing, traced_corpus
from seq2see.lens.corpora.traced_corpus import KEEPS, OFFSETS
from seq2see.lens.records.roles import GoldPair

PAIRS = [("The cat did not cross the street.", "Le chat n'a pas traversé la rue."), ("The box.", "La boîte."),
         ("An owl lent 12 ladders, didn't it?", "Le sac était trop grand, fatigué."),
         ("It was too tired.", "Il était.")]
KINDS = ("encoder", "decoder", "cross")


@pytest.fixture
def small_parts(monkeypatch):
    for module in (traced_corpus, corpus_tracing):
        monkeypatch.setattr(module, "PART", 3)


@pytest.fixture(scope="module")
def translator():
    return Translator(*tiny.seq2see(), name="tiny")


@pytest.fixture(scope="module")
def storybook():
    return Translator.from_pretrained("storybook", engine="torch")


def attentions(model, source, target):
    """The attention [L,H,R,C] of each kind in float64, and the log-probabilities [T,V], by transformers alone."""
    model = model.double()
    try:
        model.set_attn_implementation("eager")
        start = torch.tensor([[model.generation_config.decoder_start_token_id, *target[:-1]]])
        with torch.no_grad():
            output = model(torch.tensor([source]), decoder_input_ids=start, output_attentions=True)
    finally:
        model.float()
    maps = {kind: torch.cat(list(output[f"{kind}_attentions"])).numpy() for kind in KINDS}
    return maps, output.logits[0].log_softmax(-1).numpy()


@pytest.mark.few(1)
def test_every_map_is_that_of_the_trace_of_its_line(any_model, tmp_path):
    translator, views = Translator(*any_model), list(VIEWS)
    pairs = PAIRS[1:3]  # of unlike length
    made = trace_corpus(translator, pairs, tmp_path / "out", keep=["maps"], views=views)
    traces = trace_texts(*any_model, *zip(*pairs, strict=True), views=views,
                         **dict(zip(("source_language", "target_language"), translator.pair(None, None), strict=True)))
    rows = list(made.rows())
    assert [row["line"] for row in rows] == [1, 2]
    for row, trace, (source, target) in zip(rows, traces, pairs, strict=True):
        assert (row["source"], row["target"], row["left_out"]) == (source, target, None)
        assert row["source_tokens"] == [token.text for token in trace.source]
        assert len(row["target_tokens"]) == len(trace.target) and row["given"] == trace.given
        assert row["log_prob"] == pytest.approx(trace.log_prob, abs=1e-4)
        for kind in KINDS:
            for view, array in getattr(trace, kind).items():
                assert row[f"{kind}.{view}"].dtype == np.float16
                np.testing.assert_allclose(row[f"{kind}.{view}"], array, atol=2e-3, rtol=2e-3)
        np.testing.assert_allclose(row["cross.left_out"], trace.left_out, atol=0.02, rtol=2e-3)


def test_the_figures_of_heads_are_those_of_other_code(storybook, tmp_path):
    """In float64, by loops; every word of these sentences is one token, so that roles are places."""
    pairs = [("The cat is tired.", "Le chat est fatigué."), ("The dog sees a house.", "Le chien voit une maison."),
             ("He has a key.", "Il a une clé.")]
    model, tokenizer = storybook.model, storybook.tokenizer
    rows = list(trace_corpus(storybook, pairs, tmp_path / "out", keep=KEEPS).rows())
    checked = 0
    for row, (source, target) in zip(rows, pairs, strict=True):
        ids = tokenizer.encode_target(target, language="fr")
        maps, log_probs_TV = attentions(model, tokenizer(source)["input_ids"], ids)
        assert row["log_probs"] == pytest.approx([log_probs_TV[t, one] for t, one in enumerate(ids)], abs=1e-4)
        assert row["entropies"] == pytest.approx([-sum(math.exp(one) * one for one in step) for step in log_probs_TV],
                                                 abs=1e-4)
        assert row["log_prob"] == pytest.approx(sum(log_probs_TV[t, one] for t, one in enumerate(ids) if t), abs=1e-4)
        whole = [len(row["source_tokens"]) == len(source.split()) + 2, len(ids) == len(target.split()) + 3]
        for kind in KINDS:
            for (layer, head) in np.ndindex(maps[kind].shape[:2]):
                weights = maps[kind][layer, head]
                R, C = weights.shape
                expected = -sum(weight * math.log(weight) for weight in weights.ravel() if weight > 0) / R
                assert row[f"{kind}.entropy"][layer, head] == pytest.approx(expected, abs=1e-5)
                end = 0 if kind == "decoder" else weights[:, -1].mean()
                tags = weights[:, :2].mean(0).sum() if kind == "decoder" else 0
                stop = weights[:, -1 if kind == "decoder" else -2].mean()
                assert row[f"{kind}.sinks"][layer, head] == pytest.approx([end, tags, stop], abs=1e-5)
                shares = dict.fromkeys(OFFSETS, 0.0)
                for r, c in np.ndindex(R, C):
                    own = round(r * (C - 1) / (R - 1)) if kind == "cross" else r
                    name = "below -8" if c - own < -8 else "above 8" if c - own > 8 else str(c - own)
                    shares[name] += weights[r, c] / R
                assert row[f"{kind}.offsets"][layer, head] == pytest.approx(list(shares.values()), abs=1e-5)
                if kind == "encoder" and whole[0] or kind == "decoder" and whole[1]:
                    previous = [weights[r, r - 1] for r in range(1, R)]
                    assert row[f"{kind}.role.previous"][layer, head] == pytest.approx(np.mean(previous), abs=1e-5)
                    even = np.mean([1 / (C if kind == "encoder" else r + 1) for r in range(1, R)])
                    assert row[f"{kind}.even.previous"] == pytest.approx(even, abs=1e-6)
                    checked += 1
    assert checked > 20


def test_the_summary_has_means_and_bootstrap_intervals_over_groups(translator, tmp_path):
    gold = [GoldPair(*pair, group=group) for pair, group in zip(PAIRS * 3, "aabbccddeeff", strict=True)]
    made = trace_corpus(translator, gold, tmp_path / "out", keep=["entropy", "sinks", "offsets", "roles"])
    table, rows = made.summary(), list(made.rows())
    times = np.random.default_rng(0).multinomial(6, [1 / 6] * 6, size=1000)
    for kind, layer, head, measure, column, place in (
        ("encoder", 1, 0, "entropy", "encoder.entropy", ()), ("cross", 2, 1, "sink end", "cross.sinks", (0,)),
        ("decoder", 0, 1, "offset -1", "decoder.offsets", (8,)),
        ("cross", 0, 0, "role diagonal", "cross.role.diagonal", ()),
    ):
        [found] = table[(table.kind == kind) & (table.layer == layer) & (table["head"] == head)
                        & (table.measure == measure)].to_dict("records")
        values = np.array([row[column][(layer, head, *place)] for row in rows], dtype=float)
        drawn = [sum(values[2 * g] * n + values[2 * g + 1] * n for g, n in enumerate(draw)) / 12 for draw in times]
        assert found["value"] == pytest.approx(values.mean()) and found["lines"] == 12
        assert [found["low"], found["high"]] == pytest.approx([*np.quantile(drawn, [0.025, 0.975])])
        assert found["low"] < found["value"] < found["high"]
        assert math.isnan(found["even"]) == (not measure.startswith(("role", "entropy")))
        if measure == "entropy":
            assert 0 < found["value"] <= found["even"] + 1e-5 and found["even_low"] <= found["even"]
    heads = table[(table.kind == "cross") & (table.measure == "entropy")]
    assert list(zip(heads.layer, heads["head"], strict=True)) == [(a, b) for a in range(3) for b in range(2)]
    offsets = table[table.measure.str.startswith("offset")].groupby(["kind", "layer", "head"]).value.sum()
    assert offsets.to_numpy() == pytest.approx(1, abs=1e-5), "the mean map by relative position is of whole rows"


def test_annotation_gives_more_roles(translator, tmp_path):
    links = tuple((i, i) for i in range(3))
    made = trace_corpus(translator, [GoldPair(*PAIRS[1], links=links), PAIRS[0]], tmp_path / "out", keep=["roles"])
    first, second = made.rows(["cross.role.alignment", "cross.even.alignment", "cross.role.diagonal"])
    assert first["cross.role.alignment"].shape == (3, 2) and 0 < first["cross.even.alignment"] < 1
    assert second["cross.role.alignment"] is None and second["cross.even.alignment"] is None
    assert second["cross.role.diagonal"] is not None
    roles = set(made.summary().query("kind == 'cross'").measure)
    assert "role alignment" in roles and "role antecedent" not in roles, "no line says what that is"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stopped(pairs, after):
    yield from islice(pairs, after)
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def whole(translator, tmp_path_factory):
    """What tracing without a stop gives, in parts of three lines."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (traced_corpus, corpus_tracing):
            patch.setattr(module, "PART", 3)
        return trace_corpus(translator, PAIRS * 3, tmp_path_factory.mktemp("whole") / "out", keep=KEEPS)


@pytest.mark.few(1)
@pytest.mark.parametrize("after", [0, 3, 8, *(pytest.param(after, marks=pytest.mark.long) for after in (2, 7, 11))])
def test_stopped_and_started_again_it_goes_on_and_the_result_is_the_same(translator, whole, tmp_path, small_parts,
                                                                          after, monkeypatch):
    pairs = PAIRS * 3
    with pytest.raises(KeyboardInterrupt):
        trace_corpus(translator, stopped(pairs, after), tmp_path / "again", keep=KEEPS)
    begun = Corpus.load(tmp_path / "again")
    assert len(begun) == after // 3 * 3 and not list((tmp_path / "again").glob(".*"))
    (tmp_path / "again" / f".part-{after // 3:05}.parquet").write_bytes(b"PAR1 what a kill leaves")
    traced, real = [], corpus_tracing.trace_hypotheses
    monkeypatch.setattr(corpus_tracing, "trace_hypotheses", lambda *args, **named: traced.extend(args[2]) or real(
        *args, **named))
    again = trace_corpus(translator, iter(pairs), tmp_path / "again", keep=KEEPS)
    assert traced == [source for source, _ in pairs[after // 3 * 3:]], "what was there is not traced again"
    assert contents(again.folder) == contents(whole.folder)
    assert len(whole) == 12 and [row["line"] for row in whole.rows(["line"])] == list(range(1, 13))
    for more in (2, 3):  # a part that was short is made again
        longer = trace_corpus(translator, [*pairs, *PAIRS[:more]], tmp_path / "again", keep=KEEPS)
        assert [row["line"] for row in longer.rows(["line"])] == list(range(1, 13 + more))


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_killed_and_started_again_it_goes_on(translator, tmp_path, small_parts):
    def pairs():
        yield from (PAIRS * 3)[:7]
        os.kill(os.getpid(), signal.SIGKILL)

    if not (process := os.fork()):
        try:
            trace_corpus(translator, pairs(), tmp_path / "killed")
        finally:
            os._exit(1)
    _, status = os.waitpid(process, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL and len(Corpus.load(tmp_path / "killed")) == 6
    killed = trace_corpus(translator, PAIRS * 3, tmp_path / "killed")
    assert contents(killed.folder) == contents(trace_corpus(translator, PAIRS * 3, tmp_path / "whole").folder)


def test_pairs_are_read_and_written_part_by_part(translator, tmp_path, small_parts):
    """Memory holds one part's texts and one batch's maps."""
    def pairs():
        for number, pair in enumerate(PAIRS * 5):
            assert len(list((tmp_path / "out").glob("part-*"))) == number // 3
            yield pair

    made = trace_corpus(translator, pairs(), tmp_path / "out", keep=["maps"])
    assert len(made.parts) == 7 and len(list(made.tables(["line"]))) >= 7
    assert sum(pq.read_metadata(part).num_rows for part in made.parts) == 20


def test_a_line_that_cannot_be_traced_is_named_by_number_and_the_rest_goes_on(translator, tmp_path, capsys):
    long = "cat " * 80
    pairs = [PAIRS[0], (long, "Le chat."), ("  ", "Le chat."), ("The cat.", long), ("", ""), PAIRS[1]]
    made = trace_corpus(translator, pairs, tmp_path / "out", keep=KEEPS)
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" skipped: ")[0] for line in said] == ["line 2", "line 3", "line 4", "line 5"]
    assert "source has" in said[0] and "the model takes 64" in said[0] and "target has" in said[2]
    assert [line.partition(": ")[2] for line in said] == list(made.left_out.values())
    assert list(made.left_out) == [2, 3, 4, 5] and made.left_out[3] == "source blank"
    alone = list(trace_corpus(translator, [PAIRS[0], PAIRS[1]], tmp_path / "alone", keep=KEEPS).rows())
    for row, other in zip([row for row in made.rows() if not row["left_out"]], alone, strict=True):
        np.testing.assert_allclose(row["cross.raw"], other["cross.raw"], atol=1e-3)
        np.testing.assert_allclose(row["decoder.entropy"], other["decoder.entropy"], atol=1e-5)
    assert set(made.summary().query("measure == 'entropy'").lines) == {2}


def test_a_corpus_of_which_nothing_can_be_traced_is_empty(translator, tmp_path):
    made = trace_corpus(translator, [("", "")], tmp_path / "out")
    assert (made.shapes, list(made.left_out), len(made.summary())) == ({}, [1], 0)
    assert len(made.to_pandas()) == 1 and len(trace_corpus(translator, [], tmp_path / "none").to_pandas()) == 0


def test_frames_have_arrays_in_their_shape(translator, tmp_path):
    made = trace_corpus(translator, PAIRS, tmp_path / "out", keep=["maps", "entropy"])
    frame = made.to_pandas(["source", "cross.raw", "encoder.entropy"])
    assert list(frame.columns) == ["source", "cross.raw", "encoder.entropy"] and list(frame.index) == [1, 2, 3, 4]
    whole = made.to_pandas()
    assert list(whole.columns) == [*made.columns][1:]
    for number, row in whole.iterrows():
        assert frame["cross.raw"][number].shape == (3, 2, len(row["target_tokens"]), len(row["source_tokens"]))
        np.testing.assert_allclose(frame["cross.raw"][number].sum(-1, dtype=float), 1, atol=5e-3)
    with pytest.raises(UserError, match=r"has no column 'cross\.sinks': it has line, source"):
        made.to_pandas(["cross.sinks"])


def test_xarray_has_heads_by_line(translator, tmp_path):
    pairs = [PAIRS[0], ("", ""), PAIRS[1]]
    made = trace_corpus(translator, pairs, tmp_path / "out", keep=["maps", "entropy", "sinks", "offsets", "roles"])
    data = made.to_xarray()
    assert data["cross.sinks"].dims == ("line", "cross_layer", "cross_head", "sink")
    assert data["decoder.offsets"].shape == (3, 3, 2, len(OFFSETS)) and data["encoder.role.previous"].shape == (3, 2, 2)
    assert bool(data["cross.entropy"].sel(line=2).isnull().all()) and "cross.role.antecedent" not in data
    row = next(made.rows(["decoder.offsets"]))
    np.testing.assert_array_equal(data["decoder.offsets"].sel(line=1, offset="-1"), row["decoder.offsets"][..., 8])


def test_without_xarray_one_line_says_so(translator, tmp_path, monkeypatch):
    monkeypatch.setattr(traced_corpus, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^xarray is not installed: pip install xarray, or take to_pandas\(\)$"):
        trace_corpus(translator, PAIRS, tmp_path / "out").to_xarray()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_has_the_time_left_on_a_terminal_alone(translator, tmp_path, monkeypatch, capsys, small_parts):
    trace_corpus(translator, PAIRS * 2, tmp_path / "quiet")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with pytest.raises(KeyboardInterrupt):
        trace_corpus(translator, stopped(PAIRS * 2, 4), tmp_path / "out")
    trace_corpus(translator, PAIRS * 2, tmp_path / "out")
    shown = terminal.getvalue().split("Tracing")
    assert any("3/8 [00:00<?" in one for one in shown), "it begins after what is there"
    assert any("<" in one and "/8" in one and " pairs/s" in one for one in shown)


@pytest.mark.few(6)
@pytest.mark.parametrize(("arguments", "said"), [
    ({"keep": ["map"]}, r"keep=\['map'\]: expected a list of maps, steps, entropy, sinks, offsets, roles"),
    ({"keep": "maps"}, r"keep='maps': expected a list"),
    ({"views": ["norm"]}, r"views=\['norm'\] need maps: keep=\['maps', ...\]"),
    ({"views": ["heat"]}, "there is no view 'heat'"),
    ({"views": "norm"}, r"expected a list of names, such as views=\[\"norm\"\]"),
    ({"target": "xx"}, "this model does not translate to xx"),
    ({"pairs": ["The cat."]}, "line 1: expected a source and its translation, or a GoldPair, got 'The cat.'"),
    ({"pairs": [PAIRS[0], ("The cat.",)]}, "line 2: expected a source and its translation"),
    ({"pairs": [PAIRS[0], ("The cat.", None)]}, "line 2: expected a source and its translation"),
    ({"out": "file"}, "exists, and is no folder of traces: choose a new folder"),
    ({"out": "other"}, "exists, and is no folder of traces: choose a new folder"),
    ({"out": "done", "keep": ["maps"]}, r"has traces with another keep \(\['steps'"),
    ({"out": "done", "target": "de"}, r"has traces with another target \(fr, not de\): choose a new folder"),
    ({"out": "done", "pairs": PAIRS[::-1]}, "has traces of other pairs than lines 1 to 3: choose a new folder"),
    ({"out": "done", "pairs": PAIRS[:2]}, "has traces of other pairs than lines 1 to 2: choose a new folder"),
    ({"out": "done", "pairs": PAIRS[:3]}, "has traces of more pairs than these: choose a new folder"),
])
def test_a_mistake_is_one_line_and_nothing_is_lost(translator, tmp_path, small_parts, arguments, said):
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    before = contents(trace_corpus(translator, PAIRS, tmp_path / "done").folder)
    arguments = {"pairs": PAIRS, "out": "new"} | arguments
    with pytest.raises(UserError, match=said) as raised:
        trace_corpus(translator, arguments.pop("pairs"), tmp_path / arguments.pop("out"), **arguments)
    assert "\n" not in str(raised.value) and contents(tmp_path / "done") == before


def test_other_weights_are_another_corpus(tmp_path):
    trace_corpus(Translator(*tiny.seq2see(), name="tiny"), PAIRS, tmp_path / "out")
    with pytest.raises(UserError, match="has traces with another weights"):
        trace_corpus(Translator(*tiny.seq2see(seed=1), name="tiny"), PAIRS, tmp_path / "out")


@pytest.mark.parametrize("text", [None, "{", "[1]", "{}"])
def test_what_is_no_corpus_is_said_in_one_line(tmp_path, text):
    if text:
        (tmp_path / "corpus.json").write_text(text)
    with pytest.raises(UserError, match=r"holds no traces of a corpus"):
        Corpus.load(tmp_path)


def test_many_groups_are_drawn_in_blocks(monkeypatch):
    """The interval of a mean stays what it was, within what a bootstrap varies."""
    from seq2see.lens.records import intervals as bootstrap

    values = np.random.default_rng(1).normal(size=(3000, 2))
    groups = np.arange(3000).astype(str)
    whole = bootstrap.intervals(values, groups)
    assert whole[:, 0] == pytest.approx(bootstrap.Estimate.of(values[:, 0], groups)[1:])
    monkeypatch.setattr(bootstrap, "BLOCKS", 500)
    blocks = bootstrap.intervals(values, groups)
    assert blocks[1] - blocks[0] == pytest.approx(whole[1] - whole[0], rel=0.15)
