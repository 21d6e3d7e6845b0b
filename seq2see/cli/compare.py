"""The verb `compare`: two models on one sentence, on the terminal and as a page."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.lens import VIEWS, Comparison, compare
from seq2see.lens.comparisons.side_by_side import HEADS_ABOUT, alone_line, comparison_page
from seq2see.lens.records.roles import measured_record
from seq2see.streams import only_results_on_stdout, printable
from seq2see.training.evaluation import check_language_pair, load_on_one_engine
from seq2see.translate import Translation, Translator
from seq2see.translate.other_model import check_one_sentence, forced
from seq2see.translate.segment_translator import check_text
from seq2see.webpage.static_page import percent

SHOWN = 24  # matched heads on the terminal, the most different first; a page has all


def run(args: argparse.Namespace) -> None:
    """`args.first`, `args.second`, `args.sentence`, `args.source`, `args.target`, `args.num_beams`, `args.engine`,
    `args.device` and `args.html`."""
    check_text(args.sentence)  # before the models are loaded
    check_page(args.html)
    with only_results_on_stdout():
        models = load_on_one_engine([args.first, args.second], engine=args.engine, device=args.device,
                                    trust_remote_code=args.trust_remote_code)
    names = [model.name for model in models]
    pairs = [model.pair(args.source, args.target) for model in models]
    source, target = next(filter(all, pairs), pairs[0])  # of the one that names its languages
    for model in models:
        check_language_pair(model, source, target)
    results = [translated(model, args.sentence, source=source, target=target, num_beams=args.num_beams)
               for model in models]
    views = VIEWS if args.html else ("raw",)
    first, second = (model.look(result, views=views, calibrated=False)[0]
                     for model, result in zip(models, results, strict=True))
    traces = [(first, forced(models[1], first))]
    if first.target_text != second.target_text:
        traces.append((forced(models[0], second), second))
    comparisons = [compare(*pair) for pair in traces]
    print("\n".join(lines(names, comparisons)))
    if args.html:
        measured = [measured_record(model.measurements.roles, model.measurements.pronoun_effects) for model in models]
        write_page(args.html, comparison_page(names, traces, own=(first, second), measured=measured,
                                              unseen=[result.unknown_words for result in results]))


def translated(model: Translator, text: str, *, source: str, target: str, num_beams: int | None) -> Translation:
    """What a model writes for one sentence; UserError for a text that is none."""
    result = model(text, source=source, target=target, num_beams=num_beams)
    check_one_sentence(result, model.name)
    return result


def check_page(path: str | None) -> None:
    """UserError, before the models are loaded, for a page that cannot be written."""
    if path is None:
        return
    folder = Path(os.path.realpath(path)).parent
    error = (errno.EISDIR if Path(path).is_dir() else errno.ENOENT if not folder.is_dir() else
             errno.EACCES if not os.access(folder, os.W_OK | os.X_OK) else 0)
    if error and not (Path(path).exists() and not Path(path).is_dir()):  # a pipe, or a file in a closed folder
        raise UserError(f"cannot write {path} ({os.strerror(error)}); choose a writable file with --html")


def write_page(path: str, page: str) -> None:
    """Write a page, and say so on stderr."""
    try:
        atomic_write(Path(path), page)
    except OSError as error:
        raise UserError(f"cannot write {path} ({error.strerror}); choose a writable file with --html") from error
    print(f"wrote {path}", file=sys.stderr)


def lines(names: Sequence[str], comparisons: Sequence[Comparison]) -> list[str]:
    """The comparison as people read it."""
    first, last = comparisons[0], comparisons[-1]
    found = [f"A  {names[0]}: {printable(first.translation)}",
             f"B  {names[1]}: {printable(last.translation) if last is not first else 'the same translation'}"]
    for which, one in zip("AB", comparisons, strict=False):
        found += ["", f"Probability of {which}'s translation (log-probability: A {one.log_probs[0]:.3f},"
                      f" B {one.log_probs[1]:.3f}), and the token that a model prefers, if another:"]
        longest = max((len(word.word) for word in one.words), default=0)
        for word in one.words:
            rather = [f"{name}: {printable(instead)}" for name, instead in
                      (("A", word.first_instead), ("B", word.second_instead)) if instead]
            found.append(f"  {printable(word.word):{longest}}  A {percent(word.first):>8}  B {percent(word.second):>8}"
                         f"  {'  '.join(rather)}".rstrip())
    found += ["", *wrap("Matched heads, the most different first. " + HEADS_ABOUT, 100), ""]
    found += ["  Layers and heads count from 0 here, and from 1 on the page: cross 0.3 is layer 1, head 4.", ""]
    found.append(f"  {'A':12} {'B':12} distance  differ most at")
    for head in first.heads[:SHOWN]:
        looks = "; ".join(f"{which}: {printable(word)} {percent(share)}" for which, (word, share) in
                          zip("AB", head.row[1:], strict=True))
        at = f"{printable(head.row.word)} ({looks})"
        found.append(f"  {head.first!s:12} {head.second!s:12} {head.distance:8.2f}  {at}")
    if len(first.heads) > SHOWN:
        found.append(f"  and {len(first.heads) - SHOWN} more (for all heads: --html FILE)")
    return [*found, *([alone_line("AB", first)] if first.alone else [])]
