"""The names that users are told of can be had from where they are told."""

import importlib
import re

import pytest

import seq2see
from seq2see import lens

# What each part of the lens is asked for.
PROMISED = {
    "looking": ["Trace", "trace_hypotheses", "trace_texts", "add_views", "VIEWS", "word_map", "logit_lens", "outlook"],
    "drawing": ["picture", "to_html", "to_terminal", "save_plot", "summarise", "sink_shares"],
    "aligning": ["AlignmentChoice", "fit_alignment", "agreement", "Trust", "measure_trust"],
    "confidence": ["Calibration", "Calibrator", "with_confidence"],
    "ablation": ["ablate", "all_heads", "Head", "mean_outputs"],
    "patching": ["record", "patch", "MinimalPairs"],
    "what if": ["WhatIf", "steer"],
    "beams": ["beam_tree", "BeamTree"],
    "words": ["contextual", "static", "neighbours", "analogy", "distances", "project"],
}


@pytest.mark.parametrize("names", PROMISED.values(), ids=PROMISED)
def test_the_lens_gives_what_it_promises(names):
    assert set(names) <= set(lens.__all__)
    assert all(getattr(lens, name).__doc__ for name in names if name != "VIEWS")


def test_every_public_name_is_there_once():
    assert len(lens.__all__) == len(set(lens.__all__))
    assert not [name for name in lens.__all__ if not hasattr(lens, name)]


def test_type_checkers_are_told_the_same_homes(root):
    text = (root / "lens" / "__init__.py").read_text("utf-8")
    told = re.findall(r"^    from \.(\w+) import (\w+) as \2$", text, re.MULTILINE)
    assert {name: module for module, name in told} == lens._HOME_OF


def test_the_readme_imports_what_there_is(root):
    text = (root / "README.md").read_text("utf-8")
    found = re.findall(r"^from (seq2see[\w.]*) import (.+)$", text, re.MULTILINE)
    assert ("seq2see", "Translator") in found
    for module, names in found:
        for name in names.split(","):
            assert hasattr(importlib.import_module(module), name.strip())
    assert seq2see.Translator.look.__doc__ and seq2see.Translator.trust.__doc__
