"""The verb `score`: the log-probability of given translations, line by line."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from seq2see.cli.lines import line_by_line, stdin, windows
from seq2see.errors import UserError
from seq2see.streams import only_results_on_stdout
from seq2see.translate import Translator
from seq2see.translate.segment_translator import bare_pair

if TYPE_CHECKING:
    from seq2see.translate.scoring import Score


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.source`, `args.target`, `args.calibrated`; reads lines `source TAB translation` and writes
    `log-probability TAB log-probability per token TAB tokens` for each."""
    groups = windows(stdin(), _columns)
    with only_results_on_stdout():
        translator = Translator.from_pretrained(args.run, engine="torch", device=args.device)
    settings = {"source": args.source, "target": args.target}
    translator.score([], [], **settings, calibrated=args.calibrated)  # wrong options are an error even without input

    def scores_of(texts: list[str]) -> list[Score]:
        pairs = [_columns(text) for text in texts]
        return translator.score([pair[0] for pair in pairs], [pair[1] for pair in pairs], **settings,
                                calibrated=args.calibrated)

    for lines in groups:
        for result in line_by_line(scores_of, lines):
            sys.stdout.write(f"{result.log_prob:.6f}\t{result.mean:.6f}\t{result.tokens}\n")
        sys.stdout.flush()


def _columns(text: str) -> tuple[str, str]:
    columns = text.split("\t")
    if len(columns) != 2:
        raise UserError(f"expected two columns, source TAB translation, found {len(columns)}: {text[:40]!r}")
    return bare_pair(*columns)
