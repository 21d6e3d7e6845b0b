"""Slips in the built-in corpus: its grammar and splits."""

from dataclasses import replace

from . import fault

CORPUS, FRENCH = "storybook/test_storybook.py", "storybook/test_storybook_french.py"


@fault("storybook.clauses.conjoined", CORPUS)
def one_feminine_noun_makes_a_list_feminine(original, phrases):
    return replace(original(phrases), gender="f" if any(one.gender == "f" for one in phrases) else "m")


@fault("storybook.morphology.elide", CORPUS)
def si_elides_before_elle(original, word, following):
    return "s'" if word == "si" and following.startswith("elle") else original(word, following)


@fault("storybook.morphology.contract", FRENCH)
def de_les_is_not_contracted(original, word, following):
    return None if (word, following) == ("de", "les") else original(word, following)


@fault("storybook.splits.split_of", CORPUS)
def a_split_is_decided_by_one_combination(original, combinations):
    return original(sorted(combinations)[:1])
