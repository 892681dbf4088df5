"""What Kafka prints about its metadata quorum and its partitions in KRaft mode (apache/kafka), 3.3 to 4.3.

The node is the one that prints; its id stands in most lines. ``term`` is the epoch of the quorum, or the leader epoch
of a partition. A partition is ``topic``, its id ``value``; ``sync_state_set_epoch`` is its partition epoch, ``members``
are its in-sync replicas (ISR), ``committed`` is a high watermark and ``ledger_end`` the end of a log, both as the
offset that comes next.

Sources: ``raft/.../QuorumState``, ``KafkaRaftClient``, ``LeaderState``, ``FollowerState``;
``metadata/.../QuorumController``, ``ReplicationControlManager``, ``ClusterControlManager``, ``PartitionRegistration``;
``core/.../Partition``, ``AbstractFetcherThread``, ``BrokerLifecycleManager``; ``storage/.../UnifiedLog``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_replay.election_core.dialects.dialect import Text, under
from election_replay.election_core.model.deeds import Deed


def named(texts: Iterable[Text]) -> Iterator[Text]:
    """Return the texts; those with the node's id tell who wrote the line."""
    for text in texts:
        names = (Deed.NAMES_WRITER,) if "{node}" in text.template else ()
        yield replace(text, does=(*text.does, *names))


def behind(prefix: str, texts: Iterable[Text]) -> Iterator[Text]:
    """Yield the texts with the prefix that one part of a node writes before them."""
    for text in texts:
        yield replace(text, template=prefix + text.template)


QUORUM = under(
    "kraft",
    behind(
        "[RaftManager id={node}] ",
        (
            Text(
                "KAFKA_STATE",
                "Completed transition to {:transition}",
                "the node changed its state in the quorum; peer is who it follows or voted for, value_before its "
                "state before, and flag that it has just started",
            ),
            Text(
                "KAFKA_VOTE_ANSWERED",
                "Vote request {:vote_request} with epoch {term:int} is {result}",
                "the voter granted or rejected the vote of peer, whose log ends at peer_ledger_end; flag: it was only "
                "asked whether it would (pre-vote)",
            ),
            Text(
                "KAFKA_FETCH_TIMEOUT",
                "Become candidate due to fetch timeout",
                "the follower heard nothing of its leader for the fetch time-out, or its leader resigned",
            ),
            Text("KAFKA_FETCH_TIMEOUT", "Transitioning to Prospective state due to fetch timeout"),
            Text(
                "KAFKA_ROUND_LOST",
                "Election has timed out, backing off for {duration_ms:int}ms before becoming a candidate again",
                "a round of votes, or of pre-votes, brought no majority; members are those that rejected it",
            ),
            Text("KAFKA_ROUND_LOST", "Election was not granted, transitioning to prospective"),
            Text(
                "KAFKA_ROUND_LOST",
                "Election timed out before receiving sufficient vote responses to become candidate{:text}",
            ),
            Text(
                "KAFKA_ROUND_LOST",
                "Insufficient remaining votes to become {} (rejected by {members:ids}). We will backoff{:text}",
            ),
            Text(
                "KAFKA_ROUND_LOST",
                "Insufficient remaining votes to become {} (rejected by {members:ids}). Transitioning to{:text}",
            ),
            Text(
                "KAFKA_ROUND_LOST",
                "Insufficient remaining votes to become leader. {:text} Current epoch election state is {members:rejected}",
            ),
            Text(
                "KAFKA_ROUND_LOST",
                "Insufficient remaining votes to become candidate. Current epoch election state is {members:rejected}",
            ),
            Text(
                "KAFKA_NO_QUORUM",
                "Did not receive fetch request from the majority of the voters within {duration_ms:int}ms. {:text}",
                "the leader was not heard by a majority of voters for duration_ms, and resigns",
            ),
            Text(
                "KAFKA_COMMITTED",
                "High watermark set to {committed:offset} for the first time for epoch {term:int} based on {:text}",
                "the node knows what is committed in an epoch: as its leader it committed the first entry of its own",
            ),
            Text("KAFKA_COMMITTED", "High watermark set to {committed:offset} for the first time for epoch {term:int}"),
            Text(
                "KAFKA_METADATA_CUT",
                "Truncated to offset {start_offset:int} from Fetch response from leader {peer}",
                "the node cut its metadata log, since its leader's differs",
            ),
            Text(
                "KAFKA_WATERMARK_LOST",
                "The latest computed high watermark {max_offset:int} is smaller than the current value "
                "{committed:int}, which {:text}",
                "the leader counts fewer committed entries than there were: a voter lost some, or the voters changed",
            ),
            Text(
                "KAFKA_EPOCH_LOST",
                "Epoch from quorum store file ({:text}) is {term:int}, which is smaller than last written epoch "
                "{from_term:int} in the log",
                "the file with epoch and vote is older than the log beside it: it was lost or replaced",
            ),
            Text(
                "KAFKA_EPOCH_LOST",
                "Epoch from quorum-state file is {term:int}, which is smaller than last written epoch "
                "{from_term:int} in the log",
            ),
            Text(
                "KAFKA_VOTERS",
                "Starting voters are {members:voters}",
                "who votes in the metadata quorum, from here on",
            ),
            Text("KAFKA_VOTERS", "Latest set of voters is {members:voters} at offset {}"),
            Text(
                "KAFKA_RESIGNS",
                "Received user request to resign from the current epoch {term:int}",
                "the leader was asked to resign",
            ),
            Text(
                "KAFKA_LEADER_REMOVED",
                "Leader is not in the committed voter set {:text} resign from epoch {term:int}",
                "the leader was removed from the voters, and resigns as that is committed",
            ),
            Text("KAFKA_STOPPING", "Beginning graceful shutdown", "the process was told to stop", does=(Deed.STOPS,)),
            Text(
                "KAFKA_PEER_GONE",
                "Node {peer} disconnected.",
                "the connection to peer was closed by its end",
            ),
        ),
    ),
)

CONTROLLERS = under(
    "kraft",
    behind(
        "[QuorumController id={node}] ",
        (
            Text(
                "KAFKA_ACTIVE",
                "Becoming the active controller at epoch {term:int}, next write offset {ledger_end:int}.",
                "the leader of the quorum has read all records and serves as controller",
            ),
            Text(
                "KAFKA_ACTIVE",
                "Becoming the active controller at epoch {term:int}, committed offset {}, committed epoch {}",
            ),
            Text(
                "KAFKA_RENOUNCED",
                "Renouncing the leadership due to a metadata log event. We were the leader at epoch {term:int}, but in "
                "the new epoch {max_term:int}, the leader is {peer:leader}. Reverting to last {:text}",
                "the controller is active no more",
            ),
            Text(
                "KAFKA_RENOUNCED",
                "{request}: event failed with {result:text} at epoch {term:int} in {} microseconds. Renouncing "
                "leadership and reverting to the last committed offset {:text}",
            ),
            Text(
                "KAFKA_RENOUNCED",
                "{request}: failed with unknown server exception {result:text} at epoch {term:int} in {} us.  Renouncing "
                "leadership and reverting to the last committed offset {:text}",
            ),
            Text(
                "KAFKA_CONTROLLER_KNOWN",
                "In the new epoch {term:int}, the leader is {peer:leader}.",
                "the controller learned who leads an epoch; (none): nobody yet",
            ),
            Text(
                "KAFKA_UNCLEAN",
                "UNCLEAN partition change for {topic} with topic ID {value}: {:change}",
                "a broker that was not in sync was made leader of a partition; value_before is the leader before",
            ),
            Text(
                "KAFKA_PARTITION_RECORDED",
                "Replayed PartitionRecord for new partition {topic} with topic ID {value} and {:partition}",
                "a partition was made, or read from a snapshot, with this leader and these in-sync replicas",
            ),
            Text(
                "KAFKA_BROKER_FENCED",
                "Fencing broker {peer} because its session has timed out.",
                "the controller wants to fence a broker whose heartbeats ceased; it is a fact once it is replayed",
            ),
            Text(
                "KAFKA_BROKER_FENCED",
                "Fencing broker {peer} at epoch {state_version:int} because its session has timed out.",
            ),
            Text(
                "KAFKA_BROKER_STOPS",
                "Unfenced broker {peer} has requested and been granted {:text} shutdown.",
                "a broker asked for leave to stop, and may",
            ),
            Text(
                "KAFKA_BROKER_UNFENCED",
                "The request from broker {peer} to unfence has been granted because {:text}",
                "a broker that has registered may lead again",
            ),
            Text("KAFKA_BROKER_STOPS", "The request from broker {peer} to shut down has been granted since {:text}"),
        ),
    ),
)

PARTITIONS = under(
    "partition",
    (
        Text(
            "KAFKA_LEADS",
            "[Broker id={node}] Leader {topic} with topic id {value:topic_id} starts at leader epoch {term:int} from "
            "offset {ledger_end:int} with partition epoch {sync_state_set_epoch:int}, high watermark {committed:int}, "
            "ISR {members:ids}, adding replicas {:ids} and removing replicas {:text} Previous leader {:text} and "
            "previous leader epoch was {from_term:int}.",
            "the broker leads a partition; from_term is the leader epoch that it knew before",
        ),
        Text(
            "KAFKA_LEADS",
            "[Broker id={node}] Leader {topic} with topic id {value:topic_id} starts at leader epoch {term:int} from "
            "offset {ledger_end:int} with partition epoch {sync_state_set_epoch:int}, high watermark {committed:int}, "
            "ISR {members:ids}, adding replicas {:ids} and removing replicas {:ids}. Previous leader epoch was "
            "{from_term:int}.",
        ),
        Text(
            "KAFKA_FOLLOWS",
            "[Broker id={node}] Follower {topic} starts at leader epoch {term:int} from offset {ledger_end:int} with "
            "partition epoch {sync_state_set_epoch:int} and high watermark {committed:int}. Current leader is "
            "{peer:leader}. Previous leader {:text} and previous leader epoch was {from_term:int}.",
            "the broker follows the leader of a partition, or knows that it has none",
        ),
        Text(
            "KAFKA_FOLLOWS",
            "[Broker id={node}] Follower {topic} starts at leader epoch {term:int} from offset {ledger_end:int} with "
            "partition epoch {sync_state_set_epoch:int} and high watermark {committed:int}. Current leader is "
            "{peer:leader}. Previous leader epoch was {from_term:int}.",
        ),
        Text(
            "KAFKA_PARTITION_STATE",
            "[Broker id={node}] Skipped the become-leader state change for {topic} with topic id {value:topic_id} and "
            "partition state {:partition} since it is already the leader with leader epoch {:text}",
            "the leader of a partition was told of other in-sync replicas",
        ),
        Text(
            "KAFKA_PARTITION_STATE",
            "[Broker id={node}] Skipped the become-follower state change for {topic} with topic id {value:topic_id} "
            "and partition state {:partition} since it is already a follower with leader epoch {:text}",
        ),
        Text(
            "KAFKA_PARTITION_STATE",
            "[Broker id={node}] Skipped the become-leader state change for {topic} with topic id {value:topic_id}, "
            "partition registration {:partition} and isNew={} since it is already the leader with leader epoch {:text}",
        ),
        Text(
            "KAFKA_PARTITION_STATE",
            "[Broker id={node}] Skipped the become-follower state change for {topic} with topic id {value:topic_id}, "
            "partition registration {:partition} and isNew={} since it is already a follower with leader epoch {:text}",
        ),
        Text(
            "KAFKA_PARTITION_KEPT",
            "[Broker id={node}] Creating new partition {topic} with topic id {value}.",
            "the broker keeps a replica of a partition from here on, or opens it again at its start",
        ),
        Text(
            "KAFKA_ISR",
            "[Partition {topic} broker={node}] ISR updated to {members:ids} {} and version updated to "
            "{sync_state_set_epoch:int}",
            "the leader of a partition was granted other in-sync replicas",
        ),
        Text(
            "KAFKA_ISR",
            "[Partition {topic} broker={node}] ISR updated to {members:ids} and version updated to "
            "{sync_state_set_epoch:int}",
        ),
        Text(
            "KAFKA_FEW_IN_SYNC",
            "[ReplicaManager broker={node}] Error processing append operation on partition {topic}",
            "the leader of a partition refused a write with acks=all; an exception behind the line names its in-sync "
            "replicas and, in count, how many it needs (min.insync.replicas)",
        ),
        Text(
            "KAFKA_CUT",
            "[UnifiedLog partition={topic}, dir={}] Truncating to offset {start_offset:int}",
            "the log of a replica is cut",
        ),
        Text(
            "KAFKA_REPLICA_DELETED",
            "Log for partition {topic} is renamed to {} and is scheduled for deletion",
            "a replica is no more: its topic was deleted, or it was moved away",
        ),
        Text(
            "KAFKA_LEADER_GONE",
            "[ReplicaFetcher replicaId={node}, leaderId={peer}, fetcherId={}] Node {} disconnected.",
            "the connection to the leader of some partitions was closed by its end",
        ),
    ),
)

PROCESS = under(
    "process",
    (
        Text(
            "KAFKA_BOOT",
            "Registered {}kafka:type=kafka.Log4jController{} MBean",
            "the process has started",
            does=(Deed.FIRST_LINE,),
        ),
        Text(
            "KAFKA_READY",
            "[KafkaRaftServer nodeId={node}] Kafka Server started",
            "the start is complete",
            does=(Deed.STARTED, Deed.NAMES_ITSELF),
        ),
        Text("KAFKA_VERSION", "Kafka version: {value:text}", "the release that runs", does=(Deed.TELLS_RELEASE,)),
        Text(
            "KAFKA_STOPPING",
            "Terminating process due to signal {result}",
            "the process was told to stop",
            does=(Deed.STOPS,),
        ),
        *(
            Text("KAFKA_FATAL", template, meaning, does=(Deed.STOPS,))
            for template, meaning in (
                (
                    "[{} id={}] Fatal error during {:text} startup. Prepare to shutdown",
                    "the process cannot start, or fails, and ends",
                ),
                ("Exiting Kafka due to fatal exception", ""),
                ("Exiting Kafka due to fatal exception during startup.", ""),
                ("Encountered fatal fault: {result:text}", ""),
            )
        ),
        Text(
            "KAFKA_REGISTERS",
            "[BrokerLifecycleManager id={node}] Incarnation {} of broker {} in cluster {cluster_name} is now STARTING.",
            "a broker begins to register; cluster_name is the id of the Kafka cluster",
        ),
        Text(
            "KAFKA_RUNNING",
            "[BrokerLifecycleManager id={node}] The broker has been unfenced. Transitioning from RECOVERY to RUNNING.",
            "a broker is registered, and its replicas may lead",
        ),
    ),
)

TEXTS = tuple(named((*QUORUM, *CONTROLLERS, *PARTITIONS, *PROCESS)))
