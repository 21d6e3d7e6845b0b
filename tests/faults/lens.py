"""Faults of what is shown, measured and intervened in."""

from . import Fault

FAULTS = [
    Fault(
        "links are found with source and target exchanged",
        "lens/alignment.py",
        "for j, i in np.argwhere(found_JI)",
        "for i, j in np.argwhere(found_JI)",
        tests="tests/lens/test_alignment.py -k planted",
    ),
    Fault(
        "the alignment error counts possible links as sure",
        "lens/aer.py",
        "1 - (found_sure + found_possible)",
        "1 - (found_possible + found_possible)",
        tests="tests/lens/test_alignment.py -k by_hand",
    ),
    Fault(
        "a head's columns are another head's",
        "lens/ablation.py",
        "torch.arange(h * E, (h + 1) * E)",
        "torch.arange((site.heads - 1 - h) * E, (site.heads - h) * E)",
        tests="tests/lens/test_ablation.py",
    ),
    Fault(
        "the mean of a head counts padding",
        "lens/ablation.py",
        'args[0][real[sites[number].kind == "encoder"]]',
        "args[0].flatten(0, 1)",
        tests="tests/lens/test_ablation.py",
    ),
    Fault(
        "a choice is asked one step early",
        "lens/choices.py",
        "len(target) - 1 for target in targets",
        "max(len(target) - 2, 0) for target in targets",
        tests="tests/lens/test_patching.py",
    ),
    Fault(
        "a patch reaches every position",
        "lens/patching.py",
        "return where[stack].to(like_BTD.device)",
        "return torch.ones(like_BTD.shape[:2], dtype=torch.bool)",
        tests="tests/lens/test_patching.py",
    ),
    Fault(
        "a temperature works upside down",
        "lens/steering.py",
        "score_BHTS[:, head] /= temperature",
        "score_BHTS[:, head] *= temperature",
        tests="tests/lens/test_what_if.py",
    ),
    Fault(
        "a beam's score forgets its parent",
        "lens/beams.py",
        "total = sums[t][parent] + float",
        "total = float",
        tests="tests/lens/test_what_if.py",
    ),
    Fault(
        "positions stay in a word's static vector",
        "lens/embeddings.py",
        "if not positions:",
        "if False:",
        tests="tests/lens/test_embeddings.py",
    ),
    Fault(
        "an analogy adds what it should take away",
        "lens/embeddings.py",
        "plus - minus + other",
        "plus + minus - other",
        tests="tests/lens/test_embeddings.py",
    ),
    Fault(
        "variants of a sentence count as independent",
        "lens/heads.py",
        "np.unique(np.array(groups), return_inverse=True)",
        "np.unique(np.arange(len(values)), return_inverse=True)",
        tests="tests/lens/test_heads.py",
    ),
    Fault(
        "a head that looks at all nouns has an antecedent",
        "lens/heads.py",
        'if role == "antecedent":\n        away',
        'if role == "":\n        away',
        tests="tests/lens/test_heads.py",
    ),
    Fault(
        "random sets of heads come from any layer",
        "lens/effects.py",
        '(head.layer if alike == "layers" else 0)',
        "0",
        tests="tests/lens/test_heads.py",
    ),
    Fault(
        "a leaning to one pronoun looks like knowledge",
        "lens/effects.py",
        "np.where(is_first_N, margins_N, -margins_N)",
        "margins_N",
        tests="tests/lens/test_heads.py",
    ),
]
