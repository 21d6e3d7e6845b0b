"""A text of many words in the page: it wraps inside its card, and its map stays to be seen."""

import tiny
from writing import writing

from seq2see.lens import to_html

TEXT = " ".join(" ".join(tiny.SENTENCES).replace(".", "").replace("?", "").replace(",", "").split() * 4)[:1_000]


def test_a_long_translation_stays_in_its_card(open_tab, tmp_path):
    translator = writing(kind="t5")  # which takes a text of any length
    [trace] = translator.look(translator(TEXT))
    (tmp_path / "look.html").write_text(to_html(trace), "utf-8")
    tab = open_tab((tmp_path / "look.html").as_uri(), ready=".tgt", offline=True)
    for width, height in ((1280, 800), (1280, 700), (1440, 900), (1000, 800), (390, 800)):
        tab.set_viewport_size({"width": width, "height": height})
        tab.wait_for_timeout(200)
        card, why, work, line = (tab.locator(name).first.bounding_box() for name in (".texts", ".why", ".work", ".tgt"))
        assert card["y"] + card["height"] <= why["y"] + 1 and work["height"] >= 150, (width, height, card, why, work)
        right, below = card["x"] + card["width"], card["y"] + card["height"]
        assert right <= work["x"] + 1 or below <= work["y"] + 1, (width, card, work)
        inside = tab.locator(".texts").evaluate("one => one.scrollHeight - one.clientHeight")
        assert line["y"] + line["height"] <= card["y"] + card["height"] + inside + 1
