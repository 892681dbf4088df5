"""The order of ids, by which Bully and the ring elections choose: machines run by it, the judge judges by it."""

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(.*?)(\d{1,18})")


def rank(node: str) -> tuple[str, int, str]:
    """The place of an id in the order of ids: by its number (``P10`` is above ``P9``), else by its letters."""
    found = _NUMBERED.fullmatch(node)
    return (found.group(1), int(found.group(2)), "") if found else (node, -1, node)


def higher(node: str, among: Iterable[str]) -> tuple[str, ...]:
    """Those ``among`` others that are above a node."""
    return tuple(other for other in among if rank(other) > rank(node))


def highest(among: Iterable[str]) -> str:
    """The largest id."""
    return max(among, key=rank)
