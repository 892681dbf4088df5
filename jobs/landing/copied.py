"""Logs copied from a screen or a page: lines that a terminal broke at its edge, the source of a page of HTML.

A broken line is as wide as the screen, and what follows begins as no line of the log does.
"""

import html
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

NARROWEST = 60
"""No screen has fewer columns."""

FEWEST = 3
"""So many lines as wide as the screen that differ in more than their numbers are no accident."""

SHARE = 8
"""Of so many lines one at least is as wide as the screen."""

_PAGE = re.compile(r"(?i)\s*(?:<!doctype html|<html\b|<pre\b|<body\b|<div\b|<code\b)")
_TAG = re.compile(r"</?[A-Za-z!][^<>\n]{0,400}>")


def width(lines: Sequence[str]) -> int | None:
    """At how many columns a screen broke lines; ``None`` where none did."""
    widest = max(map(len, lines), default=0)
    full = [line for line in lines if len(line) == widest]
    if widest < NARROWEST or len({re.sub(r"\d", "", line) for line in full}) < FEWEST or SHARE * len(full) < len(lines):
        return None
    behind = [after for line, after in pairwise(lines) if len(line) == widest]
    begins = beginnings(lines, widest)
    return widest if 2 * sum(form(line) in begins for line in behind) < len(behind) else None


def beginnings(lines: Sequence[str], widest: int) -> set[str]:
    """How lines of the log begin: as those do that follow one that is not broken, more than once."""
    found = Counter(form(after) for line, after in pairwise(["", *lines]) if len(line) < widest)
    return {beginning for beginning, count in found.items() if count > 1}


def form(line: str) -> str:
    """How a line begins, whatever its numbers are."""
    return re.sub(r"\d", "9", line[:5])


def unbroken(lines: Sequence[str], widest: int) -> list[str]:
    """The lines as they were before a screen of so many columns broke them."""
    begins = beginnings(lines, widest)
    found: list[str] = []
    for before, line in pairwise(["", *lines]):
        if found and len(before) == widest and form(line) not in begins:
            found[-1] += line
        else:
            found.append(line)
    return found


def is_page(beginning: str) -> bool:
    """Whether a text is the source of a page of HTML."""
    return _PAGE.match(beginning) is not None


def text_of_page(page: str) -> str:
    """What a page of HTML shows, line by line."""
    return html.unescape(_TAG.sub("", page))
