"""A replay: a model's translations of a few sentences at several moments of its training, with every map, in a small
file.

RUN/replay.json.gz is gzipped JSON: {"format", "version", "weights", "moments"}.  `weights` is the fingerprint of the
finished model, which is the last moment.  A moment has `step`, `loss` and `bleu` (null if unknown), and `traces`, one
for each sentence.  A trace has the format of `Trace.save` as .json, except that `top` has only the best candidate of
each step, and weights are integers out of 255.

Each row of weights sums to 255: weights are rounded down, and the remainder goes to those with the largest loss.  So
rows sum to 1 when they are read back, a weight is off by less than 1/255, and masked cells stay 0.  Log-probabilities
are exact.
"""

import gzip
import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.validation import STRICT, checked
from ...passes.attention_kinds import KINDS
from ..data.trace_files import DAMAGE, from_record, reason_of, to_lists, with_arrays
from ..records.plain_json import Number
from ..trace import Trace

FILE = "replay.json.gz"  # beside the run
FORMAT = {"format": "seq2see-replay", "version": 1}
SHADES = 255
MOST_BYTES = 2**26  # of an unpacked file


@dataclass(frozen=True)
class MomentNumbers:
    """A training step, the last training loss and validation BLEU logged by then."""

    __pydantic_config__ = STRICT

    step: int
    loss: Number | None
    bleu: Number | None


@dataclass(frozen=True)
class Moment(MomentNumbers):
    """A moment with the traces of the model's own translations, one for each sentence, with the raw view only."""

    traces: tuple[Trace, ...]


@dataclass(frozen=True)
class Replay:
    """The moments of a training in order, all with the same sentences.

    The last one is the finished model, whose weights have the fingerprint `weights`.
    """

    weights: str
    moments: tuple[Moment, ...]

    def save(self, path: str | Path) -> None:
        moments = [{"step": one.step, "loss": one.loss, "bleu": one.bleu, "traces": list(map(_record, one.traces))}
                   for one in self.moments]
        record = FORMAT | {"weights": self.weights, "moments": moments}
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        atomic_write(Path(path), gzip.compress(text.encode("utf-8"), mtime=0))


def load_replay(folder: str | Path) -> Replay:
    """The replay in a run's folder.

    Raises UserError for a file that is not a replay, and FileNotFoundError if there is none.
    """
    path = Path(folder) / FILE
    data = path.read_bytes()
    try:
        with gzip.open(BytesIO(data)) as packed:
            text = packed.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError(f"unpacked it would have more than {MOST_BYTES:,} bytes")
        record = json.loads(text.decode("utf-8"))
        if {name: record[name] for name in FORMAT} != FORMAT:
            raise ValueError("it has another format or version")
        if not isinstance(record["weights"], str):
            raise ValueError("weights is no text")
        return _checked(Replay(record["weights"], tuple(map(_moment, record["moments"]))))
    except DAMAGE as error:
        raise UserError(f"{path} is not a replay saved by Seq2See ({reason_of(error)}): remove it") from error


def to_shades(weights: np.ndarray) -> np.ndarray:
    """Rows of weights [...,columns] as integers that sum to 255, by largest remainders."""
    shares = weights / weights.sum(-1, keepdims=True, dtype=np.float64) * SHADES
    whole = np.floor(shares)
    missing = SHADES - whole.sum(-1, keepdims=True)
    rank = (whole - shares).argsort(-1, kind="stable").argsort(-1)  # 0: lost most
    return (whole + (rank < missing)).astype(np.uint8)


def _record(trace: Trace) -> dict[str, Any]:
    record = to_lists(trace)
    maps = {kind: {"raw": to_shades(trace.maps(kind)).tolist()} for kind in KINDS}
    return record | maps | {"top": [step[:1] for step in record["top"]]}


def _moment(plain: dict[str, Any]) -> Moment:
    numbers = checked(MomentNumbers, {name: plain[name] for name in ("step", "loss", "bleu")})
    return Moment(**vars(numbers), traces=tuple(map(_trace, plain["traces"])))


def _trace(plain: dict[str, Any]) -> Trace:
    record = with_arrays(plain)
    for kind in KINDS:
        record[kind] = {"raw": record[kind]["raw"] / np.float32(SHADES)}
    return from_record(record, Trace)


def _checked(replay: Replay) -> Replay:
    """The replay, if its moments are in order and have the same sentences and heads; otherwise raises ValueError."""
    steps = [moment.step for moment in replay.moments]
    if not steps or steps != sorted(set(steps)):
        raise ValueError(f"its steps are {steps}")
    shapes = set(map(shape_of, replay.moments))
    if len(shapes) > 1 or () in shapes:
        raise ValueError("its moments are of different sentences or heads")
    return replay


def shape_of(moment: Moment) -> tuple[Any, ...]:
    """The sentences of a moment, and its numbers of layers and heads; they are equal in all moments of a replay."""
    return tuple((trace.source_text, *(trace.maps(kind).shape[:2] for kind in KINDS)) for trace in moment.traces)
