"""The decisions of openmessaging/dledger 0.3.1.2, and of RocketMQ's brokers on top of it."""

from tests.election_core.decisions import Decision

_ELECTOR = "DLedgerLeaderElector"
_VOTE = f"{_ELECTOR}#handleVote"
_ROUND = f"{_ELECTOR}#maintainAsCandidate"
_BEAT = f"{_ELECTOR}#handleHeartBeat"
_BEATS = f"{_ELECTOR}#sendHeartbeats"
_TRANSFER = f"{_ELECTOR}#handleLeadershipTransfer"
_BROKER = "RocketMQ DLedgerRoleChangeHandler#handle"

_LATE = "the counters of a round are read when its line is written: a late answer may have changed them"
_NO_LEDGER = "the ledger ends that candidate and voter compare are not printed"
_NO_LISTS = "lists of members are not printed, and a request that was in order leaves no line"
_NOT_PRINTED = "a heartbeat that changes nothing prints nothing, at neither end"
_LINES_DROP = "appenders drop INFO lines: that nothing followed proves nothing"

DLEDGER = (
    # logs and queues
    Decision(
        "committed-entries",
        "a later leader has every entry that was committed; what it cuts and has, it sends again",
        "Raft section 5.4; DLedgerEntryPusher",
        "COMMITTED_ENTRY_LOST",
    ),
    Decision(
        "broker-leaves-in-time",
        "the broker of a leader that leads no more becomes slave before the next leader's broker is master",
        "RocketMQ DLedgerRoleChangeHandler#handle",
        "FORMER_LEADER_STILL_MASTER",
    ),
    Decision(
        "queues-cut",
        "a broker that starts cuts its queues where its log ends, and not before",
        "RocketMQ DLedgerCommitLog#recover",
        "QUEUES_CUT_AT_START",
    ),
    # state and roles
    Decision(
        "quorum",
        "a quorum is more than half of all members, dead ones included",
        "MemberState#isQuorum",
        "LEADER_WITHOUT_QUORUM",
    ),
    Decision(
        "persistent-term",
        "a node's term and vote are written to file and never go back",
        "MemberState#persistTerm, #loadTerm",
        "TERM_REGRESSION",
    ),
    Decision(
        "to-candidate",
        "to candidate for a term not below the own one, which stays as it is; else skipped",
        f"{_ELECTOR}#changeRoleToCandidate",
        "TERM_RULE",
    ),
    Decision(
        "to-leader", "to leader of the own term only; else skipped", f"{_ELECTOR}#changeRoleToLeader", "TERM_RULE"
    ),
    Decision("to-follower", "to follower in the own term only", "MemberState#changeToFollower", "TERM_RULE"),
    # the vote request at the voter, in the order of its checks
    Decision(
        "vote-not-for-this-node",
        "a request for another node or group is refused by the server, without a vote",
        "DLedgerServer#handleVote",
        "WRONG_VOTE_RESULT",
    ),
    Decision(
        "vote-for-a-stranger",
        "a candidate that is no member: REJECT_UNKNOWN_LEADER",
        _VOTE,
        "WRONG_VOTE_RESULT",
        never_conforms=_NO_LISTS,
    ),
    Decision(
        "members-agree",
        "all members have the same list of members",
        f"{_VOTE}, {_BEAT}",
        "MEMBERS_DISAGREE",
        never_conforms=_NO_LISTS,
    ),
    Decision(
        "vote-with-the-own-id",
        "a request of another that bears the own id: REJECT_UNEXPECTED_LEADER",
        _VOTE,
        "WRONG_VOTE_RESULT",
        never_violates="no line of a candidate says whose id the voter has that it asks",
    ),
    Decision(
        "vote-for-an-older-last-entry",
        "the candidate's last entry is of a smaller term: REJECT_EXPIRED_LEDGER_TERM, whatever the request's term",
        _VOTE,
        "STALE_LOG_VOTE",
        never_conforms=_NO_LEDGER,
        never_violates=_NO_LEDGER,
    ),
    Decision(
        "vote-for-a-shorter-log",
        "the same term of the last entry, the candidate's log is shorter: REJECT_SMALL_LEDGER_END_INDEX",
        _VOTE,
        "STALE_LOG_VOTE",
        never_conforms=_NO_LEDGER,
        never_violates=_NO_LEDGER,
    ),
    Decision(
        "vote-for-an-expired-term",
        "the request's term is below the voter's: REJECT_EXPIRED_VOTE_TERM with the voter's term",
        _VOTE,
        "WRONG_VOTE_RESULT",
    ),
    Decision(
        "vote-while-a-leader-is-known",
        "the vote of the term is another's and a leader is known: REJECT_ALREADY_HAS_LEADER",
        _VOTE,
        "WRONG_VOTE_RESULT",
    ),
    Decision(
        "vote-given-to-another",
        "the vote of the term is another's, no leader is known: REJECT_ALREADY_VOTED",
        _VOTE,
        "WRONG_VOTE_RESULT",
    ),
    Decision(
        "vote-in-a-term-not-reached",
        "the request's term is above the voter's: REJECT_TERM_NOT_READY with the old term; the voter then raises it",
        _VOTE,
        "WRONG_VOTE_RESULT",
    ),
    Decision(
        "vote-below-the-log",
        "the request's term is below that of the voter's last entry: REJECT_TERM_SMALL_THAN_LEDGER with that term",
        _VOTE,
        "WRONG_VOTE_RESULT",
    ),
    Decision(
        "vote-while-taking-leadership",
        "a preferred voter that takes leadership refuses candidates that are not ahead: REJECT_TAKING_LEADERSHIP",
        _VOTE,
        "WRONG_VOTE_RESULT",
    ),
    Decision("vote-accepted", "otherwise ACCEPT, in the term that was asked for", _VOTE, "WRONG_VOTE_RESULT"),
    Decision(
        "vote-repeated",
        "a vote may be repeated for the same candidate, never be given to two in one term",
        _VOTE,
        "DOUBLE_VOTE",
    ),
    Decision(
        "term-first-vote-later",
        "no vote in the call in which the voter first hears of a term",
        _VOTE,
        "WRONG_VOTE_RESULT",
        never_violates="the voter's line and the candidate's are on two clocks: a vote that seems to come before the "
        "voter's term shows that the clocks differ (CLOCK_SKEW)",
    ),
    # the candidate: when it votes and raises its term
    Decision(
        "pause-between-rounds",
        "the next round waits for its time, which is drawn anew; no vote in the pass that raises the term at once",
        _ROUND,
        "TERM_RULE",
        never_conforms="pauses of 30 to 1000 ms are below the resolution of the log",
        never_violates="pauses of 30 to 1000 ms are below the resolution of the log",
    ),
    Decision(
        "term-raised-after-a-lost-round",
        "after a round in which nobody could win the next is held in a larger term",
        _ROUND,
        "TERM_RULE",
    ),
    Decision(
        "term-raised-to-the-largest-heard",
        "the term is raised to the largest one heard of, else by one",
        "MemberState#nextTerm",
        "TERM_RULE",
    ),
    Decision(
        "first-round-in-the-old-term",
        "after a timeout or a step-down the first round is held in the old term",
        _ROUND,
        "WRONG_ROUND_RESULT",
        never_violates=f"a larger term may have been heard of; {_LINES_DROP}",
    ),
    Decision(
        "same-node-twice",
        "one node may be elected twice in one term, two nodes never",
        f"{_ROUND}, {_VOTE}",
        "SPLIT_BRAIN_SAME_TERM",
    ),
    # the seven results of a round, in order
    Decision(
        "round-finds-a-larger-term",
        "an answer carries a larger term: WAIT_TO_VOTE_NEXT, candidate for that term",
        _ROUND,
        "WRONG_ROUND_RESULT",
        never_violates=_LATE,
    ),
    Decision(
        "round-finds-a-leader",
        "a voter has a leader: WAIT_TO_REVOTE",
        _ROUND,
        "WRONG_ROUND_RESULT",
        never_violates=_LATE,
    ),
    Decision("round-too-few-answers", "valid answers are no quorum: WAIT_TO_REVOTE", _ROUND, "WRONG_ROUND_RESULT"),
    Decision(
        "round-longer-logs",
        "without the voters whose logs are ahead valid answers are no quorum: WAIT_TO_REVOTE",
        _ROUND,
        "WRONG_ROUND_RESULT",
    ),
    Decision("round-passed", "a quorum of votes: PASSED", _ROUND, "LEADER_WITHOUT_QUORUM"),
    Decision(
        "round-asked-again",
        "votes and voters that are not ready make a quorum: REVOTE_IMMEDIATELY",
        _ROUND,
        "WRONG_ROUND_RESULT",
    ),
    Decision("round-nobody-wins", "otherwise WAIT_TO_VOTE_NEXT", _ROUND, "WRONG_ROUND_RESULT"),
    # heartbeats at the receiver
    Decision(
        "heartbeat-of-a-stranger",
        "a leader that is no member: refused (401)",
        _BEAT,
        "MEMBERS_DISAGREE",
        never_conforms=_NO_LISTS,
    ),
    Decision(
        "heartbeat-with-the-own-id",
        "a leader with the own id: refused (402)",
        _BEAT,
        "MEMBERS_DISAGREE",
        never_conforms=_NO_LISTS,
    ),
    Decision(
        "heartbeat-of-an-expired-term",
        "a smaller term: refused (403) with the own term",
        _BEAT,
        "HEARTBEAT_RULE",
        never_conforms=_NOT_PRINTED,
        never_violates=_NOT_PRINTED,
    ),
    Decision(
        "heartbeat-of-the-known-leader",
        "the own term and the known leader: the clock of the follower starts anew",
        _BEAT,
        "HEARTBEAT_RULE",
        never_conforms=_NOT_PRINTED,
        never_violates=_NOT_PRINTED,
    ),
    Decision(
        "heartbeat-of-another-leader",
        "the own term, but another leader is known: refused (409), since a term has one leader",
        _BEAT,
        "SPLIT_BRAIN_SAME_TERM",
    ),
    Decision(
        "heartbeat-of-a-larger-term",
        "a larger term: not ready (416), candidate for that term, follower with the next heartbeat only",
        _BEAT,
        "TERM_RULE",
    ),
    Decision(
        "follower-timeout",
        "a follower gives its leader up after more than maxHeartBeatLeak intervals, of at least two",
        f"{_ELECTOR}#maintainAsFollower",
        "HEARTBEAT_RULE",
    ),
    # heartbeats at the leader
    Decision(
        "leader-with-quorum",
        "a quorum of heartbeats: stays leader; up to 0.3.1.2 a larger term is not looked at",
        _BEATS,
        "HEARTBEAT_RULE",
        never_conforms=_NOT_PRINTED,
        never_violates=_NOT_PRINTED,
    ),
    Decision(
        "leader-with-quorum-hears-of-a-larger-term",
        "from 0.3.2 on a larger term comes first: candidate for it, although there is a quorum",
        _BEATS,
        "TERM_RULE",
    ),
    Decision(
        "leader-waits-for-members",
        "members that are not ready complete the quorum: the next round comes at once",
        _BEATS,
        "HEARTBEAT_RULE",
        never_conforms="rounds that reach their quorum print nothing",
        never_violates="rounds that reach their quorum print nothing",
    ),
    Decision(
        "leader-hears-of-a-larger-term",
        "no quorum and a larger term: candidate for it",
        _BEATS,
        "HEARTBEAT_RULE",
        never_violates=_LINES_DROP,
    ),
    Decision(
        "leader-told-of-another-leader",
        "no quorum and a member knows another leader of the term: candidate",
        _BEATS,
        "HEARTBEAT_RULE",
        never_violates=_LINES_DROP,
    ),
    Decision(
        "leader-without-quorum",
        "no quorum for more than maxHeartBeatLeak intervals: candidate at the end of the round",
        _BEATS,
        "LEADER_KEPT_WITHOUT_QUORUM",
    ),
    Decision(
        "stale-leader-commits-nothing",
        "a leader without quorum calls itself so for 6 to about 10 s and commits nothing",
        _BEATS,
        "SPLIT_BRAIN_OVERLAP",
    ),
    # leadership transfer
    Decision(
        "transfer-of-another-term",
        "a transfer is refused when its term is not the node's (407, 403)",
        f"{_TRANSFER}, #handleTakeLeadership",
        "TRANSFER_RULE",
    ),
    Decision(
        "transfer-refused",
        "a transfer is refused to a node that is no leader, is handing over, or to a transferee too far behind",
        f"{_TRANSFER}, DLedgerServer#handleLeadershipTransfer",
        "TRANSFER_RULE",
        never_conforms="what was compared (role, lag, transferee) is not in the lines of the refusal",
        never_violates="what was compared (role, lag, transferee) is not in the lines of the refusal",
    ),
    Decision(
        "take-over-ends",
        "leader of the wanted term: 200; follower: 418; a larger term: 403; else 500",
        f"{_ELECTOR}.TakeLeadershipTask#check",
        "TRANSFER_RULE",
    ),
    Decision(
        "preferred-leader-chosen",
        "of the preferred members the one with the least lag, and below 1000 entries only",
        "DLedgerServer#checkPreferredLeader",
        "TRANSFER_RULE",
        never_conforms="the lags of the others and the limit are not printed",
        never_violates="the lags of the others and the limit are not printed",
    ),
    # the broker on top
    Decision("broker-of-a-candidate", "its broker is slave", _BROKER, "BROKER_ROLE_RULE"),
    Decision("broker-of-a-follower", "its broker is slave", _BROKER, "BROKER_ROLE_RULE"),
    Decision(
        "broker-of-a-leader",
        "its broker is master once all is committed and dispatched; slave if it leads no more by then",
        _BROKER,
        "BROKER_ROLE_RULE",
    ),
    Decision(
        "broker-id-of-a-slave",
        "the id of a slave is the number after its member's",
        "RocketMQ DLedgerCommitLog#getId",
        "BROKER_ROLE_RULE",
    ),
)
