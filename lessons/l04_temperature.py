"""Lesson 4: the softmax, and what a temperature does to what is written."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure

from ..lens.forcing import decode_target, encode_source, forced_pass, looking
from ..tokenizer.words import split_words
from ..training.metrics import score
from .by_hand import softmax
from .drawing import BLUE, GREEN, ORANGE, PURPLE, RED, new_figure
from .old import Table, Verdict, found, overall, spelled
from .workbench import Workbench

TITLE = "Softmax and temperature"
CLAIM = ("The last layer gives one number for each piece of the vocabulary, the softmax makes a probability"
         " distribution of them, and a higher temperature makes it less extreme and the text more varied.")  # fmt: skip
HOW = """The trained model translates a sentence and is stopped at the step at which it is least sure. Its scores for
all pieces are divided by the temperature T and put through the softmax: the picture shows the five likeliest pieces at
T = 1 for each T.

Then unseen sentences are translated by sampling, four times each, for every T and three seeds. Variety is measured as
the share of different translations among the four and as the number of different pairs of neighbouring words for each
word written (distinct-2); quality as chrF against the reference. For comparison, the likeliest piece at each step is
taken (greedy)."""
TRY = "Sample at T = 0.1 and compare with greedy: as T goes to 0 the softmax becomes the argmax."

SENTENCE = "The owl lent the ladder to the crow because it was generous."
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
SAMPLES = 4
SHOWN_PIECES = 5
SUMS_TO_ONE = 1e-6
MORE_VARIED = 0.05  # share of different translations by which the highest T must pass the lowest
WORSE = 1.0  # points of chrF that count as a difference


@dataclass(frozen=True)
class Result:
    sentence: str
    prefix: str  # what was written before the step shown
    vocabulary: int
    pieces: tuple[str, ...]  # the likeliest at T = 1
    shares: np.ndarray  # [T,pieces]
    entropies: np.ndarray  # [T] in bits
    off_sum: float  # how far the sums of probabilities are from 1, at most
    least: float  # the smallest of all probabilities
    argmaxes: int  # how many different likeliest pieces there are over all T
    different: np.ndarray  # [T,seeds] share of different translations of one sentence
    bigrams: np.ndarray  # [T,seeds] different pairs of neighbouring words for each word written
    chrf: np.ndarray  # [T,seeds]
    greedy: float  # chrF of the likeliest piece at each step
    samples: tuple[str, ...]  # of the sentence, one for each T


def at_temperature(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities: the softmax of the scores over T."""
    return softmax(logits / temperature)


def distinct(texts: Sequence[Sequence[str]], n: int) -> float:
    """How many different n-grams there are for each word written: distinct-n (Li et al. 2016)."""
    grams = {tuple(words[i : i + n]) for words in texts for i in range(len(words) - n + 1)}
    return len(grams) / max(sum(map(len, texts)), 1)


SHOWN = (softmax, at_temperature, distinct)


def compute(bench: Workbench) -> Result:
    logits_V, prefix = least_sure(bench)
    by_T = np.stack([at_temperature(logits_V, T) for T in TEMPERATURES])
    best = at_temperature(logits_V, 1.0).argsort()[::-1][:SHOWN_PIECES]
    pairs = bench.corpus.test[: bench.pick(24, 4)]
    different, bigrams, chrf = np.zeros((3, len(TEMPERATURES), len(bench.seeds)))
    samples: list[str] = []
    references = [pair.target for pair in pairs]
    for t, T in enumerate(TEMPERATURES):
        for s, seed in enumerate(bench.seeds):
            bench.seed(seed)
            texts = sample(bench, [pair.source for pair in pairs], T)
            different[t, s] = np.mean([(len(set(one)) - 1) / (SAMPLES - 1) for one in texts])
            words = [[word.text for word in split_words(text, language="fr")] for one in texts for text in one]
            bigrams[t, s] = distinct(words, 2)
            repeated = [text for text in references for _ in range(SAMPLES)]
            chrf[t, s] = score([text for one in texts for text in one], repeated).chrf
        bench.seed(0)
        samples.append(sample(bench, [SENTENCE], T)[0][0])
        bench.say(f"sampled at T = {T}")
    greedy = score([one[0] for one in sample(bench, [pair.source for pair in pairs], None)], references).chrf
    return Result(
        SENTENCE, prefix, len(logits_V), tuple(map(str, bench.tokenizer.convert_ids_to_tokens(best.tolist()))),
        by_T[:, best], -(by_T * np.log2(np.maximum(by_T, 1e-300))).sum(-1), float(np.abs(by_T.sum(-1) - 1).max()),
        float(by_T.min()), len(set(by_T.argmax(-1).tolist())), different, bigrams, chrf, greedy, tuple(samples),
    )  # fmt: skip


def least_sure(bench: Workbench) -> tuple[np.ndarray, str]:
    """The scores [V] of the step of greatest entropy in the model's own translation, and what was written before it."""
    source = encode_source(bench.tokenizer, SENTENCE)
    with looking(bench.model):
        ids = bench.model.generate(torch.tensor([source]), num_beams=1, do_sample=False, max_length=40)[0, 1:].tolist()
        logits_TV = forced_pass(bench.model, [source], [ids])[0].logits[0].double().numpy()
    shares_TV = softmax(logits_TV)
    entropy_T = -(shares_TV * np.log(np.maximum(shares_TV, 1e-300))).sum(-1)
    step = int(entropy_T[1:].argmax()) + 1  # the tag is given, not chosen
    return logits_TV[step], decode_target(bench.tokenizer, ids[:step])


@torch.no_grad()
def sample(bench: Workbench, sources: Sequence[str], temperature: float | None) -> list[list[str]]:
    """SAMPLES translations of each sentence from the whole distribution; without a temperature the greedy one."""
    how = {"do_sample": False} if temperature is None else {
        "do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0, "num_return_sequences": SAMPLES,
    }  # fmt: skip
    ids = [encode_source(bench.tokenizer, source) for source in sources]
    input_ids_BS = torch.nn.utils.rnn.pad_sequence([torch.tensor(one) for one in ids], batch_first=True)
    output_BT = bench.model.generate(
        input_ids_BS, attention_mask=(input_ids_BS != 0).long(), num_beams=1, max_length=40, **how
    )
    texts = [decode_target(bench.tokenizer, one) for one in output_BT.tolist()]
    each = len(texts) // len(sources)
    return [texts[i : i + each] for i in range(0, len(texts), each)]


def judge(result: Result) -> Verdict:
    different, bigrams, chrf = (figures.mean(-1) for figures in (result.different, result.bigrams, result.chrf))
    one = TEMPERATURES.index(1.0)
    low, high = TEMPERATURES[0], TEMPERATURES[-1]
    findings = (
        found("The softmax gives every piece a share above 0, and the shares sum to 1.",
              result.off_sum < SUMS_TO_ONE and result.least > 0,
              f"Over {result.vocabulary:,} pieces and all temperatures the sum is off 1 by {result.off_sum:.0e} at most"
              f" (allowed: {SUMS_TO_ONE:.0e}), and the least share is {result.least:.0e}."),
        found("A higher temperature makes the distribution less extreme.", bool((np.diff(result.entropies) > 0).all()),
              f"Its entropy rises with every step of T, from {result.entropies[0]:.2f} bits at T = {low} to"
              f" {result.entropies[-1]:.2f} at T = {high}, of at most {np.log2(result.vocabulary):.2f}."
              if (np.diff(result.entropies) > 0).all() else "Its entropy does not rise with every step of T."),
        found("The likeliest piece stays the same at every temperature.", result.argmaxes == 1,
              f"Different likeliest pieces over {len(TEMPERATURES)} temperatures: {result.argmaxes} (wanted: 1)."),
        found("A higher temperature makes texts more varied.",
              bool(different[-1] > different[0] + MORE_VARIED and bigrams[-1] > bigrams[0]),
              f"From T = {low} to {high} the share of different translations among {SAMPLES} goes from"
              f" {different[0]:.0%} to {different[-1]:.0%} (wanted: {MORE_VARIED:.0%} more), and there are"
              f" {bigrams[0]:.2f} and {bigrams[-1]:.2f} different pairs of words for each word (wanted: more)."),
        found("The variety is creative: it costs no quality.", bool(chrf[one:].min() > result.greedy - WORSE),
              f"chrF is {result.greedy:.1f} for the likeliest piece at each step, {chrf[0]:.1f} at T = {low},"
              f" {chrf[one]:.1f} at 1 and {chrf[-1]:.1f} at {high} (no loss means within {WORSE} of the first, at"
              f" every T from 1)."),
    )  # fmt: skip
    return overall(findings, (
        f"From T = {low} to {high} the entropy of one step goes from {result.entropies[0]:.2f} to"
        f" {result.entropies[-1]:.2f} bits (likeliest pieces: {result.argmaxes}), different translations from"
        f" {different[0]:.0%} to {different[-1]:.0%}, and chrF from {chrf[0]:.1f} to {chrf[-1]:.1f}."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    rows = [(T, entropy, *(f"{100 * share:.1f}" for share in shares))
            for T, entropy, shares in zip(TEMPERATURES, result.entropies, result.shares, strict=True)]

    def spread(values_S: np.ndarray, digits: int) -> str:
        return f"{values_S.mean():.{digits}f} ± {np.ptp(values_S) / 2:.{digits}f}"

    texts = [(T, spread(100 * different, 0), spread(100 * bigrams, 0), spread(chrf, 1)) for T, different, bigrams, chrf
             in zip(TEMPERATURES, result.different, result.bigrams, result.chrf, strict=True)]
    said = f"after “{result.prefix}”" if result.prefix else "at the first word"
    pieces = tuple(f"“{piece.replace('▁', ' ').strip() or piece}”" for piece in result.pieces)
    return (
        Table.of(f"The next piece of “{result.sentence}” {said}, in per cent", ("T", "bits", *pieces), rows),
        Table.of(f"{SAMPLES} samples a sentence: mean, and half the range of the seeds", (
            "T", "different translations, %", "different word pairs, % of words", "chrF"), texts),
        Table.of(f"One sample each of “{result.sentence}”, as the model wrote it", ("T", "sample"),
                 list(zip(TEMPERATURES, result.samples, strict=True))),
    )


def look(result: Result) -> None:
    """There is no map to open."""
    return None


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2, height=3.4)
    names = [f"“{piece.replace('▁', ' ').strip() or piece}”" for piece in result.pieces]
    for piece, colour, shares_T in zip(names, (BLUE, ORANGE, GREEN, PURPLE, RED), result.shares.T, strict=True):
        left.plot(TEMPERATURES, 100 * shares_T, marker="o", color=colour, label=piece)
    left.set_title("Probability of a piece, per cent")
    left.set_ylim(0, 102)
    left.legend(fontsize=8)
    lines = ((result.different * 100, "different translations, %", ORANGE),
             (result.bigrams * 100, "different word pairs, % of words", PURPLE), (result.chrf, "chrF", BLUE))
    for values, name, colour in lines:
        right.plot(TEMPERATURES, values.mean(-1), marker="o", color=colour, label=name)
        right.fill_between(TEMPERATURES, values.min(-1), values.max(-1), color=colour, alpha=0.2, linewidth=0)
    right.set_title("Variety and quality of samples")
    right.set_ylim(0, 102)
    right.legend(fontsize=8, loc=(0.02, 0.5))
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_xticks(TEMPERATURES, [spelled(T).rstrip("0").rstrip(".") for T in TEMPERATURES])
        axes.set_xlabel("temperature T")
    return figure
