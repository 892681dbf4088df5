"""What a correct analysis says about each run with slave acting masters, sentence by sentence.

The sentences of ``expected`` by their beginnings, as in :mod:`tests.acceptance.test_expected`, which checks them.
"""

from tests.acceptance.verdict import (
    KILLED,
    NEAR,
    Check,
    counters,
    finding,
    held,
    judged,
    lasted,
    locks_are,
    log_gap,
    log_time,
    never,
    never_tells,
    no_finding,
    only_serving,
    quiet_after,
    serves,
    tells,
    utc,
)

Sentence = tuple[str, tuple[Check, ...] | str]

# Why a sentence is beyond the brokers' logs; the checks beside it are what they do say.
DELIVERIES = "which message a client was given, and when, only the clients' records know"
MEMORY = "what a process held in memory when it was killed is in no file"

A, B = "broker-a", "broker-b"
DOUBLE, PARTIAL = "LOCK_DOUBLE_HOLD", "LOCK_WITHOUT_QUORUM"
OVERLAP, SKIPPED = "ACTING_MASTER_OVERLAP", "PRE_ONLINE_SKIPPED"
ROLLBACK, STALE = "METADATA_ROLLBACK", "STALE_REVERSE_SYNC"
t = log_time

PERMISSION = judged("ACTING_MASTER_WRITABLE", A, undecidable="a name server prints no line")
"""Route answers, in which an acting master has permission 4, are not printed."""
CLIENTS_KNOW = judged("LOCK_USED_AFTER_EXPIRY", A)
"""What a client believes and reads is not in the brokers' logs; see ``why_undecidable``."""
COMPLETE_PRE_ONLINE = judged(SKIPPED, A, conforms=1)
ONE_MASTER_AT_A_TIME = no_finding(OVERLAP, above="info")


def master(since: float | None, until: float | None, slack: float = NEAR, group: str = A) -> Check:
    """Id 0 is the master of ``broker-a``."""
    return serves("leader", "0", since, until, group, slack)


def acts(node: str, since: float, until: float | None, slack: float = NEAR) -> Check:
    """A slave acts for ``broker-a``."""
    return serves("acting_leader", node, since, until, A, slack)


def only_first_slave_acts(group: str = A) -> Check:
    return only_serving({("leader", "0"), ("acting_leader", "1")}, group)


def nobody_acts(group: str) -> Check:
    return only_serving({("leader", "0")}, group)


def failover(since: str, killed: str, acting: str, back: str, ends: str) -> tuple[Check, ...]:
    """The master is killed, the first slave acts, the master comes back."""
    return (
        master(t(since), t(killed), KILLED),
        acts("1", t(acting), t(ends)),
        master(t(back), None),
        only_first_slave_acts(),
        ONE_MASTER_AT_A_TIME,
    )


def rolled_back(of: str, *words: str, severity: str, repeated: int | None) -> Check:
    """So many messages may be consumed again by one group; ``None``: its offset is not known."""
    return tells(ROLLBACK, f"of {of} on OrderEvents", *words, severity=severity, messages_repeated=repeated)


def late_names(*words: str) -> tuple[Check, ...]:
    """The topic and the group that were made on the acting master, and no others, are lost."""
    return (
        tells(ROLLBACK, "1 topic made", "does not have LateTopic", *words),
        tells(ROLLBACK, "1 consumer group made", "does not have late-group", *words),
    )


SAID: dict[str, tuple[Sentence, ...]] = {
    "chain-two-down": (
        (
            "broker-a: master 0 (10.82.1.20) from 18:46:22 GMT+8 until kill -9",
            (
                master(t("18:46:22"), t("18:47:35"), KILLED),
                acts("1", t("18:47:35"), t("18:47:51"), KILLED),
                acts("2", t("18:47:51"), t("18:48:16")),
                acts("1", t("18:48:16"), t("18:48:51")),
                master(t("18:48:51"), None),
                only_serving({("leader", "0"), ("acting_leader", "1"), ("acting_leader", "2")}, A),
            ),
        ),
        (
            "broker-a-1 returns at 18:48:16 without a master",
            (rolled_back("billing-group", "no master was there and took nothing over", severity="info", repeated=101),),
        ),
        (
            "METADATA_ROLLBACK at that hand-over",
            (
                rolled_back("billing-group", "queue 0: 102 to 77", "queue 2: 102 to 76", severity="info", repeated=101),
                rolled_back("order-group", "queue 0: 102 to 79", severity="info", repeated=92),
                counters("2", "consumer_offset", 171, group=A),
                counters("1", "consumer_offset", 161, group=A),
            ),
        ),
        (
            "Return of broker-a-0 with pre-online",
            (
                never_tells(ROLLBACK, "0 (broker-a-0)"),
                no_finding(STALE),
                judged(STALE, A, conforms=2),
                counters("0", "consumer_offset", 169, group=A),
            ),
        ),
        (
            "LOCK_DOUBLE_HOLD (lockInStrictMode=false), group order-group",
            (
                tells(DOUBLE, "broker-a-2", "broker-a-1", "queues 0, 1, 2, 3 of order-group", certainty="definite"),
                tells(DOUBLE, "broker-a-1", "broker-a-0", "queues 0, 1, 2, 3 of order-group", certainty="definite"),
                finding(DOUBLE, since=t("18:48:20"), until=t("18:48:21"), severity="critical"),
                finding(DOUBLE, since=t("18:48:55"), until=t("18:48:57"), severity="critical"),
            ),
        ),
        ("Order broken: at 10:48:56.4 UTC consumer-2 processes", DELIVERIES),
        (
            "NOT to be claimed: two living masters for longer than the second",
            (
                ONE_MASTER_AT_A_TIME,
                no_finding(SKIPPED),
                never_tells(ROLLBACK, "topic"),
                quiet_after(utc("10:49:03")),
            ),
        ),
    ),
    "delay-escape": (
        (
            "broker-a: master 0 (10.82.1.20) from 18:49:29",
            (*failover("18:49:29", "18:50:39", "18:50:40", "18:51:35", "18:51:36"), COMPLETE_PRE_ONLINE),
        ),
        (
            "Escape: messages of delay level 5 (60 s)",
            (
                counters("1", "delay_offset", 114, 197, group=A),
                counters("0", "delay_offset", 198, group=A),
                # the first copies of both offset tables have a counter beyond the one taken over: written anew since
                judged(STALE, A, conforms=1, undecidable="the first copy of the delay_offset table came after"),
                no_finding(ROLLBACK, STALE),
            ),
        ),
        ("Delivered twice by the switch to the acting master", DELIVERIES),
        ("Delivered twice by the return", DELIVERIES),
        (
            "LOCK_DOUBLE_HOLD (non-strict): order-group, topic RemindLater",
            (
                tells(DOUBLE, "@consumer-1 at broker broker-a-1", "@consumer-2 at broker broker-a-0", "queues 0, 1"),
                finding(DOUBLE, since=t("18:51:36"), until=t("18:51:40"), severity="critical", certainty="definite"),
                held("consumer-1", "broker-a-1", 0, 1, since=t("18:50:55"), topic="RemindLater"),
            ),
        ),
        ("NOT to be claimed: lost delayed messages", (no_finding(SKIPPED, ROLLBACK, STALE),)),
    ),
    "failover-preonline-clean": (
        (
            "broker-a: master 0 (10.82.1.20) from 18:24:12",
            failover("18:24:12", "18:25:22", "18:25:23", "18:26:18", "18:26:19"),
        ),
        (
            "Name servers: 10.82.1.21 as read-only master (perm 4)",
            (PERMISSION, acts("1", t("18:25:23"), t("18:26:19")), no_finding("ACTING_MASTER_WRITABLE")),
        ),
        ("Pre-online of broker-a-0 (started 10:26:00 UTC)", (COMPLETE_PRE_ONLINE, no_finding(SKIPPED))),
        (
            "No METADATA_ROLLBACK: counter of consumer offsets 173",
            (
                no_finding(ROLLBACK, STALE),
                counters("0", "consumer_offset", 173, 176, group=A),
                judged(STALE, A, conforms=2),
            ),
        ),
        (
            "order-group (consumer-1) and billing-group (consumer-3) go on",
            (held("consumer-1", "broker-a-1", 0, 1, 2, 3, since=t("18:25:38")),),
        ),
        (
            "Locks: consumer-1 holds broker-a 0 to 3 at broker-a-0",
            (
                held("consumer-1", "broker-a-0", 0, 1, 2, 3, since=t("18:24:20")),
                held("consumer-1", "broker-a-0", 0, 1, 2, 3, since=t("18:26:38")),
                no_finding(DOUBLE),
            ),
        ),
        (
            "NOT to be claimed: split brain, rollback, double hold",
            (
                no_finding(OVERLAP, ROLLBACK, DOUBLE, above="info"),
                finding("LEADERLESS", group=A, severity="warning", scope="reads_only", since=t("18:25:22")),
            ),
        ),
    ),
    "failover-preonline-default-step": (
        (
            "broker-a: master 0 (10.82.1.20) from 18:30:32",
            failover("18:30:32", "18:31:44", "18:31:45", "18:32:40", "18:32:41"),
        ),
        ("Pre-online ran to its end", (COMPLETE_PRE_ONLINE, no_finding(SKIPPED))),
        (
            "But no line \"...'s consumerOffset data version is larger",
            (
                tells(ROLLBACK, "of billing-group", "its pre-online is not seen to have taken them over"),
                counters("0", "consumer_offset", 2, group=A),
                counters("1", "consumer_offset", 1, group=A),
            ),
        ),
        (
            "METADATA_ROLLBACK of consumer offsets of broker-a, with pre-online",
            (
                rolled_back("billing-group", "106 to 66", "106 to 65", severity="warning", repeated=161),
                rolled_back("order-group", "124 to 66", "124 to 62", "124 to 63", severity="warning", repeated=239),
            ),
        ),
        ("Messages read twice, proven by clients/consumer-3.log", DELIVERIES),
        ("order-group heals without repeats", DELIVERIES),
        ("NOT to be claimed: double hold, split brain, skipped pre-online", (no_finding(DOUBLE, SKIPPED),)),
    ),
    "failover-skip-preonline": (
        (
            "broker-a: master 0 (10.82.1.20) until kill -9 at 10:06:38 UTC",
            (
                master(None, t("18:06:38"), KILLED),
                acts("1", t("18:06:38"), t("18:10:09")),
                only_first_slave_acts(),
                PERMISSION,
            ),
        ),
        (
            "PRE_ONLINE_SKIPPED: broker-a-0 is started at 10:07:36 UTC",
            (finding(SKIPPED, since=t("18:10:04"), severity="warning", certainty="definite", nodes={"0", "1"}),),
        ),
        (
            "METADATA_ROLLBACK, consumer offsets: consumerOffset.json",
            (
                rolled_back("order-group", "queue 0: 5 to none", "queue 2: 3 to none", severity="info", repeated=None),
                counters("1", "consumer_offset", 2, group=A),
            ),
        ),
        ("Configuration risk: topic LateTopic and group late-group", late_names("drops what the new one lacks")),
        (
            "Second and third acting period with a LIVING master",
            (
                acts("1", t("18:11:19"), t("18:11:21")),
                acts("1", t("18:11:45"), t("18:12:00")),
                finding(OVERLAP, since=t("18:11:19"), until=t("18:11:21"), severity="info"),
                lasted(15, OVERLAP, {"0", "1"}),
            ),
        ),
        (
            "In the third period billing-group commits to the acting master",
            (
                rolled_back(
                    "billing-group", "48 to 36", "28 to 21", "39 to 32", "27 to 20", severity="info", repeated=33
                ),
                tells(ROLLBACK, "of billing-group", "it had never stopped"),
            ),
        ),
        (
            "NOT to be claimed: a lost topic other than LateTopic",
            (*late_names(), no_finding(STALE), never_tells(ROLLBACK, "made", "and 1 more")),
        ),
    ),
    "healthy-rebalance": (
        (
            "No fault. broker-a-0 (10.82.1.20) is master of broker-a",
            (
                master(t("18:20:45"), None),
                master(t("18:20:45"), None, group=B),
                nobody_acts(A),
                nobody_acts(B),
                serves("follower", "1", t("18:21:16"), None, A),
                serves("follower", "2", t("18:21:20"), None, A),
            ),
        ),
        (
            "Order locks of order-group on broker-a",
            (
                held("consumer-1", "broker-a-0", 0, 1, 2, 3, since=t("18:20:55")),
                held("consumer-2", "broker-a-0", 3, since=t("18:22:19"), until=t("18:22:49"), end_cause="released"),
                held("consumer-1", "broker-a-0", 3, since=t("18:22:50")),
                held("consumer-2", "broker-b-0", 0, 1, 2, 3, since=t("18:20:55")),
                held("consumer-4", "broker-b-0", 2, 3, since=t("18:22:18"), until=t("18:22:49")),
                no_finding(DOUBLE),
            ),
        ),
        (
            "billing-group: consumer-3 holds all eight queues",
            (
                held("consumer-3", "broker-a-0", 0, 1, 2, 3, since=t("18:20:55"), consumers="billing-group"),
                held("consumer-3", "broker-b-0", 0, 1, 2, 3, since=t("18:20:55"), consumers="billing-group"),
            ),
        ),
        ("The slaves copy the metadata at 18:21:59", (no_finding(ROLLBACK, STALE),)),
        ("NOT to be claimed: an election, an acting master", (no_finding(above="info"), nobody_acts(A))),
        ("One message is delivered twice at the rebalance", DELIVERIES),
    ),
    "locks-nonstrict-cut": (
        (
            "broker-a has master 0 (10.82.2.20) from 09:26:17 UTC",
            (master(utc("09:26:17"), None), locks_are(lock_mode="non_strict", needed=1)),
        ),
        (
            "09:27:19 UTC: broker-a-0 and host app-1 are cut",
            (tells(OVERLAP, "the name servers ns-1, ns-2 had lost it"), PERMISSION),
        ),
        (
            "Acting master: broker-a-1 (smallest id) from 17:27:31",
            (acts("1", t("17:27:31"), t("17:29:28")), lasted(117, OVERLAP, {"0", "1"}), only_first_slave_acts()),
        ),
        (
            "LOCK_DOUBLE_HOLD, consumers: group order-group",
            (
                tells(DOUBLE, "@consumer-1", "@consumer-2", "OrderEvents queues 0, 2 of order-group"),
                held("consumer-2", "broker-a-1", 0, since=t("17:28:10"), until=t("17:29:20")),
                held("consumer-2", "broker-a-1", 2, since=t("17:28:17"), until=t("17:29:20")),
                held("consumer-2", "broker-a-1", 1, since=t("17:28:46"), until=t("17:29:20")),
                never_tells(DOUBLE, "order-group", "3 of"),
            ),
        ),
        (
            "LOCK_DOUBLE_HOLD, direct lock clients: group lock-probe",
            (
                tells(DOUBLE, "@L1", "@L2", "OrderEvents queues 0, 1, 2, 3 of lock-probe", certainty="definite"),
                held("L1", "broker-a-0", 0, 1, 2, 3, since=t("17:27:20"), consumers="lock-probe"),
                held("L2", "broker-a-1", 0, 1, 2, 3, since=t("17:28:04"), until=t("17:28:57"), consumers="lock-probe"),
            ),
        ),
        (
            "From the broker logs alone: queues 0 and 2",
            (
                tells(DOUBLE, "queues 0, 2 of order-group", certainty="definite", severity="critical"),
                tells(DOUBLE, "queue 1 of order-group", certainty="possible", severity="warning"),
                judged(DOUBLE, A, undecidable="renewals print nothing"),
            ),
        ),
        (
            "NOT to be claimed: a lock without quorum",
            (no_finding(PARTIAL, ROLLBACK, STALE, SKIPPED), quiet_after(utc("09:29:32"))),
        ),
    ),
    "locks-strict-consumers": (
        (
            "lockInStrictMode=true, three members in broker-a",
            (
                locks_are(lock_mode="strict"),
                *(
                    held(client, source, 0, 1, 2, 3, since=t("18:44:03"), consumers=consumers, granted=3)
                    for client, consumers in (("consumer-1", "order-group"), ("L1", "lock-probe"))
                    for source in ("broker-a-0", "broker-a-1", "broker-a-2")
                ),
            ),
        ),
        (
            "10:44:13 UTC: broker-a-0 (master, 10.82.1.20) and app-1 are cut",
            (
                acts("1", t("18:44:23"), None),
                master(None, None),
                lasted(98, OVERLAP, {"0", "1"}),
                tells(OVERLAP, "the name servers ns-1, ns-2 had lost it"),
            ),
        ),
        (
            "L1 loses its locks with the cut",
            tuple(
                held("L2", source, 0, since=t("18:45:14"), consumers="lock-probe", start_cause="taken_expired")
                for source in ("broker-a-1", "broker-a-2")
            ),
        ),
        (
            "consumer-1 believes that it holds broker-a 0 to 3 until 10:44:33 UTC",
            tuple(
                held("consumer-1", source, 0, 1, 2, 3, since=t("18:45:44"), start_cause="taken_expired")
                for source in ("broker-a-1", "broker-a-2")
            ),
        ),
        (
            "broker-b: consumer-1 cannot renew there",
            (
                held("consumer-2", "broker-b-0", 0, 1, 2, 3, since=t("18:45:04"), start_cause="taken_expired"),
                no_finding(DOUBLE),
                tells("LOCK_USED_AFTER_EXPIRY", "@consumer-1", "@consumer-2", group=B, severity="info"),
            ),
        ),
        ("After the heal late commits of consumer-1", (no_finding(ROLLBACK, STALE),)),
        ("NOT to be claimed: LOCK_DOUBLE_HOLD, LOCK_WITHOUT_QUORUM.", (no_finding(DOUBLE, PARTIAL),)),
    ),
    "locks-strict-cut": (
        ("lockInStrictMode=true, totalReplicas=3", (locks_are(lock_mode="strict", needed=2),)),
        (
            "09:34:23 UTC: broker-a-0 (master) and host app-1 are cut",
            (acts("1", t("17:34:38"), t("17:36:16")), master(None, None), lasted(98, OVERLAP, {"0", "1"})),
        ),
        (
            "Group lock-probe, queues 0 to 3: broker-a-0 writes LOCK_NEW for L1",
            (
                tells(PARTIAL, "@L1", "queues 0, 1, 2, 3 of lock-probe", "10.82.2.21:10911, 10.82.2.22:10911"),
                held("L1", "broker-a-0", 0, 1, 2, 3, since=t("17:34:26"), consumers="lock-probe", granted=1),
                *(
                    held("L2", source, 0, 1, 2, 3, since=t("17:34:56"), consumers="lock-probe", granted=2)
                    for source in ("broker-a-1", "broker-a-2")
                ),
            ),
        ),
        ("So there is NO double hold", (no_finding(DOUBLE),)),
        (
            "17:36:03: unlock of L2 at broker-a-1 and broker-a-2",
            tuple(
                held(client, source, 0, 1, 2, 3, since=t(since), until=until, consumers="lock-probe")
                for source in ("broker-a-1", "broker-a-2")
                for client, since, until in (("L2", "17:34:56", t("17:36:03")), ("L1", "17:36:08", None))
            ),
        ),
        ("NOT to be claimed: LOCK_DOUBLE_HOLD, LOCK_WITHOUT_QUORUM for L2.", (never_tells(PARTIAL, "@L2"),)),
    ),
    "no-fault-slow-start": (
        (
            "broker-a-0 (10.82.2.20) and broker-b-0 (10.82.2.28) are masters",
            (
                master(utc("09:51:12"), None),
                master(None, None, group=B),  # by its own log a few seconds after broker-a
                nobody_acts(A),
                nobody_acts(B),
                no_finding(DOUBLE, PARTIAL, ROLLBACK, STALE, SKIPPED, OVERLAP),
            ),
        ),
        (
            "broker-a-1 and broker-a-2 are in pre-online at the end",
            (
                never("broker-a-1", "leader", "acting_leader", "follower"),
                never("broker-a-2", "leader", "acting_leader", "follower"),
            ),
        ),
        ("At most informative findings: slow start, retries.", (no_finding(above="info"),)),
    ),
    "preonline-never-ends": (
        (
            "broker-a-0 (10.82.2.20) is master from 18:10:17",
            (master(t("18:10:17"), t("18:13:19"), KILLED), acts("1", t("18:13:20"), None), only_first_slave_acts()),
        ),
        (
            "broker-a-0 runs again from 18:14:2x but stays in pre-online",
            (
                tells("PRE_ONLINE_STUCK", "0 (broker-a-0)", "PRE_REVERSE_ERR", severity="warning", certainty="proven"),
                serves("leader", "0", t("18:10:17"), t("18:13:19"), A, KILLED),
            ),
        ),
        ("So: one master role for broker-a-0", (no_finding(ROLLBACK, STALE, OVERLAP),)),
        ("NOT to be claimed: PRE_ONLINE_SKIPPED", (no_finding(SKIPPED), acts("1", t("18:13:20"), None))),
    ),
    "skip-preonline-consumed-twice": (
        (
            "broker-a: master 0 (10.82.1.20) from 18:36:37",
            failover("18:36:37", "18:37:48", "18:37:49", "18:38:44", "18:38:45"),
        ),
        (
            "PRE_ONLINE_SKIPPED: broker-a-0 is started at 10:38:27 UTC",
            (finding(SKIPPED, since=t("18:38:44"), severity="warning", certainty="definite", nodes={"0", "1"}),),
        ),
        (
            "METADATA_ROLLBACK, consumer offsets of broker-a, billing-group",
            (
                rolled_back(
                    "billing-group", "queue 0: 107 to 67", "queue 3: 106 to 67", severity="warning", repeated=159
                ),
                counters("1", "consumer_offset", 194, 200, group=A),
                counters("0", "consumer_offset", 189, group=A),
            ),
        ),
        ("Messages read twice (clients/consumer-3.log)", DELIVERIES),
        (
            "order-group: rolled back as well",
            (rolled_back("order-group", "consumers had committed their offsets again", severity="info", repeated=184),),
        ),
        ("METADATA_ROLLBACK of configuration: topic LateTopic", late_names("dropped what the new one lacks")),
        (
            "With the same copy (18:39:44) the offsets of broker-a-1 go on",
            (counters("1", "consumer_offset", 304, group=A),),
        ),
        ("Smaller rollback by the kill itself", MEMORY),
        ("NOT to be claimed: double hold, split brain", (no_finding(DOUBLE), ONE_MASTER_AT_A_TIME, *late_names())),
    ),
    "skip-preonline-no-repeat": (
        (
            "broker-a: master 0 (10.82.1.20) from 18:27:11",
            (
                master(t("18:27:11"), t("18:28:22"), KILLED),
                acts("1", t("18:28:22"), t("18:29:15")),
                only_first_slave_acts(),
            ),
        ),
        (
            "PRE_ONLINE_SKIPPED: broker-a-0 is started at 10:29:00 UTC",
            (finding(SKIPPED, since=t("18:29:04"), severity="warning", nodes={"0", "1"}),),
        ),
        (
            "METADATA_ROLLBACK of consumer offsets of broker-a (size)",
            (
                rolled_back("billing-group", "queue 3: 101 to 63", severity="warning", repeated=152),
                rolled_back(
                    "order-group", "queue 0: 111 to 62", "queue 3: 110 to 62", severity="warning", repeated=195
                ),
            ),
        ),
        (
            "By counters alone the returned master is NOT behind",
            (counters("0", "consumer_offset", 185, group=A), counters("1", "consumer_offset", 182, 185, group=A)),
        ),
        ("No message is read twice because of it", DELIVERIES),
        ("Configuration at risk: topic LateTopic", late_names("drops what the new one lacks")),
        ("NOT to be claimed: two masters for 11 s", (ONE_MASTER_AT_A_TIME,)),
    ),
    "zombie-master-pause": (
        (
            "broker-a: broker-a-0 (10.82.1.20) is master from 18:40:17",
            (
                master(t("18:40:17"), None),
                never("broker-a-0", "down"),
                log_gap(t("18:41:30"), t("18:42:04"), "0"),
            ),
        ),
        (
            "Both name servers let it expire at 18:41:43",
            (acts("1", t("18:41:44"), t("18:42:06")), PERMISSION, only_first_slave_acts()),
        ),
        (
            "Two masters of broker-a in the logs from 18:41:44",
            (finding(OVERLAP, since=t("18:41:44"), until=t("18:42:06"), severity="info"), ONE_MASTER_AT_A_TIME),
        ),
        ("No pre-online, no reverse sync at the return", (no_finding(SKIPPED, STALE),)),
        (
            "METADATA_ROLLBACK of consumer offsets of broker-a: billing-group",
            (
                rolled_back(
                    "billing-group", "queue 0: 103 to 79", "it had never stopped", severity="warning", repeated=96
                ),
                counters("1", "consumer_offset", 181, group=A),
                counters("0", "consumer_offset", 205, group=A),
            ),
        ),
        ("billing-group reads broker-a offsets 79 to 99", DELIVERIES),
        ("broker-a-1 then copies the old master's offsets", (counters("1", "consumer_offset", 185, 255, group=A),)),
        ("order-group: consumer-1 lives and commits", (never_tells(ROLLBACK, "order-group"),)),
        (
            "Locks: consumer-1 has broker-a 0 to 3 at broker-a-0",
            (
                held("consumer-1", "broker-a-0", 0, 1, 2, 3, since=t("18:40:24")),
                held("consumer-1", "broker-a-1", 0, 1, 2, 3, since=t("18:41:54")),
                no_finding(DOUBLE),
            ),
        ),
        (
            "NOT to be claimed: an election, a restart of broker-a-0",
            (never("broker-a-0", "down"), no_finding(SKIPPED), never_tells(ROLLBACK, "topic")),
        ),
    ),
}
