"""Faults of links, of their error, and of how far a map is said to be trusted."""

from . import Fault

FAULTS = [
    Fault(
        "a choice is used for weights that it was not fitted to",
        "translate/checkpoint.py",
        "return choice if choice and choice.fingerprint == self._fingerprint else None",
        "return choice",
        tests="tests/cli/test_align_command.py -k other_weights",
    ),
    Fault(
        "an interval draws the variants of a sentence one by one",
        "lens/intervals.py",
        "member_N = group_numbers(count, groups)",
        "member_N = np.arange(count)",
        tests="tests/lens/test_alignment.py tests/lens/test_trust.py -k variants",
    ),
    Fault(
        "trust is measured as if storybook had no variants",
        "measures/faithfulness.py",
        "measured_on=measured_on, groups=groups,",
        "measured_on=measured_on, groups=None,",
        tests="tests/cli/test_align_command.py -k held_out",
    ),
    Fault(
        "variants of a sentence are in both halves of a fit",
        "lens/fitting.py",
        "group_numbers(len(self.gold), groups) % 2",
        "group_numbers(len(self.gold), None) % 2",
        tests="tests/lens/test_alignment.py -k one_half",
    ),
    Fault(
        "the error told of weights is that on the sentences they were fitted to",
        "lens/fitting.py",
        "error = best.halves or self.agreement(best.choice)",
        "error = self.agreement(best.choice)",
        tests="tests/lens/test_alignment.py -k sentences_apart",
    ),
    Fault(
        "a link to a word that is not there is found out while tracing",
        "measures/alignment.py",
        "    for number in kept:",
        "    for number in ():",
        tests="tests/cli/test_align_command.py -k told_before",
    ),
    Fault(
        "a folder that cannot be written is found out at the end",
        "measures/alignment.py",
        "not os.access(folder, os.W_OK) or ",
        "",
        tests="tests/cli/test_align_command.py -k told_before",
    ),
    Fault(
        "a threshold that is no number is read",
        "lens/plain_json.py",
        "return value if args[1] <= value <= args[2] else _refuse(plain, name)",
        "return value",
        tests="tests/lens/test_alignment.py -k is_named",
    ),
    Fault(
        "a word left out leaves its space before a mark",
        "lens/erasure.py",
        'not rest or (_category(rest) in CLOSING and _category(word.text)[0] != "P")',
        "not rest",
        tests="tests/lens/test_views.py -k spaced",
    ),
    Fault(
        "a link to the word after the last passes",
        "lens/fitting.py",
        "if i >= sizes[0] or j >= sizes[1]:",
        "if i > sizes[0] or j > sizes[1]:",
        tests="tests/lens/test_alignment.py -k last_word",
    ),
    Fault(
        "a 95 % interval of the alignment error covers 90 %",
        "lens/intervals.py",
        "[0.025, 0.975]",
        "[0.05, 0.95]",
        tests="tests/lens/test_alignment.py -k fortieth",
    ),
    Fault(
        "what follows a link is not read",
        "tokenizer/links.py",
        "_LINK.fullmatch(item)",
        "_LINK.match(item)",
        tests="tests/lens/test_alignment.py -k pharaoh",
    ),
]
