"""The faithfulness of each view of a model's attention, on held-out sentences: shown with every map of that model."""

from collections.abc import Sequence

from ..lens.faithfulness import measure_trust
from ..lens.hooks import supervised_heads
from ..lens.trust import Trust
from ..storybook import StoryPair
from ..tokenizer.links import Links
from .aligner import Aligner, texts_and_links
from .gold import groups_of
from .parallel_files import TextPair

Half = tuple[Sequence[TextPair], Sequence[Links] | None]


def measure_on_stories(aligner: Aligner, dev: Sequence[StoryPair], test: Sequence[StoryPair]) -> Trust:
    """The figures on sentences of storybook's held-out combinations."""
    return measure_views(aligner, texts_and_links(dev), texts_and_links(test),
                         measured_on="storybook's held-out combinations", groups=groups_of(test))


def measure_views(aligner: Aligner, dev: Half, test: Half, *, measured_on: str,
                  groups: Sequence[str] | None = None) -> Trust:
    """The figures on `test`; each view's best map is chosen on `dev`.  Without gold links there are no AERs."""
    (dev_pairs, dev_gold), (test_pairs, test_gold) = dev, test
    return measure_trust(
        aligner.traced(dev_pairs, "Choosing maps"), aligner.traced(test_pairs, "Measuring views"), dev_gold=dev_gold,
        test_gold=test_gold, measured_on=measured_on, groups=groups, weights=aligner.fingerprint,
        supervised=supervised_heads(aligner.model),
    )
