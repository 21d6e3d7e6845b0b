"""Lesson 12: a piece of cake, in general and as the task wants it."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, train_tokenizer
from ..tokenizer.words import split_words
from ..training.cache import fingerprint
from ..training.pairs import Pair
from .cake import IDIOM, LITERAL, Said, sentences
from .drawing import BLUE, INK, ORANGE, new_figure
from .old import Table, Verdict, found, overall
from .small import TRAINING, TRANSFORMER, WIDTH, Recipe, SmallTransformer, fit, translate
from .workbench import Workbench

TITLE = "General and task-specific meaning"
CLAIM = ("Attention without parameters gives a word a general meaning: *a piece of cake* is always a piece of cake,"
         " *केक का टुकड़ा*, and never what the task wants, an easy thing; for that, queries, keys and values must be"
         " learnt.")  # fmt: skip
HOW = """*The dessert was a piece of cake* is literal; *The exam was a piece of cake* is the idiom, in French *c'était
du gâteau*, in Hindi *बाएँ हाथ का खेल* (a game for the left hand; the notes' example has *सरल काम*, a simple job). Only
the subject tells which. Two small networks learn both languages, from three seeds each: in one the encoder's attention
has no parameters (the formula with four identity matrices, after a layer norm that is not learnt either), in the other
it has W_Q, W_K, W_V and W_O. All else is the same; a network that is to translate has parameters somewhere.

First they learn general sentences: exams and desserts are wonderful, horrible or simple, and desserts are pieces of
cake. Then they are fine-tuned on the task's, idioms among them, storybook's own as well. Before and after, they
translate combinations of subject and frame that they have never seen.

Beside this, the vector of *cake* alone: can a straight cut (ridge regression, fitted on other sentences) tell the idiom
from the dessert by the embedding, by what attention without parameters makes of it, or by what the general network's
encoder makes of it?"""
TRY = ("Leave the literal sentences out of the fine-tuning (`task_pairs`) and see what becomes of the desserts: what is"
       " not practised is forgotten.")  # fmt: skip

KINDS = ("no parameters", "Q, K, V")
STAGES = ("before fine-tuning", "after")
LANGUAGES = ("fr", "hi")
VECTORS = ("embedding", "attention without parameters", "trained encoder")
ALWAYS, NEVER = 80.0, 5.0  # percent of sentences that count as always and as never
BETTER = 10.0  # points that count as a difference
TOLD = 0.9  # share that a straight cut must get right; half is chance


@dataclass(frozen=True)
class Result:
    idiom: np.ndarray  # [kinds,stages,languages,seeds]: unseen idioms translated as idioms, percent
    cake: np.ndarray  # and translated as cake, percent
    literal: np.ndarray  # unseen literal sentences translated exactly, percent
    by_heart: np.ndarray  # [kinds,languages,seeds]: storybook's idioms, which fine-tuning has shown, exact after it
    told: np.ndarray  # [vectors,seeds]: share of unseen sentences that a straight cut gets right
    cosine: np.ndarray  # [vectors,seeds]: of cake's vectors after exam and after dessert
    said: tuple[tuple[str, str, str, str], ...]  # of one unseen idiom: kind, stage, French, Hindi
    source: str
    unseen: tuple[int, int]  # idioms, literal sentences


class Unlearnt(nn.Module):
    """softmax(X Xᵀ / √D) X: a word asks, is found and gives as what it is."""

    def forward(self, x_BSD: Tensor, attention_mask: Tensor | None = None, **_: Any) -> tuple[Tensor, Tensor]:
        score_BSS = x_BSD @ x_BSD.transpose(1, 2) / math.sqrt(x_BSD.shape[-1])
        if attention_mask is not None:
            score_BSS = score_BSS + attention_mask[:, 0]
        weight_BSS = score_BSS.softmax(-1)
        return weight_BSS @ x_BSD, weight_BSS


def network(kind: str, *, vocabulary: int) -> SmallTransformer:
    """The small Transformer, or one whose encoder has attention without parameters."""
    model = SmallTransformer(Recipe(), vocabulary=vocabulary)
    if kind == "no parameters":
        for layer in model.network.model.encoder.layers:
            layer.self_attn = Unlearnt()
            layer.self_attn_layer_norm.requires_grad_(False)
    return model


SHOWN = (Unlearnt, network)


def compute(bench: Workbench) -> Result:
    said = list(sentences())
    tokenizer = train_tokenizer([text for pair in (*general_pairs(said), *task_pairs(bench, said))
                                 for text in (pair.source, pair.target)], vocab_size=1200, languages=list(LANGUAGES))
    idioms, literals = ([one for one in said if one.held_out and one.meaning == meaning]
                        for meaning in ("figurative", "literal"))  # fmt: skip
    seeds = len(bench.seeds)
    shares = {name: np.zeros((2, 2, 2, seeds)) for name in ("idiom", "cake", "literal")}
    by_heart, told, cosine = np.zeros((2, 2, seeds)), np.zeros((3, seeds)), np.zeros((3, seeds))
    examples = []
    for (k, kind), (s, seed) in ((a, b) for a in enumerate(KINDS) for b in enumerate(bench.seeds)):
        models = learnt(bench, kind, seed, said, tokenizer)
        for stage, model in enumerate(models):
            first = []
            for number, language in enumerate(LANGUAGES):
                texts = translate(model, tokenizer, [one.en for one in idioms], language=language, longest=40)
                first.append(texts[0])
                for name, phrase in (("idiom", IDIOM), ("cake", LITERAL)):
                    shares[name][k, stage, number, s] = percent([phrase[1 + number] in text for text in texts])
                pairs = [one.pair(language) for one in literals]
                shares["literal"][k, stage, number, s] = exact(model, tokenizer, pairs)
            if s == 0:
                examples.append((kind, STAGES[stage], first[0], first[1]))
        by_heart[k, :, s] = [exact(models[1], tokenizer, [pair for pair in own_idioms(bench)
                                                          if pair.target_language == language])
                             for language in LANGUAGES]  # fmt: skip
        if kind == "Q, K, V":
            seen = [read(vectors) for vectors in cake_vectors(models[0], tokenizer, said)]
            told[:, s], cosine[:, s] = zip(*seen, strict=True)
    return Result(shares["idiom"], shares["cake"], shares["literal"], by_heart, told, cosine, tuple(examples),
                  idioms[0].en, (len(idioms), len(literals)))  # fmt: skip


def general_pairs(said: Sequence[Said]) -> list[Pair]:
    """Adjectives for all subjects, and literal cake three times over, since it is rarer."""
    return [one.pair(language) for one in said if one.meaning != "figurative" and not one.held_out
            for language in LANGUAGES for _ in range(3 if one.meaning else 1)]  # fmt: skip


def task_pairs(bench: Workbench, said: Sequence[Said]) -> list[Pair]:
    """Both meanings of a piece of cake, and storybook's idioms with their literal twins."""
    return [one.pair(language) for one in said if one.meaning and not one.held_out
            for language in LANGUAGES] + own_idioms(bench)  # fmt: skip


def own_idioms(bench: Workbench) -> list[Pair]:
    return [Pair(story.source, story.target, "en", story.target_language) for story in bench.corpus.idioms]


def learnt(
    bench: Workbench, kind: str, seed: int, said: Sequence[Said], tokenizer: Seq2SeeTokenizer
) -> list[SmallTransformer]:
    """One network after general training, and after fine-tuning; kept on the shelf."""
    general, task = general_pairs(said), task_pairs(bench, said)
    steps = bench.pick((160, 120), (12, 6))

    def train_meaning(kind: str, seed: int, steps: Sequence[int], given: str) -> dict[str, Any]:
        bench.seed(seed)
        bench.say(f"training: attention with {kind}, seed {seed}")
        model = network(kind, vocabulary=len(tokenizer))
        fit(model, general, tokenizer, steps=steps[0], seed=seed)
        before = {name: weight.clone() for name, weight in model.state_dict().items()}
        fit(model, task, tokenizer, steps=steps[1], seed=seed, learning_rate=3e-3)
        return {"before": before, "after": model.state_dict()}

    pairs = [dataclasses.astuple(pair) for pair in (*general, *task)]
    given = fingerprint([pairs, sorted(tokenizer.get_vocab().items())])  # a vocabulary comes in no order
    kept = bench.cached(train_meaning, kind, seed, list(steps), given,
                        made_by=(*TRAINING, *TRANSFORMER, network, Unlearnt))  # fmt: skip
    models = []
    for weights in (kept["before"], kept["after"]):
        model = network(kind, vocabulary=len(tokenizer)).eval()
        model.load_state_dict(weights)
        models.append(model)
    return models


def exact(model: SmallTransformer, tokenizer: Seq2SeeTokenizer, pairs: Sequence[Pair]) -> float:
    """Percent of one language's pairs whose translation is the reference."""
    texts = translate(model, tokenizer, [pair.source for pair in pairs], language=pairs[0].target_language, longest=40)
    return percent([text == pair.target for text, pair in zip(texts, pairs, strict=True)])


def percent(flags: Sequence[bool]) -> float:
    return 100 * sum(flags) / len(flags)


Labelled = list[tuple[np.ndarray, bool, bool]]  # a vector, whether it is the idiom's, whether it is held out


@torch.no_grad()
def cake_vectors(model: SmallTransformer, tokenizer: Seq2SeeTokenizer, said: Sequence[Said]) -> tuple[Labelled, ...]:
    """The vector of *cake* in every sentence that has one, made in the three ways of VECTORS."""
    ways: tuple[Labelled, ...] = ([], [], [])
    for one in (one for one in said if one.meaning):
        ids = tokenizer.encode_source(one.en)
        words = [word.text for word in split_words(one.en, language="en")]
        pieces = tokenizer.spans(ids, one.en, language="en")
        at = max(number for number, piece in enumerate(pieces) if piece.word == words.index("cake"))
        static_SD = model.network.model.shared.weight[ids]
        mixed_SD = (static_SD @ static_SD.T).softmax(-1) @ static_SD
        encoded_SD = model.encode(torch.tensor([ids]), torch.ones(1, len(ids)))[0]
        for vectors, states_SD in zip(ways, (static_SD, mixed_SD, encoded_SD), strict=True):
            vectors.append((states_SD[at].double().numpy(), one.meaning == "figurative", one.held_out))
    return ways


def read(vectors: Labelled) -> tuple[float, float]:
    """How often ridge regression on seen sentences is right on unseen ones; the mean cosine between the meanings."""
    x, idiom, unseen = (np.array(column) for column in zip(*vectors, strict=True))
    centred = x - x[~unseen].mean(0)
    centred = centred / max(float(np.sqrt((centred[~unseen] ** 2).sum(1).mean())), 1e-9) * math.sqrt(WIDTH)
    sign = np.where(idiom, 1.0, -1.0)
    mean_sign = sign[~unseen].mean()
    square = centred[~unseen].T @ centred[~unseen] + np.eye(x.shape[1])
    weights = np.linalg.solve(square, centred[~unseen].T @ (sign[~unseen] - mean_sign))
    said_idiom = centred[unseen] @ weights + mean_sign > 0
    share = float(np.mean([(said_idiom[idiom[unseen] == label] == label).mean() for label in (True, False)]))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return share, float(unit[idiom].mean(0) @ unit[~idiom].mean(0))


def judge(result: Result) -> Verdict:
    idiom, as_cake, literal = (values.mean((2, 3)) for values in (result.idiom, result.cake, result.literal))
    told = result.told.mean(1)
    gain = idiom[1, 1] - idiom[0, 1]
    languages = ", ".join(f"{name} {value:.0f} %" for name, value in zip(
        ("French", "Hindi"), result.idiom[0, 1].mean(-1), strict=True))  # fmt: skip
    findings = (
        found("Attention without parameters gives *cake* the same vector whatever is meant.", bool(told[1] < TOLD),
              f"By its embedding alone a straight cut is right in {told[0]:.0%} of unseen sentences (chance is 50%); by"
              f" what attention without parameters makes of it, in {told[1]:.0%}; by a trained encoder's vector, in"
              f" {told[2]:.0%} (told apart: {TOLD:.0%})."),
        found("Before it has seen the task, a model without parameters in its attention always says cake.",
              bool(as_cake[0, 0] >= ALWAYS and idiom[0, 0] <= NEVER),
              f"It says {LITERAL[1]} or {LITERAL[2]} in {as_cake[0, 0]:.0f} % of unseen idioms and the idiom in"
              f" {idiom[0, 0]:.0f} % (always: {ALWAYS:.0f} %, never: at most {NEVER:.0f} %). With queries, keys and"
              f" values it says cake in {as_cake[1, 0]:.0f} % and the idiom in {idiom[1, 0]:.0f} %."),
        found("Without parameters in the attention it would never say the idiom.", bool(idiom[0, 1] <= NEVER),
              f"After fine-tuning it says it in {idiom[0, 1]:.0f} % of unseen idioms ({languages}); never is at most"
              f" {NEVER:.0f} %."),
        found("Queries, keys and values that are learnt make the difference.", bool(gain >= BETTER),
              f"With them it is {idiom[1, 1]:.0f} %, without {idiom[0, 1]:.0f} % (a difference: {BETTER:.0f} points)."),
        found("Trained on the task's data, it has both meanings.",
              bool(idiom[1, 0] <= NEVER and idiom[1, 1] >= ALWAYS and literal[1, 1] >= ALWAYS),
              f"With queries, keys and values, unseen idioms go from {idiom[1, 0]:.0f} to {idiom[1, 1]:.0f} % (wanted:"
              f" from at most {NEVER:.0f} to {ALWAYS:.0f}), and {literal[1, 1]:.0f} % of unseen literal sentences are"
              f" exact; without parameters in the attention, {literal[0, 1]:.0f} %."),
    )  # fmt: skip
    return overall(findings, (
        f"Before fine-tuning the model without parameters in its attention says cake in {as_cake[0, 0]:.0f} % of unseen"
        f" idioms, the one with queries, keys and values in {as_cake[1, 0]:.0f} %; after it they say the idiom in"
        f" {idiom[0, 1]:.0f} % and {idiom[1, 1]:.0f} %. What gives the task's meaning is training on the task, wherever"
        " in the network the parameters are."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    rows = [(f"{kind}, {stage}", language, *_spread(result.idiom[k, s, n]), *_spread(result.cake[k, s, n]),
             *_spread(result.literal[k, s, n]))
            for k, kind in enumerate(KINDS) for s, stage in enumerate(STAGES)
            for n, language in enumerate(("French", "Hindi"))]  # fmt: skip
    hearts = [(kind, *map(float, result.by_heart[k].mean(-1))) for k, kind in enumerate(KINDS)]
    vectors = [(name, 100 * float(result.told[v].mean()), float(result.cosine[v].mean()))
               for v, name in enumerate(VECTORS)]  # fmt: skip
    return (
        Table.of(f"Unseen sentences: {result.unseen[0]} idioms, {result.unseen[1]} literal ones; percent", (
            "attention of the encoder", "to", "idiom as idiom", "seeds", "idiom as cake", "seeds", "literal exact",
            "seeds"), rows),
        Table.of(f"What the networks make of “{result.source}”, mistakes and all",
                 ("attention", "when", "French", "Hindi"), result.said),
        Table.of("The vector of *cake*", ("made by", "told apart, %", "cosine, idiom and dessert"), vectors),
        Table.of("Storybook's idiom sentences, all of which fine-tuning has shown: exact after it, %",
                 ("attention of the encoder", "French", "Hindi"), hearts),
    )  # fmt: skip


def _spread(values: np.ndarray) -> tuple[float, str]:
    return float(values.mean()), f"{values.min():.0f} to {values.max():.0f}"


def look(result: Result) -> None:
    """There is no map to open."""
    return None


def draw(result: Result) -> Figure:
    figure, panels = new_figure(2, sharey=True)
    for stage, axes in enumerate(panels):
        for place, values, colour, name in (
            (-0.2, result.cake, ORANGE, "as cake"), (0.2, result.idiom, BLUE, "as idiom")
        ):
            at = np.array([0, 1, 2.5, 3.5]) + place
            shares = values[:, stage].reshape(4, -1)
            axes.bar(at, shares.mean(1), 0.38, color=colour, label=name)
            axes.vlines(at, shares.min(1), shares.max(1), color=INK, linewidth=1.5)
        axes.set_xticks([0, 1, 2.5, 3.5], ["French\nno parameters", "Hindi", "French\nQ, K, V", "Hindi"])
        axes.set_ylim(0, 105)
        axes.set_title(("Idioms before fine-tuning, %", "Idioms after it, %")[stage])
        axes.grid(axis="x", visible=False)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure
