"""The tools of `/v1/inside`, for the explorer's lab: questions about one translation, computed by `lens`.

A question contains the text and its translation.  The trace is recomputed each time, so the server is stateless.
"""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from seq2see.importing import IMPORTS
from ...lens.show.trace_page import trace_record
from ...lens.show.wording import label
from ...lens.trace import Trace
from ...passes.attention_kinds import Kind
from ...tokenizer.tagging import tagging
from ...tokenizer.words import token_names
from ...translate.translator import Translator
from ..limits import check_look_size
from ..service import Service
from .bodies import GIVEN, TARGET_IDS, Body, From0, JSONRoute, TargetIds, key_wanted

MOST_BEAMS = 8  # more are unreadable
STEP_CANDIDATES = 3  # of a step
Short = Annotated[str, Field(max_length=100)]
Sentence = Annotated[str, Field(min_length=1, max_length=300)]


class Question(BaseModel):
    """A question about a translation of a text."""

    model_config = ConfigDict(strict=True)

    text: str = Field(description="the source text")
    translation: str = Field(min_length=1, description="its translation")
    target_ids: TargetIds | None = Field(default=None, description=TARGET_IDS)
    given: From0 = Field(default=0, description=GIVEN)
    source: str | None = Field(default=None, description="source language (default: the model's first)")
    target: str | None = Field(default=None, description="target language (default: the model's first)")
    model: str | None = Field(default=None, description="name of the model (default: the first with the language pair)")

    def trace(self, translator: Translator) -> Trace:
        """The trace of the translation; do not call it inside `translator.inside()`."""
        return translator.look_at(self.text, self.translation, source=self.source, target=self.target,
                                  target_ids=self.target_ids, given=self.given)


class ArithmeticQuestion(Question):
    """The numbers behind one row of one head's map; masked scores are null."""

    tool: Literal["arithmetic"]
    kind: Kind = Field(description="kind of attention")
    layer: From0 = Field(description="layer, from 0")
    head: From0 = Field(description="head, from 0")
    row: From0 = Field(description="row of the map, from 0")

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.questions.arithmetic import arithmetic  # imports torch

        trace = self.trace(translator)
        with translator.inside() as (model, _):
            found = arithmetic(model, trace, (self.kind, self.layer, self.head), self.row)
        data = {one.name: np.asarray(getattr(found, one.name)).tolist() for one in fields(found)}
        data["scores"] = [score if seen else None
                          for score, seen in zip(data["scores"], data["allowed"], strict=True)]
        return data


class LayersQuestion(Question):
    """The logit lens: the prediction of each decoder layer, as if it were the last.

    The response has for each layer and step five candidates, and the log-probability and rank of the translation's
    token.  Log-probabilities are calibrated if the model has a calibration, which was measured after the last layer.
    """

    tool: Literal["layers"]

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.questions.logits import logit_lens  # imports torch

        trace = self.trace(translator)
        with translator.inside() as (model, tokenizer):
            [found] = logit_lens(model, tokenizer, [trace], calibrated=True)
        return {"log_probs": found.log_probs.tolist(), "ranks": found.ranks.tolist(),
                "top": [[[[label(one.text), one.log_prob] for one in step] for step in layer] for layer in found.top]}


class TreeQuestion(Question):
    """The tree of a beam search: for each step its nodes as [token, index of the parent, log-probability, score]."""

    tool: Literal["tree"]
    num_beams: int = Field(default=4, ge=2, le=MOST_BEAMS, description="beam width")

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.questions.beam_search_tree import beam_tree  # imports torch

        source, target = translator.pair(self.source, self.target)
        with translator.inside() as (model, tokenizer):
            found = beam_tree(model, tokenizer, self.text, num_beams=self.num_beams, first=translator.tag(target),
                              tagging=tagging(model.config, tokenizer, source, target))
        return {
            "steps": [[[label(node.text), node.parent, node.log_prob, node.score] for node in step]
                      for step in found.steps],
            "hypotheses": [[step, number, text, found.steps[step][number].score]
                           for (step, number), text in zip(found.hypotheses, found.texts, strict=True)],
            "length_penalty": found.length_penalty,
        }


class WordsQuestion(Question):
    """One word in several sentences: its vectors after each layer, projected to a plane, and their cosine distances.

    `read` has the distances of what cross-attention reads: the vectors after the encoder's final norm.
    """

    tool: Literal["words"]
    word: Short = Field(description="the word; each sentence contains it once")
    sentences: list[Sentence] = Field(min_length=2, max_length=8, description="the sentences")

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.questions.embeddings import contextual, cosine, distances, project  # imports torch

        with translator.inside() as (model, tokenizer):
            found = [contextual(model, tokenizer, sentence, self.word.strip(), language=self.source or "")
                     for sentence in self.sentences]
        planes = [project(np.stack([one.layers[layer] for one in found])) for layer in range(len(found[0].layers))]
        pairs = {f"{i} {j}": distances(found[i], found[j])["cosine"].tolist()
                 for i, j in combinations(range(len(found)), 2)}
        read = {name: 1 - float(cosine(*(found[int(i)].read for i in name.split()))) for name in pairs}
        return {"points": [points.tolist() for points, _ in planes],
                "shares": [shares.tolist() for _, shares in planes], "distances": pairs, "read": read}


class NearQuestion(Question):
    """The nearest tokens of `word`, or of the analogy `word` - `minus` + `plus`.

    The response has [token, similarity, whether it is in the query] for each, and the vectors of `word` and of each
    neighbour, to four decimals.
    """

    tool: Literal["near"]
    word: Short = Field(description="the word")
    minus: Short = Field(default="", description="the word to subtract")
    plus: Short = Field(default="", description="the word to add")

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.questions.embeddings import analogy, neighbours, static, token_vectors

        word, minus, plus = (one.strip() for one in (self.word, self.minus, self.plus))
        with translator.inside() as (model, tokenizer):
            found = analogy(model, tokenizer, word, minus, plus)[0] if minus or plus else neighbours(
                model, tokenizer, word)
            vectors = [static(model, tokenizer, word), *token_vectors(model, [one.id for one in found])]
        return {"near": [[label(one.text), one.value, one.asked] for one in found],
                "vectors": np.round(np.array(vectors, dtype=float), 4).tolist()}


class PositionsQuestion(Question):
    """The prediction of the translation with or without position vectors.

    The response has the tokens, their probabilities, and the three best candidates of each step.  Probabilities are
    calibrated if the model has a calibration, which was measured with positions.
    """

    tool: Literal["positions"]
    positions: bool = Field(description="false: position vectors are zero, on both sides")

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.questions.word_order import predictions  # imports torch

        trace = self.trace(translator)
        with translator.inside() as (model, tokenizer):
            chance_TV = np.exp(predictions(model, trace, positions=self.positions))
        best_TK = np.argsort(-chance_TV, axis=-1, kind="stable")[:, :STEP_CANDIDATES].tolist()
        ids = [*trace.target_ids, *(id for best in best_TK for id in best)]
        names = dict(zip(ids, map(label, token_names(tokenizer, ids)), strict=True))
        return {"tokens": [names[id] for id in trace.target_ids],
                "chances": [float(one[id]) for one, id in zip(chance_TV, trace.target_ids, strict=True)],
                "top": [[[names[id], float(one[id])] for id in best]
                        for one, best in zip(chance_TV, best_TK, strict=True)]}


class PatchQuestion(Question):
    """Activation patching: the log-odds of each word of the translation, with each head patched from the text `other`.

    Both texts must have equally many tokens.
    """

    tool: Literal["patch"]
    other: Sentence = Field(description="the text that heads are patched from")

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.questions.evidence import patched_odds  # imports torch

        trace = self.trace(translator)
        with translator.inside() as (model, tokenizer):
            return {"heads": patched_odds(model, tokenizer, trace, self.other)}


class ReplayQuestion(Question):
    """The recorded moments of the training, for this sentence or, if it was not recorded, for the first one.

    The lists are empty if the model has no replay.
    """

    tool: Literal["replay"]

    def answer(self, translator: Translator) -> dict[str, Any]:
        if translator.replay is None:
            return {"texts": [], "moments": []}
        kept = translator.replay.moments
        texts = [trace.source_text for trace in kept[0].traces]
        which = texts.index(self.text) if self.text in texts else 0
        moments = [{"step": one.step, "loss": one.loss, "bleu": one.bleu, "trace": trace_record(one.traces[which])}
                   for one in kept]
        return {"texts": texts, "moments": moments}


class MachineQuestion(Question):
    """One step of the translation split into the contributions of each block, head, position and neuron.

    The contributions are to the logit of the written token (`for`) and to its lead over the runner-up (`over`).
    `without` is the lead without each head and each feed-forward layer of the decoder.  `steers` is the head with the
    largest effect, and the layer whose contribution it changes most.
    """

    tool: Literal["machine"]
    step: From0 = Field(description="decoder step, from 0")
    head_seconds: float = Field(
        default=10, ge=0, description="maximum seconds for switching off every head and layer; over this limit, "
        "`without` and `steers` are null")

    def answer(self, translator: Translator) -> dict[str, Any]:
        with IMPORTS:
            from ...lens.sums.machine import machine  # imports torch

        trace = self.trace(translator)
        with translator.inside() as (model, tokenizer):
            return machine(model, tokenizer, trace, step=self.step, folder=translator.files,
                           seconds=self.head_seconds).plain()


AnyQuestion = Annotated[
    ArithmeticQuestion | LayersQuestion | TreeQuestion | WordsQuestion | NearQuestion | PatchQuestion
    | PositionsQuestion | ReplayQuestion | MachineQuestion,
    Field(discriminator="tool"),
]


class InsideBody(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [
        {"question": {"tool": "replay", "text": "The cat is tired.", "translation": "Le chat est fatigué."}},
    ]})

    question: AnyQuestion = Field(description="the tool, the translation to analyse, and the tool's arguments")


def router(service: Service) -> APIRouter:
    routes = APIRouter(prefix="/v1", tags=["Seq2See"], route_class=JSONRoute)

    @routes.post("/inside", summary="Analyse one translation with a tool", dependencies=key_wanted(service),
                 description="The tools of the explorer's lab: the arithmetic of a row, the logit lens, the beam tree, "
                             "similar words, heads patched from another sentence, position vectors, the replay of the "
                             "training, and the whole machine at one step. The response depends on the tool.")
    async def inside(body: InsideBody, request: Request) -> Response:
        caller, question = service.access.authenticate(request), body.question
        check_look_size(question.text, question.translation, getattr(question, "other", ""),
                        target_ids=question.target_ids, limits=service.settings)
        model = service.model_for(question.model, question.source, question.target)
        found = await service.examine(
            question.text, lambda translator: json.dumps(question.answer(translator), ensure_ascii=False),
            caller=caller, model=model)
        return Response(found, media_type="application/json")

    return routes
