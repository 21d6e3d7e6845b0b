"""HTML drawn for tests, and what a browser would show of it."""

import re
from html.parser import HTMLParser
from itertools import count

from hypothesis import strategies as st

TEXTS = st.sampled_from(["The cat", " ", ". ", "was tired", "x", "&amp; ", "\n", "not&nbsp;a", "It is. ", "é"])
EMPTY = st.sampled_from(["<wbr>", "<img src='a>b'>", "<!-- <b> -->", "<code>x <b>y</b></code>", "<i class=x></i>",
                         "<span translate=no>z. <i>&lt;</i></span>", "<script>a<b</script>"])
INLINE = st.recursive(
    TEXTS | EMPTY,
    lambda inner: st.tuples(st.sampled_from(["b", "i", "a href='?a=1&amp;b'", "span class=\"x\""]),
                            st.lists(inner, max_size=4)).map(
        lambda one: f"<{one[0]}>{''.join(one[1])}</{one[0].split()[0]}>"),
    max_leaves=12,
)
BLOCKS = st.lists(st.tuples(st.sampled_from(["<p>{}</p>", "<li class='y'>{}</li>", "{}<br>", "<td>{}</td>\n"]),
                            st.lists(INLINE, max_size=5)).map(lambda one: one[0].format("".join(one[1]))),
                  min_size=1, max_size=3).map("".join)


def shown(text):
    return re.sub("[ \t\n\f\r]+", " ", text).strip(" \t\n\f\r")


STAND_IN = "\ufffc"


class Shown(HTMLParser):
    """What a browser shows of each block, with a character in the place of what is not translated, and all tags."""

    def __init__(self, text):
        super().__init__()
        self.blocks, self.tags, self.open, self.kept = [""], [], [], 0
        self.feed(text)
        self.close()
        self.blocks = list(map(shown, self.blocks))

    def handle_starttag(self, tag, attributes):
        kept = self.kept or tag in ("code", "script") or ("translate", "no") in attributes
        if kept and not self.kept and tag != "script":
            self.blocks[-1] += STAND_IN
        if not self.kept:
            self.tags.append(self.get_starttag_text())
        if tag not in ("wbr", "img", "br", "input"):
            self.open.append(tag)
            self.kept += bool(kept)
        self._part(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "elements overlap"
        self.kept -= bool(self.kept)
        if not self.kept:
            self.tags.append(f"</{tag}>")
        self._part(tag)

    def _part(self, tag):
        self.blocks += [""] if tag in ("p", "li", "br", "td") else []

    def handle_comment(self, text):
        self.tags.append(text)

    def handle_data(self, text):
        if self.kept:
            self.tags.append(text)
        else:
            self.blocks[-1] += text


def numbered(block):
    """With a character for each thing in it that is not translated."""
    numbers = count(0xF0000)
    return re.sub(STAND_IN, lambda _: chr(next(numbers)), block)


def worded(block):
    return block.replace(STAND_IN, "").strip()
