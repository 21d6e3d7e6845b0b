"""Translating many pairs: what evaluations and teachers use."""

from __future__ import annotations

from collections.abc import Sequence

from seq2see.errors import UserError
from ..translate.decoding import DecodingOptions
from ..translate.translator import Translator
from .pairs import Pair
from .progress import EVERY, Progress

PART = 256  # pairs that are translated together: as many as the lines of `seq2see translate`
SMALL_PART = 32  # the same where progress is shown: a large model takes seconds for them


def translate_pairs(
    translator: Translator,
    pairs: Sequence[Pair],
    *,
    raw: bool = False,
    num_beams: int | None = None,
    max_new_tokens: int | None = None,
    title: str = "",
) -> list[str]:
    """The source side of each pair in its target language, in the order given.

    As `seq2see translate` writes it: in segments, with protected text kept.  `raw` gives the model each source whole
    and as it stands.  What is not given is as the model's generation_config says.  With a `title`, stderr
    shows the progress of what takes more than a few seconds.

    Raises UserError for a language or an option that the model does not have, and where `raw` for a source of more
    tokens than it has positions.
    """
    options = DecodingOptions(num_beams=num_beams, max_new_tokens=max_new_tokens)
    texts = [""] * len(pairs)
    size, progress = SMALL_PART if title else PART, Progress(title, len(pairs), "pairs", after=EVERY)
    try:
        for languages in dict.fromkeys(map(_languages, pairs)):
            places = [place for place, pair in enumerate(pairs) if _languages(pair) == languages]
            for start in range(0, len(places), size):
                part = places[start : start + size]
                sources = [pairs[place].source for place in part]
                if raw:
                    written = _whole(translator, sources, languages, options)
                else:
                    written = [result.text for result in translator(
                        sources, source=languages[0], target=languages[1], num_beams=num_beams,
                        max_new_tokens=max_new_tokens)]
                for place, text in zip(part, written, strict=True):
                    texts[place] = text
                if title:
                    progress.advance(len(part))
        if title:
            progress.end()
    finally:
        progress.clear()
    return texts


def pipeline(translator: Translator, *, raw: bool = False) -> dict[str, str]:
    """What made the translations, for a record of their scores."""
    engine = translator.engine
    return {"pipeline": "raw" if raw else "translate", "engine": engine.name, "precision": engine.precision}


def _languages(pair: Pair) -> tuple[str, str]:
    return pair.source_language, pair.target_language


def _whole(
    translator: Translator, sources: Sequence[str], languages: tuple[str, str], options: DecodingOptions
) -> list[str]:
    codec, defaults = translator.codec, translator.defaults
    source, target = translator.pair(*languages)
    ids = codec.encode(sources, source=source, target=target)
    for text, one in zip(sources, ids, strict=True):
        if defaults.positions is not None and len(one) > defaults.positions:
            raise UserError(
                f"a source has {len(one)} tokens, but the model has {defaults.positions} positions; it starts"
                f" {text[:40]!r}; remove it, or split it into sentences"
            )
    options = defaults.resolve(options, first=translator.tag(target))
    return [codec.decode(best.token_ids) for best, *_ in translator.engine_for(options).translate(ids, options)]
