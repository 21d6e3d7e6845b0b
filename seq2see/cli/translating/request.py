"""The options of `translate` for a translator, and the output for each line."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.errors import UserError
from seq2see.pretrained import NAMES
from seq2see.streams import only_results_on_stdout
from seq2see.tokenizer.language_codes import file_tag, iso
from seq2see.translate import Translation, Translator

if TYPE_CHECKING:
    from seq2see.cli.translating.pharaoh_aligner import PharaohAligner

Translations = tuple[Translation, ...]  # of one text, one to each target


@dataclass(frozen=True)
class TranslationRequest:
    """What is asked of a translator: the languages and options of each call, and the form of a line of output.

    `targets` has the languages of the columns; `options` are arguments of `Translator.__call__`.
    """

    translator: Translator
    targets: tuple[str | None, ...]
    options: dict[str, Any]
    check: bool = False
    calibrated: bool = False
    jsonl: bool = False
    alignments: bool = False

    @classmethod
    def of(cls, args: argparse.Namespace, *, threads: int | None = None) -> "TranslationRequest":
        """Loads the model; UserError for a language, a pattern or an option that it refuses."""
        options = {"source": args.source, "num_beams": args.num_beams, "keep": args.keep,
                   "alternatives": args.alternatives}
        if args.glossary:
            from seq2see.text.glossary import read_glossary

            options["glossary"] = glossary = read_glossary(args.glossary)
            if glossary.by_case:
                print(f"{args.glossary}: {' and '.join(glossary.by_case)} have different translations; the first letter"
                      " in the text decides, also at the start of a sentence", file=sys.stderr)
            if "," in (args.target or "") and any(term != target for term, target in glossary.pairs):
                raise UserError(f"{args.glossary} translates terms to one language; run the command once for each"
                                " target", exit_code=2)
        with only_results_on_stdout():
            translator = Translator.from_pretrained(args.run, engine=args.engine, device=args.device,
                                                    threads=threads, trust_remote_code=args.trust_remote_code)
        targets = [None] if args.target is None else [one.strip() for one in args.target.split(",")]
        found = cls(translator, tuple(targets), options, check=args.check, calibrated=args.calibrated, jsonl=args.jsonl,
                    alignments=args.alignments)
        for target in targets:
            translator([], target=target, **options)  # a wrong language or pattern is an error even without input
            if args.calibrated:
                check_calibrated(translator, args.source, target)
        return found

    def codes(self) -> tuple[str, str]:
        """The ISO 639 codes of the source and of the target language; empty where the model does not say, and with
        hyphens between several targets."""
        source, targets = self.options["source"], self.targets
        pairs = [self.translator.pair(source, target) for target in targets]
        return iso(pairs[0][0]), "-".join(iso(target) for _, target in pairs)

    @property
    def source(self) -> str:
        """The language that texts are read as; empty where the model does not say."""
        return self.translator.pair(self.options["source"], self.targets[0])[0]

    def tags(self) -> tuple[str, str]:
        """The languages of the first target as files name them."""
        source, target = self.translator.pair(self.options["source"], self.targets[0])
        return file_tag(source), file_tag(target)

    def translations(self, texts: list[str]) -> list[Translations]:
        """For each text its translations, one to each target."""
        return [*zip(*(self.translated_to(target, texts) for target in self.targets), strict=True)]

    def translated_to(self, target: str | None, texts: Sequence[str]) -> list[Translation]:
        """The translations to one target, checked if `check` is set."""
        found = self.translator(texts, target=target, **self.options)
        return self.translator.check(found) if self.check else found

    def translated(self, texts: list[str], *, of_file: bool = False) -> list[tuple[Translations, str]]:
        """For each text its translations, and what is written for it."""
        many = self.translations(texts)
        return [*zip(many, self.lines(many, of_file=of_file), strict=True)]

    def lines(self, many: Sequence[Sequence[Translation]], *, of_file: bool = False) -> list[str]:
        """What is written for each line: its translations in columns, or a JSON object.  Of a file, other line breaks
        than line feeds stay."""
        if not self.jsonl:
            return [self._columns(results, of_file=of_file) for results in many]
        found = [self._record(results[0]) for results in many]
        if self.alignments:
            for record, alignment in zip(found, self.aligner([results[0] for results in many]), strict=True):
                record["alignment"] = alignment
        return [json.dumps(record, ensure_ascii=False) for record in found]

    def _columns(self, results: Sequence[Translation], *, of_file: bool) -> str:
        columns = [one_line(result, alone=len(results) == 1, of_file=of_file) for result in results]
        if self.calibrated:
            columns = [f"{chance(result)}\t{text}" for result, text in zip(results, columns, strict=True)]
        return "\t".join(columns)

    def _record(self, result: Translation) -> dict[str, Any]:
        best = result.hypotheses[0] if result.hypotheses else None
        record: dict[str, Any] = {
            "source": result.source_text, "text": result.text,
            "score": best and best.score, "log_prob": best and best.log_prob, "warnings": result.warnings,
            "doubts": [asdict(one) for one in result.doubts],
        }
        if self.calibrated:
            record["probability"] = best and best.probability
        if self.options["alternatives"] > 1:
            record["hypotheses"] = [{"text": one.text, "score": one.score, "log_prob": one.log_prob}
                                    for one in result.hypotheses]
        return record

    @cached_property
    def aligner(self) -> "PharaohAligner":
        from seq2see.cli.translating.pharaoh_aligner import PharaohAligner  # imports torch, which takes seconds

        return PharaohAligner(self.translator, source=self.options["source"], target=self.targets[0])


def one_line(result: Translation, *, alone: bool, of_file: bool) -> str:
    """The translation without line breaks and, beside others in columns, without TABs; a text without words as it is.
    """
    if not result.hypotheses:
        text = result.text
    else:
        text = result.text.replace("\n", " ") if of_file else " ".join(result.text.splitlines())
    return text if alone else text.replace("\t", " ")


def check_calibrated(translator: Translator, source: str | None, target: str | None) -> None:
    """UserError, before any line is read, if the model has no chance of a whole translation to that language."""
    _, target = translator.pair(source, target)
    if not translator.calibration or not translator.calibration.sentence_calibrator(target):
        raise UserError(f"{translator.name} has no reliable probability for whole translations to {target}; see"
                        f" Calibration in its README.md, or run: seq2see measure {translator.name}")


def chance(result: Translation) -> str:
    """That a reference reads exactly like the best hypothesis; 1 if the text is its own translation; empty if it is not
    known, of a text that was translated in parts."""
    found = result.hypotheses[0].probability if result.hypotheses else 1.0
    return "" if found is None else f"{found:.4f}"


def check(args: argparse.Namespace) -> None:
    """UserError, before anything is read, for options that do not go together."""
    of_files = {"-o": args.out, "--columns": args.columns, "--keys": args.keys, "--lines": args.lines,
                "--resume": args.resume}
    given = [name for name, value in of_files.items() if value]
    if given and not args.files:
        why = "" if args.run in NAMES or Path(args.run).exists() else f"; there is no file {args.run}"
        if args.lines and not why:
            why = "; standard input is always translated line by line"
        raise UserError(f"{given[0]} needs a file to translate{why}", exit_code=2)
    if args.report and args.ray:
        raise UserError("--report is for files and standard input; leave it out with --ray", exit_code=2)
    if args.check and args.ray and not args.jsonl:
        raise UserError("--check with --ray needs --jsonl, which writes the doubts", exit_code=2)
    if args.out == "-":
        raise UserError("-o - is not supported: give the name of a file, or translate standard input to standard"
                        " output",
                        exit_code=2)
    if not args.jsonl and (args.alternatives > 1 or args.alignments):
        raise UserError(f"{'--alignments' if args.alignments else '--alternatives'} needs --jsonl", exit_code=2)
    if args.jsonl and args.target and "," in args.target:
        raise UserError("--jsonl takes one target language; run the command once for each", exit_code=2)
