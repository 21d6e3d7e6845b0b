"""The embedded English-French corpus, written by a grammar that knows the truth about every sentence."""

from .build import Storybook, generate
from .phrases import Antecedent, StoryPair
from .pronouns import HARD

__all__ = ["HARD", "Antecedent", "StoryPair", "Storybook", "generate"]
