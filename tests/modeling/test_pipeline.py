"""A saved folder brings `AutoModel` and transformers' former task `translation` to whoever trusts its code."""

import json
import os
import subprocess
import sys

import pytest
import torch

TEXTS = ["The cat did not cross the </s> street.", "An owl lent 12 ladders", "It was too big, didn't it?"]
TRANSLATE = """
import torch
from transformers import AutoModel, pipeline

folder, texts = sys.argv[1], json.loads(sys.argv[2])
translate = pipeline("translation", model=folder, trust_remote_code=True)
german = pipeline("translation", model=folder, trust_remote_code=True, tgt_lang="de", max_new_tokens=5)
try:
    translate(texts[0], tgt_lang="xx")
except ValueError as error:
    refused = str(error)
translate.save_pretrained(sys.argv[3])
model = AutoModel.from_pretrained(folder, trust_remote_code=True)
ids = torch.tensor([[40, 41, 42, 2]])
print(json.dumps({
    "one": translate(texts[0]),
    "batch": translate(texts, tgt_lang="de", num_beams=3, batch_size=2),
    "several": translate(texts, num_beams=3, num_return_sequences=2, batch_size=3),
    "german": german(texts[1]),
    "french": german(texts[1], tgt_lang="fr"),
    "refused": refused,
    "class": type(model).__name__,
    "states": model(input_ids=ids, decoder_input_ids=ids).last_hidden_state.tolist(),
}))
"""
WAYS = {
    "without the package": 'import json, sys\nsys.modules["seq2see"] = None  # importing it now raises ImportError\n',
    "with the package": "import json, sys\nimport seq2see.modeling\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_task_translation_and_the_bare_model(way, folder, translator, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WAYS[way] + TRANSLATE, folder, json.dumps(TEXTS), tmp_path / "again"],
        capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"HF_MODULES_CACHE": str(tmp_path / "modules")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
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
