"""Teacher forcing: one pass over a source and a given translation predicts every step at once.

It also has the basics for running a model: eval mode, checks.  It supports Seq2See and
transformers' encoder-decoders of text; `hooks.py` names the families that support interventions.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel, StoppingCriteria, StoppingCriteriaList
from transformers.modeling_outputs import BaseModelOutput

from seq2see.errors import UserError
from .batches import fitting, padded, real_positions
from .pausing import pause

# B sentences, S source tokens, T decoder steps


@dataclass
class _Encoded(BaseModelOutput):
    """The output of an encoder.

    A decoder with a mixture of experts also reads the router's logits, which nothing here needs.
    """

    router_logits: None = None


def forced_pass(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *,
    encoded: torch.Tensor | None = None, gradients: bool = False, **wanted: bool,
) -> tuple[Any, torch.Tensor]:
    """The model's output for source ids and target ids (`</s>` included), and the padded targets [B,T].

    Step t reads target t-1, and step 0 the start; padding is on the right.  Call it inside `eval_mode` or
    `eval_with_eager_attention`.

    Args:
        encoded: [1,S,D], the encoder's output for sources that are all the same, so that it need not run again.
        gradients: compute gradients of the output.
        wanted: arguments for the model, such as `output_attentions=True`.
    """
    pause()
    target_BT = padded(targets).to(model.device)
    start_B1 = torch.full_like(target_BT[:, :1], decoder_start(model))
    read: dict[str, Any] = {"input_ids": padded(sources).to(model.device)} if encoded is None else {
        "encoder_outputs": _Encoded(last_hidden_state=encoded.expand(len(sources), -1, -1))}
    with torch.set_grad_enabled(gradients), torch.autocast(model.device.type, enabled=False):
        output = model(
            **read,
            attention_mask=real_positions(sources).long().to(model.device),
            decoder_input_ids=torch.cat([start_B1, target_BT[:, :-1]], dim=1),
            use_cache=False,
            return_dict=True,
            **wanted,
        )
    return output, target_BT


class Pausing(StoppingCriteria):
    """Pauses before each further step of `generate`, and never stops it: `stopping_criteria=Pausing.each_step()`."""

    @classmethod
    def each_step(cls) -> StoppingCriteriaList:
        return StoppingCriteriaList([cls()])

    def __call__(self, input_ids: torch.LongTensor, scores: Any, **_: Any) -> torch.BoolTensor:
        pause()
        return input_ids.new_zeros(len(input_ids), dtype=torch.bool)


def chosen_log_probs(logits_BTV: torch.Tensor, target_BT: torch.Tensor) -> torch.Tensor:
    """[B,T]: the log-probability of each target token."""
    return logits_BTV.gather(-1, target_BT[..., None])[..., 0] - logits_BTV.logsumexp(-1)


@contextmanager
def eval_mode(model: PreTrainedModel) -> Iterator[None]:
    """Eval mode inside; restores every submodule at the end."""
    training = {module: module.training for module in model.modules()}
    try:
        model.eval()
        yield
    finally:
        for module, mode in training.items():
            module.training = mode


@contextmanager
def eval_with_eager_attention(model: PreTrainedModel) -> Iterator[None]:
    """Eval mode and eager attention, which returns its weights; restores every submodule and config at the end."""
    configs = [module.config for module in model.modules() if isinstance(module, PreTrainedModel)]
    found = [config._attn_implementation for config in configs]
    with eval_mode(model):
        try:
            model.set_attn_implementation("eager")
            yield
        finally:
            for config, implementation in zip(configs, found, strict=True):
                config._attn_implementation = implementation


def forced_batches(
    model: PreTrainedModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], *, copies: int = 1,
    before: Callable[[list[int]], None] = lambda batch: None, encoded: torch.Tensor | None = None, **wanted: bool,
) -> Iterator[tuple[list[int], Any, torch.Tensor]]:
    """`forced_pass` over any number of sentences, in order and in batches.

    Yields for each batch the indices of its sentences, the output, and the padded targets [B,T].  `before` receives
    these indices before the pass.
    """
    lengths = [(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
    for batch in fitting(model, lengths, copies=copies):
        before(batch)
        yield batch, *forced_pass(model, [sources[i] for i in batch], [targets[i] for i in batch], encoded=encoded,
                                  **wanted)


def check_model(model: PreTrainedModel) -> None:
    """Raises UserError for a model that is not an encoder-decoder or does not hold float32 weights."""
    if not model.config.is_encoder_decoder:
        raise UserError(f"{type(model).__name__} is not an encoder-decoder: it has no translation to look into")
    if model.dtype != torch.float32:
        raise UserError(f"expected a model of float32 weights, got {model.dtype}: call model.float() first")


def check_list(texts: Sequence[str], name: str) -> None:
    """Raises UserError for a string instead of a list, because it would be read as a list of characters."""
    if isinstance(texts, str):
        raise UserError(f"{name} is a single text, expected a list of texts: {name}=[{texts[:40]!r}]", exit_code=2)


def check_lengths(model: PreTrainedModel, sequences: Sequence[Sequence[int]], *, side: str) -> None:
    """Raises UserError for a text with more tokens than the model has positions."""
    longest = getattr(model.config, "max_position_embeddings", None)  # T5 has no limit
    for number, ids in enumerate(sequences):
        if longest is not None and len(ids) > longest:
            which = side if len(sequences) == 1 else f"{side} {number}"
            raise UserError(f"{which} has {len(ids)} tokens, the model takes {longest}: look at a shorter text")


def decoder_start(model: PreTrainedModel) -> int:
    """The first decoder input of generation."""
    generation = model.generation_config
    start = generation.decoder_start_token_id
    start = start if start is not None else generation.bos_token_id
    if start is None:
        raise UserError("the checkpoint's generation_config.json has no decoder_start_token_id; add it")
    return int(start)


def end_ids(model: PreTrainedModel) -> frozenset[int]:
    """The ids that end a hypothesis."""
    end = model.generation_config.eos_token_id
    return frozenset([end] if isinstance(end, int) else end or ())


