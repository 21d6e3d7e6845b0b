"""The laws of storybook: a function, one antecedent, sure links, splits by combination, idioms apart."""

import re
from collections import Counter, defaultdict

import pytest

from seq2see.storybook import StoryPair, generate
from seq2see.storybook.clauses import clause, conjoined, name, noun_phrase
from seq2see.storybook.lexicon import NOUNS, adjectives
from seq2see.storybook.morphology import elide, french_plural
from seq2see.storybook.phrases import compose
from seq2see.storybook.splits import split_of_combination
from seq2see.storybook.verbs import VERBS
from .conftest import words

SEEN = 5


@pytest.mark.long
def test_generation_is_a_pure_function_of_seed_and_size():
    stories = generate(seed=3, train_size=1234)
    assert stories == generate(seed=3, train_size=1234) and len(stories.train) == 1234
    assert stories.train != generate(seed=4, train_size=1234).train


@pytest.mark.long
def test_no_sentence_occurs_twice_and_seeds_translate_it_alike(pairs):
    meaning = {pair.source: pair.target for pair in pairs}
    assert len(meaning) == len(pairs)
    other = generate(seed=1, train_size=5000)
    for pair in (*other.train, *other.val, *other.test):
        assert meaning.setdefault(pair.source, pair.target) == pair.target


def test_sentences_are_written_as_sentences(pairs):
    for pair in pairs:
        for text in (pair.source, pair.target):
            assert not text[0].islower() and text[-1] in ".?!" and "  " not in text
            assert not any(bad in text for bad in (" .", " ,", "' ", "..", ".,", *"@~%^$"))
        assert pair.target.endswith((" ?", " !", ".")) and not pair.source.endswith((" ?", " !"))
        assert 3 <= len(words(pair.source)) <= 40 and 3 <= len(words(pair.target, "fr")) <= 40


def test_i_has_no_verb_of_the_third_person(pairs):
    wrong = re.compile(r"\bI (?:doesn't|is|(?:often |never |always )?(?!was\b|always\b)\w*[^s]s)\b")
    assert not [pair.source for pair in pairs if wrong.search(pair.source)]
    assert any("I don't" in pair.source for pair in pairs)


def test_of_no_noun_opposites_are_said(pairs):
    opposites = [("big", "small"), ("old", "young"), ("happy", "sad"), ("clean", "dirty"), ("full", "empty")]
    for pair in pairs:
        for kind, one, noun, *_ in pair.combinations:
            others = [other for both in opposites if one in both for other in both if other != one]
            assert not any((kind, other, noun) in pair.combinations for other in others), pair.source


def test_held_out_combinations_are_not_in_training_and_every_test_sentence_has_one(stories):
    trained = frozenset[tuple[str, ...]]().union(*(pair.combinations for pair in stories.train))
    for split, part, other in (("val", stories.val, "test"), ("test", stories.test, "val")):
        for pair in part:
            new = pair.combinations - trained
            assert new, pair.source
            assert all(split_of_combination(combination) != other for combination in pair.combinations)
            assert any(split_of_combination(combination) == split for combination in new)


def test_combinations_tell_what_the_sentence_says(stories):
    """Read off the English text: no noun pair of a test contrast is in a training sentence with any of its verbs."""
    verbs = ("chased", "fled", "attacked", "stalked", "hunted", "avoided", "feared", "gave", "took", "lent", "borrowed")
    trained = set()
    for pair in stories.train:
        found = words(pair.source)
        nouns = frozenset(word for word in found if word in NOUNS and NOUNS[word].kind == "animal")
        trained |= {(verb, nouns) for verb in verbs if verb in found and len(nouns) == 2}
    checked = 0
    for pair in stories.test:
        if pair.family in ("chase", "give", "lend"):
            found = words(pair.source)
            nouns = frozenset(word for word in found if word in NOUNS and NOUNS[word].kind == "animal")
            if len(nouns) == 2:
                assert not any((verb, nouns) in trained for verb in verbs if verb in found), pair.source
                checked += 1
    assert checked > 100


def test_a_list_makes_a_combination_of_each_noun_in_it():
    cat, dog, hen = (noun_phrase(NOUNS[name]) for name in ("cat", "dog", "hen"))
    seen = clause(cat, VERBS["meet", "see"], conjoined([dog, hen])).combinations
    assert seen == {("pair", "meet", "cat", "dog"), ("pair", "meet", "cat", "hen")}


def test_a_list_is_masculine_unless_all_in_it_are_feminine():
    for first, second, gender in (("dog", "cat", "m"), ("dog", "hen", "m"), ("hen", "dog", "m"), ("hen", "goat", "f")):
        listed = conjoined([noun_phrase(NOUNS[noun]) for noun in (first, second)])
        assert (listed.gender, listed.plural) == (gender, True), (first, second)


@pytest.mark.parametrize("noun", ["ours", "prix", "nez"])
def test_a_french_noun_in_s_x_or_z_is_its_own_plural(noun):
    assert french_plural(noun) == noun


def test_only_before_il_and_ils_does_si_elide():
    following = ("il", "ils", "elle", "elles", "on", "arbre")
    assert [elide("si", word) for word in following] == ["s'", "s'", "si", "si", "si", "si"]
    assert [elide("que", word) for word in following] == ["qu'"] * 6


def test_what_a_pattern_leaves_out_is_no_combination():
    slots = {"A": noun_phrase(NOUNS["cat"], adjectives=adjectives("old")), "B": name("Anna", "f")}
    assert compose("$B ./1", **slots).combinations == frozenset()
    assert compose("$A ./1", **slots).combinations == {("describes", "old", "cat")}


def test_a_scene_without_a_person_is_about_nobody(stories):
    nobody = [pair for pair in stories.train if re.match("The (?:boat reached|bat slept|seal swam)", pair.source)]
    assert nobody and all(not pair.combinations for pair in nobody)


def test_every_word_of_val_and_test_is_known_from_training(stories):
    for language in ("en", "fr"):
        texts = [(pair.source if language == "en" else pair.target) for pair in stories.train]
        seen = Counter(word.lower() for text in texts for word in words(text, language))
        for pair in (*stories.val, *stories.test):
            for word in words(pair.source if language == "en" else pair.target, language):
                assert seen[word.lower()] >= SEEN, (word, pair.source)


def test_links_are_valid_sorted_and_leave_no_word_out(pairs):
    for pair in pairs:
        source, target = words(pair.source), words(pair.target, "fr")
        assert list(pair.links) == sorted(set(pair.links))
        assert {i for i, _ in pair.links} == set(range(len(source))), pair.source
        assert {j for _, j in pair.links} == set(range(len(target))), pair.target


def test_antecedents_point_at_pronouns_and_nouns(pairs):
    pronouns_ = {"it", "they", "he", "she", "him", "her", "them", "its", "his", "their"}
    pronouns_ |= {"itself", "himself", "herself", "themselves"}
    for pair in pairs:
        source = [word.lower() for word in words(pair.source)]
        for antecedent in pair.antecedents:
            assert source[antecedent.pronoun] in pronouns_
            assert (antecedent.pronoun, antecedent.target) in pair.links
            if antecedent.noun is not None and pair.kind in ("contrast", "easy"):
                assert (source[antecedent.pronoun] == "they") == (source[antecedent.noun] not in NOUNS)
        marked = {antecedent.pronoun for antecedent in pair.antecedents}
        assert {i for i, word in enumerate(source) if word in ("it", "they", "its", "itself")} <= marked, pair.source


def links_of(pair: StoryPair) -> set[str]:
    source, target = words(pair.source), words(pair.target, "fr")
    return {f"{source[i]}-{target[j]}" for i, j in pair.links}


@pytest.mark.parametrize(
    ("family", "contains", "wanted"),
    [
        ("connective", ", so it", "so-si so-bien so-qu' it-il"),
        ("fill", "until", "until-jusqu' until-à until-ce was-soit"),
        ("easy", "didn't cross", "didn't-n' didn't-a didn't-pas cross-traversé"),
        ("fit", "did not fit in", "did-entrait fit-entrait not-n' not-pas in-dans"),
        ("chase", "hid from", "hid-est hid-s' from-du"),
        ("lend", "to the wolf", "to-au the-au wolf-loup"),
        ("connective", "was pushed by", "was-a was-été by-par"),
        ("weather", "raining", "it-il was-pleuvait raining-pleuvait"),
        ("object", "followed it", "it-l' followed-a"),
        ("crush", "gave way under", "gave-a gave-cédé way-a way-cédé under-sous"),
        ("connective", "hated by everyone", "hated-détesté by-de everyone-tous"),
    ],
)
def test_the_link_guideline(pairs, family, contains, wanted):
    found = [links_of(pair) for pair in pairs if pair.family == family and contains in pair.source]
    assert any(set(wanted.split()) <= links for links in found), found[:1]


def test_a_predicate_word_by_word_has_no_other_links(pairs):
    found = [links_of(pair) for pair in pairs if "hated by everyone" in pair.source]
    assert found and all(sum(link.startswith("hated-") for link in links) == 1 for links in found)


def test_idioms_stand_apart_in_contrast_and_every_word_is_linked(stories):
    others = {pair.source for pair in (*stories.train, *stories.val, *stories.test)}
    assert not others & {pair.source for pair in stories.idioms}
    meaning: dict[tuple[str, str], str] = {}
    sets: dict[str | None, list[str]] = defaultdict(list)
    for pair in stories.idioms:
        sets[pair.contrast_key].append(pair.family)
        assert meaning.setdefault((pair.source, pair.target_language), pair.target) == pair.target
        assert {i for i, _ in pair.links} == set(range(len(words(pair.source))))
        assert {j for _, j in pair.links} == set(range(len(words(pair.target, pair.target_language))))
    assert len(sets) >= 40 and all(families == ["figurative", "literal"] for families in sets.values())
    assert meaning["It is a piece of cake for Anna.", "fr"] == "C'est du gâteau pour Anna."
    assert meaning["Anna ate a piece of cake.", "fr"] == "Anna a mangé un morceau de gâteau."
    assert meaning["The exam was a piece of cake.", "hi"] == "परीक्षा बाएँ हाथ का खेल थी।"
