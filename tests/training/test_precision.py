"""bfloat16 by default only where it is faster than float32."""

import pytest
import torch

from seq2see.training import arguments
from seq2see.training.arguments import Seq2SeeTrainingArguments, is_made_by_amd


@pytest.mark.parametrize(("amx", "avx512_bf16", "amd", "expected"), [
    (False, False, False, False), (False, True, True, True), (True, True, False, True),
    (False, True, False, False),  # Intel without AMX: half the speed of float32
])  # fmt: skip
def test_a_processor_gets_bfloat16_where_it_is_faster_or_it_is_asked_for(
    monkeypatch, tmp_path, amx, avx512_bf16, amd, expected
):
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512_bf16)
    monkeypatch.setattr(arguments, "is_made_by_amd", lambda: amd)
    for asked in (None, True, False):
        made = Seq2SeeTrainingArguments(output_dir=str(tmp_path), use_cpu=True, bf16=asked)
        assert made.bf16 is (expected if asked is None else asked)


@pytest.mark.parametrize(("maker", "linux"), [("AuthenticAMD", True), ("GenuineIntel", True), ("AuthenticAMD", False)])
def test_the_maker_is_read_from_where_the_system_tells_it(monkeypatch, tmp_path, maker, linux):
    told = tmp_path / "cpuinfo"
    if linux:
        told.write_text(f"processor\t: 0\nvendor_id\t: {maker}\n")
    monkeypatch.setattr(arguments, "Path", lambda _: told)
    monkeypatch.setattr(arguments.platform, "processor", lambda: f"x86 Family 6 Model 207, {maker}")
    assert is_made_by_amd() is (maker == "AuthenticAMD")
