"""The fast engine gives what torch gives, needs no torch, and its export is there once, whole and of these weights."""

import json
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import families
import pytest
import tiny
import torch
import transformers
from huggingface_hub.utils import filter_repo_objects
from tiny import SENTENCES

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration, Translator
from seq2see.cli.command import main
from seq2see.errors import UserError
from seq2see.translate import ctranslate2_export
from seq2see.translate.codec import Seq2SeeCodec, TokenizerCodec
from seq2see.translate.ctranslate2_export import LIKE_BART, LIKE_T5, spaceless, vocabulary

pytest.importorskip("ctranslate2")
TEXTS = [*SENTENCES, "The cat.", "", "An owl lent 12 ladders.", "猫 </s> <2de>"]


@pytest.fixture(scope="module", params=[
    tiny.seq2see, partial(tiny.seq2see, model_type="unigram"), tiny.published_marian], ids=["bpe", "unigram", "marian"])
def either(request, tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("run"), *request.param())


@pytest.fixture
def run(tmp_path):
    return tiny.save(tmp_path / "run", *tiny.seq2see())


def hypotheses(results):
    return [[one.token_ids for one in result.hypotheses] for result in results]


@pytest.mark.few(1)
def test_in_float32_it_finds_what_torch_finds(either):
    fast = Translator.from_pretrained(either, engine="ctranslate2", precision="float32", threads=1)
    slow = Translator.from_pretrained(either, engine="torch")
    for settings in ({"num_beams": 4, "alternatives": 2}, {"num_beams": 3, "length_penalty": 0.3},
                     {"num_beams": 1, "repetition_penalty": 1.7}, {"max_new_tokens": 3}):
        found, wanted = fast(TEXTS, **settings), slow(TEXTS, **settings)
        assert hypotheses(found) == hypotheses(wanted)
        assert [result.text for result in found] == [result.text for result in wanted]
        for ours, theirs in zip(found, wanted, strict=True):
            assert (ours.engine, ours.precision) == ("ctranslate2", "float32")
            for a, b in zip(ours.hypotheses, theirs.hypotheses, strict=True):
                assert (a.score, a.log_prob) == pytest.approx((b.score, b.log_prob), rel=2e-3)  # gelu is another one
                assert a.finished == b.finished


FAMILIES = ["Marian", "M2M-100, NLLB", "T5", "mT5", "UMT5", "BART", "mBART", "Pegasus", "Blenderbot", "PLBart"]
WORDS = re.findall(r"[^\W\d]+", " ".join(SENTENCES))  # numbers would be protected


def family(name, *, beams):
    """A random model of a family with the settings of published ones; with beams many translations end early."""
    if name == "Marian":
        model, tokenizer = tiny.published_marian()
        model.generation_config.update(forced_eos_token_id=0)
    else:
        model, tokenizer = families.made(name), tiny.foreign_tokenizer()
        model.generation_config.update(
            suppress_tokens=[300], bad_words_ids=[[301], [302, 303]],
            forced_bos_token_id=7 if name in ("M2M-100, NLLB", "mBART") else None,
            forced_eos_token_id=2 if name in ("BART", "Pegasus") else None)
    model.generation_config.update(max_length=26, num_beams=beams, early_stopping=beams > 1)
    if beams > 1:
        end, bias = model.generation_config.eos_token_id, getattr(model, "final_logits_bias", None)
        if bias is not None:
            bias[0, end] = 4.0
        else:
            model.get_output_embeddings().weight.data[end] *= -3 if name.startswith("M2M") else 4
    model.generation_config.encoder_no_repeat_ngram_size = 0  # Blenderbot's 3 needs PyTorch
    return model, tokenizer


@pytest.mark.few(3)
@pytest.mark.parametrize("beams", [1, 4])
@pytest.mark.parametrize("name", [
    *FAMILIES[:3], *(pytest.param(name, marks=pytest.mark.long) for name in FAMILIES[3:])])
def test_a_family_writes_what_generate_writes(tmp_path, name, beams):
    """On 200 inputs in float32: greedily all of it; with four beams where all four end before the limit, but for an end
    right after a language tag, which CTranslate2 does not try."""
    model, tokenizer = family(name, beams=beams)
    folder = tiny.save(tmp_path / "model", model, tokenizer)
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 14))) for _ in range(200)]
    fast = Translator.from_pretrained(folder, engine="ctranslate2", precision="float32", threads=1)
    assert fast._loaded is None, "translating needs no model in PyTorch"
    model, end = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder), fast.defaults.config["eos_token_id"]
    wanted = []
    for start in range(0, len(texts), 50):
        some = texts[start : start + 50]
        inputs = tokenizer(some, padding=True, return_tensors="pt", return_token_type_ids=False)
        ids = model.generate(**inputs, num_beams=beams, num_return_sequences=beams)
        wanted += [tuple(row[: row.index(end) + 1] if end in row else row) for row in ids[:, 1:].tolist()]
    found = [one.hypotheses[0] for one in fast(texts, num_beams=beams)]
    if beams == 1:
        assert [one.token_ids for one in found] == wanted and len(set(wanted)) > 10
    else:
        ended = [i for i, one in enumerate(found)
                 if all(2 * one.given < len(ids) < 25 for ids in wanted[4 * i : 4 * i + 4])]
        same = [found[i].token_ids == wanted[4 * i] for i in ended]
        assert len(same) > 5 and sum(same) >= 0.98 * len(same)  # near ties are decided by rounding
    slow = Translator.from_pretrained(folder, engine="torch")(texts[:20], num_beams=1)
    for ours, theirs in zip(fast(texts[:20], num_beams=1), slow, strict=True):
        assert ours.hypotheses[0].log_prob == pytest.approx(theirs.hypotheses[0].log_prob, abs=0.02, rel=0.002)


def test_every_layout_is_of_a_family_that_is_tried():
    assert len(FAMILIES) == len([*LIKE_BART, *LIKE_T5])


def test_every_id_has_a_name_of_its_own():
    tokenizer = tiny.foreign_tokenizer()
    names = vocabulary(tokenizer, len(tokenizer) + 3)
    assert len(set(names)) == len(names) == len(tokenizer) + 3
    tokens = tokenizer.convert_ids_to_tokens(range(10))
    assert vocabulary(tokenizer, 10) == names[:10] == [spaceless(token) for token in tokens]


def test_torch_translates_where_the_checkpoint_asks_for_more_than_it_has(run, capsys):
    path = run / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"begin_suppress_tokens": [300]}))
    assert Translator.from_pretrained(run)("The cat.").engine == "torch"
    assert capsys.readouterr().err.count("begin_suppress_tokens") == 1
    with pytest.raises(UserError, match="does not support"):
        Translator.from_pretrained(run, engine="ctranslate2")


def test_what_ends_and_what_is_cut_are_told_apart(tmp_path):
    model, tokenizer = tiny.published_marian()
    model.final_logits_bias[0, 0] = 4.0  # `</s>`, which this kind has first in its vocabulary
    run = tiny.save(tmp_path / "run", model, tokenizer)
    results = Translator.from_pretrained(run)([text[:cut] for text in SENTENCES for cut in (5, 20, 60)], num_beams=1)
    found = [result.hypotheses[0] for result in results]
    assert {one.finished for one in found} == {True, False}
    assert all(one.finished == (one.token_ids[-1] == 0) for one in found)


def test_a_trace_tells_who_translated_and_how_far_off_it_was(either):
    translator = Translator.from_pretrained(either, engine="ctranslate2")
    result = translator(SENTENCES[0])
    [trace] = translator.look(result)
    assert (trace.engine, trace.precision, trace.target_ids) == ("ctranslate2", "int8", result.hypotheses[0].token_ids)
    assert trace.difference != 0 and trace.engine_log_prob == pytest.approx(result.hypotheses[0].log_prob)
    assert trace.difference == pytest.approx(trace.engine_log_prob - trace.log_prob)
    exact = Translator.from_pretrained(either, engine="ctranslate2", precision="float32")
    [trace] = exact.look(exact(SENTENCES[0]))
    assert abs(trace.difference) < 1e-3 * abs(trace.log_prob)


def test_translating_needs_no_torch_once_the_export_is_there(run):
    expected = Translator.from_pretrained(run)(SENTENCES[0]).text
    script = f"""
import sys
from seq2see import Translator
result = Translator.from_pretrained({str(run)!r})({SENTENCES[0]!r})
assert not {{"torch", "transformers"}} & set(sys.modules)
sys.stdout.buffer.write(result.text.encode())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=100)
    assert (done.returncode, done.stdout.decode()) == (0, expected), done.stderr


# --- the export


def test_an_export_is_made_once_for_the_same_weights(run, monkeypatch):
    folder = ctranslate2_export.exported(run, quantization="int8")
    assert folder.parent == run and folder != ctranslate2_export.exported(run, quantization="float32")
    with monkeypatch.context() as patch:
        patch.setattr(ctranslate2_export, "write", None)
        assert ctranslate2_export.exported(run, quantization="int8") == folder


def test_whatever_decides_what_is_translated_makes_another_export(run):
    before = ctranslate2_export.weights_hash(run)
    for name in ("seen_words.json", "generation_config.json", "README.md"):  # read each time, or for people
        (run / name).write_text("{}")
    assert ctranslate2_export.weights_hash(run) == before
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        content = (run / name).read_bytes()
        (run / name).write_bytes(content + b" ")
        assert ctranslate2_export.weights_hash(run) != before, name
        (run / name).write_bytes(content)


@pytest.mark.few(1)
@pytest.mark.parametrize("change", [{"scale_embedding": False}, {"activation_function": "silu"}])
def test_a_network_of_another_make_is_exported_as_it_is(tmp_path, change):
    model, tokenizer = tiny.seq2see()
    other = Seq2SeeForConditionalGeneration(Seq2SeeConfig(**{**model.config.to_dict(), **change}))
    other.load_state_dict(model.state_dict())
    other.generation_config = model.generation_config
    run = tiny.save(tmp_path / "run", other, tokenizer)
    fast = Translator.from_pretrained(run, engine="ctranslate2", precision="float32", threads=1)
    slow = Translator.from_pretrained(run, engine="torch")
    assert hypotheses(fast(SENTENCES[:2])) == (found := hypotheses(slow(SENTENCES[:2])))
    assert found != hypotheses(Translator(model, tokenizer)(SENTENCES[:2]))


def test_several_that_start_at_once_meet_a_whole_export(run):
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: ctranslate2_export.exported(run, quantization="int8"), range(4)))
    assert len(set(folders)) == 1 and not list(run.glob(".ctranslate2-*"))
    assert {item.name for item in folders[0].iterdir()} >= {"model.bin", "config.json"}


def test_where_no_export_can_be_written_it_is_in_the_cache_or_torch_translates_and_says_so(
        run, tmp_path, monkeypatch, capsys):
    write, closed = ctranslate2_export.write, {run}

    def refuse(source, folder, **settings):
        if closed & set(folder.parents):
            raise PermissionError(13, "Permission denied")
        write(source, folder, **settings)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(ctranslate2_export, "write", refuse)
    assert tmp_path / "cache" in ctranslate2_export.exported(run, quantization="int8").parents
    closed.add(tmp_path)
    assert Translator.from_pretrained(run, precision="float32")("The cat.").engine == "torch"
    told = capsys.readouterr().err
    assert str(run) in told and "XDG_CACHE_HOME" in told and told.count("\n") == 1
    with pytest.raises(UserError, match="set XDG_CACHE_HOME to a writable folder"):
        Translator.from_pretrained(run, precision="float32", engine="ctranslate2")


def half_a_model(folder):
    (folder / "model.bin").write_bytes(b"x")


def no_manifest(folder):
    """And its config.json changed so that it loads, and fails when it translates."""
    (folder / "manifest.json").unlink()
    config = folder / "config.json"
    config.write_bytes(config.read_bytes().replace(b"add_source_bos", b"!dd_source_bos"))


@pytest.mark.parametrize("damage", [half_a_model, no_manifest])
def test_a_damaged_export_is_made_again_with_one_notice(run, capsys, damage):
    folder = ctranslate2_export.exported(run, quantization="int8")
    expected = {path.name: path.read_bytes() for path in folder.iterdir()}
    damage(folder)
    capsys.readouterr()
    assert Translator.from_pretrained(run)("The cat.").engine == "ctranslate2"
    told = capsys.readouterr().err
    assert str(folder) in told and told.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == expected
    assert [path for path in run.iterdir() if path.is_dir()] == [folder]


def test_a_run_that_was_uploaded_with_its_export_opens_from_the_hub(run, tmp_path, monkeypatch, capsys):
    """The Hub's own rules say which files a download has."""
    expected = Translator.from_pretrained(run)("The cat.").text

    def download(name, *, allow_patterns=None, ignore_patterns=None):
        files = [path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()]
        for file in filter_repo_objects(files, allow_patterns=allow_patterns, ignore_patterns=ignore_patterns):
            (tmp_path / "hub" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(run / file, tmp_path / "hub" / file)
        return str(tmp_path / "hub")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    capsys.readouterr()
    result = Translator.from_pretrained("someone/model")("The cat.")
    assert (result.text, result.engine, capsys.readouterr().err) == (expected, "ctranslate2", "")


def test_the_command_exports_to_a_new_folder_that_can_be_written(run, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["export", str(run), "--quantization", "float32", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n" and (out / "model.bin").is_file()
    (tmp_path / "in.txt").touch()
    other = tiny.save(tmp_path / "other", families.made("LongT5"), tiny.foreign_tokenizer())
    for model, place, code in ((run, "out", 2), (run, "in.txt", 2), (other, "new", 1)):
        capsys.readouterr()
        assert main(["export", str(model), "--out", str(tmp_path / place)]) == code
        assert capsys.readouterr().err.count("\n") == 1


# --- tokens


def test_both_codecs_give_the_same_ids_and_texts(folder, translator):
    fast, slow = Seq2SeeCodec(folder), TokenizerCodec(translator.tokenizer, translator.config)
    texts = [*TEXTS[:-3], " two  spaces ", "<pad><s></s><2fr>", "é e\u0301 \u200b 𝔘 \t\n", "'l’été' “x” <0x41>"]
    ids = slow.encode(texts)
    assert fast.encode(texts) == ids and fast.encode([]) == []
    assert [fast.decode([4, *row]) for row in ids] == [slow.decode([4, *row]) for row in ids] == texts
    assert fast.tags == slow.tags
    assert fast.begin("Le chat", language="fr") == slow.begin("Le chat", language="fr")
    assert fast.begin("Le chat", language="fr") == slow.encode(["Le chat"])[0][:-1]


def test_no_two_tokens_have_one_name_and_none_a_space():
    tokens = [" the", "▁the", "\\▁the", "\\ the", "the", "  the", "\n", "\\n", "\t", " \\", "▁\\"]
    names = [spaceless(token) for token in tokens]
    assert len(set(names)) == len(names) and all(name.split() == [name] for name in names)


def test_torch_keeps_its_threads(run):
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        Translator.from_pretrained(run, engine="ctranslate2")(SENTENCES)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
