"""The laws of attention: the formula, head by head; masks; the cache; the kernels."""

import math

import pytest
import torch
from transformers.cache_utils import DynamicCache, EncoderDecoderCache, StaticCache

from seq2see.modeling.attention import attend
from .conftest import PAD, VOCABULARY, make_batch, make_model, padded_left

TIGHT = {"atol": 1e-5, "rtol": 1e-4}


def attention_by_hand(layer, x, source, allowed):
    """Equation 1 with loops instead of reshapes: head h owns rows h*E..(h+1)*E of Q, K, V and those columns of W_O."""
    size = layer.head_dim
    queries, keys, values = layer.q_proj(x), layer.k_proj(source), layer.v_proj(source)
    output = layer.out_proj.bias.expand_as(x).clone()
    weights = []
    for head in range(x.shape[-1] // size):
        own = slice(head * size, (head + 1) * size)
        scores = queries[..., own] @ keys[..., own].transpose(1, 2) / math.sqrt(size)
        weight = scores.masked_fill(~allowed, -math.inf).softmax(-1)
        output += weight @ values[..., own] @ layer.out_proj.weight[:, own].T
        weights.append(weight)
    return output, torch.stack(weights, dim=1)


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_head_computes_the_formula(kind, implementation):
    model = make_model(implementation=implementation, encoder_attention_heads=4, decoder_attention_heads=2)
    encoder_layer, decoder_layer = model.model.encoder.layers[1], model.model.decoder.layers[1]
    layer = {
        "encoder": encoder_layer.self_attn, "decoder": decoder_layer.self_attn, "cross": decoder_layer.encoder_attn,
    }[kind]
    x = torch.randn(2, 5, 16)
    source = torch.randn(2, 7, 16) if kind == "cross" else x
    allowed = torch.ones(5, source.shape[1], dtype=torch.bool)
    mask = None
    if kind == "decoder":
        allowed = allowed.tril()
        mask = torch.zeros(5, 5).masked_fill(~allowed, torch.finfo(torch.float32).min)[None, None]
    output, weights = layer(x, source if kind == "cross" else None, attention_mask=mask)
    expected_output, expected_weights = attention_by_hand(layer, x, source, allowed)
    torch.testing.assert_close(output, expected_output, **TIGHT)
    if implementation == "eager":
        torch.testing.assert_close(weights, expected_weights, **TIGHT)


def test_rows_of_weights_sum_to_one_and_forbidden_places_hold_nothing(model, batch):
    outputs = model(**batch, output_attentions=True)
    real_source = batch["attention_mask"].bool()
    for maps in (outputs.encoder_attentions, outputs.decoder_attentions, outputs.cross_attentions):
        for weights in maps:
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]), **TIGHT)
    for weights in (*outputs.encoder_attentions, *outputs.cross_attentions):
        assert (weights.transpose(1, 3)[~real_source] == 0).all()
    for weights in outputs.decoder_attentions:
        assert (weights.triu(1) == 0).all()
    assert outputs.cross_attentions[0].std() > 0.05, "the weights are nearly uniform: these tests would see nothing"


def test_weights_are_those_before_dropout():
    model = make_model(attention_dropout=0.5).train()
    outputs = model(**make_batch(), output_attentions=True)
    rows = outputs.encoder_attentions[0].sum(-1)
    torch.testing.assert_close(rows, torch.ones_like(rows), **TIGHT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_weights_are_those_of_float32_rounded_once(dtype):
    """Over a row so long that a softmax in half precision would show."""
    torch.manual_seed(0)
    query_BHTE, key_BHSE = torch.randn(1, 2, 8, 16).to(dtype), 3 * torch.randn(1, 2, 3_000, 16).to(dtype)
    _, weights = attend(torch.nn.Module(), query_BHTE, key_BHSE, key_BHSE, None, scaling=0.25)
    scores = query_BHTE @ key_BHSE.transpose(2, 3) * 0.25
    assert weights.dtype == dtype and torch.equal(weights, scores.float().softmax(-1).to(dtype))


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("masked", [True, False])
def test_a_later_target_token_changes_no_earlier_output(implementation, masked):
    model = make_model(implementation=implementation)
    batch = make_batch(target_lengths=(6, 6, 6))
    if not masked:  # with no mask given at all the kernels take another path
        del batch["decoder_attention_mask"]
    before = model(**batch).logits
    batch["decoder_input_ids"][:, 4] = (batch["decoder_input_ids"][:, 4] + 1) % VOCABULARY
    after = model(**batch).logits
    torch.testing.assert_close(before[:, :4], after[:, :4], **TIGHT)
    assert (before[:, 4:] - after[:, 4:]).abs().max() > 0.01, "a token must change its own and later outputs"


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_a_source_token_changes_every_output(implementation):
    model = make_model(implementation=implementation)
    batch = make_batch(lengths=(5, 5, 5), target_lengths=(4, 4, 4))
    before = model(**batch)
    batch["input_ids"][:, -1] = (batch["input_ids"][:, -1] + 1) % VOCABULARY
    after = model(**batch)
    changed = (before.encoder_last_hidden_state - after.encoder_last_hidden_state).abs().amax(-1)
    assert (changed > 1e-3).all(), "the encoder reads both ways: its first state must see the last token"
    assert ((before.logits - after.logits).abs().amax(-1) > 1e-3).all()


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_padding_on_the_left_is_padding_on_the_right(implementation):
    model = make_model(implementation=implementation)
    right, left = make_batch(), padded_left(make_batch())
    assert (left["input_ids"][1:, 0] == PAD).all() and (left["decoder_input_ids"][1:, 0] == PAD).all()
    assert torch.equal(model(**left | {"attention_mask": left["attention_mask"].float()}).logits, model(**left).logits)
    outputs = model(**right), model(**left)
    for kind, name in (("attention_mask", "encoder_last_hidden_state"), ("decoder_attention_mask", "logits")):
        one, other = (output[name][b[kind].bool()] for output, b in zip(outputs, (right, left), strict=True))
        torch.testing.assert_close(one, other, **TIGHT)


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_each_sentence_is_translated_as_if_alone(implementation):
    model = make_model(implementation=implementation)
    batch = make_batch()
    together = model(**batch).logits
    for row in range(3):
        real = batch["attention_mask"][row].bool(), batch["decoder_attention_mask"][row].bool()
        source, target = batch["input_ids"][row, real[0]], batch["decoder_input_ids"][row, real[1]]
        alone = model(input_ids=source[None], decoder_input_ids=target[None]).logits
        torch.testing.assert_close(together[row, real[1]], alone[0], **TIGHT)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("kernel", ["eager", pytest.param("flex_attention", marks=pytest.mark.long)])
def test_the_kernels_agree_with_sdpa(kernel):
    batch, left = make_batch(), padded_left(make_batch())
    real = batch["decoder_attention_mask"].bool()
    expected = make_model(implementation="sdpa")(**batch).logits[real]
    model = make_model(implementation="sdpa")
    model.set_attn_implementation(kernel)
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):  # compiling for a CPU takes a minute
        torch.testing.assert_close(model(**batch).logits[real], expected, **TIGHT)
        torch.testing.assert_close(model(**left).logits[left["decoder_attention_mask"].bool()], expected, **TIGHT)


def make_cache(model, kind: str, *, source_length: int):
    if kind == "dynamic":
        return EncoderDecoderCache(DynamicCache(config=model.config), DynamicCache(config=model.config))
    config = model.config.get_text_config(decoder=True)
    own, cross = (StaticCache(config=config, max_cache_len=length) for length in (9, source_length))
    return EncoderDecoderCache(own, cross)


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_cached_equals_uncached_logits_and_maps(kind, implementation):
    model = make_model(implementation=implementation)
    batch = make_batch(target_lengths=(6, 6, 6))
    del batch["decoder_attention_mask"]
    maps = {"output_attentions": True} if implementation == "eager" else {}
    whole = model(**batch, use_cache=False, **maps)
    assert whole.past_key_values is None
    cache = make_cache(model, kind, source_length=batch["input_ids"].shape[1])
    encoded = model.model.encoder(batch["input_ids"], batch["attention_mask"])
    for first, last in ((0, 2), (2, 3), (3, 4), (4, 6)):  # a prompt of two, single steps, then two at once
        step = model(encoder_outputs=encoded, attention_mask=batch["attention_mask"], past_key_values=cache,
                     decoder_input_ids=batch["decoder_input_ids"][:, first:last], use_cache=True, **maps)
        torch.testing.assert_close(step.logits, whole.logits[:, first:last], **TIGHT)
        if maps:
            for a, b in zip(step.cross_attentions, whole.cross_attentions, strict=True):
                torch.testing.assert_close(a, b[:, :, first:last], **TIGHT)
            for a, b in zip(step.decoder_attentions, whole.decoder_attentions, strict=True):
                torch.testing.assert_close(a[..., :last], b[:, :, first:last, :last], **TIGHT)


def test_cross_attention_keys_are_computed_once(model):
    calls = []
    model.model.decoder.layers[0].encoder_attn.k_proj.register_forward_hook(lambda *_: calls.append(1))
    model.generate(make_batch()["input_ids"], max_new_tokens=6, min_new_tokens=6)
    assert len(calls) == 1


@pytest.mark.parametrize("beams", [1, 3])
def test_maps_of_generation_gathered_by_beam_equal_the_forced_ones(beams):
    model = make_model()
    batch = make_batch()
    source = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
    steps = 5
    result = model.generate(
        **source, num_beams=beams, max_new_tokens=steps, min_new_tokens=steps, early_stopping=beams > 1,
        return_dict_in_generate=True, output_attentions=True, output_scores=True,
    )
    forced = model(**source, decoder_input_ids=result.sequences[:, :-1], output_attentions=True)
    rows = result.beam_indices if beams > 1 else torch.arange(3)[:, None].expand(3, steps)
    for layer in range(2):
        cross = torch.stack([result.cross_attentions[t][layer][rows[:, t], :, 0] for t in range(steps)], dim=2)
        torch.testing.assert_close(cross, forced.cross_attentions[layer], **TIGHT)
        for t in range(steps):
            own = result.decoder_attentions[t][layer][rows[:, t], :, 0]
            torch.testing.assert_close(own, forced.decoder_attentions[layer][:, :, t, : t + 1], **TIGHT)
    for layer in range(3):
        torch.testing.assert_close(result.encoder_attentions[layer], forced.encoder_attentions[layer], **TIGHT)
