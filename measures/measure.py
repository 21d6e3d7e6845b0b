"""All that is measured of a model: calibration, word links, the faithfulness of views, and the roles of heads.

On pairs that it was not trained on (`held_out_pairs.py`) or, where a model was trained on storybook or is to be
measured on it, on storybook's sentences, which have gold links and antecedents.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..lens.heads import alignment_choice
from ..lens.measurements import NOTHING, Measurements
from ..lens.records import calibration, example_record, roles, trust
from ..lens.records.roles import GoldPair
from ..storybook import Storybook
from ..text.word_links import Links
from ..translate.translator import Translator
from .aligner import Aligner, fit, fit_to_stories, settings_of, storybook, trained_on_storybook
from .calibration_fitting import SENTENCES, calibrate
from .example_choice import MOST, choose_examples
from .gold import in_halves
from .head_roles import as_plain, measure_roles, save_report
from .held_out_faithfulness import measure_on_stories, measure_views
from .held_out_pairs import STORYBOOK, HeldOutPairs, Languages, encoded, gold_links, held_out_pairs
from .parallel_files import TextPair
from .previous import with_languages, with_roles
from .pronoun_heads import measure_heads, measure_pronouns

LEAST_VIEWS, LEAST_ROLES = 300, 100  # pairs for reporting, of a user's
LONGEST = 100  # tokens of a side whose maps are measured: all views of longer ones fill the memory

NO_LINKS = ("gold links are needed: --links FILE with lines such as 0-0 1-2; without gold links, views are compared"
            " only with erasure")
NO_PRONOUNS = "storybook's sentences from English to French are needed: --data storybook"


class Result(NamedTuple):
    """What was found, and a function that writes it to a file."""

    found: Any
    save: Callable[[Path], None]


@dataclass(frozen=True)
class Measure:
    """A measurement on a number of sentences: `few` are enough to estimate the time for one, `least` are needed, and
    there are `most`, which `given` pairs of the user leave for choosing and for reporting."""

    name: str
    file: str
    take: Callable[[int], Result]
    few: int
    least: int
    most: int
    command: str = ""  # that measures it without a time limit
    unit: str = "sentences"
    given: int = 0

    def too_few(self) -> str:
        """Why there are too few sentences, and how many pairs are enough."""
        needs = f"it needs {self.least} {self.unit} for choosing and {self.least} others for reporting"
        if not self.given:
            return f"{needs}; there are {self.most}"
        found = f"{needs}; you gave {self.given} pairs, which leave {self.most} for each"
        if self.given < 2 * self.least:
            return f"{found}; give at least {2 * self.least}"
        return (f"{found}, without long pairs and source sentences with several translations; give at least"
                f" {self.given + 2 * (self.least - self.most)}")


class LeftOut(NamedTuple):
    """What cannot be measured of this model, or on these pairs."""

    name: str
    why: str


def measures_of(
    translator: Translator, data: Sequence[str] = (), check: Sequence[str] = (), *, links: str | None = None,
    source: str | None = None, target: str | None = None, full: bool = True, attributions: bool = False,
) -> Iterator[Measure | LeftOut]:
    """What is measured of a model on the pairs of `data` or of its run, with those of `check` for reporting.

    `links` are the gold links of the pairs in `data`.  Not `full`: without what takes longest, sets of heads.
    `attributions`: their faithfulness as well, and deletion and insertion curves.
    UserError without pairs.
    """
    previous, translator.measured_files = translator.measured_files, NOTHING  # a present file may be damaged
    corpora, name = held_out_pairs(translator, data, check, source=source, target=target)
    given = max((one.given for one in corpora), default=0)
    gold = gold_links(translator, data[0], links, source=source, target=target) if links else None
    command = f"seq2see measure {translator.name}"

    def calibration_on(count: int) -> Result:
        found = calibrate(translator, corpora, measured_on=name, limit=count)
        return Result(found, with_languages(found, previous).save)

    def examples_on(count: int) -> Result:
        found = choose_examples(translator, corpora, limit=count)
        return Result(found, found.save)

    most = max((len(part) for one in corpora for part in (one.fitted, one.held)), default=0)
    yield Measure("calibration", calibration.FILE, calibration_on, few=60, least=60, most=min(most, SENTENCES),
                  command=command, given=given)
    yield Measure("examples", example_record.FILE, examples_on, few=2, least=12, most=min(MOST, most), command=command,
                  unit="pairs of sentences")
    languages = english_to_french(translator)
    if languages and (STORYBOOK in (*data, *check) or (not data and trained_on_storybook(_settings(translator)))):
        yield from _on_stories(translator, Aligner(translator, source=languages[0], target=languages[1]),
                               storybook(_settings(translator)), full=full, attributions=attributions,
                               command=command)
    else:
        yield from _on_pairs(translator, corpora, gold, previous, name=name, attributions=attributions,
                             command=command)


def english_to_french(translator: Translator) -> Languages | None:
    """What the model calls these languages; as usual where it does not name its own.  None if it lacks the pair."""
    pairs = translator.language_pairs
    return ("en", "fr") if not pairs else pairs.find("en", "fr") if pairs.has("en", "fr") else None


def _settings(translator: Translator) -> dict:
    assert translator.folder is not None
    return settings_of(translator.folder)


def _on_stories(translator: Translator, aligner: Aligner, stories: Storybook, *, full: bool, attributions: bool,
                command: str) -> Iterator[Measure]:
    half = max(map(len, in_halves(stories.test)))

    def links_on(count: int) -> Result:
        found = fit_to_stories(aligner, stories.val[:count])
        return Result(found, found.save)

    def views_on(count: int) -> Result:
        found = measure_on_stories(aligner, *in_halves(stories.test, count), attributions=attributions)
        return Result(found, found.save)

    def roles_on(count: int) -> Result:
        parts = in_halves(stories.test, count)
        report = measure_heads(translator, aligner, *parts) if full else measure_pronouns(aligner, *parts)[0]
        return Result(report, partial(save_report, report))

    yield Measure("word links", alignment_choice.FILE, links_on, few=24, least=48, most=len(stories.val),
                  command=command)
    yield Measure("faithfulness", trust.FILE, views_on, few=12, least=48, most=half, command=command)
    yield Measure("head roles", roles.FILE, roles_on, few=50, least=100, most=half, command=command)


def _on_pairs(translator: Translator, corpora: Sequence[HeldOutPairs], gold: dict[TextPair, Links] | None,
              previous: Measurements, *, name: str, attributions: bool,
              command: str) -> Iterator[Measure | LeftOut]:
    languages = next(one.languages for one in corpora if one.decides)
    own = [one for one in corpora if one.decides and one.languages == languages]
    aligner = Aligner(translator, source=languages[0], target=languages[1])

    def readable(pairs: Sequence[TextPair]) -> list[TextPair]:
        return [pair for pair, *_ in encoded(translator, languages, pairs[:SENTENCES], most=LONGEST)]

    dev, test = readable([pair for one in own for pair in one.fitted]), readable(
        [pair for one in own for pair in one.held])
    half, given = min(len(dev), len(test)), sum(one.given for one in own)

    def links_of(pairs: Sequence[TextPair]) -> list[Links] | None:
        return None if gold is None else [gold.get(pair, Links(frozenset())) for pair in pairs]

    def links_on(count: int) -> Result:
        found = fit(aligner, dev[:count], links_of(dev[:count]) or (), fitted_on=name)
        return Result(found, found.save)

    def views_on(count: int) -> Result:
        parts = [(part[:count], links_of(part[:count])) for part in (dev, test)]
        found = measure_views(aligner, *parts, measured_on=name, attributions=attributions)
        return Result(found, found.save)

    def roles_on(count: int) -> Result:
        parts = [[GoldPair(*pair, tuple(sorted(gold[pair].sure)) if gold and pair in gold else ())
                  for pair in part[:count]] for part in (dev, test)]
        report = measure_roles(aligner, *parts)
        return Result(report, partial(save_report, with_roles(as_plain(report), previous)))

    yield LeftOut("word links", NO_LINKS) if gold is None else Measure(
        "word links", alignment_choice.FILE, links_on, few=24, least=48, most=len(dev), command=command)
    yield Measure("faithfulness", trust.FILE, views_on, few=12, least=LEAST_VIEWS, most=half, command=command,
                  given=given)
    yield Measure("head roles", roles.FILE, roles_on, few=50, least=LEAST_ROLES, most=half, command=command,
                  given=given)
    yield LeftOut("heads and the pronoun", NO_PRONOUNS)
