"""The laws of the network: positions, tied embeddings, loss, recording, generation, compilation."""

import math

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import StaticCache
from transformers.cache_utils import EncoderDecoderCache

from seq2see import Seq2SeeConfig, Seq2SeeForConditionalGeneration
from .conftest import END, PAD, START, VOCABULARY, make_batch, make_model, padded_left

TIGHT = {"atol": 1e-5, "rtol": 1e-4}


@pytest.mark.parametrize(("values", "message"), [
    ({"d_model": 130}, "d_model 130 is not a multiple of encoder_attention_heads 4"),
    ({"d_model": 3, "encoder_attention_heads": 3, "decoder_attention_heads": 1}, "expected an even number, got 3"),
    ({"encoder_layers": 20_000}, "encoder_layers: expected 1 to 256, got 20000"),
    ({"dropout": 1}, "dropout: expected a probability from 0 to below 1, got 1"),
    ({"activation_function": "sine"}, "expected one of ('relu', 'gelu', 'gelu_new', 'silu'), got sine"),
    ({"eos_token_id": [2, 8_000]}, "eos_token_id: expected 0 to 7999 (below vocab_size), got [2, 8000]"),
    ({"language_pairs": [["en"]]}, 'expected pairs of codes such as ["en", "fr"], got [\'en\']'),
    ({"supervised_heads": [[9, 0]]}, "supervised_heads: expected [layer, head] below [4, 4], got [9, 0]"),
])
def test_a_wrong_config_says_what_was_expected_and_what_came(values, message):
    with pytest.raises(StrictDataclassError) as raised:
        Seq2SeeConfig(**values)
    assert message in str(raised.value)


@pytest.mark.parametrize("values", [
    {"language_pairs": [["en", "fr"], ["de", "fr"]]}, {"supervised_heads": [[0, 0], [3, 3]]}, {"encoder_layers": 256},
    {"dropout": 0}, {"eos_token_id": [2, 7_999]},
])
def test_a_config_takes_all_that_it_describes(values):
    config = Seq2SeeConfig(**values)
    assert {name: getattr(config, name) for name in values} == values


def test_positions_are_the_sinusoids_of_the_paper():
    table = make_model().model.encoder.embedder.positions.table_PD
    assert table.shape == (1024, 16)
    for position in (0, 1, 17, 1023):
        for i in range(8):
            angle = position / 10_000 ** (2 * i / 16)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_scaling_is_as_good_as_a_larger_matrix(batch):
    """And without it embeddings go in as they are."""
    scaled, plain = make_model(), make_model(scale_embedding=False)
    states = [model.model.encoder(batch["input_ids"]).last_hidden_state for model in (scaled, plain)]
    assert (states[0] - states[1]).abs().max() > 0.1
    with torch.no_grad():
        plain.model.shared.weight *= 4.0  # sqrt(16)
    torch.testing.assert_close(plain.model.encoder(batch["input_ids"]).last_hidden_state, states[0], **TIGHT)


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_text_longer_than_the_table_is_refused(side):
    model = make_model(max_position_embeddings=6)
    batch = make_batch(lengths=(7 if side == "source" else 6,), target_lengths=(7 if side == "target" else 6,))
    with pytest.raises(ValueError, match=r"expected at most 6 tokens \(max_position_embeddings\), got 7"):
        model(**batch)


def test_a_static_cache_longer_than_the_table_is_refused(model):
    source = make_batch()["input_ids"]
    config = model.config.get_text_config(decoder=True)
    cache = EncoderDecoderCache(*(StaticCache(config=config, max_cache_len=n) for n in (1_100, source.shape[1])))
    ids = torch.full((len(source), 1_000), 7)
    model(source, decoder_input_ids=ids, past_key_values=cache, use_cache=True)
    with pytest.raises(ValueError, match=r"expected at most 1024 tokens \(max_position_embeddings\), got more"):
        model(source, decoder_input_ids=ids[:, :25], past_key_values=cache, use_cache=True)


def test_one_matrix_serves_source_target_and_output(model, batch):
    """And after resizing, too."""
    before, states = model(**batch).logits, model.model(**batch).last_hidden_state
    torch.testing.assert_close(before, states @ model.model.shared.weight.T, **TIGHT)
    model.resize_token_embeddings(VOCABULARY + 5, mean_resizing=False)
    owners = (model.model.shared, model.model.encoder.embed_tokens, model.model.decoder.embed_tokens, model.lm_head)
    assert len({id(owner.weight) for owner in owners}) == 1 and model.config.vocab_size == VOCABULARY + 5
    torch.testing.assert_close(model(**batch).logits[..., :VOCABULARY], before, **TIGHT)


def test_an_output_matrix_of_its_own_leaves_one_for_both_sides(batch, tmp_path):
    """Resizing, saving and loading change no logit."""
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(vocab_size=VOCABULARY, tie_word_embeddings=False)).eval()
    before = model(**batch).logits
    assert model.lm_head.weight is not model.model.shared.weight
    model.resize_token_embeddings(VOCABULARY + 5, mean_resizing=False)
    torch.testing.assert_close(model(**batch).logits[..., :VOCABULARY], before, **TIGHT)
    model.save_pretrained(tmp_path)
    loaded, report = Seq2SeeForConditionalGeneration.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"]
    torch.testing.assert_close(loaded(**batch).logits[..., :VOCABULARY], before, **TIGHT)


def test_a_fresh_model_is_neither_dead_nor_loud():
    torch.manual_seed(0)
    model = Seq2SeeForConditionalGeneration(Seq2SeeConfig(vocab_size=500)).eval()
    logits = model(**make_batch()).logits
    assert 0.5 < logits.std() < 2.0
    assert (model.model.shared.weight[PAD] == 0).all()
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    assert weights["model.shared.weight"][PAD + 1 :].norm(dim=-1).mean() == pytest.approx(1, abs=0.1)
    for name, weight in weights.items():
        if weight.dim() == 2 and "shared" not in name:  # what passes keeps its variance, both ways on average
            assert (weight.var() * sum(weight.shape) / 2).item() == pytest.approx(1, abs=0.05)


def test_loss_is_the_mean_negative_log_likelihood_of_real_labels(model, batch):
    labels = torch.tensor([[5, 6, 7, 8, 9, END], [5, 6, END, -100, -100, -100], [9, 8, 7, 6, END, -100]])
    source = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
    decoder_input = torch.tensor([[START, 5, 6, 7, 8, 9], [START, 5, 6, END, PAD, PAD], [START, 9, 8, 7, 6, END]])
    assert model.prepare_decoder_input_ids_from_labels(labels).tolist() == decoder_input.tolist()
    log_probs = model(**source, decoder_input_ids=decoder_input).logits.log_softmax(-1)
    places = (labels >= 0).nonzero().tolist()
    assert len(places) == 14
    expected = -sum(log_probs[b, t, labels[b, t]] for b, t in places) / 14
    torch.testing.assert_close(model(**source, labels=labels).loss, expected)
    torch.testing.assert_close(model(**source, labels=labels, num_items_in_batch=14).loss, expected)
    torch.testing.assert_close(model(**source, labels=labels, num_items_in_batch=torch.tensor(28)).loss, expected / 2)


def test_logits_can_be_had_at_chosen_positions_alone(model, batch):
    whole = model(**batch).logits
    real = batch["decoder_attention_mask"].bool()
    torch.testing.assert_close(model(**batch, logits_to_keep=real).logits, whole[real])
    torch.testing.assert_close(model(**batch, logits_to_keep=2).logits, whole[:, -2:])


def test_dropout_acts_on_the_embeddings_and_on_all_that_a_sublayer_adds():
    """Where each of n sub-layers adds nothing, which by half happens in 1 of 2^n places, a state goes on as it came."""
    model, x_BTD = make_model(d_model=32, dropout=0.5).train(), torch.randn(64, 20, 32)
    source_BSD = torch.randn(64, 9, 32)
    torch.manual_seed(0)
    encoded = model.model.encoder.layers[0](x_BTD, None)
    decoded = model.model.decoder.layers[0](x_BTD, source_BSD, None, None)
    kept = [float((out == x_BTD).float().mean()) for out in (encoded, decoded)]
    assert kept == pytest.approx([1 / 4, 1 / 8], abs=0.02)
    ids_BS = torch.randint(4, VOCABULARY, (8, 20))
    dropped = [side.embedder(side.embed_tokens(ids_BS)) == 0 for side in (model.model.encoder, model.model.decoder)]
    assert [float(one.float().mean()) for one in dropped] == pytest.approx([1 / 2, 1 / 2], abs=0.05)


def test_gradient_checkpointing_changes_no_gradient():
    batch = make_batch()
    labels = batch["decoder_input_ids"].roll(-1, dims=1)

    def gradients(checkpointing):
        model = make_model(spread=0.1).train()
        if checkpointing:
            model.activation_checkpointing_enable()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        model(**batch, labels=labels).loss.backward()
        return [p.grad for p in model.parameters()]

    for a, b in zip(gradients(False), gradients(True), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("how", [{"num_beams": 3, "early_stopping": True}, {"cache_implementation": "static"},
                                 {"use_cache": False}], ids=str)
def test_padding_on_the_left_changes_no_translation(model, how):
    """Of the source, and of the beginnings of targets that are given: every step has the logits that it has alone."""
    how = how | {"max_new_tokens": 5, "min_new_tokens": 5, "return_dict_in_generate": True, "output_logits": True}
    batch, left = make_batch(), padded_left(make_batch())
    together = torch.stack(model.generate(**left, **how).logits).unflatten(1, (3, -1))  # steps, rows, beams, vocabulary
    real = batch["attention_mask"].bool(), batch["decoder_attention_mask"].bool()
    for row in range(3):
        source, start = batch["input_ids"][row, real[0][row]], batch["decoder_input_ids"][row, real[1][row]]
        alone = torch.stack(model.generate(source[None], decoder_input_ids=start[None], **how).logits)
        torch.testing.assert_close(together[:, row], alone, **TIGHT)


@pytest.mark.long
def test_a_decode_step_compiles_to_one_graph(model):
    """Backend "eager" checks that nothing breaks the graph; what a compiler gains is for the benchmarks."""
    batch = make_batch(target_lengths=(4, 4, 4))
    whole = model(**batch, use_cache=False).logits
    config = model.config.get_text_config(decoder=True)
    cache = EncoderDecoderCache(*(StaticCache(config=config, max_cache_len=length) for length in (8, 7)))
    encoded = model.model.encoder(batch["input_ids"], batch["attention_mask"])
    common = {"encoder_outputs": encoded, "attention_mask": batch["attention_mask"], "past_key_values": cache}
    model(**common, decoder_input_ids=batch["decoder_input_ids"][:, :1], use_cache=True)
    step = torch.compile(model.forward, fullgraph=True, backend="eager")
    with torch.no_grad():
        for t in (1, 2, 3):
            logits = step(**common, decoder_input_ids=batch["decoder_input_ids"][:, t : t + 1], use_cache=True).logits
            torch.testing.assert_close(logits, whole[:, t : t + 1], **TIGHT)
