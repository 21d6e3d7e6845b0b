"""Training: the same sentence at each checkpoint of the run, as it was while it learnt."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from seq2see.errors import UserError
from ....lens.changes import changed_words
from ....lens.show import view_data
from ....translate.translator import Translator
from ..history import checkpoints
from . import Question

KEPT = 4  # checkpoints in memory


class CheckpointQuestion(Question):
    """`number`: of the list that `history` gave; None: of the list alone."""

    step: int | None = Field(default=None, ge=0)


@lru_cache(maxsize=KEPT)
def _load(folder: Path, changed: int) -> Translator:
    return Translator.from_pretrained(folder, engine="torch")


def training(translator: Translator, asked: CheckpointQuestion) -> dict[str, Any]:
    """The steps there are, or what the model of one step would say."""
    translator.check_files()
    found = checkpoints(translator.folder)
    if asked.step is None:
        return {"steps": list(found)}
    if asked.step not in found:
        raise UserError(f"there is no checkpoint of step {asked.step} any more")
    folder = found[asked.step]
    then = _load(folder, folder.stat().st_mtime_ns)
    shown, text = asked.shown, asked.chosen.text
    result = then(text, source=shown.source or None, target=shown.target or None)
    trace = then.look(result)[0]
    final = asked.trace(then)  # what is shown, under the weights of then
    _, after = changed_words(final.target_text, trace.target_text, language=shown.target)
    return {"after": after, "log_prob": final.log_prob, "new_log_prob": trace.log_prob, "data": view_data(trace)}
