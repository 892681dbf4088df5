"""What DLedger prints: elector, RPC, pusher, store (openmessaging/dledger, ``io.openmessaging.storage.dledger``).

Of DLedger brokers in ``broker_default.log``, of controllers in ``dledger.log`` or a ``*_default.log``.
"""

from election_replay.election_core.dialects.dialect import Text, signs, under
from election_replay.election_core.model.deeds import Deed

CANDIDATE, LEADER, FOLLOWER = ({"role": role} for role in ("CANDIDATE", "LEADER", "FOLLOWER"))


ELECTOR = (
    Text(
        "DL_HB_TIMEOUT",
        "[{node}][HeartBeatTimeOut] lastLeaderHeartBeatTime: {last_heartbeat_local:text} heartBeatTimeIntervalMs: {duration_ms:int} lastLeader={peer}",
        "a follower has heard nothing from its leader for more than three heartbeat intervals",
    ),
    Text(
        "DL_TO_CANDIDATE",
        "[{node}] [ChangeRoleToCandidate] from term: {from_term:int} and currTerm: {term:int}",
        "the node is candidate; from_term above term: a larger term was seen and is still to be taken",
        sets=CANDIDATE,
    ),
    Text(
        "DL_TO_CANDIDATE_SKIPPED",
        "[{node}] skip to be candidate in term: {from_term:int}, but currTerm: {term:int}",
        "a stale request to become candidate; nothing changed",
    ),
    Text(
        "DL_TERM_UP",
        "{node}_[INCREASE_TERM] from {from_term:int} to {term:int}",
        "the node raised its term, wrote it down and forgot its vote",
    ),
    Text(
        "DL_VOTE_REPLY",
        "[{node}][GetVoteResponse] {:vote}",
        "a reply to the candidate, its own included; term is the voter's; no peer: the call failed",
    ),
    Text(
        "DL_VOTE_PARSED",
        "[{node}] [PARSE_VOTE_RESULT] cost={duration_ms:int} term={term:int} memberNum={member_count:int} allNum={answered:int} acceptedNum={accepted:int} notReadyTermNum={not_ready:int} biggerLedgerNum={bigger_ledger:int} alreadyHasLeader={has_leader:bool} maxTerm={max_term:int} result={result}",
        "a voting round ended with this result",
    ),
    Text(
        "DL_ELECTED",
        "[{node}] [VOTE_RESULT] has been elected to be the leader in term {term:int}",
        "the candidate counted a quorum; the change of role follows",
    ),
    Text(
        "DL_TO_LEADER",
        "[{node}] [ChangeRoleToLeader] from term: {from_term:int} and currTerm: {term:int}",
        "the node is leader",
        sets=LEADER,
    ),
    Text(
        "DL_TO_LEADER_SKIPPED",
        "[{node}] skip to be the leader in term: {from_term:int}, but currTerm is: {term:int}",
        "the term moved on between count and change: the election is void",
    ),
    Text(
        "DL_TO_FOLLOWER",
        "[{node}][ChangeRoleToFollower] from term: {from_term:int} leaderId: {peer} and currTerm: {term:int}",
        "the node follows this leader from its first heartbeat on; no proof that the leader still leads",
        sets=FOLLOWER,
    ),
    Text(
        "DL_HB_PARSED",
        "[{node}] Parse heartbeat responses in cost={duration_ms:int} term={term:int} allNum={answered:int} succNum={accepted:int} notReadyNum={not_ready:int} inconsistLeader={has_leader:bool} maxTerm={max_term:int} peerSize={member_count:int} lastSuccHeartBeatTime={last_heartbeat_local:text}",
        "a round of the leader's heartbeats that did not reach its quorum",
    ),
    Text(
        "DL_TWO_LEADERS",
        "[{node}][BUG] currTerm {term:int} has leader {value}, but received leader {peer}",
        "a second leader of one term sent a heartbeat; value is the leader known before",
    ),
    Text(
        "DL_TERM_NOT_BIGGEST",
        "[{node}] currentTerm{term:int} is not the biggest={max_term:int}, deal with it",
        "a leader sees a larger term although it has a quorum (DLedger 0.3.2 and later)",
    ),
    Text(
        "DL_HB_UNKNOWN",
        "[BUG] [HandleHeartBeat] remoteId={peer} is an unknown member",
        "heartbeat from an id that is not a member",
    ),
    Text(
        "DL_HB_SELF",
        "[BUG] [HandleHeartBeat] selfId={node} but remoteId={peer}",
        "heartbeat that carries the own id",
    ),
    Text(
        "DL_VOTE_UNKNOWN",
        "[BUG] [HandleVote] remoteId={peer} is an unknown member",
        "vote request from an id that is not a member",
    ),
    Text(
        "DL_VOTE_SELF",
        "[BUG] [HandleVote] selfId={node} but remoteId={peer}",
        "vote request that carries the own id",
    ),
    Text("DL_TRANSFER_REQ", "handleLeadershipTransfer: {:transfer}", "the leader was asked to hand over"),
    Text(
        "DL_TRANSFER_REJ_TERM",
        "[BUG] [HandleLeaderTransfer] currTerm={term:int} != request.term={from_term:int}",
        "transfer refused: another term",
    ),
    Text(
        "DL_TRANSFER_TERM_CHANGED",
        "[HandleLeaderTransfer] term changed, cur={term:int} , request={from_term:int}",
        "transfer refused: the term changed meanwhile",
    ),
    Text(
        "DL_TAKE_REJ_TERM",
        "[BUG] [handleTakeLeadership] currTerm={term:int} != request.term={from_term:int}",
        "the one who should take over refused: another term",
    ),
)

RPC_AND_SERVER = (
    Text("DL_RPC_HB_TIMEOUT", "HeartBeat request time out, {:info}", "no reply to a heartbeat in time"),
    Text("DL_RPC_HB_SEND_ERR", "Send heartBeat request failed, {:info}", "a heartbeat could not be sent"),
    Text("DL_RPC_VOTE_TIMEOUT", "Vote request time out, {:info}", "no reply to a vote request in time"),
    Text("DL_RPC_VOTE_SEND_ERR", "Send vote request failed, {:info}", "a vote request could not be sent"),
    Text("DL_LISTEN", "listen the port: {value}", "the RPC service of a DLedger process started", does=(Deed.STARTS,)),
    Text("DL_APPEND_FAILED", "[{node}][HandleAppend] failed", "an append was refused"),
    Text("DL_PREF_OFFLINE", "preferredLeaderId = {peer} is not online", "the preferred leader is not online"),
    Text(
        "DL_PREF_CHOSEN",
        "preferredLeaderId = {peer}, which has the smallest fall behind index = {count:int} and is decided to be transferee.",
        "the leader decided to hand over to this preferred member",
    ),
)

PUSHER_AND_STORE = (
    Text(
        "DL_STATUS_FSM",
        "[{node}][{role}] term={term:int} ledgerBegin={:int} ledgerEnd={ledger_end:int} committed={committed:int} watermarks={value:marks} appliedIndex={raft_index:int}",
        "role, term and log of a node with a state machine, every three seconds",
    ),
    Text(
        "DL_STATUS",
        "[{node}][{role}] term={term:int} ledgerBegin={:int} ledgerEnd={ledger_end:int} committed={committed:int} watermarks={value:marks}",
        "role, term and log of a node without a state machine, every three seconds",
    ),
    Text(
        "DL_STATUS_FSM",
        "[{node}][{role}] term={term:int} ledgerBeforeBegin={:int} ledgerEnd={ledger_end:int} committed={committed:int} watermarks={value:marks} appliedIndex={raft_index:int}",
    ),
    Text(
        "DL_STATUS",
        "[{node}][{role}] term={term:int} ledgerBeforeBegin={:int} ledgerEnd={ledger_end:int} committed={committed:int} watermarks={value:marks}",
    ),
    Text(
        "DL_PUSH_ERR",
        "[Push-{peer}]Get error response code {:status} {:info}",
        "a follower answered entries with an error",
    ),
    Text(
        "DL_STORE_TRUNCATE",
        "[TRUNCATE]leaderId={peer} index={ledger_end:int} truncatePos={start_offset:int} != maxPos={max_offset:int}, this is usually happened on the old leader",
        "a node cuts entries that its new leader does not have",
    ),
    Text(
        "DL_STORE_COMMITTED",
        "Recover to get committed index={committed:int} from checkpoint",
        "the committed index at start",
        does=(Deed.STARTS,),
    ),
    Text(
        "DL_STORE_RECOVERED_TO",
        "Recover data to the end entryIndex={ledger_end:int} processOffset={max_offset:int} lastFileOffset={:int} cha={:int}",
        "the end of the log at start",
        does=(Deed.STARTS,),
    ),
    Text(
        "DL_STORE_RECOVER_BEGIN",
        "Begin to recover data from entryIndex={ledger_end:int} {value:text}",
        "the log is being read at start, from this entry",
        does=(Deed.STARTS,),
    ),
    Text("DL_TERM_LOAD_ERR", "Load last term failed", "term and vote could not be read"),
    Text("DL_TERM_PERSIST_ERR", "Persist curr term failed", "term and vote may be forgotten at the next start"),
)

OTHER_RELEASES = (
    Text("DL_RPC_HB_SEND_ERR", "HeartBeat request failed due to network error, {:info}"),
    Text("DL_RPC_VOTE_SEND_ERR", "Vote request failed due to network error, {:info}"),
    Text(
        "DL_STORE_LOAD_ERR",
        "Load file failed, this usually indicates fatal error, you should check it manually",
        "the log could not be read at start",
    ),
    Text(
        "DL_STORE_LOAD_ERR",
        "[BUG]The mappedFile queue's data is damaged, the adjacent mappedFile's offset don't match pre file {:text}, cur file {:text}",
    ),
    Text(
        "DL_STORE_CUT_SUSPECT",
        "[MONITOR]The processOffset is too small, you should check it manually before truncating the data from {start_offset:int}",
        "nearly the whole log is about to be cut at start",
    ),
)
"""Wordings of other releases than those above, 0.2.0 to 0.4.3."""

SIGNS = signs(
    "DL_SIGN",
    "leadershipTransfer failed, set transferee to null",
    "Initialize the watermark in {} for term={term:int}",
    "Initialize the pending append map in {} for term={term:int}",
    "Initialize the pending closure map in {} for term={term:int}",
    "[Recovery] rebuild for index wrotePos={:int} not equal to truncatePos={start_offset:int}",
    "[TRUNCATE] rebuild for data wrotePos: {:int} != truncatePos: {start_offset:int}",
    "[TRUNCATE] rebuild for index wrotePos: {:int} != truncatePos: {start_offset:int}",
    "[TRUNCATE] truncate for data file error, try to truncate pos: {start_offset:int}, but after truncate, max wrote pos: {max_offset:int}, now try to rebuild",
    "[TRUNCATE] truncate for index file error, try to truncate pos: {start_offset:int}, but after truncate, max wrote pos: {max_offset:int}, now try to rebuild",
    "[DoInstallSnapshot-{peer}]install snapshot failed, index = {raft_index:int}, term = {term:int}",
    "[DoInstallSnapshot-{peer}]install snapshot failed because error response: code = {code:int}, mas = {result:text}, index = {raft_index:int}, term = {term:int}",
    "[DoInstallSnapshot-{peer}]generate latest snapshot for download failed, index = {raft_index:int}",
    "[DoInstallSnapshot-{peer}]get latest snapshot whose lastIncludedIndex >= {raft_index:int}  failed",
    "[DoInstallSnapshot-{peer}]snapshot mode is disabled",
    "[HandleDoInstallSnapshot] install snapshot failed, request={value:text}",
    "[{node}][HandleInstallSnapshot] failed",
    "Send install snapshot request failed, {:info}",
    "Failed to load snapshot",
    "Install snapshot {value:text} failed",
    "Install Snapshot and wait loading failed",
    "No snapshot for recovering state machine: {value:text}",
    "Unable to save snapshot",
    "Unable to save snapshot, res: {result:text}",
    "heartbeat response failed",
    "vote response failed",
    "Error in heartbeat",
    "Handle role change failed term={term:int} role={role} handler={:text}",
    "takeLeadershipTask.check failed. ter={term:int}, role={role}",
    "[BUG] [HandleLeaderTransfer] selfId={node} is not leader",
    "[BUG] [HandleLeaderTransfer] transferee={peer} is already set",
    "[MemberState] load persistent state ok. term={term:int} voteFor={peer}",
    "Send push request failed, {:info}",
    "Send leadershipTransfer request failed, {:info}",
    "LEADERSHIP_TRANSFER FINISHED. Request={:text}, response={:transfer_reply}, cost={duration_ms:int}ms",
    "[{node}][HandleHeartBeat] failed",
    "[{node}][HandleVote] failed",
    "[{node}][handleLeadershipTransfer] failed",
    "preferredLeaderId = {peer} is not a peer member",
    "preferredLeaderId = {peer} transferee fall behind index : {count:int}",
    "transfer finished. request={:transfer},response={:transfer_reply},cost={duration_ms:int}ms",
    "[checkPreferredLeader] error, request={:transfer}",
    "transferee fall behind, diff = {count:int}",
    "[{node}][HandlePush] failed",
    "Unexpected Error in running {value:text} ",
    "[TermChange] Will clear the pending response index={raft_index:int} for term changed from {from_term:int} to {term:int}",
    "[TermChange] Will clear the pending closure index={raft_index:int} for term changed from {from_term:int} to {term:int}",
    "[TermChange] Will clear the watermarks for term changed from {from_term:int} to {term:int}",
    "[Push-{peer}]Change state from {value_before} to {value} at {raft_index:int}",
    "[Push-{peer}]Will push data to truncate truncateIndex={raft_index:int} pos={start_offset:int}",
    "[Push-{peer}][DoCompare] compareIndex={raft_index:int} means start to compare",
    "[HandleDoTruncate] truncateIndex={raft_index:int} pos={start_offset:int}",
    "[PushFallBehind]The leader pushed an batch append entry last index={raft_index:int} smaller than current ledgerEndIndex={ledger_end:int}, maybe the last ack is missed",
    "[PushFastForward] ledgerEndIndex={ledger_end:int} entryIndex={raft_index:int}",
    "[Push-{peer}]Error in {} writeIndex={:int} compareIndex={raft_index:int}",
    "[Push-{peer}]Get INCONSISTENT_STATE when push index={raft_index:int} term={term:int}",
    "[Push-{peer}]Retry to push entry at {raft_index:int}",
    "[HandleDoAppend] writeIndex={raft_index:int}",
    "[HandleDoCompare] compareIndex={raft_index:int}",
    "[HandleDoCommit] committedIndex={raft_index:int}",
    "[MONITOR]The index {raft_index:int} has already existed with {:text} and curr is {:text}",
    "Complete future, term {term:int}, index {raft_index:int}",
    "[MONITOR]Skip update committed index for new={committed:int} < old={:int} or new={:int} < beginIndex={:int}",
    "Recover data file over, the last file {value:text}",
    "Recover data file to the end of {value:text}",
    "Revise dataFileList {value:text}",
    "Load checkpoint failed",
    "Persist checkpoint failed",
    "Apply task exception",
    "[HandleDoTruncate] truncateIndex={raft_index:int}",
    "[Push-{peer}]Will push data to truncate truncateIndex={raft_index:int}",
    "[Push-{peer}]Change state from {value_before} to {value}, matchIndex: {raft_index:int}, writeIndex: {:int}",
    "[Push-{peer}]Error in {} writeIndex={:int} matchIndex={raft_index:int}",
    "[Push-{peer}]Get INCONSISTENT_STATE when append entries from {:int} to {raft_index:int} when term is {term:int}",
    "[Push-{peer}]Get INCONSISTENT_STATE when batch push index={raft_index:int} term={term:int}",
    "[Push-{peer}]Retry to push entry from {raft_index:int} to {:int}",
    "[Push-{peer}]Reset write index to {raft_index:int} for resending the entries which are timeout",
    "[HandleDoBatchAppend]",
    "[HandleDoWrite] writeIndex={raft_index:int}",
    "[HandleDoCompare] preLogIndex={raft_index:int}, preLogTerm={:int}",
    "[PushFallBehind]The leader pushed an entry index={raft_index:int} smaller than current ledgerEndIndex={ledger_end:int}, maybe the last ack is missed",
    "[Push-{}->{peer}]Update term: {from_term:int} and leaderId: {value_before} to new term: {term:int}, new leaderId: {value}",
    "[Push-{peer}]Get null entry from index={raft_index:int}",
    "[Push-{peer}][DoCompare] compareIndex={raft_index:int} out of range {:int}-{ledger_end:int}",
    "Complete closure, term = {term:int}, index = {raft_index:int}",
    "transferee fall behind index : {count:int}",
    "[FastAdvanceCommitIndexService-{node}] term: {term:int} advance ok",
    "[FastAdvanceCommitIndexService-{node}] term: {term:int} advance failed, status={result:text}",
    "server shutdown",
    "[TRUNCATE] truncateIndex: {raft_index:int}, after truncate, ledgerEndIndex: {ledger_end:int} ledgerEndTerm: {ledger_end_term:int}",
    "reset to beforeBeginIndex: {raft_index:int}, beforeBeginTerm: {:int}, now beforeBeginIndex: {:int}, beforeBeginTerm: {:int}, endIndex: {ledger_end:int}, endTerm: {ledger_end_term:int}",
    "[DoInstallSnapshot-{peer}]install snapshot success, lastIncludedIndex = {raft_index:int}, lastIncludedTerm",
    "[HandleDoInstallSnapshot] begin to install snapshot, request={value:text}",
    "Snapshot {value:text} loaded successfully",
    "Snapshot {value:text} saved successfully",
)

OF_ANOTHER = (
    Text(
        "DL_TAKE_DONE",
        "TakeLeadershipTask finished. request={:taken}, response={:transfer_reply}, term={term:int}, role={role}",
        "a transfer ended at who took over; the code tells whether it worked",
    ),
)
"""``node`` is not the writer here, but the candidate that was told to take the leadership over."""

TEXTS = (
    *under("dledger", (*ELECTOR, *RPC_AND_SERVER, *PUSHER_AND_STORE, *OTHER_RELEASES, *SIGNS), Deed.NAMES_WRITER),
    *under("dledger", OF_ANOTHER),
)
