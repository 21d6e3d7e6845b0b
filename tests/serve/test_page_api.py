"""What Gradio's clients and assistants call by name; and what nobody should."""

import json

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

import seq2see
from seq2see.lens import word_map

TEXT = "The cat did not cross."


@pytest.fixture(scope="module")
def client(live):
    return Client(f"{live}/ui/", verbose=False, analytics_enabled=False)


def test_gradio_sends_nothing_about_the_page(translator):
    assert not seq2see.page(translator).analytics_enabled


def test_gradios_client_translates(client, translator):
    found = client.predict(TEXT, "en", "de", 2, api_name="/translate")
    result = translator(TEXT, target="de", alternatives=2)
    assert found == {"translation": result.text, "alternatives": [result.hypotheses[1].text], "unknown_words": [],
                     "one_by_one": False, "finished": result.hypotheses[0].finished, "source": "en", "target": "de",
                     "invented_words": [word.text for word in result.invented_words or ()],
                     "warnings": [*result.warnings]}
    assert client.predict("The zebra.", api_name="/translate")["unknown_words"] == ["zebra"]


def test_gradios_client_looks(client, translator):
    found = client.predict(TEXT, "en", "fr", layer=1, head=0, api_name="/look")
    [trace] = translator.look(translator(TEXT))
    assert found["translation"] == trace.target_text
    assert found["shown"] == "cross-attention of head 0 in layer 1 of 3, raw weights"
    by_words = word_map(trace, "cross")
    assert [one["word"] for one in found["words"]] == [unit.text for unit in by_words.rows[1:]], "without the tag"
    row = by_words.maps[1, 0, 1]
    best = found["words"][0]["looked_at"]
    assert [one["weight"] for one in best] == pytest.approx(sorted(row, reverse=True)[:3], abs=1e-4)
    assert best[0]["word"] == by_words.columns[int(row.argmax())].text
    mean = client.predict(TEXT, "en", "fr", api_name="/look")
    top = by_words.maps[-1].mean(0)[1].max()
    assert mean["words"][0]["looked_at"][0]["weight"] == pytest.approx(top, abs=1e-4)


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "args", "error"), [
    ("/translate", (5,), "text: expected a text"),
    ("/translate", (TEXT, "en", "zz"), "does not translate to zz; choose en to fr, en to de"),
    ("/translate", (TEXT, "en", "fr", 9), "at most 5"),
    ("/look", (TEXT, "en", "fr", 3), "layer: expected a whole number from -1 to 2"),
    ("/look", (TEXT, "en", "fr", -1, 10**9), "head: expected a whole number from -1 to 1"),
    ("/look", ("  ",), "the text has no words"),
])
def test_what_is_wrong_is_told(client, capfd, name, args, error):
    with pytest.raises(AppError, match=error):
        client.predict(*args, api_name=name)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.anyio
async def test_an_assistant_lists_and_calls_the_tools(live, client, translator):
    async with (streamablehttp_client(f"{live}/ui/gradio_api/mcp/") as (read, write, _),
                ClientSession(read, write) as session):
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        translated, looked, *wrong = [await session.call_tool(name, given) for name, given in (
            ("translate", {"text": TEXT, "target": "de"}), ("look", {"text": TEXT, "head": 1}),
            ("look", {"text": TEXT, "layer": 9}), ("translate", {}))]
    assert set(tools) == {"translate", "look"}
    assert set(client.view_api(return_format="dict")["named_endpoints"]) == {"/translate", "/look"}, "and nothing else"
    for tool in tools.values():
        assert len(tool.description) > 80 and tool.inputSchema["required"] == ["text"]
        assert all(one["description"] for one in tool.inputSchema["properties"].values())
    assert json.loads(translated.content[0].text)["translation"] == translator(TEXT, target="de").text
    assert "head 1 in layer 2 of 3" in json.loads(looked.content[0].text)["shown"]
    assert all(one.isError and "Traceback" not in one.content[0].text for one in wrong)
    assert "from -1 to 2" in wrong[0].content[0].text
