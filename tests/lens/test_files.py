"""What is saved comes back the same; whatever has become of a saved trace, it is read or refused by one line."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.lens import Calibrator, Trace, to_html, to_terminal, with_calibration
from seq2see.passes.attention_kinds import KINDS


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_saved_and_loaded_it_is_the_same(full_trace, trust, tmp_path, suffix):
    full = replace(with_calibration(full_trace, Calibrator(0.1, 0.8)), engine="ctranslate2", precision="int8",
                   engine_log_prob=-3.25, trust=trust)
    full.save(tmp_path / f"t.{suffix}")
    loaded = Trace.load(tmp_path / f"t.{suffix}")
    for name, value in vars(full).items():
        same = vars(loaded)[name]
        if name == "logits" and suffix == "json":
            assert same is None
        elif name == "calibrated":
            np.testing.assert_equal(vars(same), vars(value))
        else:
            np.testing.assert_equal(same, value, err_msg=name)
    arrays = [loaded.left_out, loaded.log_probs, *(view for kind in KINDS for view in getattr(loaded, kind).values())]
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}
    assert not any(array.flags.writeable for array in arrays)


def test_another_suffix_is_refused(trace, tmp_path):
    for ask in (trace.save, Trace.load):
        with pytest.raises(UserError, match=r"t\.txt: expected a name that ends in \.json or \.npz"):
            ask(tmp_path / "t.txt")


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"format": "seq2see-trace", "version": 2}', "PK\x03\x04"])
def test_another_file_is_refused_in_one_line(text, suffix, tmp_path):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=rf"x\.{suffix} is not a trace") as told:
        Trace.load(path)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("change", [
    {"cross.raw": np.zeros((1, 1, 1, 1), np.float32)},  # another size than its tokens
    {"evil": np.zeros(3)},
    {"logits": np.array([print], dtype=object)},  # would have to be unpickled
    {"record": np.zeros(4, np.uint8)},
])
def test_an_archive_of_something_else_is_refused(trace, tmp_path, change):
    trace.save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as saved:
        arrays = dict(saved)
    np.savez(tmp_path / "x.npz", **arrays | change)
    with pytest.raises(UserError, match=r"x\.npz is not a trace"):
        Trace.load(tmp_path / "x.npz")


@pytest.mark.few(4)
@pytest.mark.parametrize(("spoil", "why"), [
    (lambda record: record["source"][0].update(special=None), r"source\[0\].special is null, expected true or false"),
    (lambda record: record["source"][0].update(word=99), "a token is of word 99, its text has"),
    (lambda record: record.update(top=[]), "top has 0 entries, expected 17"),
    (lambda record: record["top"][0][0].update(log_prob=0.5), "a probability above 1"),
    (lambda record: record["source_ids"].append(5), "source_ids has"),
    (lambda record: record.update(given=10**6), "given is 1000000, of 17 steps"),
    (lambda record: record.update(engine_log_prob=float("nan")), "engine_log_prob is NaN, expected a finite number"),
    (lambda record: record.update(source_text="\ud800" + record["source_text"][1:]), "lone surrogate"),
    (lambda record: record["log_probs"].__setitem__(0, float("nan")), "NaN, infinity or numbers beyond"),
    (lambda record: record["cross"]["raw"][0][0][0].__setitem__(0, 2), "does not sum to 1"),
    (lambda record: record["cross"]["norm"].pop(), "norm of cross has shape"),
    (lambda record: record["encoder"].pop("norm"), "different views"),
])
def test_numbers_that_no_model_gives_are_refused(full_trace, tmp_path, spoil, why):
    full_trace.save(tmp_path / "t.json")
    record = json.loads((tmp_path / "t.json").read_text("utf-8"))
    spoil(record)
    (tmp_path / "t.json").write_text(json.dumps(record))
    with pytest.raises(UserError, match=f"is not a trace saved by Seq2See .*{why}"):
        Trace.load(tmp_path / "t.json")


@pytest.mark.parametrize(("change", "why"), [
    (lambda logits: logits - np.float16("inf"), "best logit of each step is not 0"),
    (lambda logits: np.zeros((len(logits), 3), np.float16), "an id is none of the 3 tokens"),
])
def test_logits_that_no_model_gives_are_refused(trace, tmp_path, change, why):
    replace(trace, logits=change(trace.logits)).save(tmp_path / "t.npz")
    with pytest.raises(UserError, match=f"is not a trace saved by Seq2See .*{why}"):
        Trace.load(tmp_path / "t.npz")


def test_a_file_that_unpacks_to_more_than_memory_is_not_unpacked(trace, tmp_path, monkeypatch):
    trace.save(tmp_path / "t.npz")
    Trace.load(tmp_path / "t.npz")
    monkeypatch.setattr("seq2see.lens.data.trace_files.MOST_BYTES", 10_000)
    with pytest.raises(UserError, match="unpacked it would have more than"):
        Trace.load(tmp_path / "t.npz")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def saved(trace, tmp_path_factory):
    """The bytes of a short trace with calibrated probabilities in both forms."""
    folder, calibrated = tmp_path_factory.mktemp("saved"), with_calibration(trace, Calibrator(0.1, 0.8))
    for suffix in ("json", "npz"):
        calibrated.save(folder / f"t.{suffix}")
    return {suffix: (folder / f"t.{suffix}").read_bytes() for suffix in ("json", "npz")}


def read(path):
    """Read it, and draw what was read; a page's numbers are numbers."""
    try:
        loaded = Trace.load(path)
        to_terminal(loaded)
        to_terminal(loaded, words=True)
        to_html(loaded)
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
