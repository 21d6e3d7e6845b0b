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


def test_a_loss_of_bfloat16_logits_is_summed_in_float32():
    """As near to that of the same numbers in float32 as float32 allows."""
    torch.manual_seed(0)
    logits, labels = torch.randn(2_000, 50).bfloat16(), torch.randint(0, 50, (2_000,))
    plain = F.cross_entropy(logits.float(), labels, reduction="sum", label_smoothing=0.1)
    assert plain > 4 * 2_000  # where bfloat16 counts in steps of 32
    torch.testing.assert_close(smoothed_cross_entropy(logits.clone(), labels, smoothing=0.1), plain)
