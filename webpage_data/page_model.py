"""A model for the page without a server, besides its weights: one JSON object, read by `webpage/answers/answer.js`.

    name, config, generation_config, tokenizer      the latter three as in their .json files
    language_pairs                                  [[source, target], ...], the default first
    seen_words     {language: [word, ...]}          casefolded words of the training text
    sentence_rules {language: {...}}                where its sentences end (`sentence_rules.py`)
    calibration    {language: {steps, sentences}}   of a token's probability, and of a whole translation's, or null
    alignment, trust, measured                      as `/v1/look` uses and sends them
    nouns          [[source, target, gender], ...]  that a pronoun may refer to
    head_means     {"en-fr": {averaged_over, heads: {"cross.0.0": [...], ...}}}    the output of a head that is off
    feed_forward_means  {"en-fr": [[...], ...]}     the same of the feed-forward layers of the decoder
"""

from copy import deepcopy
from dataclasses import asdict
from itertools import chain
from typing import Any

import torch

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from seq2see.json_files import read_json
from ..lens.records.roles import measured_record
from ..tokenizer.language_codes import iso
from ..translate.translator import Translator
from .page_weights import WebWeights
from .sentence_rules import sentence_rules

DIGITS = 6  # of what the heads give on average
FEED_FORWARD_DIGITS = 4  # of feed-forward layers, whose numbers are larger
FILES = ("config", "generation_config", "tokenizer")


def web_model(translator: Translator, weights: WebWeights) -> dict[str, Any]:
    """The object for this model, whose `weights` the browser reads.

    Raises UserError for a model that was not loaded from a folder, or is not a Seq2See model.
    """
    folder, known = translator.folder, translator.measurements
    if folder is None or translator.model_type != "seq2see":
        raise UserError("only a Seq2See model in a folder can run in a browser")
    pairs = [list(pair) for pair in translator.language_pairs]
    calibration = known.calibration
    means = {"-".join(pair): both for pair in pairs if (both := _means(translator, weights, *pair))}
    return {name: read_json(folder / f"{name}.json") for name in FILES} | {
        "name": translator.name,
        "language_pairs": pairs,
        "seen_words": {source: sorted(seen) for source, _ in pairs if (seen := translator.seen_words(source))},
        "sentence_rules": {language: sentence_rules(iso(language)) for language in sorted({*chain(*pairs)})},
        "calibration": {target: {
            "steps": asdict(found) if (found := calibration.calibrator(target)) else None,
            "sentences": asdict(whole) if (whole := calibration.sentence_calibrator(target)) else None,
        } for _, target in pairs} if calibration else {},
        "alignment": asdict(translator.known_choice),
        "trust": known.trust and asdict(known.trust),
        "measured": measured_record(known.roles, known.pronoun_effects),
        "nouns": sorted(map(list, known.nouns)),
        "head_means": {pair: heads for pair, (heads, _) in means.items()},
        "feed_forward_means": {pair: layers for pair, (_, layers) in means.items()},
    }


def _means(
    translator: Translator, weights: WebWeights, source: str, target: str
) -> tuple[dict[str, Any], list[list[float]]] | None:
    """The means of heads and of feed-forward layers, with these weights, over the example sentences beside the model.

    None without such sentences.
    """
    with IMPORTS:
        from ..lens.changes.means import feed_forward_means, head_means

    trace = translator.look_at("a", "a", source=source, target=target)  # for its languages
    with translator.inside() as (model, tokenizer):
        same = deepcopy(model)
        same.load_state_dict(weights.state, strict=False)  # without tied weights
        means, sentences = head_means(same, tokenizer, trace, translator.folder)
        layers, _ = feed_forward_means(same, tokenizer, trace, translator.folder)
    if not sentences:
        return None
    heads = {f"{kind}.{layer}.{head}": _rounded(values, DIGITS) for (kind, layer, head), values in means.items()}
    return ({"averaged_over": sentences, "heads": heads},
            [_rounded(layers[layer], FEED_FORWARD_DIGITS) for layer in sorted(layers)])


def _rounded(values: torch.Tensor, digits: int) -> list[float]:
    return [round(one, digits) for one in values.tolist()]
