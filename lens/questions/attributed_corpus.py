"""`attribute_corpus`: the attributions of many sentences, in one file."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from tqdm import tqdm

from seq2see.atomic import atomic_stream
from seq2see.errors import UserError
from ..trace import Trace
from ..views.attribution_methods import SEGMENTS, Method, check_method, every_step
from .attribution import Attribution, Translates, attribution_of

if TYPE_CHECKING:
    import pandas

By = Literal["words", "tokens"]
SUFFIXES = (".parquet", ".csv")


def attribute_corpus(
    translator: Translates, texts: Sequence[str], path: str | Path, *, translations: Sequence[str] | None = None,
    method: Method = "integrated_gradients", by: By = "words", source_language: str | None = None,
    target_language: str | None = None, segments: int = SEGMENTS,
) -> "pandas.DataFrame":
    """Attribute every token of the translation of each text, as `attribute` does, and write one table.

    The table has the columns of `Attribution.to_pandas`, after `sentence`, the index of the text, and `part`, the index
    of the part that the text was cut into.  Indices count from 0.  A text that cannot be attributed, such as a blank
    one, is reported on stderr and has no rows.

    Args:
        translator: a `Translator`.
        texts: the source texts.
        path: the file to write, .parquet or .csv.
        translations: one for each text; None: the translator's own.
        method: as in `attribute`.
        by: "words" sums the contributions of a word's tokens; "tokens" keeps them apart.
        source_language: as `source` in a call of the translator.
        target_language: as `target` in a call of the translator.
        segments: as in `attribute`.

    Returns:
        The table.

    Raises:
        UserError: an unknown method, one that the model's family does not support, or another suffix; lists that differ
            in length.
    """
    import pandas

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise UserError(f"{path}: expected a name that ends in {' or '.join(SUFFIXES)}", exit_code=2)
    if by not in get_args(By):
        raise UserError(f"by {by!r}: expected words or tokens", exit_code=2)
    if isinstance(texts, str) or (translations is not None and len(translations) != len(texts)):
        raise UserError("expected a list of texts and, with translations, one for each", exit_code=2)
    with translator.inside() as (model, _):
        check_method(model, method)
    how = {"source": source_language, "target": target_language}
    frames = []
    for number, text in enumerate(tqdm(texts, desc="attributing", disable=None)):
        try:
            own = None if translations is None else translations[number]
            for part, trace in enumerate(_traces(translator, text, own, how)):
                found: Attribution = attribution_of(translator, trace, method, every_step(trace), segments=segments)
                frame = (found.by_words() if by == "words" else found).to_pandas()
                frame.insert(0, "sentence", number)
                frame.insert(1, "part", part)
                frames.append(frame)
        except UserError as error:
            tqdm.write(f"sentence {number} skipped: {error}", file=sys.stderr)
    if not frames:
        raise UserError("none of the texts can be attributed")
    table = pandas.concat(frames, ignore_index=True)
    with atomic_stream(path) as stream:
        if path.suffix == ".parquet":
            table.to_parquet(stream)
        else:
            table.to_csv(stream, index=False)
    return table


def _traces(translator: Translates, text: str, translation: str | None, how: dict[str, Any]) -> Iterator[Trace]:
    if translation is not None:
        yield translator.look_at(text, translation, **how)
        return
    result = translator(text, **how)
    if not result.hypotheses:
        raise UserError("it has no words")
    yield from translator.look(result)
