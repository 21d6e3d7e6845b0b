"""`seq2see lessons [NUMBER] [--out DIR] [--run FOLDER] [--quick]`: run the lessons, write the page and its data."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from seq2see.lessons.contents import chosen
from seq2see.lessons.record import collect
from seq2see.lessons.workbench import Budget, Workbench, quick_run
from seq2see.training.cache import cache_folder
from seq2see.training.packaged import is_finished, train_storybook

DEFAULT_RUN = Path("runs/storybook")


def lessons(args: argparse.Namespace) -> None:
    """The command: `args.number` (None: all), `args.out`, `args.run` (None: the packaged model), `args.quick`."""
    from seq2see.lessons.page import page

    names = chosen(args.number)
    if not names:
        raise UserError(f"there is no lesson {args.number}", exit_code=2)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)  # that it cannot be written is told before minutes of work
    bench = set_up(args.run, quick=args.quick)
    record = collect(bench, names, errata=args.number is None)
    stem = "index" if args.number is None else f"lesson-{args.number}"
    (out / f"{stem}.html").write_text(page(record), "utf-8")
    data = out / ("lessons.json" if args.number is None else f"{stem}.json")
    data.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(summary(record) if args.number is None else in_words(record["lessons"][0]))
    print(f"\n{out / f'{stem}.html'}", flush=True)


def set_up(run: str | None, *, quick: bool) -> Workbench:
    """The workbench, around the run that was named, or the packaged model, which is trained if it is not there."""
    bench = Workbench(Path(run) if run else DEFAULT_RUN, Budget.REDUCED if quick else Budget.FULL)
    if run or not quick:
        if not is_finished(bench.run):
            print(f"{bench.run} holds no finished model: training it first", file=sys.stderr, flush=True)
            train_storybook(bench.run)
        return bench
    return Workbench(quick_run(cache_folder() / "lessons"), Budget.REDUCED)


def summary(record: dict[str, Any]) -> str:
    """A line a lesson: its number, verdict and title."""
    return "\n".join(f"{one['number']:>3}  {one['verdict']['word']:<19} {one['title']}" for one in record["lessons"])


def in_words(lesson: dict[str, Any]) -> str:
    """One lesson for a terminal."""
    verdict = lesson["verdict"]
    lines = [f"Lesson {lesson['number']}: {lesson['title']}", "", f"Claim: {lesson['claim']}",
             f"Verdict: {verdict['word']}. {verdict['why']}"]
    lines += [f"  {item['word']}: {item['claim']} {item['why']}" for item in verdict["findings"]]
    for table in (table for table in lesson["tables"] if not table["folded"]):
        rows = [table["columns"], *table["rows"]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines += ["", table["caption"]]
        lines += ["  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
                  for row in rows]
    return "\n".join(lines)
