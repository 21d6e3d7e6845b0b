"""A saved folder brings `AutoModel` and transformers' former task `translation` to whoever trusts its code."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

TEXTS = ["The cat did not cross the </s> street.", "An owl lent 12 ladders", "It was too big, didn't it?"]
STRANGER = """
import json, sys
sys.modules["seq2see"] = None  # importing it now raises ImportError
"""


def translated(folder, texts, again):
    import torch
    from transformers import AutoModel, pipeline

    translate = pipeline("translation", model=folder, trust_remote_code=True)
    german = pipeline("translation", model=folder, trust_remote_code=True, tgt_lang="de", max_new_tokens=5)
    try:
        translate(texts[0], tgt_lang="xx")
    except ValueError as error:
        refused = str(error)
    translate.save_pretrained(again)
    model = AutoModel.from_pretrained(folder, trust_remote_code=True)
    ids = torch.tensor([[40, 41, 42, 2]])
    return {
        "one": translate(texts[0]),
        "batch": translate(texts, tgt_lang="de", num_beams=3, batch_size=2),
        "several": translate(texts, num_beams=3, num_return_sequences=2, batch_size=3),
        "german": german(texts[1]),
        "french": german(texts[1], tgt_lang="fr"),
        "refused": refused,
        "class": type(model).__name__,
        "states": model(input_ids=ids, decoder_input_ids=ids).last_hidden_state.tolist(),
    }


def translated_without_the_package(folder, texts, again):
    code = f"{STRANGER}{inspect.getsource(translated)}print(json.dumps(translated(*map(json.loads, sys.argv[1:]))))"
    given = map(json.dumps, (folder, texts, again))
    done = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True, cwd=Path(again).parent,
                          env=os.environ | {"HF_MODULES_CACHE": f"{again}-modules"})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("translate", [
    translated, pytest.param(translated_without_the_package, marks=pytest.mark.long)])
def test_the_task_translation_and_the_bare_model(translate, folder, translator, tmp_path, own_modules):
    found = translate(str(folder), TEXTS, str(tmp_path / "again"))
    model, tokenizer = translator.model, translator.tokenizer

    def expected(texts, language, *, count=1, **options):
        inputs = tokenizer.pad({"input_ids": tokenizer.encode_sources(texts)}, return_tensors="pt")
        tag = tokenizer.tag_id(language)
        ids = model.generate(**inputs, forced_bos_token_id=tag, num_return_sequences=count, **options).tolist()
        told = [{"translation_text": tokenizer.decode_text(row)} for row in ids]
        return told if count == 1 else [told[i : i + count] for i in range(0, len(told), count)]

    ids = torch.tensor([[40, 41, 42, 2]])
    with torch.no_grad():
        states = model.model(input_ids=ids, decoder_input_ids=ids).last_hidden_state
    torch.testing.assert_close(torch.tensor(found.pop("states")), states)
    assert found == {
        "one": expected(TEXTS[:1], "fr"),
        "batch": expected(TEXTS, "de", num_beams=3),
        "several": expected(TEXTS, "fr", num_beams=3, count=2),
        "german": expected(TEXTS[1:2], "de", max_new_tokens=5),
        "french": expected(TEXTS[1:2], "fr", max_new_tokens=5),
        "refused": "tgt_lang: expected one of de, fr, got 'xx'",
        "class": "Seq2SeeModel",
    }
    # What was loaded for a pipeline is saved again as it came.
    for name in ("config.json", "pipeline_seq2see.py", "modeling_seq2see.py"):
        assert (tmp_path / "again" / name).read_text() == (folder / name).read_text()
