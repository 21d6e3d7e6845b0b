"""One map, chosen and named: its cells are the trace's, its words say what they are, and no other is drawn instead."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.image import imread
from matplotlib.text import Text

from seq2see.errors import UserError
from seq2see.lens import picture, save_plot, word_map
from seq2see.lens.data.view_names import ATTRIBUTIONS, OF_ATTENTION, VIEW, WITH_HEADS
from seq2see.lens.records.trust import UNMEASURED
from seq2see.lens.show.plot import draw
from seq2see.lens.show.terminal import to_terminal
from seq2see.passes.attention_kinds import KINDS

MAPS = [(kind, view) for kind in KINDS for view in OF_ATTENTION if view != "left_out"]


@pytest.mark.parametrize(("kind", "view"), MAPS)
@pytest.mark.parametrize("rows", ["predicts", "reads"])
def test_cells_are_those_of_the_trace_by_tokens_and_by_words(full_trace, kind, view, rows):
    rows = "predicts" if kind == "encoder" else rows
    chosen = {"layer": 1, "head": 1} if view in WITH_HEADS else {"layer": 1}
    drawn = picture(full_trace, view=view, kind=kind, rows=rows, **chosen)
    wanted = full_trace.maps(kind, view)[tuple(chosen.values())]
    seen = ~np.isnan(drawn.cells)
    np.testing.assert_array_equal(drawn.cells[seen], wanted[seen])
    assert seen.all() if kind != "decoder" else (seen == np.tril(np.ones_like(seen))).all()
    assert (len(drawn.rows), len(drawn.columns)) == drawn.cells.shape
    by_words = picture(full_trace, view=view, kind=kind, rows=rows, words=True, **chosen)
    wanted = word_map(full_trace, kind, view=view, rows=rows).maps[tuple(chosen.values())]
    seen = ~np.isnan(by_words.cells)
    np.testing.assert_allclose(by_words.cells[seen], wanted[seen], rtol=1e-6)
    assert not wanted[~seen].any()
    assert by_words.rows != drawn.rows and ("read" in by_words.row_meaning) == (rows == "reads")
    assert ("head 1 of 0-1" in drawn.title) == (view in WITH_HEADS) and f"view {view}" in drawn.title


@pytest.mark.parametrize("view", ATTRIBUTIONS)
@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_an_attribution_is_summed_on_both_axes_and_named_by_what_it_is_of(full_trace, kind, view):
    chosen = {"layer": 1} if VIEW[view].layers else {}
    wanted = full_trace.maps(kind, view)[tuple(chosen.values())]
    drawn, by_words = (picture(full_trace, view=view, kind=kind, words=words, **chosen) for words in (False, True))
    seen = ~np.isnan(drawn.cells)
    np.testing.assert_array_equal(drawn.cells[seen], wanted[seen])
    assert np.nansum(by_words.cells) == pytest.approx(wanted.sum(), rel=1e-4)
    assert len(by_words.rows) < len(drawn.rows) and "the sum over its tokens" in by_words.row_meaning
    assert "attention" not in drawn.title and ("layer 1 of 0-" in drawn.title) == VIEW[view].layers
    assert "looked" not in drawn.column_meaning and not drawn.sinks


@pytest.mark.parametrize(("chosen", "told"), [
    ({"view": "occlusion", "kind": "encoder"}, "view occlusion explains the translation and has no encoder map"),
    ({"view": "occlusion", "rows": "reads"}, "a row of occlusion reads no token"),
    ({"view": "integrated_gradients", "layer": 0}, "view integrated_gradients has neither layers nor heads"),
    ({"view": "gradient_x_activation", "head": 0}, "view gradient_x_activation has no heads"),
    ({"view": "rollout", "head": 0}, "view rollout has no heads"),
    ({"view": "left_out", "layer": 0}, "neither layers nor heads"),
    ({"view": "left_out", "kind": "encoder"}, "no encoder map"),
    ({"kind": "encoder", "rows": "reads"}, "a row of encoder reads no token"),
    ({"layer": 3}, "there is no layer 3 here: expected 0 to 2; the page counts from 1"),
    ({"head": -1}, "there is no head -1 here: expected 0 to 1"),
    ({"view": "other"}, "there is no view 'other'"),
])
def test_a_map_that_is_not_there_is_refused_in_one_line(full_trace, trace, tmp_path, chosen, told):
    for draw_it in (picture, to_terminal, lambda trace, **given: save_plot(trace, tmp_path / "x.png", **given)):
        with pytest.raises(UserError, match=told) as refused:
            draw_it(full_trace, **chosen)
        assert refused.value.exit_code == 2 and "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(UserError, match="look with views="):
        picture(trace, view="norm")
    with pytest.raises(UserError, match="columns for words, not tokens: use trace.left_out"):
        full_trace.maps("cross", "left_out")
    with pytest.raises(UserError, match="look with views="):
        trace.maps("cross", "left_out")


@pytest.mark.parametrize("chosen", [
    {"view": "raw", "layer": 1, "head": 1}, {"view": "norm", "kind": "decoder", "words": True}, {"view": "left_out"},
])
def test_a_picture_has_the_cells_their_names_and_their_scale(full_trace, chosen):
    drawn = picture(full_trace, **chosen)
    figure = draw(drawn, full_trace)
    axes, scale = figure.axes
    [mesh] = axes.collections
    np.testing.assert_array_equal(mesh.get_array().filled(np.nan).reshape(drawn.cells.shape), drawn.cells)
    assert axes.get_xlabel() == drawn.column_meaning and axes.get_ylabel() == drawn.row_meaning
    assert [text.get_text() for text in axes.get_yticklabels()] == [name[:24] for name in drawn.rows]
    assert len(axes.get_xticklabels()) == len(drawn.columns)
    assert scale.get_ylabel() == drawn.cell and len(scale.get_yticks()) > 2
    said = " ".join(text.get_text() for text in figure.findobj(Text)).replace("\n", " ")
    assert all(text in said for text in (drawn.title, UNMEASURED, drawn.sums, drawn.sinks, full_trace.target_text))
    if chosen["view"] == "raw":
        assert (mesh.norm.vmin, mesh.norm.vmax) == (0, 1), "shares stand on the whole range"
    else:
        assert mesh.norm.vmax == pytest.approx(np.nanmax(drawn.cells))


@pytest.mark.few(1)
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_file_is_light_and_knows_no_formula_whatever_the_style(full_trace, tmp_path, suffix):
    path, before = tmp_path / f"x{suffix}", dict(matplotlib.rcParams)
    odd = replace(full_trace, source_text=r"$\frac{$ & <b>", target_text="$x_1$")
    with matplotlib.rc_context({"figure.facecolor": "black", "text.usetex": False, "savefig.facecolor": "black"}):
        save_plot(odd, path)
    assert dict(matplotlib.rcParams) == before
    if suffix == ".png":
        assert imread(path)[0, 0].tolist() == [1, 1, 1, 1]
    else:
        text = path.read_text("utf-8")
        assert r"$\frac{$ &amp; &lt;b&gt;" in text and "$x_1$" in text and "Cross-attention, layer 2" in text
        assert "<b>" not in text and "<script" not in text


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_the_same_map_gives_the_same_bytes(full_trace, tmp_path, monkeypatch, suffix, start):
    for name, time in (("a", "1600000000"), ("b", "1700000000")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", time)  # matplotlib's date
        save_plot(full_trace, tmp_path / f"{name}{suffix}")
    one, two = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert one == two and one.startswith(start)


def test_a_map_too_large_to_read_and_another_suffix_are_refused(full_trace, tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"ends in \.png, \.svg, \.pdf"):
        save_plot(full_trace, tmp_path / "x.gif")
    monkeypatch.setattr("seq2see.lens.show.plot.CELLS_DRAWN", 10)
    with pytest.raises(UserError, match="is too large for a picture"):
        save_plot(full_trace, tmp_path / "x.png")
