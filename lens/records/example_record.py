"""The examples of a page: pairs of sentences that differ in one word, chosen by `measures/example_choice.py`."""

from dataclasses import dataclass

from .plain_json import Measurement

FILE = "example_pairs.json"  # beside the run whose page shows them


@dataclass(frozen=True)
class ExamplePair:
    """`before`, one of the two `options`, and `after` are a sentence; `languages` are its own and the translation's.

    `agrees` is, for each option, the word of the translation that changes with it, though it does not translate it.
    """

    before: str
    options: tuple[str, str]
    after: str
    languages: tuple[str, str]
    agrees: tuple[str, str] = ("", "")

    @property
    def texts(self) -> tuple[str, str]:
        one, other = (self.before + word + self.after for word in self.options)
        return one, other


@dataclass(frozen=True)
class Examples(Measurement):
    """The pairs for each pair of languages, the one that shows most first; `weights` is the fingerprint of the only
    weights that they were chosen for."""

    header = {"format": "seq2see-example-pairs", "version": 1}
    what, command = "list of examples", "seq2see measure RUN"

    pairs: tuple[ExamplePair, ...]
    weights: str

    def describe(self) -> str:
        """A line for each pair, as text for the terminal."""
        lines = [f"{'-'.join(one.languages)}: {one.before}{' | '.join(one.options)}{one.after}"
                 f"   {' | '.join(one.agrees)}" for one in self.pairs]
        return "\n".join(lines or ["no sentence was found in which a head matters for a word that follows another"])
