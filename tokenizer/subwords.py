"""Subword training: from texts to a `tokenizers` backend, BPE (Sennrich et al. 2016) or Unigram (unigram.py).

`tokenizers` learns the tokens; the vocabulary is laid out here, because its trainers add no byte tokens.  The same
texts in the same order give the same ids; with BPE also the same file, byte for byte.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer

from seq2see.errors import UserError
from .layout import END, SPECIAL_TOKENS, UNKNOWN, tag_slots
from .unigram import unigram
from .words import refuse_surrogates

ModelType = Literal["bpe", "unigram"]

# Token boundaries; text that matches nothing stays together.  A space belongs to what follows it.  In scripts with
# spaces between words no token crosses a word of `split_words`.
_SPACE = "[ \u00a0\u202f]?"
_WORD = "\\p{L}[\\p{L}\\p{M}\u200c\u200d]*"
_CUTS = "|".join(
    [
        rf"{_SPACE}(?i:[ldjmtscnç]|(?:jus|lors|puis|quoi)?qu)['’](?=\p{{L}})",  # l', qu'
        rf"{_SPACE}{_WORD}",
        rf"(?<=[\p{{L}}\p{{M}}])['’]{_WORD}",  # 's, 'hui
        rf"{_SPACE}\p{{N}}\p{{M}}*",  # digits one by one, so that any number can be copied
        rf"{_SPACE}\.{{2,}}",
        f"{_SPACE}[^\\s\\p{{L}}\\p{{N}}](?:[\\p{{M}}\U0001f3fb-\U0001f3ff]|\u200d[^\\s\\p{{L}}\\p{{N}}])*",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def template(*, tag: str | None, tokenizer: Tokenizer) -> TemplateProcessing:
    """The special tokens of the plain call: `[tag] text </s>`."""
    single = [*([tag] if tag else []), "$A", END]
    names = [*([tag] if tag else []), END]
    return TemplateProcessing(
        single=single, pair=[*single, "$B:1", f"{END}:1"], special_tokens=[(n, tokenizer.token_to_id(n)) for n in names]
    )


def train_backend(
    texts: Iterable[str], *, vocab_size: int, languages: Sequence[str], model_type: ModelType = "bpe"
) -> Tokenizer:
    """Learn a joint vocabulary of source and target texts.

    Args:
        texts: the texts, read twice; an iterator is first stored as a list.
        model_type: bpe, or unigram, which writes a capital letter as a mark before the small one.
        vocab_size: the number of all ids.  The vocabulary is smaller if the texts do not repeat enough.
        languages: the target languages that get a tag, in slot order.  To retrain a tokenizer, give its old languages
            first, so that their tags keep their ids.
    """
    fixed = [*SPECIAL_TOKENS, *tag_slots(languages), *(f"<0x{byte:02X}>" for byte in range(256))]
    room = vocab_size - len(fixed)
    if room < 2:
        raise UserError(f"vocab_size {vocab_size} is too small: {len(fixed)} ids are special tokens, tags and bytes")
    texts = list(texts) if isinstance(texts, Iterator) else texts
    learn = bpe if model_type == "bpe" else unigram
    backend = learn(texts, fixed=fixed, room=room)
    backend.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in fixed[:-256]])
    backend.post_processor = template(tag=None, tokenizer=backend)
    return backend


def bpe(texts: Iterable[str], *, fixed: Sequence[str], room: int) -> Tokenizer:
    """The tokens `fixed`, at most `room` learnt ones, and the merges for them."""
    learnt, merges = _learn(texts, room=room)
    vocab = {token: i for i, token in enumerate([*fixed, *learnt])}
    backend = Tokenizer(BPE(vocab=vocab, merges=merges, unk_token=UNKNOWN, byte_fallback=True))
    # Prepend and Split instead of Metaspace, which loses leading spaces and U+2581.
    backend.normalizer = normalizers.Prepend(" ")
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_CUTS), behavior="isolated")
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return backend


def _learn(texts: Iterable[str], *, room: int) -> tuple[list[str], list[tuple[str, str]]]:
    """At most `room` tokens, characters first, and the merges for the longer ones."""
    counts: Counter[str] = Counter()
    for text in texts:
        refuse_surrogates(text)
        counts.update(text)
        counts[" "] += 1  # prepended to each text
    # Characters may take half of the room; those seen once get no token and are spelled in bytes.
    common = sorted((c for c, n in counts.items() if n > 1), key=lambda c: (-counts[c], c))[: room // 2]
    learner = Tokenizer(BPE())
    learner.pre_tokenizer = pre_tokenizers.Split(Regex(_CUTS), behavior="isolated")
    trainer = BpeTrainer(vocab_size=room, min_frequency=2, show_progress=False)
    learner.train_from_iterator(_without(texts, set(counts) - set(common)), trainer)
    state = json.loads(learner.to_str())["model"]
    return sorted(state["vocab"], key=state["vocab"].__getitem__), [(left, right) for left, right in state["merges"]]


def _without(texts: Iterable[str], rare: set[str]) -> Iterator[str]:
    """The texts with a space prepended, split at rare characters, so that no token is learnt across them."""
    gap = re.compile("[" + "".join(map(re.escape, sorted(rare))) + "]+") if rare else None
    for text in texts:
        yield from filter(None, gap.split(f" {text}")) if gap else [f" {text}"]
