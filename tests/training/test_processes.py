"""How many processes train on a CPU, with how many threads each; and bfloat16 only where it is faster than float32."""

import os
from types import SimpleNamespace

import pytest
import torch
from torch.distributed import TCPStore

from seq2see.training import arguments, processes
from seq2see.training.arguments import Seq2SeeTrainingArguments, is_made_by_amd
from seq2see.training.config import load_config
from seq2see.training.processes import choose_count, on_all_cores
from seq2see.translate.devices import usable_cores


@pytest.fixture
def machine(monkeypatch):
    def pretend(cores, *, amx):
        monkeypatch.delenv("RANK", raising=False)
        monkeypatch.setattr(processes, "usable_cores", lambda: cores)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)

    return pretend


@pytest.mark.parametrize(("cores", "amx", "tokens", "settings", "count"), [
    (2, False, 2048, [], 2),
    (2, False, 512, [], 1),  # a batch too small to share
    (64, False, 8192, [], 8),
    (2, True, 2048, [], 1),  # with AMX one process of two threads is faster
    (2, True, 2048, ["training.cpu_processes=2"], 2),
])
def test_the_count_follows_cores_processor_and_batches(machine, cores, amx, tokens, settings, count):
    machine(cores, amx=amx)
    assert choose_count(load_config("storybook", [f"training.max_tokens={tokens}", *settings])) == count


@pytest.mark.parametrize(("cores", "amx", "threads"), [(2, True, 1), (4, False, 1), (4, True, 2)])
def test_two_processes_share_the_cores_and_the_caller_keeps_its_environment(machine, monkeypatch, cores, amx, threads):
    """The second inherits the number of threads that the first has, and no port is another program's."""
    inherited = []

    def start(*args, **kwargs):
        inherited.append((os.environ["OMP_NUM_THREADS"], os.environ["RANK"], os.environ["MASTER_PORT"]))
        TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"])).add(processes.STARTED, 1)
        return SimpleNamespace(processes=[])

    machine(cores, amx=amx)
    for name in ("MASTER_PORT", "MEANWHILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    before, environment = torch.get_num_threads(), dict(os.environ)
    monkeypatch.setattr(processes, "start_processes", start)
    monkeypatch.setattr(torch.distributed, "init_process_group", lambda backend, **how: None)
    for _ in range(2):
        with on_all_cores(load_config("storybook", ["training.cpu_processes=2"])):
            os.environ["MEANWHILE"] = "stays"
            assert torch.get_num_threads() == threads
    assert [row[:2] for row in inherited] == [(str(threads), "0")] * 2
    assert all(int(port) > 0 for *_, port in inherited)
    assert os.environ.pop("MEANWHILE") == "stays"
    assert (torch.get_num_threads(), dict(os.environ)) == (before, environment)


def test_cores_are_those_that_this_process_may_run_on(monkeypatch):
    """A container, or taskset, leaves it fewer than the machine has; and not every system can tell."""
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {1, 5, 7}, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 9)
    assert usable_cores() == 3
    monkeypatch.delattr("os.sched_getaffinity")
    assert usable_cores() == 9
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert usable_cores() == 1


@pytest.mark.parametrize(("amx", "avx512_bf16", "amd", "expected"), [
    (False, False, False, False), (False, True, True, True), (True, True, False, True),
    (False, True, False, False),  # Intel without AMX: half the speed of float32
])
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
