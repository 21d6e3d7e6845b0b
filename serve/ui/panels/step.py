"""Step: what each decoder layer would have said, had it been the last."""

from typing import Any

from ....lens.wording import label
from ....translate.translator import Translator
from . import Question


def layers(translator: Translator, asked: Question) -> dict[str, Any]:
    """For each layer and step: the piece's log-probability and rank there, and the layer's own five candidates."""
    from ....lens.logits import logit_lens  # imports torch

    trace = asked.trace(translator)
    with translator.inside() as (model, tokenizer):
        [found] = logit_lens(model, tokenizer, [trace])
    return {
        "log_probs": found.log_probs.tolist(),
        "ranks": found.ranks.tolist(),
        "top": [[[[label(one.text), one.log_prob] for one in step] for step in layer] for layer in found.top],
    }
