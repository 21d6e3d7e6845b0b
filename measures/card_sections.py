"""The sections of a model card that show measurements."""

from pathlib import Path

from seq2see.atomic import atomic_write
from seq2see.manifest import refresh_manifest
from ..lens.heads import alignment_choice
from ..lens.records import calibration, roles, trust
from ..lens.records.intervals import Estimate
from ..lens.records.trust import MapTrust
from ..passes.attention_kinds import place_of
from .reliability import PICTURE, calibration_section, draw_reliability

SHOWN = ("README.md", PICTURE, alignment_choice.FILE, calibration.FILE, roles.FILE, trust.FILE)  # may be measured again

FAITHFULNESS = """\
This table shows how far each view of cross-attention can be read as an explanation. Each row has the best map of one
view. The best map was chosen on {chosen_on} sentences. The figures were measured on {sentences} other sentences of
{measured_on}.

- AER: the alignment error rate if each target word is linked to the source word with the largest share in its row (0 %
  is perfect).
- tau: Kendall's tau between two rankings of the source words: by the share in the row, and by how far the
  log-probability drops when the word is erased (1: same order; 0: no relation).
- Brackets: 95 % bootstrap intervals.
- supervised: the map is of a head, or includes a head, that was trained with word links.

| view | map | AER | tau |
| --- | --- | --- | --- |
{rows}
"""


def show_measurements(folder: Path) -> None:
    """Put the measurements that lie beside a model into its model card, and renew their checksums in its manifest."""
    if (folder / trust.FILE).is_file():
        _put_section(folder, "Faithfulness", faithfulness_section(trust.Trust.load(folder / trust.FILE)))
    if (folder / calibration.FILE).is_file():
        measured = calibration.Calibration.load(folder / calibration.FILE)
        draw_reliability(folder / PICTURE, measured.languages)
        _put_section(folder, "Calibration", calibration_section(measured))
    refresh_manifest(folder, SHOWN)


def _put_section(folder: Path, title: str, text: str) -> None:
    """Put `text` under the heading `title` of the folder's model card, if it has one: in place of the section of that
    name, or at the end."""
    card = folder / "README.md"
    if not card.is_file():
        return
    before, _, rest = card.read_text("utf-8").partition(f"\n## {title}\n")
    _, heading, after = rest.partition("\n## ")
    atomic_write(card, f"{before.rstrip()}\n\n## {title}\n{text.rstrip()}\n" + (f"{heading}{after}" if heading else ""))


def faithfulness_section(measured: trust.Trust) -> str:
    """The best map of every view and a random one."""
    named = [(one.view.replace("left_out", "erasure"), _place(one), one) for one in measured.best]
    rows = [f"| {view} | {place} | {_spelled(one.aer, '{:.1%}')} | {_spelled(one.tau, '{:.2f}')} |"
            for view, place, one in [*named, ("random", "", measured.random)]]
    return FAITHFULNESS.format(sentences=measured.sentences, measured_on=measured.measured_on,
                               chosen_on=measured.chosen_on, rows="\n".join(rows))


def _place(one: MapTrust) -> str:
    """The layer and head of a map, and whether it was trained to link words."""
    return ", ".join(place_of(one.map) + ["supervised"] * one.supervised)


def _spelled(figure: Estimate | None, form: str) -> str:
    return "{} [{}, {}]".format(*map(form.format, figure)) if figure else ""

