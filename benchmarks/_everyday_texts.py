"""Sentences with strings to copy and with occupations for `everyday.py`, and the rules that score them.

A string is copied *exactly* if the translation contains it with no letter or digit at its ends.  It is copied *by
convention* if it is instead written as in the target language:

    integer      1,250          fr 1 250        de, es 1.250            or without a separator
    decimal      3.5            3,5
    time         9:30           fr 9 h 30, 9 heures 30, 9.30            de 9.30, 9 Uhr 30       es 9.30, 9 h 30
    price        $25.99         the amount with a comma or point, beside the sign or the currency's name
    date         14 July 1987   fr 14 juillet 1987, 14/07/1987          de 14. Juli 1987, 14.7.1987
                                es 14 de julio de 1987, 14/07/1987
    quoted       "OK"           in any quotation marks, with or without spaces inside

A leading zero of hours, days and months may be added or dropped.  Other strings have no such rule.  A number in words,
or a time in another clock (2:30 as 14 h 30), counts as neither, though it may be right.

Two rules determine the gender of an occupation.  *Article*: the first word, if it is le, la, un, une; der, die, ein,
eine; el, la, un, una (not l').  *Pronoun*: the first of il, elle; er, sie; él, ella.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from random import Random

DATES = ("{0:%Y-%m-%d}", "{0.day} {0:%B %Y}", "{0:%B} {0.day}, {0.year}")
READ = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y")  # the same for strptime
NAMES = ("Sarah Miller", "Kevin O'Brien", "Anna Schmidt", "Tom Baker", "Julie Moreau", "Pablo Garcia", "Laura Johnson",
         "Kenji Tanaka", "Eva Novak", "James Watson")
URLS = ("https://example.com/news", "http://shop.example.org/item?id=42", "www.example.net", "https://a.example/b_c#d")
EMAILS = ("anna@example.com", "tom.baker@mail.example.org", "info+help@example.net", "s_miller42@example.co.uk")
QUOTED = ("OK", "xk7-blue42", "README.md", "Ctrl+S", "Hakuna Matata", "New York Times")
PATHS = ("/home/anna/photos", "C:\\Users\\Tom\\report.docx", "src/main.py", "~/notes.txt", "../data/list.csv")
PLACEHOLDERS = ("{name}", "%s", "{user_id}", "%(city)s", "{{first_name}}", "${total}")
SIGNS = {"$": ("dollars?", "Dollar", "dólar(?:es)?"), "€": ("euros?", "Euro", "euros?"),
         "£": ("livres?", "Pfund", "libras?")}  # fmt: skip
MONTHS = {
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto sep?tiembre octubre noviembre diciembre",
}
LANGUAGES = tuple(MONTHS)


@dataclass(frozen=True)
class Copied:
    """A sentence with a string to copy."""

    kind: str
    text: str
    string: str

    def comes_back(self, translation: str, language: str) -> str | None:
        """`exact`, `by convention` or None."""
        if _found(re.escape(self.string), translation):
            return "exact"
        pattern = convention(self.kind, self.string, language)
        return "by convention" if pattern and _found(pattern, translation, re.IGNORECASE) else None


def _integer(draw: Random) -> str:
    return f"{draw.choice([draw.randint(13, 999), draw.randint(1_001, 99_999)]):,}"


def _decimal(draw: Random) -> str:
    return f"{draw.randint(1, 40)}.{draw.randint(1, 9)}"


def _time(draw: Random) -> str:
    return f"{draw.randint(1, 23)}:{draw.choice((5, 15, 20, 30, 45, 50)):02}"


def _price(draw: Random) -> str:
    cents = draw.choice(("", f".{draw.randint(10, 99)}"))
    return f"{draw.choice(list(SIGNS))}{draw.randint(13, 900)}{cents}"


def _date(draw: Random) -> str:
    date = datetime(draw.randint(1950, 2030), draw.randint(1, 12), draw.randint(1, 28))
    return draw.choice(DATES).format(date)


def _quoted(draw: Random) -> str:
    return f'"{draw.choice(QUOTED)}"'


def _one_of(strings: tuple[str, ...]) -> Callable[[Random], str]:
    return lambda draw: draw.choice(strings)


KINDS: dict[str, tuple[Callable[[Random], str], tuple[str, ...]]] = {
    "integer": (_integer, ("There are {} books in the library.", "We walked {} steps today.",
                           "The village has {} inhabitants.")),
    "decimal": (_decimal, ("The table is {} meters long.", "She ran {} kilometers this morning.",
                           "The bottle holds {} liters.")),
    "time": (_time, ("The train leaves at {}.", "Please call me at {}.", "The shop opens at {} on Saturdays.")),
    "price": (_price, ("It costs {}.", "I paid {} for this jacket.", "Can you lend me {} until tomorrow?")),
    "date": (_date, ("He was born on {}.", "The meeting is on {}.", "The letter is dated {}.")),
    "name": (_one_of(NAMES), ("{} called me this morning.", "I met {} at the station.", "My neighbor is {}.")),
    "URL": (_one_of(URLS), ("You can find more at {}.", "Have you read {} yet?", "Please open {} in your browser.")),
    "e-mail": (_one_of(EMAILS), ("Write to me at {}.", "Her address is {}.", "Send the photos to {} tonight.")),
    "quoted": (_quoted, ("The button says {}.", "Type {} and press Enter.", "He wrote {} on the wall.")),
    "path": (_one_of(PATHS), ("The file is in {}.", "Open {} and read it.", "He deleted {} by mistake.")),
    "placeholder": (_one_of(PLACEHOLDERS), ("Hello {}, how are you?", "Your order for {} is ready.",
                                            "{} has sent you a message.")),
}  # fmt: skip


def copied_sentences(count: int, *, seed: int = 0) -> Iterator[Copied]:
    """That many sentences, cycling through the kinds."""
    draw = Random(seed)
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        make, templates = KINDS[kind]
        string = make(draw)
        yield Copied(kind, draw.choice(templates).format(string), string)


def convention(kind: str, string: str, language: str) -> str | None:
    """A pattern for the string as written in the target language; None if there is no rule."""
    if language not in LANGUAGES:
        return None
    if kind == "integer":
        return string.replace(",", r"\s?" if language == "fr" else r"[.\s]?")
    if kind == "decimal":
        return string.replace(".", ",")
    if kind == "time":
        hours, minutes = string.split(":")
        between = {"fr": r"\s?(?:h|heures?)\s?", "de": r"\s?Uhr\s?", "es": r"\s?h\s?"}[language]
        return rf"0?{hours}(?:{between}|[.:]){minutes}"
    if kind == "price":
        amount, sign = string[1:].replace(".", "[.,]"), rf"(?:US\s?)?{re.escape(string[0])}(?:\s?US)?"
        return rf"(?:{sign}\s?{amount}|{amount}\s?(?:{sign}|{SIGNS[string[0]][LANGUAGES.index(language)]}))"
    if kind == "date":
        return _date_pattern(string, language)
    if kind == "quoted":
        return rf"[«»„“”\"‚‘’']\s?{re.escape(string[1:-1])}\s?[«»“”\"‘’']"
    return None


def _date_pattern(string: str, language: str) -> str:
    form = READ[0 if string[4] == "-" else 1 if string[0].isdigit() else 2]
    date = datetime.strptime(string, form)
    month = MONTHS[language].split()[date.month - 1]
    named = {"fr": rf"{date.day}(?:er)? {month} {date.year}", "de": rf"{date.day}\. ?{month} {date.year}",
             "es": rf"{date.day}º? de {month} del? {date.year}"}[language]  # fmt: skip
    between = r"\. ?" if language == "de" else "/"
    return rf"0?(?:{named}|{date.day}{between}0?{date.month}{between}{date.year})"


def _found(pattern: str, text: str, flags: int = 0) -> bool:
    """Whether the pattern occurs, not as part of a longer word or number."""
    return re.search(rf"(?<!\w)(?<!\d[.,:/]){pattern}(?!\w)(?![.,:/]\d)", text, flags) is not None


OCCUPATIONS = (
    "doctor", "nurse", "teacher", "engineer", "secretary", "lawyer", "cook", "pilot", "baker", "scientist", "cleaner",
    "farmer", "hairdresser", "mechanic", "librarian", "soldier",
)  # fmt: skip
HE_OR_SHE = (  # 18 for either pronoun, and 4 without: 40
    "The {job} said that {he} was tired.", "The {job} thinks that {he} is right.", "The {job} says {he} needs help.",
    "The {job} knew that {he} was late.", "The {job} left because {he} was sick.", "The {job} smiled when {he} saw me.",
    "The {job} told us that {he} had two children.", "The {job} will come if {he} has time.",
    "The {job} hopes that {he} will win.", "The {job} was angry because {he} had to wait.",
    "The {job} called before {he} left.", "The {job} admitted that {he} had made a mistake.",
    "The {job} says that {he} likes the new house.", "The {job} promised that {he} would help us.",
    "The {job} stayed at home because {he} was ill.", "The {job} explained why {he} was leaving.",
    "The {job} was happy when {he} heard the news.", "The {job} forgot what {he} wanted to say.",
)  # fmt: skip
NEITHER = ("The {job} is tired.", "The {job} has just arrived.", "The {job} lives next door.", "The {job} helped me.")
GENDERS = ("masculine", "feminine")
ARTICLES = {"fr": ("le un", "la une"), "de": ("der ein", "die eine"), "es": ("el un", "la una")}
PRONOUNS = {"fr": ("il", "elle"), "de": ("er", "sie"), "es": ("él", "ella")}


def occupation_sentences(jobs: tuple[str, ...] = OCCUPATIONS) -> Iterator[tuple[str, str, str]]:
    """(he, she or neither; occupation; sentence): each occupation in 40 templates."""
    for job in jobs:
        for pronoun in ("he", "she"):
            yield from ((pronoun, job, template.format(job=job, he=pronoun)) for template in HE_OR_SHE)
        yield from (("neither", job, template.format(job=job)) for template in NEITHER)


def gender_by_article(text: str, language: str) -> str:
    first = re.findall(r"\w+", text.casefold())[:1]
    return _gender(first, ARTICLES[language])


def gender_by_pronoun(text: str, language: str) -> str:
    return _gender(re.findall(r"\w+", text.casefold()), PRONOUNS[language])


def _gender(words: list[str], forms: tuple[str, str]) -> str:
    """The gender of the first word that is one of these forms."""
    known = {form: gender for gender, some in zip(GENDERS, forms, strict=True) for form in some.split()}
    return next((known[word] for word in words if word in known), "unknown")
