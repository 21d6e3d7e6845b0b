"""Word alignment of given translations, and fitting the choice of attention maps for it to gold links."""

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm.auto import tqdm

from seq2see.errors import UserError
from seq2see.folders import local_folder
from seq2see.pretrained import is_packaged
from seq2see.settings_file import parse_yaml
from ..lens import VIEWS, Trace, trace_texts
from ..lens.alignment_choice import FILE, AlignmentChoice, naive_choice
from ..lens.alignment_fitting import check_links, fit_alignment
from ..lens.hooks import attention_sites, supervised_heads
from ..lens.tracing import target_spans
from ..storybook import Storybook, StoryPair, generate
from ..tokenizer.links import Links, read_pharaoh
from ..tokenizer.words import Word, split_words
from ..training.checkpoints import find_record
from ..translate.loaded_checkpoint import fingerprint
from ..translate.translator import Translator
from .gold import groups_of
from .parallel_files import LinkedFiles, TextPair, read_pairs

AT_ONCE = 64  # sentence pairs traced together


def fit(aligner: "Aligner", run: str, files: LinkedFiles | None) -> AlignmentChoice:
    """Fit the choice on the given files or on storybook's validation set, and save it in the run."""
    path = output_path(run, FILE)
    if files:
        pairs, gold = linked_pairs(files, aligner)
        if not pairs or gold is None:
            raise UserError(f"{files.source} and {files.target} have no sentence pairs to fit on")
        choice = _fitted(aligner, path.parent, pairs, gold, fitted_on=str(files.links))
    else:
        choice = fit_to_stories(aligner, path.parent, storybook(settings_of(path.parent)).val)
    choice.save(path)
    return choice


def fit_to_stories(aligner: "Aligner", folder: Path, stories: Sequence[StoryPair]) -> AlignmentChoice:
    """The choice for the model in this folder, fitted on sentences of storybook's validation set."""
    aligner.source, aligner.target = "en", "fr"  # also for a model with other languages
    pairs, gold = texts_and_links(stories)
    return _fitted(aligner, folder, pairs, gold, fitted_on="storybook's validation part", groups=groups_of(stories))


def _fitted(aligner: "Aligner", folder: Path, pairs: Sequence[TextPair], gold: Sequence[Links], *, fitted_on: str,
            groups: Sequence[str] | None = None) -> AlignmentChoice:
    return fit_alignment(aligner.all_views(pairs, "Tracing"), gold, fitted_on=fitted_on, groups=groups,
                         guided=bool(supervised_heads(aligner.model)), fingerprint=fingerprint(folder))


def output_path(run: str, name: str) -> Path:
    """The path of a file to save in the run; UserError, before any long work, if it cannot be written."""
    folder = local_folder(run)
    if folder is None:
        raise UserError(f"{run} is not a folder, so {name} cannot be saved: give the folder of a model", exit_code=2)
    if is_packaged(folder) or not os.access(folder, os.W_OK) or (folder / name).is_dir():
        raise UserError(f"cannot write {folder / name}: copy the run to a folder of your own")
    return folder / name


def settings_of(folder: Path) -> dict:
    """The settings that a run was trained with; empty if unknown."""
    record = find_record(folder, "run.yaml")
    settings = parse_yaml(record.read_text("utf-8"), str(record)) if record else {}
    return settings if isinstance(settings, dict) else {}


def storybook(settings: dict) -> Storybook:
    """Storybook as a run was trained on it, alone or among other corpora; UserError if it was not."""
    if not trained_on_storybook(settings):
        raise UserError("this model was not trained on storybook, which has gold links: give --src FILE --tgt FILE and"
                        " --links FILE, development sentences with gold links", exit_code=2)
    return generate(seed=(settings.get("training") or {}).get("seed", 0))


def trained_on_storybook(settings: dict) -> bool:
    """Whether a run was trained on storybook, alone or among other corpora."""
    data = settings.get("data") or {}
    return "storybook" in [data.get("path"), *(one.get("path") for one in data.get("corpora") or [])]


def texts_and_links(stories: Sequence[StoryPair]) -> tuple[list[TextPair], list[Links]]:
    """The two texts of each story, and their links."""
    return [(one.source, one.target) for one in stories], [Links(frozenset(one.links)) for one in stories]


def linked_pairs(files: LinkedFiles, aligner: "Aligner") -> tuple[list[TextPair], list[Links] | None]:
    """The pairs of the given files that are not blank, and their links if given; UserError for a link to a missing
    word."""
    pairs = list(read_pairs(files.source, files.target))
    kept = [number for number, pair in enumerate(pairs) if all(text.strip() for text in pair)]
    if not files.links:
        return [pairs[number] for number in kept], None
    gold = list(read_pharaoh(files.links))
    if len(gold) != len(pairs):
        raise UserError(f"{files.links} has {len(gold)} lines, {files.source} has {len(pairs)}")
    for number in kept:
        check_links(gold[number], aligner.words(pairs[number]), f"{files.links}, line {number + 1}")
    return [pairs[number] for number in kept], [gold[number] for number in kept]


def language_pair(translator: Translator, source: str | None, target: str | None) -> tuple[str, str]:
    """The model's first language pair that matches the request; UserError if there is none."""
    translator([], source=source, target=target)  # UserError for a wrong language before any file is read
    return translator.pair(source, target)


class Aligner:
    """Traces given translations, with the words of the texts as given."""

    def __init__(self, translator: Translator, *, source: str | None = None, target: str | None = None):
        self.source, self.target = language_pair(translator, source, target)
        self.model, self.tokenizer, self.name = translator.model, translator.tokenizer, translator.name

    def naive(self) -> AlignmentChoice:
        sites = attention_sites(self.model)["cross"]
        return naive_choice(len(sites), sites[-1].heads)

    def words(self, pair: TextPair) -> tuple[list[Word], list[Word]]:
        """The words of both sides, as in a trace."""
        return split_words(pair[0], language=self.source), split_words(pair[1], language=self.target)

    def traces(self, pairs: Iterator[TextPair] | Sequence[TextPair], *, views: Sequence[str]) -> Iterator[Trace | None]:
        """One trace per pair, in order; None if a side is blank.  UserError naming the line if a text is too long."""
        numbered = enumerate(pairs, start=1)
        while chunk := list(itertools.islice(numbered, AT_ONCE)):
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

    def all_views(self, pairs: Sequence[TextPair], title: str) -> Iterator[Trace]:
        """The traces of pairs of which no side is blank, with all views, behind a progress bar."""
        return filter(None, tqdm(self.traces(pairs, views=VIEWS), total=len(pairs), disable=None, desc=title,
                                 leave=False, dynamic_ncols=True))

    def _trace(self, pairs: Sequence[TextPair], views: Sequence[str]) -> list[Trace]:
        traces = trace_texts(
            self.model, self.tokenizer, [source for source, _ in pairs], [target for _, target in pairs],
            source_language=self.source, target_language=self.target, model_name=self.name, views=views,
        )
        for number, (trace, (_, target)) in enumerate(zip(traces, pairs, strict=True)):
            if trace.target_text != target:  # a tokenizer may normalise it, and so change its words
                tokens = tuple(target_spans(self.tokenizer, trace.target_ids, target, language=self.target))
                traces[number] = replace(trace, target_text=target, target=tokens,
                                         inputs=(trace.inputs[0], *tokens[:-1]))
        return traces
