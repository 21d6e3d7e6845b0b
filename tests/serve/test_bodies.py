"""Whatever is sent, every dialect answers in its own form, and never by failing."""

import json

import httpx
import pytest
import serving

from seq2see.serve.errors import APIError
from seq2see.serve.languages import find_language

ROUTES = ["/translate", "/detect", "/", "/v1/translate", "/v1/look"]
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


def filled(path, text):
    """A body for a path that holds a JSON text as it stands."""
    body = f'{{"{FIELD[path]}": {f"[{text}]" if path == "/v1/translate" else text}'
    return body + (', "source": "en", "target": "fr"}' if path in ("/translate", "/v1/translate", "/v1/look") else "}")


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"nothing", b"null", b"[]", b"5", b'"text"', b"{}", b"\xff\xfe", "{\"q\": \"é\"}".encode("latin-1"),
     b"[" * 20_000, b'{"q":' * 20_000, b"1" * 100_000, b'{"inputs": NaN, "q": NaN, "text": NaN, "texts": [NaN]}'],
    ids=["empty", "cut", "word", "null", "list", "number", "text", "nothing", "bytes", "latin-1", "deep", "deeper",
         "long", "nan"],
)  # fmt: skip
def test_what_is_no_body_is_400(client, path, content):
    answer = client.post(path, content=content, headers=JSON)
    assert answer.status_code == 400
    assert told(answer)["code"] == "bad_request"


@pytest.mark.parametrize("path", ROUTES)
def test_a_json_array_is_told_as_such(client, path):
    body = filled(path, '"The cat."')
    answer = client.post(path, content=f"[{body}]", headers=JSON)
    assert (answer.status_code, told(answer)["error"]) == (400, "expected a JSON object")


@pytest.mark.parametrize(("path", "found"), [
    ("/translate", lambda reply: reply["translatedText"]),
    ("/", lambda reply: reply[0]["translation_text"]),
    ("/v1/translate", lambda reply: reply["translations"][0]["text"]),
])  # fmt: skip
@pytest.mark.parametrize("text", ["", "12345", "https://x.org"])
def test_a_text_without_words_comes_back_as_it_is(client, path, found, text):
    answer = client.post(path, content=filled(path, json.dumps(text)), headers=JSON)
    assert (answer.status_code, found(answer.json())) == (200, text)


@pytest.mark.parametrize("path", ROUTES)
def test_a_header_said_twice_is_answered_at_once(client, path):
    body = filled(path, '"The cat."').encode()
    for twice, status in (("Accept: */*\r\n", "200"), ("X-API-Key: a\r\n", "200"),
                          (f"Content-Length: {len(body) + 1}\r\n", "400")):
        head = (f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{twice}{twice}Content-Length: {len(body)}\r\n"
                "Content-Type: application/json\r\nConnection: close\r\n\r\n")
        first = serving.raw(client, head.encode() + body).split(b"\r\n")[0].decode()
        assert status in first, (twice, first)


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("text", ['"\\ud800"', '"a\\udc00b"', "1", "true", "null", "{}", "[[]]", '[{"a": 1}]', "1e999"])
def test_what_is_no_text_is_400(client, path, text):
    answer = client.post(path, content=filled(path, text), headers=JSON)
    assert answer.status_code == 400
    told(answer)


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("text", ["a\\u0000b", "\\u202eabc\\u2066", "\\ufeff", "\\ufffe", "😀" * 9, "\\n",
                                  "e" + "\\u0301" * 40])
def test_odd_texts_are_translated_or_refused(client, path, text):
    answer = client.post(path, content=filled(path, f'"{text}"').encode(), headers=JSON)
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        told(answer)


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("text", ["x" * 900_000, "e" + "\u0301" * 400_000, "\ufdfa" * 300_000],
                         ids=["long", "marks", "expands"])
def test_too_much_text_is_refused(client, path, text):
    answer = client.post(path, content=filled(path, f'"{text}"').encode(), headers=JSON)
    assert answer.status_code == 400
    assert "5000" in told(answer)["error"]


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("media", ["text/plain", "image/png", "application/octet-stream", "multipart/form-data",
                                   "multipart/form-data; boundary=x", "application/json; charset=latin-1", ";;", ""])
def test_a_wrong_content_type_is_no_failure(client, path, media):
    answer = client.post(path, content=filled(path, '"The cat."'), headers={"Content-Type": media})
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        told(answer)


@pytest.mark.parametrize("name", ["%2e%2e%2fetc", "a/b/c", "%00", "x" * 2_000, "<script>"])
def test_an_unknown_model_is_404_and_not_repeated(client, name):
    answer = client.post(f"/models/{name}", json={"inputs": "a"})
    assert answer.status_code in (404, 405)
    assert "script" not in told(answer)["error"] and len(told(answer)["error"]) < 200


@pytest.mark.parametrize(("code", "found"), [
    ("en", "en"), ("EN", "en"), ("en-US", "en"), ("en_XX", "en"), ("zh-Hans", "zh-Hans"), ("ZH_hans", "zh-Hans"),
])  # fmt: skip
def test_find_language(code, found):
    assert find_language(code, ["en", "zh-Hans"]) == found
    assert find_language(code, []) == code, "a checkpoint need not name its languages"


@pytest.mark.parametrize("code", ["zh", "", "-", "eng"])
def test_a_language_that_is_not_served_is_named(code):
    with pytest.raises(APIError, match=f"{code} is not supported; choose en, zh-Hans".strip()):
        find_language(code, ["en", "zh-Hans"])


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_body_in_utf_16_is_told_as_such(client, path, encoding):
    answer = client.post(path, content=filled(path, '"The cat."').encode(encoding), headers=JSON)
    assert answer.status_code == 400
    assert told(answer)["error"] == "the body is UTF-16: send UTF-8"


@pytest.mark.parametrize("path", ["/translate", "/detect"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_part_of_a_form_in_utf_16_is_told_as_such(client, path, encoding):
    fields = {"q": "The cat.".encode(encoding), "source": "en", "target": "fr"}
    answer = client.post(path, files={name: (None, value) for name, value in fields.items()})
    assert answer.status_code == 400
    assert told(answer)["error"] == "the body is UTF-16: send UTF-8"
    latin = client.post(path, files={name: (None, value) for name, value in (fields | {"q": b"Caf\xe9."}).items()})
    assert latin.status_code == 200


@pytest.mark.parametrize("path", ["/translate", "/", "/v1/translate", "/v1/look"])
def test_a_very_long_word_is_refused_at_once(client, path):
    answer = client.post(path, content=filled(path, json.dumps("a" * 4_900)), headers=JSON)
    assert answer.status_code == 400 and "characters" in told(answer)["error"]
