"""What the files of a model say is what both engines do: the same text as transformers' `generate`, for every family,
whichever file has the setting."""

import json

import families
import pytest
import tiny
import torch
from transformers import AutoModelForSeq2SeqLM

from seq2see import Translator

TEXT = tiny.SENTENCES[0]
FAMILIES = ["BART", "mBART", "M2M-100, NLLB", "Pegasus", "Blenderbot", "PLBart", "T5", "mT5", "UMT5", "LED", "LongT5"]
BOTH = {  # settings that both engines take; `first` stands for the token that a free search writes first
    "nothing": {}, "forced_bos": {"forced_bos_token_id": 7}, "bad_words": {"bad_words_ids": [["first"], [9, 8]]},
    "suppress": {"suppress_tokens": ["first"]}, "no_repeat": {"no_repeat_ngram_size": 1},
    "penalty": {"repetition_penalty": 1.6}, "longest": {"max_length": 6},
    "beams": {"num_beams": 3, "early_stopping": True, "length_penalty": 0.4},
}
TORCH = {  # those that fall back to PyTorch
    "min_length": {"min_length": 11}, "min_new": {"min_new_tokens": 10}, "begin": {"begin_suppress_tokens": ["first"]},
    "encoder_ngram": {"encoder_no_repeat_ngram_size": 1}, "encoder_penalty": {"encoder_repetition_penalty": 3.0},
    "decay": {"exponential_decay_length_penalty": [3, 1.3]}, "never": {"num_beams": 2, "early_stopping": "never"},
    "no_repeat_beams": {"num_beams": 3, "early_stopping": True, "no_repeat_ngram_size": 1},
    "penalty_beams": {"num_beams": 3, "early_stopping": True, "repetition_penalty": 1.6},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}

    def folder_of(family):
        if family not in made:
            model = families.made(family)
            made[family] = tiny.save(tmp_path_factory.mktemp("model") / "own", model, tiny.foreign_tokenizer())
        return made[family]
    return folder_of


def write(folder, settings, where):
    """The settings into generation_config.json, or into config.json of a folder without one."""
    config, generation = folder / "config.json", folder / "generation_config.json"
    own = json.loads((folder / "own.json").read_text()) if (folder / "own.json").is_file() else None
    if own is None:
        own = {"config": json.loads(config.read_text()), "generation": json.loads(generation.read_text())}
        (folder / "own.json").write_text(json.dumps(own))
    generation.unlink(missing_ok=True)
    if where == "generation_config":
        config.write_text(json.dumps(own["config"]))
        generation.write_text(json.dumps(own["generation"] | settings))
    else:
        usual = {name: value for name, value in own["generation"].items() if name not in ("transformers_version",)}
        config.write_text(json.dumps(own["config"] | usual | settings))


def generated(folder, ids):
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    found = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
    written = found[0, 1:].tolist()
    return written[: written.index(2) + 1] if 2 in written else written


def with_first(settings, first):
    return json.loads(json.dumps(settings).replace('"first"', str(first)))


@pytest.mark.few(17)
@pytest.mark.parametrize("where", ["generation_config", "config"])
@pytest.mark.parametrize("family", families.some(FAMILIES))
@pytest.mark.parametrize("name", [*BOTH, *TORCH])  # each of them in every run, in one family
def test_both_engines_write_what_generate_writes(folders, family, name, where, capsys):
    folder = folders(family)
    write(folder, {}, "generation_config")
    ids = list(Translator.from_pretrained(folder, engine="torch").codec.encode([TEXT])[0])
    settings = with_first(BOTH.get(name, TORCH.get(name)), generated(folder, ids)[0])
    write(folder, settings, where)
    theirs = generated(folder, ids)
    own = Translator.from_pretrained(folder, engine="torch")
    assert list(own(TEXT).hypotheses[0].token_ids) == theirs
    capsys.readouterr()
    usual = Translator.from_pretrained(folder, precision="float32")
    said = capsys.readouterr().err
    assert list(usual(TEXT).hypotheses[0].token_ids) == theirs
    if name in TORCH:
        assert usual.engine.name == "torch"
        if family not in ("LED", "LongT5"):  # which CTranslate2 has not at all
            assert said.count("\n") == 1 and any(setting in said for setting in settings)


def test_what_no_engine_takes_is_said_in_one_line(folders, capsys):
    folder = folders("T5")
    write(folder, {}, "generation_config")
    usual = Translator.from_pretrained(folder, engine="torch")(TEXT).hypotheses[0].token_ids
    assert capsys.readouterr().err == ""
    write(folder, {"do_sample": True, "top_k": 3}, "config")
    sampling = Translator.from_pretrained(folder, engine="torch")
    assert capsys.readouterr().err.endswith(
        ": do_sample in its generation settings has no effect; the search is greedy\n")
    assert sampling(TEXT).hypotheses[0].token_ids == usual
    assert sampling(TEXT, temperature=1.0, seed=1).hypotheses[0].token_ids == sampling(
        TEXT, temperature=1.0, seed=1).hypotheses[0].token_ids
