"""What of a visit is ended, what a browser sends back, and what links say: without a browser."""

import asyncio
import dataclasses
import math
import shutil

import pytest
from tiny import calibrate_by_hand

from seq2see import Translator
from seq2see.lens import Calibrator
from seq2see.lens.counterparts import first_steps
from seq2see.serve.errors import APIError
from seq2see.serve.service import Service
from seq2see.serve.ui.adapter import Ask, Part, Shown, read
from seq2see.serve.ui.learn_tab import Running, read_lessons
from seq2see.serve.ui.one_word import SENTENCES, sentences
from seq2see.serve.ui.panels.switch_off import HeadsQuestion, switch_off
from seq2see.serve.ui.translate_tab import Visits, _link, _links, _usual, about, asked_by_link
from seq2see.translate.results import Hypothesis


def run(work):
    return asyncio.run(asyncio.wait_for(work, 10))


async def settled():
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_newer_request_ends_the_older_of_the_same_visit_alone():
    async def scene():
        visits, ended = Visits(), []

        async def work(name, seconds):
            try:
                await asyncio.sleep(seconds)
                return name
            except asyncio.CancelledError:
                ended.append(name)
                raise

        first = asyncio.ensure_future(visits.run("a", 1, work("first", 60)))
        other = asyncio.ensure_future(visits.run("b", 1, work("other", 0.01)))
        await settled()
        assert await visits.run("a", 2, work("second", 0)) == "second"
        await settled()
        assert ended == ["first"] and await first is None
        assert await other == "other"

    run(scene())


def test_stop_ends_what_was_asked_for_so_far_and_nothing_later():
    async def scene():
        visits = Visits()
        work = asyncio.ensure_future(visits.run("a", 3, asyncio.sleep(60, "done")))
        await settled()
        visits.stop("a", 2)
        visits.stop("b", 9)
        await settled()
        assert not work.done()
        visits.stop("a", 3)
        assert await work is None and not visits._running

    run(scene())


def test_a_request_that_is_cancelled_from_outside_is_not_taken_for_stopped():
    async def scene():
        visits = Visits()
        task = asyncio.ensure_future(visits.run("a", 1, asyncio.sleep(60)))
        await settled()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scene())


def plain(shown):
    return shown.model_dump(mode="json")


SHOWN = Shown(model="m", source="en", target="fr", text="The cat.", engine="torch", precision="float32",
              parts=(Part(text="The cat.", hypothesis=Hypothesis("", (4, 40, 2), -0.5, -1.5, finished=True, given=1)),))

BEGUN_BY_LESS_THAN_NOTHING = plain(SHOWN)["parts"][0]["hypothesis"] | {"given": -1}


def test_what_is_shown_goes_to_the_browser_and_back():
    assert read(Shown, plain(SHOWN)) == SHOWN
    assert read(Shown, plain(SHOWN) | {"start": {"kind": "encoder", "layer": 1}}).start.kind == "encoder"


@pytest.mark.parametrize("change", [{"parts": []}, {"text": 3}, {"more": 1}, {"start": {"layer": -1}},
                                    {"parts": [{"text": "a", "hypothesis": {"token_ids": ["x"], "score": 0.0}}]},
                                    {"parts": [{"text": "a", "hypothesis": BEGUN_BY_LESS_THAN_NOTHING}]}])
def test_what_nobody_was_given_is_refused(change):
    with pytest.raises(APIError):
        read(Shown, plain(SHOWN) | change)


def test_after_a_word_is_taken_it_is_given_where_heads_are_switched_off_too(translator):
    result = translator("The cat did not cross.", prefix="Le chat", num_beams=2)
    shown = read(Shown, plain(Shown.of(result, model="m")))
    [trace], [hypothesis] = shown.traces(translator), [result.hypotheses[0]]
    assert trace.given == 1 + len(translator.codec.begin("Le chat", language="fr"))
    assert trace.log_prob == pytest.approx(hypothesis.log_prob, abs=1e-3)
    switched = switch_off(translator, HeadsQuestion(shown=shown, heads=[("cross", layer, 0) for layer in range(3)]))
    assert "".join(text for text, _ in switched["after"]).startswith("Le chat"), "begun alike: only the heads differ"


def test_what_else_stood_at_a_word_has_calibrated_probabilities_where_the_model_is_calibrated(folder, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "run")
    for calibrated in (False, True):
        if calibrated:
            calibrate_by_hand(copied, "fr", Calibrator(0.1, 0.7))
        own = Translator.from_pretrained(copied, engine="torch")
        result = own("The cat did not cross.")
        [part], [trace] = _links(Shown.of(result, model="m"), own)["parts"], own.look(result)
        assert part["calibrated"] == calibrated == (trace.calibrated is not None)
        for choices, step in zip(part["others"], first_steps(trace), strict=True):
            expected = [math.exp(one.log_prob) for one in trace.shown.top[step][: len(choices["choices"])]]
            assert [one["probability"] for one in choices["choices"]] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("wrong", [{"token_ids": (10**6,)}, {"token_ids": (-1,)}, {"token_ids": ()}])
def test_ids_outside_the_vocabulary_are_refused(translator, wrong):
    from seq2see.errors import UserError

    [part] = SHOWN.parts
    changed = part.model_copy(update={"hypothesis": dataclasses.replace(part.hypothesis, **wrong)})
    with pytest.raises(UserError, match="ids of pieces"):
        SHOWN.model_copy(update={"parts": (changed,)}).traces(translator)


# --- links


@pytest.fixture(scope="module")
def two(translator):
    service = Service({"one": translator, "two": translator})
    yield service
    service.close()


SEARCHES = [
    {"num_beams": 1}, {"num_beams": 5, "alternatives": 2},
    {"temperature": 0.5, "top_k": 7, "top_p": 0.9, "seed": 3, "alternatives": 4},
]  # fmt: skip


@pytest.mark.parametrize("settings", SEARCHES)
def test_a_link_says_what_was_asked_for(two, settings):
    ask = Ask(n=1, text="The cat.", model="two", **settings)
    said = _link(two, "two", ask, 1)
    wish = asked_by_link({"text": "The cat.", **{name: str(value) for name, value in said.items()}}, longest=100)
    usual = settings == _usual(two, two.models["two"])
    assert (wish["model"], wish["shown"], wish["settings"]) == ("two", 1, {} if usual else settings)


def test_a_link_says_no_more_than_it_must_and_none_leads_to_a_chosen_beginning(two, translator):
    usual = _usual(two, translator)
    alone = Service({"one": translator})
    assert _link(alone, "one", Ask(n=1, text="a", **usual), 0) == {}
    assert _link(two, "two", Ask(n=1, text="a", **usual), 0) == {"model": "two"}
    assert _link(two, "two", Ask(n=1, text="a", prefix="Le"), 0) is None
    alone.close()


@pytest.mark.parametrize(("name", "value"), [
    ("num_beams", "0"), ("num_beams", "two"), ("temperature", "nan"), ("temperature", "1e9"), ("top_p", "-1"),
    ("seed", "9" * 5_000), ("alternatives", ""), ("top_k", "1.5"),
])
def test_what_is_not_right_in_a_link_is_left_out(name, value):
    asked = asked_by_link({"text": "a", name: value, "shown": "100", "look": "cross,-1,x"}, longest=10)
    assert asked["settings"] == {} and asked["shown"] == 0
    assert asked["start"] == {"kind": "cross", "layer": None, "head": None}


# --- what is offered


def test_one_word_is_changed_where_the_model_knows_the_words(translator):
    class Knows:
        def __init__(self, text):
            self.words = None if text is None else frozenset(text.casefold().replace(".", "").split())

        def seen_words(self, language):
            return self.words

    each = ["".join([before, " ".join(words), after]) for before, words, after in SENTENCES]
    assert sentences(Knows(None)) == sentences(Knows(" ".join(each))) == list(SENTENCES)
    assert sentences(Knows(each[1])) == [SENTENCES[1]]
    assert sentences(Knows(each[1].replace("small", ""))) == []
    service = Service({"tiny": translator})
    assert about(service)["models"][0]["sentences"] == []
    service.close()


@pytest.mark.parametrize("ready", [False, True])
def test_the_lessons_are_told_whether_there_is_a_model(tmp_path, ready):
    assert read_lessons(tmp_path, Running([]), may_run=True, ready=ready)["ready"] is ready
