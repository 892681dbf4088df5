"""Kafka in KRaft mode: the metadata quorum, and the partitions of brokers."""

from tests.election_core.decisions import Decision

KRAFT = (
    Decision("one-vote", "one vote an epoch, written down before it is answered", "QuorumState#transitionToUnattachedVotedState", "DOUBLE_VOTE"),
    Decision(
        "log-recent",
        "a vote only for a log that is at least as recent as one's own",
        "KafkaRaftClient#handleVoteRequest, OffsetAndEpoch#compareTo",
        "STALE_LOG_VOTE",
        never_conforms="where a voter's own log ended is not printed; what it knew to be committed is",
    ),
    Decision("one-leader", "one leader of an epoch", "Raft section 5.2", "SPLIT_BRAIN_SAME_TERM"),
    Decision("epoch-kept", "the epoch never gets smaller, over restarts too", "QuorumState#initialize", "TERM_REGRESSION"),
    Decision("complete", "a leader has what earlier epochs committed", "Raft section 5.4.3", "COMMITTED_ENTRY_LOST"),
    Decision(
        "committed-kept",
        "a node cuts nothing that it knows to be committed",
        "KafkaMetadataLog#truncateToEndOffset",
        "COMMITTED_ENTRY_LOST",
    ),
    Decision("outage", "between two leaders nobody leads, unless the first one is stopped", "KafkaRaftClient#pollFollower", "LEADERLESS"),
    Decision(
        "needless",
        "who cannot be elected topples no leader (pre-vote, since 4.0)",
        "KIP-996, KafkaRaftClient#pollProspective",
        "NEEDLESS_ELECTION",
    ),
)  # fmt: skip

PARTITION = (
    Decision("one-leader", "one leader of a leader epoch", "PartitionChangeBuilder#build", "SPLIT_BRAIN_SAME_TERM"),
    Decision(
        "clean",
        "a leader is in sync, or was eligible (ELR)",
        "PartitionChangeBuilder#electLeader, KIP-966",
        "UNCLEAN_ELECTION",
    ),
    Decision("complete", "a leader has all below the high watermark", "Partition#makeLeader", "COMMITTED_ENTRY_LOST"),
    Decision(
        "outage",
        "a partition has a leader that can be reached, but until the session of a silent one has ended",
        "ReplicationControlManager#maybeFenceOneStaleBroker",
        "LEADERLESS",
    ),
)
