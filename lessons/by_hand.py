"""Attention in numpy, one step at a time, so that every number on the way can be shown."""

from dataclasses import dataclass

import numpy as np

# N words, D width, E size of one head


def softmax(scores: np.ndarray) -> np.ndarray:
    """Each row made positive and of sum 1; what is subtracted cancels, and keeps exp from overflowing."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@dataclass(frozen=True)
class Steps:
    """One head's numbers, in the order in which they arise."""

    query_NE: np.ndarray
    key_NE: np.ndarray
    value_NE: np.ndarray
    score_NN: np.ndarray  # q · k
    scaled_NN: np.ndarray  # over √E
    masked_NN: np.ndarray  # −inf where a word may not look
    weight_NN: np.ndarray
    mixed_NE: np.ndarray  # weights times values


def one_head(query_NE: np.ndarray, key_NE: np.ndarray, value_NE: np.ndarray, *, causal: bool) -> Steps:
    """softmax(Q Kᵀ / √E + mask) V, with each step kept."""
    score_NN = query_NE @ key_NE.T
    scaled_NN = score_NN / np.sqrt(query_NE.shape[1])
    later_NN = np.triu(np.ones_like(scaled_NN, dtype=bool), k=1)
    masked_NN = np.where(later_NN, -np.inf, scaled_NN) if causal else scaled_NN
    weight_NN = softmax(masked_NN)
    return Steps(query_NE, key_NE, value_NE, score_NN, scaled_NN, masked_NN, weight_NN, weight_NN @ value_NE)
