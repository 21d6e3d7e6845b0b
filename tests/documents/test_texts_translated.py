"""A file of each text format through the packaged model, to French: structure, placeholders and numbers stay."""

from __future__ import annotations

import re

import pytest

from seq2see.documents.formats import read_document
from seq2see.documents.protocol import FileOptions
from seq2see.translate import Translator

FILES = {
    "a.txt": "We live in a small house.\n\n  It has 3 rooms.\n",
    "a.md": "# The *little* house\n\nWe live in a **small house** near [the river](http://e.org/a_b). It\n"
            "has `3` rooms.\n\n- Open the door.\n- Close the window.\n\n| Name |\n|---|\n| The red apple |\n"
            "\n```\nkept as code\n```\n",
    "a.html": '<html lang="en"><body class="x"><p title="The small house">We live in a <b>small house</b>.'
              "</p></body></html>\n",
    "a.srt": "1\n00:00:01,000 --> 00:00:03,500\n{\\an8}<i>I have never seen such\na beautiful house.</i>\n\n"
             "2\n00:00:04,000 --> 00:00:06,000 X1:3\n- Where are you?\n- I am at home.\n",
    "a.vtt": "WEBVTT\n\nintro\n00:01.000 --> 00:03.500 line:0\n<v Mary>I live in <c.loud>a\nsmall house</c>.\n",
    "a.po": 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n#, c-format\n'
            'msgid "%d file was deleted.\\n"\nmsgid_plural "%d files were deleted.\\n"\nmsgstr[0] ""\nmsgstr[1] ""\n',
    "a.csv": "id;comment\r\n1;\"The cat sleeps; the dog barks.\"\r\n",
    "a.json": '{"a": "Hello {{name}}, how are you?", "n": 1.50, "b": "Click <a href=\\"/x\\">here</a>.",'
              ' "c": "<1>{{name}}</1>, you have <3>new friends</3>.",'
              ' "d": "{n, plural, one {# file} other {# files}}"}\n',
    "a.xlf": '<xliff version="1.2"><file source-language="en"><trans-unit id="1"><source>Hello <x id="N"/>, open '
             '<g id="1">the red door</g>.</source></trans-unit></file></xliff>',
}
EXPECTED = {
    "a.txt": r"\w.+\.\n\n  \w.* 3 .*\.\n",
    "a.md": r"# .*\*petite\*.*\n\n.*\*\*petite maison\*\*[^`]*\[(?:de )?la\s+rivière\]\(http://e\.org/a_b\)[^`]*`3`[^`]*\.\n\n"
            r"- O.*\.\n- F.*\.\n\n\| .* \|\n\|---\|\n\| .*pomme.* \|\n\n```\nkept as code\n```\n",
    "a.html": r'<html lang="fr"><body class="x"><p title=".*maison.*">.*<b>petite maison</b>\.</p></body></html>\n',
    "a.srt": r"1\n00:00:01,000 --> 00:00:03,500\n\{\\an8\}<i>Je .*\n.*maison.*\.</i>\n\n"
             r"2\n00:00:04,000 --> 00:00:06,000 X1:3\n- .*\n- Je .*\n",
    "a.vtt": r"WEBVTT\n\nintro\n00:01\.000 --> 00:03\.500 line:0\n<v Mary>.*<c\.loud>[^<]*</c>\.\n",
    "a.po": r'(?s).*#, fuzzy, c-format\n.*msgstr\[0\] "(?=.*%d).*fichier.*\\n"\nmsgstr\[1\] "(?=.*%d).*fichiers.*'
            r'\\n"\n',
    "a.csv": r'id;comment\r\n1;".*chat.*;.*chien.*"\r\n',
    "a.json": r'\{"a": ".*\{\{name\}\}.*", "n": 1\.50, "b": ".*<a href=\\"/x\\">.*</a>.*", '
              r'"c": "[^"]*<1>\{\{name\}\}</1>[^"<]*<3>[^"<]+</3>[^"<]*",'
              r' "d": "\{n, plural, one \{[^"]*#[^"]*fichier\} other \{[^"]*#[^"]*fichiers\}\}"\}\n',
    "a.xlf": r'(?s).*target-language="fr".*<target [^>]*>.*<x id="N"/>.*<g id="1">[^<]*porte rouge</g>\.</target>.*',
}


@pytest.fixture(scope="module")
def translated() -> dict[str, str]:
    translator = Translator.from_pretrained("everyday")
    documents = {name: read_document(name, data.encode(), FileOptions("en", "fr")) for name, data in FILES.items()}
    texts = [one for document in documents.values() for one in document.texts]
    found = dict(zip(texts, translator(texts, source="en", target="fr"), strict=True))
    return {name: document.write([found[one].text for one in document.texts]).decode()
            for name, document in documents.items()}


@pytest.mark.parametrize("name", FILES)
def test_a_translated_file_has_its_structure(translated, name):
    assert re.fullmatch(EXPECTED[name], translated[name]), translated[name]
