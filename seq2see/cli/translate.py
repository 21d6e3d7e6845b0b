"""The verb `translate`: standard input to standard output, line by line; everything else on stderr."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from seq2see.cli.lines import line_by_line, stdin, windows
from seq2see.errors import UserError
from seq2see.streams import only_results_on_stdout
from seq2see.translate import Translation, Translator
from seq2see.translate.segment_translator import check_text

UNKNOWN = "words not seen in training, so their translation is a guess"
CUT_OFF = "the translation reached the model's maximum length, so its end is missing"
WORDS_SHOWN = 60  # characters of unknown words


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.engine`, `args.source`, `args.target`, `args.num_beams`, `args.keep`, `args.calibrated`;
    writes a line for each line read, with a column for each target.

    Whatever has arrived is translated immediately: a slow writer at the other end of a pipe sees its lines come back,
    and a file goes through in large batches.  At the end stderr says how many lines are doubtful.
    """
    if args.ray:
        from seq2see.cli import translate_on_ray

        return translate_on_ray.run(args)
    groups = windows(stdin(), check_text)
    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine=args.engine, device=args.device,
                                                trust_remote_code=args.trust_remote_code)
    targets = [None] if args.target is None else [one.strip() for one in args.target.split(",")]
    options = {"source": args.source, "num_beams": args.num_beams, "keep": args.keep}
    for target in targets:
        translator([], target=target, **options)  # a wrong language or pattern is an error even without input
        if args.calibrated:
            check_calibrated(translator, args.source, target)
    remarks = Remarks()

    def translated(texts: list[str]) -> list[tuple[Translation, ...]]:
        """For each text its translations, one to each target."""
        return [*zip(*(translator(texts, target=target, **options) for target in targets), strict=True)]

    for lines in groups:
        for (number, _), results in zip(lines, line_by_line(translated, lines), strict=True):
            columns = [one_line(result, alone=len(targets) == 1) for result in results]
            if args.calibrated:
                columns = [f"{chance(result)}\t{text}" for result, text in zip(results, columns, strict=True)]
            sys.stdout.write("\t".join(columns) + "\n")
            remarks.note(number, results)
        sys.stdout.flush()
    remarks.print()


def one_line(result: Translation, *, alone: bool) -> str:
    """The translation without line breaks and, beside others in columns, without TABs; a text without words as it is.
    """
    text = " ".join(result.text.splitlines()) if result.hypotheses else result.text
    return text if alone else text.replace("\t", " ")


def check_calibrated(translator: Translator, source: str | None, target: str | None) -> None:
    """UserError, before any line is read, if the model has no chance of a whole translation to that language."""
    _, target = translator.pair(source, target)
    if not translator.calibration or not translator.calibration.sentence_calibrator(target):
        raise UserError(f"{translator.name} has no chance of a translation to {target} that holds: see Calibration in"
                        f" its README.md, or measure it: seq2see measure {translator.name}")


def chance(result: Translation) -> str:
    """That a reference reads exactly like the best hypothesis; 1 if the text is its own translation; empty if it is not
    known, of a text that was translated in parts."""
    found = result.hypotheses[0].probability if result.hypotheses else 1.0
    return "" if found is None else f"{found:.4f}"


class Remarks:
    """Warnings over many lines: how many lines each concerns, and the first of them."""

    def __init__(self) -> None:
        self.lines = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def note(self, number: int, results: Sequence[Translation]) -> None:
        """Of the translations of a line, one to each target."""
        self.lines = number
        if unknown := [word.text for result in results for word in result.unknown_words or ()]:
            words = ", ".join(dict.fromkeys(unknown))
            self._count(UNKNOWN, f"line {number:,}: {words[:WORDS_SHOWN]}{'…' * (len(words) > WORDS_SHOWN)}")
        if any(result.hypotheses and not result.hypotheses[0].finished for result in results):
            self._count(CUT_OFF, f"line {number:,}")

    def _count(self, what: str, where: str) -> None:
        self.counts[what] += 1
        self.first.setdefault(what, where)

    def print(self) -> None:
        if not self.counts:
            return  # before the slow import of the lens
        from seq2see.lens.wording import printable

        for what, count in self.counts.items():
            where = f"in {count:,} of {self.lines:,} lines (first: {printable(self.first[what])})"
            print(f"{what}, {where}", file=sys.stderr)
