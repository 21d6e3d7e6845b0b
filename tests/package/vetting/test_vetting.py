"""A folder made to hurt is refused in one line, by file and field, before a library opens it: settings and weights."""

import contextlib
import json
import math
import os
import pickle
import subprocess
import sys

import pytest
import tiny
import torch
from safetensors.torch import load_file, save_file
from spoiling import edit, refused

from seq2see import Seq2SeeForConditionalGeneration
from seq2see.errors import UserError
from seq2see.manifest import write_manifest
from seq2see.modeling import configuration_seq2see
from seq2see.modeling.loading import load_checkpoint
from seq2see.vetting import TABLE, check_weights, vet, weight_files

HUGE = 10**9


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_what_is_saved_passes(kind, tmp_path):
    vet(tiny.save(tmp_path, *tiny.make(kind)))


def test_it_needs_no_torch(whole):
    code = "import sys, pathlib, seq2see.vetting as v; v.vet(pathlib.Path(sys.argv[1])); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code, whole], capture_output=True, text=True, check=True).stdout
    assert {"torch", "transformers", "tokenizers"}.isdisjoint(found.split())


def test_its_limit_is_that_of_the_model():
    assert configuration_seq2see.TABLE == TABLE


@pytest.mark.parametrize(("values", "field"), [
    ({"encoder_layers": -3}, "encoder_layers"),
    ({"encoder_layers": HUGE}, "encoder_layers"),
    ({"vocab_size": float("nan")}, "vocab_size"),
    ({"num_experts": 10**5}, "num_experts"),
    ({"dropout": 1e30}, "dropout"),
    ({"encoder": {"num_hidden_layers": 20_000}}, "num_hidden_layers"),
    ({"windows": [16, HUGE * HUGE]}, "windows"),
    ({"max_position_embeddings": 65_536, "d_model": 8_192}, "max_position_embeddings"),
    ({"quantization_config": {"quant_method": "bitsandbytes"}}, "quantization_config"),
    ({"transformers_weights": "adapter_model.bin"}, "transformers_weights"),
    ({"language_pairs": [["en", 5]]}, "language_pairs"),
    ({"eos_token_id": 10**6}, "eos_token_id: expected ids from 0 to 399, got"),
    ({"model_type": ["seq2see"]}, "model_type"),
    ({"num_beams": "4"}, "num_beams"),
])
def test_a_config_out_of_bounds(folder, values, field):
    edit(folder / "config.json", **values)
    line = refused(folder)
    assert "config.json" in line and field in line


@pytest.mark.parametrize(("kind", "names"), [
    ("seq2see", configuration_seq2see.LIMITS), ("t5", ("d_model", "d_kv", "d_ff")),
    ("marian", ("d_model", "vocab_size", "max_position_embeddings", "decoder_ffn_dim")),
])
def test_a_size_that_the_weights_have_not_takes_no_memory(tmp_path, monkeypatch, kind, names):
    monkeypatch.setattr("transformers.AutoModelForSeq2SeqLM.from_pretrained", lambda *_, **__: pytest.fail("loaded"))
    config = tiny.save(tmp_path, *tiny.make(kind)) / "config.json"
    own = config.read_text()
    for name in names:
        config.write_text(json.dumps(json.loads(own) | {name: HUGE}))
        with pytest.raises(UserError):
            load_checkpoint(tmp_path)


def test_a_vocabulary_of_unknown_size_has_a_bound(folder):
    edit(folder / "config.json", vocab_size=None)
    vet(folder)
    edit(folder / "tokenizer_config.json", added_tokens_decoder={str(2**20): {"content": "x"}})
    assert "tokenizer_config.json" in refused(folder)


@pytest.mark.parametrize(("field", "value"), [
    ("num_beams", 5_000), ("num_beams", "4"), ("num_beams", 4.0), ("max_length", HUGE),
    ("max_length", 1),  # after the start token nothing would fit
    ("length_penalty", float("nan")), ("repetition_penalty", 0), ("no_repeat_ngram_size", True),
    ("source_sentences", -1), ("early_stopping", "always"), ("renormalize_logits", "x"),
    ("forced_bos_token_id", [4]), ("decoder_start_token_id", 10**6),
    *(("eos_token_id", ids) for ids in ([2, 10**6], [[2]], [])),
    *(("suppress_tokens", ids) for ids in ({"a": 1}, [[5]])),
    *(("bad_words_ids", words) for words in ([[2, -7]], [[]], [[[5]]])),
])  # fmt: skip
def test_a_generation_config_out_of_bounds(folder, field, value):
    edit(folder / "generation_config.json", **{field: value})
    line = refused(folder)
    assert "generation_config.json" in line and f"{field}: expected" in line


def test_a_generation_config_as_published_models_have_it(folder):
    edit(
        folder / "generation_config.json", eos_token_id=[2, 3], forced_eos_token_id=2, suppress_tokens=[], max_length=3,
        begin_suppress_tokens=[5, 6], bad_words_ids=[[399], [7, 8]], min_length=0,
        renormalize_logits=True, early_stopping="never", length_penalty=1.4,
    )  # fmt: skip
    vet(folder)


@pytest.mark.parametrize("name", ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff\xfe", b'{"a": ' * 100_000, b'{"a": 1' + b"0" * 5_000 + b"}"])
def test_what_is_no_json_object(folder, name, content):
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    assert name in refused(folder)


def test_a_file_too_large_is_not_read(folder):
    (folder / "tokenizer.json").unlink()
    with (folder / "tokenizer.json").open("wb") as file:
        file.truncate(2**30)
    assert "tokenizer.json has 1,073,741,824 bytes; expected at most 67,108,864" in refused(folder)


# --- other files than those of the folder


@pytest.mark.parametrize("file", ["../other/model.safetensors", "/etc/passwd", "nowhere.safetensors", 5, "model.bin"])
def test_an_index_that_leads_elsewhere(folder, file):
    (folder / "model.safetensors").unlink()
    (folder / "model.bin").write_bytes(pickle.dumps("x"))
    edit(folder / "model.safetensors.index.json", weight_map={"lm_head.weight": file})
    assert "model.safetensors.index.json" in refused(folder)


def test_the_weights_that_are_vetted_are_those_that_transformers_loads(folder):
    """The whole file, where there is an index as well."""
    path, weights = folder / "model.safetensors", load_file(folder / "model.safetensors")
    path.rename(folder / "part.safetensors")
    edit(folder / "model.safetensors.index.json", weight_map=dict.fromkeys(weights, "part.safetensors"))
    assert weight_files(folder) == [folder / "part.safetensors"]
    save_file(weights | {NAME: torch.full_like(weights[NAME], 7)}, path, metadata={"format": "pt"})
    assert weight_files(folder) == [path]
    assert (Seq2SeeForConditionalGeneration.from_pretrained(folder).model.shared.weight == 7).all()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_link_out_of_the_folder(folder, whole, name):
    (folder / name).unlink()
    (folder / name).symlink_to(whole / name)
    assert f"{name} links outside its folder" in refused(folder)


@pytest.mark.parametrize("target", ["other.json", "nowhere.json"])
def test_a_link_to_itself_or_to_nothing(folder, target):
    (folder / "other.json").symlink_to(target)
    assert refused(folder).endswith("other.json is a broken link: remove it")


def test_a_change_is_vetted_again_even_behind_a_link_within_the_folder(folder):
    """Even one made in place, of which the folder tells nothing."""
    vet(folder)
    edit(folder / "config.json", encoder_layers=HUGE)
    assert "encoder_layers" in refused(folder)
    target = folder / "sub" / "config.json"
    target.parent.mkdir()
    config = json.loads((folder / "config.json").read_text())
    target.write_text(json.dumps(config | {"encoder_layers": 2}))
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("sub/config.json")
    vet(folder)
    target.write_text(json.dumps(config))
    assert "encoder_layers" in refused(folder)


def test_the_hubs_cache_is_made_of_links(folder, tmp_path):
    snapshot, blobs = tmp_path / "models--a--b" / "snapshots" / "123", tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for path in folder.iterdir():
        path.rename(blobs / path.name)
        (snapshot / path.name).symlink_to(f"../../blobs/{path.name}")
    vet(snapshot)


def test_a_pipe_is_not_waited_for(folder):
    (folder / "tokenizer.json").unlink()
    os.mkfifo(folder / "tokenizer.json")
    assert "tokenizer.json is not a regular file" in refused(folder)


def test_an_adapter_is_refused(folder):
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    assert "adapter_config.json" in refused(folder)


def test_a_manifest_is_held_to(folder):
    write_manifest(folder)
    vet(folder)
    edit(folder / "tokenizer_config.json", model_max_length=5)
    assert "tokenizer_config.json is damaged" in refused(folder)


# --- weights

NAME = "model.shared.weight"


def write_weights(path, header, data=b""):
    text = json.dumps(header).encode()
    path.unlink(missing_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@pytest.mark.parametrize(("kind", "positions", "stored", "passes"), [
    ("bart", 2_048, {}, True),
    ("bart", 2_049, {}, False),
    ("bart", 4_096, {"encoder.embed_positions.weight": [4_098, 2_048]}, True),
    ("bart", 4_096, {"encoder.embed_positions.weight": [4_098, 2_047]}, False),
    ("bart", 4_096, {"encoder.embed_positions.weight": [4_095, 2_048]}, False),
    ("bart", 4_096, {"encoder.embed_tokens.weight": [4_098, 2_048]}, False),
    ("seq2see", 8_192, {}, True),
    ("seq2see", 8_193, {}, False),
])
def test_a_table_of_positions_is_stored_or_small(tmp_path, kind, positions, stored, passes):
    header = {name: {"dtype": "F16", "shape": shape, "data_offsets": [0, 2 * math.prod(shape)]}
              for name, shape in stored.items()}  # fmt: skip
    write_weights(tmp_path / "model.safetensors", header)
    with (tmp_path / "model.safetensors").open("ab") as file:
        file.truncate(file.tell() + sum(2 * math.prod(shape) for shape in stored.values()))
    config = {"model_type": kind, "max_position_embeddings": positions, "d_model": 2_048}
    with contextlib.nullcontext() if passes else pytest.raises(UserError, match="max_position_embeddings"):
        check_weights(tmp_path, config)


@pytest.mark.parametrize(("change", "said"), [
    ({"dtype": "I32"}, f"{NAME} is of type I32"),
    *(({name: value}, "cannot be read") for name, value in (
        ("dtype", []), ("shape", [HUGE, HUGE]), ("shape", [-1, -1]), ("shape", ["a"]), ("data_offsets", [0, HUGE]),
        ("data_offsets", [-4, 0]))),
])
def test_weights_that_are_not_what_they_say(folder, change, said):
    path = folder / "model.safetensors"
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    write_weights(path, header | {NAME: header[NAME] | change}, data[end:])
    assert said in refused(folder)


@pytest.mark.parametrize("length", [2**63, 2**24 + 1])
def test_a_header_without_end(folder, length):
    path = folder / "model.safetensors"
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(length.to_bytes(8, "little") + data[8:])
    assert "model.safetensors cannot be read" in refused(folder)
