"""How a foreign model is told its languages, from its own tokenizer and configuration.

    NLLB, M2M-100, mBART-50, mBART   the source's tag beside the source, the target's first in the translation
    Marian of many targets           `>>fra<<` before the source; MADLAD, a T5, likewise `<2fr>`
    T5                               a task prefix in words, such as `translate English to French: `

    tagging(model.config, tokenizer, "eng_Latn", "fra_Latn").encode(tokenizer, "The cat.")
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .language_codes import language_name
from .language_pairs import Codes, LanguagePairs

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Ids = tuple[int, ...]
TASK = re.compile(r"translation_(.+)_to_(.+)")
BEFORE = re.compile(r">>(\S+)<<")
BEFORE_T5 = re.compile(r"<2([a-z]{2,3}(?:[-_]\w+)*)>")
BESIDE = re.compile(r"__([a-z]{2,3})__|([a-z]{2,3}_(?:[A-Z][a-z]{3}|[A-Z]{2}))")


@dataclass(frozen=True)
class Tagging:
    """What stands beside the text of a pair of languages.

    Args:
        prefix: text before every source text.
        before: ids before those of the source text.
        after: ids after them, `</s>` among them.
        first: the id that every translation begins with; None: the checkpoint's own.
    """

    prefix: str = ""
    before: Ids = ()
    after: Ids = ()
    first: int | None = None

    def encode(self, tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
        """The ids of a source text; special tokens written in it are plain text."""
        return [*self.before, *bare(tokenizer, self.prefix + text), *self.after]


@dataclass(frozen=True)
class _Tags:
    """Of a tokenizer: the ids by language of those that stand beside the source, and of those before it; the ids that
    it puts around every text by itself."""

    beside: dict[str, int]
    before: dict[str, int]
    frame: tuple[Ids, Ids]


_known: WeakKeyDictionary[PreTrainedTokenizerBase, _Tags] = WeakKeyDictionary()


def tagging(config: Any, tokenizer: PreTrainedTokenizerBase, source: str, target: str) -> Tagging:
    """For the source and target code, as `language_pairs` has them; languages that the model has no tag for, or "",
    leave it as its tokenizer is set."""
    tags = _tags(config, tokenizer)
    own = {id: tags.beside.get(source, id) for id in tags.beside.values()}
    before, after = (tuple(own.get(id, id) for id in ids) for ids in tags.frame)
    if target in tags.before:
        before = (tags.before[target], *before)
    return Tagging(task_prefix(config, source, target), before, after, tags.beside.get(target))


def first_ids(config: Any, tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """The ids that a translation begins with, by target language; empty if the model has none."""
    return _tags(config, tokenizer).beside


def task_prefix(config: Any, source: str, target: str) -> str:
    """What the configuration of a T5 puts before a source; "" if it names no such task."""
    return str(_tasks(config).get((source, target), ""))


def new_task_prefix(source: str, target: str) -> str:
    """What a T5 that is yet to learn this pair reads before a source."""
    return f"translate {language_name(source)} to {language_name(target)}: "


def language_pairs(config: Any, tokenizer: PreTrainedTokenizerBase) -> LanguagePairs:
    """What the model translates; empty if neither its tokenizer nor its configuration says it."""
    if tasks := _tasks(config):
        return LanguagePairs.of(tasks)
    tags, kept = _tags(config, tokenizer), tokenizer.init_kwargs
    source, target = kept.get("source_lang"), kept.get("target_lang")  # Marian's
    if tags.before:
        return LanguagePairs((((source,) if source else tuple(tags.before), tuple(tags.before)),), default=False)
    if tags.beside:
        declared = kept.get("tgt_lang")
        sources = _begun(tags.beside, tokenizer.src_lang)
        return LanguagePairs(((sources, _begun(tags.beside, declared)),), default=declared in tags.beside)
    return LanguagePairs.of([(source, target)] if source and target else [])


def bare(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """The ids of a text alone; special tokens written in it are plain text."""
    return list(tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])


def _begun(codes: Sequence[str] | dict[str, int], first: str | None) -> Codes:
    return tuple(sorted(codes, key=lambda code: code != first))


def _tasks(config: Any) -> dict[tuple[str, str], str]:
    """The prefixes that a configuration names, by pair."""
    tasks = getattr(config, "task_specific_params", None) or {}
    return {(found[1], found[2]): task["prefix"] for name, task in tasks.items()
            if (found := TASK.fullmatch(name)) and isinstance(task, dict) and task.get("prefix")}


def _tags(config: Any, tokenizer: PreTrainedTokenizerBase) -> _Tags:
    found = _known.get(tokenizer)
    if found is None:
        beside, before, model_type = {}, {}, getattr(config, "model_type", "")
        if hasattr(tokenizer, "src_lang"):
            beside = _coded(BESIDE, {str(one): int(id) for id, one in tokenizer.added_tokens_decoder.items()})
        elif model_type == "marian":
            before = _coded(BEFORE, tokenizer.get_vocab())
        elif model_type in ("t5", "mt5", "umt5"):
            before = _coded(BEFORE_T5, tokenizer.get_vocab())
        found = _known[tokenizer] = _Tags(beside, before, _frame(tokenizer))
    return found


def _coded(form: re.Pattern[str], vocabulary: dict[str, int]) -> dict[str, int]:
    """The language codes of the tokens of this form, in order of their ids."""
    named = sorted((id, next(filter(None, found.groups()))) for token, id in vocabulary.items()
                   if (found := form.fullmatch(token)))
    return {code: id for id, code in named}


def _frame(tokenizer: PreTrainedTokenizerBase) -> tuple[Ids, Ids]:
    """The ids that the tokenizer puts before and after a source text."""
    whole, inner = list(tokenizer("a", split_special_tokens=True)["input_ids"]), bare(tokenizer, "a")
    at = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
    return tuple(whole[:at]), tuple(whole[at + len(inner) :])
