"""The whole machine at one step: one prediction split into the contributions of each block, head, position and neuron.

    logit of w - mean over the vocabulary     `own`     the evidence for the token that was written
    logit of w - logit of the runner-up       `over`    the evidence for it against the next best token

Both are sums of the same parts (`machine_parts.py`), exact with every norm held fixed.  A part is a direct
contribution.  The effect of removing a block can differ; it is computed by running the model without it
(`machine_without.py`).
"""

import math
import unicodedata
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seq2see.errors import UserError
from seq2see.rules import MOST_LAYERS, STRIP, WAVES, WORDS_COMPARED
from ...passes.hooks import STACKS, laid_out_otherwise, layers_of
from ..data.probabilities import shown_by
from ..questions.evidence import is_same_word
from ..trace import Trace
from .direct_attribution import SUM_OFF
from .machine_parts import Parts, parts_of, texts_of
from .machine_without import MostChangedLayer, Without, effects
from .residual_stream import ForcedPass, Stream, pass_in_parts

# L layers, S source tokens, T decoder steps up to this one, R rows, D model width, V vocabulary

DIGITS = 7  # of the numbers in JSON: thousands of parts still sum to 1e-4


@dataclass(frozen=True)
class Named:
    """A token of the vocabulary, and its display text."""

    id: int
    text: str


@dataclass(frozen=True)
class Scored:
    """A candidate of the step.

    It has its logit minus the mean over the vocabulary, the model's probability (`raw`) and the calibrated one
    (`chance`).
    """

    id: int
    text: str
    logit: float
    raw: float
    chance: float


@dataclass(frozen=True, eq=False)
class Machine:
    """One prediction split into its parts.

    - `logit`: the logit of the written token, minus the mean over the vocabulary; `own` are its parts.
    - `margin`: its lead over the `runner`; `over` are its parts.  The runner-up is the best token that is another word:
      not the same text in another case, nor the same word in other tokens.
    - `lengths`: the lengths of the residual vectors, before the first block and after each: `encoder` [2L+1,S],
      `decoder` [3L+1,T].
    - `strips`, `positions`: for pictures.  Each embedding is given as STRIP principal components, each position as
      WAVES of its numbers.  None if positions are not simply added to the embeddings.
    - `without`, `steers`: the margin without each head and layer; see `machine_without.py`.
    """

    step: int
    written: Named
    runner: Named
    logit: float
    margin: float
    vocabulary: int
    top: tuple[Scored, ...]
    lengths: dict[str, np.ndarray]
    strips: dict[str, np.ndarray]
    positions: dict[str, np.ndarray] | None
    own: Parts
    over: Parts
    without: Without | None
    steers: MostChangedLayer | None

    def plain(self) -> dict[str, Any]:
        """The result as a dictionary for JSON, as in the response of `/v1/inside`."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        written, own, over = (found.pop(name) for name in ("written", "own", "over"))
        parts = {"for": own, "over": over}
        whole: dict[str, Any] = _plain(found | {"word": written.text, "id": written.id, "parts": parts})
        return whole


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.round(value, DIGITS).tolist()
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return {one.name: _plain(getattr(value, one.name)) for one in fields(value)} if is_dataclass(value) else value


@torch.no_grad()
def machine(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, *, step: int, folder: Path | None = None,
    seconds: float = math.inf,
) -> Machine:
    """Split the prediction of one step of a trace into its parts (Elhage et al. 2021; Geva et al. 2022).

    Args:
        model: the model that the trace was made with.
        tokenizer: its tokenizer.
        trace: any trace.
        step: the decoder step, from 0.
        folder: the folder of a packaged model (`Translator.folder`).  Its examples give the means that replace a head
            or layer; None: the means over this trace.
        seconds: the maximum time for running the model without each head and layer.  If it would take longer, `without`
            and `steers` are None.

    Raises:
        UserError: a step that the trace does not have, a stack of more than MOST_LAYERS layers, or a model whose blocks
            cannot be reached or whose parts do not sum to its logits.
    """
    if not 0 <= step < len(trace.target_ids):
        raise UserError(f"there is no step {step} here: expected 0 to {len(trace.target_ids) - 1}", exit_code=2)
    for stack in STACKS:
        if (count := len(layers_of(model, stack))) > MOST_LAYERS:
            raise UserError(f"the {stack} has {count} layers: the whole machine is shown of models with up to"
                            f" {MOST_LAYERS}; look at single heads and layers instead", exit_code=2)
    whole, written = pass_in_parts(model, trace), trace.target_ids[step]
    logit_V = whole.logit_TV[step]
    runner = _runner(model, tokenizer, trace, logit_V, step)
    own_D1, other_D1 = (whole.output_weights([id], None)[0] for id in (written, runner))
    own = parts_of(tokenizer, trace, whole, own_D1 - whole.mean_weights(), step=step, activations=True)
    over = parts_of(tokenizer, trace, whole, own_D1 - other_D1, step=step, activations=False)
    logit, margin = float(logit_V[written] - logit_V.mean()), float(logit_V[written] - logit_V[runner])
    off = SUM_OFF * (1 + float(logit_V.abs().max()))
    if abs(own.total() - logit) > off or abs(over.total() - margin) > off:
        raise laid_out_otherwise(model)
    without, steers = effects(model, tokenizer, trace, whole, step=step, runner=runner, folder=folder, seconds=seconds)
    strips, positions = _strips(whole), _positions(whole)
    named = [Named(*one) for one in zip((written, runner), texts_of(tokenizer, [written, runner]), strict=True)]
    return Machine(
        step=step,
        written=named[0],
        runner=named[1],
        logit=logit,
        margin=margin,
        vocabulary=len(logit_V),
        top=_top(tokenizer, trace, logit_V),
        lengths={"encoder": _lengths(whole.encoder), "decoder": _lengths(whole.decoder)[:, :step + 1]},
        strips=strips | {"inputs": strips["inputs"][:step + 1]},
        positions=positions and positions | {"inputs": positions["inputs"][:step + 1]},
        own=own,
        over=over,
        without=without,
        steers=steers,
    )


def _runner(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, trace: Trace, logit_V: torch.Tensor, step: int
) -> int:
    """The best token that looks unlike the written one, and with which the model does not go on to the same word."""
    def plain(id: int) -> str:
        return unicodedata.normalize("NFKC", texts_of(tokenizer, [id])[0]).strip().casefold()

    own = plain(trace.target_ids[step])
    for id in logit_V.argsort(descending=True).tolist():
        other = plain(id)
        begins = own.startswith(other) or other.startswith(own)
        if other != own and not (begins and is_same_word(model, tokenizer, trace, step, id)):
            return int(id)
    raise AssertionError("a vocabulary of one text")


def _top(tokenizer: PreTrainedTokenizerBase, trace: Trace, logit_V: torch.Tensor) -> tuple[Scored, ...]:
    raw_V, chance_V = logit_V.softmax(-1), np.exp(shown_by(trace)(logit_V.numpy()[None])[0])
    best, mean = logit_V.topk(min(WORDS_COMPARED, len(logit_V))).indices.tolist(), float(logit_V.mean())
    return tuple(Scored(id, text, float(logit_V[id]) - mean, float(raw_V[id]), float(chance_V[id]))
                 for id, text in zip(best, texts_of(tokenizer, best), strict=True))


def _lengths(stream: Stream) -> np.ndarray:
    states = [stream.embedding_RD, *(block.after_RD for block in stream.blocks)]
    return torch.stack([state_RD.norm(dim=-1) for state_RD in states]).numpy()


def _strips(whole: ForcedPass) -> dict[str, np.ndarray]:
    """The embeddings of both sides by their joint principal components, largest variance first."""
    sides = [side.embedding_RD if side.position_RD is None else side.embedding_RD - side.position_RD
             for side in (whole.encoder, whole.decoder)]
    both_RD = torch.cat(sides)
    both_RD = both_RD - both_RD.mean(0)
    along_RK = both_RD @ torch.linalg.svd(both_RD, full_matrices=False).Vh[:STRIP].T
    along_RK = along_RK * along_RK.gather(0, along_RK.abs().argmax(0, keepdim=True)).sign()
    strip_RK = torch.nn.functional.pad(along_RK, (0, STRIP - along_RK.shape[1])).numpy()
    return {"source": strip_RK[:len(sides[0])], "inputs": strip_RK[len(sides[0]):]}


def _positions(whole: ForcedPass) -> dict[str, np.ndarray] | None:
    """Four numbers of each position vector, from short waves to long ones."""
    found = {}
    for side, stream in (("source", whole.encoder), ("inputs", whole.decoder)):
        if stream.position_RD is None:
            return None
        step = max(1, stream.position_RD.shape[1] // (4 * WAVES))
        found[side] = stream.position_RD[:, :WAVES * step:step].numpy()
    return found
