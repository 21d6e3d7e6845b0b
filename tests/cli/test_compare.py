"""`seq2see compare A B SENTENCE` and `seq2see evaluate A --against B --html`: what is said is the models' own."""

import html
import json
import re

import pytest
import tiny
from sacrebleu import sentence_chrf

from seq2see import Translator
from seq2see.lens import compare as compared
from seq2see.streams import printable
from seq2see.webpage.static_page import percent

TEXT = "The cat did not cross."


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return [tiny.save(tmp_path_factory.mktemp(name), *tiny.seq2see(seed=seed)) for seed, name in enumerate("ab")]


@pytest.fixture
def compare(command, folders):
    return lambda *arguments: command("compare", *folders, *arguments, "--engine", "torch")


def forced(model, trace):
    """The tokens that the other wrote: the two have one tokenizer."""
    return model.look_at(trace.source_text, trace.target_text, target_ids=trace.target_ids, given=trace.given,
                         calibrated=False)


def test_the_terminal_has_both_translations_their_chances_and_every_matched_head(compare, folders):
    code, out, err = compare(TEXT)
    models = [Translator.from_pretrained(folder, engine="torch") for folder in folders]
    first, second = (model.look(model(TEXT), calibrated=False)[0] for model in models)
    assert (code, err) == (0, "") and first.target_text != second.target_text
    assert out.splitlines()[:2] == [f"{which}  {folder}: {printable(trace.target_text)}" for which, folder, trace in
                                    zip("AB", folders, (first, second), strict=True)]
    for which, pair in (("A", (first, forced(models[1], first))), ("B", (forced(models[0], second), second))):
        one = compared(*pair)
        assert f"{which}'s translation (log-probability: A {one.log_probs[0]:.3f}, B {one.log_probs[1]:.3f})" in out
        for word in one.words:
            chances = rf"A +{percent(word.first)}  B +{percent(word.second)}"
            assert re.search(rf"  {re.escape(printable(word.word))} +{chances}", out)
    heads = compared(first, forced(models[1], first)).heads
    for head in heads:
        assert re.search(rf"  {head.first} +{head.second} +{head.distance:.2f}  ", out)


def test_a_model_beside_itself_is_the_same(command, folders):
    code, out, _ = command("compare", folders[0], folders[0], TEXT, "--engine", "torch")
    assert code == 0 and ": the same translation\n" in out and "B's translation" not in out
    assert set(re.findall(r"^  \w+ \d\.\d +\w+ \d\.\d +(\d\.\d\d)", out, re.MULTILINE)) == {"0.00"}


def test_the_page_has_what_the_terminal_says(compare, folders, tmp_path):
    path = tmp_path / "x.html"
    code, out, err = compare("The cat <b>did</b> not cross.", "--html", path)
    page = path.read_text("utf-8")
    assert code == 0 and err == f"wrote {path}\n" and "<b>did" not in page
    assert "default-src 'none'" in page, "it works offline"
    settings = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    comparison = settings["comparison"]
    assert comparison["models"] == [str(folder) for folder in folders]
    for which, one, look in zip("AB", comparison["comparisons"], comparison["looks"], strict=True):
        first, second = one["log_probs"]
        assert f"{which}'s translation (log-probability: A {first:.3f}, B {second:.3f})" in out
        [trace] = look["traces"]
        shown = trace.get("texts", {"target": trace["target_text"]})["target"]
        assert shown == one["translation"] and "rollout" in trace["maps"]["cross"]
    printed = re.findall(r"^  (\w+) (\d)\.(\d) +\w+ (\d)\.(\d) +([\d.]+)  ", out, re.MULTILINE)
    heads = [(*one["first"], *one["second"][1:], f"{one['distance']:.2f}") for one in
             comparison["comparisons"][0]["heads"]]
    assert printed == [tuple(map(str, one)) for one in heads]


@pytest.mark.browser
@pytest.mark.parametrize("width", [1440, pytest.param(390, marks=pytest.mark.long)])
def test_the_page_opens_with_both_models_and_looks_inside_the_other(browser, compare, folders, tmp_path, width):
    path = tmp_path / "x.html"
    assert compare(TEXT, "--html", path)[0] == 0
    tab = browser.new_page(viewport={"width": width, "height": 900})
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(path.as_uri())
    assert tab.locator(".beside svg.small").count() == 2 and not tab.get_by_role("grid").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.get_by_role("button", name=f"Look inside {folders[1]}").click()
    tab.get_by_role("grid").wait_for()
    assert not tab.locator(".beside").is_visible() and str(folders[1]) in tab.locator(".top-bar .model").inner_text()
    tab.get_by_role("link", name="Lab", exact=True).click()
    tab.get_by_role("link", name="Two models").click()
    assert tab.locator(".beside").is_visible() and not errors
    tab.close()


@pytest.mark.few(3)
@pytest.mark.parametrize(("arguments", "said"), [
    (["The cat. The box. The street did not cross the cat. It was tired."], "parts: give one sentence"),
    (["..."], "this text has no words"), ([""], "this text has no words"),
    ([TEXT, "--to", "xx"], "does not translate to xx"),
    ([TEXT, "--html", "no/such/folder/x.html"], "cannot write no/such/folder/x.html"),
    ([], "the following arguments are required: SENTENCE"),
])
def test_a_mistake_is_one_line(compare, arguments, said, monkeypatch):
    monkeypatch.setattr("seq2see.cli.compare.comparison_page", lambda *_, **options: "a page")  # drawing takes seconds
    code, _, err = compare(*arguments)
    assert code and said in err and err.count("\n") == 1


def test_a_model_of_another_language_is_named(command, folders, tmp_path):
    other, tokenizer = tiny.seq2see()
    other.config.language_pairs = [["en", "de"]]
    folder = tiny.save(tmp_path / "de", other, tokenizer)
    code, _, err = command("compare", folders[0], folder, TEXT, "--engine", "torch")
    assert code and err.startswith(f"seq2see: error: {folder}: ") and err.count("\n") == 1


def test_models_that_name_no_languages_take_those_of_the_other(command, folders, tmp_path):
    """And have other tokens, layers and heads."""
    other = tiny.save(tmp_path / "t5", *tiny.make("t5"))
    for pair in ([folders[0], other], [other, folders[0]]):
        code, out, err = command("compare", *pair, TEXT, "--engine", "torch")
        assert (code, err) == (0, ""), err
        assert "Without a partner: " in out and "1 heads 0 1" in out


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pairs.tsv"
    pairs = [("The cat.", "Le chat."), ("The box.", "La boîte."), ("The cat did not cross.", "Le chat n'a pas.")]
    path.write_text("en\tfr\n" + "".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
    return path


def test_evaluate_writes_the_largest_differences_side_by_side(command, folders, table, tmp_path):
    path = tmp_path / "x.html"
    asked = ["--against", folders[1], "--data", table, "--to", "fr", "--engine", "torch"]
    code, out, err = command("evaluate", folders[0], *asked, "--html", path)
    plain = command("evaluate", folders[0], *asked)
    assert (code, out) == plain[:2] and err == f"{plain[2]}wrote {path}\n"
    page, row = path.read_text("utf-8"), json.loads(out.splitlines()[-1])["fr"]
    assert f"BLEU {row['bleu']}, chrF2 {row['chrf']}" in page and str(row["against"]["chrf"]) in page
    pairs = [line.split("\t") for line in table.read_text("utf-8").splitlines()[1:]]
    models = [Translator.from_pretrained(folder, engine="torch") for folder in folders]
    scores = [[sentence_chrf(model(source, target="fr").text, [target]).score for model in models] for source, target
              in pairs]
    rows = re.findall(r"<tr>(<td.*?)</tr>", page)
    found = [[html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row
             in rows]
    order = sorted(range(len(pairs)), key=lambda n: -abs(scores[n][0] - scores[n][1]))
    assert [row[0] for row in found] == [str(n + 1) for n in order]
    for row, n in zip(found, order, strict=True):
        assert row[4:6] == pairs[n] and row[6:8] == [printable(model(pairs[n][0], target="fr").text)
                                                           for model in models]
        assert row[1:3] == [f"{one:.1f}" for one in scores[n]]


@pytest.mark.parametrize(("arguments", "said"), [
    (["--html", "x.html"], "--html compares two models: also give --against MODEL"),
    (["--html", "no/x.html", "--against", "B", "--to", "fr"], "cannot write no/x.html"),
])
def test_a_mistake_of_the_page_is_one_line(command, folders, table, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    arguments = [folders[1] if one == "B" else one for one in arguments]
    code, _, err = command("evaluate", folders[0], "--data", table, "--engine", "torch", *arguments)
    assert code and said in err.splitlines()[-1] and "Traceback" not in err
