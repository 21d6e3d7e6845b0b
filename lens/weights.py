"""Whether the weights of a model are still those they were."""

import zlib

import torch
from transformers import PreTrainedModel


def checksum(model: PreTrainedModel) -> int:
    """The CRC-32 of what a checkpoint would hold, in milliseconds: another one after any training, edit or loading.

    PyTorch's version counters would be faster, but its fused optimisers do not move them, nor does `tensor.data`.
    """
    tensors = {tensor.data_ptr(): tensor for tensor in model.state_dict().values()}  # tied ones once
    found = 0
    for tensor in tensors.values():
        found = zlib.crc32(tensor.cpu().flatten().view(torch.uint8).numpy(), found)
    return found
