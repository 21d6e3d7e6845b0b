"""The Hub's inference dialect, spoken by huggingface_hub's clients; and the handler for Inference Endpoints."""

import json

import httpx
import pytest
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError

from seq2see.serve.apis.huggingface import Parameters
from seq2see.translate.decoding import DecodingOptions


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch):
    """In its offline mode huggingface_hub does not even ask a server of this machine."""
    monkeypatch.setattr("huggingface_hub.constants.is_offline_mode", lambda: False)


TEXT = "The cat did not cross."


def test_the_client_translates_by_every_address(live, translator):
    expected = translator(TEXT).text
    for client in (InferenceClient(model=live), InferenceClient(base_url=f"{live}/"),
                   InferenceClient(model=f"{live}/models/tiny")):
        assert client.translation(TEXT).translation_text == expected
    assert InferenceClient().translation(TEXT, model=live).translation_text == expected
    german = InferenceClient(model=live).translation(TEXT, src_lang="en", tgt_lang="de")
    assert german.translation_text == translator(TEXT, target="de").text


def test_settings_are_generates_own():
    """do_sample decides whether temperature counts; max_length counts the decoder's start; the inner ones win."""
    def of(**given):
        return Parameters(**given).options()

    assert of(temperature=0.5, top_k=3) == DecodingOptions()
    assert of(do_sample=True) == DecodingOptions(temperature=1.0)
    assert of(do_sample=True, top_p=0.9, temperature=0.5) == DecodingOptions(temperature=0.5, top_p=0.9)
    assert of(max_length=20) == DecodingOptions(max_new_tokens=19)
    assert of(max_length=20, max_new_tokens=7) == DecodingOptions(max_new_tokens=7)
    assert of(num_beams=2, num_return_sequences=2, generate_parameters={"num_beams": 4}) == DecodingOptions(
        num_beams=4, alternatives=2)


def output(result):
    """The best translation, with its warnings if there are any."""
    return {"translation_text": result.text} | ({"warnings": [*result.warnings]} if result.warnings else {})


def test_a_list_is_answered_by_a_list_and_curl_needs_no_content_type(live, translator):
    texts = ["The cat.", "  ", "The box did not fit."]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = httpx.post(live, content=json.dumps({"inputs": texts, "options": {"wait_for_model": True}}), headers=form)
    assert answer.json() == [output(translator(text)) for text in texts]
    two = {"num_return_sequences": 2, "generate_parameters": {"num_beams": 3, "max_new_tokens": 5}}
    expected = translator("The cat.", alternatives=2, num_beams=3, max_new_tokens=5)
    found = httpx.post(live, json={"inputs": ["The cat."], "parameters": two}).json()
    assert found == [[output(expected), *({"translation_text": one.text} for one in expected.hypotheses[1:])]]


def test_the_clients_health_and_info(live):
    client = InferenceClient(model=f"{live}/models/tiny", provider="hf-inference")
    assert client.health_check() is True
    info = client.get_endpoint_info()
    assert info["model_id"] == "tiny" and info["language_pairs"] == [["en", "fr"], ["en", "de"]]
    assert InferenceClient(model=f"{live}/models/other", provider="hf-inference").health_check() is False


@pytest.mark.parametrize(("path", "text", "parameters", "status", "error"), [
    ("", "x" * 5001, {}, 400, "a text has 5001 characters: at most 5000 are allowed"),
    ("", TEXT, {"src_lang": "en", "tgt_lang": "zz"}, 400, "does not translate to zz; choose en to fr, en to de"),
    ("", TEXT, {"generate_parameters": {"beams": 2}}, 400, "parameters.generate_parameters.beams: unknown key"),
    ("/models/other", TEXT, {}, 404, ""),
])
def test_the_client_shows_the_error(live, path, text, parameters, status, error):
    with pytest.raises(HfHubHTTPError) as raised:
        InferenceClient(model=live + path).translation(text, **parameters)
    assert raised.value.response.status_code == status
    assert error in str(raised.value)
