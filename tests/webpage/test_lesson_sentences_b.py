"""The sentences of lessons 7 to 12 that are made from numbers, decided by `independent.py` from their plain reading:
the live one at several settings of the control, and the one after the question, with the option marked as right.

They are read as the scripts draw them in Node; in long runs also on the server's page and in the file whose model
answers itself.
"""

import gzip
import json
import re
from functools import cache

import pytest
import torch
from independent import Network

from seq2see.folders import packaged_lessons
from seq2see.pretrained import HOME

pytestmark = pytest.mark.timeout(300)
TIRED, WIDE, DIRTY = (f"The cat did not cross the street because it was too {word}." for word in (
    "tired", "wide", "dirty"))
START = "Le chat n'a pas traversé la rue parce qu'"
CAT = f"{START}il était trop fatigué."
WORDS = ["Le", "chat", "n'", "a", "pas", "traversé", "la", "rue", "parce", "qu'", "il", "était", "trop", "fatigué", "."]
IL = 11  # the step that writes it
NAMES = {"cross": "cross-attention", "decoder": "decoder self-attention", "encoder": "encoder self-attention"}
IN_DOUBT = 0.95
RECORD = {one["name"]: one for one in json.loads(gzip.decompress(packaged_lessons()))["lessons"]}
LANGUAGE = {"cross": "English", "decoder": "French"}
ROLES = {"alignment": "word for word", "antecedent": "finds what “it” means", "diagonal": "same position",
         "same word": "same word again", "punctuation": "punctuation", "previous": "previous word", "next": "next word",
         "same": "the word itself"}


@pytest.fixture(scope="module")
def net():
    return Network(HOME / "storybook")


def answered(page, option):
    """The sentence after the question, and the number of the option that is marked as right."""
    said = page.guess(option)
    return plain(said), int(page.place.locator("[data-right]").get_attribute("data-guess"))


def plain(text):
    return re.sub(r"\s+", " ", text)


def chance(p):
    """As the page writes a chance."""
    if p >= 0.995:
        return "over 99%"
    if p < 0.001:
        return "under 0.1%"
    return f"{100 * p:.0f}%" if p >= 0.0995 else f"{100 * p:.1f}%"


def chances(p):
    """What may be written of it: the engines compute in float32 and read maps as float16."""
    return "(?:" + "|".join(sorted({re.escape(chance(p * (1 + off))) for off in (-2e-3, 0, 2e-3)})) + ")"


def share(p):
    return "(?:" + "|".join(sorted({f"{100 * (p + off):.0f}%" for off in (-1e-3, 0, 1e-3)})) + ")"


def length(value):
    return "(?:" + "|".join(sorted({f"{value * (1 + off):.1f}" for off in (-2e-3, 0, 2e-3)})) + ")"


def says(pattern, text):
    assert re.search(pattern, text), f"{text!r} is not {pattern!r}"


def ids_of(net, text, translation):
    return net.source_ids(text), net.target_ids(translation, "fr")


@cache
def shown(net, text, translation, off=None):
    """[T,V]: chances with every head or with one off, as the page shows them."""
    mean = net.means("fr") if off else None
    return net.shown(net.logits(net.states(*ids_of(net, text, translation), off=off, mean=mean)), "fr")


def token(net, word):
    return net.tokenizer.token_to_id(word)


def headline(head):
    return f"{NAMES[head[0]]}, layer {head[1] + 1}, head {head[2] + 1}"


# --- 7: temperature


def at_temperature(net, warmth):
    """The likeliest words of the step after `START` and the shares that sampling draws by, best first."""
    ids = ids_of(net, DIRTY, f"{START}elle était trop sale.")
    top = (net.logits(net.states(*ids))[IL] / warmth).softmax(-1).topk(2)
    return [(net.tokenizer.id_to_token(int(id)), float(p)) for p, id in zip(*top, strict=True)]


def test_temperature(net, read_lesson):
    page = read_lesson(7)
    [(first, p), (second, q)], [(one, hot), (other, cool)] = at_temperature(net, 1), at_temperature(net, 2)
    text, right = answered(page, 0)
    assert (first, second) == (one, other) == ("elle", "il")
    says(f"1, {first} has {chances(p)} and {second} has {chances(q)}. At temperature 2, they have {chances(hot)} and"
         f" {chances(cool)}", text)
    assert right == 1 and hot / cool < p / q
    for stop in (-8, -3, 0, 4, 8):
        warmth = 2 ** (stop / 4)
        [(first, p), (second, q)] = at_temperature(net, warmth)
        said = plain(page.slide("stop", stop))
        has = rf"{first} has a share of {chances(p)} and {second} has {chances(q)}\."
        says(rf"At temperature {round(warmth, 2):g}, {has}", said)
        rest = {f"{100 - round(100 * p * off) - round(100 * q * off)}%" for off in (1 - 1e-3, 1, 1 + 1e-3)}
        left = chances(max(0.0, 1 - p - q)) if p + q > 0.99 else f"(?:{'|'.join(rest)})"
        says(rf"\. All other words together have {left}\.", said)
        shown = page.place.locator(".pictured svg").first.text_content()
        assert re.search(rf"all others.*{left}", shown), "the row and the sentence count the same"
        says(rf"\. {first} stays first: it is {length(p / q)} times as likely as {second}\.", said)


# --- 8: the cache


def keys(net, translation, layer=1, head=0):
    """[T,E]: of one head of the decoder, T tokens read."""
    source, target = ids_of(net, TIRED, translation)
    name = f"model.decoder.layers.{layer}.self_attn"
    x = net.blocks(source, target)["decoder", layer, "decoder"][0]
    size = net.config["d_model"] // net.config["decoder_attention_heads"]
    return net.project(f"{name}.k_proj", net.norm(f"{name}_layer_norm", x))[:, head * size : (head + 1) * size]


def test_kv_caching(net, read_lesson):
    page = read_lesson(8)
    text, right = answered(page, 0)
    early, late = keys(net, "Le chat"), keys(net, START)
    same = int((early[3] - late[3]).abs().le(1e-4).sum())
    says(rf"\. {same} of its {len(early[3])} numbers are the same", text)
    assert right == (2 if same == len(early[3]) else 1)
    each = 2 * net.config["decoder_layers"] * net.config["d_model"] ** 2
    for word in (0, 1, 2, 10, 14):
        read = net.target_ids(CAT, "fr").index(token(net, WORDS[word]) or token(net, f" {WORDS[word]}")) + 1
        every = sum(range(1, read + 1))
        said = plain(page.slide("word", word))
        says(rf"Writing {re.escape(WORDS[word])} takes the keys and values of {read} tokens\.", said)
        says(rf"With the cache, 1 is computed and {read - 1} are kept\. Without it, all {read} are computed\.", said)
        says(rf"{read} are computed with the cache and {every} without it\. For keys and values alone, this takes"
             rf" {read * each / 1e6:.1f} million multiplications with the cache and {every * each / 1e6:.1f} million"
             r" without it\.", said)
        if word > 2:
            says(rf"In the key of chat, {same} of {len(early[3])} numbers are still the same\.", said)


def test_the_story_goes_on_with_the_same_numbers(net, open_tab, packaged):
    """The sentences that lead from lesson 7 to lesson 8, to the machine, and from there to lesson 9."""
    tab, [(first, p), (second, q)] = open_tab(f"{packaged.url}/#story"), at_temperature(net, 1)
    for number, name, pattern in (
        (7, "temperature", rf"^{first} has {chances(p)}, and {second} has {chances(q)}\."),
        (8, "kv_caching", rf"keeps {IL} keys and values, computes one more, and writes {WORDS[IL - 1]}\."),
    ):
        scene = tab.locator(f".scene[data-number='{number}']")
        scene.scroll_into_view_if_needed()
        scene.locator("[data-guess]").first.click()
        says(pattern, plain(tab.locator(f"[data-says='story-{name}']:not(:empty)").inner_text()))
    tab.locator(".whole").scroll_into_view_if_needed()
    closing = plain(tab.locator("[data-says=story-values]:not(:empty)").inner_text())
    for head in sharpest(net):
        word, weight, _ = max(row_of(net, head), key=lambda one: one[1])
        says(rf"gives {share(weight)} of its attention to {LANGUAGE[head[0]]} {word}\. Without this head, the chance of"
             rf" il is {chances(il_without(net, head))}\.", closing)
    assert f"{net.config['decoder_ffn_dim']} small detectors" in tab.locator(".scene").last.inner_text()


# --- 9: values


def row_of(net, head):
    """What one head sees while *il* is written: [(word, share, length of what it adds)], each word it may see."""
    source, target = ids_of(net, TIRED, CAT)
    added = net.blocks(source, target)["decoder", head[1], head[0]][1][head[2], IL].norm(dim=-1)
    weights = net.maps[head[0], head[1]][head[2], IL]
    words = [*TIRED.rstrip(".").split(), ".", "end"] if head[0] == "cross" else ["start", "to French", *WORDS]
    seen = len(source) if head[0] == "cross" else IL + 1
    return list(zip(words, weights.tolist(), added.tolist(), strict=False))[:seen]


def sharpest(net):
    """The heads of cross-attention and of the decoder that look most at one word."""
    heads = [[one for one in net.heads() if one[0] == kind] for kind in ("cross", "decoder")]
    return [max(some, key=lambda one: max(cell[1] for cell in row_of(net, one))) for some in heads]


def named(head, word):
    """A word as lesson 9 writes it: a mark of the sentence without its language."""
    return re.escape(word if word in ("start", "to French", "end") else f"{LANGUAGE[head[0]]} {word}")


def il_without(net, head=None):
    return float(shown(net, TIRED, CAT, head)[IL, token(net, "il")])


def test_values(net, read_lesson):
    page = read_lesson(9)
    two = sharpest(net)
    text, right = answered(page, 3)
    says(rf"With all heads on, the chance of il is {chances(il_without(net))}\.", text)
    for head in two:
        word, weight, _ = max(row_of(net, head), key=lambda one: one[1])
        to = f"{share(weight)} of its attention to {LANGUAGE[head[0]]} {word}"
        says(rf"Without {headline(head)}, it is {chances(il_without(net, head))}\. This head gives {to}\.", text)
    says(rf"With this head off, the chance of il is {chances(il_without(net, two[0]))}\.", plain(page.says))
    doubted = [il_without(net, head) < IN_DOUBT for head in two]
    assert right == {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}[tuple(doubted)]
    for head in (*two, ("cross", 0, 2), ("cross", 1, 0), ("decoder", 0, 1)):
        row = row_of(net, head)
        looked, longest = max(row, key=lambda one: one[1]), max(row, key=lambda one: one[2])
        more = rf"This word adds {length(looked[2])}\. But {named(head, longest[0])}, with {share(longest[1])}, adds"
        more += f" more: {length(longest[2])}"
        if looked == longest:
            more = rf"This word also adds most \({length(looked[2])}\)"
        said = plain(page.set("head", ".".join(map(str, head))))
        says(rf"{headline(head)} gives {share(looked[1])} of its attention to {named(head, looked[0])}\. {more}\.",
             said)
        says(rf"With this head off, the chance of il is {chances(il_without(net, head))}\.", said)


# --- 10: it


def test_it(net, read_lesson):
    page, head = read_lesson(10), tuple(RECORD["l10_it"]["look"][one] for one in ("kind", "layer", "head"))
    pronouns = [token(net, "il"), token(net, "elle")]

    def both(text, off=None):
        return shown(net, text, CAT, off)[IL, pronouns].tolist()

    target = net.target_ids(CAT, "fr")
    net.states(net.source_ids(WIDE), target)
    donor = {place: one.clone() for place, one in net.mixed.items()}
    states = net.states(net.source_ids(TIRED), target, off=head, mean=donor)
    patched = net.shown(net.logits(states), "fr")[IL, pronouns].tolist()
    before = both(TIRED)
    text, right = answered(page, 0)
    says(rf"il goes from {chances(before[0])} to {chances(patched[0])}, and that of elle from {chances(before[1])} to"
         rf" {chances(patched[1])}\. We changed only the output of {headline(head)}\.", text)
    assert right == (0 if patched[0] > 0.5 else 1 if patched[1] > 0.5 else 2)

    def looks(text):
        net.states(net.source_ids(text), target)
        weights = net.maps[head[:2]][head[2], IL]
        best = max(range(2, IL + 1), key=lambda i: weights[i])
        return WORDS[best - 2], share(float(weights[best]))

    def has(pair):
        return rf"il has {chances(pair[0])} and elle {chances(pair[1])}"

    says(rf"tired\. With .* wide, {has(patched)}", plain(page.set("doing", "patch")))
    word, weight = looks(TIRED)
    said = plain(page.set("doing", "plain"))
    says(rf"With tired, {has(before)}\. {headline(head).capitalize()}, gives {word} {weight} of its", said)
    word, weight = looks(WIDE)
    says(rf"With wide, {has(both(WIDE))}\. The same head now gives {word} {weight} of its attention\.",
         plain(page.set("doing", "wide")))
    off = both(TIRED, head)
    leads = "il still leads" if off[0] > 0.5 else "elle still leads" if off[1] > 0.5 else "Neither leads"
    said = plain(page.set("doing", "off"))
    says(rf"With this head off, {has(off)}\. {leads}", said)


# --- 11: the last vector


def after_layer(net, layer):
    """[T,V]: the chances if the decoder ended after so many layers."""
    x = net.blocks(*ids_of(net, TIRED, CAT))["decoder", layer - 1, "feed_forward"][2]
    return net.shown(net.logits(net.norm("model.decoder.layer_norm", x)), "fr")


def test_last_vector(net, read_lesson):
    page, target = read_lesson(11), net.target_ids(CAT, "fr")
    read = [net.generation["decoder_start_token_id"], *target[:-1]]

    def counted(layer):
        best = after_layer(net, layer).argmax(-1).tolist()
        steps = range(1, len(target))
        return (sum(best[t] == target[t] for t in steps), sum(best[t] == read[t] for t in steps), len(steps),
                net.tokenizer.id_to_token(best[IL]).strip(), float(after_layer(net, layer)[IL].max()))

    following, still, steps, word, p = counted(1)
    last = counted(net.config["decoder_layers"])
    text, right = answered(page, 0)
    says(rf"It gives {word}, with {chances(p)}\. .* word just read at {still} of {steps} steps\. It gives the next "
         rf"word at"
         rf" {following}, and the last layer gives the next word at {last[0]}\.", text)
    assert right == {"il": 0, "qu'": 1}.get(word, 2)
    for layer in (1, 2):
        following, still, steps, word, p = counted(layer)
        said = plain(page.slide("layer", layer))
        says(rf"After layer {layer}, the vector gives the next word at {following} of {steps} steps\. It still", said)
        says(rf"gives the word just read at {still}\. Where il is written, it gives {word} \({chances(p)}\)", said)
    begin = RECORD["l11_last_vector"]["result"]["begin"]["value"]
    says(rf"it gives this word at {chances(begin)} of the steps", plain(page.slide("layer", 0)))
    layers = net.config["decoder_layers"]
    says(rf"next word at {counted(1)[0]} of {steps} steps, and after layer {layers}, at {last[0]}\.",
         plain(page.place.locator(".short").inner_text()))


# --- 12: heads and layers


def doubted(net, head):
    """The words of the cat's translation whose chance falls below IN_DOUBT without a head, and their chances."""
    target, without = net.target_ids(CAT, "fr"), shown(net, TIRED, CAT, head)
    found = [(word, float(without[t, target[t]])) for t, word in enumerate(WORDS, 1)]
    return [(word, p) for word, p in found if p < IN_DOUBT]


def test_heads_and_layers(net, read_lesson):
    page, result = read_lesson(12), RECORD["l12_heads_and_layers"]["result"]
    needed = [head for head in net.heads() if doubted(net, head)]
    text, right = answered(page, 0)
    assert len(needed) <= 3, "they are named"
    says(rf"^{len(needed)} of {len(net.heads())} heads: {'; '.join(map(headline, needed))}\. ", text)
    says(rf"Yet {result['having']} heads have a role", text)
    part = len(needed) / len(net.heads())
    assert right == (0 if part > 0.8 else 1 if part >= 0.3 else 2 if part else 3)
    costs = [one["value"] for one in result["costs"]]
    for head in (("decoder", 1, 0), ("encoder", 0, 2), ("cross", 1, 2), ("encoder", 1, 1)):
        at = [tuple(one) for one in result["heads"]].index(head)
        place = sum(cost > costs[at] for cost in costs) + 1
        kept = 0.5 if costs[at] < 0 else float(torch.tensor(-costs[at]).exp())
        roles = ", ".join(ROLES[one] for one in result["roles"][at])
        here = ", ".join(f"{word} falls to {chances(p)}" for word, p in doubted(net, head))
        said = plain(page.set("head", ".".join(map(str, head))))
        says(rf"{headline(head).capitalize()}\. Roles?: {roles or 'none of those that were tried'}\.", said)
        says(rf"keeps {share(kept)} of its chance without this head\. By cost, this head is number {place} of"
             rf" {len(costs)}\. In this sentence, {here or 'every word keeps at least 95%'}\.", said)
