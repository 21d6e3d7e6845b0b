"""`Translator`: the five lines of Python.  Knows neither Gradio nor FastAPI.

    translator = Translator.from_pretrained("runs/storybook")
    result = translator("The cat did not cross the street because it was too tired.", target="fr", alternatives=3)
    trace, = translator.look(result)
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import overload

from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from seq2see.lens.forcing import encode_source, encode_target
from seq2see.lens.reading import trace_hypotheses, trace_texts
from seq2see.lens.trace import Trace
from seq2see.modeling.loading import load_checkpoint, resolve_folder
from seq2see.serve.engine import Hypothesis, TorchEngine
from seq2see.serve.scoring import Score, score_targets
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer, refuse_surrogates
from seq2see.tokenizer.words import Word, split_words


@dataclass(frozen=True)
class Translation:
    """A source text and its hypotheses, best first.

    `source_text` is what was translated: the caller's text in Unicode's composed form (NFC).  A blank text is its own
    translation and has no hypotheses.  `unknown_words` are the words of the source that the model never saw in
    training, numbers and punctuation apart; None where the checkpoint does not say what it saw.
    """

    text: str
    source_text: str
    source_language: str
    target_language: str
    hypotheses: tuple[Hypothesis, ...]
    unknown_words: tuple[Word, ...] | None
    engine: str
    precision: str


class Translator:
    """Translates with a checkpoint, and shows what its attention did.  Safe to call from several threads."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, name: str = "",
                 seen_words: Mapping[str, frozenset[str]] | None = None):
        pieces, rows = len(tokenizer), model.get_input_embeddings().num_embeddings
        if pieces > rows:
            raise UserError(
                f"{name}: {pieces} pieces in the tokenizer, {rows} in the model: they do not belong together"
            )
        self.model = model
        self.tokenizer = tokenizer
        self.name = name
        self.engine = TorchEngine(model, tokenizer)
        self._seen_words = seen_words
        self._lock = Lock()  # one at a time: looking switches the attention implementation of the shared model

    @classmethod
    def from_pretrained(cls, name: str | Path, *, trust_remote_code: bool = False) -> "Translator":
        """Load a run of ours, or a folder or Hub id of any transformers encoder-decoder; UserError where it cannot."""
        folder = resolve_folder(name, trust_remote_code=trust_remote_code)
        model = load_checkpoint(folder, trust_remote_code=trust_remote_code)
        try:
            if model.config.model_type == "seq2see":
                tokenizer = Seq2SeeTokenizer.from_pretrained(folder)
            else:
                tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust_remote_code)
        except Exception as error:  # whatever a damaged tokenizer.json makes transformers raise
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UserError(f"the tokenizer in {folder} cannot be read: {reason}") from error
        return cls(model, tokenizer, name=str(name), seen_words=_read_seen_words(folder / "seen_words.json"))

    @property
    def language_pairs(self) -> list[tuple[str, str]]:
        """The (source, target) pairs the checkpoint serves, the default first; empty where it does not say."""
        if isinstance(self.tokenizer, Seq2SeeTokenizer):
            return [(source, target) for source, target in self.model.config.language_pairs or []]
        names = self.tokenizer.init_kwargs  # as Marian checkpoints have it
        pair = names.get("source_lang"), names.get("target_lang")
        return [pair] if all(isinstance(language, str) for language in pair) else []

    @overload  # a str is a Sequence[str] too, and matches here first
    def __call__(self, text: str, *, source: str | None = ...,  # type: ignore[overload-overlap]
                 target: str | None = ..., alternatives: int = ...,
                 num_beams: int | None = ..., max_new_tokens: int | None = ...) -> Translation: ...
    @overload
    def __call__(self, text: Sequence[str], *, source: str | None = ..., target: str | None = ...,
                 alternatives: int = ..., num_beams: int | None = ...,
                 max_new_tokens: int | None = ...) -> list[Translation]: ...
    def __call__(self, text: str | Sequence[str], *, source: str | None = None, target: str | None = None,
                 alternatives: int = 1, num_beams: int | None = None,
                 max_new_tokens: int | None = None) -> Translation | list[Translation]:
        """Translate a text, or a list of texts in batches; blank texts come back as they are.

        `source` and `target` default to the checkpoint's first pair that fits.  `alternatives` hypotheses are found by
        at least as many beams.  UserError: a language it does not have, a number out of bounds, a text too long.
        """
        source, target = self._pair(source, target)
        texts = [text] if isinstance(text, str) else list(text)
        plan = self.engine.plan(first=self._tag(target), alternatives=alternatives, num_beams=num_beams,
                                max_new_tokens=max_new_tokens)
        prepared = [self._prepare(one) for one in texts]
        ids = [self._encode(one) for one in prepared if one.strip()]
        with self._lock:
            found = iter(self.engine.translate(ids, plan))
        results = [
            self._translation(one, source, target, next(found)) if one.strip()
            else self._translation(as_given, source, target, ())
            for one, as_given in zip(prepared, texts, strict=True)
        ]
        return results[0] if isinstance(text, str) else results

    def look(self, result: Translation | Sequence[Translation], *, alternative: int = 0,
             views: Sequence[str] = ("raw",)) -> list[Trace]:
        """One trace a translation: every layer and head while this very hypothesis was predicted.

        `views` are names of `lens.VIEWS`; all but "raw" cost time.  UserError for one, or an alternative, that is not
        there.
        """
        results = [result] if isinstance(result, Translation) else list(result)
        for one in results:
            if not 0 <= alternative < len(one.hypotheses):
                has = f"this result has {len(one.hypotheses)} hypotheses"
                raise UserError(f"there is no alternative {alternative} to look at: {has}", exit_code=2)
        traces: list[Trace] = []
        for (source, target), group in groupby(results, lambda one: (one.source_language, one.target_language)):
            members = list(group)
            chosen = [one.hypotheses[alternative] for one in members]
            plan = self.engine.plan(first=self._tag(target))
            with self._lock:
                traces += trace_hypotheses(
                    self.model,
                    self.tokenizer,
                    [one.source_text for one in members],
                    [hypothesis.token_ids for hypothesis in chosen],
                    source_language=source,
                    target_language=target,
                    given=0 if plan.forced_bos_token_id is None else 1,
                    scores=[hypothesis.score for hypothesis in chosen],
                    engine_log_probs=[self.engine.log_prob(hypothesis) for hypothesis in chosen],
                    engine=self.engine.name,
                    precision=self.engine.precision,
                    model_name=self.name,
                    views=views,
                )
        return traces

    def look_at(self, text: str, translation: str, *, source: str | None = None, target: str | None = None,
                views: Sequence[str] = ("raw",)) -> Trace:
        """The trace of a given translation, whoever wrote it; otherwise as `look`."""
        source, target = self._pair(source, target)
        text, translation = self._prepare(text), self._prepare(translation)
        if not text.strip() or not translation.strip():
            raise UserError(f"the {'translation' if text.strip() else 'source'} is blank")
        with self._lock:
            [trace] = trace_texts(self.model, self.tokenizer, [text], [translation], source_language=source,
                                  target_language=target, model_name=self.name, views=views)
        return trace

    def score(self, sources: Sequence[str], translations: Sequence[str], *, source: str | None = None,
              target: str | None = None) -> list[Score]:
        """How probable the model finds each translation of its source, whoever wrote it; in batches, in order.

        `source` and `target` as in a call.  UserError: a language it does not have, a text that is blank or too long.
        """
        source, target = self._pair(source, target)
        first = self.engine.plan(first=self._tag(target)).forced_bos_token_id
        source_ids, target_ids = [], []
        for text, translation in zip(map(self._prepare, sources), map(self._prepare, translations), strict=True):
            if not text.strip() or not translation.strip():
                raise UserError(f"the {'translation' if text.strip() else 'source'} is blank")
            source_ids.append(self._encode(text))
            target_ids.append(encode_target(self.tokenizer, translation, language=target, first=first))
            self._check_length(translation, target_ids[-1])
        with self._lock:
            return score_targets(self.model, source_ids, target_ids, given=0 if first is None else 1)

    def _pair(self, source: str | None, target: str | None) -> tuple[str, str]:
        pairs = self.language_pairs
        if not pairs:
            return source or "", target or ""
        fitting = [pair for pair in pairs if source in (None, pair[0]) and target in (None, pair[1])]
        if not fitting:
            asked = f"{source or 'any'} to {target or 'any'}"
            known = ", ".join(f"{a} to {b}" for a, b in pairs)
            raise UserError(f"this model does not translate from {asked}; it has {known}")
        return fitting[0]

    def _tag(self, target: str) -> int | None:
        """The id a translation into `target` begins with; None where the checkpoint's own default serves."""
        if target and isinstance(self.tokenizer, Seq2SeeTokenizer):
            return self.tokenizer.tag_id(target)
        return None

    def _prepare(self, text: str) -> str:
        if not isinstance(text, str):
            raise UserError(f"expected text, got {type(text).__name__}", exit_code=2)
        refuse_surrogates(text)
        return unicodedata.normalize("NFC", text)

    def _encode(self, text: str) -> list[int]:
        ids = encode_source(self.tokenizer, text)
        self._check_length(text, ids)
        return ids

    def _check_length(self, text: str, ids: Sequence[int]) -> None:
        longest = self.engine.longest()
        if longest is not None and len(ids) > longest:
            size = f"it has {len(ids)} pieces, the model takes {longest}"
            raise UserError(f"the text {text[:30] + '…'!r} is too long: {size}; translate it sentence by sentence")

    def _translation(self, text: str, source: str, target: str, hypotheses: tuple[Hypothesis, ...]) -> Translation:
        return Translation(
            text=hypotheses[0].text if hypotheses else text,
            source_text=text,
            source_language=source,
            target_language=target,
            hypotheses=hypotheses,
            unknown_words=self._unknown_words(text, source),
            engine=self.engine.name,
            precision=self.engine.precision,
        )

    def _unknown_words(self, text: str, language: str) -> tuple[Word, ...] | None:
        if self._seen_words is None or language not in self._seen_words:
            return None
        seen = self._seen_words[language]
        words = split_words(text, language=language)
        return tuple(word for word in words if not _is_mark(word.text) and word.text.casefold() not in seen)


def _is_mark(word: str) -> bool:
    """A number or punctuation: nothing that has to be learnt to be translated."""
    return all(unicodedata.category(c)[0] in "NPZ" for c in word)


def _read_seen_words(path: Path) -> dict[str, frozenset[str]] | None:
    if not path.is_file():
        return None
    try:
        lists = json.loads(path.read_text(encoding="utf-8"))
        return {language: frozenset(words) for language, words in lists.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise UserError(f"{path} is not a list of words for each language ({error}): remove it") from error
