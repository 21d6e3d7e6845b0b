"""Roles: a head made for a role has it, one that only seems to is found out by its baselines; figures by hand."""

import json
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from seq2see.lens import trace_texts
from seq2see.lens.data.summary import sentence_numbers, spread
from seq2see.lens.data.word_maps import Unit
from seq2see.lens.heads.role_masks import rival_mask, role_masks
from seq2see.lens.heads.role_scores import heads_of_roles, measure, role_score, roles_of_heads
from seq2see.lens.records.intervals import roc_auc, roc_auc_interval
from seq2see.lens.records.roles import GoldPair, GoldPronoun, HeadRole, read_roles
from seq2see.measures.pronoun_heads import control, greedy
from seq2see.passes.hooks import Head
from seq2see.tokenizer.words import split_words

MADE = ["previous", "uniform", "antecedent", "both nouns", "third word", "punctuation"]


def gold_pairs(count, *, seed):
    """*The big cat saw the box because it was wide*: adjectives come and go, and either noun is meant."""
    rng, pairs = Random(seed), []
    for number in range(count):
        looks = [rng.choice(["", "tired ", "wide ", "too wide "]) for _ in range(2)]
        source = f"The {looks[0]}cat did cross the {looks[1]}box because it was big."
        target = f"Le chat {looks[0]}a traversé la boîte {looks[1]}parce qu'il était grand."
        words = [word.text for word in split_words(source, language="en")]
        written = [word.text for word in split_words(target, language="fr")]
        nouns = [words.index("cat"), words.index("box")]
        links = ((nouns[0], written.index("chat")), (nouns[1], written.index("boîte")),
                 (words.index("it"), written.index("il")), (words.index("big"), written.index("grand")))
        meant = rng.randrange(2)
        pronoun = GoldPronoun(words.index("it"), nouns[meant], written.index("il"), (nouns[1 - meant],))
        pairs.append(GoldPair(source, target, links, (pronoun,), actions=(words.index("cross"),),
                              states=(words.index("big"),), group=f"{number // 2}"))
    return pairs


def made_heads(trace, gold):
    """Encoder maps [1,6,S,S] of heads that do what MADE says."""
    S, word_of = len(trace.source), [token.word for token in trace.source]
    maps = np.full((1, len(MADE), S, S), 1 / S, dtype=np.float32)

    def send(head, rows, *words):
        """Look at these words alike, however many tokens they have."""
        maps[0, head, rows] = 0
        for word in words:
            seen = [i for i in range(S) if word_of[i] == word]
            maps[0, head, np.ix_(rows, seen)[0], np.ix_(rows, seen)[1]] = 1 / len(seen) / len(words)

    pronoun = gold.pronouns[0]
    looking = [i for i in range(S) if word_of[i] == pronoun.source]
    for i in range(1, S):
        own = word_of[i] if word_of[i] is not None else word_of[i - 1] + 1
        send(0, [i], max(own - 1, 0))
    send(2, looking, pronoun.antecedent)
    send(3, looking, pronoun.antecedent, *pronoun.rivals)
    send(4, looking, 2)
    send(5, list(range(S)), word_of[-2])
    return maps


@pytest.fixture(scope="module")
def measured(seq2see):
    model, tokenizer = seq2see
    halves = []
    for seed in (1, 2):
        gold = gold_pairs(40, seed=seed)
        traces = trace_texts(model, tokenizer, [one.source for one in gold], [one.target for one in gold],
                             source_language="en", target_language="fr")
        both = zip(traces, gold, strict=True)
        made = [replace(trace, encoder={"raw": made_heads(trace, one)}) for trace, one in both]
        halves.append(measure(made, gold, supervised={(0, 1)}))
    return halves


def test_the_head_made_for_a_role_is_found_and_has_it(measured):
    best = {(one.head.kind, one.role): one for one in heads_of_roles(*measured)}
    for role, head in (("previous", 0), ("antecedent", 2), ("punctuation", 5)):
        found = best["encoder", role]
        assert (found.head, found.holds) == (Head("encoder", 0, head), True), role
        assert found.score == pytest.approx(1, abs=0.1) and found.low <= found.score <= found.high
    assert [one.role for one in roles_of_heads(*measured)[Head("encoder", 0, 2)]] == ["antecedent"]
    assert roles_of_heads(*measured)[Head("encoder", 0, 1)] == []
    for place, decidable in ((0.85, True), (0.9, False)):
        assert replace(best["encoder", "antecedent"], positional=place).decidable is decidable
    for head in ((0, 0), (0, 1)):
        found = role_score(Head("cross", *head), "alignment", *measured)
        assert ("supervised: trained with gold links" in found.supervision) is found.supervised is (head == (0, 1))


def test_a_head_that_only_seems_to_have_a_role_is_no_better_than_its_baseline(measured):
    """A uniform head, one that looks at all nouns alike, and one that always looks at the same place."""
    dev, test = measured
    for (kind, role), found in test.items():
        if kind == "encoder":
            np.testing.assert_allclose(found.scores[:, 0, 1], found.uniform, atol=1e-6, err_msg=role)
            assert not role_score(Head("encoder", 0, 1), role, dev, test).holds
    nouns, place = (role_score(Head("encoder", 0, head), "antecedent", dev, test) for head in (3, 4))
    assert nouns.score == nouns.rival == pytest.approx(0.5) and nouns.score > nouns.uniform and not nouns.holds
    assert place.uniform < place.score <= place.positional + 1e-9 < 0.6 and not place.holds


def test_every_baseline_has_an_interval_over_sentences(measured):
    """It holds the baseline; variants of a sentence tell no more than one."""
    dev, test = measured
    once = test["encoder", "antecedent"]
    twice = test | {("encoder", "antecedent"): replace(once, groups=once.groups * 2, places=once.places * 2, **{
        part: np.concatenate([getattr(once, part)] * 2) for part in ("scores", "rivals", "uniform")})}
    once, variants = (role_score(Head("encoder", 0, 3), "antecedent", dev, half) for half in (test, twice))
    assert variants.intervals == {name: pytest.approx(ends) for name, ends in once.intervals.items()}
    assert set(once.baselines) == {"uniform", "positional", "rival"}
    for name, (value, low, high) in once.baselines.items():
        assert low - 1e-9 <= value <= high + 1e-9 and value == getattr(once, name)
    assert once.baselines["uniform"][1] < once.baselines["uniform"][2]


def cells(mask):
    return {(int(r), int(c)) for r, c in np.argwhere(mask)}


def test_masks_are_the_cells_that_the_roles_name():
    """*it saw a cat .* and *il a vu un chat .* by hand; the pronoun stands for the cat, the rival is *saw*."""
    source = tuple(Unit(text, (i,), i, False) for i, text in enumerate(["it", "saw", "a", "cat", "a"]))
    source = (*source, Unit("</s>", (5,), None, True))
    words = [Unit(text, (i,), i - 1, False) for i, text in enumerate(["<2fr>", "il", "a", "vu", "chat"])]
    target = (replace(words[0], word=None, special=True), *words[1:], Unit("</s>", (5,), None, True))
    inputs = (Unit("<s>", (0,), None, True), *(replace(unit, pieces=(i + 1,)) for i, unit in enumerate(target[:-1])))
    gold = GoldPair("", "", ((0, 0), (1, 1), (1, 2), (3, 3)), (GoldPronoun(0, 3, 0, (1,)),), (1,), (), ((2, 3),))
    everything = np.ones((6, 6), dtype=bool)
    masks = role_masks("encoder", source, source, gold, visible=everything)
    assert cells(masks["previous"]) == {(i + 1, i) for i in range(5)} and "alignment" not in masks
    assert cells(masks["same word"]) == {(2, 4), (4, 2)}
    assert (cells(masks["antecedent"]), cells(masks["action"])) == ({(0, 3)}, {(0, 1)}) and "state" not in masks
    assert cells(masks["adjective to noun"]) == {(2, 3)} and cells(masks["noun to adjective"]) == {(3, 2)}
    assert cells(rival_mask("encoder", source, source, gold, visible=everything)) == {(0, 1)}
    masks = role_masks("cross", target, source, gold, visible=everything)
    assert cells(masks["alignment"]) == {(1, 0), (2, 1), (3, 1), (4, 3)}
    assert cells(masks["alignment, read"]) == {(2, 0), (3, 1), (4, 1), (5, 3)}
    assert cells(masks["antecedent"]) == {(1, 3)} and cells(masks["same word"]) == {(2, 2), (2, 4)}
    assert cells(masks["end"]) == {(r, 5) for r in range(6)} and "previous" not in masks
    causal = np.tril(everything)
    masks = role_masks("decoder", target, inputs, gold, visible=causal)
    assert cells(masks["same"]) == {(i, i) for i in range(6)} and cells(masks["first"]) == {(i, 0) for i in range(6)}
    assert "antecedent" not in masks, "the cat is not written yet when the pronoun is"
    assert cells(masks["action"]) == set() if "action" in masks else True


def test_a_decoders_same_word_is_the_one_just_read():
    """*le le chat*: the step that has read the second *le* may look at the first; what it is to write is not known."""
    words = [Unit(text, (i + 1,), i, False) for i, text in enumerate(["le", "le", "chat"])]
    tag, end = Unit("<2fr>", (0,), None, True), Unit("</s>", (4,), None, True)
    masks = role_masks("decoder", (tag, *words, end), (Unit("<s>", (0,), None, True), tag, *words), GoldPair("", ""),
                       visible=np.tril(np.ones((5, 5), dtype=bool)))
    assert cells(masks["same word"]) == {(3, 2)}


# --- how far and how widely


def test_spread_of_known_maps(seq2see):
    model, tokenizer = seq2see
    [trace] = trace_texts(model, tokenizer, ["The cat. The box. "], ["Le chat. La boîte."], source_language="en",
                          target_language="fr")
    S = len(trace.source)
    maps = np.stack([np.eye(S), np.full((S, S), 1 / S)])[None].astype(np.float32)
    found = spread(replace(trace, encoder={"raw": maps}), "encoder")
    places = np.arange(S)
    even = abs(places[:, None] - places).mean()
    np.testing.assert_allclose(found.distance, [[0, even]], rtol=1e-5)
    np.testing.assert_allclose(found.entropy, [[0, np.log(S)]], atol=1e-5)
    np.testing.assert_allclose(found.evenness, [[0, 1]], atol=1e-5)
    sizes = Counter(sentence_numbers(trace.source, trace.source_words, trace.source_text, language="en"))
    assert sizes[-1] >= 1 and sizes[0] and sizes[1]
    across = 2 * sizes[0] * sizes[1] / (sizes[0] + sizes[1]) / S
    np.testing.assert_allclose(found.across, [[0, across]], rtol=1e-5)
    assert found.across_even == pytest.approx(across), "the second head is even"
    np.testing.assert_allclose(found.own + found.across + found.special, 1, rtol=1e-5)
    R = len(trace.target)
    ratio = trace.maps("cross").shape[:2]
    even_cross = spread(replace(trace, cross={"raw": np.full((*ratio, R, S), 1 / S, dtype=np.float32)}), "cross")
    steps = [abs(places - r * (S - 1) / (R - 1)).mean() for r in range(R)]
    assert R != S
    np.testing.assert_allclose(even_cross.distance, np.full(ratio, np.mean(steps)), rtol=1e-5)
    np.testing.assert_allclose(even_cross.evenness, np.ones(ratio), rtol=1e-5)


def test_a_step_is_in_the_sentence_that_it_writes_and_looks_at_what_was_written_before(seq2see):
    """A head on the diagonal sees the token just read: across where a sentence begins, special at the very first."""
    model, tokenizer = seq2see
    [trace] = trace_texts(model, tokenizer, ["The cat. The box."], ["Le chat. La boîte."], source_language="en",
                          target_language="fr")
    real = sum(token.word is not None for token in trace.target)
    diagonal = np.eye(len(trace.target), dtype=np.float32)[None, None]
    found = spread(replace(trace, decoder={"raw": diagonal}), "decoder")
    shares = [float(share[0, 0]) for share in (found.own, found.across, found.special)]
    assert shares == pytest.approx([(real - 2) / real, 1 / real, 1 / real])


# --- effects


def test_telling_apart_does_not_feel_a_leaning():
    is_il = np.array([True, True, False, False])
    assert roc_auc(np.array([-3.0, -2.0, 5.0, 6.0]), is_il) == 1, "it always says elle, but more so where it should"
    assert roc_auc(np.array([-1.0, -2.0, -1.0, -2.0]), is_il) == 0
    assert roc_auc(np.array([1.0, 1.0, -1.0, -1.0]), is_il) == 0.5


HEADS = [Head("cross", layer, head) for layer in range(3) for head in range(4)] + [Head("encoder", 0, 0)]


def test_greedy_grows_the_best_set():
    worth = {HEADS[3]: 5, HEADS[7]: 2, HEADS[1]: 1}
    sets = greedy(HEADS, 3, lambda chosen: (sum(worth.get(head, 0) for head in chosen),))
    assert sets == [(HEADS[3],), (HEADS[3], HEADS[7]), (HEADS[3], HEADS[7], HEADS[1])]


@pytest.mark.parametrize(("alike", "size", "possible"), [("layers", 1, 3), ("kinds", 1, 11), ("any", 1, 12),
                                                         ("kinds", 3, 84)])
def test_a_control_tries_other_sets_of_the_same_make_all_or_some_at_random(alike, size, possible):
    chosen, tried = tuple(HEADS[5 : 5 + size]), []

    def effect(heads):
        tried.append(heads)
        return float(heads == chosen)

    found = control(chosen, HEADS, effect, lambda sets: (-len(sets), len(sets)), alike=alike, draws=50)
    draws = min(possible, 50)
    assert (found.draws, found.possible, found.exact, found.p) == (draws, possible, draws == possible, 1 / (1 + draws))
    assert (found.effect, found.most, found.mean) == ((1, -1, 1), (0, -1, 1), (0, -draws, draws))
    others = [heads for heads in tried if heads != chosen]
    assert not any(set(heads) & set(chosen) for heads in others) and {len(set(heads)) for heads in others} == {size}
    assert {head.kind for heads in others for head in heads} == {"cross", *(["encoder"] * (alike == "any"))}
    assert alike != "layers" or {head.layer for heads in others for head in heads} == {1}
    assert len(set(others)) == draws or not found.exact and len(set(others)) > 20


def test_an_interval_of_telling_apart_is_over_sentences():
    dice = np.random.default_rng(0)
    is_il = np.arange(200) % 2 == 0
    margins = dice.normal(0.5, 1, 200)
    value, (low, high) = roc_auc(margins, is_il), roc_auc_interval(margins, is_il, [f"{i}" for i in range(200)])
    assert low < value < high
    spread = np.std([roc_auc(np.random.default_rng(seed).normal(0.5, 1, 200), is_il) for seed in range(200)])
    assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.25), "as far as other sentences would have it"
    twice = roc_auc_interval(np.repeat(margins, 2), np.repeat(is_il, 2), [f"{i // 2}" for i in range(400)])
    assert twice == pytest.approx((low, high)), "variants of a sentence count as one"
    names = [f"{i}" for i in range(200)]  # of several sets, the interval of their mean
    assert roc_auc_interval(np.stack([margins] * 3), is_il, names) == pytest.approx((low, high))
    assert roc_auc_interval(np.stack([margins, -margins]), is_il, names) == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize("count", [20, 200])
def test_a_perfect_score_has_an_exact_bound(count):
    """Below 1, and higher the more sentences there are; a corpus that is resampled would stay perfect."""
    is_il, names = np.arange(count) % 2 == 0, [f"{i}" for i in range(count)]
    margins = np.random.default_rng(0).uniform(0.1, 1, count)
    assert roc_auc(margins, is_il) == 1 and roc_auc(-margins, is_il) == 0
    low, high = roc_auc_interval(margins, is_il, names)
    assert high == 1 and low ** (count / 2) == pytest.approx(0.025), "as many pairs, each of sentences of its own"
    assert roc_auc_interval(-margins, is_il, names) == pytest.approx((0, 1 - low))
    both = roc_auc_interval(margins, is_il, [f"{i // 2}" for i in range(count)])
    assert both[0] ** (count / 4) == pytest.approx(0.025), "the two of one group are no independent pair"
    margins[0] = -1  # nearly perfect
    assert roc_auc(margins, is_il) < 1 and roc_auc_interval(margins, is_il, names)[0] <= low, "and no surer"


def test_roles_are_read_for_the_weights_they_were_measured_on(tmp_path):
    path = tmp_path / "heads.json"
    role = {"role": "alignment", "score": 0.8, "low": 0.7, "high": 0.9, "uniform": 0.1, "positional": 0.3,
            "rival": None}
    heads = [{"head": ["cross", 1, 3], "roles": [role]}, {"head": ["encoder", 0, 0], "roles": []}]
    path.write_text(json.dumps({"weights": "abc", "heads": heads}))
    [(head, [role])] = read_roles(path, weights="abc").items()
    assert head == ("cross", 1, 3) and role == HeadRole("alignment", 0.8, 0.7, 0.9, 0.3)
    assert read_roles(path, weights="other") == {}
