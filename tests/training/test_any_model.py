"""`seq2see train finetune model.init_from=ANY`: each family of transformers learns its pairs by the command line, and
plain transformers loads what is saved and translates the same."""

from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file
from transformers import GenerationConfig

from seq2see import Translator
from seq2see.modeling.loading import load_checkpoint
from seq2see.training.config import load_config
from seq2see.training.foreign import ForeignStart
from seq2see.training.header import languages_of
from seq2see.training.lora import matrices
from seq2see.training.pair_encoding import TaggedEncoder
from ..tiny import t5
from .conftest import last_error
from .foreign_models import FAMILIES, LEARN, PAIRS, marian, plain_translations, read, tune, widened, write_table


@pytest.mark.long
@pytest.mark.parametrize("family", [name if name == "marian" else pytest.param(name, marks=pytest.mark.long)
                                    for name in FAMILIES])
def test_a_family_learns_its_pairs_and_plain_transformers_translates_the_same(family, tmp_path, capsys):
    """With beams too: what the model is sure of is not lost to beginnings of it."""
    base = widened(FAMILIES[family](tmp_path / "base"))
    header = "en,ro" if family == "mbart_25" else "en,fr"
    learn = [*LEARN, f"training.max_steps={200 if family in ('t5', 'byt5') else 120}"]
    assert tune(base, write_table(tmp_path / "mine.csv", header), tmp_path / "run", *learn) == 0
    said = capsys.readouterr()
    assert "before and after training: BLEU" in said.out
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


def test_the_model_keeps_how_it_generates(run, base):
    before, after = (GenerationConfig.from_pretrained(folder).to_dict() for folder in (base, run))
    assert before == after and before["bad_words_ids"] and before["num_beams"] == 2
    old, new = (read(folder / "config.json") for folder in (base, run))
    assert {key for key in old | new if old.get(key) != new.get(key)} <= {"dropout", "dtype", "use_cache"}
    assert new["dropout"] == 0.3


def test_the_card_names_the_base_and_tells_before_and_after(run, base):
    card, metrics = (run / "README.md").read_text("utf-8"), read(run / "metrics.json")
    assert yaml.safe_load(card.split("---")[1])["base_model"] == str(base)
    assert "trust_remote_code" not in card and "seen_words" not in card and "before and after training: BLEU" in card
    assert {*metrics["before"]["held_out"]["val"]} == {"before", "after"}
    assert metrics["before"]["sample"]["sentences"] == 2 and "(2 sentences of " in card
    assert not (run / "seen_words.json").exists()


def test_resuming_is_exact(run, base, data, tmp_path):
    (tmp_path / "run").mkdir()
    (run / "checkpoint-3").rename(tmp_path / "run" / "checkpoint-3")
    every = ["training.max_steps=6", "training.save_strategy=steps", "training.save_steps=3", "model.dropout=0.3"]
    assert tune(base, data, tmp_path / "run", "training.resume=true", *every) == 0
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()


@pytest.mark.few(1)
@pytest.mark.parametrize("parts", [["encoder", "embeddings"], ["decoder"]])
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


@pytest.mark.few(1)
@pytest.mark.parametrize(("family", "layers"), [
    ("t5", {"q", "k", "v", "o", "wi", "wo"}), ("nllb", {"q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"}),
])
def test_an_adapter_is_on_every_linear_layer_of_the_family_and_resumes(family, layers, data, tmp_path):
    base = FAMILIES[family](tmp_path / "base")
    assert {*matrices(load_checkpoint(base))} == layers
    assert tune(base, data, tmp_path / "run", *FEW, "model.lora=2") == 0
    before, after = load_file(base / "model.safetensors"), load_file(tmp_path / "run" / "model.safetensors")
    moved = {name.split(".")[-2] for name in before if not torch.equal(before[name], after[name])}
    assert moved == layers
    assert (tmp_path / "run" / "adapter" / "adapter_model.safetensors").is_file()


@pytest.mark.few(2)
@pytest.mark.parametrize(("family", "source", "labels"), [
    ("nllb", ["eng_Latn", "▁The", "</s>"], ["fra_Latn", "▁Le", "</s>"]),
    ("m2m_100", ["__en__", "▁The", "</s>"], ["__fr__", "▁Le", "</s>"]),
    ("mbart_50", ["en_XX", "▁The", "</s>"], ["fr_XX", "▁Le", "</s>"]),
    ("many", [">>fra<<", "▁The", "</s>"], ["▁Le", "</s>"]),
    ("bart", ["▁The", "</s>"], ["<s>", "▁Le", "</s>"]),
])
def test_pairs_have_the_tags_of_the_family(family, source, labels, tmp_path):
    """Special tokens that are written in a text are plain text."""
    folder = FAMILIES[family](tmp_path / "base")
    config = load_config("finetune", [f"model.init_from={folder}", "data.path=x.tsv", "data.source=en",
                                      "data.target=fr"])
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
                                          f"data.target={target}"])
        start = ForeignStart.open(folder, config)
        assert isinstance(start.encoder, TaggedEncoder) and start.encoder.tagging[target].prefix == prefix
        assert next(iter(start.model.config.task_specific_params)) == f"translation_en_to_{target}"


# --- the header decides

@pytest.mark.parametrize(("header", "asked", "pair"), [
    ("fr,en", [], ("fr", "en")), ("French,English", [], ("fr", "en")), ("en,fr", ["data.target=en"], ("fr", "en")),
    ("fr,en", ["data.source=en"], ("en", "fr")), ("eng_Latn,fra_Latn", [], ("eng_Latn", "fra_Latn")),
    ("id,fr,en,score", [], ("fr", "en")), ("en,id", [], ("en", "id")),
    ("fr,en", ["data.source=en", "data.target=fr"], ("en", "fr")), ("source,target", [], ("en", "fr")),
])
def test_the_header_says_the_languages(header, asked, pair, base, tmp_path):
    path = write_table(tmp_path / "mine.csv", header, pairs=[])
    found = load_config("finetune", [f"model.init_from={base}", f"data.path={path}", *asked]).data
    assert (found.source, *found.targets) == pair


@pytest.mark.parametrize(("name", "text"), [
    ("a.tsv", "fr\ten\n"), ("a.jsonl", '{"fr": "x", "en": "y"}\n'),
    ("a.json", '{"translation": {"fr": "x", "en": "y"}}\n'),
])
def test_every_table_has_such_a_header(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert languages_of(path) == ["fr", "en"]


@pytest.mark.few(3)
@pytest.mark.parametrize(("family", "header", "asked", "code", "message"), [
    ("nllb", "tlh,en", [], 2, "does not translate from tlh: the nearest of its 202 languages are"),
    ("nllb", "question,answer", [], 2, "name its two columns by language codes, or set data.source and data.target"),
    ("marian", "fr,de", [], 2, "this model does not translate from fr"),
    ("marian", "en,fr", ["tokenizer.vocab_size=500"], 2, "omit tokenizer.vocab_size"),
    ("marian", "en,fr", ["model.d_model=512"], 2, "model.d_model in finetune has no effect with model.init_from"),
    ("marian", "en,fr", ["training.guided_weight=1"], 2, "omit training.guided_weight"),
    ("marian", "en,fr", ["model.lora=2", "training.freeze=[encoder]"], 2, "training.freeze in finetune has no effect"),
])
def test_contradictions_and_unknown_languages_are_one_line(family, header, asked, code, message, tmp_path, capsys):
    base = FAMILIES[family](tmp_path / "base")
    capsys.readouterr()
    assert tune(base, write_table(tmp_path / "mine.csv", header), tmp_path / "run", *asked) == code
    assert message in last_error(capsys) and not (tmp_path / "run").exists()


def test_what_does_not_fit_is_said_with_what_to_change(base, data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("seq2see.training.memory_need.free_memory", lambda device: 0.0)
    assert tune(base, data, tmp_path / "run", *FEW) == 0
    assert "may not fit; set model.lora=8, training.gradient_accumulation_steps=4" in capsys.readouterr().err
