"""The verb `translate`: standard input to standard output, line by line; everything else goes to stderr."""

import argparse
import math
import sys
from collections import Counter

from seq2see.cli.lines import line_by_line, stdin, windows
from seq2see.streams import only_results_on_stdout
from seq2see.translate import Translation, Translator
from seq2see.translate.job import check_text

UNKNOWN = "words never seen in training, so what is written for them is a guess"
CUT_OFF = "the translation stopped at the model's limit of length, so that its end is missing"
WORDS_SHOWN = 60  # characters of unknown words


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.engine`, `args.source`, `args.target`, `args.num_beams`, `args.calibrated`; a line to stdout
    for each from stdin.

    What has arrived is translated at once, so that a slow writer at the other end of a pipe sees its lines come back,
    and a file goes through in large batches.  How many of them are not to be relied on is said to stderr at the end.
    """
    groups = windows(stdin(), check_text)
    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine=args.engine, device=args.device)
    settings = {"source": args.source, "target": args.target, "num_beams": args.num_beams,
                "calibrated": args.calibrated}
    translator([], **settings)  # a wrong language is told though no line comes
    remarks = Remarks()
    for lines in groups:
        results = line_by_line(lambda texts: translator(texts, **settings), lines)
        for (number, _), result in zip(lines, results, strict=True):
            if args.calibrated:
                sys.stdout.write(f"{probability(result)}\t")
            sys.stdout.write(" ".join(result.text.splitlines()) + "\n" if result.hypotheses else result.text + "\n")
            remarks.note(number, result)
        sys.stdout.flush()
    remarks.tell()


def probability(result: Translation) -> str:
    """Calibrated, that a reference reads exactly as the best hypothesis; 1 where there is nothing to translate."""
    log_prob = result.hypotheses[0].calibrated_log_prob if result.hypotheses else 0.0
    return f"{math.exp(log_prob or 0.0):.4f}"


class Remarks:
    """What `look` says of one translation, of many: how many lines it is true of, and the first of them."""

    def __init__(self) -> None:
        self.lines = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def note(self, number: int, result: Translation) -> None:
        self.lines = number
        if result.unknown_words:
            words = ", ".join(dict.fromkeys(word.text for word in result.unknown_words))
            self._count(UNKNOWN, f"line {number:,}: {words[:WORDS_SHOWN]}{'…' * (len(words) > WORDS_SHOWN)}")
        if result.hypotheses and not result.hypotheses[0].finished:
            self._count(CUT_OFF, f"line {number:,}")

    def _count(self, what: str, where: str) -> None:
        self.counts[what] += 1
        self.first.setdefault(what, where)

    def tell(self) -> None:
        if not self.counts:
            return  # without the lens, whose import takes as long as a translation
        from seq2see.lens.wording import printable

        for what, count in self.counts.items():
            where = f"in {count:,} of {self.lines:,} lines (the first: {printable(self.first[what])})"
            print(f"{what}, {where}", file=sys.stderr)
