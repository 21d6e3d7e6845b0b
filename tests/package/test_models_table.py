"""docs/models.md says of each model family what it can do here: every cell is tried on a tiny random model.

    pytest tests/package/test_models_table.py
"""

import re
from pathlib import Path

import httpx
import pytest
import serving
import tiny
import torch
import transformers

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens import VIEWS, Head, ablate

pytestmark = pytest.mark.docs
PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
ROWS = {
    row[0]: row[1:]
    for row in (re.split(r" *\| *", line.strip("| \n")) for line in PAGE.read_text("utf-8").splitlines() if "|" in line)
}
[(_, COLUMNS), _, *FAMILIES] = ROWS.items()

IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
SIZES = {"vocab_size": 460, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}  # fmt: skip
LIKE_BART = {**SIZES, **IDS, "max_position_embeddings": 64}
LIKE_T5 = {"vocab_size": 460, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, **IDS}
BERT = {"vocab_size": 460, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "max_position_embeddings": 64}  # fmt: skip
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
    "FSMT": lambda: transformers.FSMTConfig(
        langs=["en", "fr"], src_vocab_size=460, tgt_vocab_size=460, max_position_embeddings=64, **IDS,
        **{name: size for name, size in SIZES.items() if name != "vocab_size"}),
    "EncoderDecoder": lambda: transformers.EncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.BertConfig(**BERT), transformers.BertConfig(**BERT), **IDS),
    "LED": lambda: transformers.LEDConfig(**SIZES, **IDS, max_encoder_position_embeddings=64,
                                          max_decoder_position_embeddings=64, attention_window=4),
    "LongT5": lambda: transformers.LongT5Config(**LIKE_T5, local_radius=3),
    "ProphetNet": lambda: transformers.ProphetNetConfig(
        vocab_size=460, hidden_size=16, encoder_ffn_dim=32, num_encoder_layers=2, num_encoder_attention_heads=2,
        decoder_ffn_dim=32, num_decoder_layers=2, num_decoder_attention_heads=2, max_position_embeddings=64, ngram=2,
        **IDS),
}  # fmt: skip


def made(family):
    if family == "Seq2See":
        return tiny.seq2see()
    if family == "Marian (OPUS-MT)":
        return tiny.published_marian()
    torch.manual_seed(0)
    model = transformers.AutoModelForSeq2SeqLM.from_config(CONFIGS[family]())
    model.generation_config.update(forced_bos_token_id=None, forced_eos_token_id=None, max_length=12)
    return tiny.spread_out(model, std=0.3), tiny.foreign_tokenizer()


def served(translator):
    with serving.running({"tiny": lambda: translator}) as server:
        answer = httpx.post(f"{server.url}/v1/translate", json={"texts": [TEXT]}, timeout=60).json()
    assert answer["translations"][0]["engine"] == translator.engine.name


def every_view(translator):
    [trace] = translator.look(translator(TEXT), views=VIEWS)
    assert trace.maps("cross", "contributions").ndim == 3


def without_a_head(translator):
    with translator.inside() as (model, _), ablate(model, [Head("cross", 0, 0)]):
        pass


def fast(translator):
    Translator.from_pretrained(translator.folder, engine="ctranslate2")


TEXT = tiny.SENTENCES[0]
TRIES = {
    "translates": lambda translator: translator(TEXT),
    "looks": lambda translator: translator.look(translator(TEXT)),
    "all views": every_view,
    "heads off": without_a_head,
    "scores": lambda translator: translator.score([TEXT], [tiny.SENTENCES[3]]),
    "serves": served,
    "CTranslate2": fast,
}


def test_the_table_has_every_family_and_column():
    assert list(TRIES) == COLUMNS
    assert [name for name, _ in FAMILIES] == ["Seq2See", "Marian (OPUS-MT)", *CONFIGS]


@pytest.mark.parametrize(("family", "cells"), FAMILIES)
def test_what_a_family_can_do_is_what_the_table_says(tmp_path, family, cells):
    translator = Translator.from_pretrained(tiny.save(tmp_path / "model", *made(family)), engine="torch")
    found = []
    for tried in TRIES.values():
        try:
            tried(translator)
            found.append("yes")
        except UserError:
            found.append("no")
    assert found == cells
