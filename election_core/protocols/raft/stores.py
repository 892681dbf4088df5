"""Changes to the data of an etcd cluster from outside of Raft: restored, forced, taken from an old copy, or different
among members. Raft's guarantees hold for one history of the data, and each of these starts another one.
"""

from collections.abc import Iterable, Iterator, Sequence

from election_replay.election_core.judge.completeness import store_went_back
from election_replay.election_core.judge.coverage import counted
from election_replay.election_core.judge.group import Group, since, until
from election_replay.election_core.judge.outages import writes_refused
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, WARNING, RuleId
from election_replay.election_core.model.facts import LogEndedEarlier, RefusedWrites, VotersStated
from election_replay.election_core.model.measures import LostFrom, Refusal, Unit
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.raft.facts import (
    ClusterReplaced,
    ForcedRestart,
    StoresDiffered,
)
from election_replay.election_core.protocols.raft_family.stalls import KEPT, last_of, stalled_leaders


def judge(group: Group, back: Sequence[Finding]) -> Iterator[Row]:
    """Yield all rows about the data of one cluster; ``back``: the findings about members whose term went back."""
    found = [*_restored(group), *_forced(group), *_went_back(group, back), *_differ(group)]
    yield from found
    statements = len({(fact.source_node, fact.since) for fact in group.of(VotersStated)})
    for rule in (RuleId.CLUSTER_RESTORED, RuleId.CLUSTER_FORCED, RuleId.STORE_WENT_BACK, RuleId.STORES_DIFFER):
        broken = sum(1 for finding in found if finding.rule == rule)
        yield counted(group, rule, found, max(statements, broken))
    refused = [*_refused(group), *stalled_leaders(group)]
    yield from refused
    yield counted(group, RuleId.WRITES_REFUSED, refused, len(refused))


def _restored(group: Group) -> Iterator[Finding]:
    """Yield ``CLUSTER_RESTORED`` for each former cluster, and the entries of it that the data lacks."""
    by_former: dict[str, list[ClusterReplaced]] = {}
    for fact in group.of(ClusterReplaced):
        by_former.setdefault(fact.other, []).append(fact)
    for former, facts in sorted(by_former.items()):
        first = min(facts, key=lambda fact: (fact.since, fact.source_node))
        reached = max((fact for fact in facts if fact.before), key=_former_revision, default=None)
        begun = min((fact for fact in facts if fact.after is not None), key=_revision, default=None)
        lost = 0 if reached is None or begun is None else max(_former_revision(reached) - _revision(begun), 0)
        names = tuple(sorted({fact.who for fact in facts}))
        folders = sorted({fact.source_node for fact in facts})
        many = len(folders) > 1
        who = f"The folder{'s' if many else ''} of {', '.join(folders)}, {'members' if many else 'a member'}"
        data = "" if begun is None else f" Its data begin at revision {_revision(begun)}."
        event = group.finding(
            RuleId.CLUSTER_RESTORED,
            (former,),
            severity=CRITICAL if lost else WARNING,
            nodes=names,
            when=(first.since, None),
            summary=f"{who} of cluster {former} before, start{'' if many else 's'} as cluster {group.replica_group}: "
            f"a snapshot was restored, or the data were emptied.{data}",
            evidence=[event for fact in facts for event in (fact.since_event, *fact.evidence)],
        )
        yield event
        if lost and reached is not None and begun is not None:
            yield group.finding(
                RuleId.COMMITTED_ENTRY_LOST,
                ("restored", former),
                severity=CRITICAL,
                nodes=names,
                when=first.since,
                summary=f"Cluster {former} had reached revision {_former_revision(reached)} ({reached.source_node}), "
                f"and cluster {group.replica_group} begins at revision {_revision(begun)}: at least {lost} revisions "
                "that had been committed are not in it.",
                evidence=[*reached.evidence, *begun.evidence],
                implied_by=event.finding_id,
                entries_lost=lost,
                cut_from=_revision(begun),
                cut_to=_former_revision(reached),
                unit=Unit.REVISIONS,
                lost_from=LostFrom.LOG,
            )


def _former_revision(fact: ClusterReplaced) -> int:
    return fact.before or 0


def _revision(fact: ClusterReplaced) -> int:
    return fact.after or 0


def _forced(group: Group) -> Iterator[Finding]:
    """Yield ``CLUSTER_FORCED``; critical where another former member led on, since two clusters then existed."""
    for fact in group.of(ForcedRestart):
        before = [each for each in group.of(VotersStated) if group.clocks.elapsed(since(each), since(fact))[0] > 0]
        own_lists = [stated for stated in before if stated.source_node == fact.source_node and stated.voters]
        members = {voter for stated in own_lists[-1:] or before for voter in stated.voters or ()}
        beside = [
            tenure
            for tenure in group.tenures
            if tenure.node in members - {fact.who}
            and group.clocks.elapsed(since(fact), tenure.end)[0] > 0
            and group.clocks.elapsed(since(fact), group.written.get(tenure.source, tenure.begin))[0] > 0
        ]
        dropped = f" Uncommitted entries that were dropped: {fact.count}." if fact.count else ""
        others = ", ".join(sorted(members - {fact.who})) or "the other members"
        went_on = (
            f" {beside[0].name} went on as leader of term {beside[0].term}: there were two clusters."
            if beside
            else f" What {others} had beyond its log is not in it, and they must not start again with their data."
        )
        yield group.finding(
            RuleId.CLUSTER_FORCED,
            (fact.who, fact.since),
            severity=CRITICAL if beside else WARNING,
            certainty=DEFINITE,
            nodes=(fact.who, *(tenure.node for tenure in beside)),
            terms=tuple(sorted({tenure.term for tenure in beside})),
            when=(fact.since, None),
            summary=f"{fact.who} made a new cluster of itself alone, as it was told to (--force-new-cluster).{dropped}"
            f"{went_on}",
            evidence=[fact.since_event, *fact.evidence, *(event for tenure in beside for event in tenure.evidence)],
        )


def _went_back(group: Group, back: Iterable[Finding]) -> Iterator[Finding]:
    """Yield ``STORE_WENT_BACK``; implied by the regression of the same member's term, if it has one."""
    terms_back = list(back)
    for fact in group.of(LogEndedEarlier):
        same = (
            finding
            for finding in terms_back
            if finding.nodes[0] == fact.who and abs(finding.start_time - fact.since) <= Timeout.ETCD_ONE_START.us
        )
        implied_by = next((finding.finding_id for finding in same), None)
        yield store_went_back(group, fact, f"entry {fact.before}", f"entry {fact.after}", implied_by)


def _differ(group: Group) -> Iterator[Finding]:
    """Yield ``STORES_DIFFER``, once for each member that found a difference."""
    by_node: dict[str, list[StoresDiffered]] = {}
    for fact in group.of(StoresDiffered):
        by_node.setdefault(fact.who, []).append(fact)
    for name, facts in sorted(by_node.items()):
        others = sorted({fact.peer for fact in facts if fact.peer is not None})
        whose = f"{name} and {', '.join(others)} hold" if others else "Members hold"
        yield group.finding(
            RuleId.STORES_DIFFER,
            (name,),
            severity=CRITICAL,
            nodes=(name, *(other for other in others if other != name)),
            when=(min(fact.since for fact in facts), None),
            summary=f"{whose} different data, by {name}'s comparison of hashes and revisions: what a client reads "
            "depends on the member that it asks.",
            evidence=[event for fact in facts for event in (fact.since_event, fact.until_event)],
        )


def _refused(group: Group) -> Iterator[Finding]:
    """Yield ``WRITES_REFUSED``: an alarm forbids writes on all members, so lines of several members are one outage."""
    by_reason: dict[Refusal, list[list[RefusedWrites]]] = {}
    for fact in sorted(group.of(RefusedWrites), key=lambda fact: (fact.since, fact.source_node)):
        if fact.why in KEPT:
            continue
        spells = by_reason.setdefault(Refusal(fact.why), [])
        if spells and fact.since <= max(last_of(known) for known in spells[-1]) + Timeout.WRITE_EPISODE.us:
            spells[-1].append(fact)
        else:
            spells.append([fact])
    for why, spells in sorted(by_reason.items()):
        for facts in spells:
            yield from _outage(group, why, facts)


def _outage(group: Group, why: Refusal, facts: Sequence[RefusedWrites]) -> Iterator[Finding]:
    longest = max(facts, key=lambda fact: group.clocks.elapsed(since(fact), until(fact) or since(fact))[0])
    least = group.clocks.elapsed(since(longest), until(longest) or since(longest))[0]
    first, last = min(facts, key=lambda fact: fact.since), max(facts, key=last_of)
    most = group.clocks.elapsed(since(first), until(last) or since(last))[1]
    names = sorted({fact.who for fact in facts})
    yield from writes_refused(
        group,
        (why, first.since),
        ", ".join(names),
        facts,
        (least, most),
        (first.since, last_of(last)),
        severity=WARNING,
        nodes=names,
        evidence=[event for fact in facts for event in (fact.since_event, fact.until_event)],
    )
