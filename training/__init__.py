"""Pairs in, checkpoint out."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.training, not training: under the bare name every class would exist twice")
