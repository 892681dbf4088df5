"""The lines of every RocketMQ process about settings, start, stop, threads, files and connections."""

from election_replay.election_core.dialects.dialect import Text, on_thread, signs, under
from election_replay.election_core.model.deeds import Deed

SETTINGS = (
    # starts of a configuration dump
    *("brokerConfigPath", "rocketmqHome"),
    # who
    *(
        "brokerName",
        "brokerClusterName",
        "brokerId",
        "brokerIP1",
        "listenPort",
        "namesrvAddr",
        "haListenPort",
    ),
    # broker
    *("forceRegister", "registerNameServerPeriod", "brokerHeartbeatInterval", "brokerNotActiveTimeoutMillis"),
    *("flushConsumerOffsetInterval", "flushDelayOffsetInterval"),
    *("syncBrokerMemberGroupPeriod", "isolateLogEnable", "enableSlaveActingMaster", "enableRemoteEscape"),
    *("skipPreOnline", "consumerOffsetUpdateVersionStep", "delayOffsetUpdateVersionStep", "lockInStrictMode"),
    *("compatibleWithOldNameSrv", "enableControllerMode", "controllerAddr", "fetchControllerAddrByDnsLookup"),
    *("syncBrokerMetadataPeriod", "checkSyncStateSetPeriod", "syncControllerMetadataPeriod"),
    *("controllerHeartBeatTimeoutMills", "brokerElectionPriority"),
    # store
    *("storePathRootDir", "storePathEpochFile", "storePathBrokerIdentity", "timerWheelEnable"),
    *("disappearTimeAfterStart", "brokerRole", "flushDiskType", "slaveTimeout", "enableDLegerCommitLog"),
    *("dLegerGroup", "dLegerPeers", "dLegerSelfId", "preferredLeaderId", "totalReplicas", "inSyncReplicas"),
    *("minInSyncReplicas", "allAckInSyncStateSet", "enableAutoInSyncReplicas", "haMaxTimeSlaveNotCatchup"),
    *("haHousekeepingInterval", "haSendHeartbeatInterval", "asyncLearner"),
    # controller
    *("controllerType", "scanNotActiveBrokerInterval", "controllerDLegerGroup", "controllerDLegerPeers"),
    *(
        "controllerDLegerSelfId",
        "controllerStorePath",
        "electMasterMaxRetryCount",
        "enableElectUncleanMaster",
    ),
    *("isProcessReadEvent", "notifyBrokerRoleChanged", "scanInactiveMasterInterval"),
    # name server
    *("supportActingMaster", "notifyMinBrokerIdChanged", "enableControllerInNamesrv", "needWaitForService"),
    *("waitSecondsForService", "deleteTopicWithBrokerRegistration", "unRegisterBrokerQueueCapacity"),
)
"""Settings that affect leadership, locks and metadata; other lines of a configuration dump are no events."""

SETTING_MEANING = "one setting in the configuration dump at start, before any change of role"

DUMP = tuple(
    Text(
        "CFG_ITEM",
        name + "={value:text}",
        SETTING_MEANING,
        when=on_thread("main"),
        sets={"setting": name},
        does=(Deed.STARTS,),
    )
    for name in SETTINGS
)

CHANGES = (
    Text(
        "CFG_REPLACE",
        "Replace, key: {setting}, value: {value_before:text} -> {value:text}",
        "a setting got another value",
    ),
)

LIFE = (
    Text(
        "BRK_BOOT",
        "The broker[{replica_group}, {address}] boot success. serializeType={}",
        "the broker's process has started; it need not serve yet",
        does=(Deed.STARTED,),
    ),
    Text(
        "BRK_BOOT",
        "The broker[{replica_group}, {address}] boot success. serializeType={} and name server is {value:text}",
    ),
    Text(
        "BRK_SHUTDOWN_BEGIN",
        "Shutdown hook was invoked, {count:int}",
        "the broker is being shut down",
        does=(Deed.STOPS,),
    ),
    Text(
        "NS_BOOT",
        "The Name Server boot success. serializeType={}, address {address}",
        "the name server started",
        does=(Deed.STARTS,),
    ),
    Text("NS_BOOT", "The Name Server boot success. serializeType={}"),
    Text(
        "CTL_BOOT",
        "The Controller Server boot success. serializeType={}",
        "the controller started",
        does=(Deed.STARTED,),
    ),
    Text(
        "SRV_SHUTDOWN_BEGIN",
        "shutdown hook was invoked, {count:int} times.",
        "a name server or controller is being shut down",
        does=(Deed.STOPS,),
    ),
)

THREADS = (
    Text(
        "THREAD_TRY_START",
        "Try to start service thread:{value:text} started:{flag:bool} lastThread:{:text}",
        "a service thread is to start",
    ),
    Text(
        "THREAD_START",
        "Start service thread:{value:text} started:{flag:bool} lastThread:{:text}",
        "a service thread started",
    ),
    Text(
        "THREAD_TRY_STOP",
        "Try to shutdown service thread:{value:text} started:{flag:bool} lastThread:{:text}",
        "a service thread is to stop",
    ),
    Text(
        "THREAD_STOP",
        "shutdown thread[{value:text}] interrupt={flag:bool} ",
        "a service thread is told to stop",
    ),
    Text("THREAD_STOP", "shutdown thread {value:text} interrupt {flag:bool}"),
    Text("THREAD_MAKE_STOP", "makestop thread[{value:text}] ", "a service thread is told to stop by and by"),
    Text("THREAD_MAKE_STOP", "makestop thread {value}"),
    Text(
        "THREAD_JOIN",
        "join thread[{value:text}], elapsed time: {duration_ms:int}ms, join time:{:int}ms",
        "a service thread has ended",
    ),
    Text("THREAD_JOIN", "join thread {value:text} elapsed time(ms) {duration_ms:int} {:int}"),
)


def outside_store(_: str, stream: str) -> bool:
    """Return True outside of ``store.log``, which prints the same for each segment of its log."""
    return stream != "store.log"


FILES = (Text("FILE_LOADED", "load {value} OK", "a metadata file was read", when=outside_store),)


def in_own_log(_: str, stream: str) -> bool:
    """Return True in a controller's log only: elsewhere the line is repeated within one process.

    A broker has two servers for clients, and a name server reads certificates again while it runs (RocketMQ 5.3.3,
    NettyRemotingServer#loadSslContext, BrokerController, NamesrvController).
    """
    return stream == "controller.log"


CONNECTIONS = (
    Text(
        "CTL_TLS",
        "Server is running in TLS {value} mode",
        "a controller begins to start",
        when=in_own_log,
        does=(Deed.STARTS,),
    ),
    Text("NET_LISTEN", "RemotingServer started, listening {}:{value}", "the process listens; value is the port"),
    Text(
        "NET_SERVER_CLOSED",
        "NETTY SERVER PIPELINE: channelInactive, the channel[{peer_address}]",
        "a connection was closed",
    ),
    Text(
        "NET_SERVER_OPEN",
        "NETTY SERVER PIPELINE: channelActive, the channel[{peer_address}]",
        "a connection was opened",
    ),
    Text(
        "NET_CLIENT_CONNECT",
        "NETTY CLIENT PIPELINE: CONNECT  {address} => {peer_address}",
        "the process connects",
    ),
    Text("NET_CLIENT_CONNECT", "NETTY CLIENT PIPELINE: CONNECT {address} => {peer_address}"),
    Text(
        "NET_ANSWER_LOST",
        "RemotingCommand [code={code:int}, language={}, version={value}, opaque={}, flag(B)=1, remark={result:text}",
        "an answer of the process could not be sent; value is the number of its release, 0 where it has none",
        when=on_thread("NettyServer"),
    ),
)

TROUBLE = (
    Text(
        "THREAD_DIED",
        "[BUG] Thread has an uncaught exception, threadId={:int}, threadName={value:text}",
        "a thread ended by an error; what it did is done by nobody",
    ),
)
"""Errors of any process."""

SIGNS = signs(
    "SRV_SIGN",
    "updateBrokerConfig, new config: [{value:text}] client: {peer_address} ",
    "Broker receive request to update config, caller address={peer_address}",
    "Shutdown hook over, consuming total time(ms): {duration_ms:int}",
    "broker jstack",
    "The ControllerManager boot success. serializeType={}",
    "Broker [{value:text}] boot success. serializeType={}",
    "Broker [{value:text}] boot success. serializeType={} and name server is {:text}",
    "The broker container boot success. serializeType={}",
    "The broker container boot success. serializeType={} and name server is {:text}",
    "shutdown hook done, consuming time total(ms): {duration_ms:int}",
    "shutdown hook callback invoked failure.",
    "load {value} failed, and try to load backup file",
    "Failed to persist",
    "NETTY SERVER PIPELINE: IDLE exception [{peer_address}]",
    "invokeSync: wait response timeout exception, the channel[addr={peer_address}, id={}]",
    "invokeSync: wait response timeout exception, the channel[{peer_address}]",
    "load {value} Failed",
    "load {value} failed, and delete invalid file errr",
    "persist file {value:text} exception",
)

TEXTS = under("process", (*DUMP, *CHANGES, *LIFE, *THREADS, *FILES, *CONNECTIONS, *TROUBLE, *SIGNS))
