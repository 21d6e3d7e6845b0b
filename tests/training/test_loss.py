"""The loss that overwrites its logits, against torch's own."""

import pytest
import torch
from torch.nn import functional as F

from seq2see.training.loss import ROWS, consistent_cross_entropy, smoothed_cross_entropy


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


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, ROWS + 3, 0])
def test_r_drop_is_two_cross_entropies_and_two_divergences(smoothing, rows):
    """Against the definition in torch's own functions, value and gradient; alpha 5 as in the paper."""
    torch.manual_seed(0)
    states = torch.randn(2 * rows, 8, dtype=torch.double, requires_grad=True)
    weight = torch.randn(50, 8, dtype=torch.double, requires_grad=True)
    labels = torch.randint(0, 50, (rows,))
    logits = states @ weight.T
    first, second = logits[:rows], logits[rows:]
    expected = 5 / 4 * sum(
        F.kl_div(other.log_softmax(-1), own.log_softmax(-1), log_target=True, reduction="sum")
        for own, other in ((first, second), (second, first))
    ) + sum(
        F.cross_entropy(own, labels, label_smoothing=smoothing, reduction="sum") / 2 for own in (first, second)
    )
    found = consistent_cross_entropy(states @ weight.T, labels, smoothing=smoothing, alpha=5.0)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad(3 * loss, (states, weight)) for loss in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_a_loss_of_bfloat16_logits_is_summed_in_float32():
    """As near to that of the same numbers in float32 as float32 allows."""
    torch.manual_seed(0)
    logits, labels = torch.randn(2_000, 50).bfloat16(), torch.randint(0, 50, (2_000,))
    plain = F.cross_entropy(logits.float(), labels, reduction="sum", label_smoothing=0.1)
    assert plain > 4 * 2_000  # where bfloat16 counts in steps of 32
    torch.testing.assert_close(smoothed_cross_entropy(logits.clone(), labels, smoothing=0.1), plain)
    half = labels[:1_000]
    exact, found = (
        consistent_cross_entropy(one.clone(), half, smoothing=0.1, alpha=5.0) for one in (logits.float(), logits)
    )
    torch.testing.assert_close(found, exact)


def test_r_drop_of_known_distributions():
    """p = (3/4, 1/4), q = (1/2, 1/2): KL(p||q) + KL(q||p) = (p - q) . (log p - log q) = ln(3) / 4."""
    logits = torch.tensor([[3.0, 1.0], [1.0, 1.0]]).log()
    label = torch.tensor([0])
    plain = -0.5 * (torch.tensor(0.75).log() + torch.tensor(0.5).log())
    found = consistent_cross_entropy(logits, label, smoothing=0.0, alpha=4.0)
    torch.testing.assert_close(found, plain + torch.tensor(3.0).log() / 4)


def test_without_dropout_the_two_passes_agree(make_trainer):
    """R-Drop then changes nothing, however heavy."""
    runs = []
    for alpha in (0.0, 7.0):
        trainer = make_trainer(optim="sgd", learning_rate=0.5, r_drop=alpha)
        trainer.train()
        runs.append([row["loss"] for row in trainer.state.log_history if "loss" in row])
    assert runs[1] == pytest.approx(runs[0], rel=1e-5)
    assert runs[0][-1] < runs[0][0]
