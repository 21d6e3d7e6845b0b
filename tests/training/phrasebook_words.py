# /// script
# dependencies = ["simplemma==2.0.0", "wordfreq==3.1.1"]
# ///
"""Which of the 5,000 most frequent English words has the phrasebook, and the 1,000 most frequent three times?

    uv run --no-project tests/training/phrasebook_words.py       installs what it needs for itself

Words are lemmas by simplemma, by the frequency of all their forms in wordfreq's list.  Left out are the names,
abbreviations, parts of words and vulgar words that phrasebook_left_out.txt lists.
"""

import csv
import re
from collections import Counter
from pathlib import Path

import simplemma
import wordfreq

HERE = Path(__file__).resolve().parent
ONCE, THRICE = 5000, 1000  # words that are to be in one sentence, and in three
FORMS = 40_000  # the most frequent ones are grouped


def main() -> None:
    found = Counter(word for file in sorted((HERE.parent.parent / "training" / "phrasebook").glob("*.tsv"))
                    for row in rows(file) for word in words_of(row["en"]))
    words = frequent_words()
    missing = [word for word in words if not found[word]]
    rare = [word for word in words[:THRICE] if found[word] < 3]
    print(f"{len(words) - len(missing)} of the {len(words)} most frequent words are in the phrasebook; missing:")
    print(" ".join(missing) or "none")
    print(f"{THRICE - len(rare)} of the {THRICE} most frequent are in three sentences or more; the others:")
    print(" ".join(f"{word} ({found[word]})" for word in rare) or "none")


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def words_of(text: str) -> set[str]:
    """The words of a text, as they are and as lemmas."""
    forms = re.findall(r"[a-z]+", text.lower())
    return {*forms, *map(lemma_of, forms)}


def frequent_words() -> list[str]:
    left_out = set((HERE / "phrasebook_left_out.txt").read_text("utf-8").split())
    counts: Counter[str] = Counter()
    for form in wordfreq.top_n_list("en", FORMS):
        if re.fullmatch("[a-z]{2,}|a|i", form):
            counts[lemma_of(form)] += wordfreq.word_frequency(form, "en")
    return [word for word, _ in counts.most_common() if word not in left_out][:ONCE]


def lemma_of(form: str) -> str:
    """simplemma's lemma; where it is hardly a word (`thinke`, `cancell`), its stem or the form itself."""
    lemma = str(simplemma.lemmatize(form, "en")).lower()
    frequency = wordfreq.word_frequency
    if re.search(r"e$|(.)\1$", lemma) and frequency(lemma, "en") < 0.05 * frequency(lemma[:-1], "en"):
        lemma = lemma[:-1]
    return lemma if frequency(lemma, "en") >= 0.02 * frequency(form, "en") else form


if __name__ == "__main__":
    main()
