"""A source without a word has an empty translation, in every way of generating; the rows beside it stay as they are."""

import pytest
import torch
from tiny import seq2see
from transformers import AutoTokenizer, GenerationMixin

BLANK = ["", " ", "\n", " \t\r\n   ", "\u00a0", "\u3000\u2003"]
WORDS = ["The cat did not cross the street.", "because", "</s> a", "。", "\u00a0猫"]  # two are spelled in bytes

WAYS = [
    {"min_new_tokens": 5},
    {"num_beams": 3, "num_return_sequences": 3, "length_penalty": 2.0, "forced_bos_token_id": None},
    {"do_sample": True, "num_return_sequences": 3, "temperature": 2.0, "top_k": 50, "top_p": 0.9},
    {"prompt_lookup_num_tokens": 2},
    {"cache_implementation": "static", "num_beams": 2},
    {"use_cache": False, "repetition_penalty": 1.5, "no_repeat_ngram_size": 2},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The model, our tokenizer, and the stock class that AutoTokenizer gives."""
    model, tokenizer = seq2see()
    model.config.blank_token_ids = tokenizer.blank_token_ids
    folder = tmp_path_factory.mktemp("tokenizer")
    tokenizer.save_pretrained(folder)
    return model, tokenizer, AutoTokenizer.from_pretrained(folder)


@pytest.mark.few(3)
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_blank_text_has_an_empty_translation(made, how):
    model, tokenizer, stock = made
    torch.manual_seed(0)
    for text in BLANK:
        ids = model.generate(**stock(text, return_tensors="pt"), **how)
        assert set(stock.batch_decode(ids, skip_special_tokens=True)) == {""}
    if "prompt_lookup_num_tokens" in how:  # of one text at a time
        return
    texts = [text for pair in zip(BLANK, WORDS, strict=False) for text in pair]
    ids = model.generate(**tokenizer(texts, return_tensors="pt", padding=True), **how)
    found = tokenizer.batch_decode(ids, skip_special_tokens=True)
    found = [set(found[i : i + len(found) // len(texts)]) for i in range(0, len(found), len(found) // len(texts))]
    assert all(one == {""} for one in found[::2])
    assert all("" not in one for one in found[1::2])


@pytest.mark.parametrize("how", [{}, {"num_beams": 4, "early_stopping": True}], ids=["greedy", "beam"])
def test_the_rows_beside_it_stay_as_they_are(made, how):
    """To the bit."""
    model, tokenizer, _ = made
    batch = tokenizer(WORDS + BLANK, return_tensors="pt", padding=True)
    how = how | {"return_dict_in_generate": True, "output_scores": True}
    ours, theirs = model.generate(**batch, **how), GenerationMixin.generate(model, **batch, **how)
    for one, other in zip(ours.scores, theirs.scores, strict=False):
        rows = len(one) // len(batch["input_ids"]) * len(WORDS)
        assert torch.equal(one[:rows], other[:rows])
    one, other = (tokenizer.batch_decode(out.sequences, skip_special_tokens=True) for out in (ours, theirs))
    assert one[: len(WORDS)] == other[: len(WORDS)] and one != other


def test_without_the_vocabulary_only_special_tokens_are_nothing(made):
    model, tokenizer, _ = made
    model.config.blank_token_ids = None
    empty, space = (model.generate(**tokenizer(text, return_tensors="pt")) for text in ("", " "))
    model.config.blank_token_ids = tokenizer.blank_token_ids
    assert tokenizer.decode_text(empty[0]) == "" != tokenizer.decode_text(space[0])
    assert tokenizer.convert_ids_to_tokens(empty[0].tolist()) == ["<s>", "<2fr>", "</s>"]
