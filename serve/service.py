"""What every way to ask for a translation calls, whatever its wire format: the checks, the limits, the batches.

    service = Service({"storybook": translator}, ServerSettings())
    [translation] = await service.translate(Request(("Hello.",), "en", "fr"), caller=caller)

Knows neither FastAPI nor Gradio.  A `Refusal` is the only exception that a caller need expect.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from seq2see.errors import UserError
from seq2see.serve.access import Access, Caller
from seq2see.serve.batcher import Batcher
from seq2see.serve.jobs import Job, Translation
from seq2see.serve.languages import Detection, detect
from seq2see.serve.metrics import Metrics
from seq2see.serve.opened import ModelChanged
from seq2see.serve.plan import Settings
from seq2see.serve.refusal import Refusal
from seq2see.serve.settings import ServerSettings
from seq2see.serve.threads import Threads
from seq2see.serve.translator import Translator

if TYPE_CHECKING:
    from seq2see.lens.trace import Trace

__all__ = ["Caller", "Detection", "Refusal", "Request", "Service"]

Result = TypeVar("Result")
DRAWS = ("temperature", "top_k", "top_p")  # settings, any of which draws translations
MOST_LOOKS = 8  # at work and waiting
LONG_TEXT = 1_000  # characters; longer ones are made ready in a thread, for the event loop has others to serve
log = logging.getLogger("seq2see.serve")


@dataclass(frozen=True)
class Request:
    """Texts to be translated alike.  `source` None or "auto": found out for each; `target` None: the first there is."""

    texts: tuple[str, ...]
    source: str | None
    target: str | None
    format: Literal["text", "html"] = "text"
    settings: Settings = field(default_factory=lambda: Settings())
    model: str | None = None
    prefix: str | tuple[tuple[int, ...], ...] = ""  # this and `parts`: see `Translator.prepare`
    parts: tuple[str, ...] = ()


class Service:
    """Owns the translators, and a batcher for each.  All but `add` and `detect` on one event loop."""

    def __init__(self, models: Mapping[str, Translator] | None = None, settings: ServerSettings | None = None, *,
                 access: Access | None = None, metrics: Metrics | None = None):
        self.settings = settings or ServerSettings()
        self.access = access or Access(rate=self.settings.rate)
        self.metrics = metrics or Metrics()
        self.models: dict[str, Translator] = {}
        self.at_end: list[Callable[[], None]] = []  # what else is to end with it
        self.ready = False  # every model is loaded, and has translated
        self.draining = False  # the end has come: what is running may finish
        self.running = 0
        self._batchers: dict[str, Batcher] = {}  # of searches
        self._drawing: dict[str, Batcher] = {}  # of draws, which torch makes one at a time: nobody else waits for them
        self._threads = Threads(2, "texts")
        self._looking = Threads(1, "looking")
        self._looks = 0
        for name, translator in (models or {}).items():
            self.add(name, translator)
        self.ready = bool(models)

    def add(self, name: str, translator: Translator) -> None:
        """Serve one more model, by this name and no other: clients are not told where its folder is."""
        translator.name = name
        self._batchers[name] = self._batcher(translator, threads=translator.engine.threads)
        self._drawing[name] = self._batcher(translator, threads=1)
        self.models = {**self.models, name: translator}

    def _batcher(self, translator: Translator, *, threads: int) -> Batcher:
        return Batcher(
            lambda sources, plan, wanted: translator.engine_for(plan).translate(sources, plan, wanted=wanted),
            threads=threads,
            batch_tokens=self.settings.batch_tokens,
            queue_tokens=self.settings.queue_tokens,
            wait=self.settings.wait_ms / 1000,
            metrics=self.metrics,
        )

    def close(self) -> None:
        for end in self.at_end:
            end()
        for batcher in (*self._batchers.values(), *self._drawing.values()):
            batcher.close()
        for threads in (self._threads, self._looking):
            threads.close()

    @property
    def busy(self) -> bool:
        """Whether every queue but those of draws is full: no request need be read to be refused."""
        return bool(self._batchers) and all(one.full for one in self._batchers.values())

    def refuse_busy(self) -> Refusal:
        return Refusal(503, "queue_full", "the server is busy: try again in a second", retry_after=1)

    def check_ready(self) -> None:
        """Refusal (503) while the server begins or ends: what it then says of models and languages is not the truth."""
        if self.draining or not self.ready:
            reason = "draining" if self.draining else "loading"
            raise Refusal(503, reason, f"the server is {reason}: try again in a few seconds", retry_after=5)

    @property
    def language_pairs(self) -> list[tuple[str, str]]:
        """All (source, target) pairs of all models, each once."""
        return list(dict.fromkeys(pair for one in self.models.values() for pair in one.language_pairs))

    def detect(self, text: str) -> list[Detection]:
        """Which of the served source languages a text is in, most probable first."""
        return detect(text, (source for source, _ in self.language_pairs))

    async def translate(self, request: Request, *, caller: Caller) -> list[Translation]:
        """A translation of each text, in order."""
        looks = request.format == "html"  # its elements are placed by attention, and the first look loads torch
        seconds = self.settings.look_seconds if looks else self.settings.deadline_seconds
        async with self._serving(request, caller, seconds=seconds):
            return await self._translate(request)

    async def look(self, request: Request, *, caller: Caller, alternative: int = 0,
                   views: Sequence[str] = ("raw",)) -> list[Trace]:
        """The traces of the translations: one for each of their segments."""
        return (await self.translate_and_look(request, caller=caller, alternative=alternative, views=views))[1]

    async def translate_and_look(
        self, request: Request, *, caller: Caller, alternative: int = 0, views: Sequence[str] = ("raw",)
    ) -> tuple[list[Translation], list[Trace]]:
        """Both.  The first look loads the model into torch, which takes seconds; looks are done one at a time."""
        async with self._serving(request, caller, seconds=self.settings.look_seconds), self._in_line():
            longest, most = max(map(len, request.texts)), self.settings.look_characters
            if longest > most:
                raise Refusal(400, "text_too_long",
                              f"a text of {longest} characters: {most} at most can be looked into")
            results = await self._translate(request)
            if not all(one.hypotheses for one in results):
                raise Refusal(400, "blank_text", "there is nothing to look at in a text without words")
            traces = await self._looking.do(lambda: self._traces(request, results, alternative, views))
            return results, traces

    async def examine(self, texts: Sequence[str], work: Callable[[Translator], Result], *, caller: Caller,
                      model: str | None = None) -> Result:
        """What `work` finds in a model, by its name: run where looks are, one at a time, and checked and counted as
        every request is, by the `texts` that it is about."""
        request = Request(tuple(texts), None, None, model=model)
        async with self._serving(request, caller, seconds=self.settings.look_seconds), self._in_line():
            translator = self.models[self.model_for(request, None, None)]
            return await self._looking.do(lambda: work(translator))

    @asynccontextmanager
    async def _in_line(self) -> AsyncIterator[None]:
        """Around each look: no more than so many wait."""
        if self._looks >= MOST_LOOKS:
            raise self.refuse_busy()
        self._looks += 1
        try:
            yield
        finally:
            self._looks -= 1

    def _traces(self, request: Request, results: Sequence[Translation], alternative: int,
                views: Sequence[str]) -> list[Trace]:
        made_by = groupby(results, lambda one: self.model_for(
            request, one.source_language or None, one.target_language or None))
        return [trace for name, group in made_by
                for trace in self.models[name].look(list(group), alternative=alternative, views=views)]

    async def _translate(self, request: Request) -> list[Translation]:
        sources = [await self._source(request, text) for text in request.texts]
        found: list[Translation | None] = [None] * len(sources)
        groups = dict.fromkeys(sources)

        async def one_language(source: str | None) -> None:
            members = [index for index, one in enumerate(sources) if one == source]
            texts = [request.texts[index] for index in members]
            for index, one in zip(members, await self._alike(request, source, texts), strict=True):
                found[index] = one

        await asyncio.gather(*map(one_language, groups))
        return [one for one in found if one is not None]

    async def _alike(self, request: Request, source: str | None, texts: Sequence[str]) -> list[Translation]:
        name = self.model_for(request, source, request.target)
        translator = self.models[name]
        settings = self._bounded(translator, request.settings)
        size = sum(map(len, texts))
        jobs = await self._run(size, lambda: translator.prepare(
            texts, source=source, target=request.target, prefix=request.prefix, parts=request.parts,
            format=request.format, **settings))
        work = [one for job in jobs for one in job.work]
        tokens, most = sum(len(ids) for ids, _ in work), self.settings.queue_tokens
        if tokens > most and len(work) > 1:  # it would keep all others waiting, and come too late
            raise Refusal(400, "too_much_text", f"the request has {tokens} tokens: at most {most} are allowed")
        batchers = self._drawing if jobs[0].plan.temperature is not None else self._batchers
        return await self._finished(translator, batchers[name], jobs, size)

    async def _finished(self, translator: Translator, batcher: Batcher, jobs: Sequence[Job],
                        size: int) -> list[Translation]:
        work = [one for job in jobs for one in job.work]
        outcomes = iter(await batcher.submit(work) if work else [])
        each = [[next(outcomes) for _ in job.work] for job in jobs]
        written = sum(len(one.token_ids) for parts in each for hypotheses in parts for one in hypotheses)
        self.metrics.tokens.labels("target").inc(written)

        def finish() -> list[Translation | Job]:
            return [translator.finish(job, parts) for job, parts in zip(jobs, each, strict=True)]

        if any(job.marked for job in jobs):  # it looks inside the model
            finished = await self._looking.do(finish)
        else:
            finished = await self._run(size, finish)
        again = [one for one in finished if isinstance(one, Job)]
        others = iter(await self._finished(translator, batcher, again, size) if again else ())
        return [next(others) if isinstance(one, Job) else one for one in finished]

    # --- which model, which language

    def model_for(self, request: Request, source: str | None, target: str | None) -> str:
        """The model asked for, or the first that has the pair."""
        if request.model is not None and request.model not in self.models:
            raise Refusal(404, "unknown_model", f"no such model here: there is {', '.join(self.models)}")
        names = [request.model] if request.model is not None else list(self.models)
        for name in names:
            pairs = self.models[name].language_pairs
            if not pairs or any(source in (None, a) and target in (None, b) for a, b in pairs):
                return name
        known = ", ".join(f"{a} to {b}" for name in names for a, b in self.models[name].language_pairs)
        raise Refusal(400, "unknown_language", f"that pair of languages is not served; there is {known}")

    async def _source(self, request: Request, text: str) -> str | None:
        """The language asked for, or the likeliest of those that can be translated as asked; None: the model's own."""
        if request.source not in (None, "auto"):
            return request.source
        self.model_for(request, None, request.target)
        names = [request.model] if request.model is not None else list(self.models)
        pairs = [pair for name in names for pair in self.models[name].language_pairs]
        sources = list(dict.fromkeys(a for a, b in pairs if request.target in (None, b)))
        if len(sources) < 2:
            return sources[0] if sources else None
        return (await self._run(LONG_TEXT, lambda: detect(text, sources)))[0].language

    # --- limits

    def _check(self, request: Request) -> None:
        limits = self.settings
        if not request.texts:
            raise Refusal(400, "no_text", "there is no text to translate")
        if len(request.texts) > limits.texts:
            raise Refusal(400, "too_many_texts", f"{len(request.texts)} texts: {limits.texts} at most are taken")
        begun = request.prefix if isinstance(request.prefix, str) else [id for ids in request.prefix for id in ids]
        for what, longest in (("text", max(map(len, request.texts))), ("prefix", len(begun))):
            if longest > limits.characters:
                raise Refusal(400, f"{what}_too_long",
                                   f"a {what} of {longest} characters: {limits.characters} at most are taken")
        draws = any(request.settings.get(name) is not None for name in DRAWS)
        found = limits.alternatives if draws else min(limits.alternatives, limits.beams)  # each takes a beam
        for name, most in (("num_beams", limits.beams), ("alternatives", found), ("max_new_tokens", limits.new_tokens)):
            value: Any = request.settings.get(name)
            if isinstance(value, int) and value > most:
                raise Refusal(400, f"{name}_too_large", f"{name} {value}: {most} at most are allowed")

    def _bounded(self, translator: Translator, settings: Settings) -> dict[str, Any]:
        """The settings, and where they leave something to the checkpoint, no more of it than the server allows."""
        bounded: dict[str, Any] = {**settings}
        usual = translator.limits.plan()
        if bounded.get("max_new_tokens") is None and usual.max_length > self.settings.new_tokens:
            bounded["max_new_tokens"] = self.settings.new_tokens
        draws = any(bounded.get(name) is not None for name in DRAWS)
        if bounded.get("num_beams") is None and usual.num_beams > self.settings.beams and not draws:
            bounded["num_beams"] = self.settings.beams
        return bounded

    @asynccontextmanager
    async def _serving(self, request: Request, caller: Caller, *, seconds: float) -> AsyncIterator[None]:
        """Around each request: whether it may begin, and the counting of what becomes of it."""
        try:
            self.check_ready()
            self._check(request)
            self.access.spend(caller, len(request.texts))
            async with self._running(seconds):
                yield
        except Refusal as error:
            self.metrics.refused(error)
            raise

    @asynccontextmanager
    async def _running(self, seconds: float) -> AsyncIterator[None]:
        """Around the work: how long it may take, and what is said where it fails."""
        self.running += 1
        self.metrics.running.inc()
        began = time.perf_counter()
        outcome = "failed"
        try:
            async with asyncio.timeout(seconds):
                yield
            outcome = "done"
            self.metrics.latency.observe(time.perf_counter() - began)
        except Refusal:
            outcome = "refused"
            raise
        except ModelChanged as error:
            outcome = "refused"
            raise Refusal(503, "model_changed", str(error)) from None
        except UserError as error:
            outcome = "refused"
            raise Refusal(400, "invalid", str(error)) from None
        except TimeoutError:
            outcome = "late"
            raise Refusal(504, "deadline", "the translation took too long: send less text") from None
        except asyncio.CancelledError:
            outcome = "cancelled"
            self.metrics.cancelled.inc()
            raise
        except BaseException as error:  # a panic of the tokenizer is one
            log.error("a request failed: %s", type(error.__cause__ or error).__name__)  # its message may hold the text
            raise Refusal(500, "failed", "the translation failed; the fault is the server's") from None
        finally:
            self.running -= 1
            self.metrics.running.dec()
            self.metrics.requests.labels(outcome).inc()

    # --- threads

    async def _run(self, size: int, work: Callable[[], Result]) -> Result:
        """Work on texts of so many characters: at once where it is short."""
        return work() if size < LONG_TEXT else await self._threads.do(work)
