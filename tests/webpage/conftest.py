"""A page in a browser, from which no request may go elsewhere; every test that drives one is marked `browser`.

What the page computes and says needs none: it is asked of the same scripts in Node.
"""

import base64
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import httpx
import pytest
from drawn import Drawn
from filelock import FileLock
from node import Node

from seq2see import Translator
from seq2see.cli.command import main
from seq2see.folders import packaged_lessons
from seq2see.pretrained import HOME
from seq2see.webpage_data.page_model import web_model
from seq2see.webpage_data.page_weights import web_weights

CAT = "The cat did not cross the street because it was too tired."


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def packaged(tmp_path_factory):
    """The pages of both packaged models: one server, which the first of the processes that run tests to want it starts
    and the last one ends."""
    home = tmp_path_factory.getbasetemp()
    home = home.parent if "PYTEST_XDIST_WORKER" in os.environ else home
    users, lock = home / "packaged.json", FileLock(home / "packaged.lock")

    def count(change):
        with lock:
            made = json.loads(users.read_text()) if users.is_file() else {"users": 0} | serving(home / "packaged.log")
            made["users"] += change
            users.write_text(json.dumps(made))
            if not made["users"]:
                os.kill(made["pid"], signal.SIGTERM)
                users.unlink()
        return made["url"]

    yield SimpleNamespace(url=count(1))
    count(-1)


def serving(log):
    """A server of its own process, once it answers; its address and number."""
    with log.open("w") as out:
        command = [sys.executable, "-m", "seq2see", "serve", "everyday", "storybook", "--port", "0"]
        process = subprocess.Popen([*command, "--set", "texts_per_minute=0"], stdin=subprocess.DEVNULL, stderr=out)
    while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())) or not is_ready(found[0]):
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    return {"url": found[0], "pid": process.pid}


def is_ready(url):
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/readyz").is_success


@pytest.fixture(scope="session")
def file(once, tmp_path_factory):
    """The address of the page of storybook as one file on the disk."""
    path = tmp_path_factory.mktemp("file") / "explorer.html"

    def make():
        assert main(["export", "storybook", "--format", "web", "--out", str(path)]) == 0
        return path.read_text("utf-8")

    path.write_text(once("explorer", make), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def open_tab(browser):
    """Tabs of visitors who know nothing of each other; a request to elsewhere, or an error, fails the test."""
    contexts, wrong = [], []

    def open_one(url, *, ready=".s2s", **settings):
        origin = re.split("[?#]", url)[0] if url.startswith("file:") else "/".join(url.split("/")[:3]) + "/"
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **settings})
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("request", lambda request: request.url.startswith((origin, "data:", "blob:"))
               or wrong.append(request.url))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("console", lambda said: "js_on_load" in said.text and wrong.append(said.text))
        tab.goto(url)
        tab.locator(ready).wait_for(state="attached")
        return tab

    yield open_one
    for context in contexts:
        context.close()
    assert not wrong


def settled(tab):
    """Waits until what was asked for is there, and what each word rests on."""
    tab.wait_for_function("""() => {
        const root = document.querySelector('.s2s'), shown = (name) => [...root?.querySelectorAll(name) ?? []]
            .some((one) => one.checkVisibility());
        return root?.dataset.busy === '' && shown('.grid2, .lined, .machine, .tooled') && !shown('.stale');
    }""")


def type_in(tab, text):
    field = tab.locator(".texts textarea")
    field.fill(text)
    field.press("Control+Enter")


def swap(tab, word):
    """The other word of an example, under the text."""
    tab.get_by_role("radiogroup", name="Change one word").get_by_role("radio", name=word).click()


def open_tool(tab, name):
    """A tool of the lab, by its name in the list."""
    if not tab.locator(".rail").is_visible():
        tab.get_by_role("link", name="Lab", exact=True).click()
    tab.locator(".rail").get_by_role("link", name=name, exact=True).click()
    tab.wait_for_function("() => !document.querySelector('.tooled').innerText.includes('Computing')")


def to_see(tab):
    tab.get_by_role("link", name="See", exact=True).click()
    tab.locator(".see").wait_for()


def more(tab, name):
    """An item of the menu More."""
    tab.locator("[data-menu=more]").click()
    tab.get_by_role("menuitem", name=name).click()


def translate(tab, text, **languages):
    """In Gradio's page, between the languages of these names: `From`, `To`."""
    for side, name in languages.items():
        tab.get_by_label(side, exact=True).click()
        tab.get_by_role("option", name=name).click()
    tab.get_by_label("Text", exact=True).fill(text)
    tab.get_by_role("button", name="Translate").click()
    tab.wait_for_function("text => document.querySelector('.src').innerText === text", arg=text)
    settled(tab)


class Lesson:
    """A lesson that moves, in a tab, as a reader uses it; each step waits for its numbers."""

    def __init__(self, tab):
        self.tab, self.place = tab, tab.locator(".moving").first
        self.settle()

    def settle(self):
        self.tab.locator(".moving:not([aria-busy]) .pictured :is(svg, table)").first.wait_for()

    def guess(self, option=0):
        self.place.locator("[data-guess]").nth(option).click()
        self.place.locator(".because").wait_for()
        self.settle()
        return self.place.locator(".because").inner_text()

    def set(self, name, value):
        """Presses the button of this value, as in the lesson's state."""
        self.place.locator(f"[data-set={name}][data-value='{json.dumps(value, ensure_ascii=False)}']").click()
        self.settle()
        return self.says

    def slide(self, name, value):
        self.place.locator(f"[data-slide={name}]").fill(str(value))
        self.settle()
        return self.says

    @property
    def says(self):
        return self.place.locator(".live").inner_text()

    @property
    def picture(self):
        return self.place.locator(".pictured").inner_html()


class LessonInNode:
    """The same lesson as its script draws it, in Node; its numbers are those of the engine there."""

    def __init__(self, node, number):
        self.node, self.number, self.guessed, self.state = node, number, None, {}
        self.settle()

    def settle(self):
        given = [self.number, self.state, self.guessed]
        self.place = self.tab = Drawn.of(self.node.evaluate("(given) => lessonDrawn(...given)", given))

    def guess(self, option=0):
        self.guessed, self.state = option, self.state | self.node.evaluate("shows", self.number)
        self.settle()
        return self.place.locator(".because").inner_text()

    def set(self, name, value):
        self.state = self.state | {name: value}
        self.settle()
        return self.says

    slide = set

    @property
    def says(self):
        return self.place.locator(".live").inner_text()


ENGINE = """([start, weights, replay, lessons]) => {
  const bytes = (data) => Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)).buffer, known = new Map();
  globalThis.start = { ...start, weights: bytes(weights), replay: bytes(replay) };
  const engine = s2s_answer.inThisThread(globalThis.start);
  globalThis.asked = (route, body) => {  // once, and however long it takes
    const key = JSON.stringify([route, body]), { question } = body, head_seconds = 600;
    const patient = question ? { question: { ...question, head_seconds } } : { ...body, head_seconds };
    if (!known.has(key)) known.set(key, engine(route, patient));
    return known.get(key);
  };
  const lessonOf = (number) => lessons.find((one) => one.number === number);
  const moduleOf = (number) => s2s_lesson_all.MOVING[lessonOf(number).name];
  globalThis.shows = (number) => moduleOf(number).predict.shows ?? {};
  globalThis.lessonDrawn = async (number, changes, guess) => {
    const lesson = lessonOf(number), module = moduleOf(number);
    const visit = { state: { ...module.start, ...changes }, guess };
    const answers = await s2s_lesson_drawn.answersTo(module, lesson, visit, "storybook", asked);
    const parts = { lead: module.lead, ...s2s_lesson_drawn.drawn(module, lesson, visit, answers, "light") };
    return Object.entries(parts).map(([name, markup]) => `<div class="${name}">${markup}</div>`).join("");
  };
  globalThis.machineDrawn = async (text, machine) => {
    const look = await asked("look", { text, source: "en", target: "fr", maps: s2s_trace.KINDS,
      evidence: true });
    const trace = new s2s_trace.Trace(look.traces[0], look.measured), pending = [], { START } = s2s_state;
    const state = { ...START, traces: [trace], word: machine.step, machine: { ...START.machine, ...machine } };
    const context = { state, settings: {}, engine: asked, set() {}, render() {} };
    Object.assign(context, s2s_loading.loading(context));
    context.ask = (...given) => { const answer = asked(...given); pending.push(answer); return answer; };
    const draw = () => {
      const { step, mode, open, stop } = state.machine, question = { tool: "machine", step };
      const data = s2s_tool_parts.inside(context, trace, question), f = data && s2s_machine_sums.sums(data, mode);
      const shown = { trace, data, f, step, state, theme: "light", error: null };
      return { trace: look.traces[0], page: String(s2s_machine_drawn.wideStage({ width: 1416, height: 760 }, shown)),
        opened: data && open ? String(s2s_machine_inside.insideBlock(open, data, trace, state, context)) : "",
        stop: data && stop !== null ? String(s2s_machine_tour.stops(data, trace, state)[stop].text) : "" };
    };
    let drawn = draw();
    while (pending.length) { await Promise.all(pending.splice(0)); await null; drawn = draw(); }
    return drawn;
  };
}"""


@pytest.fixture(scope="session")
def storybook_in_node():
    """The packaged storybook in float16, as the page with the model inside has it, in Node: `asked(route, body)`."""
    translator = Translator.from_pretrained("storybook", engine="torch")
    weights = web_weights(translator.model, "float16")
    start = {"model": web_model(translator, weights), "manifest": weights.manifest}
    replay = (HOME / "storybook/replay.json.gz").read_bytes()
    data = [base64.b64encode(one).decode() for one in (weights.buffer, replay)]
    with Node("explorer", "worker") as node:
        node.evaluate(ENGINE, [start, *data, json.loads(gzip.decompress(packaged_lessons()))["lessons"]])
        yield node


@pytest.fixture
def open_lesson(open_tab, request):
    """Opens a lesson by its number, at the server of the packaged models or, with `file=True`, in the file."""

    def open_one(number, *, file=False, **settings):
        home = request.getfixturevalue("file") if file else f"{request.getfixturevalue('packaged').url}/"
        return Lesson(open_tab(f"{home}#lesson-{number}", ready=".lesson", **settings))

    return open_one


def places(*in_every_run):
    """Where a lesson is read: as its scripts draw it in Node; in a browser, where that is not left to long runs."""
    def marks(name):
        return [pytest.mark.browser] if name in in_every_run else [pytest.mark.browser, pytest.mark.long]

    return ["node", *(pytest.param(name, marks=marks(name)) for name in ("file", "server"))]


@pytest.fixture(params=places())
def read_lesson(request):
    """Opens a lesson by its number, to read it in one of these places."""

    def open_one(number):
        if request.param == "node":
            return LessonInNode(request.getfixturevalue("storybook_in_node"), number)
        return request.getfixturevalue("open_lesson")(number, file=request.param == "file")

    return open_one


# For tests of what the page does wherever the model is.
EVERYWHERE = pytest.mark.parametrize("tab", ["server", pytest.param("file", marks=pytest.mark.long)], indirect=True)


@pytest.fixture
def tab(open_tab, request):
    if getattr(request, "param", "server") == "file":
        found = open_tab(request.getfixturevalue("file"), offline=True)
    else:
        found = open_tab(request.getfixturevalue("packaged").url)
    settled(found)
    return found
