"""The explorer of the tab Look as a page of its own, and what tests do on it."""

import contextlib
import threading
import time

import gradio as gr
import httpx
import uvicorn

from seq2see.serve.guard import PAGE
from seq2see.serve.ui.components.explorer import explorer
from seq2see.serve.ui.page import mount

TEXT = "The cat did not cross the street."


@contextlib.contextmanager
def serving(service, **settings):
    """The address of a page that is the explorer alone."""
    with gr.Blocks(fill_width=True) as page:
        explorer(service, **settings)
    parent, _ = mount(page)
    server = uvicorn.Server(uvicorn.Config(parent, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}{PAGE}"
    server.force_exit = server.should_exit = True
    thread.join(30)


def call(url, name, value):
    """What Look's function of that name answers: the status and the answer."""
    config = httpx.get(f"{url}/config").json()
    [component] = [one["id"] for one in config["components"] if "maps" in (one["props"].get("server_fns") or ())]
    body = {"data": value, "component_id": component, "fn_name": name, "session_hash": "tests"}
    answer = httpx.post(f"{url}/gradio_api/component_server", json=body, timeout=60)
    return answer.status_code, answer.json()


def thumb(tab, name):
    return tab.locator(".s2s-overview").get_by_role("button", name=name)


def panel(tab, name):
    tab.get_by_role("tab", name=name, exact=True).click()
    return tab.get_by_role("tabpanel", name=name)


def settled(tab):
    """Wait until no panel waits for the server; one may say what was wrong, from an earlier test."""
    tab.wait_for_function("[...document.querySelectorAll('.s2s-status')]"
                          ".every(one => !one.textContent || 'wrong' in one.dataset)")


def numbers(table):
    """The cells of a table, row by row, as text."""
    return table.evaluate("table => [...table.rows].slice(1).map(row => [...row.cells].slice(1)"
                          ".map(cell => cell.textContent))")


def pixel(tab, canvas, x, y):
    return canvas.evaluate(f"canvas => [...canvas.getContext('2d').getImageData({x}, {y}, 1, 1).data]")
