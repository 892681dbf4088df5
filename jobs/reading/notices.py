"""What log lines say that no rule judges, as entries of a story: told once where they repeat, with how often.

Which kinds are told, and in which words, stands in :mod:`jobs.runbook.notices`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from election_replay.election_core.dialects import KINDS
from election_replay.election_core.fold.identity import CONTROLLER, CONTROLLER_GROUP, NAMESERVER, process_of
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.timing import MS_PER_SECOND
from election_replay.jobs.reading.clocks import Clocks
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, clock, listed, times
from election_replay.jobs.runbook import notices

TOGETHER = timedelta(minutes=10)
"""What says the same so soon again is told with it."""

AT_ONCE = timedelta(seconds=5)
"""Members that say the same within this time say it of one thing."""

ONE_FAILURE = timedelta(seconds=1)
"""Lines of a start that fails within this time are of one start."""

LONGEST_MS = 30 * 86_400_000
"""A duration beyond this is none: some systems print a time since 1970 in its place."""


PLACE = re.compile(r"\{(\w+)\}")
OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
LENGTH = "\0"
"""What stands for the length of lines in a sentence until all of them are together."""

LINES = """
    SELECT event_time, stream, source_node, node, kind, {columns} FROM events
    WHERE cluster = $cluster AND source_node IN (SELECT unnest($sources)) AND kind IN (SELECT unnest($kinds))
        AND event_time BETWEEN $since AND $until
    ORDER BY event_time, source_node, stream, line_no
"""


@dataclass(frozen=True, slots=True)
class Notice:
    """Lines of some members that say the same: the first and the last time, who, and in which words."""

    at: datetime
    until: datetime
    speakers: tuple[tuple[str | None, str], ...]
    kind: str
    text: str
    count: int
    place: int = 0
    """Where the first of the lines stands among all."""

    def sentence(self, named: Iterable[str]) -> str:
        """The words behind the names of those who say so."""
        often = f" ({times(self.count)}, to {clock(self.until)})" if self.count > 1 else ""
        return f"{listed(named)}: {self.text}{often}."


def notices_of(
    published: Published,
    cluster: str,
    sources: Collection[str],
    texts: Mapping[str, str],
    window: tuple[datetime, datetime],
    clocks: Clocks,
    group: str | None = None,
) -> list[Notice]:
    """What lines of these ``sources`` say, of the kinds that ``texts`` names, in order of time, on ``clocks``.

    Of a machine that runs several processes only those of the one that belongs to the ``group``.
    """
    columns = columns_of(texts.values())
    kinds = sorted({kind.partition("/")[0] for kind in texts} | notices.STARTS | notices.LEADER_IS_KNOWN)
    values = {
        "cluster": cluster,
        "sources": sorted(sources),
        "kinds": kinds,
        "since": window[0],
        "until": window[1],
    }
    rows = published.rows(LINES.format(columns=", ".join(columns)), values)
    for row in rows:
        row["event_time"] = clocks.adjusted(row["source_node"], row["event_time"])
    spoken = rows if group is None else [*of_group(rows, group)]
    return sorted(together(of_interest(spoken, texts), texts), key=lambda notice: (notice.at, notice.place))


def of_group(rows: list[Row], group: str) -> Iterator[Row]:
    """Lines of the process that belongs to a group; all of a source where no other process of it speaks."""
    controllers = group == CONTROLLER_GROUP
    processes: dict[str, set[str]] = {}
    for row in rows:
        processes.setdefault(row["source_node"], set()).add(process_of(row["stream"]))
    for row in rows:
        process = process_of(row["stream"])
        if len(processes[row["source_node"]]) == 1 or (
            process == CONTROLLER if controllers else process not in (CONTROLLER, NAMESERVER)
        ):
            yield row


def columns_of(texts: Iterable[str]) -> list[str]:
    """The columns of events that some sentences need."""
    named = {name for text in texts for name in PLACE.findall(text)} - {"duration"}
    return sorted(named | {"duration_ms", "count", "value", "code", "flag"} - {"node"})


def of_interest(rows: list[Row], texts: Mapping[str, str]) -> Iterator[Row]:
    """Lines without those that only repeat what a start reads, and without a release that was told before."""
    known = Known()
    for row in rows:
        known.starts(row)
        if text_of(row, texts) is not None and not known.repeats(row):
            yield row


@dataclass(slots=True)
class Known:
    """What the lines up to one have told: when members started, which of them still read their logs, which releases
    run, and which changes of members were made."""

    started: dict[str, datetime] = field(default_factory=dict)
    reading: set[str] = field(default_factory=set)
    release: dict[tuple[str, str], Any] = field(default_factory=dict)
    changed: set[tuple[str, Any]] = field(default_factory=set)
    removed: set[tuple[str, Any]] = field(default_factory=set)
    failed: dict[str, datetime] = field(default_factory=dict)

    def starts(self, row: Row) -> None:
        """A member starts, or has read its log."""
        if row["kind"] in notices.STARTS:
            self.started[row["source_node"]] = row["event_time"]
            self.reading.add(row["source_node"])
        if row["kind"] in notices.LEADER_IS_KNOWN:
            self.reading.discard(row["source_node"])

    def repeats(self, row: Row) -> bool:
        """Whether a line only says again what is known."""
        kind, source = row["kind"], row["source_node"]
        if kind in notices.RELEASES:
            before = self.release.get((source, kind))
            self.release[source, kind] = row["value"]
            return before in (None, row["value"])
        if kind in notices.AT_STARTS:
            again = reads_its_log(self.started.get(source), row["event_time"]) and (kind, row["peer"]) in self.changed
            self.changed.add((kind, row["peer"]))
            return again or source in self.reading
        if kind == "ETCD_START_FAILED":  # one failure is told by several lines
            before, self.failed[source] = self.failed.get(source), row["event_time"]
            return before is not None and row["event_time"] - before < ONE_FAILURE
        if kind == "ETCD_MEMBER_REMOVED":
            again = (source, row["peer"]) in self.removed
            self.removed.add((source, row["peer"]))
            return again
        return False


def text_of(row: Row, texts: Mapping[str, str]) -> str | None:
    """The sentence of a line: that of its kind with this code or flag, else of its kind; ``None``: it is not told."""
    kind = row["kind"]
    return texts.get(f"{kind}/{row['code']}", texts.get(f"{kind}/{row['flag']}", texts.get(kind)))


def reads_its_log(started: datetime | None, at: datetime) -> bool:
    """Whether a member that ``started`` may still print old changes again."""
    return started is not None and at - started <= timedelta(microseconds=notices.READS_ITS_LOG_FOR_US)


def together(rows: Iterable[Row], texts: Mapping[str, str]) -> Iterator[Notice]:
    """Lines that say the same in the same words as one: by one member where they follow soon, by others at once."""
    worded = [(in_words(row, text_of(row, texts) or ""), row | {"place": place}) for place, row in enumerate(rows)]
    worded.sort(key=lambda pair: (pair[1]["kind"], pair[0], pair[1]["event_time"]))
    for (kind, words), alike in groupby(worded, key=lambda pair: (pair[1]["kind"], pair[0])):
        runs: list[list[Row]] = []
        for _, row in alike:
            run = None if kind in notices.APART else run_of(row, runs)
            if run is None:
                runs.append([row])
            else:
                run.append(row)
        yield from (as_notice(kind, words, run) for run in runs)


def run_of(row: Row, runs: list[list[Row]]) -> list[Row] | None:
    """The lines with which another one is told: the last ones of its member, else those that begin as it comes."""
    for run in reversed(runs):
        if row["event_time"] - run[-1]["event_time"] > TOGETHER:
            continue
        of_member = any(row["source_node"] == other["source_node"] for other in run)
        if of_member or row["event_time"] - run[0]["event_time"] <= AT_ONCE:
            return run
    return None


def as_notice(kind: str, words: str, rows: list[Row]) -> Notice:
    """Lines that say the same as one entry."""
    named = [(None if kind in notices.OF_ANOTHER else row["node"], row["source_node"]) for row in rows]
    speakers = tuple(dict.fromkeys(named))
    lengths = [row["duration_ms"] for row in rows if row["duration_ms"] is not None and row["duration_ms"] < LONGEST_MS]
    length = length_in_words(min(lengths), max(lengths)) if lengths else "some time"
    by_speaker = max(map(named.count, speakers))
    first, last = rows[0]["event_time"], rows[-1]["event_time"]
    return Notice(first, last, speakers, kind, words.replace(LENGTH, length), by_speaker, rows[0]["place"])


def length_in_words(least_ms: int, most_ms: int) -> str:
    """From the shortest to the longest; what is short is told in milliseconds."""
    if most_ms >= MS_PER_SECOND:
        return between(least_ms * 1000, most_ms * 1000)
    return f"{most_ms} ms" if least_ms == most_ms else f"{least_ms} to {most_ms} ms"


def in_words(row: Row, template: str) -> str:
    """What a line says; its duration is told of all lines together."""
    text = template or meaning(row["kind"])

    def filled(part: str) -> str:
        return PLACE.sub(lambda found: LENGTH if found[1] == "duration" else value_of(row, found[1]), part)

    def piece(number: int, part: str) -> str:
        optional = number % 2 == 1  # what stands in brackets comes between the other parts
        return "" if optional and not all(has(row, name) for name in PLACE.findall(part)) else filled(part)

    return "".join(piece(number, part) for number, part in enumerate(OPTIONAL.split(text)))


def meaning(kind: str) -> str:
    """What lines of a kind say, without the notes on their columns; empty for a kind that is not known."""
    return KINDS.get(kind, "").partition(";")[0].partition(": ")[0]


def has(row: Row, name: str) -> bool:
    """Whether a line has a value for a place in a sentence."""
    return row["duration_ms" if name == "duration" else name] is not None


def value_of(row: Row, name: str) -> str:
    """The value of a column in a sentence."""
    value = row[name]
    if value is None:
        return "one that it does not name" if name in ("peer", "address", "peer_address") else "not known"
    if name == "role":
        return str(value).lower()
    return ", ".join(value) if isinstance(value, list) else str(value).rstrip(". ")


def counted_kinds(published: Published, cluster: str, sources: Collection[str], apart: Collection[str]) -> list[Row]:
    """How many other lines there are of each kind that is known, and from when to when; not those set ``apart``."""
    return published.rows(
        "SELECT kind, count(*) AS n, min(event_time) AS first, max(event_time) AS last FROM events "
        "WHERE cluster = ? AND source_node IN (SELECT unnest(?)) AND kind NOT IN (SELECT unnest(?)) "
        "GROUP BY kind ORDER BY n DESC, kind",
        [cluster, sorted(sources), sorted({*apart, *notices.NEVER, "TICK"})],
    )
