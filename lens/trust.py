"""How far a view can be trusted, in numbers: measured once on held-out sentences, kept beside the checkpoint.

Two figures for every map of cross-attention, both by words, with 95 % intervals (bootstrap over sentences, variants of
one drawn together), beside those of random maps on the same sentences:

    AER   the alignment error of linking each target word to the source word with the largest share of its row, where
          the true links are known (`aer.py`); 0 is perfect
    tau   Kendall's tau-b between a row's shares and the erasure drops of the target word, the mean over target words;
          1 is the same order, 0 none.  A drop is the fall in log-probability when a source word is left out.  Drops
          below NOISE, of either sign, are left out: most are, and their order is chance.  left_out is the drops.

A view has many maps.  Which is best is chosen on other sentences than those that its figures are of.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from ..tokenizer.links import Links
from .aer import error_rate, resampled
from .alignment import MapName, all_map_names, falls_by_words, shares
from .fitting import check_links, tally
from .trace import Kind, Rows, Trace

# M maps, J target words, I source words, N sentences, P pairs of source words

FILE = "trust.json"  # beside the run it was measured on
RANDOM_MAPS = 10  # of each sentence
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


class Figure(NamedTuple):
    """A measure and its 95 % interval."""

    value: float
    low: float
    high: float


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
    sentences: int
    chosen_on: int
    random: MapTrust
    best: tuple[MapTrust, ...]
    maps: tuple[MapTrust, ...]
    weights: str = ""
    words: int = 0
    _by_key: dict[Key, MapTrust] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {(one.view, one.rows, one.map): one for one in self.maps})

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
        return {name: value for name, value in asdict(self).items() if not name.startswith("_")}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Trust":
        """What `to_plain` gave; ValueError, TypeError or KeyError for anything else.

        A record of before has no `words`: its taus are of all words, which is another measure, and are dropped.
        """
        plain = {"words": 0, **plain}
        lists = {name: tuple(_map_trust(one, words=plain["words"]) for one in plain[name]) for name in ("best", "maps")}
        if not (isinstance(plain["measured_on"], str) and isinstance(plain["sentences"], int)
                and isinstance(plain["words"], int)):
            raise ValueError("a field holds what it cannot")
        return cls(**{**plain, **lists, "random": _map_trust(plain["random"], words=plain["words"])})

    def save(self, path: str | Path) -> None:
        atomic_write(Path(path), json.dumps(self.to_plain(), ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Trust":
        """Read what `save` wrote; UserError for anything else."""
        try:
            return cls.from_plain(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"{path} holds no figures of trust: measure them anew, by seq2see align RUN --trust, or"
                            " remove it") from error  # fmt: skip


def _map_trust(plain: dict[str, Any], *, words: int) -> MapTrust:
    aer, tau = (None if plain[name] is None else Figure(*map(float, plain[name])) for name in ("aer", "tau"))
    if plain["rows"] not in get_args(Rows) or not isinstance(plain.get("supervised", False), bool):
        raise ValueError("a field holds what it cannot")
    return MapTrust(str(plain["view"]), plain["rows"], tuple(map(int, plain["map"])), aer, tau if words else None,
                    plain.get("supervised", False))


def measure_trust(
    dev: Iterable[Trace], test: Iterable[Trace], *, dev_gold: Sequence[Links] | None, test_gold: Sequence[Links] | None,
    measured_on: str, groups: Sequence[str] | None = None, weights: str = "", supervised: Collection[MapName] = (),
) -> Trust:
    """The figures of every map of cross-attention of all views that the traces hold, left_out among them.

    Everything is reported on `test`; on `dev` only each view's best map is chosen, by AER, without links by tau.
    `groups` names for each test sentence the one that it is a variant of: intervals are over these.
    `supervised` are the heads (layer, head) that were trained with gold links.  The traces are gone through once each,
    so they may be made one by one.  ValueError without sentences; UserError for links to words not there.
    """
    chosen, reported = Tallies(dev, dev_gold), Tallies(test, test_gold, groups)
    figures = {(one.view, one.rows, one.map): one for one in reported.figures(supervised)}
    best: dict[str, tuple[float, Key]] = {}
    for error, key in zip(chosen.errors().tolist(), chosen.keys, strict=True):
        best[key[0]] = min(best.get(key[0], (np.inf, key)), (error, key), key=lambda pair: pair[0])
    return Trust(
        measured_on=measured_on, sentences=len(reported.words), chosen_on=len(chosen.words), random=reported.chance(),
        best=tuple(figures[key] for _, key in best.values()), maps=tuple(figures.values()), weights=weights,
        words=int(reported.compared.sum()),
    )


class Tallies:
    """What is counted of each sentence, map by map, and last the mean of random maps."""

    def __init__(
        self, traces: Iterable[Trace], gold: Sequence[Links] | None, groups: Sequence[str] | None = None
    ):
        counts, taus, words = [], [], []  # of a sentence: its target words that can be compared, and with how many
        dice = np.random.default_rng(0)
        names: dict[tuple[str, Rows], list[MapName]] = {}
        for number, trace in enumerate(traces):
            names = names or all_map_names(trace)
            if gold is not None:
                check_links(gold[number], (trace.source_words, trace.target_words), f"sentence {number + 1}")
            maps_MJI = np.concatenate([shares(trace, view, rows, maps) for (view, rows), maps in names.items()])
            random_MJI = dice.exponential(size=(RANDOM_MAPS, *maps_MJI.shape[1:]))
            every_MJI = np.concatenate([maps_MJI, random_MJI])
            tau_MJ, compared_J = kendall(every_MJI, falls_by_words(trace), least=NOISE)
            taus.append(_chance_last(tau_MJ.sum(-1)))
            words.append([(compared_J > 0).sum(), compared_J.sum()])
            if gold is not None:
                counts.append(_chance_last(tally(every_MJI, gold[number], [("target", 0.0)])[:, 0]))
        if not words:
            raise ValueError("expected at least one sentence")
        self.keys: list[Key] = [(view, rows, name) for (view, rows), maps in names.items() for name in maps]
        self.counts = np.stack(counts, axis=1) if counts else None  # [M+1,N,4]
        self.taus = np.stack(taus, axis=1)  # [M+1,N]
        self.words, self.compared = np.array(words).T  # [N], [N]
        self.groups = groups

    def errors(self) -> np.ndarray:
        """What the best map has least of, [M]."""
        if self.counts is not None:
            return error_rate(self.counts.sum(1))[:-1]
        return -self.taus.sum(1)[:-1]

    def figures(self, supervised: Collection[MapName] = ()) -> list[MapTrust]:
        return [MapTrust(*key, self._aer(m), None if key[0] == "left_out" else self._tau(m), _holds(key, supervised))
                for m, key in enumerate(self.keys)]

    def chance(self) -> MapTrust:
        """The figures of random maps: weights drawn evenly from all that sum to 1."""
        return MapTrust("random", "predicts", (), self._aer(-1), self._tau(-1))

    def _aer(self, m: int) -> Figure | None:
        if self.counts is None:
            return None
        counts_N4 = self.counts[m]
        return _figure(error_rate(counts_N4.sum(0)), error_rate(resampled(len(counts_N4), self.groups) @ counts_N4))

    def _tau(self, m: int) -> Figure | None:
        if not self.words.any():
            return None
        drawn = resampled(len(self.words), self.groups)
        words = np.maximum(drawn @ self.words, 1)
        return _figure(self.taus[m].sum() / self.words.sum(), drawn @ self.taus[m] / words)


def _holds(key: Key, heads: Collection[MapName]) -> bool:
    """Whether a map is of one of these heads, or of a layer with one: itself or, of views through layers, one below."""
    view, _, name = key
    through = view in ("rollout", "contributions")
    return any(head[: len(name)] == name or (through and head[:1] < name) for head in heads if name)


def _figure(value: Any, drawn: np.ndarray) -> Figure:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Figure(round(float(value), 5), round(float(low), 5), round(float(high), 5))


def _chance_last(per_map: np.ndarray) -> np.ndarray:
    """The random maps, which stand last, made one by their mean."""
    return np.concatenate([per_map[:-RANDOM_MAPS], per_map[-RANDOM_MAPS:].mean(0, keepdims=True)])


def kendall(maps_MJI: np.ndarray, falls_JI: np.ndarray, *, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's tau-b of each row with the falls [M,J], and over how many columns it is taken [J].

    Columns whose fall is nearer to 0 than `least` are left out.  A row of equal weights says nothing and gets 0; equal
    falls, or fewer than two, can be compared with nothing: 0 columns.
    """
    tau_MJ, compared_J = np.zeros(maps_MJI.shape[:2]), np.zeros(len(falls_JI), dtype=int)
    for j, all_I in enumerate(falls_JI):  # of all target words at once the pairs would fill the memory
        kept = np.flatnonzero(abs(all_I) >= least)
        falls_I, (first, second) = all_I[kept], np.triu_indices(len(kept), 1)
        order_MP = np.sign(maps_MJI[:, j, kept[first]] - maps_MJI[:, j, kept[second]])
        order_P = np.sign(falls_I[first] - falls_I[second])
        scale_M = np.sqrt(np.abs(order_MP).sum(-1) * np.abs(order_P).sum())
        np.divide(order_MP @ order_P, scale_M, out=tau_MJ[:, j], where=scale_M > 0)
        compared_J[j] = len(kept) if order_P.any() else 0
    return tau_MJ, compared_J
