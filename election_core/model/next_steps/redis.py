"""What to do about findings in Redis and Valkey, under sentinels and in a cluster."""

from functools import partial

from election_replay.election_core.model.catalogue.rule import RuleId
from election_replay.election_core.model.next_steps import commands as run
from election_replay.election_core.model.next_steps.steps import CUT_OFF, DIED, REDIS, Check, NextSteps

SENTINEL = "Redis documentation, High availability with Redis Sentinel; src/sentinel.c"
REPLICATION = "Redis documentation, Redis replication; src/replication.c"
CLUSTER = "Redis Cluster specification; src/cluster_legacy.c"

_ROLE = Check("Whether each server is master or replica, and whose", run.REDIS_ROLE)
_REPLICATION = Check("Histories and offsets of each server: which one has more of what", run.REDIS_REPLICATION)
_MASTER = Check("Which master each sentinel names, in which epoch, and how it is called", run.REDIS_MASTER)
_SENTINELS = Check("Which sentinels each of them knows: dead ones raise the majority", run.REDIS_SENTINELS)
_QUORUM = Check("Whether enough sentinels are reachable to agree and to elect", run.REDIS_QUORUM)
_CONF = Check("Epochs and votes that each sentinel keeps on its disk", run.REDIS_CONF)
_NODES = Check("Which node has which slots in which epoch, as each one sees it", run.REDIS_NODES)
_STATE = Check("Whether each node answers clients, and its current epoch", run.REDIS_CLUSTER)
_SAVES = Check("Whether the server keeps its data over a restart", run.REDIS_PERSISTENCE)
_BOUND = Check("Whether a master without replicas refuses writes: that bounds the loss", run.REDIS_MIN_REPLICAS)
_LINES = Check("What each server and sentinel logged around that moment, in one time", run.AROUND)
_NET = Check("Whether servers and sentinels reach each other", run.REACH)
_PROCESS = Check("Whether the process was killed, and why", run.OOM)

of = partial(NextSteps, system=REDIS)

REDIS_STEPS: tuple[NextSteps, ...] = (
    of(
        rule=RuleId.SPLIT_BRAIN_SAME_TERM,
        checks=(_MASTER, _CONF, _NODES),
        do_not="Do not start another failover before it is clear who has the newer data: the next one takes its own.",
        source=SENTINEL,
    ),
    of(
        rule=RuleId.SPLIT_BRAIN_OVERLAP,
        checks=(_ROLE, _REPLICATION, _BOUND),
        do_not="Do not let the former master follow the new one where it has not done so yet: its data are replaced, "
        "and with them the writes that only it took.",
        source=REPLICATION,
    ),
    of(
        rule=RuleId.DOUBLE_VOTE,
        checks=(_CONF, _SENTINELS, _LINES),
        do_not="Do not copy sentinel.conf or nodes.conf from one machine to another: it holds the id and the votes.",
        source=SENTINEL,
    ),
    of(
        rule=RuleId.TERM_REGRESSION,
        checks=(_CONF, _MASTER, _LINES),
        do_not="Do not restore an older sentinel.conf: epochs and votes in it are not to be forgotten.",
        source=SENTINEL,
    ),
    of(
        rule=RuleId.LEADER_WITHOUT_QUORUM,
        checks=(_SENTINELS, _QUORUM, _CONF),
        do_not="Do not reset one sentinel alone: sentinels that know fewer others have a smaller majority.",
        source=SENTINEL,
    ),
    of(
        rule=RuleId.LEADERLESS,
        checks=(_QUORUM, _MASTER, _STATE),
        do_not="Do not promote a replica by hand while sentinels work: they make it a replica again.",
        source=SENTINEL,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=DIED,
        checks=(_PROCESS, _SAVES, _QUORUM),
        do_not="Do not start a master again at once that keeps no data: empty, it empties its replicas.",
        source=REPLICATION,
    ),
    of(
        rule=RuleId.LEADERLESS,
        cause=CUT_OFF,
        checks=(_NET, _BOUND, _STATE),
        do_not="Do not run CLUSTER FAILOVER TAKEOVER while the other side may still take writes: it asks nobody.",
        source=CLUSTER,
    ),
    of(
        rule=RuleId.ELECTION_STORM,
        checks=(_MASTER, _NET, _LINES),
        do_not="Do not make down-after-milliseconds smaller: each failover loses what was not copied yet.",
        source=SENTINEL,
    ),
    of(
        rule=RuleId.POSSIBLE_DATA_LOSS,
        checks=(_REPLICATION, _SAVES, _BOUND),
        do_not="Do not delete the former master's dump.rdb or append-only file: they may hold what was thrown away.",
        source=REPLICATION,
    ),
)
