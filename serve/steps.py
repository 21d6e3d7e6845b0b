"""The three steps of a call of a Translator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seq2see.serve.engine import Engine, Found
from seq2see.serve.plan import Plan
from seq2see.serve.translator import Translation, Translator


@dataclass(frozen=True)
class Job:
    text: str
    source: str
    target: str
    plan: Plan
    work: list[tuple[tuple[int, ...], Plan]]
    sources: tuple[tuple[int, ...], ...]


def prepare(translator: Translator, texts: Sequence[str], *, source: str | None = None,
            target: str | None = None, prefix: str = "", format: str = "text", **settings: Any) -> list[Job]:
    source, target = translator._pair(source, target)
    plan = translator.limits.plan(first=translator._tag(target), **settings)
    jobs = []
    for text in texts:
        text = translator._prepare(text)
        ids = translator.codec.encode([text]) if text.strip() else []
        for one in ids:
            translator._check_length(text, one)
        sources = tuple(map(tuple, ids))
        jobs.append(Job(text, source, target, plan, [(one, plan) for one in sources], sources))
    return jobs


def engine_for(translator: Translator, plan: Plan) -> Engine:
    return translator.engine if plan.temperature is None else translator.torch_engine


def finish(translator: Translator, job: Job, found: Sequence[tuple[Found, ...]]) -> Translation:
    best = found[0] if found else ()
    return translator._translation(job.text, job.source, job.target, best, engine_for(translator, job.plan), job.plan)


Translator.prepare, Translator.engine_for, Translator.finish = prepare, engine_for, finish  # type: ignore
