"""The verb `look`: one sentence, its translation, and where the model looked, to the terminal or a file."""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.lens import VIEWS, Trace, to_html, to_terminal
from seq2see.lens.picture import picture
from seq2see.lens.plot import save_plot
from seq2see.lens.wording import printable
from seq2see.serve.translator import Translator

FILES = {".html": "a page", ".json": "numbers", ".npz": "numbers", ".png": "a picture", ".svg": "a picture"}


def look(args: argparse.Namespace) -> None:
    """`args.run`, `args.engine`, `args.text`, `args.source`, `args.target`, `args.num_beams`, `args.alternative`: what
    to translate; `args.view`, `args.kind`, `args.layer`, `args.head`, `args.words`, `args.rows`: which map to show;
    `args.out`: a page with all of them, numbers, or a picture of one."""
    out = Path(args.out) if args.out else None
    if out is not None and out.suffix not in FILES:
        wanted = ", ".join(f"{suffix} ({what})" for suffix, what in FILES.items())
        raise UserError(f"--out {out}: expected a name that ends in one of {wanted}", exit_code=2)
    translator = Translator.from_pretrained(args.run, engine=args.engine)
    result = translator(args.text, source=args.source, target=args.target, num_beams=args.num_beams,
                        alternatives=args.alternative + 1)
    if not result.hypotheses:
        raise UserError("there is nothing to look at in a blank text")
    if len(result.parts) > 1:
        part = printable(result.parts[0].source_text)
        raise UserError(f"the text is translated in {len(result.parts)} parts: look at one at a time, first {part!r}")
    every = out is not None and out.suffix == ".html" and args.view is None
    [trace] = translator.look(result, alternative=args.alternative, views=VIEWS if every else ("raw", *_asked(args)))
    chosen = {"view": args.view or "raw", "kind": args.kind, "layer": args.layer, "head": args.head,
              "words": args.words, "rows": args.rows}
    picture(trace, **chosen)  # a map that is not there is refused whatever is written
    if out is None:
        print(f"{printable(trace.target_text)}\n\n{_drawn(trace, chosen)}")
    elif out.suffix in (".json", ".npz"):
        trace.save(out)
    elif out.suffix == ".html":
        out.write_text(to_html(trace, unseen=result.parts[0].unknown_words, **chosen), encoding="utf-8")
    else:
        save_plot(trace, out, **chosen)
    if result.unknown_words:
        words = printable(", ".join(word.text for word in result.unknown_words))
        print(f"never seen in training, so what is written for them is a guess: {words}", file=sys.stderr)
    if not result.hypotheses[args.alternative].finished:
        print("the translation stopped at the model's limit of length; its end is missing", file=sys.stderr)
    if out is not None:
        print(f"wrote {out}", file=sys.stderr)


def _asked(args: argparse.Namespace) -> tuple[str, ...]:
    return () if args.view in (None, "raw") else (args.view,)


def _drawn(trace: Trace, chosen: dict[str, Any]) -> str:
    width = shutil.get_terminal_size().columns
    return to_terminal(trace, colour=sys.stdout.isatty(), width=width, **chosen)
