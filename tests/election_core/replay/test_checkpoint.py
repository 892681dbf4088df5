"""Which lines a checkpoint keeps, and what it says of a source's life."""

import pytest

from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.metadata.log import MetadataLog
from election_replay.election_core.replay.checkpoint import CheckpointWriter
from election_replay.election_core.replay.registry import PERIODIC
from election_replay.election_core.replay.source_fold import SourceLog

SECOND = 1_000_000
STATUS = "DL_STATUS"
SETTLES = PERIODIC[STATUS].unstable_for_us // SECOND


def event(second: int, kind: str, node: str | None, stream: str = "broker_default.log") -> FoldEvent:
    return FoldEvent(f"{stream} {second}", stream, kind, second * SECOND, (second + 1) * SECOND, node=node)


def test_status_lines_are_kept_until_what_they_say_is_settled_and_the_last_one() -> None:
    writer, seconds = CheckpointWriter(), 3 * SETTLES
    for second in range(seconds):
        writer.line(second, "broker_default.log", second * SECOND, event(second, STATUS, "n1"), steady=True)
    former, kept = writer.kept()
    assert not former
    assert kept == [*range(SETTLES + 1), seconds - 1]


def test_the_signs_of_life_of_a_log_of_one_member_name_nobody() -> None:
    """Only where several speak is it said whose they are."""
    source = SourceLog("c1", "all", 500)
    for second, speaker in enumerate(("n1", "n1", "n1")):
        said = event(second, "DL_TO_LEADER", speaker)
        source.seen(said.stream, said.at, said.by, said.event_id)
        source.on(said)
    assert {member for _, _, member in source.digest()} == {None}
    said = event(3, "DL_TO_LEADER", "n2")
    source.seen(said.stream, said.at, said.by, said.event_id)
    source.on(said)
    assert {member for _, _, member in source.digest()} == {None, "n1", "n2"}


def test_all_lines_are_taken_before_the_first_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    monkeypatch.setattr(MetadataLog, "on", lambda _, said: taken.append(said.stream))
    monkeypatch.setattr(MetadataLog, "after_logs", lambda _, lives: taken.append(f"{len(lives)} life"))
    source = SourceLog("c1", "n1", 500)
    snapshots = [f"20260301T09000{number}Z/topics.json" for number in range(2)]
    for second, (kind, stream) in enumerate(
        [("BRK_SERVICE_ON", "broker.log"), *(("META_SNAPSHOT_VERSION", name) for name in snapshots)]
    ):
        said = event(second, kind, None, stream)
        source.seen(stream, said.at, said.by, said.event_id)
        source.on(said)
    assert taken == ["broker.log", "1 life", *snapshots]
