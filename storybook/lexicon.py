"""The words: nouns by kind, adjectives, names, numbers, adverbs. Each English word has one French word and one gender.

Nouns and adjectives that occur in German and Spanish sentences have their German and Spanish words beside the French.
Words with two meanings (*bank*, *seal*) are in `senses.py`. Plurals are regular unless written out.
"""

import re
from dataclasses import dataclass
from functools import cache

from .morphology import english_plural, french_plural


@dataclass(frozen=True, eq=False)  # there is one of each, so that caches need not look inside
class StoryNoun:
    """A noun; `person` is the English pronoun of a person (he, she), or None for what is *it*."""

    en: str
    fr: str
    gender: str  # m or f
    kind: str
    en_plural: str
    fr_plural: str
    person: str | None = None
    de_es: tuple[str, ...] = ()  # German noun and gender, Spanish noun and gender


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective; `before` says that the French one stands before its noun."""

    en: str
    fr: str
    before: bool = False
    de_es: tuple[str, ...] = ()  # German stem, Spanish masculine


def entries(table: str) -> list[str]:
    """The entries of a table: one a line, or several separated by bars."""
    return [entry.strip() for entry in table.replace("\n", "|").split("|") if entry.strip()]


# kind: English [plural] French [plural] gender [German gender Spanish gender]. After a slash: a plural that is not
# regular, and the German accusative and dative where they are not the nominative.
_NOUNS = {
    "animal": """
        cat chat m Katze f gato m|dog chien m Hund m perro m|wolf/wolves loup m Wolf m lobo m
        bear ours m Bär/Bären m oso m|fox renard m Fuchs m zorro m|lion lion m Löwe/Löwen m león m
        rabbit lapin m Kaninchen n conejo m|horse cheval m Pferd n caballo m|owl hibou m Eule f búho m
        duck canard m Ente f pato m|squirrel écureuil m Eichhörnchen n ardilla f|monkey singe m Affe/Affen m mono m
        donkey âne m Esel m burro m|pig cochon m Schwein n cerdo m|hedgehog hérisson m Igel m erizo m
        lamb agneau m Lamm n cordero m|tiger tigre m Tiger m tigre m|goat chèvre f Ziege f cabra f
        hen poule f Henne f gallina f|crow corneille f Krähe f cuervo m|mouse/mice souris f Maus f ratón m
        cow vache f Kuh f vaca f|frog grenouille f Frosch m rana f|turtle tortue f Schildkröte f tortuga f
        goose/geese oie f Gans f ganso m|giraffe girafe f Giraffe f jirafa f|weasel belette f Wiesel n comadreja f
        otter loutre f Otter m nutria f|ant fourmi f Ameise f hormiga f|spider araignée f Spinne f araña f
        bee abeille f Biene f abeja f|panther panthère f Panther m pantera f""",
    "person": """
        boy garçon m Junge/Jungen m niño m|girl fille f Mädchen n niña f|man/men homme m Mann m hombre m
        woman/women femme f Frau f mujer f|king roi m König m rey m|queen reine f Königin f reina f
        farmer fermier m Bauer/Bauern m granjero m|baker boulanger m Bäcker m panadero m
        doctor médecin m Arzt m médico m|princess princesse f Prinzessin f princesa f
        witch sorcière f Hexe f bruja f|sailor marin m Seemann m marinero m
        fisherman/fishermen pêcheur m Fischer m pescador m|soldier soldat m Soldat/Soldaten m soldado m
        nun religieuse f Nonne f monja f|prince prince m Prinz/Prinzen m príncipe m""",
    "kin": """
        mother mère f|father père m|sister sœur f|brother frère m|aunt tante f|uncle oncle m
        grandmother grand-mère/grands-mères f|daughter fille f""",
    "food": """
        pear poire f Birne f pera f|apple pomme f Apfel m manzana f|cake gâteau m Kuchen m pastel m
        loaf/loaves pain m Laib m pan m|cheese fromage m Käse m queso m|carrot carotte f Karotte f zanahoria f
        egg œuf m Ei n huevo m|nut noix f Nuss f nuez f|banana banane f Banane f plátano m
        cherry/cherries cerise f Kirsche f cereza f|biscuit biscuit m Keks m galleta f
        strawberry fraise f Erdbeere f fresa f|orange orange f Orange f naranja f|melon melon m Melone f melón m
        lemon citron m Zitrone f limón m|sandwich sandwich m Sandwich n bocadillo m
        tomato/tomatoes tomate f Tomate f tomate m""",
    "container": """
        box boîte f Schachtel f caja f|bag sac m Tasche f bolsa f|suitcase valise f Koffer m maleta f
        basket panier m Korb m cesta f|crate caisse f Kiste f cajón m|bucket seau m Eimer m cubo m
        jug cruche f Krug m jarra f|bottle bouteille f Flasche f botella f|bowl bol m Schüssel f cuenco m
        cup tasse f Tasse f taza f|glass verre m Glas n vaso m|pot pot m Topf m olla f
        basin bassine f Becken n palangana f|barrel tonneau m Fass n barril m|jar bocal m Einmachglas n tarro m
        drawer tiroir m Schublade f gaveta f|vase vase m Vase f jarrón m|teapot théière f Teekanne f tetera f
        chest coffre m Truhe f cofre m|trophy trophée m Pokal m trofeo m|tank citerne f Tank m tanque m""",
    "furniture": """
        table table f Tisch m mesa f|chair chaise f Stuhl m silla f|shelf/shelves étagère f Regal n estante m
        wardrobe armoire f Kleiderschrank m armario m|statue statue f Statue f estatua f|bench banc m Bank f banco m
        piano piano m Klavier n piano m|desk bureau m Schreibtisch m escritorio m
        stool tabouret m Hocker m taburete m|bed lit m Bett n cama f|cupboard placard m Schrank m alacena f
        armchair fauteuil m Sessel m sillón m|lamp lampe f Lampe f lámpara f|sofa canapé m Sofa n sofá m""",
    "building": """
        wall mur m Mauer f muro m|barn grange f Scheune f granero m|house maison f Haus n casa f
        tower tour f Turm m torre f|church église f Kirche f iglesia f|castle château m Schloss n castillo m
        mill moulin m Mühle f molino m|bridge pont m Brücke f puente m|shed hangar m Schuppen m cobertizo m
        garage garage m Garage f garaje m|lighthouse phare m Leuchtturm m faro m|hut cabane f Hütte f cabaña f
        school école f Schule f escuela f|stable écurie f Stall m establo m|hedge haie f Hecke f seto m
        tree arbre m Baum m árbol m|oak chêne m Eiche f roble m|fence clôture f Zaun m valla f
        hospital hôpital m Krankenhaus n hospital m|farm ferme f Bauernhof m granja f""",
    "place": """
        field champ m Feld n campo m|forest forêt f Wald m bosque m|garden jardin m Garten m jardín m
        meadow prairie f Wiese f pradera f|park parc m Park m parque m|market marché m Markt m mercado m
        island île f Insel f isla f|village village m Dorf n pueblo m|beach plage f Strand m playa f
        lake lac m See m lago m""",
    "way": """
        street rue f Straße f calle f|road route f Landstraße f carretera f|river rivière f Fluss m río m
        path chemin m Weg m camino m|valley vallée f Tal n valle m""",
    "tool": """
        ladder échelle f Leiter f escalera f|hammer marteau m Hammer m martillo m|book livre m Buch n libro m
        umbrella parapluie m Regenschirm m paraguas m|bicycle vélo m Fahrrad n bicicleta f
        key clé f Schlüssel m llave f|saw scie f Säge f sierra f|rope corde f Seil n cuerda f
        map carte f Karte f mapa m|hat chapeau m Hut m sombrero m|scarf/scarves écharpe f Schal m bufanda f
        ball ballon m Ball m pelota f|knife/knives couteau m Messer n cuchillo m|letter lettre f
        drum tambour m Trommel f tambor m|flute flûte f Flöte f flauta f|axe hache f|clock horloge f Uhr f reloj m
        coat manteau m Mantel m abrigo m|shirt chemise f Hemd n camisa f|dress robe f Kleid n vestido m
        violin violon m Geige f violín m|picture tableau m Bild n cuadro m|mirror miroir m Spiegel m espejo m
        candle bougie f|flag drapeau m|kite cerf-volant/cerfs-volants m Drachen m cometa f
        doll poupée f Puppe f muñeca f|needle aiguille f Nadel f aguja f|pen stylo m Stift m bolígrafo m""",
    "vehicle": """
        car voiture f Auto n coche m|truck camion m Lastwagen m camión m|cart charrette f Karren m carro m
        boat bateau m Boot n barco m|train train m Zug m tren m|plane avion m Flugzeug n avión m
        bus bus m Bus m autobús m|van camionnette f Lieferwagen m furgoneta f""",
    "body": """
        ear oreille f|paw patte f|tail queue f|nose nez m|head tête f|neck cou m|tooth/teeth dent f|nest nid m""",
    "nature": """
        flower fleur f|star étoile f|stone pierre f|cloud nuage m|leaf/leaves feuille f|mountain montagne f
        rose rose f|shell coquillage m|feather plume f|mushroom champignon m|branch branche f""",
}
_SHE = {"girl", "woman", "queen", "princess", "witch", "nun", "mother", "sister", "aunt", "grandmother", "daughter"}


def _noun(kind: str, entry: str) -> StoryNoun:
    english, french, gender, *de_es = entry.split()
    en, _, en_plural = english.partition("/")
    fr, _, fr_plural = french.partition("/")
    person = ("she" if en in _SHE else "he") if kind in ("person", "kin") else None
    en_plural, fr_plural = en_plural or english_plural(en), fr_plural or french_plural(fr)
    return StoryNoun(en, fr, gender, kind, en_plural, fr_plural, person, tuple(de_es))


NOUNS = {noun.en: noun for kind, table in _NOUNS.items() for entry in entries(table) for noun in (_noun(kind, entry),)}


@cache
def pick(words: str) -> tuple[StoryNoun, ...]:
    """Nouns by name or by kind: `pick("food tree")` is all food, and the tree."""
    return tuple(noun for word in words.split() for noun in NOUNS.values() if word in (noun.kind, noun.en))


# English French [German Spanish]; French ones that stand before the noun are marked with <.
_ADJECTIVES = """
    big <grand|small <petit|fat <gros|beautiful <beau schön hermoso|old <vieux alt viejo|new <nouveau neu nuevo
    young <jeune jung joven|good <bon|pretty <joli hübsch bonito|long <long|red rouge rot rojo|blue bleu blau azul
    green vert grün verde|yellow jaune gelb amarillo|white blanc weiß blanco|black noir schwarz negro
    grey gris grau gris|brown brun braun marrón|round rond|clean propre|dirty sale|wet mouillé|heavy lourd
    empty vide|full plein|hungry affamé|tired fatigué müd cansado|happy heureux|sad triste|angry en_colère
    sick malade|brave courageux|lazy paresseux|strong fort|weak faible|slow lent|quick rapide
    clever intelligent klug inteligente|kind <gentil nett amable|shy timide|proud fier|curious curieux|noisy bruyant
    quiet calme|famous célèbre|rich riche|poor pauvre|cold froid|sweet sucré|ripe mûr|wide large|narrow étroit
    high haut|low bas|dark sombre|broken cassé|tall <grand|huge énorme|expensive cher|cheerful joyeux
    strange étrange|dangerous dangereux|thin mince"""


def _adjective(english: str, french: str, *de_es: str) -> Adjective:
    return Adjective(english, french.lstrip("<").replace("_", " "), french.startswith("<"), de_es)


ADJECTIVES = {entry.split()[0]: _adjective(*entry.split()) for entry in entries(_ADJECTIVES)}


def adjectives(words: str) -> tuple[Adjective, ...]:
    return tuple(ADJECTIVES[word] for word in words.split())


# Which adjectives may describe which kind of noun, before it or after *was*.
_MINDS = "young tired happy sad sick brave clever kind shy proud curious cheerful"
_COLOURS = "red blue green yellow white black grey brown"
_WARES = f"big small beautiful old new {_COLOURS} heavy clean dirty broken"
_DESCRIPTIONS = f"""
    animal: {_MINDS} big small fat beautiful old white black grey brown hungry lazy strong weak slow quick \
        noisy quiet wet dirty strange dangerous
    person: {_MINDS} old lazy strong weak quiet famous rich poor strange hungry
    kin: {_MINDS}
    food: small good beautiful red green yellow white sweet ripe cold round strange
    container: {_WARES} pretty empty full round strange
    furniture: big small beautiful old new pretty red green white black heavy clean dirty broken expensive
    building: big small beautiful old new pretty white grey strange famous dark
    place: big small beautiful old pretty quiet strange dangerous famous
    way: beautiful old pretty wide narrow long dark quiet strange dangerous famous
    tool: {_WARES} pretty expensive strange
    vehicle: {_WARES.removesuffix(" broken")} slow quick noisy expensive
    body: big small beautiful pretty long dirty wet white black
    nature: big small beautiful pretty red yellow white grey strange"""
DESCRIPTIONS = {kind: adjectives(words) for kind, words in (entry.split(": ") for entry in entries(_DESCRIPTIONS))}
# Exceptions: for these kinds and adjectives, only these nouns.
_ONLY_THESE = """
    animal dangerous: wolf bear lion tiger fox dog horse pig spider bee goose panther
    building famous: tower church castle bridge mill lighthouse school hospital wall
    place famous: forest garden park market island village beach lake|place dangerous: forest island beach lake
    way famous: street road river|food ripe: pear apple banana cherry strawberry orange melon lemon tomato
    food sweet: pear apple cake banana cherry biscuit strawberry orange melon
    food round: apple cake loaf cheese egg nut biscuit orange melon tomato|food red: apple cherry strawberry tomato
    food green: apple pear melon tomato|food yellow: banana lemon pear melon apple cheese|food white: egg cheese cake
    nature red: flower leaf rose mushroom star|nature yellow: flower leaf rose star
    nature white: flower rose cloud stone shell feather mushroom star|nature grey: stone cloud mountain feather shell
    body long: ear paw tail nose neck tooth|body wet: ear paw tail nose head neck|place new: garden park market village
    place old: garden park market village forest|way new: street road path|way old: street road path
    tool broken: ladder hammer umbrella bicycle key saw drum flute axe clock violin mirror candle kite doll needle pen
    tool heavy: ladder hammer book bicycle saw rope drum axe clock coat picture mirror
    container broken: box crate jug bottle bowl cup glass pot basin barrel jar vase teapot trophy tank"""
_ONLY = {tuple(of.split()): nouns.split() for of, nouns in (entry.split(": ") for entry in entries(_ONLY_THESE))}
_NEVER = {("old", "girl"), ("old", "boy"), ("old", "daughter"), ("old", "lamb"), ("young", "grandmother")}


@cache
def suits(adjective: Adjective, noun: StoryNoun) -> bool:
    """Whether the adjective suits the noun: no ripe cakes, no broken coats, no old girls."""
    only = _ONLY.get((noun.kind, adjective.en))
    return (adjective.en, noun.en) not in _NEVER and (only is None or noun.en in only)


# Adjectives that do not go together on one noun: opposites and near-synonyms.
_CLASHES = """
    big small|big fat|old young|old new|happy sad|cheerful sad|happy cheerful|strong weak|slow quick|noisy quiet
    clean dirty|rich poor|wide narrow|high low|full empty|beautiful pretty|long round|shy brave|wet clean|broken new
    lazy quick|hungry fat"""
_CLASHING = {frozenset(entry.split()) for entry in entries(_CLASHES)}


def clashes(one: str, other: str) -> bool:
    return one == other or frozenset((one, other)) in _CLASHING


@cache
def _stems() -> dict[str, str]:
    """What a word says: itself, but for forms of nouns, and of verbs that make a thing clean, broken or old."""
    forms_of = {"clean": "cleaned cleans cleaning washed washes washing wash", "broken": "broke breaks break"}
    forms_of |= {"old": "built build builds building"}
    stems = {form: stem for stem, forms in forms_of.items() for form in forms.split()}
    stems |= {form: noun.en for noun in NOUNS.values() for form in (noun.en, noun.en_plural)}
    return stems | {word: word for word in (*ADJECTIVES, *(name.lower() for name, _ in NAMES))}


def repeats(english: str) -> bool:
    """Whether a sentence says a noun, adjective or name twice, or cleans what is clean, which nobody does."""
    stems = _stems()
    used = [stems[word] for word in re.findall(r"\w+", english.lower()) if word in stems]
    return len(set(used)) < len(used)


UNGRADED = frozenset(f"{_COLOURS} round broken empty full".split())  # never *very white*
WELCOME = frozenset(a.en for a in adjectives("beautiful pretty good clever happy cheerful famous strong clean brave"))
COMPARATIVES = adjectives("big small old young strong weak slow quick kind proud rich poor brave sad long high heavy")

_WOMEN, _MEN = (
    "Anna Emma Marie Julia Sarah Alice Nina Clara Laura Lucy Eva Rosa",
    "Paul Tom Peter David Oscar Victor Simon Adam Bruno Leo Ivan Martin",
)
NAMES = tuple((name, gender) for names, gender in ((_WOMEN, "f"), (_MEN, "m")) for name in names.split())

_NUMBERS = """
    two=deux|three=trois|four=quatre|five=cinq|six=six|seven=sept|eight=huit|nine=neuf|ten=dix|eleven=onze
    twelve=douze|twenty=vingt|a hundred=cent"""
NUMBERS = tuple((en, fr) for en, _, fr in (entry.partition("=") for entry in entries(_NUMBERS)))

# Adverbials and conjunctions are patterns for `compose`.
TIMES = (
    "yesterday/1 = hier/1", "this/1 morning/2 = ce/1 matin/2", "last/1 night/1 = hier/1 soir/1",
    "one/1 day/2 = un/1 jour/2", "on/1 Monday/1 = lundi/1", "two/1 days/2 ago/3 = il/3 y/3 a/3 deux/1 jours/2",
    "in/1 the/2 evening/3 = dans/1 la/2 soirée/3", "during/1 the/2 night/3 = pendant/1 la/2 nuit/3",
)
# Degrees of an adjective, in French, German and Spanish.
DEGREES = {
    "very": ("très", "sehr", "muy"), "really": ("vraiment", "wirklich", "realmente"), "so": ("si", "so", "tan"),
    "quite": ("assez", "ziemlich", "bastante"), "too": ("trop", "zu", "demasiado"),
    "completely": ("complètement", "ganz", "completamente"), "almost": ("presque", "fast", "casi"),
}
USUAL = ("very", "really", "so", "quite")  # degrees that any adjective of state may take
