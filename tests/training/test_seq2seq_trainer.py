"""transformers' own Seq2SeqTrainer: the example in `docs/` trains on what our own Trainer trains on, and labels without
a language tag are refused.  And what a user of it finds in ours: its arguments, and any encoder-decoder."""

import random
import runpy
from dataclasses import replace

import datasets
import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
)

from seq2see import Seq2SeeForConditionalGeneration, Seq2SeeTokenizer
from seq2see.tokenizer.layout import FIRST_TAG
from seq2see.training.arguments import Seq2SeeTrainingArguments
from seq2see.training.batching import EncodedPairs
from seq2see.training.trainer import Seq2SeeTrainer
from .conftest import tiny_model


@pytest.fixture
def checkpoint(tokenizer, tmp_path):
    folder = tmp_path / "model"
    tiny_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_the_example_gives_the_loss_of_our_own_trainer(root, checkpoint, pairs, make_trainer, tmp_path, monkeypatch):
    """The same pairs in one batch; then it trains to the end, and what it saves translates."""
    path = root / "docs" / "finetune_with_seq2seq_trainer.py"
    some = [replace(pairs[0], source=f"{pairs[0].source}\u2028it"), *pairs[1:32]]
    (tmp_path / "pairs.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in some), "utf-8")
    arguments = checkpoint, tmp_path / "pairs.tsv", "fr", str(tmp_path / "tuned")
    theirs = runpy.run_path(str(path))["make_trainer"](*arguments)
    [batch] = theirs.get_train_dataloader()
    ours = make_trainer(train_pairs=some, label_smoothing_factor=0.0, max_tokens=10_000)
    [own] = ours.get_train_dataloader()
    assert sorted(batch["labels"].tolist()) == sorted(own["labels"].tolist())
    with torch.no_grad():
        loss = theirs.model.eval()(**batch).loss
        torch.testing.assert_close(loss, ours.compute_loss(ours.model.eval(), own))
    monkeypatch.setattr("sys.argv", [str(path), *map(str, arguments)])
    runpy.run_path(str(path), run_name="__main__")
    tuned = Seq2SeeForConditionalGeneration.from_pretrained(tmp_path / "tuned")
    assert tuned(**batch).loss < loss
    stranger = AutoTokenizer.from_pretrained(tmp_path / "tuned")
    assert tuned.generate(**stranger("the cat", return_tensors="pt"))[0, 1] == FIRST_TAG


@pytest.mark.parametrize("collated", [True, False])
def test_labels_without_a_tag_are_refused(checkpoint, collated):
    """Those of the stock tokenizer, in the collator or in forward; padded on the left; never a batch of no labels."""
    model = Seq2SeeForConditionalGeneration.from_pretrained(checkpoint)
    for kind, side, fine in (
        (AutoTokenizer, "right", False), (Seq2SeeTokenizer, "right", True), (Seq2SeeTokenizer, "left", False)
    ):
        tokenizer = kind.from_pretrained(checkpoint, padding_side=side)
        rows = [dict(tokenizer("the cat", text_target=text)) for text in ("le chat", "le chat rouge")]
        collate = DataCollatorForSeq2Seq(tokenizer, model=model if collated else None)
        if fine:
            assert model(**collate(rows)).loss.isfinite()
            continue
        with pytest.raises(ValueError, match="expected a language tag .*Seq2SeeTokenizer.*tgt_lang.* is 4$"):
            model(**collate(rows))
    nothing = torch.full((1, 1), -100)
    assert model.prepare_decoder_input_ids_from_labels(nothing).tolist() == [[1]]
    model.config.language_pairs = None
    assert model.prepare_decoder_input_ids_from_labels(torch.tensor([[50, 2]])).tolist() == [[1, 50]]


def test_what_the_parent_takes_is_taken(make_trainer, pairs, tokenizer):
    """compute_metrics, callbacks, optimizers, a dict of evaluation sets; evaluate(dict) and predict."""
    plain, seen = make_trainer(), []

    class Seen(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            seen.append(state.global_step)

    model = plain.model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    some = EncodedPairs(pairs[:4], tokenizer, max_length=64)
    trainer = Seq2SeeTrainer(
        model, plain.args, train_dataset=plain.train_dataset, eval_dataset={"one": plain.eval_dataset, "two": some},
        processing_class=tokenizer, callbacks=[Seen()], optimizers=(optimizer, None),
        compute_metrics=lambda found: {"rows": len(found.label_ids)},
    )
    trainer.train()
    assert seen == [1, 2, 3, 4, 5, 6] and trainer.optimizer.optimizer is optimizer
    assert trainer.evaluate().items() >= {"eval_one_rows": 10, "eval_two_rows": 4}.items()
    assert trainer.evaluate(some)["eval_rows"] == 4
    trainer.compute_metrics = None
    found = trainer.evaluate({"three": some})
    assert {"eval_three_loss", "eval_three_bleu"} <= found.keys()
    assert found["eval_three_loss"] == pytest.approx(trainer.evaluate(some)["eval_loss"])
    assert len(trainer.predict(some).label_ids) == 4


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["seq2see", "bart", "t5", "marian", "m2m_100"])
def test_any_encoder_decoder_trains_as_by_transformers(kind, tokenizer, tmp_path):
    """On a datasets.Dataset, in batches by tokens: one batch, theirs in four parts, holds all rows, so order plays no
    part.  For an M2M-100, transformers neither smooths, for it finds no decoder input, nor counts tokens over parts."""
    parts, smoothing = (1, 0.0) if kind == "m2m_100" else (4, 0.1)
    draw = random.Random(0)
    rows = [{name: [*draw.choices(range(5, 60), k=draw.randint(3, 9)), 2] for name in ("input_ids", "labels")}
            for _ in range(24)]
    data = datasets.Dataset.from_list(rows)
    settings = {
        "output_dir": str(tmp_path), "max_steps": 3, "optim": "sgd", "learning_rate": 0.5, "report_to": "none",
        "lr_scheduler_type": "constant", "logging_steps": 1, "use_cpu": True, "save_strategy": "no",
        "label_smoothing_factor": smoothing, "warmup_steps": 2, "seed": 0, "bf16": False, "disable_tqdm": True,
        "eval_strategy": "no",
    }
    arguments = Seq2SeeTrainingArguments(**settings, max_tokens=10_000, load_best_model_at_end=False)
    ours = Seq2SeeTrainer(foreign(kind), arguments, train_dataset=data, eval_dataset=data)
    model = foreign(kind)
    theirs = Seq2SeqTrainer(
        model, Seq2SeqTrainingArguments(**settings, per_device_train_batch_size=24 // parts,
                                        gradient_accumulation_steps=parts),
        train_dataset=data, data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
    )
    losses = []
    for trainer in (ours, theirs):
        trainer.train()
        losses.append([row["loss"] for row in trainer.state.log_history if "loss" in row])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4) and losses[0][-1] < losses[0][0]
    for one, other in zip(ours.model.parameters(), theirs.model.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    assert ours.evaluate()["eval_loss"] > 0


def foreign(kind):
    """A tiny model of that kind without dropout, the same each time."""
    torch.manual_seed(0)
    ids = {"vocab_size": 60, "pad_token_id": 0, "eos_token_id": 2, "bos_token_id": 1, "decoder_start_token_id": 1}
    sizes = {"d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2, "dropout_rate": 0.0} if kind == "t5" else {
        "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
        "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "dropout": 0.0, "max_position_embeddings": 64,
        "attention_dropout": 0.0, "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0,
    }
    return AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model(kind, d_model=16, **sizes, **ids))
