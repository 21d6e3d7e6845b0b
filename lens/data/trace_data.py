"""The data of a `Trace`: the numbers of one hypothesis, without a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from seq2see.errors import UserError
from ...passes.attention_kinds import KINDS, Kind, Rows
from ...tokenizer.words import TokenSpan, Word, split_words
from ..records.calibration import Calibrator
from ..records.plain_json import Number
from ..records.trust import Trust

# L layers, H heads, S source tokens, T decoder steps, V vocabulary, W source words

TOP = 20  # how many candidates of each step a trace keeps


class Candidate(NamedTuple):  # a trace has hundreds, and a dataclass takes four times as long to make
    """A possible token of a step, with its log-probability (natural logarithm)."""

    id: int
    text: str
    log_prob: Number


@dataclass(frozen=True)
class ReplacedTexts:
    """The caller's text and its translation, if the model read and wrote stand-ins for protected text, or small letters
    for capitals; and for each word of a trace the word there that it stands for, which may be empty.
    """

    source: str
    target: str
    source_words: tuple[Word, ...]
    target_words: tuple[Word, ...]


@dataclass(frozen=True, eq=False)
class CalibratedSteps:
    """The calibrated steps of a trace: log-probabilities [T], entropies [T], and the same candidates."""

    calibrator: Calibrator
    log_probs: np.ndarray
    entropies: np.ndarray
    top: tuple[tuple[Candidate, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class TraceData:
    """The data of a `Trace`, whose docstring describes the fields; without a model or drawing."""

    source_text: str
    target_text: str
    source: tuple[TokenSpan, ...]
    target: tuple[TokenSpan, ...]
    inputs: tuple[TokenSpan, ...]
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    encoder: dict[str, np.ndarray]
    decoder: dict[str, np.ndarray]
    cross: dict[str, np.ndarray]
    log_probs: np.ndarray
    entropies: np.ndarray
    log_normalisers: np.ndarray
    top: tuple[tuple[Candidate, ...], ...]
    logits: np.ndarray | None = None
    left_out: np.ndarray | None = None
    given: int = 0
    rows: Literal["predicts"] = "predicts"
    score: Number | None = None
    engine_log_prob: Number | None = None
    engine: str = "torch"
    precision: str = "float32"
    model: str = ""
    source_language: str = ""
    target_language: str = ""
    trust: Trust | None = None
    calibrated: CalibratedSteps | None = None
    replaced: ReplacedTexts | None = None

    def __post_init__(self) -> None:
        steps = len(self.target)
        for kind in KINDS:
            layers, heads = self.maps(kind).shape[:2]
            tokens = (len(self.row_tokens(kind)), len(self.column_tokens(kind)))
            for view, array in self._by_view(kind).items():
                shape: tuple[int, ...] = (layers, heads, *tokens)
                if view != "raw" and array.ndim == 2:
                    shape = tokens
                elif view != "raw" and array.ndim == 3:  # that of states may have the encoder's layers
                    shape = (len(array) if len(array) == len(self.encoder["raw"]) else layers, *tokens)
                if array.shape != shape:
                    raise ValueError(f"{view} of {kind} has shape {array.shape}, its layers and tokens make {shape}")
                array.setflags(write=False)
        for numbers in (self.log_probs, self.entropies, self.log_normalisers, self.logits, self.left_out,
                        self.shown.log_probs, self.shown.entropies):
            if numbers is not None:
                if len(numbers) != steps:
                    raise ValueError(f"expected {steps} steps, got {len(numbers)}")
                numbers.setflags(write=False)
        lengths = {"inputs": steps, "target_ids": steps, "top": steps, "source_ids": len(self.source)}
        for name, expected in lengths.items():
            if len(getattr(self, name)) != expected:
                raise ValueError(f"{name} has {len(getattr(self, name))} entries, expected {expected}")
        if not 0 <= self.given <= steps:
            raise ValueError(f"given is {self.given}, of {steps} steps")

    def __repr__(self) -> str:
        texts = [text if len(text) <= 60 else f"{text[:60]}..." for text in self.texts]
        shape = "{} layers, {} heads".format(*self.cross["raw"].shape[:2])
        return (f"Trace({texts[0]!r} -> {texts[1]!r}, {len(self.source)} source tokens, {len(self.target)} steps,"
                f" {shape}, views {', '.join(self.views)}, log_prob {self.log_prob:.3f})")

    @property
    def log_prob(self) -> float:
        """Log-probability of the hypothesis under the float32 weights, in nats: the sum over the steps that were not
        forced.
        """
        return float(self.log_probs[self.given :].sum(dtype=np.float64))

    @property
    def texts(self) -> tuple[str, str]:
        """The source and the translation as a reader knows them: without stand-ins."""
        return (self.replaced.source, self.replaced.target) if self.replaced else (self.source_text, self.target_text)

    def words(self, *, source: bool) -> Sequence[Word]:
        """The words of `texts` that those of `source_words` or `target_words` stand for, one for each."""
        if self.replaced:
            return self.replaced.source_words if source else self.replaced.target_words
        return self.source_words if source else self.target_words

    def named(self, tokens: Sequence[TokenSpan], *, source: bool) -> Sequence[TokenSpan]:
        """The tokens with the texts that a reader knows; of a word at another place in the text, the first token has
        all.
        """
        if self.replaced is None:
            return tokens
        read, own = self.source_words if source else self.target_words, self.words(source=source)
        if [(word.start, word.end) for word in read] == [(word.start, word.end) for word in own]:
            read_text, own_text = (texts[not source] for texts in ((self.source_text, self.target_text), self.texts))
            return [replace(token, text=own_text[token.start:token.end])  # other capitals or marks at the same places
                    if token.text == read_text[token.start:token.end] else token for token in tokens]
        found, before = list[TokenSpan](), None
        for token in tokens:
            if token.word is not None and read[token.word].text != (word := own[token.word].text):
                text = " " * token.text.startswith(" ") + word if token.word != before else ""
                token = replace(token, text=text)
            found.append(token)
            before = token.word
        return found

    @property
    def shown(self) -> "CalibratedSteps | TraceData":
        """The `log_probs`, `entropies` and `top` to show: calibrated if possible."""
        return self.calibrated or self

    @property
    def confidence(self) -> float | None:
        """The mean calibrated probability of the chosen tokens; None if the model is not calibrated, or nothing was
        chosen.

        It is the expected share of tokens that a reference would share, given the tokens before.
        """
        if self.calibrated is None or self.given == len(self.target):
            return None
        return float(np.exp(self.calibrated.log_probs[self.given :]).mean())

    @property
    def difference(self) -> float | None:
        """The engine's log-probability of the hypothesis minus that of the float32 weights; None if unknown."""
        return None if self.engine_log_prob is None else self.engine_log_prob - self.log_prob

    @property
    def views(self) -> tuple[str, ...]:
        """The names of its views."""
        return (*self.cross, *(("left_out",) if self.left_out is not None else ()))

    def maps(self, kind: Kind, view: str = "raw") -> np.ndarray:
        """The maps of one kind: [L,H,rows,columns].

        A view without heads has [L,rows,columns], and one without layers [rows,columns].  Raises UserError for a view
        that this trace does not have.
        """
        by_view = self._by_view(kind)
        if view == "left_out" and self.left_out is not None:
            raise UserError("left_out has columns for words, not tokens: use trace.left_out", exit_code=2)
        if view not in by_view:
            held = ", ".join(by_view)
            raise UserError(f"no view {view!r} of {kind} attention in this trace, only {held}: look with views=...",
                            exit_code=2)
        return by_view[view]

    def origins(self, view: str) -> np.ndarray:
        """The origin of each step's state, up to decoder layer l: [L,T,S+T], for the view "rollout" or "contributions".

        Columns are the source tokens, then the decoder's inputs.  A row sums to 1.  The last layer is for the whole
        network.
        """
        if view not in ("rollout", "contributions"):
            raise UserError(f"{view!r}: expected rollout or contributions", exit_code=2)
        return np.concatenate([self.maps("cross", view), self.maps("decoder", view)], axis=-1)

    @property
    def source_share(self) -> np.ndarray:
        """[T]: the share of each prediction that comes from the source; the rest comes from the target prefix.

        The method is ALTI+ (Ferrando et al. 2022), through all layers, so the trace needs the view contributions.  A
        hallucinated translation has a smaller share than a faithful one.  Usual values differ between models, so
        compare only sentences of one model.
        """
        return self.maps("cross", "contributions")[-1].sum(-1)

    def row_tokens(self, kind: Kind, *, rows: Rows = "predicts") -> tuple[TokenSpan, ...]:
        """The tokens that name the rows of a kind: each step reads one token and predicts the next.

        With `reads`, row t is the step that reads `inputs[t]`.  The first row is the start's, which is not part of the
        translation.  The last token has no row, because no step reads it.
        """
        if kind == "encoder":
            return self.source
        return self.target if rows == "predicts" else self.inputs

    def column_tokens(self, kind: Kind) -> tuple[TokenSpan, ...]:
        return self.inputs if kind == "decoder" else self.source

    @cached_property
    def source_words(self) -> list[Word]:
        """The words that `token.word` of a source token refers to."""
        return split_words(self.source_text, language=self.source_language)

    @cached_property
    def target_words(self) -> list[Word]:
        """The words that `token.word` of a target token refers to."""
        return split_words(self.target_text, language=self.target_language)

    def _by_view(self, kind: Kind) -> dict[str, np.ndarray]:
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]
