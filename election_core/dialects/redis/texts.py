"""Redis 6.2 to 8.0 and Valkey 7.2 to 9.1: the texts about the master, how it became one, and what was lost by that.

Sources: redis/redis and valkey-io/valkey, ``src/sentinel.c``, ``src/replication.c``, ``src/cluster.c`` (7.2 and newer:
``src/cluster_legacy.c``), ``src/server.c``, ``src/rdb.c``. Valkey says primary where Redis says master.
"""

from collections.abc import Iterator
from dataclasses import replace

from election_replay.election_core.dialects.dialect import Text, under
from election_replay.election_core.model.deeds import Deed

STARTS, FIRST_LINE, STOPS, RELEASE = (
    (Deed.STARTS,),
    (Deed.FIRST_LINE,),
    (Deed.STOPS,),
    (Deed.STARTS, Deed.TELLS_RELEASE),
)


def both(*texts: Text) -> Iterator[Text]:
    """Return each text, and its Valkey wording where that differs."""
    for text in texts:
        yield text
        of_valkey = text.template
        for word, other in (("master", "primary"), ("Master", "Primary"), ("MASTER", "PRIMARY")):
            of_valkey = of_valkey.replace(word, other)
        if of_valkey != text.template and "grandmaster" not in text.template:  # Valkey words that one otherwise
            yield replace(text, template=of_valkey)


PROCESS = under(
    "process",
    (
        Text("RD_START", "oO0OoO0OoO0Oo {} is starting oO0OoO0OoO0Oo", "the program begins", does=FIRST_LINE),
        Text(
            "RD_VERSION",
            "Redis version={value}, bits={}, commit={}, modified={}, pid={}, just started",
            "the release that starts",
            does=RELEASE,
        ),
        Text(
            "RD_VERSION", "Valkey version={value}, bits={}, commit={}, modified={}, pid={}, just started", does=STARTS
        ),
        Text(
            "RD_MODE",
            "Running mode={setting}, port={count:int}.",
            "as what the process runs (standalone, sentinel, cluster), and its port",
            does=STARTS,
        ),
        Text("RD_READY", "Ready to accept connections {value}", "the server answers clients", does=STARTS),
        Text("RD_STOPPING", "User requested shutdown...", "the process was told to stop", does=STOPS),
        Text("RD_STOPPING", "User requested shutdown... (user request from '{:client}')", does=STOPS),
        Text("RD_STOPPED", "{} is now ready to exit, bye bye...", "the process ends", does=STOPS),
    ),
)

REPLICATION = under(
    "redis",
    both(
        Text(
            "RD_MASTER",
            "MASTER MODE enabled (user request from '{value:client}')",
            "the server becomes master because it was told to, and by whom",
        ),
        Text("RD_MASTER", "MASTER MODE enabled (failover request from '{value:client}')"),
        Text(
            "RD_REPLICA",
            "REPLICAOF {peer_address} enabled (user request from '{value:client}')",
            "the server becomes a replica because it was told to, and by whom",
        ),
        Text(
            "RD_WAS_MASTER",
            "Before turning into a replica, using my own master parameters to synthesize a cached master: I may be able to synchronize with the new master with just a partial transfer.",
            "the server was master until now",
        ),
        Text("RD_CONNECTS", "Connecting to MASTER {peer_address}", "a replica connects to the master that it follows"),
        Text("RD_CONNECTS", "Reconnecting to MASTER {peer_address}"),
        Text("RD_CONNECTS", "Reconnecting to MASTER {peer_address} after failure"),
        Text(
            "RD_ASKS",
            "Trying a partial resynchronization (request {value}:{ledger_end:int}).",
            "the history that a replica knows, and the first byte that it lacks of it",
        ),
        Text("RD_ASKS", "Trying a partial resynchronization using main channel (request {value}:{ledger_end:int})."),
        Text(
            "RD_ASKS",
            "Dual channel replication: Trying a partial resynchronization using main channel (request {value}:{ledger_end:int}).",
        ),
        Text(
            "RD_ASKS_NEW",
            "Partial resynchronization not possible (no cached master)",
            "a replica knows no history of its master",
        ),
        Text(
            "RD_FULL",
            "Full resync from master: {value}:{max_offset:int}",
            "a replica's data are replaced by its master's: the history and the byte that they reach to",
        ),
        Text(
            "RD_PARTIAL",
            "Successful partial resynchronization with master.",
            "a replica's data were a part of its master's",
        ),
        Text(
            "RD_HISTORY",
            "Master replication ID changed to {value}",
            "the history that a replica follows goes on under another id",
        ),
        Text(
            "RD_LOADED",
            "Done loading RDB, keys loaded: {count:int}, keys expired: {:text}",
            "how many keys a server has loaded",
        ),
        Text(
            "RD_SAVED",
            "RDB age {count:int} seconds",
            "for so long before it the data that a server loads had been saved",
        ),
        Text(
            "RD_KEPT",
            "DB loaded from {value:text}: {} seconds",
            "a server that starts has read what its disk holds, and from which kind of file",
        ),
        Text(
            "RD_PROMOTED",
            "Setting secondary replication ID to {value_before}, valid up to offset: {max_offset:int}. New replication ID is {value}",
            "a new master: the history that it goes on, and the first byte that is its own",
        ),
        Text(
            "RD_BACKLOG",
            "Replication backlog created, my new replication IDs are '{value}' and '{value_before}'",
            "a master begins a history of its own",
        ),
        Text(
            "RD_ASKED", "Replica {peer_address} asks for synchronization", "a replica asks its master for what it lacks"
        ),
        Text(
            "RD_REFUSED",
            "Partial resynchronization not accepted: Requested offset for second ID was {ledger_end:int}, but I can reply up to {max_offset:int}",
            "a replica has bytes that its master never had: they are thrown away",
        ),
        Text(
            "RD_MISMATCH",
            "Partial resynchronization not accepted: Replication ID mismatch (Replica asked for '{value}', my replication IDs are '{value_before}' and '{}')",
            "a replica's history is another one than its master's",
        ),
        Text(
            "RD_ACCEPTED",
            "Partial resynchronization request from {peer_address} accepted. Sending {count:int} bytes of backlog starting from offset {start_offset:int}.",
            "a replica only lacked bytes of its master's",
        ),
        Text(
            "RD_AHEAD",
            "Warning: replica {peer_address} tried to PSYNC with an offset that is greater than the master replication offset.",
            "a replica has more of a history than its master",
        ),
        Text(
            "RD_AHEAD",
            "Warning: replica {peer_address} tried to PSYNC with an offset ({}) that is greater than the master replication offset ({})",
        ),
        Text("RD_LOST", "Connection with master lost.", "a replica lost its master"),
        Text("RD_LOST", "MASTER timeout: no data nor PING received...", sets={"result": "timeout"}),
        Text(
            "RD_HANDED",
            "Failover target {peer_address} is synced, failing over.",
            "a master hands over to a replica that has everything",
        ),
        Text("RD_HANDED", "FAILOVER to {peer_address} time out exceeded, failing over."),
    ),
)

SENTINEL = under(
    "redis",
    (
        Text("SN_ID", "Sentinel ID is {node}", "a sentinel names itself", does=STARTS),
        Text(
            "SN_MONITOR",
            "+monitor {:instance} quorum {count:int}",
            "a sentinel watches a master; so many must agree that it is down",
        ),
        Text("SN_REMOVED", "-monitor {:instance}", "a sentinel watches a master no longer"),
        Text("SN_RESET", "+reset-master {:instance}", "a sentinel forgets the replicas and sentinels of a master"),
        Text("SN_SET", "+set {:instance} {setting} {value}", "an operator changed how a sentinel watches a master"),
        Text("SN_REPLICA", "+slave {:instance}", "a sentinel learns of a replica"),
        Text("SN_SENTINEL", "+sentinel {:instance}", "a sentinel learns of another one"),
        Text(
            "SN_SDOWN",
            "+sdown {:instance}",
            "a sentinel hears no valid answer of an instance for so long that it takes it for down",
        ),
        Text("SN_SUP", "-sdown {:instance}", "a sentinel hears an instance again"),
        Text(
            "SN_ODOWN",
            "+odown {:instance} #quorum {:agreed}",
            "so many sentinels say that the master is down that one may replace it",
        ),
        Text("SN_OUP", "-odown {:instance}", "too few sentinels say that the master is down"),
        Text("SN_EPOCH", "+new-epoch {term:int}", "a sentinel reaches an epoch"),
        Text("SN_TRY", "+try-failover {:instance}", "a sentinel asks for votes to replace a master"),
        Text("SN_VOTE", "+vote-for-leader {peer:node} {term:int}", "a sentinel votes"),
        Text("SN_VOTED", "{peer:node} voted for {value:node} {term:int}", "a sentinel hears how another one has voted"),
        Text("SN_ELECTED", "+elected-leader {:instance}", "a sentinel may replace the master"),
        Text("SN_NOT_ELECTED", "-failover-abort-not-elected {:instance}", "a sentinel was not elected in time"),
        Text("SN_NO_REPLICA", "-failover-abort-no-good-slave {:instance}", "no replica can take over"),
        Text("SN_NO_ANSWER", "-failover-abort-slave-timeout {:instance}", "the chosen replica did not become master"),
        Text("SN_NO_ANSWER", "-failover-abort-master-timeout {:instance}"),
        Text("SN_SELECTED", "+selected-slave {:instance}", "the replica that is to take over"),
        Text("SN_TOLD", "+failover-state-wait-promotion {:instance}", "the chosen replica is told to become master"),
        Text(
            "SN_PROMOTED",
            "+promoted-slave {:instance}",
            "the chosen replica says that it is master: the epoch of the election is its own",
        ),
        Text("SN_END", "+failover-end {:instance}", "all replicas follow the new master"),
        Text(
            "SN_END",
            "+failover-end-for-timeout {:instance}",
            "some replicas never followed",
            sets={"result": "timeout"},
        ),
        Text(
            "SN_SWITCH",
            "+switch-master {replica_group} {:switch}",
            "from here a sentinel names the new master to clients",
        ),
        Text(
            "SN_TOLD_BY", "+config-update-from {:instance}", "a sentinel takes over what another one says of the master"
        ),
        Text(
            "SN_CONVERT",
            "+convert-to-slave {:instance}",
            "an instance that should be a replica says that it is master, and is told to follow",
        ),
        Text(
            "SN_FIX",
            "+fix-slave-config {:instance}",
            "a replica follows a wrong master, and is told to follow the right one",
        ),
        Text("SN_REBOOT", "+reboot {:instance}", "an instance was started again"),
        Text(
            "SN_TILT",
            "+tilt #tilt mode entered",
            "a sentinel's timer was late, or its clock was set: for 30 s it detects nothing",
        ),
        Text("SN_UNTILT", "-tilt #tilt mode exited", "a sentinel detects again"),
        Text(
            "SN_FORCED",
            "Executing user requested FAILOVER of '{replica_group}'",
            "an operator has a sentinel replace the master without votes",
        ),
        Text(
            "SN_DELAY",
            "Next failover delay: I will not start a failover before {value:text}",
            "a sentinel starts no failover of this master before a time",
        ),
        Text(
            "SN_NOT_SAVED",
            "WARNING: Sentinel was not able to save the new configuration on disk!!!: {value:text}",
            "a sentinel's votes and epochs are not on its disk",
        ),
    ),
)

CLUSTER = under(
    "redis",
    both(
        Text("RC_ID", "Node configuration loaded, I'm {node:node}", "a node of a cluster names itself", does=STARTS),
        Text(
            "RC_NEW_ID",
            "No cluster configuration found, I'm {node:node}",
            "a node that had no configuration names itself",
            does=STARTS,
        ),
        Text("RC_RESET_ID", "Node hard reset, now I'm {node:node}", "a node becomes another one"),
        Text("RC_ADDRESS", "IP address for this node updated to {address}", "a node hears its address"),
        Text(
            "RC_FAILING",
            "Marking node {peer:node} as failing (quorum reached).",
            "a majority of the masters takes a node for failed",
        ),
        Text(
            "RC_FAIL_TOLD",
            "FAIL message received from {node:node} about {peer:node}",
            "a node hears that another one has failed",
        ),
        Text(
            "RC_ALIVE",
            "Clear FAIL state for node {peer:node}: {result:text} is reachable again.",
            "a node that had failed is reachable",
        ),
        Text(
            "RC_ALIVE",
            "Clear FAIL state for node {peer:node}: is reachable again and nobody is serving its slots after some time.",
        ),
        Text("RC_ALIVE", "Clear FAIL state for node {peer:node}:{result:text} is reachable again."),
        Text(
            "RC_DELAYED",
            "Start of election delayed for {duration_ms:int} milliseconds (rank #{answered:int}, offset {max_offset:int}).",
            "a replica will ask for votes; where its data end",
        ),
        Text("RC_ELECTION", "Starting a failover election for epoch {term:int}.", "a replica asks for votes"),
        Text("RC_ELECTION", "Starting a failover election for epoch {term:int}, node config epoch is {}"),
        Text(
            "RC_GIVEN_UP",
            "Failover election in progress for epoch {term:int}, but received {result:text}",
            "a replica gives its election up, since another one has a larger epoch or an operator began one",
        ),
        Text(
            "RC_DELAYED",
            "Start of election delayed for {duration_ms:int} milliseconds (rank #{answered:int}, primary rank #{}, offset {max_offset:int}).",
        ),
        Text("RC_GRANTED", "Failover auth granted to {peer:node} for epoch {term:int}", "a master votes"),
        Text("RC_DENIED", "Failover auth denied to {peer:node}: {result:text}", "a master does not vote, and why"),
        Text("RC_DENIED", "Failover auth denied to {peer:node} for epoch {term:int}: {result:text}"),
        Text(
            "RC_WON",
            "Failover election won: I'm the new master.",
            "a replica has the votes of a majority of the masters",
        ),
        Text(
            "RC_WON_EPOCH",
            "configEpoch set to {term:int} after successful failover",
            "the epoch in which a new master leads its slots",
        ),
        Text("RC_CANNOT", "Currently unable to failover: {result:text}", "why a replica does not take over"),
        Text(
            "RC_FOLLOWS",
            "Configuration change detected. Reconfiguring myself as a replica of {peer:node}",
            "a node learns that another one leads its slots",
        ),
        Text(
            "RC_FOLLOWS",
            "Configuration change detected. Reconfiguring myself as a replica of node {peer:node} in shard {}",
        ),
        Text(
            "RC_FOLLOWS",
            "Lost my last slot during slot migration. Reconfiguring myself as a replica of {peer:node} in shard {}",
        ),
        Text("RC_FOLLOWS", "I'm a sub-replica! Reconfiguring myself as a replica of grandmaster {peer:node}"),
        Text("RC_FOLLOWS", "I'm a sub-replica! Reconfiguring myself as a replica of {peer:node} from {}"),
        Text(
            "RC_EMPTY",
            "My last slot was migrated to node {peer:node} in shard {}. I am now an empty primary.",
            "a node leads no slots any more",
        ),
        Text("RC_EMPTY", "Stop replication and turning myself into empty primary (request from '{value:client}')."),
        Text("RC_STATE", "Cluster state changed: {result}", "whether a node answers clients"),
        Text(
            "RC_MANUAL",
            "Manual failover user request accepted.",
            "an operator has a replica take over with its master's consent",
            sets={"request": "manual"},
        ),
        Text(
            "RC_MANUAL",
            "Manual failover user request accepted (user request from '{value:client}').",
            sets={"request": "manual"},
        ),
        Text("RC_MANUAL", "Forced failover user request accepted.", sets={"request": "force"}),
        Text(
            "RC_MANUAL",
            "Forced failover user request accepted (user request from '{value:client}').",
            sets={"request": "force"},
        ),
        Text(
            "RC_MANUAL",
            "Forced failover primary request accepted (primary request from '{value:client}').",
            sets={"request": "force"},
        ),
        Text("RC_MANUAL", "Taking over the master (user request).", sets={"request": "takeover"}),
        Text("RC_MANUAL", "Taking over the master (user request from '{value:client}').", sets={"request": "takeover"}),
        Text("RC_BUMPED", "New configEpoch set to {term:int}", "a node takes an epoch without votes"),
        Text(
            "RC_COLLISION",
            "WARNING: configEpoch collision with node {peer:node}. configEpoch set to {term:int}",
            "two masters had one epoch, and a node takes another one",
        ),
        Text("RC_COLLISION", "configEpoch collision with node {peer:node}. configEpoch set to {term:int}"),
        Text(
            "RC_SET_EPOCH",
            "configEpoch set to {term:int} via CLUSTER SET-CONFIG-EPOCH",
            "an operator gives a node its epoch",
        ),
        Text(
            "RC_MIGRATES", "Migrating to orphaned master {peer:node}", "a replica goes over to a master that has none"
        ),
        Text("RC_MIGRATES", "Migrating to orphaned master {peer:node} in shard {}"),
        Text(
            "RC_HANDED",
            "All master replication stream processed, manual failover can start.",
            "a replica has everything that its master has",
        ),
        Text(
            "RC_FAILED_OVER",
            "A failover occurred in shard {topic}; node {peer:node} failed over to node {node:node} with a config epoch of {term:int}",
            "a node hears who leads a shard in which epoch",
        ),
        Text(
            "RC_FAILED_OVER",
            "A failover occurred in shard {topic}; node {peer:node} lost {count:int} slot(s) to node {node:node} with a config epoch of {term:int}",
        ),
        Text(
            "RC_FAILED_OVER",
            "A failover occurred in shard {topic}; node {peer:node} lost {count:int} slot(s) and failed over to node {node:node} with a config epoch of {term:int}",
        ),
    ),
)

TEXTS = (*PROCESS, *REPLICATION, *SENTINEL, *CLUSTER)
