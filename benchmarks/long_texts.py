"""Is every sentence of a text translated, and as it would be alone?

    python benchmarks/long_texts.py RUN            RUN: a trained storybook model, the packaged one by default
    python benchmarks/long_texts.py --quick        50 texts instead of 1,000

Random texts of 2 to 6 unrelated sentences of storybook's test set are translated, and each of their sentences alone.
A translation with fewer sentences has *lost* some, one with more has *added* some.  If the number is right, a sentence
*differs* if it is not the same as alone; pronouns and words that agree with them may differ, because they depend on the
sentence before.  *One by one* counts texts that the safeguard retranslated.  The family of pairs whose second sentence
depends on the first (*The owl lent the ladder to the crow.  It was grateful.*) shows the benefit of translating
sentences together: the share of right pronouns.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any

from _frame import arguments, end, is_trained, show

from seq2see import Translator
from seq2see.storybook import StoryPair, generate
from seq2see.tokenizer.segments import count_sentences, cut_sentences
from seq2see.training.metrics import subject_pronouns

TEXTS, QUICK = 1_000, 50
MOST_SENTENCES = 6
ENDINGS = re.compile(r"(?<=\w{2})(?:e|s|es|ée|ées|és|é)$")  # of participles and adjectives that agree with a pronoun


def main() -> None:
    parser = arguments(__doc__, run=True)
    parser.add_argument("--texts", type=int, help=f"how many ({TEXTS:,}, or {QUICK} with --quick)")
    parser.add_argument("--engine", choices=["auto", "ctranslate2", "torch"], default="auto", help="(%(default)s)")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if is_trained(args.run):
        translator = Translator.from_pretrained(args.run, engine=args.engine)
        test = generate(seed=0).test
        single, double = ([pair for pair in test if count_sentences(pair.source, language="en") == count]
                          for count in (1, 2))
        sources = [pair.source for pair in single]
        rows = [texts_row(translator, sources, count=args.texts or (QUICK if args.quick else TEXTS)),
                pronoun_row(translator, double)]
    show(rows)
    end("long_texts", rows, run=args.run)


def texts_row(translator: Any, single: list[str], *, count: int) -> dict[str, Any]:
    """Results for that many texts of `single` sentences."""
    draw = Random(0)
    texts = [draw.sample(single, draw.randint(2, MOST_SENTENCES)) for _ in range(count)]
    used = list(dict.fromkeys(one for text in texts for one in text))
    alone = dict(zip(used, (result.text for result in translator(used)), strict=True))
    counts = Counter(sentences=sum(map(len, texts)))
    for text, result in zip(texts, translator([" ".join(text) for text in texts]), strict=True):
        found = cut_sentences(result.text, language="fr").segments
        wanted = count_sentences(" ".join(alone[one] for one in text), language="fr")
        counts["lost"] += max(0, wanted - len(found))
        counts["added"] += max(0, len(found) - wanted)
        counts["one by one"] += result.one_by_one
        counts["unfinished"] += not result.hypotheses[0].finished
        if len(found) == len(text):
            counts["compared"] += len(text)
            counts["differing"] += sum(not same(one, alone[source]) for one, source in zip(found, text, strict=True))
    return {"name": "unrelated sentences", "texts": count, **counts, "wanted": 0}


def pronoun_row(translator: Any, pairs: list[StoryPair]) -> dict[str, Any]:
    results = translator([pair.source for pair in pairs])
    right = sum(subject_pronouns(result.text) == subject_pronouns(pair.target)
                for pair, result in zip(pairs, results, strict=True))
    return {"name": "two sentences, the second depends on the first", "pairs": len(pairs),
            "ours": round(100 * right / len(pairs), 2), "unit": "% right pronouns", "wanted": 99.0}


def same(one: str, other: str) -> bool:
    """The same words; if pronouns differ, words that agree with them may differ too."""
    if subject_pronouns(one) == subject_pronouns(other):
        return one == other
    sides = [[ENDINGS.sub("", word) for word in re.findall(r"\w+", text) if not subject_pronouns(word)]
             for text in (one, other)]
    return sides[0] == sides[1]


if __name__ == "__main__":
    main()
