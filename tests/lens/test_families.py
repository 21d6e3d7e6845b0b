"""Model families beyond those of `tests/tiny.py`: what is shown is true, what cannot be is refused in one line."""

import families
import numpy as np
import pytest
import tiny
import torch
import transformers
from families import LIKE_T5, SIZES
from tiny import SENTENCES

from seq2see.errors import UserError
from seq2see.lens import add_views, logit_lens, trace_hypotheses, trace_texts
from seq2see.lens.changes.interventions import ablate, steer
from seq2see.lens.questions.arithmetic import arithmetic
from seq2see.lens.questions.embeddings import contextual
from seq2see.modeling.loading import load_checkpoint
from seq2see.passes.attention_kinds import KINDS
from seq2see.passes.hooks import attention_sites
from seq2see.tokenizer.encoding import encode_source, encode_target

TEXTS = [SENTENCES[0], "A box!"], ["Le chat n'a pas traversé.", "La boîte"]



def family(name):
    return families.made(name), tiny.foreign_tokenizer()


@pytest.mark.parametrize("name", ["FSMT", "EncoderDecoder"])
def test_weights_of_every_cell_are_shown(name):
    model, tokenizer = family(name)
    together = trace_texts(model, tokenizer, *TEXTS)
    for source, target, trace in zip(*TEXTS, together, strict=True):
        [alone] = trace_texts(model, tokenizer, [source], [target])
        for kind in KINDS:
            np.testing.assert_allclose(trace.maps(kind).sum(-1), 1, atol=1e-5)
            np.testing.assert_allclose(trace.maps(kind), alone.maps(kind), atol=1e-5)
            assert trace.maps(kind).std() > 0.01


@pytest.mark.parametrize("d_kv", [3, 20])
def test_heads_may_be_narrower_or_wider_than_their_share_of_the_model(d_kv):
    """As mT5's: 6 heads of 64 columns beside a width of 512."""
    torch.manual_seed(0)
    config = transformers.T5Config(**{**LIKE_T5, "d_kv": d_kv})
    model = tiny.spread_out(transformers.T5ForConditionalGeneration(config), std=0.3)
    assert {site.head_size for sites in attention_sites(model).values() for site in sites} == {d_kv}
    for trace in trace_texts(model, tiny.foreign_tokenizer(), *TEXTS, views=["norm", "contributions"]):
        together = sum(trace.maps(kind, "contributions").sum(-1) for kind in ("cross", "decoder"))
        np.testing.assert_allclose(together, 1, atol=1e-5)


@pytest.mark.parametrize(("name", "why"), [
    ("LED", r"those of encoder attention have shape \(2, 2, \d+, 5\), expected \(2, heads, (\d+), \1\)"),
    ("LongT5", r"those of encoder attention have shape \(2, \d, 2, 4, 12\)"),
    ("ProphetNet", r"rows of encoder attention sum to -?\d.* not to 1"),
])
def test_what_is_no_weight_is_refused(name, why):
    model, tokenizer = family(name)
    with pytest.raises(UserError, match=f"{name}ForConditionalGeneration gives no attention weights .*: {why}") as told:
        trace_texts(model, tokenizer, *TEXTS)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("inside", [
    lambda model, tokenizer, traces: add_views(model, tokenizer, traces, views=["norm"]),
    lambda model, tokenizer, traces: add_views(model, tokenizer, traces, views=["contributions"]),
    logit_lens,
    lambda model, tokenizer, traces: arithmetic(model, traces[0], ("cross", 0, 0), 0),
    lambda model, tokenizer, traces: contextual(model, tokenizer, "The cat did", "cat"),
    lambda model, tokenizer, traces: ablate(model, [("cross", 0, 0)]).__enter__(),
    lambda model, tokenizer, traces: steer(model, temperatures={("cross", 0, 0): 2.0}).__enter__(),
], ids=["norm", "contributions", "logit lens", "arithmetic", "contextual", "ablate", "steer"])
def test_activations_laid_out_otherwise_are_refused(inside):
    """FSMT's are [T,B,D]: read as [B,T,D] they would be another sentence's, or another token's."""
    model, tokenizer = family("FSMT")
    traces = trace_hypotheses(model, tokenizer, ["a b"] * 4, [[7, 9, 8, 2]] * 4)  # as many as tokens
    with pytest.raises(UserError, match="FSMTForConditionalGeneration has activations in another layout"):
        inside(model, tokenizer, traces)


@pytest.mark.parametrize("name", ["FSMT", "LED"])
def test_a_family_with_eager_attention_alone_is_loaded_and_translates(name, tmp_path):
    model, tokenizer = family(name)
    loaded = load_checkpoint(tiny.save(tmp_path / name, model, tokenizer))
    ids = torch.tensor([encode_source(tokenizer, SENTENCES[0])])
    assert loaded.config._attn_implementation == "eager"
    assert loaded.generate(ids, num_beams=2).tolist() == model.generate(ids, num_beams=2).tolist()


def multilingual(name):
    """A tokenizer of the mBART family, and a model that starts and ends as the family's do."""
    tokens = [token for token in tiny.foreign_tokenizer().get_vocab() if token not in ("<pad>", "<s>", "</s>", "<unk>")]
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *sorted(tokens)]
    if name == "Nllb":
        vocabulary = {token: id for id, token in enumerate(tokens)}
        tokenizer = transformers.NllbTokenizer(vocab=vocabulary, merges=[], src_lang="eng_Latn", tgt_lang="fra_Latn")
    else:
        kind = {"MBart": transformers.MBartTokenizer, "MBart50": transformers.MBart50Tokenizer}[name]
        vocabulary = [(token, -float(id)) for id, token in enumerate(tokens)]
        tokenizer = kind(vocab=vocabulary, src_lang="en_XX", tgt_lang="fr_XX")
    code = tokenizer.convert_tokens_to_ids(tokenizer.tgt_lang)
    first, start = (None, code) if name == "MBart" else (code, 2)
    torch.manual_seed(0)
    model = transformers.MBartForConditionalGeneration(transformers.MBartConfig(
        vocab_size=len(tokenizer), **SIZES, max_position_embeddings=64, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        decoder_start_token_id=start, forced_eos_token_id=None,
    ))
    model.generation_config.update(forced_bos_token_id=first, forced_eos_token_id=None, max_length=20)
    return tiny.spread_out(model, std=0.3), tokenizer, first


@pytest.mark.parametrize("name", ["MBart", "MBart50", "Nllb"])
def test_no_step_comes_after_the_end(name):
    """mBART-25 writes the language of a target after `</s>`, where it is what generation starts from."""
    model, tokenizer, first = multilingual(name)
    ids = encode_target(tokenizer, "Le chat", language="", first=first)
    assert ids.index(2) == len(ids) - 1 and (first is None or (ids[0], ids.count(first)) == (first, 1))
    [trace] = trace_texts(model, tokenizer, ["The cat"], ["Le chat"])
    assert trace.target_ids == tuple(ids) and trace.given == (first is not None)
    assert trace.inputs[0].text == ("fr_XX" if name == "MBart" else "</s>")
