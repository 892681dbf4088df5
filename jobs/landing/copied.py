"""Restores logs that were copied from a screen or a page: lines that a terminal broke at its edge, and HTML source.

A broken line is as wide as the screen, and the text behind it does not begin as lines of the log do.
"""

import html
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, takewhile

from election_replay.jobs.landing.written_times import stamp

NARROWEST = 60
"""The fewest columns of a screen."""

FEWEST = 3
"""So many lines as wide as the screen, which differ in more than their numbers, are no accident."""

SHARE = 8
"""At least one line in so many must be as wide as the screen."""

WIDEST = 250
"""The most columns to which an editor breaks lines."""

FEWEST_WRAPS = 20
"""So many lines, at least, are continued by the next one in a text whose lines were broken between words."""

RARE = 20
"""One line with a time in so many begins as others do."""

NO_BREAK = "\xa0"
"""The space that pages and documents hold where a line must not be broken."""

FEWEST_PAGES = 3
"""So many lines with the number of a page make a text of pages."""

AROUND = 4
"""So many lines, at most, stand at the end or the beginning of each page besides its number."""

_PAGE_NUMBER = re.compile(r"(?i)(?:\b(?:page|seite)|\u7b2c) ?\d{1,4}\b|\s*-? ?\d{1,4} ?/ ?\d{1,4} ?-?\s*\Z")
_PAGE = re.compile(r"(?i)\s*(?:<!doctype html|<html\b|<pre\b|<body\b|<div\b|<code\b)")
_BREAK = re.compile(r"(?i)<br ?/?>(?!\n)|</(?:p|pre|div|li|tr|h\d)>(?!\s*\n|\s*</)")
"""The tags that end a line, where it does not end anyway."""
_NUMBER = re.compile(r"\d+")
_TITLE = re.compile(r"(?i)<h[1-6]\b[^<>\n]{0,400}>")
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


def words_within(lines: Sequence[str]) -> int | None:
    """Return the width to which an editor, a mail or ``fold -s`` broke the lines between words; None where none did.

    Then the next word would have been too much for each line that another one continues, and most lines are broken.
    """
    widest = max(map(len, lines), default=0)
    if not NARROWEST <= widest <= WIDEST:
        return None
    begins = dated_forms(lines)
    if not begins:  # objects whose times stand further behind: nothing tells a line from a continuation
        return None
    pairs = [(line, after) for line, after in pairwise(lines) if after.strip() and form(after) not in begins]
    full = [line for line, after in pairs if not after[0].isspace() and too_much(line, after, widest)]
    short = sum(len(line) < widest for line in full)  # a screen breaks lines at its last column
    most = len(pairs) >= FEWEST_WRAPS and 3 * len(pairs) > len(lines) and 20 * len(full) >= 19 * len(pairs)
    return widest if most and 4 * short > len(full) else None


def dated_forms(lines: Sequence[str]) -> set[str]:
    """Return the :func:`form` of each beginning that lines with a time have: a rare one may be that of a continuation
    in which another time stands."""
    found = Counter(form(line) for line in lines if stamp(line[:NARROWEST]) is not None)
    return {beginning for beginning, count in found.items() if count * RARE > found.total()}


def too_much(line: str, after: str, widest: int) -> bool:
    """Return True when a line has no room for the first word of the next one."""
    return len(line.rstrip(" ")) + 1 + len(after.split(maxsplit=1)[0]) > widest


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


def rejoined(lines: Sequence[str], widest: int) -> list[str]:
    """Return the lines as they were before they were broken between words at ``widest`` columns.

    ``fold -s`` leaves the space at the end of a line, and breaks longer words too; an editor drops it.
    """
    begins = dated_forms(lines)
    space = "" if any(line.endswith(" ") for line in lines) else " "
    found: list[str] = []
    for before, line in pairwise(["", *lines]):
        if found and line.strip() and form(line) not in begins and too_much(before, line, widest):
            found[-1] += space + line
        else:
            found.append(line)
    return found


def without_page_ends(lines: Sequence[str]) -> list[str]:
    """Return the lines of a text of pages, as of a PDF, without what stands at the end and the beginning of each page:
    its number, and lines that stand near most numbers; all lines of any other text."""
    numbers = [at for at, line in enumerate(lines) if _PAGE_NUMBER.search(line) and stamp(line) is None]
    if len(numbers) < FEWEST_PAGES:
        return [*lines]
    near = [range(max(0, at - AROUND), min(len(lines), at + AROUND + 1)) for at in numbers]
    common = Counter(shape for places in near for shape in {_NUMBER.sub("9", lines[at]) for at in places})
    often = Counter(_NUMBER.sub("9", line) for line in lines)
    ends = {shape for shape, pages in common.items() if 2 * pages > len(numbers) >= often[shape] - 1} | {""}
    taken = {
        at
        for places, number in zip(near, numbers, strict=True)
        for side in (range(number, places.stop), range(number, places.start - 1, -1))
        for at in takewhile(lambda at: _NUMBER.sub("9", lines[at]) in ends and stamp(lines[at]) is None, side)
    }
    return [line for at, line in enumerate(lines) if at not in taken]


def is_page(beginning: str) -> bool:
    """Return True when a text begins as the HTML source of a page does."""
    return _PAGE.match(beginning) is not None


def text_of_page(page: str) -> str:
    """Return the text of a page of HTML, without its tags and with its character references replaced; titles are
    headings as in Markdown."""
    page = _TITLE.sub("\n### ", page)
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", page))).replace(NO_BREAK, " ")
