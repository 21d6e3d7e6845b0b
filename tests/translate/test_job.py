"""Steps that want an engine: whatever shares its batches, each is sent what was found for its own work."""

import random

from seq2see.translate.job import Job, together


def steps(draw, name, *, depth=2):
    """Some rounds of work, of which each item has a name; inside them others at the same time.  The result is all that
    was found, in order."""
    found = []
    for turn in range(draw.randrange(3)):
        work = [f"{name}.{turn}.{number}" for number in range(draw.randrange(1, 4))]
        found += yield work
        if depth:
            inner = [steps(draw, f"{name}.{turn}/{number}", depth=depth - 1) for number in range(draw.randrange(4))]
            found += sum((yield from together(inner)), [])
    return found


def alone(many):
    """One after the other."""
    results = []
    for one in many:
        job = Job(one)
        while job.work:
            job.advance([work.upper() for work in job.work])
        results.append(job.result)
    return results


def test_each_is_sent_what_was_found_for_its_own_work():
    rounds, most = [], 0
    for seed in range(50):
        job = Job(together([steps(random.Random(f"{seed}.{number}"), str(number)) for number in range(5)]))
        while job.work:
            rounds.append(len(job.work))
            most = max(most, len({work[0] for work in job.work}))
            job.advance([work.upper() for work in job.work])
        assert job.result == alone(steps(random.Random(f"{seed}.{number}"), str(number)) for number in range(5))
    assert most == 5 and len(set(rounds)) > 5, "they never shared a batch, or always the same"


def test_without_work_there_is_a_result_at_once():
    job = Job(together([]))
    assert (job.work, job.result) == ([], [])
