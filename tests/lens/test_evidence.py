"""What a word rests on, recomputed by other code: plain hooks on the output projections, plain softmax of logits."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens.changes.means import head_means
from seq2see.lens.data.word_maps import units
from seq2see.lens.questions import evidence
from seq2see.lens.questions.evidence import _log_odds, effects, ends, patched_odds, spelt_candidates
from seq2see.passes.forced_pass import decoder_start
from seq2see.passes.hooks import Head, attention_sites
from seq2see.tokenizer.encoding import encode_source


def logits(model, source_ids, target_ids):
    """[T,V] of a forced pass, by the model's own forward."""
    inputs = torch.tensor([[decoder_start(model), *target_ids[:-1]]])
    with torch.no_grad():
        return model(input_ids=torch.tensor([list(source_ids)]), decoder_input_ids=inputs).logits[0].double()


def log_odds(out, trace):
    """ln(P / (1 - P)) of each unit, P the product of the probabilities of its tokens."""
    p = out.softmax(-1)
    found = []
    for unit in units(trace.target, trace.target_words):
        chance = float(np.prod([float(p[t, trace.target_ids[t]]) for t in unit.pieces]))
        found.append(float(np.log(chance / (1 - chance))))
    return found


@pytest.fixture(scope="module")
def found(seq2see, trace):
    model, tokenizer = seq2see
    means, count = head_means(model, tokenizer, trace, None)
    assert count == 0, "of this model there are no examples: the means are over the sentence itself"
    return means, effects(model, tokenizer, trace, means=means, others=["The dog did not cross the street."])


def head_off(model, head, means):
    """A hook that puts the mean of a head in its place."""
    site = attention_sites(model)[head.kind][head.layer]

    def put_mean(module, args):
        mixed = args[0].clone()
        mixed[..., head.head * site.head_size : (head.head + 1) * site.head_size] = means[head]
        return (mixed,)

    return site.output.register_forward_pre_hook(put_mean)


def test_odds_without_each_head_are_those_of_its_mean_in_its_place(seq2see, trace, found):
    model, _ = seq2see
    means, all_ = found
    for effect in all_["heads"]:
        head = Head(effect["kind"], effect["layer"], effect["head"])
        with head_off(model, head, means):
            out = logits(model, trace.source_ids, trace.target_ids)
        assert effect["log_odds"] == pytest.approx(log_odds(out, trace), abs=2e-3)
    assert len({round(one["log_odds"][-1], 3) for one in all_["heads"]}) > 3, "heads do different things"


def test_of_a_model_that_takes_too_long_only_the_time_is_said(seq2see, trace, found):
    means, all_ = found
    short = effects(*seq2see, trace, means=means, seconds=0)
    assert not short["heads"] and short["heads_take"] >= 0 and short["erased"] == all_["erased"]
    assert all_["heads_take"] is None


def test_a_pass_that_was_slow_only_once_does_not_decide(seq2see, trace, found, monkeypatch):
    means, all_ = found
    clock = iter([0, 100, 100, 101])  # a pass of 100 s, then one of 1 s
    monkeypatch.setattr(evidence, "time", SimpleNamespace(perf_counter=clock.__next__))
    again = effects(*seq2see, trace, means=means, seconds=10)
    assert again["heads"] == all_["heads"] and again["heads_take"] is None


def test_odds_with_and_without_a_word_are_those_of_these_texts(seq2see, trace, found):
    model, tokenizer = seq2see
    _, all_ = found
    whole = log_odds(logits(model, trace.source_ids, trace.target_ids), trace)
    assert all_["log_odds"] == pytest.approx(whole, abs=2e-3)
    assert (trace.source_text, trace.source_words[1].text) == ("The cat, <b>猫</b>, did not cross.", "cat")
    text = "The, <b>猫</b>, did not cross."
    for effect, source in ((all_["erased"][1], text), (all_["others"][0], "The dog did not cross the street.")):
        out = logits(model, encode_source(tokenizer, source), trace.target_ids)
        assert effect["log_odds"] == pytest.approx(log_odds(out, trace), abs=2e-3)


def test_the_odds_of_a_certain_word_are_exact():
    """Where P rounds to 1 in float32: from the other tokens, not from 1 - P."""
    steps = np.array([-1e-12, -0.1])
    assert _log_odds(steps, np.array([27.6, 2.0]), [0]) == 27.6
    assert _log_odds(steps, np.array([27.6, 2.0]), [0, 1]) == pytest.approx(np.log(np.exp(-0.1) / -np.expm1(-0.1)))


@pytest.fixture(scope="module")
def everyday():
    return Translator.from_pretrained("everyday", engine="torch")


@pytest.fixture(scope="module")
def storybook():
    return Translator.from_pretrained("storybook", engine="torch")


def looked(translator, text):
    [trace] = translator.look(translator(text, source="en", target="fr"))
    return trace


def test_a_word_of_several_tokens_has_the_effect_of_the_whole(everyday):
    """*froide* is written as *fro* and *ide*: the step named is the one whose probability the head changes most."""
    trace = looked(everyday, "The soup is cold because it stood in the kitchen.")
    at, unit = next((i, one) for i, one in enumerate(units(trace.target, trace.target_words)) if len(one.pieces) > 1)
    with everyday.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, everyday.folder)
        all_ = effects(model, tokenizer, trace, means=means)
        calibrator = trace.calibrated.calibrator
        own = calibrator(logits(model, trace.source_ids, trace.target_ids).numpy())
        for effect in all_["heads"][::5]:
            with head_off(model, Head(effect["kind"], effect["layer"], effect["head"]), means):
                off = calibrator(logits(model, trace.source_ids, trace.target_ids).numpy())
            ids = [trace.target_ids[t] for t in unit.pieces]
            changes = [abs(off[t, id] - own[t, id]) for t, id in zip(unit.pieces, ids, strict=True)]
            assert effect["steps"][at] == unit.pieces[int(np.argmax(changes))]
            chance = np.exp(sum(off[t, id] for t, id in zip(unit.pieces, ids, strict=True)))
            assert effect["log_odds"][at] == pytest.approx(np.log(chance / (1 - chance)), abs=2e-3)


def test_what_is_written_instead_is_a_word_another_than_the_two(everyday):
    """A third word may take the place of the chosen one: it is named whole, not by its first token."""
    trace = looked(everyday, "The soup is cold because it stood in the kitchen.")
    with everyday.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, everyday.folder)
        all_ = effects(model, tokenizer, trace, means=means)
        others = units(trace.target, trace.target_words)
        seen = 0
        for effect in all_["heads"] + all_["erased"]:
            for unit, odds, instead in zip(others, effect["log_odds"], effect["instead"], strict=True):
                if instead is not None:
                    assert odds < np.log(2), "a word with more than two thirds of the chance is written"
                    assert instead.casefold() != unit.text.casefold()
                    seen += 1
    assert seen > 10


def test_spellings_that_share_their_first_tokens_are_candidates(everyday):
    """Every word likelier than the last candidate is among them, whichever token it differs in."""
    trace = looked(everyday, "Where did you buy that roof?")
    with everyday.inside() as (model, tokenizer):
        words = spelt_candidates(model, tokenizer, trace)
    for spelt in words:
        texts = [one["text"] for one in spelt]
        assert len(texts) == len(set(texts))
        assert [one["probability"] for one in spelt] == sorted((one["probability"] for one in spelt), reverse=True)
    shared = [(word.text, one["text"]) for word, spelt in zip(trace.target_words, words, strict=True) for one in spelt
              if one["whole"] and len(word.text) > 3 and one["text"][:2] == word.text[:2]]
    assert shared


def test_a_candidate_s_probability_is_the_product_over_its_tokens(everyday):
    result = everyday("My grandmother knitted a woollen jumper.", source="en", target="fr")
    [trace] = everyday.look(result, calibrated=False)
    checked = 0
    with everyday.inside() as (model, tokenizer):
        words = spelt_candidates(model, tokenizer, trace)
        assert len(words) == len(trace.target_words) and all(words)
        for number, spelt in enumerate(words):
            step = next(t for t, span in enumerate(trace.target) if span.word == number)
            for one in spelt:
                ids = tokenizer.encode_target(one["text"], language="fr")[1:-1]
                out = logits(model, trace.source_ids, [*trace.target_ids[:step], *ids]).log_softmax(-1)[step:]
                steps = [float(row[id].exp()) for row, id in zip(out, ids, strict=True)]
                best = out.argmax(-1).tolist()
                alike = ids[1:] == best[1:] and steps[0] == pytest.approx(one["first"], rel=1e-3)
                if len(ids) > 1 and alike and ids[0] != trace.target_ids[step]:  # spelt with the same tokens
                    assert one["probability"] == pytest.approx(float(np.prod(steps)), rel=1e-2)
                    checked += 1
    assert checked > 2


def test_a_word_that_goes_on_is_another_word(storybook):
    """*tasses* for *tasse*, without a head; and what is only the beginning of words is known as that."""
    trace = looked(storybook, "I want a cup of tea.")
    with storybook.inside() as (model, tokenizer):
        means, _ = head_means(model, tokenizer, trace, storybook.folder)
        heads, chances = effects(model, tokenizer, trace, means=means)["heads"], ends(tokenizer, trace)
    number = next(i for i, word in enumerate(trace.target_words) if word.text == "tasse")
    at = next(i for i, unit in enumerate(units(trace.target, trace.target_words)) if unit.word == number)
    instead = {(one["kind"], one["layer"], one["head"]): one["instead"][at] for one in heads}
    assert instead["cross", 1, 3] == instead["decoder", 0, 1] == "tasses"
    assert chances[number] == pytest.approx(0.90, abs=0.02) and chances[0] > 0.995


def test_a_candidate_that_ends_early_has_all_that_may_follow_it(storybook):
    trace = looked(storybook, "The flowers are beautiful but they are dry.")
    with storybook.inside() as (model, tokenizer):
        words = spelt_candidates(model, tokenizer, trace)
    [early] = [one for word, spelt in zip(trace.target_words, words, strict=True) if word.text == "neavaient"
               for one in spelt if one["text"] == "ne"]
    assert early["whole"] and early["probability"] == pytest.approx(0.78, abs=0.02)


def test_candidates_of_a_word_with_a_hyphen_exclude_each_other():
    everyday = Translator.from_pretrained("everyday", engine="torch")
    trace, = everyday.look(everyday("My grandmother knitted a woollen jumper.", target="fr"))
    with everyday.inside() as (model, tokenizer):
        words = spelt_candidates(model, tokenizer, trace)
    [found] = [spelt for word, spelt in zip(trace.target_words, words, strict=True) if word.text == "grand-mère"]
    assert {"grand", "grand-"} <= {one["text"] for one in found}
    assert sum(one["probability"] for one in found) < 0.2


def test_patched_odds_are_those_of_the_other_text_s_head():
    translator = Translator.from_pretrained("storybook", engine="torch")
    tired, wide = (f"The cat did not cross the street because it was too {word}." for word in ("tired", "wide"))
    [trace] = translator.look(translator(tired, target="fr"))
    at = next(i for i, one in enumerate(units(trace.target, trace.target_words)) if one.text == "il")
    with translator.inside() as (model, tokenizer):
        found = patched_odds(model, tokenizer, trace, wide)
        with pytest.raises(UserError, match="equal lengths"):
            patched_odds(model, tokenizer, trace, "The cat.")
    flipping = {(one["kind"], one["layer"], one["head"]) for one in found if one["log_odds"][at] < 0}
    assert flipping == {("cross", 0, 2), ("decoder", 1, 0)}
