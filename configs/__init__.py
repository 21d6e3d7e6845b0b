"""One commented YAML per experiment."""
