"""One lock for imports of large libraries inside functions.

transformers imports its parts when they are first named, and they import each other: two threads that begin at the same
time, each with another part, get an ImportError.
"""

from threading import RLock

IMPORTS = RLock()  # held around imports and while a model loads; take no other lock inside
