"""Lesson 16: what a step of the translation asks of the source, and what is left without the source or the prefix."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from ..lens import all_heads, mean_outputs, trace_texts
from ..lens.ablation import ablate
from ..lens.alignment import falls_by_words
from ..lens.by_words import word_map
from ..lens.choices import by_length
from ..lens.forcing import encode_source, encode_target, forced_pass, looking
from ..lens.heads import LEAST, RoleScore, heads_of_roles
from ..lens.kinds import Kind
from ..lens.values import other_values
from ..lens.what_if import WhatIf
from ..tokenizer.words import split_words
from .drawing import BLUE, INK, SOFT, heatmap, new_figure
from .held_out import Share, group_of, halves, measured
from .old import Finding, Look, Table, Verdict, found, overall
from .workbench import Workbench

# B sentences, S source pieces, T decoder steps, D model width, H heads, E size of one head

SENTENCE = "The cat did not cross the street because it was too tired."
PREFIX, NEXT, ASKED = "Le chat n'a pas", "traversé", "cross"
TRANSLATION = "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."

TITLE = "Cross-attention"
CLAIM = ("After *Le chat n'a pas* the decoder needs the English sentence for the next word: its query comes from the"
         " French, keys and values from the English, and it looks at what is to be translated next.")  # fmt: skip
HOW = """The model is forced to the right translation of unseen sentences, and at every step it is counted whether its
first choice is the right piece. Then, on the same sentences, something is taken away.

Keys and values shuffled together: the source's columns come in another order, each key with its own value. Values
shuffled: each head looks where it did, but finds there what belongs to another column. Prefix alone: every head of
cross-attention hands over its mean over other sentences, whatever the source. Source alone: every head of the decoder's
self-attention hands over its mean, and every word already written is replaced by the mean word, so that only its
position is known. Another source: that of another sentence.

The picture shows, for the step that writes *traversé*, how much of every head's attention falls on each English word.
Layers and heads count from 0."""
TRY = ("`seq2see look` at the same sentence with `--view left_out`: how much less probable each French word is without"
       " each English one, which no map of attention shows.")  # fmt: skip

SENTENCES = 240
SAME = 1e-3  # logits: the most that an order which means nothing may change
LEFT = 0.5  # share of the right pieces: less than this left counts as destroyed
BOTH = 0.2  # each source of knowledge alone must be so much worse than both for both to be needed

Condition = Callable[[np.random.Generator, Sequence[int]], AbstractContextManager[Any]]  # of lengths of the sources


@dataclass(frozen=True)
class Step:
    """A step of the example: its word, and how probable it is with source and prefix, and with one of them alone."""

    word: str
    both: float
    source_alone: float
    prefix_alone: float


@dataclass(frozen=True)
class Result:
    words: tuple[str, ...]  # of the English sentence, `</s>` last
    names: tuple[str, ...]  # of the heads, by layer
    weights: np.ndarray  # [heads, words] at the step that writes NEXT
    falls: tuple[float, ...]  # in log-probability of NEXT without each word
    alignment: RoleScore  # of the head that looks most at linked words on half of the sentences, on the other half
    asked: str  # the word that this head looks at most, at this step
    sentences: int
    right: dict[str, Share]  # by condition: share of steps whose first choice is right
    spread: dict[str, tuple[float, float]]  # over seeds, where a condition draws
    reordered: float  # the most that a logit changes with keys and values shuffled together
    wrote: dict[str, str]  # what the model writes of SENTENCE under each condition
    steps: tuple[Step, ...]


@contextmanager
def reordered_source(model: Any, order_BS: torch.Tensor) -> Any:
    """The source's columns in another order: every key keeps its value."""

    def hook(module: Any, args: Any, output: Any) -> Any:
        state_BSD = output.last_hidden_state
        output.last_hidden_state = state_BSD.gather(1, order_BS[..., None].expand_as(state_BSD))
        return output

    handle = model.get_encoder().register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def shuffled_values(model: Any, order_BS: torch.Tensor) -> AbstractContextManager[None]:
    """Every head of cross-attention looks where it did, and finds there the value of another column."""

    def change(site: Any, value_BSHE: torch.Tensor) -> torch.Tensor:
        return value_BSHE.gather(1, order_BS[..., None, None].expand_as(value_BSHE))

    return other_values(model, change, kinds=["cross"])


@contextmanager
def without_words(model: Any, mean_D: torch.Tensor) -> Any:
    """Every word already written is the mean word; its position stays."""
    handle = model.get_decoder().embedder.register_forward_pre_hook(
        lambda module, args: (mean_D.expand_as(args[0]), *args[1:])
    )
    try:
        yield
    finally:
        handle.remove()


SHOWN = (reordered_source, shuffled_values, without_words)


def compute(bench: Workbench) -> Result:
    dev, test = halves(bench)
    test = test[: bench.pick(SENTENCES, 24)]
    sources, targets = _ids(bench, test)
    conditions = _conditions(bench, *_ids(bench, dev[: bench.pick(SENTENCES, 24)]))
    groups = [group_of(i, story) for i, story in enumerate(test)]
    right, spread = {}, {}
    for name, (condition, swapped) in conditions.items():
        bench.say(name)
        read = [*sources[len(sources) // 2 :], *sources[: len(sources) // 2]] if swapped else sources
        found_SN = np.stack([_right(bench, read, targets, condition, bench.seed(seed)) for seed in bench.seeds
                             [: None if "shuffled" in name else 1]])
        right[name] = Share.of(found_SN.mean(0), groups)
        spread[name] = float(found_SN.mean(1).min()), float(found_SN.mean(1).max())
    return Result(**_example(bench), sentences=len(test), right=right, spread=spread,
                  reordered=_reordering(bench, sources[:32], targets[:32]),
                  wrote=_written(bench, conditions), steps=_steps(bench, conditions))


def _ids(bench: Workbench, stories: Sequence[Any]) -> tuple[list[list[int]], list[list[int]]]:
    first = bench.model.generation_config.forced_bos_token_id
    return ([encode_source(bench.tokenizer, story.source) for story in stories],
            [encode_target(bench.tokenizer, story.target, language="fr", first=first) for story in stories])


def _order(rng: np.random.Generator, lengths: Sequence[int]) -> torch.Tensor:
    """For every sentence its columns in a random order, padding last as it was: [B,S]."""
    longest = max(lengths)
    return torch.tensor(np.stack([np.append(rng.permutation(n), np.arange(n, longest)) for n in lengths]))


def _conditions(bench: Workbench, sources: list, targets: list) -> dict[str, tuple[Condition, bool]]:
    """What is done to the model, by name, and whether another sentence's source is read.  Means are over these ids."""
    model = bench.model
    means = mean_outputs(model, sources, targets)
    read = torch.tensor([id for target in targets for id in target[:-1]])
    mean_D = model.get_decoder().embed_tokens(read).mean(0).detach()

    def off(kind: Kind) -> AbstractContextManager[None]:
        return ablate(model, [head for head in all_heads(model) if head.kind == kind], replace="mean", means=means)

    @contextmanager
    def source_alone() -> Any:
        with ExitStack() as stack:
            stack.enter_context(off("decoder"))
            stack.enter_context(without_words(model, mean_D))
            yield

    return {
        "as it is": (lambda rng, lengths: nullcontext(), False),
        "keys and values shuffled together": (lambda rng, n: reordered_source(model, _order(rng, n)), False),
        "values shuffled": (lambda rng, n: shuffled_values(model, _order(rng, n)), False),
        "another source": (lambda rng, n: nullcontext(), True),
        "prefix alone": (lambda rng, n: off("cross"), False),
        "source alone": (lambda rng, n: source_alone(), False),
    }


def _right(
    bench: Workbench, sources: Sequence[list[int]], targets: Sequence[list[int]], condition: Condition,
    rng: np.random.Generator,
) -> np.ndarray:
    """Of each sentence the share of steps, after the tag, whose first choice is the right piece: [N]."""
    found_N = np.empty(len(sources))
    with looking(bench.model, eager=False):
        for rows in by_length(sources, targets):
            with condition(rng, [len(sources[row]) for row in rows]):
                output, target_BT = forced_pass(
                    bench.model, [sources[row] for row in rows], [targets[row] for row in rows]
                )
            hit_BT = (output.logits.argmax(-1) == target_BT)[:, 1:].numpy()
            for b, row in enumerate(rows):
                found_N[row] = hit_BT[b, : len(targets[row]) - 1].mean()
    return found_N


def _reordering(bench: Workbench, sources: list, targets: list) -> float:
    """The largest change of a logit when the source's columns are reordered."""
    with looking(bench.model, eager=False):
        plain = forced_pass(bench.model, sources, targets)[0].logits
        with reordered_source(bench.model, _order(bench.seed(0), [len(source) for source in sources])):
            other = forced_pass(bench.model, sources, targets)[0].logits
    real = torch.tensor([[t < len(target) for t in range(plain.shape[1])] for target in targets])
    return float((plain - other)[real].abs().max())


def _example(bench: Workbench) -> dict[str, Any]:
    """The step of TRANSLATION that writes NEXT: where every head looks, and what each English word is worth to it."""
    [trace] = trace_texts(bench.model, bench.tokenizer, [SENTENCE], [TRANSLATION], source_language="en",
                          target_language="fr", views=["raw", "left_out"])
    number = len(split_words(PREFIX, language="fr"))
    by_words = word_map(trace, "cross")
    row = next(i for i, unit in enumerate(by_words.rows) if unit.word == number)
    heads = [head for head in all_heads(bench.model) if head.kind == "cross"]
    dev, test = measured(bench)
    best = next(one for one in heads_of_roles(dev, test) if one.head.kind == "cross" and one.role == "alignment")
    words = tuple(unit.text for unit in by_words.columns)
    return {
        "words": words, "names": tuple(f"{head.layer}.{head.head}" for head in heads),
        "weights": np.stack([by_words.maps[head.layer, head.head, row] for head in heads]),
        "falls": tuple(map(float, falls_by_words(trace)[number])), "alignment": best,
        "asked": words[int(by_words.maps[best.head.layer, best.head.head, row].argmax())],
    }


def _written(bench: Workbench, conditions: dict[str, tuple[Condition, bool]]) -> dict[str, str]:
    """What greedy search makes of SENTENCE under each condition."""
    what_if = WhatIf(bench.model, bench.tokenizer, "en", "fr", num_beams=1)
    length = [len(encode_source(bench.tokenizer, SENTENCE))]
    return {
        name: what_if.within(SENTENCE, condition(bench.seed(0), length))[1].target_text
        for name, (condition, swapped) in conditions.items() if not swapped
    }


def _steps(bench: Workbench, conditions: dict[str, tuple[Condition, bool]]) -> tuple[Step, ...]:
    """How probable each word of TRANSLATION is under three conditions."""
    columns = []
    for name in ("as it is", "source alone", "prefix alone"):
        with conditions[name][0](bench.seed(0), []):
            [trace] = trace_texts(bench.model, bench.tokenizer, [SENTENCE], [TRANSLATION], target_language="fr")
        columns.append([
            float(np.exp(sum(trace.log_probs[i] for i, piece in enumerate(trace.target) if piece.word == number)))
            for number in range(len(trace.target_words))
        ])
    return tuple(Step(word.text, *values) for word, *values in zip(trace.target_words, *columns, strict=True))


def judge(result: Result) -> Verdict:
    both, removed, source = (result.right[name] for name in ("as it is", "prefix alone", "source alone"))
    shuffled = result.right["values shuffled"]
    needed = both.value - max(removed.high, source.high) >= BOTH
    return overall((
        _asked(result),
        found("The source is a set of keys, each with its value; its order means nothing to cross-attention.",
              result.reordered <= SAME,
              f"With keys and values shuffled together no logit changes by more than {result.reordered:.0e} (allowed:"
              f" {SAME:.0e}). What a decoder knows of English word order the encoder has written into the states."),
        found("What matters is that a head finds the value of the word it looks at.",
              shuffled.high < LEFT * both.low,
              f"With the values shuffled {shuffled} of the pieces are right, with all as it is {both} (destroyed means"
              f" less than {LEFT:.0%} of that is left)."),
        found("Without cross-attention there is no translation.", removed.high < LEFT * both.low,
              f"By the prefix alone {removed} of the pieces are right (destroyed means less than {LEFT:.0%} of"
              f" {both.value:.1%})."),
        found("The source alone does not do either: it takes both.", bool(needed),
              f"By the source alone, with the position, {source} of the pieces are right, by the prefix alone"
              f" {removed.value:.1%}, by both {both.value:.1%} (wanted: {100 * BOTH:.0f} points more than by either)."),
    ), (
        f"On {result.sentences} unseen sentences {both.value:.1%} of the pieces are right by source and prefix,"
        f" {source.value:.1%} by the source alone, {removed.value:.1%} by the prefix alone, {shuffled.value:.1%} with"
        f" the values shuffled. For *{NEXT}* the head that aligns best{result.alignment.taught} looks at"
        f" *{result.asked}*."
    ))


def _asked(result: Result) -> Finding:
    head, costly = result.alignment, result.words[int(np.argmax(result.falls))]
    most = [result.words[column] for column in result.weights.argmax(1)]
    return found(
        f"For *{NEXT}* it looks at *{ASKED}*, and likewise for other words.",
        result.asked == ASKED == costly and head.holds,
        f"The best aligning head ({head.head}){head.taught} looks most at *{result.asked}*, and {most.count(ASKED)} of"
        f" {len(most)} heads do; leaving out *{costly}* costs most, {max(result.falls):.1f} nats. Over"
        f" {head.sentences} sentences that head has {head.score:.0%} ({head.low:.0%} to {head.high:.0%}) of its weight"
        " on words linked to the one that it writes; always looking at the best fixed place would give"
        f" {head.positional or 0:.0%} (wanted: {100 * LEAST:.0f} points more).")


def tables(result: Result) -> tuple[Table, ...]:
    return (
        Table.of("Pieces that are the model's first choice, on unseen sentences; over seeds where something is drawn", (
            "", "right", "lowest and highest seed"), [
                (name, str(share), "–" if "shuffled" not in name else "{:.1%} to {:.1%}".format(*result.spread[name]))
                for name, share in result.right.items()]),
        Table.of(f"What the model then writes for *{SENTENCE}*, mistakes and all", ("", "French"),
                 list(result.wrote.items())),
        Table.of("How probable each word of the right translation is, after the words before it", (
            "", "source and prefix", "source alone", "prefix alone"),
            [(step.word, *(f"{value:.3f}" for value in (step.both, step.source_alone, step.prefix_alone)))
             for step in result.steps]),
    )


def look(result: Result) -> Look:
    """The head that looks most at what is being translated."""
    return Look(SENTENCE, *result.alignment.head)


def draw(result: Result) -> Figure:
    figure, (above, below) = new_figure(1, 2, height=6.4, height_ratios=(3, 2))
    heatmap(above, result.weights, rows=result.names, columns=result.words, top=1.0, numbers=False)
    above.set_title(f"Cross-attention of the step that writes {NEXT}", pad=8)
    above.set_ylabel("layer.head")
    names = list(result.right)[::-1]
    values = np.array([(result.right[name].value, result.right[name].low, result.right[name].high) for name in names])
    below.barh(range(len(names)), values[:, 0], color=[BLUE if name == "as it is" else SOFT for name in names],
               xerr=abs(values[:, 1:] - values[:, :1]).T, ecolor=INK)
    below.set_yticks(range(len(names)), [name.replace("values shuffled to", "values\nshuffled to") for name in names])
    below.set_xlim(0, 1)
    below.set_title("Right pieces, on unseen sentences")
    return figure
