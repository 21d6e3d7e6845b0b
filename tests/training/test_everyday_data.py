"""How the data of `everyday` are prepared: what is left out, what is exchanged, and what training reads of it."""

import gzip
import io
import json
import re
from collections import Counter
from contextlib import redirect_stdout
from random import Random
from types import SimpleNamespace

import pytest

from seq2see.text.word_links import read_pharaoh
from seq2see.training.config import load_config
from seq2see.training.everyday import prepare
from seq2see.training.everyday.frames import filled, frames, held_out_forms, nouns_of, typed
from seq2see.training.everyday.kept import kept as kept_pairs
from seq2see.training.everyday.nouns import find_nouns, german_plural, plural
from seq2see.training.everyday.offensive import is_offensive
from seq2see.training.everyday.variation import (
    WAYS,
    in_brackets,
    other_date,
    other_name,
    other_numbers,
    quoted,
    title_case,
    varied,
    with_dash,
    without_placeholders,
)
from seq2see.training.guided_alignment import training_links
from seq2see.training.pairs import load_corpus, load_split, sentence_key
from seq2see.training.run import build_arguments


def write(folder, language, pairs):
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / f"en-{language}.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("".join(f"{source}\t{target}\n" for source, target in [("en", language), *pairs]))


def story(language):
    """A storybook in miniature."""
    return SimpleNamespace(train=[SimpleNamespace(source=f"The cat {n}.", target=f"Cat {language} {n}.",
                                                  links=((1, 0), (2, 2))) for n in range(50)])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The folder written from 600 pairs a language; 3 of them are for testing and one is offensive."""
    folder, told = tmp_path_factory.mktemp("everyday"), io.StringIO()
    for language in prepare.TARGETS:
        pairs = [(f"Tom has {word} things.", f"Tom {language} {word}.") for word in map("w{:03}".format, range(600))]
        pairs += [("Tested here", f"A {language}."), ("Another.", f"Tested {language}."), ("Shit!", "X.")]
        write(folder / "tatoeba", language, pairs)
        write(folder / "test", language, [("TESTED, here!", f"New {language}."), ("New.", f"Tested {language}!"),
                                          (f"Clean {language}.", f"Clean {language}."), ("Twice.", "Two."),
                                          ("Twice.", "Two.")])
    (folder / "strings").mkdir()
    strings = [("en", "fr", "de", "es"), ("%1$s has %2$d lamps", "%1$s fr %2$d", "%1$s de %2$d", "%1$s es %2$d")]
    with gzip.open(folder / "strings" / "train.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in strings)
    argv = ["prepare", "--passes", "2", *(text for name in ("tatoeba", "test", "strings")
                                          for text in (f"--{name}", str(folder / name)))]
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(told):
        patched.setattr(prepare, "in_language", lambda language, seed: story(language))
        patched.setattr("sys.argv", [*argv, "--out", str(folder / "data")])
        assert prepare.main() == 0
    (folder / "told").write_text(told.getvalue(), "utf-8")
    return folder / "data"


def records(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.long
def test_no_side_of_the_published_test_is_trained_on(prepared):
    rows = records(prepared / "train.jsonl")
    sides = {sentence_key(side) for row in rows for side in row.values()}
    assert len(rows) > 3000 and not sides & {sentence_key(text) for text in ("Tested here", "Tested fr.", "Shit!")}
    out = (prepared.parent / "told").read_text("utf-8")
    assert all(f"2 pairs to {language} with a side in the published test" in out for language in prepare.TARGETS)
    assert f"1 pairs to {prepare.TARGETS[0]} with an offensive word" in out


def test_a_missing_table_is_one_line_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    none = str(tmp_path / "none")
    monkeypatch.setattr("sys.argv", ["prepare", "--tatoeba", none, "--test", none, "--strings", none,
                                     "--out", str(tmp_path / "data")])
    assert prepare.main() == 1 and not (tmp_path / "data").exists()
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1 and "en-fr.tsv.gz" in said


@pytest.mark.long
def test_the_test_is_the_published_lines_of_which_neither_side_is_in_the_tables(prepared):
    english = [row["en"] for row in records(prepared / "test.jsonl")]
    assert english == [text for language in prepare.TARGETS for text in (f"Clean {language}.", "Twice.", "Twice.")]


@pytest.mark.long
def test_a_validation_source_is_trained_on_in_no_language_and_in_no_other_writing(prepared):
    held_out = {sentence_key(row["en"]) for row in records(prepared / "val.jsonl")}
    assert held_out and not held_out & {sentence_key(row["en"]) for row in records(prepared / "train.jsonl")}


@pytest.mark.long
def test_each_pass_has_new_variations_and_links_stand_beside_their_pairs(prepared):
    rows, links = records(prepared / "train.jsonl"), [*read_pharaoh(prepared / "train.links")]
    assert len(rows) == len(links) and 0 < sum(bool(one.sure) for one in links) < len(rows)
    first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    assert first != second and abs(len(first) - len(second)) <= 1


def test_a_share_of_storybook_is_drawn_and_every_other_pair_is_there(monkeypatch):
    monkeypatch.setattr(prepare, "in_language", lambda language, seed: story(language))
    pairs = [(f"Word {letter}", f"Mot {letter}", "fr") for letter in "abcdefghij"]
    told, whole = ([one for one, links in prepare.one_pass(pairs, set(), Random(0), share=share) if links]
                   for share in (0.2, 1))
    assert len(told) < 0.4 * len(whole) and len(whole) == 50 * 3 * prepare.STORYBOOK
    assert len([one for one, links in prepare.one_pass(pairs, set(), Random(0), share=0) if not links]) >= len(pairs)


@pytest.mark.long
def test_training_reads_records_of_one_language_each_with_their_links(prepared):
    config = load_config("everyday", [f"data.path={prepared}", f"training.guided_links={prepared}/train.links"])
    corpus = load_corpus(config.data)
    assert {pair.target_language for pair in corpus.train} == {"fr", "de", "es"} and not corpus.skipped
    assert len(training_links(config, build_arguments(config), corpus.train)) == len(corpus.train)
    assert len(load_split(config.data, "test")) == 9


def test_names_and_numbers_are_exchanged_on_both_sides_or_not_at_all():
    pair, draw = ("Tom and Mary met Tom at 8:45.", "Tom et Mary ont rencontré Tom à 8:45.", "fr"), Random(0)
    source, target, _ = other_numbers(other_name(pair, draw), draw)
    [names] = re.findall(r"^(.*) and (.*) met (.*) at (\d:\d\d)\.$", source)
    assert names[0] == names[2] != names[1] and not {"Tom", "Mary"} & set(names) and names[3] != "8:45"
    assert target == "{} et {} ont rencontré {} à {}.".format(*names)
    for kept in (("Tom's house", "Toms Haus"), ("Tom, Tom!", "Tom!"), ("Tomato", "Tomate")):
        assert other_name((*kept, "de"), draw) == (*kept, "de")
    for kept in (("at 3 p.m.", "um 3"), ("10am", "10")):
        assert other_numbers((*kept, "de"), draw) == (*kept, "de")
    for kept in (("2:30", "halb 3"), ("1 dog", "1 Hund"), ("07", "07"), ("3 dogs", "drei Hunde")):
        assert other_numbers((*kept, "de"), draw) == (*kept, "de")


@pytest.mark.parametrize(("language", "target"), [("fr", "2 450,50 €"), ("de", "2.450,50 €"), ("es", "2.450,50 €")])
def test_a_number_is_written_as_the_language_writes_it(language, target):
    source, found, _ = other_numbers(("€2,450.50", target, language), Random(1))
    assert re.fullmatch(r"€\d,\d{3}\.\d\d", source) and source != "€2,450.50"
    assert re.sub(r"\D", "", source) == re.sub(r"\D", "", found) and len(found) == len(target)


@pytest.mark.parametrize(("language", "target"), [
    ("fr", "le {} {} à midi"), ("de", "am {}. {} um zwölf"), ("es", "el {} de {} a mediodía"),
])
def test_a_date_is_exchanged_for_the_same_other_one(language, target):
    from seq2see.training.everyday.variation import MONTHS

    march = MONTHS[language].split()[2]
    pair, draw = ("at noon on March 14th", target.format(14, march), language), Random(2)
    for _ in range(20):
        source, found, _ = other_date(pair, draw)
        [(day, month)] = re.findall(r"(\d+)\.? (?:de )?(\w+)", found)
        english = MONTHS["en"].split()[MONTHS[language].split().index(month)]
        assert day in re.findall(r"\d+", source) and english in source and (day, month) != ("14", march)
    for other in (("on March 14", "am 15. März", "de"), ("March 14 and May 2", "14. März und 2. Mai", "de")):
        assert other_date(other, draw) == other


def test_an_elided_word_keeps_its_name_beginning_with_a_consonant():
    draw = Random(3)
    for _ in range(200):
        _, target, _ = other_name(("He is a friend of Tom.", "C'est un ami de Tom.", "fr"), draw)
        assert not re.search(r" de \"?[AEIOUYHaeiouyhÉÈ]", target), target


def test_a_clause_after_the_only_comma_of_both_sides_or_else_the_whole_goes_into_brackets():
    for source, target, bracketed in (
        ("If it rains, I stay.", "S'il pleut, je reste.", ("If it rains (I stay).", "S'il pleut (je reste).")),
        ("Tom, are you there?", "Tom, es-tu là ?", ("Tom (are you there)?", "Tom (es-tu là )?")),
        ("If it rains, I stay.", "Je reste s'il pleut.", ("(If it rains, I stay)", "(Je reste s'il pleut)")),
        ("My cat.", "Mon chat.", ("(My cat)", "(Mon chat)")),
    ):
        assert in_brackets((source, target, "fr"), Random(0)) == (*bracketed, "fr")


def test_every_way_of_writing_keeps_a_translation_and_occurs():
    pair = ("Don't say \"no\" to her, please.", "Ne lui dis pas « non », s'il te plaît.", "fr")
    plain = ("It's late, Ken.", "Il est tard, Ken.", "fr")  # another in quotes gets no more of them
    for way, _ in WAYS:
        changed = [way(one, Random(0)) for one in (pair, plain)]
        assert all(source and target for source, target, _ in changed) and changed != [pair, plain]
    draw = Random(4)
    written = {varied(pair, draw)[0] for _ in range(300)}
    assert {"don't say \"no\" to her, please.", "DON'T SAY \"NO\" TO HER, PLEASE."} <= written


def test_offensive_words_are_those_of_their_language():
    assert is_offensive("This is SHIT!", language="en") and is_offensive("Verpiss dich, Arschloch.", language="de")
    assert not is_offensive("Shit!", language="fr") and not is_offensive("Un pique-nique.", language="fr")
    assert not is_offensive("They had a pique-nique.", language="en")


@pytest.mark.parametrize(("word", "language", "several"), [
    ("umbrella", "en", "umbrellas"), ("box", "en", "boxes"), ("city", "en", "cities"), ("day", "en", "days"),
    ("policeman", "en", "policemen"), ("human", "en", "humans"), ("knife", "en", "knives"),
    ("parapluie", "fr", "parapluies"), ("voix", "fr", "voix"), ("cheval", "fr", "chevaux"), ("bureau", "fr", "bureaux"),
    ("feu", "fr", "feux"), ("canción", "es", "canciones"), ("paraguas", "es", "paraguas"), ("pez", "es", "peces"),
    ("ciudad", "es", "ciudades"), ("café", "es", "cafés"), ("crimen", "es", "crímenes"), ("joven", "es", "jóvenes"),
    ("tren", "es", "trenes"), ("almacén", "es", "almacenes"), ("autobús", "es", "autobuses"), ("país", "es", "países"),
    ("mes", "es", "meses"),
])
def test_a_plural_follows_the_rules_of_its_language(word, language, several):
    assert plural(word, language) == several


def test_a_german_plural_is_by_rule_if_feminine_and_else_the_one_of_the_text():
    seen = Counter({"Regenschirme": 2, "Äpfel": 3, "Autos": 1})
    assert german_plural("Regenschirm", "ein", seen, Counter()) == "Regenschirme"
    assert german_plural("Apfel", "ein", seen, Counter()) == "Äpfel"
    assert german_plural("Zeitung", "eine", seen, Counter()) == "Zeitungen"
    assert german_plural("Auto", "ein", seen, Counter()) is None  # once is too rare
    assert german_plural("Auto", "ein", seen, Counter({"Autos": 1})) == "Autos"


LENT = [(f"{who} an umbrella.", f"{qui} un parapluie.", "fr") for who, qui in (
    ("I want", "Je veux"), ("Buy", "Achète"), ("This is", "C'est"))] + [
    ("Where is the umbrella?", "Où est le parapluie ?", "fr"), ("I see a door.", "Je vois une porte.", "fr"),
    ("It is a door.", "C'est une porte.", "fr"), ("Close the door!", "Ferme la porte !", "fr"),
    ("These doors are open.", "Ces portes sont ouvertes.", "fr")]


def test_nouns_translate_each_other_if_they_end_the_same_phrases():
    door, umbrella = find_nouns(LENT, "fr")
    assert (door.english, door.plural, door.word, door.words, door.a, door.the) == (
        "door", "doors", "porte", "portes", "une", "la")
    assert (umbrella.english, umbrella.words, umbrella.a, umbrella.the) == ("umbrella", "parapluies", "un", "le")
    assert not find_nouns([("A cat.", "Un chat.", "fr")], "fr")  # once may be chance


def test_a_plural_that_is_held_out_is_in_no_pair_to_learn():
    nouns, held_out = nouns_of(LENT, "fr")
    assert "door" in {noun.english for noun in nouns}  # the pairs have its plural
    for one in held_out:
        learnt = [pair[0].casefold() for seed in range(20) for pair in typed(nouns, held_out, "fr", Random(seed))]
        tested = [pair[0].casefold() for pair in held_out_forms(held_out, "fr")]
        assert all(one.plural in text for text in tested) and not any(one.plural in text for text in learnt)
        assert any(one.english in text for text in learnt)


def test_no_plural_is_held_out_that_another_sentence_has():
    assert "umbrella" in {noun.english for noun in nouns_of(LENT, "fr")[1]}
    assert not nouns_of(LENT, "fr", ["Two umbrellas were there."])[1]


@pytest.mark.parametrize("language", prepare.TARGETS)
def test_every_frame_can_be_filled_and_keeps_numbers_and_names(language):
    door, umbrella = find_nouns(LENT, "fr")
    for frame in [frame for some in frames().values() for frame in some]:
        source, target, _ = filled(frame, language, Random(0), door, umbrella)
        assert source and target and not re.search(r"[{}|]", source + target)
        assert re.findall(r"\d+", source) == re.findall(r"\d+", target) or sorted(re.findall(r"\d+", source)) == sorted(
            re.findall(r"\d+", target))


def test_quotation_marks_are_those_of_the_language_unless_they_are_straight():
    pair, draw = ("I see.", "Ich sehe.", "de"), Random(0)
    german = "„Ich sehe.“"
    assert {quoted(pair, draw)[:2] for _ in range(100)} == {
        ("“I see.”", german), ("‘I see.’", german), ("«I see.»", german), ("„I see.“", german),
        ('"I see."', '"Ich sehe."'), ("'I see.'", "'Ich sehe.'"),
    }
    assert quoted(("\"Yes\", he said.", "„Ja“, sagte er.", "de"), draw)[0] == "\"Yes\", he said."


def test_a_title_has_capitals_on_the_source_side_alone():
    pair = ("The old man and other fish.", "Der alte Mann und andere Fische.", "de")
    assert {title_case(pair, Random(seed))[:2] for seed in range(9)} == {
        ("The Old Man And Other Fish", "Der alte Mann und andere Fische"),
        ("The old man and Other Fish", "Der alte Mann und andere Fische"),
    }


def test_a_dash_joins_clauses_that_begin_with_a_pronoun_in_both_languages():
    draw = Random(0)
    for _ in range(9):
        source, target, _ = with_dash(("It rains.", "Il pleut.", "fr"), ("We stay.", "Nous restons.", "fr"), draw)
        assert re.fullmatch(r"It rains( [–—-] |[–—])we stay\.", source)
        assert re.fullmatch(r"Il pleut [–—-] nous restons\.", target)
    for other in (("Tom stays.", "Tom reste.", "fr"), ("We stay.", "Restons.", "fr")):
        assert with_dash(("It rains.", "Il pleut.", "fr"), other, draw) == ("It rains.", "Il pleut.", "fr")


def test_placeholders_become_the_same_name_or_number_on_both_sides():
    source, target, _ = without_placeholders(("%2$d messages from %1$s", "%1$s: %2$d Nachrichten", "de"), Random(0))
    [(number, name)] = re.findall(r"^(\d+) messages from (\w+)$", source)
    assert target == f"{name}: {number} Nachrichten"


def test_what_a_model_knows_is_kept_by_its_own_translations():
    """But where the reference is close, or the translation doubtful: then the reference, if they are alike."""
    own = {"a": "le chat noir dort", "b": "le chien est fatigué", "c": "la maizon est grande", "d": "la maizon",
           "e": "der Hund", "f": "le"}
    references = {"a": "le chat noir dort là", "b": "ce toutou est las", "c": "la maison est grande",
                  "d": "les nuages passent", "e": "der Kater", "f": "le jardin est le plus beau"}

    def model(texts, *, target, num_beams):
        assert num_beams == 1 and (target == "de") == (texts == ["e"])
        return [SimpleNamespace(text=own[text], invented_words=["maizon"] * ("maizon" in own[text])) for text in texts]

    pairs = [(text, reference, "de" if text == "e" else "fr") for text, reference in references.items()]
    counts = Counter()
    found = {source: (target, language) for source, target, language in kept_pairs(pairs, model, counts)}
    assert found == {"a": (references["a"], "fr"), "b": (own["b"], "fr"), "c": (references["c"], "fr"),
                     "e": (own["e"], "de")}
    assert sum(counts.values()) == len(pairs)
