"""A translation that is a copy, far shorter or cut off says so in every interface; what must stay as it is does not."""

import io
import json
from dataclasses import replace
from itertools import product

import httpx
import pytest
import serving
import tiny
from node import Node
from writing import writing

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.text.warnings import is_far_shorter, letters, may_not_stay
from seq2see.translate.remarks import WARNINGS

COPIED = [
    "The cat sees the house.", "the cat sees the house", "THE CAT SEES THE HOUSE.", "Anna sees Paul.", "I am tired",
    "See https://x.org/a for details.", "Кот видит дом.", "猫在桌子上睡觉。", "अच्छा दिन है आज", "“Where is the cat?”",
    "Die Katze schläft.", "How are you?", "Send 3 files to {name}, please.",
]
KEPT = [
    "https://x.org/a?b=c", "12.50 €", "x = 3", "print('hello world')", "for (int i = 0; i < n; i++) {", "v1.2.3",
    "SELECT * FROM users WHERE id = 1;", "Angela Merkel", "Ludwig van Beethoven", "Charles de Gaulle.", "北京", "NATO",
    "Paris, France", "OK", "iPhone 15 Pro", "a.b@c.org", "`the cat sees the house`", "pip install seq2see", "Help!",
    "npm run build", "git push origin main", "import numpy as np", "for line in file:", "{name}: %s",
    "C:\\the\\cat sleeps", "2 + 2 = 4", "Mr. and Mrs. Smith",
]
BRIEF = [("How are you doing?", "Ça va ?"), ("Thank you very much!", "Merci !"), ("The cat sleeps.", "猫睡觉。"),
         ("I have a lot of work to do today, sorry.", "Désolé, j'ai du travail.")]
SHORT = [("The cat did not cross the street because it was too tired.", "Le chat."), ("the cat and " * 300, "le chat")]


@pytest.mark.parametrize("text", COPIED)
def test_a_copy_is_unchanged(text):
    assert writing()(text, source="en", target="fr").warnings == ("unchanged",)


@pytest.mark.few(12)
@pytest.mark.parametrize("text", [*KEPT, "", " ", "…", "12345"])
def test_what_must_stay_has_no_warning(text):
    assert writing()(text, source="en", target="fr").warnings == ()


def test_what_the_caller_keeps_may_stay():
    from seq2see.text.glossary import Glossary

    text, translator = "The cat sees the house.", writing()
    assert translator(text, target="fr", keep=".+").warnings == ()
    terms = Glossary.of({"The cat sees": "The cat sees", "house": "house"})
    assert translator(text, target="fr", glossary=terms).warnings == ()


def test_a_part_that_is_a_copy_is_a_warning_of_the_whole():
    translator = writing(lambda text: text if "house" in text else "Le chat dort ici et là.")
    assert translator("The cat is here and there. I like the house.", target="fr").warnings == ("unchanged",)
    assert translator("<p>The cat is here.</p><p>I like the <b>house</b>.</p>", target="fr",
                      format="html").warnings == ("unchanged",)


def test_within_a_language_a_copy_is_no_warning():
    result = writing()("The cat sees the house.", target="fr")
    for languages in (("en", "en"), ("en", "eng"), ("en_GB", "en_US")):
        source, target = languages
        own = replace(result, source_language=source, target_language=target)
        assert own.warnings == ()
    assert replace(result, source_language="", target_language="").warnings == ("unchanged",)


@pytest.mark.parametrize(("source", "text"), [*BRIEF, *SHORT])
def test_far_shorter(source, text):
    assert is_far_shorter(source, text) is ((source, text) in SHORT)


def test_a_long_text_without_a_full_stop_is_not_lost():
    """A model that stops after twenty words: the text is translated in halves."""
    words = list(map("".join, product("abcdef", repeat=4)))
    translator = writing(lambda text: " ".join(text.split()[:20]), kind="t5")  # which has no most positions
    result = translator(" ".join(words))
    assert len(set(result.text.split()) & set(words)) >= 0.6 * len(words) and "too_short" not in result.warnings


def test_a_model_that_writes_next_to_nothing_is_warned_of():
    result = writing(lambda text: "Le chat.")(SHORT[0][0], target="fr")
    assert result.warnings == ("too_short",)


@pytest.mark.few(2)
@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
@pytest.mark.parametrize("beams", [1, 2])
def test_a_forced_end_at_the_limit_is_no_end(tmp_path, engine, beams):
    """mBART's and BART's `forced_eos_token_id` closes a translation that has none."""
    model, tokenizer = tiny.make("bart")
    model.generation_config.update(forced_eos_token_id=2, max_length=8, num_beams=beams)
    model.final_logits_bias[0, 2] = -100  # it never ends
    folder = tiny.save(tmp_path / "model", model, tokenizer)
    result = Translator.from_pretrained(folder, engine=engine, precision="float32")(tiny.SENTENCES[0])
    assert result.engine == engine and result.hypotheses[0].token_ids[-1] == 2
    assert not result.hypotheses[0].finished and "cut_off" in result.warnings
    penalised = Translator.from_pretrained(folder, engine=engine, precision="float32")(
        tiny.SENTENCES[0], repetition_penalty=1.2)
    assert not penalised.hypotheses[0].finished and penalised.hypotheses[0].log_prob < 0


def test_commands_count_them(monkeypatch, tmp_path, capsys):
    lines = ["The cat sees the house.", "https://x.org/a", "Paris.", "The owl sees the crow."]
    monkeypatch.setattr("seq2see.translate.Translator.from_pretrained", lambda *_, **__: writing())
    file = tmp_path / "in.txt"
    file.write_text("\n".join(lines) + "\n")
    assert main(["translate", "model", str(file), "--lines", "--to", "fr", "-o", str(tmp_path / "out.txt")]) == 0
    said = capsys.readouterr().err
    assert f"out.txt: 2 of 4 lines: {WARNINGS['unchanged']} (first: line 1)" in said
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    assert main(["translate", "model", "--to", "fr", "--jsonl"]) == 0
    out, err = capsys.readouterr()
    assert [json.loads(line)["warnings"] for line in out.splitlines()] == [["unchanged"], [], [], ["unchanged"]]
    assert f"2 of 4 lines: {WARNINGS['unchanged']} (first: line 1)" in err
    assert main(["look", "model", lines[0], "--to", "fr"]) == 0
    assert f"\n{WARNINGS['unchanged']}\n" in f"\n{capsys.readouterr().err}"


def test_servers_say_them():
    bad, good = "The cat sees the house.", "https://x.org/a"
    with serving.running({"tiny": writing}) as server:
        def ask(path, body):
            return httpx.post(server.url + path, json=body, timeout=60).json()

        found = ask("/v1/translate", {"texts": [bad, good], "source": "en", "target": "fr"})["translations"]
        assert [one["warnings"] for one in found] == [["unchanged"], []]
        libre = {"source": "en", "target": "fr"}
        assert ask("/translate", {"q": bad, **libre})["warnings"] == ["unchanged"]
        assert ask("/translate", {"q": [good, bad], **libre})["warnings"] == [[], ["unchanged"]]
        assert ask("/translate", {"q": good, **libre}) == {"translatedText": good}
        parameters = {"src_lang": "en", "tgt_lang": "fr"}
        assert ask("/", {"inputs": [bad, good], "parameters": parameters}) == [
            {"translation_text": bad, "warnings": ["unchanged"]}, {"translation_text": good}]


def test_the_browser_has_the_same_rules():
    draw = """(pairs) => pairs.map(([text, written]) =>
        s2s_warnings.warningsOf([{ text, hypotheses: [{ text: written }] }], { finished: true }, ["en", "fr"]))"""
    copies = [*COPIED, *KEPT, *(text for pair in BRIEF for text in pair)]
    pairs = [*zip(copies, copies, strict=True), *BRIEF, *SHORT]
    with Node("warnings") as node:
        found = node.evaluate(draw, pairs)
    assert found == [["unchanged"] * (letters(text) == letters(written) and may_not_stay(text))
                     + ["too_short"] * is_far_shorter(text, written) for text, written in pairs]
