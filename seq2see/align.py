"""`seq2see align RUN --src FILE --tgt FILE`: the words that belong together, read off a model's cross-attention.

What is read, and how, is the choice that `seq2see align RUN --fit` has fitted on development sentences with known links
and left in RUN/alignment.json.  Where there is none, or one of other weights, it is the last layer's mean, and stderr
says so.
"""

import argparse
import itertools
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm.auto import tqdm

from seq2see.errors import UserError
from seq2see.gold import groups_of
from seq2see.lens import VIEWS, Trace, trace_texts
from seq2see.lens.alignment import FILE, AlignmentChoice, naive_choice
from seq2see.lens.anatomy import attention_sites, supervised_heads
from seq2see.lens.fitting import check_links, fit_alignment
from seq2see.serve.checkpoint import fingerprint
from seq2see.serve.translator import Translator
from seq2see.streams import decoded, only_results_on_stdout
from seq2see.tokenizer.links import Links, read_pharaoh, to_pharaoh
from seq2see.tokenizer.words import Word, piece_spans, split_words
from seq2see.training.checkpoints import find_record
from seq2see.training.config import parse_yaml
from seq2see.training.storybook import Storybook, StoryPair, generate

AT_ONCE = 64  # sentence pairs whose traces are in memory together

TextPair = tuple[str, str]


def align(args: argparse.Namespace) -> None:
    """`args.run`, `args.src`, `args.tgt`, `args.links`, `args.fit`, `args.trust`, `args.source`, `args.target`."""
    if bool(args.src) != bool(args.tgt):
        raise UserError("--src and --tgt go together: a line of one is the translation of that line of the other",
                        exit_code=2)
    if args.fit and args.trust:
        raise UserError("--fit and --trust measure on different sentences: do one after the other", exit_code=2)
    if args.links and not (args.fit or args.trust):
        raise UserError("--links are for --fit and --trust: without them links are what comes out", exit_code=2)
    if not (args.fit or args.trust or args.src):
        raise UserError("give --src FILE and --tgt FILE to be aligned, or --fit, or --trust", exit_code=2)
    for path in filter(None, (args.src, args.tgt, args.links)):
        Path(path).stat()  # one that is not there is told before the model is loaded; a pipe is read only once
    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine="torch")
        aligner = Aligner(translator, source=args.source, target=args.target)
    if args.fit:
        fit(aligner, args)
        return
    if args.trust:
        from seq2see.trust import measure

        measure(aligner, args)
        return
    choice, known = translator.alignment, "fitted"
    if choice is None:
        stale = translator.folder and find_record(translator.folder, FILE)
        why = f"not fitted to these weights ({FILE} is of others)" if stale else "not fitted"
        choice, known = aligner.naive(), f"{why}, so nobody knows its error (seq2see align {args.run} --fit)"
    taught = "; this model was trained towards links" if choice.guided else ""
    print(f"{known}: {choice.describe()}{taught}", file=sys.stderr)
    for trace in aligner.traces(read_pairs(args.src, args.tgt), views=("raw", choice.view)):
        sys.stdout.write(to_pharaoh(choice.links(trace) if trace else ()) + "\n")


def fit(aligner: "Aligner", args: argparse.Namespace) -> None:
    """Fit the choice on the given files, or on storybook's validation part, and leave it beside the run."""
    path = place(args.run, FILE)
    before = (settings_of(path.parent).get("training") or {}).get("guided_alignment")  # all that an older run says
    guided = bool(supervised_heads(aligner.model) or before)
    groups: list[str] | None = None
    if args.src:
        if not args.links:
            raise UserError("--fit needs --links FILE with the known links of --src and --tgt, as lines of 0-0 1-2",
                            exit_code=2)
        (pairs, gold), name = linked_pairs(args, aligner), str(args.links)
    else:
        stories, name = storybook(settings_of(path.parent)).val, "storybook's validation part"
        (pairs, gold), groups = known(stories), groups_of(stories)
    if not pairs or gold is None:
        raise UserError(f"{args.src} and {args.tgt} hold no sentence pair to fit on")
    traces = tqdm(aligner.traces(pairs, views=VIEWS), total=len(pairs), disable=None, desc="Tracing", leave=False,
                  dynamic_ncols=True)
    choice = fit_alignment(filter(None, traces), gold, fitted_on=name, groups=groups, guided=guided,
                           fingerprint=fingerprint(path.parent))
    choice.save(path)
    print(f"{choice.describe()}\nwrote {path}")


def place(run: str, name: str) -> Path:
    """Where a file beside the run is to be; UserError, before anything long is done, where it cannot be written."""
    folder = Path(run)
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder, so {name} has no place: take a model that lies in one", exit_code=2)
    if not os.access(folder, os.W_OK) or (folder / name).is_dir():
        raise UserError(f"cannot write {folder / name}: take a copy of the run in a folder of yours")
    return folder / name


def settings_of(folder: Path) -> dict:
    """What a run was trained with; empty where it does not say."""
    record = find_record(folder, "run.yaml")
    settings = parse_yaml(record.read_text("utf-8"), str(record)) if record else {}
    return settings if isinstance(settings, dict) else {}


def storybook(settings: dict) -> Storybook:
    """The corpus that a run was trained on; UserError where it was another."""
    data = settings.get("data") or {}
    if data.get("path") != "storybook":
        raise UserError("this model was not trained on storybook, whose links are known: give --src FILE --tgt FILE and"
                        " --links FILE, development sentences with their links", exit_code=2)
    return generate(seed=(settings.get("training") or {}).get("seed", 0))


def known(stories: Sequence[StoryPair]) -> tuple[list[TextPair], list[Links]]:
    """The two texts of each story, and their links."""
    return [(one.source, one.target) for one in stories], [Links(frozenset(one.links)) for one in stories]


def linked_pairs(args: argparse.Namespace, aligner: "Aligner") -> tuple[list[TextPair], list[Links] | None]:
    """The pairs of the given files that are not blank, and their links where they are given; UserError for a link to a
    word that is not there."""
    pairs = list(read_pairs(args.src, args.tgt))
    gold = list(read_pharaoh(args.links)) if args.links else None
    if gold is not None and len(gold) != len(pairs):
        raise UserError(f"{args.links} has {len(gold)} lines, {args.src} has {len(pairs)}")
    kept = [number for number, pair in enumerate(pairs) if all(text.strip() for text in pair)]
    if gold is None:
        return [pairs[number] for number in kept], None
    for number in kept:
        check_links(gold[number], aligner.words(pairs[number]), f"{args.links}, line {number + 1}")
    return [pairs[number] for number in kept], [gold[number] for number in kept]


class Aligner:
    """Traces given translations under a model, whose words are those of the texts as given."""

    def __init__(self, translator: Translator, *, source: str | None = None, target: str | None = None):
        self.model, self.tokenizer, self.name = translator.model, translator.tokenizer, translator.name
        translator([], source=source, target=target)  # a wrong language is told before anything is read
        pairs = translator.language_pairs or [(source or "", target or "")]
        self.source, self.target = next(
            pair for pair in pairs if source in (None, pair[0]) and target in (None, pair[1])
        )

    def naive(self) -> AlignmentChoice:
        sites = attention_sites(self.model)["cross"]
        return naive_choice(len(sites), sites[-1].heads)

    def words(self, pair: TextPair) -> tuple[list[Word], list[Word]]:
        """Of either side, as a trace has them."""
        return split_words(pair[0], language=self.source), split_words(pair[1], language=self.target)

    def traces(self, pairs: Iterator[TextPair] | Sequence[TextPair], *, views: Sequence[str]) -> Iterator[Trace | None]:
        """A trace a pair, in order; None where a side is blank.  UserError naming the line for a text too long."""
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

    def _trace(self, pairs: Sequence[TextPair], views: Sequence[str]) -> list[Trace]:
        traces = trace_texts(
            self.model, self.tokenizer, [source for source, _ in pairs], [target for _, target in pairs],
            source_language=self.source, target_language=self.target, model_name=self.name, views=views,
        ) if pairs else []  # fmt: skip
        return [self._worded(trace, target) for trace, (_, target) in zip(traces, pairs, strict=True)]

    def _worded(self, trace: Trace, target: str) -> Trace:
        """The trace with the target as it was given: a tokenizer may not spell it alike, and so count other words."""
        if trace.target_text == target:
            return trace
        pieces = tuple(piece_spans(self.tokenizer, list(trace.target_ids), target, language=self.target))
        return replace(trace, target_text=target, target=pieces, inputs=(trace.inputs[0], *pieces[:-1]))


def read_pairs(source: str, target: str) -> Iterator[TextPair]:
    """Line by line from two files; UserError where one ends before the other or is not UTF-8."""
    with Path(source).open("rb") as sources, Path(target).open("rb") as targets:
        for number, lines in enumerate(itertools.zip_longest(sources, targets), start=1):
            for path, line in zip((source, target), lines, strict=True):
                if line is None:
                    raise UserError(f"{path} has no line {number}, the other file has: they must be parallel")
            yield _text(source, number, lines[0]), _text(target, number, lines[1])


def _text(path: str, number: int, line: bytes) -> str:
    return unicodedata.normalize("NFC", decoded(line, f"{path}, line {number}"))
