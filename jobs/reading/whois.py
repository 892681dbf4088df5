"""Resolves ids: the member, address, group, client, finding or run that an id stands for; and replaces ids in a text.

One member has several names in one log: etcd's hex id, ZooKeeper's ``myid``, RocketMQ's broker id and address, and
the folder of its logs, which is the name that people use.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from election_replay.election_core.judge.wording import number_of
from election_replay.jobs.reading.published import Published

LINES = 3
"""The maximum number of shown lines that contain an id."""
MOST_NAMES = 20
"""The maximum number of members listed for one id; the rest is counted."""
LEAST_ID = 4
"""The shortest text that is taken for the beginning of an id."""

MEMBERS = """
    SELECT cluster, replica_group, protocol, node, source_node, min(since) AS since, max(until) AS until,
        list_sort(list_distinct(flatten(list(coalesce(addresses, []))))) AS addresses
    FROM identities GROUP BY ALL ORDER BY cluster, replica_group, node, source_node
"""
ADDRESSES = """
    SELECT DISTINCT cluster, replica_group, node, address FROM (
        SELECT cluster, replica_group, node, address FROM events UNION ALL
        SELECT cluster, replica_group, peer, peer_address FROM events
    ) WHERE node IS NOT NULL AND replica_group IS NOT NULL AND address IS NOT NULL ORDER BY ALL
"""
GROUPS = "SELECT DISTINCT cluster, replica_group FROM role_intervals WHERE $id IN (cluster, replica_group) ORDER BY ALL"
FINDINGS = """
    SELECT finding_id, cluster, replica_group, rule, severity FROM findings
    WHERE starts_with(finding_id, lower($id)) ORDER BY finding_id LIMIT 6
"""
RUNS = "SELECT run_id, status, published_at FROM runs WHERE starts_with(run_id, $id) ORDER BY run_id LIMIT 6"
CLIENTS = """
    SELECT cluster, replica_group, count(*) AS events FROM events WHERE $id IN (client_id, peer_client_id)
    GROUP BY ALL ORDER BY ALL
"""
MENTIONS = """
    SELECT path, line_no, text FROM log_lines WHERE contains(lower(text), lower($id))
    ORDER BY cluster, source_node, path, line_no LIMIT $most
"""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a replica group with all its names; ``source`` is the folder of its logs, if there are any."""

    cluster: str
    group: str
    node: str
    source: str | None
    addresses: tuple[str, ...]

    def is_called(self, name: str) -> bool:
        """Return True if ``name`` is one of its names, or the beginning of its id."""
        names = {self.node, self.source, *self.addresses, *(host_of(address) for address in self.addresses)}
        return name in names or (len(name) >= LEAST_ID and self.node.startswith(name))

    @property
    def text(self) -> str:
        """Return the member as a line."""
        logs = f"its logs are in folder {self.source}" if self.source else "none of its logs is here"
        at = f"; {', '.join(self.addresses)}" if self.addresses else ""
        return f"{self.node} is a member of {self.group} in {self.cluster}; {logs}{at}"


def host_of(address: str) -> str:
    """Return an address without its port."""
    return re.sub(r":\d+$", "", address)


def members(published: Published) -> list[Member]:
    """Return all members that the logs name, with their addresses from any log."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for row in published.rows(ADDRESSES):
        found.setdefault((row["cluster"], row["replica_group"], row["node"]), set()).add(row["address"])
    return [
        Member(
            row["cluster"],
            row["replica_group"],
            row["node"],
            row["source_node"],
            tuple(sorted({*row["addresses"], *found.get((row["cluster"], row["replica_group"], row["node"]), ())})),
        )
        for row in published.rows(MEMBERS)
    ]


def whois(published: Published, name: str) -> Iterator[str]:
    """Yield a line for each member, group, client, finding and run called ``name``, then lines that contain it.

    If there is none, a line says so.
    """
    known = [member.text for member in members(published) if member.is_called(name)]
    yield from known[:MOST_NAMES]
    if len(known) > MOST_NAMES:
        yield f"and {len(known) - MOST_NAMES:,} more members"
    others = [*_others(published, name)]
    yield from others
    mentions = published.rows(MENTIONS, {"id": name, "most": LINES})
    if not known and not others:
        yield f"No member, group, client, finding or run is called {name}." + (
            "" if mentions else " No line that was kept holds it either."
        )
    if mentions:
        yield "The first lines that hold it:"
        yield from (f"  {row['path']}:{row['line_no']}  {row['text']}" for row in mentions)


def _others(published: Published, name: str) -> Iterator[str]:
    for row in published.rows(GROUPS, {"id": name}):
        yield f"{row['replica_group']} is a replica group of cluster {row['cluster']}"
    for row in published.rows(CLIENTS, {"id": name}):
        where = f"{row['replica_group']} in {row['cluster']}" if row["replica_group"] else row["cluster"]
        yield f"{name} is a client of {where}: {number_of(row['events'], 'event')}"
    if len(name) < LEAST_ID:
        return
    for row in published.rows(FINDINGS, {"id": name}):
        yield (
            f"{row['finding_id']} is a finding: {row['severity']} {row['rule']} in {row['replica_group']} "
            f"of {row['cluster']}"
        )
    for row in published.rows(RUNS, {"id": name}):
        yield f"{row['run_id']} is a run of the pipeline: {row['status']}"


def names_in_use(published: Published) -> dict[str, str]:
    """Return the log folder of each id and address of a member, without those that several members share."""
    found: dict[str, set[str]] = {}
    for member in members(published):
        if member.source is not None:
            for name in (member.node, *member.addresses):
                found.setdefault(name, set()).add(member.source)
    return {name: min(sources) for name, sources in found.items() if len(sources) == 1 and name not in sources}


def translated(text: str, names: Mapping[str, str]) -> str:
    """Return ``text`` with each id replaced by its name.

    Ids that are bare numbers stay: most numbers in a text are something else.
    """
    known = sorted((name for name in names if not name.isdecimal()), key=len, reverse=True)
    if not known:
        return text
    pattern = rf"(?<![\w.:-])(?:{'|'.join(map(re.escape, known))})(?![\w-]|\.\w|:\d)"
    return re.sub(pattern, lambda found: names[found.group()], text)
