"""The small model that lessons train: one task, one recipe, and one thing changed at a time.

The task is the part of storybook that a small model learns in seconds: *The cat did not cross the street because it was
too tired*, or *too wide*; the same with a noun alone; and with the weather, where *it* has no antecedent.  Its test set
has the combinations of words that storybook holds out.  A comparison is two recipes that differ in one field, trained
for as many steps on as many tokens from the same seeds.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, count, islice
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ..lens.records.intervals import Estimate
from ..modeling import Seq2SeeConfig, Seq2SeeForConditionalGeneration, attention, layers, modeling_seq2see
from ..passes.batches import by_length
from ..storybook import StoryPair
from ..tokenizer.tokenization_seq2see import Seq2SeeTokenizer, train_tokenizer
from ..tokenizer.words import split_words
from ..training.batching import Collator, EncodedPairs, pad, plan_epoch
from ..training.cache import fingerprint
from ..training.metrics import score
from ..training.pairs import Pair
from . import recurrent
from .recurrent import RecurrentTranslator
from .workbench import Workbench

# B pairs, S source length, T target length, D width, V vocabulary

FAMILIES = ("easy", "alone", "weather")
WORDS = 120  # the commonest English ones of these families: all that the task has
WIDTH, INNER, LAYERS, VOCABULARY = 64, 128, 2, 900
MAX_TOKENS = 256  # of a side of a batch, padding counted
STEPS, LEARNING_RATE, WARM_UP = 300, 6e-3, 0.1  # steps, peak learning rate, and the share of steps until it
MARKS = (0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.75, 1.0)  # shares of the steps after which weights are kept
LONGEST = 24  # tokens of a translation of one sentence
COLLATE = Collator(pad_token_id=0, eos_token_id=2, decoder_start_token_id=1)

Network = Literal["transformer", "elman", "gru", "gru with attention"]


@dataclass(frozen=True)
class Recipe:
    """What is trained, and how. `pairs`: how many of training, 0 for all; `row`: up to so many sentences in one."""

    network: Network = "transformer"
    heads: int = 4
    causal: bool = True
    positions: bool = True
    dropout: float = 0.0
    pairs: int = 0
    row: int = 1

    def __str__(self) -> str:
        """The fields that differ from the defaults, for progress lines."""
        changed = dataclasses.asdict(self).items() - dataclasses.asdict(Recipe()).items()
        return ", ".join(f"{name} {value}" for name, value in sorted(changed)) or "the small Transformer"


@dataclass(frozen=True)
class Task:
    """The task. `test` has unseen combinations of seen words."""

    train: tuple[StoryPair, ...]
    test: tuple[StoryPair, ...]
    tokenizer: Seq2SeeTokenizer


@dataclass(frozen=True)
class Trained:
    """The result of training: the loss of each step, and the models after some steps, the last one finished."""

    losses: list[float]
    models: dict[int, Any]  # of `SmallModel`

    @property
    def model(self) -> Any:
        return self.models[max(self.models)]


@dataclass(frozen=True)
class Compared:
    """One recipe over seeds: its runs, and of greedy translations of the test the share that equals the reference and
    chrF2; `loss` on the test, in nats; `sample`, the first seed's translation of the first test sentence."""

    runs: list[Trained]
    exact: Estimate
    chrf: Estimate
    loss: Estimate
    sample: str


class SmallTransformer(nn.Module):
    """A Seq2See network that can be made without its causal mask or without its positions."""

    def __init__(self, recipe: Recipe, *, vocabulary: int):
        super().__init__()
        self.causal = recipe.causal
        self.network = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
            vocab_size=vocabulary, d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=LAYERS,
            encoder_attention_heads=recipe.heads, decoder_attention_heads=recipe.heads, encoder_ffn_dim=INNER,
            decoder_ffn_dim=INNER, dropout=recipe.dropout, max_position_embeddings=256, attn_implementation="eager",
        ))
        if not recipe.positions:
            for side in (self.network.model.encoder, self.network.model.decoder):
                side.embedder.positions.table_PD.zero_()

    def encode(self, ids_BS: Tensor, mask_BS: Tensor) -> Tensor:
        """Source ids to source states [B,S,D]."""
        return self.network.model.encoder(input_ids=ids_BS, attention_mask=mask_BS).last_hidden_state

    def decode(self, memory_BSD: Tensor, mask_BS: Tensor, ids_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """Target ids to target states [B,T,D]."""
        return self.network.model.decoder(
            input_ids=ids_BT, attention_mask=None if self.causal else open_mask(mask_BT),
            encoder_hidden_states=memory_BSD, encoder_attention_mask=mask_BS, use_cache=False,
        ).last_hidden_state

    def logits(self, states: Tensor) -> Tensor:
        """[..., D] to [..., V]."""
        return self.network.lm_head(states)


SmallModel = SmallTransformer | RecurrentTranslator


def open_mask(mask_BT: Tensor) -> Tensor:
    """Added to the scores: 0 wherever there is a word, also a later one; [B,1,T,T]."""
    hidden_BT = (mask_BT == 0) * torch.finfo(torch.float32).min
    return hidden_BT[:, None, None].expand(-1, 1, mask_BT.shape[1], -1)


def build(recipe: Recipe, *, vocabulary: int) -> SmallModel:
    """New weights, drawn from torch's generator."""
    if recipe.network == "transformer":
        return SmallTransformer(recipe, vocabulary=vocabulary)
    return RecurrentTranslator(recipe.network, width=WIDTH, vocabulary=vocabulary)


@lru_cache(maxsize=1)
def task_of(bench: Workbench) -> Task:
    corpus = bench.corpus
    easy = [story for story in corpus.train if story.family in FAMILIES]
    counts = Counter(word for story in easy for word in words_of(story))
    common = {word for word, _ in counts.most_common(WORDS)}

    def chosen(stories: Iterable[StoryPair]) -> tuple[StoryPair, ...]:
        return tuple(one for one in stories if one.family in FAMILIES and common.issuperset(words_of(one)))

    train, test = chosen(easy), chosen((*corpus.val, *corpus.test))
    texts = [text for story in train for text in (story.source, story.target)]
    tokenizer = train_tokenizer(texts, vocab_size=VOCABULARY, languages=["fr"])
    return Task(train, test[:: bench.pick(1, 8)], tokenizer)


def words_of(story: StoryPair) -> list[str]:
    return [word.text.casefold() for word in split_words(story.source, language="en")]


def in_rows(stories: Sequence[StoryPair], most: int) -> list[Pair]:
    """Each story with up to `most` - 1 that follow it, as one pair of texts."""
    rows = []
    for number in range(len(stories)):
        row = stories[number : number + 1 + number % most]
        rows.append(Pair(" ".join(one.source for one in row), " ".join(one.target for one in row), "en", "fr"))
    return rows


def trained(bench: Workbench, recipe: Recipe, seed: int) -> Trained:
    """A recipe, trained on the task."""
    task = task_of(bench)
    pairs = in_rows(task.train[: recipe.pairs or None], recipe.row)
    new = partial(build, recipe, vocabulary=len(task.tokenizer))
    made_by = TRANSFORMER if recipe.network == "transformer" else (recurrent,)
    [run] = learn(bench, str(recipe), new, [(pairs, bench.pick(STEPS, 24), LEARNING_RATE)], task.tokenizer, seed,
                  made_by=made_by)
    return run


def learn(
    bench: Workbench, name: str, new: Callable[[], "SmallModel"], stages: Sequence[tuple[Sequence[Pair], int, float]],
    tokenizer: Seq2SeeTokenizer, seed: int, *, made_by: Sequence[Any],
) -> list[Trained]:
    """Train a new model in stages (pairs, steps, learning rate), once; later calls read the results from the shelf."""

    def train_small(name: str, seed: int, given: str) -> list[Any]:
        bench.seed(seed)
        bench.report_progress(f"training {name}, seed {seed}")
        model = new()
        return [fit(model, pairs, tokenizer, steps=steps, seed=seed, learning_rate=rate)
                for pairs, steps, rate in stages]

    data = [(list(map(dataclasses.astuple, pairs)), steps, rate) for pairs, steps, rate in stages]
    given = fingerprint([SIZES, data, sorted(tokenizer.get_vocab().items())])  # a vocabulary comes in no order
    runs = []
    for losses, kept in bench.cached(train_small, name, seed, given, made_by=(*TRAINING, *made_by)):
        models = {step: new().eval() for step in kept}
        for step, weights in kept.items():
            models[step].load_state_dict(weights)
        runs.append(Trained(losses, models))
    return runs


def fit(
    model: SmallModel, pairs: Sequence[Pair], tokenizer: Seq2SeeTokenizer, *, steps: int, seed: int,
    learning_rate: float = LEARNING_RATE,
) -> tuple[list[float], dict[int, dict[str, Tensor]]]:
    """Adam for `steps` batches, up to the learning rate and straight down to 0: losses, and weights at the marks."""
    data = EncodedPairs(pairs, tokenizer, max_length=256)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), fused=True)
    losses, kept = [], {}
    model.train()
    for step, batch in enumerate(batches(data, steps=steps, seed=seed), 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * min(step / (WARM_UP * steps), (steps - step + 1) / ((1 - WARM_UP) * steps))
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step in {max(1, int(mark * steps)) for mark in MARKS}:
            kept[step] = {name: weight.detach().clone() for name, weight in model.state_dict().items()}
    model.eval()
    return losses, kept


def batches(data: EncodedPairs, *, steps: int, seed: int) -> Iterator[dict[str, Tensor]]:
    """As many batches as there are steps, epoch after epoch."""
    plans = (plan_epoch(data.lengths(), max_tokens=MAX_TOKENS, seed=seed, epoch=epoch) for epoch in count())
    for batch in islice(chain.from_iterable(plans), steps):
        yield COLLATE([data[index] for index in batch])


def loss_of(model: SmallModel, batch: dict[str, Tensor]) -> Tensor:
    """Mean cross-entropy of the correct next token, over all tokens of a batch at once: teacher forcing, in nats."""
    kept_BT = batch["labels"] != -100
    memory = model.encode(batch["input_ids"], batch["attention_mask"])
    states_BTD = model.decode(memory, batch["attention_mask"], batch["decoder_input_ids"], kept_BT.long())
    return cross_entropy(model.logits(states_BTD[kept_BT]), batch["labels"][kept_BT])


@torch.no_grad()
def test_loss(model: SmallModel, pairs: Sequence[Pair], tokenizer: Seq2SeeTokenizer) -> float:
    """The loss over some pairs, every token counting alike."""
    data = EncodedPairs(pairs, tokenizer, max_length=256)
    total = seen = 0.0
    for batch in plan_epoch(data.lengths(), max_tokens=4 * MAX_TOKENS, seed=0, epoch=0):
        inputs = COLLATE([data[index] for index in batch])
        tokens = int((inputs["labels"] != -100).sum())
        total += float(loss_of(model, inputs)) * tokens
        seen += tokens
    return total / seen


@torch.no_grad()
def translate(
    model: SmallModel, tokenizer: Seq2SeeTokenizer, sources: Sequence[str], *, language: str = "fr",
    longest: int = LONGEST,
) -> list[str]:
    """Greedy translations: the most likely token, again and again, from the beginning each time."""
    rows = [tokenizer.encode_source(source) for source in sources]
    texts = [""] * len(rows)
    for chosen in by_length(rows, rows):
        ids_BS = pad([rows[index] for index in chosen], 0)
        mask_BS = (ids_BS != 0).long()
        memory = model.encode(ids_BS, mask_BS)
        written_BT = torch.tensor([[1, tokenizer.tag_id(language)]]).repeat(len(chosen), 1)
        for _ in range(longest):
            states_BTD = model.decode(memory, mask_BS, written_BT, torch.ones_like(written_BT))
            next_B = model.logits(states_BTD[:, -1]).argmax(-1)
            next_B[(written_BT == 2).any(1)] = 0  # after the end
            written_BT = torch.cat([written_BT, next_B[:, None]], dim=1)
            if (written_BT == 2).any(1).all():
                break
        for index, ids in zip(chosen, written_BT.tolist(), strict=True):
            texts[index] = tokenizer.decode_text(ids)
    return texts


def compare(bench: Workbench, **recipes: Recipe) -> dict[str, Compared]:
    """Train each recipe from every seed and test it."""
    task = task_of(bench)
    sources, targets = [one.source for one in task.test], [one.target for one in task.test]
    compared = {}
    for name, recipe in recipes.items():
        runs = [trained(bench, recipe, seed) for seed in bench.seeds]
        texts = [translate(run.model, task.tokenizer, sources) for run in runs]
        scores = [score(text, targets) for text in texts]
        losses = [test_loss(run.model, in_rows(task.test, 1), task.tokenizer) for run in runs]
        compared[name] = Compared(
            runs, Estimate.seeds([one.exact_match / 100 for one in scores]),
            Estimate.seeds([one.chrf for one in scores]), Estimate.seeds(losses), texts[0][0])
    return compared


# What the weights depend on: changing any of these trains them again.
SIZES = (WIDTH, INNER, LAYERS, VOCABULARY, MAX_TOKENS, LEARNING_RATE, WARM_UP, MARKS)
TRAINING = (Recipe, fit, batches, loss_of)
TRANSFORMER = (SmallTransformer, open_mask, attention, layers, modeling_seq2see)
