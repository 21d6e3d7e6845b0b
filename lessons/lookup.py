"""A task made for attention, and the ways of giving attention parameters that lesson 2 compares on it.

Each word of a sequence has a name, the name of another word that it asks for, and a content. It must answer with the
content of the word that it asks for, like looking up a dictionary. The three parts form one vector, turned by a random
rotation, so that no component of the vector belongs to one part alone.
"""

from collections.abc import Sequence

import torch
from torch import nn

# R replicas trained side by side, B sequences, N words, D width, size of query and key

NAMES = 8  # words of a sequence, each with a name of its own
PARTS, CHOICES = 3, 4  # the content: so many things to say, so many possibilities each
WIDTH = 2 * NAMES + PARTS * CHOICES
BATCH = 32
WAYS = ("none", "one matrix", "query = key", "key = value", "three matrices")
LEARNING_RATE = 2e-2


def rotation(seed: int) -> torch.Tensor:
    """A random one, [D,D]."""
    return torch.linalg.qr(torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(seed)))[0]


def batch(
    rotation_RDD: torch.Tensor, generator: torch.Generator, size: int = BATCH
) -> tuple[torch.Tensor, torch.Tensor]:
    """Words [R,B,N,D], and what each is to say [B,N,PARTS]; all replicas see the same sequences, rotated."""
    one_hot = nn.functional.one_hot
    name_BN = torch.rand(size, NAMES, generator=generator).argsort(-1)
    wanted_BN = torch.randint(NAMES, (size, NAMES), generator=generator)
    content_BNP = torch.randint(CHOICES, (size, NAMES, PARTS), generator=generator)
    parts = (one_hot(name_BN, NAMES), one_hot(wanted_BN, NAMES), one_hot(content_BNP, CHOICES).flatten(-2))
    word_BND = torch.cat(parts, dim=-1).float() * 2
    place_BN = name_BN.argsort(-1).gather(-1, wanted_BN)  # where the wanted name stands
    answer_BNP = content_BNP.gather(1, place_BN[..., None].expand(-1, -1, PARTS))
    return torch.einsum("bnd,rde->rbne", word_BND, rotation_RDD), answer_BNP


class Attention(nn.Module):
    """One attention with the parameters of one way, and a readout that every way has. R copies, trained at once.

    `sizes` is what each copy may use of query, key and value; the rest of its matrices is held at zero.
    """

    def __init__(self, way: str, *, sizes: Sequence[int]) -> None:
        super().__init__()
        copies, size = len(sizes), max(sizes)
        self.way = way

        def matrix(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(copies, rows, columns) * rows**-0.5)

        if way != "none":
            self.query = matrix(WIDTH, size)
            self.key = self.query if way in ("one matrix", "query = key") else matrix(WIDTH, size)
            self.value = self.key if way in ("one matrix", "key = value") else matrix(WIDTH, size)
        self.readout = matrix(WIDTH if way == "none" else size, PARTS * CHOICES)
        self.keep = torch.stack([(torch.arange(size) < keep).float() for keep in sizes])[:, None, None]
        self.scale_R = torch.tensor([float(keep) for keep in sizes])[:, None, None, None] ** -0.5

    def roles(self, x_RBND: torch.Tensor) -> list[torch.Tensor]:
        """The query, key and value of every word."""
        if self.way == "none":
            return [x_RBND] * 3
        return [torch.einsum("rbnd,rde->rbne", x_RBND, matrix) * self.keep
                for matrix in (self.query, self.key, self.value)]

    def forward(self, x_RBND: torch.Tensor) -> torch.Tensor:
        """Logits of the answer [R,B,N,PARTS,CHOICES]."""
        query, key, value = self.roles(x_RBND)
        weight_RBNN = (query @ key.transpose(-1, -2) * self.scale_R).softmax(-1)
        return torch.einsum("rbne,rea->rbna", weight_RBNN @ value, self.readout).unflatten(-1, (PARTS, CHOICES))


def train(way: str, seeds: Sequence[int], sizes: Sequence[int], steps: int) -> list[float]:
    """Train a copy for each seed and size: the share of new questions that each answers correctly, [R]."""
    torch.manual_seed(1000 + seeds[0])
    rotation_RDD, model = torch.stack(list(map(rotation, seeds))), Attention(way, sizes=sizes)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
    generator = torch.Generator().manual_seed(seeds[0])
    for _ in range(steps):
        x_RBND, answer_BNP = batch(rotation_RDD, generator)
        log_prob = model(x_RBND).log_softmax(-1)
        answer = answer_BNP[None, ..., None].expand(len(log_prob), -1, -1, -1, 1)
        optimizer.zero_grad()
        (-log_prob.gather(-1, answer).mean((1, 2, 3, 4))).sum().backward()  # a sum: no copy feels another
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        x_RBND, answer_BNP = batch(rotation_RDD, generator, 400)
        return (model(x_RBND).argmax(-1) == answer_BNP).float().mean((1, 2, 3)).tolist()


MADE_BY = (rotation, batch, Attention)
