"""Words: one word in several sentences, its neighbours in the vocabulary, and analogies."""

from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from seq2see.errors import UserError
from ....lens.wording import label
from ....translate.translator import Translator
from . import Question

if TYPE_CHECKING:
    from ....lens.embeddings import Neighbour

Short = Annotated[str, Field(max_length=100)]
Sentence = Annotated[str, Field(min_length=1, max_length=300)]


class WordsQuestion(Question):
    word: Short
    sentences: list[Sentence] = Field(max_length=8)

    @property
    def texts(self) -> list[str]:
        return [self.word, *self.sentences]


class NearQuestion(Question):
    """The neighbours of `word`, or what lies near `word` - `minus` + `plus`."""

    word: Short
    minus: Short = ""
    plus: Short = ""
    by: Literal["cosine", "dot"] = "cosine"


def words(translator: Translator, asked: WordsQuestion) -> dict[str, Any]:
    """The word's vectors in each sentence, layer by layer: a plane to see them in, and how far apart each two are."""
    from ....lens.embeddings import contextual, distances, project  # imports torch

    if len(asked.sentences) < 2:
        raise UserError("write the word in two sentences or more, one a line")
    with translator.inside() as (model, tokenizer):
        found = [contextual(model, tokenizer, sentence, asked.word.strip(), language=asked.shown.source)
                 for sentence in asked.sentences]
    planes = [project(np.stack([one.layers[layer] for one in found])) for layer in range(len(found[0].layers))]
    pairs = {f"{i} {j}": distances(found[i], found[j])["cosine"].tolist()
             for i, j in combinations(range(len(found)), 2)}
    return {"points": [points.tolist() for points, _ in planes], "shares": [shares.tolist() for _, shares in planes],
            "distances": pairs}


def near(translator: Translator, asked: NearQuestion) -> dict[str, Any]:
    """[piece, how near, whether it was asked with], nearest first."""
    from ....lens.embeddings import analogy, neighbours

    words = [one.strip() for one in (asked.word, asked.minus, asked.plus)]
    with translator.inside() as (model, tokenizer):
        if words[1] or words[2]:
            found, _ = analogy(model, tokenizer, words[0], words[1], words[2], by=asked.by)
        else:
            found = neighbours(model, tokenizer, words[0], by=asked.by)
    return {"near": [_plain(one) for one in found]}


def _plain(one: "Neighbour") -> list[Any]:
    return [label(one.text), one.value, one.asked]
