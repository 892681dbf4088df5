"""YAML whose keys know the line that they stand on, so that a mistake can be pointed at."""

from typing import Any

import yaml


class Key(str):
    """A key of a mapping; ``line`` counts from 1."""

    __slots__ = ("line",)
    line: int


class Loader(yaml.SafeLoader):
    """The safe loader, but for its keys; a key that stands in a mapping twice is an error."""


def mapping_with_lines(loader: Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    """A mapping with :class:`Key` for the keys that are texts."""
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, str):
            key = Key(key)
            key.line = key_node.start_mark.line + 1
        if key in found:
            raise yaml.constructor.ConstructorError(None, None, f"{key} stands here twice", key_node.start_mark)
        found[key] = loader.construct_object(value_node, deep=True)
    return found


Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping_with_lines)


def yaml_with_lines(text: str) -> Any:
    """The value of a YAML document. Raises :class:`yaml.YAMLError`."""
    return yaml.load(text, Loader)  # noqa: S506 - a safe loader


def at(where: str, key: str) -> str:
    """``where`` with the line of ``key``, if it is known."""
    return f"{where}, line {key.line}" if isinstance(key, Key) else where
