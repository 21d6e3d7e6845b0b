"""Idioms."""

from .phrases import StoryPair


def idioms() -> tuple[StoryPair, ...]:
    return ()
