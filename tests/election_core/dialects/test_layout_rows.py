"""etcd's library in another program is a row of layouts: PD's lines, and those of k3s, which are etcd's own."""

import pytest

from election_replay.election_core.dialects import Record, named

PD = '[%d{yyyy/MM/dd HH:mm:ss.SSS XXX}] [%p] [%F:%L] ["%m"]'


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        (
            f"etcd {PD}",
            '[2026/03/01 10:00:00.223 +00:00] [INFO] [raft.go:771] ["8e9e05c52164694d became leader at term 2"]',
        ),
        (
            "etcd",
            '{"level":"info","ts":"2026-03-01T10:00:00.223Z","logger":"raft","caller":"etcdserver/zap_raft.go:77",'
            '"msg":"8e9e05c52164694d became leader at term 2"}',
        ),
    ],
    ids=["PD", "k3s"],
)
def test_a_program_around_the_library_is_read_by_its_layout(dialect: str, line: str) -> None:
    found = named(dialect)
    assert found is not None
    event = found.parse(Record(line, (), "program.log", 0))
    assert event is not None
    assert (event.kind, event.node, event.term, event.event_time) == (
        *("RAFT_TO_LEADER", "8e9e05c52164694d", 2),
        1_772_359_200_223_000,
    )
