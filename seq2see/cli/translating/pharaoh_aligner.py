"""Word alignments of translations in Pharaoh format, by the model's attention, as `seq2see align` gives them."""

import sys
from collections.abc import Sequence

from seq2see.errors import UserError
from seq2see.measures.aligner import Aligner
from seq2see.measures.parallel_files import TextPair
from seq2see.text.word_links import Link, to_pharaoh
from seq2see.tokenizer.words import split_words
from seq2see.translate import Translation, Translator


class PharaohAligner:
    """Aligns translations of one language pair; stderr says which maps of the model link words, and how it is known."""

    def __init__(self, translator: Translator, *, source: str | None, target: str | None):
        self.aligner = Aligner(translator, source=source, target=target)
        fitted = translator.alignment
        self.choice = fitted or self.aligner.naive()
        unknown = f"not fitted, so their error is unknown (to fit them: seq2see measure {translator.name})"
        print(f"word links {'fitted' if fitted else unknown}: {self.choice.describe()}", file=sys.stderr)

    def __call__(self, results: Sequence[Translation]) -> list[str]:
        """The links of each text and its best translation; of one that was cut, those inside each of its segments."""
        pairs = [[(part.source_text, part.hypotheses[0].text) for part in result.parts] for result in results]
        links = iter(self._links([pair for own in pairs for pair in own]))
        return [to_pharaoh(self._whole(result, own, [next(links) for _ in own]))
                for result, own in zip(results, pairs, strict=True)]

    def _links(self, pairs: Sequence[TextPair]) -> list[frozenset[Link]]:
        """Of each pair; of one that is too long to be read again, none."""
        try:
            return [self.choice.links(trace) if trace else frozenset()
                    for trace in self.aligner.traces(pairs, views=("raw", self.choice.view))]
        except UserError:
            return [frozenset()] if len(pairs) == 1 else [one for pair in pairs for one in self._links([pair])]

    def _whole(self, result: Translation, pairs: Sequence[TextPair], links: Sequence[frozenset[Link]]) -> set[Link]:
        """The links of the segments, by the numbers that their words have in the whole texts."""
        sources = self._words_before(result.source_text, [source for source, _ in pairs], self.aligner.source)
        targets = self._words_before(result.text, [target for _, target in pairs], self.aligner.target)
        return {(i + source, j + target)
                for source, target, own in zip(sources, targets, links, strict=True) for i, j in own}

    @staticmethod
    def _words_before(text: str, segments: Sequence[str], language: str) -> list[int]:
        """How many words of the text come before each of its segments."""
        starts, found, at = [word.start for word in split_words(text, language=language)], [], 0
        for segment in segments:
            at = max(text.find(segment, at), at)
            found.append(sum(start < at for start in starts))
            at += len(segment)
        return found
