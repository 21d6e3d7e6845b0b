"""The embedded English-French corpus, written by a grammar that knows the truth about every sentence.

`generate` writes it. `lexicon` and `verbs` hold the words, `morphology` their forms, `phrases` and `clauses` the
grammar with its links (the rules are in LINKS.md), `pronouns`, `controls`, `senses`, `plain`, `forms` and `idioms`
what is said, `splits` what is held out, `build` the mixture.
"""

from .build import Storybook, generate
from .phrases import Antecedent, StoryPair
from .pronouns import HARD

__all__ = ["HARD", "Antecedent", "StoryPair", "Storybook", "generate"]
