"""The laws of formats that are text: unchanged texts give the same file, and changed ones are found where they were."""

from __future__ import annotations

import csv
import io
import json
import re
import string
from collections.abc import Callable
from contextlib import suppress

import pytest
from growth import is_linear
from hypothesis import given
from hypothesis import strategies as st

from seq2see.documents import json_strings, protocol
from seq2see.documents.formats import read_document
from seq2see.documents.markdown_inline import tokens_of
from seq2see.documents.protocol import Document, FileOptions
from seq2see.errors import UserError
from seq2see.text.html_markup import Html

PART = re.compile(r"<code[^>]*>.*?</code>|<(?:script|pre|style)\b.*?</(?:script|pre|style)>"
                  r"|<p translate.*?</p>|<[^>]*>|&[^;\s]*;|[^<&]+|.", re.DOTALL)


def read(name: str, data: str | bytes, **options) -> Document:
    return read_document(name, data.encode() if isinstance(data, str) else data, FileOptions(**options))


def texts(document: Document) -> list[str]:
    return list(document.texts)


def changed(text: str, change: Callable[[str], str]) -> str:
    """A text with its words changed, and its elements as they were."""
    is_html = isinstance(text, Html)
    parts = PART.findall(text) if is_html else [text]
    return "".join(part if is_html and part[0] in "<&" else change(part) for part in parts)


def written(document: Document, change: Callable[[str], str] = str) -> str:
    return document.write([changed(one, change) for one in document.texts]).decode()


SUBRIP = """\ufeff1\r
00:00:01,000 --> 00:00:03,500\r
{\\an8}<i>I have never seen such\r
a house & a garden.</i>\r
\r
2\r
00:00:04,000 --> 00:00:06,000 X1:100 X2:200\r
- Where <b>are</b> you?\r
- At home.\r
\r
"""
WEBVTT = """WEBVTT - a film

STYLE
::cue(.loud) { color: red }

NOTE not a text

intro
00:01.000 --> 00:03.500 align:start position:10%
<v Mary>A house &amp; <c.loud>a
garden</c> here.

00:04.000 --> 00:06.000
Hello, <00:00:05.000>my friend.
"""
MARKDOWN = """---
title: A guide
tags: [one, two]
---
# The *little* house {#house}

We live in a **small `x_y`** house near [the river](http://e.org/a_b "A title"). See
[here][ref], ![a black cat](cat.png) and <kbd>Enter</kbd>.\x20\x20
After a break & <b>bold</b> \\*no\\* emphasis: 2 * 3, snake_case and $a_1 * b$.[^1]

> - one item
>   goes on
> - [ ] a *second* item
lazily

1. First

   ```sh
   echo *a*
   ```
2. Second

| The name | A price |
|:---|---:|
| A red \\| blue apple | `3|4` |

<div align="center">
  <img alt="our house" src="x.png"> Come <b>home</b>
</div>

    indented code

<!-- a comment -->
Setext heading
==============

---

Term
: What it means

!!! note
    Inside the note.

  a dash   table
  ------   -----
  one      two
  three    four

[ref]: http://e.org/_x_
  "A title"
[^1]: The note
    goes on.
"""
TABLE = 'id;name;comment;price\r\n1;Ann Lee;"The cat; ""it"" sleeps.";3,50\r\n2;Bob Ray;  a dog barks ;4\r\n'
TABS = "key\ttext\nA1\tThe cat sleeps\nA2\tIt said \"no\" to him\n"
JSON = """{
 "title": "The shop\\u2019s open",  "title": "again and again",
 "big": 123456789012345678901234567890.10, "none": [null, true, -1e5, {}],
 "nested": {"items": ["one thing", {"a.b": "Hello {name}, {{count}} of <b>all</b>"}]},
 "url": "https:\\/\\/example.org\\/a", "id": "btn_save", "size": "12px", "code": "en-GB"
}
"""
HTML = """<!DOCTYPE html><html lang="en"><head><title>A page</title><meta name="description" content="a small house">
</head><body class="title"><p title='A tip &amp; a hint'>We <b>live</b> <img alt="a cat" src="a.png?alt=no"> here.</p>
<input type="submit" value="Send it"><input value="kept" placeholder="Your name"><script>var a = "title";</script>
<p translate="no" title="kept">kept</p><a href="x?a=1&amp;b" aria-label="">x</a></body></html>
"""
SAMPLES = {"a.srt": SUBRIP, "a.vtt": WEBVTT, "a.md": MARKDOWN, "a.csv": TABLE, "a.tsv": TABS, "a.json": JSON,
           "a.html": HTML, "a.htm": "no markup at all", "a.txt": "\ufeffOne line.\r\n\r\n  Another.\n"}


@pytest.mark.parametrize("name", SAMPLES)
def test_unchanged_texts_give_the_same_bytes_and_changed_ones_are_found_again(name):
    document = read(name, SAMPLES[name])
    assert written(document) == SAMPLES[name]
    again = written(document, str.swapcase)
    assert again != SAMPLES[name] and (again.casefold() == SAMPLES[name].casefold() or name == "a.md")
    found = read(name, again, columns={"a.csv": ("comment",), "a.tsv": ("text",)}.get(name, ()))
    assert written(found, str.swapcase) == SAMPLES[name] or name == "a.md"  # its lines are filled again
    assert [*map(str.casefold, texts(found))] == [*map(str.casefold, texts(document))]


WRAPPED = """Dear friend,
I am here.

  We live in a small house near the river, which has three rooms
  and a garden where the cat sleeps every day of the week and
  the dog waits.

- one item
"""


def test_lines_that_end_because_they_are_full_are_one_text():
    document = read("a.txt", WRAPPED)
    before, paragraph, after = texts(document)
    assert (before, after) == ("Dear friend,\nI am here.\n", "- one item\n")
    assert paragraph.endswith("three rooms and a garden where the cat sleeps every day of the week and the dog waits.")
    assert written(document, str.swapcase) == WRAPPED.swapcase()
    assert max(map(len, written(document, lambda text: text.replace("house", "house " * 20)).splitlines())) == 64
    assert texts(read("a.txt", "Roses\nred\n \nare\n\n")) == ["Roses\nred\n", "are\n"]
    for source in ("One line.\nA sentence of a list that is as long as this one, or more.\nAnd on.\n", "Roses\nred\n"):
        assert texts(read("a.txt", source)) == [source]


def test_no_line_begins_with_what_ends_a_french_clause():
    document = read("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nWhere are you\ngoing?\n")
    assert written(document, lambda _: "Où vas-tu ?").endswith("\nOù\nvas-tu ?\n")


@pytest.mark.parametrize(("name", "expected"), [
    ("a.srt", ["I have never seen such a house & a garden.", 'Where <span id="1">are</span> you?', "At home."]),
    ("a.vtt", ['A house &amp; <span id="2">a garden</span> here.', 'Hello, <img id="1">my friend.']),
    ("a.csv", ['The cat; "it" sleeps.', "a dog barks"]),
    ("a.tsv", ["The cat sleeps", 'It said "no" to him']),
    ("a.json", ["The shop’s open", "again and again", "one thing", "Hello {name}, {{count}} of <b>all</b>"]),
])
def test_texts_are_what_people_read(name, expected):
    assert texts(read(name, SAMPLES[name])) == expected


def test_markdown_gives_the_text_of_each_block():
    words = texts(read("a.md", MARKDOWN))
    assert words[:2] == ["A guide", 'The <em id="1">little</em> house']
    assert words[3] == "a black cat" and words[-3:] == ["What it means", "Inside the note.", "The note goes on."]
    whole = "\n".join(words)
    for kept in ("x_y", "http", "echo", "indented", "comment", "dash", "two]", "```", "A title", "a_1"):
        assert kept not in whole, kept
    for one in ("one item goes on", 'a <em id="1">second</em> item lazily', "A red | blue apple", "Setext heading",
                "First", "Second", "Term", "our house"):
        assert one in words, one
    assert '*no* emphasis: 2 * 3, snake_case and <code' in whole


@pytest.mark.parametrize(("source", "change", "expected"), [
    ("*one* two", {"one": " un ", "two": "deux"}, "*un*  deux"),  # no space inside emphasis
    ("a *b* c", {"b": ""}, "a  c"),  # no emphasis around nothing
    ("the **b** c", {"the ": "l'", "b": "«b»"}, "l'**«b»** c"),
    ("x **b** c", {"x ": "x", "b": "«b»"}, "x<strong>«b»</strong> c"),  # ** cannot begin here
    ("x **b** *c*", {"x ": "x", "b": "«b»"}, "x<strong>«b»</strong> *c*"),
    ("see [ref] and [ref][]\n\n[ref]: x", {"ref": "note"}, "see [note][ref] and [note][ref]\n\n[ref]: x"),
    ("first", {"first": "1. un"}, "1\\. un"),  # no item of a list
    ("first", {"first": "# un"}, "\\# un"), ("\\[a]: b", {"b": "c"}, "\\[a]: c"),  # no reference
    ("first", {"first": "un *deux* trois"}, "un \\*deux\\* trois"),
    ("| one |\n|--|\n| two |", {"two": "a | b"}, "| one |\n|--|\n| a \\| b |"),
    ("> one two three four five six seven eight\n> nine ten", {"one": "1. " + "long " * 12},
     f"> 1\\.{' long' * 12}  two\n> three four five six seven eight nine ten"),
    ("one\ntwo", {"one": "long " * 14 + "  "}, "long " * 13 + "long\ntwo"),  # no break where two spaces end a line
    ("+++\ntitle = 'one'\n+++\n", {"one": "l'un"}, '+++\ntitle = "l\'un"\n+++\n'),
    ("---\ntitle: one\n---\n", {"one": "un : deux"}, '---\ntitle: "un : deux"\n---\n'),
    ("![a cat](x)", {"a cat": "un [chat"}, "![un \\[chat](x)"),
    ("1. Open it.\n2. Close it.", {}, "1. Open it.\n2. Close it."),
])
def test_markdown_says_what_was_meant(source, change, expected):
    def meant(text):
        for before, after in change.items():
            text = text.replace(before, after)
        return text

    assert written(read("a.md", source), meant) == expected


@pytest.mark.parametrize("source", ["a _ b_ c", "a _b _ c", "a * b* c", "a *b * c"])
def test_a_sign_with_a_space_on_its_inner_side_is_text(source):
    assert texts(read("a.md", source)) == [source]


@pytest.mark.parametrize(("source", "elements"), [
    ("Pay $5 and run `a$b` now.", ["`a$b`"]), ("It costs $5 `a` $b and `c$d`.", ["`a`", "`c$d`"]),
    ("use {{ and `b}}` here", ["`b}}`"]), ("a \\( and `x\\)` b", ["`x\\)`"]),
    ("at http://a.b/`c` now", ["http://a.b/", "`c`"]),
    ("the sum $`a+b`$ and $c$", ["$`a+b`$", "$c$"]), ("``a ` $b`` and $c$", ["``a ` $b``", "$c$"]),
    ("run `$5` and pay $5 for `x`", ["`$5`", "`x`"]), ("a <kbd>`</kbd> and `b`", ["<kbd>`</kbd>", "`b`"]),
])
def test_code_comes_before_what_begins_outside_and_ends_inside(source, elements):
    assert [token.raw for token in tokens_of(source, set()) if token.kind == "word"] == elements


@pytest.mark.parametrize(("source", "expected"), [
    ("> [!NOTE]\n> This is\n> useful.", ["This is useful."]), ("> [!tip]- Title\n> This.", ["This."]),
    ("[!INCLUDE [name](a.md)]", []), ("+++\ntitle = \"My post\"\ndraft = true\n+++\nHello.", ["My post", "Hello."]),
    ("One\n{% highlight ruby %}\nputs 'hello'\n\nend\n{% endhighlight %}\ntwo", ["One", "two"]),
    ("{%- raw -%}\none\n\ntwo\n{%- endraw -%}\n\nthree", ["three"]),
    ("{{< highlight go >}}\none\n{{< /highlight >}}\ntwo", ["two"]),
    ("{{% notice note %}}\nOne\n{{% /notice %}}", ["One"]), ("{% if a %}\nOne\n{% endif %}", ["One"]),
    ("One\n\\begin{align*}\na &= b\n\\end{align*}\ntwo", ["One", "two"]), ("\\[\na\n\\]\n\nOne", ["One"]),
    ("One \\(a + b\\) two", ['One <code id="1">x</code> two']),
    ("import A from '@a/b';\nimport {\n  C,\n} from './c'\nexport const d = 3;\n\nOne", ["One"]),
    ("import duties are high\n\nexport them", ["import duties are high", "export them"]),
    ("{/* a\ncomment */}\n\nOne", ["One"]), (":::note[Title]\nOne\n:::", ["One"]), ("(my-target)=\n# One", ["One"]),
    ('=== "Tab"\n    One\n\n=== "Other"\n    Two', ["One", "Two"]),
    ("{% comment %} one {% endcomment %}\n%%\none\n%%\ntwo", ["two"]),
    ("One \\\\(a b\\\\)", ['One <code id="1">x</code>']),
    ("*[HTML]: One\n*[CSS]: Two", ["One", "Two"]),
    ("[one]({% link a b.md %}) [two]({{ site.url }}/c) it", ['<a id="0">one</a> <a id="4">two</a> it']),
])
def test_structure_of_site_generators_is_no_text(source, expected):
    document = read("a.md", source)
    assert texts(document) == expected
    if expected and "<" not in expected[0]:
        new = written(document, lambda text: f"{text} more")
        assert texts(read("a.md", new)) == [f"{text} more" for text in expected]


@pytest.mark.parametrize(("name", "source"), [
    ("a.md", "one \ue000 two\nthree"), ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\none \ue000 two\nthree\n")])
def test_a_private_character_in_a_text_stays(name, source):
    new = written(read(name, source), lambda text: text.replace("one", "un"))
    assert "un \ue000 two" in new.replace("\n", " ")


@pytest.mark.parametrize(("cue", "text", "translation", "expected"), [
    (r"\h\h\hThe cat\his tired.\NIt sleeps.", 'The cat\xa0is tired.<br id="2">It sleeps.',
     'Le chat est\xa0las.<br id="2">Il dort.', r"\h\h\hLe chat est\hlas.\NIl dort."),
    ("Look in C:\\New\n\\hthen here\\h", 'Look in C:\\New <img id="1">then here',
     'Regarde C:\\New puis <img id="1">ici', "Regarde C:\\New\npuis \\hici\\h"),
])
def test_line_breaks_and_hard_spaces_of_converters_stay(cue, text, translation, expected):
    head = "1\n00:00:01,000 --> 00:00:02,000\n"
    document = read("a.srt", head + cue)
    assert texts(document) == [text] and written(document) == head + cue
    assert document.write([translation]).decode() == head + expected


def test_the_reading_of_a_word_is_no_text():
    head = "WEBVTT\n\n00:01.000 --> 00:03.000\n"
    document = read("a.vtt", head + "<ruby>book<rt>buk</rt></ruby>")
    assert "buk" not in texts(document)[0]
    assert written(document, lambda text: text.replace("book", "livre")) == head + "<ruby>livre<rt>buk</rt></ruby>"


def test_times_in_a_cue_stay_in_their_order():
    head = "WEBVTT\n\n00:01.000 --> 00:03.000\n"
    document = read("a.vtt", head + "A <00:01.500>big <00:02.000>pizza")
    assert texts(document) == ['A <img id="1">big <img id="3">pizza']
    assert document.write(['Une <img id="3">pizza <img id="1">énorme']).decode() == (
        head + "Une <00:01.500>pizza <00:02.000>énorme")


def test_a_cue_of_subrip_goes_on_after_an_empty_line():
    source = "1\n00:00:01,000 --> 00:00:02,000\nOne\n\n7\n\nTwo\n\n\n2\n00:00:03,000 --> 00:00:04,000\nThree\n"
    assert texts(read("a.srt", source)) == ["One", "Two", "Three"]
    assert texts(read("a.vtt", source.replace(",", "."))) == ["One", "Three"]


def test_lines_of_a_cue_are_joined_by_one_space():
    for source in ("One \n  two", "One\n\ttwo", "One  \r\n two"):
        assert texts(read("a.srt", f"1\n00:00:01,000 --> 00:00:02,000\n{source}\n")) == ["One two"]


def test_a_number_just_before_a_timing_is_no_text():
    cues = "28\n00:00:01,000 --> 00:00:02,000\nYes\n12\n29\n00:00:07,000 --> 00:00:08,000\n40\nmen\n"
    assert texts(read("a.srt", cues)) == ["Yes 12", "40 men"]
    assert texts(read("a.srt", cues.replace("\n", "\r\n"))) == ["Yes 12", "40 men"]


NASTY = st.lists(st.sampled_from([
    *["word", " word ", "two words"] * 4, "*", "**", "_", "__", "~~", "`", "``", "[", "]", "(", ")", "](x)", "![",
    "[a]", "<", ">",
    "<b>", "</b>", "<br>", "&", "&amp;", "\\", "|", "|--|", "#", "# ", "- ", "1. ", "> ", "    ", "\t", "\n", "\n\n",
    "\r\n", "```\n", "~~~\n", "---\n", "===\n", "$", "$$\n", ":", "!!! note\n", "{x}", "[x]: y\n", "[^1]: ",
    "<div>\n", "<!--", "-->", "[!x", "{% raw %}\n", "{%", "\\begin{x}", "\\(", "\\)", "+++\n",
    "\ue000", "  \n", "é", " ", ".", '"',
]), max_size=40).map("".join)


def said(text: str) -> str:
    """A text with single spaces, and without the numbers of its elements."""
    return " ".join(re.sub(r' id="\d+"', "", text).replace("&gt;", ">").split())


WORDS = st.sampled_from(
    ["mot", "1. mot", "# mot", "*mot*", "[mot]", "_mot", "`mot", "- mot", "> mot", "mot|", "$mot mot$"])


@given(NASTY, WORDS)
def test_any_markdown_is_kept_and_its_elements_stay(source, word):
    document = read("a.md", source)
    assert written(document) == source
    new = written(document, lambda words: words.replace("word", word))
    again = read("a.md", new)
    assert written(again) == new
    expected = [changed(one, lambda words: words.replace("word", word)) for one in document.texts]
    assert [*map(said, texts(again))] == [*map(said, expected)]


@pytest.mark.parametrize("extension", ["srt", "vtt", "html", "csv", "tsv", "txt"])
@given(source=st.lists(st.sampled_from([
    "word", "two words", "29\n", "<i>", "</i>", "<", ">", "&", "&lt;", "{\\an8}", "\\N", "\\h", "- ", "\n", "\r\n",
    "\n\n", "00:01.000 --> 00:02.000\n", '"', '""', ",", ";", "\t", " ", "'", "<p title='a b'>", "é", "<!--", "\x0b",
    "\ue000",
]), max_size=30).map("".join))
def test_any_text_is_kept(extension, source):
    try:
        document = read(f"a.{extension}", source)
    except UserError as error:
        assert "--columns" in str(error) or "has no cues" in str(error)
    else:
        assert written(document) == source


VALUE = st.text("ab\\\"'é/<>{}# \n\u2028\U0001f600", max_size=8) | st.sampled_from(
    [None, True, 10**30, -1.5e-300, "Hello you", "a <b>c</b>", "{n, plural, one {# a} other {# b}}"])
VALUES = st.dictionaries(st.text("a.é\"\\{", max_size=3), VALUE | st.lists(VALUE, max_size=3), max_size=4) | VALUE


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_any_json_is_kept_and_only_texts_change(value, ascii_only, indent):
    source = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    document = read("a.json", source)
    assert written(document) == source
    new = written(document, lambda words: words.replace("Hello", "«Salut»"))
    assert json.loads(new) == json.loads(source.replace("Hello", "«Salut»"))


CELL = st.text(string.printable.replace("\r", ""), max_size=8)
ROWS = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5)


@given(ROWS, st.sampled_from(",;\t|"), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
       st.sampled_from(["\n", "\r\n"]))
def test_a_chosen_column_of_any_table_changes_alone(rows, separator, quoting, line_end):
    def dumped(rows):
        file = io.StringIO()
        csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=line_end).writerows(rows)
        return file.getvalue()

    rows = [["the key", "the text"], *([one, f"a {two.strip()} b"] for one, two in rows)]
    document = read("a.csv", dumped(rows), columns=("the text",))
    new = document.write([f'{one[:-1]}"{separator}\n' for one in document.texts]).decode()
    expected = [rows[0], *([one, f'{two[:-1]}"{separator}\n'] for one, two in rows[1:])]
    assert list(csv.reader(io.StringIO(new, newline=""), delimiter=separator)) == [
        [*row] for row in csv.reader(io.StringIO(dumped(expected), newline=""), delimiter=separator)]


@pytest.mark.parametrize(("columns", "expected"), [
    (("comment",), 1), (("3",), 1), (("name", "3"), 2),
    (("nothing",), "has no column 'nothing'; it has id, name, comment"),
    (("0",), "has no column '0'"), (("9",), "has no column '9'; it has id, name, comment"),
])
def test_columns_are_chosen_by_name_or_number(columns, expected):
    table = "id,name,comment\n1,Ann,The cat sleeps\n"
    if isinstance(expected, int):
        assert len(texts(read("a.csv", table, columns=columns))) == expected
    else:
        with pytest.raises(UserError, match=expected):
            read("a.csv", table, columns=columns)


@pytest.mark.parametrize(("keys", "expected"), [
    (("b",), ["two"]), (("a.b",), ["two"]), (("a",), ["one", "two"]), (("x.y",), ["three"]),
    (("c",), "has no member 'c'"),
    ((), ["one", "two", "three"]),
])
def test_keys_are_chosen_by_name_or_path_at_any_depth(keys, expected):
    source = '{"a": ["one", {"b": "two"}], "x.y": "three"}'
    if isinstance(expected, list):
        assert texts(read("a.json", source, keys=keys)) == expected
    else:
        with pytest.raises(UserError, match=expected):
            read("a.json", source, keys=keys)


def test_a_message_of_icu_is_read_as_whole_sentences():
    source = '{"a": "You have {n, plural, =0 {no file} one {# file} other {# files}} here."}'
    document = read("a.json", source)
    assert texts(document) == ["You have no file here.", "You have {#} file here.", "You have {#} files here."]
    assert written(document, lambda text: text.replace("You have", "Il n'y a qu'")) == (
        '{"a": "{n, plural, =0 {Il n\'y a qu\' no file here.} one {Il n\'y a qu\' # file here.}'
        ' other {Il n\'y a qu\' # files here.}}"}')
    one = read("a.json", '{"a": "{n, select, a {to {b}} other {x y}}"}')
    assert "’{b}" in written(one, lambda text: text.replace("to ", "l'"))  # '{ would begin a literal
    plain = read("a.json", '{"a": "The friend of {name}."}')
    assert written(plain, lambda text: text.replace("of ", "d'")) == '{"a": "The friend d’{name}."}'


@pytest.mark.parametrize(("message", "expected"), [
    ("{count, plural, one {# file} other {# files}}", ["{#} file", "{#} files"]),
    ("{count,plural,one{# file}other{# files}}", ["{#} file", "{#} files"]),
    ("{gender, select, male {He sleeps} other {They sleep}}", ["He sleeps", "They sleep"]),
    ("{n, plural, one {#} other {#}}", []), ("{a, select, b {btn_b} other {btn_c}}", []),
    ("{g, select, male {He likes {n, plural, one {# cat} other {# cats}}} other {They like cats}}", []),
    ("{n, plural, one {# cat} other {# cats}} and {m, plural, one {# dog} other {# dogs}}", []),
])
def test_a_message_of_icu_gives_its_branches_or_stays(message, expected):
    assert texts(read("a.json", json.dumps([message]))) == expected


@pytest.mark.parametrize("text", [
    "Password:", "Yes/No", "Yes/No?", "Read/write", "Да/Нет", "OK/Cancel", "<strong>Hello</strong>", "<p>Hello</p>",
    "Name:<br>", "100% of it", "%d files on %s", "Hmm",
    "Has a map", "Mass", "Add", "Made on YYYY-MM-DD",
])
def test_a_label_of_one_word_is_a_text_of_json(text):
    assert texts(read("a.json", json.dumps([text]))) == [text]


@pytest.mark.parametrize("text", [
    "%Y-%m-%d", "%B %d, %Y", "%-d %b, %H:%M", "%I:%M %p", "YYYY-MM-DD", "DD/MM/YYYY HH:mm", "MMMM D, YYYY", "h:mm A",
    "yyyy-MM-dd HH:mm:ss", "EEEE, d MMM y", "YYYYMMDD", "https://example.org/a", "https:", "/usr/bin", "src/app",
    "application/json", "Europe/Paris", "N/A", "TCP/IP", "myKey/Other", "app:title", "btn_save:",
    "<b>btn_save</b>", "List<String>", "a@b.org", "<svg><path d='M0'/></svg>", "#fff", "myKey", "{count}",
])
def test_a_date_format_an_address_or_a_code_stays_in_json(text):
    assert texts(read("a.json", json.dumps([text]))) == []


@pytest.mark.parametrize(("value", "stays"), [
    ("mdi-home", True), ("btn btn-primary", True), ("fa fa-home", True), ("arrow-left", True), ("dark-mode", True),
    ("text-lg font-bold", True), ("col-md-6 col-sm-12", True), ("sign-in", False), ("e-mail", False), ("save", False),
    ("up-to-date", False), ("a well-known writer", False), ("Well-known", False), ("open the door", False),
])
def test_codes_of_a_program_stay_and_are_said(value, stays):
    document = read("a.json", json.dumps({"a": value}))
    assert list(document.texts) == [] if stays else [value]
    assert [one.place for one in document.left] == ["line 1"] * stays
    assert list(read("a.json", json.dumps({"a": value}), keys=("a",)).texts) == [value]


@pytest.mark.parametrize(("member", "stays"), [
    ("icon", True), ("buttonType", True), ("x.class", True), ("title", False), ("text", False), ("footsize", False),
])
def test_small_words_of_a_member_for_codes_stay(member, stays):
    assert list(read("a.json", json.dumps({member: "home"})).texts) == ([] if stays else ["home"])
    assert list(read("a.json", json.dumps({member: "Home"})).texts) == ["Home"]


def test_the_code_of_the_source_language_stays_unless_it_is_asked_for():
    source = '{"locale": "en", "to": "to", "x": "de"}'
    assert texts(read("a.json", source, source="en")) == ["to", "de"]
    assert texts(read("a.json", source, source="en", keys=("locale",))) == ["en"]


@pytest.mark.parametrize(("source", "translation", "expected"), [
    ("<0>Hello</0>", "Salut", "<0>Salut</0>"),
    ("Take <0>it</0> or <Link>a <b>cat</b></Link><2></2>.",
     'Ou <span id="5">un <span id="7">chat</span></span>, ou <span id="1">ça</span><span id="11"></span>.',
     "Ou <Link>un <b>chat</b></Link>, ou <0>ça</0><2></2>."),
    ("Take <0>it</0>.", 'Prends <span id="1">ça.', "Take <0>it</0>."),  # an element is lost
    ("<0>A cat</0>\n<br/>a dog", 'Un chat</span><br id="3"><br id="4">un chien', "<0>A cat</0>\n<br/>a dog"),
    ("<bold>A</bold> big <code>cat</code>", 'Un <code id="4">x</code> <span id="0">gros</span>',
     "Un <code>cat</code> <bold>gros</bold>"),
    ("A <link>cat</link>, <Count/> dogs", '<img id="5"> chiens, un <span id="1">chat</span>',
     "<Count/> chiens, un <link>chat</link>"),
    ("<p>A <bold>cat</bold></p><p>dogs</p>", "<p>Un <bold>chat</bold></p><p>chiens</p>",
     "<p>Un <bold>chat</bold></p><p>chiens</p>"),  # as blocks of HTML
    ("<b>A cat</b>\n\nA dog", "<b>Un chat</b><br\n><br\n>Un chien", "<b>Un chat</b>\n\nUn chien"),
])
def test_elements_and_line_breaks_of_a_string_stay(source, translation, expected):
    document = read("a.json", json.dumps([source]))
    assert written(document) == json.dumps([source])
    assert json.loads(document.write([translation])) == [expected]


@pytest.mark.parametrize(("source", "text"), [
    ("A <bold>house</bold><sup>2</sup>", 'A <span id="1">house</span><sup id="4">2</sup>'),
    ("The <link>terms</link> are new", 'The <span id="1">terms</span> are new'),
    ("The <x>red <x/> door</x> is new", 'The <span id="1">red <img id="3"> door</span> is new'),
])
def test_elements_named_by_a_program_are_those_of_a_fragment(source, text):
    assert texts(read("a.json", json.dumps([source]))) == [text]


@pytest.mark.parametrize(("page", "expected"), [
    ('<textarea placeholder="Write here">Not this</textarea>', ["Write here"]),
    ('<svg aria-label="a cat"><path title="no"/></svg>', ["a cat"]), ('<pre title="a tip">x y</pre>', ["a tip"]),
    ('We <code title="a tip">x y</code> it', ["a tip"]), ('<pre translate="no" title="a tip">x</pre>', []),
    ('<img class="notranslate" alt="a tip">', []),
    ('<meta name=description content="a tip">', ["a tip"]), ('<input type=submit value="Send">', ["Send"]),
    ('<b @click="title=name" :title="a tip">x</b>', []),
])
def test_attributes_of_elements_that_are_kept_are_texts(page, expected):
    document = read("a.html", page)
    assert texts(document)[1:] == expected
    new = document.write([document.texts[0], *map(str.upper, expected)]).decode()
    assert new == (page.replace(expected[0], expected[0].upper()) if expected else page)


def test_an_attribute_without_quotation_marks_gets_them_if_it_changes():
    document = read("a.html", "<img alt=House src=a.png>")
    assert written(document) == "<img alt=House src=a.png>"
    assert document.write([document.texts[0], "L'abri"]).decode() == '<img alt="L&#x27;abri" src=a.png>'


def test_each_name_of_a_page_s_language_is_the_target():
    page = '<html lang="%s" class="a" xml:lang="%s"><p lang="en">x'
    assert written(read("a.html", page % ("en-US", "en-US"), source="en", target="fr")) == page % ("fr", "fr")
    kept = '<html lang="en" translate="no"><p>x'
    assert written(read("a.html", kept, source="en", target="fr")) == kept


@pytest.mark.parametrize(("columns", "expected"), [
    ((), ["Hello to the cat", "Goodbye my friend"]), (("2",), ["Hello to the cat", "Goodbye my friend"]),
    (("1",), ["bye"]), (("Hello to the cat",), ["Goodbye my friend"]),
])
def test_a_phrase_names_no_column(columns, expected):
    assert texts(read("a.csv", "greeting,Hello to the cat\nbye,Goodbye my friend\n", columns=columns)) == expected


@pytest.mark.parametrize(("name", "data", "message"), [
    ("a.doc", "x", "a.doc: files of this format cannot be translated; expected one of txt, md, html"),
    ("a.json", '{"a": }', r"a.json is not JSON: Expecting value \(line 1, column 7\)"),
    ("a.json", "[" * 100_000, "a.json is nested deeper than 200 levels"),
    ("a.json", '{"a":' * 100_000, "a.json is nested deeper than 200 levels"),
    ("a.json", '["\n"]', "a.json is not JSON: Invalid control character"),
    ("a.srt", b"\xff\xff", r"a.srt is not UTF-8 \(byte 1\)"),
    ("a.srt", "1\nGood morning", "a.srt has no cues; each begins with its times, such as 00:00:01"),
    ("a.srt", "\ufeff1".encode("utf-16-le"), "a.srt is not UTF-8 but UTF-16; convert it with iconv -f UTF-16"),
    ("a.tsv", "id\ttext".encode("utf-16-le"), "a.tsv is not UTF-8 but UTF-16"),
    ("a.csv", "name,city\nAnn,Oslo\n", "a.csv: no column holds mostly phrases; choose columns with --columns"),
    ("a.csv", "a\n" + "b;" * 10_001, "a.csv has more than 10,000 columns"),
    ("a.html", b"<meta charset=idna>x", "a.html names the encoding idna, which is not supported; convert"),
    ("a.html", b"<meta charset=gbk>\xff\xff", "a.html names the encoding gbk, but is not gbk"),
    ("a.md", "*a* " * 30_000, "a.md has a paragraph of over 100,000 characters at line 1"),
])
def test_what_cannot_be_read_is_said_in_one_line(name, data, message):
    with pytest.raises(UserError, match=message) as error:
        read(name, data)
    assert "\n" not in str(error.value)


def test_files_have_a_largest_size_and_number_of_texts(monkeypatch):
    monkeypatch.setattr("seq2see.documents.formats.MOST_BYTES", 10)
    with pytest.raises(UserError, match="a.txt has 11 bytes: at most 10 are allowed"):
        read("a.txt", "Hello world")
    monkeypatch.setattr("seq2see.documents.formats.MOST_BYTES", protocol.MOST_BYTES)
    monkeypatch.setattr("seq2see.documents.places.MOST_TEXTS", 2)
    with pytest.raises(UserError, match=r"a.md has more than 2 texts: split it"):
        read("a.md", "one\n\ntwo\n\nthree")


CUE = "00:00:01,000 --> 00:00:02,000\n%s"
UNIT = '<xliff version="1.2"><file><trans-unit><source>%s</source></trans-unit></file></xliff>'


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "around", "units"), [
    ("a.md", "%s", ["[", "*a", "{% ", "](\\(", "<!--", "![ [a](b)"]),
    ("a.html", "%s", ["<html "]), ("a.srt", CUE, ["{\\", "a\n"]), ("a.json", "[%s1]", ['"\\']),
    ("a.csv", "id,text\n1,a b\n%s", ['""']), ("a.po", 'msgid "x"\n%s', ['"a"\n']), ("a.xlf", UNIT, ["<x/>a"]),
    ("a.txt", "%s", [" "]),
    *(pytest.param(*one, marks=pytest.mark.long) for one in [
        ("a.md", "%s", ["<", "`", "![", "[a](", "_a_", "\\", "a  ", "- a\n  ", "> ", "|a", "\n", "<a ", "&", "$a"]),
        ("a.md", "[a]: b\n\n%s", ["[a]"]), ("a.html", "%s", ["<", "<a ", "<!--", '<p title="', "<p title='a'>"]),
        ("a.vtt", CUE, ["<", "{\\", "a\n", "- a\n", "<i>"]), ("a.csv", "id,text\n1,a b\n%s", ['"', ',"a', "a,", "\n"]),
        ("a.json", "[%s1]", ['"a b",', '"', "{a,plural,one{"]), ("a.po", 'msgid "x"\n%s', ['#~ "a"\n']),
        ("a.xlf", UNIT, ["<g>", "&lt;", "<bpt id='1'/>a<ept id='1'/>"]),
    ]),
])
def test_a_nasty_file_takes_linear_time(name, around, units):
    def rewrite(text: str) -> None:
        with suppress(UserError):
            document = read(name, around % text)
            document.write([f"{one}." for one in document.texts])

    for unit in units:
        short, long = (unit * (characters // len(unit)) for characters in (2_500, 20_000))
        assert is_linear(rewrite, short, long, most=24), unit  # 64 times if it were quadratic


def test_the_bound_of_depth_is_one_that_python_reads():
    deepest = "[" * json_strings.MOST_NESTED + '"a b"' + "]" * json_strings.MOST_NESTED
    assert written(read("a.json", deepest)) == deepest


def test_the_separator_may_be_named_and_a_formula_is_no_text():
    table = read("a.csv", "\ufeffsep=;\r\nid;text\r\n1;The cat, the dog\r\n2;=SUM(A1;A2)\r\n3;We live here\r\n")
    assert texts(table) == ["The cat, the dog", "We live here"]


def test_half_is_not_most():
    with pytest.raises(UserError, match="no column holds mostly phrases"):
        read("a.csv", "id,text\n1,The cat sleeps\n2,Anna\n")
    lines = ["We live in a small house beside the very long river here.",
             "The cat has a garden with a big wall around it, and then",
             "everything else that a cat could want."]
    assert texts(read("a.txt", "\n".join(lines))) == ["\n".join(lines)]


def test_a_tag_that_ends_nothing_stands_alone():
    assert texts(read("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nA <i>cat</i> is</i> here\n")) == [
        'A <span id="1">cat</span> is<img id="5"> here']


@pytest.mark.parametrize(("head", "target", "expected"), [
    ('<html lang="en" dir=ltr><body>', "he", '<html lang="he" dir=rtl><body>'),
    ('<html lang="en"><body dir="ltr">', "ar", '<html lang="ar"><body dir="rtl">'),
    ('<html lang="en"><body>', "ar", '<html lang="ar" dir="rtl"><body>'),
    ('<html dir="rtl" lang="en"><body>', "fr", '<html dir="ltr" lang="fr"><body>'),
    ('<html lang="en"><body>', "zh-Hant", '<html lang="zh-Hant"><body>'),
    ('<html><meta http-equiv="Content-Language" content="en">', "fr",
     '<html><meta http-equiv="Content-Language" content="fr">'),
    ('<html lang="en" translate="no" dir="ltr">', "ar", '<html lang="en" translate="no" dir="ltr">'),
])
def test_a_page_names_the_language_and_its_direction(head, target, expected):
    document = read("a.html", f"{head}x", source="en", target=target)
    assert document.write(document.texts).decode() == f"{expected}x"


@pytest.mark.parametrize("named", ['property="og:title"', 'name="twitter:description"', "property='og:image:alt'"])
def test_what_a_page_says_for_others_is_text(named):
    assert read("a.html", f'<meta {named} content="A red house">').texts[1:] == ["A red house"]
    assert not read("a.html", '<meta property="og:url" content="a red house">').texts[1:]


def test_links_inside_a_page_follow_its_headings():
    source = ("# The *house*\n\nSee [it](#the-garden), [here](#the-garden-1), [x](#own), [a]."
              " <a href='#the-house'>up</a>\n\n## The garden\n```\n[x](#the-garden)\n# The garden\n```\n"
              "## The garden ##\n## Named {#own}\n\nThe end\n---\n[a]: #the-end\n")
    document = read("a.md", source)
    assert document.write(document.texts).decode() == source
    new = {"The garden": "Le jardin", "The end": "La fin !", "Named": "Nom"}
    written = document.write([new.get(text, text.replace("house", "maison")) for text in document.texts]).decode()
    for link in ("[a]: #la-fin-\n", "(#le-jardin)", "(#le-jardin-1)", "(#own)", "'#the-maison'",
                 "```\n[x](#the-garden)"):
        assert link in written
