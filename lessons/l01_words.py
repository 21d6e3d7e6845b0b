"""Lesson 1: the one vector that a word has, what a sentence makes of it, and which words lie near each other."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..lens.questions.embeddings import Contextual, analogy, contextual, distances, static
from ..storybook import StoryPair
from ..storybook.senses import SENSES
from ..tokenizer.encoding import encode_source
from ..tokenizer.words import split_words
from .figures import layer_name
from .lesson import Bars, Check, Checks, CurvePanel, Estimate, Exhibits, Figures, Look, Table, Workbench

# L layers, N words or occurrences, D model width

BANK = ("The girl looked at the bank because it was muddy.", "The girl looked at the bank because it was closed.")
REMEMBERED = 400  # training sentences whose occurrences are compared with
WINDOW = 4  # words on either side that count as near
SEEN = 30  # the least count in training for a word's statistics to mean something
NEAREST = 10
# Pairs in which the same thing changes; every two make questions, in both directions.
RELATIONS = {
    "he and she": "man woman, boy girl, king queen, father mother, brother sister, uncle aunt, prince princess",
    "one and many": "cat cats, dog dogs, goat goats, box boxes, tree trees, apple apples, flower flowers",
    "English and French": "cat chat, dog chien, wolf loup, goat chèvre, box boîte, tree arbre, apple pomme, king roi",
}
WORDS = ("cat", "hippopotamuses", "qwxzk", "आसान")  # of the slip

GUESSING, ROUNDING = 0.5, 1e-6
TOLD = 0.9  # share of occurrences disambiguated
RULE = 0.5  # share of neighbours from which on "used alike is near" is a rule and not a tendency
RIGHT = 0.5  # share of analogies from which the vectors support the arithmetic


def nearest_meaning(one: np.ndarray, remembered_ND: np.ndarray, meanings_N: np.ndarray) -> float:
    """The meaning (0 or 1) of the nearest vector by cosine; the mean if several are equally near."""
    near_N = remembered_ND @ one / (np.linalg.norm(remembered_ND, axis=1) * np.linalg.norm(one))
    return float(meanings_N[near_N >= near_N.max() - 1e-6].mean())


def used_with(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> np.ndarray:
    """How much more often than by chance two words stand near each other, in nats, at least 0: [N,N]."""
    number = {word: i for i, word in enumerate(words)}
    near = Counter((one, other) for sentence in sentences for place, one in enumerate(sentence)
                   for other in sentence[max(0, place - WINDOW) : place] if {one, other} <= number.keys())
    count_NN = np.zeros((len(words), len(words)))
    for (one, other), count in near.items():
        count_NN[number[one], number[other]] = count
    count_NN += count_NN.T
    expected_NN = np.outer(count_NN.sum(1), count_NN.sum(0)) / max(count_NN.sum(), 1)
    ratio_NN = np.divide(count_NN, expected_NN, out=np.zeros_like(count_NN), where=expected_NN > 0)
    return np.log(np.maximum(ratio_NN, 1))


def cosines(vectors_ND: np.ndarray) -> np.ndarray:
    """The cosine of every two vectors, [N,N]; 0 for a vector of zeros."""
    unit_ND = vectors_ND / np.maximum(np.linalg.norm(vectors_ND, axis=1, keepdims=True), 1e-12)
    return unit_ND @ unit_ND.T


SHOWN = (used_with, nearest_meaning)


def measure(bench: Workbench) -> Figures:
    meanings, occurrences = disambiguated(bench)
    one, other = (contextual(bench.model, bench.tokenizer, text, "bank", language="en") for text in BANK)
    sentences = [[word.text.casefold() for word in split_words(pair.source, language="en")]
                 for pair in bench.corpus.train]
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [word for word in sorted(counts) if counts[word] >= SEEN and word.isalpha() and is_token(bench, word)]
    near_NN = cosines(np.stack([static(bench.model, bench.tokenizer, word) for word in words]))
    overlap, overlap_chance, deciles = overlapping(cosines(used_with(sentences, words)), near_NN)
    relations = {name: relation(bench, pairs) for name, pairs in RELATIONS.items()}
    cut = [bench.tokenizer.encode_source(word)[:-1] for word in WORDS]
    by_layer = [stage.value for stage in list(meanings.values())[2:]]
    return Figures(
        meanings=meanings, occurrences=occurrences, first=meanings["static"], placed=meanings["with its position"],
        last=list(meanings.values())[-1], bank=1 - distances(one, other)["cosine"][-1], overlap=overlap,
        overlap_chance=overlap_chance, deciles=deciles,
        relations=relations, right=float(np.nanmean([of["right"] for of in relations.values()])),
        without=float(np.nanmean([of["without"] for of in relations.values()])),
        ranks={name: of["rank"] for name, of in relations.items()},
        vocabulary=len(bench.tokenizer), words=WORDS,
        whole=sum(len(ids) == 1 for ids in cut),
        back=sum(bench.tokenizer.decode_text(ids) == word for ids, word in zip(cut, WORDS, strict=True)),
        look=Look(BANK[0], "encoder", by_layer.index(max(by_layer))),
    )


def is_token(bench: Workbench, word: str) -> bool:
    return len(encode_source(bench.tokenizer, word)) == 2  # itself and </s>


def occurring(bench: Workbench, stories: Sequence[StoryPair]) -> list[tuple[str, bool, str, Contextual]]:
    """(word, whether it has the second of its meanings, group, its vectors) of words with two meanings."""
    made = []
    for story in stories:
        english = [word.text.casefold() for word in split_words(story.source, language="en")]
        french = {word.text.casefold() for word in split_words(story.target, language="fr")}
        for first, second in SENSES if story.kind == "sense" else ():
            meant = [sense for sense in (first, second) if sense.noun.fr in french]
            if english.count(first.noun.en) == 1 and len(meant) == 1:
                vectors = contextual(bench.model, bench.tokenizer, story.source, first.noun.en, language="en")
                made.append((first.noun.en, meant[0] is second, str(story.contrast_key), vectors))
    return made


def disambiguated(bench: Workbench) -> tuple[dict[str, Estimate], int]:
    """By stage, the share of occurrences disambiguated correctly; and how many there were."""
    trained = [story for story in bench.corpus.train if story.kind == "sense"][: bench.pick(REMEMBERED, 60)]
    remembered = occurring(bench, trained)
    tested = occurring(bench, [*bench.corpus.val, *bench.corpus.test][: bench.pick(None, 300)])
    tested = [one for one in tested if any(one[0] == other[0] for other in remembered)]
    layers = len(tested[0][3].layers)

    def share(stage: int) -> Estimate:
        def vector(one: Contextual) -> np.ndarray:
            return one.without_position if stage < 0 else one.layers[stage]

        right = []
        for word, second, _, vectors in tested:
            known = [(vector(other[3]), other[1]) for other in remembered if other[0] == word]
            says = nearest_meaning(vector(vectors), np.stack([v for v, _ in known]), np.array([m for _, m in known]))
            right.append(says if second else 1 - says)
        return Estimate.of(right, [group for _, _, group, _ in tested])

    names = ("static", "with its position", *(f"after {layer_name(layer)}" for layer in range(layers - 1)))
    return {name: share(stage - 1) for stage, name in enumerate(names)}, len(tested)


def overlapping(alike_NN: np.ndarray, near_NN: np.ndarray) -> tuple[Estimate, float, np.ndarray]:
    """How many of the words used most alike are nearest too, and by chance; mean cosine by decile of likeness."""
    count = min(NEAREST, len(near_NN) - 1)
    tops = [np.argsort(9 * np.eye(len(like_NN)) - like_NN, axis=1, kind="stable")[:, :count]
            for like_NN in (alike_NN, near_NN)]  # no word is its own neighbour
    shared_N = np.array([len(set(one) & set(other)) / count for one, other in zip(*tops, strict=True)])
    pairs = np.triu_indices(len(near_NN), 1)
    order = np.argsort(alike_NN[pairs], kind="stable")
    deciles = np.array([near_NN[pairs][part].mean() for part in np.array_split(order, 10)])
    return Estimate.of(shared_N), count / (len(near_NN) - 1), deciles


def relation(bench: Workbench, text: str) -> dict[str, float]:
    """Analogies of one kind: shares answered correctly, among all words and without those of the question; the median
    rank of the answer."""
    pairs = [tuple(pair.split()) for pair in text.split(", ")]
    pairs = [pair for pair in pairs if all(is_token(bench, word) for word in pair)]
    ranks, without = [], []
    for b, a in pairs:
        for c, d in pairs:
            for question, answer in (((a, b, c), d), ((b, a, d), c)) if b != c else ():  # king - man + woman, and back
                nearest, rank = analogy(bench.model, bench.tokenizer, *question, count=4, expected=answer)
                ranks.append(rank or 0)  # there is one where an answer is expected
                without.append(next(one.text for one in nearest if not one.asked).strip() == answer)
    if not ranks:
        return dict.fromkeys(("right", "without", "rank"), math.nan) | {"questions": 0}
    return {"right": float(np.mean(np.array(ranks) == 1)), "without": float(np.mean(without)),
            "rank": float(np.median(ranks)), "questions": len(ranks)}


def claims(f: Figures) -> Checks:
    return {
        "static": [Check(abs(f.first.value - GUESSING), "<", ROUNDING, "difference from guessing")],
        "context": [Check(f.last.value, "≥", TOLD)],
        "alike": [Check(f.overlap.value, "≥", RULE, "share of the nearest words"),
                  Check(f.overlap.low / f.overlap_chance, ">", 1, "lower end, as a multiple of chance")],
        "analogy": [Check(f.right, "≥", RIGHT)],
    }


def exhibits(f: Figures) -> Exhibits:
    names = [name.replace(" pos", "\npos").replace("after layer", "layer") for name in f.meanings]
    return [
        Table("Meanings assigned by the nearest vector", ("vector", "correct"),
              [(name, f"{share:.1%}") for name, share in f.meanings.items()]),
        Table("Analogies, answered from the whole vocabulary",
              ("", "questions", "correct", "without the question's words", "median rank"),
              [(name, of["questions"], of["right"], of["without"], of["rank"]) for name, of in f.relations.items()]),
        CurvePanel("Meanings disambiguated", range(len(names)), {"": list(f.meanings.values())}, ticks=names,
               level=GUESSING),
        Bars("Cosine of embeddings, by similarity of use", [str(tenth) for tenth in range(1, 11)], {"": f.deciles}),
    ]
