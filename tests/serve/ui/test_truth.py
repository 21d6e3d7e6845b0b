"""What the page says in words, recomputed from the weights with other code: plain transformers, plain hooks, no `lens`.

The explorer is drawn from the answers of `/v1/look`, without a server; its sentences are read off the page and each
number and word in them is compared with what a forced pass of the model gives.
"""

import asyncio
import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import pytest
import tiny
import torch

from seq2see import Translator
from seq2see.lens.explorer import as_data, script, style
from seq2see.lens.kinds import KINDS
from seq2see.serve.access import Caller
from seq2see.serve.dialects.v1 import LookBody, look_reply
from seq2see.serve.service import Service
from seq2see.serve.ui.first import PAIRS, sentences
from seq2see.storybook import generate

pytestmark = pytest.mark.browser
HELD_OUT = 50
SIX = [text for text, _ in sentences()]
OTHER = {one: two for a, b in zip(SIX[::2], SIX[1::2], strict=True) for one, two in ((a, b), (b, a))}


@lru_cache
def held_out():
    """Sentences of storybook's test part, evenly over its families."""
    test = generate(seed=1).test
    return [pair.source for pair in test[:: len(test) // HELD_OUT]][:HELD_OUT]


class Subject:
    """A model, what the server answers about its sentences, and the same model looked into by plain hooks."""

    def __init__(self, name, translator, texts):
        self.translator, self.model, self.tokenizer = translator, translator.model, translator.tokenizer
        self.model.set_attn_implementation("eager")  # which alone gives weights
        service = Service({name: translator})

        async def look(text):
            body = LookBody(text=text, target="fr" if translator.language_pairs else None, maps=list(KINDS),
                            evidence=True, others=[OTHER[text]] if text in OTHER else [])
            return json.loads(await look_reply(service, body, Caller("test")))

        async def every():
            return {text: await look(text) for text in texts}

        with ThreadPoolExecutor(1) as thread:  # the browser has an event loop in this one
            self.replies = thread.submit(asyncio.run, every()).result()
        service.close()
        examples = translator.folder and translator.folder / "examples.json"
        self.examples = json.loads(examples.read_text(encoding="utf-8")) if examples else None
        self.known = {}

    def trace(self, text):
        [found] = self.replies[text]["traces"]
        return found

    def pair(self, source_ids, target_ids):
        inputs = torch.tensor([[self.model.generation_config.decoder_start_token_id, *target_ids[:-1]]])
        return {"input_ids": torch.tensor([source_ids]), "decoder_input_ids": inputs}

    def encode(self, text):
        own = getattr(self.tokenizer, "encode_source", None)
        return own(text) if own else self.tokenizer(text)["input_ids"]

    def forced(self, text, source, **more):
        """The shown hypothesis of a text, forced after a source."""
        with torch.no_grad():
            return self.model(**self.pair(self.encode(source), self.trace(text)["target_ids"]), **more)

    def projections(self):
        """What mixes the heads of each layer, and how many there are."""
        body, config = self.model.model, self.model.config
        for kind, stack, heads in (("encoder", body.encoder, config.encoder_attention_heads),
                                   ("cross", body.decoder, config.decoder_attention_heads),
                                   ("decoder", body.decoder, config.decoder_attention_heads)):
            for layer, block in enumerate(stack.layers):
                yield kind, layer, (block.encoder_attn if kind == "cross" else block.self_attn).out_proj, heads

    def averages(self, text):
        """What each layer's heads hand over on average: over the packaged examples, else over this very sentence."""
        key = None if self.examples else text
        if key not in self.known:
            pairs = [(self.encode(source), self.tokenizer.encode_target(target, language="fr")) for source, target in
                     zip(self.examples["sentences"], self.examples["torch"]["en-fr"], strict=True)] if key is None \
                else [(self.trace(text)["source_ids"], self.trace(text)["target_ids"])]
            sums = {}
            hooks = [site.register_forward_pre_hook(
                lambda _, args, key=(kind, layer): sums.setdefault(key, []).append(args[0][0].double()))
                for kind, layer, site, _ in self.projections()]
            with torch.no_grad():
                for pair in pairs:
                    self.model(**self.pair(*pair))
            for hook in hooks:
                hook.remove()
            self.known[key] = {place: torch.cat(found).mean(0).float() for place, found in sums.items()}
        return self.known[key]

    def without_head(self, text, kind, layer, head):
        [(site, heads)] = [(site, heads) for *place, site, heads in self.projections() if place == [kind, layer]]
        size = site.in_features // heads
        own = slice(head * size, (head + 1) * size)

        def put(module, args):
            mixed = args[0].clone()
            mixed[..., own] = self.averages(text)[kind, layer][own]
            return (mixed,)

        self.averages(text)
        with site.register_forward_pre_hook(put):
            return self.forced(text, text)


@pytest.fixture(scope="module")
def storybook():
    return Subject("storybook", Translator.from_pretrained("storybook", engine="torch"), [*SIX, *held_out()])


@pytest.fixture(scope="module")
def marian():
    """Laid out as the published ones are; its weights are random, and so is what it writes."""
    return Subject("marian", Translator(*tiny.published_marian()), SIX[:1])


@pytest.fixture(scope="module")
def tab(browser):
    found = browser.new_page(viewport={"width": 1440, "height": 900})
    yield found
    found.close()


@pytest.fixture
def draw(tab):
    """The explorer of a sentence's answer."""
    def opened(subject, text):
        reply = subject.replies[text]
        twin = {"twin": subject.trace(OTHER[text])} if OTHER.get(text) in subject.replies else {}
        settings = {"first": reply | twin, "models": [], "embedded": True, "pairs": list(PAIRS)}
        tab.set_content(f"""<!doctype html><style>{style()}</style><div id="home"></div><script>(() => {{ "use strict";
            {script()} explorer(document.getElementById("home"), {as_data(settings)}); }})()</script>""")
        tab.get_by_role("grid").wait_for()
        return tab

    return opened


def without_word(text, word):
    return (text[: word["start"]].removesuffix(" ") + text[word["end"]:]).strip()


def of_step(out, step, own, rival):
    return float(out.logits[0, step, own] - out.logits[0, step, rival])


def plain(token):
    return token.strip(" ▁").casefold()


def figure(text):
    return float(text.rstrip(".").replace("−", "-"))


def times(text):
    return float(re.search(r"[\d,]+(\.\d+)?", text)[0].replace(",", ""))


def hold(subject, text, tab):
    """Every statement about the word that the page opens on, against the weights."""
    trace, names = subject.trace(text), subject.tokenizer.convert_ids_to_tokens
    written = [one for one in trace["words"]["target"] if not (one["special"] and one["pieces"][0] < trace["given"])]
    unit = written[int(re.search(r"word (\d+) of", tab.locator(".word .top").inner_text())[1]) - 1]
    step = unit["pieces"][0]
    base = subject.forced(text, text, output_attentions=True)
    own = trace["target_ids"][step]
    order = base.logits[0, step].argsort(descending=True).tolist()
    rival = next(id for id in order if id != own and plain(names(id)) != plain(names(own)))
    margin = of_step(base, step, own, rival)
    words = [one for one in trace["words"]["source"] if one["word"] is not None]

    # the heads that matter: the word looked at, the share, and what happens without
    for row in tab.locator(".word .story button").all():
        kind, layer, head = row.get_attribute("data-head").split(".")
        layer, head = int(layer), int(head)
        out = subject.without_head(text, kind, layer, head)
        after, best = of_step(out, step, own, rival), names(int(out.logits[0, step].argmax()))
        said = row.locator(".out").inner_text()
        if margin >= 0 and plain(best) != plain(names(own)):
            assert said.casefold() == plain(best)
        else:
            assert times(said) == pytest.approx(math.exp(margin - after), rel=0.08)
        assert margin - after >= math.log(2) - 0.01, "it matters"
        if kind != "encoder":
            maps = base.cross_attentions if kind == "cross" else base.decoder_attentions
            weights = maps[layer][0, head, unit["pieces"]].mean(0)
            looked_at = trace["words"]["source" if kind == "cross" else "inputs"]
            shares = [float(sum(weights[i] for i in one["pieces"])) for one in looked_at]
            assert int(row.locator(".pc").inner_text().rstrip("%")) == pytest.approx(100 * max(shares), abs=0.6)
            shown = row.locator(".wd").inner_text()
            assert shown in (looked_at[shares.index(max(shares))]["text"], "start", "end", "to French")
    told = tab.locator(".word .about").first.get_attribute("data-tip")
    for said in re.findall(r" is <b>([\d.,]+×)</b> ((?:as|less) likely)", told):
        said = " ".join(said)
        assert times(said) == pytest.approx(math.exp(abs(margin)), rel=0.08) and ("less" in said) == (margin < 0)

    # which words mattered: erasure, and the other word of the pair
    needed = tab.locator(".needed").last.inner_text()
    for said in re.findall(r"Erasing (.+?) flips it", needed):
        for word in said.split(" or "):
            outs = [subject.forced(text, without_word(text, one)) for one in words if one["text"] == word]
            assert any(plain(names(int(out.logits[0, step].argmax()))) != plain(names(own)) for out in outs)
    said_less = re.search(r"Its odds fall without (.+?\))\.", needed)
    for word, said in re.findall(r"(\S+) \(([\d.,]+×)\)", said_less[1] if said_less else ""):
        falls = [margin - of_step(subject.forced(text, without_word(text, one)), step, own, rival) for one in words
                 if one["text"] == word]
        assert any(times(said) == pytest.approx(math.exp(fall), rel=0.08) for fall in falls), word
    if "Erasing any one word changes little" in needed:
        for word in words:
            out = subject.forced(text, without_word(text, word))
            assert margin - of_step(out, step, own, rival) < math.log(2) + 0.01, word["text"]
    if text in OTHER and subject.examples:
        other = subject.translator(OTHER[text], target="fr").text
        turned = {"il": "elle", "elle": "il"}[plain(names(own))]
        assert re.search(rf"\b{turned} ", other) and f"flips it to {turned}" in needed, "all six turn with their twin"

    # the chance of the word, calibrated where the model is
    shares = base.logits[0].double().softmax(-1)
    if subject.translator.calibration:
        calibration = subject.translator.calibration.calibrator("fr")
        smooth = calibration.smoothing / shares.shape[-1]
        shares = torch.maximum(shares - smooth, 0.01 * shares) ** (1 / calibration.temperature)
    chance = 1.0
    for i in unit["pieces"]:
        chance *= float(shares[i, trace["target_ids"][i]] / shares[i].sum())
    said = tab.locator(".cand .chosen small").inner_text()
    if said.startswith(("over", "under")):
        assert round(chance, 3) >= 0.995 if said.startswith("over") else chance < 0.0011
    else:
        assert figure(said.rstrip("%")) == pytest.approx(100 * chance, abs=0.6)


@pytest.mark.parametrize("text", SIX)
def test_every_statement_about_an_example_is_true(draw, storybook, text):
    hold(storybook, text, draw(storybook, text))


def test_every_statement_about_held_out_sentences_is_true(draw, storybook):
    for text in held_out():
        hold(storybook, text, draw(storybook, text))


def test_every_statement_about_a_model_of_the_hub_is_true(draw, marian):
    hold(marian, SIX[0], draw(marian, SIX[0]))


def test_what_the_pronoun_stands_for_is_said_of_all_six_and_right(draw, storybook):
    nouns = ["cat", "street", "goat", "wolf", "box", "bag"]
    for (text, pronoun), noun in zip(sentences(), nouns, strict=True):
        meaning = draw(storybook, text).locator(".meaning").inner_text()
        assert meaning.startswith(f"it = the {noun}, so {pronoun} ("), meaning


def test_the_badge_is_the_measured_error(draw, storybook):
    tab = draw(storybook, SIX[0])
    for layer in range(2):
        for head in range(4):
            tab.locator(f'.th[data-head="cross.{layer}.{head}"]').click()
            report = json.loads((storybook.translator.folder / "trust.json").read_text(encoding="utf-8"))
            aer = next(one["aer"][0] for one in report["maps"] if (one["view"], one["rows"], one["map"]) == (
                "raw", "predicts", [layer, head]))
            assert f"Dictionary error {100 * aer:.0f}%" in tab.locator(".trust").inner_text()
