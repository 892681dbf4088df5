"""For whom a master waited before it acknowledged, by its own settings, and what follows for what it lost.

Source: RocketMQ ``CommitLog#asyncPutMessage``, ``GroupTransferService``, ``MessageStoreConfig``. A number of replicas
counts any that are connected, whether they are in the SyncStateSet or not; one that learns asynchronously never joins
it.
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
    """The settings by which a broker acknowledges, for a sentence, as its configuration dump prints them."""
    printed = _printed(group, source)
    settings = [f"{name}={printed[name]}" for name in _QUOTED if name in printed]
    return listed(settings) if settings else None


def whether_acknowledged(
    group: Group, source: str, *, alone: bool, later: AcksTimedOut | None = None
) -> tuple[str, str]:
    """Severity and sentence: what follows from a master's settings for the messages that it lost.

    With allAckInSyncStateSet a message that the next master does not hold was not acknowledged (``alone`` is false).
    Without it one that a frozen master took when it woke up may have been. ``later``: it waited for the whole set up to
    some byte, and took more after that.
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
            f"With {settings} it acknowledged messages without waiting for another replica: producers that got its "
            "answers in time hold acknowledgements for messages that are gone."
        )
    return WARNING, (
        f"With {settings} it waited for {waited_for} of the connected replicas, whichever: whether they had been "
        f"acknowledged is not in the logs.{_learners(group)}"
    )


def after_time_outs(group: Group, cut: LogCut) -> AcksTimedOut | None:
    """The last messages for whose acknowledgements a master of allAckInSyncStateSet waited in vain, if it led on and
    its log went on behind them: it had ceased to wait.

    Since 5.4.0 a master that has heard of no slave for 20 s makes a SyncStateSet of itself alone, without the
    controllers (``AutoSwitchHAService#removeConnection``). What it took in its last seconds it may wait for still.
    """
    waited = [fact for fact in group.of(AcksTimedOut) if fact.source_node == cut.source_node and fact.all_of_set]
    inside = [
        fact for fact in waited if is_larger(fact.end_offset, cut.cut_to) and is_larger(cut.log_end, fact.end_offset)
    ]
    last = max(inside, key=lambda fact: fact.end_offset or 0, default=None)
    return last if last is not None and _led_on(group, last, cut) else None


def _led_on(group: Group, last: AcksTimedOut, cut: LogCut) -> bool:
    """Whether a master led on long after it had waited in vain for the last time."""
    waited = until(last) or since(last)
    return any(
        tenure.source == cut.source_node
        and tenure.term == cut.term
        and group.clocks.elapsed(waited, tenure.end)[0] >= Timeout.WRITE_EPISODE.us
        for tenure in group.tenures
    )


def unreplicated_tail(group: Group, tenure: Tenure, begin: Moment) -> str | None:
    """A clause, where a master's log was not compared with another's after ``begin``: it alone has what it took since.

    ``None`` where its log met another's: what it lacked or had alone was cut then.
    """
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
    """Each time that a broker compared its log with its master's."""
    return list(group.of(LogCut))


def _printed(group: Group, source: str) -> dict[str, str]:
    return {fact.name: fact.setting_value for fact in group.of(AckSetting) if fact.source_node == source}


def _others_waited_for(group: Group, source: str) -> int | None:
    """For how many other replicas a master waited, where that is a number and does not depend on the SyncStateSet."""
    printed = _printed(group, source)
    needed = digits.number(printed.get("inSyncReplicas"))
    if printed.get("allAckInSyncStateSet") != "false" or needed is None:
        return None
    return max(needed - 1, 0)


def learners(group: Group) -> frozenset[str]:
    """The sources of the brokers that learn asynchronously, by their settings."""
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
