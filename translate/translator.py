"""`Translator`, the Python API; independent of Gradio and FastAPI.

    translator = Translator.from_pretrained("runs/storybook")
    result = translator("The cat did not cross the street because it was too tired.", target="fr", alternatives=3)
    trace, = translator.look(result)

Translating plain text with CTranslate2 does not import torch.  Looking inside, scoring and sampling import it and load
the model into it.  So does HTML with elements inside sentences, because attention places these elements.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from importlib.util import find_spec
from itertools import compress
from operator import attrgetter, itemgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from seq2see.errors import UserError
from seq2see.folders import resolve_folder
from seq2see.importing import IMPORTS
from seq2see.rules import MOST_ODDS
from ..passes.pausing import pause
from ..text.glossary import Glossary
from ..text.html_markup import Html
from ..text.placing import Alignment, words_shown
from ..text.plain import characters
from ..text.protection import Protection
from ..tokenizer.tagging import T5, spoken_pair
from ..tokenizer.words import Word
from .checking import checked
from .codec import Codec, Seq2SeeCodec, TokenizerCodec
from .ctranslate2_export import NotForCTranslate2, exported, why_not
from .decoding import NO_OPTIONS, DecodingOptions, settings_not_taken
from .devices import Device, ctranslate2_device, ctranslate2_finds, usable_cores
from .loaded_checkpoint import LoadedCheckpoint, check_sizes
from .results import Engine, Translation, with_chances, with_fields
from .segment_translator import (
    SegmentTranslator,
    TranslatedText,
    WorkGenerator,
    WorkLoop,
    bare_pair,
    by_group,
    check_length,
    check_text,
    composed,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from ..lens.records.calibration import SentenceCalibrator
    from ..lens.trace import Trace
    from .scoring import Score
    from .torch_engine import TorchEngine

EngineName = Literal["auto", "ctranslate2", "torch"]
Precision = Literal["int8", "float32"]
Format = Literal["text", "html"]
CHECKED_AT_ONCE = 16  # segments
MOST_TRACES = 64  # of one HTML text in memory at a time: each has all maps of its segment


class Translator(LoadedCheckpoint):
    """Translates with a checkpoint and traces its translations; several threads may use it at once.

    `from_pretrained` chooses the fastest engine.  `Translator(model, tokenizer)` uses a PyTorch model and sets it to
    evaluation mode.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str = ""):
        check_sizes(model, tokenizer, name=name)
        model.eval()  # or dropout would stay on
        super().__init__(name, loaded=(model, tokenizer))
        self._use_torch()

    @classmethod
    def from_pretrained(cls, name: str | Path, *, engine: EngineName = "auto", precision: Precision = "int8",
                        threads: int | None = None, device: Device = "auto",
                        trust_remote_code: bool = False) -> Translator:
        """Load a packaged model, a run, or a folder or Hub id of any transformers encoder-decoder.

        Args:
            name: a name, folder or Hub id such as `everyday`, `runs/storybook` or `Helsinki-NLP/opus-mt-en-fr`.
            engine: `auto` chooses CTranslate2 if it is installed and supports the model, otherwise PyTorch.
            precision: the precision of CTranslate2's weights; PyTorch always uses float32.
            threads: the number of threads of CTranslate2; None: one for each core.
            device: `auto` chooses a CUDA GPU if the engine finds one, otherwise the CPU.
            trust_remote_code: whether to run the model code in the folder, with PyTorch.  No file can turn this on.

        Raises:
            UserError: a model that does not exist, or that cannot be loaded safely.
        """
        for what, value, kind in (("engine", engine, EngineName), ("precision", precision, Precision),
                                  ("device", device, Device)):
            if value not in get_args(kind):
                *others, last = get_args(kind)
                raise UserError(f"{what} {value!r}: expected {', '.join(others)} or {last}", exit_code=2)
        if threads is not None and (type(threads) is not int or threads < 1):
            raise UserError(f"threads {threads!r}: expected a whole number of at least 1", exit_code=2)
        folder = resolve_folder(name, trust_remote_code=trust_remote_code)
        translator = cls.__new__(cls)
        LoadedCheckpoint.__init__(translator, str(name), folder, trusted=trust_remote_code, device=device)
        if ignored := settings_not_taken(translator.defaults.config):
            print(f"{name}: {', '.join(ignored)} in its generation settings has no effect; the search is"
                  f" {'greedy' if translator.defaults.usual.num_beams == 1 else 'a beam search'}",
                  file=sys.stderr, flush=True)
        fast = not trust_remote_code and find_spec("ctranslate2") is not None and not why_not(translator)
        if engine == "ctranslate2" or (engine == "auto" and fast and ctranslate2_finds(device)):
            try:
                translator._use_ctranslate2(folder, precision, threads or usable_cores())
                return translator
            except NotForCTranslate2 as error:
                if engine == "ctranslate2":
                    raise
                print(f"{error}; using PyTorch", file=sys.stderr, flush=True)
        translator._use_torch()
        return translator

    def _use_torch(self) -> None:
        self.codec: Codec = TokenizerCodec(self.tokenizer, self.config)
        self.engine: Engine = self.torch_engine

    def _use_ctranslate2(self, folder: Path, precision: Precision, threads: int) -> None:
        with IMPORTS:
            from .ctranslate2_engine import CTranslate2Engine, unsupported_options

        unsupported = unsupported_options(self.defaults.config)
        if unsupported:
            raise NotForCTranslate2(f"CTranslate2 does not support {', '.join(unsupported)}, which {self.name} sets")
        if reason := why_not(self):
            raise NotForCTranslate2(reason)
        export = exported(folder, quantization=precision)
        ours = self.model_type == "seq2see"
        self.codec = Seq2SeeCodec(folder) if ours else TokenizerCodec(self.tokenizer, self.config)
        self.engine = CTranslate2Engine(export, defaults=self.defaults, precision=precision, threads=threads,
                                        device=ctranslate2_device(self.device))
        self.check_files()  # the export must be of these files

    @cached_property
    def torch_engine(self) -> TorchEngine:
        with IMPORTS:
            from .torch_engine import TorchEngine

        return TorchEngine(self.model, end=self.defaults.end, lock=self._lock)

    @contextmanager
    def by_torch(self) -> Iterator[Translator]:
        """Yield a translator that runs the same model with PyTorch, whichever engine this translator uses.

        Other threads wait for the model until the block ends, so changes to the model in the block do not affect their
        results.
        """
        with self.inside():
            same = copy(self)
            same._lock = Lock()
            same.__dict__.pop("torch_engine", None)  # it would wait for the other lock
            same._use_torch()
            yield same

    @overload  # a str is a Sequence[str] too, and matches here first
    def __call__(self, text: str, *, source: str | None = ..., target: str | None = ..., prefix: str = ...,
                 format: Format = ..., keep: str = ..., glossary: Glossary | None = ...,
                 **options: Any) -> Translation: ...
    @overload
    def __call__(self, text: Sequence[str], *, source: str | None = ..., target: str | None = ..., prefix: str = ...,
                 format: Format = ..., keep: str = ..., glossary: Glossary | None = ...,
                 **options: Any) -> list[Translation]: ...
    def __call__(self, text: str | Sequence[str], *, source: str | None = None, target: str | None = None,
                 prefix: str = "", format: Format = "text", keep: str = "", glossary: Glossary | None = None,
                 **options: Any) -> Translation | list[Translation]:
        """Translate a text, or a list of texts in batches.

        A text with more sentences or tokens than the model was trained on is cut into segments.  Its line breaks and
        spaces are kept.  Texts without words are returned unchanged.

        Args:
            text: one text, or a list of them.
            source: the source language, as the model's code, an ISO 639 code or an English name; None: the source of
                the checkpoint's first language pair that matches `target`.
            target: the target language, in the same forms; None: the target of the first pair that matches `source`.
                Required if the model has many targets and no default.
            prefix: the text that every translation begins with.
            format: `html` keeps the markup and translates the text between it, as of any text that is `Html`.
            keep: a regular expression; its matches stay unchanged.
            glossary: terms and their translations; see `read_glossary`.
            options: alternatives, num_beams, temperature and others: see `DecodingOptions`.

        Returns:
            A Translation, or a list of them if `text` is a list.

        Raises:
            UserError: a language that the model does not have, or an option out of bounds.
        """
        texts = list(text) if isinstance(text, Iterable) and not isinstance(text, str) else [text]
        job = self.prepare(texts, source=source, target=target, prefix=prefix, format=format, keep=keep,
                           glossary=glossary, options=DecodingOptions(**options))
        while job.work:
            job.advance(by_group(job.work, itemgetter(1), lambda alike, members: self.engine_for(alike).translate(
                [ids for ids, _ in members], alike)))
        return job.result[0] if isinstance(text, str) else job.result

    def prepare(self, texts: Sequence[str], *, source: str | None = None, target: str | None = None, prefix: str = "",
                format: Format = "text", keep: str = "", glossary: Glossary | None = None,
                options: DecodingOptions = NO_OPTIONS) -> WorkLoop[list[Translation]]:
        """Prepare a call as a `Job`, for callers that batch the work of several calls.  `engine_for(options)` is the
        engine that translates its steps.
        """
        if format not in get_args(Format):
            raise UserError(f"format {format!r}: expected text or html", exit_code=2)
        if format == "html":
            texts = [Html(check_text(text)) for text in texts]
        source, target = self.pair(source, target)
        tag = self.tag(target)
        options = self.defaults.resolve(options, first=tag)
        seen = self.seen_words(source)
        segments = SegmentTranslator(self.codec, self.defaults, source, target, options,
                                     Protection(characters(seen) if seen else None, glossary=glossary))
        by_torch = options.sampling or self.engine.name == "torch"
        known = self.measurements if by_torch else self.measured_files  # CTranslate2's weights stay those of the files
        is_usual = not prefix and options.searches_as(self.defaults.usual)
        calibrator = known.calibration.sentence_calibrator(target) if is_usual and known.calibration else None
        steps = segments.texts(texts, prefix=prefix, keep=keep)
        return WorkLoop(self._translations(segments, steps, calibrator))

    def engine_for(self, options: DecodingOptions) -> Engine:
        """The engine that translates with these options."""
        return self.torch_engine if options.sampling else self.engine

    def _translations(self, segments: SegmentTranslator, steps: WorkGenerator[list[TranslatedText]],
                      calibrator: SentenceCalibrator | None) -> WorkGenerator[list[Translation]]:
        """The translations, with the probabilities of the calibrator.

        All HTML segments with elements inside are traced in one batch.
        """
        texts = yield from steps
        engine = self.engine_for(segments.options)
        make = partial(Translation.of, source_language=segments.source, target_language=segments.target,
                       engine=engine.name, precision=engine.precision, seen=self.seen_words(segments.source),
                       seen_target=self.seen_words(segments.target), glossary=segments.protection.glossary)
        parts = [one.parts(make) for one in texts]
        marked = [replace(part, hypotheses=(one,)) for text, own in zip(texts, parts, strict=True) if text.markup
                  for part in compress(own, text.marked) for one in part.hypotheses if one.text.strip()]
        alignments = dict(zip(marked, self._alignments(marked), strict=True))
        found = [text.translation(own, alignments, options=segments.options, make=make)
                 for text, own in zip(texts, parts, strict=True)]
        return with_chances(found, calibrator) if calibrator else found

    def _alignments(self, parts: Sequence[Translation]) -> list[Alignment]:
        """The word alignment of the first hypothesis of each: from its maps or, without usable maps, from word
        positions.
        """
        found: list[Alignment] = []
        while len(found) < len(parts):
            some = parts[len(found) : len(found) + MOST_TRACES]
            texts = [(part.source_text, part.hypotheses[0].text) for part in some]
            try:
                choice = self.known_choice
                traces = self.look(some, views=(choice.view,), calibrated=False)
                found += [Alignment.measured(trace, choice.strengths(trace), *each, protection=part.protection)
                          for part, trace, each in zip(some, traces, texts, strict=True)]
            except UserError:
                found += [Alignment.by_place(*each, languages=(part.source_language, part.target_language),
                                             protection=part.protection)
                          for part, each in zip(some, texts, strict=True)]
        return found

    def look(self, result: Translation | Sequence[Translation], *, alternative: int = 0,
             views: Sequence[str] = ("raw",), calibrated: bool = True) -> list[Trace]:
        """Trace a hypothesis: record every layer and head while the model predicts exactly this hypothesis.

        Args:
            result: a translation of this model, or a list of them.
            alternative: the index of the hypothesis; 0 is the best.
            views: names from `lens.VIEWS`; every view except `raw` takes extra time.
            calibrated: use calibrated probabilities, if the model has a calibration.

        Returns:
            One trace for each translation; a translation that was cut into segments has one for each segment.

        Raises:
            UserError: a view or alternative that does not exist.
        """
        results = [result] if isinstance(result, Translation) else list(result)
        for one in results:
            if not 0 <= alternative < len(one.hypotheses):
                has = f"the result has {len(one.hypotheses)} hypotheses, counted from 0"
                raise UserError(f"there is no alternative {alternative}: {has}", exit_code=2)
        parts = [part for one in results for part in one.parts]
        return by_group(parts, attrgetter("source_language", "target_language", "engine", "precision"),
                        lambda _, alike: self._measured(self._traces(alike, alternative, views), calibrated=calibrated))

    def _traces(self, parts: Sequence[Translation], alternative: int, views: Sequence[str]) -> list[Trace]:
        """The traces of parts with equal languages and one engine."""
        with IMPORTS:
            from ..lens.tracing import trace_hypotheses

        one, chosen = parts[0], [part.hypotheses[alternative] for part in parts]
        with self.inside() as (model, tokenizer):
            traces = trace_hypotheses(
                model, tokenizer, [part.as_read.source_text for part in parts],
                [hypothesis.token_ids for hypothesis in chosen],
                source_language=one.source_language, target_language=one.target_language,
                given=[hypothesis.given for hypothesis in chosen], scores=[hypothesis.score for hypothesis in chosen],
                engine_log_probs=[hypothesis.log_prob for hypothesis in chosen], engine=one.engine,
                precision=one.precision, model_name=self.name, views=views)
        return [trace if part.model_input is None else with_texts(trace, part, hypothesis.text)
                for trace, part, hypothesis in zip(traces, parts, chosen, strict=True)]

    def _measured(self, traces: Sequence[Trace], *, calibrated: bool) -> list[Trace]:
        """The traces with the measurements of this model."""
        from ..lens.data.probabilities import with_calibration

        known = self.measurements
        calibration = known.calibration if calibrated else None
        return [with_calibration(replace(one, trust=known.trust),
                                 calibration.calibrator(one.target_language) if calibration else None)
                for one in traces]

    def check(self, result: Translation | Sequence[Translation]) -> list[Translation]:
        """The translations with their `unlikely_words` and `omitted_words`, which are then also among their `doubts`.

        It takes one pass for each segment, and one for each of its words of four letters or more.  Translating with a
        check takes two to three times as long as without.  Text in brackets that was translated by itself is not
        checked.
        """
        results = [result] if isinstance(result, Translation) else list(result)
        done = iter(by_group([part for one in results for part in one.parts],
                             attrgetter("source_language", "target_language"), self._checked))
        found = []
        for one in results:
            own = [next(done) for _ in one.parts]
            if one.segments:
                words = {name: tuple(dict.fromkeys(word for part in own for word in getattr(part, name)))
                         for name in ("unlikely_words", "omitted_words")}
                found.append(with_fields(one, segments=tuple(own), **words))
            else:
                found += own or [one]
        return found

    def _checked(self, _: Any, parts: Sequence[Translation]) -> list[Translation]:
        found: list[Translation] = []
        while len(found) < len(parts):
            pause()
            found += checked(parts[len(found) : len(found) + CHECKED_AT_ONCE], self.codec, self.engine)
        return found

    def look_at(self, text: str, translation: str, *, source: str | None = None, target: str | None = None,
                views: Sequence[str] = ("raw",), calibrated: bool = True, target_ids: Sequence[int] | None = None,
                given: int = 0) -> Trace:
        """Trace a given translation, whoever or whatever wrote it.

        Args:
            text: the source text.
            translation: its translation.
            source: the source language, as in a call.
            target: the target language, as in a call.
            views: as in `look`.
            calibrated: as in `look`.
            target_ids: the token ids of the translation, from its hypothesis or trace.  None: the tokenizer's ids of
                the text, which may differ from those that the model generated.
            given: how many ids at the start of `target_ids` were forced rather than chosen, from the hypothesis or
                trace.

        Raises:
            UserError: a blank text; tokens that the model does not have or that spell another text.
        """
        with IMPORTS:
            from ..lens.tracing import check_target_ids, trace_hypotheses, trace_texts

        source, target = self.pair(source, target)
        bare_pair(text, translation)  # UserError if one is blank
        how: dict[str, Any] = {"source_language": source, "target_language": target, "model_name": self.name,
                               "views": views}
        with self.inside() as (model, tokenizer):
            if target_ids is None:
                traces = trace_texts(model, tokenizer, [composed(text)], [composed(translation)], **how)
            else:
                check_target_ids(model, tokenizer, target_ids, text=translation, given=given)
                traces = trace_hypotheses(model, tokenizer, [composed(text)], [target_ids], given=given, engine="",
                                          precision="", **how)
        [trace] = self._measured(traces, calibrated=calibrated)
        return trace

    def score(self, sources: Sequence[str], translations: Sequence[str], *, source: str | None = None,
              target: str | None = None, calibrated: bool = False) -> list[Score]:
        """Compute the log-probability of each translation under the model, in batches; results are in the order of the
        texts.

        Args:
            sources: the source texts.
            translations: one translation for each source text, whoever or whatever wrote it.
            source: the source language, as in a call.
            target: the target language, as in a call.
            calibrated: use calibrated probabilities, not the model's own.

        Raises:
            UserError: a language that the model does not have or is not calibrated for; a blank or overlong text.
        """
        with IMPORTS:
            from ..tokenizer.encoding import encode_target
            from .scoring import score_targets

        if len(sources) != len(translations):
            raise UserError(f"expected a translation for each source, got {len(sources)} sources and"
                            f" {len(translations)} translations", exit_code=2)
        source, target = self.pair(source, target)
        calibration = self.calibration if calibrated else None
        calibrator = calibration.calibrator(target) if calibration else None
        if calibrated and not calibrator:
            to = f" to {target}" if target else ""
            raise UserError(f"{self.name} has no calibration{to}: run seq2see measure {self.name}")
        model, tokenizer = self._load()
        first = next(iter(self.defaults.resolve(first=self.tag(target)).prefix), None)
        source_ids, target_ids = [], []
        for text, translation in map(bare_pair, sources, translations):
            source_ids += self.codec.encode([text], source=source, target=target)
            check_length(text, source_ids[-1], most=self.defaults.positions)
            target_ids.append(encode_target(tokenizer, translation, language=target, first=first))
            check_length(translation, target_ids[-1], most=self.defaults.positions)
        with self._lock:
            return score_targets(model, source_ids, target_ids, given=0 if first is None else 1, calibrator=calibrator)

    def rescored(self, result: Translation, trace: Trace) -> Translation:
        """A translation with the log-probabilities of its hypotheses under the float32 weights, whatever engine found
        them, and the `odds` and `probability` that follow from these.

        `trace` is of one of the hypotheses.  A translation of several segments stays as it is.
        """
        if result.segments or self.engine.name == "torch":
            return result
        with IMPORTS:
            from .scoring import Score, score_targets

        model, _ = self._load()
        scores = [Score(float(trace.log_prob), one.tokens) for one in result.hypotheses]
        if len(scores) > 1:
            with self._lock:
                scores = score_targets(model, [trace.source_ids] * len(scores),
                                       [one.token_ids for one in result.hypotheses], given=trace.given)
        ahead = [min(score.log_prob - scores[0].log_prob, MOST_ODDS) for score in scores]
        found = [with_fields(one, log_prob=score.log_prob, odds=math.exp(more))
                 for one, score, more in zip(result.hypotheses, scores, ahead, strict=True)]
        known = self.measured_files.calibration if found[0].probability is not None else None
        if known and (calibrator := known.sentence_calibrator(result.target_language)):
            found[0] = with_fields(found[0], probability=calibrator(scores[0].log_prob, scores[0].tokens))
        return with_fields(result, hypotheses=tuple(found))

    def pair(self, source: str | None, target: str | None) -> tuple[str, str]:
        """The model's codes of a source and a target language; None: the model's default.

        Languages may be the model's own codes, ISO 639 codes or English names.  For a model that names no languages,
        the arguments are returned unchanged, with "" for None.

        Raises:
            UserError: a language or pair that the model does not have, a name that several languages share, or a
                missing target if the model has no default.
        """
        if pairs := self.language_pairs:
            return pairs.find(source, target)
        if self.config.model_type in T5:
            return spoken_pair(source or None, target or None)
        return source or "", target or ""

    def tag(self, target: str) -> int | None:
        """The id that a translation into `target` begins with; None if the checkpoint's default applies."""
        if not target or not self.codec.tags:
            return None
        if target not in self.codec.tags:
            raise UserError(f"the tokenizer has no target language {target!r}; it has {', '.join(self.codec.tags)}")
        return self.codec.tags[target]


def with_texts(trace: Trace, part: Translation, target: str) -> Trace:
    """The trace with the source of a part and its translation, instead of what the model read and wrote."""
    from ..lens.data.trace_data import ReplacedTexts

    def words(read: Sequence[Word], text: str, language: str) -> tuple[Word, ...]:
        spans = words_shown(read, text, language=language, protection=Protection(keep=part.keep))
        done, found = 0, list[Word]()
        for number in range(len(read)):  # spans do not overlap: of two words for one, the second is empty
            start, end = (max(place, done) for place in spans.get(number, (done, done)))
            found.append(Word(text[start:end], start, end))
            done = end
        return tuple(found)

    return replace(trace, replaced=ReplacedTexts(
        part.source_text, target, words(trace.source_words, part.source_text, trace.source_language),
        words(trace.target_words, target, trace.target_language)))
