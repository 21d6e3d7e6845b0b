"""Translators without self-attention: Elman's network and the GRU, bare and with attention to the source.

They are what attention was invented for and then what it replaced, built to be compared with a Transformer of as many
parameters: encode, decode and logits are those of `small.SmallTransformer`.  One layer each side, read left to right;
the decoder starts from the encoder's last state, and without attention has nothing else of the source.
"""

import torch
from torch import Tensor, nn

# B batch, S source positions, T target positions, D width of the embeddings, N width of the recurrent state

STATE = {"elman": 240, "gru": 132, "gru with attention": 112}  # N: so that each is about as large as the Transformer


class RecurrentTranslator(nn.Module):
    """An encoder and a decoder of one cell (Elman 1990; Cho et al. 2014), over one embedding matrix.

    "gru with attention": each decoder state asks all the encoder's states (Luong et al. 2015, section 3.1, "general").
    """

    def __init__(self, network: str, *, width: int, vocabulary: int):
        super().__init__()
        state, cell = STATE[network], nn.RNN if network == "elman" else nn.GRU
        attention = network == "gru with attention"
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.reader = cell(width, state, batch_first=True)
        self.writer = cell(width, state, batch_first=True)
        self.asks = nn.Linear(state, state, bias=False) if attention else None
        self.joins = nn.Linear(2 * state, state) if attention else None
        self.output = nn.Linear(state, width)
        self.scale = width**0.5

    def embed(self, ids_BT: Tensor) -> Tensor:
        return self.embedding(ids_BT) * self.scale

    def encode(self, ids_BS: Tensor, mask_BS: Tensor) -> Tensor:
        """Source ids to the state after each of them, [B,S,N]."""
        return self.read(self.embed(ids_BS))

    def read(self, embedded_BSD: Tensor) -> Tensor:
        return self.reader(embedded_BSD)[0]

    def decode(self, memory_BSN: Tensor, mask_BS: Tensor, ids_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """Target ids to output states [B,T,D], beginning from the encoder's state after the last real word."""
        last_B = mask_BS.sum(1) - 1
        first_1BN = memory_BSN[torch.arange(len(last_B)), last_B][None].contiguous()
        state_BTN: Tensor = self.writer(self.embed(ids_BT), first_1BN)[0]
        if self.asks is not None and self.joins is not None:
            score_BTS = self.asks(state_BTN) @ memory_BSN.transpose(1, 2)
            weight_BTS = score_BTS.masked_fill(mask_BS[:, None] == 0, float("-inf")).softmax(-1)
            state_BTN = torch.tanh(self.joins(torch.cat([weight_BTS @ memory_BSN, state_BTN], dim=-1)))
        return self.output(state_BTN)

    def logits(self, states: Tensor) -> Tensor:
        """[..., D] to [..., V]."""
        return states @ self.embedding.weight.T
