"""How many replicas a master waited for before it acknowledged, and what that means for lost messages.

Source: RocketMQ ``CommitLog#asyncPutMessage``, ``GroupTransferService``, ``MessageStoreConfig``. A number of replicas
counts any that are connected, inside the SyncStateSet or not; an asynchronous learner never joins the set.
"""

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.judge.wording import listed
from election_replay.election_core.model import digits
from election_replay.election_core.model.catalogue import CRITICAL, INFO, WARNING
from election_replay.election_core.model.facts import LogCut
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.facts import AckSetting, AcksTimedOut

_QUOTED = ("allAckInSyncStateSet", "inSyncReplicas", "minInSyncReplicas")


def settings_of(group: Group, source: str) -> str | None:
    """Return a broker's acknowledgement settings as text for a sentence; None if its log prints none."""
    printed = _printed(group, source)
    settings = [f"{name}={printed[name]}" for name in _QUOTED if name in printed]
    return listed(settings) if settings else None


def whether_acknowledged(
    group: Group, source: str, *, alone: bool, later: AcksTimedOut | None = None, who: str = "it"
) -> tuple[str, str]:
    """Return severity and sentence: whether the messages that a master, ``who``, lost had been acknowledged.

    ``alone`` is False with allAckInSyncStateSet: a message that the next master lacks was not acknowledged. Without it,
    a message that a frozen master took when it woke up may have been. ``later``: it waited for the whole set up to some
    byte, and took more after that.
    """
    if later is not None:
        return CRITICAL, (
            f"Up to byte {later.end_offset} it waited in vain for its whole SyncStateSet. Who wrote what follows may "
            "have had an acknowledgement: a master that hears of no slave drops its slaves and waits for them no more."
        )
    if not alone:
        return INFO, "With allAckInSyncStateSet nobody had an acknowledgement of them."
    settings, waited_for = settings_of(group, source), _others_waited_for(group, source)
    if settings is None or waited_for is None:
        return WARNING, "Whether they had been acknowledged is not in the logs."
    if waited_for == 0:
        return CRITICAL, (
            f"With {settings} {who} acknowledged messages without waiting for another replica: producers that got its "
            "answers in time hold acknowledgements for messages that are gone."
        )
    return WARNING, (
        f"With {settings} {who} waited for {waited_for} of the connected replicas, whichever: whether they had been "
        f"acknowledged is not in the logs.{_learners(group)}"
    )


def after_time_outs(group: Group, cut: LogCut) -> AcksTimedOut | None:
    """Return the last unacknowledged messages if the master led on and its log went on after them; else None.

    It had then ceased to wait: since 5.4.0 a master of allAckInSyncStateSet that has heard of no slave for 20 s makes a
    SyncStateSet of itself alone, without the controllers (``AutoSwitchHAService#removeConnection``). Messages of its
    last seconds it may still wait for.
    """
    waited = [fact for fact in group.of(AcksTimedOut) if fact.source_node == cut.source_node and fact.all_of_set]
    inside = [
        fact for fact in waited if is_larger(fact.end_offset, cut.cut_to) and is_larger(cut.log_end, fact.end_offset)
    ]
    last = max(inside, key=lambda fact: fact.end_offset or 0, default=None)
    return last if last is not None and _led_on(group, last, cut) else None


def _led_on(group: Group, last: AcksTimedOut, cut: LogCut) -> bool:
    """Return True when a master led on for ``WRITE_EPISODE`` or longer after its last time-out."""
    waited = until(last) or since(last)
    return any(
        tenure.source == cut.source_node
        and tenure.term == cut.term
        and group.clocks.elapsed(waited, tenure.end)[0] >= Timeout.WRITE_EPISODE.us
        for tenure in group.tenures
    )


def unreplicated_tail(group: Group, tenure: Tenure, begin: Moment) -> str | None:
    """Return a clause that the master alone has what it took since ``begin``; None if its log was compared since. A
    comparison cuts what only one of both logs has."""
    if any(cut.source_node == tenure.source and group.clocks.elapsed(begin, since(cut))[1] > 0 for cut in cuts(group)):
        return None
    clause = f"the log of {tenure.name} never met the other's again: what it took in that time exists only there"
    settings, waited_for = settings_of(group, tenure.source), _others_waited_for(group, tenure.source)
    if settings is None or waited_for is None:
        return clause
    if waited_for == 0:
        return f"{clause}, and with {settings} it acknowledged without waiting for another replica"
    return f"{clause} and at the {waited_for} replicas for which it waited, if it had them, with {settings}"


def cuts(group: Group) -> list[LogCut]:
    """Return all comparisons of a broker's log with its master's."""
    return list(group.of(LogCut))


def _printed(group: Group, source: str) -> dict[str, str]:
    return {fact.name: fact.setting_value for fact in group.of(AckSetting) if fact.source_node == source}


def _others_waited_for(group: Group, source: str) -> int | None:
    """Return how many other replicas a master waited for; None if unknown or if that depends on the SyncStateSet."""
    printed = _printed(group, source)
    needed = digits.number(printed.get("inSyncReplicas"))
    if printed.get("allAckInSyncStateSet") != "false" or needed is None:
        return None
    return max(needed - 1, 0)


def learners(group: Group) -> frozenset[str]:
    """Return the sources of the brokers that learn asynchronously, by their settings."""
    return frozenset(
        fact.source_node for fact in group.of(AckSetting) if (fact.name, fact.setting_value) == ("asyncLearner", "true")
    )


def _learners(group: Group) -> str:
    names = sorted(learners(group))
    if not names:
        return ""
    return (
        f" With asyncLearner=true {' and '.join(names)} never join{'s' if len(names) == 1 else ''} the SyncStateSet: "
        "no election chooses what is only there."
    )
