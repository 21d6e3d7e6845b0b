"""The picture of a training: what is logged is drawn, and it needs no display."""

import matplotlib.figure
from PIL import Image

from seq2see.training.curve import BLUE, GREEN, ORANGE, draw_curve

LOG = [
    *({"step": step, "loss": 7.0 / step**0.2, "learning_rate": 1e-3} for step in range(50, 2001, 50)),
    *({"step": step, "eval_loss": 5.0 / step**0.3, "eval_bleu": step / 60, "eval_chrf": 1.0}
      for step in range(500, 2001, 500)),
    {"step": 2000, "train_loss": 2.0, "train_runtime": 100.0},
]  # fmt: skip


def test_every_point_that_was_logged_is_on_the_picture(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "TkAgg")
    figures: list[matplotlib.figure.Figure] = []

    class Seen(matplotlib.figure.Figure):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            figures.append(self)

    monkeypatch.setattr(matplotlib.figure, "Figure", Seen)
    for log in (LOG[:3], [], LOG):  # no evaluation, nothing, all
        draw_curve(tmp_path / "curve.png", log, title="storybook", label_smoothing=0.1, kept=1500)
        with Image.open(tmp_path / "curve.png") as picture:
            assert picture.format == "PNG" and picture.width == 1200
    lines = {line.get_color(): line.get_xydata().tolist() for axis in figures[-1].axes for line in axis.get_lines()}
    for colour, key in ((BLUE, "loss"), (ORANGE, "eval_loss"), (GREEN, "eval_bleu")):
        assert lines[colour] == [[row["step"], row[key]] for row in LOG if key in row]
    legend = [text.get_text() for text in figures[-1].axes[0].get_legend().get_texts()]
    assert legend == ["training (labels smoothed by 0.1)", "validation", "weights kept (step 1,500)"]
