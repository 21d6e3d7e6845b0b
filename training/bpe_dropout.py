"""BPE-dropout (Provilkov et al. 2020): the same word in other pieces each time, so that its parts are learnt too.

Merges are applied in the tokenizer's order, but each time each possible one is left out with probability p.  Done here
because the random numbers of `tokenizers` cannot be seeded: the pieces of a word are a pure function of the seed, the
epoch and the word's place, so that a resumed run sees what the whole one saw.
"""

import json
from collections.abc import Sequence
from random import Random

from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer
from .batching import EncodedPair, EncodedPairs
from .pairs import Pair

VARIANTS = 8  # ways to cut a word in one epoch; more would be drawn in vain for nearly all words


class BpeDropout:
    """Cuts words into pieces at random.

    Args:
        p: probability of leaving out a merge; 0 gives the tokenizer's own pieces.
    """

    def __init__(self, tokenizer: Seq2SeeTokenizer, *, p: float, seed: int = 0):
        self.backend, self.p, self.seed = tokenizer.backend_tokenizer, p, seed
        model = json.loads(self.backend.to_str())["model"]
        self.rank = {(left, right): rank for rank, (left, right) in enumerate(model["merges"])}
        self.vocab: dict[str, int] = model["vocab"]
        self.epoch = 0
        self.known: dict[tuple[str, int], list[int]] = {}  # of this epoch

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.known.clear()

    def encode(self, text: str, place: Sequence[int]) -> list[int]:
        """The pieces of a text without tag and end; `place` tells apart the texts of one epoch."""
        rng = Random(f"{self.seed}/{self.epoch}/{place}")
        words = self.backend.pre_tokenizer.pre_tokenize_str(self.backend.normalizer.normalize_str(text))
        return [piece for word, _ in words for piece in self._variant(word, rng.randrange(VARIANTS))]

    def _variant(self, word: str, variant: int) -> list[int]:
        found = self.known.get((word, variant))
        if found is None:
            found = self.known[word, variant] = self._cut(word, Random(f"{self.seed}/{self.epoch}/{variant}/{word}"))
        return found

    def _cut(self, word: str, rng: Random) -> list[int]:
        pieces = list(word)
        while True:
            merges = [
                (self.rank[pair], index)
                for index, pair in enumerate(zip(pieces, pieces[1:], strict=False))
                if pair in self.rank and rng.random() >= self.p
            ]
            if not merges:
                break
            _, index = min(merges)
            pieces[index : index + 2] = [pieces[index] + pieces[index + 1]]
        return [id_ for piece in pieces for id_ in self._ids(piece)]

    def _ids(self, piece: str) -> list[int]:
        if piece in self.vocab:
            return [self.vocab[piece]]
        return [self.vocab[f"<0x{byte:02X}>"] for byte in piece.encode()]


class RecutPairs(EncodedPairs):
    """Encoded pairs whose words are cut anew in each epoch.  Their lengths are those of the tokenizer's own pieces.

    A pair that would no longer fit into the model's positions keeps its own pieces.
    """

    def __init__(
        self, pairs: Sequence[Pair], tokenizer: Seq2SeeTokenizer, *, max_length: int, p: float, seed: int = 0
    ):
        super().__init__(pairs, tokenizer, max_length=max_length)
        self.max_length, self.dropout = max_length, BpeDropout(tokenizer, p=p, seed=seed)

    def __getitem__(self, index: int) -> EncodedPair:
        self.dropout.set_epoch(self.epoch)
        pair, whole = self.pairs[index], super().__getitem__(index)
        tag, end = int(whole.labels[0]), int(whole.labels[-1])
        source = [*self.dropout.encode(pair.source, (index, 0)), end]
        labels = [tag, *self.dropout.encode(pair.target, (index, 1)), end]
        return EncodedPair(source, labels) if max(len(source), len(labels)) <= self.max_length else whole
