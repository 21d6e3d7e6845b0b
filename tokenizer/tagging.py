"""The language tags of models of other families, from their tokenizer and configuration.

    NLLB, M2M-100, mBART-50, mBART   the source's tag beside the source, the target's first in the translation
    Marian of many targets           `>>fra<<` before the source; MADLAD, a T5, likewise `<2fr>`
    T5                               a task prefix in words, such as `translate English to French: `, from its
                                     configuration; where it names none (mT5, T5 1.1), these words

    tagging(model.config, tokenizer, "eng_Latn", "fra_Latn").encode(tokenizer, "The cat.")
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from seq2see.errors import UserError
from .language_codes import language_code, language_name
from .language_pairs import MOST_LETTERS, Codes, LanguagePairs, Pair

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Ids = tuple[int, ...]
TASK = re.compile(r"translation_(.+)_to_(.+)")
MARIAN = re.compile(r">>(\S+)<<")
MADLAD = re.compile(r"<2([a-z]{2,3}(?:[-_]\w+)*)>")
BESIDE = re.compile(r"([a-z]{2,3}_(?:[A-Z][a-z]{3}|[A-Z]{2}))")
T5 = ("t5", "mt5", "umt5")
STARTS_FROM_TAG = ("MBartTokenizer", "MBartTokenizerFast")  # of 25 languages: its decoder starts from the tag


@dataclass(frozen=True)
class Tagging:
    """The text and ids around the source text of a language pair.

    Args:
        prefix: text before every source text.
        before: ids before those of the source text.
        after: ids after them, including `</s>`.
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
    """The tags of a tokenizer: ids by language, and the ids that it puts before and after every source by itself.

    `beside` are tags beside a source; `marian` and `madlad` are tags before it.
    """

    beside: dict[str, int]
    marian: dict[str, int]
    madlad: dict[str, int]
    frame: tuple[Ids, Ids]

    def before(self, config: Any) -> dict[str, int]:
        """The tags before a source; in a tokenizer of another family `<2fr>` has another meaning."""
        return self.madlad if getattr(config, "model_type", "") in T5 else self.marian


_known: WeakKeyDictionary[PreTrainedTokenizerBase, _Tags] = WeakKeyDictionary()


def tagging(config: Any, tokenizer: PreTrainedTokenizerBase, source: str, target: str) -> Tagging:
    """The tagging for a source and a target of `language_pairs`.

    For a language without a tag, the tokenizer's own setting stays.
    """
    tags, beside = _tags(tokenizer), _beside(config, tokenizer)
    own = {id: beside.get(source, id) for id in tags.beside.values()}
    before, after = (tuple(own.get(id, id) for id in ids) for ids in tags.frame)
    tag = tags.before(config).get(target)
    if tag is not None:
        before = (tag, *before)
    prefix = task_prefix(config, source, target)
    if source and target and is_told_in_words(config, tokenizer) and not _tasks(config):
        prefix = new_task_prefix(source, target)
    return Tagging(prefix, before, after, first_ids(tokenizer).get(target))


def tags_before(config: Any, tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """The ids of the tags before a source, by target language; empty if the model has none."""
    return _tags(tokenizer).before(config)


def is_told_in_words(config: Any, tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a prefix in words names the languages: for a T5 without tags, unlike MADLAD."""
    return getattr(config, "model_type", "") in T5 and not _tags(tokenizer).madlad


def spoken_pair(source: str | None, target: str | None) -> Pair:
    """The codes of the given languages, for a T5 that names no pair; ("", "") without languages, to read a text as it
    is.

    Raises UserError for one language without the other, and for anything but a language.
    """
    if source is None and target is None:
        return "", ""
    if source is None or target is None:
        raise UserError("this T5 names no languages: give both, source and target (--from, --to), for the prefix"
                        f" {new_task_prefix('en', 'fr')!r}, or none to translate the text as it is", exit_code=2)
    return _spoken("from", source), _spoken("to", target)


def _spoken(side: str, name: str) -> str:
    code = language_code(name)
    if code is None:
        raise UserError(f"this model does not translate {side} {name[:MOST_LETTERS]}: that is no code or English name"
                        " of a language, such as fr or French", exit_code=2)
    return code


def first_ids(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """The ids that translations begin with, by target language; empty if the model has none."""
    if type(tokenizer).__name__ in STARTS_FROM_TAG:
        return {}
    tags = _tags(tokenizer)
    exported = tokenizer.init_kwargs.get("tgt_lang") in tags.madlad  # by `seq2see export --format transformers`
    return tags.madlad if exported else tags.beside


def task_prefix(config: Any, source: str, target: str) -> str:
    """The text that the configuration of a T5 puts before a source; "" if it names no such task."""
    return str(_tasks(config).get((source, target), ""))


def new_task_prefix(source: str, target: str) -> str:
    """The text before a source for a T5 that has not learnt this pair yet."""
    return f"translate {language_name(source)} to {language_name(target)}: "


def language_pairs(config: Any, tokenizer: PreTrainedTokenizerBase) -> LanguagePairs:
    """The language pairs of a model; empty if neither its tokenizer nor its configuration names them."""
    if tasks := _tasks(config):
        return LanguagePairs.of(tasks)
    tags, kept = _tags(tokenizer), tokenizer.init_kwargs
    source, target = kept.get("source_lang"), kept.get("target_lang")  # Marian's, and a fine-tuned MADLAD's
    if before := tuple(tags.before(config)):
        return LanguagePairs((((source,) if source else before, _begun(before, target)),),
                             default=target in before or len(before) == 1)
    beside = _beside(config, tokenizer)
    if not beside:
        return LanguagePairs.of([(source, target)] if source and target else [])
    target, targets = kept.get("tgt_lang"), [*beside]
    if type(tokenizer).__name__ in STARTS_FROM_TAG:
        start = getattr(config, "decoder_start_token_id", None)
        targets = [code for code, id in beside.items() if id == start] or targets
    return LanguagePairs(((_begun(beside, tokenizer.src_lang), _begun(targets, target)),),
                         default=target in targets or len(targets) == 1)


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


def _beside(config: Any, tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """The tags beside a source that the model has: classes of transformers add their languages to any vocabulary.

    One tag alone, which a cut vocabulary may keep, names no pair.
    """
    rows, tags = getattr(config, "vocab_size", None), _tags(tokenizer).beside
    known = {code: id for code, id in tags.items() if rows is None or id < rows}
    return known if len(known) > 1 else {}


def _tags(tokenizer: PreTrainedTokenizerBase) -> _Tags:
    found = _known.get(tokenizer)
    if found is None:
        if hasattr(tokenizer, "src_lang"):
            named = getattr(tokenizer, "lang_code_to_id", None)  # M2M-100 and mBART-50 list them
            added = {str(token): int(id) for id, token in tokenizer.added_tokens_decoder.items()}
            found = _Tags(dict(named or _coded(BESIDE, added)), {}, {}, _frame(tokenizer))
        else:
            known = tokenizer.get_vocab()
            found = _Tags({}, _coded(MARIAN, known), _coded(MADLAD, known), _frame(tokenizer))
        _known[tokenizer] = found
    return found


def _coded(form: re.Pattern[str], vocabulary: dict[str, int]) -> dict[str, int]:
    """The language codes of the tokens of this form, in order of their ids."""
    named = sorted((id, found[1]) for token, id in vocabulary.items() if (found := form.fullmatch(token)))
    return {code: id for id, code in named}


def _frame(tokenizer: PreTrainedTokenizerBase) -> tuple[Ids, Ids]:
    """The ids that the tokenizer puts before and after a source text."""
    whole, inner = list(tokenizer("a", split_special_tokens=True)["input_ids"]), bare(tokenizer, "a")
    at = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
    return tuple(whole[:at]), tuple(whole[at + len(inner) :])
