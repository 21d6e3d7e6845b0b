"""A replay as a file: what is read back is what was saved, or it is refused in one line."""

import gzip
import json

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens.corpora.replay import FILE, MOST_BYTES, SHADES, Moment, Replay, load_replay, to_shades
from seq2see.passes.attention_kinds import KINDS


@pytest.fixture
def replay(trace):
    losses = (None, 7.5, 7.5)
    return Replay("0123456789abcdef", tuple(Moment(10 * number + 1, loss, None, (trace, trace))
                                            for number, loss in enumerate(losses)))


def test_rows_of_shades_sum_to_255_and_are_less_than_one_off(trace):
    odd = [np.ones((1, 1)), np.full((2, 300), 1 / 300), np.array([[0.9995, 0, 0], [1.0004, 0, 0]])]
    for weights in (*map(trace.maps, KINDS), *(one.astype(np.float32) for one in odd)):
        shades = to_shades(weights)
        assert shades.dtype == np.uint8 and (shades.sum(-1, dtype=int) == SHADES).all()
        share = weights / weights.sum(-1, keepdims=True)
        assert (abs(shades - SHADES * share) < 1).all()
        assert (shades[weights == 0] == 0).all(), "what is masked stays masked"


def spoilt(change):
    """The file of a replay whose record was changed."""
    def pack(data: bytes) -> bytes:
        record = json.loads(gzip.decompress(data))
        change(record)
        return gzip.compress(json.dumps(record).encode())

    return pack


@pytest.mark.parametrize(("change", "told"), [
    (lambda data: data[:-20], "."),
    (lambda data: gzip.compress(b"[]"), "."),
    (lambda data: gzip.compress(b" " * (MOST_BYTES + 2)), "unpacked it would have more than"),
    (spoilt(lambda record: record.update(version=2)), "another format or version"),
    (spoilt(lambda record: record["moments"].reverse()), "its steps are"),
    (spoilt(lambda record: record["moments"][1].update(traces=[])), "different sentences or heads"),
    (spoilt(lambda record: record["moments"][0].update(loss="low")), 'loss is "low", expected a number'),
    (spoilt(lambda record: record["moments"][0]["traces"][0]["cross"]["raw"][0][0][0].__setitem__(0, 300)),
     "does not sum to 1"),
    (spoilt(lambda record: record["moments"][0]["traces"][0].pop("target")), "target"),
])
def test_a_damaged_or_foreign_file_is_one_line(replay, tmp_path, change, told):
    path = tmp_path / FILE
    replay.save(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UserError, match=told) as refused:
        load_replay(tmp_path)
    said = str(refused.value)
    assert said.startswith(f"{path} is not a replay saved by Seq2See (") and "\n" not in said
