"""Noun phrases, pronouns, verbs and clauses: English and French built side by side, links included."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from . import morphology
from .lexicon import Adjective, Noun
from .phrases import NounPhrase, Phrase, Token, compose, new_id
from .verbs import SetVerb, Verb

# English determiner -> French masculine, feminine, feminine or masculine before a vowel (None: as usual), plural.
_DETERMINERS = {
    "the": ("le", "la", None, "les"),
    "a": ("un", "une", None, "des"),
    "some": ("des", "des", None, "des"),
    "": ("des", "des", None, "des"),
    "this": ("ce", "cette", "cet m", "ces"),
    "my": ("mon", "ma", "mon f", "mes"),
    "his": ("son", "sa", "son f", "ses"),
    "our": ("notre", "notre", None, "nos"),
    "their": ("leur", "leur", None, "leurs"),
    "every": ("chaque", "chaque", None, "chaque"),
    "de": ("de", "de", None, "de"),
    "no": ("de", "de", None, "de"),
    "what": ("quel", "quelle", None, "quels quelles"),
}
_DETERMINERS["her"] = _DETERMINERS["its"] = _DETERMINERS["his"]
_ENGLISH_PLURAL = {"a": "some", "this": "these"}


def _determiner(det: str, gender: str, plural: bool, before: str) -> str:
    masculine, feminine, vowel, several = _DETERMINERS[det]
    if plural:
        return several.split()[-1] if gender == "f" else several.split()[0]
    if vowel and vowel[-1] == gender and morphology.starts_with_vowel(before):
        return vowel[:-2]
    return feminine if gender == "f" else masculine


def noun_phrase(
    noun: Noun,
    *,
    det: str = "the",
    adjectives: Iterable[Adjective] = (),
    plural: bool = False,
    number: tuple[str, str] | None = None,
    negated: bool = False,
    owner: NounPhrase | None = None,
    part: str | None = None,
) -> NounPhrase:
    """*the old cats*, *my two big dogs*, *the boy's ladder*; `negated` turns *un, des* into *de*.

    `det` is the English determiner in the singular; "" is a bare plural (*des*), and with `number` no determiner.
    """
    adjectives = tuple(adjectives)
    head = Token(noun.en_plural if plural else noun.en, new_id(), part=part)
    core = [Token(noun.fr_plural if plural else noun.fr, head.ids)]
    en = [head]
    for adjective in reversed(adjectives):  # English: all before; French: before or after the noun
        ids = new_id()
        first, *others = adjective.fr.split()
        form = morphology.agree(first, noun.gender, plural=plural, before=core[0].text if adjective.before else "")
        french = [Token(form, ids)] + [Token(other, ids) for other in others]
        en.insert(0, Token(adjective.en, ids))
        core = french + core if adjective.before else core + french
    if number:
        ids = new_id()
        en = [Token(word, ids) for word in number[0].split("/")] + en
        core.insert(0, Token(number[1], ids))
    fr = core
    if owner is not None:
        of = new_id()
        last = owner.en[-1]
        possessive = Token(last.text + "'s", last.ids | of, part="owner")
        article = Token(_determiner("the", noun.gender, plural, core[0].text), of)
        en = [*owner.en[:-1], possessive, *en]
        fr = [article, *core, Token("de", of), *owner.fr]
    elif det or not number:
        ids = new_id() if det else head.ids
        becomes_de = det in ("a", "some", "") and (negated or _des_before_adjective(plural, core, noun))
        french_det = "de" if becomes_de else det
        fr = [Token(_determiner(french_det, noun.gender, plural, core[0].text), ids), *core]
        if det:
            english = _ENGLISH_PLURAL.get(det, det) if plural else det
            english = "any" if negated and english == "some" else english
            en = [Token(word, ids) for word in (("what", "a") if english == "what" and not plural else (english,))] + en
    combinations = frozenset(("describes", adjective.en, noun.en) for adjective in adjectives)
    return NounPhrase(en, fr, combinations, head, noun, noun.gender, plural)


def _des_before_adjective(plural: bool, core: list[Token], noun: Noun) -> bool:
    return plural and core[0].text != noun.fr_plural  # des chats, but de grands chats


def name(english: str, gender: str, *, part: str | None = None) -> NounPhrase:
    """A name, copied; agreement follows its bearer."""
    head = Token(english, new_id(), part=part)
    return NounPhrase([head], [Token(english, head.ids)], frozenset(), head, None, gender, False)


def speaker(*, plural: bool) -> NounPhrase:
    """I or we."""
    ids = new_id()
    head = Token("we" if plural else "I", ids)
    return NounPhrase([head], [Token("nous" if plural else "je", ids)], frozenset(), head, None, "m", plural, 1)


def stranger(english: str) -> NounPhrase:
    """he, she or they, without an antecedent."""
    token = Token(english, new_id())
    token.role = "stranger"
    gender = "f" if english == "she" else "m"
    french = {"he": "il", "she": "elle", "they": "ils"}[english]
    return NounPhrase([token], [Token(french, token.ids)], frozenset(), token, None, gender, english == "they")


def conjoined(phrases: list[NounPhrase]) -> NounPhrase:
    """A list: *the cat, the hen and the dog*; masculine plural unless all are feminine."""
    en: list[Token] = []
    fr: list[Token] = []
    for i, phrase in enumerate(phrases):
        if i:
            last = i == len(phrases) - 1
            joint = compose("and/1", "et/1") if last else compose(",/1", ",/1")
            en, fr = en + joint.en, fr + joint.fr
        en, fr = en + phrase.en, fr + phrase.fr
    gender = "f" if all(phrase.gender == "f" for phrase in phrases) else "m"
    combinations = frozenset[tuple[str, ...]]().union(*(phrase.combinations for phrase in phrases))
    nouns = tuple(phrase.noun for phrase in phrases if phrase.noun)
    return NounPhrase(en, fr, combinations, phrases[0].head, None, gender, True, listed=nouns)


def pronoun(stands_for: NounPhrase, role: str) -> NounPhrase:
    """A subject pronoun with its antecedent."""
    noun = stands_for.noun
    person = noun.person if noun else ("she" if stands_for.gender == "f" else "he")
    token = Token("they" if stands_for.plural else person or "it", new_id())
    token.refers, token.role = stands_for.head, role
    french = ("elle" if stands_for.gender == "f" else "il") + ("s" if stands_for.plural else "")
    return NounPhrase(
        [token], [Token(french, token.ids)], frozenset(), stands_for.head, noun, stands_for.gender, stands_for.plural
    )


def object_pronoun(stands_for: NounPhrase, role: str) -> NounPhrase:
    """it, him, her, them; in French le, la, les, which the verb takes before it."""
    noun = stands_for.noun
    person = noun.person if noun else ("she" if stands_for.gender == "f" else "he")
    english = "them" if stands_for.plural else {"she": "her", "he": "him", None: "it"}[person]
    token = Token(english, new_id())
    token.refers, token.role = stands_for.head, role
    clitic = Token("les" if stands_for.plural else "la" if stands_for.gender == "f" else "le", token.ids)
    clitic.is_clitic = True
    return NounPhrase([token], [clitic], frozenset(), stands_for.head, noun, stands_for.gender, stands_for.plural)


# ------------------------------------------------------------------------------------------------------------- verbs
@dataclass(frozen=True)
class Form:
    """How a verb is said."""

    tense: str = "past"  # past, present, future, progressive
    negative: bool = False
    short: bool = False  # didn't, not did not
    never: bool = False
    passive: bool = False
    modal: str = ""  # could, can, must, want
    adverb: tuple[str, str] | None = None  # often: before the English verb, after the French finite one


_MODALS = {"can": "pouvoir", "could": "pouvoir", "must": "devoir", "wanted": "vouloir", "wants": "vouloir"}
_SHORT = {
    "did": "didn't", "does": "doesn't", "do": "don't", "was": "wasn't", "were": "weren't", "is": "isn't",
    "are": "aren't", "could": "couldn't", "has": "hasn't", "had": "hadn't", "have": "haven't",
}  # fmt: skip


Words = list[tuple[str, frozenset[int]]]  # texts with their concepts


@dataclass(frozen=True)
class Concepts:
    """The concepts of a verb group: the verb; an auxiliary that both languages have; the negation.

    Where only English or only French has an auxiliary, it belongs to the verb.
    """

    main: frozenset[int] = field(default_factory=new_id)
    aux: frozenset[int] = field(default_factory=new_id)
    no: frozenset[int] = field(default_factory=new_id)


@dataclass
class Group:
    """The words of a verb: English auxiliaries (as a question moves them), English rest, French whole."""

    auxiliaries: list[Token]
    english: list[Token]
    french: list[Token]


def _english_words(
    verb: Verb, subject: NounPhrase, form: Form, ids: Concepts, *, question: bool
) -> tuple[Words, Words]:
    """The English auxiliary, if there is one, and the rest."""
    base, past, part = verb.en
    plural = subject.plural or subject.person == 1
    do = "did" if form.tense == "past" else "do" if plural else "does"
    if form.modal in ("wanted", "wants"):
        want = [("to", ids.aux), (base, ids.main)]
        if form.negative or question:
            return [(do, ids.aux)], [("want", ids.aux), *want]
        return [], [("wanted" if form.modal == "wanted" else "want" if plural else "wants", ids.aux), *want]
    if form.modal:
        return [(form.modal, ids.aux)], [(base, ids.main)]
    if form.passive:
        be = morphology.english_be(form.tense, plural=subject.plural, first=subject.person == 1)
        return [(be, ids.aux)], [(part, ids.main)]
    if form.tense == "progressive":
        be = morphology.english_be("past", plural=subject.plural)
        return [(be, ids.main)], [(morphology.english_ing(base), ids.main)]
    if form.tense == "future":
        return [("will", ids.main)], [(base, ids.main)]
    if form.negative or question:
        return [(do, ids.aux)], [(base, ids.main)]
    if form.tense == "past":
        return [], [(past, ids.main)]
    return [], [(base if plural else morphology.english_third(base), ids.main)]


def _french_words(
    verb: Verb, subject: NounPhrase, form: Form, ids: Concepts, agreeing: NounPhrase | None, *, shared: bool
) -> Words:
    """The French finite verb, then the participle or infinitive; `shared`: English has an auxiliary to link it to."""

    def finite(infinitive: str, tense: str) -> str:
        return morphology.conjugate(infinitive, tense, person=subject.person, plural=subject.plural)

    simple = form.tense if form.tense in ("present", "future") else "imperfect"
    state = verb.state and not form.never  # *n'a jamais aimé*: never is over and done with
    part = morphology.participle(verb.fr)
    if agreeing is not None:
        part = morphology.agree(part, agreeing.gender, plural=agreeing.plural)
    helping = ids.aux if shared else ids.main
    if form.modal:
        tense = "present" if form.modal in ("can", "must", "wants") else "imperfect"
        return [(finite(_MODALS[form.modal], tense), ids.aux), (verb.fr, ids.main)]
    if form.passive and (verb.state or form.tense == "present"):  # était caché
        return [(finite("être", simple), helping), (part, ids.main)]
    if form.passive:  # a été mordu
        return [(finite("avoir", "present"), helping), ("été", helping), (part, ids.main)]
    if form.tense == "past" and not state:
        helper = "être" if verb.aux == "être" or verb.reflexive else "avoir"
        return [(finite(helper, "present"), helping), (part, ids.main)]
    return [(finite(verb.fr, simple), ids.main | ids.aux if shared else ids.main)]


def verb_group(
    verb: Verb, subject: NounPhrase, form: Form, *, clitic: NounPhrase | None = None, question: bool = False
) -> Group:
    """A verb with its subject, and an object pronoun and adverb if there are any."""
    ids = Concepts()
    auxiliaries, rest = _english_words(verb, subject, form, ids, question=question)
    helpers, english = ([Token(*word) for word in words] for words in (auxiliaries, rest))
    english[-1].part = "action"
    agreeing = subject if verb.aux == "être" or verb.reflexive or form.passive else clitic
    shared = any(word_ids == ids.aux for _, word_ids in auxiliaries) and not question
    finite, *tail = (Token(*word) for word in _french_words(verb, subject, form, ids, agreeing, shared=shared))
    clitics = [Token("se", ids.main)] if verb.reflexive else []
    clitics += clitic.fr if clitic else []
    french = [finite] if form.modal else [*clitics, finite]
    if form.negative:
        french = [Token("ne", ids.no), *french, Token("pas", ids.no)]
        _negate(helpers, ids.no, short=form.short)
    if form.never:
        english.insert(-1, Token("never", ids.no))
        french = [Token("ne", ids.no), *french, Token("jamais", ids.no)]
    if form.adverb:
        both = new_id()
        english.insert(-1, Token(form.adverb[0], both))
        french.append(Token(form.adverb[1], both))
    return Group(helpers, english, [*french, *(clitics if form.modal else []), *tail])


def _negate(helpers: list[Token], no: frozenset[int], *, short: bool) -> None:
    if short and helpers[0].text in _SHORT:
        helpers[0] = Token(_SHORT[helpers[0].text], helpers[0].ids | no)
    elif helpers[0].text == "can":
        helpers[0] = Token("cannot", helpers[0].ids | no)
    else:
        helpers.append(Token("not", no))


def _prepositions(pair: tuple[str, str], main: frozenset[int]) -> tuple[list[Token], list[Token]]:
    """A preposition that only one language has belongs to the verb, and so does *way* of *gave way under*."""
    en, fr = pair[0].split(), pair[1].split()
    ids = new_id() if en and fr else main
    of_verb = max(len(en) - len(fr), 0)
    english = [Token(word, main if i < of_verb else ids) for i, word in enumerate(en)]
    return english, [Token(word, ids) for word in fr]


def clause(
    subject: NounPhrase,
    verb: Verb | SetVerb,
    object_: NounPhrase | None = None,
    second: NounPhrase | None = None,
    *,
    form: Form = Form(),  # noqa: B008  (frozen)
    question: bool = False,
) -> Phrase:
    """Subject, verb, objects.

    An `object_` made by `object_pronoun`, or emptied because a relative clause has moved it to the front, goes before
    the French verb, whose participle agrees with it.

    With `question` the English auxiliary stands first and French begins *est-ce que*.
    """
    parts = [part for part in (subject, object_, second) if part is not None]
    combinations = frozenset[tuple[str, ...]]().union(*(part.combinations for part in parts))
    combinations |= _combination(subject, verb, object_, second)
    if isinstance(verb, SetVerb):
        if object_ is None:
            raise ValueError(f"expected an object for {verb.en!r}")
        slots = {"S": subject, "O": object_}
        phrase = compose(f"$S {verb.en} $O", f"$S {verb.fr} $O", slots, subject=subject, tense=form.tense)
        phrase.combinations = combinations
        said = phrase.en[len(subject.en) :]
        next(token for token in said if token.text not in ("was", "were", "is", "are")).part = "action"
        return phrase
    clitic = object_ if object_ is not None and (not object_.fr or object_.fr[0].is_clitic) else None
    group = verb_group(verb, subject, form, clitic=clitic, question=question)
    main = group.english[-1].ids
    english, french = [*group.english], [*group.french]
    objects = [(object_, ("by", "par") if form.passive else verb.prep), (second, verb.prep2)]
    for noun_phrase, pair in objects:
        if noun_phrase is None:
            continue
        en_prep, fr_prep = _prepositions(pair, main)
        english += en_prep + noun_phrase.en
        french += [] if noun_phrase is clitic else fr_prep + noun_phrase.fr
    if question:
        asked = compose("x/1", "est/1 -ce/1 que/1")
        group.auxiliaries[0].ids |= asked.en[0].ids
        return Phrase([*group.auxiliaries, *subject.en, *english], [*asked.fr, *subject.fr, *french], combinations)
    return Phrase([*subject.en, *group.auxiliaries, *english], [*subject.fr, *french], combinations)


def _combination(
    subject: NounPhrase, verb: Verb | SetVerb, object_: NounPhrase | None, second: NounPhrase | None
) -> frozenset[tuple[str, ...]]:
    """The pair of nouns with the group of the verb: subject and object; of three nouns, the two that could be *it*.

    A list makes one for each noun in it.
    """
    ones, others = (object_, second) if verb.group == "pour" else (subject, second or object_)
    return frozenset(
        ("pair", verb.group, *sorted((one.en, other.en))) for one in _nouns(ones) for other in _nouns(others)
    )


def _nouns(phrase: NounPhrase | None) -> tuple[Noun, ...]:
    return () if phrase is None else (phrase.noun,) if phrase.noun else phrase.listed
