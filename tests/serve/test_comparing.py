"""`/v1/compare`: what it says of two served models is what `lens.compare` says of them; a mistake is one line."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import tiny

from seq2see import Translator
from seq2see.lens import compare
from seq2see.serve.access import Caller
from seq2see.serve.api_errors import APIError
from seq2see.serve.apis.comparing import CompareBody, compare_reply
from seq2see.serve.service import Service
from seq2see.translate.other_model import forced

TEXT = "The cat did not cross."


def german():
    model, tokenizer = tiny.seq2see()
    model.config.language_pairs = [["en", "de"]]
    return Translator(model, tokenizer)


@pytest.fixture(scope="module")
def service():
    made = Service({**{name: Translator(*tiny.seq2see(seed=seed)) for seed, name in enumerate("ab")},
                    "german": german(), "t5": Translator(*tiny.make("t5"))})
    yield made
    made.close()


@pytest.fixture(scope="module")
def ask(service):
    def asked(**body):
        with ThreadPoolExecutor(1) as thread:  # a browser may have an event loop in this one
            work = thread.submit(asyncio.run, compare_reply(service, CompareBody(**body), Caller("test")))
        return json.loads(work.result())

    return asked


@pytest.mark.few(1)
@pytest.mark.parametrize("other", ["b", "t5"])
def test_both_models_are_compared_on_either_translation(ask, service, other):
    found = ask(text=TEXT, source="en", target="fr", model="a", against=other)
    models = [service.models[name] for name in ("a", other)]
    mine, theirs = (model.look(model(TEXT, source="en", target="fr"))[0] for model in models)
    assert found["models"] == ["a", other] and mine.target_text != theirs.target_text
    expected = [(mine, forced(models[1], mine)), (forced(models[0], theirs), theirs)]
    for got, pair in zip(found["comparisons"], expected, strict=True):
        want = json.loads(json.dumps(compare(*pair).to_dict()))
        assert {name: got[name] for name in want} == want
        assert [one["target_text"] for one in got["traces"]] == [want["translation"]] * 2
        for record, trace in zip(got["traces"], pair, strict=True):
            assert record["target_ids"] == list(trace.target_ids) and set(record["maps"]["cross"]) == {"raw"}


def test_the_next_model_with_the_language_pair_is_taken_and_a_model_beside_itself_is_the_same(ask):
    assert ask(text=TEXT, target="fr")["models"] == ["a", "b"]
    assert ask(text=TEXT, target="fr", model="b")["models"] == ["b", "a"]
    same = ask(text=TEXT, target="fr", model="a", against="a")
    assert len(same["comparisons"]) == 1 and {one["distance"] for one in same["comparisons"][0]["heads"]} == {0}


@pytest.mark.parametrize(("body", "code", "said"), [
    ({"model": "a", "against": "german", "target": "fr"}, "unknown_language",
     "german: this model does not translate to fr"),
    ({"against": "german", "target": "fr"}, "unknown_language", "german: this model does not translate "),
    ({"model": "german", "target": "fr"}, "unknown_language", "this model does not translate to fr"),
    ({"against": "nobody"}, "unknown_model", "unknown model; choose a, b, german, t5"),
    ({"text": "The cat. The box. The street did not cross the cat. It was tired."}, "several_sentences",
     "parts: give one sentence"),
    ({"text": "..."}, "blank_text", "the text has no words"), ({"text": "x" * 10**5}, "text_too_long", "at most"),
    ({"num_beams": 64}, "num_beams_too_large", "at most"),
])
def test_what_is_wrong_is_one_line(ask, body, code, said):
    with pytest.raises(APIError) as raised:
        ask(**{"text": TEXT, "source": "en"} | body)
    assert raised.value.code == code and said in raised.value.message and "\n" not in raised.value.message
