"""The order of ids by which Bully and ring elections choose, shared by machines and judge."""

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(.*?)(\d{1,18})")


def rank(node: str) -> tuple[str, int, str]:
    """Return the sort key of an id: by its number (``P10`` is above ``P9``), else by its letters."""
    found = _NUMBERED.fullmatch(node)
    return (found.group(1), int(found.group(2)), "") if found else (node, -1, node)


def higher(node: str, among: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``among`` that are above the node."""
    return tuple(other for other in among if rank(other) > rank(node))


def highest(among: Iterable[str]) -> str:
    """Return the largest id."""
    return max(among, key=rank)
