"""The tokenizer of another family's model for a browser, which `webpage/model/sentencepiece.js` runs.

Marian and M2M-100 run SentencePiece itself, NLLB, mBART and BART the library `tokenizers`, which cuts and normalises a
little differently.  Both are described alike:

    source, target    how text becomes names of tokens; target null: as the source
        is_unigram    Unigram, otherwise byte-pair encoding
        scores        [[name, score], ...] of SentencePiece or Unigram, or null
        merges        [[left, right], ...] of byte-pair encoding in a tokenizer.json, the first first, or null
        charsmap      index in `charsmaps`, or null
        spaces        {"collapses": true, "prefix": true}, "kept", "runs", "words" or "bytes"
    charsmaps         SentencePiece's compiled normalisers, in base64
    tokens            the names, by id
    special           ids that are not text
    unknown, end      ids
    has_codes         whether `>>fra<<` before a source is one token
    trims             whether a translation has no white space at its edges
    pairs             {"en-fr": {"before": [], "after": [0]}}: ids around a source
    tags              {"fr": 4}: the id that a translation begins with
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from transformers import M2M100Tokenizer, MarianTokenizer, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ..tokenizer.language_pairs import Pair
from ..tokenizer.tagging import tagging
from ..tokenizer.words import special_token_ids

NORMAL, UNKNOWN, CONTROL = 1, 2, 3  # kinds of SentencePiece's tokens; the others are rare
UNIGRAM = 1
OTHERWISE = "use seq2see serve, which runs every tokenizer"


def page_tokenizer(tokenizer: PreTrainedTokenizerBase, config: Any, pairs: Iterable[Pair]) -> dict[str, Any]:
    """The description of a tokenizer, for these pairs of languages.

    Raises UserError for a tokenizer that the browser does not have.
    """
    charsmaps: list[str] = []
    target = None
    if isinstance(tokenizer, MarianTokenizer):
        if tokenizer.separate_vocabs:
            raise UserError(f"a browser does not support separate vocabularies of source and target: {OTHERWISE}")
        source, target = (_of_sentencepiece(Path(file), charsmaps) for file in tokenizer.spm_files)
    elif isinstance(tokenizer, M2M100Tokenizer):
        source = _of_sentencepiece(Path(tokenizer.spm_file), charsmaps)
    elif tokenizer.is_fast:
        source = _of_tokenizers(json.loads(tokenizer.backend_tokenizer.to_str()), charsmaps)
    else:
        raise UserError(f"a browser does not support {type(tokenizer).__name__}: {OTHERWISE}")
    special = special_token_ids(tokenizer)
    around = {pair: tagging(config, tokenizer, *pair) for pair in pairs}
    tags = {pair[1]: one.first for pair, one in around.items() if one.first is not None}
    beside = {id for one in around.values() for id in (*one.before, *one.after)}
    special |= beside | {*tags.values()}
    return {
        "kind": "sentencepiece", "source": source, "target": target, "charsmaps": charsmaps,
        "tokens": [str(name) for name in tokenizer.convert_ids_to_tokens(
            [*range(max(len(tokenizer), *(id + 1 for id in special)))])],  # M2M-100 does not count its tags
        "special": sorted(special - {tokenizer.unk_token_id}),
        "unknown": tokenizer.unk_token_id, "end": tokenizer.eos_token_id,
        "has_codes": isinstance(tokenizer, MarianTokenizer), "trims": not tokenizer.is_fast,
        "pairs": {"-".join(pair): {"before": one.before, "after": one.after} for pair, one in around.items()},
        "tags": tags,
    }


def _of_sentencepiece(path: Path, charsmaps: list[str]) -> dict[str, Any]:
    protobuf: Any = import_module("sentencepiece.sentencepiece_model_pb2")  # it is made when it is imported
    model = protobuf.ModelProto()
    model.ParseFromString(path.read_bytes())
    normalizer = model.normalizer_spec
    others = [token.piece for token in model.pieces if token.type not in (NORMAL, UNKNOWN, CONTROL)]
    is_plain = normalizer.escape_whitespaces and not model.trainer_spec.treat_whitespace_as_suffix
    if others or not is_plain or model.trainer_spec.model_type > UNIGRAM + 1:
        what = f"its token {others[0]}" if others else "how it cuts text"
        raise UserError(f"a browser does not support {path.name}, {what}: {OTHERWISE}")
    return {
        "is_unigram": model.trainer_spec.model_type == UNIGRAM,
        "scores": [[token.piece, token.score] for token in model.pieces if token.type == NORMAL],
        "merges": None,
        "charsmap": _index(base64.b64encode(normalizer.precompiled_charsmap).decode(), charsmaps),
        "spaces": {"collapses": normalizer.remove_extra_whitespaces, "prefix": normalizer.add_dummy_prefix},
    }


def _of_tokenizers(plan: dict[str, Any], charsmaps: list[str]) -> dict[str, Any]:
    def parts(name: str, inner: str) -> list[dict[str, Any]]:
        one = plan[name] or {"type": "Sequence", inner: []}
        return one[inner] if one["type"] == "Sequence" else [one]

    model, normal, cut = plan["model"], parts("normalizer", "normalizers"), parts("pre_tokenizer", "pretokenizers")
    kinds = [one["type"] for one in normal], [one["type"] for one in cut]
    compiled = next((one["precompiled_charsmap"] for one in normal if one["type"] == "Precompiled"), "")
    spaces = {("Metaspace",): "runs" if "Replace" in kinds[0] else "kept",
              ("WhitespaceSplit", "Metaspace"): "words", ("ByteLevel",): "bytes"}.get(tuple(kinds[1]))
    if spaces == "bytes" and (cut[0]["add_prefix_space"] or not cut[0]["use_regex"] or normal):
        spaces = None
    known = model["type"] in ("BPE", "Unigram") and not model.get("byte_fallback") and spaces
    replaced = [(one["pattern"], one["content"]) for one in normal if one["type"] == "Replace"]
    if not known or {*kinds[0]} - {"Precompiled", "Replace"} or replaced not in ([], [({"Regex": " {2,}"}, " ")]):
        raise UserError(f"a browser does not support this tokenizer.json ({model['type']}): {OTHERWISE}")
    is_unigram = model["type"] == "Unigram"
    return {
        "is_unigram": is_unigram,
        "scores": model["vocab"] if is_unigram else None,
        "merges": None if is_unigram else model["merges"],
        "charsmap": _index(compiled, charsmaps),
        "spaces": spaces,
    }


def _index(charsmap: str, charsmaps: list[str]) -> int | None:
    if charsmap and charsmap not in charsmaps:
        charsmaps.append(charsmap)
    return charsmaps.index(charsmap) if charsmap else None
