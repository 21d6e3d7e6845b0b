"""Memorising a few pairs, averaged weights, and the files of a checkpoint."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
import torch
from safetensors.torch import load_file
from transformers import GenerationConfig

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.manifest import write_manifest
from seq2see.modeling.loading import load_checkpoint
from seq2see.training.batching import EncodedPairs
from seq2see.training.checkpoints import atomic_files, newest_intact_checkpoint
from seq2see.training.translation import translate_pairs


def test_twenty_pairs_are_learnt_by_heart(make_trainer, pairs):
    trainer = make_trainer(
        train_pairs=pairs[:20], max_steps=120, learning_rate=5e-2, warmup_steps=5, max_tokens=1000, ema_decay=0.9,
        optim="muon",
    )
    trainer.train()
    trainer.model.eval()
    texts = translate_pairs(Translator(trainer.model, trainer.processing_class), pairs[:20], raw=True)
    assert texts == [pair.target for pair in pairs[:20]]


def test_translation_order_does_not_depend_on_batches(make_trainer, pairs):
    trainer = make_trainer()
    trainer.model.generation_config.max_length = 12
    translator = Translator(tiny.spread_out(trainer.model), trainer.processing_class)
    together = translate_pairs(translator, pairs, raw=True)
    alone = [translate_pairs(translator, [pair], raw=True)[0] for pair in pairs[:12]]
    assert together[:12] == alone and len(set(alone)) > 1


def test_average_is_the_moving_average_of_the_weights_after_each_step(make_trainer):
    trainer = make_trainer(ema_decay=0.7, max_steps=5)
    weights = []
    update = trainer.update_average

    def recorded():
        update()
        weights.append([parameter.detach().clone() for parameter in trainer.model.parameters()])

    trainer.update_average = recorded
    trainer.train()
    expected = weights[0]
    for step, now in enumerate(weights[1:], start=2):
        decay = min(0.7, step / (10 + step))
        expected = [decay * before + (1 - decay) * new for before, new in zip(expected, now, strict=True)]
    for parameter, average in zip(trainer.model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.data, average)  # the finished model has the averaged weights


def test_evaluation_leaves_the_trained_weights_as_they_were(make_trainer):
    with_evaluation = make_trainer(ema_decay=0.9, eval_strategy="steps", eval_steps=1, dropout=0.3)
    without = make_trainer(ema_decay=0.9, dropout=0.3)
    for trainer in (with_evaluation, without):
        torch.manual_seed(1)
        trainer.train()
    for one, other in zip(with_evaluation.model.parameters(), without.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_validation_loss_is_the_mean_over_tokens_without_smoothing(make_trainer):
    """Whatever training smooths: that of the model itself on all pairs at once."""
    for smoothing in (0.0, 0.3):
        trainer = make_trainer(label_smoothing_factor=smoothing, max_tokens=60)
        batch = trainer.collate(list(trainer.eval_dataset))
        with torch.no_grad():
            expected = trainer.model.eval()(**batch).loss.item()
        assert trainer.evaluate()["eval_loss"] == pytest.approx(expected, rel=1e-5)


def test_the_gradient_of_two_processes_is_that_of_the_whole_batch(make_trainer, monkeypatch):
    """Each computes the loss of its own pairs, and then their gradients are averaged."""
    trainer = make_trainer()
    pairs = list(trainer.train_dataset)
    count = (trainer.collate(pairs)["labels"] != -100).sum()

    def loss(some):
        return trainer.compute_loss(trainer.model.eval(), trainer.collate(some), num_items_in_batch=count).item()

    whole = loss(pairs)
    monkeypatch.setattr(type(trainer.accelerator), "num_processes", 2)
    assert (loss(pairs[::2]) + loss(pairs[1::2])) / 2 == pytest.approx(whole, rel=1e-5)


def test_the_best_weights_are_kept_and_they_are_averaged_ones(make_trainer):
    """A learning rate that soars after the start: the best evaluation is an early one."""
    trainer = make_trainer(
        ema_decay=0.5, eval_strategy="steps", eval_steps=2, save_strategy="steps", save_steps=2, max_steps=8,
        load_best_model_at_end=True, learning_rate=1.5, lr_scheduler_type="constant_with_warmup", warmup_steps=8,
    )
    trainer.train()
    history = {entry["step"]: entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry}
    best = min(history, key=history.__getitem__)
    assert best < 8
    saved = load_file(Path(trainer.args.output_dir) / f"checkpoint-{best}" / "model.safetensors")
    for name, parameter in trainer.model.named_parameters():
        assert torch.equal(parameter, saved[name])
    trainer.average = None
    assert trainer.evaluate()["eval_loss"] == pytest.approx(history[best], rel=1e-6)


def test_an_evaluation_keeps_within_the_positions(make_trainer, tokenizer, pairs):
    """Of a model that never ends a sentence, and a pair so long that it may be translated by more."""
    trainer = make_trainer()
    trainer.model.generation_config.max_length = 256
    trainer.model.generation_config.suppress_tokens = [tokenizer.eos_token_id]
    long = type(pairs[0])("cat " * 30, "chat " * 30, "en", "fr")
    assert trainer.evaluate(EncodedPairs([long], tokenizer, max_length=64))["eval_bleu"] < 1


def test_training_pins_neither_attention_nor_cache_nor_generation(make_trainer):
    trainer = make_trainer(save_strategy="steps", save_steps=6, eval_strategy="steps", eval_steps=3)
    wanted = trainer.model.generation_config.to_dict()
    attention = trainer.model.config._attn_implementation
    trainer.train()
    folder = Path(trainer.args.output_dir) / "checkpoint-6"
    model = load_checkpoint(folder)
    assert model.config.use_cache is True
    assert trainer.model.config._attn_implementation == model.config._attn_implementation == attention == "sdpa"
    saved = GenerationConfig.from_pretrained(folder).to_dict()
    wanted.pop("transformers_version"), saved.pop("transformers_version")
    assert saved == wanted


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt", "scheduler.pt", "trainer_state.json"])
def test_a_half_written_checkpoint_is_passed_over(run, name):
    """A number that is another one opens without complaint: the manifest alone knows.  And whatever the clock says."""
    os.utime(run / "checkpoint-2", (4e9, 4e9))
    file = run / "checkpoint-6" / name
    content = file.read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    for spoilt in (changed, content[:-40], None):
        file.unlink() if spoilt is None else file.write_bytes(spoilt)
        found, passed_over = newest_intact_checkpoint(run)
        assert found == run / "checkpoint-4"
        assert len(passed_over) == 1 and "checkpoint-6" in passed_over[0] and name in passed_over[0]


@pytest.mark.parametrize("name", ["manifest.json", "optimizer.pt", "rng_state.pth", "scheduler.pt",
                                  "trainer_state.json"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_checkpoint_that_lacks_what_resuming_takes_is_passed_over(run, name, listed):
    """Also where its manifest does not list the file, or is not there."""
    newest = run / "checkpoint-6"
    (newest / name).unlink()
    if not listed:
        write_manifest(newest) if name != "manifest.json" else (newest / "optimizer.pt").unlink()
    found, [passed_over] = newest_intact_checkpoint(run)
    assert found == run / "checkpoint-4" and f"{newest / name} is missing" in passed_over


def test_of_two_target_languages_in_turn_an_evaluation_translates_both(make_trainer, monkeypatch):
    trainer = make_trainer()
    pairs = trainer.eval_dataset.pairs[:]
    trainer.eval_dataset.pairs = [replace(pair, target_language=("fr", "de")[i % 2]) for i, pair in enumerate(pairs)]
    trainer.validation_pairs = len(pairs) // 2
    asked = []
    monkeypatch.setattr(trainer, "_translate", lambda pairs, **_: asked.extend(pairs) or [p.target for p in pairs])
    trainer.evaluate()
    assert {pair.target_language for pair in asked} == {"fr", "de"}


def test_finished_files_are_put_in_place_together_or_not_at_all(tmp_path):
    (tmp_path / "old").write_text("old")
    with pytest.raises(UserError, match="No space left"), atomic_files(tmp_path) as folder:
        (folder / "old").write_text("new")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("old", "old")]
