"""Muon: against torch's own, against AdamW, and what it may be given."""

import copy

import pytest
import torch
from torch import nn

from seq2see.training.muon import Muon, grouped, orthogonalised


def weights_and_gradients(*shapes, steps=4):
    """The same weights twice, and a gradient for each of them and each step; every one of another size."""
    generator = torch.Generator().manual_seed(0)
    weights = [nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]
    gradients = [[10.0**step * torch.randn(shape, generator=generator) for shape in shapes] for step in range(steps)]
    return weights, copy.deepcopy(weights), gradients


def take(optimizer, weights, gradients):
    for step in gradients:
        for weight, gradient in zip(weights, step, strict=True):
            weight.grad = gradient.clone()
        optimizer.step()


@pytest.mark.parametrize("shape", [(12, 12), (8, 20), (20, 8), (6, 32)])
def test_singular_vectors_stay_and_singular_values_become_one(shape):
    matrices = torch.randn(3, *shape, generator=torch.Generator().manual_seed(0))
    matrices *= torch.tensor([1e-3, 1, 1e3])[:, None, None]
    for before, after in zip(matrices, orthogonalised(matrices), strict=True):
        u, _, v = torch.linalg.svd(before, full_matrices=False)
        turned = u.mT @ after @ v.mT
        values = turned.diagonal()
        torch.testing.assert_close(turned, values.diag(), atol=1e-4, rtol=0)
        assert values.min() > 0.5 and values.max() < 1.3


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_matrices_step_as_by_torch(scale):
    """torch's takes its steps in bfloat16; its decay grows with its rate."""
    weights, expected, gradients = weights_and_gradients((16, 16), (16, 24), (24, 16), (16, 16))
    groups = [{"params": weights, "matrices": True, "weight_decay": 0.5}]
    take(Muon(groups, lr=0.01, scale=scale, dtype=torch.bfloat16), weights, gradients)
    torchs = torch.optim.Muon(expected, lr=0.01 * scale, weight_decay=0.5 / scale, adjust_lr_fn="match_rms_adamw")
    take(torchs, expected, gradients)
    for ours, theirs in zip(weights, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=2e-3, rtol=0)  # of some 0.03 in all


def test_the_others_step_as_by_adamw():
    weights, expected, gradients = weights_and_gradients((16, 16), (7,))
    settings = {"lr": 0.01, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.5}
    take(Muon([{"params": weights}], **settings, scale=3.0), weights, gradients)
    take(torch.optim.AdamW(expected, **settings, fused=True), expected, gradients)
    for ours, theirs in zip(weights, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_every_weight_is_in_one_group(make_trainer):
    """The tied embedding is a matrix, and yet of no hidden layer."""
    model = make_trainer().model
    names = {id(weight): name for name, weight in model.named_parameters()}
    decayed = [name for name in names.values() if "norm" not in name and not name.endswith("bias")]
    matrices, embedding, undecayed = (
        {names[id(weight)] for weight in group["params"]} for group in grouped(model, decayed=decayed, weight_decay=0.3)
    )
    assert embedding == {"model.shared.weight"} and matrices == set(decayed) - embedding
    assert undecayed == set(names.values()) - set(decayed)


def test_the_trainer_takes_it_as_the_settings_say(make_trainer):
    settings = {"optim": "muon", "muon_lr_scale": 1.5, "learning_rate": 0.02, "weight_decay": 0.3, "adam_beta2": 0.97}
    optimizer = make_trainer(**settings, bf16=True).create_optimizer()
    assert isinstance(optimizer, Muon) and (optimizer.scale, optimizer.dtype) == (1.5, torch.bfloat16)
    assert [group["matrices"] for group in optimizer.param_groups] == [True, False, False]
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.3, 0.3, 0.0]
    assert all(group["lr"] == 0.02 and group["betas"] == (0.9, 0.97) for group in optimizer.param_groups)


def test_a_resumed_optimizer_saves_what_it_was_resumed_from():
    weights, _, gradients = weights_and_gradients((4, 3), (5,))
    groups = lambda: [{"params": weights[:1], "matrices": True}, {"params": weights[1:]}]  # noqa: E731
    optimizer = Muon(groups())
    take(optimizer, weights, gradients)
    resumed = Muon(groups())
    resumed.load_state_dict(optimizer.state_dict())
    own, again = (one.state_dict()["state"] for one in (optimizer, resumed))
    assert [list(one) for one in own.values()] == [list(one) for one in again.values()]
