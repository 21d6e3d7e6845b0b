"""The tree of a beam search: the hypotheses in the beam at each step, their parents and scores.

A logits processor at the end of the list records the input of each step of `generate`: all live hypotheses and the
log-probabilities of their continuations.
"""

from dataclasses import dataclass

import torch
from transformers import LogitsProcessor, LogitsProcessorList, PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from ...passes.batches import cut_at_end
from ...passes.forced_pass import end_ids, eval_mode
from ...passes.pausing import pause
from ...tokenizer.encoding import decode_target, encode_source
from ...tokenizer.tagging import Tagging
from ...tokenizer.words import token_names

# K beams, V vocabulary, t steps


@dataclass(frozen=True)
class BeamNode:
    """A hypothesis at one step: its newest token, and the index of its parent among the nodes of the previous step.

    `log_prob` is the sum over its tokens so far, after generation rules (a forced token counts 0).  `score` ranks
    finished hypotheses; it is None until the hypothesis is finished.
    """

    id: int
    text: str
    parent: int | None
    log_prob: float
    score: float | None


@dataclass(frozen=True)
class BeamTree:
    """One beam search, as recorded by `beam_tree`.

    `steps[t]` are the nodes of step t: live hypotheses, best first, then hypotheses that finish at this step.  A
    `BeamNode` has the `id` and `text` of its newest token, and the index of its `parent` among the nodes of the
    previous step (None at step 0).  Its `log_prob` is the sum over its tokens in nats.  A finished hypothesis also has
    the `score` by which transformers ranks it, with `length` in tokens:

        score = log_prob / length ** length_penalty

    `hypotheses` are the finished hypotheses that generation returned, best first, each as (step, index of the node).
    `texts` are their texts.  Generation drops a finished hypothesis if better ones displace it, so the tree does not
    have it either.
    """

    source_text: str
    num_beams: int
    length_penalty: float
    steps: tuple[tuple[BeamNode, ...], ...]
    hypotheses: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]

    def path(self, step: int, number: int) -> list[BeamNode]:
        """The nodes from the first step to node `number` of step `step`.

        Raises IndexError if there is no such node.
        """
        nodes: list[BeamNode] = []
        at: int | None = number
        while at is not None:
            nodes.insert(0, self.steps[step][at])
            at, step = self.steps[step][at].parent, step - 1
        return nodes


class _Watching(LogitsProcessor):
    """Records for each step the live hypotheses and the log-probabilities [K,V] of their continuations."""

    def __init__(self) -> None:
        self.steps: list[tuple[list[tuple[int, ...]], torch.Tensor]] = []

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        pause()
        self.steps.append(([tuple(row) for row in input_ids.tolist()], scores.cpu().clone()))
        return scores


def beam_tree(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    source: str,
    *,
    num_beams: int = 4,
    first: int | None = None,
    tagging: Tagging | None = None,
) -> BeamTree:
    """Translate a text by beam search and record the search tree.

    Args:
        model: any encoder-decoder that the lens supports.
        tokenizer: its tokenizer.
        source: the text.
        num_beams: the beam width; all other decoding options are the checkpoint's.
        first: the id that hypotheses must begin with (a language tag); None: the checkpoint's default.
        tagging: the language tags of the source; see `tagging`.

    Raises:
        UserError: fewer than 2 beams.
    """
    if num_beams < 2:
        raise UserError(f"num_beams {num_beams}: a tree needs at least 2", exit_code=2)
    watching = _Watching()
    ids_1S = torch.tensor([encode_source(tokenizer, source, tagging=tagging)], device=model.device)
    forced = {} if first is None else {"forced_bos_token_id": first}
    with eval_mode(model), torch.no_grad():
        output = model.generate(
            ids_1S, attention_mask=torch.ones_like(ids_1S), num_beams=num_beams, num_return_sequences=num_beams,
            do_sample=False, return_dict_in_generate=True, output_scores=True,
            logits_processor=LogitsProcessorList([watching]), **forced,
        )
    penalty = model.generation_config.length_penalty
    penalty = 1.0 if penalty is None else float(penalty)
    start = watching.steps[0][0][0]
    live: list[dict[tuple[int, ...], tuple[int, float]]] = [{start: (0, 0.0)}]  # by their ids: number and sum
    steps: list[list[BeamNode]] = []

    def node(ids: tuple[int, ...], *, ended: bool) -> BeamNode | None:
        """The continuation of a hypothesis that was live one step ago; None for fillers of empty beams."""
        t = len(ids) - len(start) - 1
        if t >= len(live) or ids[:-1] not in live[t]:
            return None
        (parent, before), (seen, log_probs_KV) = live[t][ids[:-1]], watching.steps[t]
        total = before + float(log_probs_KV[seen.index(ids[:-1]), ids[-1]])
        if total < -1e8:
            return None
        return BeamNode(ids[-1], token_names(tokenizer, ids[-1:])[0], parent if t > 0 else None, total,
                    total / (t + 1) ** penalty if ended else None)

    end = end_ids(model)
    for seen, _ in watching.steps[1:]:
        alive = {ids: made for ids in seen if ids[-1] not in end and (made := node(ids, ended=False))}
        live.append({ids: (number, made.log_prob) for number, (ids, made) in enumerate(alive.items())})
        steps.append(list(alive.values()))
    hypotheses, texts = [], []
    for row in output.sequences.tolist():
        ids = (*start, *cut_at_end(row[len(start):], end))
        if made := node(ids, ended=True):
            step = len(ids) - len(start) - 1
            steps += [[] for _ in range(step + 1 - len(steps))]
            hypotheses.append((step, len(steps[step])))
            texts.append(decode_target(tokenizer, ids[len(start):]))
            steps[step].append(made)
    return BeamTree(source, num_beams, penalty, tuple(map(tuple, steps)), tuple(hypotheses), tuple(texts))
