"""Every French law of storybook, checked on every generated sentence by tables and patterns written out by hand."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from seq2see.storybook import StoryPair
from seq2see.storybook.lexicon import ADJECTIVES as LEXICON
from seq2see.storybook.lexicon import NOUNS
from seq2see.storybook.senses import SENSES
from .conftest import words as cut

# masculine, feminine if another form; a second masculine singular (before a vowel) after a slash
ADJECTIVES = """
grand grande|petit petite|gros grosse|beau/bel belle|vieux/vieil vieille|nouveau/nouvel nouvelle|jeune|bon bonne
joli jolie|long longue|rouge|bleu bleue|vert verte|jaune|blanc blanche|noir noire|gris grise|brun brune|rond ronde
propre|sale|mouillé mouillée|lourd lourde|vide|plein pleine|affamé affamée|fatigué fatiguée|heureux heureuse|triste
malade|courageux courageuse|paresseux paresseuse|fort forte|faible|lent lente|rapide|intelligent intelligente
gentil gentille|timide|fier fière|curieux curieuse|bruyant bruyante|calme|célèbre|riche|pauvre|froid froide
sucré sucrée|mûr mûre|large|étroit étroite|haut haute|bas basse|sombre|cassé cassée|cher chère|joyeux joyeuse|étrange
dangereux dangereuse|mince|énorme|gourmand gourmande|blessé blessée|seul seule|facile|minuscule|maigre|solide|fragile
massif massive|pourri pourrie|généreux généreuse|serviable|reconnaissant reconnaissante|touché touchée
nerveux nerveuse|contrarié contrariée|furieux furieuse|détesté détestée|redouté redoutée|coupable|puni punie
grondé grondée|attaché attachée|coincé coincée|fermé fermée|inondé inondée|couvert couverte|ouvert ouverte
boueux boueuse|endormi endormie|vivant vivante|passionnant passionnante|ennuyeux ennuyeuse|important importante
brûlé brûlée|creux creuse|rouillé rouillée|tordu tordue|rongé rongée|verni vernie|caché cachée|dissimulé dissimulée
masqué masquée|protégé protégée|abrité abritée|attaqué attaquée|mordu mordue|frappé frappée|insulté insultée|robuste"""
# What takes no ending.
INVARIABLE = "en sans de"
DETERMINERS = {  # gender (None: either), plural
    "le": ("m", False), "la": ("f", False), "l'": (None, False), "les": (None, True), "un": ("m", False),
    "une": ("f", False), "des": (None, True), "ce": ("m", False), "cet": ("m", False), "cette": ("f", False),
    "ces": (None, True), "mon": (None, False), "ma": ("f", False), "mes": (None, True), "son": (None, False),
    "sa": ("f", False), "ses": (None, True), "notre": (None, False), "nos": (None, True), "leur": (None, False),
    "leurs": (None, True), "chaque": (None, False), "quel": ("m", False), "quelle": ("f", False),
    "quels": ("m", True), "quelles": ("f", True), "du": ("m", False), "au": ("m", False), "aux": (None, True),
}
H_ASPIRE = re.compile(r"(hibou|haie|hérisson|hangar|hache|haut|huit)", re.IGNORECASE)
BEFORE_NOUN = "grand petit gros beau vieux nouveau jeune bon joli long gentil"


Forms = dict[str, set[tuple[str, bool]]]


def adjective_forms() -> tuple[Forms, set[str]]:
    """Form -> the (gender, plural) that it can be; and those of adjectives that stand before their noun."""
    forms: Forms = {}
    in_front = set()
    for entry in re.split(r"[\n|]", ADJECTIVES.strip()):
        first, feminine = (entry.split() * 2)[:2]
        masculine, *before_vowel = first.split("/")
        found = [(form, ("m", False)) for form in (masculine, *before_vowel)] + [(feminine, ("f", False))]
        for form, gender in ((masculine, "m"), (feminine, "f")):
            found.append((form if form[-1] in "sx" else form + ("x" if form.endswith("eau") else "s"), (gender, True)))
        for form, meaning in found:
            forms.setdefault(form, set()).add(meaning)
            in_front |= {form} if masculine in BEFORE_NOUN.split() else set()
    return forms, in_front


def sounds_like_vowel(word: str) -> bool:
    """Mute h and vowels, as a French reader hears them; not h aspiré, not onze."""
    word = word.lower()
    if word == "onze" or H_ASPIRE.match(word):
        return False
    return word[0] in "aeiouyâàéèêëîïôûùœæh"


FORMS, IN_FRONT = adjective_forms()


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
    checked = 0
    for pair in pairs:
        for determiner, before, meaning, after in noun_groups(pair):
            assert all(meaning in FORMS[adjective] for adjective in (*before, *after)), pair.target
            assert IN_FRONT.issuperset(before) and IN_FRONT.isdisjoint(after), pair.target
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
)


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
