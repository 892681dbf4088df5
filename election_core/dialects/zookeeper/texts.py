"""What a ZooKeeper server prints about elections (apache/zookeeper, ``org.apache.zookeeper.server.quorum``), 3.3 to 3.9.

The node is the server that prints. In a vote, ``value`` is the server voted for, ``peer`` the sender of the vote,
``count`` the round, ``term`` the epoch of the server voted for, and ``peer_ledger_end_term`` with ``peer_ledger_end``
its last zxid. Rounds restart at 1 with a process.
"""

from election_replay.election_core.dialects.dialect import Condition, Text, signs, under
from election_replay.election_core.model.deeds import Deed


def in_class(*names: str) -> Condition:
    """Return a condition: one of these classes prints, which tells apart texts of one or two words."""
    return lambda name, _: name in names


STATES = (
    Text("ZK_LOOKING", "LOOKING", "the server looks for a leader", sets={"role": "CANDIDATE"}),
    Text("ZK_FOLLOWING", "FOLLOWING", "the server decided to follow", sets={"role": "FOLLOWER"}),
    Text("ZK_LEADING", "LEADING", "the server was elected, and is not established yet", sets={"role": "LEADER"}),
    Text("ZK_OBSERVING", "OBSERVING", "the server decided to observe", sets={"role": "OBSERVER"}),
    Text(
        "ZK_STATE",
        "Peer state changed: {:detail}",
        "state of the server; value is the phase of its role, result how its log is brought up to date",
    ),
    Text(
        "ZK_TO_LOOKING",
        "PeerState set to LOOKING",
        "the server left its role and elects again",
        sets={"role": "CANDIDATE"},
    ),
    Text("ZK_EXIT", "QuorumPeer main thread exited", "the server stopped"),
    Text(
        "ZK_ROLE_ERROR",
        "Unexpected exception",
        "an election or a role broke off; decision and result say why, where the exception is known",
        when=in_class("QuorumPeer"),
    ),
    Text("ZK_RECONFIGURED", "Restarting Leader Election", "another set of voters: the election begins anew"),
    Text(
        "ZK_EPOCH_FILE_MISSING",
        "{setting} not found! Creating with a reasonable default of {term:int}. This should only happen when you are upgrading your installation",
        "first start, or the file with an epoch was lost",
    ),
)

START = (
    Text("ZK_BOOT", "Reading configuration from: {value:text}", "the process has started", does=(Deed.FIRST_LINE,)),
    Text(
        "ZK_START",
        "Starting quorum peer, myid={node:server}",
        "the server starts and knows its id",
        does=(Deed.STARTS, Deed.NAMES_ITSELF),
    ),
    Text("ZK_START", "Starting quorum peer", when=in_class("QuorumPeerMain")),
    *(
        Text(
            "ZK_SETTING",
            name + " set to {value}",
            "a limit of elections at start; tickTime in milliseconds, the others in ticks",
            when=in_class("QuorumPeer"),
            sets={"setting": name},
        )
        for name in ("tickTime", "initLimit", "syncLimit")
    ),
    Text(
        "ZK_VERSION",
        "Server environment:zookeeper.version={value:text}",
        "the release that runs",
        does=(Deed.STARTS, Deed.TELLS_RELEASE),
    ),
)

ELECTION = (
    Text(
        "ZK_ELECTION",
        "New election. My id = {node:server}, proposed zxid=0x{:zxid}",
        "the server votes for itself in a new round",
    ),
    Text("ZK_ELECTION", "New election. My id =  {node:server}, proposed zxid=0x{:zxid}"),
    Text(
        "ZK_VOTE_SENT",
        "Sending Notification: {value:server} (n.leader), 0x{:peer_zxid} (n.zxid), 0x{term:hex} (n.peerEpoch), 0x{count:hex} (n.round), {peer:server} (recipient), {node:server} (myid) ",
        "the server sends its vote to peer",
    ),
    Text(
        "ZK_VOTE_SENT",
        "Sending Notification: {value:server} (n.leader), 0x{:peer_zxid} (n.zxid), 0x{count:hex} (n.round), {peer:server} (recipient), {node:server} (myid), 0x{term:hex} (n.peerEpoch)",
    ),
    Text(
        "ZK_VOTE",
        "Notification: my state:{role:role}; n.sid:{peer:server}, n.state:{result}, n.leader:{value:server}, n.round:0x{count:hex}, n.peerEpoch:0x{term:hex}, n.zxid:0x{:peer_zxid}, message format version:0x{code:hex}, n.config version:0x{state_version:hex}",
        "a vote arrived, perhaps the server's own; result is the state of who sent it, code the version of the message",
    ),
    Text(
        "ZK_VOTE",
        "Notification: {code:hex} (message format version), {value:server} (n.leader), {:peer_zxid_old} (n.zxid), {count:number} (n.round), {result} (n.state), {peer:server} (n.sid), {term:number} (n.peerEPoch), {role:role} (my state){state_version:hex} (n.config version)",
    ),
    Text(
        "ZK_VOTE",
        "Notification: {code:hex} (message format version), {value:server} (n.leader), {:peer_zxid_old} (n.zxid), {count:number} (n.round), {result} (n.state), {peer:server} (n.sid), {term:number} (n.peerEPoch), {role:role} (my state)",
    ),
    Text(
        "ZK_VOTE",
        "Notification: {code:hex} (message format version), {value:server} (n.leader), {:peer_zxid_old} (n.zxid), {count:number} (n.round), {result} (n.state), {peer:server} (n.sid), {term:number} (n.peerEpoch) {role:role} (my state)",
    ),
    Text(
        "ZK_VOTE",
        "Notification: {value:server} (n.leader), {:peer_zxid_old} (n.zxid), {count:number} (n.round), {result} (n.state), {peer:server} (n.sid), {term:number} (n.peerEPoch), {role:role} (my state)",
    ),
    Text(
        "ZK_VOTE",
        "Notification: {value:server} (n.leader), {:peer_zxid_old} (n.zxid), {count:number} (n.round), {result} (n.state), {peer:server} (n.sid), {role:role} (my state)",
    ),
    Text(
        "ZK_VOTE_CHANGED",
        "Updating proposal: {value:server} (newleader), 0x{:peer_zxid} (newzxid), {value_before:server} (oldleader), 0x{} (oldzxid)",
        "the server changed its vote",
    ),
    Text(
        "ZK_VOTE_COMPARED",
        "id: {value:server}, proposed id: {value_before:server}, zxid: 0x{:peer_zxid}, proposed zxid: 0x{:zxid}, epoch: 0x{term:hex}, proposed epoch: 0x{from_term:hex}",
        "a vote that arrived was compared with the server's own, which is value_before, ledger_end and from_term",
    ),
    Text(
        "ZK_VOTE_COMPARED",
        "id: {value:server}, proposed id: {value_before:server}, zxid: 0x{:peer_zxid}, proposed zxid: 0x{:zxid}",
    ),
    Text(
        "ZK_VOTE_COUNTED",
        "Adding vote: from={peer:server}, proposed leader={value:server}, proposed zxid=0x{:peer_zxid}, proposed election epoch=0x{count:hex}",
        "a vote counts in this round",
    ),
    Text(
        "ZK_VOTE_STALE",
        "Notification election epoch is smaller than logicalclock. n.electionEpoch = 0x{count:hex}, logicalclock=0x{counter:hex}",
        "a vote of an older round was dropped; counter is the server's own round",
    ),
    Text(
        "ZK_VOTE_TIMEOUT",
        "Notification time out: {duration_ms:int} ms",
        "no vote was heard in time; duration_ms is how long the server waits now: twice as long as it did, up to a bound",
    ),
    Text("ZK_VOTE_TIMEOUT", "Notification time out: {duration_ms:int}"),
    Text(
        "ZK_DECIDED",
        "About to leave FLE instance: leader={peer:server}, zxid=0x{:peer_zxid}, my id={node:server}, my state={role:role}",
        "the server decided who leads",
    ),
    Text(
        "ZK_FOLLOWS",
        "FOLLOWING - LEADER ELECTION TOOK - {duration_ms:int} MS",
        "the server follows after an election of this length",
        sets={"role": "FOLLOWER"},
    ),
    Text("ZK_FOLLOWS", "FOLLOWING - LEADER ELECTION TOOK - {duration_ms:int}", sets={"role": "FOLLOWER"}),
    Text(
        "ZK_ELECTED",
        "LEADING - LEADER ELECTION TOOK - {duration_ms:int} MS",
        "the server won an election of this length, and is not established yet",
        sets={"role": "LEADER"},
    ),
    Text("ZK_ELECTED", "LEADING - LEADER ELECTION TOOK - {duration_ms:int}", sets={"role": "LEADER"}),
    Text(
        "ZK_VOTE_FOR_STRANGER",
        "Ignoring notification for non-cluster member sid {value:server} from sid {peer:server}",
        "a vote for a server that is no voter was dropped",
    ),
    Text(
        "ZK_VOTE_BY_STRANGER",
        "Ignoring notification for sid {value:server} from non-quorum member sid {peer:server}",
        "a vote of a server that is no voter was dropped",
    ),
    Text("ZK_VOTE_BY_STRANGER", "Ignoring notification from non-cluster member {peer:server}"),
    Text(
        "ZK_NEWER_CONFIG",
        "{node:server} Received version: {value} my version: {value_before}",
        "a peer knows a newer set of voters",
    ),
)

CONNECTIONS = (
    Text(
        "ZK_LISTENS",
        "{node:server} is accepting connections now, my election bind port: {address:text}",
        "the server can be reached for elections",
    ),
    Text("ZK_LISTENS", "My election bind port: {address:text}"),
    Text("ZK_ASKED", "Received connection request from {peer_address:text}", "a server connected for elections"),
    Text("ZK_ASKED", "Received connection request {peer_address}"),
    Text(
        "ZK_SMALLER_ID",
        "Have smaller server identifier, so dropping the connection: (myId:{node:server} --> sid:{peer:server})",
        "the connection is left to the server with the larger id",
    ),
    Text(
        "ZK_SMALLER_ID",
        "Have smaller server identifier, so dropping the connection: ({peer:server}, {node:server})",
    ),
    Text(
        "ZK_PEER_UNREACHABLE",
        "Cannot open channel to {peer:server} at election address {peer_address:text}",
        "a server cannot be reached for elections",
    ),
    Text(
        "ZK_PEER_LOST",
        "Connection broken for id {peer:server}, my id = {node:server}",
        "the election connection to a server broke",
    ),
    Text("ZK_PEER_LOST", "Connection broken for id {peer:server}, my id = {node:server}, error = "),
    Text(
        "ZK_SENDER_END",
        "Send worker leaving thread id {peer:server} my id = {node:server}",
        "the election connection to a server was taken down",
    ),
    Text("ZK_SENDER_END", "Send worker leaving thread"),
    Text(
        "ZK_SENDER_STOP",
        "Interrupting SendWorker thread from RecvWorker. sid: {peer:server}. myId: {node:server}",
        "the election connection to a server is being taken down",
    ),
    Text(
        "ZK_SAME_ID",
        "We got a connection request from a server with our own ID. This should be either a configuration error, or a bug.",
        "two servers share one id",
    ),
    Text(
        "ZK_DEAF",
        "As I'm leaving the listener thread, I won't be able to participate in leader election any longer: {address:text}",
        "the server takes no part in elections until it is started again",
    ),
    Text("ZK_UNKNOWN_ID", "Invalid server id: {peer:server} ", "a server outside of the configuration connected"),
)

LEARNERS = (
    Text(
        "ZK_LEADER_REACHED",
        "Successfully connected to leader, using address: {peer_address:text}",
        "the server reached the leader",
    ),
    Text(
        "ZK_LEADER_RETRY",
        "Unexpected exception, tries={count:int}, remaining init limit={duration_ms:int}, connecting to {peer_address:text}",
        "the leader was not reached, and is tried again",
    ),
    Text("ZK_LEADER_RETRY", "Failed connect to {peer_address}"),
    Text(
        "ZK_LEADER_UNREACHABLE",
        "Unexpected exception, connectToLeader exceeded. tries={count:int}, remaining init limit={duration_ms:int}, connecting to {peer_address:text}",
        "the leader was not reached in time",
    ),
    Text(
        "ZK_LEADER_UNREACHABLE",
        "Unexpected exception, retries exceeded. tries={count:int}, remaining init limit={duration_ms:int}, connecting to {peer_address:text}",
    ),
    Text("ZK_LEADER_UNREACHABLE", "connectToLeader exceeded on retries."),
    Text(
        "ZK_LEARNER_UNKNOWN",
        "Follower sid: {peer:server} not in the current config {value:text}",
        "a learner outside of the configuration registered with the leader",
    ),
    Text(
        "ZK_EPOCH_REFUSED",
        "Proposed leader epoch {from_term:epoch} is less than our accepted epoch {term:epoch}",
        "the server refuses a stale leader",
    ),
    Text(
        "ZK_SYNC",
        "Synchronizing with Learner sid: {peer:server} maxCommittedLog=0x{committed_to:counter} minCommittedLog=0x{committed_from:counter} lastProcessedZxid=0x{:zxid} peerLastZxid=0x{:peer_zxid}",
        "the leader compares its log with a learner's; the committed range are counters",
    ),
    Text(
        "ZK_SYNC",
        "Synchronizing with Follower sid: {peer:server} maxCommittedLog=0x{committed_to:counter} minCommittedLog=0x{committed_from:counter} lastProcessedZxid=0x{:zxid} peerLastZxid=0x{:peer_zxid}",
    ),
    Text(
        "ZK_SYNC",
        "Synchronizing with Follower sid: {peer:server} maxCommittedLog=0x{committed_to:counter} minCommittedLog=0x{committed_from:counter} peerLastZxid=0x{:peer_zxid}",
    ),
    Text(
        "ZK_SYNC_RECEIVED",
        "Getting a diff from the leader 0x{:peer_zxid}",
        "how the leader brings this server up to date: diff or snap",
        sets={"result": "diff"},
    ),
    Text("ZK_SYNC_RECEIVED", "Getting a snapshot from leader 0x{:peer_zxid}", sets={"result": "snap"}),
    Text(
        "ZK_TRUNCATED",
        "Truncating log to get in sync with the leader 0x{:peer_zxid}",
        "the server cuts off entries that the leader does not have",
        sets={"result": "trunc"},
    ),
    Text("ZK_EPOCH_SET", "Set the current epoch to {term:int}", "the server wrote down the leader's epoch"),
    Text(
        "ZK_ESTABLISHED",
        "Have quorum of supporters, sids: [{members:servers}]; starting up and setting last processed zxid: {:established}",
        "the leader is established in this term; members acknowledged it",
        sets={"role": "LEADER"},
    ),
    Text(
        "ZK_ESTABLISHED",
        "Have quorum of supporters; starting up and setting last processed zxid: {:established}",
        sets={"role": "LEADER"},
    ),
    Text(
        "ZK_SYNC_SLOW",
        "Enough followers present. Perhaps the initTicks need to be increased.",
        "a quorum was connected, and its logs were not up to date in time",
    ),
    Text(
        "ZK_NOT_DESIGNATED",
        "This leader is not the designated leader, it will be initialized with allowedToCommit = false",
        "a reconfiguration hands the leadership over",
    ),
    Text(
        "ZK_PROPOSAL_GAP",
        "Got zxid 0x{:peer_zxid} expected 0x{:zxid}",
        "the leader's proposal is not the next one; expected is ledger_end",
    ),
)

ENDS = (
    Text("ZK_LEADER_STOPPING", "Shutting down", "the leader gives up", when=in_class("Leader")),
    Text(
        "ZK_LEADER_SHUTDOWN",
        "Shutdown called. For the reason {result:text}",
        "the leader gave up; decision is the reason in one word, members the servers in sync",
    ),
    Text("ZK_LEADER_SHUTDOWN", "Shutdown called", when=in_class("Leader")),
    Text(
        "ZK_LEARNER_ERROR",
        "Unexpected exception in LearnerHandler:",
        "the leader broke off with a learner; decision and result say why, where the exception is known",
    ),
    Text("ZK_LEARNER_ERROR", "Unexpected exception in LearnerHandler."),
    Text("ZK_LEARNER_ERROR", "Unexpected exception causing shutdown while sock still open"),
    Text(
        "ZK_LEADER_LOST",
        "Exception when following the leader",
        "the server lost its leader; decision and result say why, where the exception is known",
    ),
    Text("ZK_LEADER_LOST", "Exception when observing the leader"),
    Text("ZK_ROLE_END", "shutdown Follower", "the server leaves its role", sets={"role": "FOLLOWER"}),
    Text("ZK_ROLE_END", "shutdown Observer", sets={"role": "OBSERVER"}),
    Text("ZK_ROLE_END", "shutdown called", when=in_class("Follower", "Observer")),
    Text(
        "ZK_LEARNER_SLOW",
        "Closing connection to peer due to transaction timeout.",
        "a learner acknowledged too slowly",
    ),
    Text("ZK_SERVER_STOPPING", "shutting down", "the server serves no clients any more"),
)

OLDER = (
    Text("ZK_ELECTION", "New election. My id =  {node:server}, Proposed zxid = {:zxid_old}"),
    Text(
        "ZK_EPOCH_FILE_MISSING",
        "{setting} not found! Creating with a reasonable default. This should only happen when you are upgrading your installation",
    ),
    Text(
        "ZK_PEER_UNREACHABLE",
        "Cannot open secure channel to {peer:server} at election address {peer_address:text}",
    ),
    Text("ZK_PEER_UNREACHABLE", "None of the addresses ({peer_address:text}) are reachable for sid {peer:server}"),
    Text(
        "ZK_PEER_UNREACHABLE",
        "destination address {peer_address} not reachable anymore, shutting down the SendWorker for sid {peer:server}",
    ),
    Text(
        "ZK_PEER_UNREACHABLE",
        "Exception while connecting, id: {peer:server}, addr: {peer_address:text}, closing learner connection",
    ),
    Text("ZK_PEER_LOST", "Exception when using channel: for id {peer:server} my id = {node:server}"),
    Text(
        "ZK_PEER_LOST", "Exception when using channel: for id {peer:server} my id = {node:server} error = {result:text}"
    ),
    Text("ZK_SENDER_END", "Send worker leaving thread  id {peer:server} my id = {node:server}"),
    Text("ZK_SENDER_STOP", "Interrupting SendWorker"),
    Text(
        "ZK_DEAF",
        "As I'm leaving the listener thread after {:int} errors. I won't be able to participate in leader election any longer: {address:text}. Use {} property to increase retry count.",
    ),
    Text(
        "ZK_DEAF",
        "Leaving listener thread for address {address:text} after {:int} errors. Use {} property to increase retry count.",
    ),
    Text(
        "ZK_LISTEN_ERROR",
        "Exception while listening to address {address:text}",
        "the server could not listen for elections, or no longer",
    ),
    Text("ZK_LISTEN_ERROR", "Exception while listening"),
    Text("ZK_LEADER_RETRY", "Unexpected exception, tries={count:int}, connecting to {peer_address:text}"),
    Text(
        "ZK_LEADER_UNREACHABLE",
        "Unexpected exception, initLimit exceeded. tries={count:int}, remaining init limit={duration_ms:int}, connecting to {peer_address:text}",
    ),
    Text("ZK_LEADER_UNREACHABLE", "initLimit exceeded on retries."),
    Text(
        "ZK_SYNC",
        "Synchronizing with Follower sid: {peer:server} maxCommittedLog ={committed_to:counter} minCommittedLog = {committed_from:counter} peerLastZxid = {:peer_zxid}",
    ),
    Text("ZK_SYNC_RECEIVED", "Getting a snapshot from leader", sets={"result": "snap"}),
    Text(
        "ZK_NOT_DESIGNATED",
        "Committing a reconfiguration (reconfigEnabled={}); this leader is not the designated leader anymore, setting allowedToCommit=false",
        "a reconfiguration hands the leadership over: from here on this leader commits nothing",
        sets={"decision": "HANDED_OVER"},
    ),
)

REPLICATION = (
    Text(
        "ZK_COMMIT_MISMATCH",
        "Committing zxid 0x{:peer_zxid} but next pending txn 0x{:zxid}",
        "the leader committed another entry than the next one here; a follower ends by it",
    ),
    Text("ZK_COMMIT_MISMATCH", "Committing {:peer_zxid}, but next proposal is {:zxid}"),
    Text(
        "ZK_COMMIT_FUTURE",
        "Trying to commit future proposal: zxid 0x{:peer_zxid} from {peer_address}",
        "a learner acknowledged an entry that the leader never proposed",
    ),
    Text("ZK_LEADER_BIND_FAILED", "Couldn't bind to {address}", "the winner cannot listen for learners"),
    Text("ZK_LEADER_BIND_FAILED", "Couldn't bind to port {:int}"),
    Text(
        "ZK_CLIENT_AHEAD",
        "Refusing session request for client {} as it has seen zxid 0x{:peer_zxid} our last zxid is 0x{:zxid} client must try another server",
        "a client has seen an entry that this server does not have",
    ),
    Text(
        "ZK_CLIENT_AHEAD",
        "Refusing session(0x{}) request for client {} as it has seen zxid 0x{:peer_zxid} our last zxid is 0x{:zxid} client must try another server",
    ),
    Text(
        "ZK_DIGEST_MISMATCH",
        "First digest mismatch on txn: {value:text}, expected digest is {:text}, actual digest is {:text},",
        "the server's data differs from the leader's after this entry",
    ),
    Text(
        "ZK_SNAPSHOT_AHEAD",
        "Highest txn zxid 0x{:zxid} is not covering the snapshot digest zxid 0x{:peer_zxid}, which might lead to inconsistent state",
        "the log ends before the snapshot: entries are missing",
    ),
    Text(
        "ZK_TRUNCATE_FAILED",
        "Not able to truncate the log {:peer_zxid}",
        "the server could not cut off what the leader does not have; it ends",
    ),
    Text("ZK_TRUNCATE_FAILED", "Unable to truncate Txn log"),
    Text("ZK_TRUNCATE_FAILED", "Unable to truncate {:text}", when=in_class("FileTxnLog", "FileTxnLog$FileTxnIterator")),
)

PROCESS = (
    Text(
        "ZK_LEARNER_TYPE",
        "Becoming a voting participant",
        "a reconfiguration made the server a voter, or took its vote",
        sets={"value": "voter"},
    ),
    Text("ZK_LEARNER_TYPE", "Becoming a non-voting participant", sets={"value": "non-voter"}),
    Text("ZK_LEARNER_TYPE", "Becoming an observer", sets={"value": "observer"}),
    Text("ZK_LEADER_SUGGESTED", "Suggested leader: {peer}", "a reconfiguration hands the leadership to this server"),
    Text(
        "ZK_HIERARCHICAL",
        "{member_count:int}, {}, {count:int}",
        "servers vote in groups: member_count is how many servers, count how many groups; no line says who is where",
        when=in_class("QuorumHierarchical"),
        needle="QuorumHierarchical",
    ),
    Text("ZK_RECONFIG", "Incremental reconfig", "the leader was asked for another set of servers"),
    Text("ZK_RECONFIG", "Non-incremental reconfig"),
    Text("ZK_RECONFIG_REFUSED", "Reconfig failed - {result:text}", "another set of servers was refused"),
    Text("ZK_RECONFIG_REFUSED", "Reconfiguration from version {value} failed -- last seen version is {value_before}"),
    Text("ZK_RECONFIG_REFUSED", "Reconfig operation requested but reconfig feature is disabled."),
    Text("ZK_DATABASE_FAILED", "Unable to load database on disk", "the server's data could not be read; it ends"),
    Text("ZK_THREAD_FAILED", "Severe unrecoverable error, exiting", "a thread that the server needs has failed"),
    Text("ZK_THREAD_FAILED", "Severe unrecoverable error, from thread : {result:text}"),
    Text(
        "ZK_DATABASE_EMPTY",
        "Unexpected empty data tree, setting zxid to -1",
        "the server lost its data, and must not vote until it has some",
    ),
    Text(
        "ZK_DATABASE_EMPTY",
        "No snapshot found, but there are log entries. This should only be allowed during upgrading.",
    ),
    Text("ZK_READ_ONLY", "Read-only server started", "the server found no quorum and serves reads alone"),
    Text(
        "ZK_STANDALONE",
        "Either no config or no quorum defined in config, running in standalone mode",
        "the server runs alone and takes writes without any other server",
    ),
    Text("ZK_STANDALONE", "Either no config or no quorum defined in config, running  in standalone mode"),
    Text("ZK_STANDALONE", "Invalid configuration, only one server specified (ignoring)"),
    Text("ZK_STANDALONE", "Starting server", when=in_class("ZooKeeperServerMain")),
    *(
        Text("ZK_PROCESS_END", template, meaning)
        for template, meaning in (
            ("Exiting JVM with code {code:int}", "the process ends by its own decision"),
            ("Exiting normally", ""),
            ("Invalid arguments, exiting abnormally", ""),
            ("Invalid config, exiting abnormally", ""),
            ("Unable to access datadir, exiting abnormally", ""),
            ("Unable to start AdminServer, exiting abnormally", ""),
            ("Unexpected exception, exiting abnormally", ""),
        )
    ),
    *(
        Text(
            "ZK_FSYNC_SLOW",
            "fsync-ing the write ahead log in {value} took {duration_ms:int}ms which will adversely effect operation latency."
            + rest,
            meaning,
        )
        for rest, meaning in (
            (
                "File size is {:int} bytes. See the ZooKeeper troubleshooting guide",
                "the disk took this long to make entries durable",
            ),
            (" File size is {:int} bytes. See the ZooKeeper troubleshooting guide", ""),
            (" See the ZooKeeper troubleshooting guide", ""),
        )
    ),
    Text(
        "ZK_PAUSED",
        "Detected pause in JVM or host machine (eg GC): pause of approximately {duration_ms:int}ms",
        "the process did not run for this long",
    ),
    Text(
        "ZK_COMMAND",
        "Processing {setting} command from {peer_address}",
        "the server answers a command of its operators or of monitoring, such as srvr or mntr",
    ),
    Text(
        "ZK_PEER_NOT_AUTHENTICATED",
        "Failed to authenticate using SASL",
        "a server could not prove who it is, and is not listened to",
    ),
    Text(
        "ZK_PEER_NOT_AUTHENTICATED",
        "Failed to authenticate using SASL, server addr: {peer_address}, retries={:int} exceeded.",
    ),
)

REASONS = (
    Text("DISCOVERY_TIMEOUT", "Timeout while waiting for epoch from quorum", "no quorum came to the winner"),
    Text(
        "EPOCH_ACK_TIMEOUT",
        "Timeout while waiting for epoch to be acked by quorum",
        "no quorum accepted the new epoch",
    ),
    Text(
        "SYNC_TIMEOUT",
        "Timeout while waiting for NEWLEADER to be acked by quorum",
        "no quorum was up to date in time",
    ),
    Text("STALE_LEADER", "Error: Epoch of leader is lower", "the leader's epoch is older than an accepted one"),
    Text("STALE_LEADER", "Leaders epoch, {from_term:int} is less than accepted epoch, {term:int}"),
    Text(
        "LEARNER_AHEAD",
        "Follower is ahead of the leader, leader summary: {term:int} (current epoch), {:zxid_old} (last zxid)",
        "the winner did not have the most recent log",
    ),
    Text(
        "QUORUM_LOST",
        "Not sufficient followers synced, only synced with sids: [ {members:servers} ]",
        "too few followers answered",
    ),
    Text("QUORUM_LOST", "Only {answered:int} followers, need {count:int}"),
    Text(
        "NO_QUORUM_IN_SYNC",
        "Waiting for a quorum of followers, only synced with sids: [ {members:servers} ]",
        "no quorum was ever up to date",
    ),
    Text("NO_QUORUM_IN_SYNC", "Waiting for a quorum of followers, only synced with: {members:servers}"),
    Text("INTERNAL_ERROR", "Unexpected internal error", "an error inside of the leader"),
    Text("FORCED", "Forcing shutdown", "cleanup after the role ended"),
    Text("STOPPED", "quorum Peer shutdown", "the process is being stopped"),
    Text("STOPPED", "shutdown Follower", sets={"role": "FOLLOWER"}),
    Text("STOPPED", "shutdown Observer", sets={"role": "OBSERVER"}),
)
"""Reasons for the end of a role, from the line or the exception after it. The kind is the value of ``decision``."""

EXPLAINED = frozenset(
    {
        *("ZK_ROLE_ERROR", "ZK_LEADER_LOST", "ZK_LEARNER_ERROR", "ZK_LEADER_SHUTDOWN", "ZK_ROLE_END"),
        "ZK_PROCESS_END",
    }
)
"""The kinds whose reason may be in an exception."""

SIGNS = (
    *signs(
        "ZK_SIGN",
        "Follower sid: {peer:server} : info : {value:text}",
        "Learner received NEWLEADER message",
        "Learner received UPTODATE message",
        "******* GOODBYE sid:{peer:server} {peer_address} ********",
        "******* GOODBYE {peer_address} ********",
        "Disconnected from leader (with address: {peer_address}). Was connected for {duration_ms:int}ms. Sync state: {flag:bool}",
        "Ignoring notification as our zxid is -1",
        "Ignoring notification from member with -1 zxid {peer:server}",
        "Notification state unrecognized: {result} (n.state), {peer:server}(n.sid)",
        "Notification state unrecoginized: {result} (n.state), {peer:server}(n.sid)",
        "Backward compatibility mode ({value:text}), server id: {peer:server}",
        "restarting leader election",
        "Oracle indicates to follow",
        "Oracle indicates not to follow",
        "NEWLEADER proposal has Zxid of {:zxid}",
        "Sending DIFF zxid=0x{:zxid} for peer sid: {peer:server}",
        "Sending DIFF zxid=0x{:zxid}  for peer sid: {peer:server}",
        "Sending TRUNC zxid=0x{:zxid}  for peer sid: {peer:server}",
        "Sending snapshot last zxid of peer is 0x{:peer_zxid}, zxid of leader is 0x{:zxid}, send zxid of db as 0x{}, {count:int} concurrent snapshot sync, snapshot sync was {} from throttle",
        "Cannot send TRUNC to peer sid: {peer:server} peer zxid is from different epoch",
        "Sent NEWLEADER ack to leader with zxid {:zxid}",
        "NEWLEADER ACK from sid: {peer:server} is from a different epoch - current 0x{term:epoch} received 0x{from_term:epoch}",
        "Committing zxid 0x{:zxid} from {peer_address} not first!",
        "Quit leading due to voter changed mind.",
        "Notification state unrecognized: {result} (n.state), {peer:server} (n.sid)",
        "Notification state unrecoginized: {result} (n.state), {peer:server} (n.sid)",
        "Skipping the processing of a partial / malformed response message sent by sid={peer:server} (message length: {:int})",
        "Got a short response from server {peer:server}: {:int}",
        "Backward compatibility mode, server id: {peer:server}",
        "Backward compatibility mode, server id={peer:server}",
        "Oracle is not set, return false",
        "leader and follower are in sync, zxid=0x{:zxid}",
        "Sending snapshot last zxid of peer is 0x{:peer_zxid}  zxid of leader is 0x{:zxid}sent zxid of db as 0x{}",
        "Sending snapshot last zxid of peer is 0x{:peer_zxid}, zxid of leader is 0x{:zxid}, send zxid of db as 0x{}, {count:int} concurrent snapshots, snapshot was {} from throttle",
        "NEWLEADER ACK from sid: {peer:server} is from a different epoch - current 0x{term:epoch} receieved 0x{from_term:epoch}",
        "Commiting zxid 0x{:zxid} from {peer_address} not first!",
        "Commiting zxid 0x{:zxid} from {peer_address} noy first!",
        "Received NEWLEADER-ACK message from {peer:server}",
        "Committing 0x{:peer_zxid}, but got no proposal",
        "Committing {:peer_zxid} without seeing txn",
        "ACK for 0x{:peer_zxid} received before ACK for 0x{:zxid}",
        "ACK for {:int} received before ACK for {:int}!!!!",
        "DIFF sync got proposal 0x{:peer_zxid}, last queued 0x{:zxid}, expected 0x{}",
        "Detected gap between end of txnlog: 0x{:peer_zxid} and start of committedLog: 0x{:zxid}",
        "Got unexpected packet from leader {:text} exiting ...",
        "Got unexpected packet from leader: {:text}, exiting ...",
        "First packet should have been NEWLEADER",
        "First packet {:text} is not FOLLOWERINFO or OBSERVERINFO!",
        "Next packet was supposed to be an ACK",
        "Next packet was supposed to be an ACK, but received packet: {:text}",
        "too many concurrent snapshots: {:text}",
        "too many concurrent sync.",
        "Server failed to authenticate quorum learner, addr: {peer_address}, closing connection",
        "LearnerHandler is too far behind (0x{:peer_zxid} < 0x{:zxid}), disconnecting {peer:server} at {peer_address}",
        "Current zxid {:int} is <= {:int} for {request}",
        "Peer type from servers list ({value}) doesn't match peerType ({value_before}). Defaulting to servers list.",
        "setLastSeenQuorumVerifier called with stale config {:text}. Current version: {}",
        "{setting} found. Setting current epoch to {term:int}.",
        "{setting} found. The server was terminated after taking a snapshot but before updating current epoch. Setting current epoch to {term:int}.",
        "Initialize file found, an empty database will not block voting participation",
    ),
    Text("ZK_SIGN", "First is {:zxid_old}", when=in_class("Leader")),
    Text("ZK_SIGN", "Sending diff", when=in_class("LearnerHandler")),
    Text("ZK_SIGN", "Sending TRUNC", when=in_class("LearnerHandler")),
    Text("ZK_SIGN", "{:text} is not ACKEPOCH", when=in_class("LearnerHandler")),
)

TEXTS = under(
    "zab",
    (*STATES, *START, *ELECTION, *CONNECTIONS, *LEARNERS, *ENDS, *OLDER, *REPLICATION, *PROCESS, *SIGNS),
    Deed.NAMES_WRITER,
)
