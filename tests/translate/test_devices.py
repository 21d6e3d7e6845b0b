"""Where a model runs: with stand-ins for a GPU, since no machine that tests this has one."""

import ctranslate2
import pytest
import torch
from transformers import PreTrainedModel

from seq2see import Translator
from seq2see.errors import UserError


@pytest.mark.parametrize(("asked", "device"), [("auto", "cuda"), ("mps", "mps"), ("cpu", "cpu")])
def test_the_torch_model_runs_where_it_is_asked_to(monkeypatch, folder, asked, device):
    devices = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(PreTrainedModel, "to", lambda model, device: devices.append(device) or model)
    engine = "auto" if asked == "mps" else "torch"  # which CTranslate2 does not have
    assert Translator.from_pretrained(folder, engine=engine, device=asked)("The cat.").engine == "torch"
    assert devices == [device]


@pytest.mark.parametrize(("asked", "device"), [("auto", "cuda"), ("cpu", "cpu")])
def test_ctranslate2_runs_where_it_is_asked_to(monkeypatch, folder, asked, device):
    seen, real = [], ctranslate2.Translator
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "Translator",
                        lambda path, *, device, **more: seen.append(device) or real(path, device="cpu", **more))
    assert Translator.from_pretrained(folder, device=asked)("The cat.").engine == "ctranslate2"
    assert seen == [device]


def test_without_a_gpu_auto_is_the_cpu_and_another_is_refused(folder):
    assert Translator.from_pretrained(folder, engine="torch").model.device.type == "cpu"
    for wrong in ("cuda", "mps", "gpu"):
        with pytest.raises(UserError, match=f"device .?{wrong}"):
            Translator.from_pretrained(folder, device=wrong).model  # noqa: B018
