"""What a name server prints about brokers (``org.apache.rocketmq.namesrv``), in ``namesrv.log``."""

from election_replay.election_core.dialects.dialect import Text, under
from election_replay.election_core.dialects.rocketmq.controller import from_controller


def from_name_server(thread: str, stream: str) -> bool:
    """Return True for a line of a name server, and not of a controller inside it."""
    return not from_controller(thread, stream)


BROKERS = (
    Text(
        "NS_BROKER_NEW",
        "new broker registered, {:live_address} HAService: {peer_address}",
        "an address entered the table of live brokers; peer_address is its replication address",
    ),
    Text("NS_BROKER_NEW", "new broker registered, {address} HAServer: {peer_address}"),
    Text(
        "NS_MASTER_ADDRESS",
        "cluster [{cluster_name}] brokerName [{replica_group}] master address change from {peer_address} to {address}",
        "the master's address, at each of its registrations (4.9.4 to 4.9.8)",
    ),
    Text(
        "NS_REG_CONFLICT",
        "Registering Broker conflicts with the existed one, just ignore.: Cluster:{cluster_name}, BrokerName:{replica_group}, BrokerId:{broker_id}, Old BrokerAddr:{peer_address}, Old Version:{:int}, New BrokerAddr:{address}, New Version:{state_version:int}.",
        "two addresses claim one broker id; the new one has the smaller version and is ignored",
    ),
    Text(
        "NS_REG_CONFLICT",
        "Registered Broker conflicts with the existed one, just ignore.: Cluster:{cluster_name}, BrokerName:{replica_group}, BrokerId:{broker_id}, Old BrokerAddr:{peer_address}, Old Version:{:int}, New BrokerAddr:{address}, New Version:{state_version:int}.",
    ),
    Text(
        "NS_REG_PARTIAL",
        "Can't register topicConfigWrapper={:text} because broker[{broker_id}]={address} has not registered.",
        "a broker told of one topic before its registration",
    ),
    Text("NS_REG_ERR", "registerBroker Exception", "a registration failed"),
    Text(
        "NS_MIN_CHANGED",
        "min broker id changed to {broker_id}, notify {value:text}, offline broker addr {address}",
        "the smallest live id of a set changed; value: who was told; no address: a smaller id came",
    ),
    Text(
        "NS_UNREG_LIVE",
        "unregisterBroker, remove from brokerLiveTable {result}, {:live_address}",
        "an address left the table of live brokers",
    ),
    Text("NS_UNREG_LIVE", "unregisterBroker, remove from brokerLiveTable {result}, {address}"),
    Text(
        "NS_UNREG_ADDR",
        "unregisterBroker, remove addr from brokerAddrTable {result}, {:live_address}",
        "an address left its broker set",
    ),
    Text("NS_UNREG_ADDR", "unregisterBroker, remove addr from brokerAddrTable {result}, {address}"),
    Text(
        "NS_UNREG_ADDR",
        "remove brokerAddr[{broker_id}, {address}] from brokerAddrTable, because channel destroyed",
    ),
    Text(
        "NS_UNREG_NAME",
        "unregisterBroker, remove name from brokerAddrTable OK, {replica_group}",
        "the last address of a broker set left",
    ),
    Text(
        "NS_UNREG_NAME",
        "remove brokerName[{replica_group}] from brokerAddrTable, because channel destroyed",
    ),
    Text(
        "NS_UNREG_CLUSTER_NAME",
        "unregisterBroker, remove name from clusterAddrTable {result}, {replica_group}",
        "a broker set left its cluster",
    ),
    Text(
        "NS_UNREG_CLUSTER_NAME",
        "remove brokerName[{replica_group}], clusterName[{cluster_name}] from clusterAddrTable, because channel destroyed",
    ),
    Text(
        "NS_UNREG_CLUSTER",
        "unregisterBroker, remove cluster from clusterAddrTable {cluster_name}",
        "the last broker set of a cluster left",
    ),
    Text(
        "NS_UNREG_CLUSTER",
        "remove the clusterName[{cluster_name}] from clusterAddrTable, because channel destroyed and no broker in this cluster",
    ),
    Text("NS_UNREG_ERR", "unregisterBroker Exception", "a broker's leave failed"),
    Text(
        "NS_SCAN",
        "start scanNotActiveBroker",
        "the name server looks for silent brokers, every few seconds",
        when=from_name_server,
    ),
    Text(
        "NS_SCAN_ERR",
        "scanNotActiveBroker exception",
        "the look for silent brokers failed",
        when=from_name_server,
    ),
    Text(
        "NS_BROKER_EXPIRED",
        "The broker channel expired, {:live_address} {duration_ms:int}ms",
        "a broker was silent for too long; ten seconds: slave acting master is on",
    ),
    Text("NS_BROKER_EXPIRED", "The broker channel expired, {address} {duration_ms:int}ms"),
    Text(
        "NS_CHANNEL_CLOSED",
        "the broker's channel destroyed, submit the unregister request at once, broker info: {:text}, submit result: {flag:bool}",
        "the connection of a broker closed; its address stands in the NS_UNREG_LIVE that follows",
    ),
    Text("NS_CHANNEL_CLOSED", "the broker's channel destroyed, {address}, clean it's data structure at once"),
    Text("NS_CHANNEL_ERR", "onChannelDestroy Exception", "a closed connection could not be handled"),
    Text(
        "NS_UNREG_QUEUE_FULL",
        "Couldn't submit the unregister broker request to handler, broker info: {:text}",
        "a broker's leave was dropped",
    ),
    Text("NS_UNREG_BATCH_ERR", "Handle unregister broker request failed", "a broker's leave failed"),
    Text(
        "NS_REG_CRC",
        "receive registerBroker request,crc32 not match,from {address}",
        "a damaged registration was refused",
    ),
    Text("NS_REG_CRC", "receive registerBroker request,crc32 not match"),
    Text(
        "NS_WIPE_WRITE",
        "wipe write perm of broker[{replica_group}], client: {peer_address}, {count:int}",
        "an operator took a broker set's write permission",
    ),
    Text(
        "NS_ADD_WRITE",
        "add write perm of broker[{replica_group}], client: {peer_address}, {count:int}",
        "an operator gave a broker set its write permission back",
    ),
    Text(
        "NS_CONFIG_UPDATE",
        "updateConfig called by {peer_address}",
        "an operator changed the name server's settings",
        when=from_name_server,
    ),
    Text(
        "NS_NOT_READY",
        "name server not ready. request code {count:int} ",
        "a client asked before the start was over",
    ),
    Text("NS_MEMBERS_ERR", "Get broker member group exception", "the members of a set could not be told"),
)

TOPICS = (
    Text(
        "NS_TOPIC_CHANGED",
        "topic changed, {topic} OLD: {:old_queue_data} NEW: {:queue_data}",
        "a broker set's queues or permissions of a topic changed; value: permission, 4 read, 2 write",
    ),
    Text(
        "NS_TOPIC_NEW",
        "new topic registered, {topic} {:queue_data}",
        "a broker set offers a topic; value: permission, 4 read, 2 write",
    ),
    Text(
        "NS_TOPIC_REMOVED",
        "deleteTopic, remove one broker's topic {} {topic} {:queue_data}",
        "a topic was taken from a broker set",
    ),
    Text(
        "NS_TOPIC_REMOVED",
        "remove topic[{topic} {:queue_data}], from topicQueueTable, because channel destroyed",
    ),
    Text("NS_TOPIC_GONE", "deleteTopic, remove the topic all queue {topic}", "a topic was removed"),
    Text("NS_TOPIC_GONE", "remove topic[{topic}] all queue, from topicQueueTable, because channel destroyed"),
    Text("NS_TOPIC_ROUTE", "Register topic route:{topic}, {:text}", "an operator registered a topic by hand"),
    Text("NS_ROUTE_ERR", "pickupTopicRouteData Exception", "a topic's route could not be told"),
)

TEXTS = under("acting_master", (*BROKERS, *TOPICS))
