"""What etcd prints about its Raft group, 2.x to 3.7: the library (etcd-io/raft) and the server around it.

The node is the member that prints: the first id in a message of the library. ``request`` is the type of a message;
``MsgPreVote`` and ``MsgPreVoteResp`` belong to the round before an election, which leaves the term unchanged.
``ledger_end_term`` and ``ledger_end`` are the node's last entry, ``peer_...`` the candidate's.
"""

from election_replay.election_core.dialects.dialect import Fields, Text, signs, under
from election_replay.election_core.model.deeds import Deed


def _tally(columns: Fields) -> Fields:
    """Add the answers: ``count`` are the refusals, and with the grants they are all answers."""
    return {**columns, "answered": columns["accepted"] + columns["count"]}


LEADERSHIP = (
    Text(
        "RAFT_START",
        "newRaft {node:id} [peers: [{members:ids}], term: {term:int}, commit: {committed:int}, applied: {raft_index:int}, lastindex: {ledger_end:int}, lastterm: {ledger_end_term:int}]",
        "the member starts with this term and log; raft_index is the last entry applied",
        does=(Deed.STARTS,),
    ),
    Text(
        "RAFT_ELECTION",
        "{node:id} is starting a new election at term {term:int}",
        "the member heard no leader for its timeout; the term is still the old one",
    ),
    Text(
        "RAFT_TO_PRE_CANDIDATE",
        "{node:id} became pre-candidate at term {term:int}",
        "the member asks whether it may ask for votes; the term stays",
        sets={"role": "CANDIDATE"},
    ),
    Text(
        "RAFT_TO_CANDIDATE",
        "{node:id} became candidate at term {term:int}",
        "the member asks for votes in a new term and votes for itself",
        sets={"role": "CANDIDATE"},
    ),
    Text(
        "RAFT_TO_FOLLOWER",
        "{node:id} became follower at term {term:int}",
        "the member follows, or waits for a leader; also at start and after a lost election",
        sets={"role": "FOLLOWER"},
    ),
    Text("RAFT_TO_LEADER", "{node:id} became leader at term {term:int}", "the member leads", sets={"role": "LEADER"}),
    Text(
        "RAFT_NO_QUORUM",
        "{node:id} stepped down to follower since quorum is not active",
        "a leader that does not hear a quorum gives up",
        sets={"role": "FOLLOWER"},
    ),
    Text(
        "RAFT_LEADER_KNOWN",
        "raft.node: {node:id} elected leader {peer:id} at term {term:int}",
        "the member learned who leads",
    ),
    Text(
        "RAFT_LEADER_CHANGED",
        "raft.node: {node:id} changed leader from {value_before:id} to {peer:id} at term {term:int}",
        "the member learned that another one leads",
    ),
    Text(
        "RAFT_LEADER_LOST",
        "raft.node: {node:id} lost leader {peer:id} at term {term:int}",
        "the member knows no leader any more",
    ),
    Text(
        "RAFT_LEADER_FORGOTTEN",
        "{node:id} forgetting leader {peer:id} at term {term:int}",
        "the member was told to forget its leader",
    ),
)

VOTES = (
    Text(
        "RAFT_VOTE_SENT",
        "{node:id} [logterm: {ledger_end_term:int}, index: {ledger_end:int}] sent {request:vote} request to {peer:id} at term {term:int}",
        "the member asks for a vote",
    ),
    Text(
        "RAFT_VOTE_GRANTED",
        "{node:id} received {request:answer} from {peer:id} at term {term:int}",
        "a vote was granted to the member, perhaps its own",
    ),
    Text(
        "RAFT_VOTE_REFUSED",
        "{node:id} received {request:answer} rejection from {peer:id} at term {term:int}",
        "a vote was refused to the member",
    ),
    Text(
        "RAFT_TALLY",
        "{node:id} has received {accepted:int} {request:answer} votes and {count:int} vote rejections",
        "votes so far; count are the refusals, value how many votes win where the release prints it",
        then=_tally,
    ),
    Text(
        "RAFT_TALLY",
        "{node:id} [quorum:{value}] has received {accepted:int} {request:answer} votes and {count:int} vote rejections",
        then=_tally,
    ),
    Text(
        "RAFT_TALLY",
        "{node:id} [quorum:{value}] has received {accepted:int} votes and {count:int} vote rejections",
        sets={"request": "MsgVoteResp"},
        then=_tally,
    ),
    Text(
        "RAFT_VOTE_CAST",
        "{node:id} [logterm: {ledger_end_term:int}, index: {ledger_end:int}, vote: {value_before:id}] cast {request:vote} for {peer:id} [logterm: {peer_ledger_end_term:int}, index: {peer_ledger_end:int}] at term {term:int}",
        "the member granted its vote to peer; value_before is whom it had voted for",
    ),
    Text(
        "RAFT_VOTE_CAST",
        "{node:id} [logterm: {ledger_end_term:int}, index: {ledger_end:int}, vote: {value_before:id}] voted for {peer:id} [logterm: {peer_ledger_end_term:int}, index: {peer_ledger_end:int}] at term {term:int}",
        sets={"request": "MsgVote"},
    ),
    Text(
        "RAFT_VOTE_REJECTED",
        "{node:id} [logterm: {ledger_end_term:int}, index: {ledger_end:int}, vote: {value_before:id}] rejected {request:vote} from {peer:id} [logterm: {peer_ledger_end_term:int}, index: {peer_ledger_end:int}] at term {term:int}",
        "the member refused its vote; value_before is whom it had voted for",
    ),
    Text(
        "RAFT_VOTE_IGNORED",
        "{node:id} [logterm: {ledger_end_term:int}, index: {ledger_end:int}, vote: {value_before:id}] ignored {request:vote} from {peer:id} [logterm: {peer_ledger_end_term:int}, index: {peer_ledger_end:int}] at term {term:int}: lease is not expired (remaining ticks: {count:int})",
        "the member gave no answer: it heard its leader, whose lease goes on for count ticks",
    ),
    Text(
        "RAFT_TERM_HIGHER",
        "{node:id} [term: {from_term:int}] received a {request:vote} message with higher term from {peer:id} [term: {term:int}]",
        "the member is about to move to the higher term",
    ),
    Text(
        "RAFT_TERM_LOWER",
        "{node:id} [term: {term:int}] ignored a {request:vote} message with lower term from {peer:id} [term: {from_term:int}]",
        "a message of an older term was ignored, perhaps an old leader's",
    ),
)

TRANSFER = (
    Text(
        "RAFT_TRANSFER",
        "{node:id} [term {term:int}] starts to transfer leadership to {peer:id}",
        "the leader hands over as planned",
    ),
    Text(
        "RAFT_TRANSFER_TAKEN",
        "{node:id} [term {term:int}] received MsgTimeoutNow from {peer:id} and starts an election to get leadership.",
        "the successor begins its election at once, without a round before it",
    ),
)

OTHERS = (
    Text(
        "RAFT_NO_LEADER",
        "{node:id} no leader at term {term:int}; dropping {value:text}",
        "a request came while no leader was known",
    ),
    Text(
        "RAFT_UNPROMOTABLE",
        "{node:id} is unpromotable and can not campaign",
        "a learner or removed member must not be elected",
    ),
    Text(
        "RAFT_MEMBERS",
        "{node:id} switched to configuration {:configuration}",
        "the members in force; at every start they come back one by one. value: learners",
    ),
    Text(
        "RAFT_STALLED",
        "{node:id} A tick missed to fire. Node blocks too long!",
        "the member did not run for a while",
    ),
    Text("RAFT_STALLED", "A tick missed to fire. Node blocks too long!"),
    Text(
        "RAFT_CONFLICT",
        "found conflict at index {raft_index:int} [existing term: {from_term:int}, conflicting term: {term:int}]",
        "the member overwrites entries that the leader does not have",
    ),
    Text(
        "RAFT_LOG_LOST",
        "tocommit({committed:int}) is out of range [lastIndex({ledger_end:int})]. Was the raft log corrupted, truncated, or lost?",
        "the member lost entries that it had acknowledged",
    ),
)

MEMBERS = (
    Text(
        "ETCD_BOOT",
        "starting an etcd server",
        "the process has started; value is the release, flag whether there is a round before an election",
        does=(Deed.FIRST_LINE, Deed.TELLS_RELEASE),
    ),
    Text("ETCD_VERSION", "etcd Version: {value}", "the release that runs", does=(Deed.FIRST_LINE, Deed.TELLS_RELEASE)),
    Text("ETCD_NAME", "name = {broker_name}", "the member's name"),
    Text("ETCD_ELECTION_TIMEOUT", "election = {duration_ms:duration}", "how long a member waits for a leader"),
    Text("ETCD_MEMBER_STARTS", "starting local member", "a new member starts", does=(Deed.STARTS,)),
    Text("ETCD_MEMBER_STARTS", "starting member {node:id} in cluster {cluster_name:id}"),
    Text("ETCD_MEMBER_RESTARTS", "restarting local member", "a member starts again", does=(Deed.STARTS,)),
    Text(
        "ETCD_MEMBER_RESTARTS",
        "restarting member {node:id} in cluster {cluster_name:id} at commit index {committed:int}",
    ),
    Text(
        "ETCD_SERVER_STARTS",
        "starting etcd server",
        "the server starts; value is the release",
        does=(Deed.TELLS_RELEASE,),
    ),
    Text("ETCD_SERVER_STARTS", "starting server... [version: {value}, cluster version: {}]"),
    Text(
        "ETCD_MEMBER_NAMED",
        "published local member to cluster through raft",
        "the name of a member's id; it can serve clients",
    ),
    Text("ETCD_MEMBER_NAMED", "published {:attributes} to cluster {cluster_name:id}"),
    Text("ETCD_MEMBER_ADDED", "added member", "the cluster has one more member; also when the log is read at a start"),
    Text("ETCD_MEMBER_ADDED", "added member {peer:id} [{peer_address:text}] to cluster {cluster_name:id}"),
    Text("ETCD_MEMBER_REMOVED", "removed member", "the cluster has one member less; also at a start"),
    Text("ETCD_MEMBER_REMOVED", "removed member {peer:id} from cluster {cluster_name:id}"),
    Text(
        "ETCD_CHANGE_APPLIED",
        "applied a configuration change through raft",
        "a change of members took effect",
    ),
    Text("ETCD_SERVER_ERROR", "server error", "the server cannot go on"),
    Text("ETCD_SIGNAL", "received signal; shutting down", "the process is told to stop", does=(Deed.STOPS,)),
    Text("ETCD_SIGNAL", "received {value} signal, shutting down..."),
    Text("ETCD_STOPPING", "closing etcd server", "the server stops", does=(Deed.STOPS,)),
    Text("ETCD_STOPPED", "closed etcd server", "the server stopped", does=(Deed.STOPS,)),
)

PEERS = (
    Text("ETCD_PEER_ACTIVE", "peer became active", "a member can be reached"),
    Text("ETCD_PEER_ACTIVE", "peer {peer:id} became active"),
    Text("ETCD_PEER_INACTIVE", "peer became inactive (message send to peer failed)", "a member cannot be reached"),
    Text("ETCD_PEER_INACTIVE", "peer {peer:id} became inactive (message send to peer failed)"),
    Text("ETCD_PEER_LOST", "lost TCP streaming connection with remote peer", "a connection to a member broke"),
    Text("ETCD_PEER_LOST", "lost the TCP streaming connection with peer {peer:id} ({value:text})"),
    Text(
        "ETCD_PEER_REFUSED",
        "rejected stream from remote peer because it was removed",
        "a member that was removed from the cluster tried to connect",
    ),
    Text("ETCD_PEER_UNHEALTHY", "prober detected unhealthy status", "a member does not answer its health check"),
    Text(
        "ETCD_CLOCK_DRIFT",
        "prober found high clock drift",
        "the member's clock is so far ahead of a peer's; value is the time of a round trip in milliseconds, and releases "
        "up to 3.4 have the two in each other's place",
    ),
    Text(
        "ETCD_HEARTBEAT_LATE",
        "leader failed to send out heartbeat on time; took too long, leader is overloaded likely from slow disk",
        "the leader is too slow by this duration",
    ),
    Text(
        "ETCD_HEARTBEAT_LATE",
        "failed to send out heartbeat on time (exceeded the {} timeout for {duration_ms:duration}, to {peer:id})",
    ),
    Text(
        "ETCD_HEARTBEAT_LATE",
        "failed to send out heartbeat on time (exceeded the {} timeout for {duration_ms:duration})",
    ),
    Text(
        "ETCD_TRANSFER_SKIPPED",
        "skipped leadership transfer; local server is not leader",
        "a member that does not lead need not hand over",
        does=(Deed.STOPS,),
    ),
    Text("ETCD_TRANSFER_SKIPPED", "skipped leadership transfer for stopping non-leader member"),
)

SNAPSHOTS = (
    Text(
        "RAFT_SNAPSHOT",
        "{node:id} [commit: {committed:int}, lastindex: {ledger_end:int}, lastterm: {ledger_end_term:int}] restored snapshot [index: {peer_ledger_end:int}, term: {peer_ledger_end_term:int}]",
        "the leader's snapshot took the place of the member's log; peer_ledger_end is its last entry",
    ),
    Text(
        "RAFT_SNAPSHOT",
        "{node:id} [commit: {committed:int}] restored snapshot [index: {peer_ledger_end:int}, term: {peer_ledger_end_term:int}]",
    ),
)

LOG = (
    Text(
        "RAFT_TAIL_CUT",
        "truncate the unstable entries before index {raft_index:int}",
        "entries that were not yet written are dropped, from this one on",
    ),
    Text("RAFT_TAIL_CUT", "replace the unstable entries from index {raft_index:int}"),
    Text(
        "RAFT_COMMITTED_CONFLICT",
        "entry {raft_index:int} conflict with committed entry [committed({committed:int})]",
        "the leader's log differs from this one below what was committed; the member ends",
    ),
    Text("RAFT_COMMITTED_CONFLICT", "after({raft_index:int}) is out of range [committed({committed:int})]"),
    Text("RAFT_LOG_LOST", "{node:id} state.commit {committed:int} is out of range [{:int}, {ledger_end:int}]"),
    Text(
        "RAFT_LOG_GAP",
        "missing log entry [last: {ledger_end:int}, append at: {raft_index:int}]",
        "entries between the end of the log and what should follow are missing; the member ends",
    ),
    Text("RAFT_STALLED", "{node:id} (leader {flag:bool}) A tick missed to fire. Node blocks too long!"),
    Text("RAFT_UNPROMOTABLE", "{node:id} is unpromotable and can not campaign; ignoring MsgHup"),
    Text("RAFT_UNPROMOTABLE", "{node:id} is unpromotable; campaign() should have been called"),
    Text("RAFT_UNPROMOTABLE", "{node:id} received MsgTimeoutNow from {peer:id} but is not promotable"),
    Text(
        "RAFT_LEARNER_ASKED",
        "{node:id} [logterm: {ledger_end_term:int}, index: {ledger_end:int}, vote: {value_before:id}] ignored {request:vote} from {peer:id} [logterm: {peer_ledger_end_term:int}, index: {peer_ledger_end:int}] at term {term:int}: learner can not vote",
        "a learner was asked for its vote and gave none",
    ),
    Text(
        "RAFT_PROPOSAL_DROPPED",
        "{node:id} not forwarding to leader {peer:id} at term {term:int}; dropping proposal",
        "a write that came to a follower was dropped",
    ),
    Text(
        "RAFT_TERM_LOWER",
        "{node:id} [term: {term:int}] ignored entry appends from a {request:vote} message with lower term [term: {from_term:int}]",
    ),
    Text(
        "RAFT_CHANGE_REFUSED",
        "{node:id} ignoring conf change {request:text} at config {value:text}: {result:text}",
        "the leader refused a change of members",
    ),
    Text("RAFT_CHANGE_REFUSED", "propose conf {request:text} ignored since pending unapplied configuration"),
)

MEMBERSHIP = (
    Text(
        "ETCD_MEMBER_FORCED",
        "forcing restart member",
        "the member makes a new cluster of itself alone, as it was told to (--force-new-cluster)",
        does=(Deed.STARTS,),
    ),
    Text(
        "ETCD_MEMBER_FORCED",
        "forcing restart of member {node:id} in cluster {cluster_name:id} at commit index {committed:int}",
    ),
    Text("ETCD_MEMBER_FORCED", "force new cluster"),
    Text("ETCD_WAL_DISCARDED", "discarding uncommitted WAL entries", "entries that were not committed are dropped"),
    Text("ETCD_WAL_DISCARDED", "discarding {count:int} uncommitted WAL entries"),
    Text("ETCD_STORE_RESTORED", "kvstore restored", "the data were read; state_version is their revision"),
    Text("ETCD_MEMBER_ADDED", "recovered/added member from store"),
    Text("ETCD_MEMBER_ADDED", "added member {peer:id} [{peer_address:text}] to cluster {cluster_name:id} from store"),
    Text("ETCD_MEMBER_PROMOTED", "promote member", "a learner became a voter; also when the log is read at a start"),
    Text("ETCD_MEMBER_PROMOTED", "promote member {peer:id} in cluster {cluster_name:id}"),
    Text("ETCD_MEMBER_PROMOTED", "Forcibly apply member promotion request"),
    Text("ETCD_MEMBER_PROMOTED", "Forcibly apply member promotion request in v3store"),
    Text("ETCD_MEMBER_UPDATED", "updated member", "a member has other addresses; also when the log is read at a start"),
    Text("ETCD_MEMBER_UPDATED", "updated member {peer:id} [{peer_address:text}] in cluster {cluster_name:id}"),
    Text(
        "ETCD_MEMBER_ZOMBIE",
        "Removing zombie member from v3store",
        "a member that was removed long ago is removed again",
    ),
    *(
        Text("ETCD_CHANGE_REFUSED", template, meaning)
        for template, meaning in (
            (
                "not enough started members, rejecting member add {result:text}",
                "a change of members was refused: a quorum might be lost by it",
            ),
            ("not enough started members, rejecting promote member {result:text}", ""),
            ("not enough started members, rejecting remove member {result:text}", ""),
            ("not healthy for reconfigure, rejecting member add {result:text}", ""),
            ("reconfigure breaks active quorum, rejecting remove member {result:text}", ""),
            ("rejecting member add request; {result:text}", ""),
            ("rejecting member promote request; {result:text}", ""),
            ("rejecting member remove request; {result:text}", ""),
            ("rejecting promote learner: {result:text}", ""),
            ("rejecting member add; {result:text}", ""),
            ("rejecting member promote; {result:text}", ""),
            ("rejecting member remove; {result:text}", ""),
            ("Reject add member request: {result:text}", ""),
            ("Reject promote member request: {result:text}", ""),
            ("Reject remove member request: {result:text}", ""),
            ("Validation on configuration change failed", ""),
        )
    ),
    Text("ETCD_PEER_REFUSED", "rejected the stream from peer {peer:id} since it was removed"),
    Text("ETCD_PEER_REFUSED", "rejected Raft message from removed member"),
    Text(
        "ETCD_REMOVED",
        "the member has been permanently removed from the cluster",
        "the member learned that its cluster removed it, and ends",
    ),
    Text("ETCD_REMOVED", "the data-dir used by this member must be removed."),
    Text("ETCD_REMOVED", "data-dir used by this member must be removed"),
    Text("ETCD_PEER_REFUSED", "reject message from removed member {peer:id}"),
    Text(
        "ETCD_ID_MISMATCH",
        "rejected Raft message to mismatch member",
        "a message or stream was meant for another member: an address belongs to somebody else now",
    ),
    Text("ETCD_ID_MISMATCH", "ignored streaming request; ID mismatch"),
    Text("ETCD_ID_MISMATCH", "streaming request ignored (ID mismatch got {value} want {value_before})"),
    Text(
        "ETCD_CLUSTER_MISMATCH", "request cluster ID mismatch", "a member of another cluster is at a configured address"
    ),
    Text("ETCD_CLUSTER_MISMATCH", "request cluster ID mismatch (got {value} want {value_before})"),
    Text("ETCD_CLUSTER_MISMATCH", "cluster ID mismatch"),
    Text("ETCD_CLUSTER_MISMATCH", "request sent was ignored by remote peer due to cluster ID mismatch"),
    Text("ETCD_CLUSTER_MISMATCH", "request sent was ignored due to cluster ID mismatch"),
    Text(
        "ETCD_CLUSTER_MISMATCH",
        "request sent was ignored (cluster ID mismatch: peer[{peer:id}]={value}, local={value_before})",
    ),
    Text(
        "ETCD_CLUSTER_MISMATCH",
        "request sent was ignored (cluster ID mismatch: remote[{peer:id}]={value}, local={value_before})",
    ),
)

TROUBLE = (
    Text("ETCD_TRANSFER_FAILED", "leadership transfer failed", "a leader that stops could not hand over"),
    Text("ETCD_TRANSFER_FAILED", "{node:id} failed to transfer leadership ({result:text})"),
    Text("ETCD_TRANSFER_SKIPPED", "skipped leadership transfer for single member cluster"),
    Text("ETCD_TRANSFER_SKIPPED", "skipped leadership transfer for single voting member cluster"),
    Text(
        "ETCD_NOT_LEADER",
        "Current member isn't a leader",
        "a member that took itself for the leader asked and is none: it was blocked while another one was elected",
    ),
    Text("ETCD_NOT_LEADER", "Ignore the lease revoking request because current member isn't a leader"),
    Text("ETCD_NOT_LEADER", "Ignore the checkpoint request because current member isn't a leader"),
    Text("ETCD_NOT_LEADER", "Failed to check current member's leadership"),
    Text(
        "ETCD_HASH_MISMATCH",
        "found different hash values from remote peer",
        "two members hold different data at one revision",
    ),
    Text(
        "ETCD_HASH_MISMATCH",
        "{node:id}'s hash {value} != {peer:id}'s hash {value_before} (revision {state_version:int}, peer revision {:int}, compact revision {:int})",
    ),
    Text("ETCD_HASH_MISMATCH", "same compact revision then hashes must match"),
    Text(
        "ETCD_HASH_MISMATCH",
        "hash {value} at revision {state_version:int} from member {peer:id}, expected hash {value_before}",
    ),
    Text("ETCD_HASH_MISMATCH", "Detected compaction hash mismatch"),
    Text(
        "ETCD_HASH_MISMATCH",
        "Detected compaction hash mismatch but cannot identify the corrupted members, so intentionally set the memberID as 0",
    ),
    Text("ETCD_HASH_CHANGED", "found hash mismatch", "the member's own data changed between two looks at one revision"),
    Text("ETCD_HASH_CHANGED", "mismatched hashes {value_before} and {value} for revision {state_version:int}"),
    Text("ETCD_HASH_CHANGED", "checkInitialHashKV failed {result:text}"),
    Text(
        "ETCD_FOLLOWER_AHEAD",
        "revision from follower must be less than or equal to leader's",
        "a follower holds data of a revision that the leader does not have",
    ),
    Text("ETCD_FOLLOWER_AHEAD", "compact revision from follower must be less than or equal to leader's"),
    Text("ETCD_FOLLOWER_AHEAD", "revision {state_version:int} from member {peer:id}, expected at most {:int}"),
    Text("ETCD_FOLLOWER_AHEAD", "compact revision {state_version:int} from member {peer:id}, expected at most {:int}"),
    Text(
        "ETCD_ALARM",
        "alarm raised",
        "an alarm is set for the cluster: CORRUPT or NOSPACE; writes are refused from here on",
        sets={"flag": True},
    ),
    Text("ETCD_ALARM", "alarm {value} raised by peer {peer:id}", sets={"flag": True}),
    Text("ETCD_ALARM", "alarm disarmed {value:text}", sets={"flag": False}),
    Text("ETCD_APPLY_FAILED", "failed to apply request", "a request failed; while an alarm is set, every write does"),
    Text(
        "ETCD_APPLY_FAILED",
        "failed to apply request {:text} with response {:text} took ({:text}) to execute, err is {result:text}",
    ),
    Text("ETCD_PEER_INACTIVE", "peer {peer:id} became inactive"),
    Text("ETCD_PEER_UNHEALTHY", "health check for peer {peer:id} could not connect: {result:text}"),
    Text(
        "ETCD_CLOCK_DRIFT",
        "the clock difference against peer {peer:id} is too high [{duration_ms:duration} > {}] (prober {})",
    ),
    Text("ETCD_CLOCK_DRIFT", "the clock difference against peer {peer:id} is too high [{duration_ms:duration} > {}]"),
    Text(
        "ETCD_NAME_FAILED",
        "failed to publish local member to cluster through raft",
        "no quorum took the member's name in time",
    ),
    Text("ETCD_NAME_FAILED", "publish error: {result:text}"),
    Text("ETCD_NO_LEADER", "serving /health false; no leader", "a health check found that the member knows no leader"),
    Text("ETCD_NO_LEADER", "/health error; no leader (status code {})"),
    Text(
        "ETCD_READ_LATE",
        "waiting for ReadIndex response took too long, retrying",
        "a read waits for the leader's word that it still leads",
    ),
    Text(
        "ETCD_READ_LATE",
        "waiting for ReadIndex response took too long, retrying (sent-request-id: {}, retry-timeout: {})",
    ),
    Text("ETCD_READ_LATE", "timed out waiting for read index response (local node might have slow network)"),
    Text(
        "ETCD_READ_LATE", "timed out waiting for read index response (local node might have slow network) timeout: {}"
    ),
    Text("ETCD_READ_LATE", "timed out waiting for read index response"),
    Text("ETCD_FSYNC_SLOW", "slow fdatasync", "the disk took this long to make entries durable"),
    Text("ETCD_FSYNC_SLOW", "sync duration of {duration_ms:duration}, expected less than {}"),
    Text("ETCD_WAL_REPAIRED", "repaired WAL", "the torn end of the log was cut off at start"),
    Text("ETCD_WAL_REPAIRED", "repaired WAL error ({result:text})"),
    *(
        Text("ETCD_STORE_FAILED", template, meaning)
        for template, meaning in (
            (
                "failed to save Raft hard state and entries",
                "term, vote or entries could not be written or read; the member ends",
            ),
            ("failed to save hard state and entries", ""),
            ("raft save state and entries error: {result:text}", ""),
            ("failed to raft save state and entries {result:text}", ""),
            ("failed to save state and entries error: {result:text}", ""),
            ("failed to save Raft snapshot {result:text}", ""),
            ("raft save snapshot error: {result:text}", ""),
            ("failed to sync Raft snapshot {result:text}", ""),
            ("failed to open WAL", ""),
            ("open wal error: {result:text}", ""),
            ("failed to read WAL, cannot be repaired", ""),
            ("read wal error ({result:text}) and cannot be repaired", ""),
            ("failed to repair WAL", ""),
            ("WAL error ({result:text}) cannot be repaired", ""),
            ("failed to recover from snapshot", ""),
            ("recovered store from snapshot error: {result:text}", ""),
            ("failed to recover v3 backend from snapshot", ""),
            ("recovering backend from snapshot error: {result:text}", ""),
        )
    ),
    *(
        Text("ETCD_START_FAILED", template, meaning)
        for template, meaning in (
            ("discovery failed", "the member could not start, or not join its cluster"),
            ("failed to start etcd", ""),
            ("bootstrap failed", ""),
            ("listener failed", ""),
            ("member {node:id} has already been bootstrapped", ""),
        )
    ),
)

SIGNS = signs(
    "RAFT_SIGN",
    "{node:id} sends MsgTimeoutNow to {peer:id} immediately as {:id} already has up-to-date log",
    "{node:id} sent MsgTimeoutNow to {peer:id} after received MsgAppResp",
    "leadership transfer starting",
    "{node:id} starts leadership transfer from {value_before:id} to {peer:id}",
    "{node:id} [term {term:int}] transfer leadership to {peer:id} is in progress, ignores request to same node {:id}",
    "{node:id} [term {term:int}] abort previous transferring leadership to {peer:id}",
    "{node:id} [term {term:int} state {value}] ignored MsgTimeoutNow from {peer:id}",
    "{node:id} cannot campaign at term {term:int} since there are still pending configuration changes to apply",
    "{node:id} cannot campaign at term {term:int} since there are still {count:int} pending configuration changes to apply",
    "{node:id} ignoring MsgHup because already leader",
    "leadership transfer finished",
    "{node:id} finished leadership transfer from {value_before:id} to {peer:id} (took {duration_ms:duration})",
    "{node:id} [commit: {committed:int}, lastindex: {ledger_end:int}, lastterm: {ledger_end_term:int}] starts to restore snapshot [index: {peer_ledger_end:int}, term: {peer_ledger_end_term:int}]",
    "log [{}] starts to restore snapshot [index: {peer_ledger_end:int}, term: {peer_ledger_end_term:int}]",
    "{node:id} [commit: {committed:int}, lastindex: {ledger_end:int}, lastterm: {ledger_end_term:int}] fast-forwarded commit to snapshot [index: {peer_ledger_end:int}, term: {peer_ledger_end_term:int}]",
    "{node:id} [commit: {committed:int}] ignored snapshot [index: {peer_ledger_end:int}, term: {peer_ledger_end_term:int}]",
)

TEXTS = under(
    "raft",
    (
        *(*LEADERSHIP, *VOTES, *TRANSFER, *OTHERS),
        *(*MEMBERS, *PEERS),
        *(*SNAPSHOTS, *LOG, *MEMBERSHIP, *TROUBLE, *SIGNS),
    ),
    Deed.NAMES_WRITER,
)
