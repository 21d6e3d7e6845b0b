"""The batcher: what shares a call of the engine, what is refused, and that no failure of one touches another."""

import asyncio
import threading

import pytest

from seq2see.serve.batcher import Batcher
from seq2see.serve.errors import APIError
from seq2see.serve.metrics import Metrics
from seq2see.translate.decoding import DecodingOptions
from seq2see.translate.results import Hypothesis

GREEDY, BEAMS = DecodingOptions(), DecodingOptions(num_beams=4)


class Panic(BaseException):
    """As the Rust part of a tokenizer raises it: no Exception."""


class Engine:
    """Says each source backwards; `gate` holds its calls, a source that begins with 666 makes it panic."""

    def __init__(self):
        self.calls = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def translate(self, sources, options, wanted):
        self.calls.append((list(sources), options))
        self.entered.set()
        assert self.gate.wait(20)
        if any(source[0] == 666 for source in sources):
            raise Panic("the text of a user")
        return [(Hypothesis("", source[::-1], 0.0, 0.0, True),) for source in sources]

    @property
    def sizes(self):
        return [len(sources) for sources, _ in self.calls]


@pytest.fixture
def engine():
    made = Engine()
    yield made
    made.gate.set()


def batcher(engine, *, threads=1, batch_tokens=100, queue_tokens=1000, wait=0.0):
    return Batcher(engine.translate, threads=threads, batch_tokens=batch_tokens, queue_tokens=queue_tokens, wait=wait,
                   metrics=Metrics())


def answer(source):
    return [(Hypothesis("", tuple(source)[::-1], 0.0, 0.0, True),)]


async def held(engine):
    """Wait until the engine is in a call."""
    while not engine.entered.is_set():
        await asyncio.sleep(0.001)


def value(metric):
    [family] = metric.collect()
    return family.samples[0].value


def test_each_gets_its_own_answer_whatever_shares_the_batch(engine):
    async def run():
        one = batcher(engine, threads=2, wait=0.01)
        sources = [(number, *range(number % 7)) for number in range(100)]
        plans = [GREEDY if number % 3 else BEAMS for number in range(100)]
        work = list(zip(sources, plans, strict=True))
        found = await asyncio.gather(*(one.submit(work[number : number + 2]) for number in range(0, 100, 2)))
        assert sum(found, []) == sum(map(answer, sources), [])

    asyncio.run(run())
    assert len(engine.calls) < 30
    assert sum(engine.sizes) == 100
    for sources, plan in engine.calls:
        assert all((source[0] % 3 != 0) == (plan == GREEDY) for source in sources)


def test_a_batch_has_at_most_so_many_pieces_and_one_longer_source_goes_alone(engine):
    async def run():
        one = batcher(engine, batch_tokens=10, wait=0.01)
        work = [((number,) * 4, GREEDY) for number in range(5)] + [((9,) * 50, GREEDY)]
        assert await one.submit(work) == [found for source, _ in work for found in answer(source)]

    asyncio.run(run())
    assert engine.sizes == [2, 2, 1, 1]


def test_what_waits_is_shared_among_free_threads(engine):
    async def run():
        one = batcher(engine, threads=2, wait=0.01)
        await one.submit([((number,) * 2, GREEDY) for number in range(20)])

    asyncio.run(run())
    assert engine.sizes == [10, 10]


def test_one_that_comes_a_moment_later_shares_the_batch(engine):
    async def run():
        one = batcher(engine, wait=0.2)
        first = asyncio.create_task(one.submit([((1, 2), GREEDY)]))
        await asyncio.sleep(0.02)
        await asyncio.gather(first, one.submit([((3, 4), GREEDY)]))

    asyncio.run(run())
    assert engine.sizes == [2]


def test_the_oldest_goes_first_so_that_no_plan_starves(engine):
    async def run():
        one = batcher(engine)
        engine.gate.clear()
        work = [asyncio.create_task(one.submit([((number,), plan)]))
                for number, plan in enumerate([GREEDY, BEAMS, GREEDY, GREEDY])]
        await held(engine)
        engine.gate.set()
        await asyncio.gather(*work)

    asyncio.run(run())
    assert [plan for _, plan in engine.calls] == [GREEDY, BEAMS, GREEDY]


def test_a_full_queue_refuses_at_once_and_those_in_it_finish(engine):
    async def run():
        one = batcher(engine, queue_tokens=10)
        engine.gate.clear()
        accepted = [asyncio.create_task(one.submit([((0,) * 8, GREEDY)]))]
        await held(engine)  # it is with the engine, and no longer in the queue
        accepted.append(asyncio.create_task(one.submit([((1,) * 8, GREEDY)])))
        await asyncio.sleep(0)
        with pytest.raises(APIError) as api_error:
            await asyncio.wait_for(one.submit([((2,) * 8, GREEDY)]), 1)
        assert (api_error.value.status, api_error.value.code) == (503, "queue_full")
        assert api_error.value.headers["Retry-After"] == "1"
        engine.gate.set()
        assert await asyncio.gather(*accepted) == [answer((0,) * 8), answer((1,) * 8)]
        assert await one.submit([((3,) * 50, GREEDY)]) == answer((3,) * 50), "an empty queue takes anything"
        assert one.queued == 0 == value(one.metrics.queued)

    asyncio.run(run())


def test_a_poisoned_source_fails_alone_and_the_thread_lives_on(engine):
    async def run():
        one = batcher(engine, wait=0.01)
        work = [one.submit([((number, 5), GREEDY)]) for number in (1, 666, 2)]
        good, bad, other = await asyncio.gather(*work, return_exceptions=True)
        assert (good, other) == (answer((1, 5)), answer((2, 5)))
        assert isinstance(bad, RuntimeError) and isinstance(bad.__cause__, Panic)
        assert "text of a user" not in str(bad)
        assert await one.submit([((7,), GREEDY)]) == answer((7,))

    asyncio.run(run())
    assert engine.sizes == [3, 1, 1, 1, 1]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, StopIteration, MemoryError])
def test_whatever_the_engine_raises_the_loop_lives(error):
    def translate(sources, options, wanted):
        raise error("no")

    async def run():
        one = Batcher(translate, threads=1, batch_tokens=9, queue_tokens=9, wait=0, metrics=Metrics())
        for _ in range(2):
            with pytest.raises(RuntimeError):
                await asyncio.wait_for(one.submit([((1,), GREEDY)]), 5)

    asyncio.run(run())


def test_an_engine_that_loses_a_result_is_noticed(engine):
    async def run():
        one = batcher(engine)
        one.translate = lambda sources, options, wanted: []
        with pytest.raises(RuntimeError):
            await asyncio.wait_for(one.submit([((1,), GREEDY), ((2,), GREEDY)]), 5)

    asyncio.run(run())


def test_who_goes_while_waiting_never_reaches_the_engine(engine):
    async def run():
        one = batcher(engine)
        engine.gate.clear()
        running = asyncio.create_task(one.submit([((1,), GREEDY)]))
        await held(engine)
        gone = [asyncio.create_task(one.submit([((2, number), GREEDY)])) for number in range(50)]
        stays = asyncio.create_task(one.submit([((3,), GREEDY)]))
        await asyncio.sleep(0.01)
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        assert one.queued == 1
        engine.gate.set()
        assert await running == answer((1,)) and await stays == answer((3,))

    asyncio.run(run())
    assert engine.calls == [([(1,)], GREEDY), ([(3,)], GREEDY)]


def test_who_goes_while_the_engine_works_leaves_the_others_their_answers(engine):
    async def run():
        one = batcher(engine, wait=0.01)
        engine.gate.clear()
        goes, stays = (asyncio.create_task(one.submit([((number,), GREEDY)])) for number in (1, 2))
        await held(engine)
        goes.cancel()
        engine.gate.set()
        assert await stays == answer((2,))
        assert goes.cancelled() or (await asyncio.gather(goes, return_exceptions=True))
        assert one.free == 1 and one.queued == 0 and not one._waiting

    asyncio.run(run())


def test_the_engine_is_told_who_is_gone_while_it_works(engine):
    told = []

    def translate(sources, options, wanted):
        found = Engine.translate(engine, sources, options, wanted)
        told.append([wanted(index) for index in range(len(sources))])
        return found

    async def run():
        one = batcher(engine, wait=0.01)
        one.translate = translate
        engine.gate.clear()
        goes, stays = (asyncio.create_task(one.submit([((number,), GREEDY)])) for number in (1, 2))
        await held(engine)
        goes.cancel()
        await asyncio.sleep(0.01)
        engine.gate.set()
        await stays

    asyncio.run(run())
    assert told == [[False, True]]


def test_nothing_of_five_hundred_that_went_is_kept(engine):
    async def run():
        one = batcher(engine)
        for number in range(500):
            task = asyncio.create_task(one.submit([((number,), GREEDY)] * 3))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        while one.free != 1:
            await asyncio.sleep(0.001)
        assert (one.queued, one._waiting) == (0, {})

    asyncio.run(run())


def test_sources_and_their_tokens_are_counted(engine):
    async def run():
        made = batcher(engine)
        await made.submit([((1, 2, 3), GREEDY), ((4, 5), GREEDY)])
        made.close()
        return made.metrics.registry.get_sample_value

    sample = asyncio.run(run())
    assert (sample("seq2see_batch_sources_sum"), sample("seq2see_batch_sources_count")) == (2, 1)
    assert sample("seq2see_tokens_total", {"side": "source"}) == 5


def test_a_batch_does_not_wait_when_it_is_full(engine):
    async def run():
        one = batcher(engine, batch_tokens=4, wait=300)
        return await asyncio.wait_for(one.submit([((1, 2), GREEDY), ((3, 4), GREEDY)]), 60)

    assert len(asyncio.run(run())) == 2
