"""The embedded English-French corpus, written by a grammar that also gives the gold annotation of every sentence.

`generate` writes it. `lexicon` and `verbs` hold the words, `morphology` their forms, `phrases` and `clauses` the
grammar with its links (the rules are in LINKS.md), `families` the words of the pronoun families, `scenes` the nouns of
a sentence and the sentence before it is written, `pronouns`, `controls`, `senses`, `plain`, `forms` and `idioms` the
kinds of sentences, `splits` the held-out combinations, `build` the mixture. `german_spanish` gives the same English
other targets.

Imports tokenizer.
Begin with `build.py`, then `phrases.py`.
"""

from .build import Storybook, generate
from .families import HARD
from .german_spanish import in_language
from .phrases import Antecedent, StoryPair

__all__ = ["HARD", "Antecedent", "StoryPair", "Storybook", "generate", "in_language"]
