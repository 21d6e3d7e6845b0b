"""Lesson 15: one attention with every number shown, by hand and in the trained model."""

import math
from collections.abc import Sequence

import numpy as np
import torch

from ..lens import trace_texts
from ..lens.questions.arithmetic import arithmetic
from ..passes.hooks import Head
from .by_hand import Steps, one_head
from .figures import head_name, likeness
from .lesson import Check, Checks, Exhibits, Figures, Look, MapPanel, Table, Workbench

# N words, D width, E size of one head

SOURCE, TRANSLATION = "The cat did not cross the street because it was too tired.", "Le chat n'a pas"
WORDS, SIZE = ("The", "quick", "brown", "fox"), 5  # of the example by hand
EQUAL = 1e-5  # the most that the model's own numbers may differ, in float32
SAME = 1e-12  # and torch's, in float64
ROW = 1e-6  # the most that a row of weights may miss 1
SHOWN = (one_head, arithmetic)


def measure(bench: Workbench) -> Figures:
    rng = bench.seed(4)
    embedding_ND = rng.normal(size=(len(WORDS), SIZE)).round(1)
    matrices = rng.normal(scale=SIZE**-0.5, size=(3, SIZE, SIZE)).round(1)
    hand = one_head(*(embedding_ND @ matrix for matrix in matrices), causal=True)
    torchs = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(matrix)[None] for matrix in (hand.query_NE, hand.key_NE, hand.value_NE)), is_causal=True)
    head = min(1, bench.model.config.decoder_attention_heads - 1)
    model, off, tokens = in_the_model(bench, head)
    weight_NN = model.weight_NN
    no_value = model.value_NE.copy()
    no_value[2] = 0
    without = one_head(model.query_NE, model.key_NE, no_value, causal=True).mixed_NE
    changed = np.abs(without - model.mixed_NE).max(1) > SAME
    off_torch = np.abs(torchs[0].numpy() - hand.mixed_NE).max()
    off_alone = np.abs(embedding_ND[2] @ matrices[0] - hand.query_NE[2]).max()
    off_row = max(np.abs(steps.weight_NN.sum(1) - 1).max() for steps in (hand, model))
    return Figures(
        same={"hand": likeness(off_torch, within=SAME), "model": likeness(max(off.values()), within=EQUAL),
              "alone": likeness(off_alone, within=SAME), "row": likeness(off_row, within=ROW)},
        embedding=embedding_ND, matrices=matrices, hand=hand, model=model, off=off, worst=max(off.values()),
        off_torch=off_torch, off_alone=off_alone, off_row=off_row, alone=WORDS[2],
        later=np.triu(weight_NN, 1).sum(), earlier=np.tril(weight_NN, -1).sum(), own=weight_NN.trace(),
        rows=weight_NN.shape, tokens=tokens, count=len(tokens), width=bench.model.config.d_model,
        words=WORDS, size=model.query_NE.shape[1], heads=bench.model.config.decoder_attention_heads, token=tokens[2],
        takers=[token for token, is_changed in zip(tokens, changed, strict=True) if is_changed],
        look=Look(SOURCE, "decoder", 0, head),
    )


def in_the_model(bench: Workbench, head: int) -> tuple[Steps, dict[str, float], list[str]]:
    """A head of the decoder's first self-attention: its numbers computed in float64 from its own queries, keys and
    values, how far the model's are from them at each step, and the tokens."""
    [trace] = trace_texts(bench.model, bench.tokenizer, [SOURCE], [TRANSLATION], target_language="fr")
    tokens = [span.text.strip() for span in trace.column_tokens("decoder")]
    rows = [arithmetic(bench.model, trace, ("decoder", 0, head), row) for row in range(len(tokens))]
    query_NE = np.stack([row.query for row in rows]).astype(float)
    steps = one_head(query_NE, rows[0].keys.astype(float), rows[0].values.astype(float), causal=True)
    differences = {
        "scores": [row.products - computed for row, computed in zip(rows, steps.score_NN, strict=True)],
        "scaled": [(row.scores - computed)[row.allowed] for row, computed in zip(rows, steps.scaled_NN, strict=True)],
        "weights": [row.weights - computed for row, computed in zip(rows, steps.weight_NN, strict=True)],
        "weighted sum": [row.mixed - computed for row, computed in zip(rows, steps.mixed_NE, strict=True)],
    }
    return steps, {name: float(max(np.abs(row).max() for row in of)) for name, of in differences.items()}, tokens


def claims(f: Figures) -> Checks:
    return {
        "hand": [Check(f.off_torch, "<", SAME)],
        "model": [Check(f.worst, "<", EQUAL)],
        "matrix": [Check(f.rows[0], "=", f.count, "rows"), Check(f.rows[1], "=", f.count, "columns")],
        "size": [Check(f.size * f.heads, "=", f.width, "size times heads")],
        "same": [Check(f.off_alone, "<", SAME)],
        "row": [Check(f.off_row, "<", ROW, "distance from 1"), Check(f.later, "=", 0, "weight on later words")],
    }


def exhibits(f: Figures) -> Exhibits:
    def table(caption: str, matrix: np.ndarray, names: Sequence[str], columns: Sequence[str] = (), *, digits: int = 3,
              folded: bool = False) -> Table:
        cells = [(name, *(exact(value, digits) for value in row)) for name, row in zip(names, matrix, strict=True)]
        return Table(caption, ("", *(columns or map(str, range(1, matrix.shape[1] + 1)))), cells, folded=folded)

    hand, model, tokens = f.hand, f.model, f.tokens
    parts = [str(i + 1) for i in range(SIZE)]
    return [
        table("By hand: the embeddings, 4 × 5", f.embedding, WORDS, digits=1),
        *(table(name, matrix, parts, digits=1) for name, matrix in zip(("W_Q, 5 × 5", "W_K", "W_V"), f.matrices,
                                                                        strict=True)),
        table("Queries: embeddings times W_Q", hand.query_NE, WORDS, digits=2),
        table("Keys: embeddings times W_K", hand.key_NE, WORDS, digits=2),
        table("Values: embeddings times W_V", hand.value_NE, WORDS, digits=2),
        table("Scores: queries times keys", hand.score_NN, WORDS, WORDS, digits=4),
        table("Scores over √5, with the mask", hand.masked_NN, WORDS, WORDS, digits=4),
        table("Weights: the softmax of each row", hand.weight_NN, WORDS, WORDS, digits=4),
        table("Output: weights times values", hand.mixed_NE, WORDS, digits=4),
        table("In the model: queries", model.query_NE, tokens, folded=True),
        table("In the model: keys", model.key_NE, tokens, folded=True),
        table("In the model: values", model.value_NE, tokens, folded=True),
        table("In the model: scores", model.score_NN, tokens, tokens),
        table(f"Scores over √{f.size}, with the mask", model.masked_NN, tokens, tokens),
        table("Weights", model.weight_NN, tokens, tokens),
        table("Weighted sums of the values", model.mixed_NE, tokens, folded=True),
        MapPanel("Weights by hand", hand.weight_NN, WORDS, WORDS, top=1),
        MapPanel(head_name(Head(f.look.kind, f.look.layer, f.look.head)).capitalize(), model.weight_NN, tokens, tokens,
            top=1),
    ]


def exact(value: float, digits: int) -> str:
    """With this many decimals and a true minus."""
    return "−∞" if math.isinf(value) else f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # no −0
