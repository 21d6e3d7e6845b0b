"""Tiny models of each family of transformers, pairs to learn, and `seq2see train finetune` of one on the other."""

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import torch
import yaml
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    ByT5Tokenizer,
    GenerationConfig,
    MBartTokenizer,
    PegasusConfig,
    PegasusForConditionalGeneration,
)

from seq2see.cli.command import main
from seq2see.tokenizer.tagging import task_prefix
from ..tiny import foreign_model, foreign_tokenizer, m2m_100, mbart_50, nllb, opus_mt, save, t5

WORDS = {  # of `SENTENCES`, which the tokenizers of `tiny` know
    "The": "Le", "cat": "chat", "did": "a", "not": "pas", "cross": "traversé", "street": "rue", "because": "parce",
    "it": "il", "was": "était", "too": "trop", "tired": "fatigué", "box": "boîte", "bag": "sac", "in": "dans",
    "big": "grande",
}
PAIRS = [(f"{a} {b}", f"{WORDS[a]} {WORDS[b]}") for a, b in product(WORDS, WORDS)][:200]
QUICK = [
    "training.max_tokens=1000", "training.use_cpu=true", "training.bf16=false", "training.ema_decay=0",
    "training.label_smoothing_factor=0", "training.learning_rate=0.004", "training.warmup_steps=20",
    "training.lr_scheduler_type=linear", "training.eval_strategy=no", "training.save_strategy=no",
    "training.load_best_model_at_end=false", "evaluation.eval_samples=5", "data.val_fraction=0.02",
    "training.patience=0", "model.dropout=0", "training.logging_steps=100",
]
LEARN = ["training.optim=muon", "training.learning_rate=0.02", "training.warmup_steps=5"]  # in a third of AdamW's steps


def marian(folder: Path, **languages: str) -> Path:
    """An OPUS-MT, its weights in safetensors."""
    folder.mkdir()
    opus_mt(folder, **languages)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    model.save_pretrained(folder)
    (folder / "pytorch_model.bin").unlink()
    return folder


def many_to_many(folder: Path) -> Path:
    folder.mkdir()
    opus_mt(folder, tags=[">>fra<<", ">>deu<<"], source_lang="en", target_lang="mul")
    AutoModelForSeq2SeqLM.from_pretrained(folder).save_pretrained(folder)
    (folder / "pytorch_model.bin").unlink()
    return folder


def bart(folder: Path) -> Path:
    tokenizer = foreign_tokenizer()
    return save(folder, foreign_model("bart", vocab_size=len(tokenizer)), tokenizer)


def byt5(folder: Path) -> Path:
    tokenizer = ByT5Tokenizer(extra_ids=0)
    model = foreign_model("t5", vocab_size=len(tokenizer))
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    return save(folder, model, tokenizer)


def pegasus(folder: Path) -> Path:
    tokenizer = foreign_tokenizer()
    model = PegasusForConditionalGeneration(PegasusConfig(
        vocab_size=len(tokenizer), encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, d_model=16,
        decoder_attention_heads=2, max_position_embeddings=64, pad_token_id=0, eos_token_id=2, decoder_start_token_id=0,
        forced_eos_token_id=None,
    ))
    return save(folder, model, tokenizer)


def mbart_25(folder: Path) -> Path:
    """Its decoder starts from the language's tag."""
    mbart_50(folder)
    vocabulary = AutoTokenizer.from_pretrained(folder).get_vocab()
    known = sorted(vocabulary, key=vocabulary.__getitem__)
    plain = [token for token in known if not re.fullmatch(r"[a-z]{2,3}_[A-Z]{2}|<.*>", token)]
    tokenizer = MBartTokenizer(vocab=[(token, -1.0) for token in ("<s>", "<pad>", "</s>", "<unk>", *plain)],
                               src_lang="en_XX", tgt_lang="ro_RO")
    config = AutoConfig.from_pretrained(folder)
    config.vocab_size, config.decoder_start_token_id = len(tokenizer), tokenizer.convert_tokens_to_ids("ro_RO")
    model = AutoModelForSeq2SeqLM.from_config(config)
    for old in folder.iterdir():
        old.unlink()
    return save(folder, model, tokenizer)


FAMILIES: dict[str, Callable[[Path], Path]] = {
    "marian": marian, "many": many_to_many, "nllb": nllb, "m2m_100": m2m_100, "mbart_50": mbart_50,
    "mbart_25": mbart_25, "t5": t5, "byt5": byt5, "bart": bart, "pegasus": pegasus,
}


def widened(folder: Path) -> Path:
    """The same family, tokenizer and decoding with weights as transformers initialises them, wide enough to learn; T5's
    narrower, whose positions would be learnt late."""
    config, generation = AutoConfig.from_pretrained(folder), GenerationConfig.from_pretrained(folder)
    for name, size in {"encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "d_ff": 128, "d_model": 64, "init_std": 0.1,
                       "encoder_layers": 1, "decoder_layers": 1, "num_layers": 1, "num_decoder_layers": 1, "d_kv": 32,
                       "initializer_factor": 0.2}.items():
        if name in vars(config):
            setattr(config, name, size)
    torch.manual_seed(0)
    model = AutoModelForSeq2SeqLM.from_config(config)
    model.generation_config = generation
    model.save_pretrained(folder)
    return folder


def write_table(path: Path, header: str = "en,fr", pairs=PAIRS) -> Path:
    path.write_text(f"{header}\n" + "".join(f"{source},{target}\n" for source, target in pairs), "utf-8")
    return path


def tune(base: Path, data: Path, run: Path, *settings: str) -> int:
    sample = data.with_name("sample.txt")
    sample.write_text("The cat\nbig box\n", "utf-8")
    return main(["train", "finetune", "--no-measures", f"model.init_from={base}", f"data.path={data}",
                 f"training.output_dir={run}", f"evaluation.sample={sample}", *QUICK, *settings])


def plain_translations(run: Path, texts: list[str]) -> list[str]:
    """Of transformers alone, as the folder says it."""
    tokenizer, model = AutoTokenizer.from_pretrained(run), AutoModelForSeq2SeqLM.from_pretrained(run)
    prefix = task_prefix(model.config, "en", "fr")
    tag = ">>fra<< " if ">>fra<<" in tokenizer.get_vocab() else ""
    batch = tokenizer([f"{tag}{prefix}{text}" for text in texts], return_tensors="pt", padding=True)
    batch.pop("token_type_ids", None)
    found = tokenizer.batch_decode(model.generate(**batch, num_beams=1, max_length=60), skip_special_tokens=True)
    return [text.removeprefix("__fr__ ") for text in found]  # M2M-100's own tokenizer leaves its tag


def read(path: Path):
    return (json.loads if path.suffix == ".json" else yaml.safe_load)(path.read_text("utf-8"))
