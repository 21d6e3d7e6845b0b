"""Lesson 17: how the vector of the last position turns from the word just read into the word to come."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure
from transformers import PreTrainedModel

from ..lens import logit_lens
from ..lens.choices import by_length
from ..lens.forcing import forced_pass, looking
from ..lens.patching import Stack
from ..lens.trace import Trace
from .drawing import BLUE, GREEN, ORANGE, new_figure
from .held_out import Pronouns, Share, group_of, halves, inside, pronouns, turned
from .old import Look, Table, Verdict, Word, found, overall
from .workbench import Workbench

# B sentences, T decoder steps, S source pieces, L decoder layers, D model width, V vocabulary

TITLE = "The last vector"
CLAIM = ("The next word is computed from the last vector alone: it begins as the embedding of the word just read, and"
         " attention adds to it, layer by layer, what the whole sequence has to say.")  # fmt: skip
HOW = """At every step of unseen sentences, forced to the right translation, the state of the newest position is read as
if the model ended there: through the final norm and the output projection (the logit lens). Counted are the steps at
which it then says the word just read, and those at which it says the word to come. Early layers were never trained to
be read so: what they say is a hint.

How much of the last state is owed to what, by contributions (ALTI+), is parted into the piece just read, the pieces
written before it, and the source.

Whether the prediction relies on that one vector is tried on pairs of sentences with different pronouns: the state of
the step that writes *il* or *elle* is replaced by the other sentence's after some decoder layer, or the states of all
earlier steps are, or both. If all is in the last vector, replacing it turns the pronoun, and replacing the others does
nothing."""
TRY = ("`from seq2see.lens import logit_lens`: see for a single sentence what each layer would say, and where a name or"
       " a rare word appears.")  # fmt: skip

EXACT = 1e-4  # logits
BEGINS = 0.9  # share of steps at which the first state says the word just read
OWN = 0.5  # of the last state, the most that may be owed to the piece just read
ENTIRE = 0.5  # of all pieces in sight, how many it takes for 90 % of the last state
MOST = 0.9
RELIES = 0.9  # share of pronouns that the last vector alone must turn
PLACES = ("the last vector", "all earlier vectors", "both")


@dataclass(frozen=True)
class Result:
    sentences: int
    off: float  # the most that logits computed from the last vector alone differ from the model's
    stages: tuple[str, ...]
    read: tuple[Share, ...]  # by stage: steps at which it says the piece just read
    to_come: tuple[Share, ...]  # ... the piece to come
    gains: tuple[Share, ...]  # of the latter, from stage to stage
    owed: dict[str, tuple[Share, ...]]  # to the piece just read, the ones before, the source; after each layer
    in_sight: tuple[Share, ...]  # share of the pieces in sight that 90 % is owed to, after each layer
    turned: dict[str, tuple[Share, ...]]  # of PLACES: pronouns that turn, by decoder layer
    words: tuple[str, ...]  # of one translation: what is to come, by step
    says: tuple[tuple[str, ...], ...]  # and by step and stage what the state says


def from_the_last_vector(model: PreTrainedModel, state_TD: torch.Tensor) -> torch.Tensor:
    """What a state says: a norm and a matrix product, each position for itself."""
    logits_TV: torch.Tensor = model.lm_head(model.get_decoder().layer_norm(state_TD))
    return logits_TV


def owed_to(trace: Trace, layer: int) -> np.ndarray:
    """Shares of each step's state after a layer: of the piece just read, those before it, the source; and how many of
    the pieces in sight it takes for 90 %: [T,4]."""
    S = len(trace.source)
    rows = []
    for t, row in enumerate(trace.origins("contributions")[layer]):
        seen = np.append(row[:S], row[S : S + t + 1])
        needed = int((np.sort(seen)[::-1].cumsum() < MOST * seen.sum()).sum()) + 1
        rows.append((row[S + t], row[S : S + t].sum(), row[:S].sum(), needed / len(seen)))
    return np.array(rows)


SHOWN = (from_the_last_vector, owed_to)


def compute(bench: Workbench) -> Result:
    some = inside(bench)
    groups = [group_of(i, story) for i, story in enumerate(halves(bench)[1][: len(some)])]
    begin, off = _first_states(bench, some)
    lenses = logit_lens(bench.model, bench.tokenizer, some, k=1)
    layers = len(lenses[0].top)
    says = [[first, *([step[0].id for step in layer] for layer in lens.top)]
            for first, lens in zip(begin, lenses, strict=True)]  # by sentence, stage and step: ids
    read = np.array([[_same(stage, [0, *trace.target_ids[:-1]]) for stage in stages]
                     for stages, trace in zip(says, some, strict=True)])
    to_come = np.array([[_same(stage, trace.target_ids) for stage in stages]
                        for stages, trace in zip(says, some, strict=True)])
    owed = np.array([[owed_to(trace, layer)[1:].mean(0) for layer in range(layers)] for trace in some])
    shortest = min(range(len(some)), key=lambda i: abs(len(some[i].target) - 12))
    names = bench.tokenizer.convert_ids_to_tokens
    return Result(
        len(some), off, ("before any layer", *(f"after layer {layer}" for layer in range(layers))),
        tuple(Share.of(column, groups) for column in read.T), tuple(Share.of(column, groups) for column in to_come.T),
        tuple(Share.of(column, groups) for column in np.diff(to_come, axis=1).T),
        {name: tuple(Share.of(owed[:, layer, part], groups) for layer in range(layers))
         for part, name in enumerate(("the piece just read", "the pieces before it", "the source"))},
        tuple(Share.of(owed[:, layer, 3], groups) for layer in range(layers)),
        _turned(bench, pronouns(bench)[1]),
        tuple(piece.text.strip() for piece in some[shortest].target),
        tuple(tuple(str(names(stage[t])).strip() for stage in says[shortest])
              for t in range(len(some[shortest].target))),
    )


def _same(ids: Sequence[int], wanted: Sequence[int]) -> float:
    """The share of steps after the tag's."""
    return float(np.mean([one == other for one, other in zip(ids, wanted, strict=True)][1:]))


def _first_states(bench: Workbench, some: Sequence[Trace]) -> tuple[list[list[int]], float]:
    """Of each trace what the states before the first layer say; how far logits from the last vectors alone are off."""
    model = bench.model
    decoder = model.get_decoder()
    says: list[list[int]] = [[] for _ in some]
    states: list[torch.Tensor] = []
    handles = [decoder.layers[0].register_forward_pre_hook(lambda module, args: states.append(args[0])),
               decoder.layer_norm.register_forward_pre_hook(lambda module, args: states.append(args[0]))]
    off = 0.0
    with looking(model, eager=False), torch.no_grad():
        for rows in by_length([one.source_ids for one in some], [one.target_ids for one in some]):
            states.clear()
            chosen = [some[i] for i in rows]
            output, _ = forced_pass(model, [one.source_ids for one in chosen], [one.target_ids for one in chosen])
            first_BTD, last_BTD = states[:2]
            for b, row in enumerate(rows):
                steps = len(some[row].target)
                says[row] = from_the_last_vector(model, first_BTD[b, :steps]).argmax(-1).tolist()
                for t in range(steps):
                    alone_V = from_the_last_vector(model, last_BTD[b, t])
                    off = max(off, float((alone_V - output.logits[b, t]).abs().max()))
    for handle in handles:
        handle.remove()
    return says, off


def _turned(bench: Workbench, pronoun: Pronouns) -> dict[str, tuple[Share, ...]]:
    own = pronoun.patching.margins()
    last = [len(pronoun.choices[receiver].prefix_ids) for receiver, _ in pronoun.pairs]
    where: dict[str, list[dict[Stack, list[int]]]] = {
        "the last vector": [{"decoder": [t]} for t in last],
        "all earlier vectors": [{"decoder": list(range(t))} for t in last],
        "both": [{"decoder": list(range(t + 1))} for t in last],
    }
    layers = range(bench.model.config.decoder_layers)
    return {name: tuple(turned(pronoun, own, layers=[("decoder", layer)], where=where[name]) for layer in layers)
            for name in PLACES}


def judge(result: Result) -> Verdict:
    last, own = result.to_come[-1], result.owed["the piece just read"][-1]
    climbs = [gain.low > 0 for gain in result.gains]
    alone, earlier = result.turned["the last vector"], result.turned["all earlier vectors"]
    relies: Word = ("holds" if min(share.low for share in alone) >= RELIES else
                    "holds partly" if alone[-1].low >= RELIES else "does not hold here")
    steps = ", ".join(f"{share.value:.0%}" for share in result.to_come)
    entire = own.high < OWN, result.in_sight[-1].low >= ENTIRE
    return overall((
        found("The logits of a step are computed from its last vector alone.", result.off <= EXACT,
              f"Computed from each single vector they differ from the model's by at most {result.off:.0e} (allowed:"
              f" {EXACT:.0e})."),
        found("It begins as the embedding of the word just read.", result.read[0].low >= BEGINS,
              f"Before any layer, position added, it says that very piece at {result.read[0]} of the steps (wanted:"
              f" {BEGINS:.0%})."),
        found("Layer by layer it comes nearer to the word to come.",
              "holds" if all(climbs) else "holds partly" if any(climbs) else "does not hold here",
              f"From stage to stage it says that piece at {steps} of steps (wanted: every gain's interval above 0)."),
        found("In the end it holds something of the entire sequence.",
              "holds" if all(entire) else "holds partly" if any(entire) else "does not hold here",
              f"{own} of it are still owed to the piece just read (wanted: less than {OWN:.0%}), and {MOST:.0%} of it"
              f" to {result.in_sight[-1]} of the pieces in sight, source and prefix (wanted: {ENTIRE:.0%})."),
        found("What is predicted relies on that vector alone, whatever the layer.", relies,
              "Replaced after layer " + ", ".join(f"{layer} it turns {share}" for layer, share in enumerate(alone))
              + f" of the pronouns (wanted: {RELIES:.0%} from the first on; after the last it must, and holds partly)."
              " The earlier vectors turn " + ", ".join(f"{share.value:.0%}" for share in earlier) + "."),
    ), (
        f"Before any layer the last vector says the piece just read at {result.read[0].value:.0%} of the steps, after"
        f" the last layer the piece to come at {last.value:.0%}. By then {own.value:.0%} of it are owed to the piece"
        f" just read. Put in from another sentence after layer 0 it turns {alone[0].value:.0%} of the pronouns, after"
        f" the last {alone[-1].value:.0%}."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    stages = result.stages[1:]
    return (
        Table.of("What the state says, at the steps of unseen sentences", (
            "state", "the piece just read", "the piece to come"),
            [(stage, str(one), str(other)) for stage, one, other in
             zip(result.stages, result.read, result.to_come, strict=True)]),
        Table.of("What the state is owed to", ("state", *result.owed, f"pieces in sight that make {MOST:.0%}"),
                 [(stage, *(f"{shares[i].value:.1%}" for shares in result.owed.values()), str(result.in_sight[i]))
                  for i, stage in enumerate(stages)]),
        Table.of("Pronouns that turn when states are those of the other sentence", ("states", *stages),
                 [(name, *map(str, shares)) for name, shares in result.turned.items()]),
        Table.of("One sentence, step by step: what each state says", ("to come", *result.stages),
                 [(word, *says) for word, says in zip(result.words, result.says, strict=True)]),
    )


def look(result: Result) -> Look:
    """The last layer, which makes the last vectors."""
    return Look("The cat did not cross the street because it was too tired.", "decoder", len(result.in_sight) - 1)


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2, height=3.6)
    stages = range(len(result.stages))
    lines = (("the piece just read", result.read, ORANGE), ("the piece to come", result.to_come, BLUE))
    for name, shares, colour in lines:
        values, low, high = np.array([(one.value, one.low, one.high) for one in shares]).T
        left.plot(stages, values, color=colour, marker="o", label=name)
        left.fill_between(stages, low, high, color=colour, alpha=0.2, linewidth=0)
    left.set_xticks(stages, ["before", *(f"after\nlayer {layer}" for layer in stages[:-1])], fontsize=8)
    left.set_ylim(-0.03, 1.2)
    left.set_yticks(np.linspace(0, 1, 6))
    left.set_title("The last vector says ...")
    left.legend(loc="upper center", fontsize=8)
    bottom = np.zeros(len(stages) - 1)
    for (name, shares), colour in zip(result.owed.items(), (ORANGE, GREEN, BLUE), strict=True):
        values = np.array([share.value for share in shares])
        right.bar(range(len(values)), values, bottom=bottom, color=colour, label=name, width=0.6)
        bottom += values
    right.set_xticks(range(len(bottom)), [f"after\nlayer {layer}" for layer in range(len(bottom))], fontsize=8)
    right.set_ylim(0, 1.32)
    right.set_yticks(np.linspace(0, 1, 6))
    right.set_title("... and is owed to")
    right.legend(loc="upper center", fontsize=8)
    return figure
