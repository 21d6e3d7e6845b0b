"""The correspondence of positions between two texts that share words, whatever their lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import torch

from seq2see.errors import UserError
from ...tokenizer.words import TokenSpan, Word
from ..data.trace_data import TraceData

Joined = dict[int, tuple[int, ...]]  # a position of the receiver: those of the donor


@dataclass(frozen=True)
class WordMapping:
    """The positions of a donor that correspond to each position of a receiver, in the `source` and in the `target`.

    Target positions are decoder steps, named by the token that they predict.  Several donor positions are averaged.
    """

    source: Joined
    target: Joined

    def weights(self, axis: Literal["source", "target"], own: int, theirs: int) -> torch.Tensor:
        """A matrix [own,theirs]: the weight of each donor position in the mean for each receiver position.  Rows
        without a counterpart are 0.

        Raises UserError if no position has a counterpart, or if the mapping belongs to longer texts.
        """
        joined = self.source if axis == "source" else self.target
        if not joined:
            raise UserError(f"the mapping joins no word of the {axis}: name the pairs, word_mapping(...,"
                            f" {axis}_words=)", exit_code=2)
        last = max(joined), max(max(donor) for donor in joined.values())
        if last[0] >= own or last[1] >= theirs:
            raise UserError(f"the mapping joins {axis} positions up to {last[0]} and {last[1]}, there are {own} and"
                            f" {theirs}: make it from the traces that are run", exit_code=2)
        weight = torch.zeros(own, theirs)
        for position, donor in joined.items():
            weight[position, list(donor)] = 1 / len(donor)
        return weight


def word_mapping(
    receiver: TraceData, donor: TraceData, *, source_words: Mapping[int, int] | None = None,
    target_words: Mapping[int, int] | None = None,
) -> WordMapping:
    """Map the positions of one trace to those of another by their words.

    Words that both texts share correspond in order.  The words between two shared words correspond one to one if both
    texts have equally many there.  Special tokens correspond to themselves.  Words with equally many tokens are joined
    token by token.  Otherwise each token is joined to the mean of all tokens of its counterpart.

    Args:
        receiver: the trace whose positions are mapped.
        donor: the trace whose positions they are mapped to.
        source_words: pairs of source words to use instead of automatic matching, from the receiver's word index to the
            donor's.  Indices count from 0 in `trace.source_words`.
        target_words: the same for target words.

    Raises:
        UserError: no words correspond, or a word does not exist.
    """
    mapping = WordMapping(
        _joined(receiver.source, donor.source, _words(receiver.source_words, donor.source_words, source_words)),
        _joined(receiver.target, donor.target, _words(receiver.target_words, donor.target_words, target_words)),
    )
    sides = (receiver.source, mapping.source), (receiver.target, mapping.target)
    if all(tokens[position].word is None for tokens, joined in sides for position in joined):
        raise UserError(f"no word of {receiver.source_text!r} corresponds to one of {donor.source_text!r}: name the"
                        " pairs, source_words={0: 0}", exit_code=2)
    return mapping


def _words(own: Sequence[Word], theirs: Sequence[Word], named: Mapping[int, int] | None) -> dict[int, int]:
    if named is not None:
        for numbers, words in ((named.keys(), own), (named.values(), theirs)):
            for number in numbers:
                if not 0 <= number < len(words):
                    raise UserError(f"there is no word {number}: expected 0 to {len(words) - 1}", exit_code=2)
        return dict(named)
    ours, others = ([word.text.casefold() for word in words] for words in (own, theirs))
    return {a: b for kind, a0, a1, b0, b1 in SequenceMatcher(None, ours, others, autojunk=False).get_opcodes()
            if kind == "equal" or a1 - a0 == b1 - b0
            for a, b in zip(range(a0, a1), range(b0, b1), strict=True)}


def _joined(own: Sequence[TokenSpan], theirs: Sequence[TokenSpan], words: Mapping[int, int]) -> Joined:
    found: Joined = {}
    for word, other in words.items():
        positions, donor = (tuple(i for i, token in enumerate(tokens) if token.word == number)
                            for tokens, number in ((own, word), (theirs, other)))
        if donor:
            found |= {position: (donor[k],) if len(donor) == len(positions) else donor
                      for k, position in enumerate(positions)}
    ours, others = ([i for i, token in enumerate(tokens) if token.special] for tokens in (own, theirs))
    names, other_names = [own[i].text for i in ours], [theirs[i].text for i in others]
    for a, b, size in SequenceMatcher(None, names, other_names, autojunk=False).get_matching_blocks():
        found |= {ours[a + k]: (others[b + k],) for k in range(size)}
    return dict(sorted(found.items()))
