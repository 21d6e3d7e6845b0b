"""The process behind `demo_run.DemoRun`: python -m seq2see.demo_worker RUN RECORD

Trains storybook's model into RUN, or resumes it, and keeps writing to the file RECORD how the current weights translate
one sentence.  Then it fits the word alignment.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, TrainerCallback, TrainerState
from transformers.trainer_callback import TrainerControl

from seq2see.atomic import atomic_write
from seq2see.demo_run import SENTENCE, end_with_parent
from seq2see.errors import UserError
from seq2see.lens.by_words import word_map
from seq2see.lens.tracing import trace_hypotheses
from seq2see.lens.what_if import generate
from seq2see.lens.wording import printable
from seq2see.tokenizer.encoding import encode_source
from seq2see.training.storybook_run import is_finished, train_storybook

EVERY = 1.0  # seconds between records, plus ten times the time of a record: at most a tenth of the training
SLOWER = 10
MOST_LOSSES = 300
ENOUGH = 50  # steps before the remaining time is estimated: the first ones are the slowest
MAX_TOKENS = 18  # of the translation, the length of the right one: an untrained model does not stop


class ProgressReporter(TrainerCallback):
    """Writes a record after a step, often enough to watch and rarely enough not to slow the training.

    A record has `state`, `step`, `steps`, `seconds_left`, `losses` [[step, loss], ...], `sentence`, `translation`,
    `log_prob`, and the cross-attention by words: `rows`, `columns`, and `maps`: for each layer and head the weights,
    row by row, in units of 1/255.
    """

    def __init__(self, path: Path):
        self.path = path
        self.losses: list[list[float]] = []
        self.next = 0.0
        self.first = 0
        self.begun = time.monotonic()

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        self.losses = [[row["step"], row["loss"]] for row in state.log_history if "loss" in row]
        self.first, self.begun = state.global_step, time.monotonic()

    def on_log(self, args: Any, state: TrainerState, control: TrainerControl, logs: Any = None, **kwargs: Any) -> None:
        if logs and "loss" in logs:
            self.losses.append([state.global_step, round(float(logs["loss"]), 4)])

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        began = time.monotonic()
        if began < self.next:
            return
        record = self.of_training(state) | translation_now(kwargs["model"], kwargs["processing_class"])
        atomic_write(self.path, json.dumps(record, ensure_ascii=False))
        now = time.monotonic()
        self.next = now + EVERY + SLOWER * (now - began)

    def on_train_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        record = {"state": "measuring"} | translation_now(kwargs["model"], kwargs["processing_class"])
        atomic_write(self.path, json.dumps(self.of_training(state) | record, ensure_ascii=False))

    def of_training(self, state: TrainerState) -> dict[str, Any]:
        done = state.global_step - self.first
        pace = (time.monotonic() - self.begun) / done if done >= ENOUGH else None
        left = pace and pace * (state.max_steps - state.global_step)
        thin = -(-len(self.losses) // MOST_LOSSES) or 1
        return {"state": "learning", "step": state.global_step, "steps": state.max_steps, "seconds_left": left,
                "losses": self.losses[::thin]}  # fmt: skip


def translation_now(model: PreTrainedModel, tokenizer: Any) -> dict[str, Any]:
    """The greedy translation of the sentence with the current weights, and every head of its cross-attention."""
    tag = tokenizer.tag_id("fr")
    source = encode_source(tokenizer, SENTENCE)
    ids = generate(model, source, prefix_ids=[tag], num_beams=1, forced=True, most=MAX_TOKENS)
    [trace] = trace_hypotheses(model, tokenizer, [SENTENCE], [ids], given=1, source_language="en", target_language="fr")
    by_words = word_map(trace, "cross")
    return {
        "sentence": SENTENCE,
        "translation": printable(trace.target_text),
        "log_prob": trace.log_prob,
        "rows": [printable(unit.text) for unit in by_words.rows],
        "columns": [printable(unit.text) for unit in by_words.columns],
        "maps": [[(head * 255).round().astype(int).ravel().tolist() for head in layer] for layer in by_words.maps],
    }


def fit(run: Path) -> None:
    """Fit the word alignment from raw weights on storybook's validation set, and save it in the run."""
    from seq2see.lens.alignment_choice import FILE
    from seq2see.lens.alignment_fitting import fit_alignment
    from seq2see.measures.aligner import Aligner, settings_of, storybook, texts_and_links
    from seq2see.measures.gold import groups_of
    from seq2see.translate.loaded_checkpoint import fingerprint
    from seq2see.translate.translator import Translator

    if (run / FILE).is_file():
        return
    stories = storybook(settings_of(run)).val
    pairs, gold = texts_and_links(stories)
    traces = Aligner(Translator.from_pretrained(run, engine="torch")).traces(pairs, views=("raw",))
    choice = fit_alignment(filter(None, traces), gold, fitted_on="storybook's validation part",
                           groups=groups_of(stories), fingerprint=fingerprint(run))
    choice.save(run / FILE)


def main(run: Path, path: Path) -> int:
    end_with_parent(path.parent)
    try:
        if not is_finished(run):
            train_storybook(run, callbacks=[ProgressReporter(path)])
        if hasattr(os, "nice"):  # not on Windows
            os.nice(10)  # the page is translating meanwhile
        fit(run)
    except (UserError, OSError) as error:
        print(f"seq2see: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2])))
