"""`Translator`: right order, right hypothesis, right language; what it cannot do it says in one line."""

import json
import random
import shutil
import threading
import unicodedata

import numpy as np
import pytest
from tiny import SENTENCES, foreign_tokenizer

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens.kinds import KINDS
from seq2see.lens.maps import facts
from seq2see.tokenizer.words import split_words
from seq2see.translate.export import NotForCTranslate2
from seq2see.translate.results import Translation

TEXTS = [SENTENCES[0], "The box.", "", SENTENCES[2], "  ", "An owl.", SENTENCES[1]]


def plain(results):
    return [(r.text, r.source_text, [h.token_ids for h in r.hypotheses]) for r in results]


@pytest.mark.parametrize("num_beams", [1, 3])
def test_a_batch_equals_one_by_one_in_the_order_given(any_folder, num_beams, monkeypatch):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    translator.model.generation_config.no_repeat_ngram_size = 2  # or a random net writes one piece, whatever it reads
    alone = [translator(text, num_beams=num_beams) for text in TEXTS]
    assert plain(translator(TEXTS, num_beams=num_beams)) == plain(alone)
    monkeypatch.setattr("seq2see.translate.torch_engine.BATCH_TOKENS", 60)
    assert plain(translator(TEXTS, num_beams=num_beams)) == plain(alone)
    assert len({r.text for r in alone if r.hypotheses}) > 2, "all translations are the same: order would go unseen"


@pytest.mark.parametrize("num_beams", [1, 3])
def test_a_trace_and_the_engine_agree_on_the_probability(any_folder, num_beams):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    results = translator(SENTENCES[:3], num_beams=num_beams, alternatives=min(num_beams, 2))
    for alternative in range(min(num_beams, 2)):
        for result, trace in zip(results, translator.look(results, alternative=alternative), strict=True):
            hypothesis = result.hypotheses[alternative]
            assert trace.target_ids == hypothesis.token_ids and trace.target_text == hypothesis.text
            assert trace.score == hypothesis.score
            assert trace.engine_log_prob == pytest.approx(trace.log_prob, abs=1e-3), "the same weights, the same number"
            penalty = translator.model.generation_config.length_penalty or 1.0
            expected = trace.log_prob / len(trace.target_ids) ** penalty
            assert hypothesis.score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
@pytest.mark.parametrize("num_beams", [1, 3])
def test_a_prefix_is_given_and_counts_in_neither_log_probability(any_folder, num_beams, engine):
    try:
        translator = Translator.from_pretrained(any_folder, engine=engine, precision="float32")
    except NotForCTranslate2:
        pytest.skip("CTranslate2 is not given this kind of model")
    text = "The cat did not cross.\nThe box did not fit."  # two parts, the first of which is begun
    plain, begun = (translator(text, num_beams=num_beams, **asked) for asked in ({}, {"prefix": "Le chat"}))
    tags = translator.look(plain)[0].given
    first, second = translator.look(begun)
    prefix = translator.codec.begin("Le chat", language="fr")
    assert first.given == tags + len(prefix) and list(first.target_ids[tags : first.given]) == prefix
    assert second.given == tags == int(bool(translator.defaults.resolve().prefix))
    for trace in (first, second):
        assert trace.engine_log_prob == pytest.approx(trace.log_prob, abs=2e-2)
        assert trace.log_prob == pytest.approx(float(trace.log_probs[trace.given :].sum()), abs=1e-4)


def test_the_length_penalty_counts_in_the_score(folder):
    translator = Translator.from_pretrained(folder, engine="torch")
    translator.model.generation_config.length_penalty = 0.5
    for num_beams in (1, 3):
        result = translator("The cat.", num_beams=num_beams)
        [trace] = translator.look(result)
        assert result.hypotheses[0].score == pytest.approx(trace.log_prob / len(trace.target) ** 0.5, abs=1e-4)
        assert trace.difference == pytest.approx(0, abs=1e-3)


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


def test_look_adds_the_views_asked_for(translator):
    result = translator("The cat did not cross.")
    [trace] = translator.look(result, views=["raw", "norm", "contributions"])
    assert trace.views == ("raw", "norm", "contributions")
    with pytest.raises(UserError, match="there is no view 'rools'"):
        translator.look(result, views=["rools"])


def test_alternatives_are_the_best_of_the_beam(translator):
    result = translator("The cat did not cross.", alternatives=4)
    scores = [hypothesis.score for hypothesis in result.hypotheses]
    assert len({hypothesis.token_ids for hypothesis in result.hypotheses}) == 4
    assert scores == sorted(scores, reverse=True)
    assert result.text == result.hypotheses[0].text
    first, last = (translator.look(result, alternative=i)[0] for i in (0, 3))
    assert first.target_ids != last.target_ids
    for wrong in (-1, 4):
        with pytest.raises(UserError, match="4 hypotheses"):
            translator.look(result, alternative=wrong)


@pytest.mark.parametrize("blank", ["", " ", " \t\n", "\u00a0\u2003", "\ufeff"])
@pytest.mark.parametrize("format", ["text", "html"])
def test_a_blank_text_has_an_empty_translation(translator, blank, format):
    assert [one.text for one in translator([blank, "..."], format=format)] == ["", "..."]


def test_texts_without_words_have_no_hypotheses(translator):
    assert translator("12345").unknown_words == ()
    assert translator([]) == []
    with pytest.raises(UserError, match="0 hypotheses"):
        translator.look(translator(" "))


def test_the_target_language_decides_the_first_piece(translator):
    tags = {language: translator.tokenizer.tag_id(language) for language in ("fr", "de")}
    assert translator.language_pairs == [("en", "fr"), ("en", "de")]
    for asked, got in ((None, "fr"), ("fr", "fr"), ("de", "de")):
        result = translator("The cat.", target=asked)
        assert (result.source_language, result.target_language) == ("en", got)
        assert result.hypotheses[0].token_ids[0] == tags[got]
        [trace] = translator.look(result)
        assert trace.given == 1 and trace.target[0].text == f"<2{got}>" and trace.target[0].special
    mixed = [translator("The cat.", target="de"), translator("The box.")]
    assert [trace.target[0].text for trace in translator.look(mixed)] == ["<2de>", "<2fr>"]


@pytest.mark.parametrize("asked", [{"target": "xx"}, {"source": "fr"}, {"source": "fr", "target": "en"}])
def test_a_language_it_does_not_have_is_refused_by_name(translator, asked):
    with pytest.raises(UserError, match="choose en to fr, en to de"):
        translator("The cat.", **asked)


def test_a_marian_checkpoint_names_its_pair(tmp_path):
    import tiny

    tokenizer = foreign_tokenizer()
    tokenizer.init_kwargs.update(source_lang="en", target_lang="fr")
    folder = tiny.save(tmp_path, tiny.foreign_model("marian"), tokenizer)
    translator = Translator.from_pretrained(folder, engine="torch")
    assert translator.language_pairs == [("en", "fr")]
    with pytest.raises(UserError, match="choose en to fr"):
        translator("x", target="de")
    assert translator("The cat.").unknown_words is None


def test_tags_and_ends_typed_by_a_user_are_text(translator):
    ids = translator.tokenizer.encode_source("a </s> <2de> <pad>")
    assert ids[-1] == 2 and not set(ids[:-1]) & {0, 1, 2, 3, *range(4, 36)}
    assert translator("a </s> <2de>", target="fr").hypotheses[0].token_ids[0] == translator.tokenizer.tag_id("fr")


def test_a_text_too_long_is_translated_in_parts_that_fit(any_folder):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    text = "box, " * 40 + "\n bag"
    result = translator(["fine", text], max_new_tokens=2)[1]
    lengths = [len(ids) for ids in translator.codec.encode([part.source_text for part in result.parts])]
    joined = " ".join(part.source_text for part in result.parts)
    assert len(result.parts) > 1 and joined.split() == text.split()
    if translator.model.config.model_type != "t5":  # which has no positions
        assert max(lengths) <= 64
        with pytest.raises(UserError, match=r"too long: it has \d+ tokens, and the model takes at most 64"):
            translator("a" + "\u0301" * 100)


@pytest.mark.parametrize("num_beams", [1, 3])
def test_a_hypothesis_ends_with_its_end_and_without_padding(folder, num_beams):
    translator = Translator.from_pretrained(folder, engine="torch")
    few = {2, translator.tokenizer.tag_id("fr"), 300, 301}  # pieces left to choose from: an end comes soon, not at once
    others = [piece for piece in range(len(translator.tokenizer)) if piece not in few]
    translator.model.generation_config.update(suppress_tokens=others)
    texts = [text[:cut] for text in SENTENCES for cut in (5, 20, 60)]
    found = [result.hypotheses[0] for result in translator(texts, num_beams=num_beams)]
    assert len({len(hypothesis.token_ids) for hypothesis in found}) > 1, "all end at one step: nothing was padded"
    for hypothesis in found:
        assert (2 in hypothesis.token_ids) == hypothesis.finished
        assert 2 not in hypothesis.token_ids[:-1]


def test_a_translation_cut_by_the_limit_says_so(translator):
    result = translator("The cat.", max_new_tokens=3, num_beams=1)
    assert len(result.hypotheses[0].token_ids) == 3 and not result.hypotheses[0].finished
    assert "stopped at the limit of length" in facts(translator.look(result)[0])


@pytest.mark.parametrize("wrong", [{"num_beams": 0}, {"num_beams": 10**9}, {"alternatives": 0}, {"alternatives": 65},
                                   {"max_new_tokens": 10**9}, {"max_new_tokens": -1}, {"num_beams": 2.5}])
def test_numbers_out_of_bounds_are_refused(translator, wrong):
    with pytest.raises(UserError, match=rf"{next(iter(wrong))}.*expected a whole number from 1 to"):
        translator("The cat.", **wrong)


def test_text_that_is_none_is_refused(translator):
    with pytest.raises(UserError, match="surrogate"):
        translator("a\ud800b")
    with pytest.raises(UserError, match="expected text, got int"):
        translator([3])
    with pytest.raises(UserError, match="expected text, got NoneType"):
        translator(None)


@pytest.mark.parametrize(("wrong", "told"), [
    ({"engine": "fast"}, "engine 'fast': expected auto, ctranslate2 or torch"),
    ({"precision": "int4"}, "precision 'int4': expected int8 or float32"),
    ({"threads": 0}, "threads 0: expected a whole number of at least 1"),
])
def test_how_to_load_is_checked_first(folder, wrong, told):
    with pytest.raises(UserError, match=told):
        Translator.from_pretrained(folder, **wrong)


def test_a_model_in_training_translates_as_it_would_when_loaded(folder):
    loaded = Translator.from_pretrained(folder, engine="torch")
    translator = Translator(loaded.model.train(), loaded.tokenizer)
    assert not loaded.model.training and len({translator(SENTENCES[0]).text for _ in range(3)}) == 1


def test_composed_and_decomposed_letters_are_one(translator):
    result = translator("e\u0301te\u0301")
    assert result.source_text == "\u00e9t\u00e9" and plain([result]) == plain([translator("été")])


def test_words_never_seen_are_named_numbers_and_punctuation_are_not(translator):
    result = translator("The CAT didn't cross 12 zebras, 猫 3,5 ... ♪! See https://zebra.org or {zebra} ☃")
    assert [word.text for word in result.unknown_words] == ["didn't", "zebras", "猫", "♪", "See", "or"]
    assert all(result.source_text[word.start : word.end] == word.text for word in result.unknown_words)
    assert translator("The cat.").unknown_words == ()


def test_a_word_is_unknown_whatever_stands_around_it():
    """The short way for texts of words seen gives what the words themselves give."""
    draw = random.Random(0)
    fragments = ["the", "Cat", "zebra", "U.S.", "a.", "...", "c'est", "d'un", "12", "3,5", "(a", "b)", '"dog"', "-t-il",
                 "well-known", "\u0130", "ß", "漢字", "ไทย", "e\u0301", "१२", "x²", "it’s", "\u00a0", "a\x1cb", ":"]
    seen = frozenset({"the", "cat", "dog", "a", "b", "e", "x", "i\u0307", "ss", "漢", "c'", "est", "u.s.", "-t-il"})
    kinds = set()
    for _ in range(2000):
        text = "".join(draw.choice(fragments) + draw.choice(["", " ", "  "]) for _ in range(draw.randint(1, 5)))
        for language in ("en", "fr"):
            words = [word for word in split_words(text, language=language) if word.text.casefold() not in seen]
            expected = tuple(word for word in words if any(unicodedata.category(c)[0] not in "NPZ" for c in word.text))
            assert Translation(text, text, language, "de", (), "", "", seen=seen).unknown_words == expected, text
            kinds.add(bool(expected))
    assert kinds == {True, False}


def test_a_checkpoint_that_samples_is_searched_all_the_same(any_folder):
    translator = Translator.from_pretrained(any_folder, engine="torch")
    before = plain(translator(SENTENCES[:2]))
    translator.model.generation_config.update(do_sample=True, temperature=5.0)
    assert plain(translator(SENTENCES[:2])) == plain(translator(SENTENCES[:2])) == before


def test_looking_and_translating_from_many_threads_agree_with_one(translator):
    expected = plain([translator(SENTENCES[0])])
    [before] = translator.look(translator(SENTENCES[0]))
    failures = []

    def work():
        for _ in range(3):
            result = translator(SENTENCES[0])
            [trace] = translator.look(result)
            if plain([result]) != expected or not np.allclose(trace.maps("cross"), before.maps("cross"), atol=1e-6):
                failures.append(result)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and translator.model.config._attn_implementation == "sdpa"


def test_look_gives_every_layer_and_head(translator):
    traces = translator.look(translator(SENTENCES[:2]))
    for trace in traces:
        S, T = len(trace.source), len(trace.target)
        shapes = {"encoder": (2, 2, S, S), "decoder": (3, 2, T, T), "cross": (3, 2, T, S)}
        assert {kind: trace.maps(kind).shape for kind in KINDS} == shapes
        assert trace.model == translator.name and (trace.engine, trace.precision) == ("torch", "float32")


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("tokenizer.json", "{", "tokenizer.json is not valid JSON"),
        ("tokenizer.json", None, "the tokenizer in .* cannot be read"),
        ("seen_words.json", "[1]", "seen_words.json contains a list; expected an object"),
        ("seen_words.json", "{", "seen_words.json is not valid JSON"),
        ("model.safetensors", None, "no model.safetensors"),
    ],
)
def test_a_damaged_folder_is_refused_in_one_line(folder, tmp_path, file, content, told):
    broken = shutil.copytree(folder, tmp_path / "run")
    (broken / file).unlink() if content is None else (broken / file).write_text(content)
    with pytest.raises(UserError, match=told) as error:
        Translator.from_pretrained(broken)
    assert "\n" not in str(error.value)


def test_a_tokenizer_of_another_model_is_refused(folder, tmp_path):
    broken = shutil.copytree(folder, tmp_path / "run")
    path = broken / "tokenizer.json"
    plan = json.loads(path.read_text())
    plan["model"]["vocab"] |= {f"zz{i}": len(plan["model"]["vocab"]) + i for i in range(500)}
    path.write_text(json.dumps(plan))
    with pytest.raises(UserError, match="tokenizer.json: expected token ids from 0 to 399"):
        Translator.from_pretrained(broken)
