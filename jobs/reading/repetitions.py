"""Merges consecutive moments and lines of evidence that differ only in their time or their queue."""

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
    """Consecutive moments that differ only in their queue and their time."""

    first: Row
    sentence: str
    count: int
    last: datetime


def collapsed(moments: list[Row]) -> Iterator[Folded]:
    """Yield moments without repetitions; repeated locks of several queues are one entry too."""
    for (kind, _, _, shape), run in groupby(by_shape(moments), key=lambda shaped: shaped[:4]):
        alike = [shaped[4] for shaped in run]
        queues = sorted({int(number) for moment in alike for number in QUEUE.findall(moment["what"])})
        sentence = alike[0]["what"]
        if kind == "lock" and len(queues) > 1:
            sentence = shape.replace("queue #", f"queues {some([str(queue) for queue in queues])}")
        yield Folded(alike[0], sentence, len(alike), max(moment["happened_at"] for moment in alike))


def by_shape(moments: list[Row]) -> Iterator[tuple[str, str | None, str | None, str, Row]]:
    """Yield moments with the values by which they are merged; equal locks between other moments become consecutive."""
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
    """Yield (line, count) of evidence; consecutive lines that differ only in their time are one."""
    for _, run in groupby(
        lines, key=lambda row: (row["source_node"], row["path"] is None, without_time(row["text"] or ""))
    ):
        alike = list(run)
        yield alike[0], len(alike)


def without_time(text: str) -> str:
    """Return a line's text without its timestamp."""
    return LOGGED_AT.sub("", text, count=1).strip()
