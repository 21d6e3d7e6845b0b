"""Guided alignment: links by tokens, the loss as its definition says, and a head that learns them."""

from contextlib import nullcontext

import pytest
import torch

from seq2see import Seq2SeeConfig
from seq2see.storybook import Storybook, StoryPair
from seq2see.tokenizer.words import split_words
from seq2see.training.arguments import Seq2SeeTrainingArguments
from seq2see.training.batching import EncodedPairs
from seq2see.training.config import load_config
from seq2see.training.guided_alignment import GuidedTrainer, guide_of, guides_of, training_links, word_tokens
from seq2see.training.kernels import fast_kernels
from seq2see.training.pairs import Pair, load_corpus
from .conftest import SETTINGS, last_error, train

INPUTS = ("input_ids", "attention_mask", "decoder_input_ids")  # of the model; a batch has labels and links, too
DIAGONAL = [(number, number) for number in range(9)]


def links_of(pair: Pair) -> list[tuple[int, int]]:
    """The toy language is translated word by word; each target word is linked to the word before, too, where odd."""
    words = len(split_words(pair.source, language="en"))
    return DIAGONAL[:words] + [(j - 1, j) for j in range(1, words, 2)]


def guided_pairs(pairs, tokenizer, *, max_length=64) -> EncodedPairs:
    guides = guides_of(pairs, [links_of(pair) for pair in pairs], tokenizer)
    return EncodedPairs(pairs, tokenizer, max_length=max_length, guides=guides)


@pytest.fixture
def make_guided(make_trainer, pairs, tokenizer):
    def make(*, start=lambda model: None, **fields) -> GuidedTrainer:
        plain = make_trainer(**{"guided_weight": 0.5, "guided_head": 1} | fields)
        start(plain.model)
        return GuidedTrainer(plain.model, plain.args, train_dataset=guided_pairs(pairs, tokenizer),
                             eval_dataset=plain.eval_dataset, processing_class=tokenizer)

    return make


@pytest.mark.parametrize("text", ["<s> the </s> unbekannt<pad>", "  the\tdog ", "é\u0301 हिन्दी 👍🏽!", "l'oiseau, le"])
def test_the_tokens_of_words_are_those_that_the_lens_counts(tokenizer, text):
    spans = tokenizer.spans(tokenizer.encode_source(text), text, language="fr")
    expected = [[k for k, token in enumerate(spans) if token.word == word]
                for word in range(len(split_words(text, language="fr")))]
    assert word_tokens(tokenizer, text, "fr") == expected


def test_a_row_of_the_guide_is_shared_by_words_and_then_by_their_tokens(tokenizer):
    """Word 0, of several tokens, and word 1, of one, are both linked to target word 1; target word 0 to nothing."""
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
    plain = make_guided(guided_weight=0.0)
    inputs = trainer.collate([trainer.train_dataset[index] for index in range(7)])
    assert (inputs["attention_mask"] == 0).any()
    trainer.model.set_attn_implementation("eager")
    weights = trainer.model(**{name: inputs[name] for name in INPUTS}, output_attentions=True).cross_attentions[layer]
    expected = 0.0
    for (b, t, s), link in zip(inputs["guide_rows"].tolist(), inputs["guide_weights"].tolist(), strict=True):
        expected -= link * weights[b, 1, t, s].log()
    with fast_kernels(trainer.model), fast_kernels(plain.model):
        guided = trainer.compute_loss(trainer.model, inputs, num_items_in_batch=10)
        without = plain.compute_loss(plain.model, inputs, num_items_in_batch=10)
    torch.testing.assert_close(guided - without, 0.5 * expected / 10)
    attention = trainer.model.model.decoder.layers[layer].encoder_attn
    assert not attention.q_proj._forward_hooks and not attention.k_proj._forward_hooks


@pytest.mark.parametrize(("layer", "known", "marked"), [(-1, None, [[-1, 1]]), (0, [[0, 0]], [[0, 0], [0, 1]])])
def test_the_model_says_which_heads_were_taught_wherever_it_goes(make_guided, tmp_path, layer, known, marked):
    def start(model):
        model.config.supervised_heads = known

    config = make_guided(guided_layer=layer, start=start).model.config
    last = config.decoder_layers - 1
    expected = [[last if at == -1 else at, head] for at, head in marked]
    config.save_pretrained(tmp_path)
    assert Seq2SeeConfig.from_pretrained(tmp_path).supervised_heads == config.supervised_heads == expected


def test_the_head_learns_the_links(make_guided):
    """And only by being guided: the same training without it leaves them out."""
    shares = []
    for weight in (1.0, 0.0):
        trainer = make_guided(guided_weight=weight, max_steps=40, learning_rate=2e-2, max_tokens=1000)
        trainer.train()
        inputs = trainer.collate([trainer.train_dataset[index] for index in range(60)])
        rows, weights = inputs.pop("guide_rows"), inputs.pop("guide_weights")
        trainer.model.eval().set_attn_implementation("eager")
        maps = trainer.model(**inputs, output_attentions=True).cross_attentions[-1][:, 1]
        shares.append(float(-(maps[tuple(rows.T)].log() * weights).sum() / weights.sum()))
    assert shares[0] < 0.8 * shares[1]


@pytest.fixture
def guided_run(toy_file, tmp_path):
    """The command, with a file of links; or what `lines` makes of the number of pairs."""
    pairs = load_corpus(load_config("finetune", [f"data.path={toy_file}", *SETTINGS]).data).train
    links = tmp_path / "links.txt"

    def run(*overrides: str, lines=None) -> int:
        good = "".join(" ".join(f"{i}-{j}" for i, j in links_of(pair)) + "\n" for pair in pairs)
        links.write_text(lines(len(pairs)) if lines else good)
        return train(f"data.path={toy_file}", f"training.output_dir={tmp_path / 'run'}", "training.max_steps=2",
                     "training.guided_weight=0.5", f"training.guided_links={links}", *overrides)

    return run


def test_a_run_is_guided_by_a_file_of_links(guided_run, tmp_path):
    assert guided_run("training.guided_head=1") == 0
    assert Seq2SeeConfig.from_pretrained(tmp_path / "run").supervised_heads == [[0, 1]]
    assert "cross-attention heads (layer.head): 0.1." in (tmp_path / "run" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("overrides, lines, said", [
    (["training.guided_links=null"], None, "training.guided_links=FILE"),
    (["training.guided_links=none.txt"], None, "none.txt"),
    (["training.guided_head=4"], None, "training.guided_head is 4"),
    ([], lambda count: "0-0\n" * (count - 1), " lines of links, but "),
    ([], lambda count: "0-77\n" * count, "link 0-77"),
    ([], lambda count: "0-0\n" * (count - 1) + "0:0\n", "'0:0' is not a link"),
])
def test_a_mistake_is_named(guided_run, capsys, overrides, lines, said):
    assert guided_run(*overrides, lines=lines) in (1, 2) and said in last_error(capsys)


def test_storybook_has_links_of_its_own(monkeypatch):
    texts = [("the cat sleeps", "le chat dort", 3), ("a dog", "un chien", 2), ("it", "il", 1)]
    told = [StoryPair(source, target, "plain", "form", tuple(DIAGONAL[:words])) for source, target, words in texts]
    book = Storybook(train=tuple(told), val=(), test=(), idioms=())
    monkeypatch.setattr("seq2see.storybook.generate", lambda **_: book)
    config = load_config("storybook-guided")
    arguments = Seq2SeeTrainingArguments(output_dir="", use_cpu=True, guided_weight=0.1)
    pairs = [Pair(story.source, story.target, "en", "fr") for story in reversed(book.train)]
    assert training_links(config, arguments, pairs) == [list(story.links) for story in reversed(book.train)]


@pytest.mark.parametrize("weight", [0.5, 0.0])
@pytest.mark.parametrize(("training", "fast"), [(False, False), (True, False), (True, True)])
def test_returned_outputs_are_the_models_own_and_cost_the_same(make_guided, weight, training, fast):
    """Logits [B,T,V] of every position, whichever path takes the loss; dropout is 0, so passes agree."""
    trainer = make_guided(guided_weight=weight)
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
