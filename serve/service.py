"""The service behind every API: checks, limits and batches.

    service = Service({"storybook": translator}, ServerSettings())
    [translation] = await service.translate(["Hello."], source="en", target="fr", caller=caller)

Independent of FastAPI and Gradio.  `APIError` is the only exception that a caller need expect.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from seq2see.errors import UserError
from ..lens.pausing import Stopped, pausing
from ..lens.views import SLOW
from ..tokenizer.language_pairs import LanguagePairs
from ..translate.decoding import NO_OPTIONS, DecodingOptions
from ..translate.loaded_checkpoint import ModelChanged
from ..translate.results import Translation
from ..translate.translator import Format, Translator
from .access import AccessControl, Caller, read_keys
from .api_errors import APIError
from .batcher import WORKER, Batcher
from .language_detection import ALIASES, Detection, detect
from .limits import bounded, check_look_size, check_passes, check_size, check_tokens
from .server_metrics import Metrics, with_engines
from .settings import ServerSettings
from .turns import Turns

if TYPE_CHECKING:
    from ..lens.trace import Trace
    from .replicated import Engines

Result = TypeVar("Result")
MOST_LOOKS = 32  # running and waiting: a class that clicks at once
LONG_TEXT = 1_000  # characters; longer texts are prepared in a thread, to keep the event loop free
OUTCOMES = {500: "failed", 504: "late"}  # of requests that end with an error, for the metrics; otherwise "refused"
log = logging.getLogger("seq2see.serve")


class RequestOptions(TypedDict, total=False):
    """How to translate; defaults come from the checkpoint."""

    source: str | None  # None or "auto": detected for each text
    target: str | None  # None: the first
    model: str | None  # None: the first with the language pair
    format: Format
    options: DecodingOptions
    prefix: str
    keep: str  # a pattern: what it matches stays


class Service:
    """Owns the translators and their batchers, unless it has `engines` elsewhere.  Everything except `add` and `detect`
    runs on one event loop."""

    def __init__(self, models: Mapping[str, Translator] | None = None, settings: ServerSettings | None = None, *,
                 access: AccessControl | None = None, engines: Engines | None = None):
        self.engines = engines
        self.example: str | None = None  # of these: see `example_model`
        self.settings = settings or ServerSettings()
        self.access = access or AccessControl(read_keys(self.settings.keys_file),
                                              texts_per_minute=self.settings.texts_per_minute)
        self.metrics = Metrics()
        self.models: dict[str, Translator] = {}
        self.at_end: list[Callable[[], None]] = []  # called by `close`
        self.ready = False  # every model is loaded and has passed a test translation
        self._batchers: dict[tuple[str, bool], Batcher] = {}  # by model and whether it samples
        self._threads = ThreadPoolExecutor(2, WORKER)
        self._markup = ThreadPoolExecutor(1, WORKER)
        self._looks = Turns(MOST_LOOKS)
        for name, translator in (models or {}).items():
            self.add(name, translator)
        self.ready = bool(models)

    def add(self, name: str, translator: Translator) -> None:
        """Serve one more model under this name: clients must not learn its folder."""
        translator.name = name
        for sampling, threads in ((False, translator.engine.threads), (True, 1)):  # torch samples one at a time
            batcher = Batcher(
                lambda sources, options, wanted: translator.engine_for(options).translate(
                    sources, options, wanted=wanted),
                threads=threads, batch_tokens=self.settings.batch_tokens, queue_tokens=self.settings.queue_tokens,
                wait=self.settings.wait_ms / 1000, metrics=self.metrics)
            self._batchers[name, sampling] = batcher
        self.models = {**self.models, name: translator}

    def expect_looks(self) -> None:
        """Load the first model into torch in the background: who opens the page will look inside it, and would wait.
        Engines elsewhere load what they need."""
        if self.engines:
            return

        def load() -> None:
            with first.twin():
                pass

        first = next(iter(self.models.values()))
        self._threads.submit(load)

    def close(self) -> None:
        for end in self.at_end:
            end()
        for batcher in self._batchers.values():
            batcher.close()
        for threads in (self._threads, self._markup):
            threads.shutdown(wait=False, cancel_futures=True)
        self._looks.close()

    def check_ready(self) -> None:
        """APIError (503) while the server starts and its lists of models and languages are incomplete."""
        if not self.ready:
            raise APIError(503, "loading", "the server is loading: try again in a few seconds", retry_after=5)

    @property
    def language_pairs(self) -> LanguagePairs:
        """The (source, target) pairs of all models."""
        return LanguagePairs.union(one.language_pairs for one in self.models.values())

    def detect(self, text: str) -> list[Detection]:
        """The source languages that a text may be in, most probable first."""
        return detect(text, self.language_pairs.sources)

    def is_full(self, *, looks: bool) -> bool:
        """Whether there is no room, whichever model a request is for."""
        searching = [batcher for (_, sampling), batcher in self._batchers.items() if not sampling]
        return self._looks.full if looks else bool(searching) and all(batcher.full for batcher in searching)

    # --- requests

    async def translate(self, texts: Sequence[str], *, caller: Caller,
                        **request: Unpack[RequestOptions]) -> list[Translation]:
        """A translation of each text, in order."""
        looks = request.get("format") == "html"  # its elements are placed by attention, which may have to load torch
        seconds = self.settings.look_seconds if looks else self.settings.deadline_seconds
        async with self.serving(texts, caller, seconds, **request):
            return await self._do(self._translate, texts, **request)

    async def translate_and_look(self, text: str, *, caller: Caller, alternative: int = 0,
                                 views: Sequence[str] = ("raw",), evidence: bool = False,
                                 **request: Unpack[RequestOptions]) -> tuple[Translation, list[Trace]]:
        """The translation, and the traces of one of its hypotheses: one per segment.  `evidence` says that the caller
        will ask for it: APIError (400) if that would take too long.

        The first call loads the model into torch, which takes seconds; calls take turns.
        """
        async with self.serving([text], caller, self.settings.look_seconds, **request):
            return await self._do(self._translate_and_look, text, client=caller.address, alternative=alternative,
                                  views=views, evidence=evidence, **request)

    async def examine(self, text: str, work: Callable[[Translator], Result], *, caller: Caller,
                      model: str | None = None, options: DecodingOptions = NO_OPTIONS, prefix: str = "") -> Result:
        """The result of `work` on the named model, which takes turns; checked and counted like any request."""
        async with self.serving([text], caller, self.settings.look_seconds, options=options, prefix=prefix):
            return await self._do(self._examine, text, work, client=caller.address, model=model)

    @asynccontextmanager
    async def serving(self, texts: Sequence[str], caller: Caller, seconds: float, *,
                      options: DecodingOptions = NO_OPTIONS, prefix: str = "", **_: Any) -> AsyncIterator[None]:
        """Wraps each request: checks, deadline and metrics.

        Every exception leaves as an APIError, except cancellation.
        """
        self.check_ready()
        check_size(texts, options, prefix, limits=self.settings)
        self.access.check_rate(caller, len(texts))
        began, outcome = time.perf_counter(), "done"
        try:
            with self.metrics.running.track_inprogress():
                async with asyncio.timeout(seconds):
                    yield
            self.metrics.latency.observe(time.perf_counter() - began)
        except asyncio.CancelledError:
            outcome = "cancelled"
            self.metrics.cancelled.inc()
            raise
        except BaseException as raised:  # a panic of the tokenizer is not an Exception
            failure = as_api_error(raised)
            outcome = OUTCOMES.get(failure.status, "refused")
            raise failure from None
        finally:
            self.metrics.requests.labels(outcome).inc()

    async def describe_engines(self) -> None:
        """Learn which models the engines elsewhere have; APIError if none answers."""
        assert self.engines
        self.models, self.example = await self.engines.send("describe")
        self.ready = True

    async def metrics_text(self) -> bytes:
        """The metrics, those of each engine elsewhere too, in Prometheus text format."""
        own = self.metrics.text()
        return with_engines(own, await self.engines.metrics()) if self.engines else own

    # --- the work itself

    async def _do(self, work: Callable[..., Awaitable[Result]], *arguments: Any, **request: Any) -> Result:
        """Call one of the methods below, here or by an engine elsewhere."""
        if self.engines:
            return await self.engines.send("work", work.__name__, *arguments, **request)
        return await work(*arguments, **request)

    async def _translate(self, texts: Sequence[str], *, source: str | None = None, target: str | None = None,
                         model: str | None = None, **request: Any) -> list[Translation]:
        source, target = (None if code is None else ALIASES.get(code.casefold(), code) for code in (source, target))
        source = None if source == "auto" else source
        self.model_for(model, source, target)
        known = [code for one in self.named(model).values() for code in one.language_pairs.sources_to(target)]
        sources = [source or await self._detected(text, known) for text in texts]
        groups = {source: [text for text, one in zip(texts, sources, strict=True) if one == source]
                  for source in sources}
        answers = await asyncio.gather(*(
            self._translate_alike(self.model_for(model, source, target), group, source=source, target=target, **request)
            for source, group in groups.items()))
        left = dict(zip(groups, map(iter, answers), strict=True))
        return [next(left[source]) for source in sources]

    async def _translate_alike(self, name: str, texts: Sequence[str], *, options: DecodingOptions = NO_OPTIONS,
                               format: Format = "text", **request: Any) -> list[Translation]:
        """Texts of one language, by one model.  HTML is prepared in a thread of its own, as it needs attention."""
        translator, within = self.models[name], bounded(options, self.models[name], self.settings)
        long = sum(map(len, texts)) >= LONG_TEXT or request.get("keep")  # a pattern may be slow
        run = partial(_in, self._markup if format == "html" else self._threads if long else None)
        job = await run(lambda: translator.prepare(texts, options=within, format=format, **request))
        check_tokens([len(ids) for ids, _ in job.work], limits=self.settings)
        while job.work:
            found = await self._batchers[name, options.sampling].submit(job.work)
            written = sum(len(one.token_ids) for hypotheses in found for one in hypotheses)
            self.metrics.tokens.labels("target").inc(written)
            await run(partial(job.advance, found))
        return job.result

    async def _translate_and_look(self, text: str, *, client: str, alternative: int, views: Sequence[str],
                                  evidence: bool, **request: Unpack[RequestOptions]) -> tuple[Translation, list[Trace]]:
        check_look_size(text, limits=self.settings)
        [result] = await self._translate([text], **request)
        if not result.hypotheses:
            raise APIError(400, "blank_text", "the text has no words, so there is no translation to look at")
        name = self.model_for(request.get("model"), result.source_language or None, result.target_language or None)
        if evidence or set(SLOW) & set(views):
            check_passes(self.models[name], [(part.source_text, part.text) for part in result.parts],
                         language=result.source_language, evidence=evidence, views=views,
                         most=self.settings.look_tokens)
        return result, await self._in_turn(client, name, lambda translator: translator.look(
            [result], alternative=alternative, views=views))

    async def _examine(self, _: str, work: Callable[[Translator], Result], *, client: str, model: str | None) -> Result:
        return await self._in_turn(client, self.model_for(model, None, None), work)

    async def _in_turn(self, client: str, name: str, work: Callable[[Translator], Result]) -> Result:
        """In turns with others: each works on a twin, which it may leave changed while others go on."""
        def with_twin() -> Result:
            with self.models[name].twin() as translator:
                return work(translator)

        return await self._looks.run(client, with_twin)

    # --- which model, which language

    def named(self, model: str | None) -> Mapping[str, Translator]:
        """The model of this name, or all models; APIError (404) for an unknown name."""
        if model is None:
            return self.models
        if model not in self.models:
            raise APIError(404, "unknown_model", f"unknown model; choose {', '.join(self.models)}")
        return {model: self.models[model]}

    def model_for(self, model: str | None, source: str | None, target: str | None) -> str:
        """The name of the requested model, or of the first with the language pair."""
        models = self.named(model)
        fitting = [name for name, one in models.items()
                   if not one.language_pairs or one.language_pairs.has(source, target)]
        if fitting:  # first one that has these codes, then any that has these languages
            return next((name for name in fitting if models[name].language_pairs.fitting(source, target)), fitting[0])
        try:
            LanguagePairs.union(one.language_pairs for one in models.values()).find(source, target)
        except UserError as error:
            raise APIError(400, "unknown_language", str(error)) from None
        raise APIError(400, "unknown_language", "no model translates between these languages")

    async def _detected(self, text: str, languages: Sequence[str]) -> str | None:
        """The most likely of the languages; None if there are none."""
        if len(set(languages)) < 2:
            return languages[0] if languages else None
        return (await _in(self._threads, lambda: detect(text, languages)))[0].language


def as_api_error(error: BaseException) -> APIError:
    """The error that a client gets for an exception."""
    match error:
        case APIError():
            return error
        case ModelChanged():
            return APIError(503, "model_changed", str(error))
        case UserError():
            return APIError(400, "invalid", str(error))
        case TimeoutError():
            return APIError(504, "deadline", "the translation took too long: send less text")
    log.error("a request failed: %s", type(error.__cause__ or error).__name__)  # the message may quote the text
    return APIError(500, "failed", "internal server error: the translation failed; see the server's log")


async def _in(threads: ThreadPoolExecutor | None, work: Callable[[], Result]) -> Result:
    """Run work in a thread, where it stops at its next pass if this is cancelled; or directly if there is none."""
    if threads is None:
        return work()
    unwanted = threading.Event()

    def pause() -> None:
        if unwanted.is_set():
            raise Stopped

    def run() -> Result:
        with pausing(pause):
            return work()

    try:
        return await asyncio.get_running_loop().run_in_executor(threads, run)
    finally:
        unwanted.set()
