"""Members whose own log does not say to which group they belong, and whom one other log counts among its group's.

A member of etcd prints the id of its cluster at its start, and a member list names others by their ids; what is cut out
of a log mostly has neither. Who is added to a group elsewhere, or follows a leader of one, is of that group.
"""

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
    """The group of each source that does not say it, by cluster and source, where others name exactly one."""
    groups: dict[tuple[str, str], set[str]] = {}
    for row in published.rows(MEMBERS):
        groups.setdefault((row["cluster"], row["node"]), set()).add(row["replica_group"])
    found: dict[tuple[str, str], set[str]] = {}
    for row in published.rows(WITHOUT_A_GROUP):
        of_source = found.setdefault((row["cluster"], row["source_node"]), set())
        for name in (row["node"], row["leader"]):
            of_source |= groups.get((row["cluster"], name), set())
    return {source: next(iter(named)) for source, named in found.items() if len(named) == 1}
