"""Switch off: the translation without some heads, beside the one shown."""

from typing import Any

from pydantic import Field

from ....lens.changes import changed_words
from ....lens.kinds import Kind
from ....translate.translator import Translator
from . import Question


class HeadsQuestion(Question):
    heads: list[tuple[Kind, int, int]] = Field(min_length=1, max_length=4096)


def switch_off(translator: Translator, asked: HeadsQuestion) -> dict[str, Any]:
    """Both translations with their changed words marked; how probable the one shown is with the heads and without, and
    how probable, without them, the new one."""
    from ....lens.ablation import ablate  # these import torch
    from ....lens.reading import trace_hypotheses
    from ....lens.what_if import WhatIf

    trace = asked.trace(translator)
    beams = asked.shown.asked.get("num_beams")
    with translator.inside() as (model, tokenizer):
        what_if = WhatIf(model, tokenizer, asked.shown.source, asked.shown.target, int(beams) if beams else None)
        with ablate(model, asked.heads):
            new = what_if.again(trace)
            [same] = trace_hypotheses(model, tokenizer, [trace.source_text], [trace.target_ids], given=trace.given,
                                      source_language=trace.source_language, target_language=trace.target_language)
    before, after = changed_words(trace.target_text, new.target_text, language=asked.shown.target)
    return {
        "before": before, "after": after, "log_prob": trace.log_prob, "log_prob_without": same.log_prob,
        "new_log_prob": new.log_prob, "finished": new.target[-1].special,
    }  # fmt: skip
