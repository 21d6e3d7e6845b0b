"""Where a model runs: with stand-ins for a GPU, since no machine that tests this has one."""

import ctranslate2
import pytest
import torch
from transformers import PreTrainedModel

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.errors import UserError

DEVICE_VERBS = (["translate"], ["score"], ["look", "The cat."], ["heads"], ["evaluate"], ["serve", "--port", "0"],
                ["align", "--fit"])


@pytest.fixture
def moved(monkeypatch):
    """The devices that torch models were moved to, on a machine that seems to have any."""
    devices = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(PreTrainedModel, "to", lambda model, device: devices.append(device) or model)
    return devices


@pytest.mark.parametrize(("asked", "device"), [("auto", "cuda"), ("cuda", "cuda"), ("mps", "mps"), ("cpu", "cpu")])
def test_the_torch_model_runs_where_it_is_asked_to(moved, folder, asked, device):
    assert Translator.from_pretrained(folder, engine="torch", device=asked)("The cat.").engine == "torch"
    assert moved == [device]


@pytest.mark.parametrize(("asked", "device"), [("auto", "cuda"), ("cuda", "cuda"), ("cpu", "cpu")])
def test_ctranslate2_runs_where_it_is_asked_to(monkeypatch, folder, asked, device):
    seen, real = [], ctranslate2.Translator
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "Translator",
                        lambda path, *, device, **more: seen.append(device) or real(path, device="cpu", **more))
    assert Translator.from_pretrained(folder, device=asked)("The cat.").engine == "ctranslate2"
    assert seen == [device]


def test_torch_translates_where_ctranslate2_has_no_such_device(moved, folder):
    assert Translator.from_pretrained(folder, device="mps")("The cat.").engine == "torch"
    with pytest.raises(UserError, match="device mps: CTranslate2 finds none"):
        Translator.from_pretrained(folder, engine="ctranslate2", device="mps")


def test_without_a_gpu_auto_is_the_cpu_and_another_is_refused(folder):
    assert Translator.from_pretrained(folder, engine="torch").model.device.type == "cpu"
    for wrong in ("cuda", "mps", "gpu"):
        with pytest.raises(UserError, match=f"device .?{wrong}"):
            Translator.from_pretrained(folder, device=wrong).model  # noqa: B018


@pytest.mark.parametrize("verb", DEVICE_VERBS, ids=lambda verb: verb[0])
def test_every_verb_takes_a_device(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb[0], "--device", "gpu", "run", *verb[1:]])
    assert "argument --device: invalid choice: 'gpu'" in capsys.readouterr().err
