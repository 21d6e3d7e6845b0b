"""Arithmetic: the numbers behind one row of one head's map."""

from dataclasses import fields
from typing import Any

import numpy as np

from ....translate.translator import Translator
from . import HeadQuestion


def arithmetic(translator: Translator, asked: HeadQuestion) -> dict[str, Any]:
    """All that `lens.arithmetic` finds; a score that is masked is None."""
    from ....lens.arithmetic import arithmetic as numbers  # imports torch

    trace = asked.trace(translator)
    with translator.inside() as (model, _):
        found = numbers(model, trace, (asked.kind, asked.layer, asked.head), asked.row)
    data = {one.name: np.asarray(getattr(found, one.name)).tolist() for one in fields(found)}
    data["scores"] = [score if seen else None for score, seen in zip(data["scores"], data["allowed"], strict=True)]
    return data
