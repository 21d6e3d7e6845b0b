"""What the server is spoken to in: a module a dialect, each with a `router(service)`; `wire.py` is what they share."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.serve.dialects, not dialects: under the bare name every class would exist twice")
