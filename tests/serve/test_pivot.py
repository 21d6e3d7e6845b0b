"""Pairs that no model has, by two models: the setting `pivot`."""

import asyncio
from dataclasses import replace

import httpx
import pytest
import tiny
from serving import Stub, running

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.serve.access import Caller
from seq2see.serve.api_errors import APIError
from seq2see.serve.pivot import Leg, PivotedTranslation, pivoted_pairs
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings, read_settings
from seq2see.tokenizer.language_pairs import LanguagePairs
from seq2see.translate.decoding import DecodingOptions

CALLER = Caller("10.0.0.1")
FRENCH = "Le chat n'a pas traversé la rue."
HTML = "<p>Le chat <code>x</code></p>"


@pytest.fixture(scope="module")
def models(tmp_path_factory, folder):
    """One from French to English, one from English to French and German; a server gives them their names."""
    home = tiny.opus_mt(tmp_path_factory.mktemp("fr-en"), source_lang="fr", target_lang="en")
    return {name: Translator.from_pretrained(run, engine="torch") for name, run in (("home", home), ("out", folder))}


@pytest.fixture(scope="module")
def url(models):
    with running({name: (lambda one=one: one) for name, one in models.items()}, pivot="en") as server:
        yield server.url


def ask(url, path, **body):
    return httpx.post(f"{url}{path}", json=body, timeout=120)


@pytest.mark.few(2)
@pytest.mark.parametrize("text", [FRENCH + "\n\nIl était fatigué. ", HTML, " ", "{name}: 30 cm"])
def test_the_second_model_reads_what_the_first_one_writes(url, models, text):
    html = "html" if text == HTML else "text"
    between = models["home"](text, format=html)
    expected = models["out"](between.text, target="de", alternatives=2, format=html)
    [found] = ask(url, "/v1/translate", texts=[text], source="fr", target="de", alternatives=2,
                  format=html).json()["translations"]
    assert [one["text"] for one in found["hypotheses"]] == [one.text for one in expected.hypotheses]
    assert found["text"] == expected.text and found["pivot"] == {
        "language": "en", "text": between.text, "models": ["home", "out"]}
    assert (found["source_language"], found["target_language"]) == ("fr", "de")
    assert all(one["probability"] is None for one in found["hypotheses"])
    answer = ask(url, "/translate", q=[text], source="fr", target="German", alternatives=1, format=html).json()
    assert answer["translatedText"] == [expected.text]


@pytest.mark.parametrize("cut", [0, 1])
def test_a_translation_is_finished_if_both_of_its_steps_are(models, cut):
    whole = models["out"]("The cat.", target="de")
    steps = [replace(whole, hypotheses=tuple(replace(one, finished=step != cut) for one in whole.hypotheses))
             for step in range(2)]
    legs = Leg("home", "fr", "en"), Leg("out", "en", "de")
    assert not PivotedTranslation.joined(legs, *steps).hypotheses[0].finished


def test_what_is_listed_is_what_is_translated(url):
    languages = {one["code"]: one["targets"] for one in httpx.get(f"{url}/languages").json()}
    assert languages == {"fr": ["en", "de"], "en": ["fr", "de"], "de": []}
    for source, targets in languages.items():
        for target in languages:
            status = ask(url, "/translate", q="x y", source=source, target=target).status_code
            assert status == (200 if target in targets else 400)
    listed = httpx.get(f"{url}/v1/models").json()
    assert (listed["pivot"], listed["pivoted"]) == ("en", [{"sources": ["fr"], "targets": ["de"]}])
    assert [one["language_pairs"] for one in listed["models"]] == [[["fr", "en"]], [["en", "fr"], ["en", "de"]]]


def test_a_model_of_the_pair_is_never_passed_over_and_a_named_one_alone_is_asked(url):
    for source, target in (("fr", "en"), ("en", "de")):
        [found] = ask(url, "/v1/translate", texts=["x y"], source=source, target=target).json()["translations"]
        assert found["pivot"] is None
    answer = ask(url, "/v1/translate", texts=["x"], source="fr", target="de", model="home")
    assert answer.json()["error"].startswith("this model does not translate to de")
    error = ask(url, "/translate", q="x", source="de", target="fr").json()["error"]
    pairs = "fr to en, en to fr, en to de, fr to de"
    assert error == f"this model does not translate from de; choose {pairs}, or another model"


def test_each_text_has_its_own_way(url):
    english = "The weather was so bad that nobody wanted to go for a walk."
    french = "Le temps était si mauvais que personne ne voulait sortir se promener."
    found = ask(url, "/v1/translate", texts=[english, french, english], target="de").json()["translations"]
    assert [(one["source_language"], bool(one["pivot"])) for one in found] == [
        ("en", False), ("fr", True), ("en", False)]


def test_what_cannot_be_had_of_it_is_refused_in_one_line(url):
    expected = ("fr to de is translated by two models, through en, and has no attention from one text to the other:"
                " look at fr to en and en to de")
    for path, body in (("/v1/look", {}), ("/v1/look", {"evidence": True}), ("/v1/compare", {})):
        answer = ask(url, path, text=FRENCH, source="fr", target="de", **body)
        assert (answer.status_code, answer.json()) == (400, {"error": expected, "code": "pivoted"})
    for body in ({"translation": "Der."}, {"without": [["cross", 0, 0]]}):
        answer = ask(url, "/v1/look", text=FRENCH, source="fr", target="de", **body)
        assert answer.status_code == 400 and "\n" not in answer.json()["error"]


def test_options_prefix_and_samples_are_the_second_model_s():
    """The first writes its best translation."""
    stubs = {"home": Stub(pairs=[("fr", "en")]), "out": Stub(pairs=[("en", "de")])}
    seen = []
    for name, one in stubs.items():
        one.prepare = lambda texts, _name=name, _real=one.prepare, **more: (
            seen.append((_name, more["options"], more.get("prefix", ""), more.get("keep"))), _real(texts, **more))[1]
    service = Service(stubs, ServerSettings(pivot="en"))
    given = {"source": "fr", "target": "de", "caller": CALLER, "keep": "x+"}

    def translate(**more):
        return asyncio.run(service.translate(["a"], **given, **more))

    translate(options=DecodingOptions(alternatives=3, num_beams=4), prefix="B")
    translate(options=DecodingOptions(temperature=1.0, seed=3))
    assert [(name, options.alternatives, options.num_beams, options.temperature, prefix, keep)
            for name, options, prefix, keep in seen] == [
        ("home", None, 4, None, "", "x+"), ("out", 3, 4, None, "B", "x+"),
        ("home", None, None, None, "", "x+"), ("out", None, None, 1.0, "", "x+")]
    with pytest.raises(APIError, match="fr to de is translated by two models, one after the other; omit the glossary"):
        translate(glossary=object())
    data = asyncio.run(service.translate_document("a.txt", b"a b", source="fr", target="de", caller=CALLER)).data
    assert data == b"A B" and [one[0] for one in seen[4:]] == ["home", "out"]


def test_only_the_operator_s_word_pivots(models):
    with pytest.raises(APIError) as refused:
        asyncio.run(Service(models).translate([FRENCH], source="fr", target="de", caller=CALLER))
    assert refused.value.code == "unknown_language" and not Service(models).pivoted_pairs


@pytest.mark.parametrize(("own", "through", "expected"), [
    ([["fr-en", "de-en"], ["en-fr", "en-de", "en-es"]], "en", ["fr-de", "fr-es", "de-fr", "de-es"]),
    ([["fr-en"], ["en-de"], ["fr-de"]], "en", []),  # one has it
    ([["fr-en"], ["en-de"]], "es", []),
    ([["fr-en"], ["de-fr"]], "en", []),  # they do not chain
    ([["en-fr", "en-de"]], "en", []),
    ([["fra_Latn-eng_Latn"], ["en-de"]], "English", ["fra_Latn-de"]),
    ([["fr-en"], ["en-fra_Latn", "en-de"]], "en", ["fr-de"]),  # not into itself
    ([["fr-en", "en-de"]], "en", ["fr-de"]),  # both legs by one model
])
def test_which_pairs_chain(own, through, expected):
    found = pivoted_pairs(tuple(LanguagePairs.of(one.split("-") for one in pairs) for pairs in own), through)
    assert ["-".join(pair) for pair in found] == expected


def test_the_setting_is_a_language():
    assert read_settings(None, ["pivot=en"]).pivot == "en" and read_settings().pivot is None
    with pytest.raises(UserError, match="pivot in the command line: expected the code of a language, such as en"):
        read_settings(None, ["pivot=qqxx yy"])
