"""Finds the texts, of many, that contain one of some literals.

A regular expression of literals becomes an automaton, like that of Aho and Corasick. Polars keeps what it compiled, so
hundreds of literals are not put together again for each block of lines.
"""

import re
from functools import lru_cache

import polars as pl

from election_replay.election_core.dialects import DIALECTS


def containing(texts: pl.Series, literals: tuple[str, ...], behind: int = 0) -> pl.Series:
    """Return for each text whether it contains one of the literals after its first ``behind`` characters."""
    searched = pl.col(texts.name).str.slice(behind) if behind else pl.col(texts.name)
    return texts.to_frame().select_seq(searched.str.contains(any_of(literals))).to_series()


@lru_cache(maxsize=64)
def any_of(literals: tuple[str, ...]) -> str:
    """Return a regular expression that matches texts with one of the literals; without literals it matches nothing."""
    return "|".join(map(re.escape, literals)) or NEVER


NEVER = r"[^\s\S]"
"""A regular expression that matches nothing."""

TELLING_OF = {dialect.name: dialect.distinguishing_lines for dialect in DIALECTS}
"""By dialect, literals that its texts contain in every layout and that no other program happens to print."""

TELLTALES = tuple(sorted({literal for literals in TELLING_OF.values() for literal in literals}))
"""The literals of all dialects; a file without any is the log of another program."""
