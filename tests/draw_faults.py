"""Draws faults for tests/planted.toml: `python tests/draw_faults.py` prints them, to be stored with the tests of each.

Every place in the syntax trees of the package where one small change is possible is a candidate.  Each folder gets a
share of the faults by its size, and a shuffle with a fixed seed decides which, at most one per function.  Not drawn
from: messages, representations, annotations, defaults, logging, limits of time and size, and lengths in drawings.
Needs tree-sitter and tree-sitter-javascript, which nothing else needs.
"""

import ast
import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_javascript
from seed_faults import ROOT, functions, sources

SEED, FAULTS = 1, 48
SHORTEST = 10  # characters to find the place by
FLIPPED = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===", "in": "not in",
    "not in": "in", "is": "is not", "is not": "is", "+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*",
    "and": "or", "or": "and", "&&": "||", "||": "&&", "??": "||", "|": "&", "&": "|",
}
COSMETIC = re.compile(r"__(repr|str)__|log|warn|print|say|cache|message|title|label|describe|plot|draw|figure|colou?r"
                      r"|style|pixel|animat|focus|scroll", re.IGNORECASE)
UNIMPORTANT = {"timeout", "strict", "maxsize", "indent", "width", "encoding", "errors", "concurrent", "dtype"}
DRAWING = re.compile(r"/(plot|drawing|figures|palette|heads_report|circuit_page)\.py$"
                     r"|machine_(stage|river|layout)\.js$")
Edit = tuple[str, int, int, str]  # kind of change, start, end, what stands there instead
Candidate = tuple[str, Path, str, str, str]  # kind of change, file, function, before, after


def python_edits(text: str, tree: ast.AST) -> Iterator[tuple[list[ast.AST], Edit]]:
    """Small changes in functions, each with the nodes around it, the innermost first."""
    raw = text.encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(node: Any) -> tuple[int, int]:
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        return len(raw[:begin].decode()), len(raw[:end].decode())

    def of(node: Any) -> str:
        start, end = place(node)
        return text[start:end]

    def between(left: Any, right: Any) -> Iterator[Edit]:
        start, end = place(left)[1], place(right)[0]
        sign = text[start:end].strip(" ()\n")
        if sign in FLIPPED:
            at = text.index(sign, start)
            yield "sign", at, at + len(sign), FLIPPED[sign]

    def instead(kind: str, node: Any, new: str) -> Edit:
        return kind, *place(node), new

    def edits(node: Any) -> Iterator[Edit]:
        match node:
            case ast.Compare(left=left, comparators=[right]):
                yield from between(left, right)
            case ast.BinOp(left=left, right=right) if not any(isinstance(part, ast.JoinedStr | ast.List) or (
                    isinstance(part, ast.Constant) and isinstance(part.value, str)) for part in ast.walk(node)):
                yield from between(left, right)
            case ast.BoolOp(values=[left, right, *rest]):
                if not rest:
                    yield from between(left, right)
            case ast.Constant(value=bool(value)):
                yield instead("constant", node, str(not value))
            case ast.Constant(value=int(value)):
                yield instead("constant", node, str(value + 1))
            case ast.UnaryOp(operand=operand, op=ast.Not() | ast.USub()) if not isinstance(operand, ast.Constant):
                yield instead("negated", node, of(operand))
            case ast.Call(args=[first, second, *_], func=func) if of(func) not in ("isinstance", "map", "zip"):
                if type(first) is type(second) not in (ast.Starred, ast.Constant) and of(first) != of(second):
                    start, end = place(first)[0], place(second)[1]
                    yield "swapped", start, end, of(second) + text[place(first)[1]:place(second)[0]] + of(first)
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield instead("negated", test, f"(not ({of(test)}))")
            case ast.comprehension(ifs=[test]):
                yield instead("negated", test, f"not ({of(test)})")
            case ast.Return(value=ast.BinOp(left=kept) | ast.BoolOp(values=[kept, *_]) | ast.IfExp(body=kept)):
                yield instead("returned", node.value, of(kept))
            case ast.Expr(value=ast.Call()) | ast.AugAssign():
                yield instead("removed", node, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield instead("removed", node, "pass")

    def walk(node: ast.AST, around: list[ast.AST]) -> Iterator[tuple[list[ast.AST], Edit]]:
        match node:
            case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.arguments():
                return
            case ast.Call(func=func) if COSMETIC.search(of(func)):
                return
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if COSMETIC.search(name):
                return
            case ast.keyword(arg=str(name)) if name in UNIMPORTANT:
                return
        inside = [node, *around]
        if any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in around):
            yield from ((inside, edit) for edit in edits(node))
        for name, value in ast.iter_fields(node):
            if name not in ("returns", "annotation", "decorator_list", "type_params"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from walk(child, inside)

    for around, edit in walk(tree, []):
        yield [place(node) for node in around if hasattr(node, "lineno")], edit


def javascript_edits(text: str) -> Iterator[tuple[list[tuple[int, int]], Edit]]:
    raw = text.encode()
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))

    def place(node: Any) -> tuple[int, int]:
        return len(raw[:node.start_byte].decode()), len(raw[:node.end_byte].decode())

    def of(node: Any) -> str:
        return node.text.decode()

    def edits(node: Any) -> Iterator[Edit]:
        names = ("operator", "condition", "consequence", "alternative")
        fields = {name: node.child_by_field_name(name) for name in names}
        match node.type:
            case "binary_expression" if of(fields["operator"]) in FLIPPED:
                if not any(part.type in ("string", "template_string") for part in node.named_children):
                    yield "sign", *place(fields["operator"]), FLIPPED[of(fields["operator"])]
            case "unary_expression" if of(fields["operator"]) in "!-" and node.named_children[0].type != "number":
                yield "negated", *place(node), of(node.named_children[0])
            case "if_statement":
                yield "negated", *place(fields["condition"]), f"(!{of(fields['condition'])})"
            case "ternary_expression":
                start, end = place(fields["consequence"])[0], place(fields["alternative"])[1]
                between = text[place(fields["consequence"])[1]:place(fields["alternative"])[0]]
                yield "negated", start, end, of(fields["alternative"]) + between + of(fields["consequence"])
            case "number" if node.parent.type in ("subscript_expression", "arguments") and of(node) in "012":
                yield "constant", *place(node), str(int(of(node)) + 1)
            case "arguments" if len(node.named_children) >= 2:
                first, second = node.named_children[:2]
                if first.type == second.type not in ("spread_element", "object") and of(first) != of(second):
                    start, end = place(first)[0], place(second)[1]
                    yield "swapped", start, end, of(second) + text[place(first)[1]:place(second)[0]] + of(first)
            case "expression_statement" if node.named_children[0].type in (
                    "call_expression", "augmented_assignment_expression", "await_expression"):
                yield "removed", *place(node), ";"

    def walk(node: Any, around: list[tuple[int, int]]) -> Iterator[tuple[list[tuple[int, int]], Edit]]:
        name = node.child_by_field_name("name") or node.child_by_field_name("function")
        if node.type in ("template_string", "string", "import_statement", "throw_statement", "formal_parameters"):
            return
        if name is not None and COSMETIC.search(of(name)):
            return
        inside = [place(node), *around]
        yield from ((inside, edit) for edit in edits(node))
        for child in node.named_children:
            yield from walk(child, inside)

    yield from walk(parser.parse(raw).root_node, [])


def candidates(path: Path) -> Iterator[Candidate]:
    """Each with the shortest expression or statement around the change that occurs once in the function."""
    text = path.read_text("utf-8")
    places = [*functions(path)]
    found = javascript_edits(text) if path.suffix == ".js" else python_edits(text, ast.parse(text))
    for around, (kind, start, end, new) in found:
        owners = [(last - first, name, first, last) for name, first, last in places if first <= start and end <= last]
        if not owners:
            continue
        _, name, first, last = min(owners)
        for begin, finish in around:
            before, is_around = text[begin:finish], first <= begin <= start and end <= finish
            if is_around and len(before) >= SHORTEST and text[first:last].count(before) == 1:
                yield kind, path, name, before, text[begin:start] + new + text[end:finish]
                break


def main() -> None:
    # What was drawn before and found to change nothing that a user could see.
    equivalent = {(one["function"], one["after"]) for one in
                  tomllib.loads((ROOT / "tests/planted.toml").read_text("utf-8")).get("equivalent", [])}
    rooms: dict[str, list[Path]] = defaultdict(list)
    for path in sources(ROOT):
        if (room := path.relative_to(ROOT).parts[0]) not in ("configs", "__init__.py"):
            rooms["browser" if path.suffix == ".js" else room].append(path)
    sizes = {room: sum(len(path.read_text("utf-8").splitlines()) for path in paths) for room, paths in rooms.items()}
    for room, paths in sorted(rooms.items()):
        kinds: dict[str, list[Candidate]] = defaultdict(list)
        for path in paths:
            if not DRAWING.search(str(path)):
                for one in candidates(path):
                    kinds[one[0]].append(one)
        wanted, taken = max(1, round(FAULTS * sizes[room] / sum(sizes.values()))), set()
        chance = random.Random(f"{SEED} {room}")
        while len(taken) < wanted:
            _, path, name, before, after = chance.choice(kinds[chance.choice(sorted(kinds))])
            if name not in taken and (name, after) not in equivalent:
                taken.add(name)
                print(f"# {path.relative_to(ROOT)}\n[[fault]]\nfunction = {name!r}")
                print(f"before = '''{before}'''\nafter = '''{after}'''\n")


if __name__ == "__main__":
    main()
