"""transformers' own Seq2SeqTrainer: the example in `docs/` trains on what our own Trainer trains on, and labels without
a language tag are refused."""

import runpy

import pytest
import torch
from transformers import AutoTokenizer, DataCollatorForSeq2Seq

from seq2see import Seq2SeeForConditionalGeneration, Seq2SeeTokenizer
from seq2see.tokenizer.layout import FIRST_TAG, TAG_SLOTS
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
    assert len(path.read_text("utf-8").splitlines()) <= 40
    some = pairs[:32]
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


def test_the_model_and_the_tokenizer_mean_the_same_tags():
    from seq2see.modeling.configuration_seq2see import LANGUAGE_TAGS

    assert range(FIRST_TAG, FIRST_TAG + TAG_SLOTS) == LANGUAGE_TAGS
