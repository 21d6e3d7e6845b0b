"""A blank source has an empty translation, whatever the weights would produce."""

from collections.abc import Collection

import torch
from transformers import LogitsProcessor

BYTES = range(36, 292)  # ids of the 256 byte tokens; lower ids are special

# B batch, S source length, N hypotheses of the batch, V vocabulary


def blank_rows(ids_BS: torch.Tensor, *, special: Collection[int], white: Collection[int] | None) -> torch.Tensor:
    """Which rows [B] contain only white space.

    Args:
        special: ids that represent no character.
        white: ids of tokens of white space only, in a Seq2SeeTokenizer vocabulary; None for any other vocabulary.
    """
    silent = torch.tensor([*(special if white is None else white)], device=ids_BS.device)
    silent_BS = torch.isin(ids_BS, silent)
    if white is None:
        return silent_BS.all(1)
    blank_B = (silent_BS | (ids_BS < BYTES.stop)).all(1)
    for row in blank_B.nonzero().flatten().tolist():  # white space without a token is spelled in bytes
        spelled = b"".join(bytes([i - BYTES.start]) if i in BYTES else b" " for i in ids_BS[row].tolist())
        blank_B[row] = not spelled.decode(errors="replace").strip()
    return blank_B


class EndAtOnce(LogitsProcessor):
    """Ends the hypotheses of some rows at the first token that is not forced; other rows are unchanged."""

    def __init__(self, blank_B: torch.Tensor, *, end: int):
        self.blank_B, self.end = blank_B, end

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        blank_N = self.blank_B.repeat_interleave(len(scores) // len(self.blank_B))
        forced_N = (scores > -torch.inf).sum(-1) == 1
        end_V = torch.full_like(scores[0], -torch.inf).index_fill(0, torch.tensor(self.end, device=scores.device), 0)
        return torch.where((blank_N & ~forced_N)[:, None], end_V, scores)
