"""The HTTP APIs: one module each, with a `router(service)`; `bodies.py` is shared.

Imports serve.
Begin with `v1.py`.
"""
