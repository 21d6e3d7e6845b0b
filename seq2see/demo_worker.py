"""The process behind `demo_run.DemoRun`: python -m seq2see.demo_worker RUN

Trains storybook's model into RUN, or resumes it; then it fits the word alignment.
"""

import os
import sys
from pathlib import Path

from seq2see.demo_run import end_with_parent
from seq2see.errors import UserError
from seq2see.training.storybook_run import is_finished, train_storybook


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


def main(run: Path) -> int:
    end_with_parent()
    try:
        if not is_finished(run):
            train_storybook(run)
        if hasattr(os, "nice"):  # not on Windows
            os.nice(10)  # the page may be translating meanwhile
        fit(run)
    except (UserError, OSError) as error:
        print(f"seq2see: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
