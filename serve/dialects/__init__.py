"""What the server is spoken to in: one module a dialect, each with a `router(service)`.  `wire.py` is what they share."""
