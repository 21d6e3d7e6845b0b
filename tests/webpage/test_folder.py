"""The page with its model in files beside it, from a static host: it reads them with a bar, keeps them for the next
visit, and says in one sentence what is wrong with them."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from seq2see.cli.command import main


class Host:
    """A static host of a folder, which counts what it is asked for and may fail on purpose."""

    def __init__(self, folder):
        self.asked, self.wrong = [], {}  # names; what to send instead, for how many requests

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(handler):
                name = handler.path.split("?")[0].strip("/")
                self.asked.append(name)
                kind, times = self.wrong.get(name, (None, 0))
                if not times:
                    return super().do_GET()
                self.wrong[name] = kind, times - 1
                if kind == "missing":
                    return handler.send_error(404)
                size = len((folder / name).read_bytes()) if kind == "changed" else 0
                handler.send_response(200)
                handler.send_header("Content-Length", str(size or 9))
                handler.end_headers()
                handler.wfile.write(bytes(size) or b"a pointer")

            def log_message(handler, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/?text=The goat chased the wolf because it was hungry."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("folder") / "page"
    assert main(["export", "storybook", "--format", "web", "--out", str(path)]) == 0
    return path


@pytest.fixture
def host(folder):
    made = Host(folder)
    yield made
    made.server.shutdown()


def translated(tab):
    tab.wait_for_function("() => document.querySelector('.tgt')?.innerText.startsWith('La chèvre')")


def test_it_translates_and_a_second_visit_reads_nothing_again(open_tab, host):
    tab = open_tab(host.url)
    translated(tab)
    assert host.asked.count("model.bin") == 1 and not tab.locator(".s2s-parts").count()
    tab.reload()
    translated(tab)
    assert host.asked.count("model.bin") == host.asked.count("weights-000.bin") == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["missing", "cut"])
def test_a_part_that_fails_twice_is_tried_again(open_tab, host, kind):
    host.wrong["weights-000.bin"] = kind, 2
    tab = open_tab(host.url)
    translated(tab)
    assert host.asked.count("weights-000.bin") == 3


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "said"), [
    ("missing", "weights-000.bin is missing on this host (404). Upload the whole folder again."),
    ("cut", "weights-000.bin has 9 bytes on this host instead of"),
    ("changed", "weights-000.bin is not the file that was exported. Upload the whole folder again."),
])
def test_what_is_wrong_with_a_part_is_said_and_the_others_are_kept(open_tab, host, kind, said):
    host.wrong["weights-000.bin"] = kind, 3
    tab = open_tab(host.url)
    tab.get_by_text(said).wait_for()
    tab.get_by_role("button", name="Try again").click()
    translated(tab)
    assert host.asked.count("model.bin") == 1


def test_a_browser_without_the_memory_says_so(browser, host):
    tab = browser.new_page()
    tab.add_init_script("""const Own = Uint8Array; window.Uint8Array = class extends Own {
      constructor(...given) { if (given[0] > 1e6) throw new RangeError("no memory"); super(...given); } };""")
    tab.goto(host.url)
    tab.get_by_text("MB of memory, which this browser does not have").wait_for()
    tab.close()


def test_a_page_from_the_disk_says_what_to_run(browser, folder):
    tab = browser.new_page()
    tab.goto((folder / "index.html").as_uri())
    tab.get_by_text("Run python -m http.server in its folder.").wait_for()
    tab.close()
