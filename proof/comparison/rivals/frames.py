"""A fold of pandas over the events: the roles of each node one after the other, then joins of what came out.

python -m proof.comparison.rivals.frames EVENTS
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from proof.comparison.questions import LEAST_S, Question
from proof.comparison.rivals.claims import claim, event_files

ROLES = {
    "DL_TO_LEADER": True,
    "DL_TO_FOLLOWER": False,
    "DL_TO_CANDIDATE": False,
    "RAFT_TO_LEADER": True,
    "RAFT_TO_FOLLOWER": False,
    "RAFT_TO_CANDIDATE": False,
    "RAFT_TO_PRE_CANDIDATE": False,
    "ZK_ESTABLISHED": True,
    "ZK_LOOKING": False,
    "ZK_FOLLOWING": False,
    "ZK_LEADER_SHUTDOWN": False,
    "ZK_LEADER_STOPPING": False,
    "BRK_MASTER_BEGIN": True,
    "BRK_SLAVE_BEGIN": False,
    "SERVES_BEGIN": True,
    "SERVES_END": False,
}
"""Kinds of lines, and whether their writer leads from then on."""

BOOTS = (
    "STORE_LAST_SHUTDOWN",
    "CFG_ITEM",
    "ETCD_BOOT",
    "ETCD_VERSION",
    "RAFT_START",
    "ZK_BOOT",
    "CTL_BOOT",
    "DL_LISTEN",
)
COLUMNS = [
    "kind",
    "event_time",
    "line_no",
    "source_node",
    "stream",
    "replica_group",
    "term",
    "node",
    "peer",
    "request",
    "result",
    "flag",
]
LEAST = pd.Timedelta(seconds=LEAST_S)


def kinds(events: pd.DataFrame) -> pd.Series:
    """The kinds of lines, with two for a broker that begins or ends the services of a master."""
    services = events.flag.map({True: "SERVES_BEGIN", False: "SERVES_END"})
    return events.kind.where(events.kind != "BRK_SCHEDULE", services)


def groups(events: pd.DataFrame) -> pd.Series:
    """The group that a line is about: the brokers of a DLedger group and controllers write into one folder."""
    protocol = events.kind.str.partition("_")[0]
    named = events.replica_group.where(protocol == "BRK", protocol)
    named = named.where(protocol != "SERVES", events.source_node.str.replace(r"-\d+$", "", regex=True))
    return named.fillna("") + events.stream.str.contains("broker_default").map({True: " brokers", False: ""})


def tenures(events: pd.DataFrame) -> Iterator[tuple[str, str, int, pd.Timestamp, pd.Timestamp]]:
    """Who led which group in which term, from when to when: to the next role, or the last line of the process."""
    logged = events[~events.kind.str.startswith("META_") & (events.kind != "TICK")]
    for node, lines in logged.groupby("source_node"):
        leads: dict[str, tuple[int, pd.Timestamp]] = {}
        before = lines.event_time.iloc[0]
        for line in lines.itertuples():
            if line.kind in BOOTS:
                for group, (term, since) in leads.items():
                    yield group, node, term, since, before
                leads.clear()
            elif line.kind in ROLES:
                if line.group in leads:
                    yield line.group, node, *leads.pop(line.group), line.event_time
                if ROLES[line.kind]:
                    leads[line.group] = (line.term, line.event_time)
            before = line.event_time
        for group, (term, since) in leads.items():
            yield group, node, term, since, before


def votes(events: pd.DataFrame) -> pd.DataFrame:
    """Term, voter and candidate of each vote that is printed."""
    asked = events[(events.kind == "DL_VOTE_REPLY") & (events.result == "ACCEPT")]
    cast = events[(events.kind == "RAFT_VOTE_CAST") & (events.request == "MsgVote")]
    return pd.concat(
        [
            asked.rename(columns={"peer": "voter", "node": "candidate"}),
            cast.rename(columns={"node": "voter", "peer": "candidate"}),
        ]
    )[["group", "term", "voter", "candidate"]].drop_duplicates()


def claims(events: pd.DataFrame) -> Iterator[Question]:
    """What the fold says of the events of a run."""
    led = pd.DataFrame(tenures(events), columns=["group", "node", "term", "since", "until"]).sort_values("since")
    pairs = led.merge(led, on="group")
    pairs = pairs[pairs.node_x < pairs.node_y]
    if (pairs.term_x == pairs.term_y).any():
        yield Question.SAME_TERM
    shared = pairs[["until_x", "until_y"]].min(axis=1) - pairs[["since_x", "since_y"]].max(axis=1)
    if (shared[(pairs.term_x != pairs.term_y) | pairs.term_x.isna()] >= LEAST).any():
        yield Question.TWO_LEADERS
    gaps = led.since - led.groupby("group").until.transform(lambda ends: ends.cummax().shift())
    if (gaps >= LEAST).any():
        yield Question.LEADERLESS
    if (votes(events).groupby(["group", "term", "voter"]).candidate.nunique() > 1).any():
        yield Question.DOUBLE_VOTE


def main(folder: Path) -> None:
    """Print what the fold claims of the runs whose events lie below ``folder``."""
    for run, file in event_files(folder):
        events = pd.read_parquet(file, columns=COLUMNS).sort_values(["event_time", "line_no"], kind="stable")
        events = events.assign(kind=kinds(events))
        for question in claims(events.assign(group=groups(events))):
            claim(run, question)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
