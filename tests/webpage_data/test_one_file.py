"""The page with a model inside, as a file: what is in it, and what the command says that cannot write it."""

import base64
import gzip
import json
import re
import shutil

import pytest

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.lens.records.example_record import FILE, ExamplePair, Examples
from seq2see.translate.loaded_checkpoint import fingerprint
from seq2see.webpage_data.one_file import prepared, web_page


def part(page, name):
    return re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


@pytest.mark.parametrize("dtype", ["int8", "float16"])
def test_the_model_is_inside_and_nothing_comes_from_elsewhere(folder, dtype):
    page = web_page(prepared(Translator.from_pretrained(folder, engine="torch"), dtype))
    content = json.loads(gzip.decompress(base64.b64decode(part(page, "model"))))
    weights = gzip.decompress(base64.b64decode(part(page, "weights")))
    assert {one["dtype"] for one in content["manifest"]["tensors"]} == {"float16", dtype}
    assert max(one["offset"] for one in content["manifest"]["tensors"]) < len(weights)
    assert content["model"]["architecture"]["d_model"] == json.loads((folder / "config.json").read_text())["d_model"]
    assert json.loads(part(page, "settings"))["models"][0]["languages"]
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'") and "http" not in policy and "connect-src" not in policy
    assert not re.search(r"<(?:link|script)[^>]* (?:src|href)=|url\((?!data:|#)|@import", page)


def test_a_page_has_the_examples_of_its_languages(folder, tmp_path):
    run = shutil.copytree(folder, tmp_path / "run")
    of_two = tuple(ExamplePair("The ", ("cat", "dog"), " sleeps.", ("en", target)) for target in ("de", "fr"))
    Examples(of_two, fingerprint(run)).save(run / FILE)
    page = web_page(prepared(Translator.from_pretrained(run, engine="torch"), pairs=[("en", "fr")]))
    assert [one["languages"] for one in json.loads(part(page, "settings"))["pairs"]] == [["en", "fr"]]


def test_the_same_model_gives_the_same_file(folder):
    one, two = (web_page(prepared(Translator.from_pretrained(folder, engine="torch"))) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(("argv", "said"), [
    (["storybook", "--quantization", "float32"], "--quantization float32 with --format web: expected int8 or float16"),
    (["FOLDER", "--out", "FOLDER"], "is not empty; choose another folder with --out"),
    (["FOLDER", "--out", "FOLDER/config.json/explorer.html"], "choose another place with --out"),
    (["runs/none"], "there is no folder runs/none"),
])
def test_what_cannot_be_written_is_said_in_one_line(folder, capsys, argv, said):
    assert main(["export", *(word.replace("FOLDER", str(folder)) for word in argv), "--format", "web"]) in (1, 2)
    out, err = capsys.readouterr()
    error = err.removeprefix(f"Writing the page of {folder.name} ...\n")
    assert said in error and error.count("\n") == 1 and not out


def test_the_command_says_what_it_does_and_prints_what_it_wrote(folder, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["export", str(folder), "--format", "web", "--out", str(page)]) == 0
    assert capsys.readouterr() == (f"{page}\n", f"Writing the page of {folder.name} ...\n")
