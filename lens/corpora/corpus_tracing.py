"""`trace_corpus`: traces any number of sentence pairs to disk, in memory that does not grow with their number.

A file of PART pairs appears when it is complete.  A restarted run continues after the last file, and its result equals
that of an uninterrupted run.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm.auto import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from ...passes.attention_kinds import KINDS, Kind
from ...passes.batches import fitting
from ...passes.forced_pass import check_lengths, check_model
from ...passes.weights_checksum import checksum
from ...tokenizer.encoding import encode_source
from ...tokenizer.tagging import tagging
from ..data.summary import entropy, sink_shares
from ..data.view_names import ViewName, check_views
from ..heads.role_masks import diagonal
from ..heads.role_scores import measure
from ..records.roles import GoldPair
from ..trace import Trace
from ..tracing import as_given, forced_ids, trace_hypotheses
from .traced_corpus import KEEPS, PART, REACH, RECORD, Corpus, Keep, Shapes, column_types

# L layers, H heads, R rows, C columns, O relative positions

FORMAT = 1  # of the files


class TracedModel(Protocol):
    """The part of a `Translator` that tracing needs."""

    name: str

    def pair(self, source: str | None, target: str | None) -> tuple[str, str]: ...
    def inside(self) -> AbstractContextManager[tuple[PreTrainedModel, PreTrainedTokenizerBase]]: ...


def trace_corpus(
    translator: TracedModel, pairs: Iterable[tuple[str, str] | GoldPair], out: str | Path, *,
    keep: Sequence[Keep] = ("steps", "entropy", "sinks", "offsets", "roles"), views: Sequence[ViewName] = ("raw",),
    source: str | None = None, target: str | None = None,
) -> Corpus:
    """Trace given translations to Parquet files in a folder, with progress on stderr.

    A line with a blank side, or with more tokens than the model supports, is reported on stderr and skipped.  If you
    interrupt the run and start it again with the same pairs, it continues, and the result is the same.  Other threads
    wait for the model in the meantime.

    Args:
        translator: a `Translator`.
        pairs: pairs (source, translation), from a list, a file or a generator.  The annotation of a `GoldPair` makes it
            possible to score more roles.
        out: the folder for the result: a new one, or that of an interrupted run with the same arguments.
        keep: what to store: `maps` (in all `views`), `steps` (with log-probabilities) and, for each head, `entropy`,
            `sinks`, `offsets` (the mean map by relative position) and `roles`.
        views: names from `lens.VIEWS` for `maps`; every view except `raw` takes extra time.
        source: the source language, as in a call of the translator.
        target: the target language, as in a call of the translator.

    Raises:
        UserError: an unknown view or `keep`; an item that is not a pair; a folder with other contents or other pairs.
    """
    check_views(views)
    if isinstance(keep, str) or set(keep) - set(KEEPS):
        raise UserError(f"keep={keep!r}: expected a list of {', '.join(KEEPS)}", exit_code=2)
    if set(views) - {"raw"} and "maps" not in keep:
        raise UserError(f"views={[*views]!r} need maps: keep=['maps', ...]", exit_code=2)
    source, target = translator.pair(source, target)
    with translator.inside() as (model, tokenizer):
        check_model(model)
        settings = {"format": FORMAT, "model": translator.name, "weights": checksum(model), "source": source,
                    "target": target, "keep": [one for one in KEEPS if one in keep],
                    "views": list(dict.fromkeys(views))}
        corpus = _begun(Path(out), settings)
        tracer = _Tracer(model, tokenizer, corpus)
        done = len(corpus)
        with tqdm(total=len(pairs) if isinstance(pairs, Sized) else None, initial=done, desc="Tracing", unit=" pairs",
                  disable=None, leave=False, dynamic_ncols=True) as bar:
            numbered = enumerate(pairs, start=1)
            for number, part in enumerate(iter(lambda: list(islice(numbered, PART)), [])):
                tracer.trace(corpus.folder / f"part-{number:05}.parquet", [_pair(*one) for one in part], bar)
        if any(tracer.unread):
            raise UserError(f"{out} has traces of more pairs than these: choose a new folder")
    return corpus


def _begun(folder: Path, settings: dict[str, Any]) -> Corpus:
    """The corpus in this folder, with or without parts.

    Raises UserError if the folder has other contents.
    """
    if folder.is_dir() and (folder / RECORD).exists():
        corpus = Corpus.load(folder)
        if other := [name for name in settings if corpus.settings.get(name) != settings[name]]:
            raise UserError(f"{folder} has traces with another {other[0]} ({corpus.settings.get(other[0])}, not"
                            f" {settings[other[0]]}): choose a new folder")
        return corpus
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists, and is no folder of traces: choose a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(folder / RECORD, json.dumps(settings, ensure_ascii=False, indent=1) + "\n")
    return Corpus(folder, settings)


@dataclass(frozen=True)
class _Line:
    """A pair with its number, from 1."""

    number: int
    gold: GoldPair

    @property
    def blank(self) -> str:
        blank = [side for side in ("source", "target") if not getattr(self.gold, side).strip()]
        return f"{' and '.join(blank)} blank" if blank else ""


def _pair(number: int, pair: Any) -> _Line:
    if isinstance(pair, GoldPair):
        return _Line(number, pair)
    if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        raise UserError(f"line {number}: expected a source and its translation, or a GoldPair, got {pair!r:.60}")
    source, target = (normalize("NFC", text) for text in pair)
    return _Line(number, GoldPair(source, target))


def _digest(lines: Sequence[_Line]) -> str:
    return hashlib.sha256(repr([astuple(line.gold) for line in lines]).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass
class _Tracer:
    """Writes the parts of a corpus that are missing; `unread` are existing parts without pairs so far."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    corpus: Corpus
    unread: set[Path] = field(init=False)

    def __post_init__(self) -> None:
        self.unread = set(self.corpus.parts)
        self.tags = tagging(self.model.config, self.tokenizer, self.languages["source_language"],
                            self.languages["target_language"])
        self.schema = pa.schema(column_types(self.settings["keep"], self.settings["views"]))

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.corpus.settings

    @property
    def languages(self) -> dict[str, Any]:
        return {"source_language": self.settings["source"], "target_language": self.settings["target"]}

    def trace(self, path: Path, lines: Sequence[_Line], bar: Any) -> None:
        """Write one part unless it exists; a shorter one is written again.

        Raises UserError if it has other pairs.
        """
        self.unread.discard(path)
        if path.exists():
            known = pq.read_metadata(path)
            if known.metadata[b"pairs"].decode() != _digest(lines[: known.num_rows]):
                raise UserError(f"{path} has traces of other pairs than lines {lines[0].number} to {lines[-1].number}:"
                                " choose a new folder")
            if known.num_rows == len(lines):
                return
            bar.update(-known.num_rows)
        unfinished = path.with_name(f".{path.name}")
        shapes: Shapes = {}
        try:
            with pq.ParquetWriter(unfinished, self.schema, compression="zstd", compression_level=1) as writer:
                for batch, traces in self._traces(lines):
                    rows = [self._row(line, trace) for line, trace in zip(batch, traces, strict=True)]
                    writer.write_table(pa.table([_column([row.get(name) for row in rows], self.schema.field(name).type)
                                                 for name in self.schema.names], schema=self.schema))
                    shapes = shapes or next(({kind: [*one.maps(kind).shape[:2]] for kind in KINDS}
                                             for one in traces if isinstance(one, Trace)), {})
                    bar.update(len(batch))
                writer.add_key_value_metadata({"pairs": _digest(lines), "shapes": json.dumps(shapes)})
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _traces(self, lines: Sequence[_Line]) -> Iterator[tuple[list[_Line], list[Trace | str]]]:
        """The lines in batches, in order, each with its trace or the reason for skipping it."""
        sources = [encode_source(self.tokenizer, line.gold.source, tagging=self.tags) for line in lines]
        targets, given = forced_ids(self.model, self.tokenizer, [line.gold.target for line in lines],
                                    language=self.settings["target"])
        reasons = [line.blank or self._too_long(*ids) for line, *ids in zip(lines, sources, targets, strict=True)]
        lengths = [(0, 0) if reason else (len(one), len(other))
                   for reason, one, other in zip(reasons, sources, targets, strict=True)]
        views = self.settings["views"] if "maps" in self.settings["keep"] else ("raw",)
        for batch in fitting(self.model, lengths):
            real = [n for n in batch if not reasons[n]]
            found = iter(trace_hypotheses(
                self.model, self.tokenizer, [lines[n].gold.source for n in real], [targets[n] for n in real],
                given=given, engine="", precision="", model_name=self.settings["model"], views=views, **self.languages,
            ) if real else ())
            yield [lines[n] for n in batch], [
                reasons[n] or as_given(next(found), self.tokenizer, lines[n].gold.target) for n in batch]

    def _too_long(self, source: list[int], target: list[int]) -> str:
        try:
            check_lengths(self.model, [source], side="source")
            check_lengths(self.model, [target], side="target")
        except UserError as error:
            return str(error)
        return ""

    def _row(self, line: _Line, trace: Trace | str) -> dict[str, Any]:
        gold = line.gold
        row: dict[str, Any] = {"line": line.number, "source": gold.source, "target": gold.target, "group": gold.group}
        if isinstance(trace, str):
            tqdm.write(f"line {line.number} skipped: {trace}", file=sys.stderr)
            return row | {"left_out": trace}
        row |= {"source_tokens": [token.text for token in trace.source], "given": trace.given,
                "target_tokens": [token.text for token in trace.target], "log_prob": trace.log_prob}
        return row | figures(trace, gold, self.settings["keep"])


def figures(trace: Trace, gold: GoldPair, keep: Sequence[str]) -> dict[str, Any]:
    """The statistics of a trace that are stored besides its texts, by column."""
    found: dict[str, Any] = {"log_probs": trace.log_probs, "entropies": trace.entropies}
    for kind in KINDS:
        maps = trace.maps(kind)
        found |= {f"{kind}.{view}": array for view, array in getattr(trace, kind).items()}
        found |= {f"{kind}.entropy": entropy(maps)} if "entropy" in keep else {}
        found |= {f"{kind}.sinks": sink_shares(trace, kind)} if "sinks" in keep else {}
        found |= {f"{kind}.offsets": by_offset(maps, kind)} if "offsets" in keep else {}
    if trace.left_out is not None:
        found["cross.left_out"] = trace.left_out
    for (kind, role), one in measure([trace], [gold]).items() if "roles" in keep else ():
        found |= {f"{kind}.role.{role}": one.scores[0], f"{kind}.even.{role}": float(one.uniform[0])}
    return found


def by_offset(maps: np.ndarray, kind: Kind) -> np.ndarray:
    """The mean map by relative position: the share of the weights [L,H,R,C] on each of OFFSETS, averaged over rows,
    [L,H,O].

    An offset counts from the row's own token.  In the decoder this is the token that the step reads.  In
    cross-attention it is the source token at the same relative position.
    """
    R, C = maps.shape[-2:]
    own_R = diagonal(R, C) if kind == "cross" else np.arange(R)
    place_RC = np.clip(np.arange(C) - own_R[:, None], -REACH - 1, REACH + 1) + REACH + 1
    cells = np.eye(2 * REACH + 3, dtype=maps.dtype)[place_RC.ravel()]
    return (maps.reshape(*maps.shape[:-2], R * C) @ cells) / R


def _column(values: list[Any], type: "pa.DataType") -> "pa.Array":
    """A column; arrays of any shape become flat lists of numbers."""
    if not pa.types.is_list(type) or pa.types.is_string(type.value_type):
        return pa.array(values, type)
    arrays = [np.empty(0) if value is None else np.ravel(value) for value in values]
    ends = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
    flat = np.concatenate(arrays).astype(type.value_type.to_pandas_dtype())
    return pa.ListArray.from_arrays(ends, pa.array(flat, type.value_type), type=type,
                                    mask=pa.array([value is None for value in values]))
