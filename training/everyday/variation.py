"""Training pairs as people type them: another writing, other names, numbers and dates.

Each pass draws its own.  What is exchanged is the same on both sides, so that the model copies what it has
never read; what a pair cannot have (no name, no date) leaves it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import cycle
from random import Random
from unicodedata import normalize

Pair = tuple[str, str, str]  # source, target, language of the target
Change = Callable[[Pair, Random], Pair]

EMOJI = "😀😂😍😢😡👍🙏🎉❤🔥"
NAME = re.compile(r"\b(?:Tom|Mary|John|Jack|Bill|Ken|Jim|Bob|Mike|Jane|Nancy|George|Alice|Peter)\b")  # in Tatoeba
NUMBER = re.compile(r"\d+(?:[., ]\d+)*")
CLOCK = re.compile(r"\d ?[ap]\.?m\b")
UNIT = re.compile(r"(?<=\d) ?(?:km/h|km|kg|cm|mm|ml|m|g|l|%)(?!\w)")
UNITS = (" km/h", " km", " kg", " cm", " mm", " ml", " m", " g", " l")
CLAUSE = re.compile(r"(?P<first>[^,()]+), (?P<second>[^,()]+)(?P<mark>[.!?])")
SEPARATORS = {"en": (",", "."), "fr": (" ", ","), "de": (".", ","), "es": (".", ",")}  # of thousands, of decimals
ELIDES = re.compile(r"\b(?:de|que|jusque|lorsque|puisque|si|y|o)\s*$", re.IGNORECASE)  # changes before a vowel
NAMES = (
    "Aaliyah", "Abdul", "Aiko", "Alejandra", "Amara", "Anders", "Aoife", "Arjun", "Astrid", "Ayoub", "Beatriz",
    "Bogdan", "Camille", "Chiara", "Dariusz", "Devi", "Dimitri", "Elif", "Emeka", "Esther", "Fatima", "Fiona",
    "Freya", "Giorgos", "Greta", "Hamza", "Hana", "Henrik", "Hiroshi", "Imani", "Inès", "Ivan", "Jamal", "Jasmin",
    "Joaquín", "Kamal", "Katarzyna", "Kenji", "Kofi", "Laszlo", "Leila", "Luca", "Magda", "Mahmoud", "María",
    "Mateo", "Mei", "Milena", "Nadia", "Naomi", "Nikolai", "Noor", "Olga", "Omar", "Paolo", "Petra", "Rafael",
    "Ravi", "Rosa", "Samir", "Sanjay", "Selma", "Sergei", "Sofia", "Soren", "Tariq", "Thandi", "Tomas", "Uma",
    "Valeria", "Viktor", "Wei", "Yasmin", "Youssef", "Yusuf", "Zeynep", "Zofia", "Maria", "Anna", "Paul", "Lisa",
    "David", "Sarah", "Emma", "Daniel", "Agnieszka", "Alasdair", "Anouk", "Asbjørn", "Ashok", "Bartosz", "Benoît",
    "Bjarne", "Bronwyn", "Caoimhe", "Cedric", "Dagny", "Dmytro", "Eszter", "Eyjolf", "Fjodor", "Florian", "Gareth",
    "Gjertrud", "Guillermo", "Halvard", "Haruki", "Ibrahim", "Ingeborg", "Jacqueline", "Jadwiga", "Jorge", "Jordan",
    "Jorma", "Kjell", "Krzysztof", "Lakshmi", "Ljiljana", "Lucía", "Majken", "Marjorie", "Mehmet", "Miguel", "Mirjam",
    "Mwangi", "Nasreen", "Ngozi", "Njeri", "Oluwaseun", "Orla", "Pjotr", "Quentin", "Ragnhild", "Rajesh", "Rhys",
    "Saoirse", "Siobhan", "Sven", "Takumi", "Tjark", "Torbjörn", "Ulrike", "Vilhelm", "Wojciech", "Xiomara", "Yolanda",
    "Zbigniew", "Zdenka",
)
SURNAMES = (
    "Abebe", "Adeyemi", "Ahmed", "Alvarez", "Andersson", "Bakker", "Banerjee", "Barros", "Bauer", "Cheng", "Costa",
    "Dubois", "Eriksen", "Ferrari", "Fontaine", "Garcia", "Gupta", "Hansen", "Hoffmann", "Horvat", "Ibrahim",
    "Ito", "Jansen", "Jovanovic", "Kaya", "Khan", "Kim", "Kovacs", "Kumar", "Lambert", "Larsen", "Lopez",
    "Mancini", "Mensah", "Moreau", "Müller", "Murphy", "Nguyen", "Novak", "O'Brien", "Olsen", "Park", "Patel",
    "Popescu", "Rahman", "Rossi", "Santos", "Schmidt", "Silva", "Singh", "Smirnov", "Suzuki", "Tanaka", "Torres",
    "Wagner", "Weber", "Yilmaz", "Zhang",
)
ONSETS = (
    "", "", "B", "Bj", "Bl", "Br", "Ch", "D", "Dr", "F", "Fj", "Fl", "G", "Gr", "H", "Hj", "J", "K", "Kl", "Kr", "L",
    "Lj", "M", "N", "Nj", "P", "Pr", "Qu", "R", "S", "Sh", "Sk", "St", "Sz", "T", "Th", "Tr", "V", "W", "Y", "Z",
)
VOWELS = ("a", "e", "i", "o", "u", "ai", "ei", "oo", "ie", "au", "ia", "y")
CODAS = ("", "", "", "n", "r", "l", "s", "m", "t", "ck", "nd", "x", "ng", "rk", "sh", "lt", "v")
ENDINGS = ("", "", "", "ski", "son", "ez", "ova", "ian", "oglu", "enko", "man", "berg", "ini", "eau", "quist")
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
DATES = {  # a month stands where a language's pattern has MONTH
    "en": r"(?:the )?\b(?:(?P<month>MONTH) (?P<day>\d{1,2})(?:st|nd|rd|th)?"
          r"|(?P<day2>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month2>MONTH))\b",
    "fr": r"\b(?P<day>\d{1,2})(?:er)? (?P<month>MONTH)\b",
    "de": r"\b(?P<day>\d{1,2})\. (?P<month>MONTH)\b",
    "es": r"\b(?P<day>\d{1,2}) de (?P<month>MONTH)\b",
}
PLACEHOLDER = re.compile(r"%(?:\d\$)?[sd]")
QUOTES = {"fr": ("« ", " »"), "de": "„“", "es": "«»"}
BEGINNINGS = {
    "en": ("I ", "He ", "She ", "It ", "We ", "They ", "You ", "This ", "That ", "There "),
    "fr": ("Je ", "J'", "Il ", "Elle ", "Nous ", "On ", "Ils ", "Elles ", "Tu ", "Vous ", "C'", "Ce "),
    "de": ("Ich ", "Er ", "Es ", "Wir ", "Du ", "Das ", "Dies "),
    "es": ("Yo ", "Él ", "Ella ", "Nosotros ", "Ellos ", "Tú ", "Esto ", "Eso ", "No ", "Hay "),
}
DAYS = {"fr": "{day} {month}", "de": "{day}. {month}", "es": "{day} de {month}"}


# Other names, numbers and dates

def other_name(pair: Pair, draw: Random) -> Pair:
    """Another name for each of Tatoeba's that both sides have equally often: of a person, invented, or in quotes."""
    source, target, language = pair
    if not (names := set(NAME.findall(source))) or sorted(NAME.findall(source)) != sorted(NAME.findall(target)):
        return pair
    before_vowels = any(ELIDES.search(target[: found.start()]) for found in NAME.finditer(target))
    new = {name: _name(draw, consonant=before_vowels and language != "de") for name in sorted(names)}
    return _exchanged(source, NAME, new), _exchanged(target, NAME, new), language


def other_numbers(pair: Pair, draw: Random) -> Pair:
    """Other numbers of the same form, where both sides have the same ones, and other units of measure with them.

    None is 1 and none begins with 0: those change words beside them, or are no quantity.  Nor has it a.m. or p.m."""
    source, target, language = pair
    here = NUMBER.findall(source)
    there = [_in_language(number, language) for number in here]
    if not here or sorted(there) != sorted(NUMBER.findall(target)) or any(re.match("0|1$", one) for one in here):
        return pair
    if CLOCK.search(source):
        return pair
    new = {number: _like(number, draw) for number in sorted(set(here))}
    source = _exchanged(source, NUMBER, new)
    theirs = {_in_language(one, language): _in_language(other, language) for one, other in new.items()}
    target = _exchanged(target, NUMBER, theirs)
    if UNIT.findall(source) == UNIT.findall(target) and len(set(UNIT.findall(source))) == 1 and "%" not in source:
        unit = draw.choice(UNITS)
        source, target = UNIT.sub(unit, source), UNIT.sub(unit, target)
    return source, target, language


def other_date(pair: Pair, draw: Random) -> Pair:
    """Another day and month, in one of the ways English writes them, where both sides have one date, the same."""
    source, target, language = pair
    here, there = list(_dates("en").finditer(source)), list(_dates(language).finditer(target))
    if len(here) != 1 or len(there) != 1:
        return pair
    found = here[0].groupdict()
    day, month = found["day"] or found["day2"], found["month"] or found["month2"]
    names = MONTHS["en"].split()
    if (there[0]["day"], MONTHS[language].split().index(there[0]["month"])) != (day, names.index(month)):
        return pair
    new_day, place = draw.randint(2, 28), draw.randrange(12)
    ending = "th" if 10 < new_day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(new_day % 10, "th")
    month, ordinal = names[place], f"{new_day}{ending}"
    ways = (f"{new_day} {month}", f"{month} {new_day}", f"{month} {ordinal}", f"{ordinal} of {month}",
            f"the {ordinal} of {month}", f"{ordinal} {month}")
    written = DAYS[language].format(day=new_day, month=MONTHS[language].split()[place])
    source = source[: here[0].start()] + draw.choices(ways, (4, 4, 2, 1, 1, 1))[0] + source[here[0].end() :]
    return source, target[: there[0].start()] + written + target[there[0].end() :], language


@cache
def _dates(language: str) -> re.Pattern[str]:
    return re.compile(DATES[language].replace("MONTH", "|".join(MONTHS[language].split())))


def _exchanged(text: str, pattern: re.Pattern[str], new: dict[str, str]) -> str:
    return pattern.sub(lambda match: new[match[0]], text)


def _in_language(number: str, language: str) -> str:
    """An English number as another language writes it."""
    return number.translate(str.maketrans("".join(SEPARATORS["en"]), "".join(SEPARATORS[language])))


def _like(number: str, draw: Random) -> str:
    """As many digits between the same separators; a year of our time for a year of our time."""
    if re.fullmatch(r"1[5-9]\d\d|20[0-3]\d", number):
        return str(draw.randint(1500, 2035))
    return str(draw.randint(2, 9)) + re.sub(r"\d", lambda match: str(draw.randrange(10)), number[1:])


def _name(draw: Random, *, consonant: bool) -> str:
    kind = draw.random()
    if kind < 0.1:
        return f'"{_word(draw, consonant=True).lower()}{draw.choice("-_.")}{draw.randint(2, 999)}"'
    if kind < 0.3:
        return f'"{_word(draw, consonant=True)} {_word(draw, consonant=False)}"'
    while True:
        first = draw.choice(NAMES) if draw.random() < 0.5 else _word(draw, consonant=consonant)
        last = draw.choice(SURNAMES) if draw.random() < 0.4 else _word(draw, consonant=False) + draw.choice(ENDINGS)
        if not (consonant and first[0] in "AEIOUYÉÈH"):
            return first if draw.random() < 0.5 else f"{first} {last}"


def _word(draw: Random, *, consonant: bool) -> str:
    onsets = [onset for onset in ONSETS if onset[:1] not in ("", "H", "Y")] if consonant else ONSETS
    syllables = [draw.choice(onsets if place == 0 else ONSETS) + draw.choice(VOWELS) + draw.choice(CODAS)
                 for place in range(draw.choice((1, 2, 2, 3)))]
    return "".join(syllables).capitalize()


# Other writings of the same

def without_stop(pair: Pair, draw: Random) -> Pair:
    """Both sides without their final full stop; a question stays one by its words."""
    source, target, language = pair
    bare = source.rstrip(". "), target.rstrip(". ")
    return (*bare, language) if source.endswith(".") and target.endswith(".") and all(bare) else pair


def without_marks(pair: Pair, draw: Random) -> Pair:
    """The source without apostrophes, commas and its final mark, as typed in a hurry.

    The translation has them, but a final stop or exclamation mark: a heading or a cell of a table is to get none."""
    source, target, language = pair
    bare = re.sub(r"[',]", "", source).rstrip(".!? "), target.rstrip(".! ")
    return (*bare, language) if all(bare) else pair


def in_brackets(pair: Pair, draw: Random) -> Pair:
    """What follows the only comma in brackets instead of after it; without such a comma, all of it but the stop."""
    source, target, language = pair
    clauses = [CLAUSE.fullmatch(side) for side in (source, target)]
    if all(clauses) and source[-1] == target[-1]:
        source, target = (f"{one['first']} ({one['second']}){one['mark']}" for one in clauses if one)
        return source, target, language
    source, target, _ = without_stop(pair, draw)
    return f"({source})", f"({target})", language


def lower_case(pair: Pair, draw: Random) -> Pair:
    return (pair[0].lower(), *pair[1:])


def lower_case_without_stop(pair: Pair, draw: Random) -> Pair:
    return without_stop(lower_case(pair, draw), draw)


def capitals(pair: Pair, draw: Random) -> Pair:
    return normalize("NFC", pair[0].upper()), normalize("NFC", pair[1].upper()), pair[2]


def typographic(pair: Pair, draw: Random) -> Pair:
    """The source with ’ for ', and “ ” for the quotation marks of each pair of them."""
    quotes = cycle("“”")
    return (re.sub('"', lambda mark: next(quotes), pair[0].replace("'", "’")), *pair[1:])


def quoted(pair: Pair, draw: Random) -> Pair:
    """Both sides in quotation marks: straight ones stay, others become those of the language."""
    source, target, language = pair
    if any(mark in source + target for mark in "\"“”„«»"):
        return pair
    opening, closing = draw.choice(('""', "''", "“”", "“”", "‘’", "«»", "„“"))
    own = (opening, closing) if opening in "\"'" else QUOTES[language]
    return f"{opening}{source}{closing}", f"{own[0]}{target}{own[1]}", language


def title_case(pair: Pair, draw: Random) -> Pair:
    """The source as a title, every word or every longer one with a capital letter; without a final stop."""
    source, target, language = without_stop(pair, draw)
    least = draw.choice((1, 1, 4))
    first, *others = source.split(" ")
    words = [first, *(word[:1].upper() + word[1:] if len(word) >= least else word for word in others)]
    return " ".join(words), target, language


def with_speaker(pair: Pair, draw: Random) -> Pair:
    """After the name of who says it."""
    source, target, language = pair
    name = draw.choice(NAMES)
    name = name.upper() if draw.random() < 0.5 else name
    if draw.random() < 0.3:
        return f"[{name}] {source}", f"[{name}] {target}", language
    return f"{name}: {source}", f"{name} : {target}" if language == "fr" else f"{name}: {target}", language


def with_dash(pair: Pair, other: Pair, draw: Random) -> Pair:
    """Two sentences of one language, joined by a dash, where both sides of the second begin with a pronoun."""
    (source, target, language), (then, second, _) = without_stop(pair, draw), other
    begin = then.startswith(BEGINNINGS["en"]) and second.startswith(BEGINNINGS[language])
    if not begin or source[-1:] in ".!?" or target[-1:] in ".!?":
        return pair
    dash = draw.choice((" – ", " – ", " — ", "—", "–", " - "))
    own = f" {dash.strip()} "
    then = then if then.startswith("I ") else then[0].lower() + then[1:]
    return source + dash + then, target + own + second[0].lower() + second[1:], language


def without_placeholders(pair: Pair, draw: Random) -> Pair:
    """A name for each placeholder of a text (%1$s) and a number for each of a number (%d), as the model reads them."""
    source, target, language = pair
    new = {one: str(draw.randint(2, 99)) if one[-1] == "d" else draw.choice(NAMES)
           for one in sorted({*PLACEHOLDER.findall(source), *PLACEHOLDER.findall(target)})}
    return _exchanged(source, PLACEHOLDER, new), _exchanged(target, PLACEHOLDER, new), language


def with_emoji(pair: Pair, draw: Random) -> Pair:
    symbol = draw.choice(EMOJI)
    return f"{pair[0]} {symbol}", f"{pair[1]} {symbol}", pair[2]


EXCHANGES: tuple[tuple[Change, float], ...] = ((other_name, 0.85), (other_numbers, 0.5), (other_date, 0.9))
WAYS: tuple[tuple[Change, float], ...] = (
    (without_stop, 0.06), (lower_case, 0.03), (lower_case_without_stop, 0.03), (without_marks, 0.03), (capitals, 0.02),
    (typographic, 0.03), (with_emoji, 0.02), (in_brackets, 0.02), (quoted, 0.02), (title_case, 0.03),
    (with_speaker, 0.01),
)


def varied(pair: Pair, draw: Random) -> Pair:
    """The pair with what `EXCHANGES` exchanges, each at its own rate, and at most one of the `WAYS` at its rate."""
    for exchange, rate in EXCHANGES:
        if draw.random() < rate:
            pair = exchange(pair, draw)
    drawn = draw.random()
    for way, rate in WAYS:
        if (drawn := drawn - rate) < 0:
            return way(pair, draw)
    return pair
