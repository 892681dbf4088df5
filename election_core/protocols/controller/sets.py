"""SyncStateSets that break a rule, or that a master could not change."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.group import Group, since, until
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import DEFINITE, INFO, WARNING, RuleId
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import SECOND, Timeout
from election_replay.election_core.protocols.controller.acknowledgements import learners
from election_replay.election_core.protocols.controller.decision_rules import SetVersion
from election_replay.election_core.protocols.controller.facts import SetRefused
from election_replay.election_core.protocols.controller.tables import ALTER_FAILED

_NO_NEXT_SET = "the next set, or the election before this one, is not in the logs"
_NO_ELECTION = "the election before this set is not in the logs"


def set_without_master(group: Group, sets: list[SetVersion]) -> Iterator[Finding]:
    """Yield ``MASTER_NOT_IN_SYNC_STATE_SET``: the controllers refuse such a set (code 2013)."""
    for version in sets:
        if version.master is None or version.master in version.members:
            continue
        fact = version.decision
        yield group.finding(
            RuleId.MASTER_NOT_IN_SYNC_STATE_SET,
            (version.epoch,),
            severity=WARNING,
            nodes=(version.master,),
            terms=(version.master_epoch,),
            when=fact.since,
            summary=f"SyncStateSet {version.epoch} is {{{', '.join(version.members)}}} without the master "
            f"{version.master} of epoch {version.master_epoch}.",
            evidence=(fact.since_event,) if fact.since_event else (),
        )


def stale_sets(group: Group) -> Iterator[Finding]:
    """Yield ``SYNC_STATE_SET_STALE``: a master could not change its SyncStateSet for longer than a poll.

    Until it can, the recorded set names members that do not follow: with allAckInSyncStateSet it cannot acknowledge,
    and without it an election may choose a member that lacks messages.
    """
    masters = {tenure.term: tenure.node for tenure in group.tenures}
    for tries in refused_in_a_row(group):
        first, last = tries[0], tries[-1]
        source, term = first.source_node, first.term
        least, most = group.clocks.elapsed(since(first), since(last))
        if least <= group.timing.us(Timeout.CONTROLLER_POLL, source):
            continue
        codes = sorted({str(fact.code) for fact in tries if fact.code is not None})
        answers = f"refused with code {', '.join(codes)}" if codes else "not answered"
        name = first.node or source
        yield group.finding(
            RuleId.SYNC_STATE_SET_STALE,
            (source, term, first.since // SECOND),
            severity=INFO,
            nodes=(name,),
            terms=(term,),
            when=(first.since, last.since),
            summary=f"{_who_asked(first, masters)} for {between(least, most)}: {len(tries)} reports, {answers}.",
            evidence=tuple(fact.since_event for fact in tries if fact.since_event),
            lasted=(least, most),
            rounds=len(tries),
        )


def _who_asked(refused: SetRefused, masters: Mapping[int, str]) -> str:
    """Return the subject of the sentence: the epoch's master, or a former one that asks on with its successor's
    epoch."""
    name, master = refused.who, masters.get(refused.term or 0)
    if master in (None, name):
        return f"Master {name} ({refused.source_node}, epoch {refused.term}) could not change its SyncStateSet"
    return (
        f"{name} ({refused.source_node}) was master no more, and asked to change the SyncStateSet of epoch "
        f"{refused.term}, whose master is {master},"
    )


def refused_in_a_row(group: Group) -> list[list[SetRefused]]:
    """Return the runs of failed reports by one master in one epoch. Code 2013 is left out: it mostly means that the set
    is already the recorded one."""
    rows: list[list[SetRefused]] = []
    failed = [fact for fact in group.of(SetRefused) if fact.code != ALTER_FAILED]
    for fact in sorted(failed, key=lambda f: (f.source_node, f.term or 0, f.since)):
        last = rows[-1][-1] if rows else None
        together = last is not None and (last.source_node, last.term) == (fact.source_node, fact.term)
        if last is not None and together and fact.since - last.since <= _one_attempt(group, fact.source_node):
            rows[-1].append(fact)
        else:
            rows.append([fact])
    return rows


def small_sets(group: Group, sets: Sequence[SetVersion]) -> Iterator[Finding]:
    """Yield ``SYNC_STATE_SET_SMALL``: a set that lacked living members for long, until the next one replaced it. The
    last set of the logs is not judged: a later change may be among lost lines."""
    for version, following in pairwise(sets):
        if following.epoch != version.epoch + 1 or version.master is None:
            continue
        outside = dict(_living_outside(group, version, following))
        if not outside:
            continue
        fact, (least, most) = version.decision, max(outside.values())
        count = len(version.members)
        copies = "that one copy" if count == 1 else f"those {count} copies"
        names = " and ".join(f"{node} ({source})" for node, source in sorted(outside))
        yield group.finding(
            RuleId.SYNC_STATE_SET_SMALL,
            (version.epoch, fact.since // SECOND),
            severity=INFO,
            certainty=DEFINITE,
            nodes=(version.master, *(node for node, _ in sorted(outside))),
            terms=(version.master_epoch,),
            when=(fact.since, following.decision.since),
            summary=f"For {between(least, most)} SyncStateSet {version.epoch} was {{{', '.join(version.members)}}}, "
            f"although {names} lived and had a role: what {version.master} acknowledged meanwhile may be in {copies} "
            "only.",
            evidence=[fact.since_event, following.decision.since_event],
            lasted=(least, most),
        )


def _living_outside(
    group: Group, version: SetVersion, following: SetVersion
) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    """Yield (id, source) of brokers outside the set that had a role while its master led, with (least, most) us.

    An asynchronous learner stays outside on purpose, and a broker that has not heard from the controllers since its
    start is no member yet. A broker is identified by the id in its own log.
    """
    apart = learners(group)
    in_force = (since(version.decision), since(following.decision))
    led = [
        (tenure.begin, tenure.end)
        for tenure in group.tenures
        if (tenure.node, tenure.term) == (version.master, version.master_epoch)
    ]
    for role in group.roles:
        if role.role not in (LEADER, FOLLOWER) or role.node is None or role.node in version.members:
            continue
        if role.source_node in apart:
            continue
        had_role = (since(role), until(role) or group.end)
        together = [_together(group, in_force, tenure, had_role) for tenure in led]
        longest = max(together, default=(0, 0))
        if longest[0] > group.timing.us(Timeout.CONTROLLER_FEW_COPIES, role.source_node):
            yield (role.node, role.source_node), longest


def _together(group: Group, *spans: tuple[Moment, Moment]) -> tuple[int, int]:
    """Return the (least, most) time in us during which all spans overlap."""
    lasted = [group.clocks.elapsed(begin, end) for begin, _ in spans for _, end in spans]
    return min(least for least, _ in lasted), min(most for _, most in lasted)


def sets_coverage(group: Group, sets: list[SetVersion], found: Iterable[Finding]) -> Iterator[RuleCoverage]:
    """Yield the coverage of the three rules about SyncStateSets."""
    rules = Counter(finding.rule for finding in found)
    small = rules[RuleId.SYNC_STATE_SET_SMALL]
    stale, without = rules[RuleId.SYNC_STATE_SET_STALE], rules[RuleId.MASTER_NOT_IN_SYNC_STATE_SET]
    yield coverage(group, RuleId.SYNC_STATE_SET_STALE, len(refused_in_a_row(group)) - stale, stale)
    judged = sum(1 for version in sets if version.master is not None)
    ended = [version for version, following in pairwise(sets) if following.epoch == version.epoch + 1]
    closed = sum(1 for version in ended if version.master is not None)
    yield coverage(group, RuleId.SYNC_STATE_SET_SMALL, closed - small, small, len(sets) - closed, _NO_NEXT_SET)
    yield coverage(
        group,
        RuleId.MASTER_NOT_IN_SYNC_STATE_SET,
        judged - without,
        without,
        len(sets) - judged,
        _NO_ELECTION,
    )


def _one_attempt(group: Group, source: str) -> int:
    """Return the longest time in us between two refusals of one attempt."""
    return group.timing.us(Timeout.CONTROLLER_POLL, source) + group.timing.us(Timeout.CONTROLLER_IN_A_ROW)
