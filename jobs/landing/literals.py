"""Which of many texts contain one of some literals.

A regular expression of literals becomes an automaton, as that of Aho and Corasick is; polars keeps what it compiled, so
that hundreds of literals are not put together anew for each block of lines.
"""

import re
from functools import lru_cache

import polars as pl

from election_replay.election_core.dialects import DIALECTS


def containing(texts: pl.Series, literals: tuple[str, ...], behind: int = 0) -> pl.Series:
    """Whether each text contains one of the literals, ``behind`` so many characters."""
    searched = pl.col(texts.name).str.slice(behind) if behind else pl.col(texts.name)
    return texts.to_frame().select_seq(searched.str.contains(any_of(literals))).to_series()


@lru_cache(maxsize=64)
def any_of(literals: tuple[str, ...]) -> str:
    """A regular expression that is found in texts with one of the literals."""
    return "|".join(map(re.escape, literals)) or NEVER


NEVER = r"[^\s\S]"
"""What is found nowhere."""

TELLING_OF = {dialect.name: dialect.distinguishing_lines for dialect in DIALECTS}
"""Literals of which texts of a dialect, in whatever layout, contain one that no other program happens to print."""

TELLTALES = tuple(sorted({literal for literals in TELLING_OF.values() for literal in literals}))
"""Those of all dialects; a file without any is the log of another program."""
