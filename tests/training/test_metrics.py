"""The literature's BLEU: our text is brought to the very form of its references."""

import pytest

from seq2see.training.metrics import tokenized_bleu
from seq2see.training.reading import read_lines


def test_text_is_tokenised_as_the_references_are():
    """Lower case, punctuation apart, elisions cut after the apostrophe, apostrophes and quotes escaped."""
    text = "L'homme s'arrête : il crie « Stop ! »"
    reference = "l&apos; homme s&apos; arrête : il crie &quot; stop ! &quot;"
    assert tokenized_bleu([text], [reference], language="fr")[0] == pytest.approx(100)
    assert tokenized_bleu([text], [reference.replace("&apos;", "'")], language="fr")[0] < 70


@pytest.mark.parametrize("language", ["de", "fr", "cs"])
def test_the_untokenised_references_of_multi30k_score_full_marks(shared_data, language):
    folder = shared_data / "multi30k"
    lines = [list(read_lines(folder / f"val.{form}{language}.gz")) for form in ("", "lc.norm.tok.")]
    assert tokenized_bleu(lines[0], lines[1], language=language)[0] > 99.95
