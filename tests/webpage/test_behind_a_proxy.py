"""The page behind a proxy that serves it at /translate/: nothing is asked for outside that folder."""

import contextlib
import http.server
import threading

import httpx
import pytest
import tiny
from serving import running

import seq2see
from seq2see import Translator
from .conftest import settled, translate, type_in

PREFIX = "/translate"


@contextlib.contextmanager
def proxied(url):
    """As nginx does with `location /translate/ { proxy_pass URL/; proxy_set_header Host $http_host; }`."""
    class Proxy(http.server.BaseHTTPRequestHandler):
        def answer(self):
            if not self.path.startswith(f"{PREFIX}/"):
                return self.send_error(404)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = client.build_request(self.command, url + self.path.removeprefix(PREFIX), content=body,
                                         headers=dict(self.headers))
            with contextlib.suppress(httpx.HTTPError, OSError), contextlib.closing(
                    client.send(asked, stream=True)) as found:
                self.send_response(found.status_code)
                for name, value in found.headers.items():
                    if name not in ("transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.end_headers()
                for chunk in found.iter_raw():
                    self.wfile.write(chunk)
                    self.wfile.flush()

        do_GET = do_POST = do_HEAD = answer

        def log_message(self, *_):
            pass

    with httpx.Client(timeout=60) as client, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        proxy.daemon_threads = True
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
        proxy.shutdown()


TEXT = "The cat did not cross."


def use(tab, translator, write):
    """Translates with the page; every request must be answered from the folder."""
    asked = []
    tab.on("response", lambda answer: asked.append((answer.status, answer.url.split("/", 3)[3])))
    tab.reload()
    write(tab, TEXT)
    settled(tab)
    assert tab.locator(".tgt").inner_text().strip() == translator(TEXT).text.strip()
    wrong = [one for one in asked if one[0] >= 400 or not one[1].startswith("translate/")]
    assert asked and not wrong, wrong
    return [path for _, path in asked]


def write(tab, text):
    tab.locator(".s2s").wait_for(state="attached")
    type_in(tab, text)


@pytest.fixture(scope="module")
def marian():
    return Translator(*tiny.published_marian(), name="marian")


@pytest.mark.long
def test_the_page_finds_v1_in_the_folder(open_tab, marian):
    with running({"marian": lambda: marian}, page=True, root_path=PREFIX) as server, proxied(server.url) as url:
        assert "translate/v1/look" in use(open_tab(f"{url}{PREFIX}/"), marian, write)
        for address in (f"{url}{PREFIX}/ui", f"{url}{PREFIX}/ui/"):
            paths = use(open_tab(address), marian, translate)
            assert "translate/v1/look" in paths and "translate/ui/" in paths


@pytest.mark.long
def test_it_finds_gradio_in_the_folder(open_tab, marian):
    with contextlib.closing(seq2see.page(marian)) as blocks:
        _, local, _ = blocks.launch(prevent_thread_lock=True, quiet=True, root_path=PREFIX)
        with proxied(local.rstrip("/")) as url:
            assert "translate/gradio_api/run/ask" in use(open_tab(f"{url}{PREFIX}/"), marian, translate)
