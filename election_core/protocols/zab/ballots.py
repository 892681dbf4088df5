"""The votes with which ZooKeeper servers entered the election that a leader won."""

from election_replay.election_core.judge.group import Group, since, until
from election_replay.election_core.model.facts import Candidacy
from election_replay.election_core.protocols.zab.facts import Ballot


def ballot_of(group: Group, win: Candidacy, name: str | None) -> Ballot | None:
    """Return the vote with which server ``name`` entered the election of ``win``; None unless that is certain."""
    ballots = group.once(_by_term)
    same = [fact for fact in ballots.get((name, win.node, win.term), []) if _before_epoch(fact, win)]
    if same:
        return same[0]
    begin = since(win)
    end = until(win) or begin
    near = [
        fact
        for fact in ballots.get((name, win.node, None), [])
        if _before_epoch(fact, win)
        and group.clocks.elapsed(since(fact), begin)[0] <= 0
        and group.clocks.elapsed(end, since(fact))[0] <= 0
    ]
    return near[0] if len(near) == 1 else None


def _by_term(group: Group) -> dict[tuple[str | None, str | None, int | None], list[Ballot]]:
    """Group the ballots by (server, its leader, epoch)."""
    found: dict[tuple[str | None, str | None, int | None], list[Ballot]] = {}
    for fact in group.of(Ballot):
        found.setdefault((fact.node, fact.leader, fact.term), []).append(fact)
    return found


def _before_epoch(ballot: Ballot, win: Candidacy) -> bool:
    """Return True when the server had not reached the epoch of ``win``; otherwise the ballot is of another election.

    A leader proposes an epoch above all that its quorum has accepted, and a server refuses a smaller one than it has
    accepted (``Leader#getEpochToPropose``, ``Learner#registerWithLeader``).
    """
    return win.term is None or ballot.own_epoch < win.term


def log_of(ballot: Ballot) -> tuple[int, int]:
    """Return the sort key of logs: the epoch, then the zxid."""
    return ballot.own_epoch, ballot.own_zxid


def words_of(ballot: Ballot) -> str:
    """Return the end of a log as text for a sentence."""
    return f"epoch {ballot.own_epoch} and zxid {ballot.own_zxid:#x}"
