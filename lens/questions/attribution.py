"""`attribute`: the contribution of each source token and each prefix token to a translation or to one of its words.

The methods are in `attribution_methods.py`.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ..changes.choices import Choice
from ..data.tables import cells, table
from ..data.word_maps import Unit, map_units
from ..trace import Trace
from ..views.attribution_methods import (
    SEGMENTS,
    Attributed,
    ExplainedOutput,
    Method,
    attributed,
    check_method,
    every_step,
)

if TYPE_CHECKING:
    import pandas

# R outputs that are explained, S source tokens, T decoder steps, L layers

COLUMNS = ("step", "explained", "side", "position", "token", "layer", "contribution")


class Translates(Protocol):
    """The part of a `Translator` that `attribute` needs."""

    def __call__(self, texts: str, *, source: str | None, target: str | None) -> Any: ...

    def look(self, result: Any) -> list[Trace]: ...

    def look_at(self, text: str, translation: str, *, source: str | None, target: str | None) -> Trace: ...

    def inside(self) -> AbstractContextManager[tuple[PreTrainedModel, PreTrainedTokenizerBase]]: ...


@dataclass(frozen=True, eq=False, repr=False)
class Attribution:
    """Contributions of tokens to outputs, in nats.  Each row belongs to one output, at a decoder step listed in
    `steps`.

    - `source` [R,S]: contributions of `trace.source`.
    - `prefix` [R,T]: contributions of `trace.inputs`; step t reads inputs 0 to t, so later columns are 0.
    - `values` [R]: the outputs.  An output is the log-probability of a token of `trace.target` or, with `contrast`, its
      difference from the log-probability of the contrasted token.
    - `baselines` [R]: the outputs for the baseline of integrated gradients, otherwise None.  With
      integrated gradients, the rows of an output in `source` and `prefix` together sum to `values - baselines`.

    With gradient_x_activation, both arrays have an axis of layers first: `source` is [L,R,S] over encoder layers, and
    `prefix` is [L,R,T] over decoder layers.
    """

    trace: Trace
    method: Method
    steps: tuple[int, ...]
    contrast: str | None
    source: np.ndarray
    prefix: np.ndarray
    values: np.ndarray
    baselines: np.ndarray | None

    def by_words(self) -> "WordAttribution":
        """This attribution by words: the contributions of a word's tokens are summed on both axes."""
        rows, sources = map_units(self.trace, "cross")
        _, inputs = map_units(self.trace, "decoder")
        kept = [(row, at) for row in rows if (at := [r for r, step in enumerate(self.steps) if step in row.pieces])]

        def summed(maps: np.ndarray, columns: Sequence[Unit]) -> np.ndarray:
            of_columns = np.add.reduceat(maps, [unit.pieces[0] for unit in columns], axis=-1)
            return np.stack([of_columns[..., at, :].sum(-2) for _, at in kept], axis=-2)

        return WordAttribution(tuple(row for row, _ in kept), sources, inputs, summed(self.source, sources),
                               summed(self.prefix, inputs), self.contrast)

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each explained output and each token: `step` and `explained`, the token that the step predicts;
        `side` ("source" or "prefix"), `position` and `token`; its `contribution` in nats; and the `layer`, which is
        missing for methods without layers.  Later inputs than the step has read are left out.
        """
        source, target, inputs = (
            [token.text for token in self.trace.named(tokens, source=side)]
            for tokens, side in ((self.trace.source, True), (self.trace.target, False), (self.trace.inputs, False)))
        steps = [(step, target[step]) for step in self.steps]
        return _long(steps, (("source", source, self.source), ("prefix", inputs, self.prefix)),
                     last=[*self.steps])

    def __repr__(self) -> str:
        whose = f", not {self.contrast!r}" if self.contrast else ""
        explained = " ".join(self.trace.target[step].text for step in self.steps)
        return (f"Attribution({self.method} of {explained!r}{whose}, {len(self.trace.source)} source tokens,"
                f" {len(self.trace.inputs)} of the prefix)")

    def __str__(self) -> str:
        return str(self.by_words())


@dataclass(frozen=True, eq=False, repr=False)
class WordAttribution:
    """An attribution by words: `source` [R,sources] and `prefix` [R,inputs], with layers first if the method has them.
    """

    rows: tuple[Unit, ...]
    sources: tuple[Unit, ...]
    inputs: tuple[Unit, ...]
    source: np.ndarray
    prefix: np.ndarray
    contrast: str | None

    def to_pandas(self) -> "pandas.DataFrame":
        """As `Attribution.to_pandas`, with words for tokens: `step` is the first step of the explained word."""
        steps = [(row.pieces[0], row.text) for row in self.rows]
        sides = (("source", [unit.text for unit in self.sources], self.source),
                 ("prefix", [unit.text for unit in self.inputs], self.prefix))
        read = [sum(unit.pieces[0] <= row.pieces[-1] for unit in self.inputs) - 1 for row in self.rows]
        return _long(steps, sides, last=read)

    def __repr__(self) -> str:
        return (f"WordAttribution(of {' '.join(row.text for row in self.rows)!r}, {len(self.sources)} source words,"
                f" {len(self.inputs)} of the prefix)")

    def __str__(self) -> str:
        """A line for each explained word, with its largest positive and negative contributions.

        Words of the translation so far are marked `(written)`.
        """
        every = [*(unit.text for unit in self.sources), *(f"{unit.text} (written)" for unit in self.inputs)]
        added = np.concatenate([side if side.ndim == 2 else side[-1] for side in (self.source, self.prefix)], -1)
        lines = []
        for row, numbers in zip(self.rows, added, strict=True):
            order = np.argsort(-abs(numbers), kind="stable")[:5]
            named = ", ".join(f"{every[i]} {numbers[i]:+.2f}" for i in order.tolist() if abs(numbers[i]) >= 0.005)
            lines.append(f"{row.text}{f' (not {self.contrast})' if self.contrast else ''}: {named or 'nothing'}")
        return "\n".join(lines)


def _long(steps: Sequence[tuple[int, str]], sides: Sequence[tuple[str, Sequence[str], np.ndarray]], *,
          last: Sequence[int]) -> "pandas.DataFrame":
    """The table of attributions [R,columns] or [L,R,columns] of both sides, where row r has read the inputs up to
    `last[r]`.
    """
    rows = []
    for side, names, values in sides:
        axes = ("row", "position") if values.ndim == 2 else ("layer", "row", "position")
        for cell in cells(values, *axes):
            row, position = cell["row"], cell["position"]
            if side == "source" or position <= last[row]:
                step, explained = steps[row]
                rows.append({"step": step, "explained": explained, "side": side, "position": position,
                             "token": names[position], "layer": cell.get("layer"), "contribution": cell["value"]})
    return table(rows, columns=COLUMNS)


def attribute(
    translator: Translates, text: str, translation: str | None = None, *, method: Method = "integrated_gradients",
    target: str | int | None = None, contrast: str | None = None, source_language: str | None = None,
    target_language: str | None = None, segments: int = SEGMENTS,
) -> Attribution:
    """Attribute the log-probability of a translation's tokens to the source tokens and to the tokens already written.

    Args:
        translator: a `Translator`.
        text: the source text, short enough to be translated as one segment.
        translation: any translation of the text; None: the translator's own.
        method: one of "input_x_gradient", "integrated_gradients", "gradient_x_activation", "occlusion" and
            "value_zeroing" (`attribution_methods.py` defines them).
        target: the word of the translation to explain: the word itself, or its index in `trace.target_words`; None:
            every token.
        contrast: another word instead of `target`.  The explained output is then the difference between their
            log-probabilities at the first token that differs (Yin and Neubig 2022).
        source_language: as `source` in a call of the translator.
        target_language: as `target` in a call of the translator.
        segments: the number of segments of the path of integrated gradients; more segments are more exact and slower.

    Raises:
        UserError: an unknown method, or a method that the model's family does not support (the message lists the
            supported methods); a word that does not occur in the translation or occurs several times; a contrast
            without a target, or one that equals the target; fewer than one segment; a text that was translated in
            parts.
    """
    if segments < 1:
        raise UserError(f"segments {segments}: expected 1 or more", exit_code=2)
    if contrast is not None and target is None:
        raise UserError(f'contrast {contrast!r} needs the word that it replaces: target="..."', exit_code=2)
    with translator.inside() as (model, _):
        check_method(model, method)
    how = {"source": source_language, "target": target_language}
    if translation is None:
        traces = translator.look(translator(text, **how))
        if len(traces) != 1:
            raise UserError(f"the text is translated in {len(traces)} parts: attribute one sentence at a time")
        [trace] = traces
    else:
        trace = translator.look_at(text, translation, **how)
    outputs = every_step(trace)
    if target is not None:
        number = _word(trace, target)
        if contrast is None:
            outputs = [one for one in outputs if trace.target[one.step].word == number]
        else:
            place = trace.target_words[number]
            other = f"{trace.target_text[: place.start]}{contrast}{trace.target_text[place.end :]}"
            trace, wrong = (translator.look_at(text, each, **how) for each in (trace.target_text, other))
            outputs = [_contrasted(trace, wrong, place.text, contrast)]
    return attribution_of(translator, trace, method, outputs, contrast=contrast, segments=segments)


def attribution_of(translator: Translates, trace: Trace, method: Method, outputs: Sequence[ExplainedOutput], *,
                   contrast: str | None = None, segments: int = SEGMENTS) -> Attribution:
    """The attribution of these outputs of a trace."""
    with translator.inside() as (model, tokenizer):
        found: Attributed = attributed(model, tokenizer, trace, method, outputs, segments=segments)
    return Attribution(trace, method, tuple(one.step for one in outputs), contrast, **vars(found))


def _word(trace: Trace, target: str | int) -> int:
    """The index of a word of the translation.

    Raises UserError if the translation does not have exactly one such word.
    """
    words = [word.text for word in trace.target_words]
    if isinstance(target, int):
        if not 0 <= target < len(words):
            raise UserError(f"there is no word {target} in {trace.target_text!r}: expected 0 to {len(words) - 1}",
                            exit_code=2)
        return target
    numbers = [number for number, word in enumerate(words) if word == target]
    if not numbers:
        raise UserError(f"{target!r} is not a word of {trace.target_text!r}: its words are {' '.join(words)}",
                        exit_code=2)
    if len(numbers) > 1:
        raise UserError(f"{target!r} occurs {len(numbers)} times in {trace.target_text!r}: give its index, one of"
                        f" {', '.join(map(str, numbers))}", exit_code=2)
    return numbers[0]


def _contrasted(trace: Trace, wrong: Trace, own: str, contrast: str) -> ExplainedOutput:
    """The first step at which two translations differ, with their tokens at this step."""
    try:
        choice = Choice.between(trace.source_ids, trace.target_ids, wrong.target_ids)
    except ValueError:
        raise UserError(f"contrast {contrast!r} does not differ from {own!r}", exit_code=2) from None
    return ExplainedOutput(len(choice.prefix_ids), choice.right, choice.wrong)
