"""Which words of a text changed, for two translations laid side by side."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from ..tokenizer.words import Word, split_words

Marked = list[tuple[str, bool]]  # a text in stretches, and whether each changed


def changed_words(before: str, after: str, *, language: str = "") -> tuple[Marked, Marked]:
    """Both texts in stretches of words that stand in both, in order, and of words that do not.

    The stretches of a text joined are the text.  Words are those of `split_words`; a capital makes another word.
    """
    words, others = split_words(before, language=language), split_words(after, language=language)
    gone, come = changed(words, others)
    return _stretches(before, words, set(gone)), _stretches(after, others, set(come))


def changed(before: Sequence[Word], after: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The words of each text that the other has not in their place."""
    was, now = [word.text for word in before], [word.text for word in after]
    steps = [step for step in SequenceMatcher(None, was, now, autojunk=False).get_opcodes() if step[0] != "equal"]
    return [word for _, a, end, _, _ in steps for word in before[a:end]], [
        word for _, _, _, b, end in steps for word in after[b:end]]


def _stretches(text: str, words: Sequence[Word], marked: set[Word]) -> Marked:
    found: Marked = []
    at = 0
    for word in words:
        for part, mark in ((text[at : word.start], False), (text[word.start : word.end], word in marked)):
            if part and found and found[-1][1] == mark:
                found[-1] = (found[-1][0] + part, mark)
            elif part:
                found.append((part, mark))
        at = word.end
    rest = text[at:]
    return [*found, (rest, False)] if rest else found
