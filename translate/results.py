"""Results: a `Translation` of a source text, with its `Hypothesis` objects, and the protocol of engines.

There are two engines: `torch_engine.py`, for every model and option, and `ctranslate2_engine.py`, the fast one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from seq2see.rules import MOST_ODDS
from ..text.capitals import in_capitals
from ..text.glossary import Glossary, occurrences
from ..text.kept_words import KeptWords
from ..text.plain import characters, plain
from ..text.protection import Protection
from ..text.segments import is_plain_sentence
from ..text.warnings import is_far_shorter, letters, may_not_stay
from ..tokenizer.language_codes import iso
from ..tokenizer.words import Word, split_words
from .decoding import DecodingOptions

if TYPE_CHECKING:
    from ..lens.records.calibration import SentenceCalibrator

LETTERS = re.compile(r"[^\W\d_]+")
Ids = Sequence[int]
Result = TypeVar("Result", "Hypothesis", "Translation")
Warned = Literal["unchanged", "too_short", "cut_off"]
Doubted = Literal["unknown_word", "invented_word", "unlikely_word", "omitted_word"]
OF_SOURCE: frozenset[Doubted] = frozenset(("unknown_word", "omitted_word"))
Wanted = Callable[[int], bool]  # whether source i is still wanted; called from any thread


@dataclass(frozen=True)
class Hypothesis:
    """One translation of a source; an engine leaves `text` empty.

    - `token_ids`: its tokens.  The first `given` ones, a language tag and a prefix, were forced.
    - `log_prob`: the sum of the model's log-probabilities of its tokens, in nats; forced tokens count 0.
    - `score`: ranks hypotheses.  It is `log_prob` with the search's penalties for repetition, divided by the number of
      tokens to the power of the length penalty, so it is usually the mean.
    - `finished`: False if the length limit came before `</s>`, or forced it.
    - `odds`: its probability under the model, divided by that of the best hypothesis.
    - `probability`: the calibrated probability that a reference is exactly the same (`seq2see measure`), or None.

    Only the best hypothesis has a `probability`, and only under these conditions:

    - the checkpoint's own search translated the whole text, without a prefix, sampling or options other than
      `alternatives` and `num_beams`;
    - the model is calibrated for the target language, and its calibration passed the checks.
    """

    text: str = field(metadata={"description": "the translation"})
    token_ids: tuple[int, ...] = field(metadata={"description": "ids of its tokens"})
    score: float = field(
        metadata={"description": "ranks hypotheses: log_prob with the penalties of the search, divided by a power of "
        "the length"})
    log_prob: float = field(
        metadata={"description": "sum of the log-probabilities of its tokens, in nats; forced tokens count 0"})
    finished: bool = field(metadata={"description": "false: the length limit came before `</s>`, or forced it"})
    given: int = field(default=0, metadata={"description": "number of forced tokens at the start"})
    probability: float | None = field(
        default=None, metadata={"description": "calibrated probability that a reference is exactly the same, for the "
        "best hypothesis only; null: unknown"})
    odds: float = field(
        default=1.0, metadata={"description": "its probability under the model, divided by that of the best "
        "hypothesis"})

    @property
    def tokens(self) -> int:
        """The number of tokens that count in `log_prob`."""
        return len(self.token_ids) - self.given

    @classmethod
    def from_engine(cls, token_ids: tuple[int, ...], score: float, *, end: Collection[int],
                    options: DecodingOptions, forced: bool = False) -> Hypothesis:
        """A hypothesis from an engine's output, with these resolved options; `end` are the ids that finish it, unless
        the checkpoint has `forced` the last one at the length limit.

        Its `log_prob` is right unless the options are `penalised`.
        """
        log_prob = score * options.normaliser(len(token_ids))
        finished = token_ids[-1] in end and not (forced and len(token_ids) == options.max_new_tokens)
        return cls("", token_ids, score, log_prob, finished, len(options.prefix))


EngineOutput = tuple[Hypothesis, ...]  # for one source, best first


@dataclass(frozen=True)
class Doubt:
    """A word that makes a translation doubtful."""

    kind: Doubted = field(
        metadata={"description": "`unknown_word`: a source word that is not in the training text; `invented_word`: a "
        "word of the translation that is neither in the training text nor in the source; in a checked translation also "
        "`unlikely_word`: a word of the translation that is not in the source and has a probability below 10 %; "
        "`omitted_word`: a source word of at least four letters that may be missing from the translation, because "
        "erasing it makes the translation no less probable"})
    word: str = field(metadata={"description": "the word as it is in the text"})


def with_fields(one: Result, **fields: Any) -> Result:
    """A copy with other values: ten times as fast as `dataclasses.replace`, because there are many results.

    No cached property may depend on these values.
    """
    same = object.__new__(type(one))
    same.__dict__.update(one.__dict__, **fields)
    return same


@dataclass(frozen=True)
class Translation:
    """A source text and its hypotheses, best first.

    - `text`: the best translation.
    - `source_text`: the caller's text in Unicode NFC.  A text without words has no hypotheses and is its own
      translation, character for character.  If all hypotheses contain only white space, their text is replaced by the
      source text.
    - `segments`: the translations of the parts that a text was cut into; empty if it was translated whole.  The first
      hypothesis of the text joins the first hypothesis of each segment, and so on.
    - `one_by_one`: True if several sentences were translated together, the translation had fewer or more sentences, and
      each sentence was therefore translated again separately.
    - `hypotheses`: there may be fewer than requested.  A hypothesis that lost a sentence, a number or protected text is
      omitted if another hypothesis kept it.  Beam search hypotheses with the same text occur once, but samples may
      repeat.  A segment with fewer hypotheses than other segments repeats its last hypothesis.
    - `model_input`: the model's input, if it differs from `source_text` because of protected text.
    - `keep`: the parts of this text that the caller's `keep` matched; `glossary`: the caller's glossary.
    - `unlikely_words`, `omitted_words`: what `Translator.check` found; None: not checked.
    - `seen`, `seen_target`: the words of the two languages that occur in the training text; None if unknown.
    """

    text: str
    source_text: str
    source_language: str
    target_language: str
    hypotheses: tuple[Hypothesis, ...]
    engine: str
    precision: str
    segments: tuple[Translation, ...] = ()
    has_markup: bool = False
    one_by_one: bool = False
    model_input: str | None = None
    unlikely_words: tuple[str, ...] | None = None
    omitted_words: tuple[str, ...] | None = None
    seen: frozenset[str] | None = field(default=None, repr=False, compare=False)
    seen_target: frozenset[str] | None = field(default=None, repr=False, compare=False)
    keep: KeptWords | None = field(default=None, repr=False, compare=False)
    glossary: Glossary | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, source_text: str, hypotheses: tuple[Hypothesis, ...], **more: Any) -> Translation:
        """Make a translation; its text is that of the best hypothesis or, without hypotheses, the source text."""
        text = hypotheses[0].text if hypotheses else source_text
        if len(hypotheses) > 1:
            best = hypotheses[0].log_prob
            hypotheses = tuple([with_fields(one, odds=math.exp(min(one.log_prob - best, MOST_ODDS)))
                                for one in hypotheses])
        return cls(text, source_text, hypotheses=hypotheses, **more)

    @property
    def parts(self) -> tuple[Translation, ...]:
        """The parts that were translated separately: the segments or, without segments, the whole text."""
        return self.segments or ((self,) if self.hypotheses else ())

    @property
    def as_read(self) -> Translation:
        """This translation with `model_input` as its `source_text`, as in a trace."""
        return self if self.model_input is None else replace(self, source_text=self.model_input, model_input=None)

    @property
    def protection(self) -> Protection:
        """What is protected in this text: by its shape (such as a URL), by the caller's pattern or by the glossary."""
        return Protection(keep=self.keep, glossary=self.glossary)

    @cached_property
    def terms(self) -> tuple[tuple[str, str], ...]:
        """The terms of the glossary in the source, in order: each as it is in the text, and its target term."""
        if self.glossary is None:
            return ()
        return tuple((part.source_text[one.start : one.end], one.written)
                     for part in self.parts for one in part.protection.terms(part.source_text))

    @cached_property
    def missing_terms(self) -> tuple[tuple[str, str], ...]:
        """The `terms` that occur less often in the best translation than in the source.

        Target terms must match letter for letter, except for the case of the first letter.
        """
        if self.glossary is None:
            return ()
        if self.segments:
            return tuple(term for part in self.segments for term in part.missing_terms)
        cased = str.upper if in_capitals(self.source_text) else str
        found = occurrences((cased(written) for _, written in self.terms), cased(self.text))
        left = {written: len(spans) for written, spans in found.items()}
        missing = []
        for source, written in self.terms:
            left[cased(written)] -= 1
            if left[cased(written)] < 0:
                missing.append((source, written))
        return tuple(missing)

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """Signs that the best translation went wrong.

        - `unchanged`: it, or a part of it, is a copy of the source, which has words to translate.
        - `too_short`: it, or a part of it, is far shorter than the source.
        - `cut_off`: it reached the maximum length, so its end may be missing.
        """
        return self.warnings_of(0)

    def warnings_of(self, alternative: int) -> tuple[Warned, ...]:
        """The `warnings` of another hypothesis."""
        own = [(part, part.source_text, part.hypotheses[alternative].text) for part in self.parts]
        is_between_languages = not self.source_language or iso(self.source_language) != iso(self.target_language)
        found: dict[Warned, bool] = {
            "unchanged": is_between_languages and any(
                letters(source) == letters(text) and may_not_stay(part.protection.masked(source, terms=True))
                for part, source, text in own),
            "too_short": any(is_far_shorter(source, text) for _, source, text in own),
            "cut_off": not all(one.finished for one in self.hypotheses[alternative : alternative + 1]),
        }
        return tuple(name for name, applies in found.items() if applies)

    @cached_property
    def unknown_words(self) -> tuple[Word, ...] | None:
        """The words of the source that were not in the training text; None if this is unknown.

        Numbers, punctuation and protected text are left out.  For a text with markup, positions are those in its
        segments.
        """
        if self.seen is None:
            return None
        if self.has_markup:
            return tuple(word for one in self.segments for word in one.unknown_words or ())

        def words(text: str) -> list[str]:
            return [word.text for word in split_words(text, language=self.source_language)]

        text, known = self.source_text, characters(self.seen)
        if self.keep is None and self.glossary is None and is_plain_sentence(text, known):  # nothing is protected
            return tuple(word for word in split_words(text, language=self.source_language)
                         if word.text.casefold() not in self.seen and not is_mark(word.text))
        parts = [*self.protection.shapes(text), *self.protection.terms(text)]
        protected = {place for part in parts for place in range(*part.span)}
        read = {word for part in self.parts for word in words(part.as_read.source_text)}
        unread = {word for part in self.parts for word in words(part.source_text) if _has_digit(word)} - read
        shown = plain(text, known)
        spans = {shown.original(word.start, word.end): word.text
                 for word in split_words(shown.text, language=self.source_language)}
        return tuple(Word(text[slice(*span)], *span) for span, word in spans.items()
                     if word.casefold() not in self.seen and word not in unread and not is_mark(word)
                     and protected.isdisjoint(range(*span)))

    @cached_property
    def invented_words(self) -> tuple[Word, ...] | None:
        """The words of the best translation that are neither in the training text nor in the source, and not terms of
        the glossary; None if this is unknown.

        A few of them exist: of the words of Tatoeba's translations 3 or 4 in 100 are not in the text that `everyday`
        learnt from.  Numbers and punctuation are left out.  A word with a hyphen or an apostrophe counts as its parts.
        """
        if self.seen_target is None:
            return None
        if self.has_markup:
            return tuple(word for one in self.segments for word in one.invented_words or ())
        allowed = set(_letters_of(" ".join((self.source_text, *(written for _, written in self.terms)))))
        words = split_words(self.text, language=self.target_language) if self.hypotheses else []
        return tuple(word for word in words if word.text.casefold() not in self.seen_target
                     and any(part not in self.seen_target and part not in allowed for part in _letters_of(word.text)))

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """The words that make the best translation doubtful.

        A word of either side is named once, with the first of these kinds: unknown, omitted, invented, unlikely.
        """
        words: dict[Doubted, Sequence[str]] = {
            "unknown_word": [word.text for word in self.unknown_words or ()],
            "omitted_word": self.omitted_words or (),
            "invented_word": [word.text for word in self.invented_words or ()],
            "unlikely_word": self.unlikely_words or ()}
        found: dict[tuple[bool, str], Doubt] = {}
        for kind, some in words.items():
            for word in some:
                found.setdefault((kind in OF_SOURCE, word.casefold()), Doubt(kind, word))
        return tuple(found.values())


def with_chances(translations: Sequence[Translation], calibrator: SentenceCalibrator) -> list[Translation]:
    """The translations with the `probability` of their best hypothesis, if the model read this very text and finished
    it.
    """
    best = {number: one.hypotheses[0] for number, one in enumerate(translations)
            if not one.segments and one.model_input is None and not one.terms and one.hypotheses
            and one.hypotheses[0].finished}
    chances = calibrator.chances([one.log_prob for one in best.values()], [one.tokens for one in best.values()])
    found = list(translations)
    for (number, first), chance in zip(best.items(), chances, strict=True):
        others = found[number].hypotheses[1:]
        found[number] = with_fields(found[number], hypotheses=(with_fields(first, probability=chance), *others))
    return found


def is_mark(word: str) -> bool:
    """Whether a word is a number, punctuation or a symbol, which need not be learnt."""
    return all(unicodedata.category(c)[0] in "NPSZ" for c in word)


def _letters_of(text: str) -> list[str]:
    """Its runs of letters, casefolded."""
    return LETTERS.findall(text.casefold())


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


class Engine(Protocol):
    """A search engine for translations, which several threads may call."""

    name: str
    precision: str
    threads: int  # concurrent calls

    def translate(self, sources: Sequence[Ids], options: DecodingOptions, *,
                  wanted: Wanted | None = None) -> list[EngineOutput]:
        """The best hypotheses for each source (including `</s>`), best first and without text.

        The options are resolved: only those of sampling may be None.  The engine may drop sources that are no longer
        `wanted` and return any result for them.
        """

    def token_log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """The log-probability of each token of each target, given its source; both are ids, including `</s>`.

        In nats, under the model's own probabilities."""
