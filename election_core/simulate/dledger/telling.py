"""A DLedger world as a story for somebody who has never seen an election."""

from collections.abc import Callable, Iterator

from election_replay.election_core.protocols.dledger.tables import ACCEPT, PASSED, REVOTE_IMMEDIATELY, WAIT_TO_REVOTE
from election_replay.election_core.simulate.telling import Values, story
from election_replay.election_core.simulate.world import World


def _candidate(v: Values) -> str:
    if v["from_term"] > v["term"]:
        return f"hears of term {v['from_term']}, which is larger than its own ({v['term']}): candidate"
    return f"is candidate in term {v['term']}"


def _round(v: Values) -> str:
    votes = f"{v['accepted']} of {v['member_count']} votes in term {v['term']}"
    if v["result"] == PASSED:
        return f"has {votes}: a majority"
    if v["result"] == REVOTE_IMMEDIATELY:
        return f"has {votes}, and {v['not_ready']} voters that have only now heard of the term: asks them again at once"
    if v["result"] == WAIT_TO_REVOTE:
        why = "somebody has a leader" if v["has_leader"] else "too few can or will answer"
        return f"has {votes}, and {why}: waits, and will ask again in the same term"
    return f"has {votes}, and nobody can win: will raise its term"


def _reply(v: Values) -> str | None:
    if v.get("voter") == v["node"]:
        return f"votes for itself in term {v['term']}" if v["answer"] == ACCEPT else None
    if "voter" not in v:
        return None
    if v["answer"] == ACCEPT:
        return f"gets the vote of {v['voter']} in term {v['term']}"
    return f"is refused by {v['voter']} ({v['answer'].removeprefix('REJECT_').lower().replace('_', ' ')})"


_TELL: dict[str, Callable[[Values], str | None]] = {
    "DL_LISTEN": lambda _: "is up: every member begins as candidate",
    "DL_HB_TIMEOUT": lambda v: f"has heard nothing of its leader {v['peer']} for more than 6 s",
    "DL_TO_CANDIDATE": _candidate,
    "DL_TERM_UP": lambda v: f"raises its term from {v['from_term']} to {v['term']} and forgets its vote",
    "DL_VOTE_REPLY": _reply,
    "DL_VOTE_PARSED": _round,
    "DL_TO_LEADER": lambda v: f"LEADS term {v['term']}",
    "DL_TO_LEADER_SKIPPED": lambda v: f"was elected too late: it is in term {v['term']} by now",
    "DL_TO_FOLLOWER": lambda v: f"follows {v['peer']} in term {v['term']}",
    "DL_HB_PARSED": lambda v: f"leads term {v['term']}; {v['accepted']} of {v['member_count']} answer its heartbeats",
    "DL_TWO_LEADERS": lambda v: f"MEETS TWO LEADERS of term {v['term']}: {v['value']} and {v['peer']}",
    "DL_STORE_TRUNCATE": lambda v: f"cuts entries off from {v['ledger_end']} on: its leader {v['peer']} has others",
    "DL_TRANSFER_REQ": lambda _: "is asked to hand over, and takes no writes from now on",
    "DL_TAKE_DONE": lambda v: "has taken over" if v["code"] == 200 else "could not take over",
}

_WHY: dict[str, str] = {
    "DL_HB_TIMEOUT": "A leader sends heartbeats every 2 s. Silence for three of them: perhaps there is no leader.",
    "DL_TO_CANDIDATE": "A candidate asks in its old term first; DLedger raises a term only when nobody can win there.",
    "DL_TERM_UP": "A term is a logical clock. Each member votes once in a term, so each term has at most one leader.",
    "DL_VOTE_PARSED": "A leader needs a majority of all members, dead ones included: two always share a member.",
    "DL_TO_LEADER": "A leader alone takes writes; one is committed when a majority holds it.",
    "DL_HB_PARSED": "A leader without a majority can commit nothing. It gives up after 6 s, but nobody can tell it so.",
    "DL_STORE_TRUNCATE": "These entries were never committed: their writers got no acknowledgement.",
    "DL_TWO_LEADERS": "This must never happen: what each of them commits may be lost.",
}


def narrate(world: World) -> Iterator[str]:
    """The story, line by line."""
    return story(world, _TELL, _WHY)
