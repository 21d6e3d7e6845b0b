"""Seq2See, the translation model you can see through.

`import seq2see` alone imports and registers nothing.  The first use of a public name imports it and registers the model
classes with transformers' Auto classes.  The sub-packages (`seq2see.modeling`, `seq2see.training`, ...) are the folders
beside this one.  The symbolic links in this folder are for tools that follow imports without running them.

Imports nothing of ours until a name is used.
Begin with `cli/`, or with the room of the public name that is used.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.4.0"

if TYPE_CHECKING:
    from seq2see.lens import Trace as Trace
    from seq2see.modeling import Seq2SeeConfig as Seq2SeeConfig
    from seq2see.modeling import Seq2SeeForConditionalGeneration as Seq2SeeForConditionalGeneration
    from seq2see.modeling import Seq2SeeModel as Seq2SeeModel
    from seq2see.modeling.loading import load_checkpoint as load_checkpoint
    from seq2see.serve.ui.page import page as page
    from seq2see.text.glossary import Glossary as Glossary
    from seq2see.text.glossary import read_glossary as read_glossary
    from seq2see.tokenizer import Seq2SeeTokenizer as Seq2SeeTokenizer
    from seq2see.translate import Translation as Translation
    from seq2see.translate import Translator as Translator

_HOME_OF = {
    "Seq2SeeConfig": "seq2see.modeling",
    "Seq2SeeModel": "seq2see.modeling",
    "Seq2SeeForConditionalGeneration": "seq2see.modeling",
    "Seq2SeeTokenizer": "seq2see.tokenizer",
    "load_checkpoint": "seq2see.modeling.loading",
    "Trace": "seq2see.lens",
    "page": "seq2see.serve.ui.page",
    "Translation": "seq2see.translate",
    "Translator": "seq2see.translate",
    "Glossary": "seq2see.text.glossary",
    "read_glossary": "seq2see.text.glossary",
}
__all__ = [*_HOME_OF, "__version__"]

# In a checkout the sub-packages are siblings of this folder; in a wheel they are inside it.  The siblings come first:
# files then have their real paths, and a checkout without symbolic links works too.  The folder above is not on the
# path, since a walk through the package would come from there to this folder again.
_root = Path(__file__).resolve().parent.parent


class _Siblings:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [str(_root)]) if path is __path__ else None


if (_root / "pyproject.toml").is_file() and (_root / "modeling" / "__init__.py").is_file():
    sys.meta_path.insert(0, _Siblings)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'seq2see' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
