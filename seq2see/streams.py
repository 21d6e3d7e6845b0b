"""Results go to stdout, everything else to stderr: also what libraries have to say."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def only_results_on_stdout() -> Iterator[None]:
    """Inside, what is written to stdout by its number goes to stderr; for loading models, before there are results.

    `tokenizers` prints there, from Rust, what it does not know in a stranger's file.
    """
    if sys.stdout:
        sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed: nothing can be told apart
        yield
        return
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
