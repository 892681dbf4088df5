"""Writing log texts with their values, for simulated worlds.

The texts are those that are parsed, so the same table reads back what is written here.
"""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from election_replay.election_core.dialects.dialect import Text


class Writer:
    """Writes the texts of one system."""

    def __init__(self, texts: Iterable[Text]) -> None:
        self._texts: dict[tuple[str, frozenset[str], int], Text] = {}
        for text in texts:
            named, unnamed = _places(text)
            self._texts.setdefault((text.kind, named, unnamed), text)

    def message(self, kind: str, *unnamed: Any, **named: Any) -> str:
        """Return the message of ``kind`` with these values.

        ``named`` are the columns of the text, ``unnamed`` the values of its other placeholders, already printed, in
        order. Raises ``KeyError`` if no text of the kind has exactly these placeholders.
        """
        text = self._texts[kind, frozenset(named), len(unnamed)]
        rest = iter(unnamed)
        parts = []
        for literal, name, _, _ in Formatter().parse(text.template):
            parts.append(literal)
            if name is not None:
                parts.append(printed(named[name] if name else next(rest)))
        return "".join(parts)


def printed(value: Any) -> str:
    """Return a value as Java prints it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _places(text: Text) -> tuple[frozenset[str], int]:
    names = [name for _, name, _, _ in Formatter().parse(text.template) if name is not None]
    return frozenset(name for name in names if name), sum(1 for name in names if not name)


def members(of: Mapping[str, Any], quote: str = "'") -> str:
    """Return the inside of a Java ``toString``: texts in quotes, everything else bare."""
    return ", ".join(
        f"{name}={quote}{value}{quote}" if isinstance(value, str) else f"{name}={printed(value)}"
        for name, value in of.items()
    )
