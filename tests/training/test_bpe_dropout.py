"""BPE-dropout cuts words otherwise, never into other words, and the same way for the same seed."""

import pytest

from seq2see.tokenizer.tokenization_seq2see import train_tokenizer
from seq2see.training.bpe_dropout import BpeDropout, RecutPairs
from seq2see.training.pairs import Pair

TEXTS = [
    "The cat didn't cross the street because it was too tired.",
    "Le chat n'a pas traversé la rue parce qu'il était trop fatigué.",
    "Où est l'arbre ? Aujourd'hui, 1234 élèves ont chanté !",
    "  two  spaces, ελληνικά, हिन्दी, 中文 and 🙂 too ",
]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(TEXTS[:3] * 5, vocab_size=420, languages=["fr"])


@pytest.mark.parametrize("text", TEXTS)
def test_without_dropout_the_pieces_are_the_tokenizers_own(tokenizer, text):
    assert BpeDropout(tokenizer, p=0.0).encode(text, (0,)) == tokenizer.encode_source(text)[:-1]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("p", [0.1, 1.0])
def test_whatever_the_pieces_they_spell_the_text(tokenizer, text, p):
    ids = BpeDropout(tokenizer, p=p).encode(text, (3, 1))
    assert tokenizer.decode_text([*ids, tokenizer.eos_token_id]) == text


def test_more_dropout_makes_more_pieces_up_to_single_characters(tokenizer):
    counts = [sum(len(BpeDropout(tokenizer, p=p).encode(TEXTS[1], (i,))) for i in range(20)) for p in (0, 0.1, 0.5, 1)]
    assert counts[0] < counts[1] < counts[2] < counts[3] == 20 * (len(TEXTS[1]) + 1)


def test_pieces_depend_on_seed_epoch_and_place_alone(tokenizer):
    def cut(seed: int, epoch: int, place: int) -> list[list[int]]:
        dropout = BpeDropout(tokenizer, p=0.3, seed=seed)
        dropout.set_epoch(epoch)
        return [dropout.encode(text, (place, 0)) for text in TEXTS]

    assert cut(0, 2, 5) == cut(0, 2, 5)
    assert len({str(cut(*which)) for which in [(0, 2, 5), (1, 2, 5), (0, 3, 5), (0, 2, 6)]}) == 4


def test_a_second_epoch_forgets_the_first(tokenizer):
    dropout = BpeDropout(tokenizer, p=0.3)
    first = dropout.encode(TEXTS[0], (0,))
    dropout.set_epoch(1)
    second = dropout.encode(TEXTS[0], (0,))
    dropout.set_epoch(0)
    assert dropout.encode(TEXTS[0], (0,)) == first != second


def test_recut_pairs_keep_tag_and_end_and_change_with_the_epoch(tokenizer):
    pairs = [Pair(TEXTS[0], TEXTS[1], "en", "fr")] * 3
    recut = RecutPairs(pairs, tokenizer, max_length=200, p=0.3)
    whole = recut.table.slice(0, 1).to_pylist()[0]
    seen = set()
    for epoch in range(3):
        recut.set_epoch(epoch)
        for item in (recut[index] for index in range(3)):
            assert (item.labels[0], item.labels[-1], item.source[-1]) == (tokenizer.tag_id("fr"), 2, 2)
            assert tokenizer.decode_text(item.source) == TEXTS[0] and tokenizer.decode_text(item.labels) == TEXTS[1]
            seen.add((tuple(item.source), tuple(item.labels)))
    assert len(seen) == 9  # every copy of the pair, in every epoch, in other pieces
    assert len(recut.lengths()) == 3 and recut.lengths()[0].max() == max(map(len, whole.values()))
    short = [Pair("The cat.", TEXTS[1], "en", "fr")]
    room = int(RecutPairs(short, tokenizer, max_length=200, p=0.9).lengths().max())
    for both in (short, [Pair(TEXTS[1], "Le chat.", "en", "fr")]):  # either side may be the one that has no room
        assert max(map(len, (RecutPairs(both, tokenizer, max_length=room, p=0.9)[0].source,
                             RecutPairs(both, tokenizer, max_length=room, p=0.9)[0].labels))) <= room  # fmt: skip
    tight = RecutPairs(pairs, tokenizer, max_length=int(recut.lengths().max()), p=0.9)
    assert list(tight[0].source) == whole["source_ids"] and list(tight[0].labels) == whole["labels"]
