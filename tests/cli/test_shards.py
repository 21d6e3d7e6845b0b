"""Shards: cut and joined they are the file; an input that is wrong is named; what is there stays, or is refused."""

import os
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see import __version__
from seq2see.cli.translating import line_shards, ray_workers
from seq2see.cli.translating.line_shards import join, plan, read, record, unfinished, unjoined, write
from seq2see.cli.translating.request import TranslationRequest
from seq2see.errors import UserError

KEY = "a model and its options"


def made(folder, **files):
    for name, content in files.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_bytes(content)
    return folder / "in", folder / "out"


def finish(jobs, output):
    """By a translator that writes what it reads."""
    record(jobs, output)
    for job in jobs:
        for shard in job.shards:
            write(shard, (text for _, text in read(shard)))
        join(job, output)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff"), max_size=4)
lines = st.lists(texts, max_size=12)


@pytest.mark.long
@given(lines, st.integers(1, 13), st.booleans())
def test_shards_joined_are_the_file(tmp_path_factory, given_lines, size, ended):
    content = "".join(f"{line}\n" for line in given_lines).encode()
    source, output = made(tmp_path_factory.mktemp("any"), file=content if ended else content.removesuffix(b"\n"))
    [job] = plan(source, output, lines=size, key=KEY)
    numbers = [number for shard in job.shards for number, _ in read(shard)]
    finish([job], output)
    expected = content if ended or (given_lines and given_lines[-1]) else content.removesuffix(b"\n")
    assert job.output.read_bytes() == expected and numbers == [*range(1, expected.count(b"\n") + 1)]
    assert not unjoined([job], output) and sorted(os.listdir(output)) == [line_shards.RECORD, "file"]


def test_a_corrected_line_is_one_shard_and_other_options_are_all(tmp_path):
    source, output = made(tmp_path, file=b"a\nb\nc\nd\n")
    [job] = plan(source, output, lines=1, key=KEY)
    for shard in job.shards:
        write(shard, (text for _, text in read(shard)))
    assert not unfinished(job)
    made(tmp_path, file=b"a\nb\nC\nd\n")
    [corrected] = plan(source, output, lines=1, key=KEY)
    assert [shard.first for shard in unfinished(corrected)] == [3]
    [other] = plan(source, output, lines=1, key="other options")
    assert unfinished(other) == [*other.shards]
    finish([corrected], output)
    assert (output / "file").read_bytes() == b"a\nb\nC\nd\n"


def test_another_output_in_its_place_is_refused(tmp_path):
    source, output = made(tmp_path, file=b"a\n", **{"deep/file": b"b\n", ".hidden": b"c\n"})
    finish(plan(source, output, lines=9, key=KEY), output)
    assert not unjoined(plan(source, output, lines=9, key=KEY), output)
    assert (output / "deep" / "file").read_bytes() == b"b\n" and not (output / ".hidden").exists()
    with pytest.raises(UserError, match="file already exists and was made from another input, model or options"):
        unjoined(plan(source, output, lines=9, key="other options"), output)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()  # of another program
    with pytest.raises(UserError, match="elsewhere/file already exists"):
        unjoined(plan(source, elsewhere, lines=9, key=KEY), elsewhere)


@pytest.mark.parametrize("source, output, said", [
    ("none", "out", "there is no folder .*none: INPUT is a folder of files"),
    ("empty", "out", "empty has no files: nothing to translate"),
    ("in", "in", "in is inside .*in: a second run would translate the translations"),
    ("in", "in/out", "out is inside .*in: a second run would translate the translations"),
    ("in", "in/file", "file is inside"),
    ("in", "file", "file is not a folder; choose another OUTPUT"),
])
def test_wrong_folders_are_one_line(tmp_path, source, output, said):
    made(tmp_path, file=b"a\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=said):
        plan(tmp_path / source, tmp_path / output, lines=9, key=KEY)


@pytest.mark.parametrize("content, said", [
    (b"a\n\xe9\n", "line 2 of .*/in/file, byte 1: not UTF-8; convert it"),
    (b"a\nb\nc\n\xff\xfea\0\n", "line 4 of .*/in/file: not UTF-8 but UTF-16"),
    (b"a\n" + b"x" * 200_000, "line 2 of .*/in/file: a word has 200,000 characters"),
    (b"a\nb\n" + b"x" * 2**21 + b"\nc\n", "line 3 of .*/in/file is longer than 1,048,576 bytes; split it"),
])
def test_an_invalid_line_is_named_by_file_and_line(tmp_path, content, said):
    source, output = made(tmp_path, file=content)
    with pytest.raises(UserError, match=said):
        finish(plan(source, output, lines=2, key=KEY), output)
    assert not (output / "file").exists()


def test_nothing_half_written_gets_a_shard_s_name(tmp_path, monkeypatch):
    source, output = made(tmp_path, file=b"a\nb\n")
    [job] = plan(source, output, lines=2, key=KEY)
    [shard] = job.shards
    for wrong in (["A"], ["A", "B", "C"]):
        with pytest.raises(ValueError, match="lines 1 to 2"):
            write(shard, wrong)
    error = OSError(28, "No space left on device")
    monkeypatch.setattr(line_shards.os, "fsync", lambda _: (_ for _ in ()).throw(error))
    with pytest.raises(OSError, match="No space left") as full:
        write(shard, ["A", "B"])
    assert full.value.filename == str(shard.finished) and not os.listdir(job.folder)
    monkeypatch.undo()
    shard.finished.write_bytes(b"A\n")  # by a storage that loses what it said to have
    with pytest.raises(UserError, match="does not have 2 lines; delete it"):
        join(job, output)
    (source / "file").write_bytes(b"a\nB\n")
    with pytest.raises(UserError, match="file, lines 1 to 2: the file changed after the command began"):
        read(shard)


def wanted(run="tiny", version=__version__):
    given = dict.fromkeys(ray_workers.ARGUMENTS) | {"run": str(run), "engine": "torch", "device": "cpu",
                                                         "keep": "", "alternatives": 1}
    return ray_workers.Wanted(tuple(given.items()), "", 1, version)


def test_a_worker_translates_a_shard_once_and_names_what_the_model_refuses(tmp_path, monkeypatch, translator):
    source, output = made(tmp_path, file=b"The cat.\n\nThe cat did not cross.\n")
    [job] = plan(source, output, lines=2, key=KEY)
    asked = TranslationRequest(translator, ("fr", "de"), {})
    monkeypatch.setattr(ray_workers, "loaded", lambda wanted: asked)
    for shard in job.shards:
        ray_workers.translate_shard(shard, wanted())
    join(job, output)
    expected = ["\t".join(translator(text, target=one).text.replace("\t", " ") for one in ("fr", "de"))
                for text in ("The cat.", "", "The cat did not cross.")]
    assert (output / "file").read_text("utf-8").splitlines() == expected
    write(job.shards[0], ["kept", "kept"])
    monkeypatch.setattr(ray_workers, "loaded", None)
    ray_workers.translate_shard(job.shards[0], wanted())
    assert job.shards[0].finished.read_bytes() == b"kept\nkept\n"

    def refuses(texts, **_):
        if "The cat did not cross." in texts:
            raise UserError("too long")
        return [translator(text) for text in texts]

    monkeypatch.setattr(ray_workers, "loaded", lambda wanted: TranslationRequest(refuses, ("fr",), {}))
    with pytest.raises(UserError, match="file, line 3: too long"):
        ray_workers.translate_shard(job.shards[1], wanted())


def test_a_worker_refuses_another_version_and_other_weights(folder):
    load = ray_workers.loaded.__wrapped__
    with pytest.raises(UserError, match=r" has seq2see \S+, the command has 0.0.0; install the same"):
        load(wanted(version="0.0.0"))
    with pytest.raises(UserError, match="has other weights on .*; copy the same model to each machine"):
        load(wanted(folder))


def test_a_task_that_fails_by_itself_is_named_with_its_reason(tmp_path, monkeypatch):
    class TaskError(Exception):
        cause = ValueError("no such layer\nand how it came to that")

    def fails(reference):
        raise TaskError

    errors = SimpleNamespace(RayTaskError=TaskError, RayError=Exception)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(get=fails, exceptions=errors))
    monkeypatch.setitem(sys.modules, "ray.exceptions", errors)
    source, output = made(tmp_path, file=b"a\nb\n")
    jobs = plan(source, output, lines=2, key=KEY)
    with pytest.raises(UserError, match="file, lines 1 to 2 failed: ValueError: no such layer$"):
        ray_workers.Work(jobs, output, lambda shard: shard, cpus=1)._is_done("a reference", jobs[0].shards[0])


def test_without_ray_the_extra_is_named(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    code, out, err = command("translate", "--to", "fr", "--ray", "auto", "in", "out")
    assert (code, out, err) == (1, "", "seq2see: error: ray is missing: pip install 'seq2see[ray]'\n")
