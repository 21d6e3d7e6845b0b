"""What a visitor types stays on the machine, and is neither saved nor logged."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

SECRET = re.compile(r"Zq" r"xv\d{6}")  # made by the visit, in a process of its own: nothing else here can hold it
VISIT = """
import json, random, sys
from playwright.sync_api import sync_playwright
url, program = sys.argv[1:]
asked = []
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
    tab = browser.new_page()
    tab.set_default_timeout(90_000)
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(url)
    tab.locator(".s2s:not(.s2s-first)").wait_for()
    if not tab.locator(".field").count():
        tab.get_by_role("button", name="Edit").click()
    tab.locator(".field").fill("The Zq" + f"xv{random.randrange(10**5, 10**6)} did not cross.")
    tab.locator(".field").press("Enter")
    tab.wait_for_function("document.querySelector('.src').innerText.includes('xv')")
    tab.locator(".grid2, .lined").first.wait_for()
    tab.get_by_role("button", name="What would each layer have said?").click()
    tab.get_by_text("after layer 1").first.wait_for()
    kept = tab.evaluate('''async () => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie,
        await indexedDB.databases(), await caches.keys(), history.state, location.href])''')
    browser.close()
print(json.dumps({"asked": asked, "kept": kept}))
"""


def test_nothing_leaves_the_machine_and_nothing_is_saved_or_logged(packaged, capfd):
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    done = subprocess.run([sys.executable, "-c", VISIT, packaged.url, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert [url for url in told["asked"] if not url.startswith((f"{packaged.url}/", "data:", "blob:"))] == []
    assert not SECRET.search(told["kept"])
    assert not SECRET.search("".join(capfd.readouterr()))
    files = [path for path in (Path(tempfile.gettempdir()) / "gradio").rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.search(path.read_text("utf-8", "ignore"))]
