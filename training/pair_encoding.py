"""How a pair of texts becomes token ids: `PairEncoder` with a Seq2See tokenizer, `TaggedEncoder` with any other."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..tokenizer.tagging import Tagging

Texts = dict[str, list[str]]  # columns `source`, `target` and `target_language`
Ids = dict[str, list[list[int]]]  # columns `input_ids` and `labels`


@dataclass(frozen=True)
class PairEncoder:
    """Sources as tokens and `</s>`, labels as the tag of the target language, tokens and `</s>`."""

    tokenizer: Any

    def __call__(self, texts: Texts) -> Ids:
        return {
            "input_ids": self.tokenizer.encode_sources(texts["source"]),
            "labels": self.tokenizer.encode_targets(texts["target"], texts["target_language"]),
        }

    @property
    def key(self) -> list[Any]:
        """What decides the ids of a text: ids are kept by it."""
        code = Path(inspect.getfile(type(self.tokenizer))).read_text("utf-8")
        return [code, self.tokenizer.backend_tokenizer.to_str()]


@dataclass(frozen=True)
class TaggedEncoder(PairEncoder):
    """Sources and labels as the model that the tokenizer is of was trained on: with its tags, prefixes and ends.

    Special tokens written in a text are plain text.

    Args:
        tagging: by target language, as the pairs name it.
    """

    tagging: Mapping[str, Tagging]

    def __call__(self, texts: Texts) -> Ids:
        tags = [self.tagging[language] for language in texts["target_language"]]
        sources = self._bare(text=[tag.prefix + text for tag, text in zip(tags, texts["source"], strict=True)])
        targets, (before, after) = self._bare(text_target=texts["target"]), self._target_frame()
        return {
            "input_ids": [[*tag.before, *ids, *tag.after] for tag, ids in zip(tags, sources, strict=True)],
            "labels": [[*(before if tag.first is None else (tag.first,)), *ids, *after]
                       for tag, ids in zip(tags, targets, strict=True)],
        }

    def _bare(self, **texts: list[str]) -> list[list[int]]:
        if not next(iter(texts.values())):
            return []
        found = self.tokenizer(**texts, add_special_tokens=False, split_special_tokens=True, verbose=False)
        ids: list[list[int]] = found["input_ids"]
        return ids

    def _target_frame(self) -> tuple[list[int], list[int]]:
        """The ids that the tokenizer puts before and after a translation, up to its `</s>`: mBART-25 puts the language
        there too, where its decoder starts."""
        end = self.tokenizer.eos_token_id
        whole = self.tokenizer(text_target="a", split_special_tokens=True)["input_ids"]
        [inner] = self._bare(text_target=["a"])
        at = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
        after = whole[at + len(inner) :]
        return whole[:at], after[: after.index(end) + 1] if end in after else [end]

    @property
    def key(self) -> list[Any]:
        code = Path(__file__).read_text("utf-8")
        known = sorted(self.tokenizer.get_vocab().items(), key=lambda item: item[1])
        files = [self.tokenizer.name_or_path, known]
        return [code, *files, sorted((language, repr(tag)) for language, tag in self.tagging.items())]
