"""Sources whose lines show no role: what they do show, and which files would show more."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from election_replay.election_core.dialects import SYSTEMS
from election_replay.jobs.reading.clocks import Clocks
from election_replay.jobs.reading.notices import Notice, counted_kinds, is_excerpt, meaning, notices_of
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import FOREVER, Row, clock, listed, name_of, times
from election_replay.jobs.runbook import notices

SILENT = """
    SELECT cluster, source_node, stream, list(DISTINCT kind) AS kinds,
        list(DISTINCT replica_group) FILTER (WHERE replica_group IS NOT NULL) AS groups FROM events
    WHERE (cluster, source_node) NOT IN (
        SELECT (cluster, source_node) FROM role_intervals WHERE source_node IS NOT NULL)
    GROUP BY cluster, source_node, stream ORDER BY cluster, source_node, stream
"""


@dataclass(frozen=True, slots=True)
class Scrap:
    """A source without roles: its streams, notices, numbers of other known lines, and the files to ask for."""

    cluster: str
    source_node: str
    streams: tuple[str, ...]
    notices: list[Notice]
    others: list[tuple[str, int]]
    ask_for: list[str]
    letters: list[Row] = field(default_factory=list)
    """The roles by the letters of its lines, each with its first and last time."""

    def lines(self) -> Iterator[tuple[datetime | None, str]]:
        """Yield (time, sentence) of the roles by letters, of the notices in order of time, and of other lines."""
        for row in self.letters:
            called = f"{self.source_node}: its lines call it {LETTERS[row['role']]}"
            until = f", to {clock(row['last'])}" if row["n"] > 1 else ""
            yield row["first"], f"{called} ({times(row['n'])}{until})."
        for notice in self.notices:
            named = [self.source_node if node is None else name_of(node, source) for node, source in notice.speakers]
            yield notice.at, notice.sentence(dict.fromkeys(named))
        if self.others:
            others = listed(f"{kind} ({times(count)})" for kind, count in self.others)
            yield None, f"Other lines that are known: {others}."
        if not self.notices and not self.others and not self.letters:
            yield None, "No line of it says more than that it was written."


LETTERS = {"M": "a master", "S": "a replica"}
"""The roles that the letters in lines of Redis name."""

LED = """
    SELECT DISTINCT cluster, replica_group FROM role_intervals
    WHERE role = 'leader' AND (end_time IS NULL OR end_time > start_time)
"""
"""SELECT of the groups with a leader; a lead that is known by its end alone tells little."""

BY_LETTER = """
    SELECT role, count(*) AS n, min(event_time) AS first, max(event_time) AS last FROM events
    WHERE cluster = ? AND source_node = ? AND role IN ('M', 'S') GROUP BY role ORDER BY first, role
"""


def scraps(published: Published) -> Iterator[Scrap]:
    """Yield all sources without a role; where others show who leads their groups, only those with notices."""
    streams: dict[tuple[str, str], list[str]] = {}
    asked: dict[tuple[str, str], list[str]] = {}
    groups: dict[tuple[str, str], set[str]] = {}
    for row in published.rows(SILENT):
        streams.setdefault((row["cluster"], row["source_node"]), []).append(row["stream"])
        asked.setdefault((row["cluster"], row["source_node"]), []).append(asked_for(row["stream"], row["kinds"]))
        groups.setdefault((row["cluster"], row["source_node"]), set()).update(row["groups"] or ())
    sources: dict[str, list[str]] = {}
    for row in published.rows("SELECT DISTINCT cluster, source_node FROM events"):
        sources.setdefault(row["cluster"], []).append(row["source_node"])
    speaking: dict[str, set[str]] = {}
    for row in published.rows(LED):
        speaking.setdefault(row["cluster"], set()).add(row["replica_group"])
    for (cluster, source), of_source in streams.items():
        of_others = groups[cluster, source] or speaking.get(cluster, set())  # a source that names no group is of any
        by_others = not of_others.isdisjoint(speaking.get(cluster, ()))
        excerpt = is_excerpt(published, cluster, sources[cluster])
        texts = {
            **notices.ALWAYS,
            **(notices.WHERE_LITTLE_IS_KNOWN if excerpt or not by_others else {}),
            **(notices.IN_EXCERPTS if excerpt else {}),
        }
        found = notices_of(published, cluster, [source], texts, FOREVER, Clocks())
        if by_others and not found:
            continue
        others = [] if by_others else counted_kinds(published, cluster, [source], texts)
        known = [(words, row["n"]) for row in others if (words := meaning(row["kind"]))]
        wanted = list(dict.fromkeys(asked[cluster, source]))
        letters = published.rows(BY_LETTER, [cluster, source])
        yield Scrap(cluster, source, tuple(of_source), found, known, wanted, letters)


def asked_for(stream: str, kinds: Collection[str]) -> str:
    """Return the files that would show the leader, for a source with this stream and these kinds of lines."""
    of_lines = (system for system in SYSTEMS if not system.table.kinds.keys().isdisjoint(kinds))
    by_name = (system for system in SYSTEMS if system.writes(stream))
    return next(chain(of_lines, by_name), SYSTEMS[0]).telling_files(stream)
