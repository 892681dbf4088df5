"""Notices of Kafka's lines: the metadata quorum, controllers and brokers."""

ALWAYS = {
    "KAFKA_VERSION": "release {value} starts",
    "KAFKA_EPOCH_LOST": "",
    "KAFKA_FATAL": "the process cannot start, or fails, and ends[: {result}]",
    "KAFKA_VOTERS": "knows the voters[: {members}]",
}

WHERE_LITTLE_IS_KNOWN = {
    "KAFKA_FETCH_TIMEOUT": "hears nothing of its leader for the fetch time-out, or its leader resigned",
    "KAFKA_ROUND_LOST": "a round of votes brings no majority",
    "KAFKA_NO_QUORUM": "is not heard by a majority of the voters for {duration}, and resigns as leader",
    "KAFKA_CONTROLLER_KNOWN": "learns of epoch {term}[, whose leader is {peer}]",
    "KAFKA_RESIGNS": "is asked to resign as leader of epoch {term}",
    "KAFKA_LEADER_REMOVED": "is removed from the voters, and resigns as leader of epoch {term}",
    "KAFKA_BROKER_FENCED": "fences broker {peer}: its session has timed out",
    "KAFKA_BROKER_STOPS": "broker {peer} asks for leave to stop",
    "KAFKA_UNCLEAN": "",
    "KAFKA_LEADS": "leads {topic} in epoch {term}",
    "KAFKA_FOLLOWS": "follows {peer} for {topic} in epoch {term}",
    "KAFKA_ISR": "the in-sync replicas of {topic} are {members}",
    "KAFKA_FEW_IN_SYNC": "refuses a write to {topic}: in sync are {members}, and it needs {count}",
    "KAFKA_STOPPING": "is told to stop",
    "KAFKA_PEER_GONE": "node {peer} closes the connection",
}

IN_EXCERPTS = {
    "KAFKA_STATE/CANDIDATE": "asks for votes for epoch {term}",
    "KAFKA_VOTE_ANSWERED": "{result} the vote that {peer} asks for in epoch {term}",
}

NEVER = frozenset({"KAFKA_COMMITTED", "KAFKA_PARTITION_STATE", "KAFKA_PARTITION_RECORDED", "KAFKA_VOTE_ANSWERED"})

APART = frozenset({"KAFKA_LEADS", "KAFKA_FOLLOWS", "KAFKA_ISR"})
