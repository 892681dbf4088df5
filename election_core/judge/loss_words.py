"""How a leader lost its followers, and how its leadership ended, in words."""

from collections.abc import Callable, Iterable

from election_replay.election_core.fold.roles import DIED, ENDED_ITSELF, PREFERRED, REMOVED, STOPPED, TRANSFER
from election_replay.election_core.judge.group import SILENT, Group, Tenure
from election_replay.election_core.judge.quorum_contact import FollowerLost, QuorumLoss
from election_replay.election_core.judge.wording import listed


def away(lefts: Iterable[FollowerLost], gone: Callable[[FollowerLost], str] = lambda _: "") -> str:
    """Return which followers a leader lost and how; ``gone`` returns for how long, where that matters."""
    clauses: dict[tuple[bool, str], list[str]] = {}
    for left in lefts:
        clauses.setdefault((left.ended, gone(left)), []).append(left.member)
    words = {
        (True, True): "had been down for",
        (True, False): "had ended",
        (False, True): "had lost contact with it for",
        (False, False): "lost contact with it",
    }
    return "; ".join(
        f"{listed(members)} {words[ended, bool(since)]}{since and ' ' + since}"
        for (ended, since), members in clauses.items()
    )


def lost_before(group: Group, leader: Tenure, lost: QuorumLoss) -> list[FollowerLost]:
    """Return the followers that a leader lost before it ended. If it gave up without a quorum and the known losses are
    too few for that, those are left out that may only have missed it after its end."""
    lefts = [*lost.left]
    if leader.end_cause != "quorum_lost" or group.electorates.lost(
        leader, lost.latest, {left.member for left in lefts}
    ):
        return lefts
    return [left for left in lefts if left.ended or group.clocks.elapsed(left.latest, leader.end)[0] > 0]


def how_ended(tenure: Tenure, died: str, clock: str) -> str:
    """Return how a tenure ended, as a predicate; ``died`` is that of an end that only the next start proves, ``clock``
    the protocol's noun for a term."""
    if tenure.open:
        return "was not heard from again"
    words = {
        DIED: died,
        STOPPED: "was stopped",
        REMOVED: "was removed",
        ENDED_ITSELF: "failed for a reason that its log names",
        SILENT: "fell silent",
        "quorum_lost": "gave up without a quorum",
        TRANSFER: "handed over",
        PREFERRED: "handed over",
        "larger_term": f"heard of a larger {clock}",
    }
    return words.get(tenure.end_cause or "", "stepped down")
