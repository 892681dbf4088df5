"""What a controller prints, mostly on DLedger (apache/rocketmq, ``org.apache.rocketmq.controller``).

In ``controller.log``; of a controller inside a name server in ``namesrv.log``.
"""

from collections.abc import Mapping

from election_replay.election_core.dialects.dialect import Text, signs, under
from election_replay.election_core.dialects.rocketmq.shapes import decided
from election_replay.election_core.model.deeds import Deed

CONTROLLER_THREADS = (
    "DefaultBrokerHeartbeatManager_",
    "RaftBrokerHeartbeatManager_",
    "ControllerRequestExecutorThread_",
    "DLedgerController",
)


def from_controller(thread: str, stream: str) -> bool:
    """Return True for a line of a controller, alone or inside a name server."""
    return stream.startswith("controller") or thread.startswith(CONTROLLER_THREADS)


ALTER: Mapping[str, str] = {"request": "alterSyncStateSet"}

LEADERSHIP = (
    Text(
        "CTL_CANDIDATE",
        "Controller {node} change role to candidate",
        "the controller is candidate",
        does=(Deed.NAMES_WRITER,),
    ),
    Text(
        "CTL_FOLLOWER",
        "Controller {node} change role to Follower, leaderId:{peer}",
        "the controller follows; the leader is read when the line is written",
        does=(Deed.NAMES_WRITER,),
    ),
    Text(
        "CTL_LEADER_BEGIN",
        "Controller {node} change role to leader, try process a initial proposal",
        "the controller was elected and does not serve yet",
        does=(Deed.NAMES_WRITER,),
    ),
    Text("CTL_LEADER_END", "Stop scheduling controller events", "the controller stopped to serve as leader"),
)

DECISIONS = (
    Text(
        "CTL_EVENT",
        "Event queue run event {request}, get the result {value:text}",
        "what the leading controller decided, before it was replicated",
        then=decided,
    ),
    Text(
        "CTL_EVENT_NOT_COMMITTED",
        "Failed to append event to DLedger, the response is {value:text}, try cancel the future",
        "no confirmation for the decision just before: its outcome is unknown",
    ),
    Text(
        "CTL_APPLIED",
        "Apply {count:int} events index from {committed_from:int} to {committed_to:int} on controller {:self_in_group}",
        "committed entries were applied",
        does=(Deed.NAMES_WRITER,),
    ),
    Text("CTL_APPLIED", "Apply {count:int} events on controller {:self_in_group}"),
    Text(
        "CTL_ELECT_OK",
        "Elect new master {node} for broker {replica_group}",
        "a new master was chosen, before replication",
    ),
    Text(
        "CTL_ELECT_NONE",
        "Failed to elect a new master for broker {replica_group}",
        "no replica can become master",
    ),
    Text(
        "CTL_SSS_SAME",
        "The newSyncStateSet is equal with oldSyncStateSet, no needed to update syncStateSet",
        "SyncStateSet request refused: nothing to change",
        sets=ALTER,
    ),
    Text(
        "CTL_SSS_NOT_MASTER",
        "Rejecting alter syncStateSet request because the current leader is:{{{peer}}}, not {{{node}}}",
        "SyncStateSet request refused: the node that asks is not the master",
        sets=ALTER,
    ),
    Text(
        "CTL_SSS_MASTER_EPOCH",
        "Rejecting alter syncStateSet request because the current master epoch is:{{{term:int}}}, not {{{from_term:int}}}",
        "SyncStateSet request refused: another master epoch",
        sets=ALTER,
    ),
    Text(
        "CTL_SSS_EPOCH",
        "Rejecting alter syncStateSet request because the current syncStateSet epoch is:{{{sync_state_set_epoch:int}}}, not {{{value}}}",
        "SyncStateSet request refused: another epoch of the set; value is the one asked with",
        sets=ALTER,
    ),
    Text(
        "CTL_SSS_UNKNOWN_REPLICA",
        "Rejecting alter syncStateSet request because the replicas {{{value}}} don't exist",
        "SyncStateSet request refused: an unknown replica",
        sets=ALTER,
    ),
    Text(
        "CTL_SSS_DEAD_REPLICA",
        "Rejecting alter syncStateSet request because the replicas {{{value}}} don't alive",
        "SyncStateSet request refused: a replica without heartbeat",
        sets=ALTER,
    ),
    Text(
        "CTL_SSS_NO_MASTER_IN_SET",
        "Rejecting alter syncStateSet request because the newSyncStateSet don't contains origin leader {{{peer}}}",
        "SyncStateSet request refused: the master is not in the wanted set",
        sets=ALTER,
    ),
    Text(
        "CTL_ELECT_DONE",
        "Elect a new master in broker-set: {replica_group} done, result: {:text}",
        "an election that the controller began itself is committed",
    ),
    Text(
        "CTL_ELECT_DONE",
        "Broker {replica_group}'s master {address} shutdown, elect a new master done, result:{:text}",
    ),
    Text(
        "CTL_ELECT_FAILED",
        "Failed to trigger elect-master in broker-set: {replica_group}",
        "an election that the controller began itself found no master",
    ),
)

BROKERS = (
    Text(
        "CTL_SCAN",
        "start scanNotActiveBroker",
        "the controller looks for silent brokers, every few seconds",
        when=from_controller,
    ),
    Text(
        "CTL_BROKER_EXPIRED",
        "The broker channel {:text} expired, brokerInfo {:identity}, expired {duration_ms:int}ms",
        "a broker's heartbeat is older than its timeout",
    ),
    Text(
        "CTL_BROKER_EXPIRED",
        "The broker channel {:text} expired, brokerInfo {:live_address}, expired {duration_ms:int}ms",
    ),
    Text(
        "CTL_BROKER_CHANNEL_CLOSED",
        "Channel {:text} inactive, broker {replica_group}, addr:{address}, id:{broker_id}",
        "the connection of a broker was closed",
    ),
    Text(
        "CTL_INACTIVE",
        "Controller Manager received broker inactive event, clusterName: {cluster_name}, brokerName: {replica_group}, brokerId: {broker_id}",
        "a broker counts as gone; without id: the periodic check asks for an election",
    ),
)

OTHER_RELEASES = (
    Text(
        "CTL_STATE_MACHINE_ERR",
        "Encountered an error on StateMachine {:text}, dLedger may stop working since some error occurs, you should figure out the cause and repair or remove this node.",
        "the controller's DLedger member may have stopped for good",
    ),
    Text(
        "CTL_EVENT_LOST",
        "serialize event message error, event: {value:text}, this event will be discard",
        "a decision could not be written or read, and is left out by this controller",
    ),
    Text("CTL_EVENT_LOST", "deserialize event message error, event id: {:int}, data length: {:int}"),
    Text("CTL_EVENT_LOST", "deserialize event message error, event id: {:int}, data: {:text}"),
)
"""Lines of a controller about its own log and state, and about brokers that leave."""

SIGNS = (
    *signs(
        "CTL_SIGN",
        "Start scheduling controller events",
        "The old master {node} is still alive, not need to elect new master for broker {replica_group}",
        "new broker registered, {:text}, brokerId:{broker_id}",
        "The broker with brokerId: {broker_id} in broker-set: {replica_group} has been inactive",
        "The {replica_group} broker with IP address {address} shutdown",
        "Try notify broker {address} that role changed, RoleChangeNotifyEntry:{:text}",
        "Try notify broker {address} with id {broker_id} that role changed, responseHeader:{:text}",
        "Start event scheduler.",
        "Append a initial log failed because current state is not leader",
        "Controller leader append initial log failed, try {count:int} times",
        "Controller leader append initial log failed too many times, please wait a while",
        "Error happen when controller leader append initial request to DLedger",
        "Failed to append entry to DLedger",
        "Error happen when handle event {request}",
        "Error happen in EventScheduler when append event",
        "Receive an ElectMasterEvent which contains the un-registered broker, event = {value:text}",
        "deserialize replicaInfoTable or syncStateSetInfoTable error",
        "Failed to trigger elect-master in broker-set: {replica_group}, retryCount: {count:int}",
        "Failed to get replica-info for broker-set: {replica_group} when OnBrokerInactive",
        "Failed to notify broker {address} that role changed",
        "Failed to notify broker {address} with id {broker_id} that role changed",
        "Notify broker role change failed, because member group is not null but the new master brokerId is empty, entry:{:text}",
        "process request: {:text} error, ",
        "Broker{replica_group}' master shutdown",
        "Change broker {address}'s brokerId to {broker_id}",
        "Failed to append event to dledger, the response is {result:text}, try cancel the future",
        "Error happen when controller leader append initial request to dledger",
        "StateMachine {value:text} onShutdown",
        "Fail to load snapshot from {value:text}",
        "Fail to save snapshot",
        "Fail to find data file in {value:text}",
        "serialize replicaInfoTable or syncStateSetInfoTable error",
    ),
    Text("CTL_SIGN", "scanNotActiveBroker exception", when=from_controller),
    Text("CTL_SIGN", "updateConfig called by {address}", when=from_controller),
)

TEXTS = under("controller", (*LEADERSHIP, *DECISIONS, *BROKERS, *OTHER_RELEASES, *SIGNS))
