"""Running lessons, and the one record of a run, which the page, the terminal and the explorer show.

    {"format": 2, "version": of seq2see, "budget": "full" | "reduced", "seeds": [0, 1, 2], "run": the model's folder,
     "command": that repeats it, "model": a line about it, "seconds": 734.1,
     "chapters": [{"title", "about", "lessons": [numbers, in order]}],
     "lessons":  [{"number", "name": "l03_scaling", "title", "claim", "how", "try",
                   "verdict": {"word": "4 of 5 claims hold", "why",
                               "findings": [{"claim", "word": "holds" | "does not hold here" | "not decidable here",
                                             "why", "checks": ["0.98, required ≥ 0.9"]}]},
                   "slips": [text],
                   "tables": [{"caption", "columns": [text], "rows": [[text]], "folded": large, closed until opened}],
                   "svg": the picture, an <svg> element in the colours --ink, --soft, --line, --blue, --orange, --green,
                          --purple and --red of whatever page it stands in, or else those of light,
                   "code": [{"name", "file", "line", "source"}],
                   "look": {"text", "kind", "layer", "head"} | null, "seconds": 1.2,
                   "result": the figures by name, as `interval.to_data` gives them}]}

Texts are plain, but for `code` between backquotes and *emphasis* between stars. NaN and infinity are null.
"""

import inspect
import json
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

from seq2see import __version__
from seq2see.folders import LESSONS_FORMAT
from .contents import CHAPTERS, load, number_of
from .drawing import to_svg
from .figures import spelled, to_data
from .lesson import Table, count, word_of
from .prose import fill, read_prose
from .workbench import Workbench


def collect(bench: Workbench, names: list[str], *, command: str) -> dict[str, Any]:
    """Run these lessons, with a line of progress for each."""
    begun = time.perf_counter()
    model = about_model(bench)  # first: a model that cannot be loaded fails before minutes of work
    lessons = []
    for place, name in enumerate(names, 1):
        print(f"[{place}/{len(names)}] lesson {number_of(name)}", file=sys.stderr, flush=True)
        lessons.append(run_lesson(bench, name))
        bench.report_progress(f"{lessons[-1]['verdict']['word']} ({lessons[-1]['seconds']:.1f} s)")
    numbers = {lesson["number"] for lesson in lessons}
    chapters = [{"title": chapter.title, "about": chapter.about,
                 "lessons": [number_of(name) for name in chapter.names if number_of(name) in numbers]}
                for chapter in CHAPTERS]
    return {
        "format": LESSONS_FORMAT,
        "version": __version__,
        "budget": "reduced" if bench.quick else "full",
        "seeds": list(bench.seeds),
        "run": str(bench.run),
        "command": command,
        "model": model,
        "chapters": [chapter for chapter in chapters if chapter["lessons"]],
        "lessons": lessons,
        "seconds": round(time.perf_counter() - begun, 1),
    }


def run_lesson(bench: Workbench, name: str) -> dict[str, Any]:
    lesson, prose = load(name), read_prose(name)
    begun = time.perf_counter()
    figures = lesson.measure(bench)
    seconds = time.perf_counter() - begun
    checks = lesson.claims(figures)
    if set(prose.claims) != set(checks) or set(prose.findings) != set(checks):
        raise ValueError(f"{name}: the Markdown and claims() must have the same keys: {', '.join(checks)}")
    words = {key: word_of(checks[key]) for key in prose.claims}
    exhibits = lesson.exhibits(figures)
    return {
        "number": number_of(name),
        "name": name,
        "title": prose.title,
        "claim": prose.claim,
        "how": fill(prose.how, figures),
        "try": prose.next,
        "verdict": {"word": count(list(words.values())), "why": fill(prose.summary, figures),
                    "findings": [{"claim": text, "word": words[key], "why": fill(prose.findings[key], figures),
                                  "checks": list(map(str, checks[key]))} for key, text in prose.claims.items()]},
        "slips": [fill(slip, figures) for slip in prose.slips],
        "tables": [vars(table) | {"columns": list(table.columns),
                                  "rows": [list(map(spelled, row)) for row in table.rows]}
                   for table in exhibits if isinstance(table, Table)],
        "svg": to_svg([one for one in exhibits if not isinstance(one, Table)], name=f"l{number_of(name)}",
                      title=prose.title),
        "code": [listing(function) for function in lesson.SHOWN],
        "look": to_data(getattr(figures, "look", None)),
        "seconds": round(seconds, 2),
        "result": to_data(vars(figures)),
    }


def listing(function: Any) -> dict[str, Any]:
    """A function as it appears in its file, also if it is decorated as a context manager."""
    function = inspect.unwrap(function)
    lines, first = inspect.getsourcelines(function)
    folder, file = Path(inspect.getfile(function)).parts[-2:]
    source = textwrap.dedent("".join(lines)).rstrip()
    return {"name": function.__name__, "file": f"{folder}/{file}", "line": first, "source": source}


def about_model(bench: Workbench) -> str:
    """One line: its size, and how well it translates unseen sentences if its run has measured that."""
    config = bench.model.config
    line = (f"{bench.model.num_parameters() / 1e6:.2f} million parameters, width {config.d_model}, encoder layers:"
            f" {config.encoder_layers}, decoder layers: {config.decoder_layers}, heads in each:"
            f" {config.encoder_attention_heads}")
    try:
        test = json.loads((bench.run / "metrics.json").read_text("utf-8"))["evaluation"]["test"]
        return f"{line}; {test['exact_match']:.1f}% of {test['pairs']:,.0f} unseen sentences translated exactly"
    except (OSError, ValueError, KeyError, TypeError):  # none, cut, or without these figures
        return line
