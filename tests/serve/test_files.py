"""Files: `Service.translate_document`, LibreTranslate's routes for them, and what waits to be downloaded."""

import asyncio
import html
import re
import socket
import tempfile
import threading
import time
import urllib.parse
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import pytest
from serving import Stub, counters, running, stub_server, translate, written

from seq2see.documents import formats
from seq2see.documents.protocol import MOST_BYTES, Document, FileOptions, Left
from seq2see.errors import UserError
from seq2see.serve import request_checks
from seq2see.serve.access import AccessControl, Caller
from seq2see.serve.api_errors import APIError
from seq2see.serve.apis import translate_file
from seq2see.serve.apis.translate_file import Report, disposition, safe_name
from seq2see.serve.downloads import Download, Downloads
from seq2see.serve.service import DOCUMENTS_OF_ONE, Service
from seq2see.serve.settings import ServerSettings, read_settings
from seq2see.text.glossary import Glossary
from seq2see.text.html_markup import Html
from seq2see.translate.results import Translation
from .conftest import KEY
from .test_replicated import elsewhere

CALLER = Caller("10.0.0.1")
LANGUAGES = {"source": "en", "target": "fr"}


class Lines:
    """A format of the tests: each line is a text, one that begins with `<` of HTML; `broken` is broken."""

    seen = None

    @classmethod
    def read(cls, data, options, *, name):
        cls.seen = options
        lines = data.decode().split("\n")
        if "broken" in lines:
            raise UserError(f"{name}: line {lines.index('broken') + 1} is broken")
        texts = [Html(line) if line[:1] == "<" else line for line in lines]
        left = [Left(f"line {number}", line, "it stays") for number, line in enumerate(lines, 1) if line == "stays"]
        document = Document(texts, lambda all: document.lost.extend(
            number for number, line in enumerate(lines) if line == "lost") or "\n".join(all).encode(), left=left)
        return document


@pytest.fixture(autouse=True)
def lines(monkeypatch):
    monkeypatch.setattr(formats, "FORMATS", {**formats.FORMATS, "lines": "lines", "gone": "gone"})

    def imported(name, package):
        if name == ".gone":
            raise ModuleNotFoundError("No module named 'lxml'", name="lxml")
        return Lines if name == ".lines" else real(name, package)

    real = formats.import_module
    monkeypatch.setattr(formats, "import_module", imported)
    formats.usable_formats.cache_clear()
    yield
    formats.usable_formats.cache_clear()


@pytest.fixture(scope="module")
def client():
    with stub_server(file_bytes=50_000, file_characters=10_000, characters=200, texts=4, download_bytes=60_000,
                     body_bytes=2_000) as client:
        yield client


def send(client, data=b"Hello", name="a.txt", **more):
    given = {"data": {**LANGUAGES, **more.pop("fields", {})}, "files": {"file": (name, data)}, **more}
    return client.post("/translate_file", **given)


def told(answer, status=400):
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error", "code"} and "\n" not in answer.json()["error"]
    return answer.json()["error"]


# --- the service


def document(service, data, name="a.lines", **more):
    return asyncio.run(service.translate_document(name, data, caller=CALLER, **{**LANGUAGES, **more})).data


def test_texts_of_both_kinds_go_in_batches_and_come_back_in_their_places():
    stub, seen = Stub(), []
    prepare = stub.prepare
    stub.prepare = lambda texts, **more: seen.append([*map(type, texts)]) or prepare(texts, **more)
    service = Service({"stub": stub}, ServerSettings(texts=3, characters=40))
    texts = [f"{'<p>' * (number % 3 == 0)}text {number}" for number in range(11)] + ["", "long " * 30]
    assert document(service, "\n".join(texts).encode()) == "\n".join(map(str.upper, texts)).encode()
    kinds = [Html if text.startswith("<") else str for text in texts]
    assert seen == [kinds[first : first + 3] for first in range(0, 13, 3)]
    assert (Lines.seen.source, Lines.seen.target) == ("en", "fr")
    document(service, b"text", source="English", target="French")
    assert (Lines.seen.source, Lines.seen.target) == ("en", "fr")


def test_the_language_of_a_document_is_that_of_its_texts_together():
    service, seen = Service({"stub": Stub()}), []
    service._translate_alike, real = (lambda *given, **more: seen.append(more["source"]) or real(*given, **more),
                                      service._translate_alike)
    markup = f"<b title='{'The weather was so bad that nobody wanted to go for a walk. ' * 9}'>"
    text = f"Das Wetter\nwar so schlecht, dass niemand\n{markup}spazieren gehen wollte.</b>\nOK"
    document(service, text.encode(), source="auto")
    assert set(seen) == {"de"} and Lines.seen == FileOptions(target="fr")


@pytest.mark.parametrize(("name", "data", "more", "expected"), [
    ("a.xyz", b"", {}, "a.xyz: files of this format cannot be translated; expected one of txt"),
    ("txt", b"", {}, "files of this format cannot be translated"),
    ("a.gone", b"", {}, "a.gone: files of this format need lxml: pip install 'seq2see[files]'"),
    ("a.lines", b"x\nbroken", {}, "a.lines: line 2 is broken"),
    ("a.txt", b"\xff", {}, "a.txt is not UTF-8"),
    ("a.txt", b"x" * 10_001, {}, "the file has 10,001 characters of text: at most 10,000 are allowed; split it"),
    ("a.txt", b"", {"target": "zz"}, "does not translate to zz"),
])
def test_what_is_wrong_with_a_file_is_one_line(name, data, more, expected):
    service = Service({"stub": Stub()}, ServerSettings(file_characters=10_000))
    with pytest.raises(APIError, match=re.escape(expected)) as refused:
        document(service, data, name, **more)
    assert refused.value.status == 400 and not service._documents


def test_a_document_counts_as_its_texts():
    service = Service({"stub": Stub()}, ServerSettings(characters=10, texts=2, texts_per_minute=20))
    document(service, b"one\ntwo\nthree\n" + b"x" * 45)  # three, and five of ten characters
    service.access.check_rate(CALLER, 2)
    document(service, b"one\n" * 90)  # it wants no full allowance, and leaves some
    with pytest.raises(APIError, match="more than 20 texts per minute"):
        document(service, b"one\ntwo")


class Sentences(Stub):
    """Translates each line of a text by itself, as a translator does each sentence."""

    def _translations(self, texts, source, target, options):
        found = iter((yield [(tuple(map(ord, line)), options) for text in texts for line in text.split("\n")]))
        whole = ("\n".join(next(found)[0].text for _ in text.split("\n")) for text in texts)
        return [Translation.of(text, (written(tuple(map(ord, one))),), source_language=source, target_language=target,
                               engine="stub", precision="none") for text, one in zip(texts, whole, strict=True)]


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["a.lines", "a.txt"])
async def test_a_long_document_gives_way_and_waits_while_the_queue_is_full(name):
    """Neither does it fail where a request would, nor does a request wait for more than one batch of it, be the
    document many texts or a long one."""
    stub = Sentences()
    service = Service({"stub": stub}, ServerSettings(texts=2, queue_tokens=40, wait_ms=0, batch_tokens=10,
                                                     texts_per_minute=0))
    try:
        await gives_way(service, stub, name)
    finally:
        stub.gate.set()
        service.close()


async def gives_way(service, stub, name):
    held = asyncio.create_task(service.translate(["hold"], caller=CALLER, **LANGUAGES))
    while not stub.entered.is_set():
        await asyncio.sleep(0.001)
    others = [asyncio.create_task(service.translate(["other text"], caller=CALLER, **LANGUAGES)) for _ in range(4)]
    await asyncio.sleep(0.01)  # the queue is full
    data = "\n".join(f"document {number} sleep 0.02" for number in range(8)).encode()
    two = [asyncio.create_task(service.translate_document(name, data, caller=CALLER, **LANGUAGES))
           for _ in range(2)]
    await asyncio.sleep(0.2)
    assert service.served.batchers["stub", False].queued == 40 and not service.served.batchers["stub", False].full
    stub.gate.set()
    await asyncio.gather(held, *others)
    while not any("document" in text for text in stub.seen):
        await asyncio.sleep(0.001)
    before = len(stub.seen)
    await service.translate(["asked"], caller=CALLER, **LANGUAGES)
    assert stub.seen.index("asked") - before <= 3, "one batch of two, and one that was with the engine"
    assert [one.data for one in await asyncio.gather(*two)] == [data.upper()] * 2


@pytest.mark.anyio
async def test_others_wait_neither_for_its_preparation_nor_for_more_than_one_call_of_the_engine():
    stub, calls, preparing, gate = Sentences(), [], threading.Event(), threading.Event()
    prepare, engine = stub.prepare, stub.translate

    def slow(texts, **more):
        if texts[0].startswith("document") or texts[0].startswith("<"):
            preparing.set()
            assert gate.wait(60)
        return prepare(texts, **more)

    stub.prepare = slow
    stub.translate = lambda sources, *more, **named: calls.append(sum(map(len, sources))) or engine(
        sources, *more, **named)
    service = Service({"stub": stub}, ServerSettings(texts=64, batch_tokens=50, wait_ms=0))
    data = b"\n".join([*[b"document of twenty c."] * 20, b"<p>of HTML</p>"])
    work = asyncio.create_task(service.translate_document("a.lines", data, caller=CALLER, **LANGUAGES))
    try:
        while not preparing.is_set():
            await asyncio.sleep(0.001)
        for text, format in (("long " * 300, "text"), ("other", "html")):
            async with asyncio.timeout(20):
                await service.translate([text], caller=CALLER, format=format, **LANGUAGES)
        calls.clear()
    finally:
        gate.set()
    assert (await work).data == data.upper() and max(calls) <= 50 and len(calls) == 11
    service.close()


@pytest.mark.anyio
async def test_one_account_has_some_of_the_places_for_documents():
    stub = Stub()
    service = Service({"stub": stub}, ServerSettings(wait_ms=0, file_seconds=20))
    held = [asyncio.create_task(service.translate_document("a.txt", b"hold", caller=CALLER, **LANGUAGES))
            for _ in range(DOCUMENTS_OF_ONE)]
    while not stub.entered.is_set():
        await asyncio.sleep(0.001)
    with pytest.raises(APIError) as refused:
        await service.translate_document("a.txt", b"a", caller=CALLER, **LANGUAGES)
    assert (refused.value.status, refused.value.code) == (429, "too_many_files")
    other = asyncio.create_task(service.translate_document("a.txt", b"a", caller=Caller("other"), **LANGUAGES))
    await asyncio.sleep(0.05)
    stub.gate.set()
    assert [one.data for one in await asyncio.gather(other, *held)] == [b"A"] + [b"HOLD"] * DOCUMENTS_OF_ONE
    service.close()


def test_it_has_a_deadline_of_its_own_and_so_many_are_at_work(monkeypatch):
    service = Service({"stub": Stub()}, ServerSettings(deadline_seconds=0.1, file_seconds=60))
    assert document(service, b"sleep 0.3") == b"SLEEP 0.3"
    with pytest.raises(APIError) as refused:
        document(Service({"stub": Stub()}, ServerSettings(file_seconds=0.2)), b"sleep 1")
    assert refused.value.status == 504
    monkeypatch.setattr("seq2see.serve.service.MOST_DOCUMENTS", 0)
    with pytest.raises(APIError) as refused:
        document(service, b"a")
    assert (refused.value.status, refused.value.code) == (503, "queue_full")


def test_an_engine_elsewhere_translates_it():
    """Texts of any length, and until the deadline of a file."""
    stub = Stub()
    stub.measurements = SimpleNamespace(roles={}, pronoun_effects=None)
    with elsewhere(stub, characters=20, deadline_seconds=0.1) as url:
        answer = send(httpx.Client(base_url=url, timeout=120), b"The cat did not cross. sleep 0.3")
        assert httpx.get(answer.json()["translatedFileUrl"]).text == "THE CAT DID NOT CROSS. SLEEP 0.3"


# --- the routes


def test_a_template_is_saved_as_a_catalogue(client):
    answer = send(client, b'msgid "a cat"\nmsgstr ""\n', "m.POT")
    saved = client.get(answer.json()["translatedFileUrl"])
    assert saved.headers["content-disposition"].endswith("m.fr.po") and b'msgstr "A CAT"' in saved.content


def test_the_report_says_how_many_texts_have_a_warning(client):
    report = send(client, b"The cat eats.\nThe dog eats.\nParis\n", "a.lines").json()["report"]
    assert report["doubtful"] == 2 and all(one["doubtful"] for one in report["places"])


def test_a_file_is_translated_and_saved_under_its_name(client):
    answer = send(client, "Où\n<p>est</p>\n".encode(), 'été "1"; x=%41.LINES')
    url = answer.json()["translatedFileUrl"]
    assert re.fullmatch(re.escape(str(client.base_url)) + r"/download_file/[\w-]{32}\.lines", url)
    saved = client.get(url)
    assert saved.content.decode() == "OÙ\n<P>EST</P>\n"
    assert saved.headers["content-type"] == "application/octet-stream"
    assert saved.headers["x-content-type-options"] == "nosniff" and saved.headers["cache-control"] == "no-store"
    head, _, name = saved.headers["content-disposition"].partition("; filename*=UTF-8''")
    assert head == "attachment; filename=\"_t_ _1_; x=_41.fr.LINES\""
    assert urllib.parse.unquote(name) == 'été "1"; x=%41.fr.LINES' and re.fullmatch(r"[\w%.~-]+", name)
    assert url != send(client).json()["translatedFileUrl"]
    long = client.get(send(client, name="x" * 200 + ".txt").json()["translatedFileUrl"])
    assert long.headers["content-disposition"].endswith("x.fr.txt")
    for wrong in ("x.txt", "../" + url.rsplit("/", 1)[1], url.rsplit("/", 1)[1][:-1], "%2e%2e%2fpasswd"):
        assert told(client.get(f"/download_file/{wrong}"), 404)


@pytest.mark.parametrize(("sent", "kept"), [
    ("../../etc/passwd.txt", "passwd.txt"), (r"C:\Users\me\a.txt", "a.txt"),
    ("a\r\nSet-Cookie: x.txt", "aSet-Cookie: x.txt"), ("x" * 500 + ".txt", "x" * 96 + ".txt"),
    ("\u202etxt.exe.txt", "txt.exe.txt"), ("", ""), ("..", ".."), ("/", ""),
    ("a." + "x" * 500, ""),
])
def test_a_name_is_no_path_and_no_header(sent, kept):
    assert safe_name(sent) == kept
    assert re.fullmatch(r"[ -~]*", disposition(safe_name(sent)))


def test_missing_fields_are_told_as_libretranslate_tells_them(client):
    fields = {"source": "en", "target": "fr"}
    for left_out in fields:
        answer = client.post("/translate_file", data={k: v for k, v in fields.items() if k != left_out},
                             files={"file": ("a.txt", b"x")})
        assert told(answer) == f"Invalid request: missing {left_out} parameter"
    for form in ({"data": fields}, {"json": fields}, {"data": fields, "files": {"other": ("a.txt", b"x")}},
                 {"files": {"file": (None, "x")}, "data": fields}, {}):
        assert told(client.post("/translate_file", **form)) == "Invalid request: missing file parameter"
    assert "Invalid request: empty file name" in told(client.post(  # by hand: httpx sends no empty name
        "/translate_file", params=fields, headers={"Content-Type": "multipart/form-data; boundary=b"},
        content=b'--b\r\nContent-Disposition: form-data; name="file"; filename="/"\r\n\r\nx\r\n--b--\r\n'))
    assert send(client, params={"target": "zz"}).status_code == 400  # what is in the address counts
    assert "Missing boundary" in told(client.post("/translate_file", content=b"x", headers={
        "Content-Type": "multipart/form-data"}))
    for status, answer in ((405, client.get("/translate_file")), (405, client.post("/download_file/x"))):
        told(answer, status)


def test_the_answer_says_what_became_of_the_texts(client):
    lines = ["<b>One</b> &amp; two", "lost", "long", "stays", "five", "six", "7"]
    report = send(client, "\n".join(lines).encode(), "a.lines").json()["report"]
    assert report["preview"] == [{"text": text, "translation": text.upper()} for text in (
        "<b>One</b> &amp; two", "lost", "long", "stays", "five")]  # the stub makes no Html
    assert (report["texts"], report["left"], report["doubtful"]) == (7, 2, 0)
    assert report["places"] == [
        {"place": "text 2", "text": "lost", "left": "the translation lost a placeholder or an element"},
        {"place": "line 4", "text": "stays", "left": "it stays"}]
    many = send(client, "\n".join(["lost"] * 120).encode(), "a.lines").json()["report"]
    assert many["left"] == 120 and len(many["places"]) == 100


def test_doubts_and_markup_in_the_report_of_a_real_model(translator):
    service = Service({"tiny": translator})
    document = asyncio.run(service.translate_document("a.md", b"The **cat** did not.\n\nThe zebra.\n", caller=CALLER,
                                                      **LANGUAGES))
    report = Report.of(document)
    assert report.preview[0].text == "The cat did not." and "*" not in report.preview[0].translation
    [place] = [place for place in report.places if "zebra" in place.text]
    assert report.doubtful and place.translation and any("zebra" in why for why in place.doubtful)


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "data", "said"), [
    ("t.tsv", b"car bagnole", "t.tsv, row 1: no TAB: expected source TAB target"),
    ("t.tsv", b"# nothing\n", "t.tsv has no terms: expected lines of source TAB target"),
    ("t.tsv", b"a\tb\na\tc", "t.tsv, row 2: the source term has another target term already: keep one"),
    ("t.tsv", b"\xff", "t.tsv is not UTF-8: save it as UTF-8"),
    ("../t.tsv", b"x" * 200_001, "t.tsv has 200,001 bytes: a glossary may have at most 200,000"),
    ("", "{}", "glossary: send it as a file, with lines of source TAB target"),
])
def test_a_wrong_glossary_is_told_in_one_line(name, data, said):
    with stub_server(file_bytes=500_000) as client:
        glossary = (name, data) if name else (None, data)
        answer = client.post("/translate_file", data=LANGUAGES, files={"file": ("a.txt", b"car"), "glossary": glossary})
    assert told(answer, 413 if len(data) > 1_000 else 400) == said


def test_a_file_is_translated_with_its_glossary():
    stub, seen = Stub(), []
    prepare = stub.prepare
    stub.prepare = lambda texts, **more: seen.append(more.get("glossary")) or prepare(texts, **more)
    with running({"stub": lambda: stub}) as server:
        for files in ({"glossary": ("t.tsv", b"# terms\ncar\tbagnole\n")}, {"glossary": ("", b"")}, {}):
            files = {"file": ("a.txt", b"car"), **files}
            assert httpx.post(f"{server.url}/translate_file", data=LANGUAGES, files=files).is_success
    assert seen[-3:] == [Glossary((("car", "bagnole"),)), None, None]


def test_a_file_has_its_own_limit_and_other_bodies_keep_theirs(client):
    assert "translatedFileUrl" in send(client, b"x" * 9_000).json()  # larger than body_bytes
    assert "the file has 50,001 bytes: at most 50,000" in told(send(client, b" " * 50_001), 413)
    assert client.post("/translate", data={"q": "x" * 3_000, **LANGUAGES}).status_code == 413

    def endless():
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        while True:
            yield b"x" * 10_000

    answer = client.post("/translate_file", content=endless(), headers={
        "Content-Type": "multipart/form-data; boundary=b"})
    assert "larger than 150000 bytes" in told(answer, 413)
    assert counters(client)["seq2see_refusals_total", "body_too_large"] >= 1


def test_no_file_is_written_to_the_disk_and_so_many_arrive_at_a_time(client, monkeypatch):
    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", lambda *_: pytest.fail("a file"))
    with stub_server(file_bytes=5_000_000) as large:
        assert "translatedFileUrl" in send(large, b" " * 1_200_000).json()
    monkeypatch.setattr("seq2see.serve.apis.translate_file.MOST_ARRIVING", 0)
    with stub_server() as busy:
        assert told(send(busy), 503) == "the server is busy: try again in a second"


@contextmanager
def arriving(url, many, head=""):
    """So many uploads that send nothing more."""
    address, sockets = urllib.parse.urlsplit(url), []
    for _ in range(many):
        sockets.append(socket.create_connection((address.hostname, address.port), timeout=30))
        sockets[-1].sendall(f"POST /translate_file HTTP/1.1\r\nHost: {address.netloc}\r\n{head}Content-Type: "
                            "multipart/form-data; boundary=b\r\nContent-Length: 900\r\n\r\n--b\r\n".encode())
    time.sleep(0.3)
    yield sockets
    for one in sockets:
        one.close()


def test_slow_uploads_leave_room_for_others_and_end(guarded, monkeypatch):
    monkeypatch.setattr(translate_file, "MOST_OF_ONE", 99)
    valid, in_form = {"headers": {"X-API-Key": KEY}}, {"fields": {"api_key": KEY}}
    with httpx.Client(base_url=guarded) as client:
        with arriving(guarded, translate_file.MOST_ARRIVING):
            assert send(client, **valid).status_code == 200
            assert told(send(client, **in_form), 503).startswith("the server is busy")
        with arriving(guarded, 1, "X-API-Key: not-a-key\r\n") as [wrong]:
            assert b" 403 " in wrong.recv(100), "before the file"
        monkeypatch.setattr(translate_file, "MOST_OF_ONE", 2)
        with arriving(guarded, 2):
            assert send(client, **valid).status_code == 200
            told(send(client, **in_form), 503)
        monkeypatch.setattr(translate_file, "RECEPTION_SECONDS", 0.2)
        with arriving(guarded, 1) as [slow]:
            assert b" 408 " in slow.recv(100)
        assert send(client, **in_form).status_code == 200


def test_half_an_upload_is_given_up_when_nothing_more_comes(guarded, monkeypatch):
    monkeypatch.setattr(request_checks, "SILENCE_SECONDS", 0.2)
    with httpx.Client(base_url=guarded) as client, arriving(guarded, translate_file.MOST_OF_ONE) as halves:
        for one in halves:
            assert b" 408 " in one.recv(100)
        assert send(client, fields={"api_key": KEY}).status_code == 200


def test_an_unfinished_upload_is_forgotten(client):
    with pytest.raises(RuntimeError, match="gone"):
        def breaks_off():
            yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nx'
            raise RuntimeError("gone")

        client.post("/translate_file", content=breaks_off(), headers={
            "Content-Type": "multipart/form-data; boundary=b"})
    assert translate(client, "a").status_code == 200 and not client.server.service._documents


def test_a_download_needs_no_key_and_an_upload_does(guarded):
    with httpx.Client(base_url=guarded) as client:
        assert told(send(client), 403).startswith("this server requires an API key")
        told(send(client, fields={"api_key": "another-key"}), 403)
        for given in ({"fields": {"api_key": KEY}}, {"params": {"api_key": KEY}}, {"headers": {"X-API-Key": KEY}}):
            answer = send(client, b" ", **given)
            assert httpx.get(answer.json()["translatedFileUrl"]).content == b" "


@pytest.mark.parametrize(("trusted", "expected"), [((), "http"), (("127.0.0.1",), "https")])
def test_the_address_is_right_behind_a_proxy(trusted, expected):
    with running({"stub": Stub}, root_path="/mt", trusted_proxies=trusted, allowed_hosts=("mt.example",)) as server:
        answer = send(httpx.Client(base_url=server.url), headers={"Host": "mt.example", "X-Forwarded-Proto": "https"})
    assert answer.json()["translatedFileUrl"].startswith(f"{expected}://mt.example/mt/download_file/")


# --- downloads


@pytest.mark.anyio
async def test_a_download_is_kept_for_its_time_and_gives_way_to_others_of_its_account_alone():
    def add(size, account="a"):
        return kept.add(Download(f"{size}", b"x" * size, account), extension="txt")

    kept = Downloads(seconds=0.05, most_bytes=40)
    names = [add(4), add(5), add(3), add(10, "b")]  # ten of an account
    assert kept.bytes == 18 and [kept.find(name).filename for name in names[1:]] == ["5", "3", "10"]
    with pytest.raises(APIError) as refused:
        kept.find(names[0])
    assert refused.value.status == 404
    with pytest.raises(APIError, match="41 bytes: at most 40"):
        add(41)
    add(22, "c")  # a large one, while there is room
    with pytest.raises(APIError) as refused:
        add(1, "d")
    assert (refused.value.status, refused.value.code) == (503, "downloads_full")
    for _ in range(20):
        add(8)
    assert kept.bytes == 40 and kept.find(names[3])
    await asyncio.sleep(0.1)
    assert kept.bytes == 0 and not kept._kept


def test_what_the_page_and_clients_learn_of_formats(client):
    served = [f".{one}" for one in formats.FORMATS if one != "gone"]
    assert client.get("/frontend/settings").json()["supportedFilesFormat"] == served
    assert html.unescape(client.get("/docs").text).count("/translate_file")


def test_access_control_is_asked_once_for_an_upload():
    service = Service({"stub": Stub()}, ServerSettings(), access=AccessControl(texts_per_minute=3))
    assert document(service, b"one\ntwo\nthree") == b"ONE\nTWO\nTHREE"


def test_no_setting_allows_larger_files_than_are_read():
    assert read_settings(None, [f"file_bytes={MOST_BYTES}"]).file_bytes == MOST_BYTES
    with pytest.raises(UserError, match=r"file_bytes .* expected at most 20000000"):
        read_settings(None, [f"file_bytes={MOST_BYTES + 1}"])
