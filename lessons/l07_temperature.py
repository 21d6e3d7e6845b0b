"""Lesson 7: the softmax, and what a temperature does to what is written."""

from collections.abc import Sequence

import numpy as np
import torch

from ..passes.forced_pass import eval_with_eager_attention, forced_pass
from ..tokenizer.encoding import decode_target, encode_source
from ..training.batching import pad
from ..training.metrics import score
from .by_hand import softmax
from .figures import likeness
from .lesson import Check, Checks, CurvePanel, Exhibits, Figures, Table, Workbench, over_seeds

# B sentences, S and T tokens, V vocabulary

SENTENCE = "The owl lent the ladder to the crow because it was generous."
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
ONE = TEMPERATURES.index(1.0)
SAMPLES = 4
SHOWN_TOKENS = 5
SUMS_TO_ONE = 1e-6
MORE_VARIED = 0.05  # share of different translations by which the highest T must pass the lowest
WORSE = 1.0  # points of chrF that count as a difference


def at_temperature(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities: the softmax of the scores over T."""
    return softmax(logits / temperature)


SHOWN = (softmax, at_temperature)


def measure(bench: Workbench) -> Figures:
    logits_V, prefix = least_sure(bench)
    by_T = np.stack([at_temperature(logits_V, T) for T in TEMPERATURES])
    best = by_T[ONE].argsort()[::-1][:SHOWN_TOKENS]
    entropies = -(by_T * np.log2(np.maximum(by_T, 1e-300))).sum(-1)
    pairs = bench.corpus.test[: bench.pick(24, 4)]
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    different, chrf = np.zeros((2, len(TEMPERATURES), len(bench.seeds)))
    samples: list[str] = []
    for t, T in enumerate(TEMPERATURES):
        for s, seed in enumerate(bench.seeds):
            bench.seed(seed)
            texts = sample(bench, sources, T)
            different[t, s] = np.mean([(len(set(one)) - 1) / (SAMPLES - 1) for one in texts])
            written = [text for one in texts for text in one]
            chrf[t, s] = score(written, [text for text in references for _ in range(SAMPLES)]).chrf
        bench.seed(0)
        samples.append(sample(bench, [SENTENCE], T)[0][0])
    greedy = score([one[0] for one in sample(bench, sources, None)], references).chrf
    tokens = [str(token).replace("▁", " ").strip() for token in bench.tokenizer.convert_ids_to_tokens(best.tolist())]
    weights, means, off_sum = by_T[ONE][best], chrf.mean(1), np.abs(by_T.sum(-1) - 1).max()
    return Figures(
        prefix=prefix, vocabulary=len(logits_V), tokens=tokens, shares=by_T[:, best], entropies=entropies,
        bits=(entropies[0], entropies[-1]), most=np.log2(len(logits_V)), rise=np.diff(entropies).min(),
        off_sum=off_sum, summed=likeness(off_sum, within=SUMS_TO_ONE), least=by_T.min(),
        winners=len(set(by_T.argmax(-1).tolist())),
        spread=(different.mean(1)[0], different.mean(1)[-1]), varied=different.mean(1)[-1] - different.mean(1)[0],
        chrf=(means[0], means[ONE], means[-1]), greedy=greedy, lost=greedy - means[ONE:].min(),
        lowest=TEMPERATURES[0], highest=TEMPERATURES[-1], samples=samples, sampled=SAMPLES,
        columns={"different translations": over_seeds(different), "chrF / 100": over_seeds(chrf / 100)},
        alone=weights[0] / weights[:2].sum(), among=weights[0] / weights[:3].sum(),
    )


def least_sure(bench: Workbench) -> tuple[np.ndarray, str]:
    """The scores [V] of the step of greatest entropy in the model's own translation, and what was written before it."""
    source = encode_source(bench.tokenizer, SENTENCE)
    with eval_with_eager_attention(bench.model):
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
    }
    ids_BS = pad([encode_source(bench.tokenizer, source) for source in sources], 0)
    output_BT = bench.model.generate(ids_BS, attention_mask=(ids_BS != 0).long(), num_beams=1, max_length=40, **how)
    texts = [decode_target(bench.tokenizer, one) for one in output_BT.tolist()]
    each = len(texts) // len(sources)
    return [texts[i : i + each] for i in range(0, len(texts), each)]


def claims(f: Figures) -> Checks:
    return {
        "softmax": [Check(f.off_sum, "<", SUMS_TO_ONE, "largest difference of a sum from 1"),
                    Check(f.least, ">", 0, "smallest share")],
        "flatter": [Check(f.rise, ">", 0, "smallest rise of the bits")],
        "winner": [Check(f.winners, "=", 1)],
        "varied": [Check(f.varied, ">", MORE_VARIED, "rise of the share of different translations")],
        "creative": [Check(f.lost, "<", WORSE, "points of chrF lost")],
    }


def exhibits(f: Figures) -> Exhibits:
    step = f"after “{f.prefix}”" if f.prefix else "at the first word"
    tokens = {f"“{token}”": of for token, of in zip(f.tokens, f.shares.T, strict=True)}
    return [
        Table(f"Probabilities of the next token of “{SENTENCE}” {step}",
              ("T", "bits", *(f"“{token}”" for token in f.tokens)),
              [(T, bits, *shares) for T, bits, shares in zip(TEMPERATURES, f.entropies, f.shares, strict=True)]),
        Table(f"{SAMPLES} samples of each sentence, over seeds", ("T", *f.columns),
              list(zip(TEMPERATURES, *f.columns.values(), strict=True))),
        Table(f"One sample each of “{SENTENCE}”", ("T", "sample"), list(zip(TEMPERATURES, f.samples, strict=True))),
        CurvePanel("Probability of a token", TEMPERATURES, tokens, "temperature T", doubling=True, top=1.02),
        CurvePanel("Variety and quality of samples", TEMPERATURES, f.columns, "temperature T", doubling=True, top=1.02),
    ]
