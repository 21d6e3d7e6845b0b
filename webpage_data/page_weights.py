"""The weights of a network for a browser: a manifest and a buffer of numbers, which `webpage/model/weights.js` decodes.

    {"tensors": [{"name": "model.shared.weight", "shape": [3000, 128], "dtype": "int8", "offset": 0, "scales": 384000},
                 {"name": "model.encoder.layer_norm.bias", "shape": [128], "dtype": "float16", "offset": 396000}, ...]}

Offsets count bytes.  In int8 each row of a matrix has a float32 scale, at `scales`: weight = scale * number.  The
largest number of the row is 127.  Vectors (norms, biases) are few, and always float16.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError

WebType = Literal["float16", "int8"]
LOGITS_BIAS = "final_logits_bias"
OF_VOCABULARY = ("shared.weight", "embed_tokens.weight", "lm_head.weight", LOGITS_BIAS)  # of each token


@dataclass(frozen=True)
class WebWeights:
    """The manifest, the buffer, and the float32 tensors that a browser reads from them, by name."""

    manifest: dict[str, Any]
    buffer: bytes
    state: dict[str, torch.Tensor]


def web_weights(model: PreTrainedModel, dtype: WebType, kept: Sequence[int] | None = None) -> WebWeights:
    """The weights of a model whose `architecture` a browser has; tied ones occur once, and computed positions do not.

    Args:
        kept: the ids of the vocabulary that remain; None: all.

    Raises UserError for weights that float16 cannot hold.
    """
    if dtype not in get_args(WebType):
        raise UserError(f"weights for a browser are {' or '.join(get_args(WebType))}, not {dtype}", exit_code=2)
    buffer, tensors, state = bytearray(), list[dict[str, Any]](), dict[str, torch.Tensor]()
    for name, weight in _named(model):
        if kept is not None and name.endswith(OF_VOCABULARY):
            weight = weight[..., kept] if name == LOGITS_BIAS else weight[kept]
        entry, parts, values = _encoded(weight.detach().float().cpu().squeeze(0).numpy(), dtype)
        state[name] = values.view_as(weight)
        if not state[name].isfinite().all():
            raise UserError(f"{name} has weights too large for float16: a browser cannot run this model")
        for key, part in parts.items():
            entry[key] = len(buffer)
            buffer += part.tobytes()
            buffer += bytes(-len(buffer) % 4)  # an array of float32 begins at a multiple of 4
        tensors.append({"name": name} | entry)
    return WebWeights({"tensors": tensors}, bytes(buffer), state)


def _named(model: PreTrainedModel) -> Iterator[tuple[str, torch.Tensor]]:
    for name, weight in model.named_parameters():
        if weight.requires_grad or "embed_positions" not in name:  # Marian keeps its sinusoids as a parameter
            yield name, weight
    for name, bias in model.named_buffers():
        if name == LOGITS_BIAS:
            yield name, bias  # [1,V]


def _encoded(weight: np.ndarray, dtype: WebType) -> tuple[dict[str, Any], dict[str, np.ndarray], torch.Tensor]:
    """A tensor's entry, its numbers by the key of their offset, and the values that the browser reads from them."""
    if dtype == "float16" or weight.ndim == 1:
        with np.errstate(over="ignore"):
            half = weight.astype("<f2")
        return ({"shape": list(weight.shape), "dtype": "float16"}, {"offset": half},
                torch.from_numpy(half.astype(np.float32)))
    scale = (np.abs(weight).max(1) / 127).astype("<f4")
    scale[scale == 0] = 1
    small = np.rint(weight / scale[:, None]).clip(-127, 127).astype(np.int8)
    return ({"shape": list(weight.shape), "dtype": "int8"}, {"offset": small, "scales": scale},
            torch.from_numpy(small.astype(np.float32) * scale[:, None]))
