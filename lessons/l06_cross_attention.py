"""Lesson 6: what a step of the translation asks of the source, and what is left without the source or the prefix."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import torch

from ..lens import all_heads, mean_outputs, trace_texts
from ..lens.changes.interventions import ablate
from ..lens.data.word_maps import word_map
from ..lens.heads.alignment_choice import drops_by_words
from ..lens.heads.role_scores import heads_of_roles
from ..passes.attention_kinds import Kind
from ..passes.batches import by_length
from ..passes.forced_pass import eval_mode, forced_pass
from ..passes.hooks import other_values, replaced
from ..tokenizer.words import split_words
from .figures import layer_name
from .held_out import groups, ids_of, measured, named, role_checks, traces
from .lesson import (
    SENTENCE,
    TRANSLATION,
    Bars,
    Check,
    Checks,
    Estimate,
    Exhibits,
    Figures,
    Look,
    MapPanel,
    Table,
    Workbench,
)

# B sentences, S source tokens, T decoder steps, D model width, H heads, E size of one head

PREFIX, NEXT, ASKED = "Le chat n'a pas", "traversé", "cross"
SENTENCES = 240
LEFT = 0.5  # share of the correct tokens: less than this left counts as destroyed
BOTH = 0.2  # each source of knowledge alone must be so much worse than both for both to be needed
WHOLE, SHUFFLED, PREFIX_ALONE, SOURCE_ALONE = "unchanged", "values shuffled", "prefix alone", "source alone"

Condition = Callable[[np.random.Generator, Sequence[int]], AbstractContextManager[Any]]  # of lengths of the sources


def shuffled_values(model: Any, order_BS: torch.Tensor) -> AbstractContextManager[None]:
    """Every cross-attention head keeps its weights, but each column has the value of another column."""

    def change(site: Any, value_BSHE: torch.Tensor) -> torch.Tensor:
        return value_BSHE.gather(1, order_BS[..., None, None].expand_as(value_BSHE))

    return other_values(model, change, kinds=["cross"])


@contextmanager
def source_alone(model: Any, off: AbstractContextManager[None], mean_D: torch.Tensor) -> Iterator[None]:
    """Self-attention is off, and the mean word replaces every word already written. Positions stay."""
    with off, replaced([(model.get_decoder().embedder, "in", mean_D.expand_as)]):
        yield


SHOWN = (shuffled_values, source_alone)


def measure(bench: Workbench) -> Figures:
    dev, test = (ids_of(half[: bench.pick(SENTENCES, 24)]) for half in traces(bench))
    conditions = all_conditions(bench, *dev)
    right = {}
    for name, condition in conditions.items():
        bench.report_progress(name)
        seeds = bench.seeds[: None if name == SHUFFLED else 1]
        found_SN = np.stack([correct(bench, *test, condition, bench.seed(seed)) for seed in seeds])
        right[name] = Estimate.of(found_SN.mean(0), groups(bench)[: found_SN.shape[1]])
    alone = max(right[PREFIX_ALONE].high, right[SOURCE_ALONE].high)
    return Figures(
        **one_step(bench), next=NEXT, wanted=ASKED, sentences=len(test[0]), right=right,
        gain=right[WHOLE].value - alone,
        destroyed={name: right[name].high / right[WHOLE].low for name in (SHUFFLED, PREFIX_ALONE)},
    )


def random_order(rng: np.random.Generator, lengths: Sequence[int]) -> torch.Tensor:
    """For every sentence its columns in a random order, padding last as it was: [B,S]."""
    longest = max(lengths)
    return torch.tensor(np.stack([np.append(rng.permutation(n), np.arange(n, longest)) for n in lengths]))


def all_conditions(bench: Workbench, sources: list, targets: list) -> dict[str, Condition]:
    """What is done to the model, by name.  Means are over these ids."""
    model = bench.model
    means = mean_outputs(model, sources, targets)
    written = torch.tensor([id for target in targets for id in target[:-1]])
    mean_D = model.get_decoder().embed_tokens(written).mean(0).detach()

    def off(kind: Kind) -> AbstractContextManager[None]:
        return ablate(model, [head for head in all_heads(model) if head.kind == kind], replace="mean", means=means)

    return {
        WHOLE: lambda rng, lengths: nullcontext(),
        SHUFFLED: lambda rng, lengths: shuffled_values(model, random_order(rng, lengths)),
        PREFIX_ALONE: lambda rng, lengths: off("cross"),
        SOURCE_ALONE: lambda rng, lengths: source_alone(model, off("decoder"), mean_D),
    }


def correct(bench: Workbench, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], condition: Condition,
            rng: np.random.Generator) -> np.ndarray:
    """For each sentence, the share of steps after the tag whose first choice is the correct token: [N]."""
    found_N = np.empty(len(sources))
    with eval_mode(bench.model):
        for rows in by_length(sources, targets):
            with condition(rng, [len(sources[row]) for row in rows]):
                output, target_BT = forced_pass(bench.model, [sources[row] for row in rows],
                                                [targets[row] for row in rows])
            hit_BT = (output.logits.argmax(-1) == target_BT)[:, 1:].numpy()
            for b, row in enumerate(rows):
                found_N[row] = hit_BT[b, : len(targets[row]) - 1].mean()
    return found_N


def one_step(bench: Workbench) -> dict[str, Any]:
    """The step of TRANSLATION that writes NEXT: where every head looks, and the effect of each English word on it."""
    [trace] = trace_texts(bench.model, bench.tokenizer, [SENTENCE], [TRANSLATION], source_language="en",
                          target_language="fr", views=["raw", "left_out"])
    number = len(split_words(PREFIX, language="fr"))
    by_words = word_map(trace, "cross")
    row = next(i for i, unit in enumerate(by_words.rows) if unit.word == number)
    heads = [head for head in all_heads(bench.model) if head.kind == "cross"]
    best = next(one for one in heads_of_roles(*measured(bench)) if one.head.kind == "cross" and one.role == "alignment")
    words = [unit.text for unit in by_words.columns]
    weights = np.stack([by_words.maps[head.layer, head.head, row] for head in heads])
    drops = drops_by_words(trace)[number]
    most = [words[column] for column in weights.argmax(1)]
    return {
        "words": words, "weights": weights,
        "names": [f"{layer_name(head.layer)}, head {head.head + 1}" for head in heads],
        "alignment": best, "said": named(best), "asked": most[heads.index(best.head)], "many": most.count(ASKED),
        "heads": len(heads), "costly": words[int(np.argmax(drops))], "fall": float(max(drops)),
        "look": Look(SENTENCE, *best.head),
    }


def claims(f: Figures) -> Checks:
    return {
        "asks": [Check(float(f.asked == ASKED), "=", 1, "the head looks at the word (1: yes)"),
                 Check(float(f.costly == ASKED), "=", 1, "removing this word costs most (1: yes)"),
                 *role_checks(f.alignment)],
        "values": [Check(f.destroyed[SHUFFLED], "<", LEFT, "share of right tokens that is left")],
        "source": [Check(f.destroyed[PREFIX_ALONE], "<", LEFT, "share of right tokens that is left")],
        "both": [Check(f.gain, "≥", BOTH, "gain over the better single source")],
    }


def exhibits(f: Figures) -> Exhibits:
    return [
        Table("Tokens that are the model's first choice, on unseen sentences", ("", "correct"),
              [(name, f"{share:.1%}") for name, share in f.right.items()]),
        MapPanel(f"Cross-attention of the step that writes {NEXT}", f.weights, f.names, f.words, top=1.0, wide=True),
        Bars("Correct tokens, on unseen sentences", list(f.right), {"": list(f.right.values())}, top=1, wide=True),
    ]
