"""The faithfulness of each view of a model's attention, on held-out sentences: shown with every map of that model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..lens.data.view_names import ATTRIBUTIONS, OF_ATTENTION
from ..lens.heads.alignment_choice import shares
from ..lens.heads.faithfulness import estimate, measure_trust
from ..lens.questions.erasure_curves import curves
from ..lens.records.intervals import resampled
from ..lens.records.trust import MapTrust, Trust
from ..lens.views.attribution_methods import obstacle
from ..passes.hooks import supervised_heads
from ..storybook import StoryPair
from ..text.word_links import Links
from .aligner import Aligner, texts_and_links
from .gold import groups_of
from .parallel_files import TextPair

ON_CURVES = 100  # sentences at most; each takes many passes

Half = tuple[Sequence[TextPair], Sequence[Links] | None]


def measure_on_stories(
    aligner: Aligner, dev: Sequence[StoryPair], test: Sequence[StoryPair], *, attributions: bool = False
) -> Trust:
    """The figures on sentences of storybook's held-out combinations."""
    return measure_views(aligner, texts_and_links(dev), texts_and_links(test),
                         measured_on="storybook's held-out combinations", groups=groups_of(test),
                         attributions=attributions)


def measure_views(aligner: Aligner, dev: Half, test: Half, *, measured_on: str,
                  groups: Sequence[str] | None = None, attributions: bool = False) -> Trust:
    """The figures on `test`; each view's best map is chosen on `dev`.  Without gold links there are no AERs.

    With `attributions` also of those that the model can have, and the areas under deletion and insertion curves.
    """
    (dev_pairs, dev_gold), (test_pairs, test_gold) = dev, test
    can = [view for view in ATTRIBUTIONS if attributions and obstacle(aligner.model, view) is None]
    views = (*OF_ATTENTION, *can)
    found = measure_trust(
        aligner.traced(dev_pairs, "Choosing maps", views=views),
        aligner.traced(test_pairs, "Measuring views", views=views), dev_gold=dev_gold,
        test_gold=test_gold, measured_on=measured_on, groups=groups, weights=aligner.fingerprint,
        supervised=supervised_heads(aligner.model),
    )
    if not attributions:
        return found
    return _with_curves(aligner, found, test_pairs[:ON_CURVES], groups and groups[:ON_CURVES])


def _with_curves(aligner: Aligner, trust: Trust, pairs: Sequence[TextPair], groups: Sequence[str] | None) -> Trust:
    """With the areas under the curves of each view's best map and of random ones: a sentence's mean over its target
    words."""
    rng, areas = np.random.default_rng(0), []
    views = tuple(one.view for one in trust.best)
    for trace in aligner.traced(pairs, "Deletion and insertion", views=views):
        maps = [shares(trace, one.view, one.rows, [one.map], signed=one.view in ATTRIBUTIONS)[0] for one in trust.best]
        maps.append(rng.random(maps[0].shape))
        areas.append([[side.mean() for side in one.areas]
                      for one in curves(aligner.model, aligner.tokenizer, trace, maps)])
    area_NM2 = np.array(areas)
    drawn = resampled(len(area_NM2), groups)
    mean = drawn / drawn.sum(-1, keepdims=True)

    def measured(one: MapTrust, m: int) -> MapTrust:
        deletion, insertion = (estimate(area_NM2[:, m, side].mean(), mean @ area_NM2[:, m, side]) for side in (0, 1))
        return replace(one, deletion=deletion, insertion=insertion)

    return replace(trust, best=tuple(measured(one, m) for m, one in enumerate(trust.best)),
                   random=measured(trust.random, len(trust.best)))
