"""The sentence pairs that a model is measured on, which it was not trained on: its run's own, or a user's files.

What is chosen or fitted on the validation pairs is reported on the test pairs; of pairs without such parts, one half is
for each.  No source sentence is in both.  Source sentences with several references are left out: a translation that
equals another one of them would count as wrong.  Storybook is regular as no other text is: beside other pairs it is
reported, and nothing is fitted on it.
"""

import csv
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seq2see.errors import UserError
from ..lens.heads.alignment_fitting import check_links
from ..text.word_links import Links, read_pharaoh
from ..tokenizer.encoding import encode_target
from ..tokenizer.language_codes import codes_of, is_language
from ..tokenizer.words import split_words
from ..training.checkpoints import find_record
from ..training.config import BUILT_IN, DataConfig, load_record
from ..training.pairs import ALL, Pair, load_split, sentence_key
from ..training.reading import TABLES, Fault, find_part, hash_fraction, is_nowhere, is_table, read_lines
from ..translate.translator import Translator
from .aligner import language_pair
from .parallel_files import TextPair

STORYBOOK = "storybook"
NAME_WORDS = 3  # of a column: more are a sentence

Languages = tuple[str, str]
Halves = tuple[list[TextPair], list[TextPair]]  # to fit on, to measure on


@dataclass(frozen=True)
class HeldOutPairs:
    """Pairs of a corpus that the model was not trained on, in random order: those to fit on (used if `decides`) and
    those to measure on; `given`: the pairs of a user's file that were halved."""

    name: str
    languages: Languages
    fitted: list[TextPair]
    held: list[TextPair]
    decides: bool
    given: int = 0


def held_out_pairs(
    translator: Translator, data: Sequence[str] = (), check: Sequence[str] = (), *, source: str | None = None,
    target: str | None = None,
) -> tuple[list[HeldOutPairs], str]:
    """The corpora of `data` or of the model's run, for each target language or `target`, with those of `check` to
    measure on; and a name for what is measured on.

    UserError where there are none, or a language that the model does not have.
    """
    assert translator.folder is not None
    checked = [HeldOutPairs(Path(path).name, pair, [], _shuffled(_single(pairs)), decides=path != STORYBOOK)
               for path in check for pair, pairs in _of_file(translator, path, source, target).items()]
    reported = any(one.decides for one in checked)  # on pairs of other text, so that the run's own are all fitted on
    corpora = []
    if data:
        for path in data:
            for pair, pairs in _of_file(translator, path, source, target).items():
                fitted, held = (_shuffled(_single(pairs)), []) if reported else _halves(_single(pairs))
                corpora.append(HeldOutPairs(Path(path).name, pair, fitted, held, decides=True,
                                      given=0 if reported else len(pairs)))
    else:
        wanted = language_pair(translator, source, target)[1] if target else None
        corpora = _own_corpora(translator, wanted, reported=reported)
    deciding = [path for path in check if path != STORYBOOK] or data
    name = ", ".join(Path(path).name for path in deciding) or "the run's held-out pairs"
    return corpora + checked, name


def _of_file(translator: Translator, path: str, source: str | None,
             target: str | None) -> dict[Languages, list[TextPair]]:
    """The pairs of a table, of parallel files or of the package, by the model's language pairs; UserError if none."""
    found: dict[Languages, list[TextPair]] = {}
    fault = UserError(f"{path} is not a file of sentence pairs; give a table, or one of two parallel files")
    for pair, data in data_of(translator, path, source, target).items():
        if is_nowhere(data):
            continue
        try:
            if pairs := _texts(load_split(data, ALL if is_table(data) else "test")):
                found[pair] = pairs
        except UserError as error:
            fault = error
    if not found:
        raise fault
    texts = list(found.values())
    if any(one == texts[0] for one in texts[1:]):
        raise UserError(f"{path} does not name its languages, and the model has several; give --to LANGUAGE",
                        exit_code=2)
    return found


def data_of(translator: Translator, path: str, source: str | None, target: str | None) -> dict[Languages, DataConfig]:
    """How to read a file for each language pair of the model that it is to be measured in: those asked for or, where
    none is, the one that a header of two languages names from left to right, else the model's first."""
    pairs = translator.language_pairs
    known = tuple(dict.fromkeys((*pairs.sources, *pairs.targets)))
    named: dict[str, str] = {}  # what the file calls the model's languages
    for name in language_names(path):
        codes = codes_of(name, known) if known else (name,) * is_language(name)
        if len(codes) == 1:
            named.setdefault(codes[0], name)
    if source is None and target is None and len(named) == 2 and (not pairs or tuple(named) in pairs):
        wanted = [tuple(named)]
    else:
        languages = language_pair(translator, source, target)
        targets = pairs.targets_of(languages[0]) if target is None else ()
        wanted = [(languages[0], each) for each in targets if not named or each in named] or [languages]
    return {(of, to): DataConfig(path=path, source=named.get(of, of), target=named.get(to, to), on_invalid="skip")
            for of, to in wanted}


def language_names(path: str) -> list[str]:
    """What may name the languages of a file: its columns or keys, or the endings of parallel files."""
    if path in BUILT_IN:
        return ["en", "fr", "de", "es"]
    file = Path(path)
    if file.is_dir():
        files = sorted(file.glob("test.*"))
        return language_names(str(files[0])) if files else []
    suffix = Path(file.name.removesuffix(".gz")).suffix.lower()
    if suffix not in TABLES or not file.is_file():
        return _endings(file)
    names = _columns(file, suffix)
    return [name.strip() for name in names if len(name.split()) <= NAME_WORDS]


def _endings(file: Path) -> list[str]:
    """The endings of `dev.en` and `dev.fr`, given one of them or `dev`.  That of a given file comes first."""
    own = file.name.removesuffix(".gz")
    stem = own.rpartition(".")[0] if file.is_file() else own
    names = [one.name.removesuffix(".gz").removeprefix(f"{stem}.") for one in sorted(file.parent.glob(f"{stem}.*"))]
    return sorted(names, key=lambda name: f"{stem}.{name}" != own)


def _columns(file: Path, suffix: str) -> list[str]:
    """The cells of the first line of a table, or the keys of its first record."""
    if suffix == ".parquet":
        import pyarrow.parquet

        return list(pyarrow.parquet.read_schema(file).names)
    first = next(read_lines(file), "")
    if suffix in (".csv", ".tsv"):
        return next(csv.reader([first], delimiter="\t" if suffix == ".tsv" else ","), [])
    try:
        record: Any = json.loads(first)
    except ValueError:
        return []  # reading it says what is wrong
    inner = record.get("translation", record) if isinstance(record, dict) else {}
    return list(inner) if isinstance(inner, dict) else []


def gold_links(translator: Translator, path: str, links: str, *, source: str | None,
               target: str | None) -> dict[TextPair, Links]:
    """The known links of the pairs of a file, line by line; UserError for another number of them, or a link to a
    missing word."""
    [(pair, data), *_] = data_of(translator, path, source, target).items()
    part = find_part(data, "train" if is_table(data) else "test")
    assert part is not None
    rows, gold = [sides for _, sides in part.rows()], list(read_pharaoh(links))
    if len(gold) != len(rows):
        raise UserError(f"{links} has {len(gold)} lines, but {path} has {len(rows)}; expected one line of links for"
                        " each pair")
    found = {}
    for number, (sides, one) in enumerate(zip(rows, gold, strict=True), start=1):
        if not isinstance(sides, Fault) and all(side.strip() for side in sides):
            texts = unicodedata.normalize("NFC", sides[0].strip()), unicodedata.normalize("NFC", sides[1].strip())
            words = split_words(texts[0], language=pair[0]), split_words(texts[1], language=pair[1])
            check_links(one, words, f"{links}, line {number}")
            found[texts] = one
    return found


def encoded(translator: Translator, languages: Languages, pairs: Sequence[TextPair], *,
            most: float = math.inf) -> Iterator[tuple[TextPair, list[int], list[int], int]]:
    """The pairs with their ids on both sides, and how many of the target's are forced; without those longer than the
    model's positions, or than `most`."""
    first = next(iter(translator.defaults.resolve(first=translator.tag(languages[1])).prefix), None)
    most = min(most, translator.defaults.positions or math.inf)
    sources = translator.codec.encode([pair[0] for pair in pairs], source=languages[0], target=languages[1])
    for pair, source in zip(pairs, sources, strict=True):
        target = encode_target(translator.tokenizer, pair[1], language=languages[1], first=first)
        if max(len(source), len(target)) <= most:
            yield pair, source, target, int(first is not None)


def _own_corpora(translator: Translator, target: str | None, *, reported: bool) -> list[HeldOutPairs]:
    """The held-out pairs of the run's data by language, all or that of a code of the model: validation pairs to fit on
    and test pairs to measure on or, if other pairs are `reported` on, all of them to fit on."""
    folder = translator.folder
    assert folder is not None
    record = find_record(folder, "run.yaml")
    if record is None:
        raise UserError(f"{folder} has no run.yaml, so its own pairs are unknown; give --data FILE with pairs that the"
                        " model was not trained on", exit_code=2)
    config = load_record(record)
    data, corpora = config.data, []
    if is_nowhere(data):
        raise UserError(f"{folder} was trained on {data.path}, which does not exist here; give --data FILE with pairs"
                        " that the model was not trained on")
    sides = ["val", "test"] if data.test_fraction or find_part(data, "test", optional=("test",)) else ["val"]
    val, *tests = (load_split(data, side, seed=config.training.get("seed", 0)) for side in sides)
    for language in data.targets:
        languages = translator.pair(data.source, language)  # the model's codes, which the data may name otherwise
        if target not in (None, languages[1]):
            continue
        fitted, *held = (_single(_texts(pair for pair in some if pair.target_language == language))
                         for some in (val, *tests))
        halves = (fitted, held[0]) if held else _halves(fitted)
        if reported and data.path != STORYBOOK:
            halves = fitted + (held[0] if held else []), []
        name = Path(data.path[0] if isinstance(data.path, list) else str(data.path)).name
        fitted, test = map(_shuffled, halves)
        corpora.append(HeldOutPairs(name, languages, fitted, test, decides=True))
    return corpora


def _texts(pairs: Iterable[Pair]) -> list[TextPair]:
    return [(pair.source, pair.target) for pair in pairs]


def _single(pairs: Sequence[TextPair]) -> list[TextPair]:
    """Without the source sentences that have several translations; each pair once."""
    references: dict[str, set[str]] = {}
    for text, translation in pairs:
        references.setdefault(sentence_key(text), set()).add(translation)
    return list(dict.fromkeys(pair for pair in pairs if len(references[sentence_key(pair[0])]) == 1))


def _halves(pairs: Sequence[TextPair]) -> Halves:
    """Two halves of equal size, except that no source sentence is in both."""
    found = _shuffled(pairs)
    cut = len(found) // 2
    while 0 < cut < len(found) and _place(found[cut - 1]) == _place(found[cut]):
        cut += 1
    return found[:cut], found[cut:]


def _shuffled(pairs: Sequence[TextPair]) -> list[TextPair]:
    return sorted(pairs, key=_place)


def _place(pair: TextPair) -> float:
    """A fixed number in [0, 1) for each source sentence."""
    return hash_fraction(f"calibration {sentence_key(pair[0])}")
