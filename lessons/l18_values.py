"""Lesson 18: how much a head looks at a word, how much it takes from there, and which of the two tells what it does."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.figure import Figure

from ..lens import trace_texts
from ..lens.ablation import Head
from ..lens.anatomy import attention_sites
from ..lens.by_words import word_map
from ..lens.forcing import forced_pass, looking
from ..lens.inside import watching
from ..lens.kinds import KINDS, Kind
from ..lens.summary import sink_shares
from ..lens.trace import Trace
from ..lens.values import Cell, other_values, silenced
from ..lens.wording import NAMES
from .drawing import BLUE, INK, ORANGE, new_figure
from .held_out import Share, group_of, halves, inside
from .l01_similarity import rank_correlation
from .old import Finding, Look, Table, Verdict, Word, found, overall
from .workbench import Workbench

# L layers, H heads, R rows, C columns, N cells: a head and a column

TITLE = "Weights and values"
CLAIM = ("Weights say where a head looks, values what it takes from there: a word that is looked at hard may add"
         " little, and what is added, not the weight, says what the word does.")  # fmt: skip
HOW = """What a head adds to a row is a sum over columns: weight times the column's value, led through the head's part
of the output projection. The length of each of these vectors is what the column adds (Kobayashi et al. 2020, equation
4). Here lengths are compared with weights on unseen sentences, in every head of the three kinds of attention.

That values have no say in the weights is tried by reversing the order of the values of a layer alone.

Then both are put to the test. For every head and every column of a sentence the value of that one column is taken away
from that one head, its weight left as it is, and the change of all predictions is measured (the Kullback-Leibler
divergence from the ones before, the sum over steps). If the length is the better measure, it orders these effects
better than the weight does. Orders are compared by Spearman's rank correlation within each sentence.

The notes' own sentence, *The cat sat on the mat*, goes through the encoder too, although training has shown neither
*sat* nor *mat*: how much the last vectors of *cat* and *sat* owe to each word, by contributions (ALTI).

In studies of BERT the ends of a text get much weight and short values, so that they add next to nothing. The same is
looked for here: the share of the weights, and of the added lengths, that lies on `</s>`, tags and punctuation."""
TRY = ("`seq2see look RUN \"...\" --view norm` shows added lengths in place of weights; step through the heads and look"
       " for one whose darkest column turns pale.")  # fmt: skip
SENTENCE, TRANSLATION = ("The cat did not cross the street because it was too tired.",
                         "Le chat n'a pas traversé la rue parce qu'il était trop fatigué.")
NOTED, PAIR = "The cat sat on the mat.", ("cat", "sat")

WHERE = {"encoder": "the encoder", "decoder": "the decoder", "cross": "cross-attention"}
EXACT = 1e-4  # the most that the parts may fail to add up to the output
OFTEN = 0.1  # share of rows whose hardest look adds less than another: from here on it is no exception
MUCH = 0.1  # share of the weights on ends and punctuation that counts as much
NOTABLE = 0.05  # of a last vector, from which on what a word contributes counts as significant
SENTENCES = 40  # whose cells are silenced one by one, some five hundred a sentence


@dataclass(frozen=True)
class Compared:
    """Weights against added lengths in one kind of attention; shares over sentences."""

    other_first: Share  # rows in which not the column looked at hardest adds most
    sinks_by_weight: Share
    sinks_by_length: Share
    sinks_fall: Share  # the former less the latter
    by_weight: Share  # rank correlation of the weights with the effects of taking a value away
    by_length: Share
    gain: Share  # the latter less the former
    kept: Share  # length of the sum of what is added, as a share of the sum of the lengths


@dataclass(frozen=True)
class Result:
    moved: float  # the most that a weight of a layer changes when the values of that layer are exchanged
    off: float  # the most that the sum of parts differs from what the attention blocks gave
    sentences: int
    kinds: dict[Kind, Compared]
    cells: int  # silenced
    head: Head  # of the example: the head of cross-attention in which weight and length differ most on SENTENCE
    columns: tuple[str, ...]
    example: np.ndarray  # [3, columns]: shares of its weights, of its lengths, and of the effects
    noted: tuple[str, ...]  # words of NOTED and what else stands there
    owed: np.ndarray  # [2, noted]: what the last vectors of PAIR are owed to


def effects(bench: Workbench, trace: Trace, cells: Sequence[Cell]) -> np.ndarray:
    """For each cell the change of all predictions when its head gets nothing from its column: [N], in nats."""
    sources, targets = [trace.source_ids] * len(cells), [trace.target_ids] * len(cells)
    with looking(bench.model, eager=False):
        plain_1TV = forced_pass(bench.model, sources[:1], targets[:1])[0].logits.log_softmax(-1)
        with silenced(bench.model, cells):
            other_NTV = forced_pass(bench.model, sources, targets)[0].logits.log_softmax(-1)
    divergence_N: np.ndarray = (plain_1TV.exp() * (plain_1TV - other_NTV)).sum((-1, -2)).numpy()
    return divergence_N


SHOWN = (effects,)


def compute(bench: Workbench) -> Result:
    some = inside(bench)
    groups = [group_of(i, story) for i, story in enumerate(halves(bench)[1][: len(some)])]
    tested = bench.pick(SENTENCES, 2)
    bench.say(f"taking away values, one by one, in {tested} sentences")
    off, kept = _sums(bench, some[:tested])
    kinds, cells = {}, 0
    for kind in KINDS:
        effect = []
        for trace in some[:tested]:
            weight, length = (np.asarray(trace.maps(kind, view).sum(2)) for view in ("raw", "norm"))
            found_N = effects(bench, trace, [(kind, *place) for place in np.ndindex(weight.shape)])
            effect.append((rank_correlation(weight.ravel(), found_N), rank_correlation(length.ravel(), found_N)))
            cells += len(found_N)
        weights, lengths = np.array(effect).T
        sinks = np.array([[sink_shares(trace, kind, view=view).sum(-1).mean() for view in ("raw", "norm")]
                          for trace in some])
        kinds[kind] = Compared(
            Share.of([_other_first(trace, kind) for trace in some], groups),
            *(Share.of(values, groups) for values in (sinks[:, 0], sinks[:, 1], sinks[:, 0] - sinks[:, 1])),
            *(Share.of(values, groups[:tested]) for values in (weights, lengths, lengths - weights, kept[kind])),
        )
    return Result(_weights_moved(bench, some[0]), off, len(some), kinds, cells, *_example(bench), *owed(bench))


def owed(bench: Workbench) -> tuple[tuple[str, ...], np.ndarray]:
    """The words of NOTED, and of each of PAIR what its last vector in the encoder is owed to; rows sum to 1."""
    [trace] = trace_texts(bench.model, bench.tokenizer, [NOTED], [TRANSLATION], source_language="en",
                          target_language="fr", views=["contributions"])  # whatever is translated, the encoder is alike
    words = word_map(trace, "encoder", view="contributions")
    names = tuple(unit.text.strip() for unit in words.columns)
    return names, words.maps[-1][[names.index(word) for word in PAIR]]


def _weights_moved(bench: Workbench, trace: Trace) -> float:
    """The largest change of a weight in the first layer of cross-attention when its values stand in reverse order."""
    with looking(bench.model), other_values(bench.model, lambda site, value: value.flip(1), kinds=["cross"]):
        output, _ = forced_pass(bench.model, [trace.source_ids], [trace.target_ids], output_attentions=True)
    return float(np.abs(output.cross_attentions[0][0].numpy() - trace.maps("cross")[0]).max())


def _other_first(trace: Trace, kind: Kind) -> float:
    """The share of rows, over all heads, in which the largest weight and the longest vector are of other columns."""
    rows = slice(1, None) if kind == "decoder" else slice(None)  # the decoder's first step sees one column
    weights, lengths = (trace.maps(kind, view)[:, :, rows] for view in ("raw", "norm"))
    return float((weights.argmax(-1) != lengths.argmax(-1)).mean())


def _sums(bench: Workbench, traces: Sequence[Trace]) -> tuple[float, dict[Kind, list[float]]]:
    """How far the parts are from adding up, and how much of their length their sum keeps, a sentence at a time."""
    sites, off = attention_sites(bench.model), 0.0
    kept: dict[Kind, list[float]] = {kind: [] for kind in KINDS}
    for trace in traces:
        with looking(bench.model), watching([site for kind in KINDS for site in sites[kind]]) as watch:
            forced_pass(bench.model, [trace.source_ids], [trace.target_ids])
        for kind in KINDS:
            rows, columns = trace.maps(kind).shape[-2:]
            shares = []
            for site in sites[kind]:
                block = watch.block(site, 0, rows, columns)
                part_RCD = block.parts(torch.tensor(trace.maps(kind)[site.layer]))
                added_RD = part_RCD.sum(1)
                whole_RD = added_RD + block.residual() + block.constant()
                off = max(off, float((whole_RD - block.output_RD).abs().max()))
                lengths = trace.maps(kind, "norm")[site.layer].sum((0, -1))
                shares.append(float((added_RD.norm(dim=-1).numpy() / lengths).mean()))
            kept[kind].append(float(np.mean(shares)))
    return off, kept


def _example(bench: Workbench) -> tuple[Head, tuple[str, ...], np.ndarray]:
    """The head of cross-attention whose weights and lengths differ most: by column, as shares of their sums."""
    [trace] = trace_texts(bench.model, bench.tokenizer, [SENTENCE], [TRANSLATION], source_language="en",
                          target_language="fr", views=["raw", "norm"])
    shares = [maps / maps.sum(-1, keepdims=True) for maps in (trace.maps("cross", view).sum(2) for view in
                                                                ("raw", "norm"))]
    differing = abs(shares[0] - shares[1]).sum(-1)
    layer, head = np.unravel_index(int(differing.argmax()), differing.shape)
    effect = effects(bench, trace, [("cross", int(layer), int(head), c) for c in range(len(trace.source))])
    columns = tuple(piece.text.strip() for piece in trace.source)
    return (Head("cross", int(layer), int(head)), columns,
            np.stack([shares[0][layer, head], shares[1][layer, head], effect / max(effect.sum(), 1e-12)]))


def judge(result: Result) -> Verdict:
    kinds = result.kinds
    often = [one.other_first.low >= OFTEN for one in kinds.values()]
    better = [one.gain.low > 0 for one in kinds.values()]
    pale = [one.sinks_by_weight.value >= MUCH and one.sinks_by_length.value <= one.sinks_by_weight.value / 2
            for one in kinds.values()]
    gain = ", ".join(f"{one.by_length.value:.2f} against {one.by_weight.value:.2f} in {WHERE[kind]}"
                     for kind, one in kinds.items())
    return overall((
        found("Queries and keys alone say where a head looks (the notes: similar keys with similar values).",
              result.moved <= EXACT,
              f"With the values of a layer in reverse order none of its weights changes by more than {result.moved:.0e}"
              f" (allowed: {EXACT:.0e})."),
        found("What attention adds is the sum of weights times values, and nothing else.", result.off <= EXACT,
              f"The parts of all columns, the residual and the bias add up to the output within {result.off:.0e}"
              f" (allowed: {EXACT:.0e})."),
        found("The word that is looked at hardest is often not the one that adds most.", _all(often),
              f"Of the rows another adds most: {_listed(kinds, 'other_first')} (often means {OFTEN:.0%})."),
        _of_the_pair(result),
        found("What is added says better than the weight what a word does.", _all(better),
              f"Rank correlation with the effect of taking a value away, {result.cells:,} times, by length and by"
              f" weight: {gain} (wanted: an interval of the gain above 0 in each kind)."),
        found("The ends and punctuation get much weight and add little.", _all(pale),
              "Their share falls from weights to lengths by " + _listed(kinds, "sinks_fall")
              + f" (wanted, as in BERT: {MUCH:.0%} of the weights at least, and half of that lost)."),
    ), (
        f"How well the effects of {result.cells:,} values are ordered by added length, and by weight: rank"
        f" correlations of {gain}. Of the rows {kinds['encoder'].other_first.value:.0%} in the encoder and"
        f" {kinds['cross'].other_first.value:.0%} in cross-attention have most from another word than the one that is"
        " looked at hardest."
    ))


def _of_the_pair(result: Result) -> Finding:
    """What *cat* and *sat* owe to each other."""
    places = [result.noted.index(word) for word in PAIR]
    own, taken = ([float(result.owed[row, column]) for row, column in enumerate(side)]
                  for side in (places, places[::-1]))
    said = " and ".join(f"*{word}* owes {share:.1%} to *{other}* and {kept:.0%} to itself"
                        for word, other, share, kept in zip(PAIR, PAIR[::-1], taken, own, strict=True))
    return found("*cat* and *sat* of *The cat sat on the mat* contribute significantly to each other.",
                 _all([share >= NOTABLE for share in taken]),
                 f"After the encoder {said} (significant means {NOTABLE:.0%} or more).")


def _all(flags: Sequence[bool]) -> Word:
    return "holds" if all(flags) else "holds partly" if any(flags) else "does not hold here"


def _listed(kinds: dict[Kind, Compared], name: str) -> str:
    """A share of every kind, with its interval."""
    return ", ".join(f"{getattr(one, name)} in {WHERE[kind]}" for kind, one in kinds.items())


def tables(result: Result) -> tuple[Table, ...]:
    names = {kind: NAMES[kind] for kind in result.kinds}
    return (
        Table.of("Weights, lengths and effects", (
            "", "another word first", "effects ordered by weight", "by length", "length that the sum keeps"),
            [(names[kind], str(one.other_first), one.by_weight.value, one.by_length.value, str(one.kept))
             for kind, one in result.kinds.items()]),
        Table.of("Share that lies on `</s>`, tags and punctuation", ("", "of the weights", "of the lengths", "fall"),
                 [(names[kind], str(one.sinks_by_weight), str(one.sinks_by_length), str(one.sinks_fall))
                  for kind, one in result.kinds.items()]),
        Table.of("What the last vectors of *cat* and *sat* are owed to, in %",
                 ("", *(word.replace("</s>", "`</s>`") for word in result.noted)),
                 [(word, *(100 * row)) for word, row in zip(PAIR, result.owed, strict=True)]),
    )


def look(result: Result) -> Look:
    """The head of the picture."""
    return Look(SENTENCE, *result.head)


def draw(result: Result) -> Figure:
    figure, (above, below) = new_figure(1, 2, height=5.6, height_ratios=(3, 2))
    places = np.arange(len(result.columns))
    for k, (name, colour) in enumerate((("weight", BLUE), ("added length", ORANGE), ("effect", INK))):
        above.bar(places + (k - 1) * 0.27, result.example[k], width=0.27, color=colour, label=name)
    above.set_xticks(places, result.columns, rotation=45, ha="right")
    above.set_title(f"One head ({result.head}): share of each word, over all steps")
    above.legend()
    rows = np.arange(len(result.kinds))
    for k, (name, colour) in enumerate((("by_weight", BLUE), ("by_length", ORANGE))):
        values = np.array([(share.value, share.low, share.high) for share in
                           (getattr(one, name) for one in result.kinds.values())])
        below.barh(rows + (k - 0.5) * 0.36, values[:, 0], height=0.36, color=colour, ecolor=INK,
                   xerr=abs(values[:, 1:] - values[:, :1]).T)
    below.set_yticks(rows, [NAMES[kind] for kind in result.kinds])
    below.invert_yaxis()
    below.set_xlim(0, 1)
    below.set_title("How well each orders the effects (rank correlation)")
    return figure
