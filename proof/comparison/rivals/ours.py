"""The election core over the same events.

python -m proof.comparison.rivals.ours EVENTS
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.in_process import verdicts
from election_replay.election_core.model.rows import Finding
from proof.comparison.questions import LEAST_S, Question
from proof.comparison.rivals.claims import claim, event_files

MEANS = {
    "SPLIT_BRAIN_OVERLAP": Question.TWO_LEADERS,
    "ACTING_MASTER_OVERLAP": Question.TWO_LEADERS,
    "SPLIT_BRAIN_SAME_TERM": Question.SAME_TERM,
    "DOUBLE_VOTE": Question.DOUBLE_VOTE,
    "LEADERLESS": Question.LEADERLESS,
    "COMMITTED_ENTRY_LOST": Question.WRITES_LOST,
    "POSSIBLE_DATA_LOSS": Question.WRITES_LOST,
    "QUEUES_CUT_AT_START": Question.WRITES_LOST,
    "LOCK_DOUBLE_HOLD": Question.DOUBLE_LOCK,
    "METADATA_ROLLBACK": Question.ROLLBACK,
}
"""What the rules answer. A loss counts from a warning on, and nothing that is only possible counts."""


def claims(finding: Finding) -> Iterator[Question]:
    """The questions that a finding answers with yes: that of its rule, and the loss that it puts a number to."""
    if question := claimed(finding):
        yield question
    lost = finding.severity == "critical" and finding.certainty != "possible"
    if lost and (finding.messages_lost or finding.bytes_lost):
        yield Question.WRITES_LOST


def claimed(finding: Finding) -> Question | None:
    """The question that a finding's rule answers with yes."""
    question = MEANS.get(finding.rule)
    if question is None or finding.certainty == "possible":
        return None
    if question == Question.WRITES_LOST and finding.severity == "info":
        return None
    if question == Question.TWO_LEADERS and (finding.overlap_max_ms or 0) < LEAST_S * 1000:
        return None
    if question == Question.LEADERLESS and (finding.duration_max_ms or LEAST_S * 1000) < LEAST_S * 1000:
        return None
    return question


def main(events: Path) -> None:
    """Print what the core claims of the runs whose events lie below ``events``."""
    for run, file in event_files(events):
        findings = [row for row in verdicts(pq.read_table(file)) if isinstance(row, Finding)]
        found = {question for finding in findings for question in claims(finding)}
        for question in Question:
            if question in found:
                claim(run, question)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
