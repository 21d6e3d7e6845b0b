"""The replay of a training: the translations of three sentences at each moment, with all attention maps.

The weights of each moment were saved during training (`training/moments.py`); the last moment is the finished model.
Each sentence is translated greedily, and the hypothesis is traced with teacher forcing.  Where the training started
from a model that has a replay, that comes first, and steps are counted on.
"""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seq2see.errors import UserError
from seq2see.folders import local_folder
from seq2see.json_files import read_json
from ..lens.corpora.replay import Moment, Replay, load_replay, shape_of
from ..lens.trace import Trace
from ..lens.tracing import trace_hypotheses
from ..tokenizer.encoding import encode_source
from ..training.config import RunConfig
from ..training.moments import load_moment, moments_of
from ..training.progress import watched
from ..translate.decoding import DecodingOptions
from ..translate.loaded_checkpoint import fingerprint
from ..translate.translator import Translator
from .aligner import settings_of

SENTENCES = (  # with words of storybook only
    "The cat did not cross the street because it was too tired.",
    "The cat did not cross the street because it was too wide.",
    "The goat chased the wolf because it was hungry.",
)
SOURCE, TARGET = "en", "fr"
EARLIER = 9  # moments of the training before, of MOMENTS in all
MOST_TOKENS = 24  # of a translation; right ones have up to 20, but an untrained model does not stop


def can_be_replayed(config: RunConfig) -> bool:
    """Whether a training learns to translate the sentences, with the weights of the finished model: a LoRA adapter is
    merged only at the end."""
    return config.data.source == SOURCE and TARGET in config.data.targets and not config.model.lora


def make_replay(translator: Translator, run: Path, *, count: int) -> Replay:
    """The replay of the finished run that the translator has loaded: up to `EARLIER` moments of the model it started
    from, then at most `count` of its own, evenly spaced saved moments and the finished model."""
    last, files = kept_moments(run)
    numbers = np.linspace(0, len(files) - 1, min(len(files), count - 1)).round().astype(int)
    chosen = [list(files)[number] for number in numbers]
    then = Translator(copy.deepcopy(translator.model), translator.tokenizer)
    log = read_json(run / "metrics.json")["training"]["log"]
    found = []
    for step in watched(chosen, "replaying the training, moments", len(chosen)):
        load_moment(then.model, files[step])
        found.append(moment(step, log, trace_sentences(then)))
    found.append(moment(last, log, trace_sentences(translator)))
    earlier = moments_before(run, like=found[-1])
    begun = earlier[-1].step if earlier else 0
    return Replay(fingerprint(run), (*earlier, *(replace(one, step=begun + one.step) for one in found)))


def moments_before(run: Path, *, like: Moment) -> list[Moment]:
    """Evenly spaced moments of the model that a run was trained on from; none if it has none of the same sentences and
    heads, or is no longer there."""
    start = (settings_of(run).get("model") or {}).get("init_from")
    try:
        folder = start and local_folder(start)
        moments = load_replay(folder).moments if folder else ()
    except (UserError, FileNotFoundError):
        return []
    if not moments or shape_of(moments[0]) != shape_of(like):
        return []
    chosen = np.linspace(0, len(moments) - 1, min(len(moments), EARLIER)).round().astype(int)
    return [moments[number] for number in chosen]


def kept_moments(run: Path) -> tuple[int, dict[int, Path]]:
    """The step of a finished run's model, and the files of the moments saved before it."""
    training = read_json(run / "metrics.json")["training"]
    last = training.get("kept_step", training["steps"])  # missing in runs of earlier versions
    return last, {step: file for step, file in moments_of(run).items() if step < last}


def trace_sentences(translator: Translator) -> tuple[Trace, ...]:
    """Traces of the sentences as the model translates them now, each unsplit."""
    model, tokenizer = translator.model, translator.tokenizer
    options = translator.defaults.resolve(DecodingOptions(num_beams=1, max_new_tokens=MOST_TOKENS),
                                          first=translator.tag(TARGET))
    found = translator.torch_engine.translate([encode_source(tokenizer, text) for text in SENTENCES], options)
    hypotheses = [hypothesis.token_ids for hypothesis, in found]
    return tuple(trace_hypotheses(model, tokenizer, SENTENCES, hypotheses, given=1, source_language=SOURCE,
                                  target_language=TARGET))


def moment(step: int, log: list[dict[str, Any]], traces: tuple[Trace, ...]) -> Moment:
    """A moment, with the values of the training log at that step."""
    return Moment(step, last_logged(log, "loss", step), last_logged(log, "eval_bleu", step), traces)


def last_logged(log: list[dict[str, Any]], name: str, step: int) -> float | None:
    """The last logged value up to a step; None before the first."""
    return next((row[name] for row in reversed(log) if name in row and row["step"] <= step), None)
