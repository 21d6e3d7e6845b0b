"""Translators without self-attention: Elman's network and the GRU, bare and with attention to the source.

They are what attention was invented for and then what it replaced, built to be compared with a Transformer of as many
parameters: encode, decode and logits are those of `small.SmallTransformer`.  One layer each side, read left to right;
the decoder starts from the encoder's last state, and without attention has nothing else of the source.
"""

from typing import Literal

import torch
from torch import Tensor, nn

# B batch, S source positions, T target positions, D width of the embeddings, N width of the recurrent state

Cell = Literal["elman", "gru"]
# N, by cell and attention: so that each has about as many parameters as the small Transformer.
STATE: dict[tuple[Cell, bool], int] = {("elman", False): 240, ("gru", False): 132, ("gru", True): 112}
CELLS: dict[Cell, type[nn.RNN] | type[nn.GRU]] = {"elman": nn.RNN, "gru": nn.GRU}


class RecurrentTranslator(nn.Module):
    """An encoder and a decoder of one cell (Elman 1990; Cho et al. 2014), over one embedding matrix.

    With `attention`, each decoder state asks all the encoder's states (Luong et al. 2015, section 3.1, "general").
    """

    def __init__(self, cell: Cell, *, width: int, vocabulary: int, attention: bool = False):
        super().__init__()
        state = STATE[cell, attention]
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.reader = CELLS[cell](width, state, batch_first=True)
        self.writer = CELLS[cell](width, state, batch_first=True)
        self.asks = nn.Linear(state, state, bias=False) if attention else None
        self.joins = nn.Linear(2 * state, state) if attention else None
        self.output = nn.Linear(state, width)
        self.scale = width**0.5

    def embed(self, ids_BT: Tensor) -> Tensor:
        embedded_BTD: Tensor = self.embedding(ids_BT) * self.scale
        return embedded_BTD

    def encode(self, ids_BS: Tensor, mask_BS: Tensor) -> Tensor:
        """Source ids to the state after each of them, [B,S,N]."""
        return self.read(self.embed(ids_BS))

    def read(self, embedded_BSD: Tensor) -> Tensor:
        states_BSN: Tensor = self.reader(embedded_BSD)[0]
        return states_BSN

    def decode(self, memory_BSN: Tensor, mask_BS: Tensor, ids_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """Target ids to output states [B,T,D], beginning from the encoder's state after the last real word."""
        last_B = mask_BS.sum(1) - 1
        first_1BN = memory_BSN[torch.arange(len(last_B)), last_B][None].contiguous()
        state_BTN: Tensor = self.writer(self.embed(ids_BT), first_1BN)[0]
        if self.asks is not None and self.joins is not None:
            score_BTS = self.asks(state_BTN) @ memory_BSN.transpose(1, 2)
            weight_BTS = score_BTS.masked_fill(mask_BS[:, None] == 0, float("-inf")).softmax(-1)
            state_BTN = torch.tanh(self.joins(torch.cat([weight_BTS @ memory_BSN, state_BTN], dim=-1)))
        written_BTD: Tensor = self.output(state_BTN)
        return written_BTD

    def logits(self, states: Tensor) -> Tensor:
        """[..., D] to [..., V]."""
        return states @ self.embedding.weight.T
