"""The step at which a model chooses a word, and how sure it is of the right one.

A pronoun is right or wrong at one step, the first at which *il* and *elle* part.  Asking for the two log-probabilities
there, after the same given words, costs one forced pass to that step and no search, so it can be asked hundreds of
times.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from .forcing import forced_pass, looking

# B sentences, T decoder steps, V vocabulary

ROWS = 64  # sentences of a batch; of like length, so that little is padding


@dataclass(frozen=True)
class Choice:
    """The step at which two translations of a source part: after `prefix_ids` comes `right` or `wrong`."""

    source_ids: tuple[int, ...]
    prefix_ids: tuple[int, ...]
    right: int
    wrong: int

    @property
    def target_ids(self) -> tuple[int, ...]:
        return (*self.prefix_ids, self.right)

    @classmethod
    def between(cls, source_ids: Sequence[int], right_ids: Sequence[int], wrong_ids: Sequence[int]) -> "Choice":
        """Where the ids of the right and of the wrong translation first differ; ValueError where they do not."""
        for t, (right, wrong) in enumerate(zip(right_ids, wrong_ids, strict=False)):
            if right != wrong:
                return cls(tuple(source_ids), tuple(right_ids[:t]), right, wrong)
        raise ValueError("expected two translations that part at some piece")


def margins(model: PreTrainedModel, choices: Sequence[Choice]) -> np.ndarray:
    """log p(right) - log p(wrong) of each choice, [N]; above 0 the model chooses rightly."""
    found = np.empty(len(choices))
    for rows in by_length([choice.source_ids for choice in choices], [choice.prefix_ids for choice in choices]):
        found[rows] = margins_of_batch(model, [choices[row] for row in rows])
    return found


def margins_of_batch(model: PreTrainedModel, choices: Sequence[Choice]) -> np.ndarray:
    """`margins` in one pass, whatever the lengths."""
    sources, targets = [choice.source_ids for choice in choices], [choice.target_ids for choice in choices]
    last_B = torch.tensor([len(target) - 1 for target in targets])
    with looking(model, eager=False), _one_step(model, last_B):
        logits_BV = forced_pass(model, sources, targets)[0].logits[:, 0]
    pairs_B2 = torch.tensor([[choice.right, choice.wrong] for choice in choices], device=logits_BV.device)
    right_B, wrong_B = logits_BV.gather(-1, pairs_B2).double().unbind(-1)
    margins_B: np.ndarray = (right_B - wrong_B).cpu().numpy()  # the log-normaliser is the same for both
    return margins_B


def by_length(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[int]]:
    """The numbers of all sentences in batches of like length."""
    order = sorted(range(len(sources)), key=lambda i: (len(sources[i]), len(targets[i])))
    return [order[i : i + ROWS] for i in range(0, len(order), ROWS)]


@contextmanager
def _one_step(model: PreTrainedModel, step_B: torch.Tensor) -> Iterator[None]:
    """Inside, only this step of each row is turned into logits, [B,1,V]: the vocabulary costs as much as the layers."""

    def narrow(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (args[0][torch.arange(len(step_B)), step_B][:, None],)

    with model.get_output_embeddings().register_forward_pre_hook(narrow):
        yield
