"""A vocabulary cut to what some texts need, for the page of a model that translates many more languages.

Kept are the tokens of the texts, those that byte-pair encoding makes on its way to them, single characters of their
scripts, digits and marks, and what is not text: tags and special tokens.  Text that had a longer token is cut into
shorter ones; text that has all its tokens keeps them.
"""

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from transformers import PreTrainedTokenizerBase

from seq2see.errors import UserError
from ..tokenizer.tagging import bare

SPACE = "▁"


def kept_ids(tokenizer: PreTrainedTokenizerBase, content: dict[str, Any], texts: Iterable[str]) -> list[int]:
    """The ids that remain of the vocabulary of `content`, an object of `web_model`, in their order.

    Raises UserError for a model whose tokenizer is not described by `page_tokenizer`, and without texts.
    """
    described = content["tokenizer"]
    if "tokens" not in described:
        raise UserError("--vocabulary-of cuts the vocabulary of other families' models, and this one is Seq2See's own:"
                        " omit it", exit_code=2)
    tokens, found, scripts = described["tokens"], set[int](), set[str]()
    for text in texts:
        found.update(bare(tokenizer, text))
        if described["target"]:
            found.update(tokenizer(text_target=text, split_special_tokens=True)["input_ids"])
        scripts.update(map(_script, text))
    if not found:
        raise UserError("--vocabulary-of has no text: give lines in the languages of the page", exit_code=2)
    ids = {token: id for id, token in enumerate(tokens)}
    for rank in _ranks(described["source"], ids):
        found |= {ids[made] for id in found for made in _made(tokens[id], rank)}
    scripts.add("")
    found |= {id for token, id in ids.items() if len(token.removeprefix(SPACE)) <= 1 and (
        described["source"]["spaces"] == "bytes" or _script(token.removeprefix(SPACE)) in scripts)}
    # What an unknown character costs follows from the lowest score.
    lowest = {min(one["scores"], key=lambda entry: entry[1])[0] for one in _sides(described) if one["scores"]}
    return sorted({*found, *_required(content), *(ids[token] for token in lowest if token in ids)})


def cut(content: dict[str, Any], kept: list[int]) -> dict[str, Any]:
    """An object of `web_model` with these ids only, numbered from 0."""
    place = {id: at for at, id in enumerate(kept)}
    architecture, described, generation = (content[name] for name in ("architecture", "tokenizer", "generation_config"))
    tokens = [described["tokens"][id] for id in kept]
    known, gone = {*tokens}, {*described["tokens"]} - {*tokens}

    def side(one: dict[str, Any] | None) -> dict[str, Any] | None:
        return one and one | {
            "scores": one["scores"] and [entry for entry in one["scores"] if entry[0] not in gone],
            "merges": one["merges"] and [pair for pair in one["merges"] if {*pair, "".join(pair)} <= known],
        }

    def moved(value: Any) -> Any:
        if value is None:
            return None
        return place[value] if isinstance(value, int) else [place[id] for id in value]

    named = {name: moved(value) for name, value in generation.items() if name.endswith("_token_id")}
    banned = [[place[id]] for [id] in generation.get("bad_words_ids") or () if id in place]
    ends = {name: moved(architecture[name]) for name in ("start_token_id", "end_token_ids")}
    return content | {
        "architecture": architecture | ends,
        "generation_config": generation | named | {"bad_words_ids": banned or None},
        "tokenizer": described | {
            "source": side(described["source"]), "target": side(described["target"]), "tokens": tokens,
            **{name: moved(described[name]) for name in ("special", "unknown", "end")},
            "pairs": {pair: {where: moved(ids) for where, ids in one.items()}
                      for pair, one in described["pairs"].items()},
            "tags": {language: place[id] for language, id in described["tags"].items()},
        },
    }


def _sides(described: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in (described["source"], described["target"]) if one]


def _required(content: dict[str, Any]) -> set[int]:
    """The ids that a search or a tokenizer names."""
    described, generation, network = content["tokenizer"], content["generation_config"], content["architecture"]
    named = [value for name, value in generation.items() if name.endswith("_token_id")]
    several = [described["special"], network["end_token_ids"], [*described["tags"].values()],
               *(ids for one in described["pairs"].values() for ids in one.values()),
               *(value for value in named if isinstance(value, list))]
    single = [described["unknown"], described["end"], network["start_token_id"],
              *(value for value in named if isinstance(value, int))]
    return {*single, *(id for ids in several for id in ids)}


def _ranks(source: dict[str, Any], ids: dict[str, int]) -> Iterator[Callable[[str, str], float]]:
    """How early byte-pair encoding joins two tokens; none for Unigram."""
    if source["merges"]:
        order = {tuple(pair): -at for at, pair in enumerate(source["merges"])}
        yield lambda left, right: order.get((left, right), -math.inf)
    elif not source["is_unigram"]:
        scores = {token: score for token, score in source["scores"] if token in ids}
        yield lambda left, right: scores.get(left + right, -math.inf)


def _made(token: str, rank: Callable[[str, str], float]) -> Iterator[str]:
    """The tokens that byte-pair encoding makes on its way to this one."""
    parts = [*token]
    while len(parts) > 1:
        ranks = [rank(*pair) for pair in zip(parts, parts[1:], strict=False)]
        at = ranks.index(max(ranks))
        if ranks[at] == -math.inf:
            return
        parts[at:at + 2] = [parts[at] + parts[at + 1]]
        yield parts[at]


def _script(character: str) -> str:
    """The first word of the name of a letter, such as LATIN; "" of other characters, and of several or none."""
    is_letter = len(character) == 1 and unicodedata.category(character)[0] == "L"
    return unicodedata.name(character, "").split(" ")[0] if is_letter else ""
