"""`Translator`: the five lines of Python.  Knows neither Gradio nor FastAPI.

    translator = Translator.from_pretrained("runs/storybook")
    result = translator("The cat did not cross the street because it was too tired.", target="fr", alternatives=3)
    trace, = translator.look(result)

Translating plain text with CTranslate2 needs no torch; it is imported, and the model loaded into it, when a caller
looks inside, scores or samples, and for HTML with elements inside its sentences: attention says where these belong.
Without torch they are placed in proportion.
"""

from __future__ import annotations

import re
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args, overload

from seq2see.cores import usable_cores
from seq2see.errors import UserError
from seq2see.serve.checkpoint import Checkpoint, read_checkpoint
from seq2see.serve.codec import Codec, PieceCodec, TokenizerCodec
from seq2see.serve.engine import Engine, Found, Hypothesis
from seq2see.serve.export import KINDS, NoPlaceForExport, NotForCTranslate2, exported
from seq2see.serve.jobs import Job, Segment, Translation
from seq2see.serve.marks import Alignment
from seq2see.serve.markup import Markup
from seq2see.serve.opened import Opened
from seq2see.serve.plan import Plan, Settings
from seq2see.serve.shortlist import spaceless
from seq2see.tokenizer.protected import Reading
from seq2see.tokenizer.segments import Cut, count_sentences, cut_at, cut_sentences
from seq2see.tokenizer.words import refuse_surrogates

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from seq2see.lens.trace import Trace
    from seq2see.serve.scoring import Score
    from seq2see.serve.torch_engine import TorchEngine

EngineName = Literal["auto", "ctranslate2", "torch"]
Precision = Literal["int8", "float32"]
Format = Literal["text", "html"]
MOST_CHARACTERS = 250_000  # of a text: more would take minutes
BYTE_ORDER_MARK = "\ufeff"
LONGEST_WORD = 10_000  # characters: no word of any language
MOST_TRACES = 64  # of one HTML text, in memory at a time: each holds all maps of its segment


class Translator(Opened):
    """Translates with a checkpoint, and shows what its attention did.  Safe to call from several threads.

    `Translator(model, tokenizer)` takes a torch model, and sets it to evaluation; `from_pretrained` chooses the fastest
    engine.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str = "",
        seen_words: Mapping[str, frozenset[str]] | None = None,
    ):
        from seq2see.serve.loading import check_sizes

        check_sizes(model, tokenizer, name=name)
        model.eval()  # a model that trains drops values at random
        super().__init__(name, seen_words, loaded=(model, tokenizer))
        self.codec: Codec = TokenizerCodec(tokenizer)
        self.engine: Engine = self.torch_engine

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        *,
        engine: EngineName = "auto",
        precision: Precision = "int8",
        threads: int | None = None,
        trust_remote_code: bool = False,
    ) -> Translator:
        """Load a run of ours, or a folder or Hub id of any transformers encoder-decoder; UserError where it cannot.

        Args:
            engine: `auto` is CTranslate2 where it is installed and can hold the model, else torch.
            precision: of CTranslate2's weights; torch computes in float32.
            threads: that translate in CTranslate2; None: one for each core.
            trust_remote_code: run the model code that the folder ships, in torch.  Never read from a file.
        """
        for what, value, kind in (("engine", engine, EngineName), ("precision", precision, Precision)):
            *others, last = get_args(kind)
            if value not in (*others, last):
                raise UserError(f"{what} {value!r}: expected {', '.join(others)} or {last}", exit_code=2)
        if threads is not None and (type(threads) is not int or threads < 1):
            raise UserError(f"threads {threads!r}: expected a whole number from 1", exit_code=2)
        checkpoint = read_checkpoint(name, trust_remote_code=trust_remote_code)
        translator = cls.__new__(cls)
        Opened.__init__(translator, checkpoint.name, checkpoint.seen_words, checkpoint=checkpoint,
                        trusted=trust_remote_code)
        wanted = engine
        if engine == "auto":
            fast = checkpoint.model_type in KINDS and not trust_remote_code and find_spec("ctranslate2") is not None
            engine = "ctranslate2" if fast else "torch"
        if engine == "ctranslate2":
            try:
                translator._use_ctranslate2(checkpoint, precision, threads or usable_cores())
                return translator
            except NotForCTranslate2 as error:
                if wanted == "ctranslate2":
                    raise
                warnings.warn(f"{error}; torch translates", stacklevel=2)
            except NoPlaceForExport as error:
                place = "XDG_CACHE_HOME to a folder that can be written"
                if wanted == "ctranslate2":
                    raise UserError(f"{error}; set {place}, or take --engine torch") from None
                print(f"{error}; torch translates, more slowly: set {place}", file=sys.stderr, flush=True)
        translator.codec = TokenizerCodec(translator.tokenizer)
        translator.engine = translator.torch_engine
        return translator

    def _use_ctranslate2(self, checkpoint: Checkpoint, precision: Precision, threads: int) -> None:
        from seq2see.serve.ctranslate2_engine import CTranslate2Engine, beyond_it

        beyond = beyond_it(self.limits.defaults)
        if beyond:
            raise NotForCTranslate2(f"CTranslate2 has no {', '.join(beyond)}, which {self.name} asks for")
        folder = exported(checkpoint.folder, quantization=precision)
        ours = checkpoint.model_type == "seq2see"
        self.codec = PieceCodec(checkpoint.folder) if ours else TokenizerCodec(self.tokenizer)
        names = list(map(spaceless, self.codec.tokens())) if ours else self.codec.tokens()
        self.engine = CTranslate2Engine(
            folder, tokens=names, end=self.limits.end, precision=precision, threads=threads
        )
        self.check_files()  # or the export may be of others

    @cached_property
    def torch_engine(self) -> TorchEngine:
        from seq2see.serve.torch_engine import TorchEngine

        return TorchEngine(self.model, end=self.limits.end, lock=self._lock)

    @overload  # a str is a Sequence[str] too, and matches here first
    def __call__(  # type: ignore[overload-overlap]
        self,
        text: str,
        *,
        source: str | None = ...,
        target: str | None = ...,
        prefix: str = ...,
        format: Format = ...,
        **settings: Unpack[Settings],
    ) -> Translation: ...
    @overload
    def __call__(
        self,
        text: Sequence[str],
        *,
        source: str | None = ...,
        target: str | None = ...,
        prefix: str = ...,
        format: Format = ...,
        **settings: Unpack[Settings],
    ) -> list[Translation]: ...
    def __call__(
        self,
        text: str | Sequence[str],
        *,
        source: str | None = None,
        target: str | None = None,
        prefix: str = "",
        format: Format = "text",
        **settings: Unpack[Settings],
    ) -> Translation | list[Translation]:
        """Translate a text, or a list of texts in batches; texts without words come back as they are.

        Args:
            source, target: languages; the checkpoint's first pair that fits.
            prefix: what every translation is to begin with.
            format: `html` keeps markup as it is and translates the text between (`markup.py`).
            settings: alternatives, num_beams, max_new_tokens, length_penalty, repetition_penalty,
                no_repeat_ngram_size, temperature, top_k, top_p, seed: see `plan.Settings`.

        A text of more sentences or pieces than the model was trained on is cut (`segments.py`); its line breaks and
        spaces stay.  UserError: a language it does not have, a number out of bounds.
        """
        texts = list(text) if isinstance(text, Iterable) and not isinstance(text, str) else [text]
        results = self._translated(
            self.prepare(texts, source=source, target=target, prefix=prefix, format=format, **settings))
        return results[0] if isinstance(text, str) else results

    def _translated(self, jobs: Sequence[Job]) -> list[Translation]:
        work = [one for job in jobs for one in job.work]
        found: list[tuple[Found, ...]] = [()] * len(work)
        for plan in dict.fromkeys(plan for _, plan in work):
            members = [index for index, one in enumerate(work) if one[1] == plan]
            sources = [work[index][0] for index in members]
            for index, hypotheses in zip(members, self.engine_for(plan).translate(sources, plan), strict=True):
                found[index] = hypotheses
        left = iter(found)
        finished = [self.finish(job, [next(left) for _ in job.work]) for job in jobs]
        again = [one for one in finished if isinstance(one, Job)]
        others = iter(self._translated(again) if again else ())
        return [next(others) if isinstance(one, Job) else one for one in finished]

    def prepare(
        self,
        texts: Sequence[str],
        *,
        source: str | None = None,
        target: str | None = None,
        prefix: str | Sequence[Sequence[int]] = "",
        parts: Sequence[str] = (),
        format: Format = "text",
        **settings: Unpack[Settings],
    ) -> list[Job]:
        """The first third of a call: texts made ready.  Then each of a job's `work` goes to `engine_for` its plan.

        `prefix` may be given in ids, those of each of the first segments, as many as one likes: a text can be cut into
        pieces in more ways than one.  `parts` are the segments, where it is known what a text was cut into before.
        """
        if format not in get_args(Format):
            raise UserError(f"format {format!r}: expected text or html", exit_code=2)
        source, target = self._pair(source, target)
        limits = self.limits
        plan = limits.plan(first=self.tag(target), **settings)
        begun = self._begun(prefix, target)
        reached = count_sentences(prefix, language=target) if isinstance(prefix, str) else 0
        longest_begun, most = max(map(len, begun), default=0), plan.max_length - len(plan.prefix)
        if longest_begun > most:
            raise UserError(f"a prefix of {longest_begun} pieces: a translation has {most} at most after its tag")
        jobs: list[tuple[str, Markup | None, list[Cut]]] = []
        for text in texts:
            _check_text(text)
            text = text.removeprefix(BYTE_ORDER_MARK)
            markup = Markup(text) if format == "html" else None
            cuts = [cut_at(_composed(text), parts)] if parts else [
                cut_sentences(part, language=source, together=limits.together)
                for part in ([text] if markup is None else markup.texts)]
            jobs.append((text, markup, [cut.composed() for cut in _holding(reached, cuts, language=source)]))
        fitting = iter(self._fitting([cut for *_, cuts in jobs for cut in cuts]))
        ready = []
        for text, markup, cuts in jobs:
            made = [next(fitting) for _ in cuts]
            segments = [one for _, each in made for one in each]
            segments[: len(begun)] = map(self._begun_by, segments, begun)
            ready.append(Job(text, source, target, plan, markup, tuple(cut for cut, _ in made), tuple(segments)))
        return ready

    def _fitting(self, cuts: Sequence[Cut]) -> list[tuple[Cut, list[Segment]]]:
        """The segments of each, cut further where they are longer than a source should be."""
        readings = [list(map(Reading.of, cut.segments)) for cut in cuts]
        encoded = iter(self.codec.encode([one.model_input for each in readings for one in each]))
        return [self._fit(cut, [Segment(one, tuple(next(encoded))) for one in each])
                for cut, each in zip(cuts, readings, strict=True)]

    def _fit(self, cut: Cut, segments: list[Segment]) -> tuple[Cut, list[Segment]]:
        """Segments that are longer than a source should be, cut further."""
        longest, index = self.limits.longest, 0
        while longest is not None and index < len(cut.segments):
            if len(segments[index].ids) <= longest:
                index += 1
                continue
            try:
                cut = cut.halved(index)
            except ValueError:  # one character
                self._check_length(cut.segments[index], segments[index].ids)
                index += 1
            else:
                segments[index : index + 1] = map(self._read, map(Reading.of, cut.segments[index : index + 2]))
        return cut, segments

    def _read(self, reading: Reading) -> Segment:
        return Segment(reading, tuple(self.codec.encode([reading.model_input])[0]))

    def _begun_by(self, segment: Segment, begun: tuple[int, ...]) -> Segment:
        """A segment whose translation is to begin with these ids."""
        if begun and segment.reading.spans:
            segment = self._read(Reading.of(segment.reading.text, begun=self.codec.decode(begun)))
        return replace(segment, begun=begun)

    def _begun(self, prefix: str | Sequence[Sequence[int]], target: str) -> tuple[tuple[int, ...], ...]:
        """The ids that the translations of the first segments are to begin with, after their tag."""
        if isinstance(prefix, str):
            return (tuple(self.codec.begin(_composed(prefix), language=target)),) if prefix else ()
        end, size = self.limits.end, self.codec.size
        if not all(type(id) is int and 0 <= id < size and id not in end for ids in prefix for id in ids):
            raise UserError(f"a prefix in ids: expected pieces from 0 to {size - 1} that do not end it")
        return tuple(map(tuple, prefix))

    def engine_for(self, plan: Plan) -> Engine:
        """What translates by this plan."""
        return self.engine if plan.temperature is None else self.torch_engine

    def finish(self, job: Job, found: Sequence[tuple[Found, ...]]) -> Translation | Job:
        """The last third of a call, with what the engine found for each of the job's `work`.

        A job again, with new work, where every hypothesis of a segment has lost or added something: its sentences are
        to be translated one by one, or what is protected in it is to be read another way.
        """
        outcomes, todo = iter(found), iter(job.segments)
        cuts: list[Cut] = []
        segments: list[Segment] = []
        one_by_one = job.one_by_one
        for cut in job.cuts:
            at = len(segments)
            for _ in cut.segments:
                segment = next(todo)
                if segment.hypotheses is not None:
                    segments.append(segment)
                    continue
                finer, made, parted = self._finished(job, segment, next(outcomes))
                one_by_one |= parted
                if len(made) > 1:
                    cut = cut.replaced(len(segments) - at, finer)
                segments += made
            cuts.append(cut)
        job = replace(job, cuts=tuple(cuts), segments=tuple(segments), one_by_one=one_by_one)
        return job if job.work else self._joined(job)

    def _finished(self, job: Job, segment: Segment, found: tuple[Found, ...]) -> tuple[Cut, list[Segment], bool]:
        """The segment with its hypotheses; where none is whole, others in its place still to be translated, and whether
        they are its sentences."""
        text, whole = segment.reading.text, Cut((segment.reading.text,), ("", ""))
        written = [
            Hypothesis(self.codec.decode(one.token_ids), one.token_ids, one.score,
                       one.log_prob(length_penalty=job.plan.length_penalty), one.finished,
                       len(job.plan.prefix) + len(segment.begun))
            for one in found
        ]  # fmt: skip
        restored = segment.restored(written)
        sentences = cut_sentences(text, language=job.source) if self.limits.together > 1 or segment.begun else whole
        kept = tuple(one for one in restored if len(sentences.segments) < 2
                     or count_sentences(one.text, language=job.target) == len(sentences.segments))
        begun = self.codec.decode(segment.begun) if segment.begun else ""
        first = max(1, count_sentences(begun, language=job.target))  # sentences that the prefix reaches into
        if not kept and len(sentences.segments) > first:
            finer, made = self._fitting([sentences.joined(first)])[0]
            return finer, [self._begun_by(made[0], segment.begun), *made[1:]], True
        further = None if kept or restored else segment.reading.further()
        if further is not None:
            finer, made = self._fit(whole, [self._read(further)])
            return finer, [replace(made[0], begun=segment.begun), *made[1:]], False
        left = kept or restored or tuple(replace(one, text=text) for one in written)  # all are blank: the source stays
        return whole, [replace(segment, hypotheses=left)], False

    def _joined(self, job: Job) -> Translation:
        if job.whole:
            return self._part(job, job.segments[0])
        found = [segment.hypotheses or () for segment in job.segments]
        count = max(map(len, found), default=0)  # of some segments fewer are left
        parts = tuple(self._part(job, replace(segment, hypotheses=(*own, *own[-1:] * (count - len(own)))))
                      for segment, own in zip(job.segments, found, strict=True))
        hypotheses = job.joined([[one.hypotheses[number] for one in parts] for number in range(count)],
                                [self._alignments(job, parts, number) for number in range(count)])
        text = _composed(job.text) if parts else job.text
        return self._translation(job, text, hypotheses, segments=parts, has_markup=job.markup is not None,
                                 one_by_one=job.one_by_one)

    def _alignments(self, job: Job, parts: Sequence[Translation], alternative: int) -> dict[int, Alignment]:
        """Of each segment that has markup inside, which word became which: as the maps of that alternative say or,
        where there is no torch or the model has no maps that can be read, by the places of the words."""
        marked = [number for number in job.marked if parts[number].hypotheses[alternative].text.strip()]
        texts = [(parts[number].source_text, parts[number].hypotheses[alternative].text) for number in marked]
        found: list[Alignment] = []
        try:
            while len(found) < len(marked):
                some = slice(len(found), len(found) + MOST_TRACES)
                choice = self.known_choice.choice
                traces = self.look([parts[number] for number in marked[some]], alternative=alternative,
                                   views=(choice.view,))
                found += [Alignment.measured(trace, choice, *each)
                          for trace, each in zip(traces, texts[some], strict=True)]
        except (UserError, ImportError):
            found = [Alignment.by_place(*each, languages=(job.source, job.target)) for each in texts]
        return dict(zip(marked, found, strict=True))

    def _part(self, job: Job, segment: Segment) -> Translation:
        reading = segment.reading
        return self._translation(job, reading.text, segment.hypotheses or (),
                                 model_input=reading.model_input if reading.spans else None)

    def _translation(self, job: Job, text: str, hypotheses: tuple[Hypothesis, ...], **more: Any) -> Translation:
        engine = self.engine_for(job.plan)
        return Translation(
            text=hypotheses[0].text if hypotheses else text,
            source_text=text,
            source_language=job.source,
            target_language=job.target,
            hypotheses=hypotheses,
            engine=engine.name,
            precision=engine.precision,
            seen=self.seen_words(job.source),
            **more,
        )

    def look(self, result: Translation | Sequence[Translation], *, alternative: int = 0,
             views: Sequence[str] = ("raw",)) -> list[Trace]:
        """One trace a translation, or one for each of its segments where it was cut: every layer and head while this
        very hypothesis was predicted.

        `views` are names of `lens.VIEWS`; all but "raw" cost time.  UserError for one, or an alternative, that is not
        there.
        """
        from seq2see.lens.reading import trace_hypotheses

        results = [result] if isinstance(result, Translation) else list(result)
        for one in results:
            if not 0 <= alternative < len(one.hypotheses):
                has = f"this result has {len(one.hypotheses)} hypotheses"
                raise UserError(f"there is no alternative {alternative} to look at: {has}", exit_code=2)
        results = [part.as_read for one in results for part in one.parts]
        traces: list[Trace] = []
        model, tokenizer = self._load()
        made_by = groupby(results, lambda one: (one.source_language, one.target_language, one.engine, one.precision))
        for (source, target, engine, precision), group in made_by:
            members = list(group)
            chosen = [one.hypotheses[alternative] for one in members]
            with self._lock:
                traces += trace_hypotheses(
                    model,
                    tokenizer,
                    [one.source_text for one in members],
                    [hypothesis.token_ids for hypothesis in chosen],
                    source_language=source,
                    target_language=target,
                    given=[hypothesis.given for hypothesis in chosen],
                    scores=[hypothesis.score for hypothesis in chosen],
                    engine_log_probs=[hypothesis.log_prob for hypothesis in chosen],
                    engine=engine,
                    precision=precision,
                    model_name=self.name,
                    views=views,
                )
        return [replace(trace, trust=self.trust) for trace in traces]

    def look_at(self, text: str, translation: str, *, source: str | None = None, target: str | None = None,
                views: Sequence[str] = ("raw",)) -> Trace:
        """The trace of a given translation, whoever wrote it; otherwise as `look`."""
        from seq2see.lens.reading import trace_texts

        source, target = self._pair(source, target)
        text, translation = _composed(text), _composed(translation)
        if not text.strip() or not translation.strip():
            raise UserError(f"the {'translation' if text.strip() else 'source'} is blank")
        model, tokenizer = self._load()
        with self._lock:
            [trace] = trace_texts(model, tokenizer, [text], [translation], source_language=source,
                                  target_language=target, model_name=self.name, views=views)
        return replace(trace, trust=self.trust)

    def score(self, sources: Sequence[str], translations: Sequence[str], *, source: str | None = None,
              target: str | None = None) -> list[Score]:
        """How probable the model finds each translation of its source, whoever wrote it; in batches, in order.

        `source` and `target` as in a call.  UserError: a language it does not have, a text that is blank or too long.
        """
        from seq2see.lens.forcing import encode_target
        from seq2see.serve.scoring import score_targets

        if len(sources) != len(translations):
            raise UserError(f"{len(sources)} sources and {len(translations)} translations", exit_code=2)
        source, target = self._pair(source, target)
        model, tokenizer = self._load()
        first = next(iter(self.limits.plan(first=self.tag(target)).prefix), None)
        source_ids, target_ids = [], []
        for text, translation in zip(map(_bare, sources), map(_bare, translations), strict=True):
            if not text or not translation:
                raise UserError(f"the {'translation' if text else 'source'} is blank")
            source_ids += self.codec.encode([text])
            self._check_length(text, source_ids[-1])
            target_ids.append(encode_target(tokenizer, translation, language=target, first=first))
            self._check_length(translation, target_ids[-1])
        with self._lock:
            return score_targets(model, source_ids, target_ids, given=0 if first is None else 1)

    def _pair(self, source: str | None, target: str | None) -> tuple[str, str]:
        pairs = self.language_pairs
        if not pairs:
            return source or "", target or ""
        fitting = [pair for pair in pairs if source in (None, pair[0]) and target in (None, pair[1])]
        if not fitting:
            asked = " ".join(f"{side} {code}" for side, code in (("from", source), ("to", target)) if code is not None)
            known = ", ".join(f"{a} to {b}" for a, b in pairs)
            raise UserError(f"this model does not translate {asked}; it has {known}")
        return fitting[0]

    def tag(self, target: str) -> int | None:
        """The id a translation into `target` begins with; None where the checkpoint's own default serves."""
        if not target or not self.codec.tags:
            return None
        if target not in self.codec.tags:
            raise UserError(f"no target language {target!r} here: this tokenizer has {', '.join(self.codec.tags)}")
        return self.codec.tags[target]

    def _check_length(self, text: str, ids: Sequence[int]) -> None:
        longest = self.limits.positions
        if longest is not None and len(ids) > longest:
            size = f"it has {len(ids)} pieces, the model takes {longest}"
            raise UserError(f"the text {text[:30] + '…'!r} is too long: {size}; translate it sentence by sentence")


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise UserError(f"expected text, got {type(text).__name__}", exit_code=2)
    refuse_surrogates(text)
    if len(text) > MOST_CHARACTERS:
        raise UserError(f"a text of {len(text):,} characters: at most {MOST_CHARACTERS:,} are taken; send it in parts")
    longest = max(map(len, re.findall(r"[^\W_]+", text))) if len(text) > LONGEST_WORD else 0
    if longest > LONGEST_WORD:
        raise UserError(f"a word of {longest:,} characters, {LONGEST_WORD:,} at most are taken: is this text?")


def _holding(sentences: int, cuts: Sequence[Cut], *, language: str) -> list[Cut]:
    """With the first segments joined that hold so many sentences."""
    first = next((index for index, cut in enumerate(cuts) if cut.segments), None)
    if sentences < 2 or first is None:
        return list(cuts)
    counts = accumulate(count_sentences(one, language=language) for one in cuts[first].segments)
    most = len(cuts[first].segments)
    joined = cuts[first].joined(next((number for number, count in enumerate(counts, 1) if count >= sentences), most))
    return [*cuts[:first], joined, *cuts[first + 1 :]]


def _bare(text: str) -> str:
    """As a segment is translated: without white space at its ends."""
    return _composed(text).strip()


def _composed(text: str) -> str:
    _check_text(text)
    return unicodedata.normalize("NFC", text.removeprefix(BYTE_ORDER_MARK))
