"""What a name server prints about brokers (``org.apache.rocketmq.namesrv``), in ``namesrv.log``."""

from election_replay.election_core.dialects.dialect import Text, signs, under
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
        "NS_REG_CONFLICT",
        "Registering Broker conflicts with the existed one, just ignore.: Cluster:{cluster_name}, BrokerName:{replica_group}, BrokerId:{broker_id}, Old BrokerAddr:{peer_address}, Old Version:{:int}, New BrokerAddr:{address}, New Version:{state_version:int}.",
        "two addresses claim one broker id; the new one has the smaller version and is ignored",
    ),
    Text(
        "NS_REG_CONFLICT",
        "Registered Broker conflicts with the existed one, just ignore.: Cluster:{cluster_name}, BrokerName:{replica_group}, BrokerId:{broker_id}, Old BrokerAddr:{peer_address}, Old Version:{:int}, New BrokerAddr:{address}, New Version:{state_version:int}.",
    ),
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
        "NS_SCAN",
        "start scanNotActiveBroker",
        "the name server looks for silent brokers, every few seconds",
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
)

SIGNS = (
    *signs(
        "NS_SIGN",
        "cluster [{cluster_name}] brokerName [{replica_group}] master address change from {peer_address} to {address}",
        "Can't register topicConfigWrapper={:text} because broker[{broker_id}]={address} has not registered.",
        "registerBroker Exception",
        "unregisterBroker, remove name from clusterAddrTable {result}, {replica_group}",
        "remove brokerName[{replica_group}], clusterName[{cluster_name}] from clusterAddrTable, because channel destroyed",
        "unregisterBroker, remove cluster from clusterAddrTable {cluster_name}",
        "remove the clusterName[{cluster_name}] from clusterAddrTable, because channel destroyed and no broker in this cluster",
        "unregisterBroker Exception",
        "onChannelDestroy Exception",
        "Couldn't submit the unregister broker request to handler, broker info: {:text}",
        "Handle unregister broker request failed",
        "receive registerBroker request,crc32 not match,from {address}",
        "receive registerBroker request,crc32 not match",
        "name server not ready. request code {count:int} ",
        "Get broker member group exception",
        "deleteTopic, remove one broker's topic {} {topic} {:queue_data}",
        "remove topic[{topic} {:queue_data}], from topicQueueTable, because channel destroyed",
        "deleteTopic, remove the topic all queue {topic}",
        "remove topic[{topic}] all queue, from topicQueueTable, because channel destroyed",
        "Register topic route:{topic}, {:text}",
        "pickupTopicRouteData Exception",
    ),
    Text("NS_SIGN", "scanNotActiveBroker exception", when=from_name_server),
    Text("NS_SIGN", "updateConfig called by {peer_address}", when=from_name_server),
)

TEXTS = under("acting_master", (*BROKERS, *TOPICS, *SIGNS))
