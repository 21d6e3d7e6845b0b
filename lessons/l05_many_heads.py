"""Lesson 5: several heads are a sum, and let a layer look at several things at once."""

from collections.abc import Sequence

import numpy as np
import torch

from ..lens.heads.role_scores import RoleScore, heads_of_roles
from ..measures.gold import in_halves
from ..passes.forced_pass import eval_with_eager_attention
from ..passes.hooks import AttentionSite, attention_sites, capture
from ..storybook import HARD
from ..tokenizer.encoding import encode_source
from .figures import head_name, likeness
from .held_out import measured_on, named, role_checks, role_table
from .lesson import Bars, Check, Checks, Estimate, Exhibits, Figures, Look, Workbench
from .small import Recipe, compare

# H heads, T tokens, E size of one head, D width

EXACT = 1e-10  # double precision
BETTER = 0.03  # share of exact translations that counts as a difference
ROLES = {"antecedent": "its noun", "state": "its predicate", "action": "the verb"}


def together(per_head_HTE: torch.Tensor, output_DHE: torch.Tensor) -> torch.Tensor:
    """Concatenate, then project: [H,T,E] side by side is [T,H*E], times W_O is [T,D]."""
    side_by_side = per_head_HTE.transpose(0, 1).flatten(1)
    return side_by_side @ output_DHE.T


def added_up(per_head_HTE: torch.Tensor, output_DHE: torch.Tensor) -> torch.Tensor:
    """Project each head with its own columns of W_O, then add."""
    heads, _, size = per_head_HTE.shape
    parts = output_DHE.split(size, dim=1)
    return torch.stack([per_head_HTE[head] @ parts[head].T for head in range(heads)]).sum(0)


SHOWN = (together, added_up)


def measure(bench: Workbench) -> Figures:
    encoder = attention_sites(bench.model)["encoder"]
    off, plain = both_ways(bench, encoder)
    four, one_head = compare(bench, four=Recipe(heads=4), one=Recipe(heads=1)).values()
    roles, sentences = what_heads_look_at(bench)
    best = {role: next((one for one in roles if one.role == role and one.decidable), None) for role in ROLES}
    return Figures(
        off=off, same=likeness(off, within=EXACT), plain=plain, slices=own_slice(encoder[0]),
        even=1 / encoder[0].heads, roles=roles, best=best, sentences=sentences, exact=[four.exact, one_head.exact],
        gain=four.exact.value - one_head.exact.value, gap=four.exact.low - one_head.exact.high,
        said={role: named(one) for role, one in best.items()},
        look=Look(kind="decoder", layer=1),
    )


@torch.no_grad()
def both_ways(bench: Workbench, sites: Sequence[AttentionSite]) -> tuple[float, float]:
    """How far the two sums are apart in any layer, and how far heads added up with one projection for all are."""
    worst, plain = 0.0, []
    for story in bench.corpus.test[: bench.pick(20, 3)]:
        with eval_with_eager_attention(bench.model), capture({site: site.output for site in sites}, "in") as seen:
            bench.model.get_encoder()(input_ids=torch.tensor([encode_source(bench.tokenizer, story.source)]))
        for site, concatenated in seen.items():
            weight_DHE = site.output.weight.double()
            mean_part = torch.stack(weight_DHE.split(site.head_size, dim=1)).mean(0)
            heads_HTE = concatenated[0].double().unflatten(-1, (site.heads, -1)).transpose(0, 1)
            output = together(heads_HTE, weight_DHE)
            worst = max(worst, float((output - added_up(heads_HTE, weight_DHE)).abs().max() / output.abs().max()))
            plain.append(float((output - heads_HTE.sum(0) @ mean_part.T).norm() / output.norm()))
    return worst, float(np.mean(plain))


@torch.no_grad()
def own_slice(site: AttentionSite) -> float:
    """What share of a head's query weights reads the slice of the embedding with the head's number."""
    square = site.module.q_proj.weight.square().unflatten(1, (site.heads, -1)).unflatten(0, (site.heads, -1))
    blocks = square.sum((1, 3))  # [heads, slices of the embedding]
    return float((blocks.diagonal() / blocks.sum(1)).mean())


def what_heads_look_at(bench: Workbench) -> tuple[tuple[RoleScore, ...], int]:
    """The best encoder and cross-attention head of each role, chosen and ranked on one half of contrast sentences."""
    stories = [story for story in bench.corpus.test if story.kind == "contrast" and story.family in HARD]
    halves = in_halves(stories, bench.pick(160, 12))
    dev, test = (measured_on(bench.model, bench.tokenizer, half) for half in halves)
    clear = {(one.role, one.head): one.score - one.baseline for one in heads_of_roles(dev, dev)}
    scores = [score for score in heads_of_roles(dev, test) if score.role in ROLES and score.head.kind != "decoder"]
    scores.sort(key=lambda one: (list(ROLES).index(one.role), -clear[one.role, one.head]))
    return tuple(scores), len(halves[1])


def claims(f: Figures) -> Checks:
    return {
        "sum": [Check(f.off, "<", EXACT)],
        "better": [Check(f.gain, "≥", BETTER, "gain"), Check(f.gap, ">", 0, "gap between the closest seeds")],
        **{role: role_checks(f.best[role]) for role in ROLES},
    }


def exhibits(f: Figures) -> Exhibits:
    names = [f"{ROLES[one.role]} ({head_name(one.head)}{', supervised' * one.supervised})" for one in f.roles]
    attention = {"attention": [Estimate(one.score, one.low, one.high) for one in f.roles],
                 "best baseline": [one.baseline for one in f.roles]}
    return [
        role_table(f"Attention from *it*, on {f.sentences} unseen sentences", f.roles, ROLES),
        Bars("Exact translations", ["four heads", "one head"], {"exact": f.exact}, top=1, wide=True),
        Bars("Attention from it", names, attention, wide=True),
    ]
