"""What holds of leaders of terms, whatever program elects them: the rules of the Raft family.

Of a program that somebody describes it is not known whether a majority stands behind its leaders: two at once, of
whichever terms, are an alarm. Of HashiCorp's library it is known: who is left without a majority commits nothing.
"""

from collections.abc import Iterator
from dataclasses import replace

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.group import group_of
from election_replay.election_core.model.catalogue import WARNING, RuleId
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, Row
from election_replay.election_core.protocols.raft_family import rules as raft_family


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one group of a program that a table of the settings describes."""
    for row in judge_raft(facts, clocks):
        if isinstance(row, Finding) and row.rule == RuleId.SPLIT_BRAIN_OVERLAP:
            both = row.summary.rpartition("; ")[0]
            yield replace(row, severity=WARNING, summary=f"{both}; no line says what the former one did meanwhile.")
        else:
            yield row


def judge_raft(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one group of HashiCorp's Raft library."""
    yield from raft_family.rows_of(group_of(facts, clocks), (), raft_family.end_of_all_logs)
