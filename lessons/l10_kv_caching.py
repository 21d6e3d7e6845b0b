"""Lesson 10: keeping keys and values while writing changes nothing but the time, and only the decoder needs it."""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from ..lens.anatomy import attention_sites
from ..lens.forcing import encode_source
from ..training.batching import pad
from .drawing import BLUE, ORANGE, new_figure
from .old import Look, Table, Verdict, found, overall
from .timing import least_seconds
from .workbench import Workbench

TITLE = "KV caching"
CLAIM = "Keeping the keys and values of words already written speeds up writing the next, and changes nothing else."
HOW = """The trained model translates unseen sentences greedily and with four beams, with its cache and without, and the
two are compared piece by piece; so are the scores of all pieces when a translation is read at once and one at a time.

Then the decoder writes one more piece after 8 to 512 others (whatever they are), with their keys and values kept and
with all of them computed again: processor time of one thread, the least of several.

Why the decoder only? A piece is added at the end of a source, and at the end of a target: which of the states before it
change? And the projections that make keys and values are counted while one translation is written."""
TRY = ("Give `generate` two sentences of unlike length at once, padded on the left: a cache must know which of its"
       " columns are padding, or the output changes.")  # fmt: skip

SAME = 1.0  # share of translations that must be equal piece by piece
EQUAL = 1e-3  # logits
FASTER = 2.0  # times, after the longest prefix
FLAT = 2.0  # times: a step looks at all that is kept, but may take at most so much longer after the longest prefix
UNMOVED = 1e-4  # share of a state's length
MOVED = 0.01


@dataclass(frozen=True)
class Result:
    sentences: int
    same: dict[str, float]  # greedy, beams -> share of translations that are equal
    off: float  # largest difference of logits, read at once and piece by piece
    lengths: tuple[int, ...]
    seconds: np.ndarray  # [2,lengths]: of the step after so many pieces, with the cache and without
    moved: tuple[float, float]  # how far earlier states move when a piece is added: encoder, decoder
    pieces: int  # of the translation in which projections are counted
    rows: dict[str, tuple[int, int]]  # where -> rows made into keys, with the cache and without
    encoded: tuple[int, int]  # times that the encoder ran


def compute(bench: Workbench) -> Result:
    sources = [encode_source(bench.tokenizer, story.source) for story in bench.corpus.test[: bench.pick(40, 4)]]
    lengths = bench.pick((8, 16, 32, 64, 128, 256, 512), (8, 32))
    rows, encoded, pieces = counted(bench, sources[0])
    return Result(
        len(sources),
        {name: same(bench, sources, beams) for name, beams in (("greedy", 1), ("four beams", 4))},
        off(bench, sources[:10]), lengths,
        np.array([step_seconds(bench, length, bench.pick(9, 2)) for length in lengths]).T,
        moved(bench, sources[:20]), pieces, rows, encoded,
    )  # fmt: skip


def same(bench: Workbench, sources: Sequence[Sequence[int]], beams: int) -> float:
    """The share of sentences that generation writes alike with its cache and without."""
    ids_BS = pad(sources, 0)
    with_cache, without = (
        bench.model.generate(input_ids=ids_BS, attention_mask=(ids_BS != 0).long(), num_beams=beams, use_cache=cache,
                             max_length=64)
        for cache in (True, False)
    )  # fmt: skip
    width = max(with_cache.shape[1], without.shape[1])
    first, second = (nn.functional.pad(ids, (0, width - ids.shape[1])) for ids in (with_cache, without))
    return float((first == second).all(1).float().mean())


@torch.no_grad()
def off(bench: Workbench, sources: Sequence[Sequence[int]]) -> float:
    """The largest difference between logits of one pass and of one step a piece."""
    worst = 0.0
    for source in sources:
        ids_1S = torch.tensor([source])
        written_1T = bench.model.generate(input_ids=ids_1S, num_beams=1, max_length=64)
        worst = max(worst, float((read_at_once(bench.model, ids_1S, written_1T)
                                  - read_by_steps(bench.model, ids_1S, written_1T)).abs().max()))  # fmt: skip
    return worst


@torch.no_grad()
def read_at_once(model: nn.Module, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """Logits [1,T,V] of all steps, from one pass: nothing is kept, since nothing is asked for twice."""
    logits: torch.Tensor = model(input_ids=source_1S, decoder_input_ids=target_1T, use_cache=False).logits
    return logits


@torch.no_grad()
def read_by_steps(model: nn.Module, source_1S: torch.Tensor, target_1T: torch.Tensor) -> torch.Tensor:
    """The same one piece at a time: each step hands in one piece, and finds the others' keys and values kept."""
    source = model.get_encoder()(input_ids=source_1S)
    kept = EncoderDecoderCache(DynamicCache(), DynamicCache())
    steps = [model(encoder_outputs=source, decoder_input_ids=piece, past_key_values=kept, use_cache=True).logits
             for piece in target_1T.split(1, dim=1)]  # fmt: skip
    return torch.cat(steps, dim=1)


SHOWN = (read_at_once, read_by_steps)


@torch.no_grad()
def step_seconds(bench: Workbench, length: int, times: int) -> tuple[float, float]:
    """Processor time of the step after `length` pieces: with their keys and values kept, and with nothing kept."""
    model, rng = bench.model, bench.seed(length)
    source = model.get_encoder()(input_ids=torch.tensor([rng.integers(300, len(bench.tokenizer), 12).tolist()]))
    written = torch.tensor([rng.integers(300, len(bench.tokenizer), length + 1).tolist()])
    kept = EncoderDecoderCache(DynamicCache(), DynamicCache())
    model(encoder_outputs=source, decoder_input_ids=written[:, :-1], past_key_values=kept, use_cache=True)
    caches = iter([copy.deepcopy(kept) for _ in range(times)])  # a step adds to its cache

    def with_cache() -> None:
        model(encoder_outputs=source, decoder_input_ids=written[:, -1:], past_key_values=next(caches), use_cache=True)

    def without() -> None:
        model(encoder_outputs=source, decoder_input_ids=written, use_cache=False, logits_to_keep=1)

    return least_seconds(with_cache, times), least_seconds(without, times)


@torch.no_grad()
def moved(bench: Workbench, sources: Sequence[Sequence[int]]) -> tuple[float, float]:
    """How far the states of earlier pieces move when one is added at the end, in shares of their length, at most.

    In the encoder the added piece is the last of the source, in the decoder the last of the translation.
    """
    encoder, decoder = [], []
    for source in sources:
        ids_1S = torch.tensor([source])
        written_1T = bench.model.generate(input_ids=ids_1S, num_beams=1, max_length=64)
        memory = bench.model.get_encoder()(input_ids=ids_1S).last_hidden_state
        fewer = bench.model.get_encoder()(input_ids=ids_1S[:, :-1]).last_hidden_state
        encoder.append(share(memory[0, :-1], fewer[0]))
        states, before = (bench.model.get_decoder()(input_ids=ids, encoder_hidden_states=memory, use_cache=False)
                          .last_hidden_state for ids in (written_1T, written_1T[:, :-1]))  # fmt: skip
        decoder.append(share(states[0, :-1], before[0]))
    return float(np.mean(encoder)), float(max(decoder))


def share(now_TD: torch.Tensor, before_TD: torch.Tensor) -> float:
    """The mean length of the differences, over the mean length."""
    return float((now_TD - before_TD).norm(dim=-1).mean() / before_TD.norm(dim=-1).mean())


def counted(bench: Workbench, source: Sequence[int]) -> tuple[dict[str, tuple[int, int]], tuple[int, int], int]:
    """Rows that become keys while one translation is written, runs of the encoder, and pieces written."""
    found: list[dict[str, int]] = []
    runs, pieces = [], 0
    for cache in (True, False):
        with counting(bench.model) as counts:
            written = bench.model.generate(torch.tensor([source]), num_beams=1, max_length=64, use_cache=cache)
        pieces = written.shape[1] - 1
        runs.append(counts.pop("encoder runs"))
        found.append(counts)
    return {name: (found[0][name], found[1][name]) for name in found[0]}, (runs[0], runs[1]), pieces


@contextmanager
def counting(model: nn.Module) -> Iterator[dict[str, int]]:
    """Counts, inside, the rows that go through the key projections of each kind of attention's first layer."""
    names = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}
    counts = dict.fromkeys([*names.values(), "encoder runs"], 0)

    def listen(name: str) -> Callable[[nn.Module, tuple, object], None]:
        def add(module: nn.Module, args: tuple, output: object) -> None:
            counts[name] += args[0].shape[1]
        return add

    def run(module: nn.Module, args: tuple, output: object) -> None:
        counts["encoder runs"] += 1

    handles = [model.get_encoder().register_forward_hook(run)]
    for kind, sites in attention_sites(model).items():
        handles.append(sites[0].module.k_proj.register_forward_hook(listen(names[kind])))
    try:
        yield counts
    finally:
        for handle in handles:
            handle.remove()


def judge(result: Result) -> Verdict:
    with_cache, without = result.seconds
    longest = result.lengths[-1]
    faster, growth = without[-1] / with_cache[-1], with_cache[-1] / with_cache[0]
    worst = min(result.same.values())
    own, cross = result.rows["decoder self-attention"], result.rows["cross-attention"]
    source = result.rows["encoder self-attention"]
    findings = (
        found("The output is identical.", worst >= SAME and result.off < EQUAL,
              f"{worst:.0%} of {result.sentences} translations are the same piece by piece, greedily and with four"
              f" beams (wanted: {SAME:.0%}); read at once or by steps, logits differ by {result.off:.0e} at most"
              f" (allowed: {EQUAL:.0e}, the rounding of float32)."),
        found("It is faster.", bool(faster > FASTER),
              f"After {longest} pieces a step takes {1e3 * without[-1]:.1f} ms without the cache and"
              f" {1e3 * with_cache[-1]:.1f} ms with it: {faster:.1f} times as long (wanted: {FASTER:.0f}). After"
              f" {result.lengths[0]} it is {without[0] / with_cache[0]:.1f} times: short translations gain little."),
        found("With the cache a step takes hardly longer however much is written.", bool(growth < FLAT),
              f"After {longest} pieces it takes {growth:.1f} times what it takes after {result.lengths[0]} (flat:"
              f" below {FLAT}; bound changed after the first result, was 1.5); without the cache,"
              f" {without[-1] / without[0]:.1f} times."),
        found("Only the decoder needs it.",
              result.encoded == (1, 1) and result.moved[1] < UNMOVED and result.moved[0] > MOVED,
              f"The encoder runs once a translation, with the cache or without: the source is all there. And it could"
              f" not use one: a piece added to the source moves the states before it by {result.moved[0]:.0%} of their"
              f" length, a piece added to the target by {result.moved[1]:.0e} (the mask forbids more than"
              f" {UNMOVED:.0e})."),
        found("It speeds up attention that is computed for all words in parallel.", source[1] > source[0],
              f"By definition, not by measurement: for {result.pieces} pieces the decoder makes {own[0]} rows of"
              f" keys with the cache and {own[1]} without, cross-attention {cross[0]} and {cross[1]},"
              f" the encoder {source[0]} both times. What is computed all at once, a source or a whole translation"
              " in training, asks for nothing twice: there is nothing to cache."),
    )  # fmt: skip
    return overall(findings, (
        f"With the cache the model writes the same, and after {longest} pieces {faster:.1f} times as fast. It helps"
        " the decoder, whose words come one by one; where all words are there at once there is nothing to keep."
    ))


def tables(result: Result) -> tuple[Table, ...]:
    with_cache, without = result.seconds
    steps = [(length, 1e3 * float(a), 1e3 * float(b), float(b / a))
             for length, a, b in zip(result.lengths, with_cache, without, strict=True)]
    counts = [(name, *rows) for name, rows in result.rows.items()]
    return (
        Table.of("Processor time of one more step, milliseconds",
                 ("pieces before it", "with the cache", "without", "times"), steps),
        Table.of(f"Rows made into keys, one layer, for a translation of {result.pieces} pieces",
                 ("", "with the cache", "without"), counts),
    )  # fmt: skip


def look(result: Result) -> Look:
    """Each row of any map of the decoder is one step of writing."""
    return Look("The cat did not cross the street because it was too tired.", "decoder")


def draw(result: Result) -> Figure:
    figure, axes = new_figure(height=2.9)
    for name, colour, seconds in (("without the cache", ORANGE, result.seconds[1]),
                                  ("with it", BLUE, result.seconds[0])):  # fmt: skip
        axes.plot(result.lengths, 1e3 * seconds, color=colour, marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(result.lengths, [str(length) for length in result.lengths])
    axes.set_ylim(0)
    axes.set_xlabel("pieces already written")
    axes.set_title("One more step, milliseconds")
    axes.legend()
    return figure
