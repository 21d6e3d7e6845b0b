"""The words: nouns by kind, adjectives, names, numbers, adverbs. Each English word has one French word and one gender.

Words with two meanings (*bank*, *seal*) are in `senses.py`. Plurals are regular unless written out.
"""

import re
from dataclasses import dataclass
from functools import cache

from .morphology import english_plural, french_plural


@dataclass(frozen=True, eq=False)  # there is one of each, so that caches need not look inside
class Noun:
    """A noun; `person` is the English pronoun of a person (he, she), or None for what is *it*."""

    en: str
    fr: str
    gender: str  # m or f
    kind: str
    en_plural: str
    fr_plural: str
    person: str | None = None


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective; `before` says that the French one stands before its noun."""

    en: str
    fr: str
    before: bool = False


# kind: English [plural] French [plural] gender. A plural is given with a slash where it is not regular.
_NOUNS = {
    "animal": """
        cat chat m|dog chien m|wolf/wolves loup m|bear ours m|fox renard m|lion lion m|rabbit lapin m|horse cheval m
        owl hibou m|duck canard m|squirrel écureuil m|monkey singe m|donkey âne m|pig cochon m|hedgehog hérisson m
        lamb agneau m|tiger tigre m|goat chèvre f|hen poule f|crow corneille f|mouse/mice souris f|cow vache f
        frog grenouille f|turtle tortue f|goose/geese oie f|giraffe girafe f|weasel belette f|otter loutre f
        ant fourmi f|spider araignée f|bee abeille f|panther panthère f""",
    "person": """
        boy garçon m|girl fille f|man/men homme m|woman/women femme f|king roi m|queen reine f|farmer fermier m
        baker boulanger m|doctor médecin m|princess princesse f|witch sorcière f|sailor marin m
        fisherman/fishermen pêcheur m|soldier soldat m|nun religieuse f|prince prince m""",
    "kin": """
        mother mère f|father père m|sister sœur f|brother frère m|aunt tante f|uncle oncle m
        grandmother grand-mère/grands-mères f|daughter fille_ f""",
    "food": """
        pear poire f|apple pomme f|cake gâteau m|loaf/loaves pain m|cheese fromage m|carrot carotte f|egg œuf m
        nut noix f|banana banane f|cherry/cherries cerise f|biscuit biscuit m|strawberry fraise f|orange orange f
        melon melon m|lemon citron m|sandwich sandwich m|tomato/tomatoes tomate f""",
    "container": """
        box boîte f|bag sac m|suitcase valise f|basket panier m|crate caisse f|bucket seau m|jug cruche f
        bottle bouteille f|bowl bol m|cup tasse f|glass verre m|pot pot m|basin bassine f|barrel tonneau m
        jar bocal m|drawer tiroir m|vase vase m|teapot théière f|chest coffre m|trophy trophée m|tank citerne f""",
    "furniture": """
        table table f|chair chaise f|shelf/shelves étagère f|wardrobe armoire f|statue statue f|bench banc m
        piano piano m|desk bureau m|stool tabouret m|bed lit m|cupboard placard m|armchair fauteuil m|lamp lampe f
        sofa canapé m""",
    "building": """
        wall mur m|barn grange f|house maison f|tower tour f|church église f|castle château m|mill moulin m
        bridge pont m|shed hangar m|garage garage m|lighthouse phare m|hut cabane f|school école f|stable écurie f
        hedge haie f|tree arbre m|oak chêne m|fence clôture f|hospital hôpital m|farm ferme f""",
    "place": """
        field champ m|forest forêt f|garden jardin m|meadow prairie f|park parc m|market marché m|island île f
        village village m|beach plage f|lake lac m""",
    "way": "street rue f|road route f|river rivière f|path chemin m|valley vallée f",
    "tool": """
        ladder échelle f|hammer marteau m|book livre m|umbrella parapluie m|bicycle vélo m|key clé f|saw scie f
        rope corde f|map carte f|hat chapeau m|scarf/scarves écharpe f|ball ballon m|knife/knives couteau m
        letter lettre f|drum tambour m|flute flûte f|axe hache f|clock horloge f|coat manteau m|shirt chemise f
        dress robe f|violin violon m|picture tableau m|mirror miroir m|candle bougie f|flag drapeau m
        kite cerf-volant/cerfs-volants m|doll poupée f|needle aiguille f|pen stylo m""",
    "vehicle": """
        car voiture f|truck camion m|cart charrette f|boat bateau m|train train m|plane avion m|bus bus m
        van camionnette f""",
    "body": """
        ear oreille f|paw patte f|tail queue f|nose nez m|head tête f|neck cou m|tooth/teeth dent f
        nest nid m""",
    "nature": """
        flower fleur f|star étoile f|stone pierre f|cloud nuage m|leaf/leaves feuille f|mountain montagne f
        rose rose f|shell coquillage m|feather plume f|mushroom champignon m|branch branche f""",
}
_SHE = {"girl", "woman", "queen", "princess", "witch", "nun", "mother", "sister", "aunt", "grandmother", "daughter"}


def _nouns() -> dict[str, Noun]:
    nouns = {}
    for kind, table in _NOUNS.items():
        for entry in table.replace("\n", "|").split("|"):
            if not entry.strip():
                continue
            en, fr, gender = entry.split()
            fr = fr.rstrip("_")  # *fille* is both girl and daughter
            en, _, en_plural = en.partition("/")
            fr, _, fr_plural = fr.partition("/")
            person = ("she" if en in _SHE else "he") if kind in ("person", "kin") else None
            nouns[en] = Noun(
                en, fr, gender, kind, en_plural or english_plural(en), fr_plural or french_plural(fr), person
            )
    return nouns


NOUNS = _nouns()


@cache
def pick(words: str) -> tuple[Noun, ...]:
    """Nouns by name or by kind: `pick("food tree")` is all food, and the tree."""
    return tuple(noun for word in words.split() for noun in NOUNS.values() if word in (noun.kind, noun.en))


# English French, those that stand before the noun marked with <.
_ADJECTIVES = """
    big <grand|small <petit|fat <gros|beautiful <beau|old <vieux|new <nouveau|young <jeune|good <bon|pretty <joli
    long <long|red rouge|blue bleu|green vert|yellow jaune|white blanc|black noir|grey gris|brown brun|round rond
    clean propre|dirty sale|wet mouillé|heavy lourd|empty vide|full plein|hungry affamé|tired fatigué
    happy heureux|sad triste|angry en_colère|sick malade|brave courageux|lazy paresseux|strong fort|weak faible
    slow lent|quick rapide|clever intelligent|kind <gentil|shy timide|proud fier|curious curieux|noisy bruyant
    quiet calme|famous célèbre|rich riche|poor pauvre|cold froid|sweet sucré|ripe mûr|wide large
    narrow étroit|high haut|low bas|dark sombre|broken cassé|tall <grand|huge énorme|expensive cher
    cheerful joyeux|strange étrange|dangerous dangereux|thin mince"""

ADJECTIVES: dict[str, Adjective] = {}
for _entry in _ADJECTIVES.replace("\n", "|").split("|"):
    if _entry.strip():
        _en, _fr = _entry.split()
        ADJECTIVES[_en] = Adjective(_en, _fr.lstrip("<").replace("_", " "), _fr.startswith("<"))


def adjectives(words: str) -> tuple[Adjective, ...]:
    return tuple(ADJECTIVES[word] for word in words.split())


# Which adjectives may describe which kind of noun, before it or after *was*.
_MINDS = "young tired happy sad sick brave clever kind shy proud curious cheerful"
_COLOURS = "red blue green yellow white black grey brown"
_WARES = f"big small beautiful old new {_COLOURS} heavy clean dirty broken"
DESCRIPTIONS = {
    kind: adjectives(words)
    for kind, words in {
        "animal": f"{_MINDS} big small fat beautiful old white black grey brown hungry lazy strong weak slow quick "
        "noisy quiet wet dirty strange dangerous",
        "person": f"{_MINDS} old lazy strong weak quiet famous rich poor strange hungry",
        "kin": _MINDS,
        "food": "small good beautiful red green yellow white sweet ripe cold round strange",
        "container": f"{_WARES} pretty empty full round strange",
        "furniture": "big small beautiful old new pretty red green white black heavy clean dirty broken expensive",
        "building": "big small beautiful old new pretty white grey strange famous dark",
        "place": "big small beautiful old pretty quiet strange dangerous famous",
        "way": "beautiful old pretty wide narrow long dark quiet strange dangerous famous",
        "tool": f"{_WARES} pretty expensive strange",
        "vehicle": f"{_WARES.removesuffix(' broken')} slow quick noisy expensive",
        "body": "big small beautiful pretty long dirty wet white black",
        "nature": "big small beautiful pretty red yellow white grey strange",
    }.items()
}
# Exceptions: for these kinds and adjectives, only these nouns.
_ONLY = {
    ("animal", "dangerous"): "wolf bear lion tiger fox dog horse pig spider bee goose panther",
    ("building", "famous"): "tower church castle bridge mill lighthouse school hospital wall",
    ("place", "famous"): "forest garden park market island village beach lake",
    ("place", "dangerous"): "forest island beach lake", ("way", "famous"): "street road river",
    ("food", "ripe"): "pear apple banana cherry strawberry orange melon lemon tomato",
    ("food", "sweet"): "pear apple cake banana cherry biscuit strawberry orange melon",
    ("food", "round"): "apple cake loaf cheese egg nut biscuit orange melon tomato",
    ("food", "red"): "apple cherry strawberry tomato", ("food", "green"): "apple pear melon tomato",
    ("food", "yellow"): "banana lemon pear melon apple cheese", ("food", "white"): "egg cheese cake",
    ("nature", "red"): "flower leaf rose mushroom star", ("nature", "yellow"): "flower leaf rose star",
    ("nature", "white"): "flower rose cloud stone shell feather mushroom star",
    ("nature", "grey"): "stone cloud mountain feather shell",
    ("body", "long"): "ear paw tail nose neck tooth", ("body", "wet"): "ear paw tail nose head neck",
    ("place", "new"): "garden park market village", ("place", "old"): "garden park market village forest",
    ("way", "new"): "street road path", ("way", "old"): "street road path",
    ("tool", "broken"): "ladder hammer umbrella bicycle key saw drum flute axe clock violin mirror candle kite doll "
    "needle pen",
    ("tool", "heavy"): "ladder hammer book bicycle saw rope drum axe clock coat picture mirror",
    ("container", "broken"): "box crate jug bottle bowl cup glass pot basin barrel jar vase teapot trophy tank",
}  # fmt: skip
_NEVER = {("old", "girl"), ("old", "boy"), ("old", "daughter"), ("old", "lamb"), ("young", "grandmother")}


@cache
def suits(adjective: Adjective, noun: Noun) -> bool:
    """Whether the adjective suits the noun: no ripe cakes, no broken coats, no old girls."""
    only = _ONLY.get((noun.kind, adjective.en))
    return (adjective.en, noun.en) not in _NEVER and (only is None or noun.en in only.split())


# Adjectives that do not go together on one noun: opposites and near-synonyms.
_CLASHES = (
    "big small", "big fat", "old young", "old new", "happy sad", "cheerful sad", "happy cheerful", "strong weak",
    "slow quick", "noisy quiet", "clean dirty", "rich poor", "wide narrow", "high low", "full empty",
    "beautiful pretty", "long round", "shy brave", "wet clean", "broken new", "lazy quick", "hungry fat",
)  # fmt: skip
_CLASHING = {frozenset(pair.split()) for pair in _CLASHES}


def clashes(one: str, other: str) -> bool:
    return one == other or frozenset((one, other)) in _CLASHING


@cache
def _stems() -> dict[str, str]:
    stems = {"cleaned": "clean", "cleans": "clean", "cleaning": "clean", "washed": "clean", "washes": "clean"}
    stems |= {"washing": "clean", "wash": "clean", "broke": "broken", "breaks": "broken", "break": "broken"}
    stems |= {"built": "old", "build": "old", "builds": "old", "building": "old"}
    stems |= {form: noun.en for noun in NOUNS.values() for form in (noun.en, noun.en_plural)}
    return stems | {word: word for word in (*ADJECTIVES, *(name.lower() for name, _ in NAMES))}


def repeats(english: str) -> bool:
    """Whether a sentence says a noun, adjective or name twice, or cleans what is clean, which nobody does."""
    stems = _stems()
    said = [stems[word] for word in re.findall(r"\w+", english.lower()) if word in stems]
    return len(set(said)) < len(said)


UNGRADED = frozenset(f"{_COLOURS} round broken empty full".split())  # never *very white*
WELCOME = frozenset(a.en for a in adjectives("beautiful pretty good clever happy cheerful famous strong clean brave"))
COMPARATIVES = adjectives("big small old young strong weak slow quick kind proud rich poor brave sad long high heavy")

NAMES = (
    ("Anna", "f"), ("Emma", "f"), ("Marie", "f"), ("Julia", "f"), ("Sarah", "f"), ("Alice", "f"), ("Nina", "f"),
    ("Clara", "f"), ("Laura", "f"), ("Lucy", "f"), ("Eva", "f"), ("Rosa", "f"), ("Paul", "m"), ("Tom", "m"),
    ("Peter", "m"), ("David", "m"), ("Oscar", "m"), ("Victor", "m"), ("Simon", "m"), ("Adam", "m"), ("Bruno", "m"),
    ("Leo", "m"), ("Ivan", "m"), ("Martin", "m"),
)  # fmt: skip

NUMBERS = (
    ("two", "deux"), ("three", "trois"), ("four", "quatre"), ("five", "cinq"), ("six", "six"), ("seven", "sept"),
    ("eight", "huit"), ("nine", "neuf"), ("ten", "dix"), ("eleven", "onze"), ("twelve", "douze"), ("twenty", "vingt"),
    ("a/hundred", "cent"),
)  # fmt: skip

# Adverbials as pattern pairs for `compose`.
TIMES = (
    ("yesterday/1", "hier/1"), ("this/1 morning/2", "ce/1 matin/2"), ("last/1 night/1", "hier/1 soir/1"),
    ("one/1 day/2", "un/1 jour/2"), ("on/1 Monday/1", "lundi/1"), ("two/1 days/2 ago/3", "il/3 y/3 a/3 deux/1 jours/2"),
    ("in/1 the/2 evening/3", "dans/1 la/2 soirée/3"), ("during/1 the/2 night/3", "pendant/1 la/2 nuit/3"),
)  # fmt: skip
# Degrees that an adjective of state may take.
DEGREES = (("very", "très"), ("really", "vraiment"), ("so", "si"), ("quite", "assez"))
