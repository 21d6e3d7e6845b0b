"""Every sentence of the page *Machine* that is made from numbers, found by its `data-says` (or, where it is said of
what is pointed at, its `data-tell`), and decided by `independent_machine.py` from its plain reading.

They are read for several words of each sentence, counted for the word and for the word over the runner-up, with every
block opened and at every stop of the way through: of storybook as the scripts draw them in Node, and on the server's
page and the page with the model inside.
"""

import math
import re
import unicodedata
from functools import cached_property
from urllib.parse import urlencode

import pytest
from drawn import Drawn
from independent import Network
from independent_machine import Machine

from seq2see.pretrained import HOME
from .conftest import CAT
from .test_truth import within

pytestmark = pytest.mark.timeout(600)
LANGUAGES = {"en": "English", "fr": "French", "de": "German", "es": "Spanish"}
DRAWN = 30  # tokens of a side
SLOTS = {"N": r"([+−]?[\d,]+(?:\.\d+)?)", "D": r"(\d+)", "X": "(.+?)"}  # a figure, a count, a name
READ = """(home) => [...home.querySelectorAll("[data-says], [data-tell]")].map((one) => {
  const made = document.createElement("div");
  made.innerHTML = one.dataset.tell ?? "";
  const [kind, text] = "tell" in one.dataset ? [one.dataset.kind, made.textContent] : [one.dataset.says, one.innerText];
  return [kind, text.replace(/\\s+/g, " ").replace(/·(?=\\S)/g, "").trim()];  // of a token that continues a word
})"""
CASES = {
    "cat": ("storybook", "fr", CAT, (11, 3, 16)),
    "goat": ("storybook", "fr", "The goat chased the wolf because it was hungry.", (2, 8)),
    "long": ("storybook", "fr", " and ".join(["The cat saw the dog in the old garden"] * 4) + ".", (5, 35)),
    "french": ("everyday", "fr", "Is the suitcase too heavy?", (1, 4)),
    "several": ("everyday", "de", "The otorhinolaryngologist is here.", (2, 3)),
    "spanish": ("everyday", "es", "We walked along the beach.", (2, 5)),
}
STORIES = [name for name, (model, *_) in CASES.items() if model == "storybook"]


def number(said):
    return float(said.replace("−", "-").replace(",", ""))


def near(said, value, *, by=0.0):
    """Whether a figure is this value as written, to its last decimal; or off `by` more."""
    digits = len(said.partition(".")[2])
    return abs(number(said) - float(value)) <= 0.501 * 10 ** -digits + by


def largest(values):
    return max(range(len(values)), key=lambda i: abs(float(values[i])))


STEERED = "The block adds {N} to {lead} with the head and {N} without it."
SHIFT = 0.1  # of figures that are written so that they add up to the sum as written


class Step:
    """What the independent network has of a step of a translation, and what the page calls it; counted for the word, or
    over the runner-up."""

    def __init__(self, net, to, source, target, step):
        self.net, self.to, self.step, self.machine = net, to, step, Machine(net, source, target, step)
        self.source, self.inputs = source, [net.generation["decoder_start_token_id"], *target[:-1]]
        self.logits, self.chosen = self.machine.logits, target[step]
        self.unit = next(unit for unit in self.units(target) if step in unit)
        self.rival = next(id for id in self.logits.argsort(descending=True).tolist() if not self.is_same(id))
        self.margin = float(self.logits[self.chosen] - self.logits[self.rival])
        self.logit = float(self.logits[self.chosen] - self.logits.mean())
        self.word, self.runner = self.quoted(self.chosen, target[step - 1]), self.quoted(self.rival)
        self.leads = f"The lead of {self.word} over {self.runner}"
        self.lead, self.english, self.into = f"the lead of {self.word} over {self.runner}", "English", LANGUAGES[to]
        self.own_parts = self.machine.parts(self.machine.direction(self.chosen))
        self.over = self.machine.parts(self.machine.direction(self.chosen, self.rival))
        net.states(source, target)
        self.maps, self.known = dict(net.maps), {}
        self.count("for")

    def units(self, target):
        """The steps of each word."""
        found = []
        for step, id in enumerate(target):
            name, before = (self.net.tokenizer.id_to_token(one) for one in (id, target[step - 1]))
            inside = name[:1].isalnum() and (before[-1:].isalnum() or before == "-")
            if step > 0 and (inside or before == "⇧"):
                found[-1].append(step)
            else:
                found.append([step])
        return found

    def count(self, mode):
        """For the word, or for it over the runner-up."""
        self.mode, is_own = mode, mode == "for"
        self.goal = f"the score of {self.word}" if is_own else self.lead
        self.parts, self.total = (self.own_parts, self.logit) if is_own else (self.over, self.margin)

    def is_same(self, id):
        """Whether a token looks like the one written, or the network goes on from it to the same word."""
        own, other = (unicodedata.normalize("NFKC", self.bare(one)).strip().casefold() for one in (self.chosen, id))
        if own == other:
            return True
        if not (own.startswith(other) or other.startswith(own)):
            return False
        target, start = self.machine.target, self.unit[0]
        before, ids = self.net.decode(target[:start]), [*target[:self.step], id]
        word = self.net.decode([*target[:start], *(target[at] for at in self.unit)])[len(before):].strip()
        while len(ids) < self.step + 7:
            states = self.net.states(self.source, [*ids, 2])
            ids.append(int(self.net.logits(states)[-1].argmax()))
        written = self.net.decode(ids)[len(before):].strip()
        return written.casefold().startswith(word.casefold()) and not written[len(word):][:1].isalnum()

    def bare(self, id):
        name = self.net.tokenizer.id_to_token(id)
        tag = re.fullmatch(r"<2(\w+)>", name)
        return f"to {LANGUAGES[tag[1]]}" if tag else {"</s>": "end"}.get(name, name.strip("▁ ") or "▁")

    def quoted(self, id, before=None):
        text = self.bare(id)
        if before is not None and self.net.tokenizer.id_to_token(before) == "⇧":
            text = text[:1].upper() + text[1:]
        return text if any(char.isalnum() for char in text) else f"“{text}”"

    def names(self, side):
        if side == "source":
            return [*map(self.quoted, self.source, [None, *self.source])]
        return ["start", *map(self.quoted, self.inputs[1:self.step + 1], self.inputs)]

    def places(self, said, side):
        """The positions of a side that are called so."""
        found = [i for i, name in enumerate(self.names(side)) if name == said]
        assert found, (said, self.names(side))
        return found

    def column(self, kind, i):
        return self.parts[kind][:, :, i].sum()

    def block(self, kind, layer):
        if kind == "feed_forward":
            return self.parts["feed_forward"][layer]
        return self.parts[kind][layer].sum() + self.parts["bias"][layer, int(kind == "cross")]

    def all_of(self, kind):
        return sum(self.block(kind, layer) for layer in range(self.net.config["decoder_layers"]))

    @property
    def own(self):
        return self.parts["embedding"] + self.parts["position"] + self.parts["constant"]

    def without(self, *off):
        """The lead without a head, or a feed-forward block of the decoder."""
        if off not in self.known:
            self.known[off] = self.machine.margin(self.rival, off, self.to)
        return self.known[off]

    @cached_property
    def needed(self):
        """The head without which the lead is smallest."""
        return min(self.net.heads(), key=lambda head: self.without(*head))

    @cached_property
    def steers(self):
        """The later block whose part of the lead changes most without that head: its layer, its part with and
        without."""
        over = self.machine.direction(self.chosen, self.rival)
        before = self.over["feed_forward"].tolist()
        after = self.machine.feed_forward_without(over, self.needed, self.to)
        kind, first, _ = self.needed
        later = range(0 if kind == "encoder" else first, len(before))
        layer = max(later, key=lambda one: abs(after[one] - before[one]))
        return layer, before[layer], after[layer]

    def row(self, head, row=None):
        """Where a head looks from a row."""
        kind, layer, n = head
        shares = self.maps[kind, layer][n, self.step if row is None else row]
        return shares[:self.step + 1] if kind == "decoder" else shares

    def looks(self, head):
        """What a head is called by what it does at this step."""
        kind, layer, n = head
        if kind == "encoder":
            return f"mixes English words (layer {layer + 1}, head {n + 1})"
        side = "inputs" if kind == "decoder" else "source"
        return f"looks {'back at' if kind == 'decoder' else 'at'} {self.names(side)[int(self.row(head).argmax())]}"


class Sentences(Step):
    """For each kind of sentence a method that says whether it is true.  `opened` is the block that is open, `stop`
    where the way through is; `tried` whether the page says that heads were switched off, which a busy server leaves."""

    opened = stop = None
    tried = True

    def read(self, said, sentence):
        """What stands in the slots of a sentence: {N}, {D}, {X} of SLOTS; other names are of this step."""
        parts = re.split(r"\{(\w+)\}", sentence)
        pattern = "".join(re.escape(part) if i % 2 == 0 else SLOTS.get(part) or re.escape(getattr(self, part))
                          for i, part in enumerate(parts))
        found = re.fullmatch(pattern, re.sub(r"(?<![^\s“])·(?=\S)", "", said))
        assert found, f"expected {pattern}"
        return found.groups()

    # --- what carried the word

    def say_carried(self, said):
        effects = "No head|Without the head|The model itself|The heads were|Which heads"
        most, effect = re.fullmatch(rf"(.+?) ((?:{effects}).+)", said).groups()
        return self.most(most) and self.effect(effect)

    def every(self):
        """The feed-forward blocks, the source words, the words so far and the last one itself."""
        return [*self.parts["feed_forward"].tolist(), float(self.own),
                *(float(self.column("cross", i)) for i in range(len(self.source))),
                *(float(self.column("decoder", i)) for i in range(self.step + 1))]

    def most(self, said):
        """What adds most, at most three of these, and what takes more than one of them adds."""
        every = sorted(self.every(), reverse=True)
        first, _, against = said.partition(" Against it counts above all ")
        if first.startswith("No single"):
            named = [0.5]
            if every[0] >= 0.51:
                return False
        else:
            how, listed = self.read(first, "{X} from {X}.")
            named = [self.part(one) for one in
                     re.split(rf"(?:, | and )(?=feed-forward layer |{self.english} |{self.into} )", listed)]
            share = sum(named) / sum(one for one in every if one > 0)
            few = {1: "The largest part comes"}.get(len(named), "The largest parts come")
            if how != ("Most of what adds to it comes" if share > 0.5 else few) or (
                    share > 0.5 and sum(named[:-1]) / sum(named) * share > 0.501):
                return False
            if named != pytest.approx(every[:len(named)], abs=1e-3):
                return False
        if not against:
            return -every[-1] <= named[-1] + 1e-3
        name, value = self.read(against, "{X}: {N}.")
        return near(value, every[-1]) and self.part(name, min) == pytest.approx(every[-1], abs=1e-3)

    def part(self, said, best=max):
        if said.startswith("feed-forward"):
            [layer] = self.read(said, "feed-forward layer {D}")
            return float(self.parts["feed_forward"][int(layer) - 1])
        if said == f"{self.into} {self.names('inputs')[self.step]} itself":
            return float(self.own)
        kind, side, sentence = ("decoder", "inputs", "{into} {X}") if said.startswith(self.into) else (
            "cross", "source", "{english} {X}")
        return best(float(self.column(kind, i)) for i in self.places(*self.read(said, sentence), side))

    def chance(self, off=None):
        """Of the whole word, and the most probable tokens of all steps."""
        mean = self.net.means(self.to) if off else None
        logits = self.net.logits(self.net.states(self.machine.source, self.machine.target, off=off, mean=mean))
        shown = self.net.shown(logits, self.to)
        return (math.prod(float(shown[step, self.machine.target[step]]) for step in self.unit),
                [int(logits[step].argmax()) for step in (*self.unit, self.unit[-1] + 1) if step < len(logits)])

    def effect(self, said):
        """The same as Explore says: what becomes of the whole word."""
        if said == "The heads were not switched off here, because that would take too long.":
            return not self.tried
        if said.startswith("The model itself"):
            lead, said = re.fullmatch(r"(.+? by \S+\.) (.+)", said).groups()
            behind = self.read(lead, "The model itself prefers {runner}, which leads {word} by {N}.")
            if not near(*behind, -self.margin):
                return False
        before, best = self.chance()
        if said.startswith("No head"):
            count, range_, lead = re.fullmatch(r"No head matters alone for .+: with any one of the (\d+) heads off, its"
                                               r" chance is (.+?)\.(?: (The lead .+))?", said).groups()
            found = [self.chance(head) for head in self.net.heads()]
            least, most = min(one for one, _ in found), max(one for one, _ in found)
            low, high = (range_.split(" to ") * 2)[:2]
            is_so = int(count) == len(found) and within(low, least) and within(high, most) and before - least < 0.103
            return is_so and (not lead or near(*self.read(lead, "{leads} is then at least {N}."),
                                               self.without(*self.needed)))
        name, becomes, lead, link = re.fullmatch(
            r"Without the head (?:that|within) (.+? \(layer \d+, head \d+\)), (.+?)\."
            r"(?: (The lead of .+? goes from \S+ to \S+\.))?(?: ((?:That|The) head .+|Feed-forward layer .+))?",
            said).groups()
        head = self.head_called(name)
        after, then = self.chance(head)
        if lead:
            both = self.read(lead, "{leads} goes from {N} to {N}.")
            if not (near(both[0], self.margin) and near(both[1], self.without(*head))):
                return False
        chances = re.fullmatch(r"the chance of .+ falls from (.+) to (.+)", becomes)
        is_so = (within(chances[1], before) and within(chances[2], after) and before - after >= 0.097) if chances else (
            then != best)
        return is_so and (not link or (head == self.needed and self.link(link)))

    def head_called(self, said):
        """The head of this name, where it looks as it says."""
        looks, layer, n = re.fullmatch(r"(.+) \(layer (\d+), head (\d+)\)", said).groups()
        kind = "encoder" if looks == "the source" else "decoder" if looks.startswith("looks back") else "cross"
        head = kind, int(layer) - 1, int(n) - 1
        if kind == "encoder" or looks.endswith("many words"):
            return head
        if len(self.unit) == 1:
            assert looks == self.looks(head), (looks, self.looks(head))
        return head

    def link(self, said):
        if self.mode == "for":  # figures of the lead are on another scale
            [layer] = self.read(said, "That head also steers feed-forward layer {D}.")
            return self.is_steering(layer)
        kind, layer, head = self.needed
        own = "The head itself adds {N}. "
        steers = "Feed-forward layer {D} adds {N} with the head and {N} without it."
        if kind == "encoder":
            return self.is_steering(*self.read(said, steers))
        itself, *steered = self.read(said, own + steers)
        return near(itself, self.over[kind][layer, head].sum()) and self.is_steering(*steered)

    def is_steering(self, layer, *said):
        own, with_it, without = self.steers
        return (own == int(layer) - 1 and all(map(near, said, (with_it, without)))
                and abs(with_it - without) >= 0.3 and self.without(*self.needed) < self.margin)

    def say_sum(self, said):
        count = "score of {word} (logit) {N}" if self.mode == "for" else "lead over {runner} (margin) {N}"
        return near(*self.read(said, count), self.total)

    def say_sums(self, said):
        return near(*self.read(said, "All parts add up to {N}, {goal}."), self.total)

    def say_river(self, said):
        return near(*self.read(said, "The model writes the next word from this vector. Every block adds to it. In"
                                     " total, {goal} is {N}."), self.total)

    def say_left_out(self, said):
        if "before this word" in said:
            [left] = self.read(said, "{D} of the {into} tokens before this word are not drawn.")
            return int(left) == self.step + 1 - DRAWN
        drawn, every, other, adds = self.read(said, "Only the first {D} of {D} {english} tokens are drawn. The other"
                                                    " {D} add {N}.")
        rest = sum(self.column("cross", i) for i in range(int(drawn), len(self.source)))
        return (int(drawn), int(every), int(other)) == (
            DRAWN, len(self.source), len(self.source) - DRAWN) and near(adds, rest)

    # --- rows, blocks, paths, the choice

    def say_row(self, said):
        if "Looking back at it" in said:
            is_given = "was given" in said  # the start, and the tag of the language
            name, figure = self.read(said, f"{{X}} {'was given to the model' if is_given else 'is already written'}."
                                           " Looking back at it adds {N} to {goal}.")
            return any(near(figure, self.column("decoder", i)) and is_given == (i < 2)
                       for i in self.places(name, "inputs") if i < self.step)
        name, figure, short, long = self.read(said, "Looking at {X} adds {N} to {goal}. The length of its vector is"
                                                    " {N} before the first layer and {N} after the last.")
        lengths = self.machine.lengths("encoder")
        return any(near(figure, self.column("cross", i)) and near(short, lengths[0, i]) and near(long, lengths[-1, i])
                   for i in self.places(name, "source"))

    def say_last(self, said):
        name, figure = self.read(said, "{X} is the last word so far. The model writes {word} from its vector. The word"
                                       " itself adds {N} to {goal}. This includes a part that is the same at every"
                                       " step.")
        return self.step in self.places(name, "inputs") and near(figure, self.own, by=SHIFT)

    def say_block(self, said):
        encoder = self.parts["encoder"]
        if "pass information" in said:
            layer, figure = self.read(said, "{english} words pass information to each other. What is passed on in"
                                            " layer {D} adds {N} to {goal}.")
            return near(figure, encoder["attention_rows"][int(layer) - 1].sum())
        if "word alone" in said:
            layer, figure = self.read(said, "This block works on each {english} word alone. In layer {D} it adds {N}"
                                            " to {goal}.")
            return near(figure, encoder["feed_forward"][int(layer) - 1].sum())
        if said.startswith("By looking"):
            return self.looking(said)
        first, _, effect = said.partition(" Without this block, ")
        layer, figure, on, count = self.read(first, "The feed-forward block of layer {D} adds {N} to {goal}. {N} of its"
                                                    " {N} neurons are active.")
        layer = int(layer) - 1
        if not (near(figure, self.block("feed_forward", layer), by=SHIFT) and self.are_on(layer, on, count)):
            return False
        if not effect:
            return not self.tried
        after, before = self.read(effect, "{lead} is {N} instead of {N}.")
        return near(after, self.without("feed_forward", layer, 0)) and near(before, self.margin)

    def say_fold(self, said):
        first, last, figure = self.read(
            re.sub(r"^Layer (\d+) adds only (.+), and is", r"Layers \1 to \1 add only \2, and are", said),
            "Layers {D} to {D} add only {N} to {goal}, and are folded. Select to unfold.")
        layers = range(int(first) - 1, int(last))
        encoder = self.parts["encoder"]
        return near(figure, sum(encoder["attention_rows"][one].sum() + encoder["feed_forward"][one].sum()
                                for one in layers), by=SHIFT)

    def looking(self, said):
        kind, side, what = ("decoder", "inputs", "back at {into}") if "looking back" in said else (
            "cross", "source", "at {english}")
        first, _, most = said.partition(" The largest part is from ")
        layer, figure = self.read(first, f"By looking {what}, layer {{D}} adds {{N}} to {{goal}}.")
        columns = self.parts[kind][int(layer) - 1].sum(0)
        if not near(figure, self.block(kind, int(layer) - 1), by=SHIFT):
            return False
        if not most:
            return abs(columns[largest(columns)]) < 0.051
        name, value = self.read(most, "{X}: {N}.")
        return largest(columns) in self.places(name, side) and near(value, columns[largest(columns)])

    def are_on(self, layer, on, count):
        inner = self.machine.inner["decoder", layer][self.step]
        return (number(on), number(count)) == (int((inner > 0).sum()), len(inner))

    def say_strand(self, said):
        """Who looked: the one head or two that more than half of what it adds came through."""
        kind, side = ("decoder", "inputs") if "looked back" in said else ("cross", "source")
        layer, hardly, name, heads, figure = re.fullmatch(
            rf"Layer (\d+) (hardly )?looked (?:back )?at (.+?)(?: \(heads? (.+?)\))?\. This adds (\S+) to"
            rf" {re.escape(self.goal)}\.", said.replace(", the last word,", "")).groups()
        layer, is_last = int(layer) - 1, "the last word" in said
        named = [(int(n) - 1, share) for n, share in re.findall(r"(\d+): (\d+)%", heads or "")]
        for i in self.places(name, side):
            shares, parts = self.maps[kind, layer][:, self.step, i], self.parts[kind][layer, :, i]
            total = float(parts.sum())
            best = sorted((float(one) / (total or 1.0) for one in parts), reverse=True)
            wanted = 1 if best[0] > 0.5 else 2 if best[0] + best[1] > 0.5 and best[1] > 0 else 0
            given = sum(float(parts[n]) for n, _ in named) / (total or 1.0)
            if (near(figure, total) and is_last == (kind == "decoder" and i == self.step)
                    and bool(hardly) == (float(shares.max()) < 0.1) and (len(named) == wanted or abs(total) < 0.01)
                    and (not named or given > 0.499)
                    and all(near(share, 100 * shares[n], by=0.1) for n, share in named)):
                return True
        return False

    def say_mixing(self, said):
        layer, row, hardly, column, figure = re.fullmatch(
            rf"In layer (\d+), (.+?) (hardly )?looked at (.+)\. What was taken from there adds (\S+) to"
            rf" {re.escape(self.goal)}\.", said).groups()
        found = self.parts["encoder"]["attention"][int(layer) - 1]
        looked = self.maps["encoder", int(layer) - 1].amax(0)
        return any(near(figure, found[r, c]) and bool(hardly) == (float(looked[r, c]) < 0.1)
                   for r in self.places(row, "source") for c in self.places(column, "source"))

    def say_steers(self, said):
        if said.startswith("This head"):
            layer, before, after = self.read(said, "This head also steers the feed-forward block of layer {D}. "
                                             f"{STEERED} Open that block")
            return self.needed[:2] == self.opened and self.is_steering(layer, before, after)
        how = "" if self.mode == "for" else f" {STEERED}"
        figures = self.read(said, f"The head that {self.looks(self.needed)} also steers this feed-forward block.{how}")
        return self.is_steering(self.steers[0] + 1, *figures)

    def say_choice(self, said):
        first, _, rest = said.partition(" It leads ")
        vocabulary, logit, chance = self.read(first, "All {N} tokens of the model get a score. {word} gets {N}, so its"
                                                     " chance is {X}.")
        shown = float(self.net.shown(self.logits, self.to)[self.chosen])
        if not (number(vocabulary) == len(self.logits) and near(logit, self.logit) and within(chance, shown)):
            return False
        return self.is_lead(rest, "{runner} by {N}.") if rest else self.margin <= 0

    def is_lead(self, said, sentence):
        """How far it leads, and the chance of the runner-up if that is one of the six best."""
        first, _, chance = said.partition(f" So the chance of {self.runner} is ")
        shown, best = self.net.shown(self.logits, self.to), self.logits.topk(6).indices.tolist()
        is_so = within(chance.rstrip("."), float(shown[self.rival])) if chance else self.rival not in best
        return is_so and near(*self.read(first, sentence), self.margin)

    # --- inside a block

    def say_attention(self, said):
        kind, layer = self.opened
        side, back = ("inputs", "back ") if kind == "decoder" else ("source", "")
        first = "While reading {X}, head {D}" if kind == "encoder" else "While writing {word}, head {D}"
        last = f"{'Over all source words, the' if kind == 'encoder' else 'The'} head adds {{N}} to {{goal}}."
        *row, head, name, share, figure = self.read(said, f"{first} looked {back}most at {{X}} ({{D}}%). {last}")
        head = int(head) - 1
        rows = self.places(row[0], "source") if row else [self.step]
        own = self.parts["encoder"]["heads"] if kind == "encoder" else self.parts[kind].sum(-1)
        found = [self.row((kind, layer, head), row) for row in rows]
        return near(figure, own[layer, head]) and any(
            int(one.argmax()) in self.places(name, side) and near(share, 100 * one.max(), by=0.1) for one in found)

    def say_heads(self, said):
        kind, layer = self.opened
        off = ("“Off” shows {lead} when the head gives its average over {D} sentences instead of its output.")
        over = len(self.net.examples["sentences"])
        if kind == "encoder":
            [sentences] = self.read(said, off)
            return int(sentences) == over
        shared = "All {D} heads together add {N}, including bias and rounding ({N})."
        count, figure, bias, sentences = self.read(said, f"{shared} {off}")
        heads = len(self.parts[kind][layer])
        return ((int(count), int(sentences)) == (heads, over)
                and near(figure, self.block(kind, layer), by=SHIFT)
                and near(bias, self.parts["bias"][layer, int(kind == "cross")], by=SHIFT + 0.05 * heads))

    def say_choose(self, said):
        if self.margin < 0:
            [lead] = self.read(said, "Every token gets a score. {runner} scores {N} more than {word}. The search"
                                     " chose the translation as a whole, or it was given.")
            return near(lead, -self.margin)
        return self.is_lead(said, "Every token gets a score. {word} leads by {N}.")

    def say_smoothing(self, said):
        [vocabulary] = self.read(said, "In training, label smoothing spread a part of every target over all {N} tokens."
                                       " The calibrated chance undoes this.")
        kept = self.net.calibration["languages"][self.to]
        return number(vocabulary) == len(self.logits) and kept["ways"][kept["way"]]["calibrator"]["smoothing"] > 0

    def say_lens(self, said):
        name, chance, rest = self.read(said, "If layer 1 were the last, the likeliest token here would be {X} ({X})."
                                             " {X}")
        states = [self.machine.blocks["decoder", layer, "feed_forward"][2][self.step]
                  for layer in range(self.net.config["decoder_layers"])]
        logits = [self.net.logits(self.net.norm("model.decoder.layer_norm", state)) for state in states]
        best, firsts = int(logits[0].argmax()), [int(one.argmax()) == self.chosen for one in logits]
        wanted = f"{self.word} ranks first from layer {firsts.index(True) + 1} on." if any(firsts) else (
            f"{self.word} does not rank first after the last layer.")
        is_so = not any(firsts) or all(firsts[firsts.index(True):])
        is_best = name == self.quoted(best) and within(chance, float(self.net.shown(logits[0], self.to)[best]))
        return is_best and is_so and rest == wanted

    def say_feed_forward(self, said):
        on, count, figure = self.read(said, "For {word}, {N} of {N} neurons are active. The block adds {N} to {goal}.")
        layer = self.opened[1]
        return self.are_on(layer, on, count) and near(figure, self.block("feed_forward", layer), by=SHIFT)

    def say_feed_forward_off(self, said):
        before, after = self.read(said, "If this block gives its average instead of its output, {lead} changes from {N}"
                                        " to {N}.")
        return near(before, self.margin) and near(after, self.without("feed_forward", self.opened[1], 0))

    def say_steered(self, said):
        kind, layer, head = self.needed
        place = f"(layer {layer + 1}, head {head + 1})"
        name = f"within the source {place}" if kind == "encoder" else f"that {self.looks(self.needed)} {place}"
        before, after = self.read(said, f"The head {name} also steers this block. {STEERED} Open that head")
        return self.steers[0] == self.opened[1] and self.is_steering(self.opened[1] + 1, before, after)

    def say_encoder_feed_forward(self, said):
        [figure] = self.read(said, "This block adds {N} to {goal}, through what the decoder takes from the source"
                                   " words.")
        return near(figure, self.parts["encoder"]["feed_forward"][self.opened[1]].sum())

    # --- the way of a word

    def say_tour(self, said):
        columns = [float(self.column("cross", i)) for i in range(len(self.source))]
        most = columns.index(max(columns))
        name, lengths = self.names("source")[most], self.machine.lengths("encoder")[:, most]
        if self.stop == 0:
            return near(*self.read(said, "Every {english} token becomes a vector, drawn here as 8 numbers. Its"
                                         f" position is added. The vector of {name} has length {{N}}."), lengths[0])
        if self.stop == 1:
            long = f"After the last layer, the vector of {name} has length {{N}}."
            return near(*self.read(said, "In each layer, the words pass information to each other. Then a feed-forward"
                                         f" block works on each vector alone. {long}"), lengths[-1])
        if self.stop == 2:
            return near(*self.read(said, "The model reads the {english} text once. Every word of the translation can"
                                         f" look at all of it. What is taken from {name} adds {{N}} to {{goal}}."),
                        columns[most])
        if self.stop == 3:
            last, figure = self.read(said, "{X} is the last word so far. The model writes the next word from its"
                                           " vector, drawn as coloured bands. The word itself adds {N} to {goal}.")
            return self.step in self.places(last, "inputs") and near(figure, self.own, by=SHIFT)
        if self.stop in (4, 5):
            return self.all_looking(said, *(("decoder", "inputs") if self.stop == 4 else ("cross", "source")))
        if self.stop == 6:
            figure, layer, alone = self.read(said, "These blocks work on the vector alone. Their neurons raise the"
                                                   " scores of some words and lower others. They add {N} to {goal}."
                                                   " Layer {D} alone adds {N}.")
            parts = self.parts["feed_forward"]
            return (near(figure, parts.sum(), by=SHIFT * len(parts)) and near(alone, parts.max(), by=SHIFT)
                    and float(parts[int(layer) - 1]) > float(parts.max()) - SHIFT)
        return self.chances(said)

    def all_looking(self, said, kind, side):
        first, _, rest = said.partition(f" to {self.goal}.")
        every = self.net.config["decoder_layers"]
        columns = [float(self.column(kind, i)) for i in range(len(self.names(side)))]
        if not near(*self.read(first, "These blocks add {N}"), self.all_of(kind), by=SHIFT * every):
            return False
        if not rest:
            return max(columns) < 0.16
        how, name, figure, against = re.fullmatch(
            r" (.+?) comes from (.+?): (\S+)\.(?: Against it counts above all (.+)\.)?", rest).groups()
        share = max(columns) / sum(one for one in columns if one > 0)
        is_most = how == ("Most of what they add" if share > 0.5 else "The largest part")
        if not (is_most and near(figure, max(columns)) and columns.index(max(columns)) in self.places(name, side)):
            return False
        if not against:
            return -min(columns) <= max(columns) + 1e-3
        name, figure = self.read(against, "{X}: {N}")
        return near(figure, min(columns)) and columns.index(min(columns)) in self.places(name, side)

    def chances(self, said):
        shown, best = self.net.shown(self.logits, self.to), self.logits.topk(6).indices.tolist()
        listed, then = re.fullmatch(r"Scores become chances: (.*)\. (Then .+)", said).groups()
        wanted = [(name, id) for name, id in ((self.word, self.chosen), (self.runner, self.rival)) if id in best]
        parts = listed.split(", ") if len(wanted) == 2 else [listed]
        for part, (name, id) in zip(parts, wanted, strict=True):
            [chance] = self.read(part, f"{name} gets {{X}}")
            if not within(chance, float(shown[id])):
                return False
        is_last = self.step == len(self.machine.target) - 1
        return then == ("Then the translation is done." if is_last
                        else "Then the model starts again for the next word.")


TRANSLATION = """() => {
  const group = document.querySelector(".machine [aria-label='Choose a word of the translation']").cloneNode(true);
  group.querySelectorAll(".m-word i").forEach((name) => name.remove());  // of tokens without text, as its end
  return [group.textContent.trim(), document.querySelectorAll("[data-do=machine_word]").length];
}"""


class Reader:
    """Reads and decides what the machine says, as its scripts draw it in Node."""

    def __init__(self, node, net, to, text):
        self.node, self.net, self.to, self.text, self.met, self.wrong = node, net, to, text, {}, []
        record = self.draw(step=1, mode="for")["trace"]
        self.source, self.target = net.source_ids(text), net.target_ids(record["target_text"], to)
        assert self.target == record["target_ids"]

    def draw(self, **machine):
        self.machine = machine
        self.drawn = self.node.evaluate("([text, machine]) => machineDrawn(text, machine)", [self.text, machine])
        return self.drawn

    def steps(self, steps):
        """Each of these, for the word and for it over the runner-up."""
        for step in steps:
            sentences = Sentences(self.net, self.to, self.source, self.target, step)
            for mode in ("for", "over"):
                self.draw(step=step, mode=mode)
                sentences.count(mode)
                yield sentences

    def said(self, part):
        """(kind, sentence) of each in a part of the page."""
        for one in Drawn.of(self.drawn[part]).locator("[data-says], [data-tell]").all():
            if told := one.get_attribute("data-tell"):
                yield one.get_attribute("data-kind"), Drawn.of(told).inner_text()
            else:
                yield one.get_attribute("data-says"), one.inner_text()

    def read(self, sentences, part="page"):
        """A sentence that cannot be read is one that nobody checked."""
        sentences.tried = "not switched off here" not in dict(self.said("page"))["machine-carried"]
        for name, said in self.said(part):
            kind = name.replace("machine-", "")
            self.met[kind] = self.met.get(kind, 0) + 1
            try:
                is_true, why = getattr(sentences, f"say_{kind.replace('-', '_')}")(said), ""
            except Exception as error:
                is_true, why = False, repr(error)
            if not is_true:
                self.wrong.append(f"{sentences.goal}: {kind}: {said} {why}")

    def read_blocks(self, sentences):
        """What each block says when it is opened."""
        gates = Drawn.of(self.drawn["page"]).locator(".m-gate[data-do=machine_open]").all()
        for address in [*dict.fromkeys(one.get_attribute("data-value") for one in gates), "lens"]:
            kind, _, layer = address.partition(".")
            self.draw(**self.machine | {"open": {"kind": kind, "layer": int(layer or 0), "head": None}})
            sentences.opened = kind, int(layer or 0)
            self.read(sentences, "opened")

    def read_stops(self, sentences):
        """What each stop of a word's way says."""
        for sentences.stop in range(8):
            self.draw(**self.machine | {"stop": sentences.stop})
            self.read(sentences, "stop")


class BrowserReader(Reader):
    """The same on a page in a browser."""

    def __init__(self, tab, net, to, text):
        self.tab, self.net, self.to, self.met, self.wrong = tab, net, to, {}, []
        tab.locator("[data-says=machine-carried]").wait_for()
        translation, tokens = tab.evaluate(TRANSLATION)
        self.source, self.target = net.source_ids(text), net.target_ids(translation, to)
        assert len(self.target) == tokens + 1, (translation, "the tag is no button")

    def steps(self, steps):
        """Each of these, for the word and for it over the runner-up."""
        for step in steps:
            self.tab.locator(f'[data-do=machine_word][data-value="{step}"]').click()
            sentences = Sentences(self.net, self.to, self.source, self.target, step)
            for mode in ("for", "over"):
                self.wait(step)
                self.tab.locator(f"[data-do=machine_mode][data-value={mode}]").first.click()
                self.wait(step)
                sentences.count(mode)
                yield sentences

    def wait(self, step):
        self.tab.wait_for_function("""(step) => document.querySelector(`[data-do=machine_word][data-value="${step}"]`)
            ?.ariaPressed === "true" && (document.querySelector(".machine [data-says=machine-carried]")?.innerText
            ?? "not known yet").search("not known yet") < 0""", arg=step)

    def said(self, part):
        return self.tab.locator({"page": ".machine", "opened": ".opened", "stop": ".m-stop"}[part]).evaluate(READ)

    def read_blocks(self, sentences):
        """What each block says when it is opened."""
        self.tab.keyboard.press("Escape")
        for address in self.tab.evaluate("""() => [...new Set([...document.querySelectorAll(
                ".m-gate[data-do=machine_open]")].map((one) => one.dataset.value))]"""):
            self.tab.locator(f'.m-gate[data-do=machine_open][data-value="{address}"]').press("Enter")
            self.tab.locator(".opened").wait_for()
            kind, _, layer = address.partition(".")
            sentences.opened = kind, int(layer or 0)
            self.read(sentences, "opened")
            if kind == "choose":
                self.tab.locator("[data-k=machine-lens]").click()
                self.tab.locator("[data-says=machine-lens]").wait_for()
                self.read(sentences, "opened")
            self.tab.locator("[data-k=machine-close]").click()
            self.tab.locator(".opened").wait_for(state="detached")

    def read_stops(self, sentences):
        """What each stop of a word's way says."""
        self.tab.locator("[data-do=machine_follow]").click()
        for sentences.stop in range(8):
            self.tab.locator(".m-stop", has_text=f"{sentences.stop + 1} of 8").wait_for()
            self.read(sentences, "stop")
            self.tab.locator(".m-stop .chip.solid").click()


@pytest.fixture(scope="module")
def networks():
    return {name: Network(HOME / name) for name in ("storybook", "everyday")}


def node_and(*in_every_run, more=()):
    """Where a case is read: in Node those of storybook, and on the server's page these, and in long runs all."""
    def marks(name):
        return [pytest.mark.browser] if name in in_every_run else [pytest.mark.browser, pytest.mark.long]

    names = dict.fromkeys([*in_every_run, *more])
    return pytest.mark.parametrize(("place", "name"), [
        *(("node", name) for name in names if name in STORIES),
        *(pytest.param("server", name, marks=marks(name)) for name in names)])


@pytest.fixture
def reader(networks, request):
    """Of a case, in Node, on the server's page or on the page with the model inside."""
    def opened(place, name):
        model, to, text, _ = CASES[name]
        if place == "node":
            return Reader(request.getfixturevalue("storybook_in_node"), networks[model], to, text)
        asked = {"text": text, "from": "en", "to": to} | ({} if place == "file" else {"model": model})
        home = request.getfixturevalue("file") if place == "file" else f"{request.getfixturevalue('packaged').url}/"
        tab = request.getfixturevalue("open_tab")(f"{home}?{urlencode(asked)}#machine", offline=place == "file")
        return BrowserReader(tab, networks[model], to, text)

    return opened


@pytest.mark.few(1)
@node_and("cat", more=CASES)
def test_every_sentence_of_the_machine_is_true(reader, place, name):
    page = reader(place, name)
    for sentences in page.steps(CASES[name][3]):
        page.read(sentences)
    assert not page.wrong, "\n".join(page.wrong)
    seen = {"carried", "sum", "sums", "river", "row", "last", "block", "strand", "choice"}
    assert seen <= set(page.met) and (name != "long" or "left-out" in page.met), page.met


def test_a_grey_curve_is_attention_over_a_tenth_and_as_dark_as_it_is_large(reader):
    page = reader("node", "cat")
    sentences = next(page.steps((11,)))
    drawn = Drawn.of(page.drawn["page"])
    assert "grey: attention over 10%" in drawn.locator(".m-reading").inner_text()
    shares = [(maps.mean(0) - maps.mean(0).diag().diag()).flatten() for (kind, _), maps in sentences.maps.items()
              if kind == "encoder"]
    opacities = [float(one.get_attribute("opacity")) for one in drawn.locator(".m-looks path").all()]
    wanted = sorted(0.12 + 0.8 * float(one) for layer in shares for one in layer if one >= 0.1)
    assert sorted(opacities) == pytest.approx(wanted, abs=0.006) and len(wanted) > 20


@node_and(more=["cat", "several"])
def test_every_sentence_inside_a_block_is_true(reader, place, name):
    page = reader(place, name)
    for sentences in page.steps(CASES[name][3][:1]):
        page.read_blocks(sentences)
    assert not page.wrong, "\n".join(page.wrong)
    seen = {"attention", "heads", "feed-forward", "feed-forward-off", "encoder-feed-forward", "choose", "lens"}
    assert (seen | ({"steers", "steered"} if name == "cat" else set())) <= set(page.met), page.met


@node_and(more=["cat", "spanish"])
def test_every_stop_of_a_words_way_says_what_is_true(reader, place, name):
    page = reader(place, name)
    for sentences in page.steps(CASES[name][3]):
        page.read_stops(sentences)
    assert not page.wrong, "\n".join(page.wrong)
    assert page.met["tour"] >= 8 * len(CASES[name][3])


@pytest.mark.browser
@pytest.mark.long
def test_every_sentence_of_a_page_with_the_model_inside_is_true(reader):
    page = reader("file", "cat")
    for sentences in page.steps(CASES["cat"][3][:1]):
        page.read(sentences)
        page.read_blocks(sentences)
        page.read_stops(sentences)
    assert not page.wrong, "\n".join(page.wrong)
