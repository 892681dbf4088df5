"""What etcd prints about its Raft group, 2.x to 3.5: the library (etcd-io/raft) and the server around it.

The node is the member that prints: the first id of a message of the library. ``request`` is the type of a message;
``MsgPreVote`` and ``MsgPreVoteResp`` are the round before an election, in which the term stays as it is.
``ledger_end_term`` and ``ledger_end`` are the node's last entry, ``peer_...`` the candidate's.
"""

from election_core.dialects.dialect import Fields, Text, under


def _tally(columns: Fields) -> Fields:
    """``count`` are the refusals; with the grants they are all answers."""
    return {**columns, "answered": (columns.get("accepted") or 0) + (columns.get("count") or 0)}


LEADERSHIP = (
    Text(
        "RAFT_START",
        "newRaft {node:id} [peers: [{members:ids}], term: {term:int}, commit: {committed:int}, applied: {raft_index:int}, lastindex: {ledger_end:int}, lastterm: {ledger_end_term:int}]",
        "the member starts with this term and log; raft_index is the last entry applied",
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
        "votes so far; count are the refusals",
        then=_tally,
    ),
    Text(
        "RAFT_TALLY",
        "{node:id} [quorum:{:int}] has received {accepted:int} {request:answer} votes and {count:int} vote rejections",
        then=_tally,
    ),
    Text(
        "RAFT_TALLY",
        "{node:id} [quorum:{:int}] has received {accepted:int} votes and {count:int} vote rejections",
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
        "RAFT_TRANSFER_SENT",
        "{node:id} sends MsgTimeoutNow to {peer:id} immediately as {:id} already has up-to-date log",
        "the leader told its successor to begin",
    ),
    Text("RAFT_TRANSFER_SENT", "{node:id} sent MsgTimeoutNow to {peer:id} after received MsgAppResp"),
    Text(
        "RAFT_TRANSFER_TAKEN",
        "{node:id} [term {term:int}] received MsgTimeoutNow from {peer:id} and starts an election to get leadership.",
        "the successor begins its election at once, without a round before it",
    ),
    Text(
        "RAFT_TRANSFER_AGAIN",
        "{node:id} [term {term:int}] transfer leadership to {peer:id} is in progress, ignores request to same node {:id}",
        "the same transfer was asked for twice",
    ),
    Text(
        "RAFT_TRANSFER_ABORTED",
        "{node:id} [term {term:int}] abort previous transferring leadership to {peer:id}",
        "another transfer takes the place of this one",
    ),
    Text(
        "RAFT_TRANSFER_IGNORED",
        "{node:id} [term {term:int} state {value}] ignored MsgTimeoutNow from {peer:id}",
        "the member cannot take over in its state",
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
        "RAFT_CHANGE_PENDING",
        "{node:id} cannot campaign at term {term:int} since there are still pending configuration changes to apply",
        "the member must apply a change of members before it may be elected",
    ),
    Text(
        "RAFT_CHANGE_PENDING",
        "{node:id} cannot campaign at term {term:int} since there are still {count:int} pending configuration changes to apply",
    ),
    Text(
        "RAFT_MEMBERS",
        "{node:id} switched to configuration {:configuration}",
        "the members in force; at every start they come back one by one. value: learners",
    ),
    Text("RAFT_ALREADY_LEADER", "{node:id} ignoring MsgHup because already leader", "a leader need not be elected"),
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
    ),
    Text("ETCD_VERSION", "etcd Version: {value}", "the release that runs"),
    Text("ETCD_NAME", "name = {broker_name}", "the member's name"),
    Text("ETCD_ELECTION_TIMEOUT", "election = {duration_ms:duration}", "how long a member waits for a leader"),
    Text("ETCD_MEMBER_STARTS", "starting local member", "a new member starts"),
    Text("ETCD_MEMBER_STARTS", "starting member {node:id} in cluster {cluster_name:id}"),
    Text("ETCD_MEMBER_RESTARTS", "restarting local member", "a member starts again"),
    Text(
        "ETCD_MEMBER_RESTARTS",
        "restarting member {node:id} in cluster {cluster_name:id} at commit index {committed:int}",
    ),
    Text("ETCD_SERVER_STARTS", "starting etcd server", "the server starts; value is the release"),
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
    Text("ETCD_SIGNAL", "received signal; shutting down", "the process is told to stop"),
    Text("ETCD_SIGNAL", "received {value} signal, shutting down..."),
    Text("ETCD_STOPPING", "closing etcd server", "the server stops"),
    Text("ETCD_STOPPED", "closed etcd server", "the server stopped"),
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
    Text("ETCD_CLOCK_DRIFT", "prober found high clock drift", "the clocks of two members are far apart"),
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
        "ETCD_TRANSFER",
        "leadership transfer starting",
        "the leader is to hand over to peer; value_before leads so far",
    ),
    Text("ETCD_TRANSFER", "{node:id} starts leadership transfer from {value_before:id} to {peer:id}"),
    Text("ETCD_TRANSFERRED", "leadership transfer finished", "the leader handed over to peer"),
    Text(
        "ETCD_TRANSFERRED",
        "{node:id} finished leadership transfer from {value_before:id} to {peer:id} (took {duration_ms:duration})",
    ),
    Text(
        "ETCD_TRANSFER_SKIPPED",
        "skipped leadership transfer; local server is not leader",
        "a member that does not lead need not hand over",
    ),
    Text("ETCD_TRANSFER_SKIPPED", "skipped leadership transfer for stopping non-leader member"),
)

TEXTS = (
    *under("raft", (*LEADERSHIP, *VOTES, *TRANSFER, *OTHERS)),
    *under("raft", (*MEMBERS, *PEERS)),
)
