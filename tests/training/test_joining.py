"""Texts made of training pairs: every pair once an epoch, other texts in each, rows of unchanging lengths."""

import numpy as np
import pytest

from seq2see.tokenizer.tokenization_seq2see import train_tokenizer
from seq2see.training.batching import EncodedPairs
from seq2see.training.guided_alignment import guide_of
from seq2see.training.joining import MOST_JOINED, JoinedPairs
from seq2see.training.pairs import Pair
from .conftest import toy_pairs
from .test_guided import guided_pairs, links_of

PAIRS = toy_pairs(300)


def joined(tokenizer, *, pairs=PAIRS, share=0.4, max_length=200, seed=0) -> JoinedPairs:
    encoded = EncodedPairs(pairs, tokenizer, max_length=max_length)
    return JoinedPairs(encoded, share=share, max_length=max_length, seed=seed)


def rows(dataset: JoinedPairs) -> list[list[int]]:
    return [dataset.pairs_of(row) for row in range(len(dataset))]


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_each_epoch_has_every_pair_once_and_the_share_of_them_in_texts(tokenizer, share):
    dataset = joined(tokenizer, share=share)
    for epoch in range(3):
        dataset.set_epoch(epoch)
        members = rows(dataset)
        assert sorted(index for row in members for index in row) == list(range(len(PAIRS)))
        assert max(map(len, members)) <= MOST_JOINED
        in_texts = sum(len(row) for row in members if len(row) > 1)
        assert share * len(PAIRS) - 1 <= in_texts <= share * len(PAIRS)
    if share == 0.4:
        assert {len(row) for row in members} == set(range(1, MOST_JOINED + 1))


def test_a_text_has_the_tokens_of_its_pairs_written_one_after_the_other(tokenizer):
    dataset = joined(tokenizer)
    for row, members in enumerate(rows(dataset)):
        source, target = (" ".join(getattr(PAIRS[index], side) for index in members) for side in ("source", "target"))
        item = dataset[row]
        assert list(item.source) == tokenizer.encode_source(source)
        assert list(item.labels) == tokenizer.encode_targets([target], ["fr"])[0]
        assert list(dataset.lengths_R2[row]) == [len(item.source), len(item.labels)]


def test_epochs_join_other_pairs_in_rows_of_the_same_lengths(tokenizer):
    dataset = joined(tokenizer)
    first = rows(dataset)
    dataset.set_epoch(1)
    second = rows(dataset)
    for row, lengths in enumerate(dataset.lengths_R2.tolist()):
        assert [len(dataset[row].source), len(dataset[row].labels)] == lengths
    texts = {tuple(row) for row in first if len(row) > 1}
    assert len(texts & set(map(tuple, second))) < len(texts) / 10
    dataset.set_epoch(0)
    assert rows(dataset) == first == rows(joined(tokenizer))  # a function of seed and epoch
    assert rows(joined(tokenizer, seed=1)) != first


def test_a_text_is_of_one_target_language_and_fits_the_model():
    texts = [text for pair in PAIRS for text in (pair.source, pair.target)]
    tokenizer = train_tokenizer(texts, vocab_size=400, languages=["de", "fr"])
    both = [Pair(one.source, one.target, "en", language) for one in PAIRS for language in ("fr", "de")]
    for seed, max_length in enumerate([200] * 4 + [60]):
        dataset = joined(tokenizer, pairs=both, share=1.0, max_length=max_length, seed=seed)
        for row, members in enumerate(rows(dataset)):
            assert {both[index].target_language for index in members} == {both[members[0]].target_language}
            assert dataset[row].labels[0] == tokenizer.tag_id(both[members[0]].target_language)
            assert max(len(dataset[row].source), len(dataset[row].labels)) <= max_length
        assert any(len(members) > 1 for members in rows(dataset))


def test_a_text_that_would_not_fit_is_cut_and_what_was_joined_is_told(tokenizer):
    encoded = EncodedPairs(PAIRS, tokenizer, max_length=200)
    room = int(encoded.lengths_N2.max()) + 8  # for two short pairs
    dataset = JoinedPairs(encoded, share=1.0, max_length=room)
    assert dataset.lengths_R2.max() <= room and 2 <= dataset.most_joined == max(map(len, rows(dataset))) < MOST_JOINED
    assert JoinedPairs(encoded, share=0.0, max_length=200).most_joined == 1


def test_links_follow_their_pairs_into_a_text(tokenizer):
    guided = guided_pairs(PAIRS, tokenizer, max_length=200)
    dataset = JoinedPairs(guided, share=0.4, max_length=200)
    for row, members in enumerate(rows(dataset)):
        links, i0, j0 = [], 0, 0
        for index in members:
            links += [(i + i0, j + j0) for i, j in links_of(PAIRS[index])]
            i0, j0 = i0 + len(PAIRS[index].source.split()), j0 + len(PAIRS[index].target.split())
        text = Pair(*(" ".join(getattr(PAIRS[index], side) for index in members) for side in ("source", "target")),
                    "en", "fr")
        expected = guide_of(text, links, tokenizer)
        assert np.array_equal(np.sort(dataset[row].guide, axis=0), np.sort(expected, axis=0))
