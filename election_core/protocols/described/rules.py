"""Rules for leaders by term, whatever program elects them: those of the Raft family. For a program that somebody
describes it is unknown whether its leaders need a majority: two leaders at once are an alarm, whatever their terms. In
HashiCorp's library a leader without a majority commits nothing."""

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

from election_replay.election_core.fold.roles import LEADER
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.group import Group, group_of, known_end, since, until
from election_replay.election_core.judge.overlap import together
from election_replay.election_core.judge.wording import between, name_of
from election_replay.election_core.model.catalogue import DEFINITE, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.facts import Fact, Role, Silence
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.protocols.raft_family import rules as raft_family


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one group of a program that a table of the settings describes."""
    group = group_of(facts, clocks)
    yield from overlaps_without_terms(group)
    for row in _rows(group):
        if isinstance(row, Finding) and row.rule == RuleId.SPLIT_BRAIN_OVERLAP:
            both = row.summary.rpartition("; ")[0]
            yield replace(row, severity=WARNING, summary=f"{both}; no line says what the former one did meanwhile.")
        else:
            yield row


def judge_raft(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one group of HashiCorp's Raft library."""
    yield from _rows(group_of(facts, clocks))


def _rows(group: Group) -> Iterator[Row]:
    return raft_family.rows_of(group, raft_family.end_of_all_logs)


def overlaps_without_terms(group: Group) -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_OVERLAP``: two members led at once, and the log of one of them names no term. It is possible
    only where the log of the former one was silent after the other began: it may have led no longer."""
    leading: list[Role] = []
    for role in sorted((role for role in group.roles if role.role == LEADER), key=attrgetter("since")):
        leading = [other for other in leading if known_end(group, other).by > role.since - group.clocks.widest]
        for other in leading:
            one_log = role.source_node == other.source_node or role.node == other.node
            if not one_log and None in (role.term, other.term):
                yield from _overlap_without_terms(group, other, role)
        leading.append(role)


def _overlap_without_terms(group: Group, former: Role, newer: Role) -> Iterator[Finding]:
    begin, end = since(newer), known_end(group, former)
    least, most = together(group.clocks, (since(former), end), (begin, known_end(group, newer)))
    if least <= 0:
        return
    silences = [gap for gap in group.of(Silence) if gap.source_node == former.source_node]
    ends = (until(gap) for gap in silences)
    silent = any(over is not None and group.clocks.elapsed(begin, over)[1] > 0 for over in ends)
    old, new = (name_of(role.node or role.source_node, role.source_node) for role in (former, newer))
    yield group.finding(
        RuleId.SPLIT_BRAIN_OVERLAP,
        (former.node, newer.node, former.since, newer.since),
        severity=WARNING,
        certainty=POSSIBLE if silent else DEFINITE,
        nodes=(former.node, newer.node),
        terms=(former.term, newer.term),
        when=(begin.at, end.at),
        together=(least, most),
        summary=f"{old} and {new} both called themselves leader for {between(least, most)}; their lines name no term "
        "that tells which of them is stale.",
        evidence=(former.since_event, newer.since_event),
    )
