"""Slips of the study notes, each shown by a computation that decides whether the sentence can stand."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from ..lens.forcing import decoder_start, encode_source, looking
from .by_hand import one_head
from .l03_scaling import NOTED_SCALED, NOTED_WEIGHTS, ROUNDED, softmax
from .l05_worked_example import PREFIX, Example, follow, layer_norm, linear, numbers
from .lesson import Table
from .workbench import Workbench

SOURCE = "The box did not fit in the bag because it was too big."
EXACT = 1e-12


@dataclass(frozen=True)
class Erratum:
    """A sentence of the notes, what is so instead, and the figures by which it was decided."""

    title: str
    note: str
    instead: str
    stands: bool
    why: str
    table: Table


def hidden_tokens(bench: Workbench) -> Erratum:
    weight_NN = example(bench).head.weight_NN
    later, older = (float(part.sum()) for part in (np.triu(weight_NN, k=1), np.tril(weight_NN, k=-1)))
    own = float(weight_NN.trace())
    return Erratum(
        "Which tokens the mask hides",
        "“[Masking] is done by setting the entries of the older tokens to -infinity.”",
        "The later ones. A word may look back, and not ahead at what it is to predict.",
        stands=older == 0 and later > 0,
        why=f"In one decoder head at work on {len(weight_NN)} tokens the weights on later tokens sum to {later:.0f}, on"
            f" older ones to {older:.2f}, on the token itself to {own:.2f}.",
        table=Table.of("Sum of the weights", ("later", "older", "itself"), [(later, older, own)]),
    )  # fmt: skip


def where_a_value_goes(bench: Workbench) -> Erratum:
    head = example(bench).head
    without = head.value_NE.copy()
    without[2] = 0  # the third word hands over nothing
    changed_N = np.abs(one_head(head.query_NE, head.key_NE, without, causal=True).mixed_NE - head.mixed_NE).max(1)
    words = [word for word, change in zip(example(bench).pieces, changed_N, strict=True) if change > EXACT]
    return Erratum(
        "What a value is added to",
        "“Value matrix W_v is multiplied by the embedding of a word, and this is added to the embedding of the next"
        " word.”",
        "To every word that looks at it, itself among them, times the weight with which it looks.",
        stands=len(words) == 1,
        why=f"With the value of “{example(bench).pieces[2]}” taken away {len(words)} words change: {', '.join(words)}.",
        table=Table.of("Largest change of what a word receives", example(bench).pieces, [changed_N.tolist()]),
    )


def sum_of_three(bench: Workbench) -> Erratum:
    rng = bench.seed(0)
    query_DD, key_DD, value_DD = rng.normal(size=(3, 4, 4))
    one, other = rng.normal(size=(2, 3, 4))
    other[0] = one[0]  # the same first word, money, in another sentence
    sums = [x_ND[0] @ (query_DD + key_DD + value_DD) for x_ND in (one, other)]
    mixed = [one_head(x_ND @ query_DD, x_ND @ key_DD, x_ND @ value_DD, causal=False).mixed_NE[0]
             for x_ND in (one, other)]
    moved, attended = float(np.abs(sums[0] - sums[1]).max()), float(np.abs(mixed[0] - mixed[1]).max())
    return Erratum(
        "Money = Q + K + V",
        "“Money = ( Qmoney + Kmoney + Vmoney )”",
        "Query, key and value are not parts of a sum. The new vector of *money* is w₁ V_money + w₂ V_bank + w₃ V_grows;"
        " queries and keys only make the weights.",
        stands=moved > EXACT,
        why=f"In a sentence with other neighbours Q + K + V of the first word changes by {moved:.0f}: it knows nothing"
            f" of them. Its attention changes by {attended:.2f}.",
        table=Table.of("Largest change in another sentence", ("Q + K + V", "attention"), [(moved, attended)]),
    )  # fmt: skip


def per_cent(bench: Workbench) -> Erratum:
    weights = np.array([0.2, 0.7, 0.1])
    bank, money = np.array([0.6, 0.2, 0.1, 0.7]), np.array([0.9, 0.1, 0.0, 0.3])
    two = [money, bank]
    short, long = (softmax(np.array([bank @ word for word in words]))[0] for words in (two, [*two, bank]))
    return Erratum(
        "0.2 per cent",
        "“‘Bank’ is 0.2 per cent similar to the word ‘Money’.”",
        "A weight of 0.2 is 20 per cent. And it is no similarity but a share: it changes with the other words of the"
        " sentence.",
        stands=abs(weights.sum() - 0.01) < EXACT,
        why=f"The three weights sum to {weights.sum():.0f}; as per cents they would have to sum to 0.01. A second"
            f" *bank* in the sentence takes the weight of *money* from {short:.3f} to {long:.3f}; their dot product"
            f" stays {bank @ money:.2f}.",
        table=Table.of("Weight that *bank* gives to *money*", ("two words", "three words"), [(short, long)]),
    )  # fmt: skip


def cached_encoder(bench: Workbench) -> Erratum:
    seen: dict[str, list[int]] = {"encoder": [], "decoder": []}
    model = bench.model.model
    handles = [
        stack.layers[0].self_attn.k_proj.register_forward_hook(
            lambda module, args, out, name=name: seen[name].append(out.shape[1]))
        for name, stack in (("encoder", model.encoder), ("decoder", model.decoder))
    ]  # fmt: skip
    source = torch.tensor([encode_source(bench.tokenizer, SOURCE)])
    with looking(bench.model, eager=False):
        bench.model.generate(source, num_beams=1, do_sample=False, max_length=13)
    for handle in handles:
        handle.remove()
    encoder, decoder = seen["encoder"], seen["decoder"]
    return Erratum(
        "Caching and the encoder",
        "“This happens parallely for all words. KV-caching is used to speed up the process.”",
        "Either the one or the other. Where all words are there at once, in the encoder and in training, nothing is"
        " computed twice and there is nothing to keep. A cache helps the decoder, which writes word after word.",
        stands=len(encoder) > 1,
        why=f"Calls of the first layer's key projection while {len(decoder)} pieces were written: {len(encoder)} in the"
            f" encoder, for {encoder[0]} pieces at once; {len(decoder)} in the decoder, for {max(decoder)} at most.",
        table=Table.of("Calls of the first layer's key projection", ("", "calls", "pieces a call"),
                       [("encoder", len(encoder), encoder[0]), ("decoder", len(decoder), max(decoder))]),
    )  # fmt: skip


def one_key(bench: Workbench) -> Erratum:
    words, x_ND = encoder_input(bench)
    attention = bench.model.model.encoder.layers[0].self_attn
    query_ND, key_ND = linear(x_ND, attention.q_proj), linear(x_ND, attention.k_proj)
    size, box = attention.head_dim, 1
    rows = []
    for looker in (words.index("it"), len(words) - 3):  # and the piece before the full stop
        pair = [x_ND[[box, looker]]]  # the two alone: nothing else is there to shape the key
        key_D = linear(pair[0], attention.k_proj)[0]
        rows.append((words[looker], float(query_ND[looker, :size] @ key_ND[box, :size] / size**0.5),
                     float(np.abs(key_D - key_ND[box]).max())))
    scores, moved = [row[1] for row in rows], max(row[2] for row in rows)
    return Erratum(
        "Whether a key depends on who looks",
        "“Each word plays a different role depending on who is looking at it.” (Of *trophy*, looked at by *it* and by"
        " *big*, as a reason for keys.)",
        "In one head a word has one key, the same for all who look. What differs is the query that meets it; for other"
        " roles there are other heads.",
        stands=moved > EXACT,
        why=f"Whoever looks, the key of “{words[box]}” is off by {moved:.0e}; the scores of “{rows[0][0]}” and"
            f" “{rows[1][0]}” against it are {scores[0]:.2f} and {scores[1]:.2f}.",
        table=Table.of(f"One head, looking at “{words[box]}”", ("who looks", "score", "change of the key"), rows),
    )


def softmax_row(bench: Workbench) -> Erratum:
    weights = softmax(np.array(NOTED_SCALED))
    off = float(np.abs(weights - NOTED_WEIGHTS).max())
    # In a softmax the ratio of two weights is exp of the difference of their scores.
    neighbours = zip(pairwise(NOTED_SCALED), pairwise(NOTED_WEIGHTS), strict=True)
    gaps = [(a - b, np.log(p / q)) for (a, b), (p, q) in neighbours]
    return Erratum(
        "The softmax row that does not follow from its scores",
        "“After scaling we get [2.1, 0.05, 0.25, 1.25, −0.75]; after applying softmax [0.45, 0.1, 0.15, 0.2, 0.1].”",
        f"[{', '.join(f'{weight:.3f}' for weight in weights)}].",
        stands=off < ROUNDED,
        why=f"The noted weights are off by up to {off:.3f}, and the scores that would give them lie apart otherwise"
            f" than the noted ones: {gaps[0][0]:.2f} between the first two, where the weights want {gaps[0][1]:.2f}.",
        table=Table.of("Neighbouring scores", ("difference", "wanted by the noted weights"), gaps),
    )


def values_and_weights(bench: Workbench) -> Erratum:
    head = example(bench).head
    random_NE = bench.seed(0).normal(size=head.value_NE.shape)
    other = one_head(head.query_NE, head.key_NE, random_NE, causal=True)
    moved = float(np.abs(other.weight_NN - head.weight_NN).max())
    mixed = float(np.abs(other.mixed_NE - head.mixed_NE).max())
    return Erratum(
        "Whether values decide who is attended to",
        "“Only similar keys with similar values will be attended to”; values are “the content that we want to"
        " consider when determining the importance of words”.",
        "Queries and keys alone make the weights. The value is what is handed over, and has no say.",
        stands=moved > 0,
        why=f"With random values in place of its own the weights of a head change by {moved:.0f}, what it gives by up"
            f" to {mixed:.2f}.",
        table=Table.of("Largest change with random values", ("weights", "output"), [(moved, mixed)]),
    )


def what_a_head_reads(bench: Workbench) -> Erratum:
    attention = bench.model.model.encoder.layers[0].self_attn
    squares_HPE = numbers(attention.q_proj.weight) ** 2
    size = attention.head_dim
    # of each head, the share of its query matrix that reads each quarter of the embedding
    shares = squares_HPE.reshape(attention.num_heads, size, -1, size).sum((1, 3))
    shares /= shares.sum(1, keepdims=True)
    elsewhere = float(1 - shares.diagonal().mean())
    several = attention.num_heads > 1
    parts = [f"components {p * size + 1}–{(p + 1) * size}" for p in range(shares.shape[1])]
    return Erratum(
        "What a head reads",
        "“… each head operates on a different part of the embedding (head_dim).”",
        "Each head reads the whole embedding, through matrices of its own that make it smaller. What is cut into parts"
        " is the query, key and value, after the projection.",
        stands=several and elsewhere < 0.01,
        why=f"On average {elsewhere:.0%} of the weight of a head's query matrix lies on components outside “its” part."
            if several else "This model has one head, which reads the whole embedding: there are no parts.",
        table=Table.of("Share of a query matrix on each part of the embedding", ("", *parts),
                       [(f"head {h}", *row) for h, row in enumerate(shares)]),
    )  # fmt: skip


def subsequences(bench: Workbench) -> Erratum:
    target = bench.tokenizer.encode_target(PREFIX, language="fr")
    source = torch.tensor([encode_source(bench.tokenizer, SOURCE)])
    with torch.no_grad():
        predictions = bench.model(source, labels=torch.tensor([target])).logits.shape[1]
    possible = 2 ** len(target) - 1
    return Erratum(
        "Every possible subsequence",
        "“During the train process, every possible subsequence is trained/predicted on for efficiency.”",
        "Every prefix: each token is predicted from all tokens before it.",
        stands=predictions == possible,
        why=f"A target of {len(target)} tokens gives {predictions} predictions in one pass, one for each prefix; it has"
            f" {possible} subsequences.",
        table=Table.of(f"A target of {len(target)} tokens", ("predictions", "prefixes", "subsequences"),
                       [(predictions, len(target), possible)]),
    )  # fmt: skip


def all_words(bench: Workbench) -> Erratum:
    words = ["cat", "hippopotamuses", "qwxzk", "आसान"]
    cut = [bench.tokenizer.encode_source(word)[:-1] for word in words]
    back = [bench.tokenizer.decode_text(ids) == word for ids, word in zip(cut, words, strict=True)]
    rows = [(word, len(ids), " · ".join(pieces_of(bench, ids)), same)
            for word, ids, same in zip(words, cut, back, strict=True)]
    return Erratum(
        "The vocabulary",
        "“The model has predefined vocabulary (list of all possible words).”",
        "A list of pieces: words, parts of words, and every byte. A word that is not in it is written with several"
        " pieces, and nothing is lost.",
        stands=not all(back) or all(len(ids) == 1 for ids in cut),
        why=f"The {len(bench.tokenizer):,} pieces hold {sum(len(ids) == 1 for ids in cut)} of these {len(words)} words"
            f" whole; {sum(back)} come back unchanged from their pieces.",
        table=Table.of("Words, cut", ("word", "pieces", "which", "comes back unchanged"), rows),
    )  # fmt: skip


def size_of_matrices(bench: Workbench) -> Erratum:
    attention = bench.model.model.encoder.layers[0].self_attn
    rows, columns = attention.head_dim, attention.q_proj.in_features
    return Erratum(
        "The size of the weight matrices",
        "“Create weight matrices (initialized randomly initially. same dimensions as embeddings).”",
        "A head's matrices lead from the width of the embedding to the size of the head: width over heads, as a rule."
        " They are square only where there is one head.",
        stands=rows == columns,
        why=f"In this model W_Q of one head is {columns} × {rows}"
            + (f"; {attention.num_heads} heads side by side make {columns} again." if rows < columns else
               ", since it has but one head."),
        table=Table.of("One head", ("width of the embedding", "size of query and key", "heads"),
                       [(columns, rows, attention.num_heads)]),
    )  # fmt: skip


ERRATA: tuple[Callable[[Workbench], Erratum], ...] = (
    hidden_tokens, where_a_value_goes, sum_of_three, per_cent, cached_encoder, one_key, softmax_row,
    values_and_weights, what_a_head_reads, subsequences, all_words, size_of_matrices,
)  # fmt: skip


def example(bench: Workbench) -> Example:
    """The decoder's first self-attention on the beginning of a translation, as lesson 5 follows it."""
    ids = [decoder_start(bench.model), *bench.tokenizer.encode_target(PREFIX, language="fr")[:-1]]
    return follow(bench.model, ids, tuple(pieces_of(bench, ids)))


def encoder_input(bench: Workbench) -> tuple[list[str], np.ndarray]:
    """The pieces of SOURCE, and what the encoder's first attention reads [N,D]."""
    ids = encode_source(bench.tokenizer, SOURCE)
    encoder = bench.model.model.encoder
    with torch.no_grad():
        stream = numbers(encoder.embedder(encoder.embed_tokens(torch.tensor([ids])))[0])
    return pieces_of(bench, ids), layer_norm(stream, encoder.layers[0].self_attn_layer_norm)


def pieces_of(bench: Workbench, ids: list[int]) -> list[str]:
    """Pieces for people: without the space before them."""
    return [str(piece).strip() or "space" for piece in bench.tokenizer.convert_ids_to_tokens(ids)]
