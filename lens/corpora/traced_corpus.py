"""`Corpus`: the traces of a whole corpus on disk, as `trace_corpus` writes them, and their statistics by head.

A folder holds `corpus.json`, which records what was traced and how, and Parquet files of PART pairs each.  A line of
the corpus is a row, in order.  Its columns:

    line, source, target, group    the pair, its number from 1, and the sentence that it is a variant of
    left_out                       why it was not traced; then all that follows is null
    source_tokens, target_tokens   S and T tokens; `given` of the T were forced, such as a language tag
    log_prob                       of the translation, in nats, as `Trace.log_prob`
    log_probs, entropies           steps: [T], in nats
    KIND.VIEW                      maps: the maps of a view as `Trace` has them, in float16; cross.left_out is [T,W]
    KIND.entropy                   entropy: of the rows of each head, averaged, in nats [L,H]
    KIND.sinks                     sinks: the share of each head on SINKS [L,H,3]
    KIND.offsets                   offsets: the mean map by relative position, OFFSETS [L,H,O]
    KIND.role.ROLE, KIND.even.ROLE roles: the share of each head on the cells of a role [L,H], and of even weights

The last four are of the raw attention weights.  Arrays are flat in Parquet, rows first; `rows` and `to_pandas` restore
their shape.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seq2see.errors import UserError
from ...passes.attention_kinds import KINDS, Kind
from ..data.summary import SINKS
from ..data.view_names import ATTRIBUTIONS, VIEW, VIEWS
from ..records.intervals import intervals
from ..records.roles import ROLES

if TYPE_CHECKING:
    import pandas
    import xarray

# N lines, L layers, H heads, S source tokens, T decoder steps, W source words, O relative positions

Keep = Literal["maps", "steps", "entropy", "sinks", "offsets", "roles"]
KEEPS: tuple[Keep, ...] = get_args(Keep)
PART = 250  # lines of a file: so many are traced again at most after a kill
REACH = 8  # relative positions with a column of their own, on either side
OFFSETS = (f"below {-REACH}", *map(str, range(-REACH, REACH + 1)), f"above {REACH}")
RECORD = "corpus.json"
ALWAYS = ("line", "source", "target", "group", "left_out", "source_tokens", "target_tokens", "given", "log_prob")
Shapes = dict[str, list[int]]  # the layers and heads of each kind


@dataclass(frozen=True)
class Corpus:
    """The traces of a corpus in a folder, as `trace_corpus` writes them; columns are read on demand.

    `settings` has the model and the CRC-32 of its `weights`, the languages, `keep` and `views`.
    """

    folder: Path
    settings: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> "Corpus":
        """Open a folder that `trace_corpus` wrote, even if the run was interrupted.

        Raises UserError for any other folder.
        """
        folder = Path(folder)
        try:
            settings = json.loads((folder / RECORD).read_text("utf-8"))
            column_types(settings["keep"], settings["views"])
            return cls(folder, settings)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(f"{folder} holds no traces of a corpus ({RECORD} cannot be read): make them with"
                            " lens.trace_corpus(..., out=FOLDER)") from error

    @property
    def parts(self) -> list[Path]:
        """The Parquet files of the corpus, in order; pandas, DuckDB and Polars can read them too."""
        return sorted(self.folder.glob("part-*.parquet"))

    def __len__(self) -> int:
        """The number of lines, including lines that were not traced."""
        return sum(pq.read_metadata(part).num_rows for part in self.parts)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column_types(self.settings["keep"], self.settings["views"]))

    @property
    def left_out(self) -> dict[int, str]:
        """The lines that were not traced: the line number, from 1, and the reason."""
        return {row["line"]: row["left_out"] for row in self.rows(["left_out"]) if row["left_out"]}

    @property
    def shapes(self) -> Shapes:
        """The layers and heads of each kind of attention; empty if no line could be traced."""
        return next(filter(None, map(shapes_of, self.parts)), {})

    def tables(self, names: Sequence[str] | None = None) -> "Iterator[pa.Table]":
        """Read some columns, or all, one batch of lines at a time, so that memory use does not grow with the corpus.

        Raises UserError for a column that was not stored.
        """
        if missing := set(names or ()) - set(self.columns):
            raise UserError(f"{self.folder} has no column {min(missing)!r}: it has {', '.join(self.columns)}; a new"
                            " folder can keep more", exit_code=2)
        for part in self.parts:
            with pq.ParquetFile(part) as file:
                for group in range(file.num_row_groups):
                    yield file.read_row_group(group, columns=None if names is None else [*names])

    def rows(self, names: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Read the lines one by one, always with the column `line`; arrays are NumPy arrays with all their axes."""
        wanted = [*dict.fromkeys(("line", *(names or self.columns)))]
        maps = any(name.partition(".")[2] in VIEWS for name in wanted)
        read = [*dict.fromkeys((*wanted, *(("source_tokens", "target_tokens") if maps else ())))]
        shapes = self.shapes
        for table in self.tables(read):
            values = {name: list(_arrays(table[name])) if name not in ALWAYS else table[name].to_pylist()
                      for name in read}
            for n in range(len(table)):
                row = {name: values[name][n] for name in read}
                yield {name: _shaped(name, row, shapes) for name in wanted}

    def to_pandas(self, names: Sequence[str] | None = None) -> "pandas.DataFrame":
        """Some columns, or all, as a DataFrame in memory with one row for each line; arrays have all their axes."""
        import pandas

        rows = list(self.rows(names))
        return pandas.DataFrame(rows, columns=[*(rows[0] if rows else self.columns)]).set_index("line")

    def to_xarray(self) -> "xarray.Dataset":
        """The numeric columns as a Dataset with dimensions for line, layer and head, and for sink or offset where a
        column needs it.

        Maps, steps and texts are left out, because their length differs between lines.  Lines that were not traced are
        NaN.

        Raises UserError if xarray is not installed.
        """
        if find_spec("xarray") is None:
            raise UserError("xarray is not installed: pip install xarray, or take to_pandas()")
        import xarray

        lines = [row["line"] for row in self.rows(["line"])]
        found: dict[str, Any] = {"log_prob": ("line", self._stacked("log_prob"))}
        for kind, (name, axes) in product(KINDS, self._figures().items()):
            dims = ("line", f"{kind}_layer", f"{kind}_head", *axes)
            if self.shapes and not np.isnan(values := self._stacked(f"{kind}.{name}")).all():
                found[f"{kind}.{name}"] = (dims[: values.ndim], values)
        return xarray.Dataset(found, coords={"line": lines, "sink": [*SINKS], "offset": [*OFFSETS]},
                              attrs={name: str(value) for name, value in self.settings.items()})

    def summary(self) -> "pandas.DataFrame":
        """The mean over lines of every statistic that describes a head: a row for each kind, layer, head and measure.

        Columns:

        - `measure`: `entropy`, `sink end`, `offset -1`, `role previous` and so on;
        - `value`, `low`, `high`: the mean and its 95 % bootstrap interval over groups of lines (1,000 resamples,
          seed 0);
        - `even`, `even_low`, `even_high`: the same figures for a head with even weights (for entropy and roles);
        - `lines`: the number of lines.

        Every row and column counts, also those of `</s>` and language tags.  A high score only suggests a role.
        `seq2see measure` also tests the role against other baselines.
        """
        import pandas

        groups = np.array([row["group"] or f"line {row['line']}" for row in self.rows(["group"])])
        found = [pandas.DataFrame(self._means(kind, name, axes, groups))
                 for kind, (name, axes) in product(KINDS if self.shapes else (), self._figures().items())]
        return pandas.concat(found, ignore_index=True) if found else pandas.DataFrame()

    def _figures(self) -> dict[str, tuple[str, ...]]:
        """The columns with statistics of heads, without their kind, and their axes besides layer and head."""
        axes = {"entropy": (), "sinks": ("sink",), "offsets": ("offset",)}
        own = {name: axes[name] for name in axes if name in self.settings["keep"]}
        return own | {f"role.{role}": () for role in ROLES if "roles" in self.settings["keep"]}

    def _means(self, kind: Kind, name: str, axes: tuple[str, ...], groups: np.ndarray) -> dict[str, Any]:
        values = self._stacked(f"{kind}.{name}")
        there = ~np.isnan(values).reshape(len(values), -1).any(1)
        values, groups = values[there].astype(float), groups[there]
        if not len(values):
            return {}
        (L, H), names = self.shapes[kind], {"sink": SINKS, "offset": OFFSETS}
        labels = [f"{axis} {one}" for axis in axes for one in names[axis]] or [name.replace(".", " ")]
        layer, head, label = (axis.ravel() for axis in np.indices((L, H, len(labels))))
        flat = values.reshape(len(values), -1)
        low, high = intervals(flat, groups)
        even = np.full((3, 1), np.nan)
        if name.startswith("role."):
            uniform = self._stacked(f"{kind}.even.{name.removeprefix('role.')}")[there].astype(float)[:, None]
            even = np.vstack([uniform.mean(0), intervals(uniform, groups)])
        if name == "entropy":
            uniform = self._even_entropy(kind)[there][:, None]
            even = np.vstack([uniform.mean(0), intervals(uniform, groups)])
        return {"kind": kind, "layer": layer, "head": head, "measure": [labels[one] for one in label],
                "value": flat.mean(0), "low": low, "high": high,
                **{column: float(end) for column, [end] in zip(("even", "even_low", "even_high"), even, strict=True)},
                "lines": len(values)}

    def _even_entropy(self, kind: Kind) -> np.ndarray:
        """[N]: the entropy of even weights on the tokens that a row can see, averaged over rows; NaN where a line was
        not traced."""
        side = "target_tokens" if kind == "decoder" else "source_tokens"
        counts = [np.nan if row[side] is None else len(row[side]) for row in self.rows([side])]
        if kind != "decoder":
            return np.log(counts)
        return np.array([one if np.isnan(one) else np.log(np.arange(1, one + 1)).mean() for one in counts])

    def _stacked(self, name: str) -> np.ndarray:
        """A column of one shape: [N,...], NaN where it is null."""
        found = [row[name] for row in self.rows([name])]
        shape = next((np.shape(one) for one in found if one is not None), ())
        return np.stack([np.full(shape, np.nan) if one is None else np.asarray(one) for one in found])


def column_types(keep: Sequence[str], views: Sequence[str]) -> "dict[str, pa.DataType]":
    """The columns of a corpus and their types."""
    texts = {"source": pa.string(), "target": pa.string(), "group": pa.string(), "left_out": pa.string(),
             "source_tokens": pa.list_(pa.string()), "target_tokens": pa.list_(pa.string())}
    found = {"line": pa.int64(), **texts, "given": pa.int32(), "log_prob": pa.float64()}
    number = pa.list_(pa.float32())
    found |= {"log_probs": number, "entropies": number} if "steps" in keep else {}
    for kind in KINDS:
        if "maps" in keep:
            own = [view for view in views if view != "left_out" or kind == "cross"]
            found |= {f"{kind}.{view}": pa.list_(pa.float16()) for view in own}
        found |= {f"{kind}.{name}": number for name in ("entropy", "sinks", "offsets") if name in keep}
        if "roles" in keep:
            found |= {f"{kind}.role.{role}": number for role in ROLES}
            found |= {f"{kind}.even.{role}": pa.float32() for role in ROLES}
    return found


def shapes_of(part: Path) -> Shapes:
    shapes: Shapes = json.loads(pq.read_metadata(part).metadata[b"shapes"])
    return shapes


def _arrays(column: "pa.ChunkedArray") -> Iterator[Any]:
    """The values of a column of lists as NumPy arrays, of numbers as they are; None for null."""
    if not pa.types.is_list(column.type):
        yield from column.to_pylist()
        return
    for chunk in column.chunks:
        values, ends = chunk.values.to_numpy(zero_copy_only=False), chunk.offsets.to_numpy()
        for n, null in enumerate(chunk.is_null().to_pylist()):
            yield None if null else values[ends[n] : ends[n + 1]]


def _shaped(column: str, row: dict[str, Any], shapes: Shapes) -> Any:
    """The value of a row in this column, an array in its shape."""
    kind, _, name = column.partition(".")
    value = row[column]
    if value is None or not name or name.startswith("even."):
        return value
    layers, heads = shapes[kind]
    if name not in VIEWS:
        return value.reshape(layers, heads, *((-1,) if name in ("sinks", "offsets") else ()))
    S, T = len(row["source_tokens"]), len(row["target_tokens"])
    if name == "left_out":
        return value.reshape(T, -1)
    R, C = {"encoder": (S, S), "decoder": (T, T), "cross": (T, S)}[kind]
    if VIEW[name].heads:
        return value.reshape(layers, heads, R, C)
    found = value.reshape(-1, R, C)
    return found[0] if name in ATTRIBUTIONS and name != "gradient_x_activation" else found
