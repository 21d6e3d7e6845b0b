"""Word vectors, static and in context, and their neighbours.

The static vector of a word is its row of the embedding matrix, or the mean of its tokens' rows.  Its contextual vectors
are the encoder's residual stream at its tokens after each layer (Peters et al. 2018; Ethayarajh 2019).  The supported
model families are those of `hooks.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ...passes.forced_pass import eval_mode
from ...passes.hooks import capture, laid_out_otherwise, layers_of, replaced
from ...passes.pausing import pause
from ...tokenizer.encoding import encode_source, of_source
from ...tokenizer.words import special_token_ids, split_words, token_names, token_spans
from .word_order import position_modules

# L layers, N words, D model width, V vocabulary

Side = Literal["source", "target"]
Measure = Literal["dot", "cosine"]


@dataclass(frozen=True, eq=False)
class Contextual:
    """The vectors of a word in a sentence, before and after each encoder layer.

    `layers` [L+1,D] has the input of the first layer, with positions, and the output of each layer.  `without_position`
    [D] is the input of the first layer without positions, which does not depend on the sentence.  `read` [D] is what
    cross-attention reads: the output of the last layer after the final norm, if the model has one.
    """

    text: str
    word: str
    layers: np.ndarray
    without_position: np.ndarray
    read: np.ndarray


@dataclass(frozen=True)
class Neighbour:
    """A token of the vocabulary, its similarity, and its rank, from 1; `asked` is True for tokens of the query."""

    text: str
    value: float
    rank: int
    asked: bool
    id: int


def contextual(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str, word: str | int, *, language: str = ""
) -> Contextual:
    """The vectors of one word of a source text, averaged over its tokens.

    `word` is its index in `split_words(text)`, or the word itself if it occurs once.  Raises UserError if the text does
    not have exactly one such word.
    """
    words = split_words(text, language=language)
    number = _find(word, [one.text for one in words], text)
    ids = encode_source(tokenizer, text)
    tokens = token_spans(of_source(tokenizer), ids, text, language=language)
    chosen = [i for i, span in enumerate(tokens) if span.word == number]
    if not chosen:
        raise UserError(f"the word {words[number].text!r} has no tokens of its own: choose another")
    *layers, read = _hidden_states(model, ids)[:, chosen].mean(1)
    plain = _hidden_states(model, ids, positions=False)[0, chosen].mean(0)
    return Contextual(text, words[number].text, torch.stack(layers).cpu().numpy(), plain.cpu().numpy(),
                      read.cpu().numpy())


def _find(word: str | int, words: list[str], text: str) -> int:
    if isinstance(word, int):
        if not 0 <= word < len(words):
            raise UserError(f"there is no word {word} in {text!r}: expected 0 to {len(words) - 1}", exit_code=2)
        return word
    places = [i for i, other in enumerate(words) if other.casefold() == word.casefold()]
    if len(places) != 1:
        where = f"{len(places)} times in {text!r}: give its index" if places else f"not in {text!r}"
        raise UserError(f"the word {word!r} is {where}", exit_code=2)
    return places[0]


def _hidden_states(model: PreTrainedModel, ids: Sequence[int], *, positions: bool = True) -> torch.Tensor:
    """The encoder's residual stream before the first layer and after each, and its output: [L+2,S,D]."""
    encoder, layers = model.get_encoder(), layers_of(model, "encoder")
    ids_1S = torch.tensor([list(ids)], device=model.device)
    added = [] if positions else position_modules(encoder)
    with (
        eval_mode(model), torch.no_grad(),
        replaced((module, "out", torch.zeros_like) for module in added),
        capture({"before": layers[0]}, "in") as before,
        capture(dict(enumerate(layers)), "out") as after,
    ):
        pause()
        output = encoder(input_ids=ids_1S, attention_mask=torch.ones_like(ids_1S))[0]
    states = [*before.values(), *after.values(), output]
    if any(state.shape[:2] != ids_1S.shape for state in states):
        raise laid_out_otherwise(model)
    return torch.cat(states)


def static(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, word: str, *, side: Side = "source"
) -> np.ndarray:
    """The embedding [D] of a word, unscaled; the mean over its tokens.

    Raises UserError for a word that the vocabulary can only spell in bytes, or not at all.
    """
    return token_vectors(model, _token_ids(tokenizer, word), side=side).mean(0)


def token_vectors(model: PreTrainedModel, ids: Sequence[int], *, side: Side = "source") -> np.ndarray:
    """The embeddings of tokens, [N,D], unscaled."""
    return _matrix(model, side)[list(ids)].cpu().numpy()


def _matrix(model: PreTrainedModel, side: Side) -> torch.Tensor:
    stack = model.get_encoder() if side == "source" else model.get_decoder()
    return stack.get_input_embeddings().weight.detach()


def _token_ids(tokenizer: PreTrainedTokenizerBase, word: str) -> list[int]:
    if not word.strip():
        raise UserError("expected a word, got nothing", exit_code=2)
    special = special_token_ids(tokenizer)
    ids = [i for i in encode_source(tokenizer, word.strip()) if i not in special or i == tokenizer.unk_token_id]
    names = token_names(tokenizer, ids)
    if not ids or tokenizer.unk_token_id in ids or any(_is_byte(name) for name in names):
        raise UserError(f"the word {word!r} is not in the vocabulary: choose one from the training data")
    return ids


def _is_byte(name: str) -> bool:
    return len(name) == 6 and name.startswith("<0x") and name.endswith(">")


def distances(one: Contextual, other: Contextual) -> dict[str, np.ndarray]:
    """The distances [L+1] of two words in context, by layer: "cosine" (1 - similarity) and "euclidean".

    Raises ValueError for words of different models.
    """
    if one.layers.shape != other.layers.shape:
        raise ValueError(f"expected vectors of one model, got shapes {one.layers.shape} and {other.layers.shape}")
    return {"cosine": 1 - cosine(one.layers, other.layers),
            "euclidean": np.linalg.norm(one.layers - other.layers, axis=-1)}


def cosine(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cosine similarity of vectors [...,D]."""
    norms = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    return np.asarray((one * other).sum(-1) / np.maximum(norms, 1e-12))


def project(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first two principal components of vectors [N,D]: coordinates [N,2], and the share of the variance on each
    axis [2].

    Raises UserError for fewer than two vectors.
    """
    if vectors.ndim != 2 or len(vectors) < 2:
        raise UserError(f"a projection needs at least 2 vectors, got shape {vectors.shape}", exit_code=2)
    centred = vectors - vectors.mean(0, dtype=np.float64)
    _, scale, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:2] * np.sign(np.take_along_axis(axes[:2], abs(axes[:2]).argmax(1)[:, None], 1))  # else arbitrary
    points, shares = np.zeros((len(vectors), 2)), np.zeros(2)
    points[:, : len(axes)] = centred @ axes.T
    shares[: len(axes)] = (scale**2 / max((scale**2).sum(), 1e-300))[:2]
    return points, shares


def neighbours(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, word: str, *, by: Measure = "cosine", count: int = 10,
    side: Side = "source",
) -> list[Neighbour]:
    """The `count` tokens nearest to a word, excluding the word's own tokens.

    The similarity is cosine, or the dot product, which favours long vectors.  Raises UserError for a word outside the
    vocabulary.
    """
    vector, query_ids = torch.tensor(static(model, tokenizer, word, side=side)), set(_token_ids(tokenizer, word))
    return _ranked(model, tokenizer, vector, by=by, side=side, query_ids=query_ids, left_out=query_ids)[:count]


def analogy(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, a: str, b: str, c: str, *, by: Measure = "cosine",
    count: int = 10, expected: str | None = None, side: Side = "source",
) -> tuple[list[Neighbour], int | None]:
    """The `count` tokens nearest to a - b + c (king - man + woman: Mikolov et al. 2013), and the rank of the expected
    answer.

    The words of the query are ranked too, and marked.  They are often the nearest, and many analogies hold only if
    these words are excluded (Nissim et al. 2020).

    Returns:
        The tokens, and the rank of `expected`, from 1, or None.

    Raises:
        UserError: a word outside the vocabulary, or an expected word of several tokens, which has no rank.
    """
    plus, minus, other = (torch.tensor(static(model, tokenizer, word, side=side)) for word in (a, b, c))
    query_ids = {i for word in (a, b, c) for i in _token_ids(tokenizer, word)}
    ranked = _ranked(model, tokenizer, plus - minus + other, by=by, side=side, query_ids=query_ids, left_out=set())
    if expected is None:
        return ranked[:count], None
    answer = _token_ids(tokenizer, expected)
    if len(answer) != 1:
        raise UserError(f"{expected!r} is {len(answer)} tokens here, and only single tokens are ranked", exit_code=2)
    name = token_names(tokenizer, answer[:1])[0]
    return ranked[:count], next(one.rank for one in ranked if one.text == name)


def _ranked(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, vector: torch.Tensor, *, by: Measure, side: Side,
    query_ids: set[int], left_out: set[int],
) -> list[Neighbour]:
    """All tokens except special and byte tokens, nearest first."""
    matrix_VD = _matrix(model, side).cpu()
    near_V = matrix_VD @ vector.to(matrix_VD.dtype)
    if by == "cosine":
        near_V = near_V / (matrix_VD.norm(dim=-1) * vector.norm()).clamp(min=1e-12)
    reader = of_source(tokenizer) if side == "source" else tokenizer
    names = token_names(reader, range(min(len(tokenizer), len(matrix_VD))))
    hidden = special_token_ids(tokenizer) | left_out
    order = [i for i in near_V.argsort(descending=True, stable=True).tolist()
             if i < len(names) and i not in hidden and not _is_byte(str(names[i]))]
    return [Neighbour(str(names[i]), float(near_V[i]), rank, i in query_ids, i)
            for rank, i in enumerate(order, start=1)]
