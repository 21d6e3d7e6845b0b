"""The weights of a network for a browser: a manifest and a buffer of numbers, which `webpage/model/weights.js` decodes.

    {"tensors": [{"name": "model.shared.weight", "shape": [3000, 128], "dtype": "int8", "offset": 0, "scales": 384000},
                 {"name": "model.encoder.layer_norm.bias", "shape": [128], "dtype": "float16", "offset": 396000}, ...]}

Offsets count bytes.  In int8 each row of a matrix has a float32 scale, at `scales`: weight = scale * number.  The
largest number of the row is 127.  Vectors (norms, biases) are few, and always float16.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from transformers import PreTrainedModel

from seq2see.errors import UserError

WebType = Literal["float16", "int8"]
# What the network in the browser would leave out of a generation_config.json.
LEFT_OUT = ("forced_eos_token_id", "bad_words_ids", "suppress_tokens", "begin_suppress_tokens", "min_length")


@dataclass(frozen=True)
class WebWeights:
    """The manifest, the buffer, and the float32 tensors that a browser reads from them, by name."""

    manifest: dict[str, Any]
    buffer: bytes
    state: dict[str, torch.Tensor]


def web_weights(model: PreTrainedModel, dtype: WebType) -> WebWeights:
    """The weights of a Seq2See model; tied ones occur once.

    Raises UserError for a model of another type, with another activation than relu, with search settings that the
    browser does not support, or with weights that float16 cannot hold.
    """
    if dtype not in get_args(WebType):
        raise UserError(f"weights for a browser are {' or '.join(get_args(WebType))}, not {dtype}", exit_code=2)
    _refuse_others(model)
    buffer, tensors, state = bytearray(), list[dict[str, Any]](), dict[str, torch.Tensor]()
    for name, weight in model.named_parameters():
        entry, parts, state[name] = _encoded(weight.detach().float().cpu().numpy(), dtype)
        if not state[name].isfinite().all():
            raise UserError(f"{name} has weights too large for float16: a browser cannot run this model")
        for key, part in parts.items():
            entry[key] = len(buffer)
            buffer += part.tobytes()
            buffer += bytes(-len(buffer) % 4)  # an array of float32 begins at a multiple of 4
        tensors.append({"name": name} | entry)
    return WebWeights({"tensors": tensors}, bytes(buffer), state)


def _refuse_others(model: PreTrainedModel) -> None:
    if model.config.model_type != "seq2see":
        raise UserError(f"a browser cannot run a {model.config.model_type} model: expected a Seq2See model")
    if model.config.activation_function != "relu":
        raise UserError(f"a browser supports the activation relu only, not {model.config.activation_function}")
    generation = model.generation_config.to_dict()
    found = [name for name in LEFT_OUT if generation.get(name)]
    if found:
        raise UserError(f"generation_config.json sets {', '.join(found)}, which the search in a browser does not"
                        " support")


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
