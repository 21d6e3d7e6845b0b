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
        "the model without a mask has one",
        "lessons/small.py",
        "attention_mask=None if self.causal else open_mask(mask_BT)",
        "attention_mask=None",
        tests="tests/lessons/test_trained_laws.py -k without_the_mask",
    ),
    Fault(
        "without a mask padding is seen too",
        "lessons/small.py",
        "(mask_BT == 0) * torch.finfo(torch.float32).min",
        "(mask_BT == 0) * 0.0",
        tests="tests/lessons/test_trained_laws.py -k without_the_mask",
    ),
    Fault(
        "heads are added with each other's part of the projection",
        "lessons/l07_many_heads.py",
        "per_head_HTE[head] @ parts[head].T",
        "per_head_HTE[head] @ parts[-head].T",
        tests="tests/lessons/test_trained_laws.py -k side_by_side",
    ),
    Fault(
        "a recurrent decoder starts from padding",
        "lessons/recurrent.py",
        "last_B = mask_BS.sum(1) - 1",
        "last_B = mask_BS.sum(1) * 0 + mask_BS.shape[1] - 1",
        tests="tests/lessons/test_trained_laws.py -k left_to_right",
    ),
    Fault(
        "a model that never says the idiom and one that does are judged alike",
        "lessons/l12_meaning.py",
        "bool(idiom[0, 1] <= NEVER)",
        "bool(idiom[0, 0] <= NEVER)",
        tests="tests/lessons/test_trained_verdicts.py -k meaning",
    ),
]
