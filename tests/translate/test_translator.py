"""`Translator`: right order, right hypothesis, right language; what it cannot do it says in one line."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import ctranslate2
import numpy as np
import pytest
import torch
from tiny import SENTENCES
from transformers import PreTrainedModel

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens.changes.interventions import ablate
from seq2see.passes.hooks import Head
from seq2see.text.glossary import Glossary
from seq2see.translate.results import with_fields

TEXTS = [SENTENCES[0], "The box.", "", SENTENCES[2], "  ", "An owl.", SENTENCES[1]]


def plain(results):
    return [(r.text, r.source_text, [h.token_ids for h in r.hypotheses]) for r in results]


@pytest.mark.few(1)
def test_a_batch_equals_one_by_one_in_the_order_given(any_folder, monkeypatch):
    """By beams; of the greedy search `test_greedy.py` says so."""
    translator = Translator.from_pretrained(any_folder, engine="torch")
    translator.model.generation_config.no_repeat_ngram_size = 2  # or a random net writes one token, whatever it reads
    alone = [translator(text, num_beams=3) for text in TEXTS]
    assert plain(translator(TEXTS, num_beams=3)) == plain(alone)
    monkeypatch.setattr("seq2see.translate.torch_engine.BATCH_TOKENS", 60)
    assert plain(translator(TEXTS, num_beams=3)) == plain(alone)
    assert len({r.text for r in alone if r.hypotheses}) > 2, "all translations are the same: order would go unseen"


@pytest.mark.few(2)
@pytest.mark.parametrize("num_beams", [1, 3])
def test_a_trace_and_the_engine_agree_on_the_probability(any_folder, num_beams):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    for result in translator(SENTENCES[:3], num_beams=num_beams, alternatives=min(num_beams, 2)):
        for alternative, hypothesis in enumerate(result.hypotheses):
            [trace] = translator.look(result, alternative=alternative)
            assert trace.target_ids == hypothesis.token_ids and trace.target_text == hypothesis.text
            assert trace.engine_log_prob == pytest.approx(trace.log_prob, abs=1e-3), "the same weights, the same number"
            assert hypothesis.score == trace.score == pytest.approx(trace.log_prob / len(trace.target_ids), abs=1e-4)


@pytest.mark.few(2)
@pytest.mark.parametrize("num_beams", [1, 3])
def test_a_prefix_is_given_and_counts_in_neither_log_probability(any_folder, num_beams):
    check_prefix(Translator.from_pretrained(any_folder, engine="torch"), num_beams)


@pytest.mark.parametrize("num_beams", [1, 3])
def test_ctranslate2_is_given_a_prefix_too(folder, num_beams):
    check_prefix(Translator.from_pretrained(folder, engine="ctranslate2", precision="float32"), num_beams)


def check_prefix(translator, num_beams):
    text = "The cat did not cross.\nThe box did not fit."  # two parts; the prefix begins the first
    plain, begun = (translator(text, num_beams=num_beams, **asked) for asked in ({}, {"prefix": "Le chat"}))
    tags = translator.look(plain)[0].given
    first, second = translator.look(begun)
    prefix = translator.codec.begin("Le chat", language="fr")
    assert first.given == tags + len(prefix) and list(first.target_ids[tags : first.given]) == prefix
    assert second.given == tags == int(bool(translator.defaults.resolve().prefix))
    for trace in (first, second):
        assert trace.engine_log_prob == pytest.approx(trace.log_prob, abs=2e-2)
        assert trace.log_prob == pytest.approx(float(trace.log_probs[trace.given :].sum()), abs=1e-4)


def test_texts_with_a_prefix_are_translated_as_each_alone(translator):
    """Only the first part of each is begun: what other parts are translated with differs from it."""
    texts = ["The cat did not cross.\nThe box did not fit.", "An owl.\nThe crow and the cat.\nThe street."]
    alone = [translator(text, prefix="Le chat") for text in texts]
    assert plain(translator(texts, prefix="Le chat")) == plain(alone)
    assert len({part.text for result in alone for part in result.parts}) > 2, "or order would go unseen"


def test_a_given_translation_can_be_looked_at(translator):
    result = translator("The cat did not cross.", target="de")
    [expected] = translator.look(result)
    trace = translator.look_at("The cat did not cross.", "Die Katze schläft.", target="de", views=["left_out"])
    assert (trace.target_text, trace.target[0].text, trace.given) == ("Die Katze schläft.", "<2de>", 1)
    assert trace.left_out.shape == (len(trace.target), 6) and trace.score is None
    np.testing.assert_allclose(trace.encoder["raw"], expected.encoder["raw"], atol=1e-5)
    [score] = translator.score(["The cat did not cross."], ["Die Katze schläft."], target="de")
    assert trace.log_prob == pytest.approx(score.log_prob, abs=1e-4)
    with pytest.raises(UserError, match="the translation is blank"):
        translator.look_at("The cat.", " ")


def test_alternatives_are_the_best_of_the_beam(translator):
    result = translator("The cat did not cross.", target="de", alternatives=4, max_new_tokens=5)
    scores = [hypothesis.score for hypothesis in result.hypotheses]
    assert len({hypothesis.token_ids for hypothesis in result.hypotheses}) == 4
    assert scores == sorted(scores, reverse=True)
    assert result.text == result.hypotheses[0].text
    first, last = (translator.look(result, alternative=i)[0] for i in (0, 3))
    assert first.target_ids != last.target_ids
    for wrong in (-1, 4):
        with pytest.raises(UserError, match="4 hypotheses"):
            translator.look(result, alternative=wrong)


def test_the_target_language_decides_the_first_token(translator):
    for asked, got in ((None, "fr"), ("fr", "fr"), ("de", "de")):
        result = translator("The cat.", target=asked)
        assert (result.source_language, result.target_language) == ("en", got)
        assert result.hypotheses[0].token_ids[0] == translator.tokenizer.tag_id(got)
    mixed = [translator("The cat.", target="de"), translator("The box.")]
    assert [(trace.target[0].text, trace.given) for trace in translator.look(mixed)] == [("<2de>", 1), ("<2fr>", 1)]


@pytest.mark.parametrize("asked", [{"target": "xx"}, {"source": "fr"}, {"source": "fr", "target": "en"}])
def test_a_language_it_does_not_have_is_refused_by_name(translator, asked):
    with pytest.raises(UserError, match="choose en to fr, en to de"):
        translator("The cat.", **asked)


@pytest.mark.parametrize(("text", "told"), [("a\ud800b", "surrogate"), ([3], "got int"), (None, "got NoneType")])
def test_text_that_is_none_is_refused(translator, text, told):
    with pytest.raises(UserError, match=told):
        translator(text)


@pytest.mark.parametrize(("engine", "device", "used"), [
    ("torch", "auto", ["cuda"]), ("torch", "mps", ["mps"]), ("torch", "cpu", ["cpu"]), ("auto", "mps", ["mps"]),
])
def test_the_model_runs_where_it_is_asked_to(monkeypatch, folder, engine, device, used):
    """With stand-ins for GPUs.  CTranslate2 has no such device as mps."""
    devices = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(PreTrainedModel, "to", lambda model, device: devices.append(device) or model)
    assert Translator.from_pretrained(folder, engine=engine, device=device)("The cat.").engine == "torch"
    assert devices == used


@pytest.mark.parametrize(("engine", "device", "used"), [
    ("auto", "auto", "ctranslate2 cpu"), ("auto", "cuda", "torch cuda"), ("ctranslate2", "cuda", None),
])
def test_a_gpu_without_cuda_12_is_for_pytorch_alone(monkeypatch, folder, engine, device, used):
    """What PyTorch 2.13 installs on Linux: CTranslate2 counts the GPU, and fails at its first translation."""
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctypes, "CDLL", Mock(side_effect=OSError("libcublas.so.12: cannot open shared object file")))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(PreTrainedModel, "to", lambda model, device: model)
    if used is None:
        with pytest.raises(UserError, match="needs CUDA 12, finds none here; use cpu or auto"):
            Translator.from_pretrained(folder, engine=engine, device=device)
        return
    translator = Translator.from_pretrained(folder, engine=engine, device=device)
    on = translator.engine.translator.device if translator.engine.name == "ctranslate2" else "cuda"
    assert f"{translator('The cat.').engine} {on}" == used


def test_without_a_gpu_auto_is_the_cpu_and_another_is_refused(folder):
    assert Translator.from_pretrained(folder, engine="torch").model.device.type == "cpu"
    for wrong in ("cuda", "mps", "gpu"):
        with pytest.raises(UserError, match=f"device .?{wrong}"):
            Translator.from_pretrained(folder, device=wrong).model  # noqa: B018


@pytest.mark.parametrize("wrong", [{"engine": "fast"}, {"precision": "int4"}, {"threads": 0}])
def test_how_to_load_is_checked_first(folder, wrong):
    [(name, value)] = wrong.items()
    with pytest.raises(UserError, match=f"{name} {value!r}: expected"):
        Translator.from_pretrained(folder, **wrong)


def test_a_model_in_training_translates_as_it_would_when_loaded(folder):
    loaded = Translator.from_pretrained(folder, engine="torch")
    translator = Translator(loaded.model.train(), loaded.tokenizer)
    assert not loaded.model.training and len({translator(SENTENCES[0]).text for _ in range(3)}) == 1


def test_words_never_seen_are_named_numbers_and_punctuation_are_not(translator):
    result = translator("The CAT didn't cross 12 zebras, 猫 3,5 ... ♪! See https://zebra.org or {zebra} ☃")
    assert [word.text for word in result.unknown_words] == ["didn't", "zebras", "猫", "See", "or"]
    assert all(result.source_text[word.start : word.end] == word.text for word in result.unknown_words)


def test_words_of_the_translation_that_nobody_wrote_are_named(translator):
    result = translator("The zebra did not cross.")
    known = with_fields(result, text="Le zebra a tordu L'OURS mi-caisse 40.")
    seen = frozenset(["le", "a", "l", "ours", "mi", "caisse"])
    [word] = with_fields(known, seen_target=seen).invented_words
    assert known.text[word.start : word.end] == word.text == "tordu"
    assert [(one.kind, one.word) for one in with_fields(known, seen_target=seen).doubts] == [
        ("unknown_word", "zebra"), ("invented_word", "tordu")]
    assert with_fields(known, seen_target=None).invented_words is None
    assert not with_fields(known, seen_target=seen | {"tordu"}).invented_words
    terms = Glossary.of({"zebra": "tordu"})
    assert not with_fields(known, seen_target=seen, segments=(), glossary=terms).invented_words


def test_looking_and_translating_from_many_threads_agree_with_one(translator):
    def work(_):
        result = translator(SENTENCES[0])
        return plain([result]), translator.look(result)[0].maps("cross")

    expected, maps = work(0)
    with ThreadPoolExecutor(4) as pool:
        for found, other in pool.map(work, range(12)):
            assert found == expected
            np.testing.assert_allclose(other, maps, atol=1e-6)
    assert translator.model.config._attn_implementation == "sdpa"


def test_a_twin_has_the_same_weights_and_other_modules(translator):
    """So that what is done to its attention touches nobody else, and it costs no memory."""
    result = translator(SENTENCES[0])
    [own] = translator.look(result)
    with translator.separate_copy() as twin, translator.separate_copy() as other:
        assert len({id(one.model) for one in (translator, twin, other)}) == 3
        assert all(a is b for a, b in zip(translator.model.parameters(), twin.model.parameters(), strict=True))
        with twin.inside() as (model, _), ablate(model, [Head("cross", 0, 0)]):
            assert model.config is not translator.model.config
            for one in (translator, other):
                np.testing.assert_array_equal(one.look(result)[0].log_probs, own.log_probs)
        [again] = twin.look(result)
        np.testing.assert_array_equal(again.log_probs, own.log_probs)
        modules = {id(one.model) for one in (twin, other)}
    with translator.separate_copy() as later:
        assert id(later.model) in modules, "they are used again"


@pytest.mark.few(1)
def test_a_checkpoint_that_samples_is_searched_all_the_same(any_folder):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    before = plain(translator(SENTENCES[:2]))
    translator.model.generation_config.update(do_sample=True, temperature=5.0)
    assert plain(translator(SENTENCES[:2])) == plain(translator(SENTENCES[:2])) == before
