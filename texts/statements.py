"""A log statement: what it prints and where it stands, whatever the language."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

HOLE = "\ue000"
"""A value in a message; stands for itself while messages are put together."""

MOST_VARIANTS = 12
"""A message with more variants is taken with a value in the place of the choices."""


@dataclass(frozen=True, slots=True, order=True)
class Statement:
    """One log statement of one source file.

    ``text`` is its message with ``{}`` for each value; literal braces are doubled. ``level`` is in small letters.
    ``place`` is the class (Java) or the receiver (Go). ``fields`` are keys and types of what a structured logger
    prints beside the message; ``None`` where the message is all.
    """

    text: str
    level: str
    place: str
    fields: tuple[str, ...] | None = None


def skeleton(message: str) -> str:
    """A message with its holes as ``{}``, on one line, without blanks at its end."""
    doubled = message.replace("{", "{{").replace("}", "}}")
    joined = re.sub(f"{HOLE}+", "{}", doubled)
    return joined.partition("\n")[0].rstrip() if "\n" in joined.strip() else joined.strip("\n").rstrip()


def joined(parts: Iterable[Sequence[str]]) -> list[str]:
    """Every way to put one variant of each part behind one another."""
    variants = list(parts)
    many = 1
    for one in variants:
        many *= len(one)
    if many > MOST_VARIANTS:
        return ["".join(one[0] if len(one) == 1 else HOLE for one in variants)]
    return ["".join(one) for one in product(*variants)]


_PERCENT = re.compile(r"%(?:%|\[\d+\])?[-+ #0,(]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:\[\d+\])?(?:t?[a-zA-Z])?")


def formatted(message: str) -> str:
    """A message of ``printf`` with holes for its verbs."""

    def value(found: re.Match[str]) -> str:
        if found.group() == "%%":
            return "%"
        if found.group() == "%n":
            return "\n"
        return HOLE if found.group()[-1].isalpha() else found.group()

    return _PERCENT.sub(value, message)


def braced(message: str, values: int) -> str:
    """A message of slf4j with holes for as many ``{}`` as there are values; the others are printed as they stand."""
    parts = message.split("{}")
    return "".join(
        part + ("" if place == len(parts) - 1 else HOLE if place < values else "{}") for place, part in enumerate(parts)
    )


def merged(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Statements of one file, each text once a level and place: the first."""
    seen = set()
    for one in statements:
        key = (one.text, one.level, one.place, one.fields)
        if key not in seen:
            seen.add(key)
            yield one
