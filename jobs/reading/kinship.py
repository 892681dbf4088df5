"""Whose logs they are, by what they say: members of one group, of two clusters, several members in one log.

A member of etcd prints the id of its cluster at its start, and a member list names others by their ids; what is cut out
of a log mostly has neither. Who is added to a group elsewhere, or follows a leader of one, is of that group. Two logs
of one member may be of two clusters whose members have the same ids: the names of the logs tell it.
"""

from collections import defaultdict

from election_replay.election_core.fold.identity import UNIDENTIFIED
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


def sources_of_several(published: Published) -> dict[tuple[str, str], list[str]]:
    """The members of each source that speaks for several of one protocol, by cluster and source."""
    rows = published.rows(
        "SELECT cluster, source_node, list(DISTINCT node) AS nodes FROM role_intervals WHERE source_node IS NOT NULL "
        "GROUP BY cluster, source_node, protocol HAVING count(DISTINCT node) > 1 ORDER BY ALL"
    )
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        found[row["cluster"], row["source_node"]] += row["nodes"]
    return found


def lines_spoken(published: Published, source: tuple[str, str], path: str, nodes: list[str]) -> list[tuple[int, str]]:
    """In which lines of a file of a source, by cluster and node, which of some members speaks."""
    rows = published.rows(
        "SELECT line_no, node FROM events WHERE cluster = ? AND source_node = ? AND source_file = ? "
        "AND list_contains(?, node) ORDER BY ALL",
        [*source, path, nodes],
    )
    return [(row["line_no"], row["node"]) for row in rows]


def namesakes(published: Published) -> dict[str, dict[tuple[str, str], list[str]]]:
    """The sources that say that they are one member, by cluster, group and member; only where there are several."""
    rows = published.rows(
        "SELECT cluster, replica_group, node, list(DISTINCT source_node ORDER BY source_node) AS sources "
        "FROM role_intervals WHERE source_node IS NOT NULL GROUP BY ALL HAVING count(DISTINCT source_node) > 1 "
        "ORDER BY ALL"
    )
    found: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(dict)
    for row in rows:
        found[row["cluster"]][row["replica_group"], row["node"]] = row["sources"]
    return found
