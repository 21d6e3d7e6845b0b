"""`seq2see translate --ray` on a cluster of two nodes: through a stop and a lost node no line is lost or doubled."""

import os
import re
import signal
import subprocess
import sys
import time
from argparse import Namespace

import pytest

from seq2see.cli.parser import build_parser, parse
from seq2see.cli.translating import ray_workers
from seq2see.cli.translating.line_shards import SHARDS
from seq2see.cli.translating.request import TranslationRequest

LINES = 3_000


def lines_of(name):
    """Each is translated, with something of its own that stays."""
    return [f"The cat did not cross https://x.org/{name}/{number}" if number % 7 else "" for number in range(LINES)]


@pytest.fixture
def corpus(tmp_path):
    for name in ("a", "b"):
        file = tmp_path / "in" / name / "text"
        file.parent.mkdir(parents=True)
        file.write_text("\n".join(lines_of(name)), encoding="utf-8")  # the last line has no end
    (tmp_path / "in" / "empty").touch()
    return tmp_path


def start(two_nodes, corpus):
    command = [sys.executable, "-m", "seq2see", "translate", "storybook", "--to", "fr", "--num-beams", "1",
               "--shard-lines", "60", "--ray", two_nodes.address, str(corpus / "in"), str(corpus / "out")]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def until(condition, process, what):
    deadline = time.monotonic() + 240
    while not (found := condition()):
        assert process.poll() is None and time.monotonic() < deadline, (what, process.communicate())
        time.sleep(0.05)
    return found


def finished(corpus):
    return [path for path in (corpus / "out" / SHARDS).rglob("0*") if path.is_file()]


def test_all_options_of_a_request_reach_a_worker(tmp_path):
    options = ["--jsonl", "--check", "--alternatives", "2", "--keep", "x+", "--to", "fr"]
    args = parse(build_parser(), ["translate", "storybook", *options, "--ray", "here", str(tmp_path), str(tmp_path)])
    sent = ray_workers.Wanted.of(args).arguments
    there, here = TranslationRequest.of(Namespace(**dict(sent)), threads=1), TranslationRequest.of(args)
    assert there.check and there.options == here.options and (there.jsonl, there.targets) == (True, ("fr",))


def test_wrong_options_and_no_cluster_are_one_line(two_nodes, corpus, command, monkeypatch):
    folders = (corpus / "in", corpus / "out")
    monkeypatch.setattr(ray_workers, "REACH_SECONDS", 1)
    for options, said in (
        (("--ray", "127.0.0.1:9"), "cannot reach Ray at 127.0.0.1:9; start it with ray start --head, and"),
        (("--ray", "ray://here"), "--ray ray://here: expected HOST:PORT or auto"),
        (("no/file.txt", "--ray", two_nodes.address), "--ray translates the files of the folder INPUT; omit no/file"),
        (("--alternatives", 2, "--ray", two_nodes.address), "--alternatives needs --jsonl"),
        (("--check", "--ray", two_nodes.address), "--check with --ray needs --jsonl"),
        (("--cpus", 64, "--ray", two_nodes.address), "no machine of the cluster has 64 CPU"),
        (("--to", "zz", "--ray", two_nodes.address), "this model does not translate to zz"),
    ):
        code, out, err = command("translate", "storybook", *options, *folders)
        assert code and not out and said in err and err.splitlines()[-1].startswith("seq2see: error: "), err
        assert not list((corpus / "out").rglob("text"))


def test_nothing_is_lost_or_doubled(two_nodes, corpus):
    process = start(two_nodes, corpus)
    shard, *_ = until(lambda: finished(corpus), process, "no shard")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143, process.communicate()
    process.stderr.close()
    kept = re.sub("https", "HTTPS", shard.read_text("utf-8"))
    shard.write_text(kept, encoding="utf-8")

    before = len(finished(corpus))
    process = start(two_nodes, corpus)
    until(lambda: len(finished(corpus)) > before + 2, process, "no more shards")
    node = until(lambda: two_nodes.halted("translate_shard"), process, "no node works")
    two_nodes.lose(node)
    two_nodes.add()
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert re.search(r"lost, will be translated again: \S+/text, lines [\d,]+ to [\d,]+", said), said
    lost = r"(?:\(\w{8}\)|a process) was lost; its shards were translated again: \S+/text, lines "
    assert re.search(lost, said), said  # the node is named if Ray has noticed by now that it is gone
    for name in ("a", "b"):
        translated = (corpus / "out" / name / "text").read_text("utf-8")
        assert translated.endswith("\n")
        pairs = list(zip(lines_of(name), translated.removesuffix("\n").split("\n"), strict=True))
        assert all(line.rpartition(" ")[2].casefold() in text.casefold() for line, text in pairs)
        assert all(bool(line) == bool(text) for line, text in pairs)
    joined = "".join((corpus / "out" / name / "text").read_text("utf-8") for name in ("a", "b"))
    assert kept in joined  # a finished shard is not done again
    assert sorted(os.listdir(corpus / "out")) == [".seq2see.json", "a", "b", "empty"]
    assert (corpus / "out" / "empty").read_bytes() == b""
