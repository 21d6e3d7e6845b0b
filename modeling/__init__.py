"""The network, and only it."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.modeling, not modeling: under the bare name every class would exist twice")
