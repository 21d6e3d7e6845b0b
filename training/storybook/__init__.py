"""The embedded English-French corpus, written by a grammar that knows the truth about every sentence."""
