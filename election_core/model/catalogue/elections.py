"""Rules of elections and votes, in every protocol with terms."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

ELECTIONS: tuple[Rule, ...] = (
    Rule(
        id=RuleId.SPLIT_BRAIN_SAME_TERM,
        severity="critical",
        meaning="Two nodes led the same term or epoch. Follows from terms alone, whatever the clocks were.",
        source=(
            "Raft section 5.2 (election safety); DLedger DLedgerLeaderElector#handleHeartBeat; RocketMQ "
            "ReplicasManager#changeToMaster"
        ),
        needs="the role lines of both leaders, each in its own log, or of members that heard both",
        proven_by="both signed {terms}",
        refuted_by=(
            "One of the two role lines belongs to another cluster or group (a copied log folder, two groups of one "
            "name), or all members were wiped in between, so that the term began anew."
        ),
    ),
    Rule(
        id=RuleId.SPLIT_BRAIN_OVERLAP,
        severity=(
            "critical if the stale leader took writes that were cut off or stay forked; warning if it may have; "
            "info if it was frozen, took nothing, could not commit (Raft, ZAB), or only for as long as a notice takes"
        ),
        meaning="Two nodes acted as leader at the same time with different terms or epochs.",
        source=("DLedger DLedgerLeaderElector#sendHeartbeats (maxHeartBeatLeak); RocketMQ ReplicasManager (no lease)"),
        needs="the begin and end of both leaders' roles, further apart than resolution and clock bounds",
        refuted_by=(
            "A line that ends the older leader's role before the newer one began (read-only, step down, shutdown), "
            "or proof that a machine's clock was off by more than its configured bound."
        ),
    ),
    Rule(
        id=RuleId.DOUBLE_VOTE,
        severity="critical",
        meaning="One voter granted one term to two candidates.",
        source="Raft section 5.2; DLedger DLedgerLeaderElector#handleVote, MemberState#persistTerm",
        needs=("the answers that both candidates printed, or the voter's own lines; DLedger's voters print nothing"),
        proven_by="two candidates printed a grant of the same voter in {terms}",
        refuted_by=(
            "One of the two answers is not a grant of this voter in this term: a line of another run, or two voters "
            "under one id."
        ),
    ),
    Rule(
        id=RuleId.TERM_REGRESSION,
        severity="critical if the node voted again in an earlier term; warning otherwise",
        meaning="A node's own term went back: its persistent term and vote were lost or replaced.",
        source="Raft figure 2 (persistent state); DLedger MemberState#loadTerm",
        needs="two lines of one node that say its own term",
        proven_by="the node's own log says the smaller term after the larger one",
        refuted_by=(
            "The two lines are of different members: another machine or store under the same id, or a log file that "
            "was put into the wrong folder."
        ),
    ),
    Rule(
        id=RuleId.LEADER_WITHOUT_QUORUM,
        severity="critical; warning for ZooKeeper, where servers may have weights",
        meaning="A candidate called itself elected, or a leader established, without a majority of the members.",
        source=(
            "DLedger DLedgerLeaderElector#maintainAsCandidate; etcd raft#stepCandidate; ZooKeeper Leader#startZkServer"
        ),
        needs="the printed result of the round with its counts, or the supporters, and the members",
        proven_by="the candidate printed the count with which it called itself elected",
        refuted_by=(
            "The group was smaller at that moment than the known members say, so that the votes were a majority."
        ),
    ),
    Rule(
        id=RuleId.LEADER_KEPT_WITHOUT_QUORUM,
        severity="warning",
        meaning=(
            "A leader kept its role for more than 12 s without a quorum of heartbeats; it has to give up after 6 s."
        ),
        source="DLedger DLedgerLeaderElector#sendHeartbeats (maxHeartBeatLeak)",
        needs="at least three printed rounds of heartbeats without a quorum",
        proven_by="the leader's own log counts the rounds without a quorum",
        refuted_by=(
            "A lost line of a heartbeat round with a quorum in between, or a larger maxHeartBeatLeak in the "
            "configuration."
        ),
    ),
    Rule(
        id=RuleId.WRONG_ROUND_RESULT,
        severity="warning",
        meaning="The printed result of a voting round does not follow from its printed counts.",
        source="DLedger DLedgerLeaderElector#maintainAsCandidate",
        needs="the printed result with its counts; only all answers together tell how many were valid",
        proven_by="result and counts stand in one line",
        refuted_by="A version whose rules for the result of a round differ from the ones named as the source.",
    ),
    Rule(
        id=RuleId.WRONG_VOTE_RESULT,
        severity="warning",
        meaning="A voter's printed answer is one that the rules of voting do not allow.",
        source="DLedger DLedgerLeaderElector#handleVote",
        needs="the printed answer and the candidate's own term; the other candidate's log for its votes",
        proven_by="the answer and the candidate's term stand in one log",
        refuted_by=(
            "A version whose rules for votes differ, or a line between the two that changed the term and was lost."
        ),
    ),
    Rule(
        id=RuleId.STALE_LOG_VOTE,
        severity="critical",
        meaning=(
            "A voter granted its vote to a candidate whose log is behind its own. Judged where logs print what was "
            "compared; etcd does, DLedger does not."
        ),
        source="Raft section 5.4.1; etcd raft#Step (MsgVote); DLedger DLedgerLeaderElector#handleVote",
        needs="the log ends that were compared; etcd's voters print them, DLedger's do not",
        proven_by="the grant and both ledger ends stand in one line",
        refuted_by=("Ledger ends that the voter itself had at that moment and that are not ahead of the candidate's."),
    ),
    Rule(
        id=RuleId.HEARTBEAT_RULE,
        severity="warning",
        meaning=(
            "A follower gave up its leader before the silence had lasted long enough, or a leader gave up its role "
            "too early."
        ),
        source="DLedger DLedgerLeaderElector#maintainAsFollower, #sendHeartbeats",
        needs="the printed time of the last heartbeat; maxHeartBeatLeak is not printed",
        proven_by="the time of the last heartbeat and that of giving up are of one clock",
        refuted_by="A smaller heartBeatTimeInterval or maxHeartBeatLeak in the member's configuration.",
    ),
    Rule(
        id=RuleId.TERM_RULE,
        severity="warning",
        meaning=(
            "A node took a role in a term that is not its own, did not raise its term to the largest that it had "
            "heard of, or asked for votes twice in a term in which nobody could win."
        ),
        source=(
            "DLedger DLedgerLeaderElector#changeRoleToLeader, #changeRoleToCandidate, #maintainAsCandidate; "
            "MemberState#nextTerm, #changeToFollower"
        ),
        needs="the lines of role changes and raised terms, each with both its terms",
        refuted_by="A lost change of the term between the two lines.",
    ),
    Rule(
        id=RuleId.TRANSFER_RULE,
        severity="warning",
        meaning=(
            "A transfer of leadership was refused, or ended, with an answer that does not follow from roles and terms."
        ),
        source=(
            "DLedger DLedgerLeaderElector#handleLeadershipTransfer, #handleTakeLeadership, TakeLeadershipTask#check"
        ),
        needs="the transferee's line about the end of the transfer, or the leader's refusal",
        refuted_by="A change of role or term between request and answer that was lost.",
    ),
    Rule(
        id=RuleId.MEMBERS_DISAGREE,
        severity="warning",
        meaning=(
            "A node got requests from a node that is not in its list of members, or that has its own id: lists that "
            "differ can make two majorities."
        ),
        source="DLedger DLedgerLeaderElector#handleVote, #handleHeartBeat (UNKNOWN_MEMBER, UNEXPECTED_MEMBER)",
        needs="the refused request (a WARN line, never dropped); lists of members are not printed",
        refuted_by="A request of another cluster that went astray: then no list of members differs.",
    ),
    Rule(
        id=RuleId.BROKER_ROLE_RULE,
        severity="warning",
        meaning="The broker of a DLedger member took another role than the member's role demands.",
        source="RocketMQ DLedgerRoleChangeHandler#handle",
        needs="the line that ends the broker's change of role",
        refuted_by="A lost line of a newer role of the member that demands what the broker did.",
    ),
    Rule(
        id=RuleId.ZAB_WRONG_WINNER,
        severity="critical if proven; warning if possible",
        meaning=(
            "A server took over a worse vote within one round, or a leader was established whose log is behind the "
            "logs of servers that it needed for its quorum: what they had committed is cut off."
        ),
        source=("ZooKeeper FastLeaderElection#totalOrderPredicate, Leader#waitForEpochAck (epoch, zxid, server id)"),
        needs="the votes that a server sends to itself; the supporters of the leader and their last zxids",
        refuted_by="A newer round, or a newer last zxid of the winner, whose lines were lost.",
    ),
    Rule(
        id=RuleId.BULLY_NOT_HIGHEST,
        severity="warning",
        meaning=(
            "A node became coordinator of a Bully group while a higher one was up from before its election until "
            "after it."
        ),
        source="Garcia-Molina, Elections in a Distributed Computing System (1982)",
        needs="the starts of the higher node and an event of it after the election",
        refuted_by="An end of the higher node before the election, and a start after it, whose lines were lost.",
    ),
    Rule(
        id=RuleId.RING_NOT_HIGHEST,
        severity="critical if the node's own message says so; warning if by the others' events",
        meaning=(
            "A node became leader of a ring although a higher id took part, or was up from before the election "
            "until after it."
        ),
        source=(
            "Chang and Roberts, An improved algorithm for decentralized extrema-finding (1979); ring with a list of ids"
        ),
        needs="the list of ids in the message, or the higher node's starts and an event after the election",
        refuted_by="An end of the higher node before the message passed it, whose line was lost.",
    ),
)
