"""Texts as people write them, through the packaged model: nothing in them is lost, changed or invented."""

import gzip
from itertools import islice
from pathlib import Path

import pytest

from seq2see import Translator

PLAIN = "I have two dogs."


@pytest.fixture(scope="module")
def everyday():
    pytest.importorskip("ctranslate2")
    return Translator.from_pretrained("everyday", precision="float32")  # int8 differs between processors


@pytest.fixture(scope="module")
def storybook():
    pytest.importorskip("ctranslate2")
    return Translator.from_pretrained("storybook")


@pytest.fixture(scope="module")
def to_french(everyday):
    return lambda text, **how: everyday(text, target="fr", **how).text


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2009", "\t", "  ", "&nbsp;"])
def test_the_writers_spaces_come_back_and_the_model_reads_ordinary_ones(to_french, space):
    assert to_french(f"I have{space}two dogs.").replace(space, " ") == to_french(PLAIN)
    assert space in to_french(f"I have{space}two dogs.")


@pytest.mark.parametrize("text", ["I have two d\u00adogs.", "I h\u200bave two dogs.", "I have \ufefftwo dogs.",
                                  "I have two \u200edogs.", "I have two d&shy;ogs.", "I have two\u034f dogs.",
                                  "I have two\ufe0f dogs.",
                                  "I have\u3164 two dogs.", "I have two\u0336 dogs."])
def test_what_nobody_sees_changes_nothing(everyday, text):
    result = everyday(text, target="fr")
    assert result.text == everyday(PLAIN, target="fr").text and result.unknown_words == ()


@pytest.mark.parametrize(("text", "read"), [
    ("The Red Box", "The red box"), ("A Box In Paris", "A box In Paris"), ("Paris", None), ("Anna", None),
    ("The Red Box is closed.", None),
])
def test_words_of_a_title_that_the_model_knows_in_small_letters_are_read_so(storybook, text, read):
    assert storybook(text).model_input == read


@pytest.mark.parametrize("text", ["The Old Bridge", "Letter", "A Day In Paris", "New York", "John Smith", "Letter."])
def test_words_of_a_title_are_read_as_they_are_where_a_capital_is_a_mark(everyday, text):
    result = everyday(text, target="fr")
    assert result.model_input is None and result.text[0].isupper() and result.unknown_words == ()


@pytest.mark.parametrize("text", ["\u200eI have two dogs.\u200f", "\ufeffI have two dogs."])
def test_at_the_ends_it_stays(to_french, text):
    assert to_french(text) == text.replace(PLAIN, to_french(PLAIN))


def test_the_place_of_an_unknown_word_is_that_in_the_text(everyday):
    result = everyday("The win\u00addow is a zq\u00adxv\u200bq.", target="fr")
    [word] = result.unknown_words
    assert word.text == "zq\u00adxv\u200bq" and result.source_text[word.start : word.end] == word.text


@pytest.mark.few(5)
@pytest.mark.parametrize("placeholder", ["[X9X]", "$Username", ":name", "__count__", "$VAR$", "%name%", "%{n}", "#{n}",
                                         "example.de", "localhost:8000", "readme.txt", "@user", "`x = 1`", "你好",
                                         "30 cm"])
def test_placeholders_survive(to_french, placeholder):
    for text in ("See {} for more.", "{} is here.", "Please open {}.", "The cat and {} are tired."):
        assert to_french(text.format(placeholder) if "{}" in text else text).count(placeholder) == 1


@pytest.mark.parametrize(("text", "translation"), [
    ("It is 30 cm long.", "Il fait 30 cm de long."), ("I have 5 kg of rice.", "J'ai 5 kg de riz."),
    ("Close the (window).", "Ferme la (fenêtre)."), ('Close the "window".', 'Ferme la "fenêtre".'),
    ("Close the *window*.", "Ferme la *fenêtre*."),
    ("<i>The train</i> is late.", "<i>Le train</i> est en retard."),
    ("I waited... and nobody came.", "J'ai attendu... Et personne n'est venu."),
    ("I waited ■■■■ and nobody came.", "J'ai attendu ■■■■ et personne n'est venu."),
    ("I am tired… We went home. No!", "Je suis fatigué… Nous sommes allés chez nous. Non !"),
    ("The cat is tired.\tIt is hungry.", "Le chat est fatigué.\tIl a faim."),
    ("The cat is tired.  It is hungry.", "Le chat est fatigué.  Il a faim."),
    ("The cat is tired. 😀 It is hungry.", "Le chat est fatigué. 😀 Il a faim."),
    ("The cat is tired 😀 The dog is hungry.", "Le chat est fatigué 😀 Le chien a faim."),
    ("I am here 😀 - we are happy.", "Je suis ici 😀 - Nous sommes heureux."), ("你好。", "你好。"),
    ("My cat\tmy dog\tmy house", "Mon chat\tMon chien\tMa maison"), ("Wait… I am tired.", "Attends… Je suis fatigué."),
    ("&lt;i&gt;The train&lt;/i&gt; is late.", "&lt;i&gt;Le train&lt;/i&gt; est en retard."),
    ("The cat (which is tired) sleeps.", "Le chat (ce qui est fatigué) dort."),
])
def test_nothing_is_lost(to_french, text, translation):
    assert to_french(text) == translation


@pytest.mark.few(16)
@pytest.mark.parametrize(("text", "translation"), [
    ("The book costs 12\u00a0€.", "Le livre coûte 12 €."),
    ("It costs £3.50, €4,20 or ¥500.", "Il coûte £3.50, €4,20 ou ¥500."),
    ("The prices are $5, $10 and $20.", "Les prix sont $5, 10 $ et 20 $."),
    ("It costs €4.20 now.", "Il coûte 4,20 € maintenant."),
    ("Tom & Mary are here.", "Tom et Marie sont ici."), ("Tom + Mary are here.", "Tom et Marie sont ici."),
    ("The Smiths &amp; the Joneses are coming.", "Les Smiths et les Jones sont en train de venir."),
    ("I bought a bag (%d apples).", "J'ai acheté un sac (%d pommes)."),
    ("{% if paid %}Thank you.{% else %}Please pay.{% endif %}",
     "{% if paid %}Merci.{% else %}Veuillez payer.{% endif %}"),
    ("{b}Thank you.{/b}", "{b}Merci.{/b}"),
    ("I saw $HOME/photos/cat.jpg today.", "J'ai vu $HOME/photos/cat.jpg aujourd'hui."),
    ("&Open the door...", "&Ouvre la porte..."), ("_Open the door", "_Ouvre la porte"),
    ("The battery is %d%%.", "La batterie est le %d%%."),
    ("I am here.\\nYou are there.", "Je suis ici.\\nTu y es."),
    ("The train leaves at 9 a.m. every day.", "Le train part à 9 heures tous les jours."),
    ("I saw @john.doe today.", "J'ai vu @john.doe aujourd'hui."),
    ("The cat is here – the dog is tired.", "Le chat est ici – le chien est fatigué."),
    ("The cat is here &ndash; the dog is tired.", "Le chat est ici &ndash; le chien est fatigué."),
    ("PS: I love you.", "PS: Je t'aime."), ("- Anna: Where are you?", "- Anna: Où êtes-vous ?"),
    ("Note: the shop is closed.", "Note: le magasin est fermé."), ("A) The cat is here.", "A) Le chat est ici."),
    ("| My father | 54 |", "| Mon père | 54 |"), ("The house/garden is big.", "La maison/jardin est grande."),
    ("I'm here!! Where are you?!", "Je suis là !! Où êtes-vous ?!"),
    ("See @:user.name and @anna.", "Voir @:user.name et @anna."),
    ("It costs 3 500 000 $ now.", "Il coûte 3 500 000 $ maintenant."),
    ("<b>{name}</b> is my friend.", "<b>{name}</b> est mon ami."), ("<i>- I am here.</i>", "<i>- Je suis ici.</i>"),
    ("I am sad 😀 and tired.", "Je suis triste 😀 et fatigué."),
    ("I have 3\u00a0dogs and 2\u00a0cats.", "J'ai 3\u00a0chiens et 2\u00a0chats."),
    ("EXAMPLE: I am tired.", "EXEMPLE: Je suis fatigué."), ("Name: Lucy", "Nom: Lucy"),
    ("LUCY: I am tired.", "LUCY: Je suis fatigué."), ("HINT: I am tired.", "INDICE: Je suis fatigué."),
    ("Example 1: I am tired.", "Exemple 1: Je suis fatigué."),
    ("Old man: I am tired.", "Vieil homme: Je suis fatigué."),
    ("I come from {city}.", "Je viens de {city}."), ("-I am tired. -I am here.", "-Je suis fatigué. -Je suis ici."),
    ("Open <kbd>Enter</kbd>.", "Ouvrir <kbd>Enter</kbd>."),
    ("We live in Paris (France), near a park.", "Nous vivons à Paris (France), près d'un parc."),
    ("It takes 9–10 years.", "Il faut 9–10 ans."),
    ("Well... I don't know...", "Eh bien... Je ne sais pas..."), ("Well…", "Eh bien…"),
    ("File > Open", "Fichier > Ouvrir"),
    ("I like pizza 🍕, but not fish.", "J'aime la pizza 🍕, mais pas du poisson."),
    ("The (old) man is here.", "Le (vieil) homme est ici."), ("The *old* man is here.", "Le *vieil* homme est ici."),
])
def test_the_signs_of_a_text_stay_at_their_words(to_french, text, translation):
    assert to_french(text) == translation


def test_a_remark_in_brackets_gets_no_mark_that_it_has_not(everyday):
    for text in ("The cat (which is tired) sleeps.", "The man (whom I know) is here."):
        for language in ("fr", "de", "es"):
            assert not set("?!¿¡") & set(everyday(text, target=language).text)
    assert everyday("He left (and she?).", target="es").text.endswith("?).")


@pytest.mark.parametrize("text", ["  ", "\n", "\t\n ", "\ufeff", "\u200b", "\u3164",
                                  "2\u2000 ", "&nbsp;", "[X9X]", "你好。",
                                  "(1)", "■"])
def test_texts_without_words_come_back_exactly(everyday, text):
    assert [one.text for one in everyday([text, PLAIN, text], target="fr")][::2] == [text, text]
    assert everyday(text, target="fr", format="html").text == text


def test_html_keeps_marks_inside_a_protected_word_and_notes_beside_their_words(to_french):
    pytest.importorskip("torch")
    link = ('<a href="https://x.org/a/b"><span class="invisible">https://</span><span class="ellipsis">x.org/a</span>'
            '<span class="invisible">/b</span></a>')
    assert to_french(f"<p>{link}</p>", format="html") == f"<p>{link}</p>"
    assert link in to_french(f"<p>Look at {link} now.</p>", format="html")
    html = to_french("<p>The window<sup>1</sup> is open.</p>", format="html")
    assert html == "<p>La fenêtre<sup>1</sup> est ouverte.</p>"
    for formula in ("H<sub>2</sub>O", "C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>", "1<sup>st</sup>", "CO<sub>2</sub>"):
        assert formula in to_french(f"<p>The {formula} cat is here.</p>", format="html")
    note = '<sup id="a"><a href="#b">[2]</a></sup>'
    assert note in to_french(f"<p>The window is open.{note} The cat is tired.</p>", format="html")


def test_what_a_caller_keeps_stays(to_french):
    assert "The Big Window" in to_french("Close The Big Window now.", keep="The Big Window")
    assert "<b>Big Cat</b>" in to_french("<p>The <b>Big Cat</b> is tired.</p>", format="html", keep="Big Cat")


def test_false_alarms_of_the_length_are_rare(everyday, monkeypatch):
    """On whole sentences: a good translation of one is seldom so short."""
    path = Path(__file__).parents[3] / "shared/data/tatoeba-test/en-fr.clean.tsv.gz"
    if not path.is_file():
        pytest.skip("Tatoeba's test set is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [line.split("\t")[0] for line in islice(lines, 1, 4_000, 10)]
    alarms = []
    monkeypatch.setattr("seq2see.translate.segment_translator.clauses", lambda text, **how: alarms.append(text))
    everyday(texts, target="fr", num_beams=1)
    assert len(alarms) <= 0.01 * len(texts)
