"""Storybook for the lens: gold annotations, choices between *il* and *elle*, and minimal pairs of equal length.

All come from the held-out combinations, split into a development half and a test half.  Variants of a sentence stay in
one half.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from random import Random

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..lens.changes.choices import Choice
from ..lens.records.roles import GoldPair, GoldPronoun
from ..storybook import StoryPair
from ..tokenizer.encoding import encode_source, encode_target
from ..tokenizer.tagging import tagging
from ..tokenizer.words import split_words

OTHER = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}
GENDER = {"il": "il", "ils": "il", "elle": "elle", "elles": "elle"}  # plurals count with their singular
NOUN_ROLES = ("agent", "patient", "recipient")


def in_halves(stories: Iterable[StoryPair], limit: int | None = None) -> tuple[list[StoryPair], list[StoryPair]]:
    """The stories in two halves, with no minimal pair split between them."""
    groups: dict[str, list[StoryPair]] = defaultdict(list)
    stories = list(stories)
    for story, group in zip(stories, groups_of(stories), strict=True):
        groups[group].append(story)
    keys = sorted(groups)
    Random(0).shuffle(keys)
    dev, test = ([story for key in keys[half::2] for story in groups[key]][:limit] for half in (0, 1))
    return dev, test


def groups_of(stories: Iterable[StoryPair]) -> list[str]:
    """The sentence that each story is a variant of; one without variants is its own group."""
    return [story.contrast_key or f"alone {number}" for number, story in enumerate(stories)]


def to_gold(story: StoryPair) -> GoldPair:
    """The gold annotation of a sentence; pronouns are subjects that refer to a noun of the sentence."""
    nouns = {word for word, role in story.roles if role in NOUN_ROLES}
    words = split_words(story.source, language="en")
    pronouns = tuple(
        GoldPronoun(one.pronoun, one.noun, one.target, tuple(sorted(nouns - {one.noun})))
        for one in story.antecedents if one.noun in nouns and _is_subject(story, one.target)
    )
    return GoldPair(
        story.source, story.target, story.links, pronouns,
        actions=tuple(word for word, role in story.roles if role == "action"),
        states=tuple(word for word, role in story.roles if role == "state"),
        adjectives=_adjectives([word.text for word in words], story),
        group=story.contrast_key,
    )


def _is_subject(story: StoryPair, word: int) -> bool:
    return split_words(story.target, language="fr")[word].text.casefold() in OTHER


def _adjectives(words: list[str], story: StoryPair) -> tuple[tuple[int, int], ...]:
    """(adjective, noun): English adjectives precede their noun, with only other adjectives between."""
    initials: dict[str, set[str]] = defaultdict(set)  # of the nouns that an adjective describes: perhaps several
    for combination in story.combinations:
        if combination[0] == "describes":
            initials[combination[1]].add(combination[2][:1])
    found: list[tuple[int, int]] = []
    waiting: list[int] = []
    for number, word in enumerate(words):
        if word.casefold() in initials:
            waiting.append(number)
        else:  # a plural has its singular's first letter: mouse, mice; a full stop follows an adjective without a noun
            found += [(one, number) for one in waiting if word[0] in initials[words[one].casefold()]]
            waiting = []
    return tuple(found)


def pronoun_choice(
    story: StoryPair, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase,
    languages: tuple[str, str] = ("en", "fr"),
) -> tuple[str, Choice]:
    """The step at which the translation says *il* or *elle*, and which of them is right.  `languages` are English and
    French as the model calls them.

    StopIteration for a sentence without a pronoun that is a subject.
    """
    at = next(one.target for one in story.antecedents if _is_subject(story, one.target))
    word = split_words(story.target, language="fr")[at]
    other = OTHER[word.text.casefold()]
    wrong = story.target[: word.start] + (other.capitalize() if word.text[0].isupper() else other)
    source_ids, right_ids = story_ids(story, model, tokenizer, languages)
    _, wrong_ids = story_ids(replace(story, target=wrong + story.target[word.end :]), model, tokenizer, languages)
    return GENDER[word.text.casefold()], Choice.between(source_ids, right_ids, wrong_ids)


def story_ids(story: StoryPair, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase,
              languages: tuple[str, str]) -> tuple[list[int], list[int]]:
    """The ids of both sides as the model reads and writes them."""
    source = encode_source(tokenizer, story.source, tagging=tagging(model.config, tokenizer, *languages))
    first = model.generation_config.forced_bos_token_id
    return source, encode_target(tokenizer, story.target, language=languages[1], first=first)


def minimal_pairs(stories: list[StoryPair], choices: list[Choice]) -> list[tuple[int, int]]:
    """Indices (receiver, donor): variants of one sentence with different pronouns and equal lengths on both sides."""
    groups: dict[str | None, list[int]] = defaultdict(list)
    for number, story in enumerate(stories):
        groups[story.contrast_key].append(number)
    return [
        (a, b) for members in groups.values() for a, b in permutations(members, 2)
        if choices[a].right == choices[b].wrong and choices[a].wrong == choices[b].right
        and len(choices[a].source_ids) == len(choices[b].source_ids)
        and len(choices[a].prefix_ids) == len(choices[b].prefix_ids)
    ]
