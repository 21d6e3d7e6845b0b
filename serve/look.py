"""The verb `look`: one sentence, its translation, and where a head looked, to the terminal or a file."""

import argparse
import shutil
import sys
from pathlib import Path

from seq2see.errors import UserError
from seq2see.lens import Trace, to_html, to_terminal
from seq2see.lens.show import printable
from seq2see.serve.translator import Translator


def look(args: argparse.Namespace) -> None:
    """`args.run`, `args.engine`, `args.text`, `args.source`, `args.target`, `args.num_beams`, `args.alternative`: what
    to translate; `args.kind`, `args.layer`, `args.head`: what to draw; `args.out`: a page (.html) or data (.json)."""
    out = Path(args.out) if args.out else None
    if out is not None and out.suffix not in (".html", ".json"):
        raise UserError(f"--out {out}: expected a name that ends in .html (a page) or .json (numbers)", exit_code=2)
    translator = Translator.from_pretrained(args.run, engine=args.engine)
    result = translator(args.text, source=args.source, target=args.target, num_beams=args.num_beams,
                        alternatives=args.alternative + 1)
    if not result.hypotheses:
        raise UserError("there is nothing to look at in a blank text")
    if len(result.parts) > 1:
        part = printable(result.parts[0].source_text)
        raise UserError(f"the text is translated in {len(result.parts)} parts: look at one at a time, first {part!r}")
    [trace] = translator.look(result, alternative=args.alternative)
    if out is None:
        print(f"{printable(trace.target_text)}\n\n{_drawn(trace, args)}")
    elif out.suffix == ".json":
        trace.save(out)
    else:
        out.write_text(to_html(trace, unseen=result.parts[0].unknown_words), encoding="utf-8")
    if result.unknown_words:
        words = printable(", ".join(word.text for word in result.unknown_words))
        print(f"never seen in training, so what is written for them is a guess: {words}", file=sys.stderr)
    if not result.hypotheses[args.alternative].finished:
        print("the translation stopped at the model's limit of length; its end is missing", file=sys.stderr)
    if out is not None:
        print(f"wrote {out}", file=sys.stderr)


def _drawn(trace: Trace, args: argparse.Namespace) -> str:
    width = shutil.get_terminal_size().columns
    return to_terminal(trace, kind=args.kind, layer=args.layer, head=args.head, colour=sys.stdout.isatty(), width=width)
