"""What training computes its own way, fast: as the model's own modules and torch compute it."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from seq2see.modeling.attention import attend
from seq2see.training.kernels import ByteDropout, fast_kernels, short_attention
from seq2see.training.loss import ROWS, smoothed_cross_entropy

SHAPE = (300, 40, 25)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_drops_at_its_rate_keeps_the_mean_and_has_its_gradient(p):
    torch.manual_seed(0)
    x = torch.ones(SHAPE, requires_grad=True)
    out = ByteDropout(p).train()(x)
    out.sum().backward()
    assert torch.equal(x.grad, out)
    gone, rounded = out == 0, round(p * 256) / 256
    assert abs(gone.double().mean().item() - rounded) < 5 * (p * (1 - p) / gone.numel()) ** 0.5
    torch.testing.assert_close(out[~gone], torch.full_like(out[~gone], 1 / (1 - rounded)))
    assert ByteDropout(p).eval()(x) is x


@pytest.mark.parametrize("masked", [False, True])
def test_short_attention_is_attention(masked):
    torch.manual_seed(0)
    tensors = [torch.randn(2, 3, length, 4, dtype=torch.float64, requires_grad=True) for length in (5, 7, 7)]
    mask = None
    if masked:
        mask = torch.zeros(2, 1, 5, 7, dtype=torch.float64)
        mask[1, :, :, 4:] = torch.finfo(torch.float64).min
    module = nn.Module().train()
    expected, _ = attend(module, *tensors, mask, scaling=0.5)
    found, _ = short_attention(module, *tensors, mask, scaling=0.5)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)  # the weights are float32 in both
    direction = torch.randn_like(expected)
    for ours, theirs in zip(
        torch.autograd.grad(found, tensors, direction), torch.autograd.grad(expected, tensors, direction), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_short_attention_drops_weights():
    """With values one-hot, the output is the dropped weights; gradients are those of the same mask."""
    torch.manual_seed(0)
    query, key = torch.randn(40, 2, 6, 4), torch.randn(40, 2, 9, 4)
    value = torch.eye(9).expand(40, 2, 9, 9).clone().requires_grad_()
    whole, _ = short_attention(nn.Module(), query, key, value, None, scaling=0.5)
    out, _ = short_attention(nn.Module(), query, key, value, None, scaling=0.5, dropout=0.25)
    kept = out != 0
    assert 0.7 < kept.double().mean() < 0.8
    torch.testing.assert_close(out[kept], whole[kept] / 0.75)
    (gradient,) = torch.autograd.grad(out.sum(), value)
    torch.testing.assert_close(gradient[..., 0], out.detach().transpose(1, 2).sum(2))


def test_the_model_is_as_it_was_afterwards(make_trainer):
    model = make_trainer(dropout=0.3).model
    model.set_attn_implementation("sdpa")
    before = [type(module) for module in model.modules()]
    with pytest.raises(ZeroDivisionError), fast_kernels(model):
        assert any(type(module) is ByteDropout for module in model.modules())
        assert model.config._attn_implementation != "sdpa"
        raise ZeroDivisionError
    assert [type(module) for module in model.modules()] == before
    assert model.config._attn_implementation == "sdpa"


def test_training_with_them_or_without_follows_one_trajectory(make_trainer, monkeypatch):
    """Float32, no dropout: the same losses as with the model's own eager attention."""
    def losses() -> list[float]:
        trainer = make_trainer(optim="sgd", learning_rate=0.5)
        trainer.model.set_attn_implementation("eager")
        trainer.train()
        return [row["loss"] for row in trainer.state.log_history if "loss" in row]

    fast = losses()
    monkeypatch.setattr("seq2see.training.trainer.fast_kernels", lambda model: nullcontext())
    plain = losses()
    assert fast == pytest.approx(plain, rel=1e-5)
    assert fast[-1] < fast[0]


def test_the_loss_takes_logits_as_they_come(make_trainer, monkeypatch):
    """accelerate's mixed precision would copy them to float32 first."""
    types = []

    def noted(logits_NV, labels_N, *, smoothing):
        types.append(logits_NV.dtype)
        return smoothed_cross_entropy(logits_NV, labels_N, smoothing=smoothing)

    monkeypatch.setattr("seq2see.training.trainer.smoothed_cross_entropy", noted)
    make_trainer(bf16=True, max_steps=2, eval_strategy="steps", eval_steps=2).train()
    assert len(types) >= 3 and set(types) == {torch.bfloat16}, "in training and in validation"


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
