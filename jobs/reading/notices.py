"""Log lines that no rule judges, as entries of a story; repeated lines are one entry with a count.

Which kinds are told, and in which words, stands in :mod:`jobs.runbook.notices`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from election_replay.election_core.dialects import KINDS
from election_replay.election_core.fold.identity import CONTROLLER, NAMESERVER, process_of
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.facts import CONTROLLER_GROUP
from election_replay.election_core.model.timing import MS_PER_SECOND
from election_replay.jobs.reading.clocks import Clocks
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, clock, times
from election_replay.jobs.runbook import notices

REPEAT_WINDOW = timedelta(minutes=10)
"""Equal lines of a member within this time are one entry."""

SAME_EVENT = timedelta(seconds=5)
"""Equal lines of several members within this time are about one event."""

ONE_FAILURE = timedelta(seconds=1)
"""Lines of failed starts within this time are about one start."""

LINES_OF_AN_EXCERPT = 40
"""A story shows what each of so few lines says: people cut an excerpt to the lines that matter."""

LONGEST_MS = 30 * 86_400_000
"""Longer durations are ignored: some systems print a time since 1970 instead."""


PLACEHOLDER = re.compile(r"\{(\w+)\}")
OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
LENGTH = "\0"
"""The placeholder of a duration in a sentence until all lines of an entry are known."""

LINES = """
    SELECT event_time, stream, source_node, node, kind, {columns} FROM events
    WHERE cluster = $cluster AND source_node IN (SELECT unnest($sources)) AND kind IN (SELECT unnest($kinds))
        AND event_time BETWEEN $since AND $until
    ORDER BY event_time, source_node, stream, line_no
"""


@dataclass(frozen=True, slots=True)
class Notice:
    """One entry of equal lines: first and last time, speakers, text and count."""

    at: datetime
    until: datetime
    speakers: tuple[tuple[str | None, str], ...]
    kind: str
    text: str
    count: int
    place: int = 0
    """The position of its first line among all lines."""

    def sentence(self, named: Iterable[str]) -> str:
        """Return the entry as a sentence that begins with the names ``named``."""
        often = f" ({times(self.count)}, to {clock(self.until)})" if self.count > 1 else ""
        return f"{', '.join(named)}: {self.text}{often}."


def notices_of(
    published: Published,
    cluster: str,
    sources: Collection[str],
    texts: Mapping[str, str],
    window: tuple[datetime, datetime],
    clocks: Clocks,
    group: str | None = None,
) -> list[Notice]:
    """Return the notices of ``sources`` of the kinds in ``texts``, sorted by time, with times corrected by ``clocks``.

    Of a machine with several processes only lines of the one in ``group`` count.
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
    return sorted(merged_notices(without_repeats(spoken, texts), texts), key=lambda notice: (notice.at, notice.place))


def of_group(rows: list[Row], group: str) -> Iterator[Row]:
    """Yield the lines of the process that belongs to a group; all lines of a source with one process."""
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
    """Return the columns of events that the sentences need."""
    named = {name for text in texts for name in PLACEHOLDER.findall(text)} - {"duration"}
    return sorted(named | {"duration_ms", "count", "value", "code", "flag", "role"} - {"node"})


def without_repeats(rows: list[Row], texts: Mapping[str, str]) -> Iterator[Row]:
    """Yield the lines without repetitions at a start, and without a release that is known already."""
    known = SeenLines()
    for row in rows:
        known.starts(row)
        if text_of(row, texts) is not None and not known.repeats(row):
            yield row


@dataclass(slots=True)
class SeenLines:
    """What the lines so far have shown: starts, sources that still replay their logs, what they state, and changes of
    members."""

    started: dict[str, datetime] = field(default_factory=dict)
    reading: set[str] = field(default_factory=set)
    stated: dict[tuple[str, str], Any] = field(default_factory=dict)
    changed: set[tuple[str, Any]] = field(default_factory=set)
    removed: set[tuple[str, Any]] = field(default_factory=set)
    failed: dict[str, datetime] = field(default_factory=dict)

    def starts(self, row: Row) -> None:
        """Record that a member starts, or that it has replayed its log."""
        if row["kind"] in notices.STARTS:
            self.started[row["source_node"]] = row["event_time"]
            self.reading.add(row["source_node"])
        if row["kind"] in notices.LEADER_IS_KNOWN:
            self.reading.discard(row["source_node"])

    def repeats(self, row: Row) -> bool:
        """Return True if a line only repeats what is known."""
        kind, source = row["kind"], row["source_node"]
        if kind in notices.STATES:
            stated = row[notices.STATES[kind]]
            before = self.stated.setdefault((source, kind), stated) or stated
            self.stated[source, kind] = stated or before
            return not stated or before == stated
        if kind in notices.AT_STARTS:
            again = reads_its_log(self.started.get(source), row["event_time"]) and (kind, row["peer"]) in self.changed
            self.changed.add((kind, row["peer"]))
            return again or source in self.reading
        if kind == "ETCD_START_FAILED":  # one failure prints several lines
            before, self.failed[source] = self.failed.get(source), row["event_time"]
            return before is not None and row["event_time"] - before < ONE_FAILURE
        if kind == "ETCD_MEMBER_REMOVED":
            again = (source, row["peer"]) in self.removed
            self.removed.add((source, row["peer"]))
            return again
        return False


def text_of(row: Row, texts: Mapping[str, str]) -> str | None:
    """Return the sentence for a line's kind with its code, flag or role, else for its kind; ``None`` if there is
    none."""
    kind = row["kind"]
    special = (f"{kind}/{row[column]}" for column in ("code", "flag", "role"))
    return next((texts[name] for name in (*special, kind) if name in texts), None)


def reads_its_log(started: datetime | None, at: datetime) -> bool:
    """Return True if a member that ``started`` may still be replaying its log, and so printing old changes."""
    return started is not None and at - started <= timedelta(microseconds=notices.READS_ITS_LOG_FOR_US)


def merged_notices(rows: Iterable[Row], texts: Mapping[str, str]) -> Iterator[Notice]:
    """Yield entries of equal lines: of one member within minutes, of several members within seconds."""
    worded = [(in_words(row, text_of(row, texts) or ""), row | {"place": place}) for place, row in enumerate(rows)]
    worded.sort(key=lambda pair: (pair[1]["kind"], pair[0], pair[1]["event_time"]))
    for (kind, words), alike in groupby(worded, key=lambda pair: (pair[1]["kind"], pair[0])):
        runs: list[list[Row]] = []
        for _, row in alike:
            run = None if kind in notices.APART else matching_run(row, runs)
            if run is None:
                runs.append([row])
            else:
                run.append(row)
        yield from (as_notice(kind, words, run) for run in runs)


def matching_run(row: Row, runs: list[list[Row]]) -> list[Row] | None:
    """Return the run of lines that ``row`` belongs to: of its member, or of others that began just before; or None."""
    for run in reversed(runs):
        if row["event_time"] - run[-1]["event_time"] > REPEAT_WINDOW:
            continue
        of_member = any(row["source_node"] == other["source_node"] for other in run)
        if of_member or row["event_time"] - run[0]["event_time"] <= SAME_EVENT:
            return run
    return None


def as_notice(kind: str, words: str, rows: list[Row]) -> Notice:
    """Return equal lines as one entry."""
    named = [(None if kind in notices.OF_ANOTHER else row["node"], row["source_node"]) for row in rows]
    speakers = tuple(dict.fromkeys(named))
    lengths = [row["duration_ms"] for row in rows if row["duration_ms"] is not None and row["duration_ms"] < LONGEST_MS]
    length = length_in_words(min(lengths), max(lengths)) if lengths else "some time"
    by_speaker = max(map(named.count, speakers))
    first, last = rows[0]["event_time"], rows[-1]["event_time"]
    return Notice(first, last, speakers, kind, words.replace(LENGTH, length), by_speaker, rows[0]["place"])


def length_in_words(least_ms: int, most_ms: int) -> str:
    """Return a range of durations as text; below a second in ms."""
    if most_ms >= MS_PER_SECOND:
        return between(least_ms * 1000, most_ms * 1000)
    return f"{most_ms} ms" if least_ms == most_ms else f"{least_ms} to {most_ms} ms"


def in_words(row: Row, template: str) -> str:
    """Return the sentence of a line, with a placeholder for its duration."""
    text = template or meaning(row["kind"])

    def filled(part: str) -> str:
        return PLACEHOLDER.sub(lambda found: LENGTH if found[1] == "duration" else value_of(row, found[1]), part)

    def piece(number: int, part: str) -> str:
        optional = number % 2 == 1  # the parts in brackets are the odd ones
        return "" if optional and not all(has_value(row, name) for name in PLACEHOLDER.findall(part)) else filled(part)

    return "".join(piece(number, part) for number, part in enumerate(OPTIONAL.split(text)))


def meaning(kind: str) -> str:
    """Return the meaning of a kind, without the notes on its columns; empty for an unknown kind."""
    return KINDS.get(kind, "").partition(";")[0].partition(": ")[0]


def has_value(row: Row, name: str) -> bool:
    """Return True if a line has a value for a placeholder."""
    return row["duration_ms" if name == "duration" else name] is not None


def value_of(row: Row, name: str) -> str:
    """Return the text of a column's value."""
    value = row[name]
    if value is None:
        return "one that it does not name" if name in ("peer", "address", "peer_address") else "not known"
    if name == "role":
        return str(value).lower()
    return ", ".join(value) or "none" if isinstance(value, list) else str(value).rstrip(". ")


def is_excerpt(published: Published, cluster: str, sources: Collection[str]) -> bool:
    """Return True if the logs of ``sources`` hold at most :data:`LINES_OF_AN_EXCERPT` lines that are events. No more
    are counted: every story asks, of groups with millions of events, too."""
    found = published.rows(
        "SELECT kind FROM events WHERE cluster = ? AND source_node IN (SELECT unnest(?)) LIMIT ?",
        [cluster, sorted(sources), LINES_OF_AN_EXCERPT + 1],
    )
    return len(found) <= LINES_OF_AN_EXCERPT


def counted_kinds(published: Published, cluster: str, sources: Collection[str], apart: Collection[str]) -> list[Row]:
    """Return the number and the first and last time of lines by kind, without the kinds ``apart``."""
    return published.rows(
        "SELECT kind, count(*) AS n, min(event_time) AS first, max(event_time) AS last FROM events "
        "WHERE cluster = ? AND source_node IN (SELECT unnest(?)) AND kind NOT IN (SELECT unnest(?)) "
        "GROUP BY kind ORDER BY n DESC, kind",
        [cluster, sorted(sources), sorted({*apart, *notices.NEVER, "TICK"})],
    )
