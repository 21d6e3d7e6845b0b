"""Which words of a text changed, for two translations laid side by side."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from seq2see.tokenizer.words import Word, split_words

Marked = list[tuple[str, bool]]  # a text in stretches, and whether each changed


def changed_words(before: str, after: str, *, language: str = "") -> tuple[Marked, Marked]:
    """Both texts in stretches of words that stand in both, in order, and of words that do not.

    The stretches of a text joined are the text.  Words are those of `split_words`; a capital makes another word.
    """
    words, others = split_words(before, language=language), split_words(after, language=language)
    matcher = SequenceMatcher(None, [word.text for word in words], [word.text for word in others], autojunk=False)
    same, same_after = [False] * len(words), [False] * len(others)
    for block in matcher.get_matching_blocks():
        same[block.a : block.a + block.size] = [True] * block.size
        same_after[block.b : block.b + block.size] = [True] * block.size
    return _stretches(before, words, same), _stretches(after, others, same_after)


def _stretches(text: str, words: Sequence[Word], same: Sequence[bool]) -> Marked:
    found: Marked = []
    at = 0
    for word, is_same in zip(words, same, strict=True):
        for part, changed in ((text[at : word.start], False), (text[word.start : word.end], not is_same)):
            if part and found and found[-1][1] == changed:
                found[-1] = (found[-1][0] + part, changed)
            elif part:
                found.append((part, changed))
        at = word.end
    rest = text[at:]
    return [*found, (rest, False)] if rest else found
