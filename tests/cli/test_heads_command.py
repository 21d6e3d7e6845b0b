"""`seq2see heads`: gold data that is true, and a report that says what was found, on a small untrained model."""

import json
import re
import sys
from pathlib import Path

import pytest
import torch

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from seq2see.cli import command as cli
from seq2see.lens import trace_texts
from seq2see.lens.roles import read_roles
from seq2see.lens.summary import spread
from seq2see.measures import gold
from seq2see.measures.heads import reach
from seq2see.storybook import Storybook, generate
from seq2see.tokenizer import train_tokenizer
from seq2see.tokenizer.words import split_words
from seq2see.translate.checkpoint import fingerprint

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tiny

FIGURE = r"(-?[\d.]+)%? \[(-?[\d.]+)%?, (-?[\d.]+)%?\]"  # a value and its interval


@pytest.fixture(scope="module")
def story() -> Storybook:
    return generate(train_size=1)  # without a large training part its words are not counted, which is most of the work


@pytest.fixture
def quick(story: Storybook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gold, "generate", lambda: story)


def test_halves_share_no_variant_of_a_sentence(quick: None) -> None:
    dev, test = gold.halves()
    keys = [{one.contrast_key for one in part} - {None} for part in (dev, test)]
    assert keys[0] and keys[1] and not keys[0] & keys[1]
    assert min(len(dev), len(test)) >= 300
    assert not {one.source for one in dev} & {one.source for one in test}
    assert gold.halves(60) == (dev[:60], test[:60])


def test_gold_is_what_storybook_says(story: Storybook) -> None:
    checked = 0
    for one in story.test:
        words = [word.text for word in split_words(one.source, language="en")]
        written = [word.text for word in split_words(one.target, language="fr")]
        made = gold.to_gold(one)
        for pronoun in made.pronouns:
            assert words[pronoun.source].casefold() in ("it", "they", "he", "she")
            assert written[pronoun.target].casefold() in gold.OTHER
            assert pronoun.antecedent not in pronoun.rivals
            checked += bool(pronoun.rivals)
        for adjective, noun in made.adjectives:
            assert adjective < noun and words[noun].isalpha()
            assert ("describes", words[adjective].casefold()) in {one[:2] for one in one.combinations}
    assert checked > 600


def test_a_choice_is_between_the_two_pronouns(story: Storybook) -> None:
    model, tokenizer = tiny.seq2see()
    contrast = [one for one in story.test if one.kind == "contrast"][:40]
    made = [gold.choice(one, model, tokenizer) for one in contrast]
    assert {name for name, _ in made} == {"il", "elle"}
    for one, (name, choice) in zip(contrast, made, strict=True):
        right = tokenizer.encode_target(one.target, language="fr")
        assert right[: len(choice.prefix_ids) + 1] == [*choice.prefix_ids, choice.right]
        rest = one.target[len(tokenizer.decode_text(choice.prefix_ids)):].strip().casefold()
        assert rest.startswith(name) or tokenizer.decode_text(choice.prefix_ids)[-1] in "ile"
    assert gold.choice(next(one for one in story.test if one.kind == "form"), model, tokenizer) is None


def test_minimal_pairs_are_variants_of_equal_length(story: Storybook) -> None:
    model, tokenizer = tiny.seq2see()
    contrast = [one for one in story.test if one.kind == "contrast"]
    choices = [gold.choice(one, model, tokenizer)[1] for one in contrast]
    pairs = gold.minimal_pairs(contrast, choices)
    assert len(pairs) > 50 and {(b, a) for a, b in pairs} == set(pairs)
    for a, b in pairs:
        assert contrast[a].contrast_key == contrast[b].contrast_key
        assert (choices[a].right, choices[a].wrong) == (choices[b].wrong, choices[b].right)
        assert len(choices[a].source_ids) == len(choices[b].source_ids)


def test_the_report_names_every_head_and_says_whether_a_few_carry_the_pronoun(
    quick: None, story: Storybook, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seq2see.measures.heads.TRANSLATED", 4)
    monkeypatch.setattr("seq2see.measures.heads.LARGEST", 1)
    tokenizer = train_tokenizer([text for one in story.test for text in (one.source, one.target)], vocab_size=900,
                                languages=["fr"])
    torch.manual_seed(0)  # with other weights it may never say *il*, and then no head can turn it
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, language_pairs=[["en", "fr"]],
        supervised_heads=[[0, 1]],
    ))
    model.generation_config.max_length = 12
    model.generation_config.forced_bos_token_id = tokenizer.tag_id("fr")
    run, out = tiny.save(tmp_path / "run", tiny.spread_out(model), tokenizer), tmp_path / "heads.json"
    capsys.readouterr()
    assert cli.main(["heads", str(run), "--sentences", "60", "--json", str(out)]) == 0
    printed = capsys.readouterr()
    report = json.loads(out.read_text("utf-8"))
    assert len(report["heads"]) == 6 == len({tuple(row["head"]) for row in report["heads"]})
    for row in report["heads"]:
        name = "{} {}.{}".format(*row["head"])
        [without, put_in, far] = [line for line in printed.out.splitlines() if line.startswith(f"  {name} ")]
        for column in ("drop", "apart", "chrf"):
            value, low, high = row[column]
            assert low <= value <= high
            assert f"{value:.3f} [{low:.3f}, {high:.3f}]".replace("-0.000", "0.000") in without or column == "chrf"
        assert "{:.1f} [{:.1f}, {:.1f}]".format(*row["chrf"]) in without
        for side in ("il", "elle"):
            assert "{:.0%} [{:.0%}, {:.0%}]".format(*row["right"][side]) in without
            assert "{:.0%} [{:.0%}, {:.0%}]".format(*row["turned"][side]) in put_in
        [own] = [one for one in report["reach"] if [one["kind"], one["layer"], one["head"]] == row["head"]]
        assert "{:.2f} [{:.2f}, {:.2f}]".format(*own["distance"]) in far
        taught = row["head"] == ["cross", 0, 1]
        assert row["supervised"] is taught and ("supervised" in put_in) is taught
    drops = [row["drop"][0] for row in report["heads"]]
    assert drops == sorted(drops, reverse=True)
    for part in ("needed", "enough"):
        assert len(report[part]["set"]) == 1
        assert [one["draws"] for one in report[part]["controls"]] == [1, 1, 5], "all other heads, each once"
        for one in report[part]["controls"]:
            for value, low, high in (one["effect"], one["mean"], one["most"]):
                assert low <= value <= high
            assert "mean {:.3f} [{:.3f}, {:.3f}]  most {:.3f} [{:.3f}, {:.3f}]".format(
                *one["mean"], *one["most"]) in printed.out
    assert [len(report["needed"]["turned"]), len(report["enough"]["share"]), len(report["enough"]["apart"])] == [3] * 3
    assert not report["needed"]["holds"], "the whole model knows nothing of pronouns"
    assert "None is needed: the whole model hardly separates them" in printed.out
    assert printed.err == f"wrote {out}\n"
    figures = re.findall(FIGURE, printed.out)
    assert all(float(low) <= float(value) <= float(high) for value, low, high in figures)
    assert max(map(len, printed.out.partition("head ")[2].splitlines())) <= 120
    tables = printed.out.partition("The best head of each role")[2].splitlines()
    rows = [line for line in tables if re.search(FIGURE, line)]
    assert len(rows) == len(report["roles"]) + len(report["reach"]) == len(report["roles"]) + 9
    for row in rows:
        bare = re.sub(FIGURE, "", re.sub(r"(encoder|decoder|cross) \d(\.\d)?|\d+ (yes|no)", "", row))
        assert not re.search(r"\d", bare), "every figure has its interval"
    for one in report["roles"]:
        name = re.escape("{} {}.{}".format(*one["head"]))
        [line] = [row for row in rows if re.match(rf"  {re.escape(one['role'])} +{name} ", row)]
        assert one["supervised"] is line.endswith(", supervised") is (one["head"] == ["cross", 0, 1])
    assert any(one["supervised"] for one in report["roles"])
    held = {tuple(row["head"]): len(row["roles"]) for row in report["heads"] if row["roles"]}
    badges = read_roles(out, weights=fingerprint(run))
    assert {tuple(head): len(roles) for head, roles in badges.items()} == held
    assert {role.supervised for head, roles in badges.items() if head == ("cross", 0, 1) for role in roles} <= {True}
    assert not any(role.supervised for head, roles in badges.items() if head != ("cross", 0, 1) for role in roles)


def test_how_far_heads_look_has_an_interval_over_sentences() -> None:
    """It holds the mean, and is half as wide of four times as many sentences; variants of one tell no more."""
    texts = ["The cat.", "The cat saw. The box.", "It was a big box. It was.", "A cat did not cross the box."] * 8
    model, tokenizer = tiny.seq2see()
    traces = trace_texts(model, tokenizer, texts, texts[::-1], source_language="en", target_language="fr")
    names = [f"{number}" for number in range(len(texts))]
    once = reach(traces, "cross", names)
    again = reach(traces * 4, "cross", [f"{name}, {i}" for i in range(4) for name in names])
    means, variants = spread(traces, "cross"), reach(traces * 4, "cross", names * 4)
    assert means.across is not None
    for row, more, same in zip(once, again, variants, strict=True):
        at = row["layer"], slice(None) if row["head"] is None else row["head"]
        for name in ("distance", "entropy", "evenness", "across"):
            value, low, high = row[name]
            assert low < value < high and value == pytest.approx(getattr(means, name)[at].mean())
            assert more[name].high - more[name].low == pytest.approx((high - low) / 2, rel=0.25)
            assert same[name] == pytest.approx(row[name])
        assert row["across_even"].value == pytest.approx(means.across_even)
    assert {row["across"] for row in reach(traces[:1], "cross", names[:1])} == {None}, "one sentence has no other"


@pytest.mark.parametrize("kind", ["marian", "bart", "t5"])
def test_heads_of_any_encoder_decoder(
    kind: str, quick: None, story: Storybook, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("seq2see.measures.heads.TRANSLATED", 2)
    monkeypatch.setattr("seq2see.measures.heads.LARGEST", 1)
    texts = [text for one in story.test for text in (one.source, one.target)]
    tokenizer = tiny.foreign_tokenizer(texts, pieces=900)
    model = tiny.foreign_model(kind, vocab_size=len(tokenizer))
    run, out = tiny.save(tmp_path / kind, model, tokenizer), tmp_path / "heads.json"
    assert cli.main(["heads", str(run), "--sentences", "60", "--json", str(out)]) == 0
    assert f"{run} does not name its languages: assuming English to French\n" in capsys.readouterr().err
    heads = {tuple(row["head"]) for row in json.loads(out.read_text("utf-8"))["heads"]}
    decoder = 2 if kind == "t5" else 3
    assert heads == {(part, layer, head) for part, layers in (("encoder", 2), ("decoder", decoder), ("cross", decoder))
                     for layer in range(layers) for head in range(2)}


def test_what_cannot_be_measured_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], quick: None
) -> None:
    run = tiny.save(tmp_path / "short", *tiny.make("marian"))  # of 64 positions, and pieces of a letter or two
    assert cli.main(["heads", str(run)]) == 1
    [_, said] = capsys.readouterr().err.splitlines()[-2:]
    assert "storybook's sentences, which this model cannot read" in said and "the model takes 64" in said
    model, tokenizer = tiny.seq2see()
    model.config.language_pairs = [["en", "de"]]
    run = tiny.save(tmp_path / "run", model, tokenizer)
    assert cli.main(["heads", str(run)]) == 1
    assert "English to French, and" in capsys.readouterr().err
    model.config.language_pairs = [["en", "fr"]]
    run = tiny.save(tmp_path / "other", model, tokenizer)
    for out, told in ((tmp_path / "no" / "x.json", "does not exist"), (tmp_path, "is a folder: give a file name"),
                      (Path("/proc/x.json"), "cannot be written")):
        assert cli.main(["heads", str(run), "--json", str(out)]) == 2
        assert told in capsys.readouterr().err
