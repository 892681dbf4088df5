"""Finds the groups and members of logs: members whose log names no group, several members in one log, and equal ids.

An etcd member prints its cluster's id at its start, and member lists name others by their ids; a part of a log mostly
has neither. A member that another log adds to a group, or that follows a leader of a group, belongs to it. Two logs of
one member may be of two clusters whose members have the same ids; the names of the logs then show which. Two sets of
sentinels may call different masters by one name.
"""

from collections import defaultdict
from datetime import datetime

from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.fold.process_runs import START_KINDS
from election_replay.jobs.reading.published import Published

WITHOUT_A_GROUP = f"""
    SELECT DISTINCT cluster, source_node, node, leader FROM role_intervals
    WHERE replica_group = '{UNIDENTIFIED}' AND protocol = 'raft' AND source_node IS NOT NULL ORDER BY ALL
"""
MEMBERS = f"""
    SELECT cluster, node, replica_group FROM role_intervals
    WHERE replica_group <> '{UNIDENTIFIED}' AND protocol = 'raft' AND source_node IS NOT NULL
    UNION SELECT cluster, peer, cluster_name FROM events
    WHERE kind = 'ETCD_MEMBER_ADDED' AND peer IS NOT NULL AND cluster_name IS NOT NULL
"""


def groups_by_kinship(published: Published) -> dict[tuple[str, str], str]:
    """Return the group, by (cluster, source), of each source that does not name it and for which others name one."""
    groups: dict[tuple[str, str], set[str]] = {}
    for row in published.rows(MEMBERS):
        groups.setdefault((row["cluster"], row["node"]), set()).add(row["replica_group"])
    found: dict[tuple[str, str], set[str]] = {}
    for row in published.rows(WITHOUT_A_GROUP):
        of_source = found.setdefault((row["cluster"], row["source_node"]), set())
        for name in (row["node"], row["leader"]):
            of_source |= groups.get((row["cluster"], name), set())
    return {source: next(iter(named)) for source, named in found.items() if len(named) == 1}


def members_spoken(published: Published) -> dict[str, list[str]]:
    """Return the members of the lines of each file, by path, in sources that have several members of one protocol."""
    rows = published.rows(
        "SELECT source_file, list(node) AS nodes FROM events SEMI JOIN (SELECT cluster, source_node, "
        "unnest(list(DISTINCT node)) AS node FROM role_intervals WHERE source_node IS NOT NULL "
        "GROUP BY cluster, source_node, protocol HAVING count(DISTINCT node) > 1) USING (cluster, source_node, node) "
        "GROUP BY source_file ORDER BY ALL"
    )
    return {row["source_file"]: row["nodes"] for row in rows}


def namesakes(published: Published) -> dict[str, dict[tuple[str, str], list[str]]]:
    """Return, by cluster and (group, member), the sources of each member that several sources claim to be."""
    rows = published.rows(
        "SELECT cluster, replica_group, node, list(DISTINCT source_node ORDER BY source_node) AS sources "
        "FROM role_intervals WHERE source_node IS NOT NULL GROUP BY ALL HAVING count(DISTINCT source_node) > 1 "
        "ORDER BY ALL"
    )
    found: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(dict)
    for row in rows:
        found[row["cluster"]][row["replica_group"], row["node"]] = row["sources"]
    return found


def repeated_files(published: Published) -> dict[str, str]:
    """Return path -> path of another file that holds all its lines, for each file that may be left out.

    Support bundles hold one log several times: as an engine wrote it, as ``kubectl logs`` printed it, and once for each
    host on which the bundle was made. A few lines may be alike in the logs of two members, and many within the same
    second, when both start: they make no copy, unless the files begin alike and are as long. Nor do snapshots of
    metadata, which have no time in them: a slave's are its master's. The last line of a shorter copy may be torn.
    """
    rows = published.rows(
        "WITH known AS (SELECT path, l.fingerprint, hash(text) AS text, time_resolution_ms >= 1000 AS coarse, "
        "l.line_no = max(l.line_no) OVER (PARTITION BY path) AS last "
        "FROM log_lines AS l JOIN events AS e USING (cluster, event_id) WHERE kind <> 'TICK' "
        "AND kind NOT LIKE 'META_SNAPSHOT_%'), "
        "line AS (SELECT path, fingerprint, text, coarse, bool_and(last) AS last FROM known GROUP BY ALL), "
        "file AS (SELECT *, count(*) OVER (PARTITION BY path) AS lines, "
        "count(*) FILTER (NOT last) OVER (PARTITION BY path) AS whole FROM line) "
        "SELECT a.path, b.path AS other FROM file AS a JOIN file AS b USING (text) "
        "WHERE a.lines >= ? AND (b.lines > a.lines OR b.lines = a.lines AND b.path < a.path) "
        "AND (NOT a.coarse OR (a.fingerprint, a.lines) = (b.fingerprint, b.lines)) "
        "GROUP BY ALL HAVING count(*) = any_value(a.lines) "
        "OR count(*) FILTER (NOT a.last) = any_value(a.whole) AND any_value(b.lines) > any_value(a.lines) "
        "ORDER BY any_value(b.lines) DESC, b.path",
        [COPY_LINES],
    )
    found: dict[str, str] = {}
    for row in rows:
        if row["other"] not in found:
            found.setdefault(row["path"], row["other"])
    return found


COPY_LINES = 5
"""The fewest different lines of a file that are taken for a copy of another file's."""


def kinds_of_lines(published: Published) -> dict[tuple[str, str], frozenset[str]]:
    """Return the kinds of lines in each source, by (cluster, source)."""
    rows = published.rows(
        "SELECT cluster, source_node, list(DISTINCT kind) AS kinds FROM events WHERE kind <> 'TICK' GROUP BY ALL"
    )
    return {(row["cluster"], row["source_node"]): frozenset(row["kinds"]) for row in rows}


def spans_of_files(published: Published) -> dict[tuple[str, str], list[tuple[str, str, datetime, datetime, bool]]]:
    """Return (stream, path, first time, last time, begins with a start) of the files of each source, by (cluster,
    source), sorted by their times."""
    rows = published.rows(
        "SELECT cluster, source_node, stream, source_file, min(event_time) AS since, max(event_time) AS until, "
        "list_has_any(?, list(kind ORDER BY line_no)[:2]) AS starts FROM events GROUP BY ALL "
        "ORDER BY since, until, source_file",
        [sorted(START_KINDS)],
    )
    found: dict[tuple[str, str], list[tuple[str, str, datetime, datetime, bool]]] = defaultdict(list)
    for row in rows:
        about = row["stream"], row["source_file"], row["since"], row["until"], row["starts"]
        found[row["cluster"], row["source_node"]].append(about)
    return found


def sentinels_apart(published: Published) -> dict[tuple[str, str], list[list[str]]]:
    """Return, by (cluster, group), the sources of sentinels that do not know those of another set, set by set.

    Only logs count in which a sentinel names itself and others: in a part of a log it may have met them before.
    """
    rows = published.rows(
        "WITH itself AS (SELECT cluster, source_node, list(DISTINCT node) AS ids FROM events WHERE kind = 'SN_ID' "
        "AND node IS NOT NULL GROUP BY ALL) "
        "SELECT cluster, replica_group, source_node, list_concat(any_value(ids), list(DISTINCT peer)) AS met "
        "FROM events JOIN itself USING (cluster, source_node) WHERE kind = 'SN_SENTINEL' AND peer IS NOT NULL "
        "GROUP BY cluster, replica_group, source_node ORDER BY ALL"
    )
    found: dict[tuple[str, str], list[tuple[set[str], list[str]]]] = defaultdict(list)
    for row in rows:
        met, sources = {*row["met"]}, [row["source_node"]]
        of_group = found[row["cluster"], row["replica_group"]]
        for kin in [kin for kin in of_group if not met.isdisjoint(kin[0])]:
            of_group.remove(kin)
            met, sources = met | kin[0], [*kin[1], *sources]
        of_group.append((met, sources))
    return {group: [sources for _, sources in sets] for group, sets in found.items() if len(sets) > 1}
