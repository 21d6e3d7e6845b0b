"""Each view is what its paper says, on all four families: parts sum to the model's own vectors, shares to 1."""

import numpy as np
import pytest
import torch
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens import trace_hypotheses
from seq2see.lens.data.view_names import ATTRIBUTIONS, SEGMENTS, VIEW, VIEWS
from seq2see.lens.show.trace_page import script
from seq2see.lens.views.add_views import add_views
from seq2see.lens.views.attention_blocks import blocks_of, shares_of_block
from seq2see.lens.views.attribution_methods import attributed, every_step
from seq2see.passes.attention_kinds import KINDS
from seq2see.passes.hooks import all_sites
from seq2see.tokenizer.words import split_words, without

CLOSE = {"rtol": 0, "atol": 1e-5}
TARGETS = [[7, 9, 8, 11, 30, 2], [40, 41, 2]]  # of unlike length, so that padding must be cropped
SOURCES = [SENTENCES[0], "The box."]


@pytest.fixture(scope="module")
def seen(uneven_model):
    """(traces with all views, model, tokenizer)."""
    model, tokenizer = uneven_model
    traces = trace_hypotheses(model, tokenizer, SOURCES, TARGETS, source_language="en", views=VIEWS)
    return traces, model, tokenizer


def test_what_views_are_called_is_said_once_and_reaches_the_page(root):
    scripts = "".join(path.read_text("utf-8") for path in root.glob("webpage/*/*.js"))
    for name, view in VIEW.items():
        assert f'"{name}": {{"title": "{view.title}", "summary": "{view.summary}"' in script()
        assert f'"{view.title}"' not in scripts and view.summary not in scripts


def inside(model, tokenizer, *, number):
    """Blocks of one sentence of the batch, each with its raw weights."""
    traces = trace_hypotheses(model, tokenizer, SOURCES, TARGETS)
    for kind, blocks in list(blocks_of(model, traces))[number].by_kind.items():
        yield from zip(blocks, torch.tensor(traces[number].maps(kind)), strict=True)


def test_norm_is_the_length_of_each_weighted_vector(seen):
    traces, model, tokenizer = seen
    for block, weight_HRC in inside(model, tokenizer, number=1):
        expected = (weight_HRC[..., None] * block.vector_HCD[:, None]).norm(dim=-1)
        view = traces[1].maps(block.site.kind, "norm")[block.site.layer]
        np.testing.assert_allclose(view, expected.detach(), **CLOSE)


@pytest.mark.parametrize("number", [0, 1])
def test_parts_residual_and_biases_sum_to_what_the_layer_gives(uneven_model, number):
    """What a block gives is read elsewhere: where the next block, or the feed-forward layer, takes it in."""
    model, tokenizer = uneven_model
    read, nexts = {}, {site.module: taker(model, site) for site in all_sites(model)}
    hooks = [module.register_forward_pre_hook(lambda module, args, kwargs: read.update(
                {module: (args[0] if args else kwargs["hidden_states"])[number]}), with_kwargs=True)
             for module in set(nexts.values())]
    blocks = list(inside(model, tokenizer, number=number))
    for hook in hooks:
        hook.remove()
    for block, weight_HRC in blocks:
        given = read[nexts[block.site.module]][: len(block.output_RD)]
        torch.testing.assert_close(block.output_RD, given, **CLOSE)
        constant_RD = torch.zeros_like(given) if block.site.output.bias is None else block.site.output.bias + 0 * given
        if block.summed_RD is not None:  # the norm at the end, with this row's deviation held fixed
            spread_R1 = (block.summed_RD.var(-1, unbiased=False, keepdim=True) + block.site.norm.eps).sqrt()
            centred_RD = constant_RD - constant_RD.mean(-1, keepdim=True)
            constant_RD = centred_RD / spread_R1 * block.site.norm.weight + block.site.norm.bias
        summed_RD = block.parts(weight_HRC).sum(1) + block.residual() + constant_RD
        torch.testing.assert_close(summed_RD, given, **CLOSE)


def taker(model, site):
    """The module that reads what a block gives, as the model's own code has it."""
    name = next(name for name, module in model.named_modules() if module is site.module)
    layer = model.get_submodule(name.rpartition(".")[0])
    if model.config.model_type == "t5":
        block = model.get_submodule(name.rsplit(".", 3)[0])
        return block.layer[int(name.split(".")[-2]) + 1]
    if model.config.model_type == "seq2see":
        return layer.encoder_attn_layer_norm if site.kind == "decoder" else layer.final_layer_norm
    return layer.encoder_attn if site.kind == "decoder" else layer.fc1


def test_shares_follow_from_the_parts(uneven_model):
    """The formula of ALTI, written out for one row."""
    for block, weight_HRC in inside(*uneven_model, number=1):
        row = 1
        parts = list(block.parts(weight_HRC)[row])
        own = block.residual()[row]
        if block.site.kind == "cross":
            parts.append(own)
        else:
            parts[row] = parts[row] + own
        output = block.output_RD[row]
        nearer = [max(0.0, float(output.abs().sum() - (output - part).abs().sum())) for part in parts]
        if sum(nearer) == 0:
            nearer = [float(part.abs().sum()) for part in parts]
        np.testing.assert_allclose(shares_of_block(block, weight_HRC)[row], np.array(nearer) / sum(nearer), **CLOSE)


def test_a_block_in_which_nothing_brings_nearer_still_gives_shares(uneven_model):
    for block, weight_HRC in inside(*uneven_model, number=0):
        opposite = type(block)(block.site, block.vector_HCD, block.residual_RD, -1e-6 * block.output_RD,
                               block.summed_RD)
        shares = shares_of_block(opposite, weight_HRC)
        np.testing.assert_allclose(shares.sum(-1), 1, **CLOSE)


def test_rows_sum_to_one(seen):
    for trace in seen[0]:
        for view in ("rollout", "contributions"):
            np.testing.assert_allclose(trace.maps("encoder", view).sum(-1), 1, **CLOSE)
            origins = trace.origins(view)
            S, T = len(trace.source), len(trace.target)
            assert origins.shape == (len(trace.cross["raw"]), T, S + T)
            np.testing.assert_allclose(origins.sum(-1), 1, **CLOSE)
            assert (origins >= 0).all() and not np.triu(origins[..., S:], k=1).any()
        for kind in ("encoder", "decoder"):
            np.testing.assert_allclose(trace.maps(kind, "mixing").sum(-1), 1, **CLOSE)
        np.testing.assert_array_less(trace.maps("cross", "mixing").sum(-1), 1 + 1e-5)
        source = trace.origins("contributions")[-1][:, : len(trace.source)].sum(-1)
        np.testing.assert_allclose(trace.source_share, source, **CLOSE)
        assert (source > 0).all()


def test_rollout_is_the_product_of_one_large_matrix_a_layer(seen):
    """Source and prefix in one matrix [S+T,S+T], as the authors of ALTI+ write it.

    A layer is half its weights and half its residual; the decoder halves twice.
    """
    for trace in seen[0]:
        encoder, decoder, cross = (trace.maps(kind).mean(1) / 2 for kind in KINDS)
        S, T = len(trace.source), len(trace.target)
        through = np.eye(S + T)
        for view, own in zip(trace.maps("encoder", "rollout"), encoder, strict=True):
            through[:S, :S] = (own + np.eye(S) / 2) @ through[:S, :S]
            np.testing.assert_allclose(view, through[:S, :S], **CLOSE)
        for view, own, across in zip(trace.origins("rollout"), decoder, cross, strict=True):
            layer = np.eye(S + T)
            layer[S:] = np.hstack([across, (own + np.eye(T) / 2) / 2])
            through = layer @ through
            np.testing.assert_allclose(view, through[S:], **CLOSE)


def test_leaving_a_word_out_is_translating_the_text_without_it(seen):
    traces, model, tokenizer = seen
    [first, last] = [word.text for word in (traces[0].source_words[0], traces[0].source_words[-1])]
    assert (first, last) == ("The", ".")
    gone = {0: "cat did not cross the street because it was too tired.",
            4: "The cat did not the street because it was too tired.",
            12: "The cat did not cross the street because it was too tired"}
    assert traces[0].left_out.shape == (len(TARGETS[0]), len(traces[0].source_words))
    for word, text in gone.items():
        [trace] = trace_hypotheses(model, tokenizer, [text], [TARGETS[0]])
        fall = traces[0].log_probs - trace.log_probs
        np.testing.assert_allclose(traces[0].left_out[:, word], fall, rtol=0, atol=1e-4)
    assert np.abs(traces[0].left_out).max() > 0.01


def test_views_can_be_added_later_and_agree(seen):
    traces, model, tokenizer = seen
    bare = trace_hypotheses(model, tokenizer, SOURCES, TARGETS, source_language="en")
    half = add_views(model, tokenizer, bare, views=["norm"])
    whole = add_views(model, tokenizer, half, views=["contributions", "left_out"])
    assert [made[0].views for made in (bare, half, whole)] == [
        ("raw",), ("raw", "norm"), ("raw", "norm", "contributions", "left_out")]
    for kind in KINDS:
        for view in ("norm", "contributions"):
            np.testing.assert_allclose(whole[1].maps(kind, view), traces[1].maps(kind, view), **CLOSE)


def test_attributions_are_those_of_every_step_of_each_sentence(seen):
    traces, model, tokenizer = seen
    for trace in traces:
        for view in ATTRIBUTIONS:
            one = attributed(model, tokenizer, trace, view, every_step(trace), segments=SEGMENTS)
            for kind, wanted in (("cross", one.source), ("decoder", one.prefix)):
                np.testing.assert_array_equal(trace.maps(kind, view), wanted)
            assert view not in trace.encoder


def test_a_view_that_is_not_there_is_named(seq2see, trace):
    with pytest.raises(UserError, match=r"no view 'attention'; there are raw, norm"):
        add_views(*seq2see, [trace], views=["attention"])
    with pytest.raises(UserError, match=r"no view 'norm' of cross attention in this trace, only raw"):
        trace.maps("cross", "norm")


@pytest.mark.parametrize(("text", "language", "word", "left"), [
    ("The cat was too tired.", "en", "tired", "The cat was too."),  # not "too .": a lone space is a token of its own
    ("The cat, tired, sat.", "en", ",", "The cat tired, sat."),
    ("  The cat", "en", "The", "  cat"),
    ('He ("now") sat', "en", "(", 'He "now") sat'),  # a mark that opens keeps the space before it
    ("He (now) sat", "en", "now", "He () sat"),
    ("Bien fatigué\u202f!", "fr", "fatigué", "Bien\u202f!"),  # a French mark keeps its space, and the kind of it
    ("Vois l'arbre.", "fr", "l'", "Vois arbre."),
    ("वह थका है।", "hi", "है", "वह थका।"),
])
def test_a_text_without_a_word_is_spaced_as_ordinary_text_is(text, language, word, left):
    asked = next(one for one in split_words(text, language=language) if one.text == word)
    assert without(text, asked) == left
