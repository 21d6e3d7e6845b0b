"""The child: records one section of the tree that PYTHONPATH names, `python record.py SECTION TREE RUN MADE FILE`.

It knows the tree by its command line and public Python names only, so that one recorder fits both trees.
"""

import importlib
import pickle
import sys
from pathlib import Path

from side import Side


def main(section: str, tree: str, run: str, made: str, file: str) -> None:
    side = Side(Path(tree), Path(run), Path(made), Path.cwd())
    records = {}
    for key, value in importlib.import_module(section).record(side):
        assert key not in records, key
        records[key] = side.masked(value)
    strangers = [name for name, module in sys.modules.items() if name.partition(".")[0] == "seq2see"
                 and not (getattr(module, "__file__", None) or tree).startswith(tree)]
    assert not strangers, f"not of {tree}: {strangers}"
    Path(file).write_bytes(pickle.dumps(records))


if __name__ == "__main__":
    main(*sys.argv[1:])
