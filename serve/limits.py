"""The limits of a request: too many texts, too long texts, or too much work are refused before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..lens.data.view_names import ATTRIBUTIONS, SEGMENTS
from ..tokenizer.words import split_words
from ..translate.checking import erasable_words
from ..translate.decoding import DecodingOptions
from ..translate.results import Translation
from ..translate.translator import Translator
from .api_errors import APIError
from .settings import ServerSettings

HEADS = 64  # of a model, about


def check_size(texts: Sequence[str], options: DecodingOptions, prefix: str, *, limits: ServerSettings) -> None:
    """Raises APIError (400) for a request over a limit."""
    if not texts:
        raise APIError(400, "no_text", "there is no text to translate")
    if len(texts) > limits.texts:
        raise APIError(400, "too_many_texts", f"{len(texts)} texts: at most {limits.texts} are allowed")
    for what, longest in (("text", max(map(len, texts))), ("prefix", len(prefix))):
        if longest > limits.characters:
            raise APIError(400, f"{what}_too_long",
                          f"a {what} has {longest} characters: at most {limits.characters} are allowed")
    found = limits.alternatives if options.sampling else min(limits.alternatives, limits.beams)  # each takes a beam
    for name, most in (("num_beams", limits.beams), ("alternatives", found), ("max_new_tokens", limits.new_tokens)):
        value = getattr(options, name)
        if value is not None and value > most:
            raise APIError(400, f"{name}_too_large", f"{name} {value}: at most {most} are allowed")


def check_document(texts: Sequence[str], *, limits: ServerSettings) -> int:
    """The number of texts that a document counts as.

    A text longer than `characters` counts as several.  A document counts as half a minute's texts at most; otherwise it
    would need an account without any earlier request, and use up its whole rate.  Raises APIError (400) for a document
    with too much text.
    """
    found = sum(map(len, texts))
    if found > limits.file_characters:
        raise APIError(400, "too_much_text", f"the file has {found:,} characters of text: at most"
                       f" {limits.file_characters:,} are allowed; split it")
    count = sum(-(-len(text) // limits.characters) for text in texts)
    return min(count, max(1, limits.texts_per_minute // 2))


def check_tokens(lengths: Sequence[int], *, limits: ServerSettings) -> None:
    """Raises APIError (400) for segments that would block the queue and still miss their deadline."""
    if sum(lengths) > limits.queue_tokens and len(lengths) > 1:
        raise APIError(400, "too_much_text",
                       f"the request has {sum(lengths)} tokens: at most {limits.queue_tokens} are allowed")


def check_look_size(*texts: str, target_ids: Sequence[int] | None = None, limits: ServerSettings) -> None:
    """Raises APIError (400) for texts or tokens that are too long to look inside, because maps grow with the square."""
    tokens, limit = len(target_ids or ()), limits.new_tokens
    if tokens > limit:
        raise APIError(400, "text_too_long", f"target_ids has {tokens} tokens: at most {limit} are allowed")
    longest, most = max(map(len, texts)), limits.look_characters
    if longest > most:
        message = f"a text has {longest} characters: at most {most} are allowed for looking inside"
        raise APIError(400, "text_too_long", message)


def bounded(options: DecodingOptions, translator: Translator, settings: ServerSettings) -> DecodingOptions:
    """The options, with the checkpoint's defaults capped at the server's limits."""
    usual = translator.defaults.usual
    most: dict[str, Any] = {"max_new_tokens": settings.new_tokens}
    if not options.sampling:
        most["num_beams"] = settings.beams
    capped = {name: limit for name, limit in most.items()
              if getattr(options, name) is None and getattr(usual, name) > limit}
    return replace(options, **capped) if capped else options


def check_passes(translator: Translator, segments: Sequence[tuple[str, str]], *, language: str, evidence: bool,
                 views: Sequence[str], most: int) -> None:
    """Raises APIError (400) for segments with translations whose slow `views` or `evidence` would take too long.

    A pass reads all tokens of both sides.  Erasure takes one pass for each word, and `evidence` as many more as there
    are heads.  An attribution takes one for each token.  Integrated gradients take two for each token and segment of
    the path.
    """
    cost = 0
    for source, translation in segments:
        tokens = sum(map(len, translator.codec.encode([source, translation])))
        words = len(split_words(source, language=language)) if evidence or "left_out" in views else 0
        attributed = sum(2 * SEGMENTS if view == "integrated_gradients" else 2
                         for view in set(views) & set(ATTRIBUTIONS))
        cost += tokens * (words + evidence * HEADS + attributed * tokens // 2)
    _check_cost(cost, "for these views", most=most)


def check_erasures(translator: Translator, results: Sequence[Translation], *, most: int) -> None:
    """Raises APIError (400) for translations whose check would take too long: a pass for each segment and each word
    that is erased.
    """
    parts = [part for one in results for part in one.parts]
    sources = translator.codec.encode([part.as_read.source_text for part in parts])
    cost = sum((len(source) + len(part.hypotheses[0].token_ids)) * (1 + len(erasable_words(part)))
               for part, source in zip(parts, sources, strict=True))
    _check_cost(cost, "to check these texts", most=most)


def _check_cost(cost: int, what: str, *, most: int) -> None:
    if cost > most:
        raise APIError(400, "text_too_long", f"{what}, the model would read {cost:,} tokens: at most {most:,} are"
                       " allowed; send fewer or shorter texts")
