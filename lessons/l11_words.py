"""Lesson 11: the one vector that a word has, what a sentence makes of it, and which words lie near each other."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from ..lens.embeddings import Contextual, analogy, contextual, distances, neighbours, static
from ..lens.forcing import encode_source
from ..storybook import StoryPair
from ..storybook.lexicon import ADJECTIVES, NOUNS
from ..storybook.senses import SENSES
from ..tokenizer.words import split_words
from .drawing import BLUE, ORANGE, SOFT, new_figure
from .held_out import Share
from .l02_attention import APART
from .old import Finding, Look, Table, Verdict, Word, found, overall
from .workbench import Workbench

# L layers, N words or occurrences, D model width

TITLE = "Words as vectors"
CLAIM = ("A word has one vector, the same in every sentence; words used alike lie near each other, king − man + woman"
         " is queen, and attention turns the word's vector into one of the word in its sentence.")  # fmt: skip
HOW = """The static vector of a word is its row of the embedding matrix, its contextual vectors are the encoder's states
at the word after each layer. Six words of the corpus have two meanings: a *bank* is *banque* or *rive*. Each of their
occurrences in unseen sentences is given the meaning of the nearest occurrence, by cosine, in training sentences. A
guess is right half of the time. "With its position" is the vector before the first layer: it knows where the word
stands and nothing else.

How words are used is counted in the training sentences: which words stand within four places of which, and how much
more often than by chance (positive pointwise mutual information). Two words are used alike if their rows of counts have
a high cosine. The ten words used most like a word are compared with the ten that lie nearest to it. The notes begin
with vectors from word2vec or GloVe, which are learnt from such neighbours alone; here they are learnt with the
translation, and this comparison says how much of the neighbours is in them all the same.

An analogy (woman − man + king) is asked of the whole vocabulary. The words of the question often lie nearest to the
answer themselves, so it is usual to leave them out; both ways are shown, and beside them what the last of the three
finds by itself, without any arithmetic. Intervals are 95 %, by bootstrap over sentences or words."""
TRY = ("`from seq2see.lens import neighbours`, and ask for the neighbours of your own words; by dot product instead of"
       " cosine, long vectors push to the front. Then train with a tenth of the sentences and see what is left.")
BANK = ("The girl looked at the bank because it was muddy.", "The girl looked at the bank because it was closed.")

REMEMBERED = 400  # training sentences whose occurrences are compared with
WINDOW = 4  # words on either side that count as near
SEEN = 30  # times that a word must have been seen in training for its statistics to mean something
NEAREST = 10
NEIGHBOURS_OF = ("bank", "cat", "king", "chased", "big", "in")
OPPOSITES = ("big small", "old young", "happy sad", "strong weak", "slow quick", "noisy quiet", "clean dirty",
             "rich poor", "wide narrow", "high low", "full empty", "brave shy")
SYNONYMS = ("big huge", "big tall", "small thin", "happy cheerful", "pretty beautiful", "sad angry")
# Pairs in which the same thing changes; every two make questions, in both directions.
RELATIONS = (
    ("he and she", "man woman, boy girl, king queen, father mother, brother sister, uncle aunt, prince princess"),
    ("one and many", "cat cats, dog dogs, goat goats, box boxes, tree trees, apple apples, flower flowers"),
    ("English and French", "cat chat, dog chien, wolf loup, goat chèvre, box boîte, tree arbre, apple pomme, king roi"),
)  # fmt: skip

GUESSING = 0.5
TOLD = 0.9  # share of meanings told apart for the claim to hold; above guessing, it holds partly
RULE = 0.5  # share of neighbours, and of nouns, from which on "used alike is near" is a rule and not a tendency
RIGHT = 0.5  # share of analogies for the arithmetic to be something that the vectors support


@dataclass(frozen=True)
class Relation:
    """Analogies of one kind: shares answered rightly, by the whole vocabulary, without the question's own words, and
    by c alone; the median rank of the answer; how parallel the differences are (mean cosine)."""

    name: str
    example: str
    questions: int
    right: float
    left_out: float
    alone: float
    rank: float
    parallel: float


@dataclass(frozen=True)
class Result:
    stages: tuple[str, ...]
    meanings: tuple[Share, ...]  # told apart, by stage
    occurrences: int
    bank: np.ndarray  # [L+1] cosine of one word's vectors in two sentences
    moved: np.ndarray  # [L+1] cosine of a contextual vector with the one before the first layer, mean
    words: int
    overlap: Share  # of the NEAREST words used most alike, those among the NEAREST by embedding
    overlap_by_chance: float
    deciles: np.ndarray  # [10] mean cosine of embeddings, by decile of likeness of use
    kinds: Share  # nouns whose nearest noun is of the same kind
    kinds_by_chance: float
    nouns: int
    opposites: Share  # how near the opposite lies: the share of all adjectives that lie further
    synonyms: Share
    neighbours: tuple[tuple[str, str], ...]
    relations: tuple[Relation, ...]


def nearest_meaning(one: np.ndarray, remembered_ND: np.ndarray, meanings_N: np.ndarray) -> float:
    """The share of 1s among the meanings of the nearest by cosine: 1, 0, or what lies between where several tie."""
    near_N = remembered_ND @ one / (np.linalg.norm(remembered_ND, axis=1) * np.linalg.norm(one))
    return float(meanings_N[near_N >= near_N.max() - 1e-6].mean())


def used_with(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> np.ndarray:
    """How much more often than by chance each word stands near each, in nats, 0 where it is not more often: [N,N]."""
    number = {word: i for i, word in enumerate(words)}
    count_NN = np.zeros((len(words), len(words)))
    for sentence in sentences:
        numbers = [number.get(word, -1) for word in sentence]
        for place, one in enumerate(numbers):
            for other in numbers[max(0, place - WINDOW) : place]:
                if one >= 0 and other >= 0:
                    count_NN[one, other] += 1
                    count_NN[other, one] += 1
    expected_NN = np.outer(count_NN.sum(1), count_NN.sum(0)) / max(count_NN.sum(), 1)
    ratio_NN = np.divide(count_NN, expected_NN, out=np.zeros_like(count_NN), where=expected_NN > 0)
    more_NN: np.ndarray = np.log(np.maximum(ratio_NN, 1))
    return more_NN


def cosines(vectors_ND: np.ndarray) -> np.ndarray:
    """Of every two, [N,N]; a vector of zeros is like none."""
    unit_ND = vectors_ND / np.maximum(np.linalg.norm(vectors_ND, axis=1, keepdims=True), 1e-12)
    like_NN: np.ndarray = unit_ND @ unit_ND.T
    return like_NN


SHOWN = (used_with, nearest_meaning)


def compute(bench: Workbench) -> Result:
    stages, meanings, occurrences, moved = _meanings(bench)
    one, other = (contextual(bench.model, bench.tokenizer, text, "bank", language="en") for text in BANK)
    sentences = [[word.text.casefold() for word in split_words(pair.source, language="en")]
                 for pair in bench.corpus.train]
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [word for word in sorted(counts) if counts[word] >= SEEN and word.isalpha() and _is_piece(bench, word)]
    near_NN = cosines(np.stack([static(bench.model, bench.tokenizer, word) for word in words]))
    alike_NN = cosines(used_with(sentences, words))
    return Result(
        stages, meanings, occurrences, 1 - distances(one, other)["cosine"], moved, len(words),
        *_overlap(alike_NN, near_NN), *_kinds(words, near_NN),
        _nearness(words, near_NN, OPPOSITES), _nearness(words, near_NN, SYNONYMS),
        tuple((word, _neighbours(bench, word)) for word in NEIGHBOURS_OF if _is_piece(bench, word)),
        tuple(_relation(bench, name, pairs) for name, pairs in RELATIONS),
    )


def _is_piece(bench: Workbench, word: str) -> bool:
    return len(encode_source(bench.tokenizer, word)) == 2  # itself and </s>


def _occurrences(bench: Workbench, stories: Sequence[StoryPair]) -> list[tuple[str, bool, str, Contextual]]:
    """(word, whether it has the second of its meanings, group, its vectors) of words with two meanings."""
    made = []
    for story in stories:
        said = [word.text.casefold() for word in split_words(story.source, language="en")]
        french = {word.text.casefold() for word in split_words(story.target, language="fr")}
        for first, second in SENSES if story.kind == "sense" else ():
            if said.count(first.noun.en) == 1:
                vectors = contextual(bench.model, bench.tokenizer, story.source, first.noun.en, language="en")
                meant = [sense for sense in (first, second) if sense.noun.fr in french]
                if len(meant) == 1:
                    made.append((first.noun.en, meant[0] is second, str(story.contrast_key), vectors))
    return made


def _meanings(bench: Workbench) -> tuple[tuple[str, ...], tuple[Share, ...], int, np.ndarray]:
    """By stage, the share of meanings told rightly; how many there were; how far the vectors have moved."""
    trained = [story for story in bench.corpus.train if story.kind == "sense"][: bench.pick(REMEMBERED, 60)]
    remembered = _occurrences(bench, trained)
    asked = _occurrences(bench, [*bench.corpus.val, *bench.corpus.test][: bench.pick(None, 300)])
    asked = [one for one in asked if any(one[0] == other[0] for other in remembered)]
    layers = len(asked[0][3].layers)

    def share(stage: int) -> Share:
        def vector(one: Contextual) -> np.ndarray:
            return one.without_position if stage < 0 else one.layers[stage]

        right = []
        for word, second, _, vectors in asked:
            known = [(vector(other[3]), other[1]) for other in remembered if other[0] == word]
            says = nearest_meaning(vector(vectors), np.stack([v for v, _ in known]), np.array([m for _, m in known]))
            right.append(says if second else 1 - says)
        return Share.of(right, [group for _, _, group, _ in asked])

    names = ("static", "with its position", *(f"after layer {layer}" for layer in range(layers - 1)))
    states_NLD = np.stack([vectors.layers for _, _, _, vectors in asked])
    sizes_NL = np.linalg.norm(states_NLD, axis=-1)
    moved_L = ((states_NLD * states_NLD[:, :1]).sum(-1) / (sizes_NL * sizes_NL[:, :1])).mean(0)
    return names, tuple(share(stage) for stage in range(-1, layers)), len(asked), moved_L


def _overlap(alike_NN: np.ndarray, near_NN: np.ndarray) -> tuple[Share, float, np.ndarray]:
    """How many of the words used most alike are nearest too, and by chance; mean cosine by decile of likeness."""
    count = min(NEAREST, len(near_NN) - 1)
    tops = []
    for like_NN in (alike_NN, near_NN):
        ranked = like_NN - 9 * np.eye(len(like_NN))  # no word is its own neighbour
        tops.append(np.argsort(-ranked, axis=1, kind="stable")[:, :count])
    shared_N = np.array([len(set(one) & set(other)) / count for one, other in zip(*tops, strict=True)])
    pairs = np.triu_indices(len(near_NN), 1)
    order = np.argsort(alike_NN[pairs], kind="stable")
    deciles = np.array([near_NN[pairs][part].mean() for part in np.array_split(order, 10)])
    return Share.of(shared_N), count / (len(near_NN) - 1), deciles


def _kinds(words: Sequence[str], near_NN: np.ndarray) -> tuple[Share, float, int]:
    """Of nouns, whether the nearest noun is of their kind (animal, person, food, building ...), and by chance."""
    chosen = [i for i, word in enumerate(words) if word in NOUNS]
    kinds = np.array([NOUNS[words[i]].kind for i in chosen])
    among = near_NN[np.ix_(chosen, chosen)] - 9 * np.eye(len(chosen))
    right = (kinds == kinds[among.argmax(1)]).astype(float)
    chance = float(np.mean([(kinds == kind).sum() - 1 for kind in kinds]) / (len(kinds) - 1))
    return Share.of(right), chance, len(chosen)


def _nearness(words: Sequence[str], near_NN: np.ndarray, pairs: Sequence[str]) -> Share:
    """How near the two words of a pair lie: the share of other adjectives that lie further from the one; the mean."""
    number = {word: i for i, word in enumerate(words)}
    adjectives = [number[word] for word in words if word in ADJECTIVES]
    shares = []
    for one, other in (pair.split() for pair in pairs):
        if one in number and other in number:
            a, b = number[one], number[other]
            others = [i for i in adjectives if i not in (a, b)]
            shares.append(float((near_NN[np.ix_([a, b], others)] < near_NN[a, b]).mean()))
    return Share.of(shares)


def _neighbours(bench: Workbench, word: str) -> str:
    return ", ".join(f"{one.text.strip()} {one.value:.2f}" for one in neighbours(bench.model, bench.tokenizer, word,
                                                                                    count=5))


def _relation(bench: Workbench, name: str, text: str) -> Relation:
    pairs = [tuple(pair.split()) for pair in text.split(", ")]
    pairs = [(one, other) for one, other in pairs if _is_piece(bench, one) and _is_piece(bench, other)]
    right: list[float] = []
    left_out: list[float] = []
    alone: list[float] = []
    ranks: list[int] = []
    parallel: list[float] = []
    for b, a in pairs:
        for c, d in pairs:
            if b == c:
                continue
            parallel.append(_parallel(bench, (a, b), (d, c)))
            for question, answer in (((a, b, c), d), ((b, a, d), c)):  # king - man + woman, man - king + queen
                nearest, rank = analogy(bench.model, bench.tokenizer, *question, count=4, expected=answer)
                ranks.append(rank or 0)  # there is one where an answer is expected
                right.append(rank == 1)
                left_out.append(next(one.text for one in nearest if not one.asked).strip() == answer)
                by_itself = [one.text.strip()
                             for one in neighbours(bench.model, bench.tokenizer, question[2], count=3)]
                alone.append([word for word in by_itself if word not in question][:1] == [answer])
    if not ranks:
        none = float("nan")
        return Relation(name, "", 0, right=none, left_out=none, alone=none, rank=none, parallel=none)
    example = "{1} − {0} + {2} = {3}".format(*pairs[0], *pairs[-1])
    return Relation(name, example, len(ranks), _mean(right), _mean(left_out), _mean(alone), float(np.median(ranks)),
                    _mean(parallel))


def _parallel(bench: Workbench, one: tuple[str, str], other: tuple[str, str]) -> float:
    """The cosine of a - b with d - c."""
    vectors = [static(bench.model, bench.tokenizer, word) for word in (*one, *other)]
    return float(cosines(np.stack([vectors[0] - vectors[1], vectors[2] - vectors[3]]))[0, 1])


def judge(result: Result) -> Verdict:
    static_, placed, last = result.meanings[0], result.meanings[1], result.meanings[-1]
    hardly = "they hardly differ" if result.bank[-1] >= APART else "they differ as well"
    return overall((
        found("Before any layer a word's vector is the same whatever it means.", abs(static_.value - GUESSING) < 1e-6,
              f"From it {static_.value:.0%} of {result.occurrences} meanings are told rightly (guessing:"
              f" {GUESSING:.0%}), with the position added {placed}."),
        found("In a sentence it is the vector of what it means there.",
              _by(last.value >= TOLD, last.low > placed.high),
              f"After the last layer {last} of unseen meanings are told rightly (wanted: {TOLD:.0%}). As vectors"
              f" {hardly}: those of *bank* in two sentences have a cosine of {result.bank[-1]:.4f} (below {APART} they"
              " are two)."),
        _used_alike(result),
        found("Words of like meaning lie near each other, nearer than opposites do.",
              result.synonyms.low > result.opposites.high,
              f"A word of like meaning lies nearer than {result.synonyms} of the other adjectives, an opposite nearer"
              f" than {result.opposites} (a random one: 50%). The intervals must not meet."),
        _analogies(result),
    ), (
        f"Of words with two meanings {last.value:.0%} are told rightly by the encoder's last layer, {static_.value:.0%}"
        f" by the embedding (wanted: {TOLD:.0%}; guessing: {GUESSING:.0%}). Of the words used most alike"
        f" {result.overlap.value:.0%} are among the nearest (by chance {result.overlap_by_chance:.0%}), and"
        f" {_right(result):.0%} of analogies come out (wanted: {RIGHT:.0%})."
    ))


def _by(holds: bool, partly: bool) -> Word:
    return "holds" if holds else "holds partly" if partly else "does not hold here"


def _used_alike(result: Result) -> Finding:
    overlap, kinds = result.overlap, result.kinds
    near = min(overlap.low / result.overlap_by_chance, kinds.low / result.kinds_by_chance) > 1
    return found(
        "Words used alike lie near each other.", _by(near and min(overlap.value, kinds.value) >= RULE, near),
        f"Of the ten words used most like a word {overlap} are among its ten nearest (by chance"
        f" {result.overlap_by_chance:.1%}); {kinds} of {result.nouns} nouns have a noun of their own kind nearest (by"
        f" chance {result.kinds_by_chance:.1%}). Both above chance is a tendency, {RULE:.0%} of both would be a rule.")


def _right(result: Result) -> float:
    return _mean([one.right for one in result.relations if one.questions])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _analogies(result: Result) -> Finding:
    left_out = _mean([one.left_out for one in result.relations if one.questions])
    ranks = ", ".join(f"{one.rank:.0f} ({one.name})" for one in result.relations)
    lean = ", ".join(f"{one.parallel:.2f} ({one.name})" for one in result.relations)
    return found(
        "king − man + woman is queen.", _by(_right(result) >= RIGHT, left_out >= RIGHT),
        f"{_right(result):.0%} of analogies come out, and {left_out:.0%} if the words of the question may not be the"
        f" answer (wanted: {RIGHT:.0%}). The median rank of the answer is {ranks}. How parallel the differences are, as"
        f" mean cosines: {lean}.")


def tables(result: Result) -> tuple[Table, ...]:
    return (
        Table.of("Meanings of unseen words told by the nearest vector", (
            "vector", "right", "cosine of the two banks", "cosine with the vector before any layer"),
            [(stage, str(share), *(("–", "–") if k == 0 else (f"{result.bank[k - 1]:.4f}", result.moved[k - 1])))
             for k, (stage, share) in enumerate(zip(result.stages, result.meanings, strict=True))]),
        Table.of("The five nearest pieces, by cosine; some are parts of words, some are French", ("word", "nearest"),
                 result.neighbours),
        Table.of("Analogies, asked of the whole vocabulary", (
            "", "example", "questions", "right", "right, question left out", "found without arithmetic",
            "median rank", "differences, cosine"),
            [(one.name, one.example, one.questions, *(f"{part:.1%}" for part in (one.right, one.left_out, one.alone)),
              f"{one.rank:.0f}", one.parallel) for one in result.relations]),
    )


def look(result: Result) -> Look:
    """The layer after which meanings are told apart best."""
    after = [share.value for share in result.meanings[2:]]
    return Look(BANK[0], "encoder", after.index(max(after)))


def draw(result: Result) -> Figure:
    figure, (left, right) = new_figure(2, height=3.4)
    places = range(len(result.stages))
    values, low, high = np.array([(one.value, one.low, one.high) for one in result.meanings]).T
    left.plot(places, values, color=BLUE, marker="o")
    left.fill_between(places, low, high, color=BLUE, alpha=0.2, linewidth=0)
    left.axhline(GUESSING, color=SOFT, linewidth=1, linestyle="--")
    left.text(places[-1], GUESSING - 0.03, "guessing", color=SOFT, ha="right", va="top")
    left.set_xticks(places, [stage.replace("with its", "with its\n").replace("after ", "after\n")
                             for stage in result.stages], fontsize=8)
    left.set_ylim(0.4, 1.03)
    left.set_title("Meanings told apart")
    tenths = np.arange(1, 11)
    right.bar(tenths, result.deciles, color=[*[SOFT] * 9, ORANGE])
    right.set_xticks(tenths)
    right.set_xlabel("pairs of words, from unlike to alike in use")
    right.set_title("Mean cosine of their embeddings")
    return figure
