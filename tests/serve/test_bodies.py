"""Whatever is sent, every dialect answers in its own form, and never by failing."""

import gzip
import json

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

FIELD = {"/translate": "q", "/detect": "q", "/": "inputs", "/v1/translate": "texts", "/v1/look": "text"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client(live):
    with httpx.Client(base_url=live, timeout=60) as made:
        yield made


def told(answer):
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert set(body) == {"error", "code"} and body["error"] and "\n" not in body["error"], body
    return body


NO_BODIES = [b"", b"{", b"null", b"[]", b"{}", "{\"q\": \"é\"}".encode("latin-1"), b"[" * 20_000, b"1" * 100_000,
             b'{"inputs": NaN, "q": NaN, "text": NaN, "texts": [NaN]}']


@pytest.mark.parametrize("path", FIELD)
def test_what_is_no_body_is_400_and_utf_16_is_told_as_such(client, path):
    for content in NO_BODIES:
        answer = client.post(path, content=content, headers=JSON)
        assert (answer.status_code, told(answer)["code"]) == (400, "bad_request"), content[:20]
    for encoding in ("utf-16", "utf-16-le"):
        answers = [client.post(path, content=f'{{"{FIELD[path]}": "The cat."}}'.encode(encoding), headers=JSON)]
        if FIELD[path] == "q":
            answers.append(client.post(path, files={"q": (None, "The cat.".encode(encoding))}))
        for answer in answers:
            assert (answer.status_code, told(answer)["error"]) == (400, "the body is UTF-16: send UTF-8")


@pytest.mark.parametrize("path", [*FIELD, "/translate_file"])
def test_a_compressed_body_is_refused_as_such_and_a_byte_order_mark_is_skipped(client, path):
    answer = client.post(path, content=gzip.compress(b"{}"), headers=JSON | {"Content-Encoding": "gzip"})
    assert (answer.status_code, told(answer)["code"]) == (415, "compressed")
    if path != "/translate_file":
        answer = client.post(path, content=b"\xef\xbb\xbf{}", headers=JSON | {"Content-Encoding": "identity"})
        assert (answer.status_code, "missing" in told(answer)["error"]) == (400, True)


@pytest.mark.parametrize(("q", "more"), [("x" * 100, "x"), (["a"] * 3, ["a"])])  # the limits of `stub`
def test_a_limit_itself_is_allowed_and_one_more_is_not(stub, q, more):
    for sent, status in ((q, 200), (q + more, 400)):
        assert stub.post("/translate", json={"q": sent, "source": "en", "target": "fr"}).status_code == status


# --- whatever is sent

PATHS = ["/translate", "/detect", "/", "/models/stub", "/v1/translate", "/v1/look"]
NAMES = ["q", "source", "target", "format", "alternatives", "inputs", "parameters", "texts", "text", "src_lang",
         "tgt_lang", "generate_parameters", "num_beams", "max_new_tokens", "views", "api_key"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(["en", "fr"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)
BODIES = OBJECTS.map(json.dumps).map(str.encode) | st.binary(max_size=60)
TYPES = st.sampled_from(["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                         "text/plain", "application/json; charset=utf-16", "x"])


@example(path="/translate", kind="application/json", body=b'{"q": "\\ud800", "source": "en", "target": "fr"}')
@example(path="/v1/translate", kind="application/json", body=b'{"texts": ["a"], "num_beams": 1e999}')
@given(path=st.sampled_from(PATHS), kind=TYPES, body=BODIES)
def test_any_request_is_answered(stub, path, kind, body):
    answer = stub.post(path, content=body, headers={"Content-Type": kind})
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        told(answer)
