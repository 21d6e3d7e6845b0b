"""How far a view can be trusted, in numbers: measured once on held-out sentences, kept beside the checkpoint.

Two figures for every map of cross-attention, both by words, with 95 % intervals (bootstrap over sentences, variants of
one drawn together), beside those of random maps on the same sentences:

    AER   the alignment error of linking each target word to the source word with the largest share of its row, where
          the true links are known (`intervals.py`); 0 is perfect
    tau   Kendall's tau-b between a row's shares and the erasure drops of the target word, the mean over target words;
          1 is the same order, 0 none.  A drop is the fall in log-probability when a source word is left out.  Drops
          below NOISE, of either sign, are left out: most are, and their order is chance.  left_out is the drops.

A view has many maps.  Which is best is chosen on other sentences than those that its figures are of.
"""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from .intervals import Figure
from .kinds import Kind, MapName, Rows
from .plain_json import Count, from_plain

FILE = "trust.json"  # beside the run it was measured on
NOISE = 0.05  # nats, below which the order of erasure drops is not compared
POOR = 0.2  # of AER, from which on a map is not to be read as an alignment
UNMEASURED = "how far to trust this is not measured for this model: seq2see align RUN --trust measures it"
UNMEASURABLE = (
    "measured for cross-attention alone: links, and words left out, tell which source word a step rests on, and nothing"
    " of this kind"
)

TERMS = (
    "AER: the error of linking each target word to the source word that its row has most on (0 %: none)."
    f" tau: Kendall's, between a row and the fall in log-probability when each source word is left out, over the words"
    f" whose fall or rise is at least {NOISE} nats (1: the same order). supervised: this head was trained with gold"
    " links. In brackets 95 % intervals."
)

Key = tuple[str, Rows, MapName]  # view, row meaning, map


@dataclass(frozen=True)
class MapTrust:
    """What was found of one map: `aer` is None where no links are known, `tau` of left_out, which tau compares with,
    and where no words could be compared.  `supervised`: the map is of a head that was trained with gold links, or
    of a layer that has one."""

    view: str
    rows: Rows
    map: MapName
    aer: Figure | None
    tau: Figure | None
    supervised: bool = False

    def __str__(self) -> str:
        return self.describe()

    def describe(self, *, after_aer: str = "") -> str:
        """The figures with their intervals."""
        taught = "" if not self.supervised else "supervised" if len(self.map) == 2 else "contains a supervised head"
        aer = "AER {:.1f} % [{:.1f}, {:.1f}]".format(*(100 * part for part in self.aer)) + after_aer if self.aer else ""
        tau = "tau {:.2f} [{:.2f}, {:.2f}]".format(*self.tau) if self.tau else ""
        return ", ".join(filter(None, (taught, aer, tau.replace("-0.00", "0.00"))))

    @property
    def key(self) -> Key:
        return self.view, self.rows, self.map

    @property
    def name(self) -> str:
        """Which map of the view it is."""
        parts = [f"{part} {number}" for part, number in zip(("layer", "head"), self.map, strict=False)]
        return ", ".join([*parts, f"rows {self.rows}"])


@dataclass(frozen=True)
class Trust:
    """The figures of every map of cross-attention, on so many `sentences` of `measured_on`.

    `words` counts the source words that taus compare, a word once for each target word: those whose erasure drop is at
    least NOISE, where there are two or more.  `best` holds of each view the map that was best on the `chosen_on` other
    sentences.  `weights` is the fingerprint of the weights that were measured: of others this says nothing.
    """

    measured_on: str
    sentences: Count
    chosen_on: Count
    random: MapTrust
    best: tuple[MapTrust, ...]
    maps: tuple[MapTrust, ...]
    weights: str = ""
    words: Count = 0

    @cached_property
    def _by_key(self) -> dict[Key, MapTrust]:
        return {one.key: one for one in self.maps}

    def of(self, view: str, rows: Rows, name: MapName) -> MapTrust | None:
        """The figures of one map; None where it was not measured."""
        found = self._by_key.get((view, rows, tuple(name)))
        return found if found and (found.aer or found.tau or view == "left_out") else None

    def line(self, view: str, kind: Kind, rows: Rows, name: MapName) -> str:
        """How far to trust one map, beside a random one and the best of its view, in one line."""
        if kind != "cross":
            return UNMEASURABLE
        found = self.of(view, rows, name)
        if found is None:
            return UNMEASURED
        best = next((one for one in self.best if one.view == view), found)
        other = "" if (best.rows, best.map) == (rows, found.map) else f" Best of view {view}: {best.name}: {best}."
        poor = " (no word alignment)" if found.aer and found.aer.value > POOR else ""
        taught = " Supervised: this head was trained with gold links." if found.supervised else ""
        over = f", tau over {self.words:,} words of at least {NOISE} nats" if found.tau else ""
        return (f"{found.describe(after_aer=poor)}; a random map: {self._chance(found)}. By words, on"
                f" {self.sentences} sentences of {self.measured_on}{over}.{taught}{other}")

    def _chance(self, found: MapTrust) -> str:
        """The same figures of a random map, in short."""
        aer = f"AER {100 * self.random.aer.value:.1f} %" if found.aer and self.random.aer else ""
        tau = f"tau {self.random.tau.value:.2f}".replace("-0.00", "0.00") if found.tau and self.random.tau else ""
        return ", ".join(filter(None, (aer, tau)))

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Trust":
        """What `to_plain` gave; ValueError, TypeError or KeyError for anything else.

        A record of before has no `words`: its taus are of all words, which is another measure, and are dropped.
        """
        if "words" not in plain:
            without_tau = {name: [one | {"tau": None} for one in plain[name]] for name in ("best", "maps")}
            plain = {**plain, **without_tau, "random": plain["random"] | {"tau": None}}
        found: Trust = from_plain(cls, plain)
        return found

    def save(self, path: str | Path) -> None:
        atomic_write(Path(path), json.dumps(self.to_plain(), ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Trust":
        """Read what `save` wrote; UserError for anything else."""
        try:
            return cls.from_plain(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"{path} holds no figures of trust: measure them again with seq2see align RUN --trust, or"
                            " remove it") from error  # fmt: skip
