"""Lesson 5: one attention with every number shown, by hand and in the trained model."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from ..lens.forcing import decoder_start, encode_source, forced_pass, looking
from .by_hand import Steps, one_head
from .drawing import heatmap, new_figure
from .lesson import Look, Table, Verdict, found, overall
from .workbench import Workbench

TITLE = "A worked example, every number shown"
CLAIM = ("A word becomes a vector, the vector a query, a key and a value; their dot products, scaled and put through"
         " the softmax, are weights, and the weighted sum of values is what attention gives.")  # fmt: skip
HOW = """Once by hand: the four words of *The quick brown fox* with vectors of five components and three matrices of
5 × 5, drawn at random and rounded to one decimal so that a pocket calculator can follow. torch's own attention is given
the same vectors.

Once in the trained model: the first self-attention of its decoder, at work on the beginning of a translation. From the
weights in the file every step is computed anew in numpy, in float64: embedding, position, norm, query, key, value,
scores, mask, softmax, weighted sum, the heads side by side, the projection, and the residual. The model's own numbers
are read out of it while it runs, in float32, and compared. The tables hold one head; the picture shows its weights."""
TRY = ("Run `seq2see lessons 5`: the `lesson-5.json` that it writes holds every number of the example to six digits. Or"
       " change a word in `PREFIX` first.")
SOURCE = "The cat did not cross the street because it was too tired."
PREFIX = "Le chat n'a pas"
LAYER, HEAD = 0, 1

WORDS = ("The", "quick", "brown", "fox")
SIZE = 5
EQUAL = 1e-5  # the most that the model's own numbers may differ
SAME = 1e-12  # and torch's, in float64
ROW = 1e-6  # the most that a row of weights may miss 1
FIRST = 12  # components of the model's long vectors that the page shows; lessons.json has them all


@dataclass(frozen=True)
class Example:
    """Attention of several heads on one sentence, from embeddings to the residual stream after it."""

    pieces: tuple[str, ...]
    embedding_ND: np.ndarray  # times √D
    position_ND: np.ndarray
    stream_ND: np.ndarray  # their sum
    normed_ND: np.ndarray
    number: int  # of the head that is shown: HEAD, or the last there is
    head: Steps
    joined_ND: np.ndarray  # all heads side by side
    projected_ND: np.ndarray
    output_ND: np.ndarray  # the stream with what attention adds


@dataclass(frozen=True)
class Result:
    words: tuple[str, ...]
    embedding_ND: np.ndarray
    query_matrix: np.ndarray
    key_matrix: np.ndarray
    value_matrix: np.ndarray
    by_hand: Steps
    off_torch: float
    source: str
    model: Example
    off: dict[str, float]  # largest difference from the model's own numbers
    off_one_word: float  # queries of one word alone against those of all


def compute(bench: Workbench) -> Result:
    rng = bench.seed(4)
    embedding_ND = rng.normal(size=(len(WORDS), SIZE)).round(1)
    query_DD, key_DD, value_DD = rng.normal(scale=SIZE**-0.5, size=(3, SIZE, SIZE)).round(1)
    steps = one_head(embedding_ND @ query_DD, embedding_ND @ key_DD, embedding_ND @ value_DD, causal=False)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(matrix)[None] for matrix in (steps.query_NE, steps.key_NE, steps.value_NE))
    )
    ids = [decoder_start(bench.model), *bench.tokenizer.encode_target(PREFIX, language="fr")[:-1]]
    pieces = (str(piece).strip() for piece in bench.tokenizer.convert_ids_to_tokens(ids))
    example = follow(bench.model, ids, tuple(pieces))
    alone = embedding_ND[2] @ query_DD
    return Result(
        WORDS, embedding_ND, query_DD, key_DD, value_DD, steps,
        off_torch=float(np.abs(theirs[0].numpy() - steps.mixed_NE).max()), source=SOURCE, model=example,
        off=differences(example, own_numbers(bench, ids)),
        off_one_word=float(np.abs(alone - steps.query_NE[2]).max()),
    )  # fmt: skip


def follow(model: Any, ids: list[int], pieces: tuple[str, ...]) -> Example:
    """The decoder's first self-attention, from the numbers in the file alone."""
    decoder = model.model.decoder
    layer, attention = decoder.layers[LAYER], decoder.layers[LAYER].self_attn
    embedding_ND = numbers(decoder.embed_tokens.weight)[ids] * decoder.embedder.scale
    position_ND = clocks(len(ids), embedding_ND.shape[1])
    stream_ND = embedding_ND + position_ND
    normed_ND = layer_norm(stream_ND, layer.self_attn_layer_norm)
    query_ND, key_ND, value_ND = (
        linear(normed_ND, matrix) for matrix in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    size = attention.head_dim
    heads = [
        one_head(*(x_ND[:, h * size : (h + 1) * size] for x_ND in (query_ND, key_ND, value_ND)), causal=True)
        for h in range(attention.num_heads)
    ]
    joined_ND = np.concatenate([head.mixed_NE for head in heads], axis=1)
    projected_ND = linear(joined_ND, attention.out_proj)
    number = min(HEAD, attention.num_heads - 1)
    return Example(pieces, embedding_ND, position_ND, stream_ND, normed_ND, number, heads[number], joined_ND,
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
    """What the model itself has at these steps while it reads `ids` after the start: read by hooks, cropped to them."""
    layer = bench.model.model.decoder.layers[LAYER]
    kept: dict[str, torch.Tensor] = {}

    def keep(name: str, *, of_input: bool = False) -> Any:
        def hook(module: torch.nn.Module, args: tuple, out: Any) -> None:
            kept[name] = args[0] if of_input else out

        return hook

    handles = [
        layer.self_attn_layer_norm.register_forward_hook(keep("stream", of_input=True)),
        layer.self_attn.q_proj.register_forward_hook(keep("queries")),
        layer.self_attn.k_proj.register_forward_hook(keep("keys")),
        layer.self_attn.v_proj.register_forward_hook(keep("values")),
        layer.self_attn.out_proj.register_forward_hook(keep("joined heads", of_input=True)),
        layer.self_attn.register_forward_hook(keep("attention")),
        layer.encoder_attn_layer_norm.register_forward_hook(keep("output", of_input=True)),
    ]
    with looking(bench.model):
        # The pass reads the start and all but the last of what it is given: one more, whichever, is given.
        forced_pass(bench.model, [encode_source(bench.tokenizer, SOURCE)], [[*ids[1:], ids[0]]])
    for handle in handles:
        handle.remove()
    output_1ND, weight_1HNN = kept.pop("attention")
    return {name: tensor[0] for name, tensor in kept.items()} | {"projected": output_1ND[0], "weights": weight_1HNN[0]}


def differences(example: Example, own: dict[str, torch.Tensor]) -> dict[str, float]:
    """The largest difference at each step."""
    size = example.head.query_NE.shape[1]
    columns = slice(example.number * size, (example.number + 1) * size)
    pairs = {
        "embedding and position": (example.stream_ND, own["stream"]),
        "queries": (example.head.query_NE, own["queries"][:, columns]),
        "keys": (example.head.key_NE, own["keys"][:, columns]),
        "values": (example.head.value_NE, own["values"][:, columns]),
        "weights": (example.head.weight_NN, own["weights"][example.number]),
        "heads side by side": (example.joined_ND, own["joined heads"]),
        "projection": (example.projected_ND, own["projected"]),
        "output": (example.output_ND, own["output"]),
    }
    return {name: float(np.abs(ours - numbers(theirs)).max()) for name, (ours, theirs) in pairs.items()}


def judge(result: Result) -> Verdict:
    off, where = max((value, name) for name, value in result.off.items())
    head, count = result.model.head, len(result.model.pieces)
    width, size = result.model.stream_ND.shape[1], head.query_NE.shape[1]
    sums = max(np.abs(weights.sum(1) - 1).max() for weights in (head.weight_NN, result.by_hand.weight_NN))
    hidden = float(np.triu(head.weight_NN, k=1).max())
    findings = (
        found("The example by hand is what torch computes.", result.off_torch < SAME,
              f"The four output vectors differ by {result.off_torch:.0e} at most (allowed: {SAME:.0e})."),
        found("The steps are what the trained model computes.", off < EQUAL,
              f"At {len(result.off)} places, from the embedding to the residual, the largest difference is {off:.0e},"
              f" at “{where}” (allowed: {EQUAL:.0e})."),
        found("Q Kᵀ has a row and a column for each word, whatever the width.",
              head.score_NN.shape == (count, count) and result.by_hand.score_NN.shape == (len(WORDS),) * 2,
              f"{len(WORDS)} × {len(WORDS)} by hand at d = {SIZE}, {count} × {count} in the model at width {width}."),
        found("The length of query, key and value is set by the model and not by the sentence.", size != count,
              f"{count} pieces, and {size} components in each head: {width} over"
              f" {width // size} head{'s' * (width > size)}."),
        found("Every word goes through the same matrices.", result.off_one_word < SAME,
              f"The query of “{WORDS[2]}” computed alone differs from that computed with the sentence by"
              f" {result.off_one_word:.0e} (allowed: {SAME:.0e})."),
        found("A row of weights sums to 1, and the mask leaves nothing to later words.", sums < ROW and hidden == 0,
              f"Sums are off 1 by {sums:.0e} at most (allowed: {ROW:.0e}); the largest weight on a later word is"
              f" {hidden:.0f}."),
    )  # fmt: skip
    return overall(findings, (
        f"By hand and by torch the results differ by {result.off_torch:.0e}; in the trained model the computation from"
        f" the weights in the file and the model's own numbers differ by {off:.0e} at most (allowed: {EQUAL:.0e})."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    hand, model, head = result.by_hand, result.model, result.model.head
    width = [str(i + 1) for i in range(SIZE)]

    def rows(caption: str, matrix: np.ndarray, names: tuple[str, ...], columns: list[str] | tuple[str, ...],
             *, digits: int = 3, folded: bool = False) -> Table:
        cells = [(name, *(exact(value, digits) for value in row)) for name, row in zip(names, matrix, strict=True)]
        return Table.of(caption, ("", *columns), cells, folded=folded)

    parts = tuple(width)
    by_hand = (
        rows("By hand: the embeddings, 4 × 5", result.embedding_ND, WORDS, width, digits=1),
        rows("W_Q, 5 × 5", result.query_matrix, parts, width, digits=1),
        rows("W_K", result.key_matrix, parts, width, digits=1),
        rows("W_V", result.value_matrix, parts, width, digits=1),
        rows("Queries: embeddings times W_Q", hand.query_NE, WORDS, width, digits=2),
        rows("Keys: embeddings times W_K", hand.key_NE, WORDS, width, digits=2),
        rows("Values: embeddings times W_V", hand.value_NE, WORDS, width, digits=2),
        rows("Scores: queries times keys", hand.score_NN, WORDS, WORDS, digits=4),
        rows("Scores over √5", hand.scaled_NN, WORDS, WORDS, digits=4),
        rows("Weights: the softmax of each row", hand.weight_NN, WORDS, WORDS, digits=4),
        rows("Output: weights times values", hand.mixed_NE, WORDS, width, digits=4),
    )
    narrow = [str(i + 1) for i in range(head.query_NE.shape[1])]

    def wide(caption: str, matrix_ND: np.ndarray) -> Table:
        return rows(f"{caption}: the first {FIRST} of {matrix_ND.shape[1]} components", matrix_ND[:, :FIRST],
                    model.pieces, [str(i + 1) for i in range(FIRST)], folded=True)

    return by_hand + (
        Table.of("In the model: the largest difference from its own numbers", ("step", "difference"),
                 [(name, f"{value:.1e}") for name, value in result.off.items()]),
        wide("Embeddings, times √d", model.embedding_ND),
        wide("Positions", model.position_ND),
        wide("Their sum: the stream", model.stream_ND),
        wide("After the norm", model.normed_ND),
        rows("Queries of the head", head.query_NE, model.pieces, narrow, folded=True),
        rows("Keys of the head", head.key_NE, model.pieces, narrow, folded=True),
        rows("Values of the head", head.value_NE, model.pieces, narrow, folded=True),
        rows("Scores", head.score_NN, model.pieces, model.pieces),
        rows(f"Scores over √{head.query_NE.shape[1]}, with the mask", head.masked_NN, model.pieces, model.pieces),
        rows("Weights", head.weight_NN, model.pieces, model.pieces),
        rows("Weighted sums of the values", head.mixed_NE, model.pieces, narrow, folded=True),
        wide("All heads side by side", model.joined_ND),
        wide("After the projection", model.projected_ND),
        wide("The stream, with what attention adds", model.output_ND),
    )  # fmt: skip


def exact(value: float, digits: int) -> str:
    """So many decimals, and a sign that is a minus."""
    return "−∞" if math.isinf(value) else f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # no −0


def look(result: Result) -> Look:
    """The head that was followed."""
    return Look(result.source, "decoder", LAYER, result.model.number)


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2, height=3.6)
    heatmap(left, result.by_hand.weight_NN, rows=WORDS, columns=WORDS, top=1)
    left.set_title("Weights by hand")
    heatmap(right, result.model.head.weight_NN, rows=result.model.pieces, columns=result.model.pieces, top=1)
    right.set_title(f"Decoder layer {LAYER}, head {result.model.number}")
    return figure
