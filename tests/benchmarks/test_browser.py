"""A sample of the benchmark of the network in the browser: on the packaged models it is the network of PyTorch."""

import pytest

pytestmark = pytest.mark.browser
TEXTS = {
    "storybook": ["The old man did not open the door this morning.", "The cat sleeps because it is tired.",
                  "The duck sat on the bank.", "The white goat offered the kite to the beautiful bear."],
    "everyday": ["Stop!", "Could you call me back tomorrow morning?", "I’d like 2.5 kg of crème brûlée! 😀"],
}


@pytest.fixture(scope="module")
def bench(imported):
    return imported("browser")


@pytest.fixture(scope="module", params=["storybook", pytest.param("everyday", marks=pytest.mark.long)])
def subject(request, bench, browser):
    tab = browser.new_page()
    made = bench.Subject(request.param, "int8", tab)
    tab.evaluate("given => opened(given)", made.given)
    yield made
    tab.close()


def test_translations_maps_and_effects_of_heads_are_pytorchs(bench, subject):
    texts = TEXTS[subject.name]
    found = bench.equality(subject, texts, heads=1)
    assert {name: found[name] for name in ("source ids", "greedy", "four beams")} == dict.fromkeys(
        ("source ids", "greedy", "four beams"), len(texts))
    assert all(found[name] < wanted for name, wanted in bench.WANTED.items())


def test_ids_offsets_and_texts_are_pythons(bench, subject):
    texts = ["", " ", "<s> L'été<2fr></s>", "QU’Il a\u0301 👩🏽\u200d🦰\r\n\x85 ſ'a PUIſQU’on \ufeff",
             *TEXTS[subject.name], *bench.strings(400)]
    assert bench.same_ids(subject, texts) == len(texts)


def test_half_a_character_is_replaced_and_tokens_have_labels(subject):
    found = subject.tab.evaluate("""() => ({
        half: tokenizer.encode("a\\ud83d b").ids.join() === tokenizer.encode("a\\ufffd b").ids.join(),
        labels: tokenizer.encode(" the\\n").ids.map((id) => tokenizer.label(id)).concat(tokenizer.label(99999)),
        tags: tokenizer.tags })""")
    assert found["half"] and found["tags"] == subject.codec.tags
    assert found["labels"][-3:] == ["<0x0A>", "</s>", "<99999>"] and found["labels"][0] == "▁"
