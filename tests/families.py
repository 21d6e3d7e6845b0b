"""Tiny random models of families beyond those of `tiny.py`, by the names that `docs/models.md` gives them."""

from collections.abc import Iterable
from typing import Any

import pytest
import tiny
import torch
import transformers
from transformers import PreTrainedModel

IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
SIZES = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
LIKE_BART = {"vocab_size": 460, **SIZES, **IDS, "max_position_embeddings": 64}
LIKE_T5 = {"vocab_size": 460, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, **IDS}
BERT = {"vocab_size": 460, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "max_position_embeddings": 64}
CONFIGS = {
    "BART": lambda: transformers.BartConfig(**LIKE_BART),
    "mBART": lambda: transformers.MBartConfig(**LIKE_BART),
    "M2M-100, NLLB": lambda: transformers.M2M100Config(**LIKE_BART),
    "Pegasus": lambda: transformers.PegasusConfig(**LIKE_BART),
    "Blenderbot": lambda: transformers.BlenderbotConfig(**LIKE_BART),
    "PLBart": lambda: transformers.PLBartConfig(**LIKE_BART),
    "T5": lambda: transformers.T5Config(**LIKE_T5),
    "mT5": lambda: transformers.MT5Config(**LIKE_T5),
    "UMT5": lambda: transformers.UMT5Config(**LIKE_T5),
    "Switch": lambda: transformers.SwitchTransformersConfig(**LIKE_T5, num_decoder_layers=2, num_experts=2),
    "FSMT": lambda: transformers.FSMTConfig(langs=["en", "fr"], src_vocab_size=460, tgt_vocab_size=460, **SIZES, **IDS,
                                            max_position_embeddings=64),
    "EncoderDecoder": lambda: transformers.EncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.BertConfig(**BERT), transformers.BertConfig(**BERT), **IDS),
    "LED": lambda: transformers.LEDConfig(vocab_size=460, **SIZES, **IDS, max_encoder_position_embeddings=64,
                                          max_decoder_position_embeddings=64, attention_window=4),
    "LongT5": lambda: transformers.LongT5Config(**LIKE_T5, local_radius=3),
    "ProphetNet": lambda: transformers.ProphetNetConfig(
        vocab_size=460, hidden_size=16, encoder_ffn_dim=32, num_encoder_layers=2, num_encoder_attention_heads=2,
        decoder_ffn_dim=32, num_decoder_layers=2, num_decoder_attention_heads=2, max_position_embeddings=64, ngram=2,
        **IDS),
}
EACH_TIME = ("M2M-100, NLLB", "T5", "FSMT", "LED")  # the others' tests are long


def some(names: Iterable[str]) -> list[Any]:
    """The names as parameters of a test; those that are much like others run with `pytest -m long` alone."""
    return [pytest.param(name, marks=pytest.mark.long) if name in CONFIGS and name not in EACH_TIME else name
            for name in names]


def made(family: str) -> PreTrainedModel:
    torch.manual_seed(0)
    model = transformers.AutoModelForSeq2SeqLM.from_config(CONFIGS[family]())
    model.generation_config.update(forced_bos_token_id=None, forced_eos_token_id=None, max_length=12)
    return tiny.spread_out(model, std=0.3)
