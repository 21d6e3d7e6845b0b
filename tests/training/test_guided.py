"""Guided alignment: links by pieces, the loss as its definition says, and one trajectory as without it."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from seq2see import Seq2SeeConfig
from seq2see.errors import UserError
from seq2see.storybook import generate
from seq2see.tokenizer.words import split_words
from seq2see.training.arguments import Seq2SeeTrainingArguments
from seq2see.training.batching import EncodedPairs
from seq2see.training.config import load_config
from seq2see.training.guided import GuidedTrainer, guide_of, guides_of, training_links, word_tokens
from seq2see.training.kernels import fast_kernels
from seq2see.training.pairs import Pair
from seq2see.training.run import run_experiment
from tests.training.conftest import tiny_model, toy_pairs

INPUTS = ("input_ids", "attention_mask", "decoder_input_ids")  # of the model; a batch has labels and links, too
DIAGONAL = [(number, number) for number in range(9)]


def links_of(pair: Pair) -> list[tuple[int, int]]:
    """The toy language is translated word by word; each target word is linked to the word before, too, where odd."""
    words = len(split_words(pair.source, language="en"))
    return DIAGONAL[:words] + [(j - 1, j) for j in range(1, words, 2)]


def guided_pairs(pairs, tokenizer, *, links=links_of, max_length=64) -> EncodedPairs:
    guides = guides_of(pairs, [links(pair) for pair in pairs], tokenizer)
    return EncodedPairs(pairs, tokenizer, max_length=max_length, guides=guides)


@pytest.fixture
def make_guided(pairs, tokenizer, tmp_path):
    def make(*, dropout: float = 0.0, start=lambda model: None, **fields) -> GuidedTrainer:
        defaults = {
            "output_dir": str(tmp_path / "run"), "max_tokens": 200, "max_steps": 6, "warmup_steps": 2, "use_cpu": True,
            "eval_strategy": "no", "save_strategy": "no", "load_best_model_at_end": False, "logging_steps": 1,
            "bf16": False, "disable_tqdm": True, "guided_alignment": 0.5, "guided_head": 1,
        }
        model = tiny_model(tokenizer, dropout=dropout)
        start(model)
        return GuidedTrainer(
            model,
            Seq2SeeTrainingArguments(**{**defaults, **fields}),
            train_dataset=guided_pairs(pairs, tokenizer),
            eval_dataset=EncodedPairs(pairs[:10], tokenizer, max_length=64),
            processing_class=tokenizer,
        )

    return make


@pytest.mark.parametrize("text", [
    "the small dog sees aujourd'hui", "<s> the </s> unbekannt<pad>", "  the\tdog ", "é\u0301 हिन्दी 👍🏽!", "",
    "l'oiseau, l'oiseau",
])  # fmt: skip
def test_the_pieces_of_words_are_those_that_the_lens_counts(tokenizer, text):
    spans = tokenizer.spans(tokenizer.encode_source(text), text, language="fr")
    expected = [[k for k, piece in enumerate(spans) if piece.word == word]
                for word in range(len(split_words(text, language="fr")))]
    assert word_tokens(tokenizer, text, "fr") == expected


def test_a_row_of_the_guide_is_shared_by_words_and_then_by_their_pieces(tokenizer):
    """Word 0, of several pieces, and word 1, of one, are both linked to target word 1; target word 0 to nothing."""
    pair = Pair("zyx dog", "un chien", "en", "fr")
    zyx, [dog] = word_tokens(tokenizer, "zyx dog", "en")
    _, chien = word_tokens(tokenizer, "un chien", "fr")
    assert len(zyx) > 1
    guide = guide_of(pair, [(0, 1), (1, 1)], tokenizer)
    ids = tokenizer.encode_target("un chien", language="fr")
    assert tokenizer.decode(ids[chien[0] + 1 : chien[-1] + 2]).strip() == "chien"  # labels begin with the tag
    for t in chien:
        row = {int(s): weight for at, s, weight in guide.tolist() if at == t + 1}
        assert row == pytest.approx({dog: 0.5, **dict.fromkeys(zyx, 0.5 / len(zyx))})
    assert set(guide[:, 0]) == {t + 1 for t in chien}


@pytest.mark.parametrize("layer", [0, -1])
def test_the_loss_is_the_cross_entropy_of_links_and_the_weights_of_eager_attention(make_guided, layer):
    trainer = make_guided(guided_layer=layer)
    plain = make_guided(guided_alignment=0.0)
    inputs = trainer.collate([trainer.train_dataset[index] for index in range(7)])
    assert (inputs["attention_mask"] == 0).any()
    names = ("input_ids", "attention_mask", "decoder_input_ids")
    trainer.model.set_attn_implementation("eager")
    weights = trainer.model(**{name: inputs[name] for name in names}, output_attentions=True).cross_attentions[layer]
    expected = 0.0
    for (b, t, s), link in zip(inputs["guide_rows"].tolist(), inputs["guide_weights"].tolist(), strict=True):
        expected -= link * weights[b, 1, t, s].log()
    with fast_kernels(trainer.model), fast_kernels(plain.model):
        guided = trainer.compute_loss(trainer.model, inputs, num_items_in_batch=10)
        without = plain.compute_loss(plain.model, inputs, num_items_in_batch=10)
    torch.testing.assert_close(guided - without, 0.5 * expected / 10)
    attention = trainer.model.model.decoder.layers[layer].encoder_attn
    assert not attention.q_proj._forward_hooks and not attention.k_proj._forward_hooks


def test_every_linked_target_piece_weighs_one_and_no_other_does(make_guided, pairs):
    trainer = make_guided()
    inputs = trainer.collate([trainer.train_dataset[index] for index in range(20)])
    weight_BT = torch.zeros(inputs["labels"].shape).index_put_(
        tuple(inputs["guide_rows"][:, :2].T), inputs["guide_weights"], accumulate=True
    )
    linked = inputs["labels"] > 35  # neither padding, nor the tag, nor the end
    torch.testing.assert_close(weight_BT, linked.float())


@pytest.mark.parametrize(("layer", "known", "marked"), [(-1, None, [[-1, 1]]), (0, [[0, 0]], [[0, 0], [0, 1]])])
def test_the_model_says_which_heads_were_taught_wherever_it_goes(make_guided, tmp_path, layer, known, marked):
    def start(model):
        model.config.supervised_heads = known

    config = make_guided(guided_layer=layer, start=start).model.config
    last = config.decoder_layers - 1
    expected = [[last if at == -1 else at, head] for at, head in marked]
    config.save_pretrained(tmp_path)
    assert Seq2SeeConfig.from_pretrained(tmp_path).supervised_heads == config.supervised_heads == expected


def test_evaluation_is_without_it(make_guided, make_trainer):
    assert make_guided().evaluate()["eval_loss"] == make_trainer().evaluate()["eval_loss"]


def test_the_head_learns_the_links(make_guided):
    """And only by being guided: the same training without it leaves them out."""
    shares = []
    for weight in (1.0, 0.0):
        trainer = make_guided(guided_alignment=weight, max_steps=80, learning_rate=1e-2, max_tokens=1000)
        trainer.train()
        inputs = trainer.collate([trainer.train_dataset[index] for index in range(60)])
        rows, weights = inputs.pop("guide_rows"), inputs.pop("guide_weights")
        trainer.model.eval().set_attn_implementation("eager")
        maps = trainer.model(**inputs, output_attentions=True).cross_attentions[-1][:, 1]
        shares.append(float(-(maps[tuple(rows.T)].log() * weights).sum() / weights.sum()))
    assert shares[0] < 0.8 * shares[1]


def test_one_micro_batch_and_many_follow_one_trajectory(make_guided):
    runs = []
    for accumulation in (1, 4, 13):
        trainer = make_guided(gradient_accumulation_steps=accumulation, optim="sgd", learning_rate=0.5)
        trainer.train()
        runs.append(trainer.model.state_dict())
    for weights in runs[1:]:
        for name in weights:
            torch.testing.assert_close(weights[name], runs[0][name], rtol=1e-4, atol=2e-5)


CONFIG = """\
data: {path: FOLDER, source: en, target: fr}
tokenizer: {vocab_size: 400}
model: {d_model: 16, encoder_layers: 1, decoder_layers: 1, encoder_attention_heads: 2, decoder_attention_heads: 2,
  encoder_ffn_dim: 32, decoder_ffn_dim: 32, dropout: 0.1}
training: {max_tokens: 250, max_steps: 8, warmup_steps: 4, save_strategy: steps, save_steps: 4, use_cpu: true,
  eval_strategy: "no", load_best_model_at_end: false, disable_tqdm: true, ema_decay: 0.9, bf16: false,
  guided_alignment: 0.5, guided_links: FOLDER/links.txt}
evaluation: {eval_samples: 10, num_beams: 1, max_length: 40}
"""


@pytest.fixture
def config_file(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for part, found in (("train", toy_pairs(100)), ("val", toy_pairs(20, seed=1))):
        (folder / f"{part}.en").write_text("".join(f"{pair.source}\n" for pair in found), "utf-8")
        (folder / f"{part}.fr").write_text("".join(f"{pair.target}\n" for pair in found), "utf-8")
    lines = (" ".join(f"{i}-{j}" for i, j in links_of(pair)) for pair in toy_pairs(100))
    (folder / "links.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "toy.yaml").write_text(CONFIG.replace("FOLDER", str(folder)), "utf-8")
    return tmp_path / "toy.yaml"


def test_a_resumed_run_is_the_whole_run(config_file, tmp_path):
    def run(name: str, *settings: str) -> dict:
        config = load_config(str(config_file), [f"training.output_dir={tmp_path / name}", *settings])
        run_experiment(config)
        return load_file(tmp_path / name / "model.safetensors")

    whole = run("whole")
    run("halved", "training.max_steps=4", "training.lr_scheduler_type=constant_with_warmup")
    resumed = run("halved", "training.resume=true", "training.lr_scheduler_type=constant_with_warmup")
    straight = run("straight", "training.lr_scheduler_type=constant_with_warmup")
    assert all(torch.equal(resumed[name], straight[name]) for name in straight)
    unguided = run("unguided", "training.guided_alignment=0")
    assert any(not torch.equal(unguided[name], whole[name]) for name in whole)


def test_two_processes_give_the_same_model(config_file, tmp_path):
    found = []
    for processes in (1, 2):
        folder = tmp_path / f"{processes}"
        run_experiment(load_config(str(config_file), [
            f"training.output_dir={folder}", f"training.cpu_processes={processes}", "training.optim=sgd",
            "training.learning_rate=0.5", "model.dropout=0.0",
        ]))  # fmt: skip
        found.append(load_file(folder / "model.safetensors"))
    for name in found[0]:
        torch.testing.assert_close(found[1][name], found[0][name], rtol=1e-4, atol=2e-5)


def test_storybook_has_links_of_its_own(monkeypatch):
    book = generate(train_size=300)
    monkeypatch.setattr("seq2see.storybook.generate", lambda **_: book)
    config = load_config("storybook-aligned")
    arguments = Seq2SeeTrainingArguments(output_dir="", use_cpu=True, guided_alignment=0.1)
    pairs = [Pair(story.source, story.target, "en", "fr") for story in reversed(book.train)]
    assert training_links(config, arguments, pairs) == [list(story.links) for story in reversed(book.train)]


@pytest.mark.parametrize("change, said", [
    ("training.guided_links=null", "training.guided_links=FILE"),
    ("training.guided_links=none.txt", "none.txt"),
    ("training.guided_head=2", "training.guided_head is 2"),
    ("training.guided_layer=1", "training.guided_layer is 1"),
])  # fmt: skip
def test_a_mistake_is_named(config_file, tmp_path, change, said):
    with pytest.raises((UserError, FileNotFoundError), match=said):
        run_experiment(load_config(str(config_file), [f"training.output_dir={tmp_path / 'out'}", change]))


@pytest.mark.parametrize("line, said", [("0-0\n" * 99, "99 lines of links and 100"), ("0-0\n" * 99 + "0-77\n", "0-77"),
                                        ("0-0\n" * 99 + "0:0\n", "line 100: '0:0' is not a link")])
def test_a_faulty_file_of_links_is_named(config_file, tmp_path, line, said):
    (tmp_path / "data" / "links.txt").write_text(line, "utf-8")
    with pytest.raises(UserError, match=said):
        run_experiment(load_config(str(config_file), [f"training.output_dir={tmp_path / 'out'}"]))


def test_pairs_without_links_train_as_ever(tokenizer, pairs):
    dataset = guided_pairs(pairs, tokenizer, links=lambda pair: [])
    assert np.array_equal(dataset[3].labels, EncodedPairs(pairs, tokenizer, max_length=64)[3].labels)
    assert dataset[3].guide.shape == (0, 3)


@pytest.mark.parametrize("fields", [{}, {"guided_alignment": 0.0}, {"gradient_accumulation_steps": 2}],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("fast", [False, True])
def test_returned_outputs_are_the_models_own_and_cost_the_same(make_guided, fields, training, fast):
    """Logits [B,T,V] of every position, whichever path takes the loss; dropout is 0, so passes agree."""
    trainer = make_guided(**fields)
    batch = trainer.collate([trainer.train_dataset[index] for index in (0, 7, 30)])
    model = trainer.model.train(training)
    with fast_kernels(model) if fast else nullcontext(), torch.set_grad_enabled(training):
        loss, outputs = trainer.compute_loss(model, dict(batch), return_outputs=True)
        alone = trainer.compute_loss(model, dict(batch))
        if training:
            loss.backward()
        torch.testing.assert_close(outputs.logits, model(**{name: batch[name] for name in INPUTS}).logits)
    torch.testing.assert_close(loss, alone)
    assert len(outputs.encoder_last_hidden_state) == 3


def test_predictions_are_the_logits_of_the_model(make_guided):
    trainer = make_guided(per_device_eval_batch_size=4)
    trainer.model.eval()
    pairs = trainer.train_dataset
    (logits, _), labels, _ = trainer.predict(pairs)
    assert logits.shape[:2] == labels.shape and len(labels) == len(pairs)
    for index in range(len(pairs)):
        batch = trainer.collate([pairs[index]])
        with torch.no_grad():
            expected = trainer.model(**{name: batch[name] for name in INPUTS}).logits
        np.testing.assert_allclose(logits[index, : expected.shape[1]], expected[0], atol=1e-5)
