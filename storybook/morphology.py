"""How words change: English and French inflection, and how neighbouring words change each other in French.

Covers exactly the grammar that storybook uses: third persons, `je` and `nous`; four French tenses and the present
subjunctive; agreement; elision and contraction with h aspiré.  It is not a general conjugator.
"""

from functools import cache

# ---------------------------------------------------------------------------------------------------------- English
_DOUBLED = {"run", "swim", "cut"}
_VOWELS = "aeiouyàâéèêëîïôùûœæ"
_FINITE = {  # singular, plural
    ("be", "past"): ("was", "were"), ("be", "present"): ("is", "are"),
    ("have", "past"): ("had", "had"), ("have", "present"): ("has", "have"),
}


def english_plural(noun: str) -> str:
    """The regular plural, which is also the third person of a verb: the lexicon gives the other plurals."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def english_past(base: str) -> str:
    """The regular past, which is also the participle."""
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base.removesuffix("e") + "ed"


def english_ing(base: str) -> str:
    """chase -> chasing, run -> running."""
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    return base.removesuffix("e") + "ing"


def english_finite(verb: str, tense: str, *, plural: bool) -> str:
    """was, were, is, are, had, has, have."""
    return _FINITE[verb, "present" if tense == "present" else "past"][plural]


def english_article(word: str, following: str) -> str:
    """A word as it stands before another: *a* becomes *an* before a vowel."""
    return "an" if word == "a" and following[0].lower() in "aeiou" else word


# ----------------------------------------------------------------------------------------------------------- French
_FEMININE = {
    "blanc": "blanche", "vieux": "vieille", "beau": "belle", "nouveau": "nouvelle", "gros": "grosse", "bas": "basse",
    "bon": "bonne", "gentil": "gentille", "long": "longue",
}
_BEFORE_VOWEL = {"beau": "bel", "vieux": "vieil", "nouveau": "nouvel", "ce": "cet", "ma": "mon", "sa": "son"}
_UNCHANGED = {"en", "sans", "de"}  # the first words of expressions: *en colère*
# h aspiré: before these there is no elision and no *mon, bel, cet* (plural and feminine forms too).
_ASPIRATED = ("hibou", "haie", "hérisson", "hangar", "hache", "haut", "huit", "onze")


def starts_with_vowel(word: str) -> bool:
    """Whether a French word makes the word before it elide: vowels and mute h, but not h aspiré or *onze*."""
    word = word.lower()
    return word[0] in _VOWELS + "h" and not word.startswith(_ASPIRATED)


def before_vowel(word: str, following: str) -> str:
    """An adjective or determiner in the singular as it stands before another word: *bel arbre*, *mon oreille*."""
    return _BEFORE_VOWEL.get(word, word) if following and starts_with_vowel(following) else word


def french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + ("x" if word.endswith(("eau", "hibou")) else "s")


def french_feminine(adjective: str) -> str:
    if adjective in _FEMININE:
        return _FEMININE[adjective]
    for ending, feminine in (("eux", "euse"), ("if", "ive"), ("er", "ère"), ("el", "elle")):
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + feminine
    return adjective.removesuffix("e") + "e"


def agree(adjective: str, gender: str, *, plural: bool, before: str = "") -> str:
    """The form of an adjective or participle; `before` is the word it stands before (*bel arbre*)."""
    if adjective in _UNCHANGED:
        return adjective
    form = french_feminine(adjective) if gender == "f" else adjective
    return french_plural(form) if plural else before_vowel(form, before)


_ELIDED = {"le", "la", "de", "ne", "que", "se", "ce", "me", "je", "jusque"}
_CONTRACTED = {
    ("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux", ("de", "des"): "de",
    ("de", "de"): "de",
}


def elide(word: str, following: str) -> str:
    """A word as it stands before another: *l'*, *qu'*, *s'il*."""
    if word == "si":
        return "s'" if following in ("il", "ils") else word
    elides = word in _ELIDED and (starts_with_vowel(following) or (word, following) == ("jusque", "à"))
    return word[:-1] + "'" if elides else word


def contract(word: str, following: str) -> str | None:
    """du, des, au, aux, de before an indefinite *des* or *de*, or None."""
    return _CONTRACTED.get((word, following))


# Infinitive, il, nous, ils, participle, and the stem of the future where it is not the infinitive.
_IRREGULAR = """
    être est sommes sont été ser|avoir a avons ont eu aur|pouvoir peut pouvons peuvent pu pourr
    vouloir veut voulons veulent voulu voudr|devoir doit devons doivent dû devr|voir voit voyons voient vu verr
    lire lit lisons lisent lu|prendre prend prenons prennent pris|vendre vend vendons vendent vendu
    perdre perd perdons perdent perdu|attendre attend attendons attendent attendu|rire rit rions rient ri
    entendre entend entendons entendent entendu|suivre suit suivons suivent suivi|fuir fuit fuyons fuient fui
    poursuivre poursuit poursuivons poursuivent poursuivi|craindre craint craignons craignent craint
    peindre peint peignons peignent peint|ouvrir ouvre ouvrons ouvrent ouvert|offrir offre offrons offrent offert
    dormir dort dormons dorment dormi|partir part partons partent parti|courir court courons courent couru courr
    venir vient venons viennent venu viendr|revenir revient revenons reviennent revenu reviendr
    contenir contient contenons contiennent contenu contiendr|recevoir reçoit recevons reçoivent reçu recevr
    construire construit construisons construisent construit|acheter achète achetons achètent acheté achèter
    soulever soulève soulevons soulèvent soulevé soulèver|appeler appelle appelons appellent appelé appeller
    protéger protège protégeons protègent protégé|céder cède cédons cèdent cédé
    nettoyer nettoie nettoyons nettoient nettoyé nettoier|envoyer envoie envoyons envoient envoyé enverr"""
_FORMS = {entry.split()[0]: entry.split()[1:] for entry in _IRREGULAR.replace("\n", "|").split("|") if entry}
_JE = {"être": "suis", "avoir": "ai", "pouvoir": "peux", "vouloir": "veux"}
_SUBJUNCTIVE = {"être": ("soit", "soient")}


@cache
def _forms(infinitive: str) -> list[str]:
    """Il, nous, ils, participle, stem of the future."""
    if infinitive in _FORMS:
        forms = _FORMS[infinitive]
        return [*forms, infinitive.removesuffix("e")] if len(forms) == 4 else forms
    stem = infinitive[:-2]
    if infinitive.endswith("ir"):
        return [stem + "it", stem + "issons", stem + "issent", stem + "i", infinitive]
    soft = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(stem[-1], stem)
    return [stem + "e", soft + "ons", stem + "ent", stem + "é", infinitive]


def participle(infinitive: str) -> str:
    return _forms(infinitive)[3]


def conjugate(infinitive: str, tense: str, *, person: int = 3, plural: bool = False) -> str:
    """A finite form: present, imperfect, future or subjunctive, the last two in the third person only."""
    il, nous, ils, _, future = _forms(infinitive)
    if tense == "present":
        if person == 3:
            return ils if plural else il
        je = il[:-1] + "s" if il.endswith("t") else il + "s" if il.endswith("d") else il
        return nous if plural else _JE.get(infinitive, je)
    if tense == "imperfect":
        stem = "ét" if infinitive == "être" else nous.removesuffix("ons")
        if plural and person == 1:  # nous mangions, nous lancions: the soft stem is for a, o and u only
            return (infinitive.removesuffix("er") if infinitive.endswith(("ger", "cer")) else stem) + "ions"
        return stem + ("aient" if plural else "ais" if person == 1 else "ait")
    if tense == "future":
        return future + ("ont" if plural else "a")
    return _SUBJUNCTIVE[infinitive][plural]
