"""Statements that are of no interest on purpose: patterns, each with its reason.

A pattern covers a statement when all that it names fits: the system, the source file, the level, the text. What is
left out must say nothing of elections, replication, locks, identity, metadata, starts and stops that no known text
says; a pattern is as narrow as its reason. One that covers nothing any more fails the tests.
"""

import re
from dataclasses import dataclass

from texts.facts import Fact


@dataclass(frozen=True, slots=True)
class Ignored:
    """A pattern (regular expressions that must match from the start) and why what it covers is of no interest."""

    reason: str
    system: str = ""
    file: str = ""
    level: str = ""
    text: str = ""

    def covers(self, fact: Fact) -> bool:
        """Whether ``fact`` is one of those meant."""
        return (
            self.system in ("", fact.system)
            and bool(re.match(self.file, fact.file))
            and bool(re.match(self.level, fact.level))
            and bool(re.match(self.text, fact.text))
        )


def _of(system: str, *rows: tuple[str, str | tuple[str, ...], str]) -> tuple[Ignored, ...]:
    """Rows of file, text (a pattern, or how the messages begin, word for word) and reason."""
    return tuple(
        Ignored(reason, system, file=file, text=text if isinstance(text, str) else _beginning(text))
        for file, text, reason in rows
    )


def _beginning(words: tuple[str, ...]) -> str:
    """A pattern of messages that begin with one of these; one without any word is meant whole."""
    return "|".join(re.escape(one) + ("" if re.search(r"\w", one) else "$") for one in words)


REDIS = _of(
    "redis",
    (r"rdb", "", "the file of a snapshot and how it is read; how many keys were loaded has a text of its own"),
    (
        r"server",
        "",
        "settings, memory, listeners, children and files of one process; that it starts, is ready, is told to stop and "
        "ends has texts of its own",
    ),
    (
        r"sentinel",
        (
            *("+failover-state-", "+slave-reconf", "-slave-reconf"),
            *("+sentinel-address", "+sentinel-invalid", "+set {} {}", "{} {}"),
        ),
        "steps of a failover between those that have texts, and addresses of sentinels",
    ),
    (
        r"sentinel",
        (
            *("-script", "Failed to resolve", "Failure simulation", "Sentinel CRASH", "Sentinel config file"),
            *("Sentinel needs", "Sentinel new configuration", "Sentinel started without", "Unsupported command"),
            *("wait3", "waitpid"),
        ),
        "scripts of operators, the file of settings, and tests",
    ),
    (
        r"replication",
        r"(?i).*(?:\bsync\b|psync|\brdb\b|bgsave|diskless|channel|bulk|\baof\b|backlog|replication buffer|replica main thread)",
        "how a copy is carried over; that a replica asks, what it is given, and that it is connected has texts of its own",
    ),
    (
        r"replication",
        r"(?i).*(?:replconf|bad protocol|aborted replication|read error|readable event|\$endoff|\bauth\b|reply to ping|replied|i/o error|handler|socket|handshake|file event|understand|command|"
        r"respond|error reading|read response)",
        "the greeting between a replica and its master, and errors in it; that the link is lost has a text of its own",
    ),
    (
        r"replication",
        r"(?i).*(?:failover|cached|caching|resync|replication state|replica(?:tion)? \{\}|unable to connect|timedout|timeout|"
        r"synchronization|stream(?:ed|ing)?|slot migration|write error|persistence|no operation|psync|load)",
        "what a master and its replicas try again, or do between lines that have texts of their own",
    ),
    (
        r"cluster",
        r"(?i).*(?:packet|message|extension|file event|gossip|link|handshake|bus|node ?id|meet|ip\b|ip to string|address|endpoint)",
        "the bus between nodes: addresses, packets, and what is told of nodes before a majority agrees",
    ),
    (
        r"cluster",
        r"(?i).*(?:config(?:uration)? file|\block\b|socket accept|listening|port number|config variable|dir:|flag|fail reason|"
        r"failover reason|iterator|unknown error|bad type|saving the cluster|is currently down|loading the cluster)",
        "the file of a node's cluster, its listeners, and what a state that has a text is due to",
    ),
    (
        r"cluster",
        r"(?i).*(?:slot|keys)",
        "slots that operators move, one by one; that a node has lost its last one has a text",
    ),
    (
        r"cluster",
        r"(?i).*(?:rank|shard|manual failover|votes received|on shutdown|possibly failing|not reachable|back online|"
        r"reset hard|cluster (?:forget|meet|reset)|^$)",
        "what nodes say of others without deciding it, and what is done on the way to an election that has texts",
    ),
)

KAFKA = _of(
    "kafka",
    (
        r"raft/",
        r"(?i).*(?:snapshot|append|listener|shutdown|request|election backoff|fetch|epoch|voter|leader|transition|offset|"
        r"version|state store|endpoint|records|replica key|received|reading|node|connect|unable|failed|error|driver|batch|buffer|high watermark|^\{\}$)",
        "requests between nodes, snapshots of the metadata log and its voters' addresses; what a node is in which epoch, "
        "its votes and what it cuts have texts of their own",
    ),
    (
        r"controller/(QuorumController|Quorum|Periodic|Event|Offset|Snapshot|Feature|Controller)",
        "",
        "what the controller works off and its snapshots; that it is active or renounces has texts of its own",
    ),
    (
        r"controller/(ReplicationControl|PartitionChange)",
        "",
        "requests about partitions that are refused, and topics; what became of a partition is told by its replicas and by "
        "texts of its own",
    ),
    (
        r"controller/(Cluster|BrokerHeartbeat)",
        "",
        "who registered, as it is read from the log; that a broker is fenced or may stop has texts of its own",
    ),
    (
        r"controller/|metadata/|image/",
        "",
        "tokens, rights, quotas, settings and images of the metadata: nothing is elected by them",
    ),
    (
        r"server/(BrokerLifecycle|BrokerServer|ControllerServer|KafkaRaftServer)",
        "",
        "steps of a start and of a stop between those that have texts, and heartbeats that are tried again",
    ),
    (
        r"server/(Replica|AbstractFetcher)",
        "",
        "how a replica fetches, and folders that fail; what is cut off a log is told by the log itself",
    ),
    (r"server/", "", "channels to the controller and settings of clients"),
    (
        r"cluster/Partition",
        "",
        "in-sync replicas that a leader asks for; what it was granted, and who leads, has texts of its own",
    ),
    (
        r"log/|storage/",
        "",
        "segments, indexes and the cleaning of one log; that it is cut or deleted has texts of its own",
    ),
)

ETCD = (
    Ignored(
        "the process ends by a broken invariant or file; that it ends, and starts again, is seen by its other lines",
        "etcd",
        file="(?!raft/)",
        level="fatal",
    ),
    *_of(
        "etcd",
        (r"(backend|mvcc|schema|txn|lease)/", "", "the key-value store of one member, below what replicates"),
        (
            r"api/|version/|membership/downgrade",
            "",
            "the release that the whole cluster agreed on; a member says its own at start",
        ),
        (r"embed/config", "", "checks of the configuration and of TLS certificates"),
        (r"embed/serve", "", "the listeners for clients"),
        (
            r"embed/etcd",
            r"(?!starting an etcd server)",
            "listeners, folders and certificates at start; what elections need has texts of its own",
        ),
        (r"etcdmain/(gateway|grpc_proxy|util)", "", "the gateway and the proxy elect nobody"),
        (
            r"etcdmain/",
            "",
            "flags, folders and hints for a person at the start; that the start failed has a text of its own",
        ),
        (r"etcdhttp/", "", "answers to clients; that no leader is known has a text of its own"),
        (r"etcdserver/config", "", "settings at start; the election time-out has a text of its own"),
        (
            r"apply/|etcdserver/(apply|apply_v2|util|quota|metrics|backend|snapshot_merge)|storage/quota",
            "",
            "how committed entries are applied, and limits of the store",
        ),
        (
            r"snap/|wal/|storage/|etcdserver/storage",
            "",
            "files of the log and of snapshots; a failure of them that stops the member has texts of its own",
        ),
        (r"rafttest/", "", "a test bench of the library"),
        (
            r"etcdserver/cluster_util",
            "",
            "questions to other members about their versions and members; nothing is decided by them",
        ),
        (
            r"etcdserver/corrupt",
            (
                "Skipped peer's",
                "cannot fetch",
                "enabled corruption",
                "failed compaction",
                "failed hash kv",
                "failed to check",
                "failed to create",
                "failed to get",
                "failed to hash",
                "failed to marshal",
                "failed to unmarshal",
                "finished compaction",
                "finished peer",
                "found different",
                "initial corruption",
                "skipped revision",
                "starting compact",
                "starting initial",
                "successfully",
                "{} cannot check",
                "{} failed to create",
                "{} hash-kv error",
                "{} starting initial",
                "{} succeeded on",
            ),
            "how a comparison of data went on; its finding has texts of its own",
        ),
        (
            r"etcdserver/bootstrap",
            (
                "Bootstrapping",
                "Constructed",
                "Failed to validate",
                "No snapshot found.",
                "Skipping defragmentation",
                "V2 discovery",
                "bootstrapping",
                "consistent index",
                "constructed",
                "discovery token",
                "exceeded recommended",
                "failed to create",
                "failed to marshal",
                "failed to remove",
                "illegal v2store",
                "recovered v2",
                "recovered v3",
                "restore consistentIndex",
                "unsupported",
            ),
            "steps of a start; what it finds has texts of its own",
        ),
        (
            r"etcdserver/raft",
            r"server is likely overloaded|timed out sending read state|applied incoming Raft snapshot|raft applied incoming snapshot",
            "said by the library or by the line before it",
        ),
        (
            r"etcdserver/v3_server",
            "",
            "reads and log-ins of clients; a read that waits for the leader has texts of its own",
        ),
        (
            r"etcdserver/server",
            r".*([Ss]napshot|compact|stor(e|ed|ing)|recover|alarm|lessor|backend|cluster version|checkpoint|consistent|token|v2 ?store|downgrade|schema|hash|Defrag|defrag)",
            "the store of one member: snapshots, compaction, recovery; what the log loses or gains by them is said by the library",
        ),
        (
            r"etcdserver/server",
            r".*(peers? (from|connection)|fast-forward|election tick|zombie|learner promotion)",
            "connections and clocks at start; members have texts of their own",
        ),
        (
            r"etcdserver/server",
            r".*(publish|goAttach|GoAttach|revoke|MaxRequestBytes|request limit|backend quota|WARNING: --v2|enabled corruption checking|bootstrap successfully|server has stopped)",
            "shutting down, limits and advice",
        ),
        (
            r"membership/",
            r".*(store|backend|version|attributes|ignored?|[Ss]kipped|zombie|member information|ready to downgrade)",
            "how members are kept in a store; a change of members has texts of its own",
        ),
        (
            r"rafthttp/",
            r".*([Vv]ersion|decode|unmarshal|process|read)|request sent was ignored by peer$",
            "a message that was not understood; the peer sends it again",
        ),
        (
            r"rafthttp/",
            r".*(snapshot|KV)",
            "the transfer of a snapshot; the library says when it takes the place of the log",
        ),
        (
            r"rafthttp/",
            r".*(start|stop|establish|close|set message|add(ed|ing)|remov(ed|ing)|updated|failed to add|rate limit|pipelin)",
            "connections that are opened and closed as members are; that a peer is lost or active has texts of its own",
        ),
        (
            r"rafthttp/",
            r"dropped (internal )?Raft message",
            "a queue to a peer is full; that the peer is lost or slow has texts of its own",
        ),
        (
            r"rafthttp/",
            r".*(parse|find member|find remote|unexpected raft message|unexpected Raft message|failed to \{\} \{\} on)",
            "a request that names no member, or the reason before a peer becomes inactive",
        ),
        (
            "raft/",
            (
                "Advance must",
                "applied({}) is out",
                "applying entry",
                "applying({}) is out",
                "compact {} is out",
                "empty entry was",
                "entries' hi({}) is",
                "entries[{}:{}) is unavailable",
                "error scanning",
                "index, {}, is out of",
                "invalid slice",
                "invalid unstable.slice",
                "message should",
                "slice[{},{}) out of bound",
                "snapshot {} is out",
                "storage must",
                "term should be",
                "term should not",
                "two accepted",
                "unexpected error",
                "unexpected error:",
                "unstable.slice[{},{})",
                "{}",
                "{} is sending append",
                "{} stepped empty",
            ),
            "an invariant of the library is broken and the process ends, which is seen; what the log loses has texts of its own",
        ),
        (
            "raft/",
            (
                "entry at (index,term)=({},{})",
                "entry at index",
                "error occurred",
                "ignoring MsgForgetLeader",
                "index({}) is out of",
                "initiating automatic",
                "pending MsgReadIndex",
                "{} appending new",
                "{} attempted to",
                "{} can't become learner",
                "{} ignored addLeaner:",
                "{} invalid format",
                "{} restored progress",
            ),
            "cannot happen, or a detail of one member's log and of its own queue; changes of members have texts of their own",
        ),
    ),
)

ZOOKEEPER = _of(
    "zookeeper",
    (
        r"server/(Netty|NIO)?ServerCnxn|server/(NettyServerCnxn|NIOServerCnxn|BlueThrottle|RequestThrottler|ConnectionBean|AuthenticationHelper|ResponseCache|Request\b|RateLogger)",
        "",
        "connections and requests of clients",
    ),
    (
        r"server/(ContainerManager|DataTree|ReferenceCountedACLCache|LogFormatter|ServerMetrics|WorkerService|ZooTrace)",
        "",
        "the data of one server, below what replicates; data that differs from the leader's has a text of its own",
    ),
    (r"server/(DatadirCleanupManager|PurgeTxnLog)", "", "old files are removed"),
    (
        r"server/(Final|Prep|Sync)RequestProcessor|server/quorum/\w*(Request)?Processor",
        "",
        "stages through which requests of clients pass; what a reconfiguration or a broken disk does there has texts of its own",
    ),
    (
        r"server/(SessionTrackerImpl|quorum/(Upgradeable|Learner|Leader)SessionTracker|quorum/(Quorum|Leader|Follower|Learner|Observer)ZooKeeperServer)",
        "",
        "sessions of clients, and services that begin and end with a role, which has texts of its own",
    ),
    (
        r"server/(ZooKeeperSaslServer|quorum/auth/)|util/(SecurityUtils)",
        "",
        "how connections prove who they are; that a server could not has texts of its own",
    ),
    (
        r"server/(ZKDatabase|TxnLogProposalIterator|persistence/)",
        "",
        "files of one server: reading, snapshots, clean-up; what is missing or could not be cut has texts of its own",
    ),
    (
        r"server/(util|quorum/flexible)/|util/ServiceUtils",
        "",
        "measurements and helpers; pauses and the oracle's word have texts of their own",
    ),
    (
        r"server/(ZooKeeperThread|ZooKeeperServerListenerImpl|ZooKeeperCriticalThread)",
        "",
        "a thread ended; where the process ends by it a text of its own says so",
    ),
    (
        r"server/(ZooKeeperServerMain|quorum/QuorumPeerMain)",
        "",
        "management beans, and usage for a person; a start that fails has texts of its own",
    ),
    (
        r"server/ZooKeeperServer\.",
        "",
        "clients, their sessions and limits; a client that is ahead of the server has a text of its own",
    ),
    (
        r"server/quorum/(AuthFastLeaderElection|LeaderElection)\.",
        "",
        "election algorithms 0 to 2, deprecated before 3.4 and never the default",
    ),
    (
        r"server/quorum/(LearnerHandlerBean|LearnerMaster|LearnerSender|LearnerSnapshotThrottler|LearnerSyncThrottler|UnifiedServerSocket|ReadOnlyZooKeeperServer)",
        "",
        "counters, limits and sockets; a learner that is turned away has texts of its own",
    ),
    (r"server/quorum/ObserverMaster", "", "a follower that feeds observers, which do not vote"),
    (
        r"server/quorum/Observer\.",
        "",
        "an observer does not vote; that it observes, and whom it lost, has texts of its own",
    ),
    (
        r"server/quorum/QuorumPeerConfig",
        "",
        "checks of the configuration; a server that runs alone, or with another type, has texts of its own",
    ),
    (
        r"server/quorum/QuorumPeer\.",
        r".*(set to|JMX|AdminServer|ocal session|TLS|SASL|secured|unification|addr|Host name|socket timeout|IP address|[Ll]earner master|observer masters|Responder|responder|xid|clos|config|listener|QuorumCnxManager|ReadOnly|LearnerType|quorum cnxn|Failed to write|= \{\}|=\{\}|not a valid number)",
        "settings, addresses and services at start; the limits of elections have texts of their own",
    ),
    (
        r"server/quorum/FastLeaderElection",
        (
            "Failed to register",
            "Failed to unregister",
            "Got a short response:",
            "Interrupted",
            "Something went",
            "WorkerReceiver",
            "WorkerSender",
            "{} = {} ms",
            "{}={}",
        ),
        "settings and worker threads; votes have texts of their own",
    ),
    (
        r"server/quorum/QuorumCnxManager",
        (
            "'{}' contains invalid",
            "BufferUnderflowException",
            "Creating TLS-enabled",
            "Creating TLS-only",
            "Election port",
            "Error closing",
            "Error while accessing",
            "Exception handling",
            "Exception reading",
            "Exception when",
            "Exception while",
            "Failed to send",
            "Got interrupted",
            "Got urecognized",
            "Ignoring exception",
            "Initial message",
            "Interrupted",
            "Leaving listener",
            "No queue for server",
            "No queue of incoming",
            "Read only {} bytes",
            "SSL handshake",
            "SecurityException",
            "Setting arbitrary",
            "The socket is",
            "Unable to access",
            "Unable to insert",
            "Unexpected error",
            "Unreasonable",
            "{}",
        ),
        "the handshake and queues of one connection; that a server cannot be reached, is lost or is not heard has texts of its own",
    ),
    (
        r"server/quorum/LearnerHandler\.",
        r".*(clos|socket|[Uu]nexpected (exception|interruption)|sending thread|Unhandled|committedLog for|snapshot sync|renewed|packets in|quorum packet|= \{\})|Sending \{\}",
        "closing, and how the leader chose between diff, trunc and snap, which has texts of its own",
    ),
    (
        r"server/quorum/Learner\.",
        r".*(terminat|clos|TCP|session|client|Throttled|executor|signature|DelayDuring|txns|connect to Leader|upgrade|upgrading|first proposal|new epoch proposal|Unexpected exception|leader with id|= \{\})",
        "connections, sessions and the normal course of a synchronisation",
    ),
    (
        r"server/quorum/Follower\.",
        (
            "Invalid packet",
            "Received an UPTODATE",
            "Starting ObserverMaster",
            "Unknown packet",
            "error getting",
            "unknown type",
        ),
        "a message of an unknown type, or of one that a follower must not get, is dropped",
    ),
    (
        r"server/quorum/Leader\.",
        r".*(terminat|clos|TCP|Exception|renewed|impossible|Throttled|commm?it null|designatedLeader calculation|acceptor|sleeping|maxConcurrent|= \{\}|ms$|toBeApplied)",
        "sockets and settings of the leader, or what cannot happen",
    ),
)


ROCKETMQ = _of(
    "rocketmq",
    (
        r"broker/processor/",
        "",
        "requests of clients and operators for messages, offsets and settings; what they change of roles, locks and metadata has texts of its own",
    ),
    (
        r"broker/client/",
        "",
        "connections of clients and their groups; a group that loses its last consumer has a text of its own",
    ),
    (
        r"broker/(config|RocksDBConfigManager|offset/RocksDB|subscription/RocksDB|topic/RocksDB)",
        "",
        "metadata in RocksDB: its moves from files at start, and single entries; that it could not be read has a text of its own",
    ),
    (r"broker/offset/.*Order", "", "receipts of messages that are consumed in order; they are no locks of queues"),
    (r"broker/offset/", "", "offsets of one group or topic that are removed as asked for"),
    (
        r"broker/(topic|subscription)/",
        "",
        "topics and groups that clients and operators create, change and remove, and routes of other brokers; copies of metadata have texts of their own",
    ),
    (
        r"broker/transaction/",
        "",
        "half messages of one transaction; who checks them, and its rounds, have texts of their own",
    ),
    (
        r"broker/schedule/",
        "",
        "the delivery of single delayed messages; who delivers, and from which offset, has texts of its own",
    ),
    (
        r"broker/failover/",
        "",
        "messages that could not be escaped to another broker; that escaping fails has texts of its own",
    ),
    (
        r"broker/(util|plugin|slave|controller)/",
        "",
        "helpers, checks of single messages, and a loop that goes on after an error",
    ),
    (
        r"broker/out/",
        "",
        "calls to name servers and other brokers: single topics, addresses, comparisons; registrations and copies of metadata have texts of their own",
    ),
    (r"broker/BrokerStartup", "", "hints at the start; the configuration has texts of its own"),
    (
        r"broker/BrokerController",
        r".*([Dd]ispatch|dns|[Nn]ame ?[Ss]erver|Server|hook|Hook|acl|AccessValidator|certificate|FileWatch|timer|persist|[Ww]ater ?[Mm]ark|protect|record|stats|Failed to initialize|unexpected error|diff|Diff|shutdown Scheduled|metadata exception)",
        "statistics, hooks, certificates and periodic work that goes on after an error",
    ),
    (
        r"controller/(metrics|processor)/",
        "",
        "measurements, and settings of a controller that are asked for or changed",
    ),
    (
        r"controller/",
        r"(get broker live info|json serialize|Apply task failed, task is null|$|\{\}$)",
        "cannot happen, or prints an error beside a text that is known",
    ),
    (
        r"container/",
        "",
        "a process with several brokers: which it holds, and its settings; each broker prints its own texts",
    ),
    (r"namesrv/(kvconfig|processor)/", "", "settings of name servers and requests for them"),
    (r"namesrv/NamesrvController", "", "queues and certificates of the name server"),
    (
        r"namesrv/routeinfo/",
        r"(.* SIZE: |brokerAddrTable|brokerLiveTable|clusterAddrTable|topicQueueTable|-----)",
        "the tables as they stand, every ten minutes; what changes them has texts of its own",
    ),
    (r"namesrv/routeinfo/", r".*([Tt]opic|Exception)", "single topics, and requests that failed"),
    (r"srvutil/", "", "helpers for command lines and watched files"),
    (
        r"store/(AllocateMappedFileService|ConsumeQueue|FlushDiskWatcher|MappedFile|MessageExtEncoder|MultiDispatch|StoreCheckpoint|StoreStatsService|StoreUtil|TransientStorePool|RocksDBMessageStore)",
        "",
        "files, queues and statistics of one store; what is lost or cut has texts of its own",
    ),
    (
        r"store/(CommitLog|DefaultMessageStore)",
        "",
        "appending, reading, recovering and deleting in one store; its start, its end, cuts and a full disk have texts of their own",
    ),
    (r"store/dledger/", "", "appending and recovering under DLedger, which prints its own texts"),
    (
        r"store/(ha/|util/)",
        r".*(service|Service|exception|error|selector|flow control|Interrupted|PERF|key is full|get (started|stopped|unknown)|OS picked up|currentTransferEpochEndOffset|Write socket|Process read result|Unexpected ops|Read socket exception|Error when ha client process|closeMaster|CloseMaster|handshake buffer)|$",
        "threads and sockets of replication; a connection that is lost has texts of its own",
    ),
    (
        r"remoting/",
        "",
        "connections and requests of any kind; that a controller or name server is not reached has texts of its own",
    ),
    (
        r"common/",
        r".*(lock error|getStorePath|string2File|object|propert|Interrupted|join thread|stop thread|disk space|stream|calculate|empty direct|mkdir|connect to|fetch name|host name|null)|\{\}=\{\}",
        "helpers of every process; metadata files that could not be read or written have texts of their own",
    ),
    (
        r"dledger/(client|cmdline|utils|metrics)/|dledger/(common/)?ShutdownAbleThread",
        "",
        "clients, command lines and helpers",
    ),
    (
        r"dledger/(DLedger|DLedgerServer)\.",
        r".*(group .* start ok|Shutdown hook|HandleGet|HandleMetadata|Fast)",
        "said by the elector as well, or requests of clients",
    ),
    (
        r"dledger/DLedgerRpcNettyService",
        (
            "Process request",
            "Send append request",
            "There is no processor",
            "Unknown request",
        ),
        "requests of unknown types, or of clients",
    ),
    (
        r"dledger/DLedgerEntryPusher",
        (
            "",
            "Error in ack to",
            "Error in {}",
            "Failed to deal",
            "[BUG]Unknown type",
            "[MONITOR] get old",
            "[MONITOR]The install",
            "[Push-{}]Get INDEX_LESS_THAN_LOCAL_BEGIN",
            "[Push-{}]Quota exhaust,",
            "[Push-{}]The ledgerBeginBeginIndex={}",
            "compareOrTruncateRequests",
        ),
        "queues of the pusher, and errors beside a text that is known",
    ),
    (
        r"dledger/(snapshot|statemachine)/",
        "",
        "steps of writing and reading snapshots; that one is taken, or could not be, has texts of its own",
    ),
    (r"dledger/store/file/", "", "files of the log; what is cut, rebuilt or could not be read has texts of its own"),
    (
        r"jraft/(NodeDescribe|NodeMetrics|ThreadPoolMetrics|RouteTable|RaftGroupService)",
        "",
        "signals for a person, routes of clients, and the server of a group, which the node's own texts follow",
    ),
    (
        r"jraft/core/(CliServiceImpl|BallotBox|FSMCallerImpl|ReadOnlyServiceImpl|StateMachineAdapter|Replicator|ReplicatorGroupImpl)",
        "",
        "the command line, queues and channels of a node; that a peer is not reached by the leader has a text of its own",
    ),
    (
        r"jraft/core/NodeImpl",
        (
            "Adding learners:",
            "Adding peers:",
            "Bootstrapping",
            "Do not set snapshot",
            "Fail to add a learner",
            "Fail to add a replicator,",
            "Fail to add signal.",
            "Fail to append",
            "Fail to init fsm",
            "Fail to init log",
            "Fail to init meta",
            "Fail to init readOnlyService.",
            "Fail to init rpc",
            "Fail to init snapshot",
            "Fail to run ConfigurationChangeDone,",
            "Fail to save snapshot,",
            "Fail to set term.",
            "Ignore onCaughtUp",
            "Init node {} with",
            "Invalid arguments",
            "No RPC server",
            "No such peer {}.",
            "Node can't started",
            "Node {} applyQueue",
            "Node {} caughtUp",
            "Node {} channel",
            "Node {} fail to catch",
            "Node {} ignore InstallSnapshotRequest",
            "Node {} is not in",
            "Node {} priority",
            "Node {} process",
            "Node {} received",
            "Node {} reset electionTimeout,",
            "Node {} start the",
            "Node {} target priority",
            "Node {} transferred",
            "Node {} waitCaughtUp",
            "Node {} waitCaughtUp,",
            "NodeManager",
            "Raft-Node-Lock",
            "The number of",
        ),
        "what goes wrong before a node starts, waiting for a peer to catch up, busy queues, priorities; votes, terms, hand-overs, members and the log have texts of their own",
    ),
    (r"jraft/rpc/", "", "connections of one node"),
    (
        r"jraft/storage/(LogManager|impl/LogManagerImpl)",
        (
            "Fail to init log",
            "Fail to init logStorage",
            "Fail to notify",
            "Fail to run closure",
            "Received entries",
            "Reset log manager",
        ),
        "listeners, and starts that fail, which the node's own text says",
    ),
    (r"jraft/storage/", "", "files of the log and of snapshots; what is cut has texts of its own"),
)


IGNORED: tuple[Ignored, ...] = (
    Ignored(
        "details for developers; the logging configurations that the systems ship print INFO and above",
        level="debug|trace",
    ),
    *ETCD,
    *ZOOKEEPER,
    *ROCKETMQ,
    *REDIS,
    *KAFKA,
)
