"""A model for the page without a server, besides its weights: one JSON object, read by `webpage/answers/answer.js`.

    name, architecture              (`architecture.py`)
    generation_config, tokenizer    as in their .json files, but see `page_tokenizer.py` for other families' tokenizers
    language_pairs                                  [[source, target], ...], the default first
    seen_words     {language: [word, ...]}          casefolded words of the training text
    sentence_rules {language: {...}}                where its sentences end (`sentence_rules.py`)
    calibration    {language: {steps, sentences}}   of a token's probability, and of a whole translation's, or null
    alignment, trust, measured                      as `/v1/look` uses and sends them
    nouns          [[source, target, gender], ...]  that a pronoun may refer to
    head_means     {"en-fr": {averaged_over, heads: {"cross.0.0": [...], ...}}}    the output of a head that is off
    feed_forward_means  {"en-fr": [[...], ...]}     the same of the feed-forward layers of the decoder
"""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch

from seq2see.errors import UserError
from seq2see.importing import IMPORTS
from seq2see.json_files import read_json
from ..lens.records.roles import measured_record
from ..tokenizer.language_codes import iso
from ..tokenizer.language_pairs import Pair
from ..translate.translator import Translator
from .architecture import architecture
from .page_tokenizer import page_tokenizer
from .page_weights import WebWeights
from .sentence_rules import sentence_rules

DIGITS = 6  # of what the heads give on average
FEED_FORWARD_DIGITS = 4  # of feed-forward layers, whose numbers are larger
MOST_PAIRS = 20  # of languages in one page


def page_name(translator: Translator) -> str:
    """The model's name, of a path or an id on the Hub its last part."""
    return Path(translator.name).name or "model"


def page_pairs(translator: Translator, wanted: Sequence[Pair] = ()) -> list[Pair]:
    """The pairs of languages of a page: those wanted, or all.

    Raises UserError for a pair that the model does not have, for too many, and for a model that names none.
    """
    known = translator.language_pairs
    wanted = [known.find(source, target) if known else (source, target) for source, target in wanted]
    pairs = list(dict.fromkeys(wanted)) or list(islice(known, MOST_PAIRS + 1))
    if not pairs:
        raise UserError(f"{translator.name} names no languages: name them with --pair, such as --pair en de",
                        exit_code=2)
    if len(pairs) > MOST_PAIRS:
        source, target = known[1 if known[0][0] == known[0][1] else 0]
        raise UserError(f"{translator.name} translates {len(wanted or known):,} pairs of languages, and a page has up"
                        f" to {MOST_PAIRS}: choose them with --pair, such as --pair {source} {target}", exit_code=2)
    return pairs


def what_runs(translator: Translator, pairs: Sequence[Pair]) -> dict[str, Any]:
    """The part of the object that translates: `architecture`, `generation_config` and `tokenizer`.

    Raises UserError for a model that was not loaded from a folder, and as `architecture` and `page_tokenizer`.
    """
    folder = translator.folder
    if folder is None:
        raise UserError("only a model in a folder can run in a browser")
    with translator.inside() as (model, tokenizer):
        return {
            "architecture": architecture(model),
            "generation_config": json.loads(model.generation_config.to_json_string(use_diff=False)),
            "tokenizer": read_json(folder / "tokenizer.json") if translator.model_type == "seq2see" else page_tokenizer(
                tokenizer, model.config, pairs),
        }


def web_model(
    translator: Translator, weights: WebWeights, pairs: Sequence[Pair] = (), *, runs: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The object for this model, whose `weights` the browser reads, with these pairs of languages, or all.

    Args:
        runs: the part that translates, cut to the vocabulary of the weights; None: with the whole vocabulary.

    Raises UserError as `what_runs` and `page_pairs`.
    """
    known, pairs = translator.measurements, page_pairs(translator, pairs)
    runs, calibration = runs or what_runs(translator, pairs), known.calibration
    means = {"-".join(pair): both for pair in pairs if (both := _means(translator, weights, *pair))}
    return {
        "name": page_name(translator),
        **runs,
        "language_pairs": [list(pair) for pair in pairs],
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
        from ..lens.changes.means import EXAMPLES, feed_forward_means, head_means

    assert translator.folder
    if not (translator.folder / EXAMPLES).is_file():
        return None

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
