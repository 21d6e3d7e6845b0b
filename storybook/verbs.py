"""The verbs, in groups that hold out noun pairs together: *chased* and *fled from* share their held-out pairs."""

from dataclasses import dataclass

from .lexicon import entries
from .morphology import english_past


@dataclass(frozen=True)
class Verb:
    """A verb with its prepositions in both languages (words separated by spaces, "" for none).

    `prep` goes with the first object and `prep2` with the second, each (English, French). `state` verbs put their past
    in the French imperfect; the others in the perfect.
    """

    name: str  # the English base and prepositions, ~ for the first object if there are two
    en: tuple[str, str, str]  # base, past, participle
    fr: str
    group: str
    prep: tuple[str, str] = ("", "")
    prep2: tuple[str, str] = ("", "")
    aux: str = "avoir"
    reflexive: bool = False  # in French
    state: bool = False
    lasting: bool = False  # said in the progressive


@dataclass(frozen=True)
class SetVerb:
    """A verb that is a whole expression (*had no room for*): a pattern for `compose`, with $S and $O."""

    name: str
    pattern: str
    group: str
    state = False


# English base, /past and /participle if irregular, [preposition] [~ second preposition] = French likewise; the first
# object stands where ~ is.
# Marks on the French verb: * state, - lasting, + conjugated with être, se reflexive (with être too).
_VERBS = {
    "meet": """
        chase = poursuivre|attack = attaquer|hunt = chasser|stalk = traquer|catch/caught = attraper
        flee/fled from = fuir|avoid = éviter|fear = craindre*|hide/hid/hidden from = se cacher de|hit/hit = frapper
        push = pousser|insult = insulter|see/saw/seen = voir|find/found = trouver|hear/heard = entendre
        wake/woke/woken up = réveiller|call = appeler|follow = suivre|help = aider|watch = regarder-
        look for = chercher-|love = aimer*|look at = regarder-|talk about = parler de|greet = saluer""",
    "goods": """
        carry = porter|lift = soulever|buy/bought = acheter|sell/sold = vendre|lose/lost = perdre
        take/took/taken = prendre|paint = peindre-|draw/drew/drawn = dessiner-|clean = nettoyer-|open = ouvrir
        close = fermer|break/broke/broken = casser|hide/hid/hidden = cacher|eat/ate/eaten = manger-|want = vouloir*
        wash = laver-|build/built = construire-|read/read = lire-|cut/cut = couper-|show/showed/shown = montrer""",
    "transfer": """
        give/gave/given ~ to = donner ~ à|offer ~ to = offrir ~ à|bring/brought ~ to = apporter ~ à
        send/sent ~ to = envoyer ~ à|sell/sold ~ to = vendre ~ à|lend/lent ~ to = prêter ~ à
        show/showed/shown ~ to = montrer ~ à|take/took/taken ~ from = prendre ~ à|buy/bought ~ from = acheter ~ à
        borrow ~ from = emprunter ~ à|receive ~ from = recevoir ~ de|accept ~ from = accepter ~ de""",
    "contain": """
        fit/fit in = entrer* dans|go/went/gone into = rentrer* dans|hold/held = contenir|contain = contenir""",
    "view": """
        hide/hid/hidden = cacher*|conceal = dissimuler*|obscure = masquer*|protect = protéger*|shelter = abriter*""",
    "crush": """
        crush = écraser|flatten = aplatir|damage = abîmer|collapse under = se effondrer sous
        give/gave/given way under = céder sous|crack under = se fissurer sous""",
    "pour": """
        fill ~ from = remplir ~ à partir de|empty ~ into = vider ~ dans|load ~ from = charger ~ à partir de
        unload ~ into = décharger ~ dans""",
    "cross": """
        cross = traverser|enter = entrer+ dans|leave/left = quitter|visit = visiter""",
    "alone": """
        sleep/slept = dormir-|run/ran/run = courir-|swim/swam/swum = nager-|walk = marcher-|dance = danser-
        eat/ate/eaten = manger-|jump = sauter-|play = jouer-|wait = attendre-|arrive = arriver+
        fall/fell/fallen = tomber+|leave/left = partir+|stay = rester+|return = revenir+|hide/hid/hidden = se cacher
        rest = se reposer-|stop/stopped = se arrêter|laugh = rire-|work = travailler-""",
}


def _verb(group: str, entry: str) -> Verb:
    english, french = entry.split(" = ")
    forms, *en = english.split()
    base, *irregular = forms.split("/")
    past = irregular[0] if irregular else english_past(base)
    reflexive = french.startswith("se ")
    marked, *fr = french.removeprefix("se ").split()
    infinitive = marked.rstrip("*+-")
    mark = marked.removeprefix(infinitive)
    sides = [[preposition.strip() for preposition in " ".join(side).split("~")] + [""] for side in (en, fr)]
    prep, prep2 = list(zip(*sides, strict=True))[:2]
    return Verb(
        " ".join([base, *en]), (base, past, (irregular or [past])[-1]), infinitive, group, prep, prep2,
        "être" if reflexive or mark == "+" else "avoir", reflexive, mark == "*", mark == "-",
    )


VERBS = {(group, verb.name): verb
         for group, table in _VERBS.items() for entry in entries(table) for verb in (_verb(group, entry),)}


def verbs(group: str, names: str) -> tuple[Verb, ...]:
    """Verbs of a group by name, the names separated by commas."""
    return tuple(VERBS[group, name.strip()] for name in names.split(","))
