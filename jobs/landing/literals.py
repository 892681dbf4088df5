"""Which of many texts contain one of some literals.

A regular expression of literals becomes an automaton, as that of Aho and Corasick is; polars keeps what it compiled, so
that hundreds of literals are not put together anew for each block of lines.
"""

import re
from functools import lru_cache

import polars as pl

from election_replay.election_core.dialects import DIALECTS
from election_replay.election_core.dialects.readings import TELLING


def containing(texts: pl.Series, literals: tuple[str, ...]) -> pl.Series:
    """Whether each text contains one of the literals."""
    return texts.str.contains(any_of(literals))


@lru_cache(maxsize=64)
def any_of(literals: tuple[str, ...]) -> str:
    """A regular expression that is found in texts with one of the literals."""
    return "|".join(map(re.escape, literals)) or NEVER


NEVER = r"[^\s\S]"
"""What is found nowhere."""

TELLING_OF = {
    dialect.name: tuple(anchor for anchor in dialect.anchors if len(anchor) >= TELLING) for dialect in DIALECTS
}
"""Literals of which texts of a dialect, in whatever layout, contain one that no other program happens to print."""

TELLTALES = tuple(sorted({literal for literals in TELLING_OF.values() for literal in literals}))
"""Those of all dialects; a file without any is the log of another program."""
