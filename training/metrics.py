"""BLEU and chrF by sacrebleu with their signatures, exact match, and on storybook how often the pronoun is right."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

DRAWS, SEED = 1000, 12345  # of the test of a difference
TEST = f"approximate randomisation, {DRAWS:,} trials, seed {SEED}"
SUBJECT_PRONOUNS = {"fr": ("il", "elle", "ils", "elles"), "de": ("er", "sie", "es")}  # Spanish leaves them out


@dataclass(frozen=True)
class Scores:
    """All in percent."""

    bleu: float
    chrf: float
    exact_match: float
    pairs: int
    bleu_signature: str
    chrf_signature: str

    def to_dict(self) -> dict[str, Any]:
        return {name: round(value, 2) if isinstance(value, float) else value for name, value in asdict(self).items()}


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """Cased BLEU (tokenizer 13a) and chrF2 of untokenised text, and how many translations equal the reference."""
    bleu, chrf = BLEU(), CHRF()
    return Scores(
        bleu=bleu.corpus_score(hypotheses, [references]).score,
        chrf=chrf.corpus_score(hypotheses, [references]).score,
        exact_match=100 * sum(map(str.__eq__, hypotheses, references)) / len(references),
        pairs=len(references),
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
    )


def chrf_by_sentence(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """chrF2 of each sentence, in percent."""
    metric = CHRF()
    return [metric.sentence_score(one, [other]).score for one, other in zip(hypotheses, references, strict=True)]


def compare(hypotheses: Sequence[str], baseline: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """BLEU and chrF2 of the baseline, and for each the p-value of the difference, two-sided: how often it is as large
    when each sentence's two translations are swapped at random (approximate randomization, Riezler and Maxwell 2005).

    sacrebleu's own tests take memory for all draws at once, and call no difference at all significant.
    """
    row: dict[str, float] = {}
    for name, metric in ("bleu", BLEU(references=[references])), ("chrf", CHRF(references=[references])):
        ours, theirs = (np.asarray(metric._extract_corpus_statistics(list(texts), None))
                        for texts in (hypotheses, baseline))

        def score_of(counts: np.ndarray, metric: Any = metric) -> float:
            return metric._aggregate_and_compute(counts[None]).score

        both, random = (ours + theirs).sum(0), np.random.default_rng(SEED)
        score = score_of(theirs.sum(0))
        least, as_large = abs(score_of(ours.sum(0)) - score) - 1e-9, 1
        for _ in range(DRAWS):
            mixed = np.where(random.integers(2, size=(len(ours), 1)), ours, theirs).sum(0)
            as_large += abs(score_of(mixed) - score_of(both - mixed)) >= least
        row |= {name: round(score, 2), f"{name}_p": round(as_large / (DRAWS + 1), 3)}
    return row


def tokenized_bleu(hypotheses: Sequence[str], references: Sequence[str], *, language: str) -> tuple[float, str]:
    """Lower-cased tokenised BLEU and its signature, the score most Multi30k papers give.

    Hypotheses are lower-cased, normalised and tokenised by Moses' rules as the references (`*.lc.norm.tok.*`) were,
    apostrophes and quotes written as `&apos;` and `&quot;`.
    """
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalize, tokenize = MosesPunctNormalizer(lang=language).normalize, MosesTokenizer(lang=language).tokenize
    lines = [tokenize(normalize(text.lower()), return_str=True) for text in hypotheses]
    bleu = BLEU(tokenize="none", force=True)  # it is tokenised on purpose: no warning
    return bleu.corpus_score(lines, [list(references)]).score, str(bleu.get_signature())


def subject_pronouns(text: str, language: str = "fr") -> list[str]:
    """The third-person subject pronouns of a text in order; French `qu'elle` counts."""
    return [word for word in re.findall(r"\w+", text.casefold()) if word in SUBJECT_PRONOUNS.get(language, ())]


def pronoun_accuracy(stories: Sequence[Any], hypotheses: Sequence[str]) -> Mapping[str, dict[str, float]]:
    """For each kind of storybook pair and family: exact match, and in how many the pronouns are right, in percent.

    The pronouns are right where the translation's subject pronouns, in order, are those of the reference.  Pairs whose
    reference has none are left out of that figure.
    """
    groups: dict[str, list[tuple[bool, list[str], list[str]]]] = defaultdict(list)
    for story, hypothesis in zip(stories, hypotheses, strict=True):
        written, expected = (subject_pronouns(text, story.target_language) for text in (hypothesis, story.target))
        for name in (f"{story.kind}/{story.family}", story.kind):
            groups[name].append((hypothesis == story.target, written, expected))
    table = {}
    for name, members in sorted(groups.items()):
        row = {"pairs": len(members), "exact_match": _percent([exact for exact, *_ in members])}
        if with_pronoun := [written == expected for _, written, expected in members if expected]:
            row["pronoun"] = _percent(with_pronoun)
        table[name] = row
    return table


def _percent(flags: Sequence[bool]) -> float:
    return round(100 * sum(flags) / len(flags), 2)
