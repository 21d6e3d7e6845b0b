"""Catalogues of gettext and XLIFF: what is translated, what stays, and that other programs accept the result."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from lxml import etree

from seq2see.documents.formats import read_document
from seq2see.documents.protocol import Document, FileOptions
from seq2see.errors import UserError
from seq2see.text.html_markup import Html

polib = pytest.importorskip("polib")

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=CHARSET\\n"\n\n'
COMMENT = f"#. for translators, a comment {'that is long ' * 6} and that polib would wrap-it"
CATALOGUE = HEADER + COMMENT + """
#: main.c:12
#, c-format
msgid "\\n%d file was deleted from %s.\\n"
msgid_plural "\\n%d files were deleted from %s.\\n"
msgstr[0] ""
msgstr[1] ""

msgctxt "menu"
msgid "&Open"
msgstr ""

#, fuzzy
#| msgid "Save file"
msgid "Save the file"
msgstr "Enregistrer"

msgid "Cancel"
msgstr "Annuler"

#~ msgid "Old"
#~ msgstr "Ancien"
"""


def read(data: str | bytes, *, name: str = "a.po", target: str = "fr") -> Document:
    return read_document(name, data.encode() if isinstance(data, str) else data, FileOptions("en", target))


def filled(data: str, *translations: str, target: str = "fr"):
    """The catalogue with these translations."""
    return polib.pofile(read(data, target=target).write(translations).decode())


def test_what_is_untranslated_or_fuzzy_is_translated_and_all_else_stays():
    document = read(CATALOGUE)
    assert document.texts == [
        "%d file was deleted from %s.", "%d files were deleted from %s.", "&Open", "Save the file"]
    written = document.write(["%d fichier de %s.", "%d fichiers de %s.", "&Ouvrir", "Enregistrer le fichier"]).decode()
    plural, opened, saved, cancel, old = polib.pofile(written)
    assert plural.msgstr_plural == {0: "\n%d fichier de %s.\n", 1: "\n%d fichiers de %s.\n"}  # ends as its message
    assert (opened.msgstr, opened.msgctxt, saved.msgstr, saved.previous_msgid) == (
        "&Ouvrir", "menu", "Enregistrer le fichier", None)
    assert [one.fuzzy for one in (plural, opened, saved, cancel)] == [True, True, True, False]
    assert (cancel.msgstr, old.msgstr, old.obsolete) == ("Annuler", "Ancien", 1)
    assert f"\n{COMMENT}\n#: main.c:12\n#, fuzzy, c-format\n" in written
    assert "Language: fr\\n" in written and "nplurals=2; plural=(n > 1);\\n" in written and "charset=UTF-8" in written


@pytest.mark.parametrize("target", ["fr", "de", "cs", "ru", "ja", "ar", "sl"])
def test_gettext_accepts_the_catalogue(target):
    if not shutil.which("msgfmt"):
        pytest.skip("msgfmt is not installed")
    document = read(CATALOGUE.replace("Annuler", "").replace("Enregistrer", ""), target=target)
    written = document.write(document.texts)
    accepted = subprocess.run(["msgattrib", "--clear-fuzzy", "-"], input=written, capture_output=True).stdout
    for data in (written, accepted):
        checked = subprocess.run(["msgfmt", "-c", "-o", "/dev/null", "-"], input=data, capture_output=True)
        assert checked.returncode == 0, checked.stderr.decode()


@pytest.mark.parametrize(("flag", "message", "translation", "expected"), [
    ("c-format", "%d of %s", "%s : %d", "%2$s : %1$d"),  # C reads them in order
    ("c-format", "%5.1f%%", "%5.1f%%%", ""), ("c-format", "%s", "s", ""), ("c-format", "%s", "%s %d", ""),
    ("c-format", "%*d of %s", "%s : %*d", ""), ("c-format", "100%% of %lu", "100%% de %lu", "100%% de %lu"),
    ("python-format", "%d of %s", "%s : %d", ""), ("python-format", "%(a)d of %(b)s", "%(b)s : %(a)d", "%(b)s : %(a)d"),
    ("python-brace-format", "{0!r} of {b:>5}", "{b:>5} : {0!r}", "{b:>5} : {0!r}"),
    ("python-brace-format", "{a}", "a", ""),
    ("", "Hello {name}, %1", "{name} %1", "{name} %1"), ("", "Hello {name}", "Salut", ""),
    ("", "50% of it", "50 % x", "50 % x"),
])
def test_an_entry_that_lost_a_placeholder_stays_untranslated(flag, message, translation, expected):
    comment = f"#, {flag}\n" if flag else ""
    [entry] = filled(f'{HEADER}{comment}msgid "{message}"\nmsgstr ""\n', translation)
    assert (entry.msgstr, entry.fuzzy) == (expected, bool(expected))


def test_a_placeholder_of_an_unusual_shape_is_an_element():
    source = HEADER + '#, c-format\nmsgid "%s: option \'%s%s\' is %% wrong\\n"\nmsgstr ""\n'
    [text] = read(source).texts
    assert isinstance(text, Html) and text.count("<code") == 3
    [entry] = filled(source, text.replace("is", "est"))
    assert entry.msgstr == "%s: option '%s%s' est %% wrong\n"


@pytest.mark.parametrize(("target", "forms"), [
    ("fr", ["one", "%d many"]), ("ja", ["%d many"]), ("cs", ["one", "%d many", "%d many"]),
    ("ru", ["%d many", "%d many", "%d many"]),  # the form of 1 is also that of 21
    ("ar", ["%d many", "one", "%d many", "%d many", "%d many", "%d many"]),  # the first form is of 0
    ("xx", ["", ""]),  # how many there are is not known
])
def test_each_plural_form_has_its_translation(target, forms):
    [entry] = filled(HEADER + 'msgid "one file"\nmsgid_plural "%d files"\nmsgstr[0] ""\nmsgstr[1] ""\n',
                     "one", "%d many", target=target)
    assert [*entry.msgstr_plural.values()] == forms


@pytest.mark.parametrize(("flag", "forms"), [("", ["mine", "%d many"]), ("#, fuzzy\n", ["one", "%d many"])])
def test_a_plural_form_that_is_there_stays(flag, forms):
    [entry] = filled(f'{HEADER}{flag}msgid "one file"\nmsgid_plural "%d files"\nmsgstr[0] "mine"\nmsgstr[1] ""\n',
                     "one", "%d many")
    assert [*entry.msgstr_plural.values()] == forms and entry.fuzzy


def test_a_template_becomes_a_catalogue_of_the_language():
    header = HEADER.replace('\n\n', '\n"Language: \\n"\n"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"\n\n')
    document = read(f'#, fuzzy\n{header}msgid "Save it"\nmsgstr ""\n', name="a.pot")
    catalogue = polib.pofile(document.write(["Garde-le"]).decode())
    assert [one.msgstr for one in catalogue] == ["Garde-le"] and not catalogue.metadata_is_fuzzy
    assert (catalogue.metadata["Language"], catalogue.metadata["Plural-Forms"]) == (
        "fr", "nplurals=2; plural=(n > 1);")


@pytest.mark.parametrize(("data", "message"), [
    (HEADER + "message x", rf"a.po is not a gettext catalogue \(line {HEADER.count(chr(10)) + 1}\)"),
    (HEADER + '\nmsgid "a cat.\nmsgstr ""\n', rf"not a gettext catalogue \(line {HEADER.count(chr(10)) + 2}\)"),
    (b"\xff" + HEADER.encode(), "a.po is not utf-8"),
    ('msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "a"\nmsgstr "b"\n', "a.po contains translations into German"),
    ('msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=zip\\n"\n', "a.po is not zip"),
    ("#. x\n" * 1_001 + HEADER, "more than 1,000 lines of comment"),
])
def test_a_broken_catalogue_is_said_in_one_line(data, message):
    with pytest.raises(UserError, match=message):
        read(data)


def test_a_catalogue_that_is_a_path_is_not_opened(tmp_path):
    (tmp_path / "a").write_text(CATALOGUE)
    with pytest.raises(UserError):
        read(str(tmp_path / "a"))


ONE = """<?xml version="1.0"?>
<!-- kept --><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file source-language="en" original="a"><body>
    <trans-unit id="1">
      <source>Hello <x id="N" equiv-text="{{n}}"/>, <g id="1">my <g id="2">old</g></g> <bpt id="3">{b}</bpt>friend<ept id="3"/>!</source>
    </trans-unit>
    <trans-unit id="2"><source>Old one</source><target>Vieux</target></trans-unit>
    <trans-unit id="3" translate="no"><source>Old one</source></trans-unit>
    <group translate="no"><trans-unit id="4"><source>Old one</source></trans-unit></group>
    <trans-unit id="5"><source>A new one</source><target state="new">A new one</target><note>kept</note></trans-unit>
    <trans-unit id="6"><source><ph id="1">code words</ph></source></trans-unit>
  </body></file>
</xliff>
"""  # noqa: E501
TWO = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en"><file id="f">
 <unit id="1"><segment><source>He saw <ph id="1"/> in <pc id="2">the garden</pc>.</source></segment>
  <ignorable><source> </source></ignorable>
  <segment state="final"><source>Old</source><target>Vieux</target></segment></unit>
 <unit id="2"><segment><source>The <sc id="3"/>old dog<ec startRef="3"/> sleeps &amp; <cp hex="0001"/>eats.</source></segment></unit>
 <unit id="3" translate="no"><segment><source>Kept</source></segment></unit>
</file></xliff>
"""  # noqa: E501


@pytest.mark.parametrize(("name", "data", "count"), [("a.xlf", ONE, 2), ("a.xliff", TWO, 2)])
def test_sources_become_targets_with_their_elements_and_all_else_stays(name, data, count):
    document = read(data, name=name)
    assert len(document.texts) == count
    tree = etree.fromstring(document.write(document.texts))
    targets = [one for one in tree.iter("{*}target") if one.text != "Vieux"]
    assert len(targets) == count
    for target in targets:
        source = etree.fromstring(etree.tostring(target.getparent().find("{*}source"), with_tail=False))
        bare = etree.fromstring(etree.tostring(target, with_tail=False).replace(b"target", b"source"))
        for attribute in ("state", "state-qualifier"):
            bare.attrib.pop(attribute, None)
        assert etree.tostring(bare, method="c14n") == etree.tostring(source, method="c14n")
        unit = target.getparent()
        assert unit.get("state") == "translated" if name == "a.xliff" else (
            target.get("state"), target.get("state-qualifier")) == ("needs-review-translation", "mt-suggestion")
        unit.remove(target)
    assert tree.get("trgLang", tree[0].get("target-language")) == "fr"
    before = etree.fromstring(data.encode())
    for old in (before, tree):
        for node in old.iter("{*}segment", "{*}file", "{*}xliff"):
            for attribute in ("state", "trgLang", "target-language"):
                node.attrib.pop(attribute, None)
        for unit in old.iter("{*}target"):
            if unit.get("state") == "new":
                unit.getparent().remove(unit)
    assert "".join(etree.tostring(tree, method="c14n").decode().split()) == "".join(
        etree.tostring(before, method="c14n").decode().split())


def test_a_copy_is_translated_in_the_initial_state_only():
    segments = "".join(f"<segment state='{state}'><source>Old one</source><target>Old one</target></segment>"
                       for state in ("initial", "final"))
    data = f"{TWO.partition(' <unit')[0]}<unit id='1'>{segments}</unit></file></xliff>"
    assert len(read(data, name="a.xlf").texts) == 1


@pytest.mark.parametrize("target", ["<target>{}</target>", '<target state="new">{}</target>'])
def test_segments_without_a_translation_are_none(target):
    empty, copied = '<mrk mtype="seg" mid="1"/>', '<mrk mtype="seg" mid="1">The cat.</mrk>'
    data = '<xliff version="1.2"><file source-language="en"><body>' + "".join(
        f"<trans-unit id='1'><source>The cat.</source>{target.format(one)}</trans-unit>" for one in (empty, copied)) + (
        "</body></file></xliff>")
    assert len(read(data, name="a.xlf").texts) == 1 + ("new" in target)


def test_only_what_is_translated_is_said_to_be_in_the_language():
    units = ("<source>Old</source><target>Vieux</target>", "<source>New</source>")
    data = '<xliff version="1.2">' + "".join(
        f'<file source-language="en"><body><trans-unit id="1">{unit}</trans-unit></body></file>' for unit in units
    ) + "</xliff>"
    document = read(data, name="a.xlf")
    old, new = etree.fromstring(document.write(document.texts))
    assert old.get("target-language") is None and new.get("target-language") == "fr"


def test_elements_move_with_their_words():
    document = read(TWO, name="a.xlf")
    first, second = document.texts
    assert first == 'He saw <code id="1">x</code> in <span id="3">the garden</span>.'
    written = document.write(['Dans <span id="3">le jardin</span> il a vu <code id="1">x</code>.', second]).decode()
    assert '<target>Dans <pc id="2">le jardin</pc> il a vu <ph id="1"/>.</target>' in written
    lost = document.write(["Dans le jardin.", second]).decode()
    assert lost.count("<target>") == 2  # an element is lost: the source stays without a target


@pytest.mark.parametrize(("data", "message"), [
    (b"<xliff", "a.xlf is broken: "), (b"<a/>", "a.xlf is not XLIFF 1.2 or 2: its first element is <a>"),
    (b'<xliff version="3.0"/>', "its version 3.0"), (b"<g>" * 1_000, "a.xlf is broken: "),
    (b'<!DOCTYPE xliff [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + TWO.replace("Old", "&a;").encode(), "entities"),
    (b'<!DOCTYPE xliff SYSTEM "http://127.0.0.1:1/a.dtd">' + TWO.encode(), "has a <!DOCTYPE>"),
    (TWO.replace('srcLang="en"', 'srcLang="en" trgLang="de"').encode(), "a.xlf contains translations into German"),
])
def test_a_broken_or_dangerous_xliff_is_said_in_one_line(data, message):
    with pytest.raises(UserError, match=message) as error:
        read(data, name="a.xlf")
    assert "\n" not in str(error.value) and "root:" not in str(error.value)


def test_two_elements_of_angular_are_around_their_words():
    data = (b'<xliff version="1.2"><file source-language="en"><trans-unit id="7"><source>Read'
            b' <x id="START_TAG_B_1"/>the book<x id="CLOSE_TAG_B"/> now.</source></trans-unit></file></xliff>')
    document = read(data, name="a.xlf")
    assert list(document.texts) == ['Read <span id="1">the book</span> now.'] and document.places == ["unit 7"]
    written = document.write(['Lis <span id="1">le livre</span>.'])
    assert b'Lis <x id="START_TAG_B_1"/>le livre<x id="CLOSE_TAG_B"/>.</target>' in written
    assert not document.lost and document.write(["Lis."]) and document.lost == [0]


def test_a_message_of_icu_stays_whole_and_is_said():
    data = (b'<xliff version="1.2"><file source-language="en"><trans-unit id="7"><source>{VAR, plural, =1 {one'
            b' <x id="N"/> file} other {many files}}</source></trans-unit></file></xliff>')
    document = read(data, name="a.xlf")
    assert list(document.texts) == [] and [one.place for one in document.left] == ["unit 7"]


def test_an_entry_that_stays_is_counted():
    document = read(b'msgid "A %s dog"\nmsgstr ""\n\nmsgid "One"\nmsgstr ""\n')
    document.write(["Un chien", "Un"])
    assert document.lost == [0] and document.place(0) == "near line 1"


@pytest.mark.parametrize(("target", "language", "count"), [
    ("lv", "lv", 3), ("az", "az", 2), ("lt", "lt", 3), ("zh-Hant", "zh_Hant", 1), ("pt-BR", "pt_BR", 2),
    ("ga", "ga", 5),
])
def test_the_header_names_the_language_and_its_plurals(target, language, count):
    document = read('msgid "A"\nmsgid_plural "%d"\nmsgstr[0] ""\n', target=target)
    written = document.write(["a", "%d"]).decode()
    assert f'"Language: {language}\\n"' in written and f"nplurals={count};" in written


def test_obsolete_entries_stay_as_they_are():
    obsolete = ('#, fuzzy\n#~| msgid "old one"\n#~ msgid "older"\n#~ msgstr "vieux"\n\n'
                '# a note\n#~ msgid "gone"\n#~ msgstr "parti"\n')
    document = read(f'msgid "A"\nmsgstr ""\n\n{obsolete}')
    assert document.write(["B"]).decode().endswith(f'msgstr "B"\n\n{obsolete}')


def test_a_target_has_the_segments_of_its_source():
    segments = '<mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1">A <g id="1">cat</g>.</mrk>'
    data = ('<xliff version="1.2"><file source-language="en"><trans-unit id="1"><source>One. A cat.</source>'
            f"<seg-source>{segments}</seg-source></trans-unit></file></xliff>")
    document = read(data, name="a.xlf")
    assert list(document.texts) == ["One.", 'A <span id="1">cat</span>.']
    written = document.write(["Un.", 'Un <span id="1">chat</span>.']).decode()
    segments = segments.replace("One.", "Un.").replace("A <", "Un <").replace("cat<", "chat<")
    assert f"{segments}</target>" in written
    assert list(read(written, name="a.xlf").texts) == []
