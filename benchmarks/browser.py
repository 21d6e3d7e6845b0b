"""Is the network in the browser the network, and is it fast?  `webpage/model/network.js` beside PyTorch.

    python benchmarks/browser.py             1,000 sentences with storybook and 300 with everyday, in headless Chromium
    python benchmarks/browser.py --quick     20 and 8 sentences
    python benchmarks/browser.py --dtype float16

Both run the packaged weights as `webpage_data/page_weights.py` rounds them (int8 by default), on one core.  *Equal*:
the source ids, and the translations of greedy search and of four beams, token for token; *close*: translations that
differ where float64 finds a margin below 1e-4 (the project's third implementation, `tests/independent.py`); the largest
differences of the translation's log-probabilities (nats) and of the maps of all heads; of switching each head off, by
its mean and by zeros, the largest difference of the effect on a token's log-probability, beyond 1 % of it.  *Ids*: the
tokenizer on every text of storybook and on 20,000 random strings.

*Keystroke*: from a text of ten words to its greedy translation with all maps; *four beams*; *a head off*: a new
translation without a head; *first*: from the bytes of the weights to the first translation with its maps.  PyTorch does
the same work: `generate`, then a pass for the maps.
"""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import statistics
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from _frame import arguments, centiles, end, show, timed

from seq2see.lens.data.view_names import shown_texts

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = {"storybook": ["fr"], "everyday": ["fr", "de", "es"]}
SENTENCES = {"storybook": 1000, "everyday": 300}
QUICK = {"storybook": 20, "everyday": 8}
BEAMS = {"greedy": 1, "four beams": 4}
CLOSE = 1e-4  # a margin in float64 under which either token is right
WANTED = {"log-probabilities": 1e-3, "maps": 1e-3, "a head's effect": 0.01}  # at most
WANTED_MS = {("storybook", "keystroke"): 100, ("everyday", "keystroke"): 500, ("storybook", "a head off"): 150,
             ("everyday", "a head off"): 150, ("storybook", "first"): 1000}
# What the page's engine does with the network: texts in, numbers out as base64.
LIBRARY = """
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const base64 = (array) => {
  const all = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let i = 0; i < all.length; i += 32768) text += String.fromCharCode(...all.subarray(i, i + 32768));
  return btoa(text);
};
const { Network, beamSearch, greedy, headsOff, logSum, mapsOf, recorder, together } = s2s_network;
const opened = ({ manifest, data, architecture, generation, tokenizer }) => {
  globalThis.network = new Network(architecture, generation, new s2s_weights.Weights(manifest, bytes(data).buffer));
  globalThis.tokenizer = new s2s_tokenizer.Tokenizer(tokenizer);
};
const written = (text, language, hooks, options) => {
  const encoded = network.encode(tokenizer.encode(text).ids, hooks);
  return greedy(network, encoded, { prefix: [tokenizer.tags[language]], hooks, ...options });
};
const translated = (text, language) => {
  const kept = recorder(), found = written(text, language, kept.hooks);
  return { ...found, maps: Object.entries(kept.parts).map(([name, steps]) => [name, mapsOf(steps)]) };
};
const beams = (text, language) => {
  const encoded = network.encode(tokenizer.encode(text).ids);
  return beamSearch(network, encoded, { prefix: [tokenizer.tags[language]], beams: 4 }).hypotheses[0];
};
const chosen = (logits, ids) =>
  Float32Array.from(ids, (id, t) => logits[t * network.V + id] - logSum(logits, t * network.V, network.V));
const compared = (text, language) => {
  const { ids, logits, maps } = translated(text, language);
  return { source: tokenizer.encode(text).ids, greedy: ids, "four beams": beams(text, language).ids,
    logProbs: base64(chosen(logits, ids)), maps: maps.map(([name, { weight }]) => [name, base64(weight)]) };
};
const withoutHeads = (source, target, heads) => heads.map(([name, vector]) => {
  const hooks = headsOff({ [name]: vector && new Float32Array(bytes(vector).buffer) });
  return base64(chosen(network.force(network.encode(source, hooks), target, hooks).logits, target));
});
const timed = (work) => { const began = performance.now(); work(); return performance.now() - began; };
"""


@dataclass
class Subject:
    """A packaged model with the weights that a browser reads, in PyTorch and in float64, and in a tab."""

    name: str
    dtype: str
    tab: Any

    def __post_init__(self) -> None:
        import torch
        from independent import Network

        from seq2see.modeling.loading import load_checkpoint
        from seq2see.pretrained import packaged_folder
        from seq2see.translate.codec import Seq2SeeCodec
        from seq2see.translate.decoding import GenerationDefaults
        from seq2see.translate.torch_engine import TorchEngine
        from seq2see.webpage.assembly import bundle
        from seq2see.webpage_data.architecture import architecture
        from seq2see.webpage_data.page_weights import web_weights

        torch.set_num_threads(1)
        self.folder = packaged_folder(self.name)
        assert self.folder is not None
        self.model = load_checkpoint(self.folder)
        weights = web_weights(self.model, self.dtype)
        self.model.load_state_dict(weights.state, strict=False)
        self.codec = Seq2SeeCodec(self.folder)
        self.defaults = GenerationDefaults(self.model.generation_config.to_dict(), 1024)
        self.engine = TorchEngine(self.model, end=self.defaults.end, lock=Lock())
        self.exact = Network(self.folder)
        self.exact.weights = {name: one.double() for name, one in weights.state.items()}
        self.given = {
            "manifest": weights.manifest, "data": base64.b64encode(weights.buffer).decode(),
            "architecture": architecture(self.model),
            "generation": json.loads(self.model.generation_config.to_json_string(use_diff=False)),
            "tokenizer": json.loads((self.folder / "tokenizer.json").read_text(encoding="utf-8")),
        }
        self.tab.add_script_tag(content=bundle("network", "weights", "tokenizer", views=shown_texts()) + LIBRARY)

    def translated(self, sources: Sequence[Sequence[int]], language: str, num_beams: int) -> list[tuple[int, ...]]:
        """PyTorch's translations."""
        from seq2see.translate.decoding import DecodingOptions

        options = self.defaults.resolve(DecodingOptions(num_beams=num_beams), first=self.codec.tags[language])
        return [best.token_ids for [best] in self.engine.translate(sources, options)]

    def forced(self, source: Sequence[int], target: Sequence[int], **wanted: bool) -> Any:
        import torch

        from seq2see.passes.forced_pass import eval_with_eager_attention, forced_pass

        with eval_with_eager_attention(self.model), torch.no_grad():
            return forced_pass(self.model, [source], [target], **wanted)[0]

    def log_probs(self, source: Sequence[int], target: Sequence[int]) -> Any:
        """[T] of the tokens of a translation."""
        return self.forced(source, target).logits[0].log_softmax(-1)[range(len(target)), list(target)].numpy()

    def margin(self, source: Sequence[int], one: Sequence[int], other: Sequence[int], *, beams: bool) -> float:
        """By how much float64 prefers one translation: its score or, for greedy search, the token where they differ."""
        sums = []
        first = next(t for t, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
        for ids in (one, other):
            logits = self.exact.logits(self.exact.states(list(source), list(ids)))
            log_probs = logits.log_softmax(-1)[range(len(ids)), list(ids)]
            sums.append(float(log_probs[1:].sum() / len(ids) if beams else log_probs[first]))
        return abs(sums[0] - sums[1])


# --- equal


def equality(subject: Subject, texts: Sequence[str], *, heads: int) -> dict[str, Any]:
    """Counts and largest differences over these texts, and of switching heads off over the first `heads` of them."""
    found: dict[str, Any] = {"sentences": len(texts), "source ids": 0, "greedy": 0, "four beams": 0, "close": 0,
                             "log-probabilities": 0.0, "maps": 0.0, "a head's effect": 0.0}
    languages = LANGUAGES[subject.name]
    for number, language in enumerate(languages):
        some = texts[number :: len(languages)]
        sources = subject.codec.encode(some)
        peers = {name: subject.translated(sources, language, beams) for name, beams in BEAMS.items()}
        for first in range(0, len(some), 20):
            script = "([texts, language]) => texts.map((text) => compared(text, language))"
            for row, js in enumerate(subject.tab.evaluate(script, [some[first : first + 20], language]), start=first):
                found["source ids"] += js["source"] == sources[row]
                for name, ids in peers.items():
                    own = tuple(js[name])
                    found[name] += own == ids[row]
                    found["close"] += own != ids[row] and subject.margin(
                        sources[row], own, ids[row], beams=name != "greedy") < CLOSE
                output = subject.forced(sources[row], js["greedy"], output_attentions=True)
                peer = output.logits[0].log_softmax(-1)[range(len(js["greedy"])), js["greedy"]].numpy()
                found["log-probabilities"] = max(found["log-probabilities"], apart(numbers(js["logProbs"]), peer))
                maps = (apart(numbers(one), output[f"{kind}_attentions"][int(layer)].numpy())
                        for place, one in js["maps"] for kind, layer in [place.split(".")])
                found["maps"] = max(found["maps"], *maps)
    for source in subject.codec.encode(texts[:heads]):
        [target] = subject.translated([source], languages[0], 1)
        found["a head's effect"] = max(found["a head's effect"], _effects_apart(subject, source, target))
    return found


def _effects_apart(subject: Subject, source: Sequence[int], target: Sequence[int]) -> float:
    """The largest difference, beyond 1 %, of what a head's absence changes in a token's log-probability."""
    from seq2see.lens.changes.interventions import ablate, mean_outputs
    from seq2see.passes.hooks import all_heads

    before, means = subject.log_probs(source, target), mean_outputs(subject.model, [source], [target])
    asked, expected = [], []
    for head in all_heads(subject.model):
        for given in (None, means):
            name = f"{head.kind}.{head.layer}.{head.head}"
            asked.append([name, given and base64.b64encode(given[head].numpy().tobytes()).decode()])
            with ablate(subject.model, [head], replace="mean" if given else "zero", means=given):
                expected.append(subject.log_probs(source, target) - before)
    script = "([source, target, heads]) => withoutHeads(source, target, heads)"
    answers = subject.tab.evaluate(script, [source, list(target), asked])
    own = subject.tab.evaluate(script, [source, list(target), [["none", None]]])
    return max(float((abs(numbers(answer) - numbers(own[0]) - effect) - 0.01 * abs(effect)).max())
               for answer, effect in zip(answers, expected, strict=True))


def apart(one: Any, other: Any) -> float:
    return float(abs(one - other.ravel()).max())


def numbers(data: str) -> Any:
    import numpy as np

    return np.frombuffer(base64.b64decode(data), "<f4")


# --- ids


def same_ids(subject: Subject, texts: Sequence[str]) -> int:
    """Of how many texts the tokenizer in the browser gives Python's pieces, ids, offsets and text again."""
    backend, same = subject.codec._tokenizer, 0
    script = """(texts) => texts.map((text) => {
        const { ids, offsets } = tokenizer.encode(text);
        return [ids, offsets, tokenizer.decode(ids), tokenizer.cut(` ${text}`)];
    })"""
    for first in range(0, len(texts), 1000):
        some = texts[first : first + 1000]
        found = subject.tab.evaluate(script, some)
        for text, one, (ids, offsets, decoded, pieces) in zip(some, backend.encode_batch(some), found, strict=True):
            if "Cn" not in map(unicodedata.category, text):  # the two know other versions of Unicode
                same -= pieces != [piece for piece, _ in backend.pre_tokenizer.pre_tokenize_str(f" {text}")]
            same += (ids, [*map(tuple, offsets)], decoded) == (one.ids, one.offsets, backend.decode(one.ids))
    return same


def strings(count: int) -> Iterator[str]:
    """Random strings of mixed scripts, emoji, marks, controls, spaces, and what looks like a special token."""
    draw = random.Random(0)
    ranges = [(0x20, 0x7F), (0, 0x20), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x530), (0x600, 0x700), (0x900, 0x980),
              (0xE00, 0xE80), (0x1100, 0x1200), (0x2000, 0x2070), (0x4E00, 0x5000), (0xAC00, 0xAD00), (0xFE00, 0xFE10),
              (0xFF00, 0xFFF0), (0x1F1E6, 0x1F200), (0x1F300, 0x1F700)]
    pools = [[chr(code) for code in range(*one)] for one in ranges]
    pools += [["👩", "🏽", "\u200d", "👨", "☺", "\ufe0f"], [*" \u00a0\u202f\n\t\x85\ufeff", "  ", "\r\n"],
              ["<s>", "</s>", "<2fr>", "<pad>", "<unk>", "<0x41>", "<tag5>"], ["The cat", " l’été", "12", "..."],
              [*"LlDdJjMmTtSsſCcNnÇçQqUuKk\u212a’'"]]
    for _ in range(count):
        some = draw.sample(pools, draw.randint(1, 4))
        parts = [draw.choice(draw.choice(some)) for _ in range(draw.randint(0, 30))]
        if draw.random() < 0.3:
            anything = draw.randrange(0x110000 - 0x800)
            parts.append(chr(anything + 0x800 * (anything >= 0xD800)))
        yield "".join(parts)


# --- fast


def speeds(subject: Subject, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of milliseconds in the browser, with PyTorch's beside."""
    language = LANGUAGES[subject.name][0]
    works = {
        "keystroke": ("translated(text, language)", partial(_looked, subject, language, 1)),
        "four beams": ("beams(text, language)", partial(_looked, subject, language, 4)),
        "a head off": ('written(text, language, headsOff({ "encoder.0.1": null }))',
                       partial(_headless, subject, language)),
    }
    first = f"given => timed(() => {{ opened(given); translated('The cat sleeps.', '{language}'); }})"
    rows = [{"model": subject.name, "name": "first", **centiles([subject.tab.evaluate(first, subject.given)]),
             "unit": "ms", "wanted": WANTED_MS.get((subject.name, "first"))}]
    for name, (script, torch_work) in works.items():
        work = f"([texts, language]) => texts.map((text) => timed(() => {script}))"
        subject.tab.evaluate(work, [texts[:5], language])  # warms up
        took = subject.tab.evaluate(work, [texts, language])
        beside = [1000 * timed(partial(torch_work, text)) for text in texts]
        rows.append({"model": subject.name, "name": name, **centiles(took, digits=1), "unit": "ms",
                     "PyTorch p50": round(statistics.median(beside), 1), "wanted": WANTED_MS.get((subject.name, name))})
    return rows


def _looked(subject: Subject, language: str, beams: int, text: str) -> None:
    [source] = subject.codec.encode([text])
    [ids] = subject.translated([source], language, beams)
    if beams == 1:
        subject.forced(source, ids, output_attentions=True)


def _headless(subject: Subject, language: str, text: str) -> None:
    from seq2see.lens.changes.interventions import ablate

    with ablate(subject.model, [("encoder", 0, 1)]):
        subject.translated(subject.codec.encode([text]), language, 1)


# --- the texts


def texts_of(name: str, count: int) -> list[str]:
    """Sentences of storybook's test set; for everyday, first those written for it."""
    from seq2see.storybook import generate

    stories = [pair.source for pair in generate(seed=0).test]
    random.Random(0).shuffle(stories)
    lines = (ROOT / "benchmarks" / "everyday_sentences.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [*([line.split("\t")[1] for line in lines] if name == "everyday" else []), *dict.fromkeys(stories)][:count]


def every_story() -> list[str]:
    from seq2see.storybook import generate

    book = generate(seed=0)
    return [*dict.fromkeys(text for part in vars(book).values() if isinstance(part, list | tuple)
                           for pair in part if hasattr(pair, "source") for text in (pair.source, pair.target))]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; None where there is none."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("Chromium not found: nothing to measure", file=sys.stderr)
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--dtype", choices=("int8", "float16"), default="int8")
    parser.add_argument("--model", choices=[*LANGUAGES], nargs="*", default=[*LANGUAGES])
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))  # for `independent`
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # and the browser's, which inherits it
    rows: list[dict[str, Any]] = []

    def add(row: dict[str, Any]) -> None:
        rows.append(row)
        show([row])

    with chromium() as browser:
        for name in args.model if browser else ():
            subject = Subject(name, args.dtype, browser.new_page())
            texts = texts_of(name, (QUICK if args.quick else SENTENCES)[name])
            ten = [text for text in texts if len(text.split()) == 10][: 5 if args.quick else 50]
            for row in speeds(subject, ten):
                add(row)
            add({"model": name, "name": "equal", **equality(subject, texts, heads=1 if args.quick else 5),
                 "wanted": WANTED})
            strange, known = [*strings(500 if args.quick else 20_000)], every_story()[: 500 if args.quick else None]
            for of, some in (("random strings", strange), ("texts of storybook", known)):
                add({"model": name, "name": of, "same": same_ids(subject, some), "of": len(some)})
    end("browser", rows, dtype=args.dtype)


if __name__ == "__main__":
    main()
