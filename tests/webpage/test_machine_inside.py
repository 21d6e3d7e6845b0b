"""What a block of the machine opens, the machine on a phone, and the way of a word through it: figures are those of the
answer, sums those of the figures shown, and everything is reached by keyboard."""

import contextlib
import json
import math
import re
from urllib.parse import urlencode

import pytest
from accessibility import violations

from .conftest import CAT, settled

Error = pytest.importorskip("playwright.sync_api").Error
pytestmark = pytest.mark.browser
LONG = ("The old king and the queen sold the small castle near the river because it was too big, and then they bought a"
        " white house on the hill for their two children.")
BLOCKS = ["encoder.1", "encoder_feed_forward.0", "decoder.0", "cross.1", "feed_forward.1", "choose"]
SMALL = """() => [...document.querySelectorAll('.machine *')].filter((one) => one.checkVisibility()
    && [...one.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())
    && parseFloat(getComputedStyle(one).fontSize) < 12).map((one) => one.textContent)"""
MODELS = ["storybook", pytest.param("everyday", marks=pytest.mark.long)]
PHONE = {"viewport": {"width": 390, "height": 844}}


class Machine:
    """The page, and what the server answered it."""

    def __init__(self, open_tab, url, *, text=CAT, model="storybook", word=11, change=None, **settings):
        self.answers = {}
        query = urlencode({"text": text, "model": model, "from": "en", "to": "fr", "word": word})
        self.tab = open_tab(f"{url}/?{query}", **settings)

        def answer(route):
            question = route.request.post_data_json["question"]
            with contextlib.suppress(Error):  # the page has been closed meanwhile
                found = route.fetch()
                body = found.json()
                if question["tool"] == "machine" and change:
                    change(body)
                self.answers[question["tool"]] = body
                route.fulfill(status=found.status, content_type="application/json", body=json.dumps(body))

        self.tab.route("**/v1/inside", answer)
        self.tab.evaluate("location.hash = 'machine'")
        self.tab.locator(".m-sum").wait_for()

    @property
    def data(self):
        return self.answers["machine"]

    def open(self, value):
        kind, *rest = value.split(".")
        self.tab.locator(f"[data-k='gate-{kind}{f'-{rest[0]}' if rest else ''}']").first.press("Enter")
        opened = self.tab.locator(".opened")
        opened.wait_for()
        opened.get_by_text("Computing").wait_for(state="detached")
        return opened

    def over(self):
        self.tab.locator("[data-k=machine_mode-over]").click()


@pytest.fixture
def machine(open_tab, packaged):
    return lambda **settings: Machine(open_tab, packaged.url, **settings)


def number(text):
    return float(re.sub(r"[^\d.−-]", "", text).replace("−", "-"))


def numbers(found):
    return [number(text) for text in found.all_inner_texts() if text.strip()]


def rounded(values, digits=1):
    return [math.floor(value * 10**digits + 0.5) / 10**digits + 0.0 for value in values]


def check_sum(table, digits=2):
    """The last figure of the last column is the sum of those above it, as they are shown."""
    *parts, total = numbers(table.locator("td.figure, td.adds"))
    assert round(sum(parts), digits) == total, (parts, total)
    return parts, total


# --- attention


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", [pytest.param("decoder", marks=pytest.mark.long), "cross"])
def test_a_head_from_its_query_to_what_it_adds(machine, model, kind):
    page = machine(model=model)
    opened, parts = page.open(f"{kind}.1"), page.data["parts"]["for"]
    heads, without = parts[kind][1], page.data["without"]
    said = opened.locator(".of-layer button > span").all_inner_texts()
    adds = [number(re.match(r"adds (\S+)", text)[1]) for text in said]
    assert adds == rounded(sum(head) for head in heads)
    if without:  # what would take too long here is left out
        leads = [one["margin"] for one in without["heads"] if (one["kind"], one["layer"]) == (kind, 1)]
        read = [list(map(number, re.search(r"off: lead (\S+) → (\S+)", text).groups())) for text in said]
        assert read == [rounded([page.data["margin"], lead]) for lead in leads]
    shared = opened.locator("[data-says=machine-heads]").inner_text()
    total, bias = map(number, re.search(r"add (\S+), including bias and rounding \((.+?)\)\. ", shared).groups())
    assert round(sum(adds) + bias, 1) == total
    assert total == pytest.approx(sum(map(sum, heads)) + parts["bias"][1][kind == "cross"], abs=0.11)

    chosen = max(range(len(heads)), key=lambda head: abs(sum(heads[head])))
    for head in (chosen, (chosen + 1) % len(heads)):
        opened.locator(f"[data-k=machine-head-{head}]").press("Enter")
        opened.get_by_text("Computing").wait_for(state="detached")
        assert page.tab.evaluate("document.activeElement.dataset.k") == f"machine-head-{head}"
        check_row(page, opened, heads[head])


def check_row(page, opened, adds):
    found, rows = page.answers["arithmetic"], opened.locator(".row-steps tbody tr:not(.rest)")
    read = [re.split(r"\s*\t\s*", text.strip()) for text in rows.all_inner_texts()]
    assert len(read) == len(found["products"])
    for c, line in enumerate(read):
        hidden = not found["allowed"][c]
        figures = [number(text) for text in line[1:] if re.search(r"\d", text)]
        is_nothing = hidden or "0%" in line
        assert rows.nth(c).locator(".amount, .strip").count() == (1 if is_nothing else 3), "a share of 0% draws nothing"
        product, score, share, *added = figures
        assert [product, score] == rounded([found["products"][c], found["products"][c] * found["scale"]])
        assert abs(share - 100 * found["weights"][c]) < 1
        assert ("hidden" in line) == hidden and added == ([] if hidden else rounded([adds[c]]))
    assert sum(numbers(opened.locator(".row-steps tbody .left"))) == 100
    _, total = check_sum(opened.locator(".row-steps"), 1)
    assert [total] == rounded([sum(adds)])
    [said] = re.findall(r"The head adds (\S+) to", opened.locator("[data-says=machine-attention]").inner_text())
    assert number(said) == total


def test_rows_say_what_is_read_and_what_is_written_and_choose(machine):
    page = machine()
    opened = page.open("decoder.1")
    assert "The row qu' → il, step by step" in opened.inner_text() and "qu' → il asks" in opened.inner_text()
    row = opened.locator(".whole .from")
    assert row.all_inner_texts()[:2] == ["to French → Le", "Le → chat"] and row.count() == 16
    assert opened.locator(".whole .from[aria-pressed=true]").inner_text() == "qu' → il"
    opened.locator(".whole .from").nth(1).press("Enter")
    page.tab.get_by_text("The row Le → chat, step by step").wait_for()
    assert page.data["step"] == 2


def test_the_head_that_decides_and_the_block_that_it_steers_name_each_other(machine):
    page = machine()
    opened, steers = page.open("decoder.1"), page.data["steers"]
    said = "The block adds +4.3 to the lead of il over elle with the head and +0.4 without it."
    assert said in opened.locator("[data-says=machine-steers]").inner_text()
    assert rounded([steers["after"], steers["before"]]) == [0.4, 4.3]
    opened.get_by_role("button", name="Open that block").press("Enter")
    assert "The head that looks back at chat (layer 2, head 1) also steers this block" in opened.inner_text()
    without = page.data["without"]["feed_forward"][1]["margin"]
    assert f"changes from 7.5 to {without:.1f}." in opened.locator("[data-says=machine-feed-forward-off]").inner_text()
    opened.get_by_role("button", name="Open that head").press("Enter")
    assert opened.locator("[aria-pressed=true]").first.get_attribute("data-k") == "machine-head-0"


def test_the_same_map_in_explore(machine):
    page = machine()
    opened = page.open("cross.1")
    opened.locator("[data-k=machine-head-2]").click()
    opened.get_by_role("button", name="Show this map in See").press("Enter")
    settled(page.tab)
    assert page.tab.locator(".see .pin").inner_text() == "Layer 2, head 3"
    assert page.tab.locator(".tgt .w.sel").inner_text() == "il"


# --- feed-forward blocks


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("mode", ["for", "over"])
def test_the_neurons_of_a_block(machine, model, mode):
    page = machine(model=model)
    if mode == "over":
        page.over()
    opened, parts = page.open("feed_forward.1"), page.data["parts"][mode]
    found = parts["neurons"][1]
    said = opened.locator("[data-says=machine-feed-forward]").inner_text()
    assert f"{found['active']} of {found['count']:,} neurons are active" in said
    (*adds, rest), total = check_sum(opened.locator(".most"))
    assert adds in (rounded(one["adds"] for one in found["list"]), rounded((one["adds"] for one in found["list"]), 2))
    assert total == pytest.approx(parts["feed_forward"][1], abs=0.11)
    assert number(re.search(r"adds (\S+) to", said)[1]) == total
    rows = opened.locator(".most tbody tr")
    for i, one in enumerate(found["list"]):
        assert number(rows.nth(i).locator("td").nth(1).inner_text()) == one["number"] + 1
        assert [number(rows.nth(i).locator("td").nth(2).inner_text())] == rounded([one["activation"]])
        assert [re.sub(r"^▁", "", text) for text in one["raises"]] == rows.nth(i).locator(".token").all_inner_texts()
    assert opened.locator(".cells-grid i").count() == 256
    assert sorted(text for text in opened.locator(".cells-grid i").all_inner_texts() if text) == list("12345")


def test_neurons_that_are_not_simply_on_and_experts(machine):
    def change(body):
        for parts in body["parts"].values():
            parts["neurons"][0] = parts["encoder"]["neurons"][0] = None
        body["parts"]["for"]["neurons"][1]["activations"][0] = -0.2

    page = machine(change=change)
    opened = page.open("feed_forward.1")
    assert not re.search(r"\b(are active|ReLU)\b", opened.inner_text())
    page.tab.keyboard.press("Escape")
    assert "mixture of experts" in page.open("feed_forward.0").inner_text()
    page.tab.keyboard.press("Escape")
    assert "mixture of experts" in page.open("encoder_feed_forward.0").inner_text()


def test_a_block_of_the_encoder(machine):
    page = machine()
    opened, parts = page.open("encoder_feed_forward.0"), page.data["parts"]["for"]["encoder"]
    tables = opened.locator(".most")
    by_word, total = check_sum(tables.nth(0))
    assert by_word[:14] == rounded(parts["feed_forward"][0], 2)
    assert [total] == rounded([sum(parts["feed_forward"][0])], 2)
    neurons, same = check_sum(tables.nth(1))
    assert neurons[:5] == rounded((one["adds"] for one in parts["neurons"][0]), 2) and same == total
    assert tables.nth(1).locator("tbody tr").first.locator(".token").all_inner_texts() == parts["neurons"][0][0]["on"]


# --- the choice


@pytest.mark.parametrize("model", MODELS)
def test_from_scores_to_chances(machine, model):
    il = {"storybook": 11, "everyday": 12}[model]  # after a mark for the capital
    page = machine(model=model, word=il)
    opened, top = page.open("choose"), page.data["top"]
    rows = [re.split(r"\s*\t\s*", text.strip()) for text in opened.locator(".most tbody tr").all_inner_texts()]
    assert [number(row[1]) for row in rows[:6]] == rounded(one["logit"] for one in top)
    assert [number(row[2]) for row in rows[:6]] == rounded((math.exp(one["logit"]) for one in top), 0)
    last = re.split(r"\s*\t\s*", opened.locator(".most tfoot tr").inner_text().strip())
    figures = [[number(text) for text in row[-2:]] for row in (rows[6], last)]
    for place, (rest, total) in enumerate(zip(*figures, strict=True)):
        assert round(sum(number(row[2 + place]) for row in rows[:6]) + rest, 2) == total
    lead = number(re.search(r"leads by (\S+)\.", opened.locator("[data-says=machine-choose]").inner_text())[1])
    assert lead == pytest.approx(page.data["margin"], abs=0.05)
    opened.get_by_role("button", name="What would each layer write?").press("Enter")
    lens = page.tab.locator("[data-says=machine-lens]")
    lens.wait_for()
    layers = page.answers["layers"]
    assert f"would be {layers['top'][0][il][0][0].strip('▁')} (" in lens.inner_text()
    assert ("il ranks first from layer 2 on." in lens.inner_text()) == (layers["ranks"][0][il] > 0)
    assert "<2fr>" in str(layers["top"]) and "<2fr>" not in opened.inner_text()


# --- keyboard, themes, phones, long sentences


@pytest.mark.long
@pytest.mark.parametrize("settings", [{"color_scheme": "light"}, {"color_scheme": "dark"}, PHONE,
                                      {"viewport": {"width": 320, "height": 700}, "color_scheme": "dark"}])
def test_every_block_opens_can_be_read_and_closes(machine, settings):
    page = machine(**settings, reduced_motion="reduce")
    for value in BLOCKS:
        opened = page.open(value)
        assert page.tab.evaluate("document.activeElement.dataset.k") == "machine-close"
        assert page.tab.evaluate(SMALL) == [], value
        assert page.tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), value
        if "viewport" in settings:
            box = page.tab.locator(".m-open").bounding_box()
            assert (box["x"], box["y"], box["width"]) == (0, 0, settings["viewport"]["width"])
        assert violations(page.tab) == [], value
        page.tab.keyboard.press("Escape")
        opened.wait_for(state="detached")
        assert page.tab.evaluate("document.activeElement.dataset.k") == "gate-" + value.replace(".", "-")


@pytest.mark.parametrize("kind", ["cross", pytest.param("decoder", marks=pytest.mark.long)])
def test_on_a_phone_the_map_keeps_its_columns_and_strips_are_left_out(machine, kind):
    page = machine(**PHONE, model="everyday", text=LONG)
    opened = page.open(f"{kind}.0")
    widths = opened.locator(".whole").evaluate("one => getComputedStyle(one).gridTemplateColumns.split(' ').slice(1)"
                                               ".map(parseFloat)")
    assert len(widths) == opened.locator(".whole .to").count() >= 30 and min(widths) >= 15
    assert opened.locator(".strip:visible").count() == 0 and opened.locator(".row-steps tbody tr").count() >= 30


def test_on_a_phone_the_river_runs_down_through_every_block(machine):
    page = machine(**PHONE)
    tall = page.tab.locator(".tall")
    titles = ["1 Read the English", "2 Write the French", "3 Choose the word"]
    assert tall.locator(".card h2").all_inner_texts() == titles
    figures = numbers(tall.locator(".t-river .t-block > b"))
    assert len(figures) == 7 and round(sum(figures), 1) == 10.3
    assert "score 10.3" in tall.locator(".written").inner_text()
    assert "chat also steers it" in tall.inner_text()
    cross = [one for one in tall.locator(".t-river .t-block").all() if "Looks at English" in one.inner_text()]
    taken = round(sum(number(one.locator("> b").inner_text()) for one in cross), 1)
    assert f"Looking at English adds +{taken}. These are its parts:" in tall.inner_text()
    assert round(sum(numbers(tall.locator(".gates .t-block > b"))), 1) == taken
    check_cards(page.tab)
    taken = tall.locator(".taken li.hot")
    assert [text.split() for text in taken.all_inner_texts()] == [["it", "+1.4"], ["too", "+0.2"], ["tired", "+0.3"]]
    page.over()
    assert round(sum(numbers(tall.locator(".t-river .t-block > b"))), 1) == 7.5


def check_cards(tab):
    """A title has one line, a figure the colour of its band; the river steps beside the card's middle, and the last
    card keeps its distance from the word."""
    boxes = tab.locator(".t-river .t-block")
    tones = boxes.locator("> b").evaluate_all("all => all.map((one) => one.className)")
    assert [one.removeprefix("in-") for one in tones] == ["ochre", "soft", "blue", "slate", "green", "blue", "slate"]
    assert set(boxes.locator("small").evaluate_all("all => all.map((one) => one.getClientRects().length)")) == {1}
    assert all(box.bounding_box()["height"] <= 76 for box in boxes.all())
    for block, piece in zip(boxes.all()[:-1], tab.locator(".t-piece").all()[:-1], strict=True):
        middles = [one["y"] + one["height"] / 2 for one in (block.bounding_box(), piece.bounding_box())]
        assert abs(middles[0] - middles[1]) < 2
    last, word = boxes.last.bounding_box(), tab.locator(".written").bounding_box()
    assert word["y"] - last["y"] - last["height"] == pytest.approx(12, abs=1)


@pytest.mark.parametrize("settings", [{}, pytest.param(PHONE, marks=pytest.mark.long)])
def test_the_way_of_a_word_has_eight_stops(machine, settings):
    page = machine(**settings)
    f, said = page.data["parts"]["for"], []
    page.tab.get_by_role("button", name="Follow il").click()
    for stop in range(8):
        box = page.tab.locator(".m-stop")
        box.get_by_text(f"{stop + 1} of 8").wait_for()
        assert page.tab.locator(".lit").count(), stop
        said.append(box.locator("[data-says=machine-tour]").inner_text())
        assert re.search(r"\d", said[-1]), said[-1]
        page.tab.locator("[data-k=stop-Next], [data-k=stop-Done]").press("Enter")
    page.tab.locator(".m-stop").wait_for(state="detached")
    cross = sum(map(sum, (head for layer in f["cross"] for head in layer))) + sum(bias[1] for bias in f["bias"])
    assert number(re.search(r"These blocks add (\S+) to", said[5])[1]) == pytest.approx(cross, abs=0.16)
    it = sum(head[8] for layer in f["cross"] for head in layer)
    assert f"Most of what they add comes from it: {it:+.1f}." in said[5]
    assert "il gets over 99%, elle gets under 0.1%." in said[7]


@pytest.mark.long
def test_in_the_file_a_block_opens_with_the_same_figures(open_tab, file):
    tab = open_tab(f"{file}#machine", offline=True)
    tab.locator("[data-k=gate-decoder-1]").press("Enter")
    opened = tab.locator(".opened")
    opened.locator(".row-steps tfoot").wait_for()
    assert "head 1 looked back most at chat (100%). The head adds +1.2 to the score of il." in opened.inner_text()
    assert numbers(opened.locator(".row-steps td.adds"))[-1] == 1.2
