"""A task made for attention, and the ways of giving attention parameters that lesson 2 compares on it.

Each word of a sequence has a name, the name of another word that it asks for, and a content. It must answer with the
content of the word that it asks for, like looking up a dictionary. The three parts form one vector, turned by a random
rotation, so that no component of the vector belongs to one part alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

# R replicas trained side by side, B sequences, N words, D width, K size of query and key, V size of value

NAMES = 8  # words of a sequence, each with a name of its own
PARTS, CHOICES = 3, 4  # the content: so many things to say, so many possibilities each
WIDTH = 2 * NAMES + PARTS * CHOICES
BATCH = 32
WAYS = ("none", "scalar", "diagonal", "one matrix", "query = key", "key = value", "three matrices")
LEARNING_RATE = 2e-2


@dataclass(frozen=True)
class Task:
    """The rotation of each replica."""

    rotation_RDD: torch.Tensor

    @classmethod
    def draw(cls, seeds: Sequence[int]) -> "Task":
        rotations = []
        for seed in seeds:
            generator = torch.Generator().manual_seed(seed)
            rotations.append(torch.linalg.qr(torch.randn(WIDTH, WIDTH, generator=generator))[0])
        return cls(torch.stack(rotations))

    def batch(self, generator: torch.Generator, size: int = BATCH) -> tuple[torch.Tensor, torch.Tensor]:
        """Words [R,B,N,D], and what each is to say [B,N,PARTS]; all replicas see the same sequences, rotated."""
        one_hot = nn.functional.one_hot
        name_BN = torch.rand(size, NAMES, generator=generator).argsort(-1)
        wanted_BN = torch.randint(NAMES, (size, NAMES), generator=generator)
        content_BNP = torch.randint(CHOICES, (size, NAMES, PARTS), generator=generator)
        parts = (one_hot(name_BN, NAMES), one_hot(wanted_BN, NAMES), one_hot(content_BNP, CHOICES).flatten(-2))
        word_BND = torch.cat(parts, dim=-1).float() * 2
        place_BN = name_BN.argsort(-1).gather(-1, wanted_BN)  # where the wanted name stands
        answer_BNP = content_BNP.gather(1, place_BN[..., None].expand(-1, -1, PARTS))
        return torch.einsum("bnd,rde->rbne", word_BND, self.rotation_RDD), answer_BNP


class Attention(nn.Module):
    """One attention with the parameters of one way, and a readout that every way has. R copies, trained at once.

    `keys` and `values` are the sizes that each copy may use; the rest of its matrices is held at zero.
    """

    def __init__(self, way: str, *, keys: Sequence[int], values: Sequence[int]) -> None:
        super().__init__()
        copies, size_k, size_v = len(keys), max(keys), max(values)
        self.way = way

        def matrix(size: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(copies, WIDTH, size) * WIDTH**-0.5)

        if way in ("scalar", "diagonal"):
            shape = (copies, 1, 1, 1 if way == "scalar" else WIDTH)
            self.match, self.hand = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.ones(shape))
        if way not in ("none", "scalar", "diagonal"):
            self.query = matrix(size_k)
            self.key = self.query if way in ("one matrix", "query = key") else matrix(size_k)
            self.value = self.key if way in ("one matrix", "key = value") else matrix(size_v)
        wide = size_v if hasattr(self, "value") else WIDTH
        self.readout = nn.Parameter(torch.randn(copies, wide, PARTS * CHOICES) * wide**-0.5)
        self.keep_k = torch.stack([(torch.arange(size_k) < keep).float() for keep in keys])[:, None, None]
        self.keep_v = torch.stack([(torch.arange(size_v) < keep).float() for keep in values])[:, None, None]
        self.scale_R = torch.tensor([float(size) for size in keys])[:, None, None, None] ** -0.5

    def roles(self, x_RBND: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The query, key and value of every word."""
        if self.way == "none":
            return x_RBND, x_RBND, x_RBND
        if self.way in ("scalar", "diagonal"):
            return x_RBND * self.match, x_RBND, x_RBND * self.hand
        query, key, value = (torch.einsum("rbnd,rde->rbne", x_RBND, matrix)
                             for matrix in (self.query, self.key, self.value))
        return query * self.keep_k, key * self.keep_k, value * self.keep_v

    def forward(self, x_RBND: torch.Tensor) -> torch.Tensor:
        """Logits of the answer [R,B,N,PARTS,CHOICES]."""
        query, key, value = self.roles(x_RBND)
        weight_RBNN = (query @ key.transpose(-1, -2) * self.scale_R).softmax(-1)
        answer = torch.einsum("rbne,rea->rbna", weight_RBNN @ value, self.readout)
        return answer.unflatten(-1, (PARTS, CHOICES))


def train(
    way: str, seeds: Sequence[int], keys: Sequence[int], values: Sequence[int], steps: int
) -> dict[str, list[float]]:
    """Train a copy for each seed and size: the share of new questions it answers rightly, and its loss on the way.

    Returns "right" [R] and "losses", the mean over copies after every twentieth step.
    """
    torch.manual_seed(1000 + seeds[0])
    task, model = Task.draw(seeds), Attention(way, keys=keys, values=values)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
    generator = torch.Generator().manual_seed(seeds[0])
    losses = []
    for step in range(steps):
        x_RBND, answer_BNP = task.batch(generator)
        losses_R = loss_of(model(x_RBND), answer_BNP)
        optimizer.zero_grad()
        losses_R.sum().backward()  # a sum: no copy feels another
        optimizer.step()
        schedule.step()
        if step % 20 == 0 or step == steps - 1:
            losses.append(float(losses_R.detach().mean()))
    with torch.no_grad():
        x_RBND, answer_BNP = task.batch(generator, 400)
        right_R = (model(x_RBND).argmax(-1) == answer_BNP).float().mean((1, 2, 3))
    return {"right": right_R.tolist(), "losses": losses}


def loss_of(logits_RBNPC: torch.Tensor, answer_BNP: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of each copy [R]."""
    log_prob = logits_RBNPC.log_softmax(-1)
    answer = answer_BNP[None, ..., None].expand(len(logits_RBNPC), -1, -1, -1, 1)
    return -log_prob.gather(-1, answer).mean((1, 2, 3, 4))


MADE_BY = (Task, Attention, loss_of)
