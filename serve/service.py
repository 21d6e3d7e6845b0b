"""The service behind every API: checks, limits and batches.

    service = Service({"storybook": translator}, ServerSettings())
    [translation] = await service.translate(["Hello."], source="en", target="fr", caller=caller)

Independent of FastAPI and Gradio.  `APIError` is the only exception that callers must handle.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from seq2see.errors import UserError
from ..documents.formats import read_document
from ..documents.protocol import FileOptions
from ..lens.data.view_names import SLOW
from ..passes.pausing import Stopped, pausing
from ..text.glossary import Glossary
from ..tokenizer.language_codes import file_tag
from ..tokenizer.language_pairs import Codes, LanguagePairs
from ..translate.decoding import NO_OPTIONS, DecodingOptions
from ..translate.loaded_checkpoint import ModelChanged
from ..translate.remarks import Remarks
from ..translate.results import EngineOutput, Translation
from ..translate.segment_translator import Work
from ..translate.translator import Format, Translator
from .access import AccessControl, Caller, read_keys
from .api_errors import APIError
from .batcher import WORKER, Batcher, busy_error
from .current_request import current, log_failure
from .language_detection import ALIASES, Detection, detect
from .limits import bounded, check_document, check_erasures, check_look_size, check_passes, check_size, check_tokens
from .pivot import Leg, PivotedTranslation, fitting_model, legs_of, no_look, pivoted_pairs, translate_through
from .server_metrics import Metrics, with_engines
from .settings import ServerSettings
from .turns import Turns

if TYPE_CHECKING:
    from ..lens.trace import Trace
    from .engines import Engines

Result = TypeVar("Result")
MOST_LOOKS = 32  # running and waiting: a class that clicks at once
MOST_DOCUMENTS = 16  # at work; their texts take turns
DOCUMENTS_OF_ONE = 4  # of an account
PATIENCE = 0.05  # seconds after which a document looks again whether the queue has room
LONG_TEXT = 1_000  # characters; longer texts are prepared in a thread, to keep the event loop free
PREVIEWED = 5  # texts of a document
MOST_PLACES = 100  # of a document in the remarks on it
SAMPLE = 4_000  # characters of a document, from which its language is detected
MARKUP = re.compile(r"<[^>]*>")
NO_FILE_OPTIONS = FileOptions()
OUTCOMES = {500: "failed", 504: "late"}  # of requests that end with an error, for the metrics; otherwise "refused"


class RequestOptions(TypedDict, total=False):
    """How to translate; defaults come from the checkpoint."""

    source: str | None  # None or "auto": detected for each text
    target: str | None  # None: the first
    model: str | None  # None: the first with the language pair
    format: Format
    options: DecodingOptions
    prefix: str
    keep: str  # a pattern: what it matches stays
    glossary: Glossary | None  # terms and what is written for them
    check: bool  # whether to report unlikely and omitted words too


@dataclass(frozen=True)
class Served:
    """The models and their batchers, one for searches and one for samples; `number` counts the changes."""

    models: Mapping[str, Translator]
    batchers: Mapping[tuple[str, bool], Batcher]
    number: int = 0


@dataclass(frozen=True)
class TranslatedDocument:
    """A translated file, the remarks on its texts, and the translations of the first of them."""

    data: bytes
    remarks: Remarks
    first: Sequence[Translation]


class Service:
    """Owns the translators and their batchers, unless it has remote `engines`.

    Everything except `add` and `detect` runs on one event loop.
    """

    def __init__(self, models: Mapping[str, Translator] | None = None, settings: ServerSettings | None = None, *,
                 access: AccessControl | None = None, engines: Engines | None = None):
        self.engines = engines
        self.example: str | None = None  # of these: see `example_model`
        self.settings = settings or ServerSettings()
        self.access = access or AccessControl(read_keys(self.settings.keys_file),
                                              texts_per_minute=self.settings.texts_per_minute,
                                              log_addresses=self.settings.log_addresses)
        self.metrics = Metrics()
        self._served = Served({}, {})
        self.reload: Callable[[], Awaitable[Mapping[str, str]]] | None = None  # the server's, see `reloading.py`
        self.at_end: list[Callable[[], None]] = []  # called by `close`
        self.ready = False  # every model is loaded and has passed a test translation
        self.stopping = False  # every answer is the last on its connection
        self._threads = ThreadPoolExecutor(1, WORKER)  # load a model
        self._detecting = ThreadPoolExecutor(1, WORKER)
        # Prepare texts, by whether they are HTML and long, so that a short one waits for no long one.
        self._preparing = {(html, long): ThreadPoolExecutor(1, WORKER) for html in (False, True)
                           for long in (False, True)}
        self._checking = ThreadPoolExecutor(1, WORKER)
        self._patient = ThreadPoolExecutor(2, WORKER)  # for texts of documents
        self._looks = Turns(MOST_LOOKS)
        self._files = ThreadPoolExecutor(2, WORKER)  # read and write documents
        self._documents: list[str] = []  # the accounts of those at work
        for name, translator in (models or {}).items():
            self.add(name, translator)
        self.ready = bool(models)

    @property
    def served(self) -> Served:
        """The models that the current request started with; outside a request, those that are served now."""
        served: Served = current().served.setdefault(self, self._served)
        return served

    @property
    def models(self) -> Mapping[str, Translator]:
        return self.served.models

    @models.setter
    def models(self, models: Mapping[str, Translator]) -> None:
        self._served = replace(self._served, models=models)

    def add(self, name: str, translator: Translator) -> None:
        """Serve a model under a name, new or in use; clients must not learn its folder.

        Requests in progress end with the models that they started with.  The last of them frees a replaced one.
        """
        translator.name = name
        batchers = dict(self._served.batchers)
        for sampling, threads in ((False, translator.engine.threads), (True, 1)):  # torch samples one at a time
            batcher = Batcher(
                lambda sources, options, wanted: translator.engine_for(options).translate(
                    sources, options, wanted=wanted),
                threads=threads, batch_tokens=self.settings.batch_tokens, queue_tokens=self.settings.queue_tokens,
                wait=self.settings.wait_ms / 1000, metrics=self.metrics)
            batchers[name, sampling] = batcher
        self._served = Served({**self._served.models, name: translator}, batchers, self._served.number + 1)

    def expect_looks(self) -> None:
        """Load the first model into torch in the background, because the page's users will look inside it.

        Remote engines load it on demand.
        """
        if self.engines:
            return

        def load() -> None:
            with first.separate_copy():
                pass

        first = next(iter(self.models.values()))
        self._threads.submit(load)

    def close(self) -> None:
        for end in self.at_end:
            end()
        for batcher in self._served.batchers.values():
            batcher.close()
        for threads in (self._threads, self._detecting, self._checking, self._patient, self._files,
                        *self._preparing.values()):
            threads.shutdown(wait=False, cancel_futures=True)
        self._looks.close()

    def check_ready(self) -> None:
        """Raises APIError (503) while the server starts and its lists of models and languages are incomplete."""
        if not self.ready:
            raise APIError(503, "loading", "the server is loading: try again in a few seconds", retry_after=5)

    @property
    def language_pairs(self) -> LanguagePairs:
        """The (source, target) pairs of all models, and the pairs that two of them translate."""
        return LanguagePairs.union([*(one.language_pairs for one in self.models.values()), self.pivoted_pairs])

    @property
    def pivoted_pairs(self) -> LanguagePairs:
        """The pairs that two models translate, through the language of the setting `pivot`."""
        through = self.settings.pivot
        return pivoted_pairs(tuple(one.language_pairs for one in self.models.values()), through) if through else (
            LanguagePairs())

    def detect(self, text: str) -> list[Detection]:
        """The possible source languages of a text, most probable first."""
        return detect(text, self.language_pairs.sources)

    def is_full(self, *, looks: bool) -> bool:
        """Whether there is no room for a request, whatever its model."""
        searching = [batcher for (_, sampling), batcher in self.served.batchers.items() if not sampling]
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
        """The translation, and the traces of one of its hypotheses, one for each segment.

        `evidence` announces that the caller will compute evidence.  Raises APIError (400) if that would take too long.
        The first call loads the model into torch, which takes seconds; calls take turns.
        """
        async with self.serving([text], caller, self.settings.look_seconds, **request):
            return await self._do(self._translate_and_look, text, client=caller.address, alternative=alternative,
                                  views=views, evidence=evidence, **request)

    async def examine(self, text: str, work: Callable[[Translator], Result], *, caller: Caller,
                      model: str | None = None, options: DecodingOptions = NO_OPTIONS, prefix: str = "") -> Result:
        """The result of `work` on the named model.  Calls take turns, and are checked and counted like any request."""
        async with self.serving([text], caller, self.settings.look_seconds, options=options, prefix=prefix):
            return await self._do(self._examine, text, work, client=caller.address, model=model)

    async def translate_document(self, name: str, data: bytes, *, caller: Caller,
                                 options: FileOptions = NO_FILE_OPTIONS, **request: Any) -> TranslatedDocument:
        """The document in a file of this name, translated; `request` as that of `translate`, without `options`.

        A missing source language is detected from all its texts together.  Its texts are sent in batches, one after
        another, so a long document does not block others.
        """
        self.check_ready()
        async with self._measured(self.settings.file_seconds):
            if len(self._documents) >= MOST_DOCUMENTS:
                raise busy_error()
            if self._documents.count(caller.account) >= DOCUMENTS_OF_ONE:
                raise APIError(429, "too_many_files", f"{DOCUMENTS_OF_ONE} of your files are being translated: wait"
                               " until one is done", retry_after=10)
            self._documents.append(caller.account)
            try:
                return await self._translate_document(name, data, caller, options, **request)
            finally:
                self._documents.remove(caller.account)

    @asynccontextmanager
    async def serving(self, texts: Sequence[str], caller: Caller, seconds: float, *,
                      options: DecodingOptions = NO_OPTIONS, prefix: str = "", **_: Any) -> AsyncIterator[None]:
        """Wraps each request with checks, deadline and metrics.

        Every exception except cancellation becomes an APIError.
        """
        self.check_ready()
        check_size(texts, options, prefix, limits=self.settings)
        self.access.check_rate(caller, len(texts))
        async with self._measured(seconds):
            yield

    @asynccontextmanager
    async def _measured(self, seconds: float) -> AsyncIterator[None]:
        """Deadline and metrics of a request."""
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
        """Learn the models of the remote engines.

        Raises APIError if no engine responds.
        """
        assert self.engines
        self.models, self.example = await self.engines.send("describe")
        self.ready = True

    async def metrics_text(self) -> bytes:
        """The metrics in Prometheus text format, with those of each remote engine."""
        own = self.metrics.text()
        return with_engines(own, await self.engines.metrics()) if self.engines else own

    # --- the work itself

    async def _do(self, work: Callable[..., Awaitable[Result]], *arguments: Any, **request: Any) -> Result:
        """Call one of the methods below, here or on a remote engine."""
        if self.engines:
            return await self.engines.send("work", work.__name__, *arguments, **request)
        return await work(*arguments, **request)

    async def _translate(self, texts: Sequence[str], *, source: str | None = None, target: str | None = None,
                         model: str | None = None, **request: Any) -> list[Translation]:
        source, target = own_codes(source, target)
        known = self._sources(model, source, target)
        sources = [source or await self._detected(text, known) for text in texts]
        groups = {source: [text for text, one in zip(texts, sources, strict=True) if one == source]
                  for source in sources}
        answers = await asyncio.gather(*(self._translate_between(self._route(model, source, target), group, **request)
                                         for source, group in groups.items()))
        left = dict(zip(groups, map(iter, answers), strict=True))
        return [next(left[source]) for source in sources]

    async def _translate_between(self, route: Sequence[Leg], texts: Sequence[str], **request: Any) -> list[Translation]:
        if len(route) > 1:
            return await translate_through(route, self._translate_alike, texts, **request)
        [leg] = route
        return await self._translate_alike(leg.model, texts, source=leg.source, target=leg.target, **request)

    async def _translate_alike(self, name: str, texts: Sequence[str], *, options: DecodingOptions = NO_OPTIONS,
                               format: Format = "text", patient: bool = False, check: bool = False,
                               **request: Any) -> list[Translation]:
        """Translate texts of one language with one model.  HTML is prepared in a separate thread, because it needs
        attention.
        """
        translator, batcher = self.served.models[name], self.served.batchers[name, options.sampling]
        within = bounded(options, translator, self.settings)
        html, long = format == "html", sum(map(len, texts)) >= LONG_TEXT
        may_be_slow = html or long or request.get("keep") or request.get("glossary")
        others = self._preparing[html, long] if may_be_slow else None
        run = partial(_in, self._patient if patient else others)
        job = await run(lambda: translator.prepare(texts, options=within, format=format, **request))
        if not patient:
            check_tokens([len(ids) for ids, _ in job.work], limits=self.settings)
        while job.work:
            found = await (self._submit_in_turn(batcher, job.work) if patient else batcher.submit(job.work))
            current().source_tokens += sum(len(ids) for ids, _ in job.work)
            written = sum(len(one.token_ids) for hypotheses in found for one in hypotheses)
            current().target_tokens += written
            self.metrics.tokens.labels("target").inc(written)
            await run(partial(job.advance, found))
        if not check:
            return job.result

        def checked() -> list[Translation]:
            check_erasures(translator, job.result, most=self.settings.look_tokens)
            return translator.check(job.result)

        return await _in(self._checking, checked)

    async def _submit_in_turn(self, batcher: Batcher, work: Sequence[Work]) -> list[EngineOutput]:
        """The engine's output for sources of a document.

        At a time they are as many as one call of the engine takes, and only while the queue is less than half full.
        """
        found: list[EngineOutput] = []
        while len(found) < len(work):
            async with batcher.next_part:
                ends = accumulate(len(ids) for ids, _ in work[len(found) :])
                fitting = sum(1 for _ in takewhile(lambda end: end <= batcher.batch_tokens, ends))
                part = work[len(found) : len(found) + max(1, fitting)]
                tokens = sum(len(ids) for ids, _ in part)
                while batcher.queued and batcher.queued + tokens > batcher.queue_tokens // 2:
                    await asyncio.sleep(PATIENCE)
                found += await batcher.submit(part)
        return found

    async def _translate_document(self, name: str, data: bytes, caller: Caller, options: FileOptions,
                                  **request: Any) -> TranslatedDocument:
        source, target = own_codes(request.get("source"), request.get("target"))
        known = self._sources(request.get("model"), source, target)
        tags = [file_tag(one) if one else "" for one in (source, target)]
        options = replace(options, source=tags[0], target=tags[1])
        document = await _in(self._files, lambda: read_document(name, data, options))
        texts = document.texts
        self.access.check_rate(caller, check_document(texts, limits=self.settings))
        request["source"] = source or await self._detected(MARKUP.sub(" ", "\n".join(texts)[:SAMPLE]), known)
        request["patient"] = True
        written: list[str] = []
        first: list[Translation] = []
        remarks = Remarks("texts", most_places=MOST_PLACES)
        for start in range(0, len(texts), self.settings.texts):
            batch = texts[start : start + self.settings.texts]
            found = await patiently(self._do, self._translate, batch, **request)
            written += [one.text for one in found]
            first += found[: PREVIEWED - len(first)]
            await _in(self._files, partial(remarks.note_texts, found, start=start, place=document.place))
        data = await _in(self._files, lambda: document.write(written))
        for one in document.untranslated():
            remarks.leave(one.why, place=one.place, text=one.text)
        return TranslatedDocument(data, remarks, first)

    async def _translate_and_look(self, text: str, *, client: str, alternative: int, views: Sequence[str],
                                  evidence: bool, **request: Unpack[RequestOptions]) -> tuple[Translation, list[Trace]]:
        check_look_size(text, limits=self.settings)
        [result] = await self._translate([text], **request)
        if isinstance(result, PivotedTranslation):
            raise no_look(result)
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
        """Work in turns with others, on a twin, which may stay changed while others run."""
        model = self.models[name]

        def with_twin() -> Result:
            with model.separate_copy() as translator:
                return work(translator)

        return await self._looks.run(client, with_twin)

    # --- which model, which language

    def named(self, model: str | None) -> Mapping[str, Translator]:
        """The model of this name, or all models; raises APIError (404) for an unknown name."""
        if model is None:
            return self.models
        if model not in self.models:
            raise APIError(404, "unknown_model", f"unknown model; choose {', '.join(self.models)}")
        return {model: self.models[model]}

    def model_for(self, model: str | None, source: str | None, target: str | None) -> str:
        """The name of the requested model, or of the first with the language pair."""
        models = self.named(model)
        if (fitting := fitting_model(models, source, target)) is not None:
            return fitting
        try:
            pairs = self.language_pairs if model is None else models[model].language_pairs
            pairs.find(source, target)
        except UserError as error:
            raise APIError(400, "unknown_language", str(error)) from None
        raise APIError(400, "unknown_language", "no model translates between these languages")

    def _route(self, model: str | None, source: str | None, target: str | None) -> Sequence[Leg]:
        """The model for the languages, or two of them through the language of the setting `pivot`."""
        through = self.settings.pivot
        if through and model is None and fitting_model(self.models, source, target) is None:
            legs = legs_of(self.models, source, target, through=through)
            if legs is not None:
                return legs
        return [Leg(self.model_for(model, source, target), source, target)]

    def _sources(self, model: str | None, source: str | None, target: str | None) -> Codes:
        """The source languages of a target language; raises APIError if no model translates from `source` to it."""
        self._route(model, source, target)
        pairs = [one.language_pairs for one in self.named(model).values()]  # each has its own codes of a language
        if model is None:
            pairs.append(self.pivoted_pairs)
        return tuple(dict.fromkeys(code for one in pairs for code in one.sources_to(target)))

    async def _detected(self, text: str, languages: Sequence[str]) -> str | None:
        """The most probable of the languages; None if there are none."""
        if len(set(languages)) < 2:
            return languages[0] if languages else None
        return (await _in(self._detecting, lambda: detect(text, languages)))[0].language


def own_codes(source: str | None, target: str | None) -> tuple[str | None, str | None]:
    """The codes of two languages; None for the source `auto`."""
    source, target = (code and ALIASES.get(code.casefold(), code) for code in (source, target))
    return (None if source and source.casefold() == "auto" else source), target


async def patiently(work: Callable[..., Awaitable[Result]], *arguments: Any, **request: Any) -> Result:
    """Call again while remote engines are busy, until the deadline of the request."""
    while True:
        try:
            return await work(*arguments, **request)
        except APIError as error:
            if error.code != "queue_full":
                raise
        await asyncio.sleep(PATIENCE)


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
    log_failure(error.__cause__ or error)
    return APIError(500, "failed", "internal server error: the translation failed; see the server's log")


async def _in(threads: ThreadPoolExecutor | None, work: Callable[[], Result]) -> Result:
    """Run work in a thread, or directly if there is none.

    In a thread it stops at its next pass or step if this call is cancelled.
    """
    if threads is None:
        return work()
    cancelled = threading.Event()

    def pause() -> None:
        if cancelled.is_set():
            raise Stopped

    def run() -> Result:
        with pausing(pause):
            return work()

    try:
        return await asyncio.get_running_loop().run_in_executor(threads, run)
    finally:
        cancelled.set()
