"""Nothing lost, nothing invented: sentences that a model joins come out all the same, what is no language unchanged.

The engines here write what a model might."""

import asyncio
import contextlib
import json
from dataclasses import replace

import pytest

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.serve.access import Caller
from seq2see.serve.apis.v1 import LookBody, look_reply
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings
from seq2see.text.glossary import Glossary
from seq2see.translate.decoding import DecodingOptions
from seq2see.translate.results import Hypothesis
from seq2see.translate.segment_translator import check_text, visible

URL = "https://x.org/a?b=c"
PROTECTED = [URL, "a.b@c.org", "😀", "/usr/bin/x", "C:\\x", "{name}", "%s", "${x}", "7"]
TEXT = "The cat did not cross. It did not fit. It slept."


class Copying:
    """An engine that writes its source, changed by a function; it writes its prefix first."""

    name, precision, threads = "copying", "none", 1

    def __init__(self, codec, write):
        self.codec, self.write, self.calls = codec, write, []

    def translate(self, sources, options, *, wanted=None):
        texts = [self.codec.decode(ids) for ids in sources]
        self.calls.append(texts)
        return [tuple(self._found(text, options, rank) for rank in range(options.alternatives)) for text in texts]

    def _found(self, text, options, rank):
        written, begun = self.write(text, rank), self.codec.decode(options.prefix[1:])
        ids = self.codec.encode([written.removeprefix(begun).strip() if begun else written])[0]
        return Hypothesis.from_engine((*options.prefix, *ids), -1.0 - rank, end=ids[-1:], options=options)


class WithEngine(Translator):
    """A translator with another engine, whose model says that it may be given so many sentences at once."""

    def __init__(self, original, engine, together):
        vars(self).update(vars(original))
        self.engine, self.together = engine, together

    @property
    def defaults(self):
        usual = super().defaults
        return replace(usual, config={**usual.config, "source_sentences": self.together})


@pytest.fixture
def made(translator):
    def make(write, *, together=3):
        return WithEngine(translator, Copying(translator.codec, write), together)

    return make


def first_alone(text, rank):
    """Of a text the first sentence alone, as a model does that was trained on single ones."""
    return text.partition(".")[0] + "." if "." in text else text


def both(translator, text, *, prefix="", glossary=None, **options):
    """By a call and through the server's batches: the same."""
    texts = [text] if isinstance(text, str) else text

    async def serve():
        service = Service({"x": translator}, ServerSettings(texts_per_minute=0))
        try:
            return await service.translate(texts, source="en", target="fr", caller=Caller("test"), prefix=prefix,
                                           glossary=glossary, options=DecodingOptions(**options))
        finally:
            service.close()

    result = translator(text, prefix=prefix, glossary=glossary, **options)
    assert ([result] if isinstance(text, str) else result) == asyncio.run(serve())
    return result


def test_what_is_lost_together_is_translated_one_by_one(made):
    result = both(made(first_alone), f" {TEXT}\n\nThe cat.  Is it? ")
    assert result.text == f" {TEXT}\n\nThe cat.  Is it? " and result.one_by_one
    assert [part.source_text for part in result.parts] == [
        "The cat did not cross.", "It did not fit.", "It slept.", "The cat.", "Is it?"]


def test_what_is_whole_stays_together_and_is_translated_once(made):
    translator = made(lambda text, rank: text)
    result = translator(TEXT)
    assert result.text == TEXT and not result.one_by_one and len(result.parts) == 1
    assert len(translator.engine.calls) == 1


def test_a_hypothesis_with_both_marks_of_a_quotation_comes_first(made):
    translator = made(lambda text, rank: text if rank else text.replace('"', "", 1))
    assert translator('"The cat is here," he said.', num_beams=2).text.count('"') == 2


def test_only_the_segment_that_lost_something_is_cut(made):
    def write(text, rank):
        return first_alone(text, rank) if "fit" in text else text

    translator = made(write, together=2)
    result = translator("The cat. It did not fit. An owl. It slept.")
    assert [part.source_text for part in result.parts] == ["The cat.", "It did not fit.", "An owl. It slept."]
    assert translator.engine.calls[1] == ["The cat.", "It did not fit."]


def test_hypotheses_that_lost_a_sentence_are_left_out_where_others_have_not(made):
    result = both(made(lambda text, rank: first_alone(text, rank) if rank == 0 else text), TEXT, alternatives=3)
    assert [one.text for one in result.hypotheses] == [TEXT] and not result.one_by_one
    assert result.text == TEXT and result.hypotheses[0].score == -2.0


@pytest.mark.parametrize("prefix", ["An owl", "The cat did not cross.", "The cat did not cross. It"])
def test_a_prefix_is_kept(made, prefix):
    result = both(made(first_alone), TEXT, prefix=prefix)
    assert result.text.startswith(prefix)
    assert result.text.endswith("It slept.")


@pytest.mark.parametrize("write", [
    lambda text, rank: text, lambda text, rank: text.replace(" Anna", "").replace("Anna ", ""),
    lambda text, rank: text.replace("7", "77"), lambda text, rank: "Ah.", lambda text, rank: f"{text} {text}",
], ids=["copied", "names lost", "numbers changed", "other", "twice"])
def test_what_is_protected_comes_back_exactly_once(made, write):
    cases = {around.replace("{}", protected): protected for protected in PROTECTED
             for around in ("The cat {} did not cross.", "{} did not cross.", "The cat did not cross {}")}
    for (text, protected), result in zip(cases.items(), made(write)(list(cases), alternatives=2), strict=True):
        assert [one.text.count(protected) for one in result.hypotheses] == [1], text
        assert result.unknown_words == ()
        if write(text, 0) == text:
            assert result.text == text


@pytest.mark.parametrize("write", [
    lambda text, rank: text, lambda text, rank: text.replace("Anna", ""), lambda text, rank: "Ah.",
    lambda text, rank: f"{text} {text}", lambda text, rank: text.replace("hibou", "chouette").replace("lamp", "lampe"),
], ids=["copied", "names lost", "other", "twice", "a noun"])
def test_a_term_is_there_as_often_as_in_the_source(made, write):
    cases = {"The owl slept.": 1, "Owl and owl.": 2, "It slept.": 0, "The owl (an owl) has 7 %s.": 2,
             "A TIRED OWL, AN OWL!": 2}
    results = both(made(write), list(cases), glossary=Glossary.of({"owl": "hibou"}))
    for count, result in zip(cases.values(), results, strict=True):
        assert len(result.terms) == count and result.missing_terms == ()
        assert result.text.lower().count("hibou") == count


def test_what_the_model_writes_no_words_for_stays(made):
    result = both(made(lambda text, rank: text if "owl" in text else ""), "cat\nThe owl slept.", alternatives=2)
    assert [one.text for one in result.hypotheses] == ["cat\nThe owl slept."]


def loses_clause(text, rank):
    """What follows the first comma is lost, except in a short text."""
    return text.partition(",")[0] + "." if len(text) > 30 else text


def test_a_lost_clause_is_translated_in_parts(made):
    text = "The cat did not, because it was tired, cross the street."
    result = made(loses_clause, together=1)(text)
    assert result.text == text and [part.source_text for part in result.parts] == [
        "The cat did not,", "because it was tired,", "cross the street."]


def test_a_hypothesis_with_the_clause_is_preferred_and_a_short_one_taken_if_parts_are_no_longer(made):
    text = "The cat did not cross, because it was too tired for it."
    translator = made(lambda read, rank: loses_clause(read, rank) if rank == 0 else read, together=1)
    assert translator(text, alternatives=3).text == text and len(translator.engine.calls) == 1
    translator = made(lambda read, rank: "Ah." if len(read) > 40 else "A", together=1)
    assert translator(text).text == "Ah." and len(translator(text).parts) == 1


def test_a_sample_is_not_judged_by_its_length(made):
    translator = made(loses_clause, together=1)
    translator.__dict__["torch_engine"] = translator.engine
    assert translator("The cat did not, because it was tired, cross.", temperature=1.0).text == "The cat did not."


def test_separators_of_joined_sentences_are_not_read(made):
    translator = made(lambda text, rank: text)
    text = "The cat did not cross.\tIt did not fit.  It slept."
    assert translator(text).text == text
    assert translator.engine.calls == [["The cat did not cross. It did not fit. It slept."]]


@pytest.mark.parametrize("write", [lambda text, rank: f"{text} It is." if text.count(".") > 1 else text,
                                   lambda text, rank: text + text if text.count(".") > 1 else text])
def test_an_added_sentence_is_as_wrong_as_a_lost_one(made, write):
    result = made(write)(TEXT)
    assert result.text == TEXT and result.one_by_one


def test_where_hypotheses_are_missing_the_last_is_repeated_not_the_best(made):
    def write(text, rank):
        return f"{text}{'!' * rank}" if rank < 2 or "7" not in text else text.replace("7", "8")

    translator = made(write)
    result = translator("The cat. I have 7 owls.", alternatives=3)
    assert [one.text for one in result.parts[1].hypotheses] == ["I have 7 owls.", "I have 7 owls.!", "I have 7 owls.!"]


@pytest.mark.parametrize("other", ["\u202f", "\u00a0", "\u2009", "  ", " \u200b", " \u2060", "\ufeff \u00ad"])
def test_hypotheses_that_look_the_same_are_one(made, monkeypatch, other):
    """The tokenizer of the test has no such characters: the decoder writes them."""
    translator = made(lambda text, rank: text.replace(" did", [" did", "! did", " owl did", "did"][rank]))
    decode = type(translator.codec).decode
    monkeypatch.setattr(type(translator.codec), "decode", lambda *given: decode(*given).replace("! ", other))
    result = both(translator, "The cat did not cross.", alternatives=4)
    assert [one.text for one in result.hypotheses] == [
        "The cat did not cross.", "The cat owl did not cross.", "The catdid not cross."]


def test_what_readers_see_as_different_is_different():
    assert visible("Où est la gare\u202f?") == visible("Où est la gare ?") != visible("Où est la gare?")
    assert visible("می\u200cخواهم") != visible("میخواهم"), "a non-joiner changes letters"


def test_a_segment_with_fewer_hypotheses_takes_none_from_the_others(made):
    translator = made(lambda text, rank: text.replace("7", "78"[rank > 0]).replace("cat", ["cat", "owl", "box"][rank]))
    result = both(translator, "The cat. I have 7 owls.", alternatives=3)
    assert [one.text for one in result.hypotheses] == [f"The {one}. I have 7 owls." for one in ("cat", "owl", "box")]
    for part in result.parts:
        assert len(part.hypotheses) == 3


def test_a_trace_is_of_what_the_model_read(translator):
    result = translator(f"The cat {URL} did not cross.", num_beams=1)
    [trace] = translator.look(result)
    assert result.source_text == f"The cat {URL} did not cross." and result.text.count(URL) == 1
    assert trace.source_text == result.model_input != result.source_text
    assert trace.target_ids == result.hypotheses[0].token_ids
    assert trace.engine_log_prob == pytest.approx(trace.log_prob, abs=1e-3)


def test_a_look_shows_the_text_as_it_was_sent(made):
    text = "The cat Zqxv991925 did not cross {x} 😀."

    async def look():
        model = made(lambda read, rank: read.replace("Zqxv991925", "Zqxv5"))
        service = Service({"x": model}, ServerSettings(texts_per_minute=0))
        try:
            body = LookBody(text=text, source="en", target="fr", maps=["cross"])
            return json.loads(await look_reply(service, body, Caller("test")))
        finally:
            service.close()

    found = asyncio.run(look())
    [trace] = found["traces"]
    assert trace["source_text"] == "The cat 40 did not cross Anna."
    assert found["translation"]["unknown_words"] == []
    assert trace["texts"] == {"source": text, "target": found["translation"]["text"]}
    for side, units in trace["words"].items():
        shown, words = trace["texts"]["source" if side == "source" else "target"], {one["text"] for one in units}
        assert {"cat", "Zqxv991925", "{x}"} <= words and not {"40", "Anna"} & words
        assert all(shown[one["start"] : one["end"]] == one["text"] for one in units if one["word"] is not None)


@pytest.mark.parametrize(("text", "told"), [
    ("a" * 1_000, None), ("b " + "a" * 1_001, r"a word has 1,001 characters: .* \(a{20}\.\.\.\)"),
    ("猫" * 10_000, None),
    ("ж" * 1_001, "a word has 1,001 characters"), ("a b " * 250_000, "a text has 1,000,000 characters"),
    ("a b " * 20_000, None), (f"The cat https://a.org/{'a' * 20_000}", None), ("." * 20_000, None),
])
def test_a_text_and_a_word_may_be_so_long_as_none_is(text, told):
    with pytest.raises(UserError, match=told) if told else contextlib.nullcontext():
        check_text(text)
