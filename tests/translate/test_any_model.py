"""Models as people have them open as they are: real files of the Hub, pickled weights, shards, half precision; and what
cannot be opened is refused in one line, before it takes memory or runs code."""

import io
import json
import os
import pickle
import re
import shlex
import shutil

import families
import pytest
import sentencepiece
import tiny
import torch
import transformers
from published import SMALL, needs_hub, nllb, small
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, MarianConfig, MarianMTModel
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from seq2see import Translator, load_checkpoint
from seq2see.cli.command import main
from seq2see.errors import UserError
from seq2see.folders import resolve_folder
from seq2see.translate.decoding import GenerationSettings
from seq2see.translate.loaded_checkpoint import LoadedCheckpoint, fingerprint

TEXT = tiny.SENTENCES[0]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tiny.opus_mt(tmp_path_factory.mktemp("opus"))


@pytest.fixture
def opus(made, tmp_path):
    """As the Hub has most of OPUS-MT: one pickle, no tokenizer.json, decoding options in config.json."""
    return shutil.copytree(made, tmp_path / "opus-mt-en-fr")


# --- weights in any file


def shards(folder, weights):
    names = sorted(weights)
    parts = {"pytorch_model-00001-of-00002.bin": names[::2], "pytorch_model-00002-of-00002.bin": names[1::2]}
    for file, some in parts.items():
        torch.save({name: weights[name].clone() for name in some}, folder / file)
    index = {"metadata": {}, "weight_map": {name: file for file, some in parts.items() for name in some}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))


def halved(folder, weights):
    torch.save({name: weight.half() for name, weight in weights.items()}, folder / "pytorch_model.bin")


@pytest.mark.few(2)
@pytest.mark.parametrize("store", [
    lambda folder, weights: torch.save(weights, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False),
    lambda folder, weights: torch.save(weights, folder / "pytorch_model.bin"),
    halved, shards,
], ids=["old", "zip", "half", "shards"])
@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_pickled_weights_open_as_they_are(opus, store, engine):
    weights = torch.load(opus / "pytorch_model.bin", weights_only=True)
    (opus / "pytorch_model.bin").unlink()
    store(opus, weights)
    translator = Translator.from_pretrained(opus, engine=engine)
    result = translator(TEXT)
    [trace] = translator.look(result)
    assert trace.maps("cross").shape[:2] == (3, 2) and result.engine == engine
    assert translator.defaults.config["num_beams"] == 2 and translator.language_pairs == [("en", "fr")]
    assert translator.model.dtype == torch.float32
    loaded = translator.model.state_dict()
    assert all(torch.equal(loaded[name], weight.half().float() if store is halved else weight)
               for name, weight in weights.items())


def test_the_command_translates_a_pickled_model_and_leaves_it_as_it_is(opus, tmp_path, capsys):
    before = {path: path.read_bytes() for path in opus.iterdir()}
    (tmp_path / "in.txt").write_text(f"{TEXT}\n")
    assert main(["look", str(opus), TEXT, "--engine", "torch"]) == 0
    capsys.readouterr()
    assert {path: path.read_bytes() for path in opus.iterdir()} == before
    with pytest.raises(SystemExit):
        main(["export", str(opus), "--format", "safetensors"])


def test_a_fingerprint_is_of_the_weights_whatever_their_file(opus, tmp_path):
    found = {fingerprint(opus)}
    weights = torch.load(opus / "pytorch_model.bin", weights_only=True)
    weights["final_logits_bias"][0, 3] += 1
    torch.save(weights, opus / "pytorch_model.bin")
    found.add(fingerprint(opus))
    load_checkpoint(opus).save_pretrained(opus)  # safetensors beside it, which are then what is loaded
    found.add(fingerprint(opus))
    (opus / "pytorch_model.bin").write_bytes(b"x")
    assert len(found) == 3 and fingerprint(opus) in found


def test_a_download_has_a_pickle_only_where_there_are_no_safetensors(opus, tmp_path, monkeypatch):
    asked = []

    def download(name, *, allow_patterns, **more):
        asked.append(allow_patterns)
        return str(opus)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    monkeypatch.chdir(tmp_path)
    assert resolve_folder("org/opus-mt") == opus and len(asked) == 2
    assert "pytorch_model.bin" not in asked[0] and asked[1] == ["pytorch_model.bin", "pytorch_model-*.bin"]
    load_checkpoint(opus).save_pretrained(opus)
    assert resolve_folder("org/opus-mt") == opus and len(asked) == 3


def test_no_thread_asks_a_service_to_convert_the_weights(opus, monkeypatch):
    monkeypatch.setattr("transformers.modeling_utils.auto_conversion", lambda *_, **__: pytest.fail("asked"))
    monkeypatch.setattr("transformers.modeling_utils.Thread", lambda *_, **__: pytest.fail("started a thread"))
    Translator.from_pretrained(opus, engine="torch")(TEXT)


# --- no code of a folder runs


class Evil:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def distributed(folder, evil):
    (folder / ".metadata").write_bytes(pickle.dumps(evil))
    (folder / "__0_0.distcp").write_bytes(b"")


@pytest.mark.parametrize("spoil", [
    lambda folder, evil: (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": evil})),
    lambda folder, evil: (folder / "pytorch_model.bin").write_bytes(pickle.dumps(evil)),
    lambda folder, evil: torch.save({"a": evil}, folder / "pytorch_model.bin"),
    lambda folder, evil: torch.save({"a": evil}, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False),
    distributed,
], ids=["pickle", "bare", "zip", "old", "distributed"])
def test_a_payload_in_the_weights_does_not_run(opus, tmp_path, spoil):
    spoil(opus, Evil(tmp_path / "sentinel"))
    for engine in ("torch", "ctranslate2"):
        with pytest.raises(UserError) as refused:
            Translator.from_pretrained(opus, engine=engine)
        assert str(opus) in str(refused.value) and "\n" not in str(refused.value)
    assert not (tmp_path / "sentinel").exists()


def test_an_auto_map_does_not_run_unless_the_command_says_so(opus, tmp_path, monkeypatch, capsys, own_modules):
    """Named by the configuration or the tokenizer's, it is neither run nor asked about."""
    (opus / "evil.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'sentinel')!r})\n")
    for name in ("config.json", "tokenizer_config.json"):
        auto_map = {"AutoConfig": "evil.C", "AutoModelForSeq2SeqLM": "evil.M", "AutoTokenizer": ["evil.T", None]}
        content = json.loads((opus / name).read_text()) | {"auto_map": auto_map, "trust_remote_code": True}
        (opus / name).write_text(json.dumps(content))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked whether to run the code"))
    assert main(["look", str(opus), TEXT]) == 0 and not (tmp_path / "sentinel").exists()
    capsys.readouterr()
    assert main(["look", str(opus), TEXT, "--trust-remote-code"]) == 1  # it has no class C
    assert (tmp_path / "sentinel").exists()


# --- what cannot be opened


@pytest.mark.parametrize(("change", "said"), [
    (lambda weights: weights.pop("model.decoder.layers.1.fc1.weight"), "missing: model.decoder.layers.1.fc1.weight"),
    (lambda weights: weights["model.encoder.layers.0.fc1.bias"].fill_(float("nan")), "NaN, infinity .*: model.encoder"),
    (lambda weights: weights["model.encoder.layers.0.fc1.bias"].fill_(float("inf")), "NaN, infinity .*: model.encoder"),
    (lambda weights: weights.update({"model.encoder.layers.0.fc1.bias": torch.zeros(3)}),
     r"wrong shape: model.encoder.layers.0.fc1.bias \(expected \[32\], got \[3\]\)"),
    (lambda weights: weights.update({name: torch.zeros(len(weights["final_logits_bias"][0]), 8) for name in (
        "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")}),
     r"wrong shape: model.decoder.embed_tokens.weight \(expected"),
    (lambda weights: weights.update({"model.decoder.layers.3.fc1.bias": torch.zeros(32)}),
     "config.json has fewer layers than the weights: model.decoder.layers.3.fc1.bias"),
    (lambda weights: weights.clear(), "tensors are missing"),
])
def test_weights_that_transformers_would_replace_are_refused(opus, change, said):
    weights = torch.load(opus / "pytorch_model.bin", weights_only=True)
    change(weights)
    torch.save(weights, opus / "pytorch_model.bin")
    with pytest.raises(UserError, match=said):
        load_checkpoint(opus)


@pytest.mark.parametrize(("damage", "said"), [
    (lambda folder: os.truncate(folder / "pytorch_model.bin", 1_000), "cannot be loaded from pytorch_model.bin"),
    (lambda folder: (folder / "pytorch_model.bin").unlink(), "has no weights: expected model.safetensors or pytorch"),
    (lambda folder: (folder / "pytorch_model.bin").rename(folder / "tf_model.h5"), "tf_model.h5 is of another format"),
    (lambda folder: (folder / "pytorch_model.bin").rename(folder / "pytorch_model-00001-of-00002.bin"),
     r"parts of the weights .* but no pytorch_model.bin.index.json"),
    (lambda folder: (folder / "config.json").unlink(), r"has weights \(pytorch_model.bin\) but no config.json"),
    (lambda folder: (folder / "adapter_config.json").write_text("{}"), "merge the adapter into its base model"),
    (lambda folder: (folder / "config.json").write_text("{"), "config.json is not valid JSON"),
    (lambda folder: (folder / "config.json").write_text("{}"), "config.json has no model_type"),
    *((lambda folder, kind=kind: (folder / "config.json").write_text(json.dumps({"model_type": kind})),
       f"config.json: {kind} is not an encoder-decoder") for kind in ("gpt2", "bert", "llama")),
    (lambda folder: (folder / "config.json").write_text('{"model_type": "noway"}'), "config.json: .*noway"),
    (lambda folder: (folder / "config.json").write_text('{"model_type": "whisper"}'), "whisper"),
    (lambda folder: (folder / "config.json").write_text(
        '{"model_type": "t5", "architectures": ["T5EncoderModel"], "is_encoder_decoder": false}'),
     "T5EncoderModel is not an encoder-decoder"),
    (lambda folder: (folder / "config.json").write_text('{"model_type": "mine", "auto_map": {"AutoModel": "m.M"}}'),
     "mine.*; its folder has code of its own, which --trust-remote-code runs"),
])
def test_a_folder_that_is_no_translation_model_is_refused_in_one_line(opus, damage, said, capsys):
    damage(opus)
    assert main(["look", str(opus), TEXT]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(opus) in error
    with pytest.raises(UserError, match=said):
        Translator.from_pretrained(opus)


def rewritten(name, **changes):
    """What changes some keys of a JSON file of the folder."""
    def change(folder):
        content = json.loads((folder / name).read_text()) if (folder / name).is_file() else {}
        (folder / name).write_text(json.dumps(content | changes))
    return change


def generating(**changes):
    return rewritten("generation_config.json", **{"eos_token_id": 0, "decoder_start_token_id": 3} | changes)


def sharded(content):
    def change(folder):
        (folder / "pytorch_model.bin").unlink()
        (folder / "model.safetensors.index.json").write_text(json.dumps(content))
    return change


@pytest.mark.parametrize(("damage", "said"), [
    (generating(bad_words_ids=[5]), r"bad_words_ids\[0\] in .*/generation_config.json is 5, expected a list"),
    (generating(num_beams="four"), "num_beams in .*/generation_config.json is \"four\", expected a whole number"),
    (generating(num_beams=0), "num_beams in .*/generation_config.json is 0, expected at least 1"),
    (generating(max_length=-5), "max_length in .*/generation_config.json is -5, expected at least 2"),
    (generating(eos_token_id="</s>"), 'eos_token_id in .*/generation_config.json is "</s>", expected a whole number'),
    (generating(eos_token_id=[0, 99_999]), "eos_token_id in .* is 99999, and the model has [0-9]+ tokens"),
    (generating(decoder_start_token_id=99_999), "decoder_start_token_id in .* is 99999, and the model has"),
    (rewritten("config.json", encoder_attention_heads=3), "config.json describes no working model: embed_dim must"),
    (rewritten("config.json", quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True}),
     r"quantised \(bitsandbytes\), which Seq2See does not read"),
    (rewritten("config.json", vocab_size=10), "config.json describes no working model: Padding_idx"),
    (rewritten("tokenizer_config.json", tokenizer_class="NoSuchTokenizer"), "is NoSuchTokenizer, which transformers"),
    (lambda folder: (folder / "source.spm").write_bytes(b"junk"), "source.spm is no SentencePiece model"),
    (lambda folder: (folder / "target.spm").write_bytes(b""), "target.spm is empty: copy it again"),
    (lambda folder: (folder / "vocab.json").write_text("{"), "vocab.json is not valid JSON"),
    (lambda folder: (folder / "vocab.json").write_text("[]"), "vocab.json contains a list; expected an object"),
    *((lambda folder, name=name: (folder / name).write_text("version https://git-lfs.github.com/spec/v1\n"),
       f"{name} is a Git LFS pointer, not the file itself: run git lfs pull in")
      for name in ("pytorch_model.bin", "source.spm")),
    (sharded({"weight_map": {"a": "pytorch_model.bin"}}), "index.json is not a valid weight index: expected metadata"),
])
def test_a_broken_file_is_named_in_one_line(opus, damage, said, capsys):
    damage(opus)
    assert main(["look", str(opus), TEXT]) in (1, 2)
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(opus) in error and "internal" not in error
    assert re.search(said, error), error


@pytest.mark.parametrize(("missing", "named"), [
    (("source.spm",), "source.spm is missing"), (("target.spm",), "target.spm is missing"),
    (("vocab.json",), "vocab.json is missing"), (("source.spm", "vocab.json"), "source.spm and vocab.json is missing"),
    (("vocab.json", "tokenizer_config.json"), "vocab.json is missing"),
])
def test_the_file_that_a_tokenizer_lacks_is_named(opus, missing, named):
    for name in missing:
        (opus / name).unlink()
    for engine in ("torch", "ctranslate2"):
        with pytest.raises(UserError, match=f"the tokenizer in .*opus-mt-en-fr cannot be built: {named}"):
            Translator.from_pretrained(opus, engine=engine)


@pytest.mark.parametrize(("family", "named"), [
    ("T5", "spiece.model, or tokenizer.json,"), ("mT5", "spiece.model, or tokenizer.json,"), ("BART", "vocab.json"),
    ("mBART", "sentencepiece.bpe.model, or tokenizer.json,"),
    ("M2M-100, NLLB", "vocab.json and sentencepiece.bpe.model"),
    ("Pegasus", "spiece.model, or tokenizer.json,"), ("Blenderbot", "vocab.json and merges.txt"),
])
def test_no_tokenizer_of_a_few_special_tokens_is_made_up(tmp_path, family, named):
    """Transformers does, where the vocabulary is missing."""
    families.made(family).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=f"cannot be built: {named}.* is missing"):
        Translator.from_pretrained(tmp_path, engine="torch")


def test_a_byte_tokenizer_has_no_files(tmp_path):
    torch.manual_seed(0)
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(**families.LIKE_T5 | {"eos_token_id": 1}))
    tiny.save(tmp_path, tiny.spread_out(model, std=0.3), transformers.ByT5Tokenizer())
    found = [Translator.from_pretrained(tmp_path, engine=engine, precision="float32")(TEXT, max_new_tokens=20)
             for engine in ("torch", "ctranslate2")]
    assert found[0].hypotheses[0].token_ids == found[1].hypotheses[0].token_ids


@pytest.mark.few(4)
@pytest.mark.parametrize("family", ["T5", "mT5", "mBART", "Pegasus"])
@pytest.mark.parametrize("settings", [None, {}, "own"])
def test_a_tokenizer_json_of_any_kind_suffices(tmp_path, family, settings):
    """BPE in a T5, as VietAI's envit5 has it: the class of transformers cannot take it."""
    tokenizer = tiny.foreign_tokenizer()
    folder = tiny.save(tmp_path / "model", families.made(family), tokenizer)
    if settings is None:
        (folder / "tokenizer_config.json").unlink()
    elif settings == "own":
        kind = TOKENIZER_MAPPING_NAMES[json.loads((folder / "config.json").read_text())["model_type"]]
        own = {"tokenizer_class": kind, "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
        (folder / "tokenizer_config.json").write_text(json.dumps(own))
    else:
        (folder / "tokenizer_config.json").write_text("{}")
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    translator = Translator.from_pretrained(folder, engine="torch")
    assert list(translator.codec.encode([TEXT])[0])[-1] == translator.tokenizer.eos_token_id
    assert translator.codec.decode(translator.codec.encode([TEXT])[0]) == TEXT
    (folder / "tokenizer.json").write_text('{"model": {"type": "BPE"}}')
    with pytest.raises(UserError, match="tokenizer.json describes no tokenizer: "):
        _ = Translator.from_pretrained(folder, engine="torch")


@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_a_model_that_does_not_fit_is_refused_before_it_is_loaded(opus, monkeypatch, kind):
    if kind == "safetensors":
        load_checkpoint(opus).save_pretrained(opus)
    monkeypatch.setattr("transformers.AutoModelForSeq2SeqLM.from_pretrained", lambda *_, **__: pytest.fail("loaded"))
    monkeypatch.setattr("seq2see.memory.available_memory", lambda: 30_000)
    with pytest.raises(UserError, match=r"the model in .*opus-mt-en-fr needs 0.0 GB of memory, but 0.0 GB are free"):
        load_checkpoint(opus)
    config = json.loads((opus / "config.json").read_text())
    (opus / "config.json").write_text(json.dumps(config | {"d_model": 65_536, "decoder_ffn_dim": 10**6}))
    monkeypatch.undo()
    with pytest.raises(UserError, match=r"needs [\d.]{4,} GB of memory, but [\d.]+ GB are free; close other"):
        load_checkpoint(opus)


def test_a_container_has_the_memory_of_its_limit(tmp_path, monkeypatch):
    from seq2see import memory

    free = memory.available_memory()
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    for limit, used, expected in (("max", 5, None), (9_000, 2_000, 7_000)):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text(f"{used}\n")
        found = memory.available_memory()
        assert found == expected if expected else found > free / 2


# --- folders that are no whole model


def test_an_adapter_says_how_to_merge_it_and_that_works(opus, tmp_path, capsys):
    from peft import LoraConfig, get_peft_model

    model = load_checkpoint(opus)
    model.save_pretrained(opus)
    adapter = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj", "fc1"], task_type="SEQ_2_SEQ_LM"))
    torch.nn.init.normal_(next(weight for name, weight in adapter.named_parameters() if "lora_B" in name))
    adapter.peft_config["default"].base_model_name_or_path = str(opus)
    adapter.save_pretrained(tmp_path / "it's an adapter")
    capsys.readouterr()  # progress of saving
    assert main(["look", str(tmp_path / "it's an adapter"), TEXT]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"is an adapter of {opus}" in said
    _, _, command = said.strip().partition("python -c ")
    exec(shlex.split(command)[0], {})
    merged = tmp_path / "it's an adapter-merged"
    with torch.no_grad():
        wanted = adapter.merge_and_unload().state_dict()
    found = Translator.from_pretrained(merged, engine="torch").model.state_dict()
    assert all(torch.allclose(weight, found[name]) for name, weight in wanted.items() if name in found)


@pytest.mark.parametrize("command", [["look"], ["translate"], ["evaluate"]])
def test_the_adapter_of_a_run_and_an_export_name_the_model_to_open(opus, tmp_path, command, capsys, monkeypatch):
    Translator.from_pretrained(opus, engine="ctranslate2")
    [export] = opus.glob("ctranslate2-*")
    (opus / "adapter").mkdir()
    (opus / "run.yaml").write_text("name: a\n")
    (opus / "adapter" / "adapter_config.json").write_text('{"base_model_name_or_path": "x/y"}')
    alone = shutil.copytree(export, tmp_path / "alone")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    for folder, named in ((export, opus), (opus / "adapter", opus), (alone, "MODEL")):
        more = [TEXT] if command == ["look"] else []
        assert main([*command, str(folder), *more]) != 0
        said = capsys.readouterr().err
        assert f"seq2see translate {named}" in said and said.count("\n") == 1, said


# --- two vocabularies


def two_vocabularies(folder):
    """A Marian whose source and target have vocabularies of their own, as newer OPUS-MT may."""
    tiny.opus_mt(folder)
    known = {}
    for side in ("source", "target"):
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        tokens = [token for token in map(processor.id_to_piece, range(len(processor))) if token != "<unk>"]
        known[side] = ["</s>", "<unk>", *tokens[: 40 if side == "source" else None], "<pad>"]
    for file, side in (("vocab.json", "source"), ("target_vocab.json", "target")):
        (folder / file).write_text(json.dumps({token: id for id, token in enumerate(known[side])}))
    settings = {"source_lang": "en", "target_lang": "fr", "separate_vocabs": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    pad = len(known["target"]) - 1
    torch.manual_seed(0)
    model = tiny.spread_out(MarianMTModel(MarianConfig(
        vocab_size=len(known["source"]), decoder_vocab_size=len(known["target"]),
        share_encoder_decoder_embeddings=False, tie_word_embeddings=False, **SMALL, max_position_embeddings=64,
        pad_token_id=len(known["source"]) - 1, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=None,
    )))
    (folder / "pytorch_model.bin").unlink()
    model.save_pretrained(folder)
    return folder


def test_a_marian_with_two_vocabularies_translates_and_shows_each_sides_tokens(tmp_path, capsys):
    folder = two_vocabularies(tmp_path)
    translator = Translator.from_pretrained(folder)
    result = translator(TEXT, num_beams=1, max_new_tokens=12)
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    theirs = model.generate(**tokenizer(TEXT, return_tensors="pt"), num_beams=1, max_new_tokens=12, min_length=0)
    assert result.engine == "torch" and result.hypotheses[0].token_ids == tuple(theirs[0, 1:].tolist())
    assert result.text == tokenizer.decode(theirs[0, 1:], skip_special_tokens=True).strip()
    [trace] = translator.look(result)
    names = {id: token for token, id in json.loads((folder / "vocab.json").read_text()).items()}
    for token, id in zip(trace.source, trace.source_ids, strict=True):
        assert token.text in (names[id], names[id].removeprefix("▁"), TEXT[token.start : token.end])
    assert len({token.text for token in trace.source} - {"<unk>", "</s>"}) > 4
    with pytest.raises(UserError, match="whose source and target have vocabularies of their own"):
        Translator.from_pretrained(folder, engine="ctranslate2")


# --- where decoding options come from

IN_CONFIG = {"num_beams": 3, "max_length": 17, "length_penalty": 0.6, "no_repeat_ngram_size": 3, "early_stopping": True,
             "repetition_penalty": 1.2, "bad_words_ids": [[7], [8, 9]], "suppress_tokens": [11]}


@pytest.mark.few(3)
@pytest.mark.parametrize("family", families.CONFIGS)
def test_options_in_config_json_are_those_of_the_loaded_model(tmp_path, family):
    """As in older repositories, which have no generation_config.json; transformers' configs drop the options."""
    folder = tiny.save(tmp_path / "model", families.made(family), tiny.foreign_tokenizer())
    (folder / "generation_config.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | IN_CONFIG))
    read = LoadedCheckpoint("old", folder)
    before = read.defaults
    theirs = AutoModelForSeq2SeqLM.from_pretrained(folder).generation_config
    _ = read.model
    for defaults in (before, read.defaults):
        assert {name: defaults.config.get(name) for name in GenerationSettings.__annotations__} == {
            name: getattr(theirs, name, None) for name in GenerationSettings.__annotations__}
        assert defaults.config["early_stopping"] is True
    assert before.usual == read.defaults.usual
    assert (before.usual.num_beams, before.usual.max_new_tokens, before.usual.no_repeat_ngram_size) == (3, 16, 3)


def test_both_engines_take_the_options_of_config_json(opus):
    config = json.loads((opus / "config.json").read_text())
    model = AutoModelForSeq2SeqLM.from_pretrained(opus)
    tokenizer = AutoTokenizer.from_pretrained(opus)
    first = int(model.generate(**tokenizer(TEXT, return_tensors="pt"), num_beams=1, max_length=9)[0, 1])
    bad = [*config.get("bad_words_ids", ()), [first]]
    (opus / "config.json").write_text(json.dumps(config | {"num_beams": 3, "max_length": 9, "bad_words_ids": bad}))
    model = AutoModelForSeq2SeqLM.from_pretrained(opus)
    theirs = model.generate(**tokenizer(TEXT, return_tensors="pt"))[0, 1:].tolist()
    assert first not in theirs and len(theirs) <= 8
    for engine in ("torch", "ctranslate2"):
        result = Translator.from_pretrained(opus, engine=engine, precision="float32")(TEXT)
        assert (result.engine, list(result.hypotheses[0].token_ids)) == (engine, theirs)


# --- published files


@needs_hub
@pytest.mark.parametrize("change", ["as it is", "no generation_config", "short tokenizer_config", "saved again"])
def test_opus_mt_with_its_own_files(tmp_path, change):
    """Their bad_words_ids, forced_eos_token_id, and a start that is the padding."""
    folder = small("opus-mt-tc-big-fr-en", tmp_path / "opus")
    if change == "no generation_config":
        (folder / "generation_config.json").unlink()
    elif change == "short tokenizer_config":
        (folder / "tokenizer_config.json").write_text('{"target_lang": "en", "source_lang": "fr"}')
        (folder / "special_tokens_map.json").write_text("{}")
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder).float(), AutoTokenizer.from_pretrained(folder)
    if change == "saved again":
        folder = tiny.save(tmp_path / "again", model, tokenizer)
    texts = ["Le chat n'a pas traversé la rue.", "Une boîte", "Il était trop grand parce qu'elle l'était aussi !"]
    theirs = [model.generate(**tokenizer(text, return_tensors="pt"), num_beams=1, max_length=26)[0].tolist()
              for text in texts]
    for engine in ("torch", "ctranslate2"):
        translator = Translator.from_pretrained(folder, engine=engine, precision="float32")
        for ids, one in zip(theirs, translator(texts, num_beams=1, max_new_tokens=25), strict=True):
            assert one.hypotheses[0].token_ids == tuple(ids[1:]) and one.engine == engine
            assert one.text == tokenizer.decode(ids, skip_special_tokens=True).strip()
            assert one.source_language == "fr"


@needs_hub
def test_nllb_with_its_own_files(tmp_path):
    """Its vocabulary is larger than its tokenizer's."""
    folder = nllb(tmp_path / "nllb", "eng_Latn", "fra_Latn")
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder).float(), AutoTokenizer.from_pretrained(folder)
    assert len(tokenizer) < model.config.vocab_size
    theirs = model.generate(**tokenizer(TEXT, return_tensors="pt"), num_beams=1, max_length=13,
                            forced_bos_token_id=tokenizer.convert_tokens_to_ids("fra_Latn"))
    for engine in ("torch", "ctranslate2"):
        translator = Translator.from_pretrained(folder, engine=engine, precision="float32")
        result = translator(TEXT, num_beams=1, max_new_tokens=12)
        assert result.hypotheses[0].token_ids == tuple(theirs[0, 1:].tolist()) and result.engine == engine


@needs_hub
def test_nllb_without_its_vocabulary_says_so(tmp_path):
    folder = small("nllb-200-1.3B", tmp_path / "nllb")
    with pytest.raises(UserError, match="cannot be built: sentencepiece.bpe.model, or tokenizer.json, is missing"):
        _ = Translator.from_pretrained(folder, engine="torch")


def test_a_tied_matrix_counts_as_one(opus):
    load_checkpoint(opus).save_pretrained(opus)
    assert sum("embed_tokens" in name or "shared" in name for name in load_file(opus / "model.safetensors")) == 1
