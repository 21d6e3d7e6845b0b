"""Lesson 17: a piece of cake, in general and as the task wants it."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor, nn

from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, train_tokenizer
from ..training.pairs import Pair
from .cake import IDIOM, LITERAL, Said, sentences
from .lesson import Bars, Check, Checks, Estimate, Exhibits, Figures, Table, Workbench, over_seeds
from .small import LEARNING_RATE, TRANSFORMER, Recipe, SmallModel, SmallTransformer, learn, translate

# B sentences, S tokens, D width

KINDS = ("no parameters", "Q, K, V")
KEYS = ("plain", "learnt")  # their names in figures
STAGES = ("before fine-tuning", "after")
LANGUAGES = {"fr": "French", "hi": "Hindi"}
ALWAYS, NEVER = 0.8, 0.05  # shares of sentences that count as always and as never
BETTER = 0.1  # share that counts as a difference


class Unlearnt(nn.Module):
    """softmax(X Xᵀ / √D) X: a word is its own query, key and value."""

    def forward(self, x_BSD: Tensor, attention_mask: Tensor | None = None, **_: Any) -> tuple[Tensor, Tensor]:
        score_BSS = x_BSD @ x_BSD.transpose(1, 2) / math.sqrt(x_BSD.shape[-1])
        if attention_mask is not None:
            score_BSS = score_BSS + attention_mask[:, 0]
        weight_BSS = score_BSS.softmax(-1)
        return weight_BSS @ x_BSD, weight_BSS


def network(kind: str, *, vocabulary: int) -> SmallTransformer:
    """The small Transformer, or one whose encoder has attention without parameters."""
    model = SmallTransformer(Recipe(), vocabulary=vocabulary)
    if kind == KINDS[0]:
        for layer in model.network.model.encoder.layers:
            layer.self_attn = Unlearnt()
            layer.self_attn_layer_norm.requires_grad_(False)
    return model


SHOWN = (Unlearnt, network)


def measure(bench: Workbench) -> Figures:
    examples = list(sentences())
    general, task = general_pairs(examples), task_pairs(bench, examples)
    tokenizer = train_tokenizer([text for pair in (*general, *task) for text in (pair.source, pair.target)],
                                vocab_size=1200, languages=list(LANGUAGES))
    stages = [(general, bench.pick(160, 12), LEARNING_RATE), (task, bench.pick(120, 6), LEARNING_RATE / 2)]
    idioms, literals = ([one for one in examples if one.held_out and one.meaning == meaning]
                        for meaning in ("figurative", "literal"))
    found, steps = [], [0]  # found: [kinds,seeds,moments,languages,3]: as idiom, as cake, literal
    first_texts: dict[str, list[list[str]]] = {}
    for kind, key in zip(KINDS, KEYS, strict=True):
        by_seed = []
        for seed in bench.seeds:
            general_run, task_run = learn(
                bench, f"attention with {kind}", partial(network, kind, vocabulary=len(tokenizer)), stages, tokenizer,
                seed, made_by=(*TRANSFORMER, network, Unlearnt))
            steps = [0, *task_run.models]
            tested = [tested_on(model, tokenizer, idioms, literals)
                      for model in (general_run.model, *task_run.models.values())]
            by_seed.append([shares for shares, _ in tested])
            first_texts.setdefault(key, [texts for _, texts in tested])
        found.append(by_seed)
    path = np.transpose(found, (4, 0, 2, 3, 1))  # [3,kinds,moments,languages,seeds]
    shares = path[:, :, [0, -1]]
    idiom, cake, literal_ = ({key: {stage: float(of[k, s].mean()) for s, stage in enumerate(("before", "after"))}
                              for k, key in enumerate(KEYS)} for of in shares)
    return Figures(
        shares=shares, idiom=idiom, cake=cake, literal=literal_,
        gain=idiom["learnt"]["after"] - idiom["plain"]["after"], source=idioms[0].en,
        examples=[(f"{kind}, {stage}", *first_texts[key][at]) for kind, key in zip(KINDS, KEYS, strict=True)
                  for at, stage in zip((0, -1), STAGES, strict=True)],
        phrases=LITERAL[1:], counts=(len(idioms), len(literals)), steps=steps, said=first_texts,
        path={key: dict(zip(("idiom", "cake", "literal"), path[:, k].mean((2, 3)), strict=True))
              for k, key in enumerate(KEYS)},
    )


def tested_on(model: SmallModel, tokenizer: Seq2SeeTokenizer, idioms: Sequence[Said],
              literals: Sequence[Said]) -> tuple[list[list[float]], list[str]]:
    """By language the shares of idioms said as idiom and as cake, and of literal sentences that are exact; and the
    first idiom in each language."""
    shares, first = [], []
    for number, language in enumerate(LANGUAGES, 1):
        into = partial(translate, model, tokenizer, language=language, longest=40)
        texts, literal = (into([one.en for one in some]) for some in (idioms, literals))
        right = [text == one.pair(language).target for text, one in zip(literal, literals, strict=True)]
        as_idiom, as_cake = (float(np.mean([phrase[number] in text for text in texts])) for phrase in (IDIOM, LITERAL))
        shares.append([as_idiom, as_cake, float(np.mean(right))])
        first.append(texts[0])
    return shares, first


def general_pairs(examples: Sequence[Said]) -> list[Pair]:
    """Adjectives for all subjects, and literal cake three times over, since it is rarer."""
    return [one.pair(language) for one in examples if one.meaning != "figurative" and not one.held_out
            for language in LANGUAGES for _ in range(3 if one.meaning else 1)]


def task_pairs(bench: Workbench, examples: Sequence[Said]) -> list[Pair]:
    """Both meanings of a piece of cake, and the corpus's idioms with their literal twins."""
    own = [Pair(story.source, story.target, "en", story.target_language) for story in bench.corpus.idioms]
    return [one.pair(language) for one in examples if one.meaning and not one.held_out for language in LANGUAGES] + own


def claims(f: Figures) -> Checks:
    plain, learnt = f.idiom["plain"], f.idiom["learnt"]
    return {
        "before": [Check(f.cake["plain"]["before"], "≥", ALWAYS, "literal cake"),
                   Check(plain["before"], "≤", NEVER, "idiom")],
        "never": [Check(plain["after"], "≤", NEVER)],
        "difference": [Check(f.gain, "≥", BETTER)],
        "both": [Check(learnt["before"], "≤", NEVER, "idioms before"),
                 Check(learnt["after"], "≥", ALWAYS, "idioms after"),
                 Check(f.literal["learnt"]["after"], "≥", ALWAYS, "literal sentences after")],
    }


def exhibits(f: Figures) -> Exhibits:
    rows = [(f"{kind}, {stage}", language, *(Estimate.seeds(of[k, s, n]) for of in f.shares))
            for k, kind in enumerate(KINDS) for s, stage in enumerate(STAGES)
            for n, language in enumerate(LANGUAGES.values())]
    names = [f"{language}, {kind}" for kind in KINDS for language in LANGUAGES.values()]
    groups = [{name: over_seeds(of[:, stage].reshape(len(names), -1))
               for name, of in zip(("as idiom", "as cake"), f.shares, strict=False)} for stage in range(len(STAGES))]
    return [
        Table(f"Shares of {f.counts[0]} unseen idioms and {f.counts[1]} unseen literal sentences, over seeds",
              ("attention of the encoder", "into", "idioms translated as the idiom", "as the literal cake",
               "literal sentences exact"), rows),
        Table(f"Translations of “{f.source}”, with their errors",
              ("attention of the encoder", "French", "Hindi"), f.examples),
        *(Bars(f"Idioms {stage}", names, of, top=1.05, wide=True) for stage, of in zip(STAGES, groups, strict=True)),
    ]
