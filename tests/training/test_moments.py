"""Moments of a training: when weights are kept, and that they are those of that step."""

import torch

from seq2see.training.moments import KeepMoments, load_moment, moments, moments_of


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
