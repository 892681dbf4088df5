"""What a controller on JRaft prints (apache/rocketmq, ``org.apache.rocketmq.controller.impl.JRaft*``, since 5.2.0).

In ``controller.log`` or ``namesrv.log``; the lines of the JRaft library itself (sofastack/sofa-jraft) in ``jraft.log``.
Every controller prints decisions after their commit, and again when it reads its log at a start.
"""

from election_replay.election_core.dialects.dialect import Text, under
from election_replay.election_core.dialects.rocketmq.shapes import committed, decided

LEADERSHIP = (
    Text("JR_STARTED", "Controller {:node_id} started.", "the JRaft node started"),
    Text("JR_STOPPED", "Controller {:node_id} stopped.", "the JRaft node stopped"),
    Text(
        "JR_LEADER",
        "Controller start leadership, term: {term:int}.",
        "the controller leads",
        sets={"role": "LEADER"},
    ),
    Text(
        "JR_LEADER_END",
        "Controller {:node_id} stop leadership, status: {result:text}.",
        "the controller leads no more",
    ),
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
        "JR_CONF",
        "Configuration committed, conf={value:text}",
        "the members of the JRaft group are committed",
    ),
    Text(
        "JR_ERROR",
        "Encountered an error={result:text} on StateMachine {:text}, node {:node_id}, raft may stop working since some error occurs, you should figure out the cause and repair or remove this node.",
        "the JRaft node may have stopped for good",
    ),
)

DECISIONS_AND_BROKERS = (
    Text(
        "JR_NOT_LEADER",
        "Apply to none leader controller, controller state is {value:text}",
        "a request reached a controller that does not lead",
    ),
    Text(
        "JR_EVENT",
        "process event: term {from_term:int}, index {raft_index:int}, request code {request:request_code} success with result {value:text}",
        "a committed decision, printed by every controller and again when it reads its log; from_term is the term of the Raft log, term the master's epoch where one is said and else the same",
        then=committed,
    ),
    Text(
        "JR_EVENT_BEGIN",
        "process event: term {term:int}, index {raft_index:int}, request code {request:request_code}",
        "a committed request is about to be applied",
    ),
    Text(
        "JR_ELECT",
        "elect master, request :{:elect_request}, result: {value:text}",
        "an election with its request; no broker id: the controller began it itself",
        sets={"request": "electMaster"},
        then=decided,
    ),
    Text("JR_EVENT_ERR", "Fail to process event", "a committed request failed"),
    Text("JR_SNAPSHOT_SAVED", "Save snapshot, path={value:text}", "a snapshot was written"),
    Text("JR_SNAPSHOT_LOADED", "Load snapshot from {value:text}", "a snapshot was read"),
    Text("JR_BROKER_HB", "broker {:identity} heart beat", "a broker's heartbeat"),
    Text(
        "JR_BROKER_CHANNEL_CLOSED",
        "Channel {:text} inactive, broker identity info: {:identity}",
        "a connection was closed, perhaps a broker's",
    ),
    Text(
        "JR_SCAN_SKIPPED",
        "current node is not leader, skip scan not active broker",
        "no look for silent brokers: not the leader",
    ),
    Text(
        "JR_SCAN_SKIPPED_EARLY",
        "has not received any heartbeat from broker, skip scan not active broker",
        "no look for silent brokers: no heartbeat so far",
    ),
    Text("JR_SCAN", "start scan not active broker", "the controller looks for silent brokers"),
    Text(
        "JR_BROKER_EXPIRED_NOTIFY",
        "The broker channel {:text} expired, brokerInfo {:identity}",
        "a broker without heartbeat is about to be reported",
    ),
    Text(
        "JR_BROKER_EXPIRED",
        "Broker expired, brokerInfo {:identity}, expired {duration_ms:int}ms",
        "a broker's heartbeat is older than its timeout",
    ),
    Text("JR_INACTIVE", "Broker {value} inactive", "a broker counts as gone; value is cluster-name-id"),
    Text(
        "JR_LIVE_QUERY",
        "get broker live info, clusterName: {cluster_name}, brokerName: {replica_group}, brokerId: {broker_id}",
        "somebody asks whether a broker lives",
    ),
    Text(
        "JR_LIVE_NONE",
        "GetBrokerLiveInfo failed, brokerIdentityInfo: {:identity} not exist",
        "the broker asked for is not known to live",
    ),
    Text(
        "JR_LIVE_ERR",
        "get broker live info through raft failed",
        "it could not be told whether a broker lives",
    ),
    Text(
        "JR_BROKER_ALIVE",
        "new broker registered, brokerIdentityInfo: {:identity}",
        "first heartbeat of a broker",
    ),
    Text(
        "JR_BROKER_REMOVED",
        "onBrokerCloseChannel success, brokerIdentityInfo: {:identity}",
        "a broker was forgotten after its connection closed",
    ),
    Text(
        "JR_BROKER_REMOVE_NONE",
        "onBrokerCloseChannel failed, brokerIdentityInfo is null",
        "a closed connection belonged to no broker",
    ),
    Text(
        "JR_APPEND_ERR",
        "Failed to append to jRaft node, error is: {result:text}.",
        "a request was not committed",
    ),
    Text(
        "JR_BROKER_HB_ERR",
        "on broker heartbeat through raft failed",
        "a broker's heartbeat was not committed",
    ),
    Text(
        "JR_BROKER_CLOSE_ERR",
        "on broker close channel through raft failed",
        "a broker's end was not committed",
    ),
    Text("JR_SCAN_ERR", "check not active broker through raft failed", "the look for silent brokers failed"),
)

LIBRARY = (
    Text(
        "JR_INIT",
        "Node {:node_id} init, term={term:int}, lastLogId={:log_id}, conf={value}, oldConf={}.",
        "term, log and members of the JRaft node at start",
    ),
    Text(
        "JR_PREVOTE",
        "Node {:node_id} term {term:int} start preVote.",
        "the node asks whether it may ask for votes",
    ),
    Text(
        "JR_PREVOTE_REPLY",
        "Node {:node_id} received PreVoteResponse from {peer}, term={term:int}, granted={flag:bool}.",
        "a member answered whether the node may ask for votes",
    ),
    Text(
        "JR_PREVOTE_ASKED",
        "Node {:node_id} received PreVoteRequest from {peer}, term={from_term:int}, currTerm={term:int}, granted={flag:bool}, requestLastLogId={:text}, lastLogId={:log_id}.",
        "a member asked whether it may ask for votes",
    ),
    Text(
        "JR_CANDIDATE",
        "Node {:node_id} start vote and grant vote self, term={term:int}.",
        "the node asks for votes in a new term and votes for itself",
        sets={"role": "CANDIDATE"},
    ),
    Text(
        "JR_VOTE_ASKED",
        "Node {:node_id} received RequestVoteRequest from {peer}, term={from_term:int}, currTerm={term:int}.",
        "a member asked for the node's vote",
    ),
    Text(
        "JR_VOTE_SAVED",
        "Save raft meta, path={:text}, term={term:int}, votedFor={peer:peer_id}, cost time={duration_ms:int} ms",
        "the node wrote down its term and vote",
    ),
    Text(
        "JR_BECOME_LEADER",
        "Node {:node_id} become leader of group, term={term:int}, conf={value}, oldConf={}.",
        "the node won its election",
        sets={"role": "LEADER"},
    ),
    Text(
        "JR_NO_QUORUM",
        "Node {:node_id} steps down when alive nodes don't satisfy quorum, term={term:int}, deadNodes={value:text}, conf={}.",
        "a leader that does not reach a quorum gives up",
    ),
    Text(
        "JR_REPLICATOR",
        "Replicator [group: {replica_group}, peer: {peer}, type: {value}] is started",
        "the leader starts to send to a member",
    ),
)

OTHER_LIBRARY = (
    Text(
        "JR_TWO_LEADERS",
        "Another peer {peer:peer_id} declares that it is the leader at term {term:int} which was occupied by leader {value}.",
        "two leaders in one term; value is the leader known before",
    ),
    Text(
        "JR_VOTE_TIMEOUT",
        "Candidate node {:node_id} term {term:int} steps down when election reaching vote timeout: fail to get quorum vote-granted.",
        "the candidate did not get a quorum in time",
    ),
    Text(
        "JR_ENTRY_CORRUPT",
        "Corrupted log entry received from leader, index={raft_index:int}, term={term:int}, expectedChecksum={}, realChecksum={}",
        "an entry from the leader is damaged",
    ),
    Text(
        "JR_NOT_MEMBER",
        "Node {:node_id} can't do electSelf as it is not in {:text}.",
        "a node outside of its group's members cannot be elected",
    ),
    Text("JR_NOT_MEMBER", "Node {:node_id} can't do preVote as it is not in conf <{:text}>."),
    Text(
        "JR_PREVOTE_SKIPPED",
        "Node {:node_id} term {term:int} doesn't do preVote when installing snapshot as the configuration may be out of date.",
        "the node waits for a snapshot before it may be elected",
    ),
    Text(
        "JR_NEVER_ELECTED",
        "Node {:node_id} is a learner, election timer is not started.",
        "the node takes no part in elections",
    ),
    Text("JR_NEVER_ELECTED", "Node {:node_id} will never participate in election, because it's priority={:int}."),
    Text(
        "JR_PREVOTE_IGNORED",
        "Node {:node_id} ignore PreVoteRequest from {peer:peer_id}, term={:int}, currTerm={term:int}, because the leader {value}'s lease is still valid.",
        "a question before an election got no answer: the leader is heard, the term is old, or the asker is no member",
    ),
    Text(
        "JR_PREVOTE_IGNORED",
        "Node {:node_id} ignore PreVoteRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    ),
    Text(
        "JR_PREVOTE_IGNORED",
        "Node {:node_id} ignore PreVoteRequest from {peer:peer_id} as it is not in conf <{:text}>.",
    ),
    Text(
        "JR_VOTE_IGNORED",
        "Node {:node_id} ignore RequestVoteRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
        "a vote was asked for in an old term",
    ),
    Text(
        "JR_LEADER_STALE",
        "Node {:node_id} ignore stale AppendEntriesRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
        "a leader of an old term sent entries or a snapshot, which were refused",
    ),
    Text(
        "JR_LEADER_STALE",
        "Node {:node_id} ignore stale InstallSnapshotRequest from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    ),
    Text(
        "JR_APPEND_REJECTED",
        "Node {:node_id} reject term_unmatched AppendEntriesRequest from {peer:peer_id}, term={term:int}, prevLogIndex={raft_index:int}, prevLogTerm={from_term:int}, localPrevLogTerm={:int}, lastLogIndex={ledger_end:int}, entriesSize={count:int}.",
        "the leader's entries do not fit the end of this log",
    ),
    Text(
        "JR_TERM_RAISED",
        "Node {:node_id} raise term {term:int} when get lastLogId.",
        "the term moved on while the node was about to vote or to be elected",
    ),
    Text("JR_TERM_RAISED", "Node {:node_id} raise term {term:int} when getLastLogId."),
    Text(
        "JR_VOTE_REPLY_DROPPED",
        "Node {:node_id} received invalid PreVoteResponse from {peer:peer_id}, state not in STATE_FOLLOWER but {value}.",
        "a reply came too late, or from a later term, in which the node steps down",
    ),
    Text(
        "JR_VOTE_REPLY_DROPPED",
        "Node {:node_id} received invalid PreVoteResponse from {peer:peer_id}, term {max_term:int}, expect={term:int}.",
    ),
    Text(
        "JR_VOTE_REPLY_DROPPED",
        "Node {:node_id} received invalid RequestVoteResponse from {peer:peer_id}, state not in STATE_CANDIDATE but {value}.",
    ),
    Text(
        "JR_VOTE_REPLY_DROPPED",
        "Node {:node_id} received invalid RequestVoteResponse from {peer:peer_id}, term={max_term:int}, expect={term:int}.",
    ),
    Text(
        "JR_VOTE_REPLY_DROPPED",
        "Node {:node_id} received invalid PreVoteResponse from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    ),
    Text(
        "JR_VOTE_REPLY_DROPPED",
        "Node {:node_id} received stale RequestVoteResponse from {peer:peer_id}, term={from_term:int}, currTerm={term:int}.",
    ),
    Text(
        "JR_VOTE_SEND_ERR",
        "Node {:node_id} PreVote to {peer:peer_id} error: {result:text}.",
        "a peer did not answer a question before an election, or for a vote",
    ),
    Text("JR_VOTE_SEND_ERR", "Node {:node_id} RequestVote to {peer:peer_id} error: {result:text}."),
    Text(
        "JR_TRANSFER",
        "Node {:node_id} starts to transfer leadership to peer {peer:peer_id}.",
        "the leader hands over as planned",
    ),
    Text("JR_TRANSFER", "Node {:node_id} starts to transfer leadership to any peer."),
    Text(
        "JR_TRANSFER_FAILED",
        "Node {:node_id} failed to transfer leadership to peer {peer:peer_id}, reached timeout.",
        "a transfer of leadership did not complete",
    ),
    Text(
        "JR_TRANSFER_FAILED",
        "Node {:node_id} can't transfer leadership to peer {peer:peer_id} as it is in state {value}.",
    ),
    Text(
        "JR_TRANSFER_FAILED",
        "Node {:node_id} refused to transfer leadership to peer {peer:peer_id} as it is not in {:text}.",
    ),
    Text(
        "JR_TRANSFER_FAILED",
        "Node {:node_id} refused to transfer leadership to peer {peer:peer_id} when the leader is changing the configuration.",
    ),
    Text(
        "JR_TAKE",
        "Node {:node_id} received TimeoutNowRequest from {peer:peer_id}, term={term:int}.",
        "the successor begins its election at once",
    ),
    Text(
        "JR_TAKE_REFUSED",
        "Node {:node_id} received TimeoutNowRequest from {peer:peer_id} while currTerm={term:int} didn't match requestTerm={from_term:int}.",
        "who should take over could not",
    ),
    Text(
        "JR_TAKE_REFUSED",
        "Node {:node_id} received TimeoutNowRequest from {peer:peer_id}, while state={value}, term={term:int}.",
    ),
    Text(
        "JR_PEERS",
        "Node {:node_id} change peers from {value_before} to {value}.",
        "other members of the group are wanted",
    ),
    Text("JR_PEERS", "Node {:node_id} set peers from {value_before} to {value}."),
    Text("JR_PEERS", "Node {:node_id} set peers to {value} from empty."),
    Text("JR_PEERS", "Node {:node_id} set empty peers."),
    Text(
        "JR_PEERS_REFUSED",
        "Node {:node_id} refused configuration changing as the state={value}.",
        "other members of the group were refused",
    ),
    Text("JR_PEERS_REFUSED", "Node {:node_id} refused configuration concurrent changing."),
    Text("JR_PEERS_REFUSED", "Node {:node_id} is in state {value}, can't set peers."),
    Text("JR_PEERS_REFUSED", "Node {:node_id} set peers need wait current conf changing."),
    Text(
        "JR_SNAPSHOT_INSTALL",
        "Node {:node_id} received InstallSnapshotRequest from {peer:peer_id}, lastIncludedLogIndex={peer_ledger_end:int}, lastIncludedLogTerm={peer_ledger_end_term:int}, lastLogId={:log_id}.",
        "the leader's snapshot takes the place of the node's log; ledger_end is what it had",
    ),
    Text(
        "JR_SHUTDOWN", "Node {:node_id} shutdown, currTerm={term:int} state={value}.", "the JRaft node is being stopped"
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
    Text(
        "JR_LOG_RESET", "Resetting storage to nextLogIndex={raft_index:int}.", "the log begins anew behind a snapshot"
    ),
    Text(
        "JR_SEND_ERR",
        "Fail to issue RPC to {peer:peer_id}, consecutiveErrorTimes={count:int}, error={result:text}, groupId={replica_group}",
        "a peer is not reached by the leader",
    ),
    Text("JR_SEND_ERR", "Fail to issue RPC to {peer:peer_id}, consecutiveErrorTimes={count:int}, error={result:text}"),
    Text("JR_INIT_ERR", "Node {:node_id} initFSMCaller failed.", "the JRaft node could not start"),
    Text("JR_INIT_ERR", "Node {:node_id} initLogStorage failed."),
    Text("JR_INIT_ERR", "Node {:node_id} initMetaStorage failed."),
    Text("JR_INIT_ERR", "Node {:node_id} initSnapshotStorage failed."),
    Text("JR_INIT_ERR", "Node {:node_id} init ballotBox failed."),
    Text("JR_INIT_ERR", "Node {:node_id} init meta storage failed, uri={:text}."),
)
"""Rarer lines of the library: votes that do not count, hand-overs, members, its log."""

TEXTS = (
    *under("jraft", (*LEADERSHIP, *LIBRARY, *OTHER_LIBRARY)),
    *under("controller", DECISIONS_AND_BROKERS),
)
