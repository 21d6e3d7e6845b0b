"""The loss that overwrites its logits, against torch's own."""

import pytest
import torch
from torch.nn import functional as F

from seq2see.training.loss import ROWS, smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, ROWS, 2 * ROWS + 3, 0])
def test_value_and_gradient_are_those_of_torch(smoothing, rows):
    torch.manual_seed(0)
    states = torch.randn(rows, 8, dtype=torch.double, requires_grad=True)
    weight = torch.randn(50, 8, dtype=torch.double, requires_grad=True)
    labels = torch.randint(0, 50, (rows,))
    results = []
    for loss in (
        F.cross_entropy(states @ weight.T, labels, label_smoothing=smoothing, reduction="sum"),
        smoothed_cross_entropy(states @ weight.T, labels, smoothing=smoothing),
    ):
        results.append((loss, *torch.autograd.grad(3 * loss, (states, weight))))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
