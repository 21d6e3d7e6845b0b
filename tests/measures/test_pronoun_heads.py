"""What each head does for the pronoun: gold data that is true, and a report of it, on a small untrained model."""

import json
import re
from itertools import combinations, pairwise

import pytest
import tiny
import torch

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from seq2see.errors import UserError
from seq2see.lens import trace_texts
from seq2see.lens.data.summary import mean_spread, spread
from seq2see.lens.records.intervals import share_interval
from seq2see.lens.records.roles import read_roles
from seq2see.measures import gold, pronoun_heads
from seq2see.measures.head_roles import reach
from seq2see.passes.hooks import Head
from seq2see.tokenizer import train_tokenizer
from seq2see.tokenizer.words import split_words
from seq2see.training.pairs import Pair
from seq2see.translate.loaded_checkpoint import fingerprint

FIGURE = r"(-?[\d.]+)%? \[(-?[\d.]+)%?, (-?[\d.]+)%?\]"  # a value and its interval


@pytest.fixture
def story(short_stories):
    return short_stories


def left_out(*_, **__):
    raise UserError("not here")


@pytest.fixture
def quick(story, monkeypatch):
    monkeypatch.setattr("seq2see.measures.aligner.generate", lambda seed: story)
    monkeypatch.setattr("seq2see.measures.held_out_pairs.load_split", lambda *_: [
        Pair(one.source, one.target, "en", "fr") for one in story.test[:400]])
    monkeypatch.setattr("seq2see.measures.measure.fit_to_stories", left_out)
    monkeypatch.setattr("seq2see.measures.measure.measure_on_stories", left_out)
    monkeypatch.setattr("seq2see.measures.pronoun_heads.TRANSLATED", 4)
    monkeypatch.setattr("seq2see.measures.pronoun_heads.LARGEST", 1)


def contrast(story):
    return [one for one in story.test if one.kind == "contrast"]


def test_halves_share_no_variant_of_a_sentence(story):
    dev, test = gold.in_halves(story.test)
    keys = [{one.contrast_key for one in part} - {None} for part in (dev, test)]
    assert keys[0] and keys[1] and not keys[0] & keys[1]
    assert min(len(dev), len(test)) >= 300
    assert not {one.source for one in dev} & {one.source for one in test}
    assert gold.in_halves(story.test, 60) == (dev[:60], test[:60])


def test_gold_is_what_storybook_says(story):
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


def test_an_adjective_that_describes_two_nouns_goes_with_both(story):
    """The combinations are a set: a dictionary from adjective to noun would keep one, whichever came last."""
    seen = 0
    for one in story.test:
        words = [word.text for word in split_words(one.source, language="en")]
        described = [combination[1:] for combination in one.combinations if combination[0] == "describes"]
        found = [(at, at + 1) for at, two in enumerate(pairwise(words)) if two in described]
        assert set(found) <= set(gold.to_gold(one).adjectives)
        seen += len(found) > len({words[at] for at, _ in found})
    assert seen


def test_a_choice_is_between_the_two_pronouns(story):
    model, tokenizer = tiny.seq2see()
    stories = contrast(story)[:40]
    made = [gold.pronoun_choice(one, model, tokenizer) for one in stories]
    assert {name for name, _ in made} == {"il", "elle"}
    for one, (name, choice) in zip(stories, made, strict=True):
        right = tokenizer.encode_target(one.target, language="fr")
        assert right[: len(choice.prefix_ids) + 1] == [*choice.prefix_ids, choice.right]
        rest = one.target[len(tokenizer.decode_text(choice.prefix_ids)):].strip().casefold()
        assert rest.startswith(name) or tokenizer.decode_text(choice.prefix_ids)[-1] in "ile"


def test_minimal_pairs_are_variants_of_equal_length(story):
    stories = contrast(story)
    model, tokenizer = tiny.seq2see()
    choices = [gold.pronoun_choice(one, model, tokenizer)[1] for one in stories]
    pairs = gold.minimal_pairs(stories, choices)
    assert len(pairs) > 50 and {(b, a) for a, b in pairs} == set(pairs)
    for a, b in pairs:
        assert stories[a].contrast_key == stories[b].contrast_key
        assert (choices[a].right, choices[a].wrong) == (choices[b].wrong, choices[b].right)
        assert len(choices[a].source_ids) == len(choices[b].source_ids)


@pytest.mark.parametrize(("chosen", "alike", "overlapping", "possible"), [
    ([(0, 0)], "layers", False, 3),  # the other three of its layer
    ([(0, 0), (0, 1)], "layers", True, 5),  # one set is left without them; six pairs but itself
    ([(0, 0), (0, 1), (0, 2)], "layers", True, 3),  # none is left without them
    ([(0, 0), (1, 1)], "layers", True, 15),  # nine without them are too few for p
    ([(0, 0), (0, 1)], "kinds", True, 27),  # 15 without them
    ([(0, 0), (1, 1)], "any", False, 91),  # of the 14 others
])
@pytest.mark.parametrize("draws", [200, 10])
def test_a_control_tries_every_other_set_where_they_are_few(chosen, alike, overlapping, possible, draws):
    """And where they are many, a sample without repeats and without the chosen one."""
    heads = [Head(kind, layer, head) for kind in ("cross", "decoder") for layer in range(2) for head in range(4)]
    chosen, tried = [Head("cross", *one) for one in chosen], []

    def effect(some):
        tried.append(some)
        return len(set(some) & set(chosen)) + sum(one.head for one in some) / 100

    found = pronoun_heads.control(chosen, heads, effect, lambda sets: (0.0, 1.0), alike=alike, draws=draws)
    *sets, itself = tried
    like = {"layers": lambda one: (one.kind, one.layer), "kinds": lambda one: one.kind, "any": lambda one: 0}[alike]
    every = [one for one in combinations(sorted(heads), len(chosen))
             if sorted(map(like, one)) == sorted(map(like, chosen)) and one != itself]
    apart = [one for one in every if not set(one) & set(chosen)]
    assert itself == tuple(sorted(chosen)) and len(set(sets)) == len(sets) == found.draws == min(possible, draws)
    assert set(sets) <= set(every if overlapping else apart)
    assert (found.possible, found.overlapping, found.exact) == (possible, overlapping, possible <= draws)
    as_large = sum(effect(one) >= effect(itself) - 1e-12 for one in sets)
    assert found.p == pytest.approx((1 + as_large) / (1 + len(sets))) and found.mean.value == pytest.approx(
        sum(map(effect, sets)) / len(sets))
    assert (found.p_ends is None) == found.exact and (found.exact or found.p_ends[0] <= found.p <= found.p_ends[1])


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 10), (10, 10), (1, 200), (57, 200)])
def test_the_interval_of_a_share_is_where_the_score_test_rejects(count, total):
    """(p - share)^2 = z^2 share (1 - share) / n at both ends."""
    for end in share_interval(count, total):
        assert (count / total - end) ** 2 == pytest.approx(1.96**2 * end * (1 - end) / total, abs=1e-12)


def test_the_report_names_every_head_and_says_whether_a_few_carry_the_pronoun(quick, story, tmp_path, command):
    texts = [text for one in story.test for text in (one.source, one.target)]
    tokenizer = train_tokenizer(texts, vocab_size=900, languages=["fr"])
    torch.manual_seed(0)  # with other weights it may never say *il*, and then no head can turn it
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, language_pairs=[["en", "fr"]],
        supervised_heads=[[0, 1]],
    ))
    model.generation_config.max_length = 12
    model.generation_config.forced_bos_token_id = tokenizer.tag_id("fr")
    run = tiny.save(tmp_path / "run", tiny.spread_out(model), tokenizer)
    file = run / "heads.json"
    code, out, err = command("measure", run, "--data", "storybook", "--sentences", 60)
    assert code == 0 and f"\nwrote {file} after 0:00:" in out
    assert err.splitlines() == [f"not measured: {name} (not here)" for name in ("word links", "faithfulness")]
    out = out.partition("# head roles")[2]
    report = json.loads(file.read_text("utf-8"))
    assert len(report["heads"]) == 6 == len({tuple(row["head"]) for row in report["heads"]})
    assert report["pronouns"] == {side: sum(one.kind == "contrast" for one in half) for side, half in zip(
        ("dev", "test"), gold.in_halves(story.test, 60), strict=True)}, "in other sentences a single word may decide"
    drops = [row["drop"][0] for row in report["heads"]]
    assert drops == sorted(drops, reverse=True)
    for row in report["heads"]:
        name = "{} {}.{}".format(*row["head"])
        [without, patched, far] = [line for line in out.splitlines() if line.startswith(f"  {name} ")]
        assert "{:.1f} [{:.1f}, {:.1f}]".format(*row["chrf"]) in without
        assert "{:.0%} [{:.0%}, {:.0%}]".format(*row["right"]["elle"]) in without
        assert "{:.0%} [{:.0%}, {:.0%}]".format(*row["turned"]["il"]) in patched
        [own] = [one for one in report["reach"] if [one["kind"], one["layer"], one["head"]] == row["head"]]
        assert "{:.2f} [{:.2f}, {:.2f}]".format(*own["distance"]) in far
        supervised = row["head"] == ["cross", 0, 1]
        assert row["supervised"] is supervised and ("supervised" in patched) is supervised
    tables = [line for line in out.splitlines() if "[" in line and ":" not in line.partition("[")[0]]
    spared = rf"{FIGURE}|(encoder|decoder|cross) \d\.\d|p \d\.\d+ \(exact: all \d+"
    bare = [line for line in tables if re.search(r"\d\.\d|\d%", re.sub(spared, "", line))]
    assert len(tables) > 40 and not bare, "every figure has its interval; an exact rank needs none"
    for part in ("needed", "enough"):
        assert len(report[part]["set"]) == 1
        assert [one["draws"] for one in report[part]["controls"]] == [1, 1, 5], "all other heads, each once"
    assert not report["needed"]["holds"], "the whole model knows nothing of pronouns"
    assert "No head is needed: the whole model hardly separates il and elle" in out
    assert all(float(low) <= float(value) <= float(high) for value, low, high in re.findall(FIGURE, out))
    rows = [line for line in out.partition("The best head of each role")[2].splitlines() if re.search(FIGURE, line)]
    assert len(rows) == len(report["roles"]) + len(report["reach"]) == len(report["roles"]) + 9
    for one in report["roles"]:
        name = re.escape("{} {}.{}".format(*one["head"]))
        [line] = [row for row in rows if re.match(rf"  {re.escape(one['role'])} +{name} ", row)]
        assert one["supervised"] is line.endswith(", supervised") is (one["head"] == ["cross", 0, 1])
    badges = read_roles(file, weights=fingerprint(run))
    held = {tuple(row["head"]): len(row["roles"]) for row in report["heads"] if row["roles"]}
    assert {tuple(head): len(roles) for head, roles in badges.items()} == held
    assert all(role.supervised is (head == ("cross", 0, 1)) for head, roles in badges.items() for role in roles)


def test_how_far_heads_look_has_an_interval_over_sentences():
    """It holds the mean; variants of a sentence tell no more than one."""
    texts = ["The cat.", "The cat saw. The box.", "It was a big box. It was.", "A cat did not cross the box."] * 8
    model, tokenizer = tiny.seq2see()
    traces = trace_texts(model, tokenizer, texts, texts[::-1], source_language="en", target_language="fr")
    names = [f"{number}" for number in range(len(texts))]
    each = [spread(trace, "cross") for trace in traces]
    once = reach(each, names)
    means, variants = mean_spread(each), reach(each * 4, names * 4)
    assert means.across is not None
    for row, same in zip(once, variants, strict=True):
        at = row["layer"], slice(None) if row["head"] is None else row["head"]
        for name in ("distance", "entropy", "evenness", "across"):
            value, low, high = row[name]
            assert low < value < high and value == pytest.approx(getattr(means, name)[at].mean())
            assert same[name] == pytest.approx(row[name])
        assert row["across_even"].value == pytest.approx(means.across_even)
    assert {row["across"] for row in reach(each[:1], names[:1])} == {None}, "one sentence has no other"


def t5(folder):
    tokenizer = tiny.foreign_tokenizer(tiny.SENTENCES, tokens=900)
    return tiny.save(folder, tiny.foreign_model("t5", vocab_size=len(tokenizer)), tokenizer)


@pytest.mark.parametrize("make", [t5, tiny.nllb])
@pytest.mark.long
def test_heads_of_any_encoder_decoder(make, quick, story, tmp_path, monkeypatch, command):
    """The model's own codes, or none, for English and French."""
    monkeypatch.setattr(tiny, "SENTENCES", [text for one in story.test for text in (one.source, one.target)])
    (tmp_path / "model").mkdir()
    run = make(tmp_path / "model")
    config = json.loads((run / "config.json").read_text("utf-8"))
    code, _, err = command("measure", run, "--data", "storybook", "--sentences", 50, "--from", "en", "--to", "fr")
    assert code == 0 and "head roles" not in err
    report = json.loads((run / "heads.json").read_text("utf-8"))
    layers = config.get("encoder_layers") or config["num_layers"]
    assert {tuple(row["head"]) for row in report["heads"]} == {
        (part, layer, head) for part in ("encoder", "decoder", "cross") for layer in range(layers) for head in range(2)}
    assert report["pairs"] and report["needed"]["set"]
