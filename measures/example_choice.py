"""Which pairs of sentences a model's page offers as examples.

A pair differs in one word of the source, and shows something: besides the translation of that word, another word of the
translation changes, and a head matters for it, in both sentences.  For English there are sentences to try; for every
language those of held-out pairs.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice

from ..lens.data.word_maps import units
from ..lens.questions.evidence import evidence_of, fall, matters
from ..lens.records.example_record import ExamplePair, Examples
from ..lens.trace import Trace
from ..tokenizer.language_codes import iso
from ..translate.loaded_checkpoint import fingerprint
from ..translate.results import Translation
from ..translate.translator import Translator
from .held_out_pairs import HeldOutPairs, Languages

SHORTEST, LONGEST = 4, 10  # words of a sentence
OFFERED = 3  # examples of a pair of languages
TRANSLATED = 20  # pairs that are translated for each whose heads are switched off
MOST = 24  # pairs of a pair of languages whose heads are switched off
_WORD = re.compile(r"[^\W\d_]+")
ENGLISH = (  # before, either word, after
    ("My ", ("brother", "sister"), " is tired."), ("The ", ("soup", "bread"), " is cold."),
    ("Where did you buy this ", ("dress", "hat"), "?"), ("The ", ("window", "shop"), " was open."),
    ("I bought a new ", ("car", "house"), " last year."), ("This ", ("book", "letter"), " is very old."),
    ("We have a small ", ("garden", "kitchen"), "."), ("My ", ("uncle", "aunt"), " is a good doctor."),
    ("The ", ("water", "milk"), " is not cold enough."), ("Our ", ("dog", "cow"), " is black and white."),
    ("I like this ", ("song", "film"), " because it is sad."), ("Take the ", ("bus", "car"), ", it is faster."),
    ("My neighbour sold his ", ("house", "boat"), " because it was too small."),
    ("Her ", ("husband", "mother"), " is very proud."), ("The ", ("moon", "sky"), " is beautiful tonight."),
    ("Do you know this ", ("man", "woman"), "?"), ("There is a white ", ("cat", "table"), " in the kitchen."),
    ("I lost my ", ("wallet", "key"), " and I cannot find it."), ("I found the ", ("ring", "key"), " and sold it."),
    ("She washed the ", ("plate", "glass"), " because it was dirty."), ("The ", ("picture", "mirror"), " is too big."),
    ("All the ", ("windows", "shops"), " are closed."), ("The ", ("girl", "boy"), " was happy and went home."),
    ("This ", ("street", "bridge"), " is very long."), ("The ", ("night", "summer"), " was short."),
    ("I do not want this ", ("chair", "carpet"), ", it is too expensive."),
    ("The ", ("door", "gate"), " is heavy, open it slowly."), ("The ", ("teacher", "nurse"), " forgot her keys."),
)


def choose_examples(translator: Translator, corpora: Sequence[HeldOutPairs], *, limit: int = MOST) -> Examples:
    """The examples among the source sentences of these corpora; at most `limit` pairs are looked into for each pair of
    languages."""
    assert translator.folder is not None
    found: list[ExamplePair] = []
    for languages in dict.fromkeys(one.languages for one in corpora if one.decides):
        texts = [pair[0] for one in corpora if one.decides and one.languages == languages
                 for pair in (*one.fitted, *one.held)]
        ranked = sorted(_shown(translator, languages, texts, limit), key=lambda one: one[0], reverse=True)
        for _, pair in ranked:
            words = {word for one in found if one.languages == languages for word in one.options}
            if words.isdisjoint(pair.options) and sum(one.languages == languages for one in found) < OFFERED:
                found.append(pair)
    return Examples(tuple(found), fingerprint(translator.folder))


def minimal_pairs(texts: Iterable[str], languages: Languages) -> Iterator[ExamplePair]:
    """The pairs of sentences that differ in one word, short ones first."""
    frames: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for text in sorted(dict.fromkeys(texts), key=len):
        words = list(_WORD.finditer(text))
        if SHORTEST <= len(words) <= LONGEST and len(text.splitlines()) == 1:
            for word in words:
                frames[text[: word.start()], text[word.end() :]][word[0]] = None
    for (before, after), options in frames.items():
        yield from (ExamplePair(before, pair, after, languages) for pair in islice(combinations(options, 2), 3))


def _shown(translator: Translator, languages: Languages, texts: Sequence[str],
           limit: int) -> Iterator[tuple[float, ExamplePair]]:
    """The pairs that show something, with how much the head that matters most lowers the chance of the word."""
    source, target = languages
    tried = [ExamplePair(*one, languages) for one in ENGLISH if iso(source) == "en"]
    pairs = [*tried, *islice(minimal_pairs(texts, languages), TRANSLATED * limit)]
    translations = iter(translator([text for pair in pairs for text in pair.texts], source=source, target=target))
    both = [(pair, one, other) for pair, one, other in zip(pairs, translations, translations, strict=True)
            if _differ(one, other)]
    for pair, one, other in both[:limit]:
        [first], [second] = translator.look(one), translator.look(other)
        follows = [_following(translator, pair, *two) for two in ((first, second), (second, first))]
        least = min(fall for fall, _ in follows)
        if least:
            yield least, replace(pair, agrees=(follows[0][1], follows[1][1]))


def _differ(one: Translation, other: Translation) -> bool:
    """Whether both are one sentence, and two or three of equally many words differ."""
    first, second = one.text.split(), other.text.split()
    alone = len(one.parts) == len(other.parts) == 1 and not one.doubts and not other.doubts
    return alone and len(first) == len(second) and sum(a != b for a, b in zip(first, second, strict=True)) in (2, 3)


def _following(translator: Translator, pair: ExamplePair, own: Trace, other: Trace) -> tuple[float, str]:
    """The word of a translation that the other one does not have, and that is no translation of the swapped word, for
    which a head matters most, and by how much the chance of the word falls without it; 0 if none matters."""
    with translator.inside() as (model, tokenizer):
        found = evidence_of(model, tokenizer, own, folder=translator.files, choice=translator.known_choice)
    swapped = next(n for n, word in enumerate(own.words(source=True)) if word.end > len(pair.before))
    linked = {target for source, target, *_ in found["links"] if source == swapped}
    others, before = {word.text for word in other.words(source=False)}, found["log_odds"]
    following = [(place, unit.text) for place, unit in enumerate(units(own.target, own.target_words))
                 if unit.word is not None and unit.text not in others and unit.word not in linked]
    return max(((fall(before[place], head["log_odds"][place]), word) for head in found["heads"]
                for place, word in following
                if matters(before[place], head["log_odds"][place], head["instead"][place])), default=(0.0, ""))
