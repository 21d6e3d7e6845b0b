"""The verbs, in groups that hold out noun pairs together: *chased* and *fled from* share their held-out pairs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verb:
    """A verb with its prepositions in both languages (words separated by spaces, "" for none).

    `prep` goes with the first object and `prep2` with the second, each (English, French). `state` verbs put their past
    in the French imperfect; the others in the perfect.
    """

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
    """A verb that is a whole expression, as a pattern pair for `compose` (*had no room for*)."""

    en: str
    fr: str
    group: str


# name: base past participle [preposition] [~ second preposition] = French likewise; ~ is where the first object stands.
# Marks on the French verb: * state, - lasting, + conjugated with être, se reflexive. The English base and prepositions
# are the verb's name.
_VERBS = {
    "meet": """
        chase chased chased = poursuivre; attack attacked attacked = attaquer; hunt hunted hunted = chasser
        stalk stalked stalked = traquer; catch caught caught = attraper; flee fled fled from = fuir
        avoid avoided avoided = éviter; fear feared feared = craindre*; hide hid hidden from = se cacher de
        hit hit hit = frapper; push pushed pushed = pousser; insult insulted insulted = insulter; see saw seen = voir
        find found found = trouver; hear heard heard = entendre; wake woke woken up = réveiller
        call called called = appeler; follow followed followed = suivre; help helped helped = aider
        watch watched watched = regarder-; look looked looked for = chercher-; love loved loved = aimer*
        look looked looked at = regarder-; talk talked talked about = parler de; greet greeted greeted = saluer""",
    "goods": """
        carry carried carried = porter; lift lifted lifted = soulever; buy bought bought = acheter
        sell sold sold = vendre; lose lost lost = perdre; take took taken = prendre
        paint painted painted = peindre-; draw drew drawn = dessiner-; clean cleaned cleaned = nettoyer-
        open opened opened = ouvrir; close closed closed = fermer; break broke broken = casser
        hide hid hidden = cacher; eat ate eaten = manger-; want wanted wanted = vouloir*; wash washed washed = laver-
        build built built = construire-; read read read = lire-; cut cut cut = couper-; show showed shown = montrer""",
    "transfer": """
        give gave given ~ to = donner ~ à; offer offered offered ~ to = offrir ~ à
        bring brought brought ~ to = apporter ~ à; send sent sent ~ to = envoyer ~ à
        sell sold sold ~ to = vendre ~ à; lend lent lent ~ to = prêter ~ à; show showed shown ~ to = montrer ~ à
        take took taken ~ from = prendre ~ à; buy bought bought ~ from = acheter ~ à
        borrow borrowed borrowed ~ from = emprunter ~ à; receive received received ~ from = recevoir ~ de
        accept accepted accepted ~ from = accepter ~ de""",
    "contain": """
        fit fit fit in = entrer* dans; go went gone into = rentrer* dans; hold held held = contenir
        contain contained contained = contenir""",
    "view": """
        hide hid hidden = cacher*; conceal concealed concealed = dissimuler*
        obscure obscured obscured = masquer*; protect protected protected = protéger*
        shelter sheltered sheltered = abriter*""",
    "crush": """
        crush crushed crushed = écraser; flatten flattened flattened = aplatir; damage damaged damaged = abîmer
        collapse collapsed collapsed under = se effondrer sous; give gave given way under = céder sous
        crack cracked cracked under = se fissurer sous""",
    "pour": """
        fill filled filled ~ from = remplir ~ à partir de; empty emptied emptied ~ into = vider ~ dans
        load loaded loaded ~ from = charger ~ à partir de
        unload unloaded unloaded ~ into = décharger ~ dans""",
    "cross": """
        cross crossed crossed = traverser; enter entered entered = entrer+ dans; leave left left = quitter
        visit visited visited = visiter""",
    "alone": """
        sleep slept slept = dormir-; run ran run = courir-; swim swam swum = nager-; walk walked walked = marcher-
        dance danced danced = danser-; eat ate eaten = manger-; jump jumped jumped = sauter-
        play played played = jouer-; wait waited waited = attendre-; arrive arrived arrived = arriver+
        fall fell fallen = tomber+; leave left left = partir+; stay stayed stayed = rester+
        return returned returned = revenir+; hide hid hidden = se cacher; rest rested rested = se reposer-
        stop stopped stopped = se arrêter; laugh laughed laughed = rire-; work worked worked = travailler-""",
}


def _verb(group: str, entry: str) -> tuple[str, Verb]:
    english, french = (side.split() for side in entry.split("="))
    base, past, part, *en = english
    reflexive = french[0] == "se"
    infinitive, *fr = french[reflexive:]
    sides = [" ".join(side).partition("~") for side in (en, fr)]
    verb = Verb(
        (base, past, part),
        infinitive.rstrip("*+-"),
        group,
        (sides[0][0].strip(), sides[1][0].strip()),
        (sides[0][2].strip(), sides[1][2].strip()),
        "être" if infinitive.endswith("+") else "avoir",
        reflexive,
        infinitive.endswith("*"),
        infinitive.endswith("-"),
    )
    return " ".join([base, *en]), verb


VERBS: dict[tuple[str, str], Verb] = {}
for _group, _table in _VERBS.items():
    for _entry in _table.replace("\n", ";").split(";"):
        if _entry.strip():
            _name, _made = _verb(_group, _entry)
            VERBS[_group, _name] = _made


def verbs(group: str, names: str) -> tuple[Verb, ...]:
    """Verbs of a group by name, the names separated by commas."""
    return tuple(VERBS[group, name.strip()] for name in names.split(","))
