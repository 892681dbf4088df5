"""Recognise the dialect and layout of a file by its name and its content.

A known name tells the system, and the lines then tell the layout. A file with any other name is of a dialect if some of
its lines are texts of that dialect; otherwise it is the log of another program.
"""

import io
import re
from collections.abc import Sequence

import polars as pl

from election_replay.election_core.dialects import DIALECTS, NAMED, SHARED, Dialect, dialect_for, is_other, named
from election_replay.election_core.dialects.readings import DATED, FIRST_LINES, MOST_LINES, reading, spoken, spread
from election_replay.jobs.landing.evidence import HEAD_BYTES
from election_replay.jobs.landing.literals import TELLTALES, containing

LOOKED_AT_BYTES = 1 << 20
"""The bytes of a file with an unknown name that are searched for texts of a dialect: a server prints hundreds of lines
of settings at its start, and a rolled file may begin with some quiet hours. For a file with a known name
:data:`~jobs.landing.evidence.HEAD_BYTES` are enough to tell its layout."""


KLOG = re.compile(
    r"(?:\S+ (?:std(?:out|err) [FP] )?)?[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w./-]+\.go:\d+\] ", re.ASCII
)
"""The beginning of a line as all parts of Kubernetes write it, with the time and the stream of its container or not."""
KLOG_LINES = 20


def looked_at(stream: str) -> int:
    """Return how many bytes of the beginning of a file are needed to recognise its dialect."""
    return HEAD_BYTES if dialect_for(stream) or is_other(stream) else LOOKED_AT_BYTES


def of_kubernetes(beginning: str) -> bool:
    """Return True when most of the first lines are those of a part of Kubernetes, whatever the file is called: the
    ``kube-proxy.log`` of a support bundle is not the proxy of RocketMQ."""
    lines = [line for line in beginning.splitlines()[: 2 * KLOG_LINES] if line.strip()][:KLOG_LINES]
    return 2 * sum(KLOG.match(line) is not None for line in lines) > len(lines)


def dialect_of(stream: str, data: bytes, setting: str | None = None) -> Dialect | None:
    """Return the dialect of a file that begins with ``data``, in the layout of its lines; None for another program.

    ``setting`` is the dialect, perhaps with its layout, that the settings name for the file.
    """
    by_name = named(setting) or dialect_for(stream)
    if setting is not None and setting not in NAMED:
        return by_name
    if by_name is not None:
        lines = texts_of(data[:HEAD_BYTES])
        return reading(by_name if setting else writer_of(stream, by_name, lines), lines, stream)
    if is_other(stream):
        return None
    lines = telling(texts_of(data))
    found = spoken(DIALECTS, spread(lines, MOST_LINES), stream) if lines else None
    return found or console_dialect(stream, data)


def writer_of(stream: str, by_name: Dialect, lines: Sequence[str]) -> Dialect:
    """Return the dialect that reads most of the first dated lines, among those of the systems that use this name."""
    first = [line for line in lines if DATED.match(line)][:FIRST_LINES]
    return max((by_name, *SHARED.get(stream, ())), key=lambda dialect: sum(map(dialect.reads, first)))


def telling(lines: Sequence[str]) -> list[str]:
    """Return the lines that may hold a text of a known system."""
    texts = pl.Series(lines, dtype=pl.String)
    return texts.filter(containing(texts, TELLTALES)).to_list()


def console_dialect(stream: str, data: bytes) -> Dialect | None:
    """Return the dialect of a console log: that of the first line that begins like one of a known system; else None."""
    found = None
    lines = io.BytesIO(data[:HEAD_BYTES])
    while found is None and (line := next(lines, b"")):
        found = dialect_for(stream, line.decode("utf-8", "replace").removeprefix("\ufeff"))
    return found


def texts_of(data: bytes) -> list[str]:
    """Return the whole lines of ``data``; all of ``data`` as one line if it has no line end."""
    whole = data[: data.rfind(b"\n") + 1] or data
    return [
        line.removeprefix("\ufeff").rstrip("\r")
        for line in whole.decode("utf-8", "replace").removesuffix("\n").split("\n")
    ]
