"""Looking inside: what every head attended to, for exactly the translation shown."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.lens, not lens: under the bare name every class would exist twice")
