"""Runs docs/lens.ipynb again, from its first cell to its last, and keeps what each prints and its pictures.

    python docs/run_notebook.py         it needs no Jupyter

Pages that show themselves (a trace, a comparison) are large, and viewers that do not run a notebook leave frames out:
of these the line of text is kept.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parent / "lens.ipynb"


def outputs(source: str, number: int, space: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and what its last expression is, drawn if it can draw itself."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed, found = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), space)
        value = eval(compile(last, f"cell {number}", "eval"), space) if last else None
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        data: dict[str, Any] = {"text/plain": [repr(value)]}
        if picture := getattr(value, "_repr_svg_", None):
            data = {"image/svg+xml": picture().splitlines(keepends=True), "text/plain": ["a map"]}
        found.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return found


def main() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    space: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        cell["execution_count"] = number
        cell["outputs"] = outputs("".join(cell["source"]), number, space)
        print(f"cell {number} of {len(cells)}")
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
