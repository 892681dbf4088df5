"""What a correct analysis says about each real run, sentence by sentence.

Each run's ``run.json`` holds plain sentences. Every one of them stands here, by its beginning, with the
checks that it comes to, or with the reason why no finding of this version speaks of it. A test proves that
none is missing.
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.acceptance import acting_masters, classics, later_runs
from tests.acceptance.known import Known
from tests.acceptance.published import Row, Warehouse
from tests.acceptance.verdict import (
    CONTROLLERS,
    KILLED,
    NEAR,
    Check,
    Run,
    cut_off,
    finding,
    leaderless,
    leads,
    leads_at,
    log_gap,
    log_time,
    members,
    no_finding,
    nobody_has,
    nobody_leads,
    not_leader,
    only_leaders,
    overlap,
    show,
    terms_are,
    utc,
)

pytestmark = pytest.mark.slow

# What a sentence is about when none of today's findings speaks of it.
DONE_TO_IT = "what was done to the cluster; not a claim"
ACKNOWLEDGED = "counts of acknowledged messages: only the clients' records know them"
IDENTITY = "broker identity"
VOTES = "the rules of single votes and rounds"
METADATA = "brokers' own files and requests"

Sentence = tuple[str, tuple[Check, ...] | str]
"""The beginning of a sentence, and its checks or why there are none."""

BOTH_SPLITS = ("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP")
BS = "bs-orders"
STOCK = "bs-stock"
t = log_time


def ctl(node: str, term: int, since: float | None, until: float | None, slack: float = NEAR) -> Check:
    """A controller leads the controllers."""
    return leads(node, term, since, until, CONTROLLERS, slack)


def master(node: str, epoch: int, since: float | None, until: float | None, slack: float = NEAR) -> Check:
    """A broker is master of ``bs-orders``."""
    return leads(node, epoch, since, until, BS, slack)


# DLedger: most sentences have one of these shapes


def _leads(node: str, term: str, since: str, until: str, why: str) -> Check:
    slack = KILLED if why == "kill -9" else NEAR
    return leads(node, int(term), utc(since), None if why == "end of run" else utc(until), slack=slack)


SHAPES: tuple[tuple[str, Callable[..., Check] | str], ...] = (
    (r"Fault: .*", DONE_TO_IT),
    (
        r"(?P<node>n\d) leads term (?P<term>\d+) "
        r"from (?P<since>[\d:]+)Z until (?P<until>[\d:]+)Z \((?P<why>.*)\)\.",
        _leads,
    ),
    (
        r"No leader between (?P<since>[\d:]+)Z and (?P<until>[\d:]+)Z \(about \d+ s\)\.",
        lambda since, until: leaderless(utc(since), utc(until)),
    ),
    (r"Must NOT claim: two leaders in one term\.", lambda: no_finding("SPLIT_BRAIN_SAME_TERM")),
    (r"Must NOT claim: an overlap of leaders\.", lambda: no_finding("SPLIT_BRAIN_OVERLAP")),
    (r"Must NOT claim: a node voting twice in one term\.", lambda: no_finding("DOUBLE_VOTE")),
)

DLEDGER: dict[str, tuple[Sentence, ...]] = {
    "flapping-533": (
        (
            "The same node became leader of the same term more than once",
            (no_finding("SPLIT_BRAIN_SAME_TERM"),),
        ),
        (
            "ELECTION_STORM / repeated LEADERLESS",
            (finding("ELECTION_STORM"), terms_are(1, 2, 3, 4)),
        ),
        (
            "Must NOT claim that n1 leads term 2 again at 09:24:57Z, or n0 term 3",
            (not_leader("n1", utc("09:24:57")), not_leader("n0", utc("09:25:32"))),
        ),
    ),
    "healthy-497": (
        (
            "Nothing above information level: one election at start",
            (no_finding(above="info"), only_leaders({("n0", 1)})),
        ),
        ("Must NOT claim an election storm", (no_finding("ELECTION_STORM", "LEADERLESS"),)),
    ),
    "isolate-leader-497": (
        (
            "The cut-off leader steps down by itself",
            (no_finding(*BOTH_SPLITS), nobody_leads(utc("09:19:44"), utc("09:19:48"))),
        ),
        (
            "The old leader, back after the heal, cuts un-committed entries",
            (no_finding("POSSIBLE_DATA_LOSS", above="info"),),
        ),
    ),
    "kill-leader-533": (
        (
            "The killed leader's log just stops",
            (only_leaders({("n1", 1), ("n2", 2)}), nobody_leads(utc("09:17:43"), utc("09:17:48"))),
        ),
    ),
    "kill-two-497": (
        (
            "The leader steps down in its own term (role CANDIDATE, term 1)",
            (only_leaders({("n0", 1), ("n0", 2)}), terms_are(1, 2)),
        ),
    ),
    "old-copy-497": (
        (
            "By their logs n2 (term 1) and n0 (term 2) are leader at once for about 7.0 s",
            (overlap(7, {"n0", "n2"}, {1, 2}, severity="info"),),
        ),
        (
            "TWO LEADERS IN ONE TERM: n0 and n2 both lead term 2, at once for about 11.0 s",
            (overlap(11, {"n0", "n2"}, {2}, severity="critical", rule="SPLIT_BRAIN_SAME_TERM"),),
        ),
        ("DOUBLE VOTE: n1 voted in term 2 for n0 and n2", VOTES),
        (
            "SPLIT_BRAIN_SAME_TERM in term 2: n0 (elected 09:44:41Z",
            (
                finding(
                    "SPLIT_BRAIN_SAME_TERM",
                    severity="critical",
                    certainty="proven",
                    nodes={"n0", "n2"},
                    terms={2},
                ),
            ),
        ),
        ("DOUBLE_VOTE by n1 in term 2", VOTES),
        (
            "n0 was frozen from 09:45:02Z to 09:46:27Z; both were awake",
            (
                log_gap(utc("09:45:02"), utc("09:46:27"), "n0"),
                leads("n0", 2, utc("09:44:41"), utc("09:46:30")),
            ),
        ),
        ("n0 cuts un-committed entries off afterwards", METADATA),
        (
            "The overlap of n2 (term 1, frozen) and n0 (term 2) at 09:44:41Z",
            (
                finding(
                    "SPLIT_BRAIN_OVERLAP",
                    severity="info",
                    nodes={"n0", "n2"},
                    terms={1, 2},
                    since=utc("09:44:41"),
                    until=utc("09:44:48"),
                ),
            ),
        ),
    ),
    "pause-leader-533": (
        (
            "By their logs n0 (term 1) and n2 (term 2) are leader at once for about 22.0 s",
            (overlap(22, {"n0", "n2"}, {1, 2}, severity="info"),),
        ),
        ("The frozen leader's log has a hole of 30 s", (log_gap(utc("09:20:25"), utc("09:20:55"), "n0"),)),
    ),
    "preferred-leader-533": (
        ("A planned hand-over, not a failure", (no_finding(above="info"), no_finding(*BOTH_SPLITS))),
    ),
}

# the controllers: every sentence is its own

CONTROLLER: dict[str, tuple[Sentence, ...]] = {
    "controller-leader-lost": (
        (
            "Controllers: n1 (ctl-2) leads in term 1",
            (
                ctl("n1", 1, None, t("18:04:40"), slack=KILLED),
                leaderless(t("18:04:40"), t("18:04:48"), CONTROLLERS),
                only_leaders({("n1", 1), ("n2", 2)}, CONTROLLERS),
            ),
        ),
        (
            "18:05:12 ctl-3 is cut off",
            (
                ctl("n2", 2, t("18:04:48"), t("18:05:18")),
                leaderless(t("18:05:18"), t("18:05:31"), CONTROLLERS),
                no_finding("SPLIT_BRAIN_SAME_TERM", group=CONTROLLERS),
            ),
        ),
        (
            "18:05:45 ctl-1 and ctl-2 are killed",
            (
                ctl("n2", 2, t("18:05:31"), t("18:05:49")),
                leaderless(t("18:05:49"), None, CONTROLLERS),
                terms_are(1, 2, group=CONTROLLERS),
                no_finding(*BOTH_SPLITS),
            ),
        ),
        (
            "The broker set is not touched",
            (
                only_leaders({("1", 1)}, BS),
                members(({"1", "2", "3"}, None, None), group=BS),
                no_finding(group=BS, above="info"),
            ),
        ),
    ),
    "deaf-master": (
        (
            "Two masters at once with different epochs: broker-1 (id 1, masterEpoch 1)",
            (
                overlap(19, {"1", "2"}, {1, 2}, severity="critical", group=BS),
                master("2", 2, t("18:54:28"), None),
            ),
        ),
        (
            "74 acknowledged messages are lost",
            (cut_off(37880, 19132),),
        ),
        ("The election of id 2 is clean", (no_finding("UNCLEAN_ELECTION"),)),
        ("broker-1 asked four times for a smaller SyncStateSet", METADATA),
        (
            "broker-1 is in the SyncStateSet again at 18:54:52",
            (
                members(({"1", "2", "3"}, 6, "18:54:52"), group=BS),
                no_finding(group=CONTROLLERS, above="info"),
            ),
        ),
    ),
    "embedded": (
        (
            "Controllers inside the name servers",
            (ctl("n1", 1, t("18:43:18"), None), only_leaders({("n1", 1)}, CONTROLLERS)),
        ),
        (
            "broker-1 (id 1, masterEpoch 1) is killed at 18:44:07",
            (
                master("2", 2, t("18:44:07"), None),
                only_leaders({("1", 1), ("2", 2)}, BS),
                members(({"1", "2", "3"}, None, None), ({"2"}, 4, "18:44:07"), group=BS),
                no_finding(*BOTH_SPLITS, "UNCLEAN_ELECTION"),
            ),
        ),
        (
            "broker-1 is back as slave at 18:44:28",
            (members(({"1", "2", "3"}, 6, "18:44:34"), group=BS), not_leader("1", t("18:44:28"), BS)),
        ),
    ),
    "healthy": (
        (
            "Nothing above info from the start to 17:17:00",
            (
                no_finding(above="info"),
                members(({"1"}, 1, None), ({"1", "2"}, 2, None), ({"1", "2", "3"}, 3, None), group=BS),
                leads_at("1", 1, t("17:16:59"), BS),
                leads_at("n0", 1, t("17:16:59"), CONTROLLERS),
            ),
        ),
        (
            "From 17:17:00 on the cluster is shut down cleanly",
            (no_finding(above="info"), no_finding("UNCLEAN_ELECTION")),
        ),
        (
            "Start-up of the controllers: several voting rounds",
            (no_finding("ELECTION_STORM", "LEADERLESS", group=CONTROLLERS),),
        ),
    ),
    "identity-lost-and-moved": (
        ("broker-2 (id 2) lost its brokerIdentity file", IDENTITY),
        ("broker-1 (id 3) came back with a new address", IDENTITY),
        (
            "broker-3 (id 1, epoch 5), the only member of the SyncStateSet",
            (
                nobody_has(6, 7, 8, group=BS),
                leaderless(t("18:12:18"), None, BS),
                no_finding("UNCLEAN_ELECTION"),
            ),
        ),
        (
            "The SyncStateSet shrinks with the two clean stops",
            (
                members(
                    ({"1", "2", "3"}, None, None),
                    ({"1", "3"}, None, "18:09:45"),
                    ({"1"}, None, "18:11:07"),
                    group=BS,
                ),
                no_finding("MASTER_NOT_IN_SYNC_STATE_SET"),
            ),
        ),
    ),
    "incidents-in-a-row": (
        (
            "17:56:28 broker-2 (id 1, epoch 9) killed",
            (
                master("1", 9, t("17:56:10"), t("17:56:28"), slack=KILLED),
                master("2", 10, t("17:56:28"), t("17:58:22")),
                no_finding("UNCLEAN_ELECTION"),
            ),
        ),
        (
            "17:57:50 broker-1 is stopped (SIGSTOP)",
            (
                master("3", 11, t("17:58:02"), None),
                overlap(20, {"2", "3"}, {10, 11}, severity=("info", "warning"), group=BS),
                log_gap(t("17:57:50"), t("17:58:15"), "2"),
                leaderless(t("17:57:50"), t("17:58:02"), BS, asleep="2", served=t("17:58:12")),
            ),
        ),
        (
            "Before the first incident (17:54:36 to 17:56:10)",
            (
                finding("ELECTION_STORM", group=BS),
                terms_are(*range(1, 12), group=BS),
                only_leaders({("1", epoch) for epoch in (1, 5, 9)} | {("2", 10), ("3", 11)}, BS),
                no_finding("SPLIT_BRAIN_SAME_TERM"),
            ),
        ),
        ("From 17:58:59 broker-2 (slave) is stopped twice", (master("3", 11, t("17:58:02"), None),)),
        ("No acknowledged message is lost (598 of 598)", ACKNOWLEDGED),
    ),
    "jraft": (
        (
            "Controllers of the kind JRaft",
            (
                ctl("10.81.28.11:9880", 1, t("18:39:46"), t("18:40:27"), slack=KILLED),
                ctl("10.81.28.12:9880", 2, t("18:40:29"), None),
                only_leaders({("10.81.28.11:9880", 1), ("10.81.28.12:9880", 2)}, CONTROLLERS),
            ),
        ),
        (
            "broker-1 (id 1, masterEpoch 1) is killed at 18:40:44",
            (
                master("3", 2, t("18:40:44"), None),
                members(
                    ({"1", "2", "3"}, None, None),
                    ({"3"}, 4, "18:40:44"),
                    ({"1", "3"}, 5, "18:41:09"),
                    ({"1", "2", "3"}, 6, "18:41:18"),
                    group=BS,
                ),
                no_finding("UNCLEAN_ELECTION", *BOTH_SPLITS),
            ),
        ),
        (
            "Each election is printed by every controller",
            (terms_are(1, 2, group=BS), no_finding("ELECTION_STORM")),
        ),
        (
            "ctl-1 reads its log again after its restart",
            (
                only_leaders({("1", 1), ("3", 2)}, BS),
                not_leader("1", t("18:40:47"), BS),
                no_finding("EPOCH_REGRESSION"),
            ),
        ),
        ("Nothing is lost: 286 messages acknowledged", (no_finding("POSSIBLE_DATA_LOSS", above="info"),)),
    ),
    "master-by-hand": (
        (
            "Planned change of the master",
            (
                master("1", 1, None, t("18:32:24")),
                master("3", 2, t("18:32:24"), None, slack=KILLED),
                members(({"1", "2", "3"}, 3, None), ({"3"}, 4, "18:32:23"), group=BS),
                no_finding("SPLIT_BRAIN_SAME_TERM", "UNCLEAN_ELECTION"),
                no_finding("SPLIT_BRAIN_OVERLAP", above="info"),
            ),
        ),
        ("One acknowledged message is lost", (cut_off(20140, 19888),)),
        ("Nobody could write from 18:32:24 to 18:32:29", (no_finding("LEADERLESS", group=BS, above="info"),)),
        (
            "Requests that change nothing: electMaster for the id that is master already",
            (
                terms_are(1, 2, group=BS),
                no_finding("LEADERLESS", group=BS, above="info"),
                no_finding("ELECTION_STORM"),
            ),
        ),
        ("broker-3 (id 2) is killed at 18:32:55", (members(({"1", "3"}, 7, None), group=BS),)),
        ("cleanBrokerMetadata for id 2 at 18:33:03", IDENTITY),
        (
            "broker-3 is started at 18:33:16 with its old brokerIdentity",
            (no_finding("SPLIT_BRAIN_SAME_TERM"), not_leader("2", t("18:33:30"), BS)),
        ),
    ),
    "master-cut-off-empty-log": (
        (
            "Two masters at once with different epochs: broker-1 (id 1, masterEpoch 1) and broker-2",
            (
                overlap(38, {"1", "2"}, {1, 2}, severity="critical", group=BS),
                master("2", 2, t("17:30:37"), None),
            ),
        ),
        (
            "The election of id 2 is clean (SyncStateSet was [1, 2, 3]",
            (
                members(({"1", "2", "3"}, 3, None), ({"2"}, 4, "17:30:37"), group=BS),
                no_finding("UNCLEAN_ELECTION", "SPLIT_BRAIN_SAME_TERM"),
            ),
        ),
        ("Acknowledged messages are lost: 188 messages", ACKNOWLEDGED),
        ("Epoch 2 has no entry in the epoch files", (members(({"1", "2", "3"}, None, "17:31:34"), group=BS),)),
        (
            "broker-1's reports of a smaller SyncStateSet all failed",
            (no_finding("MASTER_NOT_IN_SYNC_STATE_SET"),),
        ),
        (
            "No finding about the controller group: ctl-3 (n2) leads",
            (no_finding(group=CONTROLLERS, above="info"), only_leaders({("n2", 1)}, CONTROLLERS)),
        ),
    ),
    "master-cut-off": (
        (
            "Two masters at once with different epochs: broker-1 (id 1, masterEpoch 1) and broker-3",
            (
                overlap(36, {"1", "3"}, {1, 2}, severity="critical", group=BS),
                master("3", 2, t("17:41:14"), None),
                finding("SPLIT_BRAIN_OVERLAP", group=BS, since=t("17:41:14"), until=t("17:41:50")),
            ),
        ),
        (
            "The old master accepted writes meanwhile",
            (cut_off(98632, 46088),),
        ),
        (
            "The election of id 3 is clean",
            (
                no_finding("UNCLEAN_ELECTION"),
                members(({"1", "2", "3"}, None, None), ({"3"}, None, "17:41:14"), group=BS),
            ),
        ),
        ("broker-1 asked six times for a smaller SyncStateSet", METADATA),
        (
            "No finding about the controller group; no election without a winner",
            (no_finding(group=CONTROLLERS, above="info"), terms_are(1, 2, group=BS)),
        ),
    ),
    "master-killed-5.1.4": (
        (
            "Clean fail-over: broker-3 (id 1) is killed at 17:55:00",
            (
                master("1", 3, t("17:53:08"), t("17:55:00"), slack=KILLED),
                master("2", 4, t("17:55:02"), None),
                no_finding(*BOTH_SPLITS, "UNCLEAN_ELECTION"),
            ),
        ),
        (
            "masterEpoch 1 to 3 are all the same master (id 1)",
            (
                nobody_has(2, group=BS),
                terms_are(1, 2, 3, 4, group=BS),
                only_leaders({("1", 1), ("1", 3), ("2", 4)}, BS),
            ),
        ),
        (
            "Leaderless for about 2 s twice",
            (finding("LEADERLESS", group=BS, since=t("17:55:00"), until=t("17:55:02"), slack=KILLED),),
        ),
        (
            "The old master had not come back into the SyncStateSet",
            (members(({"2"}, None, None), ({"2", "3"}, None, None), group=BS),),
        ),
        ("All acknowledged messages are there (43", ACKNOWLEDGED),
    ),
    "master-killed": (
        (
            "Clean fail-over: broker-3 (id 1, masterEpoch 1) is killed at 18:21:47",
            (
                master("1", 1, None, t("18:21:47"), slack=KILLED),
                master("2", 2, t("18:21:47"), None),
                members(({"1", "2", "3"}, 3, None), ({"2"}, 4, "18:21:47"), group=BS),
                no_finding(*BOTH_SPLITS, "UNCLEAN_ELECTION"),
                no_finding("LEADERLESS", group=BS, above="info"),
            ),
        ),
        (
            "broker-3 is started again at 18:22:08",
            (
                members(({"2"}, 4, None), ({"2", "3"}, 5, "18:21:58"), ({"1", "2", "3"}, 6, "18:22:21"), group=BS),
                not_leader("1", t("18:22:15"), BS),
            ),
        ),
        ("Nothing is lost: 270 messages acknowledged", (no_finding("POSSIBLE_DATA_LOSS"),)),
        (
            "Controllers: n2 (ctl-3) is elected in term 1 at 18:20:44",
            (ctl("n2", 1, t("18:20:44"), None), no_finding(group=CONTROLLERS, above="info")),
        ),
        ("No finding above info apart from the fail-over itself", (no_finding(above="info"),)),
    ),
    "no-unclean-election": (
        (
            "The set has no master from 17:46:13",
            (leaderless(t("17:46:13"), None, BS), no_finding("LEADERLESS", group=CONTROLLERS, above="info")),
        ),
        (
            "masterEpoch goes from 1 to 4 by three elections without a winner",
            (nobody_has(2, 3, 4, group=BS), terms_are(1, 2, 3, 4, group=BS)),
        ),
        (
            "Nobody outside of the SyncStateSet is elected",
            (no_finding("UNCLEAN_ELECTION"), only_leaders({("1", 1)}, BS)),
        ),
        ("The brokers' own requests (electMaster every 5 s", (terms_are(1, 2, 3, 4, group=BS),)),
    ),
    "rolled-files": (
        (
            "Nothing above info: in set bs-orders broker-2 (id 1) is master",
            (
                no_finding(above="info"),
                only_leaders({("1", 1)}, BS),
                only_leaders({("1", 1)}, STOCK),
                members(
                    ({"1"}, 1, "18:49:47"),
                    ({"1", "2"}, 2, "18:49:58"),
                    ({"1", "2", "3"}, 3, "18:50:06"),
                    group=BS,
                ),
                members(({"1"}, 1, "18:49:58"), ({"1", "2"}, 2, "18:50:05"), group=STOCK),
            ),
        ),
        ("Controllers: n0 (ctl-1) elected in term 1 at 18:49:27", (ctl("n0", 1, t("18:49:27"), None),)),
        ("1016 messages acknowledged, 1016 found", ACKNOWLEDGED),
        (
            "The lines above are partly only in rolled files",
            (master("1", 1, t("18:49:47"), None), leads("1", 1, t("18:49:58"), None, STOCK)),
        ),
    ),
    "unclean-election-idle": (
        (
            "Unclean election: id 2 (broker-3) becomes master with epoch 2 at 17:36:57",
            (
                finding("UNCLEAN_ELECTION", group=BS, terms={2}, since=t("17:36:57"), severity="warning"),
                master("2", 2, t("17:36:57"), None),
            ),
        ),
        (
            "Nothing can have been lost: the log was empty",
            (no_finding("POSSIBLE_DATA_LOSS", above="info"), no_finding("UNCLEAN_ELECTION", above="warning")),
        ),
        (
            "The SyncStateSet flaps all the time before and after",
            (members(({"1", "2", "3"}, 30, None), group=BS), terms_are(1, 2, group=BS)),
        ),
        ("Epoch 2 is not recorded in the epoch files", METADATA),
    ),
    "unclean-election": (
        (
            "Unclean election: id 2 (broker-3) becomes master with epoch 2 at 17:48:33",
            (
                finding(
                    "UNCLEAN_ELECTION",
                    group=BS,
                    terms={2},
                    since=t("17:48:33"),
                    severity="critical",
                    certainty=("proven", "definite"),
                ),
                master("2", 2, t("17:48:33"), None),
                members(({"1"}, 5, None), ({"2"}, 6, "17:48:33"), group=BS),
            ),
        ),
        (
            "Possible data loss, with numbers",
            (cut_off(66078, 24174),),
        ),
        (
            "The SyncStateSet shrank in two steps",
            (
                members(({"1", "2", "3"}, 3, None), ({"1", "2"}, 4, "17:48:13"), ({"1"}, 5, "17:48:17"), group=BS),
                no_finding("MASTER_NOT_IN_SYNC_STATE_SET"),
            ),
        ),
        (
            "No two masters at once: the old one was killed",
            (no_finding(*BOTH_SPLITS), no_finding(group=CONTROLLERS, above="info")),
        ),
    ),
    "zombie-master": (
        (
            "broker-1 (id 1, masterEpoch 1) is held (SIGSTOP) from 18:26:11 to 18:26:36",
            (
                master("2", 2, t("18:26:23"), None),
                members(({"1", "2", "3"}, 3, None), ({"2"}, 4, "18:26:23"), group=BS),
                no_finding("UNCLEAN_ELECTION"),
            ),
        ),
        (
            "Two masters by their own belief, epochs 1 and 2",
            (
                overlap(13, {"1", "2"}, {1, 2}, severity=("info", "warning"), group=BS),
                log_gap(t("18:26:11"), t("18:26:36"), "1"),
                no_finding("SPLIT_BRAIN_SAME_TERM"),
            ),
        ),
        ("The stale master is fenced three times over", METADATA),
        (
            "It cut its log from 39524 to 37508",
            (cut_off(39524, 37508), no_finding(above="warning")),
        ),
        (
            "Leaderless for about 12 s (18:26:11 to 18:26:23)",
            (
                leaderless(t("18:26:11"), t("18:26:23"), BS, asleep="1", served=t("18:26:26")),
                members(({"1", "2", "3"}, 6, "18:26:41"), group=BS),
            ),
        ),
        (
            "Controllers: n0 (ctl-1) leads in term 1, no election",
            (only_leaders({("n0", 1)}, CONTROLLERS), no_finding(group=CONTROLLERS, above="info")),
        ),
    ),
}

# the test

SAID = DLEDGER | CONTROLLER | acting_masters.SAID | classics.ETCD | classics.ZOOKEEPER | later_runs.SAID

TABLES = {
    "terms": "terms",
    "roles": "role_intervals",
    "elections": "elections",
    "sets": "sync_state_sets",
    "findings": "findings",
    "locks": "lock_holds",
    "versions": "metadata_versions",
    "coverage": "rule_coverage",
}


def shapes_of(run: str) -> tuple[tuple[str, Callable[..., Check] | str], ...]:
    """The sentences that a run has in common with others."""
    if run in later_runs.SAID:
        return later_runs.SHAPES
    return SHAPES if run in DLEDGER else classics.SHAPES if run in classics.ETCD | classics.ZOOKEEPER else ()


def checks_of(run: str, sentence: str) -> tuple[Check, ...] | str | None:
    """What one sentence comes to; None if nothing here speaks of it."""
    for shape, meaning in shapes_of(run):
        if match := re.fullmatch(shape, sentence):
            return meaning if isinstance(meaning, str) else (meaning(**match.groupdict()),)
    for beginning, meaning_of in SAID[run]:
        if sentence.startswith(beginning):
            return meaning_of
    return None


def expected(runs: dict[str, Path], run: str) -> list[str]:
    return list(json.loads((runs[run] / "run.json").read_text())["expected"])


def broken(run: Run, sentences: list[str]) -> Iterator[str]:
    """The sentences that do not hold, each with what was found instead."""
    for sentence in sentences:
        for check in checks_of(run.name, sentence) or ():
            if isinstance(check, str):
                continue
            try:
                check(run)
            except AssertionError as found:
                yield f"{sentence}\n    {found}"


@pytest.fixture(scope="session")
def tables(gold: Warehouse) -> dict[str, list[Row]]:
    return {name: gold.rows(f"gold/{table}") for name, table in TABLES.items()}


def test_every_sentence_of_every_run_has_its_place(runs: dict[str, Path]) -> None:
    assert set(runs) == set(SAID)
    homeless = [(run, sentence) for run in runs for sentence in expected(runs, run) if checks_of(run, sentence) is None]
    assert not homeless
    unused = [
        (run, beginning)
        for run, table in SAID.items()
        for beginning, _ in table
        if sum(sentence.startswith(beginning) for sentence in expected(runs, run)) != 1
    ]
    assert not unused


def _ended(path: Path, told: str | float) -> float:
    """When the story of a run ends; where ``ended`` is the end of all processes, the records tell it."""
    if isinstance(told, str):
        return datetime.fromisoformat(told).timestamp()
    done = [json.loads(line) for line in (path / "truth.jsonl").read_text().splitlines()]
    return float(next(row["t"] for row in done if row["action"] == "end"))


@pytest.mark.parametrize("name", sorted(SAID))
def test_what_a_correct_analysis_says(name: str, runs: dict[str, Path], tables: dict[str, list[Row]]) -> None:
    about = json.loads((runs[name] / "run.json").read_text())
    run = Run(
        known=Known(runs[name]),
        name=name,
        ended=_ended(runs[name], about["ended"]),
        broker_sets=frozenset(group for group in about["groups"] if group != CONTROLLERS),
        **{field: [row for row in rows if row["cluster"] == name] for field, rows in tables.items()},
    )
    failed = list(broken(run, expected(runs, name)))
    assert not failed, f"{len(failed)} checks of {name} fail:\n" + "\n".join(failed)


HEALTHY = (
    *("healthy-497", "healthy", "rolled-files", "healthy-rebalance", "no-fault-slow-start"),
    *("healthy-34", "healthy-35", "healthy-380"),
)


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_cluster_has_nothing_above_info(name: str, tables: dict[str, list[Row]]) -> None:
    loud = [row for row in tables["findings"] if row["cluster"] == name and row["severity"] != "info"]
    assert not loud, show(loud)


def test_one_clock_ran_all_clusters(runs: dict[str, Path], tables: dict[str, list[Row]]) -> None:
    """Every run was made on one machine: no skew may be claimed of a clock that was not set wrong on purpose."""
    skewed = [row for row in tables["findings"] if row["rule"] == "CLOCK_SKEW"]
    set_wrong = {(name, node) for name, path in runs.items() for node in Known(path).set_clocks}
    folders = {(row["cluster"], row["node"]): row["source_node"] for row in tables["roles"] if row["source_node"]}
    false = [
        row
        for row in skewed
        if not all((row["cluster"], folders[row["cluster"], node]) in set_wrong for node in row["nodes"])
    ]
    assert not false, show(false)
