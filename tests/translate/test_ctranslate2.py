"""The fast engine gives what torch gives, needs no torch, and its export is there once, whole and of these weights."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiny
from huggingface_hub.utils import filter_repo_objects
from safetensors.torch import load_file, save_file
from tiny import SENTENCES

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration, Translator
from seq2see.cli.command import main
from seq2see.errors import UserError
from seq2see.translate import export
from seq2see.translate.checkpoint import LoadedCheckpoint
from seq2see.translate.codec import Seq2SeeCodec, TokenizerCodec
from seq2see.translate.export import spaceless

pytest.importorskip("ctranslate2")
TEXTS = [*SENTENCES, "The cat.", "", "An owl lent 12 ladders.", "猫 </s> <2de>"]


@pytest.fixture(params=[tiny.seq2see, tiny.published_marian])
def run(request, tmp_path):
    return tiny.save(tmp_path / "run", *request.param())


def hypotheses(results):
    return [[one.token_ids for one in result.hypotheses] for result in results]


@pytest.mark.parametrize("settings", [
    {"num_beams": 1}, {"num_beams": 4, "alternatives": 2}, {"num_beams": 3, "length_penalty": 0.3},
    {"num_beams": 1, "repetition_penalty": 1.7}, {"max_new_tokens": 3},
])  # fmt: skip
def test_in_float32_it_finds_what_torch_finds(run, settings):
    fast = Translator.from_pretrained(run, engine="ctranslate2", precision="float32", threads=1)(TEXTS, **settings)
    slow = Translator.from_pretrained(run, engine="torch")(TEXTS, **settings)
    assert hypotheses(fast) == hypotheses(slow)
    assert [result.text for result in fast] == [result.text for result in slow]
    for ours, theirs in zip(fast, slow, strict=True):
        assert (ours.engine, ours.precision) == ("ctranslate2", "float32")
        for a, b in zip(ours.hypotheses, theirs.hypotheses, strict=True):
            assert (a.score, a.log_prob) == pytest.approx((b.score, b.log_prob), rel=2e-3)  # its gelu is another one
            assert a.finished == b.finished


@pytest.mark.parametrize("asked", [{"suppress_tokens": [300]}, {"bad_words_ids": [[300]]}, {"min_length": 9},
                                   {"encoder_no_repeat_ngram_size": 2}, {"sequence_bias": [[[300], 2.0]]}])
def test_torch_translates_where_the_checkpoint_asks_for_more_than_it_has(tmp_path, capsys, asked):
    run = tiny.save(tmp_path / "run", *tiny.seq2see())
    path = run / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | asked))
    assert Translator.from_pretrained(run)("The cat.").engine == "torch"
    err = capsys.readouterr().err
    assert f"CTranslate2 does not support {next(iter(asked))}, which" in err and err.endswith("; using PyTorch\n")
    with pytest.raises(UserError, match="CTranslate2 does not support"):
        Translator.from_pretrained(run, engine="ctranslate2")


def test_what_ends_and_what_is_cut_are_told_apart(tmp_path):
    model, tokenizer = tiny.published_marian()
    model.final_logits_bias[0, 0] = 4.0  # `</s>`, which this kind has first in its vocabulary
    run = tiny.save(tmp_path / "run", model, tokenizer)
    results = Translator.from_pretrained(run)([text[:cut] for text in SENTENCES for cut in (5, 20, 60)], num_beams=1)
    found = [result.hypotheses[0] for result in results]
    assert {one.finished for one in found} == {True, False}
    assert all(one.finished == (one.token_ids[-1] == 0) for one in found)


def test_a_trace_tells_who_translated_and_how_far_off_it_was(run):
    translator = Translator.from_pretrained(run, engine="ctranslate2")
    result = translator(SENTENCES[0])
    [trace] = translator.look(result)
    assert (trace.engine, trace.precision) == ("ctranslate2", "int8")
    assert trace.target_ids == result.hypotheses[0].token_ids
    assert 0 < abs(trace.difference) < 0.2 * abs(trace.log_prob)


def test_no_run_of_pieces_comes_twice_where_none_may(run):
    for result in Translator.from_pretrained(run)(TEXTS[:-3], no_repeat_ngram_size=2, num_beams=2):
        ids = result.hypotheses[0].token_ids
        assert len(set(zip(ids, ids[1:], strict=False))) == len(ids) - 1 > 3


def test_torch_translates_what_it_cannot_hold(any_folder):
    if LoadedCheckpoint("", any_folder).model_type == "seq2see":
        pytest.skip("CTranslate2 holds this one")
    assert Translator.from_pretrained(any_folder)("The cat.").engine == "torch"
    with pytest.raises(UserError, match="can be exported|does not support"):  # more embeddings than tokens
        Translator.from_pretrained(any_folder, engine="ctranslate2")


def test_it_is_chosen_where_it_is_installed(run, monkeypatch):
    assert Translator.from_pretrained(run)("The cat.").engine == "ctranslate2"
    monkeypatch.setattr("seq2see.translate.translator.find_spec", lambda name: None)
    assert Translator.from_pretrained(run)("The cat.").engine == "torch"


def test_translating_needs_no_torch_once_the_export_is_there(tmp_path):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
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


def test_a_forked_child_does_not_wait_for_threads_it_has_not(run):
    export.exported(run, quantization="int8")  # by torch, here, where it is imported
    script = f"""
import os
from seq2see import Translator
translator = Translator.from_pretrained({str(run)!r})
translator("The cat.")
translator.itself = translator  # a cycle: it is freed when the collector comes by
del translator
child = os.fork()
if child == 0:
    import gc, signal
    signal.alarm(20)
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_an_export_is_made_once_for_the_same_weights(run, monkeypatch):
    folder = export.exported(run, quantization="int8")
    assert folder.parent == run and folder != export.exported(run, quantization="float32")
    for name in ("metrics.json", "heads.json"):  # no part of the model
        (run / name).write_text("{}")
    with monkeypatch.context() as patch:
        patch.setattr(export, "write", None)
        assert export.exported(run, quantization="int8") == folder
    tensors = load_file(run / "model.safetensors")
    name = next(name for name in tensors if name.endswith("fc1.bias"))
    tensors[name] += 1
    save_file(tensors, run / "model.safetensors", {"format": "pt"})
    assert export.exported(run, quantization="int8") != folder


def test_whatever_decides_what_is_translated_makes_another_export(run):
    before = export.weights_hash(run)
    for name in ("seen_words.json", "generation_config.json", "README.md"):  # read anew each time, or for people
        (run / name).write_text("{}")
    assert export.weights_hash(run) == before
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        content = (run / name).read_bytes()
        (run / name).write_bytes(content + b" ")
        assert export.weights_hash(run) != before, name
        (run / name).write_bytes(content)
    assert export.weights_hash(run) == before


@pytest.mark.parametrize("change", [{"scale_embedding": False}, {"activation_function": "silu"}])
def test_a_network_of_another_make_is_exported_as_it_is(tmp_path, change):
    model, tokenizer = tiny.seq2see()
    other = Seq2SeeForConditionalGeneration(Seq2SeeConfig(**{**model.config.to_dict(), **change}))
    other.load_state_dict(model.state_dict())
    other.generation_config = model.generation_config
    run = tiny.save(tmp_path / "run", other, tokenizer)
    fast = Translator.from_pretrained(run, engine="ctranslate2", precision="float32", threads=1)
    slow = Translator.from_pretrained(run, engine="torch")
    assert hypotheses(fast(SENTENCES)) == hypotheses(slow(SENTENCES))
    assert hypotheses(slow(SENTENCES)) != hypotheses(Translator(model, tokenizer)(SENTENCES))


def test_several_that_start_at_once_meet_a_whole_export(tmp_path):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: export.exported(run, quantization="int8"), range(4)))
    assert len(set(folders)) == 1 and not list(run.glob(".ctranslate2-*"))
    assert {item.name for item in folders[0].iterdir()} >= {"model.bin", "config.json"}


def test_a_folder_that_cannot_be_written_to_is_served_from_the_cache(tmp_path, monkeypatch):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write = export.write

    def refused(source: Path, folder: Path, **settings: str) -> None:
        if run in folder.parents:
            raise PermissionError(13, "Permission denied")
        write(source, folder, **settings)

    monkeypatch.setattr(export, "write", refused)
    folder = export.exported(run, quantization="int8")
    assert tmp_path / "cache" in folder.parents and Translator.from_pretrained(run)("The cat.").engine == "ctranslate2"


def test_where_no_export_can_be_written_torch_translates_and_says_so(tmp_path, monkeypatch, capsys):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def refused(*args: object, **settings: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(export, "write", refused)
    capsys.readouterr()
    reason = (f"the CTranslate2 export of {run} can be written neither there nor to {tmp_path}/cache/seq2see/exports"
              " (Permission denied): set XDG_CACHE_HOME to a writable folder")
    assert Translator.from_pretrained(run)("The cat.").engine == "torch"
    assert capsys.readouterr().err == f"{reason}; using PyTorch\n"
    with pytest.raises(UserError, match="set XDG_CACHE_HOME to a writable folder"):
        Translator.from_pretrained(run, engine="ctranslate2")
    assert main(["export", str(run)]) == 1
    assert capsys.readouterr().err == f"seq2see: error: {reason}\n"


def test_a_place_that_nothing_can_be_exported_to_is_named_as_it_was_given(tmp_path, monkeypatch, capsys):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    (tmp_path / "in.txt").touch()
    capsys.readouterr()
    for form in ("ctranslate2", "endpoint"):
        assert main(["export", str(run), "--format", form, "--out", str(tmp_path / "in.txt")]) == 2
        assert capsys.readouterr().err == f"seq2see: error: --out {tmp_path}/in.txt is a file; choose a folder\n"
        assert main(["export", str(run), "--format", form, "--out", "/proc/none/out"]) == 1
        told = "cannot write /proc/none/out (No such file or directory); choose a writable folder with --out"
        assert capsys.readouterr().err == f"seq2see: error: {told}\n"

    def refused(suffix: None, prefix: str, dir: Path) -> str:
        raise OSError(30, "Read-only file system", str(dir / f"{prefix}x"))

    monkeypatch.setattr("tempfile.mkdtemp", refused)
    assert main(["export", str(run), "--out", str(tmp_path / "out")]) == 1
    assert f"cannot write {tmp_path}/out (Read-only file system); choose" in capsys.readouterr().err


def no_model(folder):
    (folder / "model.bin").unlink()  # as a download by patterns left it


def half_a_model(folder):
    (folder / "model.bin").write_bytes(b"x")


def no_manifest(folder):
    """And its config.json changed so that it loads, and fails when it translates."""
    (folder / "manifest.json").unlink()
    config = folder / "config.json"
    config.write_bytes(config.read_bytes().replace(b"add_source_bos", b"!dd_source_bos"))


@pytest.mark.parametrize("damage", [no_model, half_a_model, no_manifest])
def test_a_damaged_export_is_made_again_with_one_notice(tmp_path, capsys, damage):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    folder = export.exported(run, quantization="int8")
    expected = {path.name: path.read_bytes() for path in folder.iterdir()}
    damage(folder)
    capsys.readouterr()
    assert Translator.from_pretrained(run)("The cat.").engine == "ctranslate2"
    assert capsys.readouterr().err == f"the export {folder} is damaged or incomplete; exporting again\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == expected
    assert [path for path in run.iterdir() if path.is_dir()] == [folder]


def test_a_damaged_export_that_cannot_be_replaced_is_told_of_until_another_is_there(tmp_path, monkeypatch, capsys):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    no_model(export.exported(run, quantization="int8"))
    mkdtemp = export.tempfile.mkdtemp

    def read_only(suffix: None, prefix: str, dir: Path) -> str:
        if dir == run:
            raise OSError(30, "Read-only file system", str(dir))
        return mkdtemp(suffix, prefix, dir)

    monkeypatch.setattr("tempfile.mkdtemp", read_only)
    capsys.readouterr()
    for notices in (1, 0):
        assert Translator.from_pretrained(run)("The cat.").engine == "ctranslate2"
        assert capsys.readouterr().err.count("exporting again") == notices


def test_a_run_that_was_uploaded_with_its_export_opens_from_the_hub(tmp_path, monkeypatch, capsys):
    """The Hub's own rules say which files a download has."""
    uploaded = tiny.save(tmp_path / "uploaded", *tiny.make("seq2see"))
    expected = Translator.from_pretrained(uploaded)("The cat.").text

    def download(name, *, allow_patterns=None, ignore_patterns=None):
        files = [path.relative_to(uploaded).as_posix() for path in uploaded.rglob("*") if path.is_file()]
        for file in filter_repo_objects(files, allow_patterns=allow_patterns, ignore_patterns=ignore_patterns):
            (tmp_path / "hub" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(uploaded / file, tmp_path / "hub" / file)
        return str(tmp_path / "hub")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    capsys.readouterr()
    result = Translator.from_pretrained("someone/model")("The cat.")
    assert (result.text, result.engine, capsys.readouterr().err) == (expected, "ctranslate2", "")


def test_the_command_exports(tmp_path, capsys):
    run = tiny.save(tmp_path / "run", *tiny.make("seq2see"))
    out = tmp_path / "out"
    assert main(["export", str(run), "--quantization", "float32", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n" and (out / "model.bin").is_file()
    assert main(["export", str(run), "--out", str(out)]) == 2
    assert "is not empty" in capsys.readouterr().err
    bart = tiny.save(tmp_path / "bart", *tiny.make("bart"))
    assert main(["export", str(bart)]) == 1
    assert "only seq2see and marian models" in capsys.readouterr().err


def test_both_codecs_give_the_same_ids_and_texts(folder, translator):
    fast, slow = Seq2SeeCodec(folder), TokenizerCodec(translator.tokenizer)
    texts = [*TEXTS[:-3], " two  spaces ", "<pad><s></s><2fr>", "é e\u0301 \u200b 𝔘 \t\n", "'l’été' “x” <0x41>"]
    ids = slow.encode(texts)
    assert fast.encode(texts) == ids and fast.encode([]) == []
    assert [fast.decode([4, *row]) for row in ids] == [slow.decode([4, *row]) for row in ids] == texts
    assert fast.tags == slow.tags and fast.tokens() == slow.tokens()
    assert fast.begin("Le chat", language="fr") == slow.begin("Le chat", language="fr") == ids_of(slow, "Le chat")


def test_a_tokenizer_without_an_end_is_refused(folder, tmp_path):
    strange = shutil.copytree(folder, tmp_path / "run") / "tokenizer.json"
    strange.write_text(strange.read_text().replace("</s>", "</end>"))
    with pytest.raises(UserError, match="has no </s>"):
        Seq2SeeCodec(strange.parent)


def ids_of(codec, text):
    return codec.encode([text])[0][:-1]


def test_the_files_of_a_checkpoint_are_read_without_torch(folder, tmp_path):
    broken = shutil.copytree(folder, tmp_path / "run")
    (broken / "generation_config.json").write_text(json.dumps([1]))
    with pytest.raises(UserError, match="generation_config.json contains a list"):
        LoadedCheckpoint("", broken)
    (broken / "config.json").unlink()
    with pytest.raises(UserError, match="has no config.json"):
        LoadedCheckpoint("", broken)


def listed(folder, *, always, **candidates):
    """The run in `folder`, with a shortlist; `_7=[...]` for source 7."""
    content = {"always": always, "candidates": {key.strip("_"): ids for key, ids in candidates.items()}}
    (folder / "shortlist.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_with_a_shortlist_only_candidates_are_said(tmp_path):
    run = tiny.save(tmp_path / "run", *tiny.seq2see())
    translator = Translator.from_pretrained(run)
    source = translator.prepare(["The cat."]).work[0][0][0]
    said = set(*hypotheses([translator("The cat.")])[0][:1])
    allowed = [id for id in range(36, 60) if id not in said]
    listed(run, always=list(range(36)), **{f"_{source}": allowed})
    found = set(*hypotheses([Translator.from_pretrained(run)("The cat.")])[0][:1])
    assert said - set(range(36)) and found - said and found <= {*range(36), *allowed}


def test_a_shortlist_of_everything_changes_nothing(tmp_path):
    run = tiny.save(tmp_path / "run", *tiny.seq2see())
    before = Translator.from_pretrained(run, precision="float32")(TEXTS)
    size = len(tiny.seq2see()[1])
    source = Translator.from_pretrained(run).prepare(TEXTS[:1]).work[0][0][0]
    listed(run, always=list(range(292)), **{f"_{source}": list(range(292, size))})
    after = Translator.from_pretrained(run, precision="float32")(TEXTS[:1])
    assert hypotheses(after) == hypotheses(before[:1])


@pytest.mark.parametrize("content", ['{"always": [100000], "candidates": {}}', "[]", '{"always": []}', "{"])
def test_a_shortlist_that_makes_no_sense_is_refused_in_one_line(tmp_path, content):
    run = tiny.save(tmp_path / "run", *tiny.seq2see())
    (run / "shortlist.json").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match="shortlist.json is not a valid shortlist for this vocabulary; remove it"):
        Translator.from_pretrained(run)


def test_no_two_tokens_have_one_name_and_none_a_space():
    tokens = [" the", "▁the", "\\▁the", "\\ the", "the", "  the", "\n", "\\n", "\t", " \\", "▁\\"]
    names = [spaceless(token) for token in tokens]
    assert len(set(names)) == len(names) and all(name.split() == [name] for name in names)
