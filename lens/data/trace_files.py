"""Saving and loading a `Trace`: .json for any program, .npz for everything.

Both have every map in float32, exactly.  Only NPZ has the logits of the whole vocabulary.  JSON has the 20 best of each
step and the log-normaliser.  Nothing is unpickled.
"""

import json
import zlib
from dataclasses import asdict, dataclass, make_dataclass
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar, get_type_hints
from zipfile import BadZipFile, ZipFile

import numpy as np

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.validation import STRICT, checked
from ...passes.attention_kinds import KINDS
from ..records.calibration import Calibrator
from ..records.plain_json import LARGEST
from ..records.trust import Trust
from .trace_data import CalibratedSteps, Candidate, TraceData
from .view_names import ATTRIBUTIONS, VIEW, WITH_HEADS, check_views

Data = TypeVar("Data", bound=TraceData)
FORMAT = {"format": "seq2see-trace", "version": 2}
NEEDED = ("log_probs", "entropies", "log_normalisers")
ARRAYS = (*NEEDED, "logits", "left_out")
MOST_BYTES = 2**30  # of an unpacked file
# The fields that JSON holds as they are.
PLAIN = {name: kind for name, kind in get_type_hints(TraceData, include_extras=True).items()
         if name not in (*KINDS, *ARRAYS, "trust", "calibrated")}
PlainFields = make_dataclass("PlainFields", PLAIN.items(), namespace={"__pydantic_config__": STRICT})
# What json, zipfile, numpy and missing fields raise for damaged and foreign files.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, OSError, BadZipFile, MemoryError,
          RuntimeError, SyntaxError, TokenError, zlib.error)


def save(trace: TraceData, path: str | Path) -> None:
    """Write the trace as .json (without logits) or .npz, by suffix.

    Raises UserError for another suffix.
    """
    path = Path(path)
    if _suffix(path) == ".json":
        atomic_write(path, json.dumps(to_lists(trace), ensure_ascii=False))
    else:
        arrays = {name: getattr(trace, name) for name in ARRAYS if getattr(trace, name) is not None}
        arrays |= {f"{kind}.{view}": array for kind in KINDS for view, array in getattr(trace, kind).items()}
        text = json.dumps(plain(trace), ensure_ascii=False).encode("utf-8")
        packed = BytesIO()
        np.savez_compressed(packed, record=np.frombuffer(text, dtype=np.uint8), **arrays)
        atomic_write(path, packed.getvalue())


def to_lists(trace: TraceData) -> dict[str, Any]:
    """The trace with lists for arrays, without logits."""
    record = plain(trace)
    for name in ARRAYS:
        array = getattr(trace, name)
        record[name] = None if array is None or name == "logits" else _exact(array)
    return record | {kind: {view: _exact(array) for view, array in getattr(trace, kind).items()} for kind in KINDS}


def load(path: str | Path, trace_type: type[Data]) -> Data:
    """Read a file of `save`.

    Raises UserError for any other file.
    """
    path = Path(path)
    suffix = _suffix(path)
    with path.open("rb") as file:
        try:
            record = with_arrays(json.loads(file.read().decode("utf-8"))) if suffix == ".json" else _read_npz(file)
            return from_record(record, trace_type)
        except DAMAGE as error:
            reason = reason_of(error)
            raise UserError(f"{path} is not a trace saved by Seq2See ({reason}); write one with Trace.save") from error


def from_record(record: dict[str, Any], trace_type: type[Data]) -> Data:
    """The trace of a record with arrays.

    Raises one of DAMAGE if the record is not a trace.
    """
    if {name: record.pop(name) for name in FORMAT} != FORMAT:
        raise ValueError("it has another format or version")
    record.setdefault("replaced", None)  # missing in files of version 0.3
    record |= vars(checked(PlainFields, {name: record[name] for name in PLAIN}))
    if record.get("trust") is not None:
        record["trust"] = Trust.from_plain(record["trust"])
    if record.get("calibrated") is not None:
        record["calibrated"] = _calibrated(record["calibrated"], record["top"])
    return _checked(trace_type(**record))


def reason_of(damage: Exception) -> str:
    """The problem with a file, in one line."""
    return (str(damage).strip() or type(damage).__name__).splitlines()[0][:200]


def _checked(trace: Data) -> Data:
    """The trace, if its numbers are possible for a model; otherwise raises ValueError."""
    check_views(trace.views)
    if trace.decoder.keys() != trace.cross.keys() or trace.encoder.keys() != trace.cross.keys() - set(ATTRIBUTIONS):
        raise ValueError("its kinds of attention have different views")
    if any((array.ndim == 4) != (view in WITH_HEADS) for kind in KINDS for view, array in getattr(trace, kind).items()):
        raise ValueError("a view has heads where it should have none, or none where it should")
    if any((array.ndim == 2) == VIEW[view].layers for view, array in (*trace.cross.items(), *trace.decoder.items())):
        raise ValueError("a view has layers where it should have none, or none where it should")
    if len(trace.maps("decoder")) != len(trace.maps("cross")):
        raise ValueError("its numbers of decoder layers differ between decoder and cross")
    if trace.replaced and [len(trace.words(source=side)) for side in (True, False)] != [
            len(trace.source_words), len(trace.target_words)]:
        raise ValueError("replaced has another number of words than the texts")
    if trace.left_out is not None and trace.left_out.shape != (len(trace.target), len(trace.source_words)):
        raise ValueError(f"left_out has shape {trace.left_out.shape}, expected one column for each source word")
    every = [array for kind in KINDS for array in getattr(trace, kind).values()]
    every += [trace.log_normalisers, trace.log_probs, trace.entropies, trace.shown.log_probs, trace.shown.entropies]
    every += [] if trace.left_out is None else [trace.left_out]
    if not all((np.abs(array) < LARGEST).all() for array in every):
        raise ValueError("it holds NaN, infinity or numbers beyond 1e30")
    if not all((trace.maps(kind) >= 0).all() and np.allclose(trace.maps(kind).sum(-1), 1, atol=1e-3) for kind in KINDS):
        raise ValueError("a row of weights does not sum to 1")
    chances = [*trace.log_probs.tolist(), *(one.log_prob for step in (*trace.top, *trace.shown.top) for one in step),
               *trace.shown.log_probs.tolist()]
    if max(chances, default=0) > 1e-3 or not all(trace.top):
        raise ValueError("a step has a probability above 1, or no candidates")
    for tokens, text, words in ((trace.source, trace.source_text, trace.source_words),
                                ((*trace.target, *trace.inputs), trace.target_text, trace.target_words)):
        for token in tokens:
            if not 0 <= token.start <= token.end <= len(text):
                raise ValueError(f"a token has the span {token.start}:{token.end}")
            if token.word is not None and not 0 <= token.word < len(words):
                raise ValueError(f"a token is of word {token.word}, its text has {len(words)}")
    ids = [*trace.target_ids, *(one.id for step in trace.top for one in step)]
    if trace.logits is not None:
        if trace.logits.ndim != 2 or not (trace.logits.max(-1) == 0).all():
            raise ValueError("the best logit of each step is not 0")
        if not all(0 <= id < trace.logits.shape[1] for id in ids):
            raise ValueError(f"an id is none of the {trace.logits.shape[1]} tokens")
    return trace


@dataclass(frozen=True)
class PlainCalibrated:
    """Calibrated steps in their JSON form; candidates are those of the trace, so only log-probabilities are stored."""

    __pydantic_config__ = STRICT

    smoothing: float
    temperature: float
    log_probs: list[float]
    entropies: list[float]
    top: list[list[float]]
    curve: tuple[tuple[float, float], ...] = ()


def _calibrated(plain: dict[str, Any], top: tuple[tuple[Candidate, ...], ...]) -> CalibratedSteps:
    """The inverse of `_plain_calibrated`, given the record's candidates."""
    read = checked(PlainCalibrated, plain)
    return CalibratedSteps(
        Calibrator(read.smoothing, read.temperature, read.curve),
        np.array(read.log_probs, dtype=np.float32),
        np.array(read.entropies, dtype=np.float32),
        tuple(tuple(one._replace(log_prob=log_prob) for one, log_prob in zip(*step, strict=True))
              for step in zip(top, read.top, strict=True)),
    )


def _plain_calibrated(steps: CalibratedSteps) -> dict[str, Any]:
    return {**asdict(steps.calibrator), **{name: _exact(getattr(steps, name)) for name in ("log_probs", "entropies")},
            "top": [[one.log_prob for one in step] for step in steps.top]}


def _suffix(path: Path) -> str:
    if path.suffix not in (".json", ".npz"):
        raise UserError(f"{path}: expected a name that ends in .json or .npz", exit_code=2)
    return path.suffix


def plain(trace: TraceData) -> dict[str, Any]:
    """All fields but arrays."""
    record: dict[str, Any] = FORMAT | {name: getattr(trace, name) for name in PLAIN}
    record |= {name: list(map(asdict, record[name])) for name in ("source", "target", "inputs")}
    return record | {
        "replaced": trace.replaced and asdict(trace.replaced),
        "top": [[candidate._asdict() for candidate in step] for step in trace.top],
        "trust": trace.trust and asdict(trace.trust),
        "calibrated": trace.calibrated and _plain_calibrated(trace.calibrated),
    }


def with_arrays(record: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `to_lists`, in a record."""
    for name in ARRAYS:
        absent = record[name] is None and name not in NEEDED
        record[name] = None if absent else np.array(record[name], dtype=np.float32)
    for kind in KINDS:
        record[kind] = {view: np.array(rows, dtype=np.float32) for view, rows in record[kind].items()}
    return record


def _read_npz(file: Any) -> dict[str, Any]:
    with ZipFile(file) as packed:
        if sum(one.file_size for one in packed.infolist()) > MOST_BYTES:
            raise ValueError(f"unpacked it would have more than {MOST_BYTES:,} bytes")
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        record: dict[str, Any] = json.loads(arrays["record"].tobytes().decode("utf-8"))
        for name in [one for one in arrays.files if one != "record"]:
            array, (kind, _, view) = arrays[name], name.partition(".")
            if array.dtype.kind != "f" or (kind not in KINDS if view else name not in ARRAYS):
                raise ValueError(f"it holds {name!r}")
            (record.setdefault(kind, {}) if view else record)[view or name] = array
    return record


def _exact(array: np.ndarray) -> Any:
    """Nested lists of numbers of at most nine digits that read back as the same float32."""
    if array.ndim == 1:
        return [float(f"{value:.9g}") for value in array.tolist()]
    return [_exact(row) for row in array]
