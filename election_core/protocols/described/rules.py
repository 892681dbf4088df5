"""Rules for leaders by term, whatever program elects them: those of the Raft family. For a program that somebody
describes it is unknown whether its leaders need a majority: two leaders at once are an alarm, whatever their terms. In
HashiCorp's library a leader without a majority commits nothing."""

from collections.abc import Iterator
from dataclasses import replace

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.group import group_of
from election_replay.election_core.model.catalogue import WARNING, RuleId
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.protocols.raft_family import rules as raft_family


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one group of a program that a table of the settings describes."""
    for row in judge_raft(facts, clocks):
        if isinstance(row, Finding) and row.rule == RuleId.SPLIT_BRAIN_OVERLAP:
            both = row.summary.rpartition("; ")[0]
            yield replace(row, severity=WARNING, summary=f"{both}; no line says what the former one did meanwhile.")
        else:
            yield row


def judge_raft(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one group of HashiCorp's Raft library."""
    yield from raft_family.rows_of(group_of(facts, clocks), raft_family.end_of_all_logs)
