"""What to do about findings in ZooKeeper."""

from functools import partial

from election_replay.election_core.model.catalogue.rule import RuleId
from election_replay.election_core.model.next_steps import commands as run
from election_replay.election_core.model.next_steps.steps import (
    CUT_OFF,
    DIED,
    FROZEN,
    MEMBERS_DIED,
    REACHABLE,
    ZOOKEEPER,
    Check,
    NextSteps,
)

GUIDE = "ZooKeeper administrator's guide (commands, configuration parameters)"
ZAB = "ZooKeeper FastLeaderElection, Leader; Zab (Junqueira, Reed, Serafini 2011)"

_STATUS = Check("Whether each server leads or follows", run.ZK_STATUS)
_SERVER = Check("Mode and last zxid of each server", run.ZK_SERVER)
_MONITOR = Check("Followers in step, outstanding requests, latencies", run.ZK_MONITOR)
_CONFIG = Check("Which servers the ensemble has, by its own record", run.ZK_CONFIG)
_CONF = Check("tickTime, initLimit, syncLimit and server id as the server runs with them", run.ZK_CONF)
_LOG = Check("Which transactions the server's log holds (on a copy)", run.ZK_LOG)
_SNAPSHOT = Check("Which zxid the server's snapshot ends at (on a copy)", run.ZK_SNAPSHOT)
_LINES = Check("What each server logged around that moment, in one time", run.AROUND)
_DISK = Check("Whether the disk is slow: a slow fsync makes servers late", run.DISK)
_NET = Check("Whether the servers reach each other on the quorum and election ports", run.REACH)
_MYID = Check("Which id each machine has", "cat DATA_DIR/myid")

of = partial(NextSteps, system=ZOOKEEPER)

ZOOKEEPER_STEPS: tuple[NextSteps, ...] = (
    of(
        rule=RuleId.SPLIT_BRAIN_SAME_TERM,
        checks=(_CONFIG, _MYID, _LOG),
        do_not="Do not delete version-2 of either server: the logs are the only record of what each took.",
        source=ZAB,
    ),
    of(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        checks=(_SERVER, _LINES, _NET),
        do_not="Do not take reads at the former leader for the truth: it may not know yet that it was replaced.",
        source=ZAB,
    ),
    of(
        rule=RuleId.LEADER_WITHOUT_QUORUM,
        checks=(_CONFIG, _CONF, _SERVER),
        do_not="Do not change the list of servers on some machines only: lists that differ can make two majorities.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.TERM_REGRESSION,
        checks=(
            _MYID,
            Check(
                "Which epochs the server keeps", "cat DATA_DIR/version-2/acceptedEpoch DATA_DIR/version-2/currentEpoch"
            ),
            _LOG,
        ),
        do_not="Do not empty a server's data directory while another server is down: it then votes without its past.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.ZAB_WRONG_WINNER,
        checks=(_SERVER, _LOG, _SNAPSHOT),
        do_not="Do not restart the server with the highest zxid: it cuts off what the leader lacks.",
        source=ZAB,
    ),
    of(
        rule=RuleId.COMMITTED_ENTRY_LOST,
        checks=(_LOG, _SNAPSHOT, Check("Whether servers sync what they acknowledge (forceSync)", run.ZK_CONF)),
        do_not="Do not start a server that still holds the lost entries before its data directory is copied: it would "
        "cut them off.",
        source=ZAB,
    ),
    of(
        rule=RuleId.STORE_WENT_BACK,
        checks=(_LOG, _SNAPSHOT, _SERVER),
        do_not="Do not start it while another server is down: the two may elect each other without what is lost.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.LEADERLESS,
        checks=(_STATUS, _SERVER, _LINES),
        do_not="Do not restart all servers at once: that ends the election that is under way, and begins another one.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=DIED,
        checks=(Check("Whether the kernel killed the process, for memory say", run.OOM), _STATUS, _MONITOR),
        do_not="Do not start the server with an empty data directory if it can come back with its own.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=FROZEN,
        checks=(Check("How long the collector stopped the process", run.PAUSES), _DISK, _MONITOR),
        do_not="Do not raise tickTime to hide pauses: sessions then live longer after their clients died.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=CUT_OFF,
        checks=(_NET, _STATUS, _CONF),
        do_not="Do not start a new ensemble on the smaller side of a cut.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=MEMBERS_DIED,
        checks=(_STATUS, Check("Whether the kernel killed a process, for memory say", run.OOM), _CONFIG),
        do_not="Do not make the ensemble smaller while the servers that ended can come back with their data.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=REACHABLE,
        checks=(_LINES, _MONITOR, _DISK),
        do_not="Do not look for a dead machine: the old leader was alive and lost its followers for another reason.",
        source=GUIDE,
    ),
    of(
        rule=RuleId.ELECTION_STORM,
        checks=(_MONITOR, _DISK, _CONF),
        do_not="Do not restart servers one after the other to calm it: each restart is one more election.",
        source=GUIDE,
    ),
)
