"""The names that users are told of can be had from where they are told."""

import re

from seq2see import lens


def test_every_public_name_is_there_once_and_type_checkers_are_told_the_same_homes(root):
    assert len(lens.__all__) == len(set(lens.__all__)) and all(hasattr(lens, name) for name in lens.__all__)
    text = (root / "lens" / "__init__.py").read_text("utf-8")
    told = re.findall(r"^    from \.(\w+) import (\w+) as \2$", text, re.MULTILINE)
    assert {name: module for module, name in told} == lens._HOME_OF
