"""Fine-tuned models that are not ours, as runs: resumed, stopped early, evaluated as they are served, in bfloat16; and
those of published files."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

from seq2see import Translator
from seq2see.folders import newest_model
from seq2see.training.config import load_config
from seq2see.training.foreign import ForeignStart
from seq2see.training.metrics import score
from .. import published
from .foreign_models import FAMILIES, PAIRS, read, tune, write_table

EACH_STEP = [  # an evaluation and a checkpoint
    "training.eval_strategy=steps", "training.eval_steps=1", "training.save_strategy=steps", "training.save_steps=1",
    "training.save_total_limit=9",
]
LONGER = [  # for a model that reads one sentence at a time, and no address
    ("The cat did. The box was big: https://a.org/b", "Le chat. La boîte: https://a.org/b"),
    ("The bag of {name} in the box", "Le sac de {name} dans la boîte"),
    *PAIRS[:2],
]


@pytest.fixture(params=["marian", "nllb", "t5"])
def base(request, tmp_path) -> Path:
    return FAMILIES[request.param](tmp_path / "base")


ONE_FAMILY = pytest.mark.parametrize("base", ["t5"], indirect=True)  # for what does not depend on it


@pytest.fixture
def data(tmp_path) -> Path:
    return write_table(tmp_path / "mine.csv")


@pytest.fixture
def with_longer(tmp_path) -> Path:
    """A folder whose validation pairs are longer than what is learnt."""
    folder = tmp_path / "data"
    folder.mkdir()
    for split, pairs in {"train": PAIRS, "val": LONGER}.items():
        write_table(folder / f"{split}.csv", pairs=pairs)
    return folder


def last_evaluation(run: Path) -> dict[str, float]:
    return [row for row in read(run / "metrics.json")["training"]["log"] if "eval_chrf" in row][-1]


@pytest.mark.long
@ONE_FAMILY
def test_an_adapter_resumes_exactly(base, data, tmp_path):
    """With dropout and an average, to the byte, adapter and merged weights."""
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    settings = [*EACH_STEP, "training.max_steps=4", "model.lora=2", "model.dropout=0.3", "training.ema_decay=0.5"]
    assert tune(base, data, whole, *settings) == 0
    assert newest_model(whole) is None  # its checkpoints are adapters
    shutil.copytree(whole / "checkpoint-2", resumed / "checkpoint-2")
    assert tune(base, data, resumed, *settings, "training.resume=true") == 0
    for file in ("model.safetensors", "adapter/adapter_model.safetensors"):
        assert (resumed / file).read_bytes() == (whole / file).read_bytes()
    assert (whole / "model.safetensors").read_bytes() != (base / "model.safetensors").read_bytes()


@pytest.mark.long
@ONE_FAMILY
def test_a_training_without_a_gain_stops_early(base, data, tmp_path):
    settings = [*EACH_STEP, "training.max_steps=9", "training.learning_rate=0", "training.patience=2"]
    assert tune(base, data, tmp_path / "run", *settings) == 0
    assert read(tmp_path / "run" / "metrics.json")["training"]["steps"] == 3


@pytest.mark.few(1)
def test_evaluations_are_of_what_is_served(base, with_longer, tmp_path, command):
    """While training, greedily; then at the end, and by `seq2see evaluate`, as `seq2see translate` writes it."""
    run, sources, targets = tmp_path / "run", *zip(*LONGER, strict=True)
    assert tune(base, with_longer, run, *EACH_STEP, "training.max_steps=2", "data.source=en", "data.target=fr") == 0
    by_torch = Translator.from_pretrained(run, engine="torch")
    greedy = [one.text for one in by_torch(list(sources), source="en", target="fr", num_beams=1, max_new_tokens=23)]
    assert "https://a.org/b" in greedy[0] and "{name}" in greedy[1]
    assert last_evaluation(run)["eval_chrf"] == pytest.approx(score(greedy, targets).chrf, abs=1e-6)
    found = read(run / "metrics.json")["evaluation"]
    written = Translator.from_pretrained(run)(list(sources), source="en", target="fr")
    assert found["val"]["chrf"] == round(score([one.text for one in written], targets).chrf, 2)
    code, out, _ = command("evaluate", run, "--split", "val", "--against", base)
    row = json.loads(out.splitlines()[-1])["fr"]
    assert code == 0 and row.pop("against")["model"] == str(base) and row == found["val"]


@pytest.mark.parametrize("settings", [[], pytest.param(["model.lora=2"], marks=pytest.mark.long)])
@pytest.mark.parametrize("base", ["t5", *(pytest.param(name, marks=pytest.mark.long) for name in ("marian", "nllb"))],
                         indirect=True)
def test_in_bfloat16_the_loss_is_finite_and_weights_are_float32(base, data, tmp_path, settings, monkeypatch, capsys):
    """Where the processor says that it is faster, for every family."""
    monkeypatch.setattr("seq2see.training.arguments.has_fast_bfloat16", lambda use_cpu: True)
    every = [*EACH_STEP, "training.max_steps=2", "training.logging_steps=1", "training.bf16=null", *settings]
    assert tune(base, data, tmp_path / "run", *every) == 0
    assert "in bfloat16" in capsys.readouterr().err
    log = read(tmp_path / "run" / "metrics.json")["training"]["log"]
    losses = [value for row in log for name, value in row.items() if name in ("loss", "eval_loss", "grad_norm")]
    assert len(losses) == 6 and torch.tensor(losses).isfinite().all()
    before, after = (load_file(folder / "model.safetensors") for folder in (base, tmp_path / "run"))
    assert {weight.dtype for weight in after.values()} == {torch.float32}
    assert any(not torch.equal(before[name], after[name]) for name in before)


@published.needs_hub
@pytest.mark.parametrize(("make", "header", "settings"), [
    (lambda folder: published.small("opus-mt-tc-big-fr-en", folder), "fr,en", []),
    (published.nllb, "fra_Latn,eng_Latn", ["model.lora=2"]),
    pytest.param(published.nllb, "French,English", [], marks=pytest.mark.long),
], ids=["opus-mt", "nllb-lora", "nllb"])
def test_published_files_are_fine_tuned(make, header, settings, tmp_path):
    """Float16 in a pickle, forbidden and forced tokens, more rows than tokens, no pair named: plain transformers loads
    what becomes of it, and writes what we do."""
    base, run = make(tmp_path / "base"), tmp_path / "run"
    source, target = header.split(",")
    data = write_table(tmp_path / "mine.csv", header, pairs=[(french, english) for english, french in PAIRS])
    assert tune(base, data, run, "training.max_steps=3", "evaluation.eval_samples=1", *settings) == 0
    weights = load_file(run / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float32}
    before, after = (GenerationConfig.from_pretrained(folder).to_dict() for folder in (base, run))
    assert {key for key in before | after if before.get(key) != after.get(key)} <= {"forced_bos_token_id"}
    tokenizer, model = AutoTokenizer.from_pretrained(run), AutoModelForSeq2SeqLM.from_pretrained(run)
    translator = Translator.from_pretrained(run, engine="torch")
    result = translator("Le chat", source=source, target=target, num_beams=1, max_new_tokens=12)
    theirs = model.generate(**tokenizer("Le chat", return_tensors="pt"), num_beams=1, max_length=13)[0]
    assert result.hypotheses[0].token_ids == tuple(theirs[1:].tolist())
    [trace] = translator.look(result)
    assert trace.source and trace.maps("cross").shape[:2] == (2, 2)


def test_settings_without_effect_keep_no_run_from_being_saved(tmp_path):
    """`early_stopping` without beams, or a temperature without sampling, which transformers refuses to save."""
    base = FAMILIES["bart"](tmp_path / "base")
    write = base / "generation_config.json"
    write.write_text(json.dumps(read(write) | {"early_stopping": True, "num_beams": 5, "temperature": 0.7}))
    for beams in (1, 2):
        config = load_config("finetune", [f"model.init_from={base}", "data.path=x.tsv", "data.source=en",
                                          "data.target=fr", f"generation.num_beams={beams}"])
        start = ForeignStart.open(base, config)
        start.set_generation(config)
        start.model.save_pretrained(tmp_path / str(beams))
        saved = GenerationConfig.from_pretrained(tmp_path / str(beams))
        assert (saved.num_beams, saved.early_stopping, saved.temperature) == (beams, beams == 2 or None, None)
