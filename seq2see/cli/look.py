"""The verb `look`: a text, its translation and the attention map, on the terminal or in a file.

A text that is translated in parts has a map, and a file, for each part.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.lens import Trace, to_html, to_terminal
from seq2see.lens.data.view_names import OF_ATTENTION
from seq2see.lens.show.maps import picture
from seq2see.lens.show.plot import save_plot
from seq2see.streams import printable
from seq2see.translate import Translation, Translator
from seq2see.translate.remarks import UNKNOWN, WARNINGS
from seq2see.translate.segment_translator import check_text

FILES = {".html": "a page", ".json": "numbers", ".npz": "numbers", ".png": "a picture", ".svg": "a picture",
         ".pdf": "a picture"}


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.engine`, `args.text`, `args.source`, `args.target`, `args.num_beams`, `args.alternative`: what
    to translate; `args.view`, `args.kind`, `args.layer`, `args.head`, `args.words`, `args.rows`: which map to show;
    `args.raw`: the model's own probabilities, not calibrated ones; `args.out`: a page with all of them, numbers, or a
    picture of one."""
    out = Path(args.out) if args.out else None
    if out is not None and out.suffix not in FILES:
        wanted = ", ".join(f"{suffix} ({what})" for suffix, what in FILES.items())
        raise UserError(f"--out {out}: the name must end in one of {wanted}", exit_code=2)
    check_text(args.text)  # before the model is loaded
    translator = Translator.from_pretrained(args.run, engine=args.engine, device=args.device,
                                            trust_remote_code=args.trust_remote_code)
    result = translator(args.text, source=args.source, target=args.target, num_beams=args.num_beams,
                        alternatives=args.alternative + 1)
    if not result.hypotheses:
        raise UserError("the text has no words, so there is no translation to look at")
    every = out is not None and out.suffix == ".html" and args.view is None
    views = OF_ATTENTION if every else ("raw", args.view or "raw")
    traces = translator.look(result, alternative=args.alternative, views=views, calibrated=not args.raw)
    chosen = {"view": args.view or "raw", "kind": args.kind, "layer": args.layer, "head": args.head,
              "words": args.words, "rows": args.rows}
    for trace in traces:
        picture(trace, **chosen)  # UserError if there is no such map, whatever the format
    files: list[Path] = []
    boxes = ""
    if out is None:
        how = {"colour": sys.stdout.isatty(), "width": shutil.get_terminal_size().columns, **chosen}
        print("\n\n".join(f"{printable(trace.texts[1])}\n\n{to_terminal(trace, **how)}" for trace in traces))
    else:
        files = _files(out, len(traces))
        try:
            for file, trace, part in zip(files, traces, result.parts, strict=True):
                boxes += _write(file, trace, part, translator, args.alternative, chosen)
        except OSError as error:
            message = f"cannot write {out} ({error.strerror}); choose a writable file with --out"
            raise UserError(message) from error
    if result.unknown_words:
        words = printable(", ".join(word.text for word in result.unknown_words))
        print(f"{UNKNOWN}: {words}", file=sys.stderr)
    for name in result.warnings_of(args.alternative):
        print(WARNINGS[name], file=sys.stderr)
    if boxes:
        letters = "".join(dict.fromkeys(printable(boxes)))
        print(f"no installed font has these characters, so the picture shows boxes: {letters}; use .svg or .html",
              file=sys.stderr)
    for file in files:
        print(f"wrote {file}", file=sys.stderr)


def _files(out: Path, count: int) -> list[Path]:
    """One per part of a text: maps.html, or maps-1.html, maps-2.html and so on."""
    return [out] if count == 1 else [out.with_stem(f"{out.stem}-{number}") for number in range(1, count + 1)]


def _write(file: Path, trace: Trace, part: Translation, translator: Translator, alternative: int,
           chosen: dict[str, Any]) -> str:
    """Returns the characters that no font for the picture has."""
    if file.suffix in (".json", ".npz"):
        trace.save(file)
    elif file.suffix == ".html":
        atomic_write(file, to_html(trace, unseen=part.unknown_words, warnings=part.warnings_of(alternative),
                                   roles=translator.roles, **chosen))
    else:
        return save_plot(trace, file, **chosen)
    return ""
