"""The verb `evaluate`: prints the scores that `seq2see.training.evaluation` computes."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from seq2see.cli.translating.file_report import print_remarks
from seq2see.errors import UserError
from seq2see.training.evaluation import (
    ScoredTranslations,
    evaluate,
    evaluation_data,
    load_on_one_engine,
    print_comparison,
    print_scores,
)
from seq2see.training.metrics import chrf_by_sentence
from seq2see.translate import Translation, Translator
from seq2see.translate.remarks import Doubts, Remarks

MOST = 100  # sentences of a page, the most different first


def run(args: argparse.Namespace) -> int:
    """`args.run`, `args.against`, `args.data`, `args.split`, `args.source`, `args.target`, `args.num_beams`,
    `args.raw`, `args.engine`, `args.device`, `args.html` and `args.json`; the last line on stdout is one JSON
    object."""
    if args.html and not args.against:
        raise UserError("--html compares two models: also give --against MODEL", exit_code=2)
    if args.html:
        from seq2see.cli.compare import check_page  # imports torch and matplotlib

        check_page(args.html)
    names = [args.run, *([args.against] if args.against else [])]
    models = load_on_one_engine(names, engine=args.engine, device=args.device,
                                trust_remote_code=args.trust_remote_code)
    on = evaluation_data(models[0], path=args.data, split=args.split, source=args.source, target=args.target)
    result: dict[str, Any] = {"run": str(args.run), "data": on.data.path, "split": on.split,
                              "source": on.data.source}
    if args.html and len(on.data.targets) > 1:
        raise UserError(f"--html FILE needs one target language: give --to {on.data.targets[0]}", exit_code=2)
    for name, row, texts in evaluate([*zip(names, models, strict=True)], on, raw=args.raw, num_beams=args.num_beams):
        result[name] = row
        for called, model in zip(names, models, strict=True):
            note_unknown_words(called, model, [pair.source for pair in texts.pairs],
                               model.pair(on.data.source, name)[0])
        if not args.json:
            print_scores(f"{on.data.source}-{name}", row)
            if "against" in row:
                print_comparison(row)
        if args.html:
            _write_differences(args.html, names, row, texts, language=name)
    print(json.dumps(result, ensure_ascii=False))
    return 0


def note_unknown_words(name: str, model: Translator, sources: Sequence[str], language: str) -> None:
    """Say on stderr, as `translate` does, how many sources have words that a model did not see in training."""
    seen, remarks = model.seen_words(language), Remarks("pairs", of=name)
    if seen is None:
        return
    for number, source in enumerate(sources, start=1):
        one = Translation.of(source, (), source_language=language, target_language="", engine="", precision="",
                             seen=seen)
        remarks.note(number, Doubts.of([one]))
    print_remarks(remarks)


def _write_differences(path: str, names: Sequence[str], row: dict[str, Any], texts: ScoredTranslations, *,
                       language: str) -> None:
    from seq2see.cli.compare import write_page  # these import torch and matplotlib, which takes seconds
    from seq2see.lens.comparisons.side_by_side import Difference, differences_page

    references = [pair.target for pair in texts.pairs]
    chrf = [chrf_by_sentence(own, references) for own in texts.written]
    each = [Difference(number, pair.source, pair.target, written, scores) for number, (pair, written, scores) in
            enumerate(zip(texts.pairs, zip(*texts.written, strict=True), zip(*chrf, strict=True), strict=True), 1)]
    against = row["against"]
    scores = "; ".join(f"{name}: BLEU {one['bleu']}, chrF2 {one['chrf']}" for name, one in
                       zip(names, (row, against), strict=True))
    write_page(path, differences_page(names, each, language=language, most=MOST,
                                      scores=f"{len(each):,} pairs. {scores}. BLEU p {against['bleu_p']},"
                                             f" chrF2 p {against['chrf_p']} ({against['test']})."))
