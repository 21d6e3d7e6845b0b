"""The files of published models in ../shared/hub, with small random weights; tests skip where they are absent."""

import json
import shutil
from pathlib import Path

import pytest
import tiny
import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

HUB = Path(__file__).resolve().parents[2] / "shared" / "hub"
needs_hub = pytest.mark.skipif(not HUB.is_dir(), reason="needs the files of published models in ../shared/hub")
SMALL = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}


def small(name, folder, **sizes):
    """A published model's files, with small random weights in a pickle of float16."""
    shutil.copytree(HUB / name, folder, copy_function=shutil.copy)
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    config = json.loads((folder / "config.json").read_text()) | SMALL | sizes
    (folder / "config.json").write_text(json.dumps(config))
    torch.manual_seed(0)
    model = AutoModelForSeq2SeqLM.from_config(transformers.AutoConfig.from_pretrained(folder))
    tiny.spread_out(model)
    if model.config.model_type == "marian":
        model.get_input_embeddings().weight.data[config["pad_token_id"]] = 0
        model.final_logits_bias[0, config["eos_token_id"]] = 8.0  # or no translation would end
    torch.save(model.half().state_dict(), folder / "pytorch_model.bin")
    return folder


def nllb(folder, source=None, target=None):
    """NLLB's published files, with the tokenizer.json of a small vocabulary and all of its languages; as published
    it names no pair, and it may be given one."""
    small("nllb-200-1.3B", folder, vocab_size=2_000)  # still more than the tokenizer has
    tiny.nllb(folder / "tiny", source, target)
    shutil.move(folder / "tiny" / "tokenizer.json", folder)
    shutil.rmtree(folder / "tiny")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"src_lang": source, "tgt_lang": target}))
    return folder
