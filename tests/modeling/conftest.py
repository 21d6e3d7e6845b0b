"""Small real networks whose attention is far from uniform: the usual tiny initialisation would hide most faults."""


import pytest
import torch

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration

PAD, START, END = 0, 1, 2
VOCABULARY = 40


def make_model(*, implementation: str = "eager", spread: float = 0.5, seed: int = 0, **sizes):
    """A network with 3 encoder and 2 decoder layers, every weight drawn from N(0, spread), in eval mode."""
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 2} | sizes
    config = Seq2SeeConfig(vocab_size=VOCABULARY, encoder_ffn_dim=24, decoder_ffn_dim=24, **sizes)
    config._attn_implementation = implementation
    model = Seq2SeeForConditionalGeneration(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=spread)
    return model.eval()


def make_batch(*, seed: int = 1, lengths=(7, 4, 5), target_lengths=(6, 3, 5)):
    """Padded source ids, their mask, and decoder inputs with their mask: rows of unequal lengths."""
    generator = torch.Generator().manual_seed(seed)

    def draw(lengths):
        ids = torch.full((len(lengths), max(lengths)), PAD)
        for row, length in enumerate(lengths):
            ids[row, :length] = torch.randint(4, VOCABULARY, (length,), generator=generator)
        return ids, (ids != PAD).long()

    source, source_mask = draw(lengths)
    target, target_mask = draw(target_lengths)
    target[:, 0] = START
    return {
        "input_ids": source,
        "attention_mask": source_mask,
        "decoder_input_ids": target,
        "decoder_attention_mask": target_mask,
    }


def padded_left(batch):
    """The same rows with their padding in front."""

    def shift(ids, mask):
        return torch.stack([row.roll(int((real == 0).sum())) for row, real in zip(ids, mask, strict=True)])

    masks = {"input_ids": "attention_mask", "decoder_input_ids": "decoder_attention_mask"}
    return {name: shift(value, batch[masks.get(name, name)]) for name, value in batch.items()}


@pytest.fixture
def model():
    return make_model()


@pytest.fixture
def batch():
    return make_batch()
