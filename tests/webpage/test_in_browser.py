"""The model in the reader's browser answers as the server does, from the same weights, here in Node: the packaged
storybook in float16.  `test_file.py` has it in Chromium.
"""

import asyncio
import base64
import json
from dataclasses import asdict

import numpy as np
import pytest
from node import Node

from seq2see import Translator
from seq2see.errors import UserError
from seq2see.lens.sums.machine import machine
from seq2see.passes.attention_kinds import KINDS
from seq2see.pretrained import HOME
from seq2see.serve.access import Caller
from seq2see.serve.apis.inside import InsideBody
from seq2see.serve.apis.v1 import LookBody, OneTranslation, TranslateBody, look_reply
from seq2see.serve.service import Service
from seq2see.tokenizer.words import split_words
from seq2see.webpage_data.page_model import web_model
from seq2see.webpage_data.page_weights import web_weights

VIEWS_SHOWN = ["raw", "norm", "rollout", "contributions", "left_out"]
CAT, WIDE = (f"The cat did not cross the street because it was too {word}." for word in ("tired", "wide"))
TEXTS = [CAT, "The goat chased the wolf because it was hungry.", "Is the suitcase empty?", "It’s my dog, isn’t it?",
         "The white goat offered the kite to the beautiful bear. It enjoyed sharing.",
         "Mr. Wolf ate the apple.  He was hungry!\nThe road was long. It was wide.",
         "WHERE IS THE DOG? I'M HAPPY!", "The Beautiful Bear And The Goat"]
RAIN = "It was raining, so we stayed at home."  # the search finds some that lost a clause
SHUFFLED = "it cat the was not because tired did too The street cross."
BANKS = ["The bank lent the man some money.", "The bank was closed.", "The duck sat on the bank."]
CONTRACTED = {"text": "It’s my dog, isn’t it?", "translation": "Est-ce que c'est mon chien, n'est-ce pas ?"}
SPELT = {"text": "The 漢字 of Łukasz 😀.", "translation": "Le 漢字 été 😀 !"}
# At step 2 a head changes an earlier block most, which it cannot steer; at 6 the two best tokens are the same word.
ANT = {"text": "The ant avoided the squirrel because it wanted to eat.",
       "translation": "La fourmi a évité l'écureuil parce qu'il voulait manger."}
LONG = {name: " ".join(f"{word}," for word in words.split() * 9) for name, words in (
    ("text", "The cat saw the dog"), ("translation", "Le chat a vu le chien"))}
ABOUT = {"text": CAT, "translation": "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."}
QUESTIONS = {
    **{f"look {text}": ("look", {"text": text, "maps": list(KINDS), "views": VIEWS_SHOWN}) for text in TEXTS},
    **{f"evidence {text}": ("look", {"text": text, "evidence": True, "others": [WIDE], "maps": [], "head_seconds": 600})
       for text in TEXTS[::3]},
    "given": ("look", {**ABOUT, "maps": ["decoder"]}),
    "bytes": ("look", SPELT | {"evidence": True, "maps": ["cross"], "views": ["norm"], "head_seconds": 600}),
    "tokens given": ("look", {**ABOUT, "translation": "Le chat", "target_ids": [4, 432, 808], "given": 2, "maps": []}),
    "alternative": ("look", {"text": TEXTS[2], "alternatives": 3, "alternative": 1, "maps": []}),
    "without": ("look", {"text": CAT, "without": [["decoder", 1, 0], ["cross", 0, 1]], "maps": ["cross"]}),
    "without encoder": ("look", {"text": CAT, "without": [["encoder", 1, 0]]}),
    "translate": ("translate", {"texts": [*TEXTS, "…", "the cat"], "source": "en", "target": "fr"}),
    "alternatives": ("translate", {"texts": [*TEXTS, RAIN], "alternatives": 5}),
    "greedy": ("translate", {"texts": TEXTS, "num_beams": 1}),
    "prefix": ("translate", {"texts": TEXTS, "prefix": "Elle", "num_beams": 8, "alternatives": 2}),
    "lengths": ("translate", {"texts": TEXTS[:2], "max_new_tokens": 7, "length_penalty": 2}),
    **{f"row of {kind}": ("inside", {"tool": "arithmetic", "kind": kind, "layer": 1, "head": 2, "row": 5})
       for kind in KINDS},
    "layers": ("inside", {"tool": "layers"}),
    **{f"tree {beams}": ("inside", {"tool": "tree", "num_beams": beams}) for beams in (2, 8)},
    "words": ("inside", {"tool": "words", "word": "Bank", "sentences": BANKS}),
    "near": ("inside", {"tool": "near", "word": "cat"}),
    "analogy": ("inside", {"tool": "near", "word": "king", "minus": "man", "plus": "woman"}),
    "patch": ("inside", {"tool": "patch", "other": WIDE}),
    **{f"positions {on}, {text}": ("inside", {"tool": "positions", "positions": on, "text": text})
       for on in (True, False) for text in (CAT, SHUFFLED)},
    "replay": ("inside", {"tool": "replay", "text": WIDE}),
    **{f"machine {about['text'][:12]} {step}":
       ("inside", about | {"tool": "machine", "step": step, "head_seconds": 600})
       for about, steps in (
           (ABOUT, (1, 11, 16)), (CONTRACTED, (0, 9)), (SPELT, (3, 12)), (ANT, (2, 6)), (LONG, (40,)))
       for step in steps},
}
OFTEN = {name.split()[0]: name for name in reversed(QUESTIONS)}  # in every run: the first of each kind
# A worker has messages as its only link with the page; here both are in one thread.
SET_UP = """([start, weights, replay]) => {
  const bytes = (data) => Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)).buffer;
  globalThis.Worker = class {
    constructor() {
      const sent = (to) => (data) => setImmediate((copy) => to.onmessage({ data: copy }), structuredClone(data));
      this.scope = { postMessage: sent(this) };
      s2s_worker.answerIn(this.scope);
      this.postMessage = sent(this.scope);
    }
  };
  globalThis.begin = (more) =>
    s2s_engine.inWorker(null, { ...start, weights: bytes(weights), replay: bytes(replay), ...more });
  globalThis.engine = begin();
}"""
ASK = "([route, body]) => engine(route, body).catch(({ message }) => ({ error: message }))"
ORDER = """async ([long, short]) => {
  const order = [], stop = new AbortController();
  const noted = (name, answer) => answer.then(() => order.push(name), (error) => order.push(`${name} ${error.name}`));
  const all = [noted("older", engine("look", long)), noted("dropped", engine("look", long, stop.signal)),
    noted("newer", engine("look", long)), noted("newest", engine("translate", short))];
  stop.abort();
  await Promise.all(all);
  return order;
}"""


class Both:
    """The server's answers, and the engine of the page."""

    def __init__(self, node):
        self.node, self.translator = node, Translator.from_pretrained("storybook", engine="torch")
        weights = web_weights(self.translator.model, "float16")
        self.service = Service({"storybook": self.translator})
        self.model = web_model(self.translator, weights)
        start = {"model": self.model, "manifest": weights.manifest}
        replay = (HOME / "storybook/replay.json.gz").read_bytes()
        data = [base64.b64encode(one).decode() for one in (weights.buffer, replay)]
        node.evaluate(SET_UP, [start, *data])

    def ask(self, route, **body):
        return self.node.evaluate(ASK, [route, body])

    def theirs(self, route, body):
        return json.loads(json.dumps(asyncio.run(answer(self.service, self.translator, route, body))))


async def answer(service, translator, route, body):
    if route == "look":
        return json.loads(await look_reply(service, LookBody(**body), Caller("test")))
    if route == "inside":
        return InsideBody(question=ABOUT | body).question.answer(translator)
    asked = TranslateBody(**body)
    found = await service.translate(asked.texts, caller=Caller("test"), **asked.arguments())
    return {"translations": [OneTranslation.of(one).model_dump() for one in found]}


@pytest.fixture(scope="module")
def both():
    with Node("engine", "worker", "words", "machine_answer") as node:
        made = Both(node)
        yield made
        made.service.close()


def numbers(map_):
    return np.frombuffer(base64.b64decode(map_["data"]), map_["dtype"]).reshape(map_["shape"]).astype(float)


def differences(theirs, own, at=""):
    """Where two answers differ: maps by more than 1e-3, other numbers by more than 1 % and 0.002, all else at all.

    Calibrated log-probabilities below -12 are equal: the server has them from float16.  A page knows the words of the
    source alone, so it names no invented ones.
    """
    if isinstance(theirs, dict) and "dtype" in theirs:
        if own["shape"] != theirs["shape"] or not np.allclose(numbers(own), numbers(theirs), 1e-3, 1e-3):
            yield at
    elif isinstance(theirs, dict) and isinstance(own, dict):
        for name in theirs.keys() | own.keys():
            if name == "doubts":
                yield from differences([one for one in theirs[name] if one["kind"] == "unknown_word"], own[name], at)
            elif name not in ("engine", "precision"):
                missing = f"{name} is missing"
                yield from differences(theirs.get(name, missing), own.get(name, missing), f"{at} {name}")
    elif isinstance(theirs, list) and isinstance(own, list) and len(theirs) == len(own):
        for i, pair in enumerate(zip(theirs, own, strict=True)):
            yield from differences(*pair, f"{at} {i}")
    elif isinstance(theirs, float | int) and isinstance(own, float | int) and not isinstance(theirs, bool):
        low = -12 if "calibrated" in at else -1e9
        if abs(max(theirs, low) - max(own, low)) > 2e-3 + 0.01 * min(abs(theirs), 1):
            yield f"{at}: {theirs}, {own}"
    elif theirs != own:
        yield f"{at}: {theirs!r}, {own!r}"


def asked(both, name):
    route, body = QUESTIONS[name]
    return both.ask(route, **({"question": ABOUT | body} if route == "inside" else body))


@pytest.mark.parametrize("name", [
    name if name == OFTEN[name.split()[0]] else pytest.param(name, marks=pytest.mark.long) for name in QUESTIONS])
def test_answers_are_the_servers(both, name):
    assert [*differences(both.theirs(*QUESTIONS[name]), asked(both, name))] == []


@pytest.mark.parametrize("name", [name if number < 3 else pytest.param(name, marks=pytest.mark.long)
                                  for number, name in enumerate(one for one in QUESTIONS if one.startswith("machine"))])
def test_parts_sum_to_the_logit_and_to_the_margin(both, name):
    found = asked(both, name)
    for parts, figure in (("for", "logit"), ("over", "margin")):
        one = found["parts"][parts]
        blocks = sum(np.sum(one[part]) for part in ("decoder", "cross", "bias", "feed_forward"))
        assert one["embedding"] + one["position"] + one["constant"] + blocks == pytest.approx(found[figure], abs=1e-4)
        for block in one["neurons"]:
            adds = [neuron["adds"] for neuron in block["list"]]
            assert len(adds) == 5 and adds == sorted(adds, reverse=True) and block["count"] == 256
            assert parts == "over" or block["active"] == sum(value > 0 for value in block["activations"])
        encoder = one["encoder"]
        taken = np.sum([*encoder["attention_rows"], *encoder["feed_forward"], encoder["start"], encoder["constant"]], 0)
        assert taken == pytest.approx(np.sum(one["cross"], (0, 1)), abs=1e-4)
        assert np.sum(encoder["heads"], 1) == pytest.approx(np.sum(encoder["attention_rows"], 1), abs=1e-4)
        if len(taken) > 30:
            assert encoder["attention"] is None
        else:
            assert np.sum(encoder["attention"], -1) == pytest.approx(np.array(encoder["attention_rows"]), abs=1e-4)


def test_a_machine_that_takes_too_long_has_no_effects(both):
    question = ABOUT | {"tool": "machine", "text": WIDE, "step": 11, "head_seconds": 600}
    found = both.ask("inside", question=question | {"head_seconds": 0})
    assert found["without"] is None and found["steers"] is None and found["parts"]["over"]
    dropped = both.node.evaluate("""(question) => {
      const stop = new AbortController(), asked = engine("inside", { question }, stop.signal);
      setTimeout(() => stop.abort(), 40);
      return asked.then(() => "answered", ({ name }) => name);
    }""", question)  # passes that were begun are not lost, nor made twice
    whole = both.ask("inside", question=question)
    assert dropped in ("AbortError", "answered") and len(whole["without"]["heads"]) == 24
    assert whole["without"] == both.ask("inside", question=question)["without"]
    assert whole["steers"]["before"] == whole["parts"]["over"]["feed_forward"][whole["steers"]["feed_forward"]]


def test_a_dropped_question_ends_and_a_newer_one_does_not_wait(both):
    order = both.node.evaluate(ORDER, [{"text": TEXTS[2], "evidence": True}, {"texts": [WIDE]}])
    assert order == ["dropped AbortError", "newest", "newer", "older"]


def test_samples_depend_on_the_seed(both):
    def drawn(**options):
        asked = {"temperature": 1.5, "alternatives": 3, "max_new_tokens": 12, **options}
        [found] = both.ask("translate", texts=[TEXTS[2]], **asked)["translations"]
        return [one["text"] for one in found["hypotheses"]]

    assert drawn(seed=1) == drawn(seed=1) != drawn(seed=2) and len(set(drawn(seed=1))) > 1
    assert set(drawn(top_k=1)) == set(drawn(top_p=0.001)) == {
        both.ask("translate", texts=[TEXTS[2]], num_beams=1)["translations"][0]["text"]}


@pytest.mark.parametrize(("route", "body", "error"), [
    ("lessons", {}, "The model in this page cannot answer this request. It needs a server."),
    ("translate", {"texts": [CAT], "target": "de"}, "this model does not translate to de; choose en to fr"),
    ("look", {"text": "… 12"}, "the text has no words, so there is no translation to look at"),
    ("look", {"text": CAT, "alternative": 1}, "there is no alternative 1: the result has 1"),
    ("look", {"text": CAT, "translation": " "}, "the translation is blank"),
    ("look", {"text": CAT, "translation": "Le chien", "target_ids": [4, 432, 808]},
     "target_ids do not spell the translation: take both from the same trace"),
    ("inside", {"question": {"tool": "near", "word": "漢"}},
     "the word '漢' is not in the vocabulary: choose one from the training data"),
    ("inside", {"question": {"tool": "words", "word": "cat", "sentences": BANKS}},
     f"the word 'cat' is not in '{BANKS[0]}': it should be there once"),
    ("inside", {"question": ABOUT | {"tool": "patch", "other": "The cat."}},
     "patching needs equal lengths: the texts have 14 and 4 tokens"),
    ("inside", {"question": ABOUT | {"tool": "arithmetic", "kind": "cross", "layer": 2, "head": 0, "row": 0}},
     "there is no head 0 in cross layer 2 here"),
    ("inside", {"question": ABOUT | {"tool": "machine", "step": 17}}, "there is no step 17 here: expected 0 to 16"),
])
def test_what_cannot_be_is_said_in_one_line(both, route, body, error):
    assert both.ask(route, **body) == {"error": error}


def test_without_examples_means_are_over_the_translation_itself(both):
    question = ABOUT | {"tool": "machine", "step": 11, "head_seconds": 600}
    own = both.node.evaluate("([model, question]) => begin({ model })('inside', { question })",
                            [both.model | {"head_means": {}, "feed_forward_means": {}}, question])
    trace = both.translator.look_at(ABOUT["text"], ABOUT["translation"])
    with both.translator.inside() as (model, tokenizer):
        theirs = machine(model, tokenizer, trace, step=11).plain()
    assert own["without"]["averaged_over"] == 0 and [*differences(json.loads(json.dumps(theirs)), own)] == []


def test_a_model_of_many_layers_has_no_machine(both):
    made = "machineOf({ network: { encoder: { layers: [] }, decoder: { layers: new Array(13) } }, ids: [2] }, 0)"
    said = both.node.evaluate(f"s2s_machine_answer.{made}.catch(String)")
    assert said == ("Error: the decoder has 13 layers: the whole machine is shown of models with up to 12; look at"
                    " single heads and layers instead")


def test_heads_that_take_too_long_are_left_out(both):
    [trace] = both.ask("look", text=CAT, evidence=True, head_seconds=0, maps=[])["traces"]
    assert trace["evidence"]["heads"] == [] and trace["evidence"]["heads_take"] >= 0 and trace["evidence"]["erased"]


def test_a_damaged_model_is_said_in_one_line(both):
    said = both.node.evaluate("begin({ weights: new ArrayBuffer(8) })('translate', { texts: [] }).catch(String)")
    assert said == "Error: The model is damaged. Copy or download the page again."


def test_an_old_browser_is_said_in_one_line(both):
    """Its worker fails when it reads the script."""
    both.node.evaluate("""() => {
      const before = globalThis.Worker;
      globalThis.Worker = class { postMessage() { setImmediate(() => this.onerror()); } };
      globalThis.old = s2s_engine.inWorker(null, {});
      globalThis.Worker = before;
    }""")
    for _ in range(2):
        said = both.node.evaluate("old('translate', {}).catch(String)")
        assert said == ("Error: The model in this page cannot run. The page is damaged, the browser is too old, or the"
                        " Content-Security-Policy of the host forbids workers.")


def test_a_long_text_is_cut_and_nothing_is_lost(both):
    text = " ".join(f"The cat saw the {word}," for word in ("dog", "bird", "king", "queen") * 5)
    answered = both.ask("look", text=text, num_beams=1, maps=[])
    assert len(answered["traces"]) > 1 and " ".join(one["source_text"] for one in answered["traces"]) == text


@pytest.mark.parametrize("language", ["en", "fr", "fra_Latn"])
def test_words_are_pythons(both, language):
    texts = [*TEXTS, "Va-t'en ! L'arbre, aujourd'hui : qu'est-ce que c'est ? Donne-le-moi; jusqu'ici, presqu'île",
             "didn't well-known 3,5 10:30 1 000 U.S. e.g. étudiant·e ... .. 👨‍👩‍👧👍🏽🇫🇷 क्षत्रिय है। 東京ー ไทย",
             "A-t-il rendez-vous chez-moi? Parle-m'en. Dis-le! l’été d’où", "x\u00adray \x1c\x85a\r\nb\u2028c",
             "e\u0301te\u0301 n\u0303 \u200d", "-il --a 'a' a' 3.", ""]
    split = "([texts, language]) => texts.map((one) => s2s_words.splitWords(one, language))"
    own = both.node.evaluate(split, [texts, language])
    assert own == [[asdict(word) for word in split_words(text, language=language)] for text in texts]


def test_only_a_model_of_a_folder_runs_in_a_browser(both):
    bare = Translator(both.translator.model, both.translator.tokenizer)
    with pytest.raises(UserError, match="only a model in a folder can run in a browser"):
        web_model(bare, web_weights(bare.model, "float16"))
