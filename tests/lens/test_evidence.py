"""What a word rests on, recomputed by other code: plain hooks on the output projections, plain softmax of logits."""

import numpy as np
import pytest
import torch

from seq2see import Translator
from seq2see.lens.evidence import effects, runners_up, spelt_candidates
from seq2see.lens.hooks import Head, attention_sites
from seq2see.lens.means import head_means
from seq2see.lens.teacher_forcing import decoder_start, encode_source


def logits(model, source_ids, target_ids):
    """[T,V] of a forced pass, by the model's own forward."""
    inputs = torch.tensor([[decoder_start(model), *target_ids[:-1]]])
    with torch.no_grad():
        return model(input_ids=torch.tensor([list(source_ids)]), decoder_input_ids=inputs).logits[0].double()


def leads(out, trace):
    """By how much the logit of each token is above that of its runner-up."""
    pairs = enumerate(zip(trace.target_ids, runners_up(trace), strict=True))
    return [float(out[t, own] - out[t, other]) for t, (own, other) in pairs]


def bare(token):
    return token.strip(" ▁Ġ").casefold()


@pytest.fixture(scope="module")
def found(seq2see, trace):
    model, tokenizer = seq2see
    means, count = head_means(model, tokenizer, trace, None)
    assert count == 0, "of this model there are no examples: the means are over the sentence itself"
    return means, effects(model, tokenizer, trace, means=means, others=["The dog did not cross the street."])


def test_the_runner_up_is_the_best_token_that_is_another_word(trace):
    for t, rival in enumerate(runners_up(trace)):
        better = [one for one in trace.top[t] if one.id != trace.target_ids[t]
                  and bare(one.text) != bare(trace.target[t].text)]
        assert rival == better[0].id


def test_margins_without_each_head_are_those_of_its_mean_in_its_place(seq2see, trace, found):
    model, tokenizer = seq2see
    means, all_ = found
    for effect in all_["heads"]:
        head = Head(effect["kind"], effect["layer"], effect["head"])
        site = attention_sites(model)[head.kind][head.layer]

        def put_mean(module, args, head=head, size=site.head_size):
            mixed = args[0].clone()
            mixed[..., head.head * size : (head.head + 1) * size] = means[head]
            return (mixed,)

        with site.output.register_forward_pre_hook(put_mean):
            out = logits(model, trace.source_ids, trace.target_ids)
        assert effect["margins"] == pytest.approx(leads(out, trace), abs=2e-4)
        assert effect["top"] == tokenizer.convert_ids_to_tokens(out.argmax(-1).tolist())
    assert len({round(one["margins"][-1], 3) for one in all_["heads"]}) > 3, "heads do different things"


def test_margins_with_and_without_a_word_are_those_of_these_texts(seq2see, trace, found):
    model, tokenizer = seq2see
    _, all_ = found
    whole = leads(logits(model, trace.source_ids, trace.target_ids), trace)
    assert all_["margins"] == pytest.approx(whole, abs=2e-3)
    assert (trace.source_text, trace.source_words[1].text) == ("The cat, <b>猫</b>, did not cross.", "cat")
    text = "The, <b>猫</b>, did not cross."
    for effect, source in ((all_["erased"][1], text), (all_["others"][0], "The dog did not cross the street.")):
        out = logits(model, encode_source(tokenizer, source), trace.target_ids)
        assert effect["margins"] == pytest.approx(leads(out, trace), abs=2e-4)


def test_a_candidate_s_probability_is_the_product_over_its_tokens(monkeypatch):
    """On the packaged model: a random one writes bytes."""
    monkeypatch.setattr("seq2see.lens.evidence.LEAST", 1e-9)  # all are spelt out
    translator = Translator.from_pretrained("everyday", engine="torch")
    result = translator("My grandmother knitted a woollen jumper.", source="en", target="fr")
    [trace] = translator.look(result, calibrated=False)
    checked = 0
    with translator.inside() as (model, tokenizer):
        words = spelt_candidates(model, tokenizer, trace, None)
        assert len(words) == len(trace.target_words) and all(words)
        for number, spelt in enumerate(words):
            step = next(t for t, span in enumerate(trace.target) if span.word == number)
            for one in spelt:
                ids = tokenizer.encode_target(one["text"], language="fr")[1:-1]
                out = logits(model, trace.source_ids, [*trace.target_ids[:step], *ids]).log_softmax(-1)[step:]
                steps = [float(row[id].exp()) for row, id in zip(out, ids, strict=True)]
                best = out.argmax(-1).tolist()
                alike = ids[1:] == best[1:] and steps[0] == pytest.approx(one["first"], rel=1e-3)
                if len(ids) > 1 and alike:  # spelt with the same tokens
                    assert one["probability"] == pytest.approx(float(np.prod(steps)), rel=1e-2)
                    checked += 1
    assert checked > 2
