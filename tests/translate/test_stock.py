"""A checkpoint in transformers' own classes predicts and writes what ours does, and needs nothing of ours."""

import json
import os
import re
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration, Translator
from seq2see.cli.command import main
from seq2see.manifest import check_manifest
from seq2see.translate.transformers_export import as_pegasus

TEXTS = ["The cat did not cross the street.", "An owl lent 12 ladders", "It was too big, didn't it?"]

shapes = st.fixed_dictionaries({
    "encoder_layers": st.integers(1, 3),
    "decoder_layers": st.integers(1, 3),
    "encoder_ffn_dim": st.sampled_from([3, 16]),
    "decoder_ffn_dim": st.sampled_from([5, 16]),
    "activation_function": st.sampled_from(["relu", "gelu", "gelu_new", "silu"]),
    "scale_embedding": st.booleans(),
    "tie_word_embeddings": st.booleans(),
    "max_position_embeddings": st.integers(12, 40),
    "eos_token_id": st.sampled_from([2, [2, 7]]),
})
widths = st.sampled_from([(2, 1, 2), (12, 3, 2), (16, 2, 4), (18, 9, 1)])  # D, and the heads of each side


@settings(max_examples=settings.default.max_examples // 3)  # each generates six times
@given(shapes, widths, st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 2**20))
def test_logits_and_translations_are_ours(shape, width, lengths, seed):
    """In float64, where no two hypotheses are as good as each other."""
    d_model, encoder_heads, decoder_heads = width
    torch.manual_seed(seed)
    ours = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=40, d_model=d_model, encoder_attention_heads=encoder_heads, decoder_attention_heads=decoder_heads,
        **shape,
    ))
    with torch.no_grad():
        for weight in ours.parameters():
            weight.normal_(std=0.5)
    ours.generation_config.update(forced_bos_token_id=9, max_length=10)
    theirs = as_pegasus(ours).double().eval()
    ours.double().eval()
    mask = torch.tensor([[int(column < length) for column in range(max(lengths))] for length in lengths])
    source = {"input_ids": torch.randint(8, 40, mask.shape) * mask, "attention_mask": mask}
    target = torch.randint(40, (len(lengths), 6))  # padding among it: its row is a row like others
    with torch.no_grad():
        expected = ours(**source, decoder_input_ids=target).logits
        torch.testing.assert_close(theirs(**source, decoder_input_ids=target).logits, expected, rtol=1e-6, atol=1e-6)
    for options in ({}, {"num_beams": 3, "length_penalty": 0.6}, {"num_beams": 4, "num_return_sequences": 4}):
        assert theirs.generate(**source, **options).tolist() == ours.generate(**source, **options).tolist(), options


STRANGER = """
import json, sys
sys.modules["seq2see"] = None  # importing it now raises ImportError
readme, texts = open(sys.argv[1] + "/README.md", encoding="utf-8").read(), json.loads(sys.argv[2])
exec(readme.split("```python")[1].split("```")[0])
assert not [name for name in sys.modules if name.startswith("transformers_modules")]
inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
german = tokenizer.convert_tokens_to_ids("<2de>")
print(json.dumps({
    "classes": [type(model).__name__, type(tokenizer).__name__],
    "logits": model(**inputs, decoder_input_ids=inputs["input_ids"]).logits.tolist(),
    "fr": model.generate(**inputs, num_beams=3).tolist(),
    "de": tokenizer.batch_decode(model.generate(**inputs, forced_bos_token_id=german), skip_special_tokens=True),
    "longest": tokenizer.model_max_length,
}))
"""


@pytest.fixture(scope="module")
def exported(folder, tmp_path_factory):
    made = tmp_path_factory.mktemp("stock") / "made"
    assert main(["export", str(folder), "--format", "transformers", "--out", str(made)]) == 0
    return made


@pytest.mark.long
def test_a_stranger_follows_the_readme_without_our_code(exported, translator, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", STRANGER, exported, json.dumps(TEXTS)], capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"HF_MODULES_CACHE": str(tmp_path / "modules")},
    )
    assert done.returncode == 0, done.stderr
    sleeps, found = done.stdout.splitlines()
    found = json.loads(found)
    model, tokenizer = translator.model, translator.tokenizer
    inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**inputs, decoder_input_ids=inputs["input_ids"]).logits
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(torch.tensor(found["logits"])[real], logits[real], rtol=1e-4, atol=1e-4)
    german = model.generate(**inputs, forced_bos_token_id=tokenizer.tag_id("de"))
    usual = model.generate(**tokenizer("The cat sleeps.", return_tensors="pt"))
    assert found | {"logits": None} == {
        "classes": ["PegasusForConditionalGeneration", "TokenizersBackend"],
        "logits": None,
        "fr": model.generate(**inputs, num_beams=3).tolist(),
        "de": [tokenizer.decode_text(ids) for ids in german.tolist()],
        "longest": 64,
    }
    assert sleeps == tokenizer.decode_text(usual[0].tolist())


def test_we_begin_each_translation_with_the_tag_of_its_language(exported):
    again = Translator.from_pretrained(exported, engine="torch")
    assert len(again.language_pairs) > 1
    for _, target in again.language_pairs:
        [tag] = again.tokenizer.convert_tokens_to_ids([f"<2{target}>"])
        assert again.tag(target) == tag != again.tokenizer.unk_token_id
        assert again(TEXTS[0], target=target).target_language == target


def test_the_folder_is_whole_and_has_no_code(exported):
    check_manifest(exported)
    assert {path.suffix for path in exported.iterdir()} == {".md", ".json", ".safetensors"}
    config = json.loads((exported / "config.json").read_text())
    assert config["forced_eos_token_id"] is None and not {"auto_map", "custom_pipelines"} & config.keys()
    # transformers 4 does not know the name that transformers 5 gives it
    settings = json.loads((exported / "tokenizer_config.json").read_text())
    assert settings["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert not re.search(r"[{}]", (exported / "README.md").read_text()), "all of its placeholders are filled in"
