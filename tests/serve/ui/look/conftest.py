"""A browser's tab that shows the explorer, of a tiny model's translation; each module of tests has one."""

import json
import shutil

import pytest
from looking import TEXT, panel, serving, thumb

from seq2see import Translator
from seq2see.lens.head_roles import FILE
from seq2see.serve.guard import PAGE
from seq2see.serve.service import Service
from seq2see.serve.settings import ServerSettings
from seq2see.serve.ui.adapter import Shown
from seq2see.translate.checkpoint import fingerprint

ROLES = [{"role": "alignment", "score": 0.8, "low": 0.7, "high": 0.9, "uniform": 0.1, "positional": 0.3, "rival": None}]


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    """A run with a checkpoint and with roles, and another model beside it."""
    run = tmp_path_factory.mktemp("runs") / "run"
    shutil.copytree(folder, run)
    shutil.copytree(folder, run / "checkpoint-5")
    (run / "checkpoint-5" / "trainer_state.json").write_text("{}")
    shutil.copytree(folder, run / "checkpoint-9")  # still being written
    report = {"weights": fingerprint(run), "heads": [{"head": ["cross", 1, 1], "roles": ROLES}]}
    (run / FILE).write_text(json.dumps(report))
    return run


@pytest.fixture(scope="module")
def translator(run):
    return Translator.from_pretrained(run, engine="torch")


@pytest.fixture(scope="module")
def result(translator):
    return translator(TEXT, source="en", target="fr", num_beams=2)


@pytest.fixture(scope="module")
def shown(result):
    return Shown.of(result, model="tiny", asked={"num_beams": 2})


@pytest.fixture(scope="module")
def trace(translator, result):
    [trace] = translator.look(result)
    return trace


@pytest.fixture(scope="module")
def url(translator, shown):
    service = Service({"tiny": translator, "other": translator}, ServerSettings(rate=0))
    with serving(service, value=shown.model_dump(mode="json")) as address:
        yield address
    service.close()


@pytest.fixture(scope="module")
def opened(browser, url):
    """The tab of all tests that leave it as `look` sets it; requests to elsewhere and errors of the page are faults."""
    context = browser.new_context(viewport={"width": 1440, "height": 1200})
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    wrong = []
    tab.on("request", lambda one: one.url.startswith((url[: -len(PAGE)], "data:", "blob:")) or wrong.append(one.url))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(url)
    tab.locator(".s2s-scroll canvas").wait_for(timeout=120_000)
    yield tab
    assert not wrong
    context.close()


@pytest.fixture
def look(opened):
    opened.set_viewport_size({"width": 1440, "height": 1200})
    opened.get_by_role("combobox", name="View").select_option("raw")
    for group, name in [("Attention", "Cross-attention"), ("As", "map"), ("A row", "predicts"), ("By", "pieces"),
                        ("Colours", "0 to 1")]:
        radio = opened.get_by_role("group", name=group, exact=True).get_by_role("radio", name=name)
        radio.check()
    thumb(opened, "Cross-attention, layer 2, head 0").click()
    opened.get_by_label("Dim special pieces").uncheck()
    panel(opened, "Step")
    return opened
