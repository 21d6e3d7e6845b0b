"""Lesson 5: one attention with every number shown, by hand and in the trained model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure as Picture

from ..lens.forcing import decoder_start, encode_source, forced_pass, looking
from .by_hand import Steps, one_head
from .drawing import heatmap, new_figure
from .lesson import Check, Figures, Look, Table
from .workbench import Workbench

# N tokens, D width, E size of one head

SOURCE = "The cat did not cross the street because it was too tired."
PREFIX = "Le chat n'a pas"
LAYER, HEAD = 0, 1
WORDS, SIZE = ("The", "quick", "brown", "fox"), 5  # of the example by hand
EQUAL = 1e-5  # the most that the model's own numbers may differ, in float32
SAME = 1e-12  # and torch's, in float64
ROW = 1e-6  # the most that a row of weights may miss 1
FIRST = 12  # components of the model's long vectors that the page shows; the JSON file has them all


@dataclass(frozen=True)
class Example:
    """The decoder's first self-attention on one text, from embeddings to the residual stream after it."""

    tokens: tuple[str, ...]
    embedding_ND: np.ndarray  # times √D
    position_ND: np.ndarray
    stream_ND: np.ndarray  # their sum
    normed_ND: np.ndarray
    number: int  # of the head that is shown: HEAD, or the last there is
    head: Steps
    joined_ND: np.ndarray  # all heads, concatenated
    projected_ND: np.ndarray
    output_ND: np.ndarray  # the stream with what attention adds


def measure(bench: Workbench) -> Figures:
    rng = bench.seed(4)
    embedding_ND = rng.normal(size=(len(WORDS), SIZE)).round(1)
    matrices = rng.normal(scale=SIZE**-0.5, size=(3, SIZE, SIZE)).round(1)
    hand = one_head(*(embedding_ND @ matrix for matrix in matrices), causal=False)
    torchs = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(matrix)[None] for matrix in (hand.query_NE, hand.key_NE, hand.value_NE)))
    ids = [decoder_start(bench.model), *bench.tokenizer.encode_target(PREFIX, language="fr")[:-1]]
    example = follow(bench.model, ids, [str(token).strip() for token in bench.tokenizer.convert_ids_to_tokens(ids)])
    off = differences(example, own_numbers(bench, ids))
    weight_NN = example.head.weight_NN
    no_value = example.head.value_NE.copy()
    no_value[2] = 0
    without = one_head(example.head.query_NE, example.head.key_NE, no_value, causal=True).mixed_NE
    changed = np.abs(without - example.head.mixed_NE).max(1) > SAME
    return Figures(
        embedding=embedding_ND, matrices=matrices, hand=hand, model=example, off=off, worst=max(off.values()),
        off_torch=np.abs(torchs[0].numpy() - hand.mixed_NE).max(),
        off_alone=np.abs(embedding_ND[2] @ matrices[0] - hand.query_NE[2]).max(), alone=WORDS[2],
        off_row=max(np.abs(steps.weight_NN.sum(1) - 1).max() for steps in (hand, example.head)),
        later=np.triu(weight_NN, 1).sum(), earlier=np.tril(weight_NN, -1).sum(), own=weight_NN.trace(),
        rows=weight_NN.shape, tokens=len(ids), width=example.stream_ND.shape[1], size=example.head.query_NE.shape[1],
        heads=bench.model.config.decoder_attention_heads, token=example.tokens[2],
        takers=[token for token, is_changed in zip(example.tokens, changed, strict=True) if is_changed],
        look=Look(SOURCE, "decoder", LAYER, example.number),
    )  # fmt: skip


def follow(model: Any, ids: list[int], tokens: Sequence[str]) -> Example:
    """The decoder's first self-attention, from the numbers in the file alone."""
    decoder = model.model.decoder
    layer, attention = decoder.layers[LAYER], decoder.layers[LAYER].self_attn
    embedding_ND = numbers(decoder.embed_tokens.weight)[ids] * decoder.embedder.scale
    position_ND = clocks(len(ids), embedding_ND.shape[1])
    stream_ND = embedding_ND + position_ND
    normed_ND = layer_norm(stream_ND, layer.self_attn_layer_norm)
    query_ND, key_ND, value_ND = (
        linear(normed_ND, matrix) for matrix in (attention.q_proj, attention.k_proj, attention.v_proj))
    size = attention.head_dim
    heads = [one_head(*(x_ND[:, h * size : (h + 1) * size] for x_ND in (query_ND, key_ND, value_ND)), causal=True)
             for h in range(attention.num_heads)]
    joined_ND = np.concatenate([head.mixed_NE for head in heads], axis=1)
    projected_ND = linear(joined_ND, attention.out_proj)
    number = min(HEAD, attention.num_heads - 1)
    return Example(tuple(tokens), embedding_ND, position_ND, stream_ND, normed_ND, number, heads[number], joined_ND,
                   projected_ND, stream_ND + projected_ND)


def numbers(tensor: torch.Tensor) -> np.ndarray:
    array: np.ndarray = tensor.detach().double().numpy()
    return array


def clocks(positions: int, width: int) -> np.ndarray:
    """sin and cos of the position at width/2 speeds."""
    speed = 10_000.0 ** (-np.arange(0, width, 2) / width)
    angle = np.arange(positions)[:, None] * speed
    return np.stack((np.sin(angle), np.cos(angle)), axis=-1).reshape(positions, width)


def layer_norm(x_ND: np.ndarray, norm: torch.nn.LayerNorm) -> np.ndarray:
    """Each vector with mean 0 and variance 1, then stretched and shifted as learnt."""
    centred = x_ND - x_ND.mean(1, keepdims=True)
    scaled = centred / np.sqrt(x_ND.var(1, keepdims=True) + norm.eps)
    return scaled * numbers(norm.weight) + numbers(norm.bias)


def linear(x_ND: np.ndarray, layer: torch.nn.Linear) -> np.ndarray:
    """The same matrix and bias for every word."""
    return x_ND @ numbers(layer.weight).T + numbers(layer.bias)


SHOWN = (follow, one_head, clocks, layer_norm, linear)


def own_numbers(bench: Workbench, ids: list[int]) -> dict[str, torch.Tensor]:
    """What the model itself has at these steps while it reads `ids` after the start, read by hooks."""
    layer = bench.model.model.decoder.layers[LAYER]
    kept: dict[str, Any] = {}

    def keep(name: str, *, of_input: bool = False) -> Any:
        def hook(module: torch.nn.Module, args: tuple, out: Any) -> None:
            kept[name] = args[0] if of_input else out

        return hook

    inputs = {"embedding and position": layer.self_attn_layer_norm, "all heads": layer.self_attn.out_proj,
              "output": layer.encoder_attn_layer_norm}
    outputs = {"queries": layer.self_attn.q_proj, "keys": layer.self_attn.k_proj, "values": layer.self_attn.v_proj,
               "attention": layer.self_attn}
    handles = [module.register_forward_hook(keep(name, of_input=of is inputs))
               for of in (inputs, outputs) for name, module in of.items()]
    with looking(bench.model):
        # The pass reads the start and all but the last of what it is given: one more, whichever, is given.
        forced_pass(bench.model, [encode_source(bench.tokenizer, SOURCE)], [[*ids[1:], ids[0]]])
    for handle in handles:
        handle.remove()
    projected, weights = kept.pop("attention")
    return {name: value[0] for name, value in (kept | {"projection": projected, "weights": weights}).items()}


def differences(example: Example, own: dict[str, torch.Tensor]) -> dict[str, float]:
    """The largest difference at each step."""
    size, head = example.head.query_NE.shape[1], example.head
    columns = slice(example.number * size, (example.number + 1) * size)
    mine = {"embedding and position": example.stream_ND, "queries": head.query_NE, "keys": head.key_NE,
            "values": head.value_NE, "weights": head.weight_NN, "all heads": example.joined_ND,
            "projection": example.projected_ND, "output": example.output_ND}
    cropped = {name: own[name][:, columns] for name in ("queries", "keys", "values")}
    cropped["weights"] = own["weights"][example.number]
    return {name: float(np.abs(value - numbers(cropped.get(name, own[name]))).max()) for name, value in mine.items()}


def claims(f: Figures) -> dict[str, list[Check]]:
    return {
        "hand": [Check(f.off_torch, "<", SAME)],
        "model": [Check(f.worst, "<", EQUAL)],
        "matrix": [Check(f.rows[0], "=", f.tokens, "rows"), Check(f.rows[1], "=", f.tokens, "columns")],
        "size": [Check(f.size * f.heads, "=", f.width, "size times heads")],
        "same": [Check(f.off_alone, "<", SAME)],
        "row": [Check(f.off_row, "<", ROW, "distance from 1"), Check(f.later, "=", 0, "weight on later words")],
    }


def tables(f: Figures) -> tuple[Table, ...]:
    def table(caption: str, matrix: np.ndarray, names: Sequence[str], columns: Sequence[str] = (), *, digits: int = 3,
              folded: bool = False) -> Table:  # fmt: skip
        columns = columns or [str(i + 1) for i in range(matrix.shape[1])]
        cells = [(name, *(exact(value, digits) for value in row)) for name, row in zip(names, matrix, strict=True)]
        return Table.of(caption, ("", *columns), cells, folded=folded)

    def wide(caption: str, matrix_ND: np.ndarray) -> Table:
        return table(f"{caption}: the first {FIRST} of {matrix_ND.shape[1]} components", matrix_ND[:, :FIRST],
                     tokens, folded=True)

    hand, model, head, tokens = f.hand, f.model, f.model.head, f.model.tokens
    parts = [str(i + 1) for i in range(SIZE)]
    return (
        table("By hand: the embeddings, 4 × 5", f.embedding, WORDS, digits=1),
        *(table(name, matrix, parts, digits=1) for name, matrix in zip(("W_Q, 5 × 5", "W_K", "W_V"), f.matrices,
                                                                        strict=True)),
        table("Queries: embeddings times W_Q", hand.query_NE, WORDS, digits=2),
        table("Keys: embeddings times W_K", hand.key_NE, WORDS, digits=2),
        table("Values: embeddings times W_V", hand.value_NE, WORDS, digits=2),
        table("Scores: queries times keys", hand.score_NN, WORDS, WORDS, digits=4),
        table("Scores over √5", hand.scaled_NN, WORDS, WORDS, digits=4),
        table("Weights: the softmax of each row", hand.weight_NN, WORDS, WORDS, digits=4),
        table("Output: weights times values", hand.mixed_NE, WORDS, digits=4),
        Table.of("In the model: the largest difference from its own numbers", ("step", "difference"),
                 [(name, f"{value:.1e}") for name, value in f.off.items()]),
        wide("Embeddings, times √d", model.embedding_ND), wide("Positions", model.position_ND),
        wide("Their sum: the residual stream", model.stream_ND), wide("After the layer norm", model.normed_ND),
        table("Queries of the head", head.query_NE, tokens, folded=True),
        table("Keys of the head", head.key_NE, tokens, folded=True),
        table("Values of the head", head.value_NE, tokens, folded=True),
        table("Scores", head.score_NN, tokens, tokens),
        table(f"Scores over √{f.size}, with the mask", head.masked_NN, tokens, tokens),
        table("Weights", head.weight_NN, tokens, tokens),
        table("Weighted sums of the values", head.mixed_NE, tokens, folded=True),
        wide("All heads, concatenated", model.joined_ND), wide("After the projection", model.projected_ND),
        wide("The residual stream, with what attention adds", model.output_ND),
    )  # fmt: skip


def exact(value: float, digits: int) -> str:
    """With this many decimals and a true minus."""
    return "−∞" if math.isinf(value) else f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # no −0


def draw(f: Figures) -> Picture:
    figure, (left, right) = new_figure(2, height=3.6)
    heatmap(left, f.hand.weight_NN, rows=WORDS, columns=WORDS, top=1)
    left.set_title("Weights by hand")
    heatmap(right, f.model.head.weight_NN, rows=f.model.tokens, columns=f.model.tokens, top=1)
    right.set_title(f"Decoder layer {LAYER}, head {f.model.number}")
    return figure
