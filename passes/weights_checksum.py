"""Detects whether the weights of a model have changed."""

import zlib

import torch
from transformers import PreTrainedModel


def checksum(model: PreTrainedModel) -> int:
    """The CRC-32 of the weights of a model, in milliseconds; it changes with any training, edit or loading.

    PyTorch's version counters would be faster, but its fused optimisers do not update them, and neither does
    `tensor.data`.
    """
    tensors = {tensor.data_ptr(): tensor for tensor in model.state_dict().values()}  # tied ones once
    found = 0
    for tensor in tensors.values():
        found = zlib.crc32(tensor.cpu().flatten().view(torch.uint8).numpy(), found)
    return found
