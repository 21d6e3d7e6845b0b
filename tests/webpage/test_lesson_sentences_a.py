"""The sentences of lessons 1 to 6 that are made from numbers, decided by `independent.py` from their plain reading: the
live one at several settings of the control, the one after the question with the option marked as right, and the one
that leads the story on.  They are read as the scripts draw them in Node; one of them, and in long runs all, also in the
file whose model answers itself.
"""

import gzip
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from independent import Network

from seq2see.folders import packaged_lessons
from seq2see.pretrained import HOME
from .conftest import CAT, places
from .test_truth import within

pytestmark = pytest.mark.timeout(300)
FRENCH = "Le chat n'a pas traversé la rue parce qu'il était trop fatigué."
WIDE = CAT.replace("tired", "wide")
BANKS = [f"The girl looked at the bank because it was {word}." for word in ("muddy", "closed")]
PAIRS = {"cat": (CAT, WIDE), "street": (CAT, WIDE), "bank": BANKS,
         "tired": (CAT, "The dog did not read the letter because it was too tired."),
         "bat": [f"The boy looked at the bat because it was {word}." for word in ("hungry", "broken")]}
INPUTS = ["start", "to French", "Le", "chat", "n'", "a", "pas", "traversé", "la", "rue", "parce", "qu'", "il", "était",
          "trop", "fatigué", "."]
CHAT, QU, IL = (INPUTS.index(word) for word in ("chat", "qu'", "il"))  # columns; a row writes the word after its own
SIZE = 32
RECORD = {one["name"]: one["result"] for one in json.loads(gzip.decompress(packaged_lessons()))["lessons"]}
PART = r"(?:over |under )?\d+%"


class Model(Network):
    """The independent network, forced to the lessons' translation."""

    def __init__(self, folder):
        super().__init__(folder)
        self.source, self.target = self.source_ids(CAT), self.target_ids(FRENCH, "fr")
        tokens = [self.tokenizer.id_to_token(one).strip() for one in self.source[:-1]]
        self.english = [*tokens, "end"]

    def similar(self, word, other):
        """The nearest token to a word by the cosine of embeddings, and the cosine with another."""
        rows = torch.nn.functional.normalize(self.embeddings, dim=1)
        one, two = (rows[self.tokenizer.token_to_id(f" {name}")] for name in (word, other))
        special = {id for id, token in self.tokenizer.get_added_tokens_decoder().items() if token.special}
        names = [self.tokenizer.id_to_token(id) for id in range(len(rows))]
        near = rows @ one
        hidden = [id in special or name == f" {word}" or not re.fullmatch(r" \S{3,}", name)
                  for id, name in enumerate(names)]
        near[torch.tensor(hidden)] = -1
        return names[int(near.argmax())].strip(), float(near.max()), float(one @ two)

    def stages(self, word):
        """The cosine of the two vectors of a word in its pair of sentences: before the first layer and after each."""
        vectors = []
        for text in PAIRS[word]:
            ids = self.source_ids(text)
            place = ids.index(self.tokenizer.token_to_id(f" {word}"))
            blocks = self.blocks(ids, self.target)
            layers = [blocks["encoder", layer, "feed_forward"][2] for layer in range(self.config["encoder_layers"])]
            vectors.append([self.embed(ids)[place], *(one[place] for one in layers)])
        return [float(torch.cosine_similarity(*both, dim=0)) for both in zip(*vectors, strict=True)]

    def read(self, word):
        """The same cosine of what cross-attention reads: the last vectors after the norm."""
        vectors = []
        for text in PAIRS[word]:
            ids = self.source_ids(text)
            last = self.blocks(ids, self.target)["encoder", self.config["encoder_layers"] - 1, "feed_forward"][2]
            vectors.append(self.norm("model.encoder.layer_norm", last)[
                ids.index(self.tokenizer.token_to_id(f" {word}"))])
        return float(torch.cosine_similarity(*vectors, dim=0))

    def row(self, row):
        """Of decoder self-attention, layer 2, head 1: the query of a row and the keys of all, [32] and [T,32]."""
        name = "model.decoder.layers.1"
        stream = self.blocks(self.source, self.target)["decoder", 1, "decoder"][0]
        stream = self.norm(f"{name}.self_attn_layer_norm", stream)
        query, key = (self.project(f"{name}.self_attn.{part}_proj", stream)[:, :SIZE].numpy() for part in "qk")
        return SimpleNamespace(query=query[row], keys=key)

    def shares(self, row, *, count=SIZE, divisor=SIZE**0.5, masked=True):
        of = self.row(row)
        scores = of.keys[:, :count] @ of.query[:count] / divisor
        if masked:
            scores[row + 1 :] = -np.inf
        powers = np.exp(scores - scores.max())
        return powers / powers.sum()

    def chance(self, step, *, text=CAT, off=None):
        """The chance of the token of a step as the page shows it, and the word of the most probable one."""
        states = self.states(self.source_ids(text), self.target, off=off, mean=self.means("fr") if off else None)
        logits = self.logits(states)[step]
        shown = self.shown(logits, "fr")
        return float(shown[self.target[step]]), self.decode([int(logits.argmax())])

    def looks(self, kind, step):
        """What each head gives to each column at a step, by (layer, head)."""
        self.states(self.source, self.target)
        return {(layer, head): self.maps[kind, layer][head, step].numpy()
                for layer in range(2) for head in range(4)}


@pytest.fixture(scope="module")
def net():
    return Model(HOME / "storybook")


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


def fits(said, value, digits):
    """Whether a number, as the page writes it, is this one: to its last digit, and what float16 weights may change."""
    return abs(float(said.replace("−", "-").replace(",", "")) - value) <= 0.6 * 10**-digits + 2e-3 * abs(value)


def is_part(said, value):
    """Whether a share, as the page writes it, is this one."""
    if said == "over 99%":
        return 0.994 <= value < 1 + 1e-9
    if said == "under 1%":
        return 0 < value < 0.006
    return abs(float(said.rstrip("%")) / 100 - value) <= 0.006


def is_passed(said, slope):
    """Whether the part of a change that reaches the share, as the page writes it, is this slope."""
    if said == "less than 0.0001%":
        return slope < 1.1e-6
    return is_part(said, slope) if "." not in said else 0.9 < slope / (float(said.rstrip("%")) / 100) < 2.1


def slope(share):
    """What reaches a share of a small change of its score: the derivative of the softmax."""
    return share * (1 - share)


def found(pattern, text):
    match = re.fullmatch(pattern, plain(text))
    assert match, f"{plain(text)!r} is not {pattern!r}"
    return match.groups()


def right(lesson):
    return int(lesson.place.locator("[data-right]").get_attribute("data-guess"))


def test_words(net, read_lesson):
    lesson, result = read_lesson(1), RECORD["l01_words"]
    stages = net.stages("bank")
    shown = lesson.place.locator(".pictured").inner_text()
    assert not re.search(r"1\.000|two vectors", shown), "the answer is not shown"
    first, *after = found(r"One: the same vector in every sentence\. Before the first layer, the two have a "
                          r"similarity of "
                          r"([\d.]+)\. It is "
                          r"([\d.]+) after layer 1, ([\d.]+) after layer 2\. The sentences differ in one word only, "
                          r"muddy or closed\. Attention has carried information about this word into bank\.",
                          lesson.guess(1))
    assert right(lesson) == (0 if stages[0] > 0.9995 else 1) == 0
    assert all(fits(said, value, 3) for said, value in zip([first, *after], stages, strict=True))
    assert set(BANKS[0].split()) ^ set(BANKS[1].split()) == {"muddy.", "closed."}
    assert 100 < net.config["d_model"] < 200, "well over a hundred, says the text"
    for word in PAIRS:
        said = lesson.set("word", word)
        own, count, near, value, begin, end, moved = found(
            r"(\w+) is a vector of (\d+) numbers\. The nearest word is (\S+), with a similarity of ([\d.]+)\. "
            r"Compare \w+ in the two sentences\. Its two vectors have a similarity of ([\d.]+) before the first layer "
            r"and ([\d.]+) after the last\. The other words (hardly change|have changed) it\.", said)
        nearest, cosine, far = net.similar(word, "because")
        assert (own, int(count), near) == (word, net.config["d_model"], nearest) and fits(value, cosine, 2)
        stages = net.stages(word)
        assert fits(begin, stages[0], 3) and fits(end, stages[-1], 3)
        assert moved == ("hardly change" if stages[-1] > 0.99 else "have changed")
        written = lesson.place.locator(".pictured svg text").all_text_contents()
        assert fits(written[written.index("because") + 1], far, 2)
        assert not {"li", "ch"} & set(written), "pieces of words are no words"
        caption = plain(lesson.place.locator(".pictured .fine").inner_text())
        alike, guessed = re.search(rf"the most similar use, ({PART}) are .* it would be ({PART})\.", caption).groups()
        assert is_part(alike, result["overlap"]["value"]) and is_part(guessed, result["overlap_chance"])
        sentences = lesson.place.locator(".pictured .fine i").all_inner_texts()
        assert sentences == ["because", *PAIRS[word]]


@pytest.mark.parametrize("read_lesson", places("file"), indirect=True)
def test_attention(net, read_lesson):
    lesson, row, back = read_lesson(2), net.row(QU), net.row(CHAT)
    asks, answers, one, three = found(
        r"The same score: a · b is b · a\. .* Here qu' gives chat a score of (\S+), and chat gives qu' a score of "
        r"(\S+)\. "
        r"The value is a third vector, .* models with one vector for everything got (\S+) right, and models with three "
        r"got (\S+)\.", lesson.guess(1))
    assert right(lesson) == 0 and RECORD["l02_attention"]["mirrored"] < 1e-6
    assert fits(asks, row.query @ row.keys[CHAT], 1) and fits(answers, back.query @ back.keys[QU], 1)
    best = {way: np.array(of).mean(1).max() for way, of in RECORD["l02_attention"]["right"].items()}
    assert is_part(one, best["one matrix"]) and is_part(three, best["three matrices"])
    assert net.shares(QU).argmax() == CHAT
    assert net.config["d_model"] // net.config["decoder_attention_heads"] == SIZE
    lead = plain(lesson.tab.locator(".lead").inner_text())
    assert f"three vectors of {SIZE} numbers" in lead and f"the word’s {net.config['d_model']} numbers" in lead
    assert f"The {net.config['d_model']} become {SIZE} because four attentions" in lead
    for count in (0, 5, 16, 31):
        added, score, share = found(
            r"With (\d+) of the 32 products added, chat has a score of (\S+)\. If only these products counted, it "
            r"would get (.*) of the attention\.",
            lesson.slide("count", count))
        assert int(added) == count and fits(score, row.query[:count] @ row.keys[CHAT, :count], 1)
        assert is_part(share, net.shares(QU, count=count)[CHAT])
    score, share, again = found(
        r"All 32 products of qu' and chat add up to a score of (\S+)\. This score is divided by √32, as the next step "
        r"explains\. It gives chat (.*) of the attention\. To write il, this head passes on a mix of values, and "
        r"(.*) of "
        r"it is the value of chat\.", lesson.slide("count", SIZE))
    assert share == again and is_part(share, net.shares(QU)[CHAT]) and fits(score, row.query @ row.keys[CHAT], 1)


def test_scaling(net, read_lesson):
    lesson, result = read_lesson(3), RECORD["l03_scaling"]
    whole, bare = (net.shares(IL, divisor=divisor) for divisor in (SIZE**0.5, 1))
    most = int(bare.argmax())
    assert "slope" not in lesson.place.locator(".pictured").inner_text(), "the picture does not answer the question"
    word, before, after, passed, kept_so, few, many, again, short, left, kept = found(
        rf"The share of (\S+) goes from ({PART}) to ({PART}): one word takes nearly all\. .* 150 times the share\. "
        r"Training .* Undivided, the slope is (.*)\. Divided, it is (\S+)\. Where .* random vectors of (\S+) and of "
        r"(\S+) numbers\. From (\S+) to (\S+), undivided scores keep (\S+) of their slope, and divided scores keep "
        r"(.*)\.",
        lesson.guess(0))
    assert right(lesson) == 1 and bare.max() - whole.max() > 0.1 and word == INPUTS[most] == "il"
    assert is_part(before, whole[most]) and is_part(after, bare[most]) and 145 < np.exp(5) < 155
    assert is_passed(passed, slope(bare[most])) and is_passed(kept_so, slope(whole[most]))
    assert 0.7 < whole.max() < 0.8, "three quarters, says the question"
    assert [int(width.replace(",", "")) for width in (few, many)] == result["widths"] and (many, few) == (short, again)
    assert is_passed(left, result["left"]) and is_part(kept, min(1, result["kept"]))
    for step in range(13):
        divisor = 2 ** (step / 2)
        shares = net.shares(IL, divisor=divisor)
        said, share, passed, end = found(
            rf"With scores divided by (\S+), il gives ({PART}) of its attention to itself\. Of a small change of "
            rf"this score, (.*) "
            r"reaches the share\. ?(.*)",
            lesson.slide("step", step))
        assert fits(said, divisor, 2) and shares.argmax() == IL and is_part(share, shares.max())
        assert is_passed(passed, slope(shares.max()))
        flat, even = slope(shares.max()) < 0.005, shares.max() < 2 / 13
        assert end == ("So there is almost nothing to learn from." if flat
                       else "But all words get nearly the same share, so nothing is chosen." if even
                       else "")


def test_causal_mask(net, read_lesson):
    lesson, result = read_lesson(4), RECORD["l04_causal_mask"]
    masked, plain_, error, less = found(
        r"With the mask, the small model translates (\S+) of new sentences exactly\. Without the mask, it translates "
        r"(\S+)\. Yet at the end of training, the error \(the loss\) was (\S+) without the mask and (\S+) with it\. "
        r"A model .*",
        lesson.guess(0))
    exact = [one["value"] for one in result["exact"]]
    assert right(lesson) == 2 and exact[0] > exact[1] + 0.02 and is_part(masked, exact[0]) and is_part(plain_, exact[1])
    assert fits(error, result["ended"][1], 3) and fits(less, result["ended"][0], 3) and float(error) < float(less)
    open_, row = net.shares(IL, masked=False), net.shares(IL)
    ahead, word, share = found(r"Now (.*) of the attention goes to later words\. The word to predict, (\S+), gets "
                               r"(.*)\.",
                               lesson.set("masked", False))
    assert is_part(ahead, open_[IL + 1 :].sum()) and is_part(share, open_[IL + 1]) and word == INPUTS[IL + 1]
    for mask in (True, False, True):
        lesson.set("masked", mask)
        written = lesson.place.locator(".pictured svg text").all_text_contents()
        assert written.count("hidden") == (len(INPUTS) - IL - 1 if mask else 0)
        shares = [text for text in written if re.fullmatch(PART, text)]
        assert all(is_part(said, value) for said, value in zip(shares, row[: IL + 1] if mask else open_, strict=True))
    counts = found(r"il divides its attention between (\d+) words, up to itself\. The (\d+) later words get (\S+)\.",
                   lesson.says)
    assert counts == (str(IL + 1), str(len(INPUTS) - IL - 1), "0%")


def test_many_heads(net, read_lesson):
    lesson, exact = read_lesson(5), [one["value"] for one in RECORD["l05_many_heads"]["exact"]]
    looks = [look for (layer, _), look in net.looks("decoder", QU).items() if layer == 1]
    whole, without = net.chance(QU), [net.chance(QU, off=("decoder", 1, head)) for head in range(4)]
    shown = lesson.place.locator(".pictured svg").text_content()
    assert "switched off" not in shown, "the picture does not answer the question"
    assert looks[0].argmax() == CHAT and looks[0].max() > 0.9, "almost only at chat, says the question"

    def looks_at(head, word, share):
        return word == INPUTS[looks[head].argmax()] and is_part(share, looks[head].max())

    all_, chance, others, four, one = found(
        r"With every head, the chance of il is (.*)\. Without head 1, it is (.*), and il is still written\. Without "
        r"any "
        r"one of the other heads, it is (.*?)(?: or more)?\. Is one large head as good as four\? .* With four heads, "
        r"they translate (\S+) of new sentences exactly\. With one head, they translate (\S+)\.", lesson.guess(2))
    assert right(lesson) == 1 and without[0][1] == "il" and whole[0] - without[0][0] > 0.05
    assert within(all_, whole[0]) and within(chance, without[0][0])
    assert within(others, min(chance for chance, _ in without[1:]))
    assert is_part(four, exact[0]) and is_part(one, exact[1])
    for off in range(4):
        head, word, share, chance, all_ = found(
            rf"Head (\d) looks most at (.*) \(({PART})\)\. Without this head, the chance of il is (.*)\. With every "
            rf"head, "
            r"it is (.*)\. The translation stays the same\.", lesson.set("off", off))
        assert int(head) == off + 1 and looks_at(off, word, share)
        assert within(chance, without[off][0]) and within(all_, whole[0]) and without[off][1] == "il"
        caption = plain(lesson.place.locator(".pictured .fine").inner_text())
        assert caption == f"Written with head {off + 1} off: {FRENCH}"
    said, most = found(r"With every head on, the chance of il is (.*?)\. In order, the heads look most at (.*)\.",
                       lesson.set("off", None))
    listed = re.findall(rf"([^,]+?) \(({PART})\)", most)
    assert within(said, whole[0]) and all(looks_at(h, word.strip(), share) for h, (word, share) in enumerate(listed))
    assert len(listed) == 4


def test_cross_attention(net, read_lesson):
    lesson, stages = read_lesson(6), net.stages("bank")
    first, last, *french = found(
        r"The encoder .* Before the encoder, the two vectors of bank have a similarity of ([\d.]+)\. "
        r"After its last layer and the norm that follows, it is ([\d.]+)\. Cross-attention reads these vectors\. "
        r"The French is (\S+) for the first sentence and (\S+) for the second\.", lesson.guess(0))
    assert right(lesson) == 1 and net.read("bank") < 0.9995
    assert fits(first, stages[0], 3) and fits(last, net.read("bank"), 3)
    for text, word in zip(BANKS, french, strict=True):
        written = [net.tokenizer.token_to_id("<2fr>")]
        while len(written) < 30 and written[-1] != 2:  # greedily
            written.append(int(net.logits(net.states(net.source_ids(text), [*written, 0])[-1]).argmax()))
        assert word in net.decode(written).split()
    words = CAT.replace(".", " .").split()
    for number, french in ((5, "traversé"), (7, "rue"), (10, "il"), (1, "chat"), (13, "fatigué")):
        step = number + 1
        tops = [int(look.argmax()) for look in net.looks("cross", step).values()]
        counts = [tops.count(column) for column in range(len(net.english))]
        texts = [" ".join(words[:i] + words[i + 1 :]).replace(" .", ".") for i in range(len(words))]
        after = [net.chance(step, text=text) for text in texts]
        whole, worst = net.chance(step)[0], int(np.argmin([chance for chance, _ in after]))
        said = lesson.set("word", number)
        own, count, most, rest = found(
            r"While (\S+) is written, (\d) of 8 heads look most at (?:each of )?(.+?)\. (.*)", said)
        assert own == french and int(count) == max(counts)
        assert most.replace(" and ", ", ").split(", ") == [
            name for name, one in zip(net.english, counts, strict=True) if one == max(counts)]
        if whole - after[worst][0] > 0.1:
            erased, before, then, instead = found(
                r"If (\S+) is erased, the chance of \S+ goes from (.*) to (.*?%)(?:, and (\S+) is written instead)?\.",
                rest)
            assert erased == words[worst] and within(before, whole) and within(then, after[worst][0])
            assert (instead or french) == after[worst][1]
        else:
            least, = found(r"Without any one of the English words, the chance of \S+ is still (.*?)(?: or more)?\. "
                           r"So no single English word decides here\. .*", rest)
            assert within(least, after[worst][0])


def test_the_story_is_led_on_by_true_sentences(net, open_tab, packaged):
    tab = open_tab(f"{packaged.url}/#story", ready=".tale")

    def short(number):
        scene = tab.locator(f".scene[data-number='{number}']")
        scene.scroll_into_view_if_needed()
        scene.locator("[data-guess]").first.click()
        scene.locator(".short:not(:empty)").wait_for()
        return scene.locator(".short").inner_text()

    count, begin, last = found(r"A word begins as a vector of (\d+) numbers.* the similarity of its two vectors goes "
                               r"from ([\d.]+) to ([\d.]+)\. .*", short(1))
    stages = net.stages("bank")
    assert int(count) == net.config["d_model"] and fits(last, stages[-1], 3) and fits(begin, stages[0], 3)
    share, = found(r"qu' asked, and chat answered best\. It got (.*) of the attention, so .*", short(2))
    assert is_part(share, net.shares(QU)[CHAT])
    bare, divisor, share = found(r"Undivided, il would get (.*)\. Small .* Divided by (\S+), it gets (\S+), and "
                                 r".*", short(3))
    assert is_part(bare, net.shares(IL, divisor=1).max()) and is_part(share, net.shares(IL).max())
    assert fits(divisor, SIZE**0.5, 2)
    ahead, word, share = found(r"Without the mask, (.*) of the attention of il .* With the mask, (\S+) gets the "
                               r"largest share, (\S+)\. "
                               r".*", short(4))
    assert is_part(ahead, net.shares(IL, masked=False)[IL + 1 :].sum())
    assert word == INPUTS[net.shares(IL).argmax()] and is_part(share, net.shares(IL).max())
    head, = found(r"The layer has 4 heads.* Without head (\d), the chance of il falls most\. .*", short(5))
    assert int(head) == 1 + np.argmin([net.chance(QU, off=("decoder", 1, head))[0] for head in range(4)])
    heads, word, alone, both = found(
        r"While traversé is written, (\d) of 8 heads look most at (\S+)\. .* alone, (\S+) of the words are right\. "
        r"With the English too, (.*) are right\. .*", short(6))
    tops = [net.english[look.argmax()] for look in net.looks("cross", 6).values()]
    assert word == max(set(tops), key=tops.count) and int(heads) == tops.count(word)
    told = RECORD["l06_cross_attention"]["right"]
    assert is_part(alone, told["prefix alone"]["value"]) and is_part(both, told["unchanged"]["value"])
