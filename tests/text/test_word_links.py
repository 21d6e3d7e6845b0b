"""Links between words, as files have them."""

import pytest

from seq2see.errors import UserError
from seq2see.text.word_links import Links, from_pharaoh, read_pharaoh, to_pharaoh


def test_pharaoh_goes_round_and_names_what_is_wrong(tmp_path):
    assert to_pharaoh([(10, 2), (2, 0), (2, 11)]) == "2-0 2-11 10-2"
    assert from_pharaoh("2-0 2-11 10-2").sure == {(10, 2), (2, 0), (2, 11)}
    assert from_pharaoh("1-1 1p1 2p2") == Links(frozenset({(1, 1)}), frozenset({(2, 2)})), "sure is not merely possible"
    for wrong in ("0-0-1", "0-0x", "-0-0"):
        (tmp_path / "links").write_text(f"0-0\n\n{wrong} 2-2\n")
        with pytest.raises(UserError, match=rf"links, line 3: '{wrong}' is not a link"):
            list(read_pharaoh(tmp_path / "links"))
