"""The layout of a vocabulary; needs no library.

    0..3     `<pad>`, `<s>`, `</s>`, `<unk>` (no text is ever `<unk>`)
    4..35    32 slots for language tags: `<2fr>` if French has the slot, `<tag7>` if slot 7 is free
    36..291  the 256 byte tokens `<0x00>` ... `<0xFF>`, for characters without a token of their own
    292..    the learnt tokens, with their real spaces (" the")
"""

import re
from collections.abc import Sequence

from seq2see.errors import UserError

PAD, START, END, UNKNOWN = SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")
FIRST_TAG = len(SPECIAL_TOKENS)
TAG_SLOTS = 32
FIRST_LEARNT = FIRST_TAG + TAG_SLOTS + 256


def tag_slots(languages: Sequence[str]) -> list[str]:
    """The 32 tag tokens for these target languages, in this order; free slots have names such as `<tag0>`."""
    for language in languages:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", language):
            raise UserError(f"language {language!r} is not a language code: use letters and digits, such as 'fr'")
    if len(set(languages)) != len(languages):
        raise UserError(f"duplicate target language: {', '.join(languages)}")
    if len(languages) > TAG_SLOTS:
        raise UserError(f"{len(languages)} target languages: a vocabulary has at most {TAG_SLOTS}")
    return [f"<2{language}>" for language in languages] + [f"<tag{i}>" for i in range(len(languages), TAG_SLOTS)]


def tagged_languages(slots: Sequence[str]) -> list[str]:
    """The target languages that have a tag, in slot order: the reverse of `tag_slots`."""
    return [slot[2:-1] for slot in slots if slot.startswith("<2")]
