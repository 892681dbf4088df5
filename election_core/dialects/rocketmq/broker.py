"""What a broker prints about its role, its registration and its metadata (``org.apache.rocketmq.broker``).

In ``broker.log``; the rounds of transaction checks in ``transaction.log``.
"""

from election_replay.election_core.dialects.dialect import Text, off_thread, on_thread, signs, under

MASTER, SLAVE = {"role": "SYNC_MASTER"}, {"role": "SLAVE"}
PRE_ONLINE = "BrokerPreOnlineService"
BEFORE_ONLINE, WHEN_ONLINE = on_thread(PRE_ONLINE), off_thread(PRE_ONLINE)

CONTROLLER_MODE = (
    Text(
        "BRK_STATE_SYNCED",
        "First time sync controller metadata success, change state to: {value}",
        "the broker knows the controllers",
    ),
    Text("BRK_STATE_SYNCED", "First time sync controller metadata success"),
    Text("BRK_REG_STATE", "Confirm now register state: {value}", "what the identity files say at start"),
    Text(
        "BRK_REG_TEMP",
        "Register state change to {value}, temp metadata: {:identity}",
        "a broker id was proposed and written to the temporary identity file",
    ),
    Text(
        "BRK_REG_APPLIED",
        "Register state change to: {value}, metadata: {:identity}",
        "the broker id is owned and written to the identity file",
    ),
    Text(
        "BRK_REG_DONE",
        "Register state change to: {value}, masterBrokerId: {peer}, masterBrokerAddr: {peer_address}",
        "the broker is registered; the master, if there is one",
    ),
    Text(
        "BRK_REG_RESET",
        "Register state change to: {value}",
        "the proposed broker id belongs to another broker",
    ),
    Text(
        "BRK_STATE_REGISTERED",
        "First time register broker success, change state to: {value}",
        "the first registration is done",
    ),
    Text("BRK_STATE_REGISTERED", "First time register broker success"),
    Text("BRK_REG_GAVE_UP", "Register to broker failed 5 times", "one series of tries to register failed"),
    Text(
        "BRK_START_RETRY",
        "Failed to start replicasManager, retry times:{count:int}, current state:{value}, try it again",
        "the start of the controller mode failed once",
    ),
    Text("BRK_START_FAILED", "Failed to start replicasManager", "the start of the controller mode failed"),
    Text(
        "BRK_MASTER_BEGIN",
        "Begin to change to master, brokerName:{replica_group}, replicas:{address}, new Epoch:{term:int}",
        "the broker becomes master of a new epoch",
        sets=MASTER,
    ),
    Text(
        "BRK_SLAVE_BEGIN",
        "Begin to change to slave, brokerName={replica_group}, brokerId={node}, newMasterBrokerId={peer}, newMasterAddress={peer_address}, newMasterEpoch={term:int}",
        "the broker becomes slave of a new master",
        sets=SLAVE,
    ),
    Text(
        "BRK_SLAVE_BEGIN",
        "Begin to change to slave, brokerName={replica_group}, replicas={address}, brokerId={node}",
        sets=SLAVE,
    ),
    Text(
        "BRK_ROLE_DONE",
        "Change broker [id:{node}][address:{address}] to {role}, newMasterBrokerId:{peer}, newMasterAddress:{peer_address}, newMasterEpoch:{term:int}, syncStateSetEpoch:{sync_state_set_epoch:int}",
        "a change of role is finished and told to the name servers; may show a later state already",
    ),
    Text(
        "BRK_ROLE_DONE",
        "Change broker {address} to master success, masterEpoch {term:int}, syncStateSetEpoch:{sync_state_set_epoch:int}",
        sets=MASTER,
    ),
    Text(
        "BRK_ROLE_DONE",
        "Change broker {address} to slave, newMasterAddress:{peer_address}, newMasterEpoch:{term:int}",
        sets=SLAVE,
    ),
    Text(
        "BRK_ROLE_REG_ERR",
        "Error happen when register broker to name-srv, Failed to change broker to {role}",
        "the role changed, the name servers were not told",
    ),
    Text(
        "BRK_PRODUCER_NEW",
        "new producer connected, group: {value} channel: {:text}",
        "the first heartbeat of a producer, or of a client's own one (CLIENT_INNER_PRODUCER), on a connection",
    ),
    Text(
        "BRK_SSS_CHANGED",
        "SyncStateSet changed from {members_before:ids} to {members:ids}",
        "the broker learned a newer SyncStateSet",
    ),
    Text("BRK_SSS_CHANGED", "Sync state set changed from {members_before:ids} to {members:ids}"),
    Text(
        "BRK_SSS_ALTER_ERR",
        "Error happen when change SyncStateSet, broker:{replica_group}, masterAddress:{address}, masterEpoch:{term:int}, oldSyncStateSet:{members_before:ids}, newSyncStateSet:{members:ids}, syncStateSetEpoch:{sync_state_set_epoch:int}",
        "the controller refused a wanted SyncStateSet or was not reached; the code tells which",
    ),
    Text(
        "BRK_SSS_ALTER_ERR",
        "Error happen when change sync state set, broker:{replica_group}, masterAddress:{address}, masterEpoch:{term:int}, oldSyncStateSet:{members_before:ids}, newSyncStateSet:{members:ids}, syncStateSetEpoch:{sync_state_set_epoch:int}",
    ),
    Text("BRK_ELECT_NO_MASTER", "Now no master in broker set", "the controller knows no master of this set"),
    Text("BRK_ELECT_NO_MASTER", "No master in controller"),
    Text("BRK_ELECT_FAILED", "Failed to try elect", "the broker asked to be elected in vain"),
    Text(
        "BRK_CTL_LEADER",
        "Update controller leader address to {peer_address}",
        "the leading controller, at every poll",
    ),
    Text("BRK_CTL_POLL_ERR", "Failed to update controller metadata", "no controller answered who leads"),
    Text(
        "BRK_CTL_NONE",
        "Failed to init controller metadata, maybe the controllers in {value:text} is not available",
        "no controller was reached at start",
    ),
    Text(
        "BRK_META_POLL_ERR",
        "Error happen when get broker {replica_group}'s metadata",
        "the controller did not answer who is master",
    ),
    Text(
        "BRK_REG_FILE_INVALID",
        "Check and find that metadata/tempMetadata invalid, you can modify the broker config to make them valid",
        "the identity files belong to another broker",
    ),
    Text("BRK_REG_ERR", "Failed to register broker to controller", "a registration failed"),
    Text("BRK_REG_NEXT_ERR", "fail to get next broker id from controller", "no broker id was proposed"),
    Text("BRK_REG_APPLY_ERR", "fail to apply broker id: {value:text}", "the proposed broker id was refused"),
    Text(
        "BRK_REG_SEND_ERR",
        "fail to send registerBrokerToController request to controller",
        "the registration was refused or not sent",
    ),
    Text(
        "BRK_REG_TEMP_CLUSTER",
        "The clusterName: {value_before} in broker temp metadata is different from the clusterName: {value} in broker config",
        "the temporary identity names another cluster",
    ),
    Text(
        "BRK_REG_TEMP_NAME",
        "The brokerName: {value_before} in broker temp metadata is different from the brokerName: {value} in broker config",
        "the temporary identity names another broker set",
    ),
    Text(
        "BRK_CTL_UNREACHABLE",
        "scanAvailableControllerAddresses remove unconnected address {peer_address}",
        "a controller is not reached",
    ),
    Text(
        "BRK_CTL_NO_ADDR",
        "scanAvailableControllerAddresses addresses of controller is null!",
        "no controller is configured",
    ),
    Text(
        "BRK_CTL_HB_ERR",
        "Error happen when send heartbeat to controller {peer_address}",
        "a heartbeat did not reach a controller",
    ),
)

DLEDGER_MODE = (
    Text(
        "DLB_ROLE_BEGIN",
        "Begin handling broker role change term={term:int} role={role} currStoreRole={value_before}",
        "a DLedger broker starts to follow a change of role",
    ),
    Text(
        "DLB_ROLE_END",
        "Finish handling broker role change succ={flag:bool} term={term:int} role={role} currStoreRole={value_before} cost={duration_ms:int}",
        "a DLedger broker has followed a change of role, or in vain",
    ),
    Text(
        "DLB_ROLE_ERR",
        "[MONITOR]Failed handling broker role change term={term:int} role={role} currStoreRole={value_before} cost={duration_ms:int}",
        "a DLedger broker could not follow a change of role",
    ),
    Text(
        "DLB_SLAVE_BEGIN",
        "Begin to change to slave brokerName={replica_group} brokerId={broker_id}",
        "a DLedger broker becomes slave",
        sets=SLAVE,
    ),
    Text(
        "DLB_SLAVE_END",
        "Finish to change to slave brokerName={replica_group} brokerId={broker_id}",
        "a DLedger broker is slave",
        sets=SLAVE,
    ),
    Text(
        "DLB_MASTER_BEGIN",
        "Begin to change to master brokerName={replica_group}",
        "a DLedger broker becomes master",
        sets=MASTER,
    ),
    Text(
        "DLB_MASTER_END",
        "Finish to change to master brokerName={replica_group}",
        "a DLedger broker is master",
        sets=MASTER,
    ),
)

SMALLEST_ID = (
    Text(
        "BRK_MIN_CHANGED",
        "Min broker changed, old: {value_before:min_id}, new {:min_broker}",
        "the smallest live id of the set changed, as this broker sees it",
    ),
)

SERVICES = (
    Text(
        "BRK_SERVICE_ON_MIN",
        "{:canonical} start service, min broker id is {peer}, min broker addr: {peer_address}",
        "the broker registers and serves; the smallest live id of its set",
    ),
    Text("BRK_SERVICE_ON", "{:canonical} start service", "the broker registers and serves"),
    Text("BRK_SERVICE_OFF", "{:canonical} stop service", "the broker isolates itself"),
    Text(
        "BRK_SCHEDULE",
        "ScheduleServiceStatus changed to {flag:bool}",
        "the broker starts or stops to deliver delayed messages",
    ),
    Text(
        "BRK_TX_CHECK",
        "TransactionCheckService status changed to {flag:bool}",
        "the broker starts or stops to check half messages",
    ),
    Text(
        "BRK_POP_REVIVE",
        "Set PopReviveService Status to {flag:bool}",
        "the special services were set, changed or not",
    ),
    Text(
        "BRK_MEMBERS_ERR",
        "syncBrokerMemberGroup from namesrv failed, ",
        "the members of the set could not be asked for",
    ),
    Text("BRK_MEMBERS_ERR", "sync BrokerMemberGroup error."),
)

NAME_SERVERS = (
    Text(
        "BRK_REG_NS_OK",
        "Registering current broker to name server completed. TargetHost={peer_address}",
        "the broker is registered at a name server",
    ),
    Text(
        "BRK_REG_NS_OK",
        "register broker[{broker_id}]to name server {peer_address} OK",
    ),
    Text(
        "BRK_REG_NS_FAILED",
        "Failed to register current broker to name server. TargetHost={peer_address}",
        "a name server was not reached for registration",
    ),
    Text("BRK_REG_NS_FAILED", "registerBroker Exception, {peer_address}"),
)


PRE_ONLINE_TEXTS = (
    Text("PRE_BEGIN", "{value:pre_online} service started", "the broker prepares to come online"),
    Text("PRE_NOT_NEEDED", "broker {:canonical} is online", "nothing to prepare: the broker is not isolated"),
    Text("PRE_ALONE", "no other broker online, will start service directly", "no other member of the set lives"),
    Text("PRE_NO_MASTER", "no master online, start service directly", "a slave comes online without a master"),
    Text(
        "PRE_NO_HA_ADDR",
        "fetch master ha address return null, start service directly",
        "a slave comes online without the master's replication address",
    ),
    Text(
        "PRE_WAIT_LOST",
        "wait for handshake completion failed, HA connection lost",
        "the connection with a member was lost",
    ),
    Text("PRE_SLAVE_DONE", "slave preOnline complete, start service", "a slave is ready to serve"),
    Text("PRE_MASTER_DONE", "master preOnline complete, start service", "a master is ready to serve"),
    Text(
        "PRE_REVERSE",
        "Get metadata reverse from {peer_address}",
        "a returning master reads offsets from this slave",
    ),
    Text(
        "PRE_REVERSE_CONSUMER",
        "{peer_address}'s consumerOffset data version is larger than master broker, {}'s consumerOffset will be used.",
        "a returning master takes over this slave's consumer offsets",
    ),
    Text(
        "PRE_REVERSE_DELAY",
        "{peer_address}'s scheduleMessageService data version is larger than master broker, {}'s delayOffset will be used.",
        "a returning master takes over this slave's delay offsets",
    ),
    Text(
        "PRE_REVERSE_TIMER",
        "{peer_address}'s timerCheckpoint data version is larger than master broker, {}'s timerCheckpoint will be used.",
        "a returning master takes over this slave's timer checkpoint",
    ),
    Text("PRE_REVERSE_ERR", "GetMetadataReverse Failed", "offsets could not be read from a slave"),
    Text(
        "PRE_PERSIST_ERR",
        "Persist file Exception, {value:text}",
        "offsets taken over could not be written",
        when=BEFORE_ONLINE,
    ),
    Text(
        "PRE_SEND_ERR",
        "send ha address to {peer_address} exception, {{}}",
        "a member was not told the replication address",
    ),
    Text("PRE_WAIT_ERR", "Wait handshake completion exception, {{}}", "the wait for a connection failed"),
    Text(
        "PRE_HA_INFO_ERR",
        "retrieve master ha info exception, {{}}",
        "the master's replication address could not be asked for before coming online",
        when=BEFORE_ONLINE,
    ),
    Text(
        "PRE_NS_ERR",
        "syncBrokerMemberGroup from namesrv error, start service failed, will try later, ",
        "the members could not be asked for; tried again later",
    ),
    Text(
        "PRE_NO_HA",
        "HAService is null, maybe broker config is wrong. For example, duplicationEnable is true",
        "there is no replication to wait for",
    ),
    Text("PRE_ERR", "Broker preOnline error, ", "the preparation failed once"),
)

METADATA = (
    Text(
        "SYNC_MASTER",
        "Update master address from {address} to {peer_address}",
        "from whom this broker copies metadata; to nobody: it stopped",
    ),
    Text("SYNC_TOPIC", "Update slave topic config from master, {peer_address}", "topics were copied"),
    Text(
        "SYNC_CONSUMER",
        "Update slave consumer offset from master, {peer_address}",
        "consumer offsets were copied",
    ),
    Text("SYNC_DELAY", "Update slave delay offset from master, {peer_address}", "delay offsets were copied"),
    Text("SYNC_GROUP", "Update slave Subscription Group from master, {peer_address}", "groups were copied"),
    Text(
        "SYNC_MODE",
        "Update slave Message Request Mode from master, {peer_address}",
        "request modes were copied",
    ),
    Text(
        "META_TOPIC_DELETE_NONE",
        "delete topic config failed, topic: {topic} not exists",
        "a topic that the master dropped was dropped on the slave",
    ),
    Text(
        "META_PULL_BEYOND_END",
        "the request offset: {start_offset:int} over flow badly, fix to {:int}, broker max offset: {max_offset:int}, consumer: {client_id}",
        "a consumer asks beyond the end of a queue: what it has read is not there; floods",
        floods=True,
    ),
    Text(
        "META_PULL_MOVED",
        "PULL_OFFSET_MOVED:none correction. topic={topic}, groupId={consumer_group}, requestOffset={start_offset:int}, suggestBrokerId={}",
        "a consumer asks for an offset that is not there; floods",
        floods=True,
    ),
    Text(
        "META_PULL_MOVED",
        "PULL_OFFSET_MOVED:correction offset. topic={topic}, groupId={consumer_group}, requestOffset={start_offset:int}, newOffset={:int}, suggestBrokerId={}",
    ),
    Text(
        "META_GROUP_DELETE_NONE",
        "delete subscription group failed, subscription groupName: {consumer_group} not exist",
        "a group that the master dropped was dropped on the slave",
    ),
)

SIGNS = (
    *signs(
        "BRK_SIGN",
        "Master in this broker set is elected, masterBrokerId: {peer}, masterBrokerAddr: {peer_address}",
        "All register process has been done, change state to: {value}",
        "Start replicasManager success, retry times:{count:int}",
        "Failed to create temp metadata file, nextBrokerId: {broker_id}",
        "The clusterName: {value_before} in broker metadata is different from the clusterName: {value} in broker config",
        "The brokerName: {value_before} in broker metadata is different from the brokerName: {value} in broker config",
        "Receive notifyBrokerRoleChanged request, try to change brokerRole, request:{:text}",
        "Skip register for broker is isolated",
        "Couldn't find any broker member from namesrv in {cluster_name}/{replica_group}",
        "[MONITOR] handleScheduleMessageService failed when changing to {role}",
        "[MONITOR] startProcessorByHa failed when changing to {role}",
        "[MONITOR] shutdownProcessorByHa failed when changing to {role}",
        "ScheduledTask SlaveSynchronize syncAll error.",
        "Set master flush offset in slave to {max_offset:int}",
        "Check syncStateSet error",
        "Failed to create metadata file and delete temp metadata file, temp metadata: {:identity}",
        "scanAvailableControllerAddresses remove invalid address {peer_address}",
        "Read metadata file failed",
        "Read temp metadata file failed",
        "update and persist temp broker metadata file failed",
        "fail to create metadata file",
        "Register to namesrv after {version_timestamp:int}",
        "BrokerController#doRegisterBrokerAll: broker has shutdown, no need to register any more.",
        "registerBrokerAll Exception",
        "Set user specified name server address: {value:text}",
        "Registration to one or more name servers does NOT complete within deadline. Timeout threshold: {duration_ms:int}ms",
        "unregisterBroker OK, NamesrvAddr: {peer_address}",
        "unregisterBroker Exception, NamesrvAddr: {peer_address}",
        "unregisterBroker Exception, {peer_address}",
        "sendHeartbeat Exception {peer_address}",
        "Query data version from name server {peer_address} OK, changed {flag:bool}, broker {:text}, name server {value:text}",
        "Start transaction check service thread!",
        "End transaction check service thread!",
        "Begin to check prepare message, begin time:{version_timestamp:int}",
        "End to check prepare message, consumed time:{duration_ms:int}",
        "BrokerController#doResterBrokerAll: broker has shutdown, no need to register any more.",
        "Failed to sync all config for slave.",
    ),
    Text("BRK_SIGN", "retrieve master ha info exception, {{}}", when=WHEN_ONLINE),
)

SIGNS_IN_DLEDGER_MODE = signs("DLB_SIGN", "Will set the initial commitlog offset={start_offset:int} for dledger")

SIGNS_OF_SMALLEST_ID = (
    *signs(
        "BRK_SIGN",
        "wait for handshake completion with {peer_address}",
        "min broker id changed, prev {value_before}, new {value}",
        "Update min broker error, {{}}",
        "{value:pre_online} service end",
    ),
    *signs(
        "ESC_SIGN",
        "init executor for escaping messages asynchronously success.",
        "Put message failed, enableSlaveActingMaster={value}, enableRemoteEscape={flag:bool}.",
        "Put message to specific queue failed, enableSlaveActingMaster={value}, enableRemoteEscape={flag:bool}.",
        "sendMessageInFailover to remote failed",
        "putMessageToRemoteBroker: no route info of topic {topic} when escaping message, msgId={}",
        "putMessageToRemoteBroker failed, remote broker not found. Topic: {topic}, MsgId: {}, Broker: {broker_name}",
        "putMessageToRemoteBroker failed, remote broker address not found. Topic: {topic}, MsgId: {}, Broker: {broker_name}",
        "Escaping failed! cost {duration_ms:int}ms, Topic: {topic}, MsgId: {}, Broker: {broker_name}",
        "putMessageToRemoteBroker exception, MsgId: {}, RT: {duration_ms:int}ms, Broker: {broker_name:text}",
        "putMessageToRemoteBroker interrupted, MsgId: {}, RT: {duration_ms:int}ms, Broker: {broker_name:text}",
        "Put message to specific queue error",
        "getMessageResult is null , innerConsumerGroupName {consumer_group}, topic {topic}, offset {start_offset:int}, queueId {queue_id:int}",
        "Can not get msg , topic {topic}, offset {start_offset:int}, queueId {queue_id:int}, needRetry {flag:bool}, result is {result:text}",
        "can't find broker address for topic {topic}, {broker_name}",
        "Get message from remote failed. {topic}, {start_offset:int}, {queue_id:int}, {broker_name}",
        "Can not get msg , topic {topic}, offset {start_offset:int}, queueId {queue_id:int}, result is {result:text}",
    ),
)

SIGNS_OF_METADATA = (
    *signs(
        "META_SIGN",
        "SyncConsumerOffset Exception, {peer_address}",
        "load consumer offset dataVersion failed {value:text}",
        "load subGroup dataVersion failed{value:text}",
        "load topic metadata dataVersion failed{value:text}",
        "load json consumerOffset dataVersion error, startup will exit",
        "load json consumerOffset info failed, startup will exit",
        "load group and forbidden info from json file error, startup will exit",
        "load json subGroup dataVersion error, startup will exit",
        "load json topic dataVersion error, startup will exit",
        "load topic config from json file error, startup will exit",
        "RocksDBConfigManager loadData failed",
        "Failed to load RocksDB config",
        "SyncTopicConfig Exception, {peer_address}",
        "SyncDelayOffset Exception, {peer_address}",
        "SyncSubscriptionGroup Exception, {peer_address}",
        "SyncMessageRequestMode Exception, {peer_address}",
        "syncTimerCheckPoint Exception, {peer_address}",
        "SyncTimerMetrics Exception, {peer_address}",
        "delete topic config OK, topic: {:text}",
        "load exist local topic, {:text}",
        "update topic config, old:[{:text}] new:[{:text}]",
        "create new topic [{:text}]",
        "Broker receive request to update or create topic={topic}, caller address={peer_address}",
        "Broker receive request to update or create topic={topic}, but topicConfig has  no changes , so idempotent, caller address={peer_address}",
        "executionTime of create topic:{topic} is {duration_ms:int} ms",
        "add: {value}, update: {}, delete: {}",
        "create new topic {:text}",
        "the topic {topic} not exist, consumer: {client_id}",
        "the consumer's subscription not exist, group: {consumer_group}, topic:{topic}",
        "delete subscription group OK, subscription group:{:text}",
        "unregister consumer ok, no any connection, and remove consumer group, {consumer_group}",
        "load exist subscription group, {:text}",
        "create new subscription group, {:text}",
        "auto create a subscription group, {:text}",
        "executionTime of create subscriptionGroup:{consumer_group} is {duration_ms:int} ms",
        "the consumer's group info not exist, group: {consumer_group}",
        "schedule CQ offset invalid. offset={start_offset:int}, cqMinOffset={:int}, cqMaxOffset={max_offset:int}, queueId={queue_id:int}",
        "correct delay offset [ delayLevel {queue_id:int} ] from {value_before} to {value}",
        "[NOTIFYME]update consumer offset less than store. clientHost={client_id}, key={}, queueId={queue_id:int}, requestOffset={start_offset:int}, storeOffset={max_offset:int}",
        "schedule CQ offset invalid. offset={start_offset:int}, cqMinOffset={:int}, queueId={queue_id:int}",
        "schedule CQ offset invalid. offset={start_offset:int}, cqMaxOffset={max_offset:int}, queueId={queue_id:int}",
        "load consumer offset dataVersion success,{value},{:text}",
        "load subGroup dataVersion success,{value},{:text}",
        "load topic metadata dataVersion success {value}, {:text}",
    ),
    Text("META_SIGN", "Persist file Exception, {value:text}", when=WHEN_ONLINE),
)

TEXTS = (
    *under("controller", (*CONTROLLER_MODE, *SERVICES, *NAME_SERVERS, *SIGNS)),
    *under("dledger", (*DLEDGER_MODE, *SIGNS_IN_DLEDGER_MODE)),
    *under("acting_master", (*SMALLEST_ID, *PRE_ONLINE_TEXTS, *SIGNS_OF_SMALLEST_ID)),
    *under("metadata", (*METADATA, *SIGNS_OF_METADATA)),
)
