"""What a controller on JRaft prints (apache/rocketmq, ``org.apache.rocketmq.controller.impl.JRaft*``, since 5.2.0).

In ``controller.log`` or ``namesrv.log``; the lines of the JRaft library itself (sofastack/sofa-jraft) in ``jraft.log``.
Every controller prints decisions after their commit, and again when it reads its log at a start.
"""

from election_replay.election_core.dialects.dialect import Text, signs, under
from election_replay.election_core.dialects.rocketmq.shapes import committed, decided

LEADERSHIP = (
    Text("JR_STARTED", "Controller {:node_id} started.", "the JRaft node started"),
    Text("JR_STOPPED", "Controller {:node_id} stopped.", "the JRaft node stopped"),
    Text(
        "JR_NODE_LEADER",
        "node {:node_id} Start Leader, term={term:int}",
        "the JRaft node leads",
        sets={"role": "LEADER"},
    ),
    Text(
        "JR_NODE_LEADER_END",
        "node {:node_id} Stop Leader, status={result:text}",
        "the JRaft node leads no more",
    ),
    Text(
        "JR_FOLLOW",
        "Start following, ctx={:leader_change}",
        "the JRaft node follows this leader",
        sets={"role": "FOLLOWER"},
    ),
    Text("JR_UNFOLLOW", "Stop following, ctx={:leader_change}", "the JRaft node lost or left its leader"),
    Text(
        "JR_ERROR",
        "Encountered an error={result:text} on StateMachine {:text}, node {:node_id}, raft may stop working since some error occurs, you should figure out the cause and repair or remove this node.",
        "the JRaft node may have stopped for good",
    ),
)

DECISIONS_AND_BROKERS = (
    Text(
        "JR_EVENT",
        "process event: term {from_term:int}, index {raft_index:int}, request code {request:request_code} success with result {value:text}",
        "a committed decision, printed by every controller and again when it reads its log; from_term is the term of the Raft log, term the master's epoch where one is said and else the same",
        then=committed,
    ),
    Text(
        "JR_ELECT",
        "elect master, request :{:elect_request}, result: {value:text}",
        "an election with its request; no broker id: the controller began it itself",
        sets={"request": "electMaster"},
        then=decided,
    ),
    Text(
        "JR_BROKER_CHANNEL_CLOSED",
        "Channel {:text} inactive, broker identity info: {:identity}",
        "a connection was closed, perhaps a broker's",
    ),
    Text(
        "JR_BROKER_EXPIRED",
        "Broker expired, brokerInfo {:identity}, expired {duration_ms:int}ms",
        "a broker's heartbeat is older than its timeout",
    ),
)

LIBRARY = (
    Text(
        "JR_INIT",
        "Node {:node_id} init, term={term:int}, lastLogId={:log_id}, conf={value}, oldConf={}.",
        "term, log and members of the JRaft node at start",
    ),
    Text(
        "JR_CANDIDATE",
        "Node {:node_id} start vote and grant vote self, term={term:int}.",
        "the node asks for votes in a new term and votes for itself",
        sets={"role": "CANDIDATE"},
    ),
    Text(
        "JR_BECOME_LEADER",
        "Node {:node_id} become leader of group, term={term:int}, conf={value}, oldConf={}.",
        "the node won its election",
        sets={"role": "LEADER"},
    ),
)

OTHER_LIBRARY = (
    Text(
        "JR_TWO_LEADERS",
        "Another peer {peer:peer_id} declares that it is the leader at term {term:int} which was occupied by leader {value}.",
        "two leaders in one term; value is the leader known before",
    ),
    Text(
        "JR_ENTRY_CORRUPT",
        "Corrupted log entry received from leader, index={raft_index:int}, term={term:int}, expectedChecksum={}, realChecksum={}",
        "an entry from the leader is damaged",
    ),
    Text("JR_NODE_ERR", "Node {:node_id} got error: {result:text}.", "the JRaft node stops for an error"),
    Text(
        "JR_LOG_ERR",
        "Node {:node_id} append [{:int}, {:int}] failed, status={result:text}.",
        "entries could not be written",
    ),
    Text("JR_LOG_ERR", "**Critical error**, fail to appendEntries, nAppent={:int}, toAppend={:int}"),
    Text("JR_LOG_ERR", "Node {:node_id} is initialized with inconsistent log, status={result:text}."),
    Text(
        "JR_META_ERR",
        "Fail to save raft meta",
        "term and vote could not be written or read, and may be forgotten at the next start",
    ),
    Text("JR_META_ERR", "Fail to load raft meta storage"),
    Text(
        "JR_TRUNCATED",
        "Truncating storage to lastIndexKept={ledger_end:int}.",
        "the node cuts entries that its leader does not have; ledger_end is the last that stays",
    ),
    Text(
        "JR_APPLIED_CONFLICT",
        "FATAL ERROR: Can't truncate logs before appliedId={:log_id}, lastIndexKept={raft_index:int}",
        "the leader does not have an entry that was applied here",
    ),
    Text("JR_INIT_ERR", "Node {:node_id} initFSMCaller failed.", "the JRaft node could not start"),
    Text("JR_INIT_ERR", "Node {:node_id} initLogStorage failed."),
    Text("JR_INIT_ERR", "Node {:node_id} initMetaStorage failed."),
    Text("JR_INIT_ERR", "Node {:node_id} initSnapshotStorage failed."),
    Text("JR_INIT_ERR", "Node {:node_id} init ballotBox failed."),
    Text("JR_INIT_ERR", "Node {:node_id} init meta storage failed, uri={:text}."),
)
"""Rarer lines of the library: votes that do not count, hand-overs, members, its log."""

SIGNS = signs(
    "JR_SIGN",
    "Controller start leadership, term: {term:int}.",
    "Controller {:node_id} stop leadership, status: {result:text}.",
    "Configuration committed, conf={value:text}",
    "Node {:node_id} term {term:int} start preVote.",
    "Node {:node_id} received PreVoteResponse from {peer}, term={term:int}, granted={flag:bool}.",
    "Node {:node_id} received PreVoteRequest from {peer}, term={from_term:int}, currTerm={term:int}, granted={flag:bool}, requestLastLogId={:text}, lastLogId={:log_id}.",
    "Node {:node_id} received RequestVoteRequest from {peer}, term={from_term:int}, currTerm={term:int}.",
    "Save raft meta, path={:text}, term={term:int}, votedFor={peer:peer_id}, cost time={duration_ms:int} ms",
    "Node {:node_id} steps down when alive nodes don't satisfy quorum, term={term:int}, deadNodes={value:text}, conf={}.",
    "Replicator [group: {replica_group}, peer: {peer}, type: {value}] is started",
    "Candidate node {:node_id} term {term:int} steps down when election reaching vote timeout: fail to get quorum vote-granted.",
    "Node {:node_id} can't do electSelf as it is not in {:text}.",
    "Node {:node_id} can't do preVote as it is not in conf <{:text}>.",
    "Node {:node_id} term {term:int} doesn't do preVote when installing snapshot as the configuration may be out of date.",
    "Node {:node_id} is a learner, election timer is not started.",
    "Node {:node_id} will never participate in election, because it's priority={:int}.",
    "Node {:node_id} ignore PreVoteRequest from {peer:peer_id}, term={:int}, currTerm={term:int}, because the leader {value}'s lease is still valid.",
    "Node {:node_id} ignore PreVoteRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    "Node {:node_id} ignore PreVoteRequest from {peer:peer_id} as it is not in conf <{:text}>.",
    "Node {:node_id} ignore RequestVoteRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    "Node {:node_id} ignore stale AppendEntriesRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    "Node {:node_id} ignore stale InstallSnapshotRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    "Node {:node_id} reject term_unmatched AppendEntriesRequest from {peer:peer_id}, term={term:int}, prevLogIndex={raft_index:int}, prevLogTerm={from_term:int}, localPrevLogTerm={:int}, lastLogIndex={ledger_end:int}, entriesSize={count:int}.",
    "Node {:node_id} raise term {term:int} when get lastLogId.",
    "Node {:node_id} raise term {term:int} when getLastLogId.",
    "Node {:node_id} received invalid PreVoteResponse from {peer:peer_id}, state not in STATE_FOLLOWER but {value}.",
    "Node {:node_id} received invalid PreVoteResponse from {peer:peer_id}, term {max_term:int}, expect={term:int}.",
    "Node {:node_id} received invalid RequestVoteResponse from {peer:peer_id}, state not in STATE_CANDIDATE but {value}.",
    "Node {:node_id} received invalid RequestVoteResponse from {peer:peer_id}, term={max_term:int}, expect={term:int}.",
    "Node {:node_id} received invalid PreVoteResponse from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    "Node {:node_id} received stale RequestVoteResponse from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    "Node {:node_id} PreVote to {peer:peer_id} error: {result:text}.",
    "Node {:node_id} RequestVote to {peer:peer_id} error: {result:text}.",
    "Node {:node_id} starts to transfer leadership to peer {peer:peer_id}.",
    "Node {:node_id} starts to transfer leadership to any peer.",
    "Node {:node_id} failed to transfer leadership to peer {peer:peer_id}, reached timeout.",
    "Node {:node_id} can't transfer leadership to peer {peer:peer_id} as it is in state {value}.",
    "Node {:node_id} refused to transfer leadership to peer {peer:peer_id} as it is not in {:text}.",
    "Node {:node_id} refused to transfer leadership to peer {peer:peer_id} when the leader is changing the configuration.",
    "Node {:node_id} received TimeoutNowRequest from {peer:peer_id}, term={term:int}.",
    "Node {:node_id} received TimeoutNowRequest from {peer:peer_id} while currTerm={term:int} didn't match requestTerm={from_term:int}.",
    "Node {:node_id} received TimeoutNowRequest from {peer:peer_id}, while state={value}, term={term:int}.",
    "Node {:node_id} change peers from {value_before} to {value}.",
    "Node {:node_id} set peers from {value_before} to {value}.",
    "Node {:node_id} set peers to {value} from empty.",
    "Node {:node_id} set empty peers.",
    "Node {:node_id} refused configuration changing as the state={value}.",
    "Node {:node_id} refused configuration concurrent changing.",
    "Node {:node_id} is in state {value}, can't set peers.",
    "Node {:node_id} set peers need wait current conf changing.",
    "Node {:node_id} received InstallSnapshotRequest from {peer:peer_id}, lastIncludedLogIndex={peer_ledger_end:int}, lastIncludedLogTerm={peer_ledger_end_term:int}, lastLogId={:log_id}.",
    "Node {:node_id} shutdown, currTerm={term:int} state={value}.",
    "Resetting storage to nextLogIndex={raft_index:int}.",
    "Fail to issue RPC to {peer:peer_id}, consecutiveErrorTimes={count:int}, error={result:text}, groupId={replica_group}",
    "Fail to issue RPC to {peer:peer_id}, consecutiveErrorTimes={count:int}, error={result:text}",
)

SIGNS_OF_DECISIONS = signs(
    "JR_SIGN",
    "Apply to none leader controller, controller state is {value:text}",
    "process event: term {term:int}, index {raft_index:int}, request code {request:request_code}",
    "Fail to process event",
    "Save snapshot, path={value:text}",
    "Load snapshot from {value:text}",
    "broker {:identity} heart beat",
    "current node is not leader, skip scan not active broker",
    "has not received any heartbeat from broker, skip scan not active broker",
    "start scan not active broker",
    "The broker channel {:text} expired, brokerInfo {:identity}",
    "Broker {value} inactive",
    "get broker live info, clusterName: {cluster_name}, brokerName: {replica_group}, brokerId: {broker_id}",
    "GetBrokerLiveInfo failed, brokerIdentityInfo: {:identity} not exist",
    "get broker live info through raft failed",
    "new broker registered, brokerIdentityInfo: {:identity}",
    "onBrokerCloseChannel success, brokerIdentityInfo: {:identity}",
    "onBrokerCloseChannel failed, brokerIdentityInfo is null",
    "Failed to append to jRaft node, error is: {result:text}.",
    "on broker heartbeat through raft failed",
    "on broker close channel through raft failed",
    "check not active broker through raft failed",
)

TEXTS = (
    *under("jraft", (*LEADERSHIP, *LIBRARY, *OTHER_LIBRARY, *SIGNS)),
    *under("controller", (*DECISIONS_AND_BROKERS, *SIGNS_OF_DECISIONS)),
)
