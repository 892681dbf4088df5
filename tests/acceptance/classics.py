"""What a correct analysis says about the etcd clusters and ZooKeeper ensembles, sentence by sentence."""

from collections.abc import Callable

from tests.acceptance.verdict import (
    KILLED,
    NEAR,
    Check,
    Run,
    finding,
    leaderless,
    leads,
    log_gap,
    no_finding,
    nobody_has,
    only_leaders,
    overlap,
    sentence,
    show,
    terms_are,
    utc,
)

DONE_TO_IT = "what was done to the cluster; not a claim"
ACKNOWLEDGED = "counts of acknowledged messages: only the clients' records know them"

Sentence = tuple[str, tuple[Check, ...] | str]

ETCD1, ETCD2, ETCD3, ETCD4 = "30c3c2aa47460bb0", "65d2efdeada7cca3", "59a04900bccefb6d", "7e24ba9288f0be9b"
MEMBER = {"etcd1": ETCD1, "etcd2": ETCD2, "etcd3": ETCD3, "etcd4": ETCD4} | {f"zk{n}": str(n) for n in range(1, 6)}
"""The name of a node inside its group: raft id or myid."""

BOTH_SPLITS = ("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP")


def _leads(node: str, term: str, since: str, until: str, why: str) -> Check:
    slack = KILLED if why == "kill -9" else NEAR
    return leads(MEMBER[node], int(term), utc(since), None if why == "end of run" else utc(until), slack=slack)


def _overlap(stale: str, old: str, newer: str, new: str, seconds: str) -> Check:
    return overlap(float(seconds), {MEMBER[stale], MEMBER[newer]}, {int(old), int(new)}, severity="info")


SHAPES: tuple[tuple[str, Callable[..., Check] | str], ...] = (
    (r"(?s)Fault: .*", DONE_TO_IT),
    (
        r"(?P<node>\w+) leads (?:term|epoch) (?P<term>\d+) "
        r"from (?P<since>[\d:]+)Z until (?P<until>[\d:]+)Z \((?P<why>.*)\)\.",
        _leads,
    ),
    (
        r"By their logs (?P<stale>\w+) \(\w+ (?P<old>\d+)\) and (?P<newer>\w+) \(\w+ (?P<new>\d+)\) are leader at once "
        r"for about (?P<seconds>[\d.]+) s; different \w+: (?P=stale) is the stale one\.",
        _overlap,
    ),
    (
        r"No leader between (?P<since>[\d:]+)Z and (?P<until>[\d:]+)Z \(about \d+ s\)\.",
        lambda since, until: leaderless(utc(since), utc(until)),
    ),
    (r"Must NOT claim: two leaders in one (?:term|epoch)\.", lambda: no_finding("SPLIT_BRAIN_SAME_TERM")),
    (r"Must NOT claim: an overlap of leaders\.", lambda: no_finding("SPLIT_BRAIN_OVERLAP")),
    (r"Must NOT claim: a node voting twice in one term\.", lambda: no_finding("DOUBLE_VOTE")),
)


@sentence
def planned(run: Run, *terms: int) -> None:
    """These terms began because the leader handed over."""
    rows = [row for row in run.terms if row["term"] in terms]
    assert {row["cause"] for row in rows} == {"leadership_transfer"}, show(rows)


@sentence
def elected(run: Run, node: str, term: int, granted: int, needed: int) -> None:
    """``node`` won ``term`` with so many votes."""
    rows = [row for row in run.elections if (row["candidate"], row["term"]) == (node, term)]
    found = [(row["outcome"], row["votes_granted"], row["votes_needed"]) for row in rows]
    assert found == [("won", granted, needed)], found


ETCD: dict[str, tuple[Sentence, ...]] = {
    "healthy-34": (
        (
            "Nothing above information level: one election at start.",
            (no_finding(above="info"), only_leaders({(ETCD2, 2)})),
        ),
    ),
    "healthy-35": (
        (
            "Nothing above information level: one election at start, five members.",
            (no_finding(above="info"), only_leaders({(ETCD2, 2)}), elected(ETCD2, 2, 3, 3)),
        ),
    ),
    "isolate-follower-34": (
        (
            "No pre-vote: the cut-off follower's term climbs",
            (
                nobody_has(3, 4, 5, 6, 7, 8, 9),
                only_leaders({(ETCD3, 2), (ETCD2, 10)}),
                finding("LEADERLESS", severity="warning", terms={2, 10}),
                no_finding("ELECTION_STORM"),
            ),
        ),
    ),
    "isolate-leader-34-prevote": (
        (
            "With pre-vote the term does not climb",
            (terms_are(2, 3), only_leaders({(ETCD2, 2), (ETCD3, 3)}), no_finding(above="info")),
        ),
    ),
    "isolate-leader-34": (
        (
            "Without pre-vote the cut-off old leader raises its term",
            (
                nobody_has(4, 5, 6, 7, 8, 9),
                only_leaders({(ETCD1, 2), (ETCD2, 3), (ETCD2, 10)}),
                no_finding("ELECTION_STORM"),
            ),
        ),
        ("Writes sent to the cut-off leader are never acknowledged", ACKNOWLEDGED),
    ),
    "kill-leader-34-text": (),
    "kill-leader-34": (),
    "kill-leader-35": (),
    "members-34": (
        (
            "A configuration change: etcd2 leaves, etcd4 joins",
            (
                only_leaders({(ETCD1, 2), (ETCD4, 3)}),
                elected(ETCD4, 3, 2, 2),
                no_finding("LEADER_WITHOUT_QUORUM", *BOTH_SPLITS),
            ),
        ),
    ),
    "move-leader-34": (
        (
            "Two planned transfers (etcdctl move-leader)",
            (planned(3, 4), no_finding(above="info"), no_finding("LEADERLESS", "ELECTION_STORM", *BOTH_SPLITS)),
        ),
    ),
    "pause-leader-34": (
        ("The frozen leader's log has a hole of 20 s", (log_gap(utc("09:25:14"), utc("09:25:34"), ETCD2),)),
    ),
}

ZOOKEEPER: dict[str, tuple[Sentence, ...]] = {
    "healthy-380": (
        (
            "Nothing above information level: one election at start.",
            (no_finding(above="info"), only_leaders({("2", 1)})),
        ),
    ),
    "isolate-leader-380": (
        (
            "The cut-off leader shuts down by itself",
            (
                only_leaders({("2", 1), ("3", 2)}),
                no_finding(*BOTH_SPLITS),
                no_finding(above="warning"),
                finding("LEADERLESS", severity="warning", terms={1, 2}),
            ),
        ),
    ),
    "kill-leader-384": (("The killed leader's log just stops.", (only_leaders({("2", 1), ("3", 2)}),)),),
    "kill-majority-384": (
        (
            "zk5 leads without quorum for about 2 s, then shuts down",
            (
                terms_are(1, 2),
                only_leaders({("5", 1), ("5", 2)}),
                no_finding("LEADER_WITHOUT_QUORUM"),
                finding("LEADERLESS", severity="warning", terms={1, 2}),
            ),
        ),
    ),
    "pause-leader-384": (
        ("The frozen leader's log has a hole of 30 s", (log_gap(utc("09:25:59"), utc("09:26:29"), "2"),)),
    ),
    "rolling-restart-380": (
        (
            "A planned rolling restart: one change of leader",
            (only_leaders({("2", 1), ("3", 2)}), no_finding(above="info")),
        ),
    ),
}
