"""The picture of a training: what is logged is drawn, nothing is written over, and it needs no display."""

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import matplotlib.figure
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from seq2see.training.curve import BLUE, GREEN, ORANGE, draw_curve

LOG = [
    *({"step": step, "loss": 7.0 / step**0.2, "learning_rate": 1e-3} for step in range(50, 2001, 50)),
    *({"step": step, "eval_loss": 5.0 / step**0.3, "eval_bleu": step / 60, "eval_chrf": 1.0}
      for step in range(500, 2001, 500)),
    {"step": 2000, "train_loss": 2.0, "train_runtime": 100.0},
]  # fmt: skip


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Draws a log; gives the figure, and leaves the picture at tmp_path / curve.png."""
    figures: list[matplotlib.figure.Figure] = []

    class Seen(matplotlib.figure.Figure):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            figures.append(self)

    monkeypatch.setattr(matplotlib.figure, "Figure", Seen)

    def draw(log, **settings):
        draw_curve(tmp_path / "curve.png", log, title="storybook: 0.92 M parameters, trained in 0:04:38", **settings)
        return figures[-1]

    return draw


def test_every_point_that_was_logged_is_on_the_picture(drawn):
    figure = drawn(LOG, label_smoothing=0.1, kept=1500)
    lines = {line.get_color(): line.get_xydata().tolist() for axis in figure.axes for line in axis.get_lines()}
    for colour, key in ((BLUE, "loss"), (ORANGE, "eval_loss"), (GREEN, "eval_bleu")):
        assert lines[colour] == [[row["step"], row[key]] for row in LOG if key in row]
    losses, bleu = figure.axes
    assert [axis.get_ylabel() for axis in (losses, bleu)] == ["loss per token (nats)", "validation BLEU"]
    assert bleu.get_xlabel() == "steps"
    legend = [text.get_text() for text in losses.get_legend().get_texts()]
    assert legend == ["training (labels smoothed by 0.1)", "validation", "weights kept (step 1,500)"]


@pytest.mark.parametrize("log", [LOG, LOG[:3], LOG[40:42], []], ids=["whole", "no evaluation", "no loss", "nothing"])
def test_no_text_lies_on_another_or_leaves_the_picture(drawn, tmp_path, log, recwarn):
    figure = drawn(log, label_smoothing=0.1, kept=1500 if len(log) > 3 else None)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = []
    for axis in figure.axes:
        legend = axis.get_legend()
        names = [axis.xaxis.label, axis.yaxis.label, axis._left_title, *(legend.get_texts() if legend else [])]
        for scale in (axis.xaxis, axis.yaxis):
            low, high = scale.get_view_interval()
            places = zip(scale.get_majorticklocs(), scale.get_ticklabels(), strict=False)  # none on a shared axis
            names += [text for place, text in places if low <= place <= high and text.get_visible()]
        for text in filter(lambda text: text.get_text(), names):
            texts.append((text.get_text(), box := text.get_window_extent(renderer)))
            assert (figure.bbox.min <= box.min).all() and (box.max <= figure.bbox.max).all(), text
    assert len(texts) > 8
    for (one, box), (other, other_box) in combinations(texts, 2):
        assert not box.overlaps(other_box), (one, other)
    with Image.open(tmp_path / "curve.png") as picture:
        assert picture.format == "PNG" and picture.width == 1200
    assert not recwarn.list


def test_drawing_needs_no_display_and_tells_nothing(tmp_path):
    """A machine without a screen or a font cache, whose user has set another backend and style."""
    (tmp_path / "matplotlibrc").write_text("backend: TkAgg\naxes.facecolor: black\n")
    code = (
        "from pathlib import Path; from seq2see.training.curve import draw_curve;"
        " draw_curve(Path('curve.png'), [dict(step=1, loss=2.0)], title='x')"
    )
    environment = {"MPLCONFIGDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with Image.open(tmp_path / "curve.png") as picture:
        colours = picture.convert("RGB").getcolors(1 << 20)
        assert max(colours)[1] == (255, 255, 255)
