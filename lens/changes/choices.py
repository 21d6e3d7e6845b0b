"""The margin of a choice: the difference between the log-probabilities of the right word and of a wrong one.

It is measured at the step where two translations differ: a pronoun is right or wrong at the first token where *il* and
*elle* differ.  The two log-probabilities after the same prefix cost one forced pass and no search, so hundreds of
variants can be measured.  They can be measured without some heads, or with activations patched from another sentence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError
from ...passes.attention_kinds import Kind
from ...passes.batches import by_length
from ...passes.forced_pass import eval_mode, forced_pass
from ...passes.hooks import Head, Stack, replaced
from .interventions import ablate, patch, record

# N choices, B sentences, T decoder steps, V vocabulary, D model width


@dataclass(frozen=True)
class Choice:
    """The step at which two translations of a source differ: after `prefix_ids`, one has the token `right` and the
    other `wrong`.
    """

    source_ids: tuple[int, ...]
    prefix_ids: tuple[int, ...]
    right: int
    wrong: int

    @property
    def target_ids(self) -> tuple[int, ...]:
        return (*self.prefix_ids, self.right)

    @classmethod
    def between(cls, source_ids: Sequence[int], right_ids: Sequence[int], wrong_ids: Sequence[int]) -> "Choice":
        """The choice at the first difference between the right and the wrong translation.

        Raises ValueError if no step differs.
        """
        for t, (right, wrong) in enumerate(zip(right_ids, wrong_ids, strict=False)):
            if right != wrong:
                return cls(tuple(source_ids), tuple(right_ids[:t]), right, wrong)
        raise ValueError("expected two translations that differ at some token")


def margins(model: PreTrainedModel, choices: Sequence[Choice]) -> np.ndarray:
    """The margins [N] of choices: log p(right) - log p(wrong), in nats; positive if the model is right."""
    found = np.empty(len(choices))
    for rows in by_length([choice.source_ids for choice in choices], [choice.prefix_ids for choice in choices]):
        found[rows] = margins_of_batch(model, [choices[row] for row in rows])
    return found


def margins_of_batch(
    model: PreTrainedModel, choices: Sequence[Choice], *, encoded: torch.Tensor | None = None
) -> np.ndarray:
    """`margins` in one pass; `encoded` as `forced_pass` takes it."""
    sources, targets = [choice.source_ids for choice in choices], [choice.target_ids for choice in choices]
    last_B = torch.tensor([len(target) - 1 for target in targets])

    def last_step(state_BTD: torch.Tensor) -> torch.Tensor:  # the whole vocabulary costs as much as the layers
        return state_BTD[torch.arange(len(last_B)), last_B][:, None]

    with eval_mode(model), replaced([(model.get_output_embeddings(), "in", last_step)]):
        logits_BV = forced_pass(model, sources, targets, encoded=encoded)[0].logits[:, 0]
    pairs_B2 = torch.tensor([[choice.right, choice.wrong] for choice in choices], device=logits_BV.device)
    right_B, wrong_B = logits_BV.gather(-1, pairs_B2).double().unbind(-1)
    return (right_B - wrong_B).cpu().numpy()  # the log-normaliser is the same for both


class Ablations:
    """The margins [N] of some choices with a set of heads replaced by their means (Michel et al. 2019).

    Each set runs once.
    """

    def __init__(self, model: PreTrainedModel, choices: Sequence[Choice], means: Mapping[Head, torch.Tensor]):
        self.model = model
        self.choices = choices
        self.means = means
        self._known: dict[frozenset[Head], np.ndarray] = {}

    def margins(self, heads: Iterable[Head] = ()) -> np.ndarray:
        """log p(right) - log p(wrong) of each choice without these heads."""
        key = frozenset(heads)
        if key not in self._known:
            with ablate(self.model, key, replace="mean", means=self.means):
                self._known[key] = margins(self.model, self.choices)
        return self._known[key]


class MinimalPairs:
    """Pairs of choices (receiver, donor) for activation patching (Vig et al. 2020).

    The model runs each donor only once, so that many patches can be tried.  Raises UserError if a receiver and its
    donor have different numbers of source tokens, or of target tokens before the choice.
    """

    def __init__(self, model: PreTrainedModel, pairs: Sequence[tuple[Choice, Choice]]):
        for number, (receiver, donor) in enumerate(pairs):
            for name, own, other in (("source", receiver.source_ids, donor.source_ids),
                                     ("target", receiver.prefix_ids, donor.prefix_ids)):
                if len(own) != len(other):
                    raise UserError(f"patching needs equal lengths: pair {number} has {len(own)} and {len(other)}"
                                    f" {name} tokens")
        self.model = model
        self._receivers = [receiver for receiver, _ in pairs]
        ids = [([c.source_ids for c in side], [c.target_ids for c in side]) for side in zip(*pairs, strict=True)]
        self._batches = by_length(*ids[0]) if pairs else []
        self._donors = [record(model, *([side[i] for i in rows] for side in ids[1])) for rows in self._batches]

    def margins(
        self,
        *,
        heads: Iterable[tuple[Kind, int, int]] = (),
        layers: Iterable[tuple[Stack, int]] = (),
        where: Sequence[Mapping[Stack, Iterable[int]]] | None = None,
    ) -> np.ndarray:
        """The margin log p(right) - log p(wrong) of each of the N receivers while it is patched from its donor: [N].

        A patch flips the prediction if the margin is positive without it and negative with it.

        Args:
            heads: (kind, layer, head) of the heads to patch.
            layers: ("encoder" or "decoder", layer) of the residual streams to patch.
            where: for each pair, the positions to patch: source positions in "encoder", decoder steps in "decoder" (for
                decoder and cross-attention heads).  All positions of a stack that is not named are patched.
        """
        heads, layers = list(heads), list(layers)
        found = np.empty(len(self._receivers))
        for rows, donor in zip(self._batches, self._donors, strict=True):
            batch = [self._receivers[row] for row in rows]
            marks = None if where is None else _marks(batch, [where[row] for row in rows])
            with patch(self.model, donor, heads=heads, layers=layers, where=marks):
                found[rows] = margins_of_batch(self.model, batch)
        return found


def _marks(batch: Sequence[Choice], where: Sequence[Mapping[Stack, Iterable[int]]]) -> dict[Stack, torch.Tensor]:
    sides: dict[Stack, list[tuple[int, ...]]] = {
        "encoder": [choice.source_ids for choice in batch], "decoder": [choice.target_ids for choice in batch]
    }
    marks = {name: torch.zeros(len(batch), max(map(len, ids)), dtype=torch.bool) for name, ids in sides.items()}
    for name, ids in sides.items():
        for row, (positions, own) in enumerate(zip(where, ids, strict=True)):
            for position in positions.get(name, range(len(own))):
                if not 0 <= position < len(own):
                    raise UserError(f"there is no {name} position {position} here: expected 0 to {len(own) - 1}")
                marks[name][row, position] = True
    return marks
