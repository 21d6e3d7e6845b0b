"""`LanguagePairs` behaves as the list of its pairs, without having one."""

import pickle
import sys
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import UserError
from seq2see.tokenizer.language_pairs import LanguagePairs

CODES = st.lists(st.sampled_from(["en", "fr", "de", "zh", "hi"]), min_size=1, max_size=4, unique=True).map(tuple)


@given(st.lists(st.tuples(CODES, CODES), max_size=3))
def test_it_is_a_sequence_of_all_sources_by_all_targets(products):
    pairs, every = LanguagePairs(tuple(products)), [one for both in products for one in product(*both)]
    assert list(pairs) == every and len(pairs) == len(every) and pairs == every and pairs[1:] == every[1:]
    assert [pairs[i] for i in range(-len(every), len(every))] == every + every
    assert all(pair in pairs for pair in every) and ("en", "xx") not in pairs and "en" not in pairs
    assert {*pairs.sources} == {a for a, _ in every} and {*pairs.targets} == {b for _, b in every}
    for code in "en", "xx":
        assert {*pairs.targets_of(code)} == {b for a, b in every if a == code}
        assert {*pairs.sources_to(code)} == {a for a, b in every if b == code}
    assert bool(pairs) == bool(every) and pairs.listed() == [list(pair) for pair in every]
    assert pickle.loads(pickle.dumps(pairs)) == pairs
    with pytest.raises(IndexError):
        pairs[len(every)]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))))
def test_given_pairs_keep_their_order(every):
    assert LanguagePairs.of(every) == list(dict.fromkeys(every))


def test_two_hundred_languages_are_four_hundred_codes():
    codes = tuple(f"l{number:03}" for number in range(200))
    pairs = LanguagePairs(((codes, codes),), default=False)
    assert len(pairs) == 40_000 and len(pickle.dumps(pairs)) < 4_000 and sys.getsizeof(pairs.products) < 100
    assert pairs.listed() is None and str(pairs) == "200 languages to 200 languages"
    assert pairs.fitting(None, "l000") == ("l001", "l000"), "of itself only where there is no other"
    with pytest.raises(UserError, match="translates to 200 languages: choose one"):
        pairs.find("l001", None)
    both = LanguagePairs.union([pairs, LanguagePairs.of([("en", "fr")]), pairs])
    assert len(both) == 40_001 and str(both) == "200 languages to 200 languages, en to fr" and not both.default


def test_a_missing_pair_is_refused_and_the_first_that_fits_is_taken():
    pairs = LanguagePairs.of([("en", "fr"), ("en", "de"), ("de", "en")])
    assert pairs.find(None, None) == ("en", "fr") and pairs.find("German", None) == ("de", "en")
    assert pairs.find(None, "deu") == ("en", "de") and pairs.has("en", None) and not pairs.has("de", "fr")
    for asked in (("de", "fr"), ("fr", None), (None, "xx")):
        with pytest.raises(UserError, match="choose en to fr, en to de, de to en"):
            pairs.find(*asked)


@pytest.mark.parametrize("group", ["mul", "roa", "ROMANCE", "fi_nb_no_nn_ru_sv_en"])
def test_a_group_takes_any_language_as_its_source(group):
    pairs = LanguagePairs.of([(group, "en")])
    assert pairs.find("Italian", "en") == pairs.find(None, None) == (group, "en")
    with pytest.raises(UserError, match=f"choose {group} to en"):
        pairs.find("Itallian", None)
