"""What the facts of a broker set under the RocketMQ 5 controller must satisfy.

Terms here are master epochs. ``masterEpoch`` grows with every election, also with one that finds nobody, so
gaps are normal. A broker that is cut off from the controllers stays master: there is no lease; it steps down when
it hears of a larger epoch. What it wrote meanwhile is cut off when it rejoins.

Sources: RocketMQ ``ReplicasInfoManager#electMaster``, ``#alterSyncStateSet``, ``DefaultElectPolicy``,
``ReplicasManager#changeToMaster``, ``AutoSwitchHAClient#doTruncate``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from election_core.fold.process_runs import SECOND
from election_core.fold.roles import FOLLOWER, LEADER, STOPPED
from election_core.judge.availability import availability
from election_core.judge.clock import Clocks, Message, Moment
from election_core.judge.coverage import coverage, summed, tallies_of
from election_core.judge.group import Group, Tenure, group_of, since
from election_core.judge.overlap import Overlap, overlap_coverage, overlaps
from election_core.judge.role_rows import role_intervals, terms_by_hearsay
from election_core.judge.same_term import same_term
from election_core.judge.wording import between, seconds
from election_core.model.catalogue import CRITICAL, DEFINITE, INFO, POSSIBLE, PROVEN, WARNING, RuleId
from election_core.model.facts import Fact, LastHeard, LogCut, MemberAddress, Role, TermWentBack
from election_core.model.rows import Election, Finding, Row, RuleCoverage, SyncStateSet, Term
from election_core.protocols.controller import decision_rules
from election_core.protocols.controller.checks import ELECTED, NOBODY_ELECTED
from election_core.protocols.controller.decision_rules import SetVersion, cleaned
from election_core.protocols.controller.facts import AllAck, ControllerRuleBroken, Decision, RegisterCode, SetRefused
from election_core.protocols.controller.log import POLL, PROTOCOL, SET_CHANGED
from election_core.protocols.controller.tables import ALTER_FAILED

_IN_A_ROW = 20 * SECOND
"""A master tries again at every poll and at every change of a connection."""
_INACTIVE = 30 * SECOND
"""A heartbeat timeout, a scan and three tries of an election later, the loss of a master is not its cause any more."""

__all__ = ["PROTOCOL", "judge"]


def judge(own: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one broker set."""
    named = _named(own)
    group = group_of(named, clocks)
    removed = cleaned(group)
    # What comes after an operator removed the set begins anew with epoch 1, and is later all the same.
    group = group.with_tenures(
        sorted(group.tenures, key=lambda tenure: sum(1 for fact in removed if fact.since < tenure.begin.at))
    )
    decided = decisions(group)
    sets = set_versions(decided)
    by_clocks = _ordered_by_clocks(group) if _went_back(group, decided) else group
    epochs_order = by_clocks is not None
    group = by_clocks or group
    yield from role_intervals(group)
    yield from terms(group, decided)
    yield from elections(decided, group, sets)
    yield from sync_state_sets(group, sets)
    yield from _findings(group, decided, sets)
    unseen = None if epochs_order else (lambda *_: True)
    yield from availability(group, _last_heard(group), _unplanned(group, decided), "master", "epoch", unseen)
    yield from _coverage(group, decided, sets)


def _went_back(group: Group, decided: list[Decision]) -> bool:
    """Whether epochs went back, so that they do not tell which of two masters was the earlier one."""
    controllers = decision_rules.record_lost(decided) or any(_controllers_back(group, decided))
    return controllers or any(True for _ in group.of(TermWentBack))


def _ordered_by_clocks(group: Group) -> Group | None:
    """The group with its tenures in the order of their beginnings, if the clocks tell it for sure."""
    in_time = sorted(group.tenures, key=lambda tenure: (tenure.begin, tenure.source))
    if any(group.clocks.elapsed(one.begin, other.begin)[0] <= 0 for one, other in pairwise(in_time)):
        return None
    return group.with_tenures(in_time)


def _named(own: list[Fact]) -> list[Fact]:
    """Facts of a broker whose own log does not say its id get it from whoever knows its address."""
    ids: dict[str, set[str]] = {}
    for fact in own:
        if isinstance(fact, MemberAddress) and fact.node is not None:
            ids.setdefault(fact.address, set()).add(fact.node)
    known: dict[str, str] = {}
    for fact in own:
        if isinstance(fact, Role) and fact.node is None and fact.address is not None:
            candidates = ids.get(fact.address, set())
            if len(candidates) == 1:
                known[fact.source_node] = next(iter(candidates))
    return [_with_name(fact, known) for fact in own]


def _with_name(fact: Fact, known: Mapping[str, str]) -> Fact:
    name = known.get(fact.source_node) if fact.node is None else None
    if name is None or isinstance(fact, Decision | RegisterCode):
        return fact
    if isinstance(fact, Role) and fact.role == LEADER:
        return replace(fact, node=name, leader=name)
    return replace(fact, node=name)


def messages(own: Iterable[Fact]) -> Iterator[Message]:
    """Causal pairs: a broker takes a role after the election; a controller accepts a code after it was made.

    Only what the leading controller prints causes anything: before it replicates (DLedger), or before it answers
    (JRaft). Other controllers print the same decision whenever they come to it. A registerCheckCode holds the
    broker's own clock, so the controller's line alone ties both clocks together.
    """
    own = list(own)
    elected: dict[int, Moment] = {}
    sources: dict[str, set[str]] = {}
    for fact in own:
        if isinstance(fact, Decision):
            if fact.decision == ELECTED and fact.leading and fact.term is not None:
                elected[fact.term] = min(elected.get(fact.term, since(fact)), since(fact))
        elif isinstance(fact, RegisterCode) and not fact.accepted:
            sources.setdefault(fact.register_code, set()).add(fact.source_node)
    for fact in own:
        cause: Moment | None = None
        if isinstance(fact, Role) and fact.role in (LEADER, FOLLOWER) and fact.cause in ("elected", "told"):
            cause = elected.get(fact.term) if fact.term is not None else None
        elif isinstance(fact, RegisterCode) and fact.accepted:
            makers = sources.get(fact.register_code, set())
            if len(makers) == 1:
                made = fact.made_ms * 1000
                cause = Moment(made, made + 999, next(iter(makers)), fact.since_event)
        if cause is not None:
            yield Message(cause, since(fact))


def decisions(group: Group) -> list[Decision]:
    """Elections and set changes that took effect, each once, in the order in which the controllers made them.

    JRaft controllers print each decision on every node, and again when they re-read their log: the index in the
    Raft log tells them apart. A decision that was not confirmed counts when a broker acted on it.
    """
    adopted = {tenure.term for tenure in group.tenures}
    once: dict[object, Decision] = {}
    for fact in group.of(Decision):
        if fact.decision not in (ELECTED, NOBODY_ELECTED, SET_CHANGED):
            continue
        if fact.committed is False and fact.term not in adopted:
            continue
        key: object = (
            fact.since_event if fact.raft_index is None else (fact.raft_index, *decision_rules.decision_key(fact))
        )
        once.setdefault(key, fact)
    return list(once.values())


def set_versions(decided: list[Decision]) -> list[SetVersion]:
    """The SyncStateSets by their epoch; an election makes the winner the only member."""
    versions: dict[int, SetVersion] = {}
    master: Decision | None = None
    last = 0
    lost = decision_rules.record_lost(decided)
    for epoch, fact in _numbered(decided, lost=lost):
        if fact.decision == ELECTED:
            master = fact
        elif epoch != last + 1 and (lost or epoch != last):
            # What is missing in between may have been an election.
            master = None
        last = epoch
        members = (fact.node,) if fact.decision == ELECTED and fact.node else fact.members
        if members is None or epoch in versions:
            continue
        versions[epoch] = SetVersion(
            epoch,
            master.term if master else None,
            master.node if master else None,
            tuple(sorted(members)),
            fact,
        )
    return [versions[epoch] for epoch in sorted(versions)]


def _numbered(decided: list[Decision], *, lost: bool) -> list[tuple[int, Decision]]:
    """Set changes with their epochs, which order them; after a lost record only each controller's own order does."""
    numbered = [(fact.set_epoch, fact) for fact in decided if fact.set_epoch is not None]
    if not lost:
        return sorted(numbered, key=_by_set_epoch)
    return [
        (fact.set_epoch or 0, fact) for own in decision_rules.by_source(f for _, f in numbered).values() for fact in own
    ]


def _by_set_epoch(numbered: tuple[int, Decision]) -> tuple[int, bool, str]:
    """By epoch; of two decisions with one epoch the confirmed one is the fact, the other a lost proposal.

    Two confirmed ones break a rule; which of them stands here must not depend on clocks.
    """
    epoch, fact = numbered
    return (epoch, fact.committed is not True, repr(decision_rules.decision_key(fact)))


# -- rows ------------------------------------------------------------------------------------------------------


def _elections_of(decided: Iterable[Decision]) -> list[Decision]:
    return [fact for fact in decided if fact.decision in (ELECTED, NOBODY_ELECTED)]


def terms(group: Group, decided: list[Decision]) -> Iterator[Term]:
    """One row for each master epoch: from the brokers' own word, else from the decision."""
    held: dict[tuple[int, str], list[Tenure]] = {}
    for tenure in group.tenures:
        held.setdefault((tenure.term, tenure.node), []).append(tenure)
    elected = _elections_of(decided)
    for (epoch, master), tenures in held.items():
        yield _term_held(group, epoch, master, tenures, elected)
    seen = {epoch for epoch, _ in held}
    for number, fact in enumerate(elected):
        if fact.term is None or fact.term in seen:
            continue
        seen.add(fact.term)
        after = elected[number + 1].since if number + 1 < len(elected) else None
        yield Term(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            term=fact.term,
            leader=fact.node if fact.decision == ELECTED else None,
            start_time=fact.since,
            end_time=after,
            cause=_cause(group, fact.term, fact),
            certainty=PROVEN if fact.committed else POSSIBLE,
            start_event_id=fact.since_event,
            end_event_id=None,
        )
    yield from terms_by_hearsay(group, seen)


def _term_held(group: Group, epoch: int, master: str, tenures: list[Tenure], elected: list[Decision]) -> Term:
    first = min(tenures, key=lambda t: t.begin)
    last = max(tenures, key=lambda t: (t.open, t.end))
    decision = next((fact for fact in elected if fact.term == epoch), None)
    return Term(
        cluster=group.cluster,
        replica_group=group.replica_group,
        protocol=group.protocol,
        term=epoch,
        leader=master,
        start_time=first.begin.at,
        end_time=None if last.open else last.end.at,
        cause=_cause(group, epoch, decision),
        certainty=PROVEN,
        start_event_id=first.begin.event_id,
        end_event_id=last.end.event_id,
    )


def _cause(group: Group, epoch: int, decision: Decision | None) -> str:
    """Why an election began, from how the master before it ended."""
    earlier = [tenure for tenure in group.tenures if tenure.term < epoch]
    if not earlier:
        return "first_master"
    before = earlier[-1]
    if decision is not None and before.node == decision.node:
        return "elected_again"
    if before.end_cause == STOPPED:
        return "master_stopped"
    if before.end_cause in ("died", "silent"):
        return "master_lost"
    if decision is not None and _silent_at(group, before, since(decision)):
        return "master_silent"
    if decision is not None and _given_up(group, before, since(decision)):
        return "master_inactive"
    return "requested"


def _given_up(group: Group, tenure: Tenure, decision: Moment) -> bool:
    """Whether the controllers lost the master shortly before they decided."""
    return any(
        node == tenure.node and -SECOND <= decision.at - moment.at <= _INACTIVE for node, moment in _last_heard(group)
    )


def _silent_at(group: Group, tenure: Tenure, moment: Moment) -> bool:
    return any(
        group.clocks.elapsed(hole.begin, moment)[1] > 0 and group.clocks.elapsed(moment, hole.end)[1] > 0
        for hole in tenure.silences
    )


def elections(decided: list[Decision], group: Group, sets: list[SetVersion]) -> Iterator[Election]:
    """One row for each election by the controllers, with or without a winner."""
    by_epoch = {version.epoch: version for version in sets}
    for fact in _elections_of(decided):
        before = by_epoch.get((fact.set_epoch or 0) - 1)
        yield Election(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            term=fact.term or 0,
            candidate=fact.node,
            start_time=fact.since,
            end_time=fact.since,
            outcome=_outcome(fact, before),
            rounds=1,
            votes_granted=None,
            votes_needed=None,
            voters=before.members if before else (),
            decided_by=fact.source_node,
            start_event_id=fact.since_event,
            end_event_id=fact.since_event,
        )


def _outcome(fact: Decision, before: SetVersion | None) -> str:
    if fact.decision == NOBODY_ELECTED:
        return "no_candidate"
    if before is not None and fact.node not in before.members:
        return "won_unclean"
    return "won"


def sync_state_sets(group: Group, sets: list[SetVersion]) -> Iterator[SyncStateSet]:
    """One row for each value of the SyncStateSet."""
    for number, version in enumerate(sets):
        after = sets[number + 1].decision.since if number + 1 < len(sets) else None
        yield SyncStateSet(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            master_epoch=version.master_epoch or 0,
            sync_state_set_epoch=version.epoch,
            master=version.master,
            members=version.members,
            start_time=version.decision.since,
            end_time=after,
            start_event_id=version.decision.since_event,
        )


# -- findings ---------------------------------------------------------------------------------------------------


def _findings(group: Group, decided: list[Decision], sets: list[SetVersion]) -> Iterator[Finding]:
    split = _same_epoch(group)
    bound = _without_alone(group, decided, sets)
    yield from split
    causes: dict[tuple[str | None, str], Finding] = {}
    for overlap in overlaps(group):
        finding = _overlap_finding(group, overlap, bound)
        if finding is not None:
            yield finding
            for cut in _cuts_of(group, overlap.stale.source, overlap.newer.begin):
                causes.setdefault((cut.since_event, cut.source_node), finding)
    for unclean in unclean_elections(decided, sets):
        finding = _unclean_finding(group, unclean)
        yield finding
        for cut in _cuts_after(group, unclean):
            causes.setdefault((cut.since_event, cut.source_node), finding)
    yield from _data_loss(group, causes, bound)
    yield from _set_without_master(group, sets)
    yield from _epochs_back(group, decided, split)
    disagreements = list(decision_rules.disagreements(group))
    yield from disagreements
    yield from decision_rules.wrong_elections(group, decided, [*disagreements, *split])
    yield from decision_rules.wrong_sets(group, decided, sets)
    yield from decision_rules.broken_lines(group)
    yield from _stale_sets(group)
    yield from _no_master_recorded(group, decided)


def _same_epoch(group: Group) -> list[Finding]:
    return [found for found in same_term(group, "epoch") if not _begun_anew(group, found)]


def _begun_anew(group: Group, found: Finding) -> bool:
    """Whether an operator removed the broker set between two masters of one epoch, so that its epochs began anew."""
    tenures = [t for t in group.tenures if t.term in found.terms]
    return any(
        any(group.clocks.elapsed(tenure.begin, since(fact))[0] > 0 for tenure in tenures)
        and any(group.clocks.elapsed(since(fact), tenure.begin)[0] > 0 for tenure in tenures)
        for fact in cleaned(group)
    )


def _last_heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """When controllers heard of a broker for the last time."""
    for fact in group.of(LastHeard):
        if fact.node is not None:
            yield fact.node, since(fact)


def _cuts_of(group: Group, source: str, after: Moment) -> list[LogCut]:
    """How much a broker cut off its log (or failed to) after a moment; empty cuts are left out."""
    return [
        cut
        for cut in group.of(LogCut)
        if cut.source_node == source and _cut_off(cut) > 0 and group.clocks.elapsed(after, since(cut))[1] > 0
    ]


def _cut_off(cut: LogCut) -> int:
    """By how many bytes a log was cut, as far as both ends are known."""
    return 0 if cut.log_end is None or cut.cut_to is None else cut.log_end - cut.cut_to


def _lost(cuts: list[LogCut]) -> int:
    return max((_cut_off(cut) for cut in cuts), default=0)


def _without_alone(group: Group, decided: list[Decision], sets: list[SetVersion]) -> frozenset[str]:
    """The brokers that cannot acknowledge alone what another master lacks: their log shows allAckInSyncStateSet=true.

    That holds where every master came from the set of the one before, and holds what that one had acknowledged: not
    after an unclean election, when the controllers lost a part of their record, or where replication broke a rule.
    """
    broken = any(fact.rule in (RuleId.REPLICATION_RULE, RuleId.ACK_RULE) for fact in group.of(ControllerRuleBroken))
    lost = any(_controllers_back(group, decided)) or decision_rules.sets_twice(group, decided)
    if broken or lost or unclean_elections(decided, sets):
        return frozenset()
    return frozenset(fact.source_node for fact in group.of(AllAck) if fact.configured)


def _overlap_finding(group: Group, overlap: Overlap, bound: frozenset[str]) -> Finding | None:
    """``SPLIT_BRAIN_OVERLAP``: a definite overlap of two masters of different epochs."""
    stale, newer = overlap.stale, overlap.newer
    if overlap.least <= 0 or stale.term == newer.term:
        return None
    cuts = _cuts_of(group, stale.source, newer.begin)
    severity, why = _consequence(overlap, cuts, bound)
    old = stale.with_detail(f"epoch {stale.term}, stale")
    new = newer.with_detail(f"epoch {newer.term}")
    cut_evidence = tuple(e for cut in cuts for e in cut.evidence)
    return group.finding(
        RuleId.SPLIT_BRAIN_OVERLAP,
        (stale.node, stale.term, newer.term, stale.source),
        severity=severity,
        certainty=DEFINITE,
        nodes=(stale.node, newer.node),
        terms=(stale.term, newer.term),
        start_time=newer.begin.at,
        end_time=stale.end.at,
        summary=f"{old} and {new} were both master for {between(overlap.least, overlap.most)}; {why}.",
        evidence=tuple(dict.fromkeys((*stale.evidence, *newer.evidence, *cut_evidence))),
        overlap_min_ms=overlap.least // 1000,
        overlap_max_ms=overlap.most // 1000,
        bytes_lost=_lost(cuts) or None,
        offset_before=cuts[0].log_end if cuts else None,
        offset_after=cuts[0].cut_to if cuts else None,
    )


def _is_alarm(group: Group, overlap: Overlap, bound: frozenset[str]) -> bool:
    return _consequence(overlap, _cuts_of(group, overlap.stale.source, overlap.newer.begin), bound)[0] != INFO


def _consequence(overlap: Overlap, cuts: list[LogCut], bound: frozenset[str]) -> tuple[str, str]:
    """Severity of an overlap and the words for it: what did the stale master do meanwhile?

    ``bound`` are the brokers that cannot acknowledge alone.
    """
    name = overlap.stale.name
    failed = [cut for cut in cuts if not cut.done]
    if failed and not overlap.frozen:
        return CRITICAL, (
            f"{name} took writes that the other never had and could not cut them off its log, which ended at "
            f"{failed[0].log_end}: the logs of both differ"
        )
    wrote = f"{name} took {_lost(cuts)} bytes of messages that were cut off when it rejoined"
    if overlap.stale.source in bound and not failed:
        if cuts:
            return INFO, f"{wrote}; with allAckInSyncStateSet it could not acknowledge them"
        return INFO, "with allAckInSyncStateSet the stale one could not acknowledge writes alone"
    if cuts and not overlap.frozen:
        if overlap.least <= POLL:
            return WARNING, f"{wrote}; the overlap is no longer than the notice of a change may take"
        return CRITICAL, wrote
    if overlap.frozen and overlap.awake_least <= 0:
        after = f"; {wrote} (written after it woke up)" if cuts else ""
        return INFO, f"its log is silent for {seconds(overlap.asleep)} of it, so it was frozen{after}"
    if overlap.frozen:
        more = f"; {wrote}, whether acknowledged the logs do not say" if cuts else ""
        return WARNING, f"it was frozen for {seconds(overlap.asleep)} of it and awake for the rest{more}"
    if overlap.most <= POLL + 3 * SECOND:
        return INFO, "no longer than the notice of the change may take"
    return WARNING, "whether the stale one took writes meanwhile the logs do not say"


def unclean_elections(decided: list[Decision], sets: list[SetVersion]) -> list[tuple[Decision, SetVersion]]:
    """Elections whose winner was not in the SyncStateSet before; the set's epoch proves the order."""
    before = decision_rules.sets_before(decided, sets)
    return [
        (fact, before[fact])
        for fact in _elections_of(decided)
        if fact.decision == ELECTED and fact in before and fact.node not in before[fact].members
    ]


def _cuts_after(group: Group, unclean: tuple[Decision, SetVersion]) -> list[LogCut]:
    """What members of the set before cut off their logs after an unclean election."""
    fact, before = unclean
    sources = {tenure.source for tenure in group.tenures if tenure.node in before.members}
    return [cut for source in sorted(sources) for cut in _cuts_of(group, source, since(fact))]


def _unclean_finding(group: Group, unclean: tuple[Decision, SetVersion]) -> Finding:
    fact, before = unclean
    cuts = _cuts_after(group, unclean)
    lost = _lost(cuts)
    if lost:
        severity = CRITICAL
        why = (
            f"the log of the former master ended at {cuts[0].log_end} and was cut back to "
            f"{cuts[0].cut_to}: {lost} bytes of messages are gone"
        )
    elif _nothing_to_lose(group, fact, before):
        severity, why = WARNING, "nothing was lost: the former master's log held nothing more"
    else:
        severity, why = WARNING, "whether anything was lost the logs do not show"
    return group.finding(
        RuleId.UNCLEAN_ELECTION,
        (fact.term, fact.node),
        severity=severity,
        certainty=PROVEN,
        nodes=(fact.node or "?",),
        terms=(fact.term,) if fact.term is not None else (),
        start_time=fact.since,
        end_time=fact.since,
        summary=f"{_name_of(group, fact.node)} was elected master of epoch {fact.term} although the SyncStateSet was "
        f"{{{', '.join(before.members)}}}; {why}.",
        evidence=tuple(
            dict.fromkeys(
                e
                for e in (
                    before.decision.since_event,
                    fact.since_event,
                    *(x for c in cuts for x in c.evidence),
                )
                if e
            )
        ),
        bytes_lost=lost or None,
        offset_before=cuts[0].log_end if cuts else None,
        offset_after=cuts[0].cut_to if cuts else None,
    )


def _name_of(group: Group, node: str | None) -> str:
    """A broker as a person finds it: its id and the folder whose logs say it."""
    found = next((tenure.name for tenure in group.tenures if tenure.node == node), None)
    return found or node or "?"


def _nothing_to_lose(group: Group, fact: Decision, before: SetVersion) -> bool:
    """Whether every former member compared its log with the new master's and had nothing to cut."""
    sources = {tenure.source for tenure in group.tenures if tenure.node in before.members}
    compared = [
        cut
        for cut in group.of(LogCut)
        if cut.source_node in sources and cut.done and group.clocks.elapsed(since(fact), since(cut))[1] > 0
    ]
    return bool(compared) and all(cut.log_end == cut.cut_to for cut in compared)


def _data_loss(group: Group, causes: dict[tuple[str | None, str], Finding], bound: frozenset[str]) -> Iterator[Finding]:
    """``POSSIBLE_DATA_LOSS`` for each former master that cut messages off its log."""
    for cut in group.of(LogCut):
        lost = _cut_off(cut)
        led = [t for t in group.tenures if t.source == cut.source_node and t.begin.at <= cut.since]
        if lost <= 0 or not led:
            continue
        implied = causes.get((cut.since_event, cut.source_node))
        severity, whether = _whether_acknowledged(alone=cut.source_node not in bound)
        if implied is not None and implied.severity == INFO and severity != INFO:
            implied = None  # what is an alarm itself does not hide behind what is none
        done = "cut them off" if cut.done else "could not cut them off"
        yield group.finding(
            RuleId.POSSIBLE_DATA_LOSS,
            (cut.source_node, cut.since_event),
            severity=severity,
            certainty=POSSIBLE,
            nodes=(cut.node or cut.source_node,),
            terms=(led[-1].term,),
            start_time=cut.since,
            end_time=cut.since,
            summary=f"{led[-1].name}, master of epoch {led[-1].term} before, held {lost} bytes of "
            f"messages ({cut.cut_to} to {cut.log_end}) that the new master never had, and {done}. {whether}",
            evidence=cut.evidence,
            implied_by=implied.finding_id if implied else None,
            bytes_lost=lost,
            offset_before=cut.log_end,
            offset_after=cut.cut_to,
        )


def _whether_acknowledged(*, alone: bool) -> tuple[str, str]:
    """With allAckInSyncStateSet a message that the next master does not hold was not acknowledged.

    Without it one that a frozen master took when it woke up may have been.
    """
    if not alone:
        return INFO, "With allAckInSyncStateSet nobody had an acknowledgement of them."
    return WARNING, "Whether they had been acknowledged is not in the logs."


def _set_without_master(group: Group, sets: list[SetVersion]) -> Iterator[Finding]:
    """``MASTER_NOT_IN_SYNC_STATE_SET``: the controllers refuse such a set (2013), so one recorded breaks a rule."""
    for version in sets:
        if version.master is None or version.master in version.members:
            continue
        fact = version.decision
        yield group.finding(
            RuleId.MASTER_NOT_IN_SYNC_STATE_SET,
            (version.epoch,),
            severity=WARNING,
            certainty=PROVEN,
            nodes=(version.master,),
            terms=(version.master_epoch,) if version.master_epoch is not None else (),
            start_time=fact.since,
            end_time=fact.since,
            summary=f"SyncStateSet {version.epoch} is {{{', '.join(version.members)}}} without the master "
            f"{version.master} of epoch {version.master_epoch}.",
            evidence=(fact.since_event,) if fact.since_event else (),
        )


def _epochs_back(group: Group, decided: list[Decision], split: list[Finding]) -> Iterator[Finding]:
    """``EPOCH_REGRESSION``: a broker took a smaller epoch in one life, or the controllers' masterEpoch went back.

    Controllers lose an epoch only with their state. JRaft controllers print old decisions again when they read their
    log, so theirs are not compared.
    """
    first: Finding | None = None
    for found in _controllers_back(group, decided):
        first = first or found
        yield found
    cause = first.finding_id if first else None
    for fact in group.of(TermWentBack):
        name = fact.node or fact.source_node
        twice = next((found.finding_id for found in split if fact.after in found.terms), None)
        implied = twice if fact.after == fact.before else cause
        yield _epoch_back(group, fact, f"Broker {name}", (fact.before, fact.after), name, implied)
    yield from decision_rules.epochs_ahead(group, cause)


def _controllers_back(group: Group, decided: list[Decision]) -> Iterator[Finding]:
    """Epochs in the order in which each controller printed them.

    The epoch that an election without winner uses up is not printed: it is counted, and may be counted wrongly.
    """
    printed = [fact for fact in decided if fact.decision == ELECTED and fact.raft_index is None]
    for source, own in decision_rules.by_source(printed).items():
        numbered = [(fact, fact.term) for fact in own if fact.term is not None]
        for (before, earlier), (fact, later) in pairwise(numbered):
            if later < earlier and not _anew_between(group, before, fact):
                yield _epoch_back(group, fact, f"The controllers (on {source})", (earlier, later), "")


def _anew_between(group: Group, before: Decision, after: Decision) -> bool:
    """Whether an operator may have removed the broker set between two decisions of one controller."""
    return any(
        before.ordinal < fact.ordinal < after.ordinal
        if fact.source_node == after.source_node
        else group.clocks.elapsed(since(before), since(fact))[1] > 0
        and group.clocks.elapsed(since(fact), since(after))[1] > 0
        for fact in cleaned(group)
    )


def _epoch_back(
    group: Group, fact: Fact, who: str, epochs: tuple[int, int], name: str, implied_by: str | None = None
) -> Finding:
    before, after = epochs
    return group.finding(
        RuleId.EPOCH_REGRESSION,
        (who, before, after),
        severity=CRITICAL,
        certainty=PROVEN,
        nodes=(name,) if name else (),
        terms=(before, after),
        start_time=fact.since,
        end_time=fact.since,
        summary=f"{who} went back from master epoch {before} to {after}."
        if before != after
        else f"{who} took two roles of master epoch {before} in one life.",
        evidence=(fact.since_event,) if fact.since_event else (),
        implied_by=implied_by,
    )


def _stale_sets(group: Group) -> Iterator[Finding]:
    """``SYNC_STATE_SET_STALE``: a master could not change its SyncStateSet for longer than a poll.

    Until it can, the recorded set names members that do not follow: with allAckInSyncStateSet it cannot acknowledge,
    and without it an election may choose a member that lacks messages.
    """
    for tries in _refused_in_a_row(group):
        first, last = tries[0], tries[-1]
        source, term = first.source_node, first.term
        least, most = group.clocks.elapsed(since(first), since(last))
        if least <= POLL:
            continue
        codes = sorted({str(fact.code) for fact in tries if fact.code is not None})
        answers = f"refused with code {', '.join(codes)}" if codes else "not answered"
        name = first.node or source
        yield group.finding(
            RuleId.SYNC_STATE_SET_STALE,
            (source, term, first.since // SECOND),
            severity=INFO,
            certainty=PROVEN,
            nodes=(name,),
            terms=(term,) if term is not None else (),
            start_time=first.since,
            end_time=last.since,
            summary=f"Master {name} ({source}, epoch {term}) could not change its SyncStateSet for "
            f"{between(least, most)}: {len(tries)} reports, {answers}.",
            evidence=tuple(fact.since_event for fact in tries if fact.since_event),
            duration_min_ms=least // 1000,
            duration_max_ms=most // 1000,
            rounds=len(tries),
        )


def _refused_in_a_row(group: Group) -> list[list[SetRefused]]:
    """Reports of one master in one epoch that failed one after the other.

    Code 2013 is left out: it mostly says that the set is the recorded one already.
    """
    rows: list[list[SetRefused]] = []
    failed = [fact for fact in group.of(SetRefused) if fact.code != ALTER_FAILED]
    for fact in sorted(failed, key=lambda f: (f.source_node, f.term or 0, f.since)):
        last = rows[-1][-1] if rows else None
        together = last is not None and (last.source_node, last.term) == (fact.source_node, fact.term)
        if last is not None and together and fact.since - last.since <= _IN_A_ROW:
            rows[-1].append(fact)
        else:
            rows.append([fact])
    return rows


def _no_master_recorded(group: Group, decided: list[Decision]) -> Iterator[Finding]:
    """``LEADERLESS`` for the controllers only: they recorded no master while a broker went on as master."""
    elected = _elections_of(decided)
    nobody: Decision | None = None
    for fact in elected:
        if fact.decision == NOBODY_ELECTED:
            nobody = nobody or fact
            continue
        if nobody is not None and _serving(group, since(nobody), since(fact)):
            yield _unrecorded(group, nobody, fact)
        nobody = None


def _serving(group: Group, begin: Moment, end: Moment) -> bool:
    """Whether a broker was master all the time; one that died in it, nobody knows when, may not have been."""
    return any(
        group.clocks.elapsed(tenure.begin, begin)[0] > 0
        and (tenure.open or (_known(tenure.end) and group.clocks.elapsed(end, tenure.end)[1] > -2 * SECOND))
        for tenure in group.tenures
    )


def _known(end: Moment) -> bool:
    """Whether a line says when a role ended: a death is only known to lie between two lines."""
    return end.by - end.at <= 2 * SECOND


def _unrecorded(group: Group, nobody: Decision, fact: Decision) -> Finding:
    least, most = group.clocks.elapsed(since(nobody), since(fact))
    return group.finding(
        RuleId.LEADERLESS,
        (
            "unrecorded",
            nobody.term,
        ),
        severity=INFO,
        certainty=PROVEN,
        nodes=(fact.node,) if fact.node else (),
        terms=tuple(term for term in (nobody.term, fact.term) if term is not None),
        start_time=nobody.since,
        end_time=fact.since,
        summary=f"The controllers recorded no master for {between(least, most)} (an election found nobody); "
        "a broker went on as master by its own word.",
        evidence=tuple(e for e in (nobody.since_event, fact.since_event) if e),
        duration_min_ms=max(least, 0) // 1000,
        duration_max_ms=most // 1000,
    )


def _unplanned(group: Group, decided: list[Decision]) -> list[Moment]:
    """Elections after the first that did not follow a clean stop of the master."""
    return [
        since(fact)
        for fact in _elections_of(decided)[1:]
        if _cause(group, fact.term or 0, fact) not in ("first_master", "master_stopped")
    ]


# -- coverage --------------------------------------------------------------------------------------------------


def _coverage(group: Group, decided: list[Decision], sets: list[SetVersion]) -> Iterator[RuleCoverage]:
    led = {tenure.term for tenure in group.tenures}
    double = {term for found in _same_epoch(group) for term in found.terms}
    yield coverage(group, RuleId.SPLIT_BRAIN_SAME_TERM, len(led - double), len(double))
    bound = _without_alone(group, decided, sets)
    yield overlap_coverage(group, lambda overlap: _is_alarm(group, overlap, bound))
    won = [fact for fact in _elections_of(decided) if fact.decision == ELECTED]
    later = [fact for fact in won if (fact.set_epoch or 0) > 1]
    before = decision_rules.sets_before(decided, sets)
    decidable = [fact for fact in later if fact in before]
    unclean = len(unclean_elections(decided, sets))
    yield coverage(
        group,
        RuleId.UNCLEAN_ELECTION,
        len(decidable) - unclean,
        unclean,
        len(later) - len(decidable),
        "the SyncStateSet before the election is not in the logs",
    )
    stale = sum(1 for _ in _stale_sets(group))
    yield coverage(group, RuleId.SYNC_STATE_SET_STALE, len(_refused_in_a_row(group)) - stale, stale)
    lost = sum(1 for _ in _data_loss(group, {}, bound))
    yield coverage(group, RuleId.POSSIBLE_DATA_LOSS, sum(1 for _ in group.of(LogCut)) - lost, lost)
    verdicts = [
        *tallies_of(group),
        *decision_rules.elections_told(group, decided),
        *decision_rules.sets_told(group, decided, sets),
        *decision_rules.disagreements_told(group),
    ]
    yield from summed(group, verdicts)
    back = sum(1 for _ in _epochs_back(group, decided, []))
    roles_taken = sum(1 for role in group.roles if role.term is not None)
    yield coverage(group, RuleId.EPOCH_REGRESSION, max(roles_taken + len(_elections_of(decided)) - back, 0), back)
    without = sum(1 for version in sets if version.master is not None and version.master not in version.members)
    judged = sum(1 for version in sets if version.master is not None)
    yield coverage(
        group,
        RuleId.MASTER_NOT_IN_SYNC_STATE_SET,
        judged - without,
        without,
        len(sets) - judged,
        "the election before this set is not in the logs",
    )
