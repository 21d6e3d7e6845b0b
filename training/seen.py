"""What the training text has shown a model: which words, and how much of a text at a time."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from ..tokenizer.words import split_words
from .checkpoints import find_record
from .joining import JoinedPairs
from .pairs import Pair


def seen_words(pairs: Iterable[Pair], *, start: Path | None = None) -> dict[str, list[str]]:
    """For each language the casefolded words of these pairs: what the model can be expected to know.

    With those of `start`, the run that training began from.
    """
    words: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for text, language in ((pair.source, pair.source_language), (pair.target, pair.target_language)):
            words[language].update(word.text.casefold() for word in split_words(text, language=language))
    if start and (known := find_record(start, "seen_words.json")):
        for language, items in json.loads(known.read_text("utf-8")).items():
            words[language].update(items)
    return {language: sorted(items) for language, items in sorted(words.items())}


def source_limits(dataset: JoinedPairs, *, start: Path | None = None) -> dict[str, int]:
    """For generation_config.json: how many sentences the model may be given together (`source_sentences`: as many as
    pairs were joined) and how many tokens (`source_pieces`, the longest source).  Texts are cut to that; `start` as
    above.
    """
    longest = int(dataset.lengths_R2[:, 0].max())
    if start and (known := find_record(start, "generation_config.json")):
        longest = max(longest, json.loads(known.read_text("utf-8")).get("source_pieces") or 0)
    return {"source_sentences": dataset.most_joined, "source_pieces": longest}
