"""Causal pairs of brokers and controllers: pairs of lines, the second of which follows from the first."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.judge.printed_times import PrintedTimes
from election_replay.election_core.model.facts import Alive, ContactLost, Fact, Role
from election_replay.election_core.protocols.controller.checks import ELECTED
from election_replay.election_core.protocols.controller.controller_log import SET_CHANGED
from election_replay.election_core.protocols.controller.facts import Decision, EpochRead, RegisterCode

PROTOCOL = "controller"
FIRST_EPOCH = 1
"""The epoch of the first master of a set."""


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs: a broker takes a role after the election, and a controller accepts a code after it was made.

    Only what the leading controller prints causes anything: it prints before it replicates (DLedger) or before it
    answers (JRaft). Other controllers print the same decision whenever they get to it. A registerCheckCode holds a time
    of the broker's own clock, so the controller's line alone ties both clocks together.
    """
    facts = list(facts)
    printed = PrintedTimes(facts)
    elected: dict[int, Moment] = {}
    sources: dict[str, set[str]] = {}
    for fact in facts:
        if isinstance(fact, Decision):
            if fact.decision == ELECTED and fact.leading and fact.term is not None:
                elected[fact.term] = min(elected.get(fact.term, since(fact)), since(fact))
        elif isinstance(fact, RegisterCode) and not fact.accepted:
            sources.setdefault(fact.register_code, set()).add(fact.source_node)
    for fact in facts:
        cause: Moment | None = None
        if isinstance(fact, Role) and fact.role in (LEADER, FOLLOWER) and fact.cause in ("elected", "told"):
            cause = elected.get(fact.term) if fact.term is not None else None
        elif isinstance(fact, RegisterCode) and fact.accepted:
            makers = sources.get(fact.register_code, set())
            if len(makers) == 1:
                made = fact.made_ms * 1000
                cause = printed.moment(made, made + 999, next(iter(makers)), fact.since_event)
        if cause is not None:
            yield Message(cause, since(fact))
    yield from _asked_by_masters(facts)
    yield from _added_after_following(facts)
    yield from _read_after_begin(facts)
    yield from _closed_by_deaths(facts)


def _asked_by_masters(facts: Sequence[Fact]) -> Iterator[Message]:
    """Yield pairs from a master's begin to each change of its SyncStateSet, which the master asked for.

    Source: ``ReplicasInfoManager#alterSyncStateSet`` refuses everybody but the master of the present epoch. Each
    election and each change gives the set its next epoch: where both epochs grow together, no epoch has two masters and
    no controller lost its store, a change belongs to the last master elected before it. A faulty controller may accept
    a change from a former master, which puts itself into the set: so a set that contains a former master ties nothing.
    """
    decisions = [fact for fact in facts if isinstance(fact, Decision) and fact.leading and fact.set_epoch is not None]
    elections = sorted(
        {
            (fact.set_epoch, fact.term, fact.node)
            for fact in decisions
            if fact.decision == ELECTED
            and fact.set_epoch is not None
            and fact.term is not None
            and fact.node is not None
        }
    )
    if _go_back(decisions) or any(
        after[0] <= before[0] or after[1] <= before[1] for before, after in pairwise(elections)
    ):
        return
    took: dict[tuple[int, str], Moment] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.role == LEADER and fact.term is not None and fact.node is not None:
            key = (fact.term, fact.node)
            took[key] = min(took.get(key, since(fact)), since(fact))
    for fact in decisions:
        if fact.decision == SET_CHANGED and fact.set_epoch is not None:
            before = elections[: bisect_left(elections, (fact.set_epoch,))]
            if not before or before[0][1] != FIRST_EPOCH:  # masters before the log began are unknown
                continue
            _, term, master = before[-1]
            cause = took.get((term, master))
            led_before = {node for _, _, node in before} - {master}
            if cause is not None and not led_before.intersection(fact.members or ()):
                yield Message(cause, since(fact))


def _go_back(decisions: Sequence[Decision]) -> bool:
    """Return True when epochs of a SyncStateSet go back in a controller's log: its store was lost or put back."""
    in_order = sorted(decisions, key=lambda fact: (fact.source_node, fact.since, fact.ordinal))
    return any(
        before.source_node == after.source_node and (after.set_epoch or 0) < (before.set_epoch or 0)
        for before, after in pairwise(in_order)
    )


def _added_after_following(facts: Sequence[Fact]) -> Iterator[Message]:
    """Yield pairs from a slave's begin to follow a master to its entry into that epoch's SyncStateSet.

    Source: ``AutoSwitchHAService#maybeExpandInSyncStateSet`` adds slaves that are connected and have caught up. A slave
    may come and be added more than once in an epoch, and one that was frozen is added again without a line of its own:
    only the first times are a pair, where both happened equally often and the epoch has one master.
    """
    came: dict[tuple[int, str], set[Moment]] = {}
    masters: dict[int, set[str | None]] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.term is not None:
            masters.setdefault(fact.term, set()).add(fact.leader)
        if isinstance(fact, Role) and fact.role == FOLLOWER and fact.term is not None and fact.node is not None:
            came.setdefault((fact.term, fact.node), set()).add(since(fact))
    for key, added in _added(facts).items():
        if len(added) == len(came.get(key, ())) and len(masters[key[0]] - {None}) == 1:
            yield Message(min(came[key]), added[0])


def _read_after_begin(facts: Sequence[Fact]) -> Iterator[Message]:
    """Yield pairs from a master's begin to the first time that a slave reads its epoch in a record of epochs.

    Source: ``AutoSwitchHAService#changeToMaster`` writes the epoch into its record, after "Begin to change to master";
    ``AutoSwitchHAClient#doTruncate`` prints the record that the master sent. Pairs are made only for an epoch of one
    master, whose log has it in a smaller epoch before: the begin itself may be missing from one that starts later.
    """
    begun: dict[int, list[Role]] = {}
    smallest: dict[str, int] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.protocol == PROTOCOL and fact.term is not None:
            smallest[fact.source_node] = min(smallest.get(fact.source_node, fact.term), fact.term)
            if fact.role == LEADER:
                begun.setdefault(fact.term, []).append(fact)
    for fact in facts:
        roles = begun.get(fact.term, []) if isinstance(fact, EpochRead) else []
        first = min(roles, key=lambda role: (role.since, role.ordinal), default=None)
        if first is None or len({role.source_node for role in roles}) > 1 or first.cause != "elected":
            continue
        if smallest[first.source_node] < (first.term or 0):
            yield Message(since(first), since(fact))


def _added(facts: Sequence[Fact]) -> dict[tuple[int, str], list[Moment]]:
    """Map (epoch, slave) to the times at which it was added to the set; empty if two sets have one number."""
    by_number: dict[int, list[Decision]] = {}
    for fact in facts:
        if isinstance(fact, Decision) and fact.leading and fact.set_epoch is not None:
            by_number.setdefault(fact.set_epoch, []).append(fact)
    if any(len({(each.decision, each.term, each.members) for each in same}) > 1 for same in by_number.values()):
        return {}
    found: dict[tuple[int, str], list[Moment]] = {}
    epoch, present = None, frozenset[str]()
    for number in sorted(by_number):
        first = min(by_number[number], key=since)
        members = frozenset(first.members or ())
        if first.decision == ELECTED:
            epoch, members = first.term, members or frozenset(filter(None, (first.node,)))
        elif first.decision == SET_CHANGED and epoch is not None and number - 1 in by_number:
            for node in members - present:
                found.setdefault((epoch, node), []).append(since(first))
        present = members
    return found


def _closed_by_deaths(facts: Sequence[Fact]) -> Iterator[Message]:
    """Yield pairs from the last line of a process that died to its closed connections at the controllers.

    A broker may close connections while it lives and reopen them, and one that is stopped may write on after closing
    them. So pairs are made only for deaths, where at least two controllers tell of the broker and each lost it as often
    as its process ended, each time by a closed connection. Logs whose heads are missing could match by accident: the
    broker's log must begin with a start, and the controller's before the end of that run.
    """
    runs: dict[str, set[tuple[int, int, str, bool]]] = {}
    lost: dict[str, dict[str, set[tuple[int, int, str | None, bool]]]] = {}
    for fact in facts:
        if fact.protocol != PROTOCOL or fact.node is None:
            continue
        if isinstance(fact, Alive) and fact.until is not None:
            runs.setdefault(fact.node, set()).add((fact.since, fact.until, fact.source_node, fact.stopped))
        elif isinstance(fact, ContactLost):
            by_controller = lost.setdefault(fact.node, {})
            loss = (fact.since, fact.since_by, fact.since_event, fact.closed)
            by_controller.setdefault(fact.source_node, set()).add(loss)
    from_a_start, first_lines = _from_a_start(facts), _first_lines(facts)
    for node, by_controller in lost.items():
        ended = sorted(runs.get(node, ()))[:-1]  # the last run may go on
        as_often = all(
            len(seen) == len(ended) and all(closed for *_, closed in seen) for seen in by_controller.values()
        )
        sources = {source for _, _, source, _ in runs.get(node, ())}
        if len(sources) != 1 or not sources <= from_a_start or len(by_controller) < 2 or not as_often:
            continue
        for controller, seen in by_controller.items():
            for (_, last, source, stopped), (at, by, event, _) in zip(ended, sorted(seen), strict=True):
                if not stopped and first_lines[controller] <= last:
                    yield Message(Moment(last, last, source), Moment(at, by, controller, event))


def _from_a_start(facts: Iterable[Fact]) -> set[str]:
    """Return the sources whose logs begin with a start of the process."""
    first: dict[str, Role] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.protocol == PROTOCOL:
            known = first.setdefault(fact.source_node, fact)
            first[fact.source_node] = min(known, fact, key=lambda role: (role.since, role.ordinal))
    return {source for source, role in first.items() if role.cause == "start"}


def _first_lines(facts: Iterable[Fact]) -> dict[str, int]:
    """Return the earliest fact time of each source, us on its own clock."""
    first: dict[str, int] = {}
    for fact in facts:
        first[fact.source_node] = min(first.get(fact.source_node, fact.since), fact.since)
    return first
