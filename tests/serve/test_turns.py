"""Turns: who goes first, and that what nobody waits for stops."""

import asyncio
import threading
import time
from functools import partial

import pytest

from seq2see.passes.pausing import Stopped, pause, pausing
from seq2see.serve import turns as turns_module
from seq2see.serve.api_errors import APIError
from seq2see.serve.turns import Turns

pytestmark = pytest.mark.anyio


@pytest.fixture
def turns(monkeypatch):
    """With a clock that only passes move on, by a second each."""
    made = Turns(8)
    made.now, made.log, made.gate = 0.0, [], threading.Event()
    made.gate.set()
    monkeypatch.setattr(turns_module, "monotonic", lambda: made.now)
    yield made
    made.gate.set()
    made.close()


def take_turns(turns, name, passes):
    """A look with this many passes; each waits for the gate, then is recorded."""
    def work():
        for _ in range(passes):
            pause()
            assert turns.gate.wait(60)
            turns.log.append(name)
            turns.now += 1
        return name

    return asyncio.create_task(turns.run(name[0], work))


async def arrive(turns, *looks):
    """Begin looks in this order while the gate is shut: all are present before the first pass ends."""
    turns.gate.clear()
    tasks = []
    for name, passes in looks:
        tasks.append(take_turns(turns, name, passes))
        await asyncio.sleep(0.05)
    turns.gate.set()
    return tasks


async def test_a_short_look_overtakes_long_ones_of_anybody(turns):
    tasks = await arrive(turns, ("a-long", 50), ("b-long", 50), ("c-long", 50), ("a-short", 1), ("d-short", 1))
    await asyncio.gather(*tasks)
    first = turns.log[:8]
    assert {"a-short", "d-short"} <= set(first), turns.log
    assert {name: turns.log.count(name) for name in set(turns.log)} == {
        "a-long": 50, "b-long": 50, "c-long": 50, "a-short": 1, "d-short": 1}


async def test_looks_of_one_client_queue_behind_those_of_others(turns):
    tasks = await arrive(turns, ("a1", 3), ("a2", 3), ("a3", 3), ("b1", 3))
    await asyncio.gather(*tasks)
    assert turns.log[:2] == ["a1", "b1"], "a has had a turn when b comes"
    last_of_b = len(turns.log) - turns.log[::-1].index("b1")
    assert last_of_b <= 7, f"b waits for as much of a's as it had itself: {turns.log}"


async def test_each_computes_alone(turns):
    inside = []

    def work():
        for _ in range(20):
            pause()
            inside.append(1)
            time.sleep(0.0005)
            assert sum(inside) == 1
            inside.pop()

    await asyncio.gather(*(turns.run(str(number % 3), work) for number in range(8)))


@pytest.mark.parametrize("waits", [False, True])
async def test_what_nobody_waits_for_stops_at_its_next_pass_and_leaves_no_trace(turns, waits):
    long, other = await arrive(turns, ("a-long", 10**6), ("b", 10**6 if waits else 1))
    await asyncio.sleep(0.05)
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long
    await asyncio.sleep(0.2)
    count = turns.log.count("a-long")
    await asyncio.sleep(0.1)
    assert turns.log.count("a-long") == count < 10**6
    other.cancel()
    await asyncio.wait([other])
    for _ in range(100):
        await asyncio.sleep(0.01)
        if not turns._present:
            break
    assert not turns._present and not turns._spent and turns._running is None
    assert await take_turns(turns, "c", 2) == "c"


async def test_too_many_are_refused_and_places_are_free_again(turns):
    turns.most = 2
    turns.gate.clear()
    two = [take_turns(turns, name, 1) for name in "ab"]
    await asyncio.sleep(0.05)
    with pytest.raises(APIError) as refused:
        await take_turns(turns, "c", 1)
    assert (refused.value.status, refused.value.code, turns.full) == (503, "queue_full", True)
    turns.gate.set()
    assert await asyncio.gather(*two) == ["a", "b"]
    assert await take_turns(turns, "c", 1) == "c"


async def test_an_error_reaches_the_caller_and_the_next_goes_on(turns):
    def work():
        pause()
        raise ValueError("told")

    with pytest.raises(ValueError, match="told"):
        await turns.run("a", work)
    assert await take_turns(turns, "b", 1) == "b"


def test_passes_call_what_the_innermost_block_says_and_nothing_outside():
    calls = []
    with pausing(partial(calls.append, "outer")):
        with pausing(partial(calls.append, "inner")):
            pause()
        pause()
    pause()
    assert calls == ["inner", "outer"]


async def test_closing_stops_all(turns):
    tasks = await arrive(turns, ("a", 10**6), ("b", 10**6))
    turns.close()
    found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)
    assert all(isinstance(one, Stopped) for one in found)
