"""How words change: English and French inflection, and how neighbouring words change each other in French.

Covers exactly the grammar that storybook uses: third persons, `je` and `nous`; four French tenses and the present
subjunctive; agreement; elision and contraction with h aspiré.  It is not a general conjugator.
"""

# ---------------------------------------------------------------------------------------------------------- English
_DOUBLED = {"run", "swim", "get", "hit", "put", "sit", "cut", "stop", "drop", "hug", "fit", "win", "knit", "dig", "rub"}
_VOWELS = "aeiouyàâéèêëîïôùûœæ"
_BE = {"past": ("was", "were"), "present": ("is", "are")}
_HAVE = {"past": ("had", "had"), "present": ("has", "have")}


def english_plural(noun: str) -> str:
    """Regular plurals only: the lexicon gives the others."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def english_third(base: str) -> str:
    """chase -> chases, watch -> watches, carry -> carries."""
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    return english_plural(base)


def english_ing(base: str) -> str:
    """chase -> chasing, run -> running, lie -> lying."""
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"


def english_be(tense: str, *, plural: bool, first: bool = False) -> str:
    """was, were, is, are; am for a singular first person."""
    if first and not plural and tense == "present":
        return "am"
    return _BE[tense][plural]


def english_have(tense: str, *, plural: bool, first: bool = False) -> str:
    return _HAVE[tense][plural or first]


def english_article(following: str) -> str:
    return "an" if following[0].lower() in "aeiou" else "a"


# ----------------------------------------------------------------------------------------------------------- French
_FEMININE = {
    "blanc": "blanche", "vieux": "vieille", "beau": "belle", "nouveau": "nouvelle", "gros": "grosse", "bas": "basse",
    "bon": "bonne", "gentil": "gentille", "long": "longue",
}  # fmt: skip
_BEFORE_VOWEL = {"beau": "bel", "vieux": "vieil", "nouveau": "nouvel"}
_UNCHANGED = {"en", "sans", "de"}  # the first words of expressions: *en colère*
# h aspiré: before these there is no elision and no *mon, bel, cet* (plural and feminine forms too).
_ASPIRATED = ("hibou", "haie", "hérisson", "hangar", "hache", "haut", "huit", "onze")


def starts_with_vowel(word: str) -> bool:
    """Whether a French word makes the word before it elide: vowels and mute h, but not h aspiré or *onze*."""
    word = word.lower()
    if word.startswith("h"):
        return not word.startswith(_ASPIRATED)
    return word[0] in _VOWELS and word != "onze"


def french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word == "bleu":
        return "bleus"
    if word.endswith(("eau", "eu", "hibou", "genou", "bijou")):
        return word + "x"
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + "s"


def french_feminine(adjective: str) -> str:
    if adjective in _FEMININE:
        return _FEMININE[adjective]
    for ending, feminine in (("eux", "euse"), ("if", "ive"), ("er", "ère"), ("el", "elle"), ("en", "enne")):
        if adjective.endswith(ending):
            return adjective[: -len(ending)] + feminine
    return adjective if adjective.endswith("e") else adjective + "e"


def agree(adjective: str, gender: str, *, plural: bool, before: str = "") -> str:
    """The form of an adjective or participle; `before` is the word it stands before (*bel arbre*)."""
    if adjective in _UNCHANGED:
        return adjective
    if gender == "m" and not plural and before and starts_with_vowel(before):
        return _BEFORE_VOWEL.get(adjective, adjective)
    form = french_feminine(adjective) if gender == "f" else adjective
    return french_plural(form) if plural else form


_ELIDED = {"le", "la", "de", "ne", "que", "se", "ce", "me", "je", "jusque"}
_CONTRACTED = {
    ("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux", ("de", "des"): "de",
    ("de", "de"): "de",
}  # fmt: skip


def elide(word: str, following: str) -> str | None:
    """The elided form of a word before another (*l'*, *qu'*, *s'il*), or None."""
    if word == "si":
        return "s'" if following in ("il", "ils") else None
    if word in _ELIDED and (starts_with_vowel(following) or (word, following) == ("jusque", "à")):
        return word[:-1] + "'"
    return None


def contract(word: str, following: str) -> str | None:
    """du, des, au, aux, de before an indefinite *des* or *de*, or None."""
    return _CONTRACTED.get((word, following))


# je, il, nous, ils; stem of the future; participle. The imperfect comes from nous, the subjunctive from ils.
_IRREGULAR = {
    "être": ("suis est sommes sont", "ser", "été"),
    "avoir": ("ai a avons ont", "aur", "eu"),
    "pouvoir": ("peux peut pouvons peuvent", "pourr", "pu"),
    "vouloir": ("veux veut voulons veulent", "voudr", "voulu"),
    "devoir": ("dois doit devons doivent", "devr", "dû"),
    "voir": ("vois voit voyons voient", "verr", "vu"),
    "lire": ("lis lit lisons lisent", "lir", "lu"),
    "prendre": ("prends prend prenons prennent", "prendr", "pris"),
    "vendre": ("vends vend vendons vendent", "vendr", "vendu"),
    "perdre": ("perds perd perdons perdent", "perdr", "perdu"),
    "attendre": ("attends attend attendons attendent", "attendr", "attendu"),
    "entendre": ("entends entend entendons entendent", "entendr", "entendu"),
    "suivre": ("suis suit suivons suivent", "suivr", "suivi"),
    "poursuivre": ("poursuis poursuit poursuivons poursuivent", "poursuivr", "poursuivi"),
    "fuir": ("fuis fuit fuyons fuient", "fuir", "fui"),
    "craindre": ("crains craint craignons craignent", "craindr", "craint"),
    "peindre": ("peins peint peignons peignent", "peindr", "peint"),
    "ouvrir": ("ouvre ouvre ouvrons ouvrent", "ouvrir", "ouvert"),
    "offrir": ("offre offre offrons offrent", "offrir", "offert"),
    "dormir": ("dors dort dormons dorment", "dormir", "dormi"),
    "partir": ("pars part partons partent", "partir", "parti"),
    "courir": ("cours court courons courent", "courr", "couru"),
    "venir": ("viens vient venons viennent", "viendr", "venu"),
    "revenir": ("reviens revient revenons reviennent", "reviendr", "revenu"),
    "contenir": ("contiens contient contenons contiennent", "contiendr", "contenu"),
    "recevoir": ("reçois reçoit recevons reçoivent", "recevr", "reçu"),
    "rire": ("ris rit rions rient", "rir", "ri"),
    "construire": ("construis construit construisons construisent", "construir", "construit"),
    "acheter": ("achète achète achetons achètent", "achèter", "acheté"),
    "soulever": ("soulève soulève soulevons soulèvent", "soulèver", "soulevé"),
    "appeler": ("appelle appelle appelons appellent", "appeller", "appelé"),
    "protéger": ("protège protège protégeons protègent", "protéger", "protégé"),
    "céder": ("cède cède cédons cèdent", "céder", "cédé"),
    "nettoyer": ("nettoie nettoie nettoyons nettoient", "nettoier", "nettoyé"),
    "envoyer": ("envoie envoie envoyons envoient", "enverr", "envoyé"),
}
_SUBJUNCTIVE = {"être": ("soit", "soient"), "avoir": ("ait", "aient")}


def _present(infinitive: str) -> tuple[str, str, str, str]:
    if infinitive in _IRREGULAR:
        je, il, nous, ils = _IRREGULAR[infinitive][0].split()
        return je, il, nous, ils
    stem = infinitive[:-2]
    if infinitive.endswith("er"):
        soft = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(stem[-1], stem)
        return stem + "e", stem + "e", soft + "ons", stem + "ent"
    if infinitive.endswith("ir"):
        return stem + "is", stem + "it", stem + "issons", stem + "issent"
    raise ValueError(f"expected a verb in -er, -ir or of the irregular table, got {infinitive!r}")


def participle(infinitive: str) -> str:
    if infinitive in _IRREGULAR:
        return _IRREGULAR[infinitive][2]
    return infinitive[:-2] + ("é" if infinitive.endswith("er") else "i")


def conjugate(infinitive: str, tense: str, *, person: int = 3, plural: bool = False) -> str:
    """A finite form; `tense` is present, imperfect, future or subjunctive (the last in the third person)."""
    je, il, nous, ils = _present(infinitive)
    if tense == "present":
        return (nous if person == 1 else ils) if plural else (je if person == 1 else il)
    if tense == "imperfect":
        stem = "ét" if infinitive == "être" else nous[:-3]
        if plural and person == 1:  # nous mangions, nous lancions: the soft stem is for a, o and u only
            stem = {"e": stem[:-1], "ç": stem[:-1] + "c"}.get(stem[-1], stem) if infinitive[-3] in "gc" else stem
            return stem + "ions"
        return stem + ("aient" if plural else "ais" if person == 1 else "ait")
    if tense == "future":
        stem = _IRREGULAR[infinitive][1] if infinitive in _IRREGULAR else infinitive
        return stem + ({1: "ons", 3: "ont"} if plural else {1: "ai", 3: "a"})[person]
    if tense == "subjunctive":
        return _SUBJUNCTIVE[infinitive][plural] if infinitive in _SUBJUNCTIVE else ils if plural else ils[:-2]
    raise ValueError(f"expected present, imperfect, future or subjunctive, got {tense!r}")
