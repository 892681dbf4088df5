"""Every time that a rule uses, in one table, and the values that a real group has instead.

A time is a **time-out** of the replayed system, which clusters change, or a **tolerance** of a rule: how far apart two
lines about one event may be. A time-out names the settings that change it. The :class:`Timing` of a group holds its
values: the setting that its logs print, else the value in the pipeline's settings, else the default here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, unique
from fnmatch import fnmatchcase
from itertools import chain, zip_longest
from math import prod

US_PER_MS = 1_000
"""Microseconds in a millisecond."""
MS_PER_SECOND = 1_000
SECOND = MS_PER_SECOND * US_PER_MS
"""Microseconds in a second. The accuracy of a line's time is a column of its event (``time_resolution_ms``)."""

PRINTED, CONFIGURED, DEFAULT = "printed", "configured", "default"
"""Where a time comes from: the logs' own words, the settings of the pipeline, the table."""

OWN_CHOICE = "this software"
"""The source of a tolerance: no upstream code prescribes it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table: ``ms`` by default; ``source`` is the upstream class, or :data:`OWN_CHOICE`. A log that
    prints one of ``settings`` gives the time itself, as their product (``tickTime`` times ``syncLimit``); a setting
    that is not printed has its value in ``unprinted``."""

    ms: int
    meaning: str
    source: str = OWN_CHOICE
    settings: tuple[str, ...] = ()
    unprinted: tuple[int, ...] = ()


@unique
class Timeout(Enum):
    """The table; ``docs/timing.md`` is generated from it."""

    # -- the log of one process ----------------------------------------------------------------------------------
    SILENCE = Entry(
        10_000,
        "A hole of at least this long in all logs of a source is a silence. The shortest periodic lines come every 3 "
        "to 5 s (DLedger status, scans), and the landing keeps a sign of life for every 10 s.",
    )
    STALL = Entry(
        5_000,
        "A hole of at least this long in all logs of a process that prints its status every 3 s: it stood still for "
        "what is more than that.",
    )
    LATE = Entry(
        5_000,
        "A process that was started so long before the last line of a night, by a line that comes with a later night, "
        "may have begun in a hole that was given up. Files of one machine are seldom read at the very same moment.",
    )
    REORDERED = Entry(
        3_000,
        "Threads hand their lines to one appender: lines of whole seconds may stand this far out of order.",
    )
    STEPPED_FOR = Entry(
        2_000,
        "A clock was put back where lines go on from the earlier time for so long, beyond what is only out of order.",
    )
    ONE_STEP = Entry(
        60_000,
        "Several files of a machine show one step of its clock; their lines around it are no further apart than this.",
    )
    SEGMENT_GAP = Entry(2_000, "Signs of life of a process that are closer together than this are kept as one span.")
    ONE_START = Entry(600_000, "Lines of one start of a process are no further apart than this.")
    BEFORE_MARKER = Entry(15_000, "A process writes for at most this long before the first line that marks its start.")
    BEFORE_FIRST_LINE = Entry(1_000, "The same where the line is one of the first that its program ever writes.")
    DUPLICATE_START_LINE = Entry(
        1_000,
        "A later line of a start that comes again so soon is no second start.",
        "RocketMQ 5.0.0 DefaultMessageStore#load",
    )
    SETTLES = Entry(5_000, "Beyond a late start: until nothing of a night's holes can change any more.")
    TABLES_SETTLE = Entry(
        86_400_000,
        "A copy of a broker's metadata that is older than the end of its logs by this, and that no rule looks at, is "
        "given up. A log that comes later than that has its source read from the first event again.",
    )
    STATUS_SETTLES = Entry(
        2_000,
        "Role lines and status lines come from different threads; a status line this soon after a role line may still "
        "show the role before it, also where it bears an earlier time.",
    )
    # -- any group -----------------------------------------------------------------------------------------------
    SILENT_END = Entry(
        15_000,
        "A log that ends at least this long before the logs of its group end tells nothing about its last role: the "
        "process died, was cut off from its disk, or its log was not collected.",
    )
    QUIESCENT_END = Entry(
        300_000,
        "A group in which nothing happened for long is judged as if its logs ended so long after the last thing that "
        "happened, if that makes no difference: then its verdicts stand while its logs only go on.",
    )
    QUIESCENT_END_LATER = Entry(
        600_000,
        "Whether it makes no difference is seen from an end so long after the last thing that happened: no rule waits "
        "for longer, unless a cluster is set so.",
    )
    FROZEN = Entry(
        5_000,
        "A process that still says nothing so long after another leader was elected did not run, or could not be "
        "heard.",
    )
    MIN_REPORTED = Entry(
        1_000,
        "What lasts shorter than this is not told: a time without a leader, a life between two others, a delay.",
    )
    LAST_HEARTBEAT = Entry(
        1_000,
        "The last that others heard of a member may lie so long before the last line of its log: it is a heartbeat.",
    )
    LATE_HEARTBEAT = Entry(
        1_000,
        "Who hears of a leader for so long after it began to follow it again heard more than one late heartbeat.",
    )
    MAX_INFO_GAP = Entry(2_000, "A time without leader that may be shorter than this is worth knowing, not an alarm.")
    JOIN_ROUND = Entry(10_000, "A member that follows for less than this, time after time, cannot join.")
    LONG_OUTAGE = Entry(30_000, "No writes for so long are an alarm, whoever led before and whatever was planned.")
    FIRST_ELECTION = Entry(
        60_000,
        "Members that boot look for a leader until enough of them are there. A group that has none after so long, and "
        "to the end of its logs, is out of service.",
    )
    GROUP_SHUTDOWN = Entry(60_000, "Members that stop within this time of their leader were shut down together.")
    STORM_WINDOW = Entry(600_000, "Three unplanned disturbances within this time make a storm.")
    ONE_DISTURBANCE = Entry(
        10_000,
        "Elections within this time of the first are one disturbance: retries of one forced election, a lost race.",
    )
    FAR_FROM_A_FINDING = Entry(600_000, "A line so far from a finding proves it only if it is of one of its terms.")
    ROUNDED = Entry(1_000, "Times in words are rounded: what they add up to may differ by so much.")
    BLURRED_END = Entry(2_000, "An end that is known less exactly than this is blurred: nothing tells when it was.")
    CLOCK_WANDER = Entry(
        50,
        "How far two clocks may part between a message that compares them and the moments that are judged by it. A "
        "clock that is kept within its bound is slewed back and forth, a free one gains or loses up to 100 us a "
        "second. Whole seconds blur more than that.",
    )
    CLOCK_SLACK = Entry(
        1_000,
        "A line of another file may be written so long after the last line before a step, or before the first after.",
    )
    CLOCK_EXACT = Entry(
        1, "No other line is of the same moment where stamps are as fine as this: a step lies strictly between two."
    )
    CLOCKS_AGREE = Entry(
        3_000,
        "Clocks that messages tie together as closely as this, beside their bounds, bear each other out: whole seconds "
        "and a heartbeat lie between.",
    )
    CLOCK_KNOWN = Entry(
        10_000,
        "When something was is known where the offset of its clock is known to within so much: whoever reads a time by "
        "it finds the place in other logs.",
    )
    MAX_ELECTION_TIMEOUT = Entry(
        15_000,
        "Nobody lets a leader be silent for longer without a suspicion; the default of Redis Cluster is the longest "
        "known.",
        "redis.conf cluster-node-timeout",
    )
    CLOSE_ON_ITS_WAY = Entry(
        200, "What the system of a killed process closes is closed at the other side in this time."
    )
    ON_ITS_WAY = Entry(3_000, "A message between members that arrives at all arrives in this time.")
    # -- RocketMQ DLedger ----------------------------------------------------------------------------------------
    DLEDGER_HEARTBEAT = Entry(
        2_000,
        "How often a leader sends heartbeats. RocketMQ has no setting for it.",
        "DLedgerConfig.heartBeatTimeIntervalMs",
    )
    DLEDGER_ROUND = Entry(
        2_000,
        "A round of votes waits 2 to 3 s, or until enough is known.",
        "DLedgerLeaderElector.maintainAsCandidate (voteLatch.await)",
    )
    DLEDGER_KEEPS_ROLE = Entry(
        7_000,
        "A leader without quorum gives up after 3 intervals of 2 s, tested at the end of a round; a second for the "
        "clock.",
        "DLedgerLeaderElector.sendHeartbeats",
    )
    DLEDGER_MUST_BE_GONE = Entry(
        12_000,
        "A leader without quorum that still leads after this has broken the rule: two leases, since rounds and lines "
        "take their time.",
        "DLedgerLeaderElector.sendHeartbeats",
    )
    DLEDGER_TRANSFER = Entry(
        10_000,
        "A transfer of leadership that takes longer has failed: the transferee gives up after seconds.",
        "DLedgerLeaderElector.handleTakeLeadership",
    )
    DLEDGER_HEARD = Entry(
        5_000,
        "A larger term is taken at once, or after the round of votes that is open; later lines may be of another life.",
        "DLedgerLeaderElector.changeRoleToCandidate",
    )
    DLEDGER_AT_ONCE = Entry(
        2_000,
        "A leader that was elected so soon after it had raised its term cannot have won that term before: it would "
        "have lost its quorum first, which takes more than a lease, or a failed round.",
        "DLedgerLeaderElector.maintainAsCandidate",
    )
    DLEDGER_AGREES = Entry(
        1_000,
        "A line and the state that it prints were noted within this time.",
        "DLedgerLeaderElector.maintainAsFollower",
    )
    DLEDGER_STATUS = Entry(
        3_000,
        "How often a member prints the length of its log, so that a leader's may follow the cut.",
        "DLedgerEntryPusher.QuorumAckChecker",
    )
    DLEDGER_ONE_RECOVERY = Entry(
        60_000,
        "The end of the log that a starting broker prints so long before it cuts its queues is that of the same start.",
    )
    UNKNOWN_ZONE = Entry(
        900_000,
        "A printed local time of an unknown zone is right modulo a quarter of an hour: zones differ by whole ones.",
        "IANA time zones",
    )
    UNAMBIGUOUS = Entry(
        600_000,
        "Within this time a printed local time of an unknown zone means one moment only.",
        "IANA time zones",
    )
    # -- etcd ----------------------------------------------------------------------------------------------------
    ETCD_HEARTBEAT = Entry(100, "How often a leader sends heartbeats.", "etcd --heartbeat-interval")
    ETCD_ELECTION = Entry(
        1_000,
        "A follower campaigns after one to two of these without leader; a leader that reached no majority for one "
        "gives up (CheckQuorum).",
        "etcd --election-timeout; raft.Config.ElectionTick, CheckQuorum",
        ("election-timeout",),
    )
    ETCD_READ_TIMEOUT = Entry(
        5_000,
        "A connection to a peer is given up at the latest after this silence. One that the other end closed may have "
        "been silent for as long: the last packet may get lost and come late.",
        "rafthttp ConnReadTimeout",
    )
    ETCD_AT_ONCE = Entry(
        1_000,
        "A member that heard of a larger term says in its next line, this soon, that it follows in it.",
        "raft.becomeFollower",
    )
    REDIS_AT_ONCE = Entry(
        50, "Lines of a Redis server on one change of its role come this soon after each other.", "replication.c"
    )
    REDIS_MANUAL = Entry(
        6_000,
        "A manual failover of a Redis cluster takes at most so long: its time-out of 5 s, and an election.",
        "cluster_legacy.c CLUSTER_MF_TIMEOUT",
    )
    REDIS_PING = Entry(
        11_000,
        "A master sends its replicas a PING each 10 s (repl-ping-replica-period): it lived so long before a replica "
        "lost it at most.",
        "replication.c replicationCron",
    )
    REDIS_NEW_HISTORY = Entry(
        1_000,
        "A replica that becomes master prints at once where its new history begins, so close to it.",
        "replication.c shiftReplicationId",
    )
    REDIS_PROMOTION = Entry(
        60_000,
        "A server that is told to become master is promoted, by the sentinels' words, this soon after.",
        "sentinel.c sentinelRefreshInstanceInfo",
    )
    REDIS_DOWN_AFTER = Entry(
        30_000,
        "A sentinel takes an instance for down after this time without a valid answer.",
        "sentinel.c SENTINEL_DEFAULT_DOWN_AFTER",
        settings=("down-after-milliseconds",),
    )
    REDIS_NODE_TIMEOUT = Entry(
        15_000,
        "A node of a Redis cluster takes another one for failed after this time without an answer.",
        "cluster_legacy.c CLUSTER_DEFAULT_NODE_TIMEOUT",
        settings=("cluster-node-timeout",),
    )
    REDIS_COPIES = Entry(
        600_000,
        "Two copies of one master's data this close together hold about the same keys, if clients delete few.",
        "a choice: long enough for a restart and its synchronisation",
    )
    REDIS_TOLD = Entry(
        20_000,
        "Sentinels tell an instance that wrongly calls itself master to follow 8 s after they first hear it say so, "
        "and they ask it each 10 s: so long two masters are no fault of the cluster, though what the former one takes "
        "is lost.",
        "sentinel.c sentinelRefreshInstanceInfo",
    )
    ETCD_DRIFT = Entry(
        1_000, "A member prints how far its clock is ahead of a peer's where it is more.", "rafthttp/probing_status.go"
    )
    ETCD_ONE_START = Entry(5_000, "A member says its first role just before it says with what it starts.")
    # -- Kafka ---------------------------------------------------------------------------------------------------
    KRAFT_FETCH = Entry(
        2_000,
        "A follower that fetched nothing for so long stands for election; a leader that no majority fetched from for "
        "1.5 of these resigns (CheckQuorum).",
        "controller.quorum.fetch.timeout.ms; LeaderState",
        ("controller.quorum.fetch.timeout.ms",),
    )
    KRAFT_FETCH_WAIT = Entry(
        500,
        "A leader without anything new answers a fetch only after so long: until then its silence shows nothing.",
        "KafkaRaftClient MAX_FETCH_WAIT_MS",
    )
    KRAFT_VOID = Entry(
        2_000,
        "What a controller decided so shortly before it learned that it is active no more was never recorded.",
        "QuorumController.handleEventException",
    )
    KAFKA_SESSION = Entry(
        9_000,
        "A broker whose heartbeats did not come for so long is fenced: its partitions get other leaders.",
        "broker.session.timeout.ms",
        ("broker.session.timeout.ms",),
    )
    # -- ZooKeeper -----------------------------------------------------------------------------------------------
    ZK_TICK = Entry(2_000, "The unit of all other limits.", "zoo.cfg tickTime", ("tickTime",))
    ZK_SYNC_LIMIT = Entry(
        10_000,
        "How long a learner and its leader stand each other's silence; a leader that hears no quorum for this long "
        "gives up.",
        "zoo.cfg tickTime x syncLimit",
        ("tickTime", "syncLimit"),
        (2_000, 5),
    )
    ZK_INIT_LIMIT = Entry(
        20_000,
        "How long discovery and synchronisation with a new leader may take.",
        "zoo.cfg tickTime x initLimit",
        ("tickTime", "initLimit"),
        (2_000, 10),
    )
    ZK_FOLLOWS = Entry(10_000, "Beyond initLimit: a server that follows so long follows an established leader.")
    ZK_BROKEN_CONNECTION = Entry(
        1_000,
        "A server prints a connection that the other side closed at most so long after it heard of that.",
        "QuorumCnxManager.RecvWorker",
    )
    JVM_PAUSE_LOOK = Entry(500, "A JVM looks so often whether it stood still.", "JvmPauseMonitor sleepTimeMs")
    ZK_HEARD_BEFORE = Entry(2_000, "A learner notices so long before its line that it heard its leader no more.")
    ROLLING_RESTART = Entry(
        600_000, "Servers that were restarted within this time of the leader may have been restarted in turn."
    )
    # -- RocketMQ controller mode --------------------------------------------------------------------------------
    CONTROLLER_HEARTBEAT = Entry(
        1_000,
        "How often a broker sends a heartbeat to the controllers.",
        "BrokerConfig.brokerHeartbeatInterval",
        ("brokerHeartbeatInterval",),
    )
    BROKER_ROLE_CHANGE = Entry(
        60_000, "A broker has changed its role, and its store says so, within this time: 19 s in real clusters."
    )
    CONTROLLER_BROKER_SILENT = Entry(
        10_000,
        "A broker that the controllers have not heard for this long is inactive. The broker sends the limit with its "
        "heartbeats.",
        "BrokerConfig.controllerHeartBeatTimeoutMills",
        ("controllerHeartBeatTimeoutMills",),
    )
    CONTROLLER_SCAN = Entry(
        5_000,
        "How often the controllers look for silent brokers.",
        "ControllerConfig.scanNotActiveBrokerInterval",
        ("scanNotActiveBrokerInterval",),
    )
    CONTROLLER_INACTIVE_MASTER_SCAN = Entry(
        5_000,
        "How often the controllers look for broker sets whose master is not active.",
        "ControllerConfig.scanInactiveMasterInterval",
        ("scanInactiveMasterInterval",),
    )
    CONTROLLER_POLL = Entry(
        5_000,
        "How often a broker asks the controllers who is master; a broker that was not notified learns of a new master "
        "so late.",
        "BrokerConfig.syncBrokerMetadataPeriod",
        ("syncBrokerMetadataPeriod",),
    )
    CONTROLLER_METADATA = Entry(
        10_000,
        "How often a broker asks which controller leads.",
        "BrokerConfig.syncControllerMetadataPeriod",
        ("syncControllerMetadataPeriod",),
    )
    CONTROLLER_CHECK_SET = Entry(
        5_000,
        "How often a master looks for members of its SyncStateSet that are behind.",
        "BrokerConfig.checkSyncStateSetPeriod",
        ("checkSyncStateSetPeriod",),
    )
    CONTROLLER_NOT_CAUGHT_UP = Entry(
        15_000,
        "Who is behind for longer leaves the SyncStateSet.",
        "MessageStoreConfig.haMaxTimeSlaveNotCatchup",
        ("haMaxTimeSlaveNotCatchup",),
    )
    CONTROLLER_ACK = Entry(
        3_000,
        "How long a producer waits for the acknowledgements of the slaves.",
        "MessageStoreConfig.slaveTimeout",
        ("slaveTimeout",),
    )
    CONTROLLER_LEARNS = Entry(
        3_000,
        "Beyond a poll: a call, its time-out and the second of a line, until a master that was replaced knows it.",
        "BrokerOuterAPI (3 s)",
    )
    CONTROLLER_IN_A_ROW = Entry(
        15_000,
        "Beyond a poll: a master tries again at every poll and at every change of a connection; refusals this close "
        "together are one attempt.",
        "ReplicasManager.schedulingCheckSyncStateSet",
    )
    CONTROLLER_LOSS_IS_CAUSE = Entry(
        15_000,
        "Beyond a heartbeat time-out and a scan: three tries of an election later, the loss of a master is not its "
        "cause any more.",
        "ControllerConfig.electMasterMaxRetryCount",
    )
    CONTROLLERS_LOST = Entry(
        15_000,
        "A broker that is cut off from its controllers loses one after the other within this time: it tries each of "
        "them every 2 s, and an attempt to connect takes 3 s.",
        "ReplicasManager.scanAvailableControllerAddresses; BrokerConfig.controllerHeartBeatTimeoutMills",
    )
    CONTROLLER_PRODUCERS_COME = Entry(
        30_000,
        "Producers ask the name servers who is master, and tell the master that they are there, at least so often; one "
        "that comes later had nothing to do with the change of the master.",
        "ClientConfig.pollNameServerInterval, heartbeatBrokerInterval",
    )
    CONTROLLER_STOPS = Entry(
        1_000,
        "A master that is stopped serves no more so long after the first line of its stop.",
        "BrokerController.shutdown",
    )
    CONTROLLER_SAME_MOMENT = Entry(2_000, "Ends of roles at two brokers that are this close are one change.")
    CONTROLLER_FEW_COPIES = Entry(
        60_000,
        "A slave that lives and copies joins the SyncStateSet within some seconds; a set that is smaller than the "
        "living members for so long leaves what is acknowledged with fewer copies than there could be.",
    )
    CONTROLLER_ONE_CHECK = Entry(1_000, "Lines of one check of a SyncStateSet, on one thread, are this close together.")
    IDENTITY_FOR_GOOD = Entry(
        10_000,
        "Five tries of a registration take some seconds and are made again at every poll: refusals for this long are "
        "not the start of a set.",
        "ReplicasManager.startBasicService",
    )
    # -- RocketMQ acting masters ---------------------------------------------------------------------------------
    NAME_SERVER_BROKER_SILENT = Entry(
        10_000,
        "After so much silence a name server takes a broker for dead. The broker sends the limit with its "
        "registration.",
        "BrokerConfig.brokerNotActiveTimeoutMillis",
        ("brokerNotActiveTimeoutMillis",),
    )
    NAME_SERVER_SCAN = Entry(
        5_000,
        "How often a name server looks for silent brokers.",
        "NamesrvConfig.scanNotActiveBrokerInterval",
        ("scanNotActiveBrokerInterval",),
    )
    MEMBER_GROUP_POLL = Entry(
        1_000,
        "How often a broker asks the name servers which members its set has.",
        "BrokerConfig.syncBrokerMemberGroupPeriod",
        ("syncBrokerMemberGroupPeriod",),
    )
    MEMBER_GROUP_ANSWER = Entry(
        4_000,
        "Beyond a poll: its time-out of three seconds, and the second in which a line is written, until a broker "
        "knows of another smallest id.",
        "BrokerOuterAPI.syncBrokerMemberGroup",
    )
    NAME_SERVER_REGISTERS = Entry(
        30_000,
        "How often a broker registers with the name servers, where nothing changed.",
        "BrokerConfig.registerNameServerPeriod",
        ("registerNameServerPeriod",),
    )
    ONE_REGISTRATION = Entry(5_000, "Permission lines of one registration come together.")
    PRE_ONLINE_STUCK = Entry(
        30_000,
        "Pre-online tries again after a second, and waits 10 s for a connection: three failures over half a minute "
        "are no slow handshake any more.",
        "BrokerPreOnlineService.run, waitForHaHandshakeComplete",
    )
    REGISTERS = Entry(
        60_000,
        'How long after "start service" the others may hear of a returned broker; 11 s were seen on a busy machine.',
    )
    # -- RocketMQ metadata ---------------------------------------------------------------------------------------
    CONSUMER_OFFSET_FLUSH = Entry(
        5_000,
        "How often a broker writes its consumer offsets to their file.",
        "BrokerConfig.flushConsumerOffsetInterval",
        ("flushConsumerOffsetInterval",),
    )
    DELAY_OFFSET_FLUSH = Entry(
        10_000,
        "How often a broker writes its delay offsets to their file.",
        "MessageStoreConfig.flushDelayOffsetInterval",
        ("flushDelayOffsetInterval",),
    )
    FLUSH_TAKES = Entry(1_000, "Beyond an interval of flushes: until the file is written.")
    FIRST_FLUSH = Entry(
        10_000,
        "A broker that starts begins to write its offsets to their files so much later.",
        "BrokerController.initializeBrokerScheduledTasks",
    )
    COPYING = Entry(
        60_000,
        "Copies of metadata files bear the time at which a round of copying began; a file may be read so much later.",
    )
    STILL_OWN_TABLE = Entry(
        15_000,
        "So long after the hand-over the former acting master's table is not yet one that it took from the master.",
        "SlaveSynchronize",
    )
    # -- RocketMQ writes -----------------------------------------------------------------------------------------
    WRITE_EPISODE = Entry(
        10_000,
        "Answers that found no writer any more, and puts that took more than half a second, are one episode as long as "
        "no more than this lies between them.",
    )
    # -- RocketMQ order locks ------------------------------------------------------------------------------------
    LOCK_LIFE = Entry(
        60_000,
        "How long a broker keeps a lock after its last renewal. It is a property of the process "
        "(rocketmq.broker.rebalance.lockMaxLiveTime) that no log prints.",
        "RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME",
    )
    LOCK_CLIENT_LIFE = Entry(
        30_000,
        "How long a client believes in a lock after its last renewal. It is a property of the client "
        "(rocketmq.client.rebalance.lockMaxLiveTime) that no log of a broker prints.",
        "ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME",
    )
    LOCK_PEERS_ANSWER = Entry(
        5_000,
        "Peers are asked with a limit of 1 s each and waited for 2 s in all; a failing connection takes up to 3 s more "
        "until its line is printed.",
        "AdminBrokerProcessor.lockBatchMQ",
    )
    LOCK_ONE_REQUEST = Entry(
        5_000,
        "Entries of one client that begin within this time may be answers to one request: two whole seconds and the "
        "bounds of two clocks included.",
    )
    LOCK_EPISODE = Entry(
        60_000, "Double holds of the same clients at the same brokers that begin this close together are one episode."
    )

    value: Entry

    @property
    def us(self) -> int:
        """Return the default in us."""
        return self.value.ms * US_PER_MS

    @property
    def settable(self) -> bool:
        """Return True when a cluster can have another value."""
        return bool(self.value.settings) or self in _UNPRINTED


_UNPRINTED = frozenset({Timeout.LOCK_LIFE, Timeout.LOCK_CLIENT_LIFE, Timeout.ETCD_HEARTBEAT})
"""Times that a cluster may have changed without any line about it."""

USED_BY: Mapping[str, tuple[Timeout, ...]] = {
    "raft": (Timeout.ETCD_ELECTION, Timeout.ETCD_HEARTBEAT),
    "kraft": (Timeout.KRAFT_FETCH,),
    "partition": (Timeout.KAFKA_SESSION,),
    "zab": (Timeout.ZK_TICK, Timeout.ZK_SYNC_LIMIT, Timeout.ZK_INIT_LIMIT),
    "controller": (
        *(Timeout.CONTROLLER_HEARTBEAT, Timeout.CONTROLLER_BROKER_SILENT, Timeout.CONTROLLER_SCAN),
        *(Timeout.CONTROLLER_INACTIVE_MASTER_SCAN, Timeout.CONTROLLER_POLL, Timeout.CONTROLLER_METADATA),
        *(Timeout.CONTROLLER_CHECK_SET, Timeout.CONTROLLER_NOT_CAUGHT_UP, Timeout.CONTROLLER_ACK),
    ),
    "broker_identity": (Timeout.CONTROLLER_POLL,),
    "acting_master": (
        *(Timeout.NAME_SERVER_BROKER_SILENT, Timeout.NAME_SERVER_SCAN, Timeout.NAME_SERVER_REGISTERS),
        Timeout.MEMBER_GROUP_POLL,
    ),
    "metadata": (Timeout.CONSUMER_OFFSET_FLUSH, Timeout.DELAY_OFFSET_FLUSH),
    "order_lock": (Timeout.LOCK_LIFE, Timeout.LOCK_CLIENT_LIFE),
    "writes": (Timeout.CONTROLLER_ACK,),
    "redis": (Timeout.REDIS_DOWN_AFTER, Timeout.REDIS_NODE_TIMEOUT),
}
"""The configurable time-outs that each protocol uses."""

SETTINGS = frozenset(chain.from_iterable(timeout.value.settings for timeout in Timeout))
"""The names of all settings that change a time."""

SETTABLE = {timeout.name.lower(): timeout for timeout in Timeout if timeout.settable}
"""The configurable time-outs by their names in the pipeline's settings."""

Values = Mapping[str, frozenset[int]]
"""The values of each setting that one source printed, at any of its starts."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one group or one source, with their origin. ``printed`` maps sources to values of settings;
    ``configured`` holds ms from the pipeline's settings. Members may differ, and a member may have changed between two
    starts, so callers choose the safe side: the longest time (:meth:`us`) or the shortest (:meth:`shortest_us`)."""

    printed: Mapping[str, Values] = field(default_factory=dict)
    configured: Mapping[Timeout, int] = field(default_factory=dict)

    def us(self, timeout: Timeout, source: str | None = None) -> int:
        """Return the longest value of the time in the group, or at ``source`` where that prints it; us."""
        return max(self._ms(timeout, source)) * US_PER_MS

    def shortest_us(self, timeout: Timeout, source: str | None = None) -> int:
        """Return the shortest value of the time in the group, or at ``source`` where that prints it; us."""
        return min(self._ms(timeout, source)) * US_PER_MS

    def origin(self, timeout: Timeout) -> str:
        """Return where the time comes from: :data:`PRINTED`, :data:`CONFIGURED` or :data:`DEFAULT`."""
        if any(self._printed(timeout, source) for source in self.printed):
            return PRINTED
        return CONFIGURED if timeout in self.configured else DEFAULT

    def _ms(self, timeout: Timeout, source: str | None) -> frozenset[int]:
        if source is not None and (of_source := self._printed(timeout, source)):
            return of_source
        printed = frozenset(chain.from_iterable(self._printed(timeout, name) for name in self.printed))
        return printed or frozenset({self.configured.get(timeout, timeout.value.ms)})

    def _printed(self, timeout: Timeout, source: str) -> frozenset[int]:
        """Return the values in ms that the source's own settings give; empty where it prints none of them."""
        entry, values = timeout.value, self.printed.get(source, {})
        if not any(name in values for name in entry.settings):
            return frozenset()
        each = [
            values.get(name) or frozenset({otherwise})
            for name, otherwise in zip_longest(entry.settings, entry.unprinted)
        ]
        return frozenset({prod(map(max, each)), prod(map(min, each))})


@dataclass(frozen=True, slots=True)
class TimingRule:
    """Times in ms for groups whose cluster and name match the patterns (``*`` matches all), unless printed."""

    cluster: str
    replica_group: str
    timeouts: tuple[tuple[Timeout, int], ...]


def configured_of(rules: Iterable[TimingRule], cluster: str, replica_group: str) -> dict[Timeout, int]:
    """Return the times that ``rules`` give one group; the last matching rule wins."""
    found: dict[Timeout, int] = {}
    for rule in rules:
        if fnmatchcase(cluster, rule.cluster) and fnmatchcase(replica_group, rule.replica_group):
            found.update(rule.timeouts)
    return found


DEFAULTS = Timing()
"""The times of a group of which nothing is known."""


@dataclass(frozen=True, slots=True)
class InForce:
    """The shortest and longest value of one time among a group's members, and its origin."""

    timeout: Timeout
    shortest_ms: int
    longest_ms: int
    origin: str


def in_force(timing: Timing, protocol: str) -> Iterator[InForce]:
    """Yield a group's values of the configurable time-outs that the protocol uses."""
    for timeout in USED_BY.get(protocol, ()):
        shortest, longest = timing.shortest_us(timeout), timing.us(timeout)
        yield InForce(timeout, shortest // US_PER_MS, longest // US_PER_MS, timing.origin(timeout))
