"""Noun phrases, pronouns, verbs and clauses: English and French built side by side, links included."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from . import morphology
from .lexicon import Adjective, StoryNoun
from .phrases import NounPhrase, Phrase, StoryToken, compose, linked, new_id
from .verbs import SetVerb, Verb

# English determiner: French masculine, feminine, plural.
_DETERMINERS = {
    "the": "le la les", "a": "un une des", "some": "un une des", "": "un une des", "this": "ce cette ces",
    "my": "mon ma mes", "his": "son sa ses", "her": "son sa ses", "its": "son sa ses", "our": "notre notre nos",
    "their": "leur leur leurs", "every": "chaque chaque chaque", "no": "de de de", "de": "de de de",
}
_ENGLISH_PLURAL = {"a": "some", "this": "these"}


def _determiner(det: str, gender: str, plural: bool, following: str) -> str:
    if det == "what":
        return morphology.agree("quel", gender, plural=plural)
    masculine, feminine, several = _DETERMINERS[det].split()
    return several if plural else morphology.before_vowel(feminine if gender == "f" else masculine, following)


def noun_phrase(
    noun: StoryNoun,
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
    core = linked(noun.en_plural, noun.fr_plural) if plural else linked(noun.en, noun.fr)
    en, fr, head = core.en, core.fr, core.en[0]
    head.part = part
    for adjective in reversed(adjectives):  # English: all before; French: before or after the noun
        first, *others = adjective.fr.split()
        form = morphology.agree(first, noun.gender, plural=plural, before=fr[0].text if adjective.before else "")
        added = linked(adjective.en, " ".join([form, *others]))
        en, fr = added.en + en, added.fr + fr if adjective.before else fr + added.fr
    if number:
        added = linked(*number)
        en, fr = added.en + en, added.fr + fr
    if owner is not None:
        of = new_id()
        *rest, last = owner.en
        en = [*rest, StoryToken(last.text + "'s", last.ids | of, part="owner"), *en]
        fr = [StoryToken(_determiner("the", noun.gender, plural, fr[0].text), of), *fr, StoryToken("de", of), *owner.fr]
    elif det or not number:
        inserted = plural and fr[0].text != noun.fr_plural  # des chats, but de grands chats
        french = "de" if det in ("a", "some", "") and (negated or inserted) else det
        english = "what a" if det == "what" and not plural else _ENGLISH_PLURAL.get(det, det) if plural else det
        english = "any" if negated and english == "some" else english
        added = linked(english, _determiner(french, noun.gender, plural, fr[0].text))
        if not det:
            added.fr[0].ids = head.ids
        en, fr = added.en + en, added.fr + fr
    combinations = frozenset(("describes", adjective.en, noun.en) for adjective in adjectives)
    return NounPhrase(en, fr, combinations, head, noun, noun.gender, plural)


def _single(en: str, fr: str, gender: str = "m", *, plural: bool = False, person: int = 3) -> NounPhrase:
    phrase = linked(en, fr)
    return NounPhrase(phrase.en, phrase.fr, head=phrase.en[0], gender=gender, plural=plural, person=person)


def name(english: str, gender: str, *, part: str | None = None) -> NounPhrase:
    """A name, copied; agreement follows its bearer."""
    phrase = _single(english, english, gender)
    phrase.head.part = part
    return phrase


def speaker(*, plural: bool) -> NounPhrase:
    """I or we."""
    return _single(*(("we", "nous") if plural else ("I", "je")), plural=plural, person=1)


def stranger(english: str) -> NounPhrase:
    """he, she or they, without an antecedent."""
    french, gender = {"he": ("il", "m"), "she": ("elle", "f"), "they": ("ils", "m")}[english]
    phrase = _single(english, french, gender, plural=english == "they")
    phrase.head.role = "stranger"
    return phrase


def conjoined(phrases: list[NounPhrase]) -> NounPhrase:
    """A list: *the cat, the hen and the dog*; masculine plural unless all are feminine."""
    whole: Phrase = phrases[0]
    for phrase in phrases[1:]:
        whole = compose("$A and/1 $B = $A et/1 $B" if phrase is phrases[-1] else "$A ,/1 $B", A=whole, B=phrase)
    gender = "f" if all(phrase.gender == "f" for phrase in phrases) else "m"
    nouns = tuple(phrase.noun for phrase in phrases if phrase.noun)
    return NounPhrase(whole.en, whole.fr, whole.combinations, phrases[0].head, None, gender, True, listed=nouns)


def _standing_for(phrase: NounPhrase, role: str, en: str, fr: str) -> NounPhrase:
    word = linked(en, fr)
    word.en[0].refers, word.en[0].role = phrase.head, role
    return replace(phrase, en=word.en, fr=word.fr)


def pronoun(stands_for: NounPhrase, role: str) -> NounPhrase:
    """A subject pronoun with its antecedent."""
    french = ("elle" if stands_for.gender == "f" else "il") + "s" * stands_for.plural
    return _standing_for(stands_for, role, stands_for.pronoun, french)


def object_pronoun(stands_for: NounPhrase, role: str) -> NounPhrase:
    """it, him, her, them; in French le, la, les, which the verb takes before it."""
    english = {"they": "them", "she": "her", "he": "him", "it": "it"}[stands_for.pronoun]
    french = "les" if stands_for.plural else "la" if stands_for.gender == "f" else "le"
    phrase = _standing_for(stands_for, role, english, french)
    phrase.fr[0].is_clitic = True
    return phrase


# ------------------------------------------------------------------------------------------------------------- verbs
@dataclass(frozen=True)
class Form:
    """How a verb is said."""

    tense: str = "past"  # past, present, future, progressive
    negative: bool = False
    short: bool = False  # didn't, not did not
    never: bool = False
    passive: bool = False
    modal: str = ""  # can, could, must, want
    adverb: tuple[str, str] | None = None  # often: before the English verb, after the French finite one


_MODALS = {"can": "pouvoir", "could": "pouvoir", "must": "devoir", "want": "vouloir"}
Ids = frozenset[int]


def _english(
    verb: Verb, subject: NounPhrase, form: Form, main: Ids, aux: Ids, *, question: bool
) -> tuple[list[StoryToken], list[StoryToken]]:
    """The English auxiliary, if there is one, and the rest."""
    base, past, participle = verb.en
    plural, is_past = subject.plural or subject.person == 1, form.tense == "past"
    do = [StoryToken("did" if is_past else "do" if plural else "does", aux)] if form.negative or question else []

    def finite(base: str, past: str) -> str:
        return base if do else past if is_past else base if plural else morphology.english_plural(base)

    if form.modal == "want":
        return do, [StoryToken(finite("want", "wanted"), aux), StoryToken("to", aux), StoryToken(base, main)]
    if form.modal:
        return [StoryToken(form.modal, aux)], [StoryToken(base, main)]
    if form.passive:
        be = morphology.english_finite("be", form.tense, plural=subject.plural)
        return [StoryToken(be, aux)], [StoryToken(participle, main)]
    if form.tense == "progressive":
        be = morphology.english_finite("be", "past", plural=subject.plural)
        return [StoryToken(be, main)], [StoryToken(morphology.english_ing(base), main)]
    if form.tense == "future":
        return [StoryToken("will", main)], [StoryToken(base, main)]
    return do, [StoryToken(finite(base, past), main)]


def _french(
    verb: Verb, subject: NounPhrase, form: Form, agreeing: NounPhrase | None, main: Ids, aux: Ids, *, shared: bool
) -> list[StoryToken]:
    """The French finite verb, then the participle or infinitive; `shared`: English has an auxiliary to link it to."""

    def finite(infinitive: str, tense: str) -> str:
        return morphology.conjugate(infinitive, tense, person=subject.person, plural=subject.plural)

    helping = aux if shared else main
    if form.modal:
        tense = "present" if form.modal in ("can", "must") or form.tense == "present" else "imperfect"
        return [StoryToken(finite(_MODALS[form.modal], tense), aux), StoryToken(verb.fr, main)]
    participle = morphology.participle(verb.fr)
    if agreeing is not None:
        participle = morphology.agree(participle, agreeing.gender, plural=agreeing.plural)
    simple = form.tense if form.tense in ("present", "future") else "imperfect"
    if form.passive and (verb.state or form.tense == "present"):  # était caché
        return [StoryToken(finite("être", simple), helping), StoryToken(participle, main)]
    if form.passive:  # a été mordu
        return [StoryToken(finite("avoir", "present"), helping), StoryToken("été", helping),
                StoryToken(participle, main)]
    if form.tense == "past" and (form.never or not verb.state):  # *n'a jamais aimé*: never is over and done with
        return [StoryToken(finite(verb.aux, "present"), helping), StoryToken(participle, main)]
    return [StoryToken(finite(verb.fr, simple), main | aux if shared else main)]


def _negate(helpers: list[StoryToken], no: Ids, *, short: bool) -> None:
    first = helpers[0]
    if first.text == "can" or short:
        helpers[0] = StoryToken("cannot" if first.text == "can" else first.text + "n't", first.ids | no)
    else:
        helpers.append(StoryToken("not", no))


def _verb_group(
    verb: Verb, subject: NounPhrase, form: Form, clitic: NounPhrase | None, *, question: bool
) -> tuple[list[StoryToken], list[StoryToken], list[StoryToken]]:
    """The English auxiliaries (which a question moves), the English rest, and the French words.

    An auxiliary that both languages have is a concept of its own; one that only one has belongs to the verb.
    """
    main, aux, no = new_id(), new_id(), new_id()
    helpers, english = _english(verb, subject, form, main, aux, question=question)
    english[-1].part = "action"
    agreeing = subject if verb.aux == "être" or form.passive else clitic
    shared = any(token.ids == aux for token in helpers) and not question
    finite, *tail = _french(verb, subject, form, agreeing, main, aux, shared=shared)
    clitics = [StoryToken("se", main)] * verb.reflexive + (clitic.fr if clitic else [])
    french = [finite] if form.modal else [*clitics, finite]
    if form.negative or form.never:
        french = [StoryToken("ne", no), *french, StoryToken("jamais" if form.never else "pas", no)]
    if form.negative:
        _negate(helpers, no, short=form.short)
    if form.never:
        english.insert(-1, StoryToken("never", no))
    if form.adverb:
        adverb = linked(*form.adverb)
        english[-1:-1] = adverb.en
        french += adverb.fr
    return helpers, english, [*french, *(clitics if form.modal else []), *tail]


def _prepositions(pair: tuple[str, str], main: Ids) -> Phrase:
    """A preposition that only one language has belongs to the verb, and so does *way* of *gave way under*."""
    en, fr = pair[0].split(), pair[1].split()
    ids = new_id() if en and fr else main
    of_verb = max(len(en) - len(fr), 0)
    english = [StoryToken(word, main if i < of_verb else ids) for i, word in enumerate(en)]
    return Phrase(english, [StoryToken(word, ids) for word in fr])


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
    combinations = _combination(subject, verb, object_, second).union(*(part.combinations for part in parts))
    if isinstance(verb, SetVerb):
        assert object_ is not None
        phrase = compose(verb.pattern, subject=subject, tense=form.tense, S=subject, O=object_)
        predicate = phrase.en[len(subject.en) :]
        next(token for token in predicate if token.text not in ("was", "were", "is", "are")).part = "action"
        return Phrase(phrase.en, phrase.fr, combinations)
    clitic = object_ if object_ is not None and (not object_.fr or object_.fr[0].is_clitic) else None
    helpers, english, french = _verb_group(verb, subject, form, clitic, question=question)
    main = english[-1].ids
    for noun, pair in ((object_, ("by", "par") if form.passive else verb.prep), (second, verb.prep2)):
        if noun is not None:
            preposition = _prepositions(pair, main)
            english += preposition.en + noun.en
            french += [] if noun is clitic else preposition.fr + noun.fr
    if question:
        opening = compose("x/1 = est/1 -ce/1 que/1")
        helpers[0].ids |= opening.en[0].ids
        return Phrase([*helpers, *subject.en, *english], [*opening.fr, *subject.fr, *french], combinations)
    return Phrase([*subject.en, *helpers, *english], [*subject.fr, *french], combinations)


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


def _nouns(phrase: NounPhrase | None) -> tuple[StoryNoun, ...]:
    return () if phrase is None else (phrase.noun,) if phrase.noun else phrase.listed
