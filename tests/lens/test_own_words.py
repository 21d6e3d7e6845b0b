"""What a model read in place of protected text is never shown as if it were the text."""

from dataclasses import replace

import pytest
import tiny
from writing import writing

from seq2see.lens import Trace, to_html, to_terminal
from seq2see.lens.data.trace_data import ReplacedTexts
from seq2see.lens.data.word_maps import top_source_words, word_map
from seq2see.lens.show.maps import picture
from seq2see.lens.show.plot import save_plot
from seq2see.lens.show.trace_page import trace_record
from seq2see.tokenizer.words import TokenSpan, Word

URL = "https://x.org/a"
TEXTS = {f"The cat at {URL} was tired.": URL, "Mail a.b@c.org to the owl.": "a.b@c.org", "THE CAT WAS TIRED.": "CAT"}


@pytest.fixture(scope="module", params=TEXTS)
def looked(request):
    translator, text = writing(), request.param
    result = translator(text, target="fr")
    assert result.parts[0].model_input not in (None, text)
    [trace] = translator.look(result)
    return trace, text, result.text, TEXTS[text], set(result.parts[0].model_input.split()) - set(text.split())


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_pictures_have_the_text_s_own_words(looked, kind, words):
    trace, text, translation, own, standing_in = looked
    drawn = picture(trace, kind=kind, words=words)
    names = [*drawn.rows, *drawn.columns]
    assert not {name.lstrip("▁") for name in names} & standing_in
    if words or own != "CAT":
        assert any(own in name for name in names)
    assert trace.texts == (text, translation) and text in repr(trace)


@pytest.mark.few(1)
def test_terminal_page_picture_and_tables_have_them(looked, tmp_path):
    trace, text, translation, own, standing_in = looked
    record = trace_record(trace)
    assert record["texts"] == {"source": text, "target": translation} and "replaced" not in record
    for side, whole in (("source", text), ("target", translation)):
        shown = [one for one in record["words"][side] if one["word"] is not None]
        assert [whole[one["start"] : one["end"]] for one in shown] == [one["text"] for one in shown]
        assert own in [one["text"] for one in shown]
    assert own in [unit.text for unit in word_map(trace, "cross").columns]
    assert own in [word for word, _, _ in top_source_words(trace, layer=0, head=0)]
    for drawn in (to_terminal(trace, words=True, width=400), to_html(trace)):
        assert own[:12] in drawn
    save_plot(trace, tmp_path / "a.svg", words=True)
    assert own in (tmp_path / "a.svg").read_text("utf-8")


def test_tokens_have_their_own_words_where_stand_ins_have_other_lengths_that_add_up_to_the_same():
    words = [Word("Anna", 0, 4), Word("saw", 5, 8), Word("Paul", 9, 13)]
    own = (Word("Zoë-A", 0, 5), Word("saw", 6, 9), Word("Bob", 10, 13))
    tokens = [TokenSpan(" " * bool(number) + word.text, number, word.start - bool(number), word.end, False)
              for number, word in enumerate(words)]
    translator = writing()
    [trace] = translator.look(translator(tiny.SENTENCES[0], target="fr"))
    trace = replace(trace, source_text="Anna saw Paul",
                    replaced=ReplacedTexts("Zoë-A saw Bob", "", own, ()))
    assert [token.text for token in trace.named(tokens, source=True)] == ["Zoë-A", " saw", " Bob"]


@pytest.mark.parametrize("name", ["a.json", "a.npz"])
def test_files_keep_them(looked, name, tmp_path):
    trace, *_ = looked
    trace.save(tmp_path / name)
    assert Trace.load(tmp_path / name).replaced == trace.replaced


def test_a_text_that_the_model_read_has_no_other(tmp_path):
    translator = writing()
    [trace] = translator.look(translator(tiny.SENTENCES[0], target="fr"))
    assert trace.replaced is None and trace.words(source=True) == trace.source_words
    trace.save(tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text("utf-8")
    (tmp_path / "a.json").write_text(text.replace('"replaced": null, ', ""), "utf-8")  # as version 0.3 wrote it
    assert Trace.load(tmp_path / "a.json").texts == trace.texts
