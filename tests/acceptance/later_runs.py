"""What a correct analysis says about the runs of more releases, of other settings and of chaos, sentence by sentence.

Most of their sentences repeat the ``facts`` of the run, which :mod:`tests.acceptance.test_facts` holds against the
tables as exactly as the logs can tell; here each comes to a check of its own all the same.
"""

from collections.abc import Callable

from tests.acceptance.known import AtOnce
from tests.acceptance.verdict import (
    CONTROLLERS,
    KILLED,
    NEAR,
    Check,
    Run,
    cut_off,
    end,
    finding,
    leads,
    log_gap,
    no_finding,
    nobody_has,
    overlap,
    sentence,
    show,
    start,
    terms_are,
)

Sentence = tuple[str, tuple[Check, ...] | str]

DONE_TO_IT = "what was done to the cluster; not a claim"
WRITERS = "what writers saw: test_facts says that no finding tells of more, benchmarks/outages how much they explain"
UNKNOWN_TO_LOGS = "which writes a client was not sure of, only its records know"

BS = "bs-orders"
BOTH_SPLITS = ("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP")
LOSSES = ("POSSIBLE_DATA_LOSS", "COMMITTED_ENTRY_LOST")
LATE = ("ELECTION_STORM", "LEADER_KEPT_WITHOUT_QUORUM", "HEARTBEAT_RULE")
"""What a threshold for other settings would claim."""
QUEUES_CUT = "QUEUES_CUT_AT_START"

nothing_lost = (no_finding(*LOSSES, QUEUES_CUT, above="info"), no_finding(above="warning"))
"""Nothing says so, and nothing is critical."""


@sentence
def _leads(run: Run, node: str, term: str, since: str, until: str, why: str) -> None:
    """A leadership in common time."""
    begin, stop = run.known.at(since), run.known.at(until)
    slack = KILLED if why in ("kill -9", "stop") else NEAR
    leads(run.member(node), int(term), begin, None if why == "end of run" else stop, slack=slack)(run)


@sentence
def _controller_leads(run: Run, node: str, term: str, since: str, until: str, why: str) -> None:
    begin, stop = run.known.at(since), run.known.at(until)
    slack = KILLED if why == "kill -9" else NEAR
    leads(run.member(node), int(term), begin, None if why == "end of run" else stop, CONTROLLERS, slack)(run)


@sentence
def _overlap(run: Run, stale: str, old: str, newer: str, new: str, seconds: str) -> None:
    """Critical where the stale one lost acknowledged messages, a word of caution elsewhere.

    Where a clock that was set back hides whether there was one, nothing of it may be claimed for certain.
    """
    lost = any(gone.node == stale for gone in run.known.gone)
    nodes, terms = {run.member(stale), run.member(newer)}, {int(old), int(new)}
    if run.known.undecided(AtOnce(frozenset({stale, newer}), frozenset({int(old), int(new)}), float(seconds))):
        claims = [row for row in run.findings if row["rule"] in BOTH_SPLITS and set(row["terms"]) == terms]
        assert len(claims) <= 1, show(claims)
        return
    overlap(float(seconds), nodes, terms, severity="critical" if lost else "info")(run)


@sentence
def _gone(run: Run, node: str, first: str, last: str) -> None:
    """A critical finding about the stale master has offsets that hold those of the lost messages."""
    rows = [row for row in run.findings if row["severity"] == "critical" and run.member(node) in row["nodes"]]
    good = [
        row
        for row in rows
        if row["offset_after"] is not None and row["offset_after"] <= int(first) <= int(last) < row["offset_before"]
    ]
    assert good, show(rows)


@sentence
def _all(run: Run, *checks: Check) -> None:
    for one in checks:
        one(run)


@sentence
def leaderless_at_least(run: Run, since: str, until: str) -> None:
    """A ``LEADERLESS`` warning holds this time; it may begin earlier, when the quorum was lost."""
    begin, stop = run.known.at(since), run.known.at(until)
    rows = [row for row in run.findings if (row["rule"], row["severity"]) == ("LEADERLESS", "warning")]
    good = [row for row in rows if begin - KILLED <= start(row) <= begin + NEAR and abs(end(row) - stop) <= NEAR]
    assert good, show(rows)


@sentence
def missing_for(run: Run, seconds: float) -> None:
    """What is said of a time without a leader holds so many seconds, and is no warning."""
    rows = [row for row in run.findings if row["rule"] == "LEADERLESS"]
    assert all(row["severity"] == "info" for row in rows), show(rows)
    assert all(row["duration_min_ms"] / 1000 <= seconds <= row["duration_max_ms"] / 1000 for row in rows), show(rows)


@sentence
def queues_cut(run: Run, *nodes: str) -> None:
    """The messages that cannot be read are told of these brokers, which led, and of no others above info."""
    rows = [row for row in run.findings if row["rule"] == QUEUES_CUT and row["severity"] != "info"]
    assert {node for row in rows for node in row["nodes"]} == set(nodes), show(rows)


def silent(node: str, since: str, until: str) -> Check:
    """The log of a node has this hole."""
    return lambda run: log_gap(run.known.at(since), run.known.at(until), run.member(node))(run)


@sentence
def nothing_new_after(run: Run, clock: str, *rules: str) -> None:
    """No such finding begins later."""
    rows = [row for row in run.findings if row["rule"] in rules and start(row) > run.known.at(clock)]
    assert not rows, show(rows)


@sentence
def wrong_clocks(run: Run, *nodes: str) -> None:
    """Some clocks are told to be wrong, and these are all."""
    rows = [row for row in run.findings if row["rule"] == "CLOCK_SKEW"]
    assert {node for row in rows for node in row["nodes"]} == {run.member(node) for node in nodes}, show(rows)


SHAPES: tuple[tuple[str, Callable[..., Check] | str], ...] = (
    (r"Fault: .*", DONE_TO_IT),
    (
        r"(?P<node>[\w-]+) leads (?:term|epoch|masterEpoch) (?P<term>\d+) from (?P<since>[\d:]+Z) until "
        r"(?P<until>[\d:]+Z) by its own log \((?P<why>.*?)\)(?:; last deed before it: .*)?\.",
        _leads,
    ),
    (
        r"Controller (?P<node>[\w-]+) leads term (?P<term>\d+) from (?P<since>[\d:]+Z) until (?P<until>[\d:]+Z) "
        r"by its own log \((?P<why>.*)\)\.",
        _controller_leads,
    ),
    (
        r"By their logs (?P<stale>[\w-]+) \(\w+ (?P<old>\d+)\) and (?P<newer>[\w-]+) \(\w+ (?P<new>\d+)\) are leader "
        r"at once for about (?P<seconds>[\d.]+) s \([\d:Z]+ to [\d:Z]+\); different \w+: (?P=stale) is the stale one\.",
        _overlap,
    ),
    (
        r"\d+ acknowledged messages \(SEND_OK\) stored by (?P<node>[\w-]+) at offsets (?P<first>\d+) to (?P<last>\d+), "
        r".* are gone at the end\.",
        _gone,
    ),
    (
        r"(?:\d+ writes were acknowledged and|Acknowledged: .*;) all of them are there at the end.* "
        r"Must NOT claim: an acknowledged (?:write|message) was lost\.",
        lambda: _all(*nothing_lost),
    ),
    (r"Client \S+: no acknowledged write from .*", WRITERS),
    (
        r"Clients: no gap of 2 s or more between acknowledged writes\.",
        lambda: no_finding("LEADERLESS", above="info"),
    ),
    (
        r"The killed leader's log just stops; no line of it says that it gave up\.",
        lambda: _all(no_finding(*BOTH_SPLITS), no_finding(above="warning")),
    ),
    (
        r"Must NOT claim: two leaders in one (?:term|epoch|masterEpoch)\.",
        lambda: no_finding("SPLIT_BRAIN_SAME_TERM"),
    ),
    (
        r"Must NOT claim: an overlap of leaders\.",
        lambda: no_finding("SPLIT_BRAIN_OVERLAP"),
    ),
)

ETCD: dict[str, tuple[Sentence, ...]] = {
    "chaos-36": (
        (
            "Each change of leader has a deed behind it. From 07:26:59 to 07:27:14 two of three are killed",
            (terms_are(*range(2, 13)), nobody_has(11), leaderless_at_least("07:26:58Z", "07:27:15Z")),
        ),
    ),
    "isolate-leader-36-slow": (
        ("Election timeout 5000 ms", (no_finding(*LATE), no_finding(above="warning"))),
        ("Pre-vote is on (the default of 3.6)", (terms_are(2, 3),)),
    ),
    "kill-leader-33": (("3.3 writes text lines only", (terms_are(2, 3), no_finding("UNKNOWN_VERSION"))),),
    "kill-leader-36": (
        (
            "A gap of 5 s in the writer's log is mostly the writer's own waiting",
            (missing_for(1.4), no_finding(above="info")),
        ),
    ),
}

CONTROLLER: dict[str, tuple[Sentence, ...]] = {
    "chaos": (
        (
            "Five masters, four leaders of the controllers",
            (terms_are(1, 2, 3, 4, 5, group=BS), terms_are(1, 2, 3, 4, group=CONTROLLERS)),
        ),
        (
            "Twice acknowledged messages are lost by a stale master that clients still reach",
            (cut_off(48318, 35618), cut_off(139504, 126804), no_finding("UNCLEAN_ELECTION")),
        ),
    ),
    "master-cut-off-slow-timing": (
        (
            "Two masters at once with different epochs: broker-1 (id 1, masterEpoch 1) and broker-3",
            (overlap(55, {"1", "2"}, {1, 2}, severity="critical", group=BS), no_finding(*LATE, "UNCLEAN_ELECTION")),
        ),
        (
            "29 s of the 55 s of overlap come after the heal",
            (finding("SYNC_STATE_SET_STALE", group=BS, nodes={"1"}, terms={1}),),
        ),
        (
            "The 279 acknowledged messages of broker-1 from the cut to 07:04:17 are cut away",
            (cut_off(104528, 33728),),
        ),
        (
            "broker-3 is elected at 07:03:35, but is SYNC_MASTER and takes writes only from 07:03:57 on",
            (_leads("broker-3", "2", "07:03:35Z", "07:05:36Z", "end of run"),),
        ),
        (
            "producer-app-2 finds no route from 07:04:28 to 07:04:46",
            (nothing_new_after("07:04:20Z", "LEADERLESS", "ELECTION_STORM", *BOTH_SPLITS),),
        ),
    ),
    "master-killed-5.2.0": (
        (
            "Clean election inside the SyncStateSet; the old master comes back as a slave.",
            (no_finding("UNCLEAN_ELECTION", "MASTER_NOT_IN_SYNC_STATE_SET"), terms_are(1, 2, group=BS)),
        ),
    ),
}

DLEDGER: dict[str, tuple[Sentence, ...]] = {
    "chaos-533": (
        ("24 of 790 acknowledged writes are gone at the end", (finding(QUEUES_CUT),)),
        ("7 leaderships, each with a deed behind it", (terms_are(1, 2, 3, 4, 5, 6, 7),)),
        (
            "07:45:57 to 07:47:04: n2 is mute while n1 is still starting",
            (leaderless_at_least("07:46:02Z", "07:47:03Z"),),
        ),
        (
            "The overlap of 31 s (terms 6 and 7) is n0 frozen",
            (overlap(31, {"n0", "n2"}, {6, 7}, severity="info"), silent("n0", "07:47:29Z", "07:48:09Z")),
        ),
        (
            "The 24 lost messages (keys 673 to 696, 07:47:04 to 07:47:13) are the first ones that n0 takes",
            (finding(QUEUES_CUT, nodes={"n0"}), no_finding("UNCLEAN_ELECTION", *LOSSES)),
        ),
    ),
    "five-kill-leader-then-two-533": (
        ("After the kill of n0 and n1", (leaderless_at_least("07:07:07Z", "07:07:45Z"), terms_are(1, 2, 3))),
        ("n0 is started at 07:07:26", (_leads("n3", "3", "07:07:45Z", "07:09:03Z", "end of run"),)),
        (
            "Must NOT claim: lost acknowledged messages; a node voting twice in one term.",
            (no_finding("DOUBLE_VOTE", *LOSSES), *nothing_lost),
        ),
    ),
    "kill-leader-480": (("DLedger 0.2.2 (4.8.0).", (no_finding("UNKNOWN_VERSION"), terms_are(1, 2))),),
    "kill-leader-520": (
        (
            "The killed leader comes back as a follower; its term file is the same.",
            (no_finding("TERM_REGRESSION", "DOUBLE_VOTE"), terms_are(1, 2)),
        ),
    ),
    "restarted-leads-533": (
        ("62 of 995 acknowledged writes are gone at the end", (finding(QUEUES_CUT),)),
        (
            "n2 was started again after kill -9 (07:46:19) and leads term 3",
            (finding(QUEUES_CUT, nodes={"n2"}), no_finding("UNCLEAN_ELECTION")),
        ),
        ("The same line stands in the log of every node that was killed and started", (queues_cut("n2"),)),
        (
            "Each election is clean and has a kill behind it. Must NOT claim: split brain",
            (no_finding(*BOTH_SPLITS, "UNCLEAN_ELECTION", *LOSSES), terms_are(1, 2, 3)),
        ),
    ),
}

ZOOKEEPER: dict[str, tuple[Sentence, ...]] = {
    "chaos-372": (("7 epochs in 7 minutes", (terms_are(1, 2, 3, 4, 5, 6, 7), wrong_clocks("zk2"))),),
    "isolate-leader-3510-tick500": (
        ("The times follow from the settings", (terms_are(1, 2),)),
        ("Nothing may be called late by a threshold", (no_finding(*LATE), no_finding(above="warning"))),
        ("One write that failed with a lost connection is stored", UNKNOWN_TO_LOGS),
    ),
    "isolate-leader-372-tick3000": (
        ("syncLimit x tickTime is 30 s here", (no_finding(*LATE), no_finding(above="warning"))),
        (
            "In those 30 s the old leader is the only leader by its log",
            (terms_are(1, 2), _leads("zk2", "1", "06:58:09Z", "06:58:58Z", "Shutting down")),
        ),
    ),
    "kill-leader-3414": (("3.4 has no line `Peer state changed`", (terms_are(1, 2), no_finding("LOG_GAP"))),),
    "kill-leader-394": (
        ("The change takes about 0.25 s", (missing_for(0.3), no_finding(above="info"))),
        ("The block [myid:N] is filled on the first lines of a start only", (terms_are(1, 2),)),
    ),
}

SAID = ETCD | CONTROLLER | DLEDGER | ZOOKEEPER
