"""Faults of the lessons: of figures, of verdicts, and of the page."""

from . import Fault

FAULTS = [
    Fault(
        "a claim holds if any part of it does",
        "lessons/lesson.py",
        'words.pop() if len(words) == 1 else "holds partly"',
        '"holds" if "holds" in words else words.pop()',
        tests="tests/lessons/test_framework.py -k made_of_its_findings",
    ),
    Fault(
        "the worked example forgets the mask",
        "lessons/by_hand.py",
        "np.where(later_NN, -np.inf, scaled_NN) if causal else scaled_NN",
        "scaled_NN",
        tests="tests/lessons/test_verdicts.py -k worked",
    ),
    Fault(
        "the worked example forgets a bias",
        "lessons/l05_worked_example.py",
        "x_ND @ numbers(layer.weight).T + numbers(layer.bias)",
        "x_ND @ numbers(layer.weight).T",
        tests="tests/lessons/test_verdicts.py -k what_the_model_does",
    ),
    Fault(
        "what was trained is found again though its source has changed",
        "lessons/workbench.py",
        "fingerprint(sources, arguments, torch.__version__)",
        "fingerprint(arguments, torch.__version__)",
        tests="tests/lessons/test_framework.py -k found_again",
    ),
    Fault(
        "a cosine knows the length of one vector",
        "lessons/l01_similarity.py",
        "math.sqrt(dot(x, x) * dot(y, y))",
        "math.sqrt(dot(x, x) * dot(x, x))",
        tests="tests/lessons/test_verdicts.py -k noted_dot_products",
    ),
    Fault(
        "a lesson's text is markup",
        "lessons/page.py",
        'parts = re.split(r"(`[^`]+`)", html.escape(plain))',
        'parts = re.split(r"(`[^`]+`)", plain)',
        tests="tests/lessons/test_page.py -k escaped",
    ),
    Fault(
        "a picture keeps the colours of light",
        "lessons/drawing.py",
        "for colour, variable in PALETTE.items():",
        "for colour, variable in list(PALETTE.items())[1:]:",
        tests="tests/lessons/test_page.py -k colours",
    ),
    Fault(
        "what a picture refers to is not there",
        "lessons/drawing.py",
        'rf"\\g<1>{name}-"',
        'r"\\g<1>"',
        tests="tests/lessons/test_page.py -k ids_are_unique",
    ),
    Fault(
        "a quick page looks like a real one",
        "lessons/page.py",
        'warning = "" if record["budget"] == "full" else (',
        'warning = "" if record["budget"] else (',
        tests="tests/lessons/test_page.py -k mean_nothing",
    ),
    Fault(
        "variants of a sentence are counted as so many sentences",
        "lessons/held_out.py",
        "groups or [str(i) for i in range(len(values))]",
        "[str(i) for i in range(len(values))]",
        tests="tests/lessons/test_verdicts_of_the_trained_model.py -k counts_variants",
    ),
    Fault(
        "what follows a word does not stand near it",
        "lessons/l11_words.py",
        "count_NN[other, one] += 1",
        "count_NN[other, one] += 0",
        tests="tests/lessons/test_verdicts_of_the_trained_model.py -k both_sides",
    ),
    Fault(
        "shuffled values stand in order",
        "lessons/l16_cross_attention.py",
        'return other_values(model, change, kinds=["cross"])',
        "return other_values(model, change, kinds=[])",
        tests="tests/lessons/test_verdicts_of_the_trained_model.py -k order_of_the_source",
    ),
    Fault(
        "the piece just read is counted twice",
        "lessons/l17_last_vector.py",
        "row[S : S + t].sum(), row[:S]",
        "row[S : S + t + 1].sum(), row[:S]",
        tests="tests/lessons/test_verdicts_of_the_trained_model.py -k owed_to",
    ),
    Fault(
        "a head carries the pronoun if its interval does not exclude it",
        "lessons/l15_it.py",
        '"holds partly" if result.together.low >= CARRIES',
        '"holds partly" if result.together.low >= 0',
        tests="tests/lessons/test_verdicts_of_the_trained_model.py -k test_it",
    ),
]
