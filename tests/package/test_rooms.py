"""The laws inside rooms, in Python and in JavaScript, and what stands at the door of each."""

import ast
import pkgutil
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import seq2see
from .test_layout import FILES, MAY_IMPORT, ROOT, imports, module_of, name_of, tree

# The floors of the lens, upwards: a room or module imports what is on lower floors.
LENS = ({"records"}, {"data"}, {"views", "show", "changes"}, {"trace"}, {"tracing", "heads", "comparisons"},
        {"questions", "corpora"}, {"sums"}, {"measurements"}, {"__init__"})
# What each room of the page's scripts imports of the others; all may import `data.js`, which comes from Python.
WEBPAGE: dict[str, set[str]] = {
    "style": set(),
    "model": set(),
    "common": set(),
    "answers": {"model"},
    "maps": {"common"},
    "lab": {"common", "maps"},
    "see": {"common", "lab", "maps"},
    "machine": {"common", "lab"},
    "lessons": {"common", "lab", "machine"},
    "explorer": {"answers", "common", "lab", "lessons", "machine", "maps", "see"},
}
DATA = "webpage/data.js"
SCRIPTS = sorted((ROOT / "webpage").rglob("*.js"))
DOORS = [path for path in FILES if path.name == "__init__.py"]


def inner(module: str) -> tuple[str, str]:
    """The room of a module, and the inner room or module in it."""
    parts = [*module.removeprefix("seq2see.").split("."), "__init__"]
    return parts[0], parts[1]


@cache
def arrows() -> set[tuple[tuple[str, str], tuple[str, str]]]:
    """From what imports to what is imported: each a room and an inner room or module."""
    modules, found = {module_of(path) for path in FILES}, set()
    for path in FILES:
        for module, name, _ in imports(path):
            imported = next((one for one in (f"{module}.{name}", module) if one in modules), None)
            if imported and inner(imported) != inner(module_of(path)):
                found.add((inner(module_of(path)), inner(imported)))
    return found


def imported_scripts(path: Path) -> Iterator[str]:
    for place in re.findall(r'\bfrom "(\.[^"]+)";$', path.read_text("utf-8"), re.MULTILINE):
        yield posixpath.normpath(posixpath.join(name_of(path.parent), place))


def test_inside_the_lens_imports_point_to_lower_floors() -> None:
    floor = {name: number for number, names in enumerate(LENS) for name in names}
    inside = {(importer[1], imported[1]) for importer, imported in arrows() if importer[0] == imported[0] == "lens"}
    assert not {(one, other) for one, other in inside if floor[other] >= floor[one]}


def test_no_inner_rooms_import_each_other_in_a_circle() -> None:
    graph = defaultdict(set)
    for importer, imported in arrows():
        if importer[0] == imported[0]:
            graph[importer].add(imported)
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_inside_the_page_scripts_import_the_rooms_that_they_may() -> None:
    for path in SCRIPTS:
        rooms = {Path(name).parent.name for name in imported_scripts(path) if name != DATA}
        assert rooms <= WEBPAGE[path.parent.name] | {path.parent.name}, name_of(path)


def test_no_scripts_import_each_other_in_a_circle_and_each_is_there() -> None:
    graph = {name_of(path): {*imported_scripts(path)} for path in SCRIPTS}
    assert {name for names in graph.values() for name in names} <= graph.keys() | {DATA}
    TopologicalSorter(graph).prepare()


def test_no_two_scripts_share_a_name() -> None:
    assert len({path.name for path in SCRIPTS}) == len(SCRIPTS), "a bundle names their scopes by it"


def test_no_class_has_the_name_of_a_class_in_another_room() -> None:
    rooms = defaultdict(set)
    for path in FILES:
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef):
                rooms[node.name].add(name_of(path.parent))
    assert not {name: where for name, where in rooms.items() if len(where) > 1}


@pytest.mark.parametrize("door", DOORS, ids=lambda path: name_of(path.parent))
def test_a_door_says_what_the_room_imports_and_where_to_begin(door: Path) -> None:
    *_, imported, begin = (ast.get_docstring(tree(door)) or "").splitlines()
    assert begin.startswith("Begin with ")
    assert all((door.parent / name).exists() for name in re.findall(r"`([\w/]+(?:\.py|/))`", begin)) and "`" in begin
    room = name_of(door.parent)
    if room in MAY_IMPORT:
        assert named(imported) == MAY_IMPORT[room] & MAY_IMPORT.keys() - {room}
    elif room.startswith("lens/"):
        floor = next(number for number, names in enumerate(LENS) if door.parent.name in names)
        lower = {name for names in LENS[:floor] for name in names}
        assert named(imported) == {other[1] for one, other in arrows() if one == ("lens", door.parent.name)} & lower


@pytest.mark.parametrize("room", WEBPAGE)
def test_a_room_of_the_page_says_the_same(room: str) -> None:
    what, imported, begin = (ROOT / "webpage" / room / "README.md").read_text("utf-8").splitlines()
    assert what.startswith("- ") and named(imported) == WEBPAGE[room]
    first = re.fullmatch(r"- Begin with `(\w+\.(?:js|css))`\..*", begin)
    assert first and (ROOT / "webpage" / room / first[1]).is_file()


def named(line: str) -> set[str]:
    """The rooms that a line of a door names."""
    found = re.fullmatch(r"(?:- )?Imports (?:nothing of ours|([\w, ]+))\.(?: .*)?", line)
    assert found, line
    return {*(found[1] or "").replace(" and ", ", ").split(", ")} - {""}


def test_a_walk_through_the_package_ends_and_names_each_module_once() -> None:
    names = [one.name for one in pkgutil.walk_packages(seq2see.__path__, "seq2see.")]
    assert sorted(names) == sorted({module_of(path) for path in FILES} - {"seq2see"})
