"""Generators of work for an engine: whatever shares its batches, each is sent what was found for its own work."""

import random

from seq2see.translate.job import Job, together


def steps(draw, name, *, depth=2):
    """Some rounds of work, inside them others at the same time.  The result is all that was found, in order."""
    found = []
    for turn in range(draw.randrange(3)):
        found += yield [f"{name}.{turn}.{number}" for number in range(draw.randrange(1, 4))]
        if depth:
            inner = [steps(draw, f"{name}.{turn}/{number}", depth=depth - 1) for number in range(draw.randrange(4))]
            found += sum((yield from together(inner)), [])
    return found


def some(seed):
    return [steps(random.Random(f"{seed}.{number}"), str(number)) for number in range(5)]


def run(job):
    """The result, and how many items each batch had."""
    sizes = []
    while job.work:
        sizes.append(len(job.work))
        job.advance([work.upper() for work in job.work])
    return job.result, sizes


def test_each_is_sent_what_was_found_for_its_own_work():
    seen = set()
    for seed in range(50):
        found, sizes = run(Job(together(some(seed))))
        assert found == [run(Job(one))[0] for one in some(seed)]
        seen.update(sizes)
    assert len(seen) > 5, "they never shared a batch, or always the same"
    assert run(Job(together([]))) == ([], [])
