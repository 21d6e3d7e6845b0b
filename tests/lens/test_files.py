"""What is saved comes back the same; what is no trace is refused in one line."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens import Trace
from seq2see.lens.kinds import KINDS
from seq2see.lens.views import VIEWS, add_views


@pytest.fixture(scope="module")
def full(seq2see, trace):
    """A trace with every view."""
    [made] = add_views(*seq2see, [replace(trace, engine="ctranslate2", precision="int8", engine_log_prob=-3.25)],
                       views=VIEWS)
    return made


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_saved_and_loaded_it_is_the_same(full, tmp_path, suffix):
    full.save(tmp_path / f"t.{suffix}")
    loaded = Trace.load(tmp_path / f"t.{suffix}")
    for name, value in vars(full).items():
        same = vars(loaded)[name]
        if name == "logits" and suffix == "json":
            assert same is None
        elif name in KINDS:
            assert value.keys() == same.keys() and len(value) == 5
            for view, array in value.items():
                np.testing.assert_array_equal(array, same[view])
                assert same[view].dtype == np.float32 and not same[view].flags.writeable
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, same)
            assert same.dtype == (np.float16 if name == "logits" else np.float32)
        else:
            assert value == same, name
    assert loaded.difference == full.difference and loaded.source_words == full.source_words


def test_json_is_read_by_anyone(full, tmp_path):
    full.save(tmp_path / "t.json")
    record = json.loads((tmp_path / "t.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert set(record) == {field.name for field in fields(full)} | {"format", "version"}
    assert [len(step) for step in record["top"]] == [20] * len(full.target)
    assert np.array(record["cross"]["norm"]).shape == full.cross["norm"].shape


def test_another_suffix_is_refused(trace, tmp_path):
    with pytest.raises(UserError, match=r"t\.txt: expected a name that ends in \.json or \.npz"):
        trace.save(tmp_path / "t.txt")
    with pytest.raises(UserError, match=r"expected a name"):
        Trace.load(tmp_path / "t.html")


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"format": "seq2see-trace", "version": 1}',
                                  '{"format": "seq2see-trace", "version": 2}', "\x00\xff", "PK\x03\x04"])
def test_another_file_is_refused_in_one_line(text, suffix, tmp_path):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=rf"x\.{suffix} is not a trace") as told:
        Trace.load(path)
    assert "\n" not in str(told.value)


def arrays_of(trace, path):
    trace.save(path)
    with np.load(path) as saved:
        return dict(saved)


@pytest.mark.parametrize("change", [
    {"cross.raw": np.zeros((1, 1, 1, 1), np.float32)},  # another size than its pieces
    {"cross.raw": np.zeros((3, 17, 20), np.float32)},  # no heads
    {"log_probs": np.zeros(3, np.float32)},
    {"evil": np.zeros(3)},
    {"logits": np.array([print], dtype=object)},  # would have to be unpickled
    {"record": np.zeros(4, np.uint8)},
])
def test_an_archive_of_something_else_is_refused(trace, tmp_path, change):
    arrays = arrays_of(trace, tmp_path / "t.npz") | change
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(UserError, match=r"x\.npz is not a trace"):
        Trace.load(tmp_path / "x.npz")


def test_a_damaged_archive_is_refused(trace, tmp_path):
    trace.save(tmp_path / "t.npz")
    whole = (tmp_path / "t.npz").read_bytes()
    for at in range(30, len(whole), len(whole) // 40):
        (tmp_path / "x.npz").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            Trace.load(tmp_path / "x.npz")  # a flipped bit where nobody looks
        except UserError as told:
            assert "x.npz is not a trace" in str(told)
    (tmp_path / "x.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"x\.npz is not a trace"):
        Trace.load(tmp_path / "x.npz")


def test_a_file_that_is_not_there_is_no_damage(tmp_path):
    with pytest.raises(FileNotFoundError):
        Trace.load(tmp_path / "none.json")
