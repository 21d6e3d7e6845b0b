"""Which words of a text and its translation belong together, how strongly, and how often that is wrong: what a page
lights up under the pointer.  And which choice of map is the best that is known of a model.
"""

from dataclasses import dataclass

from .alignment import SAID, AlignmentChoice, naive_choice
from .trace import Trace
from .trust import Trust


@dataclass(frozen=True)
class KnownChoice:
    """How links are read off this model's maps, and, in one line for people, where that comes from and its error."""

    choice: AlignmentChoice
    said: str


def best_known(*, layers: int, heads: int, fitted: AlignmentChoice | None, trust: Trust | None) -> KnownChoice:
    """The fitted choice; else the map with the lowest error of those measured; else the last layer's mean, of which
    nobody knows the error.  `layers` and `heads` are of cross-attention."""
    if fitted is not None:
        return KnownChoice(fitted, f"fitted: {fitted.describe()}")
    measured = [one for one in trust.best if one.aer and one.view != "left_out"] if trust else []
    if trust and measured:
        best = min(measured, key=lambda one: one.aer.value if one.aer else 1.0)
        choice = AlignmentChoice(best.view, best.rows, (best.map,), "target", 0.0)
        error = best.describe().partition(", tau")[0]
        said = f"measured: view {best.view}, {best.name}, {SAID['target']}; {error} on {trust.sentences} sentences of"
        return KnownChoice(choice, f"{said} {trust.measured_on}")
    choice = naive_choice(layers, heads)
    return KnownChoice(choice, "not fitted to this model, so nobody knows its error: the last layer's cross-attention, "
                               f"mean of {heads} heads, {SAID['target']}")


@dataclass(frozen=True)
class Pair:
    """A source word, a target word, both by number, and how strongly they belong together (`choice.strengths`)."""

    source: int
    target: int
    share: float


def counterparts(trace: Trace, choice: AlignmentChoice) -> list[Pair]:
    """The links of a trace with their shares, by target word; UserError where it lacks the view, layer or head."""
    strength_JI = choice.strengths(trace)
    return [Pair(i, j, float(strength_JI[j, i])) for i, j in sorted(choice.links(trace), key=lambda link: link[::-1])]


def first_steps(trace: Trace) -> list[int]:
    """The step at which each target word begins: that of the piece with its first letter, which may begin before it."""
    ends = [0 if piece.special else piece.end for piece in trace.target]
    last = len(ends) - 1
    return [next((step for step, end in enumerate(ends) if end > word.start), last) for word in trace.target_words]
