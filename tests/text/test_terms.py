"""Terms of a glossary: where they are in a text, and what is read and written for them."""

import pickle

import pytest

from seq2see.errors import UserError
from seq2see.text.agreement import disagrees, fitted, forms, nouns
from seq2see.text.glossary import Glossary, occurrences, read_glossary
from seq2see.text.model_input import FORCED, ModelInput
from seq2see.text.protection import Protection, keeping

TERMS = {"car": "bagnole", "New York": "NY", "C++": "C plus plus", "iPhone": "iPhone", "washing machine": "lave-linge",
         "machine": "engin", ".NET": "dotnet", "中文": "chinois", "Yahoo! Mail": "Y-mail"}
GLOSSARY = Glossary.of(TERMS)
PROTECTION = Protection(glossary=GLOSSARY, language="en", target="fr")


@pytest.mark.parametrize(("text", "terms"), [
    ("A car, Car; the car's engine", ["car", "Car", "car"]), ("cars scar car-sharing e-car _car car1", []),
    ("New York new york", ["New York"]), ("in New\u00a0York", ["New\u00a0York"]), ("iPhone Iphone", ["iPhone"]),
    ("a  New \t York  car ", ["New \t York", "car"]),
    ("A washing machine, a machine", ["washing machine", "machine"]), ("C++, C", ["C++"]),
    (".NET ASP.NET", [".NET"]), ("学中文吧", ["中文"]), ("THE WASHING MACHINE IS BROKEN", ["WASHING MACHINE"]),
    # not in what is protected anyway
    ("https://car.org/car car.txt {car} `car` 3 car", ["car"]),
])
def test_terms_are_whole_words_and_the_longest(text, terms):
    assert [text[part.start : part.end] for part in PROTECTION.terms(text)] == terms


def test_what_the_caller_keeps_is_no_term():
    text = "My car, your car"
    [pattern] = keeping("(?<=My )car", [text])
    assert [part.span for part in Protection(keep=pattern, glossary=GLOSSARY).terms(text)] == []
    assert Protection(glossary=GLOSSARY).has_words("C++") and not Protection().has_words("C++ %s")


def test_no_sentence_ends_in_a_term():
    assert "!" not in PROTECTION.masked("I use Yahoo! Mail.") and PROTECTION.masked("A car.") == "A car."


def test_a_case_of_its_own_comes_first():
    both = Glossary.of({"apple": "pomme", "Apple": "Apple"})
    assert [target for _, target in both.found("Apple, apple")] == ["Apple", "pomme"]
    assert [target for _, target in both.found("APPLE", capitals=True)] == ["pomme"], "there the first"


def test_an_empty_glossary_has_no_terms():
    assert Protection(glossary=Glossary.of({})).parts("A car. A CAR.") == ()


def test_a_glossary_is_a_value():
    other = pickle.loads(pickle.dumps(GLOSSARY))
    assert other == GLOSSARY and hash(other) == hash(GLOSSARY) and other.found("a car") == GLOSSARY.found("a car")


@pytest.mark.parametrize(("pairs", "wrong"), [
    ([("a", " ")], "the target term is empty"), ([("", "b")], "the source term is empty"),
    ([("a", "b"), ("a", "c")], "term 2 of the glossary: the source term has another target"),
    ([("a" * 101, "b")], "101 characters: at most 100"), ([("a", "b\x00")], "control"),
    ([("a", "\U000f0000")], "private"),
])
def test_what_is_no_pair_of_terms_is_refused(pairs, wrong):
    with pytest.raises(UserError, match=wrong):
        Glossary.of(pairs)


def test_occurrences_are_whole_words_with_either_case_of_the_first_letter():
    text = "Maison blanche, la maison, maisons, iphone, iPhone"
    found = occurrences(["maison", "maison blanche", "iPhone"], text)
    assert {term: [text[slice(*span)] for span in spans] for term, spans in found.items()} == {
        "maison": ["maison"], "maison blanche": ["Maison blanche"], "iPhone": ["iPhone"]}


def readings(text, protection=PROTECTION):
    reading = ModelInput.of(text, protection=protection)
    while reading:
        yield reading
        reading = reading.further()


def test_what_is_read_for_a_term():
    assert [one.model_input for one in readings("My car and 7 cars.")] == [
        "My car and 7 cars.", "My car and 25 cars.", "My bagnole and 7 cars.", "My bagnole and 25 cars.",
        "My lamp and 7 cars.", "My lamp and 25 cars.", "My Anna and 7 cars.", "My Anna and 25 cars.", "My and cars."]
    [*_, last] = readings("The car.", Protection(glossary=GLOSSARY))  # languages without nouns
    assert [one.model_input for one in readings("The car.", Protection(glossary=GLOSSARY))] == [
        "The car.", "The bagnole.", "The Anna.", "The."] and last.forced == len(FORCED) - 1


@pytest.mark.parametrize(("text", "translation", "expected"), [
    ("The car is red.", "La bagnole est rouge.", "La bagnole est rouge."),
    ("The car is red.", "La voiture est rouge.", None), ("The car is red.", "Les bagnoles sont rouges.", None),
    ("Cars, a car.", "Bagnole.", "Bagnole."), ("The car and a car.", "La bagnole.", None),
])
def test_a_term_that_is_there_is_left_alone(text, translation, expected):
    assert ModelInput.of(text, protection=PROTECTION).restored(translation) == expected


@pytest.mark.parametrize(("text", "forced", "translation", "expected"), [
    ("The car is red.", "target", "Cette bagnole est rouge.", "Cette bagnole est rouge."),
    ("The car is red.", "target", "Le bagnole est rouge.", None),  # then a noun of its gender may do
    ("The car is red.", "target", "La bagnole, la bagnole.", None),
    ("Cars and a car.", "target", "Bagnole et bagnole", None),
    ("A car and a car.", "target", "Une bagnole et une bagnole.", "Une bagnole et une bagnole."),
    ("The car is red.", "noun", "La lampe est rouge.", "La bagnole est rouge."),
    ("Car and machine.", "noun", "Livre et lampe.", "Engin et bagnole."),
    ("The machine is red.", "noun", "Le livre est rouge.", "L'engin est rouge."),
    ("THE MACHINE IS BROKEN", "noun", "Le livre est cassé", "L'ENGIN EST CASSÉ"),
    ("The car is red.", "name", "L'Anna est rouge.", "La bagnole est rouge."),
    ("car", "noun", "la lampe", "bagnole"), ("Car?", "noun", "La lampe ?", "Bagnole ?"),
])
def test_the_term_is_written_for_what_stands_in_for_it(text, forced, translation, expected):
    reading = ModelInput.of(text, forced=FORCED.index(forced), protection=PROTECTION)
    assert reading.restored(translation) == expected


def test_a_term_that_the_model_writes_is_not_replaced():
    text = "My car and my machine."
    reading = ModelInput.of(text, protection=PROTECTION).further("Ma bagnole et ma machine.")
    assert reading.model_input == "My car and my engin."
    assert reading.restored("Ma bagnole et mon engin.") == "Ma bagnole et mon engin."
    assert reading.further("Ma voiture et mon engin.").model_input == "My bagnole and my engin."


@pytest.mark.parametrize(("language", "before", "term", "expected"), [
    ("fr", "C'est l'", "position", "C'est la "), ("fr", "Le ", "armoire", "L'"), ("fr", "d'", "position", "de "),
    ("fr", "pas de ", "intérêt", "pas d'"), ("fr", "ma ", "esclave", "mon "), ("fr", "ce ", "objet", "cet "),
    ("fr", "au ", "hôtel", "à l'"), ("fr", "au ", "hamburger", "au "), ("fr", "la ", "la gare", ""),
    ("fr", "au ", "la gare", "à "), ("fr", "cet ", "livre", "ce "), ("de", "zum ", "der Bahnhof", "zu "),
    ("fr", "une ", "armoire", "une "), ("en", "a ", "apple", "an "), ("en", "an ", "car", "a "),
    ("es", "y ", "información", "e "), ("es", "de la ", "área", "del "), ("es", "una ", "águila", "un "),
    ("es", "la ", "almohada", "la "), ("fr", "le ", "hébergement", "l'"), ("fr", "le ", "héros", "le "),
    ("fr", "l' ", "historique", "l'"), ("de", "die ", "der Bahnhof", ""), ("hi", "le ", "armoire", "le "),
])
def test_the_word_before_a_term_fits_it(language, before, term, expected):
    assert fitted(before, term, language=language) == expected


def test_nouns_have_the_gender_and_number_of_the_term():
    languages = {"source": "en", "target": "de"}
    assert next(nouns("Wohnung", "flat", **languages)) == "lamp"
    assert next(nouns("Mädchen", "girls", **languages)) == "books"
    assert next(nouns("Nutzungsbedingungen", "terms of use", **languages)) == "lamps"
    french = {"source": "en", "target": "fr"}
    assert next(nouns("pantalon", "trousers", **french)) == "book"
    assert next(nouns("voix", "voices", **french)) == "lamps"
    assert next(nouns("lave-linge", "washing machine", **french)) == "book"
    assert next(nouns("sistema", "software", source="en", target="es")) == "book"
    assert next(nouns("clave", "password", source="en", target="es")) == "lamp"
    assert next(nouns("Kennwort", "password", **languages)) == "book" and next(
        nouns("Antwort", "reply", **languages)) == "lamp"
    assert "Bücher" in forms("books", **languages) and forms("Anna", **languages) == ["Anna"]


@pytest.mark.parametrize(("language", "before", "term", "expected"), [
    ("fr", "une belle ", "jardin", True), ("fr", "un ", "jardin", False), ("fr", "mon ", "armoire", False),
    ("fr", "mon ", "voiture", True), ("es", "los ", "páginas", True), ("de", "Der ", "Kundin", True),
    ("de", "mit der ", "Kundin", False), ("de", "einem ", "Wohnung", True), ("de", "die ", "Tisch", False),
    ("hi", "une ", "jardin", False), ("fr", "la ", "clauses du marché", True), ("fr", "les ", "clauses", False),
    ("es", "buen ", "pila", True), ("de", "dieser ", "Handy", True), ("de", "eine ", "Tisch", True),
    ("de", "das ", "Handy", False),
])
def test_an_article_of_the_other_gender_disagrees(language, before, term, expected):
    assert disagrees(before, term, language=language) is expected


def test_an_empty_glossary_is_an_error_and_terms_by_case_are_named(tmp_path):
    (tmp_path / "a.tsv").write_text("# nothing\n")
    with pytest.raises(UserError, match="a.tsv has no terms"):
        read_glossary(tmp_path / "a.tsv")
    pairs = {"Car": "voiture", "car": "auto", "House": "maison", "house": "maison"}
    assert Glossary.of(pairs).by_case == ["Car", "car"]
