"""Where the tests of commands and of files find `tests/tiny.py` and `tests/serving.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
