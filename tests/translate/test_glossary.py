"""Glossaries: read from files, and honoured by the packaged models, by both engines and by any other model."""

from dataclasses import replace

import pytest
import tiny

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.text.glossary import Glossary, read_glossary

TERMS = Glossary.of({"car": "bagnole", "washing machine": "lave-linge", "house": "baraque", "GitHub": "GitHub"})


@pytest.fixture(scope="module", params=["ctranslate2", pytest.param("torch", marks=pytest.mark.long)])
def everyday(request):
    if request.param == "ctranslate2":
        pytest.importorskip("ctranslate2")
    return Translator.from_pretrained("everyday", engine=request.param)


def test_a_file_has_a_term_a_row(tmp_path):
    file = tmp_path / "terms.tsv"
    file.write_bytes("\ufeff# English\tFrench\r\n\r\ncar\t bagnole \r\nCafe\u0301\tbar\ncar\tbagnole\n".encode())
    assert read_glossary(file) == Glossary.of({"car": "bagnole", "Café": "bar"})


@pytest.mark.parametrize(("text", "wrong"), [
    (b"a\tb\n\ncar bagnole\n", "row 3: no TAB: expected source TAB target"), (b"a\tb\tc", "row 1: 3 columns"),
    (b"#\n\tb", "row 2: the source term is empty"), (b"a\t ", "row 1: the target term is empty"),
    (b"a\tb\nc\td\na\te", "row 3: the source term has another target"), (b"a\t" + 101 * b"b", "row 1: .* 101 char"),
    (b"a\t\xff", "is not UTF-8"), (None, "cannot read the glossary .*terms.tsv: No such file"),
])
def test_a_row_that_is_wrong_is_named(tmp_path, text, wrong):
    if text is not None:
        (tmp_path / "terms.tsv").write_bytes(text)
    with pytest.raises(UserError, match=wrong) as error:
        read_glossary(tmp_path / "terms.tsv")
    assert "\n" not in str(error.value) and "terms.tsv" in str(error.value)


@pytest.mark.parametrize(("text", "expected"), [
    ("The car is red.", "La bagnole est rouge."), ("Cars are fast.", None), ("I like dogs.", None),
    ("My car is in front of the house.", "Ma bagnole est devant la baraque."), ("car", "bagnole"),
    ("See https://car.org for the car.", None), ("WHERE IS MY BROTHER'S CAR?", None), ("I like GitHub.", None),
])
def test_terms_are_written(everyday, text, expected):
    [result] = everyday([text], target="fr", glossary=TERMS)
    assert result.missing_terms == () and len(result.hypotheses) == 1
    assert expected in (result.text, None) and ("bagnole" in result.text.lower()) == ("car" in dict(result.terms) or
                                                                                   "CAR" in dict(result.terms))
    assert (not result.terms) <= (result == everyday(text, target="fr"))
    assert result.unknown_words == () or not result.terms


def test_a_term_is_of_a_sentence_and_no_guess(everyday):
    terms = Glossary.of({"zorkmid": "sou"})
    result = everyday("I have a zorkmid. It is in a zorkmid.", target="fr", glossary=terms)
    assert result.unknown_words == () and result.terms == (("zorkmid", "sou"),) * 2 and result.missing_terms == ()
    assert result.hypotheses[0].probability is None


@pytest.mark.parametrize(("text", "expected"), [
    ("<p>My <b>washing machine</b> is old.</p>", "<b>lave-linge</b>"),
    ("<p>My <b>washing</b> machine.</p>", "lave-linge</b>"),
    ('<p>The <span translate="no">car</span> is in front of the car.</p>', '<span translate="no">car</span>'),
    ('<p>The car is <a href="car">here</a> &amp; there.</p>', '<a href="car">'),
])
def test_in_html_around_terms_and_not_inside_what_is_not_translated(everyday, text, expected):
    result = everyday(text, target="fr", format="html", glossary=TERMS)
    assert expected in result.text and result.missing_terms == () and result.text.count("bagnole") == len(
        [one for one in result.terms if one[0] == "car"])


def test_alternatives_are_as_many_as_asked_for(everyday):
    result = everyday("The car is red.", target="fr", alternatives=2, num_beams=4, glossary=TERMS)
    assert 1 <= len(result.hypotheses) <= 2 and all("bagnole" in one.text for one in result.hypotheses)
    begun = everyday("The car is red.", target="fr", prefix="Ma", glossary=TERMS)
    assert begun.text.startswith("Ma") and begun.missing_terms == ()


def test_a_translation_of_another_says_what_it_misses(everyday):
    [result] = everyday(["The car."], target="fr")
    assert result.terms == () == result.missing_terms
    assert replace(result, glossary=TERMS).missing_terms == (("car", "bagnole"),)
    text = everyday("The car is red. My car is old.", target="fr")
    segments = tuple(replace(segment, glossary=TERMS) for segment in text.segments)
    assert replace(text, glossary=TERMS, segments=segments).missing_terms == (("car", "bagnole"),) * 2


@pytest.mark.few(1)
def test_any_model_writes_them(any_folder):
    """Even one that writes nonsense; there it is where it is in the source."""
    translator = Translator.from_pretrained(any_folder, engine="torch")
    pair = {"source": "en", "target": "fr"} if translator.language_pairs else {}
    result = translator(tiny.SENTENCES[0], max_new_tokens=12, glossary=Glossary.of({"cat": "minou"}), **pair)
    assert result.text.lower().count("minou") == 1 and result.missing_terms == ()
