"""Whatever has become of a saved trace, it is read or refused by one line.

pytest tests/lens/test_any_file.py
"""

import copy
import json
from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.lens import Trace, to_html, to_terminal
from seq2see.lens.kinds import KINDS

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


def at_first(name, **values):
    return lambda record: record[name][0].update(values)


@pytest.mark.parametrize(("spoil", "why"), [
    (at_first("source", word=99), "a token is of word 99, its text has"),
    (at_first("inputs", word=99), "a token is of word 99, its text has"),
    (lambda record: record.update(top=[]), "top has 0 entries, expected 17"),
    (lambda record: record["top"].__setitem__(0, []), "no candidates"),
    (lambda record: record["top"][0][0].update(log_prob=-1e400), "log_prob holds '-inf'"),
    (lambda record: record["top"][0][0].update(log_prob=0.5), "a probability above 1"),
    (lambda record: record.update(target_ids=[]), "target_ids has 0 entries, expected 17"),
    (lambda record: record["source_ids"].append(5), "source_ids has"),
    (lambda record: record.update(given=10**6), "given is 1000000, of 17 steps"),
    (lambda record: record.update(given=-3), "given is -3, of 17 steps"),
    (lambda record: record.update(rows="reads"), "rows holds 'reads'"),
    (lambda record: record.update(score=10**400), "score holds"),
    (lambda record: record.update(engine_log_prob=float("nan")), "engine_log_prob holds 'nan'"),
    (lambda record: record.update(source_text="\ud800" + record["source_text"][1:]), "lone surrogate"),
    (lambda record: record["log_probs"].__setitem__(0, float("nan")), "NaN, infinity or numbers beyond"),
    (lambda record: record["log_probs"].__setitem__(0, 200), "a probability above 1"),
    (lambda record: record["cross"]["norm"][0][0][0].__setitem__(0, float("inf")), "NaN, infinity or numbers beyond"),
    (lambda record: record["cross"]["raw"][0][0][0].__setitem__(0, 2), "does not sum to 1"),
    (lambda record: record.update(left_out=[[*row, 0.0] for row in record["left_out"]]), "a column a source word"),
    (lambda record: record["cross"]["norm"].pop(), "norm of cross has shape"),
    (lambda record: record["cross"].pop("raw"), "no view 'raw'"),
    (lambda record: record["encoder"].pop("norm"), "different views"),
    (lambda record: [record[kind].update(other=record[kind]["rollout"]) for kind in KINDS], "there is no view 'other'"),
    (lambda record: [record["cross"][view].pop() for view in record["cross"]], "other layers in decoder and cross"),
])
def test_numbers_that_no_model_gives_are_refused(full_trace, tmp_path, spoil, why):
    full_trace.save(tmp_path / "t.json")
    record = json.loads((tmp_path / "t.json").read_text("utf-8"))
    spoil(record)
    (tmp_path / "t.json").write_text(json.dumps(record))
    with pytest.raises(UserError, match=f"is not a trace saved by Seq2See .*{why}"):
        Trace.load(tmp_path / "t.json")


@pytest.mark.parametrize(("change", "why"), [
    (lambda logits: logits * np.float16("nan"), "best logit of each step is not 0"),
    (lambda logits: logits - np.float16("inf"), "best logit of each step is not 0"),
    (lambda logits: logits + 1, "best logit of each step is not 0"),
    (lambda logits: np.zeros((len(logits), 3), np.float16), "an id is none of the 3 tokens"),
])
def test_logits_that_no_model_gives_are_refused(trace, tmp_path, change, why):
    replace(trace, logits=change(trace.logits)).save(tmp_path / "t.npz")
    with pytest.raises(UserError, match=f"is not a trace saved by Seq2See .*{why}"):
        Trace.load(tmp_path / "t.npz")


def test_no_page_holds_what_is_no_number(trace):
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_html(replace(trace, log_probs=np.full(len(trace.target), np.nan, np.float32)))


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
