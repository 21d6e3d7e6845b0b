"""One commented YAML per experiment."""

if not __name__.startswith("seq2see."):
    raise ImportError("import seq2see.configs, not configs: under the bare name every class would exist twice")
