"""Lesson 13: attention sees a set of words; positions make a sentence of it."""

import copy
import math

import numpy as np
import torch
from transformers import PreTrainedModel

from ..measures.gold import in_halves
from ..modeling.positions import sinusoids
from ..storybook import StoryPair
from ..tokenizer.encoding import encode_source, encode_target
from .figures import layer_name, likeness
from .lesson import Bars, Check, Checks, Exhibits, Figures, Look, MapPanel, Table, Workbench
from .small import Recipe, compare, task_of

# P positions, D width, E half of it, L layers

SAME = 1e-4  # share of a vector's length that is rounding
MOVED = 0.01  # share that is a difference
WORSE = 0.5  # of exact translations
ROUNDING = 1e-5
READ_OFF = 0.8  # R² of positions read off the encoder's output
DRAWN = 24  # positions of the picture
NAMES = ("with positions", "without")


def measure(bench: Workbench) -> Figures:
    model, blind = bench.model, without_positions(bench.model)
    moves = np.array([[shuffled(one, bench, story, number) for number, story in enumerate(
        bench.corpus.test[: bench.pick(20, 6)])] for one in (model, blind)]).mean(1)
    trained = list(compare(bench, placed=Recipe(), blind=Recipe(positions=False)).values())
    exact = [one.exact for one in trained]
    width = model.config.d_model
    table_PD = sinusoids(512, width).double().numpy()
    distance, shift = by_distance(table_PD), shift_error(table_PD)
    twins = [twin_distance(one, bench) for one in (model, blind)]
    bench.seed(0)
    return Figures(
        same={"states": likeness(moves[1, 0], within=SAME), "chances": likeness(moves[1, 1], within=SAME),
              "first": likeness(moves[1, 2], within=SAME), "distance": likeness(distance, within=ROUNDING),
              "shift": likeness(shift, within=ROUNDING), "twins": likeness(twins[1], within=SAME)},
        encoder=moves[:, 0], output=moves[1, 1], decoder=moves[:, 2:], first=moves[1, 2], last=moves[1, -1],
        exact=exact, worse=exact[1].value / (exact[0].value or math.nan), source=task_of(bench).test[0].source,
        written=[one.sample for one in trained], distance=distance, shift=shift,
        dots=(table_PD @ table_PD.T)[:DRAWN, :DRAWN] / (width / 2),
        read=[max(0.0, read_off(one, bench)) for one in (model, blind, type(model)(model.config).eval())],
        twins=twins,
        look=Look("The goat chased the wolf.", "encoder"),
    )


def without_positions(model: PreTrainedModel) -> PreTrainedModel:
    """A copy whose positions are all zero."""
    blind = copy.deepcopy(model)
    for side in (blind.model.encoder, blind.model.decoder):
        side.embedder.positions.table_PD.zero_()
    return blind


@torch.no_grad()
def shuffled(model: PreTrainedModel, bench: Workbench, story: StoryPair, number: int) -> list[float]:
    """How far the encoder's states move, the decoder's probabilities, and its last state after each layer."""
    source = torch.tensor([encode_source(bench.tokenizer, story.source)])
    target = torch.tensor([[1, *encode_target(bench.tokenizer, story.target, language="fr", first=None)[:-1]]])
    rng = bench.seed(number)
    order = torch.from_numpy(rng.permutation(source.shape[1]))
    memory, mixed = (model.model.encoder(input_ids=ids).last_hidden_state for ids in (source, source[:, order]))
    moved = float((memory[:, order] - mixed).norm() / memory.norm())
    before, after = (model(encoder_outputs=(states,), decoder_input_ids=target).logits.softmax(-1)
                     for states in (memory, mixed))
    prefix = torch.cat([torch.from_numpy(rng.permutation(target.shape[1] - 1)), torch.tensor([target.shape[1] - 1])])
    layers = [model.model.decoder(input_ids=ids, encoder_hidden_states=memory, output_hidden_states=True).hidden_states
              for ids in (target, target[:, prefix])]
    last = [float((a[0, -1] - b[0, -1]).norm() / a[0, -1].norm()) for a, b in zip(*layers, strict=True)]
    return [moved, float((before - after).abs().max()), *last[1:]]


def by_distance(table_PD: np.ndarray) -> float:
    """The largest difference of dot products at one distance, as a share of a position's squared length."""
    dots_PP = table_PD @ table_PD.T
    spread = max(float(np.ptp(np.diagonal(dots_PP, offset))) for offset in range(len(dots_PP) - 1))
    return spread / float(dots_PP[0, 0])


def shift_error(table_PD: np.ndarray, by: int = 5) -> float:
    """The largest error if one rotation moves every position on `by` positions."""
    angle_E = by / 10_000.0 ** (np.arange(0, table_PD.shape[1], 2) / table_PD.shape[1])
    sine_PE, cosine_PE = table_PD[:-by, 0::2], table_PD[:-by, 1::2]
    moved_PD = np.empty_like(table_PD[by:])
    moved_PD[:, 0::2] = sine_PE * np.cos(angle_E) + cosine_PE * np.sin(angle_E)
    moved_PD[:, 1::2] = cosine_PE * np.cos(angle_E) - sine_PE * np.sin(angle_E)
    return float(np.abs(moved_PD - table_PD[by:]).max())


SHOWN = (without_positions, by_distance, shift_error)


@torch.no_grad()
def read_off(model: PreTrainedModel, bench: Workbench) -> float:
    """R² of the position, read by ridge regression off the encoder's output, on sentences it was not fitted on."""
    halves = [[model.model.encoder(input_ids=torch.tensor([encode_source(bench.tokenizer, story.source)]))
               .last_hidden_state[0, :-1].double().numpy() for story in half]
              for half in in_halves(bench.corpus.test, bench.pick(100, 6))]
    (x, y), (x_test, y_test) = ((np.concatenate([np.c_[part, np.ones(len(part))] for part in half]),
                                 np.concatenate([np.arange(len(part)) for part in half])) for half in halves)
    weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y)
    return float(1 - ((x_test @ weights - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum())


@torch.no_grad()
def twin_distance(model: PreTrainedModel, bench: Workbench) -> float:
    """How far the encoder's states of two equal tokens are apart, in shares of their length."""
    distances = []
    for story in bench.corpus.test[: bench.pick(120, 8)]:
        ids = encode_source(bench.tokenizer, story.source)
        twins = next(([i for i, other in enumerate(ids) if other == one] for one in ids if ids.count(one) > 1), None)
        if twins:
            first, second = model.model.encoder(input_ids=torch.tensor([ids])).last_hidden_state[0, twins[:2]]
            distances.append(float((first - second).norm() / first.norm()))
    return float(np.mean(distances)) if distances else math.nan


def claims(f: Figures) -> Checks:
    return {
        "set": [Check(f.encoder[0], ">", MOVED, "encoder states move by"),
                Check(f.encoder[1], "<", SAME, "without positions by"),
                Check(f.output, "<", SAME, "without positions, probabilities move by")],
        "decoder": [Check(f.first, "<", SAME, "after the first layer"),
                    Check(f.last, ">", MOVED, "after the last layer")],
        "trained": [Check(f.worse, "<", WORSE, "ratio to the exact translations with positions")],
        "sinusoid": [Check(f.distance, "<", ROUNDING, "spread of the dot products at one distance"),
                     Check(f.shift, "<", ROUNDING, "error of the rotation")],
        "read": [Check(f.read[0], ">", READ_OFF)],
        "twins": [Check(f.twins[0], ">", MOVED, "with positions"), Check(f.twins[1], "<", SAME, "without positions")],
    }


def exhibits(f: Figures) -> Exhibits:
    ticks = [str(place) if place % 4 == 0 else "" for place in range(DRAWN)]
    layers = range(f.decoder.shape[1])
    return [
        Table(f"A small model’s translations of unseen sentences, such as *{f.source}*",
              ("", "exact", "translation"), list(zip(NAMES, f.exact, f.written, strict=True))),
        Table("How far the decoder's last state moves when the tokens before it are shuffled", ("", *NAMES),
              [(f"after {layer_name(layer)}", *f.decoder[:, layer]) for layer in layers]),
        MapPanel("Dot products of positions", f.dots, ticks, ticks, top=1.0),
        Bars("State moved by shuffling", list(map(layer_name, layers)),
             dict(zip(NAMES, f.decoder, strict=True))),
    ]
