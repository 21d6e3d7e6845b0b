"""LibreTranslate's dialect, spoken by the clients that people have, and by hand where they say too little."""

import json
import urllib.error

import httpx
import pytest
import serving
from deep_translator import LibreTranslator
from deep_translator.exceptions import AuthorizationException
from libretranslatepy import LibreTranslateAPI

from seq2see.documents.formats import usable_formats
from .conftest import KEY

TEXT = "The cat did not cross."


def ask(url, path="/translate", **request):
    return httpx.post(f"{url}{path}", timeout=60, **request)


def test_libretranslatepy_translates_detects_and_lists(live, translator):
    client = LibreTranslateAPI(live)
    assert client.translate(TEXT, "en", "de") == translator(TEXT, target="de").text
    assert client.translate("Café, l'été", "en", "fr") == translator("Café, l'été").text
    assert client.languages() == [  # a GET with a body
        {"code": "en", "name": "English", "targets": ["fr", "de"]},
        {"code": "fr", "name": "French", "targets": []},
        {"code": "de", "name": "German", "targets": []},
    ]
    found = ask(live, json={"q": [TEXT], "source": "auto", "target": "fr"}).json()["detectedLanguage"]
    assert [(one["language"], one["confidence"] > 50) for one in found] == [("en", True)]
    [found] = client.detect(TEXT)
    assert found["language"] == "en" and 50 < found["confidence"] <= 100


def test_the_page_s_settings_have_libretranslate_s_shape(live, guarded):
    assert httpx.get(f"{live}/frontend/settings").json() == {
        "charLimit": 5000, "frontendTimeout": 500, "apiKeys": False, "keyRequired": False, "suggestions": False,
        "filesTranslation": True, "supportedFilesFormat": [f".{one}" for one in usable_formats()],
        "language": {"source": {"code": "auto", "name": "Auto Detect"}, "target": {"code": "fr", "name": "French"}}}
    settings = httpx.get(f"{guarded}/frontend/settings").json()
    assert settings["apiKeys"] and settings["keyRequired"]


def test_the_document_of_the_routes_is_at_spec(live):
    document = httpx.get(f"{live}/spec").json()
    assert document == httpx.get(f"{live}/openapi.json").json() and "/translate_file" in document["paths"]
    with serving.stub_server(docs=False) as client:
        assert client.get("/spec").status_code == 404


def test_a_suggestion_is_refused_whatever_it_is(live, guarded):
    for url in (live, guarded):
        for given in ({"data": {"q": "a", "s": "b", "source": "en", "target": "fr"}}, {"json": {}}, {}):
            answer = ask(url, "/suggest", **given)
            assert (answer.status_code, answer.json()["error"]) == (
                403, "Suggestions are disabled on this server: it stores no texts")


def test_a_list_of_texts_is_detected_text_by_text(live):
    texts = [TEXT, "", "Le chat n'a pas traversé la rue."]
    found = ask(live, "/detect", json={"q": texts}).json()
    assert found == [ask(live, "/detect", json={"q": text}).json() for text in texts]
    assert found[1] == [{"confidence": 0.0, "language": "en"}]
    assert ask(live, "/detect", params={"q": TEXT}).json() == found[0]
    for wrong in ([], [1], ["a"] * 65, {"a": 1}, None):
        assert ask(live, "/detect", json={"q": wrong}).status_code == 400


@pytest.mark.parametrize("send", [
    lambda **fields: {"json": fields}, lambda **fields: {"data": fields}, lambda **fields: {"params": fields},
    lambda **fields: {"files": {name: (None, value) for name, value in fields.items()}},
], ids=["json", "form", "address", "multipart"])
def test_a_missing_field_is_named_as_by_libretranslate(live, send):
    fields = {"q": TEXT, "source": "en", "target": "fr"}
    for name in fields:
        answer = ask(live, **send(**{one: value for one, value in fields.items() if one != name}))
        assert answer.status_code == 400
        assert answer.json() == {"error": f"Invalid request: missing {name} parameter", "code": "bad_request"}
    assert ask(live, "/detect", **send(api_key="x")).json()["error"] == "Invalid request: missing q parameter"


def test_a_glossary_is_refused(live):
    for send in ("json", "params"):
        answer = ask(live, **{send: {"q": TEXT, "source": "en", "target": "fr", "glossary": {"cat": "minou"}}})
        assert answer.status_code == 400
        assert answer.json() == {"error": "glossary: only /v1/translate takes one", "code": "bad_request"}


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/translate"), ("GET", "/detect"), ("POST", "/languages"), ("POST", "/health"), ("GET", "/suggest"),
    ("GET", "/translate_file"), ("POST", "/frontend/settings"), ("POST", "/download_file/x"), ("POST", "/spec"),
])
def test_another_method_is_405(live, method, path):
    answer = httpx.request(method, live + path)
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_libretranslatepy_sends_its_key_and_is_told_what_is_wrong(guarded, translator):
    client = LibreTranslateAPI(guarded, api_key=KEY)
    assert client.translate(TEXT, "en", "fr") == translator(TEXT).text
    for args, error in ((("x" * 5001, "en", "fr"), "a text has 5001 characters: at most 5000 are allowed"),
                        ((TEXT, "en", "zz"), "this model does not translate to zz; choose en to fr, en to de,"
                         " or another model")):
        with pytest.raises(urllib.error.HTTPError) as raised:
            client.translate(*args)
        assert (raised.value.code, json.load(raised.value)["error"]) == (400, error)
    with pytest.raises(urllib.error.HTTPError) as raised:
        LibreTranslateAPI(guarded, api_key="another-key").translate(TEXT, "en", "fr")
    assert raised.value.code == 403


def test_deep_translator(guarded, translator):
    ours = {"source": "en", "target": "fr", "custom_url": f"{guarded}/"}
    texts = [TEXT, "The box."]
    assert LibreTranslator(**ours, api_key=KEY).translate_batch(texts) == [translator(text).text for text in texts]
    with pytest.raises(AuthorizationException):
        LibreTranslator(**ours, api_key="another-key").translate(TEXT)


def without_warnings(answer):
    """What an untrained model writes has some."""
    return {name: value for name, value in answer.json().items() if name not in ("warnings", "doubts")}


def test_text_in_another_language_is_flagged(live):
    french = "Le chat n'a pas traversé la rue."
    fields = {"source": "en", "target": "de"}
    assert ask(live, json=fields | {"q": french}).json()["other_language"] == "fr"
    assert "other_language" not in ask(live, json=fields | {"q": TEXT}).json()
    for source in ("en", "auto"):
        texts = {"q": [TEXT, f'<p title="street">{french}</p>', " "], "source": source, "format": "html"}
        assert ask(live, json=fields | texts).json()["other_language"] == [None, "fr", None]


FIELDS = {"q": "Café: the cat's “box” + 1 % & more", "source": "en", "target": "de", "alternatives": "1"}


@pytest.mark.few(2)
@pytest.mark.parametrize("request_", [
    {"json": FIELDS | {"alternatives": 1}},
    {"data": FIELDS},
    {"files": {name: (None, value) for name, value in FIELDS.items()}},
    {"params": FIELDS},
    {"params": FIELDS, "data": {"q": "what is in the address counts"}},
], ids=["json", "form", "multipart", "address", "twice"])
def test_four_encodings_say_the_same(live, translator, request_):
    answer = ask(live, **request_)
    assert answer.status_code == 200
    best, *others = translator(FIELDS["q"], target="de", alternatives=2).hypotheses
    assert without_warnings(answer) == {"translatedText": best.text, "alternatives": [one.text for one in others]}


@pytest.mark.few(3)
@pytest.mark.parametrize("fields", [
    {"format": ""}, {"format": None}, {"alternatives": ""}, {"alternatives": None}, {"alternatives": "0"},
    {"api_key": None}, {"api_key": "", "format": "text", "alternatives": 0},
])
def test_what_clients_send_for_what_they_leave_out(live, translator, fields):
    assert without_warnings(ask(live, json={"q": TEXT, "source": "en", "target": "fr"} | fields)) == {
        "translatedText": translator(TEXT).text}


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["json", "data"])
def test_alternatives_may_be_a_string_of_digits(live, kind):
    fields = {"q": TEXT, "source": "en", "target": "fr"}
    answers = [ask(live, **{sent: fields | {"alternatives": number}}).json() for sent, number in (
        (kind, "3"), ("json", 3))]
    assert answers[0] == answers[1] and answers[0]["alternatives"]
    for wrong in ("-1", "3.5", "x", "٣", "1e3"):
        answer = ask(live, **{kind: fields | {"alternatives": wrong}})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


@pytest.mark.few(3)
@pytest.mark.parametrize("path", ["/health", "/healthz", "/readyz", "/languages", "/", "/ui", "/ui/"])
def test_head_says_what_get_says_without_the_body(live, path):
    head, get = (getattr(httpx, method)(live + path, timeout=60) for method in ("head", "get"))
    assert (head.status_code, head.content) == (get.status_code, b"")
    for name in ("content-type", "location"):
        assert head.headers.get(name) == get.headers.get(name)


def test_a_form_in_utf_8_need_not_be_escaped(live, translator):
    """As curl -d sends it."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = ask(live, content="q=Le café&source=en&target=fr".encode(), headers=form)
    assert answer.json()["translatedText"] == translator("Le café").text
    assert ask(live, content="q=Le café&source=en&target=fr".encode("latin-1"), headers=form).status_code == 400


def test_a_batch_keeps_its_order_and_blank_texts(live, translator):
    texts = ["The cat.", "", "  ", "The box did not fit in the bag.", "The cat."]
    answer = ask(live, json={"q": texts, "source": "en", "target": "fr", "alternatives": 1}).json()
    expected = [translator(text, alternatives=2) for text in texts]
    assert answer["translatedText"] == [one.text for one in expected]
    assert answer["alternatives"] == [[one.text for one in each.hypotheses[1:]] for each in expected]
    assert "detectedLanguage" not in answer


def test_what_is_wrong_is_told(live):
    for fields, error in (({"q": ["a"] * 65}, "65 texts: at most 64 are allowed"),
                          ({"target": "auto"}, "does not translate to auto"),
                          ({"source": "en\0"}, "does not translate from en"),
                          ({"alternatives": 5}, "alternatives 5: at most 4 are allowed")):
        answer = ask(live, json={"q": TEXT, "source": "en", "target": "fr"} | fields)
        assert answer.status_code == 400
        assert error in answer.json()["error"] and "\n" not in answer.json()["error"]
