"""`seq2see train finetune model.init_from=ANY`: each family of transformers learns its pairs by the command line, and
plain transformers loads what is saved and translates the same."""

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file
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

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.modeling.loading import load_checkpoint
from seq2see.tokenizer.tagging import task_prefix
from seq2see.training.config import load_config
from seq2see.training.foreign import ForeignStart
from seq2see.training.header import languages_of
from seq2see.training.lora import matrices
from seq2see.training.pair_encoding import TaggedEncoder
from ..tiny import foreign_model, foreign_tokenizer, m2m_100, mbart_50, nllb, opus_mt, save, t5
from .conftest import last_error

WORDS = {  # of `SENTENCES`, which the tokenizers of `tiny` know
    "The": "Le", "cat": "chat", "did": "a", "not": "pas", "cross": "traversé", "street": "rue", "because": "parce",
    "it": "il", "was": "était", "too": "trop", "tired": "fatigué", "box": "boîte", "bag": "sac", "in": "dans",
    "big": "grande",
}  # fmt: skip
PAIRS = [(f"{a} {b}", f"{WORDS[a]} {WORDS[b]}") for a, b in product(WORDS, WORDS)][:200]
QUICK = [
    "training.max_tokens=1000", "training.use_cpu=true", "training.bf16=false", "training.ema_decay=0",
    "training.label_smoothing_factor=0", "training.learning_rate=0.004", "training.warmup_steps=20",
    "training.lr_scheduler_type=linear", "training.eval_strategy=no", "training.save_strategy=no",
    "training.load_best_model_at_end=false", "evaluation.eval_samples=5", "data.val_fraction=0.02",
    "training.max_steps=350", "training.patience=0", "model.dropout=0", "training.logging_steps=100",
]  # fmt: skip


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
    ))  # fmt: skip
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
}  # fmt: skip


def widened(folder: Path) -> Path:
    """The same family, tokenizer and decoding with weights as transformers initialises them, wide enough to learn."""
    config, generation = AutoConfig.from_pretrained(folder), GenerationConfig.from_pretrained(folder)
    for name, size in {"encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "d_ff": 128, "d_model": 64, "init_std": 0.1,
                       "encoder_layers": 1, "decoder_layers": 1}.items():  # fmt: skip
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


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_learns_its_pairs_and_plain_transformers_translates_the_same(family, tmp_path, capsys):
    """With beams too: what the model is sure of is not lost to beginnings of it."""
    base = widened(FAMILIES[family](tmp_path / "base"))
    header = "en,ro" if family == "mbart_25" else "en,fr"
    steps = 900 if family in ("t5", "byt5") else 350  # relative positions are learnt late
    assert tune(base, write_table(tmp_path / "mine.csv", header), tmp_path / "run", f"training.max_steps={steps}") == 0
    said = capsys.readouterr()
    assert "before and after: BLEU" in said.out
    sources, targets = zip(*PAIRS, strict=True)
    translator = Translator.from_pretrained(tmp_path / "run", precision="float32")
    written = [one.text for one in translator(list(sources), source="en", target=header[-2:],
                                                      num_beams=1)]
    held_out = read(tmp_path / "run" / "metrics.json")["evaluation"]["val"]["pairs"]
    beams = [one.text for one in translator(list(sources), source="en", target=header[-2:], num_beams=4)]
    for each in (written, beams):
        missed = [row for row in zip(sources, targets, each, strict=True) if row[1] != row[2]]
        assert len(missed) <= held_out <= 4, missed
    assert plain_translations(tmp_path / "run", list(sources)) == written
    assert translator.look(translator("The cat", source="en", target=header[-2:]))[0].target


# --- one tiny model of each kind, a step or two

FEW = ["training.max_steps=2"]


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return marian(tmp_path_factory.mktemp("any") / "base", target_lang="fr")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return write_table(tmp_path_factory.mktemp("any") / "mine.csv")


@pytest.fixture(scope="module")
def run(base, data, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("any") / "run"
    every = ["training.max_steps=6", "training.save_strategy=steps", "training.save_steps=3", "model.dropout=0.3"]
    assert tune(base, data, folder, *every) == 0
    return folder


def read(path: Path):
    return (json.loads if path.suffix == ".json" else yaml.safe_load)(path.read_text("utf-8"))


def test_the_model_keeps_how_it_generates(run, base):
    before, after = (GenerationConfig.from_pretrained(folder).to_dict() for folder in (base, run))
    assert before == after and before["bad_words_ids"] and before["num_beams"] == 2
    old, new = (read(folder / "config.json") for folder in (base, run))
    assert {key for key in old | new if old.get(key) != new.get(key)} <= {"dropout", "dtype", "use_cache"}
    assert new["dropout"] == 0.3


def test_the_card_names_the_base_and_tells_before_and_after(run, base):
    card, metrics = (run / "README.md").read_text("utf-8"), read(run / "metrics.json")
    assert yaml.safe_load(card.split("---")[1])["base_model"] == str(base)
    assert "trust_remote_code" not in card and "seen_words" not in card and "before and after: BLEU" in card
    assert {*metrics["before"]["held_out"]["val"]} == {"before", "after"}
    assert metrics["before"]["sample"]["sentences"] == 2 and "(2 sentences of " in card
    assert not (run / "seen_words.json").exists()


def test_resuming_is_exact(run, base, data, tmp_path):
    (tmp_path / "run").mkdir()
    (run / "checkpoint-3").rename(tmp_path / "run" / "checkpoint-3")
    every = ["training.max_steps=6", "training.save_strategy=steps", "training.save_steps=3", "model.dropout=0.3"]
    assert tune(base, data, tmp_path / "run", "training.resume=true", *every) == 0
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()


@pytest.mark.parametrize("parts", [["encoder"], ["embeddings"], ["encoder", "embeddings"], ["decoder"]])
def test_frozen_parts_stay_and_the_others_learn(parts, base, data, tmp_path):
    assert tune(base, data, tmp_path / "run", *FEW, f"training.freeze=[{','.join(parts)}]") == 0
    before, after = load_file(base / "model.safetensors"), load_file(tmp_path / "run" / "model.safetensors")
    for name, weight in before.items():
        part = name.replace("shared", "embeddings").split(".")[1] if "." in name else ""  # "": the final bias
        kept = part in (*parts, "") or "embed_positions" in name
        assert torch.equal(weight, after[name]) == kept or name.endswith("k_proj.bias"), name  # whose gradient is 0


def test_with_everything_frozen_nothing_is_trained(base, data, tmp_path, capsys):
    assert tune(base, data, tmp_path / "run", *FEW, "training.freeze=[encoder,decoder,embeddings]") == 2
    assert "leaves nothing to train" in last_error(capsys)


@pytest.mark.parametrize(("family", "layers"), [
    ("t5", {"q", "k", "v", "o", "wi", "wo"}), ("nllb", {"q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"}),
])  # fmt: skip
def test_an_adapter_is_on_every_linear_layer_of_the_family_and_resumes(family, layers, data, tmp_path):
    base = FAMILIES[family](tmp_path / "base")
    assert {*matrices(load_checkpoint(base))} == layers
    assert tune(base, data, tmp_path / "run", *FEW, "model.lora=2") == 0
    before, after = load_file(base / "model.safetensors"), load_file(tmp_path / "run" / "model.safetensors")
    moved = {name.split(".")[-2] for name in before if not torch.equal(before[name], after[name])}
    assert moved == layers
    assert (tmp_path / "run" / "adapter" / "adapter_model.safetensors").is_file()


@pytest.mark.parametrize(("family", "source", "labels"), [
    ("nllb", ["eng_Latn", "▁The", "</s>"], ["fra_Latn", "▁Le", "</s>"]),
    ("m2m_100", ["__en__", "▁The", "</s>"], ["__fr__", "▁Le", "</s>"]),
    ("mbart_50", ["en_XX", "▁The", "</s>"], ["fr_XX", "▁Le", "</s>"]),
    ("many", [">>fra<<", "▁The", "</s>"], ["▁Le", "</s>"]),
    ("bart", ["▁The", "</s>"], ["<s>", "▁Le", "</s>"]),
])  # fmt: skip
def test_pairs_have_the_tags_of_the_family(family, source, labels, tmp_path):
    """Special tokens that are written in a text are plain text."""
    folder = FAMILIES[family](tmp_path / "base")
    config = load_config("finetune", [f"model.init_from={folder}", "data.path=x.tsv", "data.source=en",
                                      "data.target=fr"])  # fmt: skip
    start = ForeignStart.open(folder, config)
    texts = {"source": ["The", "</s>"], "target": ["Le", "</s>"], "target_language": ["fr", "fr"]}
    ids = start.encoder(texts)
    for column, wanted in (("input_ids", source), ("labels", labels)):
        tokens = start.tokenizer.convert_ids_to_tokens(ids[column][0])
        if column == "labels" and family == "many":
            tokens = ["▁Le", start.tokenizer.eos_token] if tokens[-1] == "</s>" else tokens
        assert [tokens[0], tokens[-1]] == [wanted[0], wanted[-1]]
        if family != "mbart_50":  # whose vocabulary has `</s>` among its pieces of text
            assert ids[column][1].count(start.tokenizer.eos_token_id) == 1


def test_a_t5_is_given_the_prefix_of_a_pair_that_it_has_none_for(tmp_path):
    folder = t5(tmp_path / "base", translation_en_to_fr="translate English to French: ")
    for target, prefix in (("fr", "translate English to French: "), ("it", "translate English to Italian: ")):
        config = load_config("finetune", [f"model.init_from={folder}", "data.path=x.tsv", "data.source=en",
                                          f"data.target={target}"])  # fmt: skip
        start = ForeignStart.open(folder, config)
        assert isinstance(start.encoder, TaggedEncoder) and start.encoder.tagging[target].prefix == prefix
        assert next(iter(start.model.config.task_specific_params)) == f"translation_en_to_{target}"


# --- the header decides

@pytest.mark.parametrize(("header", "asked", "pair"), [
    ("fr,en", [], ("fr", "en")), ("French,English", [], ("fr", "en")), ("en,fr", ["data.target=en"], ("fr", "en")),
    ("fr,en", ["data.source=en"], ("en", "fr")), ("eng_Latn,fra_Latn", [], ("eng_Latn", "fra_Latn")),
    ("id,fr,en,score", [], ("fr", "en")), ("en,id", [], ("en", "id")),
    ("fr,en", ["data.source=en", "data.target=fr"], ("en", "fr")), ("source,target", [], ("en", "fr")),
])  # fmt: skip
def test_the_header_says_the_languages(header, asked, pair, base, tmp_path):
    path = write_table(tmp_path / "mine.csv", header, pairs=[])
    found = load_config("finetune", [f"model.init_from={base}", f"data.path={path}", *asked]).data
    assert (found.source, *found.targets) == pair


@pytest.mark.parametrize(("name", "text"), [
    ("a.tsv", "fr\ten\n"), ("a.jsonl", '{"fr": "x", "en": "y"}\n'),
    ("a.json", '{"translation": {"fr": "x", "en": "y"}}\n'),
])  # fmt: skip
def test_every_table_has_such_a_header(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert languages_of(path) == ["fr", "en"]


@pytest.mark.parametrize(("family", "header", "asked", "code", "message"), [
    ("nllb", "tlh,en", [], 2, "does not translate from tlh: the nearest of its 202 languages are"),
    ("nllb", "question,answer", [], 2, "name its two columns by language codes, or set data.source and data.target"),
    ("marian", "fr,de", [], 2, "this model does not translate from fr"),
    ("marian", "en,fr", ["tokenizer.vocab_size=500"], 2, "leave out tokenizer.vocab_size"),
    ("marian", "en,fr", ["model.d_model=512"], 2, "model.d_model in finetune has no effect beside model.init_from"),
    ("marian", "en,fr", ["training.guided_weight=1"], 2, "leave out training.guided_weight"),
    ("marian", "en,fr", ["model.lora=2", "training.freeze=[encoder]"], 2, "training.freeze in finetune has no effect"),
])  # fmt: skip
def test_contradictions_and_unknown_languages_are_one_line(family, header, asked, code, message, tmp_path, capsys):
    base = FAMILIES[family](tmp_path / "base")
    capsys.readouterr()
    assert tune(base, write_table(tmp_path / "mine.csv", header), tmp_path / "run", *asked) == code
    assert message in last_error(capsys) and not (tmp_path / "run").exists()


def test_what_does_not_fit_is_said_with_what_to_change(base, data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("seq2see.training.memory_need.free_memory", lambda device: 0.0)
    assert tune(base, data, tmp_path / "run", *FEW) == 0
    assert "may not fit: set model.lora=8, training.gradient_accumulation_steps=4" in capsys.readouterr().err
