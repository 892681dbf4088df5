"""The decisions about metadata: versions, pre-online, and what a returning master takes over."""

from tests.election_core.decisions import Decision

_PRE_ONLINE = "BrokerPreOnlineService#prepareForBrokerOnline"
_REVERSE = "BrokerPreOnlineService#syncMetadataReverse"

_NOBODY = "without acting slaves nobody hands over, and nothing is judged"
_DROPPED = "appenders drop INFO lines: a step that is not printed may have been taken"

METADATA = (
    Decision(
        "version-order",
        "versions are compared by state version, then counter, then timestamp",
        "DataVersion#compare",
        "STALE_REVERSE_SYNC",
    ),
    Decision(
        "versions-count-steps",
        "a version moves every so many changes: it says nothing about how far offsets are",
        "ConsumerOffsetManager#commitOffset, ScheduleMessageService#updateOffset; RIP-32",
        "METADATA_ROLLBACK",
    ),
    # when pre-online runs
    Decision(
        "pre-online-skipped",
        "skipPreOnline=true: the broker serves at the end of its start and takes nothing over",
        "BrokerController#start",
        "PRE_ONLINE_SKIPPED",
    ),
    Decision(
        "no-acting-no-pre-online",
        "enableSlaveActingMaster=false: the broker registers at once",
        "BrokerController#start",
        "PRE_ONLINE_SKIPPED",
        never_conforms=_NOBODY,
        never_violates=_NOBODY,
    ),
    Decision(
        "only-replica",
        "totalReplicas=1: never isolated, no pre-online",
        "BrokerController#start, BrokerPreOnlineService#run",
        "PRE_ONLINE_SKIPPED",
        never_conforms="a set of one has nobody who could have acted",
    ),
    # its steps
    Decision(
        "nobody-registered",
        "no member at the name server: the broker starts alone",
        _PRE_ONLINE,
        "PRE_ONLINE_SKIPPED",
        never_conforms="where nobody acts nobody hands over",
    ),
    Decision(
        "master-asks-every-member",
        "a master connects to each member in the order of their ids and takes over what is not older there",
        "BrokerPreOnlineService#prepareForMasterOnline",
        "PRE_ONLINE_SKIPPED",
        never_violates=_DROPPED,
    ),
    Decision(
        "slave-without-master",
        "a slave that finds no master starts at once and takes nothing from the one that acts",
        _PRE_ONLINE,
        "METADATA_ROLLBACK",
        never_conforms="that nothing went back is then no merit of it",
    ),
    # reverse sync from one member
    Decision(
        "consumer-offsets-not-older",
        "consumer offsets of a version that is not smaller overwrite the own ones, also lower ones",
        _REVERSE,
        "STALE_REVERSE_SYNC",
    ),
    Decision(
        "delay-offsets-not-older",
        "delay offsets of a version that is not smaller replace the own ones",
        _REVERSE,
        "METADATA_ROLLBACK",
    ),
    Decision(
        "timer-checkpoint-not-older",
        "a timer checkpoint of a version that is not smaller replaces the own one",
        _REVERSE,
        "STALE_REVERSE_SYNC",
        never_conforms="what the timer wheel has delivered is in no copy of the metadata files",
        never_violates="what the timer wheel has delivered is in no copy of the metadata files",
    ),
    Decision(
        "last-of-equals-wins",
        "of several members with equal versions the last one's offsets stay",
        _REVERSE,
        "STALE_REVERSE_SYNC",
    ),
    Decision(
        "names-are-not-taken-over",
        "topics and groups that were made on the acting master are not taken over",
        f"{_REVERSE}, SlaveSynchronize",
        "METADATA_ROLLBACK",
    ),
    # copies by slaves, and a master that never stopped
    Decision(
        "slave-copies-its-master",
        "a slave makes topics and groups anew and drops what its master lacks; pairs of lines are no loss",
        "SlaveSynchronize#syncTopicConfig",
        "METADATA_ROLLBACK",
        never_violates="what a slave drops is counted as what its new master lacks",
    ),
    Decision(
        "no-restart-no-pre-online",
        "a master that others lost and found again goes on with its own offsets",
        "BrokerController#onMinBrokerChange; RIP-32",
        "METADATA_ROLLBACK",
        never_conforms="that nothing went back is then no merit of it",
    ),
)
