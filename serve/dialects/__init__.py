"""What the server is spoken to in: a module a dialect, each with a `router(service)`; `bodies.py` is shared."""
