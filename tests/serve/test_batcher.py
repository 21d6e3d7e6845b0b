"""The batcher: what shares a call of the engine, what is refused, and that no failure of one touches another."""

import asyncio
import threading

import pytest
from serving import Panic

from seq2see.serve.api_errors import APIError
from seq2see.serve.batcher import Batcher
from seq2see.serve.server_metrics import Metrics
from seq2see.translate.decoding import DecodingOptions
from seq2see.translate.results import Hypothesis

pytestmark = pytest.mark.anyio
GREEDY, BEAMS = DecodingOptions(), DecodingOptions(num_beams=4)


class Engine:
    """Says each source backwards; `gate` holds its calls, a source that begins with 666 makes it panic."""

    def __init__(self):
        self.calls = []
        self.wanted = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def translate(self, sources, options, wanted):
        self.calls.append((list(sources), options))
        self.entered.set()
        assert self.gate.wait(60)
        self.wanted.append([wanted(index) for index in range(len(sources))])
        if any(source[0] == 666 for source in sources):
            raise Panic("the text of a user")
        return answer(*sources)

    async def hold(self, *work):
        """Keep this work in a call until the gate opens."""
        self.gate.clear()
        tasks = [asyncio.create_task(one) for one in work]
        while not self.entered.is_set():
            await asyncio.sleep(0.001)
        return tasks


@pytest.fixture
def engine():
    made = Engine()
    yield made
    made.gate.set()


def batcher(engine, *, threads=1, batch_tokens=100, queue_tokens=1000, wait=0.01):
    return Batcher(engine.translate, threads=threads, batch_tokens=batch_tokens, queue_tokens=queue_tokens, wait=wait,
                   metrics=Metrics())


def answer(*sources):
    return [(Hypothesis("", tuple(source)[::-1], 0.0, 0.0, True),) for source in sources]


async def test_each_gets_its_own_answer_whatever_shares_the_batch(engine):
    one = batcher(engine, threads=2)
    sources = [(number, *range(number % 7)) for number in range(100)]
    work = [(source, GREEDY if number % 3 else BEAMS) for number, source in enumerate(sources)]
    found = await asyncio.gather(*(one.submit(work[number : number + 2]) for number in range(0, 100, 2)))
    assert sum(found, []) == answer(*sources)
    assert len(engine.calls) < 30 and sum(len(sources) for sources, _ in engine.calls) == 100
    for sources, options in engine.calls:
        assert all((source[0] % 3 != 0) == (options == GREEDY) for source in sources)


@pytest.mark.parametrize(("lengths", "settings", "sizes"), [
    ([4] * 5 + [50], {"batch_tokens": 10}, [2, 2, 1, 1]),  # a longer source goes alone
    ([2] * 20, {"threads": 2}, [10, 10]),
    ([2, 2], {"batch_tokens": 4, "wait": 300}, [2]),  # what is full does not wait
])
async def test_batches_are_full_and_shared_among_free_threads(engine, lengths, settings, sizes):
    one = batcher(engine, **settings)
    sources = [(number,) * length for number, length in enumerate(lengths)]
    found = await asyncio.wait_for(one.submit([(source, GREEDY) for source in sources]), 60)
    assert found == answer(*sources) and [len(sources) for sources, _ in engine.calls] == sizes


async def test_the_shortest_and_the_oldest_request_go_first_by_turns(engine):
    one, long = batcher(engine, batch_tokens=10, wait=0), [((number,) * 10, GREEDY) for number in range(3)]
    waiting = await engine.hold(one.submit([((9,), GREEDY)]))
    short = [[((number,) * 8, GREEDY)] for number in (5, 6, 7)]
    waiting += [asyncio.create_task(one.submit(work)) for work in (long, *short)]
    await asyncio.sleep(0.01)
    engine.gate.set()
    await asyncio.gather(*waiting)
    assert [sources[0][0] for sources, _ in engine.calls] == [9, 5, 0, 6, 1, 7, 2]


async def test_the_shortest_goes_first_with_whatever_options(engine):
    one = batcher(engine, wait=0)
    waiting = await engine.hold(one.submit([((9,), GREEDY)]))
    waiting += [asyncio.create_task(one.submit([work])) for work in (((1,) * 8, GREEDY), ((2,), BEAMS))]
    await asyncio.sleep(0.01)
    engine.gate.set()
    await asyncio.gather(*waiting)
    assert [options for _, options in engine.calls] == [GREEDY, BEAMS, GREEDY]


async def test_who_follows_one_alone_does_not_wait_and_who_follows_several_does(engine):
    one, full, small = batcher(engine, wait=300, batch_tokens=10), ((0,) * 5, GREEDY), ((1,), GREEDY)
    await one.submit([full, full])  # alone
    assert await asyncio.wait_for(one.submit([small]), 60) == answer((1,))
    held = await engine.hold(one.submit([small]))
    held += [asyncio.create_task(one.submit([full])) for _ in range(2)]
    await asyncio.sleep(0.01)
    engine.gate.set()
    await asyncio.wait_for(asyncio.gather(*held), 60)
    waits = asyncio.create_task(one.submit([small]))
    await asyncio.sleep(0.05)
    assert [len(sources) for sources, _ in engine.calls] == [2, 1, 1, 2] and not waits.done()
    waits.cancel()


async def test_a_full_queue_refuses_at_once_and_those_in_it_finish(engine):
    one = batcher(engine, queue_tokens=10, wait=0)
    accepted = await engine.hold(one.submit([((0,) * 8, GREEDY)]))  # with the engine, no longer in the queue
    accepted.append(asyncio.create_task(one.submit([((1,) * 8, GREEDY)])))
    await asyncio.sleep(0)
    with pytest.raises(APIError) as refused:
        await asyncio.wait_for(one.submit([((2,) * 8, GREEDY)]), 1)
    assert (refused.value.status, refused.value.code) == (503, "queue_full")
    assert refused.value.headers["Retry-After"] == "1"
    engine.gate.set()
    assert await asyncio.gather(*accepted) == [answer((0,) * 8), answer((1,) * 8)]
    assert await one.submit([((3,) * 50, GREEDY)]) == answer((3,) * 50), "an empty queue takes anything"
    assert one.queued == 0 == one.metrics.registry.get_sample_value("seq2see_queue_tokens")


async def test_it_is_full_from_the_first_refusal_until_there_is_much_room(engine):
    """So that further requests are refused before their bodies are read."""
    one = batcher(engine, queue_tokens=80, wait=0)
    held = await engine.hold(one.submit([((0,), GREEDY)]))
    waiting = [asyncio.create_task(one.submit([((n,) * 4, GREEDY)])) for n in range(1, 20)]
    await asyncio.sleep(0)
    assert one.queued == 76 and not one.full, "small ones fit"
    for _ in range(2):
        with pytest.raises(APIError):
            await one.submit([((99,) * 5, GREEDY)])
        assert one.full
    waiting.pop().cancel()
    await asyncio.sleep(0.01)
    assert one.queued == 72 and one.full
    waiting.pop().cancel()
    await asyncio.sleep(0.01)
    assert one.queued == 68 and not one.full
    waiting.append(asyncio.create_task(one.submit([((98,) * 4, GREEDY)])))
    await asyncio.sleep(0)
    assert one.queued == 72 and not one.full, "it has had room since"
    engine.gate.set()
    await asyncio.gather(*held, *waiting)


async def test_a_poisoned_source_fails_alone_and_the_thread_lives_on(engine):
    one = batcher(engine)
    work = [one.submit([((number, 5), GREEDY)]) for number in (1, 666, 2)]
    good, bad, other = await asyncio.gather(*work, return_exceptions=True)
    assert (good, other) == (answer((1, 5)), answer((2, 5)))
    assert isinstance(bad, RuntimeError) and isinstance(bad.__cause__, Panic)
    assert "text of a user" not in str(bad)
    assert await one.submit([((7,), GREEDY)]) == answer((7,))


async def test_who_goes_while_waiting_never_reaches_the_engine(engine):
    one = batcher(engine, wait=0)
    [running] = await engine.hold(one.submit([((1,), GREEDY)]))
    gone = [asyncio.create_task(one.submit([((2, number), GREEDY)])) for number in range(50)]
    stays = asyncio.create_task(one.submit([((3,), GREEDY)]))
    await asyncio.sleep(0.01)
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    assert one.queued == 1
    engine.gate.set()
    assert await running == answer((1,)) and await stays == answer((3,))
    assert engine.calls == [([(1,)], GREEDY), ([(3,)], GREEDY)]


async def test_the_engine_is_told_who_is_gone_while_it_works_and_the_others_are_answered(engine):
    one = batcher(engine)
    goes, stays = await engine.hold(*(one.submit([((number,), GREEDY)]) for number in (1, 2)))
    goes.cancel()
    await asyncio.sleep(0.01)
    engine.gate.set()
    assert await stays == answer((2,)) and goes.cancelled()
    assert (one.free, one.queued, one._waiting) == (1, 0, {})
    assert engine.wanted == [[False, True]]
