"""The commands of the systems at hand, each written once; names in capitals are to be filled in.

RocketMQ: tools/src/main/java/org/apache/rocketmq/tools/command (5.x; getSyncStateSet, getBrokerEpoch and
getControllerMetaData need 5.0). etcd: etcdctl/README.md, etcdutl/README.md, tools/etcd-dump-logs (3.5; before, `etcdctl
snapshot status`). ZooKeeper: bin/ and the administrator's guide (four letter words other than srvr must be allowed by
4lw.commands.whitelist).
"""

MQ_CLUSTER = "mqadmin clusterList -n NAMESRV:9876 -m"
MQ_STATUS = "mqadmin brokerStatus -n NAMESRV:9876 -b BROKER:10911"
MQ_CONFIG = "mqadmin getBrokerConfig -n NAMESRV:9876 -b BROKER:10911"
MQ_HA = "mqadmin haStatus -n NAMESRV:9876 -b BROKER:10911"
MQ_EPOCHS = "mqadmin getBrokerEpoch -n NAMESRV:9876 -b BROKER_NAME"
MQ_SET = "mqadmin getSyncStateSet -a CONTROLLER:9878 -b BROKER_NAME"
MQ_CONTROLLERS = "mqadmin getControllerMetaData -a CONTROLLER:9878"
MQ_CONTROLLER_CONFIG = "mqadmin getControllerConfig -a CONTROLLER:9878"
MQ_ROUTE = "mqadmin topicRoute -n NAMESRV:9876 -t TOPIC"
MQ_TOPIC = "mqadmin topicStatus -n NAMESRV:9876 -t TOPIC"
MQ_PROGRESS = "mqadmin consumerProgress -n NAMESRV:9876 -g GROUP"
MQ_CONSUMERS = "mqadmin consumerConnection -n NAMESRV:9876 -g GROUP"
MQ_CONSUMER = "mqadmin consumerStatus -n NAMESRV:9876 -g GROUP -i CLIENT"
MQ_QUEUE = "mqadmin queryCq -n NAMESRV:9876 -t TOPIC -q QUEUE -i INDEX -b BROKER:10911"
MQ_MESSAGE = "mqadmin queryMsgByKey -n NAMESRV:9876 -t TOPIC -k KEY"
MQ_PROBE = "mqadmin sendMsgStatus -n NAMESRV:9876 -b BROKER_NAME -c 10"

ETCD_STATUS = "etcdctl endpoint status --cluster -w table"
ETCD_HEALTH = "etcdctl endpoint health --cluster"
ETCD_MEMBERS = "etcdctl member list -w table"
ETCD_HASH = "etcdctl endpoint hashkv --cluster -w table"
ETCD_ALARMS = "etcdctl alarm list"
ETCD_SNAPSHOT = "etcdctl snapshot save BACKUP.db"
ETCD_LOG = "etcd-dump-logs DATA_DIR"
ETCD_FSYNC = "curl -s http://HOST:2379/metrics | grep etcd_disk_wal_fsync"

ZK_STATUS = "zkServer.sh status"
ZK_SERVER = "echo srvr | nc HOST 2181"
ZK_MONITOR = "echo mntr | nc HOST 2181"
ZK_CONF = "echo conf | nc HOST 2181"
ZK_CONFIG = "zkCli.sh -server HOST:2181 config"
ZK_LOG = "zkTxnLogToolkit.sh --dump LOG_DIR/version-2/log.ZXID"
ZK_SNAPSHOT = "zkSnapShotToolkit.sh DATA_DIR/version-2/snapshot.ZXID"

CHRONY = "chronyc tracking"
CHRONY_SOURCES = "chronyc sources -v"
CLOCK_JUMPS = "journalctl -u chronyd -u systemd-timesyncd --since TIME"
OOM = "journalctl -k --since TIME"
PAUSES = "grep -i 'safepoint\\|pause' GC_LOG"
SYSTEMD = "systemctl status UNIT"
DISK = "iostat -x 1 5"
PROCESSES = "ps -eo pid,lstart,args"
REACH = "nc -vz HOST PORT"
LINES = "election-replay explain --warehouse WAREHOUSE FINDING_ID"
AROUND = "election-replay sql --warehouse WAREHOUSE \"SELECT * FROM events_around('CLUSTER', 'TIME')\""
IDENTITIES = "election-replay sql --warehouse WAREHOUSE \"SELECT * FROM identities WHERE cluster = 'CLUSTER'\""
LANDED = (
    "election-replay sql --warehouse WAREHOUSE \"SELECT path, problem FROM landed_files WHERE cluster = 'CLUSTER'\""
)
CLOCKS = "election-replay sql --warehouse WAREHOUSE \"SELECT * FROM clocks WHERE cluster = 'CLUSTER'\""
LOSSES = "election-replay sql --warehouse WAREHOUSE \"SELECT * FROM losses WHERE cluster = 'CLUSTER'\""
LOCKS = "election-replay sql --warehouse WAREHOUSE \"SELECT * FROM lock_holds WHERE cluster = 'CLUSTER'\""
VOTES = "election-replay sql --warehouse WAREHOUSE \"SELECT * FROM elections WHERE cluster = 'CLUSTER'\""
VERSIONS = "election-replay sql --warehouse WAREHOUSE \"SELECT * FROM metadata_versions WHERE cluster = 'CLUSTER'\""
REPLAY = "election-replay replay --warehouse WAREHOUSE --cluster CLUSTER"
