"""The replay of a training: what each moment's weights write and look at, whichever moments were kept."""

import json
from pathlib import Path

import pytest
import tiny
import torch
from safetensors.torch import save_file

from seq2see import Translator
from seq2see.lens.corpora.replay import FILE, SHADES, load_replay
from seq2see.measures import training_replay
from seq2see.measures.training_replay import MOST_TOKENS, SENTENCES, can_be_replayed, make_replay
from seq2see.passes.attention_kinds import KINDS
from seq2see.training.config import load_config
from seq2see.training.moments import FOLDER, load_moment, moments, moments_of
from seq2see.translate.loaded_checkpoint import fingerprint

LOG = [{"step": 4, "loss": 6.5}, {"step": 4, "eval_loss": 5.0, "eval_bleu": 1.5}, {"step": 8, "loss": 3.25}]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose best checkpoint is of step 9, with moments before it, at it, and after it."""
    folder = tiny.save(tmp_path / "run", *tiny.seq2see())
    (folder / FOLDER).mkdir()
    for step in (1, 5, 9, 12):
        model, _ = tiny.seq2see(seed=step)
        weights = {name: weight.detach().half() for name, weight in model.named_parameters()}
        save_file(weights, folder / FOLDER / f"{step}.safetensors")
    record(folder, steps=12, kept_step=9)
    return folder


def record(folder: Path, **training: int) -> None:
    (folder / "metrics.json").write_text(json.dumps({"training": training | {"log": LOG}}), "utf-8")


def test_each_moment_is_what_the_model_of_that_step_writes_and_looks_at(run: Path) -> None:
    translator = Translator.from_pretrained(run, engine="torch")
    finished = translator.model.get_encoder().layers[0].self_attn.q_proj.weight.clone()
    make_replay(translator, run, count=18).save(run / FILE)
    assert torch.equal(translator.model.get_encoder().layers[0].self_attn.q_proj.weight, finished)
    replay = load_replay(run)
    told = [(moment.step, moment.loss, moment.bleu) for moment in replay.moments]
    assert told == [(1, None, None), (5, 6.5, 1.5), (9, 3.25, 1.5)]
    assert replay.weights == fingerprint(run)
    for moment in replay.moments:
        model, tokenizer = tiny.seq2see()  # the finished model is of this seed
        if moment.step < 9:
            load_moment(model, moments_of(run)[moment.step])
        then = Translator(model, tokenizer)
        wrote = then(list(SENTENCES), source="en", target="fr", num_beams=1, max_new_tokens=MOST_TOKENS)
        for kept, trace in zip(moment.traces, then.look(wrote), strict=True):
            for name in ("source_text", "target_text", "source", "target", "target_ids", "given"):
                assert getattr(kept, name) == getattr(trace, name)
            assert kept.log_prob == pytest.approx(trace.log_prob, abs=1e-3)
            for kind in KINDS:
                assert abs(kept.maps(kind) - trace.maps(kind)).max() < 1 / SHADES + 1e-4
    assert len({moment.traces[0].log_prob for moment in replay.moments}) == 3


def test_a_run_trained_on_begins_with_the_replay_of_its_start(run: Path, tmp_path: Path) -> None:
    make_replay(Translator.from_pretrained(run, engine="torch"), run, count=18).save(run / FILE)
    further, other = tiny.save(tmp_path / "further", *tiny.seq2see(seed=3)), tmp_path / "gone"
    record(further, steps=7)
    translator = Translator.from_pretrained(further, engine="torch")
    for start, expected in ((run, [1, 5, 9, 16]), (other, [7])):
        (further / "run.yaml").write_text(f"model: {{init_from: {start}}}\n", "utf-8")
        assert [moment.step for moment in make_replay(translator, further, count=18).moments] == expected
    (further / "run.yaml").write_text(f"model: {{init_from: {run}}}\n", "utf-8")
    make_replay(translator, further, count=18).save(further / FILE)
    assert load_replay(further).weights == fingerprint(further), "one replay, readable as such"


def test_of_more_moments_than_there_is_time_for_every_so_many_are_taken(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_replay, "trace_sentences", lambda translator: ())
    monkeypatch.setattr(training_replay, "load_moment", lambda model, file: None)
    for step in moments(1000, 18):
        (run / FOLDER / f"{step}.safetensors").touch()
    record(run, steps=1000)  # as before runs told which step was kept
    translator = Translator.from_pretrained(run, engine="torch")
    for count in (1, 2, 7):
        steps = [moment.step for moment in make_replay(translator, run, count=count).moments]
        assert len(set(steps)) == count and set(steps) <= set(moments_of(run)) and steps == sorted(steps)
        assert steps[-1] == 1000 and (count == 1 or steps[0] == 1)
    assert len(make_replay(translator, run, count=99).moments) == len(moments_of(run))


@pytest.mark.parametrize(("name", "changes", "expected"), [
    ("storybook", [], True),
    ("multi30k-en-de", ["data.path=x"], False),
    ("storybook", ["data.source=fr", "data.target=en"], False),
])
def test_trainings_that_learn_the_sentences_are_replayed(name: str, changes: list[str], expected: bool) -> None:
    assert can_be_replayed(load_config(name, changes)) is expected
