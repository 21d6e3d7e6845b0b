"""Word alignment of given translations, and fitting the choice of attention maps for it to gold links."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm.auto import tqdm

from seq2see.errors import UserError
from seq2see.settings_file import parse_yaml
from ..lens import Trace, trace_texts
from ..lens.data.view_names import OF_ATTENTION
from ..lens.heads.alignment_choice import AlignmentChoice, naive_choice
from ..lens.heads.alignment_fitting import fit_alignment
from ..lens.tracing import as_given
from ..passes.hooks import all_heads, attention_sites, supervised_heads
from ..storybook import Storybook, StoryPair, generate
from ..text.word_links import Links
from ..training.checkpoints import find_record
from ..translate.loaded_checkpoint import fingerprint
from ..translate.translator import Translator
from .gold import groups_of
from .parallel_files import TextPair

AT_ONCE, HEADS = 64, 150  # sentence pairs traced together, with a model of so many heads; fewer with more


def fit_to_stories(aligner: "Aligner", stories: Sequence[StoryPair]) -> AlignmentChoice:
    """The choice fitted on sentences of storybook's validation set."""
    return fit(aligner, *texts_and_links(stories), fitted_on="storybook's validation part", groups=groups_of(stories))


def fit(aligner: "Aligner", pairs: Sequence[TextPair], gold: Sequence[Links], *, fitted_on: str,
        groups: Sequence[str] | None = None) -> AlignmentChoice:
    """The choice fitted on pairs with gold links."""
    return fit_alignment(aligner.traced(pairs, "Tracing"), gold, fitted_on=fitted_on, groups=groups,
                         guided=bool(supervised_heads(aligner.model)), fingerprint=aligner.fingerprint)


def settings_of(folder: Path) -> dict:
    """The settings that a run was trained with; empty if unknown."""
    record = find_record(folder, "run.yaml")
    settings = parse_yaml(record.read_text("utf-8"), str(record)) if record else {}
    return settings if isinstance(settings, dict) else {}


def storybook(settings: dict) -> Storybook:
    """Storybook as a run with these settings was trained on it."""
    return generate(seed=(settings.get("training") or {}).get("seed", 0))


def trained_on_storybook(settings: dict) -> bool:
    return (settings.get("data") or {}).get("path") == "storybook"


def texts_and_links(stories: Sequence[StoryPair]) -> tuple[list[TextPair], list[Links]]:
    """The two texts of each story, and their links."""
    return [(one.source, one.target) for one in stories], [Links(frozenset(one.links)) for one in stories]


def language_pair(translator: Translator, source: str | None, target: str | None) -> tuple[str, str]:
    """The model's first language pair that matches the request; UserError if there is none."""
    translator([], source=source, target=target)  # UserError for a wrong language before any file is read
    return translator.pair(source, target)


class Aligner:
    """Traces given translations, with the words of the texts as given."""

    def __init__(self, translator: Translator, *, source: str | None = None, target: str | None = None):
        self.source, self.target = language_pair(translator, source, target)
        self.model, self.tokenizer, self.name = translator.model, translator.tokenizer, translator.name
        self.fingerprint = fingerprint(translator.folder) if translator.folder else ""

    def naive(self) -> AlignmentChoice:
        sites = attention_sites(self.model)["cross"]
        return naive_choice(len(sites), sites[-1].heads)

    def traces(self, pairs: Iterator[TextPair] | Sequence[TextPair], *, views: Sequence[str]) -> Iterator[Trace | None]:
        """One trace per pair, in order; None if a side is blank.  UserError naming the line if a text is too long."""
        numbered, at_once = enumerate(pairs, start=1), max(1, AT_ONCE * HEADS // max(HEADS, len(all_heads(self.model))))
        while chunk := list(itertools.islice(numbered, at_once)):
            real = [(number, pair) for number, pair in chunk if pair[0].strip() and pair[1].strip()]
            try:
                found = iter(self._trace([pair for _, pair in real], views))
            except UserError:
                for number, pair in real:
                    try:
                        self._trace([pair], ("raw",))
                    except UserError as error:
                        raise UserError(f"line {number}: {error}") from None
                raise
            at = {number for number, _ in real}
            yield from (next(found) if number in at else None for number, _ in chunk)

    def traced(self, pairs: Sequence[TextPair], title: str, *, views: Sequence[str] = OF_ATTENTION) -> Iterator[Trace]:
        """The traces of pairs without a blank side, behind a progress bar.  They have these views."""
        return filter(None, tqdm(self.traces(pairs, views=views), total=len(pairs), disable=None, desc=title,
                                 leave=False, dynamic_ncols=True))

    def _trace(self, pairs: Sequence[TextPair], views: Sequence[str]) -> list[Trace]:
        traces = trace_texts(
            self.model, self.tokenizer, [source for source, _ in pairs], [target for _, target in pairs],
            source_language=self.source, target_language=self.target, model_name=self.name, views=views,
        )
        return [as_given(trace, self.tokenizer, target) for trace, (_, target) in zip(traces, pairs, strict=True)]
