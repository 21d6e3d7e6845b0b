"""The verb `export`: writes a model in another format."""

import argparse
import os
from pathlib import Path

from seq2see.errors import UserError
from seq2see.folders import LESSONS_MODEL, packaged_lessons, resolve_folder
from seq2see.pretrained import packaged_folder
from seq2see.translate import Translator, ctranslate2_export, transformers_export

TYPES = {"ctranslate2": ("int8", "float32"), "transformers": (), "web": ("int8", "float16")}


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.format`, `args.quantization`, `args.out` (None: beside the checkpoint, or NAME.html)."""
    if args.quantization not in (None, *TYPES[args.format]):
        options = f"--quantization {args.quantization} with --format {args.format}"
        types = " or ".join(TYPES[args.format])
        raise UserError(f"{options}: {f'expected {types}' if types else 'omit it, this format is always float32'}",
                        exit_code=2)
    if args.format == "web":
        return write_page(args)
    model = resolve_folder(args.run)
    out = made = Path(args.out) if args.out else None
    try:
        if out:
            make_room(out)
        if args.format == "transformers":
            made = out or model / args.format
            make_room(made)
            transformers_export.write(model, made)
        elif out:
            ctranslate2_export.write(model, out, quantization=args.quantization or "int8")
        else:
            made = ctranslate2_export.exported(model, quantization=args.quantization or "int8")
    except OSError as error:
        if error.filename and Path(error.filename).is_file() and not os.access(error.filename, os.R_OK):
            raise  # the model cannot be read
        message = f"cannot write {out or model} ({error.strerror}); choose a writable folder with --out"
        raise UserError(message) from error
    print(made)


def write_page(args: argparse.Namespace) -> None:
    """The explorer with the model inside."""
    from seq2see.webpage_data.one_file import web_page  # imports torch

    translator = Translator.from_pretrained(args.run, engine="torch")
    out = Path(args.out or f"{translator.name or 'model'}.html")
    has_lessons = translator.folder is not None and translator.folder == packaged_folder(LESSONS_MODEL)
    page = web_page(translator, args.quantization, lessons=packaged_lessons() if has_lessons else b"")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page, encoding="utf-8")
    except OSError as error:
        message = f"cannot write {out} ({error.strerror}); choose another file with --out"
        raise UserError(message, exit_code=2) from error
    print(out)


def make_room(folder: Path) -> None:
    """Create the parents of the --out folder; UserError if it is a file or not empty."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out {folder} is a file; choose a folder", exit_code=2)
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; choose another folder with --out", exit_code=2)
    folder.parent.mkdir(parents=True, exist_ok=True)
