"""Every activation, read and replaced, is that of a float64 pass which shares nothing with the lens."""

import copy
import re
from pathlib import Path

import families
import numpy as np
import pytest
import tiny
import torch
import transformers
from independent_pass import Pass

from seq2see.errors import UserError
from seq2see.lens import (
    At,
    Donor,
    Head,
    Mean,
    Noise,
    SteeringVector,
    WordMapping,
    Zero,
    ablate,
    activation_names,
    all_heads,
    attribution_patching,
    encode_target,
    exact_patching,
    intervene,
    mean_outputs,
    path_patch,
    run_with_cache,
    steer,
    trace_hypotheses,
    word_mapping,
)
from seq2see.lens.changes.choices import Choice, margins
from seq2see.passes.forced_pass import eval_mode, forced_pass
from seq2see.passes.hooks import intervened

SOURCE, TARGET = [5, 6, 7, 8, 9, 2], [5, 11, 7, 2]
OTHER_SOURCE, OTHER_TARGET = [5, 6, 31, 8, 9, 2], [5, 12, 7, 2]
READ_ABOVE = [*list(families.CONFIGS)[:10]]  # the families whose heads can be reached
NEAR = {"rtol": 1e-4, "atol": 1e-4}  # float32 beside float64


EACH_SORT = ["Seq2See", "Marian", "T5"]  # one that normalises before its blocks, one that does so after them, and T5


@pytest.fixture(scope="module", params=[*EACH_SORT, *(pytest.param(name, marks=pytest.mark.long)
                                                      for name in READ_ABOVE if name not in EACH_SORT)])
def model(request):
    if request.param in families.CONFIGS:
        return families.made(request.param)
    return tiny.make(request.param.lower())[0]


@pytest.fixture(scope="module", params=EACH_SORT)
def one_of_three(request):
    return families.made("T5") if request.param == "T5" else tiny.make(request.param.lower())[0]


def logits(model, source=SOURCE, target=TARGET):
    with eval_mode(model):
        return forced_pass(model, [source], [target])[0].logits[0].double()


def positions_of(name):
    """The dimension of positions, and that of heads if there are any, without the batch."""
    if "pattern" in name:
        return 1, 0
    return 0, (1 if re.search(r"hook_[qkvz]$", name) else None)


def kept(source=SOURCE, target=TARGET, *, model):
    seen = {}
    Pass(model, source, target).run(lambda name, x: seen.setdefault(name, x))
    return seen


# --- read


def test_what_is_read_is_the_activation(model):
    seen = {}
    expected = Pass(model, SOURCE, TARGET).run(lambda name, x: seen.setdefault(name, x))
    found, cache = run_with_cache(model, [SOURCE], [TARGET])
    torch.testing.assert_close(found[0].double(), expected, **NEAR)
    embeds = {"encoder.hook_embed", "decoder.hook_embed"}
    assert set(activation_names(model)) == set(cache.values) == set(seen) | embeds
    for name, activation in seen.items():
        torch.testing.assert_close(cache[name][0].double(), activation, **NEAR)
    table = model.get_input_embeddings()
    torch.testing.assert_close(cache["encoder.hook_embed"][0], table(torch.tensor(SOURCE)), **NEAR)


def test_names_come_in_the_order_of_the_pass(model):
    order = []
    Pass(model, SOURCE, TARGET).run(lambda name, x: order.append(name) or x)
    assert [name for name in activation_names(model) if "embed" not in name] == order


def test_a_batch_reads_as_each_sentence_alone_and_names_choose(one_of_three):
    short, names = ([9, 2], [8, 2]), ["*.hook_z", "decoder.hook_embed"]
    _, both = run_with_cache(one_of_three, [SOURCE, short[0]], [TARGET, short[1]], names=names)
    _, alone = run_with_cache(one_of_three, [short[0]], [short[1]], names=["*.hook_z"])
    assert set(both.values) == {*alone.values, "decoder.hook_embed"}
    for name, activation in alone.values.items():
        torch.testing.assert_close(both[name][1:, :2], activation, **NEAR)
    with pytest.raises(UserError, match="encoder.0.hook_resid_pre was not read"):
        both["encoder.0.hook_resid_pre"]


# --- replaced


@pytest.mark.few(1)
def test_what_is_replaced_at_a_position_and_in_a_head_is_what_the_rest_goes_on_with(model):
    _, donor = run_with_cache(model, [OTHER_SOURCE], [OTHER_TARGET])
    own, other = kept(model=model), kept(OTHER_SOURCE, OTHER_TARGET, model=model)
    path, plain, moved = Pass(model, SOURCE, TARGET), logits(model), 0
    for name, theirs in other.items():
        dim, heads = positions_of(name)
        place = [slice(None)] * theirs.ndim
        place[dim] = 2 if own[name].shape[dim] > 2 else 0
        if heads is not None:
            place[heads] = 1

        def tap(here, x, name=name, place=tuple(place), theirs=theirs):
            if here != name:
                return x
            x = x.clone()
            x[place] = theirs[place]
            return x

        expected = path.run(tap)
        at = At(name, positions=[place[dim]], heads=None if heads is None else [1])
        with intervene(model, {at: Donor(donor)}):
            found = logits(model)
        torch.testing.assert_close(found, expected, **NEAR)
        moved += bool((found - plain).abs().max() > 1e-3)
    assert moved > len(other) / 2, "the donor is the same: this test would see nothing"


def test_an_embedding_of_nothing_is_a_row_of_zeros(model):
    other = copy.deepcopy(model)
    encoder = other.get_encoder()
    weight = encoder.get_input_embeddings().weight.detach().clone()
    weight[SOURCE[2]] = 0
    encoder.get_input_embeddings().weight = torch.nn.Parameter(weight)
    expected = logits(other)
    with intervene(model, {At("encoder.hook_embed", positions=[2]): Zero()}):
        torch.testing.assert_close(logits(model), expected, **NEAR)
    assert (expected - logits(model)).abs().max() > 1e-3


def test_zero_and_mean_of_a_head_are_its_ablation(one_of_three):
    model, (kind, layer, head) = one_of_three, Head("cross", 1, 1)
    at = At(f"decoder.{layer}.cross_attn.hook_z", heads=[head])
    sources, targets = [SOURCE, OTHER_SOURCE[3:]], [TARGET, OTHER_TARGET[2:]]
    means = mean_outputs(model, sources, targets)
    _, activations = run_with_cache(model, sources, targets, names=[at.name])
    for put, how in ((Zero(), {}), (Mean(activations), {"replace": "mean", "means": means})):
        with ablate(model, [(kind, layer, head)], **how):
            expected = logits(model)
        with intervene(model, {at: put}):
            torch.testing.assert_close(logits(model), expected, **NEAR)
        assert (expected - logits(model)).abs().max() > 1e-4


@pytest.mark.parametrize(("name", "shape"), [
    ("encoder.1.hook_resid_mid", (16,)), ("decoder.0.mlp.hook_post", (32,)), ("decoder.1.attn.hook_v", (8,)),
    ("decoder.1.cross_attn.hook_k", (2, 8)), ("decoder.1.hook_resid_mid_cross", (16,)),
])
def test_a_steering_vector_is_added_with_its_scale_where_asked(one_of_three, name, shape):
    vector = torch.linspace(-1, 1, int(np.prod(shape))).view(shape)
    _, plain = run_with_cache(one_of_three, [SOURCE], [TARGET], names=[name])
    with intervene(one_of_three, {At(name, positions=[1, 3]): SteeringVector(vector, scale=-0.5)}):
        _, steered = run_with_cache(one_of_three, [SOURCE], [TARGET], names=[name])
    expected = plain[name].clone()
    expected[:, [1, 3]] -= 0.5 * vector
    torch.testing.assert_close(steered[name], expected, **NEAR)


def test_noise_has_its_scale_and_its_seed(one_of_three):
    def read(seed=None):
        with intervene(one_of_three, {} if seed is None else {name: Noise(0.1, seed)}):
            return run_with_cache(one_of_three, [SOURCE * 8], [TARGET], names=[name])[1][name]

    name = "encoder.hook_embed"
    noise = read(0) - read()
    assert 0.09 < noise.std() < 0.11 and abs(noise.mean()) < 0.02
    assert torch.equal(read(0), read(0)) and not torch.allclose(read(0), read(1))


def test_changes_at_one_module_hold_together(one_of_three):
    """What a block adds and the stream after it may lie at one module; so may two heads and a position."""
    changes = {At("decoder.0.hook_resid_mid", positions=[1]): Zero(),
               At("decoder.0.hook_attn_out", positions=[1]): SteeringVector(torch.ones(16)),
               At("decoder.0.hook_attn_out", positions=[0]): Zero(),
               At("decoder.0.attn.hook_z", heads=[0]): Zero()}
    _, plain = run_with_cache(one_of_three, [SOURCE], [TARGET])
    with intervene(one_of_three, changes):
        _, found = run_with_cache(one_of_three, [SOURCE], [TARGET])
    assert not found["decoder.0.hook_attn_out"][0, 0].any() and not found["decoder.0.attn.hook_z"][:, :, 0].any()
    torch.testing.assert_close(found["decoder.0.hook_resid_mid"][0, 1], torch.zeros(16), rtol=0, atol=1e-6)
    torch.testing.assert_close(found["decoder.0.hook_resid_mid"][0, 0], plain["decoder.0.hook_resid_pre"][0, 0], **NEAR)
    assert found["decoder.0.hook_resid_mid"][0, 2:].abs().min() > 1e-4


def test_it_holds_in_generate_and_positions_need_all_steps(one_of_three):
    model, ids = one_of_three, torch.tensor([SOURCE])
    with ablate(model, [("cross", 1, 0), ("encoder", 0, 1)]):
        expected = model.generate(ids, num_beams=3, max_length=10)
    heads = {At("decoder.1.cross_attn.hook_z", heads=[0]): Zero(), At("encoder.0.attn.hook_z", heads=[1]): Zero()}
    with intervene(model, heads):
        assert intervened(model) and torch.equal(model.generate(ids, num_beams=3, max_length=10), expected)
    at = {At("decoder.1.hook_resid_post", positions=[0]): Zero()}
    with intervene(model, at):
        with pytest.raises(UserError, match="use_cache=False"):
            model.generate(ids, max_length=6, min_length=6)
        found = model.generate(ids, max_length=6, min_length=6, use_cache=False, num_beams=1)
        best = logits(model, target=[*found[0, 1:].tolist(), 2])[0]
    assert best.argmax() == found[0, 1] or best.isfinite().all()
    assert not intervened(model)


def test_patterns_are_read_and_replaced_inside_other_steering(one_of_three):
    name = "decoder.1.cross_attn.hook_pattern"
    even = np.full((len(TARGET), len(SOURCE)), 1 / len(SOURCE))
    with steer(one_of_three, weights={("cross", 1, 0): even}):
        _, steered = run_with_cache(one_of_three, [SOURCE], [TARGET], names=[name])
        with intervene(one_of_three, {At(name, heads=[1], positions=[0]): Zero()}):
            _, both = run_with_cache(one_of_three, [SOURCE], [TARGET], names=[name])
    torch.testing.assert_close(steered[name][0, 0], torch.tensor(even).float(), **NEAR)
    assert torch.equal(both[name][0, 0], steered[name][0, 0]) and not both[name][0, 1, 0].any()
    assert torch.equal(both[name][0, 1, 1:], steered[name][0, 1, 1:])


# --- a donor of another length


TEXTS = ("The cat did not cross the street.", "The small cat did never cross a wide street.")
TRANSLATIONS = ("Le chat n'a pas traversé la rue.", "Le petit chat n'a pas traversé la rue.")


@pytest.fixture(scope="module")
def two_traces():
    model, tokenizer = tiny.make("seq2see")
    first = model.generation_config.forced_bos_token_id
    targets = [encode_target(tokenizer, text, language="fr", first=first) for text in TRANSLATIONS]
    return model, trace_hypotheses(model, tokenizer, list(TEXTS), targets, source_language="en", target_language="fr")


def words(trace, side, positions):
    tokens = getattr(trace, side)
    return {getattr(trace, f"{side}_words")[tokens[i].word].text if tokens[i].word is not None else tokens[i].text
            for i in positions}


def test_words_that_two_texts_share_or_that_took_the_place_of_another_are_joined(two_traces):
    _, (receiver, donor) = two_traces
    mapping = word_mapping(receiver, donor)
    pairs = {(one, other) for position, theirs in mapping.source.items()
             for one in words(receiver, "source", [position]) for other in words(donor, "source", theirs)}
    assert pairs == {("The", "The"), ("cat", "cat"), ("did", "did"), ("not", "never"), ("cross", "cross"),
                     ("street", "street"), (".", "."), ("</s>", "</s>")}  # "the" became two words
    assert {words(donor, "target", theirs).pop() for theirs in mapping.target.values()} == {
        one for one in words(donor, "target", range(len(donor.target))) if one != "petit"}
    named = word_mapping(receiver, donor, source_words={1: 2}, target_words={})
    cat = [i for i, token in enumerate(receiver.source) if token.word == 1]
    assert set(named.source) == {*cat, len(receiver.source) - 1}
    assert {words(donor, "source", named.source[i]).pop() for i in cat} == {"cat"}


def test_a_word_of_other_tokens_gets_their_mean(two_traces):
    model, (receiver, donor) = two_traces
    mapping = WordMapping({0: (1, 3), 2: (0,)}, {1: (2,)})
    name = "encoder.0.hook_resid_pre"
    _, theirs = run_with_cache(model, [donor.source_ids], [donor.target_ids])
    _, own = run_with_cache(model, [receiver.source_ids], [receiver.target_ids])
    with intervene(model, {name: Donor(theirs, mapping), "decoder.1.attn.hook_z": Donor(theirs, mapping)}):
        _, found = run_with_cache(model, [receiver.source_ids], [receiver.target_ids])
    expected = own[name].clone()
    expected[0, 0], expected[0, 2] = theirs[name][0, [1, 3]].mean(0), theirs[name][0, 0]
    torch.testing.assert_close(found[name], expected, **NEAR)
    torch.testing.assert_close(found["decoder.1.attn.hook_z"][0, 1], theirs["decoder.1.attn.hook_z"][0, 2], **NEAR)


@pytest.mark.parametrize("kind", ["encoder.1.attn", "decoder.1.attn", "decoder.1.cross_attn"])
def test_a_pattern_of_another_length_has_rows_that_sum_to_1_and_do_not_look_ahead(two_traces, kind):
    model, (receiver, donor) = two_traces
    mapping, name = word_mapping(receiver, donor), f"{kind}.hook_pattern"
    _, theirs = run_with_cache(model, [donor.source_ids], [donor.target_ids])
    with intervene(model, {name: Donor(theirs, mapping)}):
        _, found = run_with_cache(model, [receiver.source_ids], [receiver.target_ids])
    pattern_HRC = found[name][0]
    torch.testing.assert_close(pattern_HRC.sum(-1), torch.ones(pattern_HRC.shape[:2]), **NEAR)
    rows = mapping.source if kind.startswith("encoder") else mapping.target
    columns = mapping.target if kind == "decoder.1.attn" else mapping.source
    row = max(i for i, one in rows.items() if len(one) == 1)
    weight_C = torch.zeros(pattern_HRC.shape[2])
    for column, others in columns.items():
        for other in others:
            sharing = sum(other in some for some in columns.values())
            if kind != "decoder.1.attn" or column <= row:
                weight_C[column] += theirs[name][0, 0, rows[row][0], other] / sharing
    torch.testing.assert_close(pattern_HRC[0, row], weight_C / weight_C.sum(), **NEAR)
    assert kind != "decoder.1.attn" or not pattern_HRC.triu(1).any()


def test_words_in_another_order_do_not_let_a_step_look_ahead(two_traces):
    model, (trace, _) = two_traces
    name, swapped = "decoder.0.attn.hook_pattern", WordMapping({}, {0: (1,), 1: (0,), 2: (2,)})
    _, own = run_with_cache(model, [trace.source_ids], [trace.target_ids])
    with intervene(model, {name: Donor(own, swapped)}):
        _, found = run_with_cache(model, [trace.source_ids], [trace.target_ids])
    first, second = found[name][0, 0, :2], own[name][0, 0, :2]
    assert first[0, 0] == 1 and not first[0, 1:].any(), "what it would see ahead is left out"
    torch.testing.assert_close(first[1, 1], second[0, 0], **NEAR)


def test_the_same_text_as_donor_by_its_words_changes_nothing(two_traces):
    model, (trace, _) = two_traces
    _, own = run_with_cache(model, [trace.source_ids], [trace.target_ids])
    plain, same = logits(model, trace.source_ids, trace.target_ids), word_mapping(trace, trace)
    for name in activation_names(model):
        with intervene(model, {name: Donor(own, same)}):
            found = logits(model, trace.source_ids, trace.target_ids)
        torch.testing.assert_close(found, plain, **NEAR)


# --- paths


PATHS = [
    (At("encoder.0.attn.hook_z", heads=[1]), ["decoder.1.cross_attn.hook_k"]),
    (At("encoder.0.attn.hook_z", (2, 3), [0]), ["decoder.0.cross_attn.hook_v", "decoder.1.cross_attn.hook_v"]),
    (At("decoder.0.cross_attn.hook_z", heads=[0]), ["decoder.1.attn.hook_q"]),
    (At("decoder.0.attn.hook_z"), ["decoder.1.hook_resid_post"]),
    (At("decoder.0.hook_mlp_out"), ["decoder.1.attn.hook_z"]),
    (At("decoder.0.mlp.hook_pre"), ["decoder.1.hook_resid_mid"]),
    (At("decoder.0.attn.hook_q", heads=[1]), ["decoder.0.cross_attn.hook_q", "decoder.1.mlp.hook_post"]),
    (At("encoder.hook_embed"), ["encoder.1.attn.hook_pattern"]),
]


@pytest.mark.few(12)
@pytest.mark.parametrize(("sender", "receivers"), PATHS)
def test_a_path_is_that_of_the_definition(one_of_three, sender, receivers):
    """In float64: all heads and feed-forward layers held, the sender changed, the receivers read; then these put in."""
    model = one_of_three
    _, donor = run_with_cache(model, [OTHER_SOURCE], [OTHER_TARGET])
    own, theirs = kept(model=model), kept(OTHER_SOURCE, OTHER_TARGET, model=model)
    within = {"decoder.0.mlp.hook_pre": "decoder.0.hook_mlp_out", "decoder.0.attn.hook_q": "decoder.0.attn.hook_z"}
    told = {}

    def first(name, x):
        if name in receivers:
            told[name] = x
        if name.endswith("hook_mlp_out") and within.get(sender.name) != name:
            x = own[name]
        if name.endswith("hook_z"):
            free = sender.heads if within.get(sender.name) == name else []
            x = torch.stack([x[:, h] if h in free else own[name][:, h] for h in range(x.shape[1])], 1)
        if name == sender.name:
            x = x.clone()
            for head in sender.heads if sender.heads else [slice(None)]:
                place = (list(sender.positions) if sender.positions else slice(None),
                         *([head] if x.ndim == 3 else []))
                x[place] = theirs[name][place]
        return x

    path = Pass(model, SOURCE, TARGET)
    if sender.name == "encoder.hook_embed":
        path.bottom = path.bottom | {"encoder": Pass(model, OTHER_SOURCE, OTHER_TARGET).bottom["encoder"]}
    path.run(first)
    expected = Pass(model, SOURCE, TARGET).run(lambda name, x: told.get(name, x))
    with path_patch(model, [SOURCE], [TARGET], senders={sender: Donor(donor)}, receivers=receivers):
        found = logits(model)
    torch.testing.assert_close(found, expected, **NEAR)
    assert (found - logits(model)).abs().max() > 1e-4, "nothing is told: this test would see nothing"


def test_all_direct_paths_of_the_last_head_are_the_whole_patch(one_of_three):
    """The last attention reaches the output by its feed-forward layer or directly; both together are the patch."""
    last = max(int(name.split(".")[1]) for name in activation_names(one_of_three) if name.startswith("decoder.")
               and name.count(".") > 1)
    sender = {At(f"decoder.{last}.cross_attn.hook_z", heads=[0]): Zero()}
    with intervene(one_of_three, sender):
        expected = logits(one_of_three)
    with path_patch(one_of_three, [SOURCE], [TARGET], senders=sender,
                    receivers=[f"decoder.{last}.hook_resid_mid_cross"]):
        torch.testing.assert_close(logits(one_of_three), expected, **NEAR)


# --- estimates


CHOICE = Choice(tuple(SOURCE), tuple(TARGET[:-1]), 40, 50)


def margin(logits_TV):
    return logits_TV[-1, CHOICE.right] - logits_TV[-1, CHOICE.wrong]


@pytest.mark.few(1)
def test_the_estimate_is_the_gradient_of_float64_times_the_change(model):
    ids = list(CHOICE.source_ids), list(CHOICE.target_ids)
    _, donor = run_with_cache(model, [OTHER_SOURCE], [OTHER_TARGET])
    found = attribution_patching(model, CHOICE, Donor(donor), names=["*"])
    own, theirs = kept(*ids, model=model), kept(OTHER_SOURCE, OTHER_TARGET, model=model)
    path = Pass(model, *ids)
    for name in own:
        leaf = own[name].clone().requires_grad_()
        value = margin(path.run(lambda here, x, leaf=leaf, name=name: leaf if here == name else x))
        [gradient] = torch.autograd.grad(value, [leaf])
        expected = ((theirs[name] - own[name]) * gradient).sum(-1)
        expected = expected.T if "pattern" in name else expected
        np.testing.assert_allclose(found[name], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.few(1)
def test_the_exact_change_is_that_of_one_patch(one_of_three):
    _, donor = run_with_cache(one_of_three, [OTHER_SOURCE], [OTHER_TARGET])
    found = exact_patching(one_of_three, CHOICE, Donor(donor), names=["*"])
    for name in ("encoder.1.attn.hook_z", "decoder.0.cross_attn.hook_pattern", "decoder.1.hook_mlp_out",
                 "decoder.1.cross_attn.hook_v", "encoder.hook_embed"):
        heads = [1] if found[name].ndim == 2 else None
        with intervene(one_of_three, {At(name, [2], heads): Donor(donor)}):
            [patched] = margins(one_of_three, [CHOICE])
        cell = found[name][2, 1] if heads else found[name][2]
        assert cell == pytest.approx(patched - margins(one_of_three, [CHOICE])[0], abs=1e-4)


def test_small_changes_are_estimated_exactly_also_where_weights_want_no_gradient(one_of_three):
    frozen = copy.deepcopy(one_of_three).requires_grad_(False)
    put = Noise(1e-3, seed=0)
    names = ["*.hook_z", "*.hook_mlp_out", "*.hook_pre", "*.hook_q"]
    estimate, change = (np.concatenate([one.ravel() for one in patching(frozen, CHOICE, put, names=names).values()])
                        for patching in (attribution_patching, exact_patching))
    assert np.corrcoef(estimate, change)[0, 1] > 0.99 and abs(change).max() > 1e-4


# --- what is not there


def within(intervention, model):
    with intervention:
        logits(model)


@pytest.mark.parametrize(("changes", "said"), [
    ({"encoder.7.hook_resid_pre": Zero()}, r"no encoder layer 7 here: expected 0 to 1"),
    ({"decoder.3.attn.hook_z": Zero()}, r"no decoder layer 3 here: expected 0 to 2"),
    ({"encoder.0.cross_attn.hook_z": Zero()},
     "Seq2SeeForCond.* has no activation 'encoder.0.cross_attn.hook_z': it has encoder.0.hook_resid_pre"),
    ({"blocks.0.hook_resid_pre": Zero()}, "no activation 'blocks.0.hook_resid_pre': it has encoder.hook_embed, enc"),
    ({"encoder.0.hook_normalized_resid_mid": Zero()}, "has no activation"),
    ({At("encoder.0.attn.hook_z", heads=[2]): Zero()}, r"no head 2 in encoder.0.attn.hook_z: expected 0 to 1"),
    ({At("encoder.0.attn.hook_z", heads=[-1]): Zero()}, r"no head -1"),
    ({At("encoder.0.hook_mlp_out", heads=[0]): Zero()}, r"has no heads"),
    ({At("encoder.0.hook_mlp_out", positions=[6]): Zero()}, "no position 6 in encoder.0.hook_mlp_out: expected 0 to 5"),
    ({At("decoder.0.cross_attn.hook_pattern", positions=[4]): Zero()}, r"no position 4 .* 0 to 3"),
    ({At("decoder.0.cross_attn.hook_k", positions=[-1]): Zero()}, r"no position -1"),
    ({"decoder.0.cross_attn.hook_q": SteeringVector(torch.ones(5))}, r"shape \(5,\) cannot be .* expected \(8,\)"),
])
def test_what_is_out_of_range_is_one_line_with_what_there_is(changes, said):
    model, _ = tiny.make("seq2see")
    with pytest.raises(UserError, match=said) as error:
        within(intervene(model, changes), model)
    assert "\n" not in str(error.value) and not intervened(model)


def test_a_donor_that_does_not_fit_is_one_line(two_traces):
    model, (receiver, donor) = two_traces
    _, longer = run_with_cache(model, [OTHER_SOURCE * 2], [OTHER_TARGET], names=["encoder.0.attn.*"])
    _, three = run_with_cache(model, [SOURCE] * 3, [TARGET] * 3, names=["encoder.0.attn.hook_z"])
    nothing = WordMapping({}, {0: (0,)})
    for name, put, said in [
        ("encoder.0.attn.hook_z", Donor(longer), "has 12 positions in the donor and 6 here: join their words"),
        ("encoder.0.attn.hook_pattern", Donor(longer), "has 12 positions in the donor and 6 here"),
        ("encoder.0.attn.hook_z", Donor(longer, nothing), "the mapping joins no word of the source"),
        ("encoder.0.attn.hook_z", Donor(longer, WordMapping({9: (0,)}, {})), "up to 9 and 0, there are 6 and 12"),
        ("encoder.0.attn.hook_z", Donor(three), "expected one sentence, or as many as here"),
        ("encoder.1.attn.hook_z", Donor(longer), "was not read"),
        ("encoder.0.attn.hook_pattern", Mean(longer), "has no mean"),
    ]:
        with pytest.raises(UserError, match=said):
            within(intervene(model, {name: put}), model)
    with pytest.raises(UserError, match="no word of .* corresponds to one of"):
        word_mapping(receiver, donor, source_words={}, target_words={})
    with pytest.raises(UserError, match="positions 3 of decoder.0.hook_mlp_out: expected a list"):
        At("decoder.0.hook_mlp_out", positions=3)
    with pytest.raises(UserError, match="1 sources and 2 targets: expected equally many"):
        run_with_cache(model, [SOURCE], [TARGET, TARGET])
    with pytest.raises(UserError, match="source has 600 tokens"):
        run_with_cache(model, [[5] * 600], [TARGET])
    with pytest.raises(UserError, match="no word 99"):
        word_mapping(receiver, donor, source_words={0: 99})
    with pytest.raises(UserError, match="no path leads from decoder.1"):
        within(path_patch(model, [SOURCE], [TARGET], senders={"decoder.1.hook_mlp_out": Zero()},
                          receivers="decoder.0.attn.hook_q"), model)
    for sources in (SOURCE, []):
        with pytest.raises(UserError, match="ids of a list of sentences"):
            run_with_cache(model, sources, [TARGET])
    with pytest.raises(UserError, match="has no activation"):
        run_with_cache(model, [SOURCE], [TARGET], names=["*.hook_scores"])


@pytest.mark.parametrize("family", ["FSMT", "EncoderDecoder", "LED", "LongT5", "ProphetNet"])
def test_a_family_that_cannot_be_reached_is_one_line(family):
    with pytest.raises(UserError) as error:
        run_with_cache(families.made(family), [SOURCE], [TARGET])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("config", [
    transformers.SwitchTransformersConfig(**families.LIKE_T5, num_decoder_layers=2, num_experts=2,
                                          num_sparse_encoder_layers=1, num_sparse_decoder_layers=1),
    transformers.NllbMoeConfig(**families.LIKE_BART, num_experts=2, encoder_sparse_step=2, decoder_sparse_step=2),
])
def test_a_layer_of_experts_has_its_output_alone(config):
    torch.manual_seed(0)
    model = tiny.spread_out(transformers.AutoModelForSeq2SeqLM.from_config(config), std=0.3)
    names = activation_names(model)
    assert "encoder.1.hook_mlp_out" in names and "encoder.0.mlp.hook_pre" in names
    with pytest.raises(UserError, match=r"no activation 'encoder.1.mlp.hook_pre': it has encoder.1.hook_resid_pre"):
        run_with_cache(model, [SOURCE], [TARGET], names=["encoder.1.mlp.hook_pre"])
    _, cache = run_with_cache(model, [SOURCE], [TARGET])
    torch.testing.assert_close(cache["encoder.1.hook_resid_mid"] + cache["encoder.1.hook_mlp_out"],
                               cache["encoder.1.hook_resid_post"], **NEAR)


def test_every_head_and_the_table_of_the_documentation():
    """A row for each kind of name, and no row for another."""
    page = (Path(__file__).parents[2] / "docs" / "activations.md").read_text("utf-8")
    cells = re.findall(r"^\| (`[a-z._]*hook_.*?) \|", page, re.M)
    documented = {name for cell in cells for name in cell.strip("`").split("`, `")}
    short = lambda name: re.sub(r"^(encoder|decoder)\.(\d+\.)?", "", name)  # noqa: E731
    made = [families.made(one) for one in ("BART", "mT5")] + [tiny.make("seq2see")[0]]
    assert documented == {short(name) for model in made for name in activation_names(model)}
    assert len(all_heads(made[0])) == 2 * sum(name.endswith("hook_z") for name in activation_names(made[0]))


def test_nothing_is_left_after_an_error(one_of_three):
    def hooks():
        return [(len(m._forward_hooks), len(m._forward_pre_hooks), m.__dict__.get("_seq2see_steering"))
                for m in one_of_three.modules()]

    logits(one_of_three)
    run_with_cache(one_of_three, [SOURCE], [TARGET])
    before = hooks()
    changes = {name: Zero() for name in activation_names(one_of_three)}
    with pytest.raises(RuntimeError, match="broken"), intervene(one_of_three, {**changes, At(
            "decoder.0.hook_mlp_out", positions=[0]): Zero()}):
        assert hooks() != before
        raise RuntimeError("broken")
    assert hooks() == before
