"""The verb `export`: writes a model in another format."""

import argparse
import os
import re
import sys
from pathlib import Path

from seq2see.errors import UserError
from seq2see.folders import LESSONS_MODEL, packaged_lessons, resolve_folder
from seq2see.pretrained import packaged_folder
from seq2see.settings_file import read_text
from seq2see.translate import Translator, ctranslate2_export, transformers_export

TYPES = {"ctranslate2": ("int8", "float32"), "transformers": (), "web": ("int8", "float16")}


def run(args: argparse.Namespace) -> None:
    """`args.run`, `args.format`, `args.quantization`, `args.out` (None: beside the checkpoint, or NAME.html or
    NAME-page), `args.pair` of languages and `args.vocabulary_of` for a page."""
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
    """The explorer with the model: one file, or a folder for a model that is too large for one."""
    from seq2see.webpage_data.one_file import LARGEST, prepared, web_page, write_folder  # imports torch
    from seq2see.webpage_data.page_model import page_name

    translator = Translator.from_pretrained(args.run, engine="torch")
    name, wanted = page_name(translator), Path(args.out) if args.out else None
    if wanted and wanted.suffix != ".html":
        make_room(wanted)
    print(f"Writing the page of {name} ...", file=sys.stderr, flush=True)
    texts = read_text(Path(args.vocabulary_of), args.vocabulary_of) if args.vocabulary_of else None
    made = prepared(translator, args.quantization, args.pair, None if texts is None else re.split(r"[\t\n]", texts))
    if texts is not None:
        print(made.cut_to(), file=sys.stderr)
    has_lessons = translator.folder is not None and translator.folder == packaged_folder(LESSONS_MODEL)
    size, is_large = len(made.weights.buffer), len(made.weights.buffer) > LARGEST
    if is_large and wanted and wanted.suffix == ".html":
        raise UserError(f"the weights have {size / 1e6:.0f} MB, and a file has up to {LARGEST / 1e6:.0f} MB: give --out"
                        " a folder, without .html", exit_code=2)
    out = wanted or Path(f"{name}-page" if is_large else f"{name}.html")
    try:
        if out.suffix == ".html":
            out.parent.mkdir(parents=True, exist_ok=True)
            page = web_page(made, lessons=packaged_lessons() if has_lessons else b"")
            out.write_text(page, encoding="utf-8")
        else:
            make_room(out)
            write_folder(made, out)
    except OSError as error:
        message = f"cannot write {out} ({error.strerror}); choose another place with --out"
        raise UserError(message, exit_code=2) from error
    print(out)


def make_room(folder: Path) -> None:
    """Create the parents of the --out folder; UserError if it is a file or not empty."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out {folder} is a file; choose a folder", exit_code=2)
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; choose another folder with --out", exit_code=2)
    folder.parent.mkdir(parents=True, exist_ok=True)
