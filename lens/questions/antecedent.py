"""The antecedent of a pronoun, as the model treats it; reported only if switching off a head confirms it.

Three conditions must hold.  A decoder head that was measured to attend from pronouns to their nouns (`roles.py`) looks
at a noun of the lexicon.  The noun fits the gender of the pronoun.  Without that head the odds of the pronoun collapse.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.rules import CERTAIN_ODDS, FRENCH_PRONOUNS, LEAST_FALL, LEAST_SHARE, OTHER_PRONOUNS, SOURCE_PRONOUNS
from ...passes.hooks import Head
from ..changes.interventions import ablate
from ..data.word_maps import map_units, word_map
from ..records.roles import Noun, Roles
from ..trace import Trace
from .evidence import word_odds


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
    return AntecedentWords(pronouns[0], noun, written[0]) if fall >= LEAST_FALL or after < 1 else None


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
