"""Rules that one line of a broker or controller decides: elections, refusals, replication.

Sources: RocketMQ ``ReplicasInfoManager``, ``AutoSwitchHAService``, ``AutoSwitchHAClient``, ``EpochFileCache``.
"""

from collections.abc import Callable

from election_replay.election_core.fold.checks import CONFORMS, Verdict, either, undecidable
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.tables import (
    ALL,
    EpochEntries,
    common_point,
    has_caught_up,
    is_beyond,
    needed_acks,
)

ELECTED = "ELECTED"
NOBODY_ELECTED = "NOBODY_ELECTED"

_NOBODY = frozenset({None, "-1"})
"""Broker ids of a request that the controllers made themselves."""


def requested_election(event: FoldEvent) -> Verdict | None:
    """Judge an election against its request, which only JRaft controllers print (``ReplicasInfoManager#electMaster``).

    The first requester wins; if an operator designated a broker, it wins or nobody does; only the controllers' own
    requests can leave a set without master. None for other decisions.
    """
    asked = event.broker_id
    if event.decision == NOBODY_ELECTED:
        return either(RuleId.WRONG_ELECTION, asked in _NOBODY)
    if event.decision != ELECTED or event.term is None:
        return None
    if asked in _NOBODY:
        return undecidable(RuleId.WRONG_ELECTION, _POLICY)
    if event.term == 1 or event.flag:
        return either(RuleId.WRONG_ELECTION, event.node == asked)
    return undecidable(RuleId.WRONG_ELECTION, _POLICY)


_POLICY = "what the policy compares (live brokers, epochs, offsets, priorities) is not printed"


def set_refused(event: FoldEvent) -> Verdict | None:
    """Judge a refusal: a wanted SyncStateSet is refused only for what differs
    (``ReplicasInfoManager#alterSyncStateSet``)."""
    return either(RuleId.WRONG_SET_CHANGE, _DIFFERS[event.kind](event))


_DIFFERS: dict[str, Callable[[FoldEvent], bool]] = {
    "CTL_SSS_NOT_MASTER": lambda event: event.peer != event.node,
    "CTL_SSS_MASTER_EPOCH": lambda event: event.term != event.from_term,
    "CTL_SSS_EPOCH": lambda event: str(event.sync_state_set_epoch) != event.value,
}
SET_REFUSALS = frozenset(_DIFFERS)


def first_set(event: FoldEvent, own_id: str | None) -> Verdict:
    """Judge a new master's first SyncStateSet: itself alone (``ReplicasInfoManager#electMaster``)."""
    if own_id is not None and event.members == (own_id,):
        return Verdict(RuleId.WRONG_SET_CHANGE, CONFORMS)
    return undecidable(RuleId.WRONG_SET_CHANGE, "the line of the new master's first set may be missing")


def caught_up(event: FoldEvent) -> Verdict | None:
    """Judge whether a slave that was called caught up had reached the confirm offset and the newest epoch. Source:
    ``AutoSwitchHAService#maybeExpandInSyncStateSet``. None if an offset is missing."""
    reached = event.max_offset
    if reached is None or event.confirm_offset is None or event.start_offset is None:
        return None
    return either(RuleId.REPLICATION_RULE, has_caught_up(reached, event.confirm_offset, event.start_offset))


def set_wanted(event: FoldEvent, caught: FoldEvent) -> Verdict | None:
    """Judge whether the set wanted after a slave caught up contains it; None if another thread wrote the line, or
    late."""
    if caught.thread != event.thread or event.members is None or event.at - caught.at > Timeout.CONTROLLER_ONE_CHECK.us:
        return None
    return either(RuleId.REPLICATION_RULE, caught.peer in event.members)


def epoch_refused(event: FoldEvent, cut_away: EpochEntries) -> Verdict | None:
    """Judge an epoch left out of the record: it, or its start, must not be beyond the last one.

    Source: ``EpochFileCache#appendEntry``. The last epoch must still be part of the log: a cut also removes what it cut
    off from the record (``AutoSwitchHAClient#doTruncate``). Since 5.4.0 it stays, and the log goes on under the wrong
    epoch.
    """
    entries = event.epoch_entries
    if not entries or event.max_term is None or event.start_offset is None:
        return None
    epoch, start, _ = entries[0]
    beyond = is_beyond(epoch, start, event.max_term, event.start_offset)
    of_the_cut = any((known, begun) == (event.max_term, event.start_offset) for known, begun, _ in cut_away)
    return either(RuleId.REPLICATION_RULE, not beyond and not of_the_cut)


def cut_point(event: FoldEvent, master: EpochEntries | None, replica: EpochEntries | None) -> Verdict:
    """Judge whether a slave cut its log where it diverges from its master's (``AutoSwitchHAClient#doTruncate``)."""
    if master is None or replica is None:
        return undecidable(RuleId.REPLICATION_RULE, "the epochs of both logs are not printed")
    expected = common_point(master, replica)
    if expected is None:
        return undecidable(RuleId.REPLICATION_RULE, "the end of the newest epoch is not printed")
    return either(RuleId.REPLICATION_RULE, event.start_offset == expected)


def epoch_ahead(event: FoldEvent) -> Verdict | None:
    """Judge a refused role: its epoch must be below the store's last (``AutoSwitchHAService#changeToMaster``). A
    rightful refusal is itself an epoch regression: the controllers gave out an epoch for a second time."""
    if event.term is None or event.max_term is None:
        return None
    return either(RuleId.REPLICATION_RULE, event.term < event.max_term)


def acknowledgements(event: FoldEvent, all_ack: FoldEvent | None) -> Verdict | None:
    """Judge the number of acknowledgements waited for: all of the set with allAckInSyncStateSet, else a fixed number.
    Source: ``CommitLog``."""
    if event.count is None:
        return None
    if all_ack is None or all_ack.kind == "CFG_REPLACE":
        return undecidable(RuleId.ACK_RULE, "allAckInSyncStateSet is not in the log, or was changed at run time")
    return either(RuleId.ACK_RULE, (event.count == ALL) == (needed_acks(all_ack.value == "true") == ALL))


# -- sentences ---------------------------------------------------------------------------------------------------------

_BROKEN = {
    "JR_ELECT": "The election of epoch {line.term} does not follow from its request: {line.node} won, {asked} had "
    "asked",
    NOBODY_ELECTED: "A request of broker {asked} left the set without a master, which only the controllers' own may do",
    "CTL_SSS_NOT_MASTER": "A wanted SyncStateSet was refused because {line.peer} was not the master, which it was",
    "CTL_SSS_MASTER_EPOCH": "A wanted SyncStateSet was refused for another master epoch, although it had {line.term}",
    "CTL_SSS_EPOCH": "A wanted SyncStateSet was refused for another epoch of the set, although it had the recorded one",
    "HA_CAUGHT_UP": "called slave {line.peer} caught up at {line.max_offset}, below its confirm offset or the start "
    "{line.start_offset} of its epoch",
    "HA_SSS_WANTED": "wanted a SyncStateSet without the slave that it had just called caught up",
    "EPOCH_APPEND_ERR": "left epoch {line.term} out of its record of epochs, although it is beyond the last one, or "
    "the last one had been cut off its log",
    "HA_CLIENT_CUT_AT": "parts its log from its master's at {line.start_offset}, which is not where their epochs part",
    "HA_MASTER_STALE": "refused the role of master of epoch {line.term}, although its store knows no later one",
    "HA_SLAVE_STALE": "refused the role of slave in epoch {line.term}, although its store knows no later one",
    "HA_ACK_TIMEOUT": "waited for {line.count} acknowledgements (-1: all of the set), against allAckInSyncStateSet",
}
SAID_BY_CONTROLLERS = frozenset({"JR_ELECT", *SET_REFUSALS})
"""Lines whose text is a sentence of its own, and not a clause about the broker that wrote it."""


def clause(_: str, line: FoldEvent) -> str:
    """Return how a line breaks the only rule that is checked on lines of its kind."""
    words = _BROKEN[NOBODY_ELECTED if line.decision == NOBODY_ELECTED else line.kind]
    return words.format(line=line, asked=line.broker_id or "nobody")
