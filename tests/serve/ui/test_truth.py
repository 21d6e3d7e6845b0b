"""What the page says in words, recomputed from the weights with other code: plain transformers, plain hooks, no `lens`.

The explorer is drawn from the answers of `/v1/look`, without a server; its sentences are read off the page and each
number and word in them is compared with what a forced pass of the model gives.
"""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from seq2see import Translator
from seq2see.lens.explorer import as_data, script, style
from seq2see.lens.kinds import KINDS
from seq2see.serve.access import Caller
from seq2see.serve.dialects.v1 import LookBody, look_reply
from seq2see.serve.service import Service
from seq2see.serve.ui.first import PAIRS, sentences

pytestmark = pytest.mark.browser
MORE = (  # of storybook's words, and none of its training sentences
    "The owl lent the ladder to the crow.", "Where is the sad queen?", "The soldier showed his violins.",
    "My giraffe cannot hear foxes.",
)
SIX = [text for text, _ in sentences()]
OTHER = {one: two for a, b in zip(SIX[::2], SIX[1::2], strict=True) for one, two in ((a, b), (b, a))}


@pytest.fixture(scope="module")
def translator():
    found = Translator.from_pretrained("storybook", engine="torch")
    found.model.set_attn_implementation("eager")  # which alone gives weights
    return found


@pytest.fixture(scope="module")
def replies(translator):
    """The answers of the server, for each sentence."""
    service = Service({"storybook": translator})

    async def look(text):
        body = LookBody(text=text, source="en", target="fr", maps=list(KINDS), evidence=True,
                        others=[OTHER[text]] if text in OTHER else [])
        return json.loads(await look_reply(service, body, Caller("test")))

    async def every():
        return {text: await look(text) for text in (*SIX, *MORE)}

    with ThreadPoolExecutor(1) as thread:  # the browser has an event loop in this one
        found = thread.submit(asyncio.run, every()).result()
    service.close()
    return found


@pytest.fixture
def draw(browser, replies):
    """The explorer of a sentence's answer."""
    tabs = []

    def opened(text):
        twin = {"twin": replies[OTHER[text]]["traces"][0]} if text in OTHER else {}
        settings = {"first": replies[text] | twin, "models": [], "embedded": True, "pairs": list(PAIRS)}
        tab = browser.new_page(viewport={"width": 1440, "height": 900})
        tabs.append(tab)
        tab.set_content(f"""<!doctype html><style>{style()}</style><div id="home"></div><script>(() => {{ "use strict";
            {script()} explorer(document.getElementById("home"), {as_data(settings)}); }})()</script>""")
        tab.get_by_role("grid").wait_for()
        return tab

    yield opened
    for tab in tabs:
        tab.close()


def forced(translator, text, reply, *, hook=None):
    """[T,V] of the shown hypothesis, forced after a text."""
    model, tokenizer = translator.model, translator.tokenizer
    ids = tokenizer.encode_source(text)
    target = reply["traces"][0]["target_ids"]
    inputs = torch.tensor([[model.generation_config.decoder_start_token_id, *target[:-1]]])
    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), decoder_input_ids=inputs, output_attentions=hook is None)
    return out


def erased(text, word):
    return re.sub(rf"\s?\b{re.escape(word)}\b", "", text, count=1)


def of_step(out, step, own, rival):
    return float(out.logits[0, step, own] - out.logits[0, step, rival])


def attention(model, kind, layer):
    stack = model.model.encoder.layers if kind == "encoder" else model.model.decoder.layers
    return stack[layer].encoder_attn if kind == "cross" else stack[layer].self_attn


@pytest.fixture(scope="module")
def averages(translator):
    """What each head hands over on average over the packaged examples, by hooks of our own."""
    model, tokenizer = translator.model, translator.tokenizer
    examples = json.loads((translator.folder / "examples.json").read_text(encoding="utf-8"))
    sums = {}
    for source, target in zip(examples["sentences"], examples["torch"]["en-fr"], strict=True):
        ids = tokenizer.encode_target(target, language="fr")
        hooks = []
        for kind in KINDS:
            for layer in range(2):
                def keep(module, args, key=(kind, layer)):
                    total, count = sums.get(key, (0, 0))
                    sums[key] = total + args[0][0].double().sum(0), count + args[0].shape[1]

                hooks.append(attention(model, kind, layer).out_proj.register_forward_pre_hook(keep))
        inputs = torch.tensor([[model.generation_config.decoder_start_token_id, *ids[:-1]]])
        with torch.no_grad():
            model(input_ids=torch.tensor([tokenizer.encode_source(source)]), decoder_input_ids=inputs)
        for hook in hooks:
            hook.remove()
    return {key: (total / count).float() for key, (total, count) in sums.items()}


def without_head(translator, text, reply, averages, kind, layer, head):
    site = attention(translator.model, kind, layer).out_proj
    size = site.in_features // 4

    def put(module, args):
        mixed = args[0].clone()
        mixed[..., head * size : (head + 1) * size] = averages[kind, layer][head * size : (head + 1) * size]
        return (mixed,)

    with site.register_forward_pre_hook(put):
        return forced(translator, text, reply, hook=put)


def plain(token):
    return token.strip(" ▁").casefold()


@pytest.mark.parametrize("text", [*SIX, *MORE])
def test_every_statement_about_the_first_word_is_true(draw, replies, translator, averages, text):
    reply = replies[text]
    trace = reply["traces"][0]
    names = translator.tokenizer.convert_ids_to_tokens
    tab = draw(text)
    big = tab.locator(".word .big").inner_text()
    step = next(one["pieces"][0] for one in trace["words"]["target"] if one["text"] == big)
    base = forced(translator, text, reply)
    own = trace["target_ids"][step]
    order = base.logits[0, step].argsort(descending=True).tolist()
    rival = next(id for id in order if id != own and plain(names(id)) != plain(names(own)))
    margin = of_step(base, step, own, rival)

    # the heads that matter: the word looked at, the share, and what happens without
    for row in tab.locator(".story button").all():
        kind, layer, head = row.get_attribute("data-head").split(".")
        layer, head = int(layer), int(head)
        out = without_head(translator, text, reply, averages, kind, layer, head)
        after, best = of_step(out, step, own, rival), names(int(out.logits[0, step].argmax()))
        said = row.locator(".out").inner_text().removeprefix("without it: ")
        if plain(best) != plain(names(own)):
            assert said.casefold() == plain(best)
        else:
            assert float(said.replace("−", "-")) == pytest.approx(after, abs=0.06)
        assert margin - after >= 0.24, "it matters"
        if kind != "encoder":
            maps = base.cross_attentions if kind == "cross" else base.decoder_attentions
            weights = maps[layer][0, head, step]
            words = trace["words"]["source" if kind == "cross" else "inputs"]
            shares = [float(sum(weights[i] for i in one["pieces"])) for one in words]
            assert int(row.locator(".pc").inner_text().rstrip("%")) == pytest.approx(100 * max(shares), abs=0.6)
            shown = row.locator(".wd").inner_text()
            assert shown in (words[shares.index(max(shares))]["text"], "start", "end", "to French")
    first = tab.locator(".word").inner_text()
    if "Margin over" in first:
        said = re.search(r"Margin over [^:]+: ([−\d.]+)", first)[1]
        assert float(said.rstrip(".").replace("−", "-")) == pytest.approx(margin, abs=0.06)

    # which words mattered: the twin first, then erasure
    needed = tab.locator(".needed").last.inner_text()
    for one in re.findall(r"Erasing (.+?) flips it", needed):
        for word in one.split(" or "):
            out = forced(translator, erased(text, word), reply)
            assert plain(names(int(out.logits[0, step].argmax()))) != plain(names(own))
    if text in OTHER:
        other = translator(OTHER[text], target="fr").text
        turned = {"il": "elle", "elle": "il"}[plain(names(own))]
        assert re.search(rf"\b{turned} ", other) and f"flips it to {turned}" in needed, "all six turn with their twin"
    if "Erasing any one word changes little" in needed:
        for word in trace["words"]["source"]:
            if word["word"] is not None and word["text"].isalpha():
                out = forced(translator, erased(text, word["text"]), reply)
                assert margin - of_step(out, step, own, rival) < 0.4 + 0.05, word["text"]

    # the chance of the word, calibrated
    calibration = translator.calibration.calibrator("fr")
    p = base.logits[0].double().softmax(-1)
    smooth = calibration.smoothing / p.shape[-1]
    u = torch.maximum(p - smooth, 0.01 * p) ** (1 / calibration.temperature)
    chance = 1.0
    for i in next(one for one in trace["words"]["target"] if one["text"] == big)["pieces"]:
        chance *= float(u[i, trace["target_ids"][i]] / u[i].sum())
    said = tab.locator(".cand .chosen small").inner_text()
    assert float(said.strip("over %")) == pytest.approx(100 * chance, abs=1.1)
    assert said.startswith("over") == (round(chance, 3) >= 0.995)


def test_what_the_pronoun_stands_for_is_said_of_all_six_and_right(draw):
    nouns = ["cat", "street", "goat", "wolf", "box", "bag"]
    for (text, pronoun), noun in zip(sentences(), nouns, strict=True):
        meaning = draw(text).locator(".meaning").inner_text()
        assert meaning.startswith(f"it = the {noun}, so {pronoun} ("), meaning


def test_the_badge_is_the_measured_error(draw, translator):
    tab = draw(SIX[0])
    for layer in range(2):
        for head in range(4):
            tab.locator(f'.th[data-head="cross.{layer}.{head}"]').click()
            report = json.loads((translator.folder / "trust.json").read_text(encoding="utf-8"))
            aer = next(one["aer"][0] for one in report["maps"] if (one["view"], one["rows"], one["map"]) == (
                "raw", "predicts", [layer, head]))
            assert f"Dictionary error {100 * aer:.0f}%" in tab.locator(".trust").inner_text()
