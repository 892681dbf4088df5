"""Notices of Redis' lines: servers, sentinels and nodes of a cluster."""

ALWAYS = {
    "RD_VERSION": "release {value} starts",
    "SN_NO_REPLICA": "the master of {replica_group} cannot be replaced: no replica is fit to take over",
    "SN_NOT_ELECTED": "the master of {replica_group} is not replaced: this sentinel is not elected in time",
    "SN_NO_ANSWER": "the master of {replica_group} is not replaced: the chosen replica does not become master",
    "SN_NOT_SAVED": "",
    "SN_REMOVED": "watches the master of {replica_group} no longer",
    "SN_RESET": "forgets the replicas and sentinels of {replica_group}",
    "SN_TILT": "its timer was late, or its clock was set: for 30 s it detects nothing",
    "RC_CANNOT": "does not take over: {result}",
    "RC_STATE": "sees the cluster in the state {result}",
    "RC_COLLISION": "had one epoch with {peer}, and takes {term}",
    "RC_RESET_ID": "",
}

WHERE_LITTLE_IS_KNOWN = {
    "SN_MONITOR": "watches the master of {replica_group} at {address}: {count} sentinels must agree that it is down",
    "SN_SDOWN": "hears no valid answer of the {request} at {peer_address}",
    "SN_SUP": "hears the {request} at {peer_address} again",
    "SN_ODOWN": "{accepted} sentinels, of {count} that must agree, take the master of {replica_group} for down",
    "SN_OUP": "too few sentinels say that the master of {replica_group} is down",
    "SN_TRY": "asks for votes to replace the master of {replica_group} at {address}",
    "SN_VOTE": "votes for the sentinel {peer} in epoch {term}",
    "SN_ELECTED": "may replace the master of {replica_group}",
    "SN_SELECTED": "chooses {peer_address} to take over",
    "SN_PROMOTED": "{peer_address} says that it is master",
    "SN_SWITCH": "names {address} as master of {replica_group} from here on, and {peer_address} no longer",
    "SN_TOLD_BY": "takes over what the sentinel {peer} says of {replica_group}",
    "SN_CONVERT": "{peer_address} says that it is master and should be a replica: it is told to follow",
    "SN_FORCED": "an operator asks it to replace the master of {replica_group}",
    "SN_DELAY": "",
    "RD_MASTER": "becomes master, since it was told to",
    "RD_REPLICA": "becomes a replica of {peer_address}, since it was told to",
    "RD_WAS_MASTER": "was master until now",
    "RD_LOST": "loses its master",
    "RD_STOPPING": "is told to stop",
    "RC_FAILING": "takes {peer} for failed, as a majority of the masters does",
    "RC_FAIL_TOLD": "hears that {peer} has failed",
    "RC_ALIVE": "{peer} is reachable again",
    "RC_DELAYED": "will ask for votes in {duration}",
    "RC_ELECTION": "asks for votes for epoch {term}",
    "RC_DENIED": "does not vote for {peer}[: {result}]",
    "RC_GRANTED": "votes for {peer} for epoch {term}",
    "RC_WON": "has the votes of a majority of the masters",
    "RC_FOLLOWS": "learns that {peer} leads its slots, and follows it",
}

IN_EXCERPTS = {
    "SN_VOTED": "hears that the sentinel {peer} votes for {value} in epoch {term}",
}

NEVER = frozenset({"SN_EPOCH", "SN_VOTED", "SN_REPLICA", "SN_SENTINEL", "RD_ASKED", "RD_CONNECTS"})

APART = frozenset({"SN_SWITCH", "SN_CONVERT", "RC_STATE", "RC_ALIVE", "RC_FAILING"})
