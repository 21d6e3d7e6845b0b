"""In the built-in corpus: its combinations and its links."""

from . import Fault

FAULTS = [
    Fault(
        "a list says nothing of the nouns in it",
        "storybook/clauses.py",
        "(phrase.noun,) if phrase.noun else phrase.listed",
        "(phrase.noun,) if phrase.noun else ()",
        tests="tests/storybook/test_storybook.py",
    ),
    Fault(
        "what no pattern names counts as said",
        "storybook/phrases.py",
        "slots[name].combinations for name in said",
        "phrase.combinations for phrase in slots.values()",
        tests="tests/storybook/test_storybook.py",
    ),
    Fault(
        "way is a preposition",
        "storybook/clauses.py",
        "main if i < of_verb else ids",
        "ids",
        tests="tests/storybook/test_storybook.py",
    ),
    Fault(
        "a predicate of many words is linked all to all",
        "storybook/families.py",
        'f"{text}/{i}"',
        'f"{text}/2"',
        tests="tests/storybook/test_storybook.py",
    ),
    Fault(
        "scenes without a person are of one",
        "storybook/senses.py",
        'if "$P" in scene[0]:',
        "if True:",
        tests="tests/storybook/test_storybook.py",
    ),
    Fault(
        "one feminine makes a list feminine",
        "storybook/clauses.py",
        'gender = "f" if all(',
        'gender = "f" if any(',
        tests="tests/storybook/test_storybook.py -k masculine_unless",
    ),
    Fault(
        "si elides before elle",
        "storybook/morphology.py",
        'if following in ("il", "ils")',
        'if following in ("il", "ils", "elle", "elles")',
        tests="tests/storybook/test_storybook.py -k si_elide",
    ),
]
