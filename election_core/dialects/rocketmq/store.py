"""What the message store prints about replication (``org.apache.rocketmq.store``), in ``store.log``.

Some texts are the same in controller mode and in classic replication, on the same threads. They have an ``HA_`` kind;
HA_KIND_AUTO or HA_KIND_DEFAULT at the start of a process tells its mode.
"""

from election_replay.election_core.dialects.dialect import Text, off_thread, on_thread, signs, under
from election_replay.election_core.model.deeds import Deed

CLASSIC_THREADS = ("DefaultHAClient", "DefaultAcceptSocketService", "HAClient", "AcceptSocketService")
CLASSIC, AUTO_SWITCH = on_thread(*CLASSIC_THREADS), off_thread(*CLASSIC_THREADS)

ROLE = (
    Text(
        "HA_MASTER",
        "Change ha to master success, newMasterEpoch:{term:int}, startOffset:{start_offset:int}",
        "the store is master of a new epoch that begins at this offset",
    ),
    Text(
        "HA_MASTER_AGAIN",
        "Change ha to master success, last role is master, newMasterEpoch:{term:int}, startOffset:{start_offset:int}",
        "the store was master already; a new epoch begins",
    ),
    Text(
        "HA_SLAVE",
        "Change ha to slave success, newMasterAddress:{peer_address}, newMasterEpoch:{term:int}",
        "the store is slave of a new master",
    ),
    Text(
        "HA_SLAVE_AGAIN",
        "Change ha to slave success, master doesn't change, newMasterAddress:{peer_address}, newMasterEpoch:{term:int}",
        "the store was slave of that master already; a new epoch begins",
    ),
    Text(
        "HA_MASTER_STALE",
        "newMasterEpoch {term:int} < lastEpoch {max_term:int}, fail to change to master",
        "not master: the own epoch file is ahead",
    ),
    Text(
        "HA_SLAVE_STALE",
        "newMasterEpoch {term:int} < lastEpoch {max_term:int}, fail to change to slave",
        "not slave: the own epoch file is ahead",
    ),
    Text("HA_TRUNCATE", "Truncate commitLog to {start_offset:int}", "an incomplete tail was cut"),
)

MASTER_SIDE = (
    Text(
        "HA_CAUGHT_UP",
        "The slave {peer} has caught up, slaveMaxOffset: {max_offset:int}, confirmOffset: {confirm_offset:int}, epoch: {term:int}, leader epoch startOffset: {start_offset:int}.",
        "the master wants this slave in the SyncStateSet",
    ),
    Text(
        "HA_SSS_WANTED",
        "Notify the syncStateSet has been changed into {members:ids}.",
        "the SyncStateSet that the master wants",
    ),
    Text("HA_STATE", "change state to {value}", "a replication connection changed its state", when=AUTO_SWITCH),
    Text(
        "HA_CONN_EXPIRED",
        "ha housekeeping, found this connection[{peer_address:socket}] expired, {duration_ms:int}",
        "a slave said nothing for too long",
        when=AUTO_SWITCH,
    ),
    Text(
        "HA_EPOCH_MISSING",
        "Failed to find epochEntry with epoch {term:int} when build msg header",
        "the master cannot send: a hole in its epochs",
    ),
    Text(
        "HA_ACK_TIMEOUT",
        "transfer message to slave timeout, offset : {max_offset:int}, request acks: {count:int}",
        "a message was not acknowledged in time; -1: by the whole SyncStateSet",
    ),
)

SLAVE_SIDE = (
    Text(
        "HA_CLIENT_CONNECT_ERR",
        "AutoSwitchHAClient connect to master {peer_address} failed",
        "the slave does not reach its master",
    ),
    Text(
        "HA_CLIENT_CLOSED",
        "AutoSwitchHAClient close connection with master {peer_address}",
        "the slave's connection was closed",
    ),
    Text("HA_CLIENT_EPOCHS_MASTER", "master epoch entries is {epoch_entries:epochs}", "the master's epochs"),
    Text("HA_CLIENT_EPOCHS_LOCAL", "local epoch entries is {epoch_entries:epochs}", "the slave's own epochs"),
    Text(
        "HA_CLIENT_CUT_AT",
        "truncateOffset is {start_offset:int}",
        "where the slave's log parts from the master's; -1: nowhere in common",
    ),
    Text(
        "HA_CLIENT_CUT",
        "Truncate slave log to {start_offset:int} success, change to transfer state",
        "the slave's log was cut: what was not replicated is gone",
    ),
    Text(
        "HA_CLIENT_CUT_ERR",
        "Failed to truncate slave log to {start_offset:int}",
        "the slave's log was not cut",
    ),
    Text(
        "HA_CLIENT_NO_POINT",
        "Failed to find a consistent point between masterEpoch:{:text} and slaveEpoch:{epoch_entries:epochs}",
        "the slave's log has nothing in common with the master's; the slave's epochs",
    ),
    Text(
        "HA_CLIENT_EXPIRED",
        "AutoSwitchHAClient, housekeeping, found this connection[{peer_address}] expired, {duration_ms:int}",
        "the master said nothing for too long",
    ),
    Text(
        "HA_CLIENT_NO_ANSWER",
        "AutoSwitchHAClient, master not response some time, so close connection",
        "the slave closes its connection: no answer",
    ),
    Text(
        "HA_CLIENT_CUT_FAILED",
        "AutoSwitchHAClient truncate log failed in handshake state",
        "the slave could not cut its log; the connection is dropped",
    ),
)

STORE = (
    Text(
        "EPOCH_APPEND_ERR",
        "The appending entry's lastEpoch or endOffset {:epoch} is not bigger than lastEntry {:epoch_before}, append failed",
        "a new epoch was not recorded: it starts where the last one did, or is known",
    ),
    Text(
        "EPOCH_LOAD_ERR",
        "Error happen when init epoch entries from epochFile",
        "the epoch file could not be read",
    ),
    Text(
        "EPOCH_FLUSH_ERR",
        "Error happen when flush epochEntries to epochCheckpointFile",
        "the epoch file could not be written",
    ),
    Text(
        "HA_CONFIRM_INIT",
        "Init the confirmOffset to {confirm_offset:int}.",
        "the confirm offset at start; 5.1 floods",
        floods=True,
    ),
    Text(
        "HA_KIND_AUTO",
        "Load AutoSwitch HA Service: {value:text}",
        "this life is in controller mode",
        does=(Deed.STARTS,),
    ),
    Text(
        "HA_KIND_DEFAULT",
        "Load default HA Service: {value:text}",
        "this life is in classic replication",
        does=(Deed.STARTS,),
    ),
    Text(
        "STORE_LAST_SHUTDOWN",
        "last shutdown {result}, store path root dir: {value:text}",
        "how the process ended before this start: normally, or abnormally (killed)",
        does=(Deed.STARTS,),
    ),
    Text("STORE_LAST_SHUTDOWN", "last shutdown {result}"),
    Text(
        "STORE_LOADED",
        "load over, and the max phy offset = {max_offset:int}",
        "the end of the log at start",
        does=(Deed.STARTS,),
    ),
)

CLASSIC_REPLICATION = (
    Text("XHA_CONN_NEW", "HAService receive new connection, {peer_address:socket}", "a slave connected"),
    Text(
        "XHA_CONN_EXPIRED",
        "ha housekeeping, found this connection[{peer_address:socket}] expired, {duration_ms:int}",
        "a slave of classic replication said nothing for too long",
        when=CLASSIC,
    ),
    Text("XHA_CONN_CLOSED", "read socket[{peer_address:socket}] < 0", "a slave closed its connection"),
    Text(
        "XHA_CLIENT_CONNECT_ERR",
        "HAClient connect to master {peer_address} failed",
        "the classic slave does not reach its master",
    ),
    Text(
        "XHA_CLIENT_CLOSED",
        "HAClient close connection with master {peer_address}",
        "the classic slave's connection was closed",
    ),
    Text(
        "XHA_CLIENT_EXPIRED",
        "AutoRecoverHAClient, housekeeping, found this connection[{peer_address}] expired, {duration_ms:int}",
        "the master of a classic slave said nothing for too long",
    ),
    Text(
        "XHA_CLIENT_NO_ANSWER",
        "AutoRecoverHAClient, master not response some time, so close connection",
        "the classic slave closes its connection: no answer",
    ),
)

OTHER_RELEASES = (
    Text("STORE_LAST_SHUTDOWN", "last shutdown {result}, root dir: {:text}"),
    Text(
        "STORE_TAIL_TORN",
        "found a half message at {start_offset:int}, it will be truncated.",
        "the log ends in the middle of a message, which is cut off",
    ),
    Text(
        "STORE_TAIL_TORN",
        "found illegal commitlog offset {start_offset:int} in {:text}, current pos={:int}, it will be truncated.",
    ),
    Text(
        "STORE_QUEUES_CUT",
        "maxPhyOffsetOfConsumeQueue({start_offset:int}) >= processOffset({max_offset:int}), truncate dirty logic files",
        "the queues reach the end of the log, or know of messages that it no longer has, and are cut there at start",
    ),
    Text(
        "STORE_QUEUES_CUT",
        "[TruncateCQ]maxPhyOffsetOfConsumeQueue({start_offset:int}) >= processOffset({max_offset:int}), truncate dirty logic files",
    ),
    Text(
        "STORE_QUEUES_CUT",
        "dledger maxPhyOffsetOfConsumeQueue({start_offset:int}) >= processOffset({max_offset:int}), truncate dirty logic files",
    ),
    Text(
        "STORE_QUEUES_BUILT",
        "Maybe try to build consume queue repeatedly maxPhysicOffset={max_offset:int} phyOffset={start_offset:int}",
        "the broker builds its queues again, from a message on that a queue still has",
        when=on_thread("ReputMessageService"),
    ),
    Text(
        "STORE_LOG_GONE",
        "The commitlog files are deleted, and delete the consume queue files",
        "the log was empty at start: it is new, or its messages are gone; queues are removed",
    ),
    Text(
        "STORE_CLEANS",
        "begin to delete before {:int} hours file. isTimeUp: {:bool} isUsageExceedsThreshold: {:bool} manualDeleteFileSeveralTimes: {:int} cleanAtOnce: {flag:bool} deleteFileBatchMax: {:int}",
        "the broker deletes the oldest files of its commit log; flag: whatever their age, since its disk is too full",
    ),
    Text(
        "STORE_CLEANS",
        "begin to delete before {:int} hours file. timeup: {:bool} spacefull: {:bool} manualDeleteFileSeveralTimes: {:int} cleanAtOnce: {flag:bool}",
    ),
    Text(
        "STORE_LOG_DELETED",
        "delete file[REF:{:int}] {:text}/commitlog/{start_offset:int} OK, W:{count:int} M:{:int}, {:text}",
        "a file of the commit log was deleted; count: its bytes",
    ),
    *(
        Text("STORE_DISK_FULL", template, meaning, sets={"flag": flag})
        for template, meaning, flag in (
            (
                "physic disk maybe full soon {value}, so mark disk full",
                "a disk became too full for writes, or is no longer",
                True,
            ),
            ("physic disk maybe full soon {value}, so mark disk full, storePathPhysic={:text}", "", True),
            ("physic disk of commitLog maybe full soon, used {value}, so mark disk full", "", True),
            ("logics disk maybe full soon {value}, so mark disk full", "", True),
            ("physic disk space OK {value}, so mark disk ok", "", False),
            ("physic disk space OK {value}, so mark disk ok, storePathPhysic={:text}", "", False),
            ("physic disk space of commitLog OK {value}, so mark disk ok", "", False),
            ("logics disk space OK {value}, so mark disk ok", "", False),
        )
    ),
)
"""Wordings of other releases than those above, and what a store says of its own end and its log's."""

CLASSIC_OTHER_RELEASES = (
    Text(
        "XHA_SLAVE_AHEAD",
        "slave[{peer_address:socket}] request offset={start_offset:int} greater than local commitLog offset={max_offset:int}.",
        "a slave has more than its master, which closes the connection: the slave holds what the master lost, or never had",
    ),
    Text(
        "XHA_SOCKET_CLOSED",
        "HAClient, processReadEvent read socket < 0",
        "the master of a classic slave closed the connection",
    ),
    Text("XHA_SOCKET_CLOSED", "HAClient, processReadEvent read socket exception"),
    Text(
        "XHA_CLIENT_EXPIRED", "HAClient, housekeeping, found this connection[{peer_address}] expired, {duration_ms:int}"
    ),
    Text("XHA_CLIENT_NO_ANSWER", "HAClient, master not response some time, so close connection"),
)
"""Wordings of 4.x and of the first 5.x."""

ACKNOWLEDGEMENTS = (
    Text(
        "HA_ACK_LATE",
        "do sync transfer other node, wait return, but failed, topic: {topic} tags: {:text} client address: {:text}",
        "a message was not acknowledged by a slave in time",
        floods=True,
    ),
    Text(
        "HA_ACK_LATE",
        "do sync transfer other node, wait return, but failed, topic: {topic} client address: {:text}",
        floods=True,
    ),
    Text("HA_ACK_LATE", "transfer messsage to slave timeout, {:text}", floods=True),
    Text(
        "DLB_APPEND_REFUSED",
        "HandleAppend return false due to error code {code:int}",
        "the DLedger member of the broker did not take a message: it does not lead, or its log is full",
        floods=True,
    ),
)
"""Lines that are printed for each message."""

SIGNS = (
    *signs(
        "HA_SIGN",
        "TruncateOffset is {start_offset:int}, confirmOffset is {confirm_offset:int}, maxPhyOffset is {max_offset:int}",
        "Dispatch complete, skip truncate",
        "Receive slave handshake, slaveBrokerId:{peer}, isSyncFromLastFile:{:bool}, isAsyncLearner:{flag:bool}",
        "Master build handshake header: maxEpoch:{max_term:int}, maxOffset:{max_offset:int}, epochEntries:{:text}",
        "Master change state from {value_before} to {value}",
        "AutoSwitchHAClient connect to master {peer_address}",
        "Receive handshake, masterMaxPosition {max_offset:int}, masterEpochEntries:{:text}, try truncate log",
        "Slave local epochCache is empty, skip truncate log",
        "message store recover end, and the max phy offset = {max_offset:int}",
        "truncate dirty files to {start_offset:int}",
        "Receive slave handshake, slaveAddress:{peer}, isSyncFromLastFile:{:bool}, isAsyncLearner:{flag:bool}",
        "Error happen when change ha to slave",
        "Slave {peer} is still in syncStateSet, but has lost its connection. So new offset can't be compute.",
        "Master transfer data to slave {peer_address:socket}, from offset:{start_offset:int}, currentEpoch:{:epoch}",
        "Failed to find an epochEntry to match nextTransferFromWhere {start_offset:int}",
        "Can't find a bigger epochEntry than epoch {term:int}",
        "Current state illegal {value}",
        "Wait HA connection establish with {peer_address} timeout",
        "State not matched, masterState:{value}, slaveState:{value_before}, bodySize:{:int}, offset:{max_offset:int}, masterEpoch:{term:int}, masterEpochStartOffset:{start_offset:int}, confirmOffset:{confirm_offset:int}",
        "AutoSwitchHAClient report max offset to master failed",
        "Broker role change from {value_before} to {role}",
        "store checkpoint file confirmPhyOffset {confirm_offset:int}",
        "store checkpoint file masterFlushedOffset {max_offset:int}",
        "no need to truncate files, truncate offset is {start_offset:int}, max physical offset is {max_offset:int}",
        "offset {start_offset:int} is not align, truncate failed, need manual fix",
        "Read socket < 0",
        "Update slave Id, OLD: {value_before}, New: {value}",
        "[BUG]Can't find currentTransferEpoch [{term:int}] from epoch cache",
        "Offset {{}} not align, truncate failed, need manual fix",
        "confirmOffset {confirm_offset:int} is larger than lastConfirmValidMsgPhyOffset {max_offset:int}, correct confirmOffset to lastConfirmValidMsgPhyOffset",
        "confirmOffset {confirm_offset:int} is larger than processOffset {max_offset:int}, correct confirmOffset to processOffset",
        "confirmOffset {confirm_offset:int} is less than minPhyOffset {start_offset:int}, correct confirmOffset to minPhyOffset",
        "MessageStoreState transition from {value_before} to {value}; Time in previous state={duration_ms:int}ms, Total time={:int}ms",
        "MessageStoreState transition from {value_before} to {value} failed; Time in previous state={duration_ms:int}ms, Total time={:int}ms",
        "MessageStoreState initialized, state={value}",
        "the store may be wrong, so shutdown abnormally, and keep abort file.",
        "update master ha address, OLD: {address} NEW: {peer_address}",
        "master pushed offset not equal the max phy offset in slave, SLAVE: {max_offset:int} MASTER: {start_offset:int}",
        "Slave report current offset {max_offset:int}",
    ),
    Text("HA_SIGN", "update master address, OLD: {address} NEW: {peer_address}", when=AUTO_SWITCH),
)

CLASSIC_SIGNS = (
    *signs(
        "XHA_SIGN",
        "slave[{peer_address:socket}] request offset {max_offset:int}",
        "master transfer data from {start_offset:int} to slave[{peer_address:socket}], and slave request {max_offset:int}",
        "HAClient connect to master {peer_address}",
        "CommitLog: slave fall behind master {count:int}bytes",
        "Slave fall behind master: {count:int} bytes",
        "HAClient, reportSlaveMaxOffset error, {max_offset:int}",
        "{}reportSlaveMaxOffset this.socketChannel.write exception",
    ),
    Text("XHA_SIGN", "change state to {value}", when=CLASSIC),
    Text("XHA_SIGN", "update master address, OLD: {address} NEW: {peer_address}", when=CLASSIC),
)

TEXTS = (
    *under("controller", (*ROLE, *MASTER_SIDE, *SLAVE_SIDE, *STORE, *OTHER_RELEASES, *ACKNOWLEDGEMENTS, *SIGNS)),
    *under("acting_master", (*CLASSIC_REPLICATION, *CLASSIC_OTHER_RELEASES, *CLASSIC_SIGNS)),
)
