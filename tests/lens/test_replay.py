"""A replay as a file: what is read back is what was saved, in less than a megabyte, or it is refused in one line.

pytest tests/lens/test_replay.py
"""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from seq2see.errors import UserError
from seq2see.lens.kinds import KINDS
from seq2see.lens.replay import FILE, MOST_BYTES, SHADES, Moment, Replay, load_replay, to_shades
from seq2see.lens.trace import Trace
from seq2see.lens.trace_data import Candidate
from seq2see.tokenizer.words import Piece


def rows(dice: np.random.Generator, *shape: int, causal: bool = False) -> np.ndarray:
    """Rows of weights that sum to 1, some of them even and some nearly one-hot."""
    weights = dice.exponential(size=shape) ** dice.uniform(0.1, 6, size=(*shape[:-1], 1))
    if causal:
        weights *= np.tri(shape[-1])
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def drawn(dice: np.random.Generator, *, pieces: int, steps: int, layers: tuple[int, int], heads: int) -> Trace:
    """A trace of no model, with as many maps as one of these layers and heads has."""
    text = {"source": " ".join("cat" for _ in range(pieces)), "target": " ".join("chat" for _ in range(steps))}
    source, target = (tuple(Piece(word, i, i * (len(word) + 1), i * (len(word) + 1) + len(word), False)
                            for i, word in enumerate(text[side].split())) for side in ("source", "target"))
    log_probs = -dice.exponential(size=steps).astype(np.float32)
    return Trace(
        source_text=text["source"], target_text=text["target"], source=source, target=target,
        inputs=(Piece("<s>", None, 0, 0, True), *target[:-1]),
        source_ids=tuple(dice.integers(0, 9000, pieces).tolist()),
        target_ids=tuple(dice.integers(0, 9000, steps).tolist()),
        encoder={"raw": rows(dice, layers[0], heads, pieces, pieces)},
        decoder={"raw": rows(dice, layers[1], heads, steps, steps, causal=True)},
        cross={"raw": rows(dice, layers[1], heads, steps, pieces)},
        log_probs=log_probs, entropies=dice.exponential(size=steps).astype(np.float32),
        log_normalisers=dice.normal(size=steps).astype(np.float32),
        top=tuple((Candidate(7, "chat", float(one)), Candidate(8, "rat", float(one) - 1)) for one in log_probs),
        given=1, source_language="en", target_language="fr",
    )


def made(*, moments: int = 3, sentences: int = 2, pieces: int = 5, steps: int = 4, layers: tuple[int, int] = (2, 1),
         heads: int = 2) -> Replay:
    dice = np.random.default_rng(0)
    return Replay("0123456789abcdef", tuple(
        Moment(10 * number + 1, 7.5 if number else None, None,
               tuple(drawn(dice, pieces=pieces, steps=steps, layers=layers, heads=heads) for _ in range(sentences)))
        for number in range(moments)
    ))


def test_rows_of_shades_sum_to_255_and_are_less_than_one_off():
    dice = np.random.default_rng(1)
    for weights in (rows(dice, 3, 2, 9, 17), rows(dice, 2, 4, 20, 20, causal=True), np.ones((1, 1), np.float32),
                    np.full((2, 300), 1 / 300, np.float32), np.float32([[0.9995, 0, 0], [1.0004, 0, 0]])):
        shades = to_shades(weights)
        assert shades.dtype == np.uint8 and (shades.sum(-1, dtype=int) == SHADES).all()
        share = weights / weights.sum(-1, keepdims=True)
        assert (abs(shades - SHADES * share) < 1).all()
        assert (shades[weights == 0] == 0).all(), "what is masked stays masked"


def test_what_is_read_back_is_what_was_saved(tmp_path):
    replay = made()
    replay.save(tmp_path / FILE)
    read = load_replay(tmp_path)
    assert read.weights == replay.weights
    for moment, kept in zip(replay.moments, read.moments, strict=True):
        assert (kept.step, kept.loss, kept.bleu) == (moment.step, moment.loss, moment.bleu)
        for trace, again in zip(moment.traces, kept.traces, strict=True):
            for name in ("source_text", "target_text", "source", "target", "inputs", "source_ids", "target_ids",
                         "given", "source_language", "target_language", "log_prob"):
                assert getattr(again, name) == getattr(trace, name)
            for name in ("log_probs", "entropies", "log_normalisers"):
                np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
            assert again.top == tuple(step[:1] for step in trace.top)
            for kind in KINDS:
                assert abs(again.maps(kind) - trace.maps(kind)).max() < 1 / SHADES
                np.testing.assert_allclose(again.maps(kind).sum(-1), 1, atol=1e-6)


def test_a_model_of_six_layers_of_eight_heads_takes_less_than_a_megabyte(tmp_path):
    made(moments=18, sentences=3, pieces=15, steps=24, layers=(4, 2), heads=8).save(tmp_path / FILE)
    assert (tmp_path / FILE).stat().st_size < 1_000_000


def spoilt(change):
    """The file of a replay whose record was changed."""
    def pack(data: bytes) -> bytes:
        record = json.loads(gzip.decompress(data))
        change(record)
        return gzip.compress(json.dumps(record).encode())

    return pack


def first_trace(record: dict) -> dict:
    return record["moments"][0]["traces"][0]


@pytest.mark.parametrize(("change", "told"), [
    (lambda data: data[:-20], "."),
    (lambda data: b"{}", "."),
    (lambda data: gzip.compress(b"[]"), "."),
    (lambda data: gzip.compress(b" " * (MOST_BYTES + 2)), "unpacked it would have more than"),
    (spoilt(lambda record: record.update(version=2)), "another format or version"),
    (spoilt(lambda record: record.update(format="seq2see-trace")), "another format or version"),
    (spoilt(lambda record: record.update(moments=[])), "its steps are"),
    (spoilt(lambda record: record["moments"].reverse()), "its steps are"),
    (spoilt(lambda record: record["moments"][1].update(traces=[])), "different sentences or heads"),
    (spoilt(lambda record: first_trace(record).update(source_text="dog dog dog dog dog")), "different sentences"),
    (spoilt(lambda record: record["moments"][0].update(loss="low")), "loss holds 'low'"),
    (spoilt(lambda record: record["moments"][0].update(bleu=float("nan"))), "bleu holds 'nan'"),
    (spoilt(lambda record: first_trace(record)["cross"]["raw"][0][0][0].__setitem__(0, 300)), "does not sum to 1"),
    (spoilt(lambda record: first_trace(record)["encoder"]["raw"].pop()), "has shape|different sentences or heads"),
    (spoilt(lambda record: first_trace(record).pop("target")), "target"),
])
def test_a_damaged_or_foreign_file_is_one_line(tmp_path, change, told):
    path = tmp_path / FILE
    made().save(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UserError, match=told) as refused:
        load_replay(tmp_path)
    said = str(refused.value)
    assert said.startswith(f"{path} is not a replay saved by Seq2See (") and "\n" not in said


def test_moments_have_the_same_heads(tmp_path):
    one, other = made(), made(heads=3)
    mixed = replace(one, moments=(one.moments[0], replace(other.moments[1])))
    mixed.save(tmp_path / FILE)
    with pytest.raises(UserError, match="different sentences or heads"):
        load_replay(tmp_path)
