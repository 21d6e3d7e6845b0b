"""The machine: one screen on which every block of the model stands, with what each adds to the word followed."""

import json
import re
from urllib.parse import urlencode

import pytest
import tiny
import torch
from accessibility import violations
from serving import running
from transformers import MarianConfig, MarianMTModel

from seq2see import Translator
from .conftest import CAT

pytestmark = pytest.mark.browser
# What of the stage is too small to read, outside of it, or over other text.
UNTIDY = """() => {
    const card = document.querySelector('.m-card'), edge = card.getBoundingClientRect(), texts = [], wrong = [];
    const add = (element, said, box) => said.trim() && box.width && texts.push([said.trim(), box, element]);
    for (const one of card.querySelectorAll('svg text')) add(one, one.textContent, one.getBoundingClientRect());
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement.closest('text')) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) add(node.parentElement, node.textContent, box);
    }
    texts.forEach(([said, box, element], i) => {
        if (parseFloat(getComputedStyle(element).fontSize) < 12) wrong.push(`small: ${said}`);
        if (box.left < edge.left + 4 || box.right > edge.right - 4 || box.top < edge.top
            || box.bottom > edge.bottom - 4) wrong.push(`outside: ${said}`);
        for (const [other, place, own] of texts.slice(i + 1)) {
            if (own === element) continue;  // lines of one text
            const wide = Math.min(box.right, place.right) - Math.max(box.left, place.left);
            const high = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
            if (wide > 2 && high > 5.5) wrong.push(`${said} over ${other}`);
        }
    });
    return wrong;
}"""

# From what carried the word to the heading of the other side.
GUTTER = """() => [...document.querySelectorAll('.m-zone')][1].getBoundingClientRect().left
    - document.querySelector('.m-sum').getBoundingClientRect().right"""


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """The page of a post-norm model, a Marian of six layers and eight heads."""
    folder, tokenizer = tmp_path_factory.mktemp("deep"), tiny.foreign_tokenizer()
    torch.manual_seed(1)
    sizes = {f"{side}_{what}": number for side in ("encoder", "decoder")
             for what, number in (("layers", 6), ("attention_heads", 8), ("ffn_dim", 64))}
    config = MarianConfig(vocab_size=460, d_model=32, max_position_embeddings=96, pad_token_id=0, bos_token_id=1,
                          eos_token_id=2, decoder_start_token_id=0, **sizes)
    model = tiny.spread_out(MarianMTModel(config), std=0.15)
    model.generation_config.update(forced_bos_token_id=None, forced_eos_token_id=None, max_length=14)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    with running({"deep": lambda: Translator.from_pretrained(folder, engine="torch")}, page=True) as made:
        yield made


def opened(open_tab, url, *, text=CAT, ready=".m-sum", **settings):
    query = {"text": text, **{name: settings.pop(name) for name in ("model", "word") if name in settings}}
    tab = open_tab(f"{url}/?{urlencode(query)}#machine", **settings)
    tab.locator(ready).wait_for()
    return tab


@pytest.fixture
def cat(open_tab, packaged, request):
    return opened(open_tab, packaged.url, model="storybook", word=11, **getattr(request, "param", {}))


def numbers(found):
    return [float(text.replace("−", "-")) for text in found.all_text_contents()]


def sums(tab):
    """Of what is drawn: the figures above the blocks, the list, and the total."""
    figures = numbers(tab.locator(".figures .m-figure"))
    listed = numbers(tab.locator(".m-carried li button > :last-child, .m-carried li .one > :last-child"))
    return round(sum(figures), 1), round(sum(listed), 1), numbers(tab.locator(".m-sum b"))[0]


def follow(tab, step):
    tab.locator(f"[data-k='word-{step}']").click()
    tab.wait_for_function("step => document.querySelector(`[data-k='word-${step}']`).ariaPressed === 'true'"
                          " && document.querySelector('.m-sum')", arg=step)


# --- what is drawn


def test_the_cat(cat):
    assert cat.locator("[data-rove=source]").count() == 14
    assert cat.locator("[data-rove=inputs]").count() == 12, "what was read before il was written"
    maps = [box.bounding_box() for box in cat.locator(".m-map").all()]
    assert len(maps) == 2 * 3 * 4 and all(round(min(box["width"], box["height"]), 1) >= 32 for box in maps)
    assert cat.locator("[data-k=row-work]").text_content().split() == ["qu'", "→", "il"]
    said = cat.locator("[data-says=machine-carried]")
    falls = "Without the head that looks back at chat (layer 2, head 1), the chance of il falls from over 99% to 74%."
    assert said.inner_text() == ("Most of what adds to it comes from feed-forward layer 2."
                                 f" {falls} That head also steers feed-forward layer 2.")
    assert said.bounding_box()["height"] <= 6 * 20
    assert "chat" in cat.locator(".m-steer").text_content() and cat.locator(".m-steer path").count() == 2
    against = cat.locator(".figures text.in-orange")
    assert against.all_text_contents() == ["−0.1"], "the dashed path of *because*"
    assert sums(cat) == (10.3, 10.3, 10.3)
    cat.locator("[data-k=machine_mode-over]").click()
    assert said.inner_text() == (f"Most of what adds to it comes from feed-forward layer 2. {falls} The lead of il"
                                 " over elle goes from 7.5 to 0.8. The head itself adds +2.4."
                                 " Feed-forward layer 2 adds +4.3 with the head and +0.4 without it.")


@pytest.mark.long
def test_figures_add_up_to_what_is_shown_for_every_word(cat):
    for step in range(1, 17):
        follow(cat, step)
        for mode in ("over", "for"):
            cat.locator(f"[data-k=machine_mode-{mode}]").click()
            figures, listed, total = sums(cat)
            assert figures == listed == total, (step, mode)


@pytest.mark.parametrize("cat", [
    {"color_scheme": "dark", "viewport": {"width": 1366, "height": 768}},
    pytest.param({"color_scheme": "light"}, marks=pytest.mark.long),
], indirect=True)
def test_it_is_one_screen_on_which_everything_can_be_read(cat):
    assert cat.evaluate("document.documentElement.scrollHeight <= innerHeight")
    for step in (11, 1, 16):
        follow(cat, step)
        assert cat.evaluate(UNTIDY) == []
        assert cat.evaluate(GUTTER) >= 24
    assert violations(cat) == []


@pytest.mark.long
@pytest.mark.parametrize("size", [
    (1440, 900), *(pytest.param(size, marks=pytest.mark.long) for size in ((1366, 768), (1024, 700)))])
def test_at_the_end_of_the_story_it_has_the_height_it_needs(open_tab, packaged, size):
    tab = open_tab(f"{packaged.url}/#story", ready=".tale", viewport=dict(zip(("width", "height"), size, strict=True)))
    for _ in range(40):  # sections above it grow when they are drawn
        tab.locator(".tale .whole").evaluate("one => one.scrollIntoView()")
        tab.wait_for_timeout(50)
    tab.locator(".tale .whole .m-sum").wait_for()
    assert tab.locator(".m-card").bounding_box()["height"] >= 720
    assert tab.locator("[data-says=machine-carried]").bounding_box()["height"] <= 6 * 18
    assert tab.evaluate(UNTIDY) == [] and tab.evaluate(GUTTER) >= 24


def test_thickness_is_what_is_added_and_nothing_else(cat):
    follow(cat, 3)  # n', which takes much from "not"
    widths = cat.locator(".flow path:nth-child(2)").evaluate_all(
        "all => all.map((one) => [one.parentElement.dataset.tell, +one.getAttribute('stroke-width')])")
    points = [(abs(float(re.search(r"adds <b>([+−][\d.]+)", tell)[1].replace("−", "-"))), width)
              for tell, width in widths if "This adds" in tell]
    assert len(points) > 2 and max(points)[0] > 3
    for value, width in points:
        assert width == pytest.approx(max(1.2, value * max(points)[1] / max(points)[0]), abs=0.5)
    pale = cat.locator(".m-pale").evaluate_all("all => all.map((one) => getComputedStyle(one).strokeWidth)")
    assert len(set(pale)) == 1


def test_layers_that_add_little_are_folded(open_tab, deep):
    tab = opened(open_tab, deep.url, text="The cat did not cross the street.")
    folds, gates = tab.locator(".m-fold"), tab.locator(".m-gate:not(.m-fold)")
    assert folds.count() >= 2 and tab.evaluate(UNTIDY) == []

    def total():
        inside = [text.split(": ")[1] for text in tab.locator(".figures g:has(.m-folded)").all_text_contents()]
        of_decoder = inside[-tab.locator("[data-area=decoder] .m-fold").count() or len(inside):]
        return round(sum(float(one.replace("−", "-")) for one in of_decoder) + sums(tab)[0], 1)

    assert total() == sums(tab)[2]
    before = gates.count()
    tab.locator("[data-area=decoder] .m-fold").first.click()
    assert gates.count() > before and tab.locator("[data-area=decoder] .m-fold").count() == 0
    assert tab.locator(".m-dot").count() >= 6 * 2 * 8, "heads are dots where maps would be too small"
    tab.locator("[data-k=refold-decoder]").click()
    assert gates.count() == before


def test_of_a_long_sentence_the_first_thirty_tokens_are_drawn(open_tab, deep):
    tab = opened(open_tab, deep.url, text=" ".join(["The cat did not cross the street"] * 6))
    assert tab.locator("[data-rove=source]").count() == 30
    said = tab.locator("[data-says=machine-left-out]").inner_text()
    assert re.fullmatch(r"Only the first 30 of \d+ source tokens are drawn\. The other \d+ add [+−]?\d+\.\d\.", said)
    assert tab.evaluate(UNTIDY) == []


def test_a_language_from_right_to_left(open_tab, packaged):
    tab = open_tab(packaged.url)

    def as_arabic(route):
        asked = json.dumps(route.request.post_data_json).replace('"target": "ar"', '"target": "fr"')
        answer = route.fetch(post_data=asked).json()
        for trace in answer.get("traces", []):
            trace["target_language"] = "ar"
        route.fulfill(json=answer)

    tab.route(re.compile("/v1/(look|inside)$"), as_arabic)
    tab.goto(f"{packaged.url}/?{urlencode({'text': 'The dog sleeps.', 'model': 'storybook'})}#machine")
    tab.locator(".m-sum").wait_for()
    assert tab.locator(".m-text[dir=rtl] .m-word").count() > 2 and tab.evaluate(UNTIDY) == []
    assert "Arabic" in tab.locator(".m-svg").text_content()


# --- while the numbers are awaited, and without them


@pytest.mark.parametrize(("status", "answer", "said"), [
    (None, {}, "Computing…"), (400, {"error": "This model has no hooks."}, "This model has no hooks."),
])
def test_rows_and_blocks_stand_without_the_numbers(open_tab, packaged, status, answer, said):
    tab = open_tab(f"{packaged.url}/?{urlencode({'text': CAT, 'model': 'storybook', 'word': 11})}")
    held = []
    tab.route("**/v1/inside", lambda route: route.fulfill(status=status, json=answer) if status else held.append(route))
    tab.get_by_role("link", name="Lab", exact=True).click()
    tab.get_by_role("link", name="The machine").click()
    tab.get_by_text(said).wait_for()
    assert tab.locator(".m-gate").count() == 4 + 6 + 1 and tab.locator("[data-rove=source]").count() == 14
    assert tab.locator(".flow").count() == 0 and tab.evaluate(UNTIDY) == []
    for route in held:
        route.continue_()
    if held:
        tab.locator(".m-sum").wait_for()


# --- the reader's hands


def test_another_word_is_followed(cat):
    pressed = cat.locator(".m-word[aria-pressed=true]")
    follow(cat, 6)
    assert pressed.inner_text() == "traversé" and "traversé" in cat.locator(".m-carried h2").inner_text()
    cat.keyboard.press(".")
    assert pressed.inner_text() == "la"
    cat.keyboard.press(",")
    cat.keyboard.press(",")
    assert pressed.inner_text() == "pas"
    cat.keyboard.press("ArrowRight")
    cat.keyboard.press("Enter")
    assert pressed.inner_text() == "traversé"
    cat.get_by_role("link", name="See", exact=True).click()
    assert cat.locator(".tgt .w.sel").inner_text() == "traversé", "the pages follow the same word"


def test_one_of_several_tokens_of_a_word_is_chosen(open_tab, packaged):
    tab = opened(open_tab, packaged.url, text="It will be sold in winter.", model="everyday")
    several = tab.locator(".m-word.several")
    assert several.count() >= 2
    for token in several.all()[:2]:
        token.click()
        tab.locator(".m-sum").wait_for()
        assert token.get_attribute("aria-pressed") == "true"
        assert tab.locator("[data-k=row-work]").text_content().split()[-1].strip("·") in token.inner_text()


def test_pointer_and_focus_say_the_same_sentence(cat):
    tip, gate = cat.locator(".m-tip"), cat.locator("[data-k=gate-cross-1] > rect")
    gate.hover(position={"x": 60, "y": 20})
    assert tip.get_attribute("data-says") == "machine-block"
    said = tip.inner_text()
    assert said == "By looking at English, layer 2 adds +1.6 to the score of il. The largest part is from it: +1.4."
    cat.mouse.move(5, 5)
    assert tip.is_hidden()
    cat.locator("[data-k=gate-decoder-1]").focus()
    cat.keyboard.press("Tab")
    cat.keyboard.press("Shift+Tab")
    cat.keyboard.press("Tab")
    assert tip.is_visible() and tip.inner_text() == cat.evaluate(
        "() => { const box = document.createElement('p'); box.innerHTML = document.activeElement.dataset.tell;"
        " return box.textContent.replace(/\\s+/g, ' ').trim(); }")
    assert said == tip.inner_text()


def test_a_path_under_the_pointer_stands_out(cat):
    item = cat.locator(".m-carried [data-key='decoder:3']")
    item.hover()
    lit = cat.locator(".flow.hot")
    assert lit.count() == 1 and lit.get_attribute("data-key") == "decoder:3"
    other = cat.locator(".flow[data-key='cross:8']").last.element_handle()
    cat.wait_for_function("one => getComputedStyle(one).opacity < 0.9", arg=other)


@pytest.mark.parametrize("block", [
    "choose", *(pytest.param(one, marks=pytest.mark.long) for one in (
        "encoder-0", "encoder_feed_forward-1", "decoder-1", "cross-0", "feed_forward-1"))])
def test_a_block_opens_and_closes_from_the_keyboard(cat, block):
    gate = cat.locator(f"[data-k=gate-{block}]")
    gate.focus()
    cat.keyboard.press("Enter")
    dialog = cat.locator(".m-open")
    dialog.wait_for()
    assert cat.evaluate("document.querySelector('.m-open').contains(document.activeElement)")
    cat.keyboard.press("Escape")
    assert dialog.count() == 0
    assert gate.evaluate("one => one === document.activeElement")


def test_a_word_is_followed_from_stop_to_stop(cat):
    cat.locator("[data-k=machine-follow]").click()
    stop = cat.locator(".m-stop")
    for n in range(1, 9):
        assert stop.inner_text().startswith(f"{n} of 8")
        assert stop.locator("[data-says=machine-tour]").inner_text()
        assert cat.locator(".m-spot rect").count() >= 1
        cat.keyboard.press("Enter")
    assert stop.count() == 0
    cat.locator("[data-k=machine-follow]").click()
    cat.keyboard.press("Escape")
    assert stop.count() == 0
    assert cat.locator("[data-k=machine-follow]").evaluate("one => one === document.activeElement")


# --- everywhere


@pytest.mark.long
def test_the_file_has_the_same_machine(open_tab, file):
    tab = open_tab(f"{file}#machine", offline=True)
    tab.locator(".m-sum").wait_for()
    assert sums(tab) == (10.3, 10.3, 10.3) and tab.evaluate(UNTIDY) == []


def test_a_phone_has_it_as_cards(open_tab, packaged):
    tab = opened(open_tab, packaged.url, model="storybook", word=11, viewport={"width": 390, "height": 844})
    assert tab.locator(".m-card").count() == 0 and tab.locator(".tall .card").count() == 3
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert sums(tab)[1:] == (10.3, 10.3)
