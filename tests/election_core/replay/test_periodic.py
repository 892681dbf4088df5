"""What a protocol reads of the lines that come again and again."""

import pytest

from election_replay.election_core.fold.identity import IDENTITY_KINDS
from election_replay.election_core.fold.process_runs import START_KINDS, STOP_KINDS
from election_replay.election_core.protocols.log_quality import log as log_quality
from election_replay.election_core.replay.registry import PERIODIC


class Read:
    """An event that tells which of its fields are read."""

    def __init__(self) -> None:
        self.fields: set[str] = set()

    def __getattr__(self, name: str) -> None:
        self.fields.add(name)


@pytest.mark.parametrize("kind", sorted(PERIODIC))
def test_a_periodic_line_is_read_for_no_more_than_it_names(kind: str) -> None:
    read, periodic = Read(), PERIODIC[kind]
    periodic.says(read)  # type: ignore[arg-type] # all that it needs are attributes
    assert read.fields == {*periodic.reads}
    assert periodic.counts is None or periodic.counts in periodic.reads
    assert kind not in START_KINDS | STOP_KINDS | IDENTITY_KINDS | log_quality.KINDS
