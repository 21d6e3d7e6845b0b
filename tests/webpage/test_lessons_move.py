"""The lessons that move, and the story: each of them as a reader meets it, at a server and in the file."""

import json
import re

import pytest
from accessibility import violations

from seq2see.cli.command import main
from seq2see.lessons.contents import chosen, number_of
from seq2see.webpage.assembly import asset
from .conftest import Lesson

MOVING = re.findall(r"^  (l\d\d_\w+): ", asset("lesson_all.js"), re.MULTILINE)
NUMBERS = [number_of(name) for name in MOVING]
LATER = {name: pytest.param(name, marks=pytest.mark.long) for name in ("server", "dark")}
CONTROLS = ".control [data-set], .control [data-slide]"


def watched(tab):
    """Errors of the page's own, which `open_tab` does not count."""
    wrong = []
    tab.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    return wrong


def move(lesson):
    """Moves the control to another value."""
    slider, pressed = lesson.place.locator("[data-slide]"), "[data-set][aria-pressed=false]"
    if slider.count():
        slider.first.focus()
        slider.first.press("ArrowRight" if slider.first.input_value() != slider.first.get_attribute("max") else "Home")
    else:
        lesson.place.locator(pressed).first.focus()
        lesson.tab.keyboard.press("Enter")
    lesson.tab.wait_for_timeout(100)  # until the page has asked
    lesson.settle()


def test_every_lesson_moves():
    assert chosen(None) == MOVING


@pytest.mark.parametrize("number", [*NUMBERS[:2], *(pytest.param(one, marks=pytest.mark.long) for one in NUMBERS[2:])])
@pytest.mark.parametrize("where", ["file", LATER["server"]])
def test_a_lesson_asks_first_and_then_moves(open_lesson, number, where):
    lesson = open_lesson(number, file=where == "file", offline=where == "file")
    wrong = watched(lesson.tab)
    assert lesson.place.locator(CONTROLS).count(), "there is a control"
    assert all(one.is_disabled() for one in lesson.place.locator(CONTROLS).all()), "the question comes first"
    assert lesson.place.get_by_text("Answer first, then move this.").is_visible() and not lesson.says
    assert not lesson.place.locator(".short").inner_text()
    before, control = lesson.picture, lesson.place.locator(".control").inner_text()
    said = lesson.guess(0)
    assert lesson.place.locator(".control").inner_text() == control, "the control is left to the reader"
    assert lesson.place.locator(".first").inner_text() == "Now move this yourself."
    assert lesson.place.locator(".short").inner_text().strip(), "what was shown"
    assert said and re.search(r"\d", said), "the verdict has numbers"
    filled = "(all) => all.map((one) => getComputedStyle(one).backgroundColor)"
    assert lesson.place.locator("[data-right]").count() == 1
    backs = lesson.place.locator("[data-guess]:not([data-right])").evaluate_all(filled)
    assert {*backs}.isdisjoint(lesson.place.locator("[data-right]").evaluate_all(filled)), "what happens stands out"
    shown = lesson.picture, lesson.says
    move(lesson)
    assert (lesson.picture, lesson.says) != shown, "the control changes the picture or what is said of it"
    assert lesson.says.strip() and re.search(r"\d", lesson.says)
    assert all(one.inner_text().strip() for one in lesson.tab.locator("[data-says]:visible").all())
    assert before and not wrong


@pytest.mark.parametrize(("number", "parts"), [
    (6, ("adds information", "its last layer")), (7, ("variety", "more even")),
    (8, ("computed again for il", "kept, not computed", "numbers are the same")), (9, ("this head off",))])
def test_what_answers_the_question_is_not_beside_it(open_lesson, number, parts):
    said = open_lesson(number).tab.locator(".lesson > .lead, .moving").evaluate_all(
        "(all) => all.map((one) => one.textContent).join()")
    assert said and not [part for part in parts if part in said]


def test_the_story_is_found_again_where_it_was_left(open_tab, packaged):
    tab = open_tab(f"{packaged.url}/#story", ready=".tale")
    tab.get_by_role("group", name="The nine steps").get_by_role("button").nth(5).click()
    scene = tab.locator(".scene[data-number='6']")
    scene.locator(".moving:not([aria-busy]) [data-guess]").first.wait_for()
    link = scene.locator("a[href='#lesson-6']").last
    link.scroll_into_view_if_needed()
    before = link.bounding_box()["y"]
    link.click()
    tab.locator(".lesson").wait_for()
    tab.go_back()
    scene.locator(".moving:not([aria-busy]) [data-guess]").first.wait_for()
    tab.wait_for_timeout(500)
    assert abs(link.bounding_box()["y"] - before) < 40


@pytest.mark.long
@pytest.mark.parametrize("number", NUMBERS)
def test_every_answer_gets_the_same_sentence_and_is_remembered(open_lesson, number):
    lesson = open_lesson(number)
    options, said = lesson.place.locator("[data-guess]").count(), set()
    assert options >= 2
    for option in range(options):
        said.add(lesson.guess(option))
        if option:
            continue
        lesson.tab.get_by_role("link", name="Learn", exact=True).first.click()
        lesson.tab.locator(f"a[href='#lesson-{number}']").click()
        lesson.settle()
        assert lesson.place.locator("[data-guess][aria-pressed=true]").count() == 1, "the visit remembers it"
        break
    for option in range(1, options):
        lesson.tab.reload()
        lesson.settle()
        said.add(lesson.guess(option))
    assert len(said) == 1, said
    assert not re.search(r"\b(correct|wrong|score[ds]? \d|points? of \d)\b", " ".join(said), re.IGNORECASE)


@pytest.mark.parametrize("number", [*NUMBERS[:1], *(pytest.param(one, marks=pytest.mark.long) for one in NUMBERS[1:])])
@pytest.mark.parametrize("scheme", ["light", LATER["dark"]])
def test_everybody_can_use_it_on_a_phone(open_lesson, number, scheme):
    lesson = open_lesson(number, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    lesson.guess(0)
    assert lesson.tab.evaluate("document.documentElement.scrollWidth") <= 390
    stays = "(one) => one.querySelector(':scope > .more') ? one.firstElementChild : one"
    stays = lesson.place.locator(".pictured").evaluate_handle(stays).as_element()
    box = stays.bounding_box()
    assert box["height"] <= 400 and box["width"] <= 390
    assert stays.evaluate("(one) => getComputedStyle(one).position") == "static", "it covers nothing"
    asked, control = (lesson.place.locator(one).bounding_box() for one in (".predict", ".control"))
    assert asked["y"] + asked["height"] <= box["y"] <= control["y"], "the picture is above what moves it"
    assert control["y"] + control["height"] - box["y"] <= 844, "both are seen at once"
    sizes = "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
    assert min(lesson.place.locator("svg text").evaluate_all(sizes), default=12) > 11.9 or number > 5
    assert stays.evaluate("(one) => one.scrollHeight <= one.clientHeight + 1"), "a phone shows the whole picture"
    for one in lesson.tab.locator(".measured details").all():
        one.evaluate("(one) => { one.open = true; }")
    lesson.settle()
    assert violations(lesson.tab) == []
    assert lesson.tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert lesson.place.locator(".live").get_attribute("aria-live") == "polite"
    names = lesson.place.locator("svg[role=img]").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert all(names)


def test_the_record_is_shown_as_a_person_would_say_it(open_lesson):
    lesson = open_lesson(3)
    measured = lesson.tab.locator(".measured")
    marks = measured.locator(".findings li").evaluate_all("(all) => all.map((one) => one.className)")
    words = measured.locator(".verdict-word").all_inner_texts()
    kinds = {"holds": "holds", "does not hold here": "not", "not decidable here": "open"}
    assert marks == [kinds[word] for word in words] and len(marks) == 5
    assert measured.locator("details[open]").count() == 0, "figures, picture and code are folded"
    lesson.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert measured.locator("details:not([open])").count() == 0, "on paper they are open"
    lesson.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert "{" not in measured.locator(".findings").inner_text()
    measured.get_by_text("The figures").click()
    assert measured.get_by_role("table").count() >= 2
    measured.get_by_text("The lines that matter").click()
    assert "def softmax" in measured.inner_text()
    measured.get_by_text("Common slips").click()
    ink = "(one) => getComputedStyle(one).color"
    measured.get_by_text("The picture", exact=True).click()
    inks = measured.locator(".still svg text").evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")
    assert lesson.tab.locator(".s2s").evaluate(ink) in inks, "the picture has the page's colours"


def test_text_of_the_record_is_escaped_and_set_as_in_print(open_lesson, packaged):
    lesson = open_lesson(3)
    found = lesson.tab.evaluate("""async () => {
        const text = document.getElementById("script").textContent.replace('"use strict";', "");
        const prose = Function(`${text}; return s2s_lesson_measured.prose;`)();
        return ["a < b, `x < y` and *it*", "3 * 4 * 5", "10% and 3 %", "off by 2e-16, −1.5e−06 and -0.5",
            "`1e-5`, p-1, 2020-11-20"].map((one) => String(prose(one)));
    }""")
    assert found == [
        "a &lt; b, <code>x &lt; y</code> and <em>it</em>", "3 * 4 * 5", "10\u202f% and 3\u202f%",
        "off by 2 × 10<sup>−16</sup>, −1.5 × 10<sup>−6</sup> and −0.5", "<code>1e-5</code>, p-1, 2020-11-20"]


def test_look_for_yourself_opens_the_head_in_see(open_lesson):
    tab = open_lesson(4).tab
    tab.get_by_text("Try next").click()
    tab.get_by_role("button", name="Look for yourself").click()
    tab.wait_for_url("**/#see")
    tab.wait_for_function("() => document.querySelector('.see .src')?.innerText.startsWith('The cat did not cross')")


@pytest.mark.long
@pytest.mark.parametrize("where", ["file", LATER["server"]])
def test_the_story_can_be_scrolled_on_a_phone(open_tab, request, where):
    home = request.getfixturevalue("file") if where == "file" else f"{request.getfixturevalue('packaged').url}/"
    tab = open_tab(f"{home}#story", ready=".tale", offline=where == "file", viewport={"width": 390, "height": 844})
    wrong = watched(tab)
    scenes = tab.locator(".scene")
    assert scenes.count() == len([number for number in NUMBERS if number <= 8 or number == 13]) + 1
    assert not tab.locator(".scene[data-number='8'] .told, .whole > *").count(), "what is far away is not asked for"
    for number in (one for one in NUMBERS if one <= 8 or one == 13):
        scene = tab.locator(f".scene[data-number='{number}']")
        scene.scroll_into_view_if_needed()
        scene.locator("[data-guess]").first.click()
        scene.locator(".moving:not([aria-busy]) .live:not(:empty)").wait_for()
        assert re.search(r"\w", scene.locator("[data-says^=story-]").inner_text())
    tab.locator(".scene").last.scroll_into_view_if_needed()
    tab.locator(".whole > *").first.wait_for()
    assert tab.get_by_role("link", name="Continue with lesson 9").get_attribute("href") == "#lesson-9"
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert not wrong


def test_what_is_done_in_the_story_is_there_in_the_lesson(open_tab, packaged):
    tab = open_tab(f"{packaged.url}/#story", ready=".tale")
    scene = tab.locator(".scene[data-number='3']")
    scene.scroll_into_view_if_needed()
    scene.locator("[data-guess]").first.click()
    scene.locator(".because").wait_for()
    tab.locator("a[href='#lesson-3']").click()
    tab.locator(".lesson .because").wait_for()


@pytest.mark.long
def test_a_page_of_another_model_says_where_the_lessons_are(open_tab, tmp_path):
    path = tmp_path / "everyday.html"
    assert main(["export", "everyday", "--format", "web", "--out", str(path)]) == 0
    for page in ("lessons", "lesson-3", "story"):
        tab = open_tab(f"{path.as_uri()}#{page}", offline=True)
        tab.get_by_text("seq2see demo shows them").wait_for()


def test_lessons_of_ones_own_are_a_file_that_opens_at_them(open_tab, tmp_path):
    assert main(["lessons", "3", "--quick", "--run", "storybook", "--out", str(tmp_path)]) == 0
    tab = open_tab((tmp_path / "lesson-3.html").as_uri(), ready=".lesson", offline=True)
    assert tab.evaluate("location.hash") == "#lesson-3"
    assert tab.locator(".warning").inner_text().endswith("the verdicts mean nothing.")
    tab.locator(".moving [data-guess]").first.click()
    tab.locator(".because").wait_for()
    record = json.loads((tmp_path / "lesson-3.json").read_text("utf-8"))
    assert tab.locator("details dd").count() == len(record["lessons"][0]["verdict"]["findings"])


def test_explore_begins_when_it_is_opened_with_its_own_sentence(open_tab, packaged):
    tab = open_tab(f"{packaged.url}/?text=I was tired.&from=en&to=fr&model=everyday#lesson-3", ready=".lesson")
    asked = []
    tab.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    Lesson(tab).guess()
    tab.get_by_role("button", name="Dark mode").click()
    tab.reload()
    tab.locator(".lesson").wait_for()
    Lesson(tab)
    assert "translate" not in asked, "lessons do not wait for See"
    tab.get_by_role("link", name="See", exact=True).click()
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.startsWith(\"J'étais\")")


def test_a_lesson_on_another_model_says_so(open_tab, server, packaged):
    said = "The pictures show the model tiny. The measurements below are of storybook."
    assert open_tab(f"{server.url}/#lesson-3", ready=".lesson").locator(".lesson > .fine").inner_text() == said
    assert not open_tab(f"{packaged.url}/#lesson-3", ready=".lesson").locator(".lesson > .fine").count()


def test_the_machine_of_the_story_follows_its_own_word(open_tab, file):
    tab = open_tab(f"{file}#story", ready=".tale", offline=True)
    tab.locator(".scene").last.scroll_into_view_if_needed()
    tab.locator(".tale .m-word", has_text="chat").first.click()
    tab.locator(".tale .m-word[aria-pressed=true]", has_text="chat").wait_for()
    tab.evaluate("location.hash = 'machine'")
    tab.locator(".machine .m-word[aria-pressed=true]", has_text="il").wait_for()
