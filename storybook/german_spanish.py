"""Storybook's pronoun families in German and Spanish: the same English sentences, with other targets.

The English comes from the families themselves; this module writes what each sentence says in German, where *it* is
*er*, *sie* or *es* by the gender of its noun, or in Spanish, which leaves the pronoun out and shows the gender in
adjectives. Singular nouns and the past tense only, no word links. A model of three target languages
needs them: with storybook in French alone, it turns storybook's sentences French, whatever language is asked for.
"""

import re
from dataclasses import dataclass, replace
from random import Random

from .build import Storybook, generate
from .controls import alone, easy_group
from .families import HARD
from .lexicon import DEGREES, entries
from .phrases import StoryPair
from .pronouns import hard_group
from .scenes import Description, Sentence
from .splits import split_of

# The English verb (*fit in* only under negation): German, Spanish, and the participles of their passives. The subject
# goes before it; $o is the object, $i the oblique, in German with its case; ~ agrees with the subject, or with the noun
# after the slash.
_CLAUSES = """
    chase: jagte $o.acc: persiguió a $o|attack: griff $o.acc an: atacó a $o: angegriffen: fue ~atacado
    flee from: floh vor $o.dat: huyó de $o|avoid: mied $o.acc: evitó a $o
    hide from: versteckte sich vor $o.dat: se escondió de $o
    push: schubste $o.acc: empujó a $o: geschubst: fue ~empujado
    hit: schlug $o.acc: golpeó a $o: geschlagen: fue ~golpeado
    insult: beleidigte $o.acc: insultó a $o: beleidigt: fue ~insultado
    fit in: passte nicht in $o.acc: no cabía en $o|go into: ging nicht in $o.acc hinein: no entraba en $o
    be stuck in: steckte in $o.dat fest: estaba ~atascado en $o
    hold: konnte $o.acc nicht fassen: no podía contener $o
    contain: konnte $o.acc nicht aufnehmen: no podía contener $o
    have no room for: hatte keinen Platz für $o.acc: no tenía sitio para $o|give: gab $i.dat $o.acc: le dio $o a $i
    offer: bot $i.dat $o.acc an: le ofreció $o a $i|bring: brachte $i.dat $o.acc: le llevó $o a $i
    sell: verkaufte $i.dat $o.acc: le vendió $o a $i|lend: lieh $i.dat $o.acc: le prestó $o a $i
    take: nahm $i.dat $o.acc weg: le quitó $o a $i|receive: bekam $o.acc von $i.dat: recibió $o de $i
    accept: nahm $o.acc von $i.dat an: aceptó $o de $i|buy: kaufte $o.acc von $i.dat: le compró $o a $i
    borrow: lieh sich $o.acc von $i.dat: le pidió ~prestado/o $o a $i
    hide: verbarg $o.acc: escondía $o: verborgen: estaba ~escondido
    conceal: verdeckte $o.acc: ocultaba $o: verdeckt: estaba ~oculto
    obscure: verdeckte $o.acc: tapaba $o: verdeckt: estaba ~tapado
    protect: schützte $o.acc: protegía $o: geschützt: estaba ~protegido
    shelter: schützte $o.acc: resguardaba $o: geschützt: estaba ~resguardado|crush: zerdrückte $o.acc: aplastó $o
    flatten: drückte $o.acc platt: aplanó $o|damage: beschädigte $o.acc: dañó $o
    collapse under: brach unter $o.dat zusammen: se hundió bajo $o
    give way under: gab unter $o.dat nach: cedió bajo $o|crack under: bekam unter $o.dat Risse: se agrietó bajo $o
    fill: füllte $o.acc aus $i.dat: llenó $o desde $i|empty: leerte $o.acc in $i.acc: vació $o en $i
    load: belud $o.acc aus $i.dat: cargó $o desde $i|unload: entlud $o.acc in $i.acc: descargó $o en $i
    cross: überquerte $o.acc nicht: no cruzó $o|enter: betrat $o.acc nicht: no entró en $o
    leave: verließ $o.acc: dejó $o|carry: trug $o.acc nicht: no llevó $o|lift: hob $o.acc nicht hoch: no levantó $o
    alone sleep: schlief: durmió|alone rest: ruhte sich aus: descansó|alone stop: hielt an: se detuvo
    alone stay: blieb da: se quedó|alone eat: fraß: comió|alone leave: ging weg: se fue
    alone return: kam zurück: volvió|alone hide: versteckte sich: se escondió"""

# An English predicate: German, its verb last, and Spanish; ^ stands before what takes a degree, ~ before what agrees.
_PREDICATES = """
    be hungry: ^hungrig war: estaba ^~hambriento|be greedy: ^gierig war: era ^~glotón
    wanted to eat: fressen wollte: quería comer|be looking for food: nach Futter suchte: buscaba comida
    have not eaten: nicht gefressen hatte: no había comido|be weak: ^schwach war: era ^débil
    be small: ^klein war: era ^~pequeño|be defenceless: wehrlos war: estaba ~indefenso
    be slow: ^langsam war: era ^~lento|be alone: allein war: estaba ~solo
    be easy to catch: leicht zu fangen war: era fácil de atrapar|be big: ^groß war: era ^grande
    be wide: ^breit war: era ^~ancho|be huge: riesig war: era enorme|be narrow: ^eng war: era ^~estrecho
    be tiny: winzig war: era ~diminuto|have eaten enough: genug gefressen hatte: había comido bastante
    have already eaten: schon gefressen hatte: ya había comido
    have just eaten: gerade gefressen hatte: acababa de comer
    be no longer hungry: nicht mehr hungrig war: ya no tenía hambre
    have plenty of food: viel Futter hatte: tenía mucha comida|be skinny: ^mager war: estaba ^~flaco
    wanted food: Futter wollte: quería comida|needed food: Futter brauchte: necesitaba comida
    be high: ^hoch war: era ^~alto|be tall: ^hoch war: era ^~alto|be low: ^niedrig war: era ^~bajo
    be solid: ^solide war: era ^~sólido|be sturdy: ^stabil war: era ^~robusto
    be made of stone: aus Stein war: era de piedra|be made of iron: aus Eisen war: era de hierro
    be made of glass: aus Glas war: era de cristal|be made of cardboard: aus Pappe war: era de cartón
    be thin: ^dünn war: era ^~delgado|be fragile: ^zerbrechlich war: era ^frágil
    be in bad condition: in schlechtem Zustand war: estaba en mal estado
    be in ruins: verfallen war: estaba en ruinas|be heavy: ^schwer war: era ^~pesado
    be massive: wuchtig war: era ~macizo|be badly made: schlecht gemacht war: estaba mal ~hecho
    be full: ^voll war: estuvo ^~lleno|be empty: ^leer war: estuvo ^~vacío
    be generous: ^großzügig war: era ^~generoso|be kind: ^nett war: era ^amable
    be helpful: ^hilfsbereit war: era ^servicial|enjoyed sharing: gern teilte: disfrutaba compartiendo
    be grateful: ^dankbar war: estaba ^~agradecido|be touched: ^gerührt war: estaba ^~conmovido
    be lucky: Glück hatte: tenía suerte|said thank you: danke sagte: dio las gracias
    be angry: wütend war: estaba ~enfadado|be furious: zornig war: estaba ~furioso
    be in a bad mood: schlecht gelaunt war: estaba de mal humor
    be hated by everyone: allen verhasst war: era ~odiado por todos
    be despised by everyone: von allen verachtet wurde: era ~despreciado por todos
    be guilty: schuldig war: era culpable|be punished: bestraft wurde: fue ~castigado
    be scolded: ausgeschimpft wurde: fue ~regañado|be tied up: angebunden wurde: fue ~atado
    be tired: ^müde war: estaba ^~cansado|be lazy: ^faul war: era ^~perezoso|be sick: ^krank war: estaba ^~enfermo
    be shy: ^scheu war: era ^~tímido|be dark: ^dunkel war: estaba ^~oscuro
    be flooded: ^überschwemmt war: estaba ^~inundado|be dangerous: ^gefährlich war: era ^~peligroso
    be sad: ^traurig war: estaba ^triste|be on fire: in Flammen stand: estaba en llamas
    be wounded: verletzt war: estaba ~herido|be curious: ^neugierig war: era ^~curioso"""


def _table(table: str) -> dict[str, list[str]]:
    rows = ([part.strip() for part in entry.split(":")] for entry in entries(table))
    return {english: others for english, *others in rows}


_VERBS, _STATES = _table(_CLAUSES), _table(_PREDICATES)
_LEFT_EMPTY = "estaba ^~vacío"  # of a place, not of a jug that is emptied
_JOINTS = {
    "because": (", weil", " porque"), "until": (", bis", " hasta que"), ", so": (", sodass", ", así que"),
    ".": (".", "."),
}

_GENDERS = "mfn"
_ENDINGS = {  # of *dieser*, of *ein*, *mein* and *unser*, of an adjective after either
    "nom": (("er", "e", "es"), ("", "e", ""), ("e", "e", "e"), ("er", "e", "es")),
    "acc": (("en", "e", "es"), ("en", "e", ""), ("en", "e", "e"), ("en", "e", "es")),
    "dat": (("em", "er", "em"), ("em", "er", "em"), ("en", "en", "en"), ("en", "en", "en")),
}
_ARTICLES = {"nom": ("der", "die", "das"), "acc": ("den", "die", "das"), "dat": ("dem", "der", "dem")}
_OWN = {"a": "ein", "my": "mein", "our": "unser"}
_SPANISH = {"the": ("el", "la"), "a": ("un", "una"), "this": ("este", "esta"), "my": ("mi", "mi"),
            "our": ("nuestro", "nuestra")}


@dataclass(frozen=True)
class Declined:
    """A noun phrase in its cases; Spanish has only one, without a name."""

    gender: str
    cases: dict[str, str]


def _german(described: Description) -> Declined:
    word, gender, *_ = described.noun.de_es
    subject, _, oblique = word.partition("/")
    column = _GENDERS.index(gender)
    own = _OWN.get(described.det)
    cases = {}
    for case, endings in _ENDINGS.items():
        of_dies, of_own, after_dies, after_own = (several[column] for several in endings)
        article = _ARTICLES[case][column] if described.det == "the" else own + of_own if own else "dies" + of_dies
        looks = [adjective.de_es[0] + (after_own if own else after_dies) for adjective in described.adjectives]
        cases[case] = " ".join([article, *looks, subject if case == "nom" else oblique or subject])
    return Declined(gender, cases)


def _spanish(described: Description) -> Declined:
    *_, word, gender = described.noun.de_es
    looks = [_agreeing(adjective.de_es[1], gender) for adjective in described.adjectives]
    return Declined(gender, {"": " ".join([_SPANISH[described.det][gender == "f"], word, *looks])})


def _agreeing(word: str, gender: str) -> str:
    feminine = {"glotón": "glotona"}  # *marrón* is both
    return feminine.get(word, re.sub("o$", "a", word)) if gender == "f" else word


def _written(pattern: str, nouns: dict[str, Declined], about: str = "s", degree: str = "") -> str:
    """The text of a pattern of the tables; `about` is the noun that ~ agrees with."""
    words = []
    for word in pattern.replace("^", f"{degree} ").split():
        mark, word, role = word[0], *word.lstrip("$~").partition("/")[::2]
        if mark == "$":
            name, _, case = word.partition(".")
            word = nouns[name].cases[case]
        words.append(_agreeing(word, nouns[role or about].gender) if mark == "~" else word)
    return f"{' '.join(words)} ".replace(" a el ", " al ").replace(" de el ", " del ").rstrip()


def _english(pattern: str) -> str:
    """The English words of a pattern for `compose`: `@be/1 ^hungry/2` is *be hungry*."""
    return " ".join(re.sub(r"[@%^~]|/\S*", "", word) for word in pattern.partition(" = ")[0].split())


def _pair_of(sentence: Sentence, language: str, *, whole: bool) -> StoryPair:
    """A sentence, or without `whole` its main clause alone. KeyError: a word or a form that is not in the tables."""
    if sentence.time or sentence.form.tense != "past":
        raise KeyError("tense or time")
    if any(described.plural or not described.noun.de_es for described in sentence.nouns):
        raise KeyError("noun")
    es, joint = language == "es", sentence.joint
    nouns = dict(zip("soi", map(_spanish if es else _german, sentence.nouns), strict=False))
    verb = f"alone {sentence.verb.name}" if sentence.verb.group == "alone" else sentence.verb.name.partition(" ~")[0]
    verb_phrase = _VERBS[verb][es]
    if sentence.form.passive:
        participle = _VERBS[verb][2 + es]
        verb_phrase = f"{participle} por $o" if es else f"wurde von $o.dat {participle}"
    text = _written(f"$s {verb_phrase}" if es else f"$s.nom {verb_phrase}", nouns)
    if whole:
        predicate = _english(sentence.predicate)
        state = _LEFT_EMPTY if es and joint == "because" and predicate == "be empty" else _STATES[predicate][es]
        meant = "soi"[("subject", "object", "oblique").index(sentence.meant)]
        degree = DEGREES[sentence.degree][1 + es] if sentence.degree else ""
        words = _written(state, nouns, meant, degree)
        if not es:
            pronoun = ("er", "sie", "es")[_GENDERS.index(nouns[meant].gender)]
            rest, _, finite = words.rpartition(" ")
            words = f"{pronoun} {finite} {rest}" if joint == "." else f"{pronoun} {words}"
        words = words[0].upper() + words[1:] if joint == "." else words
        text = f"{text}{_JOINTS[joint][es]} {words}"
    return _retold(sentence.write(), f"{text[0].upper()}{text[1:]}.", language, "" if whole else joint)


def _retold(pair: StoryPair, target: str, language: str, cut_at: str) -> StoryPair:
    source = re.split(rf"\s*{re.escape(cut_at)}\s", pair.source)[0].rstrip(".") + "." if cut_at else pair.source
    words = re.findall(r"[\w-]+|[^\w\s]", target)
    places = [place for place, word in enumerate(words) if word.lower() in ("er", "sie", "es")]
    antecedents = tuple(replace(one, target=places[-1]) for one in pair.antecedents) if places and not cut_at else ()
    return replace(pair, source=source, target=target, target_language=language, links=(), antecedents=antecedents,
                   roles=(), length=max(len(source.split()), len(words)))


def _group(rng: Random, language: str, split: str) -> list[StoryPair]:
    """Sentences of a pronoun family, occasionally their main clauses alone, or easy ones, or one about one noun."""
    kind = rng.choices(("hard", "easy", "alone"), (6, 6, 3))[0]
    if kind == "alone":
        return [_pair_of(alone(rng, split), language, whole=True)]
    name, whole = (rng.choice(HARD), rng.random() < 0.85) if kind == "hard" else ("", True)
    key = f"{split}/{language}/{rng.random()}"
    group = hard_group(name, rng, split, key) if name else easy_group(rng, split, key)
    return [_pair_of(sentence, language, whole=whole) for sentence in group]


def _sentences(language: str, split: str, size: int, seed: int) -> tuple[StoryPair, ...]:
    rng = Random(f"{seed}/{split}/{language}")
    made: dict[str, StoryPair] = {}
    while len(made) < size:
        try:
            group = _group(rng, language, split)
        except KeyError:  # a word or a form that is not in the tables
            continue
        made.update((pair.source, pair) for pair in group if split_of(pair.combinations) == split)
    pairs = list(made.values())
    rng.shuffle(pairs)
    return tuple(pairs[:size])


def in_language(target: str, *, seed: int = 0, train_size: int | None = None) -> Storybook:
    """Storybook in French (`fr`), as `generate` writes it, or its pronoun families in German (`de`) or Spanish (`es`):
    10,000 training pairs unless `train_size` says otherwise, 100 for val and 400 for test, whose combinations of words
    are held out as in French."""
    if target == "fr":
        return generate(seed=seed, **({} if train_size is None else {"train_size": train_size}))
    sizes = {"train": 10_000 if train_size is None else train_size, "val": 100, "test": 400}
    train, val, test = (_sentences(target, split, size, seed) for split, size in sizes.items())
    return Storybook(train, val, test, idioms=())
