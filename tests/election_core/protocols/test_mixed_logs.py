"""A folder that mixes the logs of two members proves nothing about the order of either."""

from election_replay.election_core.model.facts import TermWentBack
from election_replay.election_core.model.rows import Finding
from tests.election_core import story

STREAM = "broker_default.log"


def log_of(node: str, minute: int, term: int) -> list[str]:
    """A member that starts and follows in a term."""
    at = f"2026-03-01 10:{minute:02}"
    follows = f"[{node}][ChangeRoleToFollower] from term: {term} leaderId: n2 and currTerm: {term}"
    status = f"[{node}][FOLLOWER] term={term} ledgerBegin=0 ledgerEnd=4 committed=1 watermarks={{}}"
    return [
        f"{at}:00 INFO main - listen the port: 40911",
        f"{at}:01 INFO NettyServerPublicExecutor_1 - {follows}",
        *(f"{at}:{second:02} INFO QuorumAckChecker-{node} - {status}" for second in range(3, 60, 3)),
    ]


def judged(*logs: list[str]) -> tuple[set[str], bool]:
    """The rules with findings, and whether a term went back in the file."""
    facts = story.facts_of({("host", STREAM): [line for log in logs for line in log]})
    found = {row.rule for row in story.judge(facts) if isinstance(row, Finding)}
    return found, any(isinstance(fact, TermWentBack) for fact in facts)


def test_the_term_of_one_member_goes_back() -> None:
    found, back = judged(log_of("n0", 0, 7), log_of("n0", 1, 3))
    assert back
    assert "TERM_REGRESSION" in found
    assert "IDENTITY_CONTRADICTION" not in found


def test_the_terms_of_two_members_in_one_file_do_not() -> None:
    found, _ = judged(log_of("n0", 0, 7), log_of("n1", 1, 3))
    assert "IDENTITY_CONTRADICTION" in found
    assert "TERM_REGRESSION" not in found
