"""Moments of a training: when weights are kept, that they are those of that step, and what is made of them."""

from types import SimpleNamespace

import pytest
import torch

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.lens.corpora.replay import FILE, load_replay
from seq2see.measures.training_replay import trace_sentences
from seq2see.training.moments import FOLDER, KeepMoments, load_moment, moments, moments_of
from .conftest import SETTINGS, SHAPE


def test_moments_are_close_together_at_the_start_and_have_both_ends():
    chosen = sorted(moments(1836, 18))
    assert (chosen[0], chosen[-1], len(chosen)) == (1, 1836, 18)
    gaps = [after - before for before, after in zip(chosen, chosen[1:], strict=False)]
    assert gaps == sorted(gaps) and gaps[0] < 5
    assert moments(3, 18) == {1, 2, 3}


def test_a_moment_has_the_averaged_weights_of_its_step_and_training_goes_on_as_without(make_trainer, tmp_path):
    trainer, plain = make_trainer(ema_decay=0.7, max_steps=6), make_trainer(ema_decay=0.7, max_steps=6)
    trainer.add_callback(KeepMoments(trainer, tmp_path, count=3))
    averages, update = {}, trainer.update_average

    def recorded():
        update()
        averages[len(averages) + 1] = [average.clone() for average in trainer.average]

    trainer.update_average = recorded
    trainer.train()
    plain.train()
    kept = moments_of(tmp_path)
    assert list(kept) == sorted(moments(6, 3))
    for step, file in kept.items():
        load_moment(plain.model, file)
        for weight, average in zip(plain.model.parameters(), averages[step], strict=True):
            assert weight.dtype == torch.float32
            torch.testing.assert_close(weight.data, average, rtol=1e-3, atol=1e-5)
    for weight, average in zip(trainer.model.parameters(), averages[6], strict=True):
        assert torch.equal(weight, average)


def test_a_training_that_goes_on_keeps_the_moments_up_to_there(make_trainer, tmp_path):
    (tmp_path / FOLDER).mkdir()
    for step in (1, 4, 7):
        (tmp_path / FOLDER / f"{step}.safetensors").touch()
    KeepMoments(make_trainer(), tmp_path, count=3).on_train_begin(None, SimpleNamespace(global_step=4), None)
    assert list(moments_of(tmp_path)) == [1, 4]


@pytest.mark.few(1)
@pytest.mark.parametrize("share", [1000.0, 0.0])
def test_a_finished_run_has_the_replay_of_its_training_if_there_was_time(
    toy_file, tmp_path, monkeypatch, capsys, share
):
    monkeypatch.setattr("seq2see.measures.finished_run.SHARE", share)
    run = tmp_path / "run"
    assert main(["train", "finetune", *SHAPE, *SETTINGS, f"data.path={toy_file}", f"training.output_dir={run}",
                 "training.max_steps=4", "training.load_best_model_at_end=false"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert not (run / FOLDER).exists()
    if not share:
        assert said[-1].startswith("not measured: replay of the training (0.0 s are left, too little for 2 moments")
        assert not (run / FILE).exists()
        return
    replay = load_replay(run)
    assert said[-1] == f"wrote {run / FILE}"
    assert [moment.step for moment in replay.moments] == sorted(moments(4, 18))
    assert len({moment.traces[0].log_prob for moment in replay.moments}) == len(replay.moments)
    translator = Translator.from_pretrained(run, engine="torch")
    for kept, trace in zip(replay.moments[-1].traces, trace_sentences(translator), strict=True):
        assert kept.target_ids == trace.target_ids and kept.log_prob == pytest.approx(trace.log_prob, abs=1e-4)
