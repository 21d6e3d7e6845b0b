"""Every French law of storybook, checked on every generated sentence by tables and patterns written out by hand."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from seq2see.storybook import Storybook, StoryPair
from seq2see.storybook.lexicon import ADJECTIVES as LEXICON
from seq2see.storybook.lexicon import NOUNS
from seq2see.storybook.senses import SENSES
from .conftest import words as cut

# masculine, feminine, masculine plural, feminine plural; a second masculine singular (before a vowel) after a slash
ADJECTIVES = """
grand grande grands grandes|petit petite petits petites|gros grosse gros grosses|beau/bel belle beaux belles
vieux/vieil vieille vieux vieilles|nouveau/nouvel nouvelle nouveaux nouvelles|jeune jeune jeunes jeunes
bon bonne bons bonnes|joli jolie jolis jolies|long longue longs longues|rouge rouge rouges rouges
bleu bleue bleus bleues|vert verte verts vertes|jaune jaune jaunes jaunes|blanc blanche blancs blanches
noir noire noirs noires|gris grise gris grises|brun brune bruns brunes|rond ronde ronds rondes
propre propre propres propres|sale sale sales sales|mouillé mouillée mouillés mouillées|lourd lourde lourds lourdes
vide vide vides vides|plein pleine pleins pleines|affamé affamée affamés affamées|fatigué fatiguée fatigués fatiguées
heureux heureuse heureux heureuses|triste triste tristes tristes|malade malade malades malades
courageux courageuse courageux courageuses|paresseux paresseuse paresseux paresseuses|fort forte forts fortes
faible faible faibles faibles|lent lente lents lentes|rapide rapide rapides rapides
intelligent intelligente intelligents intelligentes|gentil gentille gentils gentilles|timide timide timides timides
fier fière fiers fières|curieux curieuse curieux curieuses|bruyant bruyante bruyants bruyantes
calme calme calmes calmes|célèbre célèbre célèbres célèbres|riche riche riches riches
pauvre pauvre pauvres pauvres|froid froide froids froides|sucré sucrée sucrés sucrées|mûr mûre mûrs mûres
large large larges larges|étroit étroite étroits étroites|haut haute hauts hautes|bas basse bas basses
sombre sombre sombres sombres|cassé cassée cassés cassées|cher chère chers chères|joyeux joyeuse joyeux joyeuses
étrange étrange étranges étranges|dangereux dangereuse dangereux dangereuses|mince mince minces minces
énorme énorme énormes énormes|gourmand gourmande gourmands gourmandes|blessé blessée blessés blessées
seul seule seuls seules|facile facile faciles faciles|minuscule minuscule minuscules minuscules
maigre maigre maigres maigres|solide solide solides solides|fragile fragile fragiles fragiles
massif massive massifs massives|pourri pourrie pourris pourries|généreux généreuse généreux généreuses
serviable serviable serviables serviables|reconnaissant reconnaissante reconnaissants reconnaissantes
touché touchée touchés touchées|nerveux nerveuse nerveux nerveuses
contrarié contrariée contrariés contrariées|furieux furieuse furieux furieuses|détesté détestée détestés détestées
redouté redoutée redoutés redoutées|coupable coupable coupables coupables|puni punie punis punies
grondé grondée grondés grondées|attaché attachée attachés attachées|coincé coincée coincés coincées
fermé fermée fermés fermées|inondé inondée inondés inondées|couvert couverte couverts couvertes
ouvert ouverte ouverts ouvertes|boueux boueuse boueux boueuses|endormi endormie endormis endormies
vivant vivante vivants vivantes|passionnant passionnante passionnants passionnantes
ennuyeux ennuyeuse ennuyeux ennuyeuses|important importante importants importantes|brûlé brûlée brûlés brûlées
creux creuse creux creuses|rouillé rouillée rouillés rouillées|tordu tordue tordus tordues|rongé rongée rongés rongées
verni vernie vernis vernies|caché cachée cachés cachées|dissimulé dissimulée dissimulés dissimulées
masqué masquée masqués masquées|protégé protégée protégés protégées|abrité abritée abrités abritées
attaqué attaquée attaqués attaquées|mordu mordue mordus mordues
frappé frappée frappés frappées|insulté insultée insultés insultées|robuste robuste robustes robustes"""
# What takes no ending.
INVARIABLE = "en sans de"
DETERMINERS = {  # gender (None: either), plural
    "le": ("m", False), "la": ("f", False), "l'": (None, False), "les": (None, True), "un": ("m", False),
    "une": ("f", False), "des": (None, True), "ce": ("m", False), "cet": ("m", False), "cette": ("f", False),
    "ces": (None, True), "mon": (None, False), "ma": ("f", False), "mes": (None, True), "son": (None, False),
    "sa": ("f", False), "ses": (None, True), "notre": (None, False), "nos": (None, True), "leur": (None, False),
    "leurs": (None, True), "chaque": (None, False), "quel": ("m", False), "quelle": ("f", False),
    "quels": ("m", True), "quelles": ("f", True), "du": ("m", False), "au": ("m", False), "aux": (None, True),
}  # fmt: skip
H_ASPIRE = re.compile(r"(hibou|haie|hérisson|hangar|hache|haut|huit)", re.IGNORECASE)
BEFORE_NOUN = "grand petit gros beau vieux nouveau jeune bon joli long gentil"


ENTRIES = [entry.split() for entry in re.split(r"[\n|]", ADJECTIVES) if entry]


def adjective_forms() -> dict[str, set[tuple[str, bool]]]:
    """Form -> the (gender, plural) that it can be."""
    forms: dict[str, set[tuple[str, bool]]] = {}
    for entry in ENTRIES:
        for spellings, meaning in zip(entry, (("m", False), ("f", False), ("m", True), ("f", True)), strict=True):
            for form in spellings.split("/"):
                forms.setdefault(form, set()).add(meaning)
    return forms


def sounds_like_vowel(word: str) -> bool:
    """Mute h and vowels, as a French reader hears them; not h aspiré, not onze."""
    word = word.lower()
    if word == "onze" or H_ASPIRE.match(word):
        return False
    return word[0] in "aeiouyâàéèêëîïôûùœæh"


FORMS = adjective_forms()


@pytest.fixture(scope="module")
def pairs(book: Storybook) -> list[StoryPair]:
    return [*book.train, *book.val, *book.test]


@cache
def words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in cut(text, "fr"))


def english_nouns() -> dict[str, list[tuple[str, str, bool]]]:
    """English form -> French form, gender and number of the nouns that it can be."""
    forms: dict[str, list[tuple[str, str, bool]]] = {}
    senses = [sense.noun for both in SENSES for sense in both]
    for noun in (*NOUNS.values(), *senses):
        forms.setdefault(noun.en, []).append((noun.fr, noun.gender, False))
        forms.setdefault(noun.en_plural, []).append((noun.fr_plural, noun.gender, True))
    return forms


ENGLISH_NOUNS = english_nouns()
_NOUNS_OF: dict[str, dict[int, tuple[str, bool]]] = {}


def nouns_of(pair: StoryPair) -> dict[int, tuple[str, bool]]:
    """French word index -> gender and number of the noun there, as English shows it (*souris* is both)."""
    if pair.source not in _NOUNS_OF:
        english = [word.lower().removesuffix("'s") for word in cut(pair.source)]
        french = words(pair.target)
        _NOUNS_OF[pair.source] = {
            j: (gender, plural)
            for i, j in pair.links
            for form, gender, plural in ENGLISH_NOUNS.get(english[i], ())
            if french[j] == form
        }
    return _NOUNS_OF[pair.source]


def offences(pairs: list[StoryPair], pattern: str) -> list[str]:
    found = re.compile(pattern, re.IGNORECASE)
    return [pair.target for pair in pairs if found.search(pair.target)]


VOWEL = r"(?!hibou|haie|hériss|hangar|hache|haut|huit|onze)[aeiouyâàéèêëîïôûùœh]"


def test_words_change_before_vowels_and_mute_h(pairs):
    assert not offences(pairs, rf"\b(?:le|la|de|ne|que|se|je|me|jusque) {VOWEL}")
    assert not offences(pairs, r"\bsi ils?\b")
    assert not offences(pairs, rf"\b(?:[ldnjm]|qu)'(?!{VOWEL})\w")
    assert not offences(pairs, rf"\b(?:ce|ma|sa) {VOWEL}")
    assert not offences(pairs, rf"\b(?:cet|bel|vieil|nouvel) (?!{VOWEL})")
    assert not offences(pairs, rf"\b(?:un|le|ce|mon|son) (?:beau|nouveau|vieux) {VOWEL}")
    for phrase in (r"\bcet ", r"\bbel ", r"\bson oreille", r"\ble hibou", r"\bl'homme"):
        assert offences(pairs, phrase), phrase


def test_prepositions_and_articles_are_contracted(pairs):
    clitics = r"(?!(?:le|la|les) (?:a|ont|voit|suit)\b)"
    assert not offences(pairs, rf"\b(?:de|à) {clitics}(?:le|les)\b")
    for form in ("du", "des", "au", "aux"):
        assert offences(pairs, rf"\b{form}\b"), form


def test_every_adjective_is_spelt_as_the_table_spells_it(pairs):
    """*bleus*, not *bleux*: what stands for an English adjective is one of the forms written out above."""
    checked = 0
    for pair in pairs:
        english = cut(pair.source)
        found = words(pair.target)
        for i, j in pair.links:
            if english[i] in LEXICON and english[i] not in ("angry", "clean", "full", "hungry"):
                # not en colère, a verb, plein de, avoir faim
                assert found[j] in FORMS, (pair.target, found[j])
                checked += 1
    assert checked > 10_000


def noun_groups(pair: StoryPair) -> Iterator[tuple[str, tuple[str, ...], tuple[str, bool], tuple[str, ...]]]:
    """Determiner, adjectives before, gender and number of the noun, adjectives after, in the French text."""
    found, nouns = words(pair.target), nouns_of(pair)
    for i, meaning in nouns.items():
        start = i
        while start and found[start - 1] in FORMS and start - 1 not in nouns:
            start -= 1
        end = i + 1
        while end < len(found) and found[end] in FORMS and end not in nouns:
            end += 1
        yield found[start - 1] if start else "", found[start:i], meaning, found[i + 1 : end]


def test_determiners_and_adjectives_agree_with_their_noun_and_stand_on_their_side_of_it(pairs):
    in_front = {form for entry in ENTRIES if entry[0].partition("/")[0] in BEFORE_NOUN.split()
                for spellings in entry for form in spellings.split("/")}  # fmt: skip
    checked = 0
    for pair in pairs:
        for determiner, before, meaning, after in noun_groups(pair):
            assert all(meaning in FORMS[adjective] for adjective in (*before, *after)), pair.target
            assert in_front.issuperset(before) and in_front.isdisjoint(after), pair.target
            checked += len(before) + len(after)
            if determiner in DETERMINERS:
                gender, plural = DETERMINERS[determiner]
                assert gender in (None, meaning[0]) and plural == meaning[1], (pair.target, determiner)
                checked += 1
    assert checked > 50_000


PREDICATE = re.compile(
    r"\b(ils?|elles?) (?:n')?(?:ne )?(?:étai(?:t|ent)|est|sont|soi(?:t|ent)|a été|ont été) "
    r"(?:plus |pas )?(?:trop |très |si |vraiment |assez |complètement |presque )?(\w+)",
    re.IGNORECASE,
)  # fmt: skip


def test_predicates_agree_with_their_pronoun(pairs):
    checked = 0
    for pair in pairs:
        for pronoun, adjective in PREDICATE.findall(pair.target):
            if adjective in FORMS:
                meaning = ("f" if pronoun.lower().startswith("elle") else "m", pronoun.endswith("s"))
                assert meaning in FORMS[adjective], pair.target
                checked += 1
            elif not re.search(r"(?:é|i|u)(?:e|s|es)?$", adjective):  # participles have a test of their own
                adverbs = ("déjà", "midi", "minuit", "encore", "souvent", "mal")
                assert adjective in (*INVARIABLE.split(), *adverbs), (pair.target, adjective)
    assert checked > 5_000


def ending_of(participle: str) -> tuple[str, bool]:
    """Gender and number that the ending of a participle in -é, -i or -u shows."""
    bare = participle.removesuffix("s")
    return ("f" if bare.endswith("e") else "m", participle.endswith("s"))


def test_negation_has_both_halves_and_un_becomes_de(pairs):
    for pair in pairs:
        english = re.findall(r"\b(?:not|never|cannot|no)\b|n't\b", pair.source)
        found = words(pair.target)
        assert sum(word in ("ne", "n'") for word in found) == len(english), pair.target
        halves = sum(word in ("pas", "jamais", "plus") for word in found) - (" than " in pair.source)  # plus grand que
        assert halves == len(english), pair.target
    assert not offences(pairs, r"\bn(?:e |')(?:a|ai|ont|avons) (?:pas|jamais) \w+ (?:un|une) \w")
    assert offences(pairs, r"\b(?:pas|jamais) \w+ d(?:e |')\w")


def test_pronouns_and_possessives_have_the_form_that_their_noun_asks_for(pairs):
    """A possessive agrees with what is owned, all others with their antecedent; so does a participle after *l'*."""
    checked = Counter()
    for pair in pairs:
        found, nouns = words(pair.target), nouns_of(pair)
        for antecedent in pair.antecedents:
            at, pronoun = antecedent.target, found[antecedent.target]
            if antecedent.noun is None or pronoun in ("s'", "se"):
                continue
            if antecedent.role == "owner":
                meanings = [next(meaning for j, meaning in sorted(nouns.items()) if j > at)]
            else:
                meanings = [nouns[j] for i, j in pair.links if i == antecedent.noun and j in nouns]
            asked = {"vowel": sounds_like_vowel(found[at + 1]), "leur": pronoun.startswith("leur")}
            assert any(pronoun in forms(antecedent.role, *meaning, **asked) for meaning in meanings), pair.target
            checked[pronoun] += 1
            if pronoun == "l'" and found[at + 1] in ("a", "ont"):
                participle = next(word for word in found[at + 2 :] if word != "pas")
                assert ending_of(participle) in meanings, pair.target
    assert {"il", "elle", "ils", "elles", "l'", "le", "la", "les", "son", "sa", "ses", "leur", "leurs"} <= set(checked)
    assert checked.total() > 9_000


def forms(role: str, gender: str, plural: bool, *, vowel: bool, leur: bool) -> tuple[str, ...]:
    """As subject and as object, or as possessive."""
    if role == "owner":
        if leur:
            return ("leurs" if plural else "leur",)
        return ("ses" if plural else "sa" if gender == "f" and not vowel else "son",)
    subject = ("elle" if gender == "f" else "il") + "s" * plural
    return subject, "les" if plural else "l'" if vowel else "la" if gender == "f" else "le"
