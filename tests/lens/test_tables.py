"""Every result that has positions becomes a table with one row for each number."""

import numpy as np
import pandas
import pytest
import tiny
from writing import writing

from seq2see import lens
from seq2see.errors import UserError
from seq2see.lens.changes.activations import Zero
from seq2see.lens.changes.choices import Choice
from seq2see.lens.changes.means import head_means

TEXTS = [*tiny.SENTENCES[:2], "  ", f"The cat at https://x.org/a was tired. {tiny.SENTENCES[2]}"]


@pytest.fixture(scope="module")
def translator():
    return writing()


@pytest.fixture(scope="module")
def trace(translator):
    return translator.look(translator(TEXTS[0], target="fr"))[0]


@pytest.mark.parametrize("view", ["raw", "norm"])
def test_the_attention_of_every_head(translator, view):
    [trace] = translator.look(translator(TEXTS[0], target="fr"), views=["raw", "norm", "contributions"])
    frame = trace.to_pandas(view)
    assert len(frame) == sum(trace.maps(kind).size for kind in ("encoder", "cross")) + (
        np.tril(np.ones_like(trace.maps("decoder"))).sum())
    for kind in ("encoder", "decoder", "cross"):
        own = frame[(frame.kind == kind) & (frame.on_page == "layer 2, head 1") & (frame.row == 3)]
        assert (own.layer == 1).all() and (own["head"] == 0).all()
        assert np.array_equal(own.weight, trace.maps(kind, view)[1, 0, 3][:len(own)])
        assert [*own.column_token] == [token.text for token in trace.column_tokens(kind)][:len(own)]
        assert {*own.row_token} == {trace.row_tokens(kind)[3].text}
    with pytest.raises(UserError, match="^a table has heads, 'contributions' has none: expected raw or norm$"):
        trace.to_pandas("contributions")


@pytest.mark.parametrize("method", ["input_x_gradient", "gradient_x_activation"])
def test_attributions(translator, method):
    found = lens.attribute(translator, TEXTS[0], target_language="fr", method=method)
    frame = found.to_pandas()
    assert frame.layer.isna().all() == (method == "input_x_gradient")
    for side, values in (("source", found.source), ("prefix", found.prefix)):
        own = frame[frame.side == side]
        assert own.contribution.sum() == pytest.approx(float(values.sum()), abs=1e-3)  # later inputs are 0
        one = own[(own.step == found.steps[2]) & (own.position == 1)].iloc[-1]
        assert one.contribution == pytest.approx(float(values[..., 2, 1].ravel()[-1]))
    assert (frame[frame.side == "prefix"].position <= frame[frame.side == "prefix"].step).all()
    words = found.by_words().to_pandas()
    assert {*words[(words.side == "prefix") & (words.step == 0)].position} == {0}, "the first reads the start alone"
    assert list(words.columns) == list(frame.columns)
    assert words.contribution.sum() == pytest.approx(frame.contribution.sum(), abs=1e-3)
    assert {"cat", "tired"} <= set(words[words.side == "source"].token)


def test_parts_of_a_logit_sum_to_it(translator, trace):
    found = lens.logit_attribution(translator.model, translator.tokenizer, trace)
    frame = found.to_pandas()
    assert np.allclose(frame.groupby("step").contribution.sum(), found.logits, atol=1e-3)
    L, H, _ = found.cross.shape
    cross = frame[frame.part == "cross"]
    assert (set(cross.layer), set(cross["head"])) == (set(range(L)), set(range(H)))
    one = cross[(cross.layer == L - 1) & (cross["head"] == 0) & (cross.step == 2)].iloc[0]
    assert one.contribution == pytest.approx(float(found.cross[L - 1, 0, 2])) and one.token == trace.target_ids[2]
    assert frame[frame.part == "embedding"].layer.isna().all() and one["name"]


def test_the_logit_lens(translator, trace):
    [found] = lens.logit_lens(translator.model, translator.tokenizer, [trace])
    frame = found.to_pandas().set_index(["layer", "step"])
    assert len(frame) == found.log_probs.size
    assert frame.loc[1, 3].log_prob == pytest.approx(float(found.log_probs[1, 3]))
    assert frame.loc[1, 3].best == found.top[1][3][0].text


def test_effects_of_heads_and_source_words(translator, trace):
    means, _ = head_means(translator.model, translator.tokenizer, trace, None)
    found = lens.effects(translator.model, translator.tokenizer, trace, means=means, others=["The owl."])
    frame = found.to_pandas()
    assert isinstance(found, dict) and set(frame.change) == {"head", "erased", "other"}
    heads = frame[frame.change == "head"]
    assert len(heads) == len(found["heads"]) * len(found["log_odds"])
    first, word = found["heads"][0], 1
    one = heads[(heads.kind == first["kind"]) & (heads.layer == first["layer"]) & (heads["head"] == first["head"])
                & (heads.place == word)].iloc[0]
    assert one.log_odds == first["log_odds"][word] and one.fall == found["log_odds"][word] - first["log_odds"][word]
    erased = frame[(frame.change == "erased") & (frame.place == 0)]
    assert [*erased.source] == [word.text for word in trace.source_words] and erased["head"].isna().all()


def test_neurons_and_where_they_are_active(translator, trace):
    model, tokenizer = translator.model, translator.tokenizer
    found = lens.top_neurons(model, tokenizer, trace, layer=1, step=2, k=3)
    frame = found.to_pandas()
    assert [*frame.number] == [one.number for one in found] and set(frame.layer) == {1}
    assert frame["raises"][0] == [each.text for each in found[0].raises]
    active = lens.top_activations(model, tokenizer, [TEXTS[0]], ["le chat"], layer=0, neurons=[3, 5], k=2,
                                  target_language="fr")
    frame = active.to_pandas()
    assert [*frame.neuron] == [3, 3, 5, 5] and frame.value[0] == active[3][0].value


def test_patching(translator, trace):
    choice = Choice(trace.source_ids, trace.target_ids[:3], trace.target_ids[3], trace.target_ids[3] + 1)
    found = lens.exact_patching(translator.model, choice, Zero(), names=["decoder.*.hook_z"])
    frame = found.to_pandas()
    assert len(frame) == sum(one.size for one in found.values())
    name = next(iter(found))
    one = frame[(frame["name"] == name) & (frame.position == 1) & (frame["head"] == 0)].iloc[0]
    assert one.change == pytest.approx(float(found[name][1, 0]))


@pytest.mark.parametrize("name", ["found.parquet", "found.csv"])
def test_many_sentences_in_one_call(translator, name, tmp_path, capsys):
    frame = lens.attribute_corpus(translator, TEXTS, tmp_path / name, method="input_x_gradient", target_language="fr")
    assert set(frame.sentence) == {0, 1, 3} and set(frame[frame.sentence == 3].part) == {0, 1}
    assert "sentence 2 skipped: it has no words" in capsys.readouterr().err
    assert "https://x.org/a" in set(frame.token) and [*tmp_path.iterdir()] == [tmp_path / name]
    read = pandas.read_parquet(tmp_path / name) if name.endswith("parquet") else pandas.read_csv(tmp_path / name)
    assert len(read) == len(frame) and np.allclose(read.contribution, frame.contribution)
    own = lens.attribute(translator, TEXTS[1], method="input_x_gradient", target_language="fr").by_words().to_pandas()
    assert np.allclose(frame[frame.sentence == 1].contribution, own.contribution, atol=1e-6)


def test_tokens_of_given_translations(translator, tmp_path):
    frame = lens.attribute_corpus(translator, TEXTS[:1], tmp_path / "a.csv", translations=["le chat"], by="tokens",
                                  method="input_x_gradient", target_language="fr")
    trace = translator.look_at(TEXTS[0], "le chat", target="fr")
    assert len(frame[frame.side == "source"]) == len(trace.source) * len(trace.target)


@pytest.mark.parametrize(("wrong", "said"), [
    ({"path": "a.xlsx"}, "ends in .parquet or .csv"), ({"by": "letters"}, "expected words or tokens"),
    ({"translations": []}, "one for each"), ({"texts": "The cat."}, "a list of texts"), ({"texts": [" "]}, "none of"),
    ({"method": "magic"}, "magic"),
])
def test_what_makes_no_sense_is_refused(translator, wrong, said, tmp_path):
    asked = {"texts": TEXTS[:1], "path": "a.csv", "target_language": "fr"} | wrong
    texts, path = asked.pop("texts"), tmp_path / asked.pop("path")
    with pytest.raises(UserError, match=said):
        lens.attribute_corpus(translator, texts, path, **asked)
    assert not list(tmp_path.iterdir())
