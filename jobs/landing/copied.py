"""Restores logs that were copied from a screen or a page: lines that a terminal broke at its edge, and HTML source.

A broken line is as wide as the screen, and the text behind it does not begin as lines of the log do.
"""

import html
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

NARROWEST = 60
"""The fewest columns of a screen."""

FEWEST = 3
"""So many lines as wide as the screen, which differ in more than their numbers, are no accident."""

SHARE = 8
"""At least one line in so many must be as wide as the screen."""

_PAGE = re.compile(r"(?i)\s*(?:<!doctype html|<html\b|<pre\b|<body\b|<div\b|<code\b)")
_BREAK = re.compile(r"(?i)<br ?/?>(?!\n)|</(?:p|pre|div|li|tr|h\d)>(?!\s*\n|\s*</)")
"""The tags that end a line, where it does not end anyway."""
_TAG = re.compile(r"</?[A-Za-z!][^<>\n]{0,400}>")


def width(lines: Sequence[str]) -> int | None:
    """Return the column at which a screen broke the lines; None where none did."""
    widest = max(map(len, lines), default=0)
    full = [line for line in lines if len(line) == widest]
    if widest < NARROWEST or len({re.sub(r"\d", "", line) for line in full}) < FEWEST or SHARE * len(full) < len(lines):
        return None
    behind = [after for line, after in pairwise(lines) if len(line) == widest]
    begins = beginnings(lines, widest)
    return widest if 2 * sum(form(line) in begins for line in behind) < len(behind) else None


def beginnings(lines: Sequence[str], widest: int) -> set[str]:
    """Return the :func:`form` of each beginning that lines of the log have: the first line's, and those that follow an
    unbroken line more than once."""
    found = Counter(form(after) for line, after in pairwise(lines) if len(line) < widest)
    return {form(lines[0]), *(beginning for beginning, count in found.items() if count > 1)}


def form(line: str) -> str:
    """Return the first five characters of a line, with 9 in place of each digit."""
    return re.sub(r"\d", "9", line[:5])


def unbroken(lines: Sequence[str], widest: int) -> list[str]:
    """Return the lines as they were before a screen of ``widest`` columns broke them."""
    begins = beginnings(lines, widest)
    found: list[str] = []
    for before, line in pairwise(["", *lines]):
        if found and len(before) == widest and form(line) not in begins:
            found[-1] += line
        else:
            found.append(line)
    return found


def is_page(beginning: str) -> bool:
    """Return True when a text begins as the HTML source of a page does."""
    return _PAGE.match(beginning) is not None


def text_of_page(page: str) -> str:
    """Return the text of a page of HTML, without its tags and with its character references replaced."""
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", page)))
