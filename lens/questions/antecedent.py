"""The antecedent of a pronoun, as the model treats it; reported only if interventions confirm it.

Four conditions must hold.  A decoder head that was measured to attend from pronouns to their nouns (`roles.py`) looks
at a noun of the lexicon.  The noun fits the gender of the pronoun.  Without that head the odds of the pronoun collapse.
With a noun of the other gender in its place, the translation has the other pronoun: for most of the SWAPS nouns whose
embeddings are most similar.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.rules import (
    CERTAIN_ODDS,
    FRENCH_PRONOUNS,
    LEAST_FALL,
    LEAST_SHARE,
    OTHER_PRONOUNS,
    SOURCE_PRONOUNS,
    SWAPS,
)
from ...passes.hooks import Head
from ...tokenizer.encoding import decode_target
from ...tokenizer.words import split_words
from ..changes.interventions import ablate
from ..data.word_maps import map_units, word_map
from ..records.roles import Noun, Roles
from ..trace import Trace
from .embeddings import static
from .evidence import source_ids_of, word_odds
from .what_if import generate


@dataclass(frozen=True)
class AntecedentWords:
    """Indices of words: the source pronoun, its antecedent in the source, and the pronoun in the translation."""

    pronoun: int
    noun: int
    written: int


def antecedent(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, *, roles: Roles,
    nouns: frozenset[Noun], means: Mapping[Head, torch.Tensor],
) -> AntecedentWords | None:
    """The antecedent of the only pronoun of an English sentence translated into French; None unless every condition
    holds.
    """
    heads = [Head(*head) for head, found in roles.items() if head[0] == "decoder"
             and any(role.role == "antecedent" for role in found)]
    sources, targets = ([word.text.lower() for word in words] for words in (trace.source_words, trace.target_words))
    pronouns = [i for i, word in enumerate(sources) if word in SOURCE_PRONOUNS]
    written = [i for i, word in enumerate(targets) if word in FRENCH_PRONOUNS]
    if not (heads and len(pronouns) == len(written) == 1) or any(word in OTHER_PRONOUNS for word in sources):
        return None
    noun = _looked_at_noun(trace, heads[0], written[0], nouns)
    if noun is None:
        return None
    with ablate(model, [heads[0]], replace="mean", means=means):
        after = word_odds(model, tokenizer, trace, written[0])
    fall = min(word_odds(model, tokenizer, trace, written[0]), CERTAIN_ODDS) / after
    needed = fall >= LEAST_FALL or after < 1
    if not (needed and _follows(model, tokenizer, trace, noun, targets[written[0]], nouns)):
        return None
    return AntecedentWords(pronouns[0], noun, written[0])


def _follows(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, place: int, pronoun: str,
    nouns: frozenset[Noun],
) -> bool:
    """Whether most nouns of the other gender, in place of a noun of the source, change the pronoun."""
    own = trace.source_words[place]
    tried = _similar(model, tokenizer, own.text, pronoun, nouns)
    needed = len(tried) // 2 + 1
    for noun in tried:
        word = noun.source.capitalize() if own.text[:1].isupper() else noun.source
        ids = source_ids_of(model, tokenizer, trace, trace.source_text[:own.start] + word + trace.source_text[own.end:])
        target_ids = generate(model, ids, prefix_ids=trace.target_ids[:trace.given], num_beams=1, forced=False)
        words = split_words(decode_target(tokenizer, target_ids), language=trace.target_language)
        found = [FRENCH_PRONOUNS[one.text.lower()] for one in words if one.text.lower() in FRENCH_PRONOUNS]
        needed -= found == [noun.gender]
        if not needed:
            return True
    return False


def _similar(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, word: str, pronoun: str, nouns: frozenset[Noun]
) -> list[Noun]:
    """The SWAPS nouns of the number of this pronoun and the other gender whose embeddings are most similar to a word's.

    Only nouns that show their number on both sides and have one translation.
    """
    def is_plural(noun: Noun) -> bool | None:
        both = noun.source.endswith("s"), noun.target.endswith(("s", "x"))
        return both[0] if both[0] == both[1] else None

    sources = [noun.source for noun in nouns]
    others = [noun for noun in sorted(nouns) if noun.gender != FRENCH_PRONOUNS[pronoun]
              and is_plural(noun) == pronoun.endswith("s") and sources.count(noun.source) == 1]
    vectors = np.array([static(model, tokenizer, one) for one in (word.lower(), *(noun.source for noun in others))])
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")
    return [others[i] for i in order[:SWAPS]]


def _looked_at_noun(trace: Trace, head: Head, written: int, nouns: frozenset[Noun]) -> int | None:
    """The source noun whose translation the head looks at from the written pronoun, if there is exactly one."""
    rows, columns = map_units(trace, "decoder")
    [row] = [i for i, unit in enumerate(rows) if unit.word == written]
    weights = word_map(trace, "decoder").maps[head.layer, head.head, row]
    column, gender = columns[int(weights.argmax())], FRENCH_PRONOUNS[trace.target_words[written].text.lower()]
    if weights.max() < LEAST_SHARE or column.word is None:
        return None
    target = trace.target_words[column.word].text.lower()
    meant = {noun.source for noun in nouns if (noun.target, noun.gender) == (target, gender)}
    found = [i for i, word in enumerate(trace.source_words) if word.text.lower() in meant]
    return found[0] if len(found) == 1 else None
