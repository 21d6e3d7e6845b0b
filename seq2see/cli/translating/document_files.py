"""Files to translate: the names of outputs, and the translation of documents.  `line_files.py` translates files of
lines.

Wrong names and contents are reported before the model is loaded, or before anything is translated.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from seq2see.atomic import atomic_write
from seq2see.cli.translating.file_report import print_remarks, write_report
from seq2see.cli.translating.line_files import LineFile, behind_link, translate_lines
from seq2see.cli.translating.request import TranslationRequest
from seq2see.documents.formats import FORMATS, OFFICE, kind_of, read_document
from seq2see.documents.protocol import MOST_BYTES, FileOptions
from seq2see.errors import UserError
from seq2see.folders import why_no_model
from seq2see.training.progress import Progress
from seq2see.translate.remarks import Remarks

WEIGHTS = (".safetensors", ".bin", ".h5", ".onnx", ".gguf")  # of a model, given in place of its folder
AT_ONCE = 256  # texts of a document that are translated together


def translate_files(args: argparse.Namespace) -> None:
    """Translate `args.files` one after the other, and print the name of each output.

    One of several that cannot be translated keeps no other from it.  UserError at the end if there was one.
    """
    paths = list(map(Path, args.files))
    check_options(paths, args)
    failed: dict[Path, str] = {}
    done: dict[Path, dict[str, Any]] = {}
    files: list[LineFile | Path] = []
    try:
        for path in paths:
            with going_on(path, failed, alone=len(paths) == 1):
                files.append(check(path, args))
        if files:
            request = TranslationRequest.of(args)
            outs = outputs(list(map(path_of, files)), request, args.out, several=len(paths) > 1)
            check_outputs(files, outs, named=args.out is not None, resume=args.resume)
            plain = argparse.Namespace(**{name: value for name, value in vars(args).items() if name != "verb"})
            another = partial(TranslationRequest.of, plain, threads=1)
            for file, out in zip(files, outs, strict=True):
                with going_on(path_of(file), failed, alone=len(paths) == 1):
                    if isinstance(file, LineFile):
                        remarks = translate_lines(file, out, request, another, resume=args.resume,
                                                  overwrite=args.out is not None)
                    else:
                        remarks = translate_document(file, out, request, options_of(args, request))
                    done[path_of(file)] = {"output": str(out), **remarks.record()}
                    sys.stdout.flush()
                    sys.stdout.buffer.write(os.fsencode(out) + b"\n")  # a name need not be UTF-8
                    sys.stdout.buffer.flush()
    finally:
        if args.report and (done or failed):
            write_report(args.report, [{"file": str(path), **done.get(path, {"error": failed.get(path, "")})}
                                       for path in paths])
    if failed:
        raise UserError(f"{len(failed)} of {len(paths)} files were not translated: {', '.join(map(str, failed))}")


@contextmanager
def going_on(path: Path, failed: dict[Path, str], *, alone: bool) -> Iterator[None]:
    """Note in `failed`, and say, why a file cannot be translated.  A wrong use of the command is raised, and so is the
    error of a file that is `alone`.
    """
    from seq2see.cli.command import describe, print_error

    try:
        yield
    except (UserError, OSError) as error:
        if isinstance(error, UserError) and error.exit_code == 2:
            raise
        failed[path] = describe(error).removeprefix("error: ")
        if alone:
            raise
        print_error(describe(error))


def path_of(file: LineFile | Path) -> Path:
    return file.path if isinstance(file, LineFile) else file


def check_options(paths: Sequence[Path], args: argparse.Namespace) -> None:
    """UserError for an option of a format that is of no use here."""
    for name, module in (("columns", "table"), ("keys", "json_strings")):
        formats = [extension for extension, reader in FORMATS.items() if reader == module]
        used = not args.lines and any(extension_of(path) in formats for path in paths)
        if getattr(args, name) and not used:
            why = "--lines translates whole lines" if args.lines else "no such file is given"
            raise UserError(f"--{name} is only for {', '.join(formats)} files, but {why}", exit_code=2)


def extension_of(path: Path) -> str:
    """That of the format which its bytes show, or else of its name."""
    few = path.is_file() and path.stat().st_size <= MOST_BYTES
    return kind_of(path.name, path.read_bytes() if few else b"")


def suffix_of(path: Path) -> str:
    return path.suffix.lower().removeprefix(".")


def check(path: Path, args: argparse.Namespace) -> LineFile | Path:
    """The file of lines, or the path of a document; UserError for one that cannot be translated."""
    if path.is_dir():
        raise UserError(why_no_model(path) or f"{path} is a folder, but not a model: it has no config.json. To"
                                              f" translate its files, name them: {path / '*.txt'}")
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a regular file; to translate a pipe, use standard input")
    if path.suffix in WEIGHTS:
        raise UserError(f"{path} is a file of a model: give its folder, {path.parent}")
    if is_lines(path, args):
        return LineFile.checked(path)
    data = path.read_bytes()
    for name in ("resume", "jsonl", "calibrated"):
        if getattr(args, name):
            raise UserError(f"--{name} is only for files of lines; if each line of {path} is a text, add"
                            " --lines", exit_code=2)
    if args.target and "," in args.target:
        raise UserError(f"{path} is a document, which takes one target language; run the command once for"
                        " each", exit_code=2)
    read_document(str(path), data, options_of(args))
    return path


def is_lines(path: Path, args: argparse.Namespace) -> bool:
    """Whether each line is a text of its own: where it is asked for and, of plain text, with an option that only lines
    have or with a size that no document may have.

    UserError for a name of another format than those of documents.
    """
    extension = extension_of(path)
    if extension not in FORMATS and not args.lines:
        raise UserError(f"{path}: files of this format cannot be translated; expected one of {', '.join(FORMATS)};"
                        " if each line is a text, add --lines")
    if extension in OFFICE and args.lines:
        raise UserError(f"{path} is not a file of lines; leave --lines out", exit_code=2)
    needs_lines = args.resume or args.jsonl or args.calibrated or "," in (args.target or "")
    return args.lines or (extension == "txt" and (needs_lines or path.stat().st_size > MOST_BYTES))


def options_of(args: argparse.Namespace, request: TranslationRequest | None = None) -> FileOptions:
    """How to read a document; with the languages once the model is there."""
    source, target = request.tags() if request else ("", "")
    return FileOptions(source, target, columns=args.columns, keys=args.keys)


def outputs(paths: Sequence[Path], request: TranslationRequest, out: str | None, *, several: bool) -> list[Path]:
    """Where each file is written: beside it, in the folder OUT or, if the command was not given `several`, as OUT."""
    if out is not None and not several and not (Path(out).is_dir() or out.endswith("/")):
        return [Path(out)]
    if out is not None:
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise UserError(f"-o {out} is a file, but several inputs need a folder", exit_code=2) from None
    source, target = request.codes()
    end = ".jsonl" if request.jsonl else ""
    names = [translated_name(path.name, source, target or "translated") + end for path in paths]
    return [(path.parent if out is None else Path(out)) / name for path, name in zip(paths, names, strict=True)]


def translated_name(name: str, source: str, target: str) -> str:
    """`letter.fr.docx` for letter.docx and for letter.en.docx, `corpus.fr` for corpus.en, `app.fr.po` for app.pot."""
    first, *parts = (name[:-1] if name.lower().endswith(".pot") else name).split(".")  # a template gives a catalogue
    if source and source in parts:
        parts[len(parts) - 1 - parts[::-1].index(source)] = target
    else:
        parts.insert(max(0, len(parts) - 1), target)
    return ".".join([first, *parts])


def check_outputs(files: Sequence[LineFile | Path], outs: Sequence[Path], *, named: bool, resume: bool) -> None:
    """UserError for an output that would overwrite an input, another output, what is no file or, without -o, any file.
    """
    paths = list(map(path_of, files))
    inputs = {path.resolve() for path in paths}
    seen: dict[Path, Path] = {}
    for file, path, out in zip(files, paths, outs, strict=True):
        if out.is_dir():
            raise UserError(f"{out} is a folder; give another -o, or remove the folder")
        if isinstance(file, LineFile) and out.exists() and not out.is_file():
            raise UserError(f"{out} is not a regular file, so an interrupted translation could not be resumed;"
                            " translate standard input instead")
        if out.is_file() and out.is_absolute() and out.parts[1] in ("dev", "proc"):  # /dev/stdout
            raise UserError(f"{out} is redirected to a file, which would be replaced; name that file with -o")
        own, other = {extension_of(path), suffix_of(path)}, suffix_of(out)
        if isinstance(file, Path) and other and other not in own and {*own, other} & OFFICE:
            raise UserError(f"the translation of {path} is a file of the same format; give an -o that ends in"
                            f" {path.suffix}", exit_code=2)
        if out.resolve() in inputs:
            raise UserError(f"the translation of {path} would overwrite {out}: give another -o", exit_code=2)
        if out.resolve() in seen:
            raise UserError(f"{seen[out.resolve()]} and {path} would both be written to {out}; run the command once for"
                            " each, with another -o", exit_code=2)
        if out.exists() and not (named or resume):
            there = out if len(outs) == 1 else out.parent
            raise UserError(f"{out} already exists; to overwrite it, add -o {there}")
        if not (folder := behind_link(out).parent).is_dir():
            raise UserError(f"-o {out}: there is no folder {folder}; create it first")
        seen[out.resolve()] = path


def translate_document(path: Path, out: Path, request: TranslationRequest, options: FileOptions) -> Remarks:
    """Written when all of its texts are translated, or not at all."""
    document = read_document(str(path), path.read_bytes(), options)
    progress, remarks = Progress(out.name, len(document.texts), "texts"), Remarks("texts", of=out.name)
    translations: list[str] = []
    try:
        for begin in range(0, len(document.texts), AT_ONCE):
            some = document.texts[begin : begin + AT_ONCE]
            results = request.translated_to(request.targets[0], some)
            translations += [one.text for one in results]
            remarks.note_texts(results, start=begin, place=document.place)
            progress.advance(len(some))
        progress.end()
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    finally:
        progress.clear()
    atomic_write(out, document.write(translations))
    for one in document.untranslated():
        remarks.leave(one.why, place=one.place, text=one.text)
    if not document.texts:
        print(f"{path} has no text to translate; {out} is a copy", file=sys.stderr)
    if (kind := extension_of(path)) != suffix_of(path):
        print(f"{path} is a {kind} file, and so is {out}", file=sys.stderr)
    print_remarks(remarks, source=request.source)
    return remarks
