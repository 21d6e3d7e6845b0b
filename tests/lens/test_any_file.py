"""Whatever has become of a saved trace, it is read or refused by one line.

pytest tests/lens/test_any_file.py
"""

import copy
import json
from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.lens import Trace, to_terminal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def saved(trace, tmp_path_factory):
    """The bytes of a short trace in both forms."""
    folder = tmp_path_factory.mktemp("saved")
    replace(trace, logits=None).save(folder / "t.json")
    trace.save(folder / "t.npz")
    return {suffix: (folder / f"t.{suffix}").read_bytes() for suffix in ("json", "npz")}


def read(path):
    """Read it, and draw what was read."""
    try:
        loaded = Trace.load(path)
        to_terminal(loaded)
    except UserError as error:
        assert "\n" not in str(error) and len(str(error)) < 500


@pytest.mark.parametrize("suffix", ["json", "npz"])
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
def test_a_flipped_bit_or_a_cut(saved, suffix, at, bit, cut, tmp_path_factory):
    data = bytearray(saved[suffix])
    place = int(at * len(data))
    data[place] ^= 1 << bit
    path = tmp_path_factory.getbasetemp() / f"damaged.{suffix}"
    path.write_bytes(data[:place] if cut else data)
    read(path)


def test_a_header_that_numpy_cannot_cut_into_words(saved, tmp_path):
    path = tmp_path / "damaged.npz"
    with ZipFile(BytesIO(saved["npz"])) as whole, ZipFile(path, "w") as damaged:
        for name in whole.namelist():
            data = whole.read(name)
            damaged.writestr(name, data.replace(b"'descr'", b"('desc'") if name.startswith("cross") else data)
    with pytest.raises(UserError, match="is not a trace saved by Seq2See"):
        Trace.load(path)


@pytest.mark.parametrize("value", [None, [], 1])
def test_a_piece_is_special_or_it_is_not(saved, tmp_path, value):
    record = json.loads(saved["json"])
    record["source"][0]["special"] = value
    (tmp_path / "t.json").write_text(json.dumps(record))
    with pytest.raises(UserError, match="special holds"):
        Trace.load(tmp_path / "t.json")


@pytest.mark.parametrize("name", ["log_probs", "entropies", "log_normalisers"])
def test_numbers_of_every_step_are_there(saved, tmp_path, name):
    (tmp_path / "t.json").write_text(json.dumps(json.loads(saved["json"]) | {name: None}))
    with pytest.raises(UserError, match="is not a trace saved by Seq2See"):
        Trace.load(tmp_path / "t.json")


@given(data=st.data())
def test_another_value_somewhere(saved, data, tmp_path_factory):
    record = copy.deepcopy(json.loads(saved["json"]))
    place, key = record, data.draw(st.sampled_from(sorted(record)))
    while place[key] and isinstance(place[key], list | dict) and data.draw(st.booleans()):
        place = place[key]
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(VALUES)
    path = tmp_path_factory.getbasetemp() / "changed.json"
    path.write_text(json.dumps(record), "utf-8")
    read(path)


def test_a_file_that_unpacks_to_more_than_memory_is_not_unpacked(trace, tmp_path, monkeypatch):
    trace.save(tmp_path / "t.npz")
    Trace.load(tmp_path / "t.npz")
    monkeypatch.setattr("seq2see.lens.files.MOST_BYTES", 10_000)
    with pytest.raises(UserError, match="unpacked it would have more than"):
        Trace.load(tmp_path / "t.npz")
