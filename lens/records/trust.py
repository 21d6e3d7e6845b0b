"""The faithfulness of each view in numbers: measured once on held-out sentences and stored beside the checkpoint.

There are two figures for every map of cross-attention, both by words, with 95 % intervals.  They are compared with
those of random maps on the same sentences:

    AER   the alignment error of linking each target word to the source word with the largest share of its row, where
          gold links are known (`intervals.py`); 0 is perfect
    tau   Kendall's tau-b between a row's shares and the erasure drops of the target word, averaged over target words;
          1 is the same order, 0 no relation.  A drop is the fall in log-probability when a source word is erased.
          Drops smaller than NOISE, of either sign, are ignored: most are that small, and their order is chance.  The
          view left_out shows the drops themselves.

A view has many maps.  The best one is chosen on different sentences from those it is reported on.
"""

from dataclasses import dataclass

from ...passes.attention_kinds import Kind, MapName, Rows, place_of
from .intervals import Estimate
from .plain_json import Count, Measurement

FILE = "trust.json"  # beside the run it was measured on
NOISE = 0.05  # nats; the order of smaller erasure drops is not compared
POOR = 0.2  # AER from which a map should not be read as an alignment
UNMEASURED = "the faithfulness of this view is not measured for this model: run seq2see measure"
UNMEASURABLE = "measured for cross-attention only: gold links and erasure do not apply to this kind of attention"

Key = tuple[str, Rows, MapName]  # view, row meaning, map


def _figures(aer: Estimate | None, tau: Estimate | None, aer_form: str, tau_form: str) -> str:
    figures = aer_form.format(*(100 * part for part in aer)) if aer else "", tau_form.format(*tau) if tau else ""
    return ", ".join(filter(None, figures)).replace("-0.00", "0.00")


@dataclass(frozen=True)
class MapTrust:
    """The figures of one map.

    - `aer`: None if no gold links are known.
    - `tau`: None for left_out, its reference, and if no words can be compared.
    - `supervised`: the map belongs to a head that was trained with gold links, or to a layer with such a head.
    - `deletion`, `insertion`: areas under the curves of `erasure_curves.py`, if measured.  Only the best map of a view
      and random maps have them.
    """

    view: str
    rows: Rows
    map: MapName
    aer: Estimate | None
    tau: Estimate | None
    supervised: bool = False
    deletion: Estimate | None = None
    insertion: Estimate | None = None

    def __str__(self) -> str:
        return self.describe()

    def describe(self, *, after_aer: str = "") -> str:
        """The figures with their intervals."""
        label = "" if not self.supervised else "supervised" if len(self.map) == 2 else "contains a supervised head"
        aer_form, tau_form = "AER {:.1f} % [{:.1f}, {:.1f}]" + after_aer, "tau {:.2f} [{:.2f}, {:.2f}]"
        figures = _figures(self.aer, self.tau, aer_form, tau_form)
        areas = [f"{name} " + "{:.2f} [{:.2f}, {:.2f}]".format(*area)
                 for name, area in (("deletion", self.deletion), ("insertion", self.insertion)) if area]
        return ", ".join(filter(None, (label, figures, *areas)))

    @property
    def key(self) -> Key:
        return self.view, self.rows, self.map

    @property
    def name(self) -> str:
        """The layer and head of the map."""
        return ", ".join([*place_of(self.map), f"rows {self.rows}"])


@dataclass(frozen=True)
class Trust(Measurement):
    """The faithfulness figures of every map of cross-attention, on `sentences` sentences of `measured_on`.

    - `words`: the number of source words that taus compare, counted once for each target word.  A source word is
      compared if erasing it changes the target word's log-probability by at least NOISE, and if there are two or more
      such words.
    - `best`: the best map of each view, chosen on `chosen_on` other sentences.
    - `weights`: the fingerprint of the measured weights; the figures are not valid for other weights.
    """

    measured_on: str
    sentences: Count
    chosen_on: Count
    random: MapTrust
    best: tuple[MapTrust, ...]
    maps: tuple[MapTrust, ...]
    weights: str = ""
    words: Count = 0

    indent, what, command = None, "record of faithfulness", "seq2see measure RUN"

    def of(self, view: str, rows: Rows, name: MapName) -> MapTrust | None:
        """The figures of one map; None if it was not measured."""
        found = next((one for one in self.maps if one.key == (view, rows, tuple(name))), None)
        return found if found and (found.aer or found.tau or view == "left_out") else None

    def line(self, view: str, kind: Kind, rows: Rows, name: MapName) -> str:
        """One line about a map: its figures, those of a random map, and those of the best map of its view."""
        if kind != "cross":
            return UNMEASURABLE
        found = self.of(view, rows, name)
        if found is None:
            return UNMEASURED
        best = next((one for one in self.best if one.view == view), found)
        other = "" if (best.rows, best.map) == (rows, found.map) else f" Best of view {view}: {best.name}: {best}."
        poor = " (no word alignment)" if found.aer and found.aer.value > POOR else ""
        supervised = " Supervised: this head was trained with gold links." if found.supervised else ""
        basis = f", tau over {self.words:,} words with a drop of at least {NOISE} nats" if found.tau else ""
        chance = _figures(found.aer and self.random.aer, found.tau and self.random.tau, "AER {:.1f} %", "tau {:.2f}")
        return (f"{found.describe(after_aer=poor)}; a random map: {chance}. By words, on"
                f" {self.sentences} sentences of {self.measured_on}{basis}.{supervised}{other}")
