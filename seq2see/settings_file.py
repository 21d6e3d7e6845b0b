"""Settings from a YAML file and `key=value` overrides; each mistake is a UserError of one line, exit code 2.

    settings = read_settings(path, expected="lines such as characters: 5000")
    override(settings, ["characters=2000"], example="characters=2000")
    checked(ServerSettings, settings, where=str(path))  # validation.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from seq2see.errors import UserError, nearest


class Loader(yaml.SafeLoader):
    """YAML as people read it: `no` and `on` are strings (`eval_strategy: no`), and `2e-3` is a number.

    No aliases: a page of them can expand beyond any memory.  No key twice: YAML would keep the last without a word.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not supported")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                raise yaml.YAMLError(f"{name} is set twice, in lines {lines[name]} and {line}")
            lines[name] = line
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false", re.IGNORECASE), list("tTfF"))
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+"), list("-+0123456789")
)


def read_settings(path: Path | Traversable, *, where: str = "", expected: str) -> dict[str, Any]:
    """The mapping in a YAML file; errors call the file `where` (by default its path) and say what is `expected`."""
    where = where or str(path)
    settings = parse_yaml(read_text(path, where), where) or {}
    if not isinstance(settings, dict):
        raise wrong(f"{where} contains {type(settings).__name__}; expected {expected}")
    return settings


def read_text(path: Path | Traversable, where: str) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise wrong(f"cannot read {where}: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None


def parse_yaml(text: str, where: str) -> Any:
    try:
        return yaml.load(text, Loader)
    except RecursionError:
        raise wrong(f"{where} is not YAML: it is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an impossible date or number
        raise wrong(f"{where} is not YAML: {str(error)[:300]}") from None


def override(settings: dict[str, Any], overrides: Iterable[str], *, example: str) -> None:
    """Set `section.key=value` or `key=value`, in order."""
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise wrong(f"{text!r} is not key=value; write for example {example}")
        tree = settings
        *sections, last = key.split(".")
        for section in sections:
            if tree.get(section) is None:  # missing or empty
                tree[section] = {}
            tree = tree[section]
            if not isinstance(tree, dict):
                raise wrong(f"{text!r}: {section} is a value, not a section")
        tree[last] = parse_yaml(value, f"the value of {text!r}")


def check_keys(settings: Mapping[Any, Any], known: Sequence[str], *, prefix: str = "", where: str) -> None:
    for key in settings:
        if key not in known:
            raise wrong(f"{prefix}{key} in {where}: unknown key{nearest(str(key), known, prefix=prefix)}")


def wrong(message: str) -> UserError:
    return UserError(message, exit_code=2)
