"""Every sentence of the comparison of two models, found by its `data-says`, decided by `independent.py` and plain loops
over tokens.  The comparison is drawn from the answer of `/v1/compare`, without a server."""

import asyncio
import json
import math
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from independent import Network
from scipy.optimize import linear_sum_assignment

from seq2see import Translator
from seq2see.lens.show.trace_page import script
from seq2see.passes.attention_kinds import KINDS
from seq2see.pretrained import HOME
from seq2see.serve.access import Caller
from seq2see.serve.apis.comparing import CompareBody, compare_reply
from seq2see.serve.service import Service
from seq2see.webpage.assembly import as_data, style
from .conftest import CAT
from .test_truth import within

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
NAMES = ("storybook", "everyday")
TEXTS = [CAT, "The astronaut did not open the laptop because it was too heavy.", "The soup is cold."]
TECHNICAL = {"cross-attention": "cross", "decoder self-attention": "decoder", "encoder self-attention": "encoder"}
CHANCE = r"(?:over |under )?[\d.]+%"
MARKS = "special tokens"


@pytest.fixture(scope="module")
def ask():
    service = Service({name: Translator.from_pretrained(name, engine="torch") for name in NAMES})

    def asked(text):
        body = CompareBody(text=text, source="en", target="fr", model=NAMES[0], against=NAMES[1])
        with ThreadPoolExecutor(1) as thread:  # the browser has an event loop in this one
            return json.loads(thread.submit(asyncio.run, compare_reply(service, body, Caller("test"))).result())

    yield asked
    service.close()


@pytest.fixture(scope="module")
def networks():
    return [Network(HOME / name) for name in NAMES]


def words(record, side="target"):
    return {one["word"]: one for one in record["words"][side] if one["word"] is not None}


class Seen:
    """One translation under both models, as `records` of their traces."""

    def __init__(self, nets, comparison):
        self.records, self.steps, self.maps = comparison["traces"], [], []
        for net, record in zip(nets, self.records, strict=True):
            ids = record["target_ids"]
            assert net.decode(ids) == comparison["translation"] and net.source_ids(comparison["source"]) == record[
                "source_ids"]
            logits = net.logits(net.states(record["source_ids"], ids))
            shown = net.shown(logits, record["target_language"]).log()
            self.steps.append(shown[torch.arange(len(ids)), torch.tensor(ids)].tolist())
            self.maps.append(net.maps)
        self.pairs = [one for kind in KINDS for one in self.matched(kind)]

    def chances(self):
        """(word, chance, chance) of the words that have tokens of their own in both."""
        own, other = map(words, self.records)
        return [(own[n]["text"], *(math.exp(sum(steps[t] for t in unit[n]["pieces"])) for steps, unit in zip(
            self.steps, (own, other), strict=True))) for n in own if n in other]

    def shares(self, i, kind, layer):
        """{row word: {column word: [heads]}}, None for special tokens."""
        record, weights = self.records[i], self.maps[i][kind, layer]
        columns, found = record["words"]["inputs" if kind == "decoder" else "source"], {}
        for n, row in words(record, "source" if kind == "encoder" else "target").items():
            own = found[n] = {}
            for column in columns:
                share = weights[:, row["pieces"]][:, :, column["pieces"]].sum(-1).mean(-1)
                own[column["word"]] = own.get(column["word"], 0) + share
        return found

    def matched(self, kind):
        """(kind, first head, second head, distance, {row: its distance}, both rows of shares by row)."""
        depth = [sum(one == kind for one, _ in maps) for maps in self.maps]
        for at in torch.linspace(0, 1, min(depth)).tolist():
            layers = [int(at * (one - 1) + 0.5) for one in depth]
            both = [self.shares(i, kind, layer) for i, layer in enumerate(layers)]
            rows, zero = both[0].keys() & both[1].keys(), torch.zeros(8)
            apart = {n: sum((both[0][n].get(c, zero[:1]).double()[:, None] - both[1][n].get(c, zero[:1]).double()[None]
                             ).abs() for c in both[0][n].keys() | both[1][n].keys()) / 2 for n in rows}
            mean = sum(apart.values()) / len(apart)
            for a, b in zip(*linear_sum_assignment(mean.numpy()), strict=True):
                looks = {n: [{c: float(share[head]) for c, share in one[n].items()} for one, head in zip(
                    both, (a, b), strict=True)] for n in rows}
                yield (kind, (layers[0], int(a)), (layers[1], int(b)), float(mean[a, b]),
                       {n: float(apart[n][a, b]) for n in rows}, looks)


class Sentences:
    def __init__(self, tab, nets, reply, which):
        self.tab, self.reply, self.seen = tab, reply, Seen(nets, reply["comparisons"][which])

    def check(self):
        met = []
        for one in self.tab.locator(".beside [data-says]:visible").all():
            kind, said = one.get_attribute("data-says"), re.sub(r"\s+", " ", one.inner_text()).strip()
            assert getattr(self, kind.removeprefix("versus-"))(said) is not False, f"{kind}: {said}"
            met.append(kind)
        return met

    def same(self, said):
        return said == "Both write the same translation." and len(self.reply["comparisons"]) == 1

    def words(self, said):
        first, second = self.reply["comparisons"]
        one, other = ([unit["text"] for unit in words(record).values()] for record in (first["traces"][0],
                                                                                     second["traces"][1]))
        longest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
        for i, a in enumerate(one):
            for j, b in enumerate(other):
                longest[i + 1][j + 1] = longest[i][j] + 1 if a == b else max(longest[i][j + 1], longest[i + 1][j])
        shared = longest[-1][-1]
        assert said.startswith(f"Both write the same {shared} words and punctuation marks in the same order. ")
        for name, own in zip(NAMES, (one, other), strict=True):
            number, named = re.search(rf"{name} has (\d+|no) other words?(?: \((.+?)\))?\.", said).groups()
            assert int(number.replace("no", "0")) == len(own) - shared
            listed = re.sub(r" and \d+ more$", "", named or "")
            assert all(word.strip("“”") in own for word in listed.split(", ") if word)
        assert self.tab.locator(".beside mark").count() == len(one) + len(other) - 2 * shared

    def unseen(self, said):
        name, named = re.fullmatch(r"(\w+) never saw (.+)\.", said).groups()
        known = set(json.loads((HOME / name / "seen_words.json").read_text(encoding="utf-8"))["en"])
        listed = re.sub(r" and \d+ more$", "", named).split(", ")
        return not known & {word.strip("“”").casefold() for word in listed}

    def chance(self, said):
        all_chances = self.seen.chances()
        most = max(abs(a - b) for _, a, b in all_chances)
        if said.startswith("For every word"):
            return most < 0.0101
        word, first, second = re.fullmatch(
            rf"The models differ most on (.+): its chance is ({CHANCE}) for {NAMES[0]} and ({CHANCE}) for {NAMES[1]}\.",
            said).groups()
        return any(within(first, a) and within(second, b) and abs(a - b) > most - 0.01 for text, a, b in all_chances
                   if text == word.strip("“”"))

    def whole(self, said):
        first, second = (sum(steps[record["given"]:]) for steps, record in zip(self.seen.steps, self.seen.records,
                                                                             strict=True))
        fall = first - second
        if said == f"The whole translation is just as likely for {NAMES[1]} as for {NAMES[0]}.":
            return abs(fall) < 0.15
        over, number, verb = re.fullmatch(rf"The whole translation is (over )?([\d.,]+)× (less|more) likely for"
                                          rf" {NAMES[1]} than for {NAMES[0]}\.", said).groups()
        times = float(number.replace(",", ""))
        assert (fall > 0) == (verb == "less")
        return math.exp(abs(fall)) >= times if over else abs(math.exp(abs(fall)) / times - 1) < 0.06

    def where(self, said):
        number, most, high, least, low = re.fullmatch(
            r"(\d+) pairs of heads are matched\. Pairs of (.+) differ most: on average, (\d+)% of their attention goes"
            r" to different words\. Pairs of (.+) differ least \((\d+)%\)\.", said).groups()
        means = {}
        for kind in KINDS:
            own = [one[3] for one in self.seen.pairs if one[0] == kind]
            means[kind] = sum(own) / len(own)
        assert int(number) == len(self.seen.pairs)
        assert abs(means[TECHNICAL[most]] - max(means.values())) < 1e-3
        assert abs(means[TECHNICAL[least]] - min(means.values())) < 1e-3
        return all(abs(100 * value - int(said)) < 0.6 for value, said in ((max(means.values()), high),
                                                                        (min(means.values()), low)))

    def alone(self, said):
        found = dict(re.findall(r"(\d+) heads? of (\w+)", said))
        left = {name: sum(maps[place].shape[0] for place in maps) - len(self.seen.pairs)
                for name, maps in zip(NAMES, self.seen.maps, strict=True)}
        return {name: int(number) for number, name in found.items()} == {name: n for name, n in left.items() if n}

    def pair(self, said):
        kind, layer, head = self.tab.locator(".beside .story [aria-pressed=true]").get_attribute("data-head").split(".")
        [(_, _, _, distance, rows, looks)] = [one for one in self.seen.pairs
                                              if one[:2] == (kind, (int(layer), int(head)))]
        if said == "The two maps differ by less than 1%.":
            return distance < 0.0051
        share, verb, word, *each = re.fullmatch(
            r"(\d+)% of their attention goes to different words\. They differ most while (reading|writing) (.+?)\. The"
            r" head of \w+ looks most at (.+?) \((\d+)%\)\. The head of \w+ looks most at (.+?) \((\d+)%\)\.",
            said).groups()
        texts = [{n: one["text"] for n, one in words(self.seen.records[0], side).items()} | {None: MARKS}
                 for side in ("source" if kind == "encoder" else "target", "target" if kind == "decoder" else "source")]
        assert abs(100 * distance - int(share)) < 0.6 and (verb == "reading") == (kind == "encoder")
        for n, apart in rows.items():
            if texts[0][n] == word.strip("“”") and apart > max(rows.values()) - 1e-3 and all(
                    any(texts[1][c] == said.strip("“”") and abs(100 * own[c] - int(percent)) < 0.6 and
                        own[c] > max(own.values()) - 1e-3 for c in own)
                    for own, said, percent in zip(looks[n], each[::2], each[1::2], strict=True)):
                return True
        return False


@pytest.mark.parametrize("text", [TEXTS[0], *(pytest.param(one, marks=pytest.mark.long) for one in TEXTS[1:])])
def test_every_sentence_about_two_models_is_true(browser, ask, networks, text):
    reply = ask(text)
    first = {"traces": reply["comparisons"][0]["traces"][:1], "measured": reply["measured"][0],
             "translation": {"text": reply["comparisons"][0]["translation"], "unknown_words": [], "hypotheses": []}}
    settings = {"first": first, "models": [], "embedded": True, "comparison": reply, "start": {"against": NAMES[1]}}
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.set_content(f"""<!doctype html><style>{style()}</style><div id="home"></div><script>(() => {{ "use strict";
        {script()} explorer(document.getElementById("home"), {as_data(settings)}); }})()</script>""")
    tab.locator(".beside .story button").first.wait_for()
    for which in range(len(reply["comparisons"])):
        if which:
            tab.locator("[data-k=of-second]").click()
        sentences = Sentences(tab, networks, reply, which)
        for number in (0, 5, 11, 20):
            tab.locator(".beside .story button").nth(number).click()
            met = sentences.check()
            assert {"versus-chance", "versus-whole", "versus-where", "versus-alone", "versus-pair"} <= set(met)
            assert ("versus-same" in met) != ("versus-words" in met)
    for place in (".verdict", ".wrote + .fine"):
        for one in tab.locator(f".beside {place}:visible").all():
            assert not one.inner_text().strip() or one.locator("[data-says]").count(), "a sentence that nobody checked"
    tab.close()
