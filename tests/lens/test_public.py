"""The names that users are told of can be had from where they are told."""

import ast

import pytest

import seq2see
from seq2see import lens


def test_every_public_name_is_there_once_and_type_checkers_are_told_the_same_homes(root):
    assert len(lens.__all__) == len(set(lens.__all__)) and all(hasattr(lens, name) for name in lens.__all__)
    tree = ast.walk(ast.parse((root / "lens" / "__init__.py").read_text("utf-8")))
    typed = {name.asname: (f"{'.' * (node.level - 1)}{node.module}", name.name) for node in tree
             if isinstance(node, ast.ImportFrom) and node.level for name in node.names}
    assert typed == {name: (module, name) for name, module in lens._HOME_OF.items()}


@pytest.mark.parametrize("package", [seq2see, lens])
def test_no_name_is_that_of_a_module_or_room_which_would_take_its_place_once_it_is_imported(package, root):
    folders = [root / "lens"] if package is lens else [root, root / "seq2see"]
    assert not {path.stem for folder in folders for path in folder.iterdir()} & set(package.__all__)
