"""`seq2see.page(translator)` under a path of a larger site: mounted in an application, and behind a proxy that strips
the path."""

import threading
import time
from contextlib import contextmanager

import gradio
import httpx
import pytest
import tiny
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import StreamingResponse

import seq2see
from seq2see import Translator
from .conftest import settled

pytestmark = pytest.mark.browser

SUB = "/sub"


@pytest.fixture(scope="module")
def marian():
    return Translator(*tiny.published_marian(), name="marian")


@contextmanager
def served(app):
    """The application on a free port of 127.0.0.1."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


@contextmanager
def mounted(page):
    with served(gradio.mount_gradio_app(FastAPI(), page, path=SUB)) as url:
        yield f"{url}{SUB}/"


@contextmanager
def mounted_twice(page):
    """Its application is itself mounted: the outer one runs its lifespan."""
    inner = gradio.mount_gradio_app(FastAPI(), page, path="/page")
    outer = FastAPI(lifespan=lambda _: inner.router.lifespan_context(inner))
    outer.mount(SUB, inner)
    with served(outer) as url:
        yield f"{url}{SUB}/page/"


@contextmanager
def behind_a_proxy(page):
    _, own, _ = page.launch(root_path=SUB, prevent_thread_lock=True, quiet=True)
    client = httpx.AsyncClient(base_url=own, timeout=None)
    proxy = FastAPI()

    @proxy.api_route(f"{SUB}{{path:path}}", methods=["GET", "POST"])
    async def forward(path: str, request: Request) -> StreamingResponse:
        asked = client.build_request(request.method, path or "/", params=request.query_params,
                                     headers=request.headers.raw, content=await request.body())
        answer = await client.send(asked, stream=True)
        return StreamingResponse(answer.aiter_raw(), answer.status_code, answer.headers)

    try:
        with served(proxy) as url:
            yield f"{url}{SUB}/"
    finally:
        page.close()


@pytest.mark.parametrize("way", [mounted, mounted_twice, behind_a_proxy])
def test_it_loads_and_translates_there(open_tab, marian, way):
    with way(seq2see.page(marian)) as url:
        tab = open_tab(url)
        if not tab.locator(".field").count():
            tab.get_by_role("button", name="Edit").click()
        tab.locator(".field").fill("The cat did not cross.")
        tab.locator(".field").press("Enter")
        settled(tab)
        assert tab.locator(".tgt").inner_text().strip() == marian("The cat did not cross.").text.strip()
