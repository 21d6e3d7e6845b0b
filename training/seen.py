"""What the training text has shown a model: which words, and how much of a text at a time."""

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from seq2see.tokenizer.segments import count_sentences
from seq2see.tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from seq2see.tokenizer.words import split_words
from seq2see.training.checkpoints import find_record
from seq2see.training.pairs import Pair

RARE = 100  # one source in so many is enough to have learnt to translate such
LONGEST = 1000  # sources with the most characters, among which that with the most pieces is sought


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


def seen_at_once(pairs: Sequence[Pair], tokenizer: Seq2SeeTokenizer, *, start: Path | None = None) -> dict[str, int]:
    """For generation_config.json: `source_sentences`, which at least one source in a hundred has, and `source_pieces`
    of the longest.  What the model will be given is cut to that; `start` as above.
    """
    counts = sorted(count_sentences(pair.source, language=pair.source_language) for pair in pairs)
    longest = heapq.nlargest(LONGEST, (pair.source for pair in pairs), key=len)
    seen = {
        "source_sentences": max(1, counts[-1 - len(counts) // RARE]),
        "source_pieces": max(len(tokenizer.encode_source(text)) for text in longest),
    }
    if start and (known := find_record(start, "generation_config.json")):
        before = json.loads(known.read_text("utf-8"))
        seen = {name: max(number, before.get(name) or 0) for name, number in seen.items()}
    return seen
