"""Terms order terms: why a term began does not depend on how the clocks of two machines differ."""

import pytest

from election_replay.election_core.model.rows import Term
from tests.election_core.story import facts_of, judge, parse

LOGS = parse("""
[n0 broker_default.log]
10:00:01 INFO main - listen the port: 40911
10:00:02 INFO StateMaintainer - [n0] [ChangeRoleToLeader] from term: 1 and currTerm: 1
10:10:00 INFO StateMaintainer - [n0][ChangeRoleToFollower] from term: 2 leaderId: n1 and currTerm: 2

[n1 broker_default.log]
10:00:01 INFO main - listen the port: 40911
10:00:03 INFO StateMaintainer - [n1][ChangeRoleToFollower] from term: 1 leaderId: n0 and currTerm: 1
10:09:50 INFO StateMaintainer - [n1][HeartBeatTimeOut] lastLeaderHeartBeatTime: 2026-03-01 02:09:44.2 \
heartBeatTimeIntervalMs: 2000 lastLeader=n0
10:09:50 INFO StateMaintainer - [n1] [ChangeRoleToCandidate] from term: 1 and currTerm: 1
10:09:58 INFO StateMaintainer - [n1] [ChangeRoleToLeader] from term: 2 and currTerm: 2
""")


@pytest.mark.parametrize("behind_ms", [0, 7_200_000, -7_200_000])
def test_the_first_leader_is_that_of_the_smallest_term(behind_ms: int) -> None:
    rows = judge(facts_of(LOGS, {"n1": -behind_ms}))
    causes = {row.term: row.cause for row in rows if isinstance(row, Term)}
    assert causes == {1: "first_leader", 2: "heartbeat_timeout"}
