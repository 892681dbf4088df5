"""Moments and lines of evidence that differ in nothing but their time, or their queue, told as one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from election_replay.jobs.reading.words import Row, some

QUEUE = re.compile(r"\bqueue (\d+)\b")


@dataclass(frozen=True, slots=True)
class Folded:
    """Moments in a row that differ in nothing but their queue and their time."""

    first: Row
    sentence: str
    count: int
    last: datetime


def collapsed(moments: list[Row]) -> Iterator[Folded]:
    """Moments without repetitions; a lock of several queues that is taken again and again is one entry, too."""
    for (kind, _, _, shape), run in groupby(by_shape(moments), key=lambda shaped: shaped[:4]):
        alike = [shaped[4] for shaped in run]
        queues = sorted({int(number) for moment in alike for number in QUEUE.findall(moment["what"])})
        sentence = alike[0]["what"]
        if kind == "lock" and len(queues) > 1:
            sentence = shape.replace("queue #", f"queues {some([str(queue) for queue in queues])}")
        yield Folded(alike[0], sentence, len(alike), max(moment["happened_at"] for moment in alike))


def by_shape(moments: list[Row]) -> Iterator[tuple[str, str | None, str | None, str, Row]]:
    """Moments with what they have in common with others; locks between two other moments are brought together."""
    shaped = [
        (
            moment["kind"],
            moment["node"],
            moment["source_node"],
            QUEUE.sub("queue #", moment["what"]) if moment["kind"] == "lock" else moment["what"],
            moment,
        )
        for moment in moments
    ]
    for locks, run in groupby(shaped, key=lambda entry: entry[0] == "lock"):
        if not locks:
            yield from run
            continue
        together: dict[tuple[Any, ...], list[Any]] = {}
        for entry in run:
            together.setdefault(entry[:4], []).append(entry)
        for alike in together.values():
            yield from alike


LOGGED_AT = re.compile(r"^\S*\d{2,4}[-/.]\d\d\S*(?:[ T]\S*\d\d:\d\d\S*)?|^\[?\d[\d:.,TZ+ -]*\]?")


def folded(lines: list[Row]) -> Iterator[tuple[Row, int]]:
    """Lines of evidence; those in a row that say the same at other times, a stack trace say, are one, with a count."""
    for _, run in groupby(
        lines, key=lambda row: (row["source_node"], row["path"] is None, without_time(row["text"] or ""))
    ):
        alike = list(run)
        yield alike[0], len(alike)


def without_time(text: str) -> str:
    """What a line says, whenever it says it."""
    return LOGGED_AT.sub("", text, count=1).strip()
