"""Lesson 8: keeping keys and values while writing changes nothing but the time, and only the decoder needs it."""

import copy
import time
import timeit
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from ..passes.hooks import attention_sites, replaced
from ..tokenizer.encoding import encode_source
from ..training.batching import pad
from .figures import likeness
from .lesson import Check, Checks, CurvePanel, Exhibits, Figures, Look, Table, Workbench
from .workbench import one_thread

# S source tokens, T target tokens, D width

FASTER = 2.0  # times, after the longest prefix
FLAT = 2.0  # times: a step attends to all that is kept, but may take at most so much longer after the longest prefix
UNMOVED, MOVED = 1e-4, 0.01  # share of a state's length


def measure(bench: Workbench) -> Figures:
    sources = [encode_source(bench.tokenizer, story.source) for story in bench.corpus.test[: bench.pick(40, 4)]]
    lengths = bench.pick((8, 16, 32, 64, 128, 256, 512), (8, 32))
    cached, again = 1e3 * np.array([step_seconds(bench, length, bench.pick(9, 2)) for length in lengths]).T
    encoder, decoder = moved(bench, sources[:20])
    counts = [counted(bench, sources[0], cache=cache) for cache in (True, False)]
    rows = {kind: [count[kind][1] for count in counts] for kind in counts[0]}
    return Figures(
        sentences=len(sources), same=min(same(bench, sources, beams) for beams in (1, 4)),
        lengths=lengths, ms=(cached, again), shortest=lengths[0], longest=lengths[-1], cached=(cached[0], cached[-1]),
        again=(again[0], again[-1]), times=(again[0] / cached[0], again[-1] / cached[-1]),
        growth=(cached[-1] / cached[0], again[-1] / again[0]),
        encoder=encoder, decoder=decoder, kept=likeness(decoder, within=UNMOVED), rows=rows,
        runs=[count["encoder"][0] for count in counts],
        look=Look(kind="decoder", layer=1),
    )


def same(bench: Workbench, sources: Sequence[Sequence[int]], beams: int) -> float:
    """The share of sentences for which generation writes the same with its cache and without."""
    ids_BS = pad(sources, 0)
    both = [bench.model.generate(input_ids=ids_BS, attention_mask=(ids_BS != 0).long(), num_beams=beams,
                                 use_cache=cache, max_length=64) for cache in (True, False)]
    width = max(ids.shape[1] for ids in both)
    first, second = (nn.functional.pad(ids, (0, width - ids.shape[1])) for ids in both)
    return float((first == second).all(1).float().mean())


@torch.no_grad()
def step_seconds(bench: Workbench, length: int, times: int) -> tuple[float, float]:
    """Processor time of the step after `length` tokens: with the cache, and without it."""
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

    with one_thread():  # the minimum of several runs: a disturbance only adds time
        cached, again = (min(timeit.repeat(step, number=1, repeat=times, timer=time.process_time))
                         for step in (with_cache, without))
    return cached, again


SHOWN = (step_seconds,)


@torch.no_grad()
def moved(bench: Workbench, sources: Sequence[Sequence[int]]) -> tuple[float, float]:
    """How far earlier states move, in shares of their length, when a token is added at the end: of the source, mean
    over sentences, and of the translation, at most."""
    model, encoder, decoder = bench.model, [], []
    for ids_1S in (torch.tensor([source]) for source in sources):
        written_1T = model.generate(input_ids=ids_1S, num_beams=1, max_length=64)
        memory, fewer = (model.get_encoder()(input_ids=ids).last_hidden_state for ids in (ids_1S, ids_1S[:, :-1]))
        encoder.append(share(memory[0, :-1], fewer[0]))
        states, before = (model.get_decoder()(input_ids=ids, encoder_hidden_states=memory, use_cache=False)
                          .last_hidden_state for ids in (written_1T, written_1T[:, :-1]))
        decoder.append(share(states[0, :-1], before[0]))
    return float(np.mean(encoder)), float(max(decoder))


def share(now_TD: torch.Tensor, before_TD: torch.Tensor) -> float:
    """The mean length of the differences, over the mean length."""
    return float((now_TD - before_TD).norm(dim=-1).mean() / before_TD.norm(dim=-1).mean())


def counted(bench: Workbench, source: Sequence[int], *, cache: bool) -> dict[str, tuple[int, int]]:
    """While one translation is written: calls of the first layer's key projection in each kind of attention, and rows
    that become keys."""
    sites = attention_sites(bench.model)
    calls: dict[str, list[torch.Tensor]] = {kind: [] for kind in sites}
    with replaced((of[0].module.k_proj, "out", calls[kind].append) for kind, of in sites.items()):
        bench.model.generate(torch.tensor([source]), num_beams=1, max_length=64, use_cache=cache)
    return {kind: (len(outs), sum(out.shape[1] for out in outs)) for kind, outs in calls.items()}


def claims(f: Figures) -> Checks:
    return {
        "same": [Check(f.same, "=", 1)],
        "faster": [Check(f.times[1], ">", FASTER)],
        "flat": [Check(f.growth[0], "<", FLAT, was=1.5)],
        "decoder": [Check(max(f.runs), "=", 1, "encoder runs"), Check(f.encoder, ">", MOVED, "encoder states move by"),
                    Check(f.decoder, "<", UNMOVED, "decoder states move by")],
    }


def exhibits(f: Figures) -> Exhibits:
    steps = [(length, a, b, b / a) for length, a, b in zip(f.lengths, *f.ms, strict=True)]
    lines = dict(zip(("with the cache", "without"), f.ms, strict=True))
    return [
        Table("Processor time of one more step, milliseconds", ("tokens before it", *lines, "ratio"), steps),
        CurvePanel("One more step, milliseconds", f.lengths, lines, "tokens already written", doubling=True),
    ]
