"""In the built-in corpus: its combinations and its links."""

from . import Fault

FAULTS = [
    Fault(
        "a list says nothing of the nouns in it",
        "training/storybook/clauses.py",
        "(phrase.noun,) if phrase.noun else phrase.listed",
        "(phrase.noun,) if phrase.noun else ()",
        tests="tests/training/test_storybook.py",
    ),
    Fault(
        "what no pattern names counts as said",
        "training/storybook/phrases.py",
        "slots[name].combinations for name in said",
        "phrase.combinations for phrase in slots.values()",
        tests="tests/training/test_storybook.py",
    ),
    Fault(
        "way is a preposition",
        "training/storybook/clauses.py",
        "main if i < of_verb else ids",
        "ids",
        tests="tests/training/test_storybook.py",
    ),
    Fault(
        "a predicate of many words is linked all to all",
        "training/storybook/pronouns.py",
        'f"{text}/{i}"',
        'f"{text}/2"',
        tests="tests/training/test_storybook.py",
    ),
    Fault(
        "scenes without a person are of one",
        "training/storybook/senses.py",
        'if "$P" in scene[0]:',
        "if True:",
        tests="tests/training/test_storybook.py",
    ),
    Fault(
        "one feminine makes a list feminine",
        "training/storybook/clauses.py",
        'gender = "f" if all(',
        'gender = "f" if any(',
        tests="tests/training/test_storybook.py -k masculine_unless",
    ),
    Fault(
        "si elides before elle",
        "training/storybook/morphology.py",
        'if following in ("il", "ils")',
        'if following in ("il", "ils", "elle", "elles")',
        tests="tests/training/test_storybook.py -k si_elide",
    ),
]
