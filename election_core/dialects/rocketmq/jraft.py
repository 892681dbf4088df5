"""What a controller on JRaft prints (apache/rocketmq, ``org.apache.rocketmq.controller.impl.JRaft*``, since 5.2.0).

In ``controller.log`` or ``namesrv.log``; the lines of the JRaft library itself (sofastack/sofa-jraft) in ``jraft.log``.
Decisions are printed by every controller after they were committed, and again when it reads its log at a start.
"""

from election_core.dialects.dialect import Text, under
from election_core.dialects.rocketmq.shapes import committed, decided

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

TEXTS = (
    *under("jraft", (*LEADERSHIP, *LIBRARY)),
    *under("controller", DECISIONS_AND_BROKERS),
)
