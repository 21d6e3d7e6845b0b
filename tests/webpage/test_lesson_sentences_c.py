"""The sentences of lessons 13 to 18 that are made from numbers, decided by `independent.py` from their plain reading,
or by numpy from the record where small models were trained: the live one at several settings of the control, and the
one after the question, with the option marked as right.  They are read as the scripts draw them in Node; in long runs
also on the server's page and in the file.
"""

import gzip
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from independent import Network

from seq2see.folders import packaged_lessons
from seq2see.pretrained import HOME
from .test_truth import within

pytestmark = pytest.mark.timeout(300)
RESULT = {one["name"]: SimpleNamespace(**one["result"]) for one in json.loads(gzip.decompress(packaged_lessons()))[
    "lessons"]}
PART = r"((?:over |under )?[\d.]+%)"  # a share or a chance
NUMBER = r"(−?\d[\d,]*(?:\.\d+)?)"


class Positioned(Network):
    """The independent network, with or without positions."""

    positions = True

    def embed(self, ids):
        with_them = super().embed(ids)
        return with_them if self.positions else self.embeddings[torch.tensor(ids)] * self.config["d_model"] ** 0.5

    def chances(self, text, translation, *, positions):
        """[T,V]: as the page shows them."""
        self.positions, self.encoded = positions, {}
        logits = self.logits(self.states(self.source_ids(text), self.target_ids(translation, "fr")))
        self.positions = True
        return self.shown(logits, "fr")


@pytest.fixture(scope="module")
def net():
    return Positioned(HOME / "storybook")


@pytest.fixture
def opened(read_lesson):
    """Opens a lesson by its number and answers its question with the option marked as right, which is kept."""

    def open_one(number):
        lesson = read_lesson(number)
        lesson.because = lesson.guess(0)
        lesson.right = int(lesson.place.locator("[data-right]").get_attribute("data-guess"))
        return lesson

    return open_one


def number(said):
    return float(said.replace("−", "-").replace(",", ""))


def near(said, value):
    """Whether a number, as the page writes it, is this one, to half of its last digit."""
    digits = len(said.partition(".")[2])
    return abs(number(said) - value) <= 0.5 * 10**-digits + 2e-3 * abs(value) + 1e-9


def is_share(said, value):
    return abs(float(said.rstrip("%")) / 100 - value) <= 0.0051 + 1e-3


def all_near(pattern, said, *values):
    found = re.search(pattern, said)
    assert found, f"{said!r} is not {pattern!r}"
    assert len(found.groups()) == len(values)
    for one, value in zip(found.groups(), values, strict=True):
        assert (within if "%" in one else near)(one, value), (said, one, value)


# --- 13 Positions

ORDERS = ("The goat chased the wolf.", "The wolf chased the goat.")
CHASED = "La chèvre a poursuivi le loup."


def test_positions(net, opened):
    chances = {on: [net.chances(one, CHASED, positions=on) for one in ORDERS] for on in (True, False)}
    ids = net.target_ids(CHASED, "fr")
    t = [net.decode([one]).strip() for one in ids].index("chèvre")
    of = {on: [float(one[t, ids[t]]) for one in both] for on, both in chances.items()}
    apart = {on: max(abs(float(a - b)) for a, b in zip(*(one[range(len(ids)), ids] for one in both), strict=True))
             for on, both in chances.items()}
    assert apart[True] > 0.5 and apart[False] < 1e-9, "attention without positions sees a set"
    lesson = opened(13)
    both = f"from {PART} to {PART}"
    all_near(rf"{both}\. Without positions, it goes {both}\.", lesson.because, *of[True], *of[False])
    assert lesson.right == 2
    said = lesson.set("on", True)
    all_near(f"chèvre goes from {PART} to {PART}, and", said, *of[True])
    instead = net.decode([int(chances[True][1][t].argmax())]).strip()
    assert f"the model writes {instead}." in said
    for _ in range(2):  # there and back
        all_near(rf"changes no chance\. chèvre has {PART} either way", lesson.set("on", False), of[False][0])
        assert "changes the translation" in lesson.set("on", True)
    bars = list(filter(None, lesson.place.locator("svg text.figure").all_text_contents()))
    expected = [float(one[i, id]) for i, id in list(enumerate(ids))[1:-2] for one in chances[True]]
    assert len(bars) == len(expected) and all(map(within, bars, expected))


# --- 14 Similarity


def test_similarity(net, opened):
    ids = net.tokenizer.encode("cat").ids[:-1]
    cat = net.embeddings[ids].mean(0)
    lesson = opened(14)
    names = lesson.place.locator("svg text").all_text_contents()
    still, moved = (net.embeddings[net.tokenizer.encode(one).ids[:-1]].mean(0)
                    for one in (names[names.index("cat") + 1], names[names.index("cat") + 2]))
    still_name, moved_name = names[names.index("cat") + 1 : names.index("cat") + 3]

    def cosine(one, other):
        return float(one @ other / one.norm() / other.norm())

    ranked = (net.embeddings @ cat / net.embeddings.norm(dim=1)).argsort(descending=True).tolist()
    ranked = [id for id in ranked if id not in ids][:4]
    assert [net.decode([ranked[i]]).strip() for i in (0, 3)] == [still_name, moved_name], "first and fourth neighbour"
    dot = float(cat @ moved)
    all_near(rf"is {NUMBER} before and {NUMBER} after\. The dot product goes from {NUMBER} to {NUMBER}\.",
             lesson.because, cosine(cat, moved), cosine(cat, 2 * moved), dot, 2 * dot)
    assert lesson.right == 1
    for times in (0.5, 1, 1.25, 2.75, 3):
        said = lesson.slide("times", times)
        all_near(rf"{moved_name} is {NUMBER} times as long\. Its dot product with cat is {NUMBER} \(before: "
                 rf"{NUMBER}\)\. Its cosine is {NUMBER}\.", said, times, times * dot, dot, cosine(cat, times * moved))
        by_dot, by_cosine = (still_name if a >= b else moved_name for a, b in (
            (float(cat @ still), times * dot), (cosine(cat, still), cosine(cat, moved))))
        assert said.endswith(f"By the dot product, {by_dot} is more like cat. By the cosine, {by_cosine} is more "
                             f"like it.")


# --- 15 A worked example

STEPS = ("query", "products", "scale", "mask", "softmax", "sum")
INPUTS = ["start", "to French", "Le", "chat", "n'", "a", "pas"]


def head_row(query, keys, values, row):
    """One row of a head in numpy, in float64: products, scaled, which are seen, shares, sum."""
    products = keys @ query
    scaled = products / len(query) ** 0.5
    seen = np.arange(len(keys)) <= row
    powers = np.where(seen, np.exp(scaled - scaled[seen].max()), 0)
    shares = powers / powers.sum()
    return SimpleNamespace(query=query, products=products, scaled=scaled, seen=seen, shares=shares, sum=shares @ values)


def by_hand(row):
    result = RESULT["l15_worked_example"]
    x, (w_q, w_k, w_v) = np.array(result.embedding), map(np.array, result.matrices)
    return head_row((x @ w_q)[row], x @ w_k, x @ w_v, row)


def in_the_model(net, row):
    x = net.embed([net.generation["decoder_start_token_id"], *net.target_ids("Le chat n'a pas", "fr")[:-1]])
    normed = net.norm("model.decoder.layers.0.self_attn_layer_norm", x)
    size = net.config["d_model"] // net.config["decoder_attention_heads"]
    query, keys, values = (net.project(f"model.decoder.layers.0.self_attn.{part}", normed)[:, size : 2 * size].numpy()
                           for part in ("q_proj", "k_proj", "v_proj"))
    return head_row(query[row], keys, values, row)


@pytest.mark.parametrize("chosen", [
    "hand-3", "model-4", *(pytest.param(one, marks=pytest.mark.long) for one in (
        "hand-0", "hand-2", "model-2", "model-6"))])
def test_a_worked_example(net, opened, chosen):
    where, row = chosen.split("-")
    row, hand = int(row), where == "hand"
    words = RESULT["l15_worked_example"].words if hand else INPUTS
    true = by_hand(row) if hand else in_the_model(net, row)
    best, size, word = int(true.shares.argmax()), len(true.query), words[row]
    lesson = opened(15)
    brown = by_hand(2)
    most = int(brown.products.argmax())
    assert RESULT["l15_worked_example"].words[most] == "fox", "as the question says"
    assert lesson.right == int(brown.shares.argmax()) != most and not brown.seen[most]
    all_near(rf"has the largest product, {NUMBER}\. .* its share is {PART}\..*gets {PART}\.", lesson.because,
             brown.products.max(), brown.shares[most], brown.shares.max())
    lesson.set("row", chosen)
    said = {name: lesson.slide("step", i) for i, name in enumerate(STEPS)}
    numbers = ", ".join([NUMBER] * size)
    if hand:
        all_near(f"{word} asks with the 5 numbers of its query: {numbers}", said["query"], *true.query)
        terms = re.findall(rf"{NUMBER} × {NUMBER}", said["products"])
        assert sum(number(a) * number(b) for a, b in terms) == pytest.approx(true.products[best]) and len(terms) == size
        all_near(rf"The output for {word} is {numbers}\.", said["sum"], *true.sum)
    else:
        assert said["query"].startswith(f"{word} asks with the 32 numbers")
        all_near(f"The output for {word} has 32 numbers, and the first is {NUMBER}", said["sum"], true.sum[0])
    assert said["products"].startswith(f"{word} with {words[best]}: ")
    all_near(f"(?:=|is) {NUMBER}\\.$", said["products"], true.products[best])
    all_near(rf"√{size} = {NUMBER}\. The product with {words[best]} goes from {NUMBER} to {NUMBER}\.", said["scale"],
             size**0.5,
             true.products[best], true.scaled[best])
    later = words[row + 1 :]
    assert said["mask"] == (f"{len(later)} word{'s come' if len(later) > 1 else ' comes'} after {word} and "
                            f"{'are' if len(later) > 1 else 'is'} masked: {', '.join(later)}." if later else
                            f"No word comes after {word}, so 0 are masked.")
    all_near(rf"{words[best]} gets {PART}, and all shares together are {PART}\.", said["softmax"], true.shares[best], 1)
    shown = lesson.place.locator("svg text.figure").all_text_contents()
    shares = [one for one in shown if one.endswith("%")]
    assert len(shares) == len(words) and all(map(is_share, shares, true.shares))


# --- 16 What recurrent networks forget


def test_recurrence(opened):
    result = RESULT["l16_recurrence"]
    first = {name: [one[0] for one in of] for name, of in result.profile.items()}
    for name, of in result.influence.items():
        assert first[name] == pytest.approx(np.mean(of, axis=0), rel=1e-4), "as the claims have it"
    lesson = opened(16)
    names = ("elman", "gru", "transformer")
    assert lesson.right == (2 if first["elman"][-1] < 0.25 * first["elman"][0] else None)
    ends = [first[name][at] for name in names for at in (0, -1)]
    both = f"from {NUMBER} to {NUMBER}"
    all_near(rf"grows from {NUMBER} to {NUMBER} tokens\. In the plain network, the share of the first token goes "
             rf"{both}\. In "
             rf"the gated network, it goes {both}\. In the Transformer, it goes {both}\.", lesson.because,
             result.lengths[0], result.lengths[-1], *ends)
    for at in (0, 2, len(result.lengths) - 1):
        all_near(rf"The text has {NUMBER} tokens\. The share of the first token is {NUMBER} in the plain network\. "
                 rf"It is "
                 rf"{NUMBER} in the gated network and {NUMBER} in the Transformer\.", lesson.slide("at", at),
                 result.lengths[at],
                 *(first[name][at] for name in names))
        bars = lesson.place.locator("svg rect")
        assert bars.count() == len(first) * result.lengths[at]
        drawn = [float(one.get_attribute("height")) for one in bars.all()]
        shares = [min(one, 2) for of in result.profile.values() for one in of[at]]
        full = max(drawn)  # two fair shares, which the last token has
        assert np.allclose(np.maximum(np.array(shares) / 2 * full, 1), drawn, atol=0.1)


# --- 17 General and task-specific meaning


def test_meaning(opened):
    result = RESULT["l17_meaning"]
    path, last = result.path, len(result.steps) - 1
    for key in ("plain", "learnt"):
        assert path[key]["idiom"][0] == pytest.approx(result.idiom[key]["before"])
        assert path[key]["cake"][-1] == pytest.approx(result.cake[key]["after"])
    lesson = opened(17)
    after = path["plain"]["idiom"][last]
    assert lesson.right == (2 if after >= 0.8 else 0 if after <= 0.2 else 1)
    all_near(rf"translates {PART} of unseen idioms as the idiom\. After {NUMBER} steps, it translates {PART}\. .* it "
             rf"is {PART}",
             lesson.because, path["plain"]["idiom"][0], result.steps[last], after, path["learnt"]["idiom"][last])
    for at in (0, 1, 2, last):
        said = lesson.slide("at", at)
        values = [path[key][what][at] for what in ("idiom", "cake") for key in ("plain", "learnt")]
        found = re.findall(PART, said)
        assert len(found) == 4 and all(map(is_share, found, values)), said
        assert said.startswith(f"After {result.steps[at]} steps of fine-tuning" if at else "Before fine-tuning")
        assert all(result.said[key][at][0] in lesson.place.locator("svg").text_content() for key in ("plain", "learnt"))


# --- 18 Overfitting


def test_overfitting(opened):
    result = RESULT["l18_overfitting"]
    seen, unseen = (np.mean(result.curves[name]["few"], axis=0) for name in ("seen", "unseen"))
    stop, last = int(unseen.argmin()), len(result.steps) - 1
    lesson = opened(18)
    assert lesson.right == (0 if stop == last else 1 if stop else 2)
    all_near(rf"is {NUMBER} after {NUMBER} steps\. It is lowest after {NUMBER} steps \({NUMBER}\)\. After {NUMBER} "
             rf"steps, it is "
             rf"{NUMBER}\. On the {NUMBER} training sentences, it falls from {NUMBER} to {NUMBER}\.", lesson.because,
             unseen[0],
             result.steps[0], result.steps[stop], unseen[stop], result.steps[-1], unseen[-1], result.pairs["few"],
             seen[0], seen[-1])
    lows = [(np.mean(result.curves["unseen"][name], axis=0).argmin(), result.pairs[name])
            for name in ("few", "some", "all")]
    all_near(", ".join([rf"after {NUMBER} steps with {NUMBER} sentences"] * 3),
             lesson.place.locator(".short").inner_text(), *(one for low, count in lows for one in
                                                            (result.steps[low], count)))
    for at in (0, stop, last):
        said = lesson.slide("at", at)
        all_near(rf"After {NUMBER} steps on {NUMBER} sentences, the loss is {NUMBER} on them and {NUMBER} on unseen "
                 r"sentences\.", said, result.steps[at], result.pairs["few"], seen[at], unseen[at])
        so_far = int(unseen[: at + 1].argmin())
        if so_far == at:
            assert said.endswith("the lowest so far: go on.")
        else:
            all_near(rf"it was lowest after {NUMBER} steps \({NUMBER}\): stop there\.", said, result.steps[so_far],
                     unseen[so_far])
    titles = lesson.place.locator("svg text.bold").all_text_contents()
    assert titles == [f"{result.pairs[name]:,} sentences" for name in ("few", "some", "all")]
