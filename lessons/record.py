"""Running lessons, and what is kept of them: the one record that the page, the terminal and the explorer show.

    {"format": 1, "version": of seq2see, "budget": "full" | "reduced", "seeds": [0, 1, 2], "run": the model's folder,
     "command": that makes it again, "model": a line about it, "seconds": 734.1,
     "chapters": [{"title", "about", "lessons": [numbers, in reading order]}],
     "lessons":  [{"number", "name": "l03_scaling", "title", "claim", "how", "try",
                   "verdict": {"word": "holds" | "holds partly" | "does not hold here" | "not decidable here", "why",
                               "findings": [{"claim", "word", "why"}]},
                   "tables": [{"caption", "columns": [text], "rows": [[text]], "folded": large, shut until opened}],
                   "svg": the picture, an <svg> element in the colours --ink, --soft, --line, --blue, --orange, --green,
                          --purple and --red of whatever page it stands in, or else those of light,
                   "code": [{"name", "file", "line", "source"}],
                   "look": {"text", "kind", "layer", "head"} | null, "seconds": 1.2,
                   "result": the figures themselves, as `lesson.to_data` gives them}],
     "errata":   [{"title", "note": the sentence as the notes have it, "instead", "stands": bool, "why",
                   "table": as above, "code": as above}]}

Texts are plain, but for `code` between backquotes and *words spoken of* between stars. NaN and infinity are null.
"""

import inspect
import json
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seq2see import __version__
from .contents import CHAPTERS, load, number_of
from .drawing import to_svg
from .errata import ERRATA, Erratum
from .lesson import Lesson, to_data
from .workbench import Workbench

FORMAT = 1


def collect(bench: Workbench, names: list[str], *, errata: bool, command: str) -> dict[str, Any]:
    """Run these lessons and, if wanted, the errata; says how far it is."""
    begun = time.perf_counter()
    model = about_model(bench)  # first: a model that cannot be loaded is told before minutes of work
    lessons = []
    for count, name in enumerate(names, 1):
        lesson = load(name)
        print(f"[{count}/{len(names)}] lesson {number_of(name)}: {lesson.TITLE}", file=sys.stderr, flush=True)
        lessons.append(run_lesson(bench, lesson))
        said = lessons[-1]
        bench.say(f"{said['verdict']['word']} ({said['seconds']:.1f} s)")
    numbers = {lesson["number"] for lesson in lessons}
    chapters = [{"title": chapter.title, "about": chapter.about,
                 "lessons": [number_of(name) for name in chapter.names if number_of(name) in numbers]}
                for chapter in CHAPTERS]
    return {
        "format": FORMAT,
        "version": __version__,
        "budget": bench.budget.value,
        "seeds": list(bench.seeds),
        "run": str(bench.run),
        "command": command,
        "model": model,
        "chapters": [chapter for chapter in chapters if chapter["lessons"]],
        "lessons": lessons,
        "errata": [run_erratum(bench, show) for show in ERRATA] if errata else [],
        "seconds": round(time.perf_counter() - begun, 1),
    }


def run_lesson(bench: Workbench, lesson: Lesson) -> dict[str, Any]:
    begun = time.perf_counter()
    result = lesson.compute(bench)
    seconds = time.perf_counter() - begun
    name = lesson.__name__.rpartition(".")[2]
    number = number_of(name)
    return {
        "number": number,
        "name": name,
        "title": lesson.TITLE,
        "claim": lesson.CLAIM,
        "how": lesson.HOW,
        "try": lesson.TRY,
        "verdict": to_data(lesson.judge(result)),
        "tables": to_data(lesson.tables(result)),
        "svg": to_svg(lesson.draw, result, name=f"l{number}", title=lesson.TITLE),
        "code": [listing(function) for function in lesson.SHOWN],
        "look": to_data(lesson.look(result)),
        "seconds": round(seconds, 2),
        "result": to_data(result),
    }


def run_erratum(bench: Workbench, show: Callable[[Workbench], Erratum]) -> dict[str, Any]:
    found: dict[str, Any] = to_data(show(bench))
    return found | {"code": [listing(show)]}


def listing(function: Any) -> dict[str, Any]:
    """A function as it stands in its file, also where it is made a context manager there."""
    function = inspect.unwrap(function)
    lines, first = inspect.getsourcelines(function)
    folder, file = Path(inspect.getfile(function)).parts[-2:]
    source = textwrap.dedent("".join(lines)).rstrip()
    return {"name": function.__name__, "file": f"{folder}/{file}", "line": first, "source": source}


def about_model(bench: Workbench) -> str:
    """One line: size, training, and how well it translates what it has not seen; without what nobody has noted."""
    config = bench.model.config
    heads = config.encoder_attention_heads
    line = (f"{bench.model.num_parameters() / 1e6:.2f} million parameters, width {config.d_model},"
            f" {config.encoder_layers} encoder and {config.decoder_layers} decoder"
            f" {'layer' if config.encoder_layers == config.decoder_layers == 1 else 'layers'} of"
            f" {heads} head{'s' * (heads > 1)}")
    path = bench.run / "metrics.json"
    if not path.is_file():
        return f"{line}; trained for a few steps only"
    try:
        metrics = json.loads(path.read_text("utf-8"))
    except ValueError:  # cut, or no JSON
        return line
    seconds, right, pairs = (noted(metrics, *names) for names in (
        ("training", "seconds"), ("evaluation", "test", "exact_match"), ("evaluation", "test", "pairs")))
    line += f"; trained for {seconds / 60:.1f} minutes" if seconds is not None else ""
    scored = right is not None and pairs is not None
    return line + (f"; {right:.1f}% of {pairs:,.0f} unseen sentences translated exactly" if scored else "")


def noted(metrics: Any, *names: str) -> float | None:
    """The number that lies under these names, if there is one."""
    for name in names:
        metrics = metrics.get(name) if isinstance(metrics, dict) else None
    return metrics if isinstance(metrics, int | float) else None
