"""`seq2see lessons [NUMBER] [--out DIR] [--run FOLDER] [--quick]`: run the lessons, write their record, and a page with
the run's model and that record inside."""

import argparse
import gzip
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from seq2see.atomic import atomic_write
from seq2see.errors import UserError
from seq2see.folders import LESSONS_RECORD, is_finished
from seq2see.lessons.contents import chosen
from seq2see.lessons.record import collect
from seq2see.lessons.workbench import Workbench
from seq2see.measures.aligner import settings_of
from seq2see.pretrained import check_packaged, home_of, is_packaged, packaged_folder
from seq2see.translate import Translator

DEFAULT_RUN = Path("runs/storybook")


def run(args: argparse.Namespace) -> None:
    """The command: `args.number` (None: all), `args.out`, `args.run` (None: see `set_up`), `args.quick`."""
    names = chosen(args.number)
    html, data = places(args.out, args.number)
    bench = set_up(args.run, quick=args.quick)
    record = collect(bench, names, command=as_typed(args))
    if is_packaged(bench.run):
        record["run"] = bench.run.name  # every command takes it
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    atomic_write(data, text)
    print(summary(record) if args.number is None else in_words(record["lessons"][0]))
    try:
        atomic_write(html, page_of(record, text))
    except UserError as error:  # a model that no browser runs: a server shows its lessons
        print(f"wrote {data}, but no page: {error}", file=sys.stderr)
    else:
        print(f"\n{html}", flush=True)


def page_of(record: dict[str, Any], text: str) -> str:
    """The page of the run's model, with the record, whose text is given, opened at its lessons."""
    from seq2see.webpage_data.one_file import prepared, web_page  # imports torch

    numbers = [lesson["number"] for lesson in record["lessons"]]
    opened = "lessons" if len(numbers) > 1 else f"lesson-{numbers[0]}"
    translator = Translator.from_pretrained(record["run"], engine="torch")
    return web_page(prepared(translator), lessons=gzip.compress(text.encode(), mtime=0), opened=opened)


def places(folder: str, number: int | None) -> tuple[Path, Path]:
    """The paths of the page and the record; UserError, before minutes of work, if they cannot be written."""
    if not folder.strip():
        raise UserError("--out is empty: give a folder, or omit --out", exit_code=2)
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    html, data = (("index.html", LESSONS_RECORD) if number is None else
                  (f"lesson-{number}.html", f"lesson-{number}.json"))
    if not os.access(out, os.W_OK | os.X_OK):
        raise UserError(f"cannot write to {out}: give another folder with --out")
    return out / html, out / data


def as_typed(args: argparse.Namespace) -> str:
    """The command that reproduces this record."""
    return shlex.join(["seq2see", "lessons", *([str(args.number)] if args.number else []),
                       *(["--run", args.run] if args.run else []), *(["--quick"] if args.quick else [])])


def set_up(run: str | None, *, quick: bool) -> Workbench:
    """The workbench for the given run, which must be finished; by default runs/storybook if it exists, otherwise the
    packaged storybook."""
    if run:
        folder = packaged_folder(run) or Path(run)
    elif is_finished(DEFAULT_RUN):
        folder = DEFAULT_RUN
    else:
        folder = home_of("storybook")
        check_packaged(folder)
    if run and not is_finished(folder):
        raise UserError(f"{folder} is not a finished run: it has no model with metrics.json. Give the folder of a"
                        " finished run with --run, or omit --run to use the packaged model", exit_code=2)
    check_corpus(folder)
    return Workbench(folder, quick)


def check_corpus(run: Path) -> None:
    """UserError unless the run was trained on storybook, English to French."""
    data = settings_of(run).get("data")
    data = data if isinstance(data, dict) else {}
    path, source, target = data.get("path"), data.get("source", "en"), data.get("target", "fr")
    if path != "storybook" or source != "en" or target not in ("fr", ["fr"]):
        trained = f"on {path}, {source} to {target}" if path else "on unknown data: it has no run.yaml"
        raise UserError(f"the lessons need a model trained on storybook, en to fr, but {run} was trained {trained}."
                        " Give another run with --run, or omit --run to use the packaged model", exit_code=2)


def summary(record: dict[str, Any]) -> str:
    """One line per lesson: its number, verdict and title."""
    lines = [(one["number"], one["verdict"]["word"], one["title"]) for one in record["lessons"]]
    width = max(len(word) for _, word, _ in lines)
    return "\n".join(f"{number:>3}  {word:<{width}}  {title}" for number, word, title in lines)


def in_words(lesson: dict[str, Any]) -> str:
    """One lesson as plain text."""
    verdict = lesson["verdict"]
    lines = [f"Lesson {lesson['number']}: {lesson['title']}", "", lesson["claim"], "",
             f"{verdict['word']}. {verdict['why']}"]
    for item in verdict["findings"]:
        lines += [f"  {item['word']}: {item['claim']}", f"    {item['why']} Measured: {'; '.join(item['checks'])}."]
    for table in (table for table in lesson["tables"] if not table["folded"]):
        rows = [table["columns"], *table["rows"]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines += ["", table["caption"]]
        lines += ["  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
                  for row in rows]
    return "\n".join(lines)
