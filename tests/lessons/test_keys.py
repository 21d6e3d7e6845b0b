"""What keys tell of nouns: by means that other nouns made, and read from the very projection."""

import numpy as np
import torch

from seq2see.lens.forcing import encode_source
from seq2see.lessons.keys import Nouns, alive, one, read_nouns, told, told_by_keys
from seq2see.lessons.workbench import Workbench
from seq2see.storybook import StoryPair
from seq2see.storybook.lexicon import NOUNS


def nouns(**keys: float) -> Nouns:
    """One key of one component for each, by the only head."""
    entries = tuple((NOUNS[name], False) for name in keys)
    return Nouns(entries, np.array(list(keys.values())).reshape(-1, 1, 1, 1))


def test_a_noun_is_told_by_other_nouns_alone() -> None:
    known = nouns(cat=1.0, dog=1.2, fox=-1.0, box=-1.1, wall=-0.9)
    assert told(known, known, alive, 0, 0) == {True: [1.0, 1.0, 0.0], False: [1.0, 1.0]}
    assert told(known, nouns(cat=-1.0), alive, 0, 0) == {True: [0.0], False: []}
    own = nouns(cat=1.0, box=-1.0, wall=-1.0)  # but for the cat itself there is nobody like it
    assert told(own, nouns(cat=1.0), alive, 0, 0)[True] == [0.0]


def test_keys_are_those_of_the_nouns(bench: Workbench) -> None:
    roles = ((1, "agent"), (2, "action"), (4, "patient"))
    story = StoryPair("The cats saw a box.", "", "", "", (), roles=roles)  # a saw is a noun too
    found = read_nouns(bench, [story])
    assert found.entries == ((NOUNS["cat"], True), (NOUNS["box"], False))
    assert [(alive(*entry), one(*entry)) for entry in found.entries] == [(True, False), (False, True)]
    encoder, ids = bench.model.model.encoder, torch.tensor([encode_source(bench.tokenizer, story.source)])
    with torch.no_grad():
        layer = encoder.layers[0]
        states = encoder.embedder(bench.model.model.shared(ids))
        key_SD = layer.self_attn.k_proj(layer.self_attn_layer_norm(states))[0]
    shape = found.keys_NLHE.shape
    assert shape[1:3] == (len(encoder.layers), bench.model.config.encoder_attention_heads)
    for number in range(2):
        assert any(np.allclose(found.keys_NLHE[number, 0].ravel(), key, atol=1e-5) for key in key_SD.numpy())
    assert not np.allclose(found.keys_NLHE[0], found.keys_NLHE[1])


def test_of_every_noun_of_unseen_sentences_it_is_told(bench: Workbench) -> None:
    found = told_by_keys(bench, alive)
    assert 0 <= found.low <= min(found.so.value, found.not_so.value) <= 1
    assert found.layer < bench.model.config.encoder_layers and found.head < bench.model.config.encoder_attention_heads
