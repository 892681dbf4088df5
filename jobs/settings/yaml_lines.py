"""YAML whose keys know their line numbers, so that messages can name them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

LARGEST = 8 << 20
"""The maximum size of a document in bytes, enough for an inventory of a hundred thousand members."""

DEEPEST = 16
"""The maximum depth of nested values."""


class Key(str):
    """A key of a mapping; ``line`` counts from 1."""

    __slots__ = ("line",)
    line: int


class Loader(yaml.SafeLoader):
    """The safe loader, with :class:`Key` for keys and with further errors.

    Errors are repeated keys of a mapping, aliases, which can expand a few lines to any size, and values nested deeper
    than :data:`DEEPEST`.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return a node. Raises :class:`yaml.YAMLError` for aliases and deep nesting."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call] # its stubs are not complete
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed: write the value out", mark)
        if self._depth == DEEPEST:
            raise yaml.composer.ComposerError(None, None, f"values lie deeper than {DEEPEST} levels", mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Return a value. Raises :class:`yaml.YAMLError` if it does not fit its tag."""
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
            kind = node.tag.rpartition(":")[2]
            raise yaml.constructor.ConstructorError(None, None, f"this is no {kind}", node.start_mark) from None


def mapping_with_lines(loader: Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    """Return a mapping with :class:`Key` for its text keys. Raises :class:`yaml.YAMLError` for repeated keys."""
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


@dataclass(frozen=True, slots=True)
class Lines:
    """The value of a document, with the lines of its keys."""

    value: Any

    def of(self, place: Sequence[str | int]) -> int | None:
        """Return the line of the last key on the path ``place``; for a mapping in a list, that of its first key."""
        line, here = None, self.value
        for part in place:
            if isinstance(here, dict):
                key = next((key for key in here if key == part), None)
                line, here = getattr(key, "line", line), here.get(part)
            elif isinstance(here, list) and isinstance(part, int) and part < len(here):
                here = here[part]
                line = getattr(next(iter(here), None), "line", line) if isinstance(here, dict) else line
        return line


def yaml_with_lines(text: str) -> Lines:
    """Parse a YAML document. Raises :class:`yaml.YAMLError`."""
    return Lines(yaml.load(text, Loader))  # noqa: S506 - derived from the safe loader
