"""bfloat16 by default only where it is faster than float32: what each kind of processor gets."""

import pytest
import torch

from seq2see.training import arguments
from seq2see.training.arguments import Seq2SeeTrainingArguments, is_made_by_amd


def pretend(monkeypatch, *, amx=False, avx512_bf16=False, amd=False):
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512_bf16)
    monkeypatch.setattr(arguments, "is_made_by_amd", lambda: amd)


@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        ({}, False),
        ({"amd": True}, False),
        ({"amd": True, "avx512_bf16": True}, True),
        ({"avx512_bf16": True}, False),  # Intel without AMX: half the speed of float32
        ({"avx512_bf16": True, "amx": True}, True),
    ],
)
def test_a_processor_gets_bfloat16_where_it_is_faster(monkeypatch, tmp_path, processor, expected):
    pretend(monkeypatch, **processor)
    assert Seq2SeeTrainingArguments(output_dir=str(tmp_path), use_cpu=True).bf16 is expected


def test_who_asks_for_a_precision_gets_it(monkeypatch, tmp_path):
    pretend(monkeypatch, amx=True)
    assert Seq2SeeTrainingArguments(output_dir=str(tmp_path), use_cpu=True, bf16=False).bf16 is False
    pretend(monkeypatch)
    assert Seq2SeeTrainingArguments(output_dir=str(tmp_path), use_cpu=True, bf16=True).bf16 is True


@pytest.mark.parametrize(("maker", "expected"), [("AuthenticAMD", True), ("GenuineIntel", False)])
@pytest.mark.parametrize("linux", [True, False])
def test_the_maker_is_read_from_where_the_system_tells_it(monkeypatch, tmp_path, maker, expected, linux):
    told = tmp_path / "cpuinfo"
    if linux:
        told.write_text(f"processor\t: 0\nvendor_id\t: {maker}\n")
    monkeypatch.setattr(arguments, "Path", lambda _: told)
    monkeypatch.setattr(arguments.platform, "processor", lambda: f"x86 Family 6 Model 207, {maker}")
    assert is_made_by_amd() is expected
