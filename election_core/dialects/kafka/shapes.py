"""Values that Kafka prints, and the columns they fill.

States, requests and records are printed as nested ``Name(key=value, ...)``, and their keys differ between releases:
they are read by key, never by position.
"""

import re
from collections.abc import Mapping

from election_replay.election_core.dialects.dialect import Fields, Shape, integer

STATES = {
    "Leader": "LEADER",
    "LeaderState": "LEADER",
    "FollowerState": "FOLLOWER",
    "Unattached": "UNATTACHED",
    "UnattachedState": "UNATTACHED",
    "Voted": "UNATTACHED",
    "CandidateState": "CANDIDATE",
    "ProspectiveState": "PROSPECTIVE",
    "ResignedState": "RESIGNED",
}
"""The states of ``QuorumState``. ``Voted``, without a leader, is unattached: since 3.9 it is printed so."""

ALONE = {"CANDIDATE", "PROSPECTIVE", "LEADER", "RESIGNED"}
"""States that only voters can be in."""

NOBODY = "-1"
"""The id that stands for no leader (``LeaderConstants.NO_LEADER``)."""

_STATE = re.compile(r"(\w+)\(")
_EPOCH = re.compile(r"[(, ]epoch=(\d{1,10})\b")
_LEADER = re.compile(r"[(, ]leader(?:Id)?=(?:(\d{1,10})\b|OptionalInt\[(\d{1,10})\]|\S{1,300} \(id: (\d{1,10}) )")
_VOTED = re.compile(r"[(, ]voted(?:Key|Id)=(?:Optional\[)?(?:ReplicaKey\(id=)?(\d{1,10})\b")
_VOTERS = re.compile(r"[(, ]voters=\[([\d, ]*)\]")
_VOTER_STATES = re.compile(r"[{ ](\d{1,10})=(?:ReplicaState\(|VoterState\(|[\w.]+CandidateState\$|[A-Z]{4})")
_NODES_OF_SET = re.compile(r"[{ ](\d{1,10})=VoterNode\(")
_TALLY = re.compile(
    r"[{ ](\d{1,10})=(?:VoterState\(replicaKey=ReplicaKey\([^)]*\), state=)?(GRANTED|REJECTED|UNRECORDED)\b"
)
_START = re.compile(r"[(, ]epochStartOffset=(\d{1,19})\b")
_WATERMARK = re.compile(r"[(, ]highWatermark=(?:Optional\[)?LogOffsetMetadata\(offset=(\d{1,19})\b")
_FETCH_TIMEOUT = re.compile(r"\(fetchTimeoutMs=(\d{1,10})\b")
_OFFSET = re.compile(r"\(offset=(\d{1,19})\b")
_REQUEST = {
    "peer": re.compile(r"\b(?:candidate|replica)Id=(\d{1,10})\b"),
    "peer_ledger_end_term": re.compile(r"\blastOffsetEpoch=(\d{1,10})\b"),
    "peer_ledger_end": re.compile(r"\blastOffset=(\d{1,19})\b"),
}
_IDS = re.compile(r"(?:[A-Za-z]{0,10}\(|\[)?((?:\d{1,10}(?:, ?\d{1,10})*)?)[\])]?")
_PARTITION = {
    "peer": re.compile(r"[(, ]leader=(-?\d{1,10})\b"),
    "term": re.compile(r"[(, ]leaderEpoch=(\d{1,10})\b"),
    "sync_state_set_epoch": re.compile(r"[(, ]partitionEpoch=(\d{1,10})\b"),
}
_ISR = re.compile(r"[(, ]isr=\[([\d, ]*)\]")
_CHANGE = {
    "peer": re.compile(r"\bleader: (-?\d{1,10}) -> (-?\d{1,10})\b"),
    "term": re.compile(r"\bleaderEpoch: (\d{1,10}) -> (\d{1,10})\b"),
    "sync_state_set_epoch": re.compile(r"\bpartitionEpoch: (\d{1,10}) -> (\d{1,10})\b"),
    "members": re.compile(r"\bisr: \[([\d, ]*)\] -> \[([\d, ]*)\]"),
}
_ELIGIBLE = re.compile(r"\belr: \[([\d, ]*)\] -> ")


def ids(printed: str) -> tuple[str, ...]:
    """Return node ids from ``[1, 2]``, ``1,2`` or ``Set(1, 2)``. Raises ``ValueError`` for anything else."""
    found = _IDS.fullmatch(printed)
    if found is None:
        raise ValueError(f"not a list of node ids: {printed[:40]!r}")
    return _listed(found.group(1))


def _listed(printed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in printed.split(",") if name.strip())


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return next((group for group in found.groups() if group is not None), None) if found else None


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = _first(pattern, text)
    return None if found is None else integer(found)


def _state(printed: str) -> str:
    found = _STATE.match(printed)
    if found is None or found.group(1) not in STATES:
        raise ValueError(f"not a state of the quorum: {printed[:40]!r}")
    return STATES[found.group(1)]


def transition(printed: str) -> Fields:
    """Read ``FollowerState(...) from CandidateState(...)``: the state entered, and details of the state left.

    ``peer`` is the leader that is followed, or the candidate that was voted for; ``committed`` is a high watermark.
    ``members_before`` and ``answered`` are the votes of a candidate as it left that state, since 4.0.
    """
    entered, _, left = printed.partition(") from ")
    role, head = _state(entered), entered.partition("voterStates=")[0]
    voters = _first(_VOTERS, entered)
    of_states = tuple(dict.fromkeys(_VOTER_STATES.findall(entered))) if role in ALONE else ()
    fields = {
        "role": role,
        "term": _number(_EPOCH, head),
        "peer": _first(_LEADER if role in ("FOLLOWER", "PROSPECTIVE") else _VOTED, head),
        "members": of_states if voters is None and of_states else None if voters is None else _listed(voters),
        "ledger_end": _number(_START, head) if role == "LEADER" else None,
        "committed": _number(_WATERMARK, entered),
        "duration_ms": _number(_FETCH_TIMEOUT, head),
    }
    return {**fields, **(_before(left) if left and left != "null" else {"flag": True} if left else {})}


def _before(left: str) -> Fields:
    """Read the state that was left: its epoch, and a candidate's counted votes."""
    role, tally = _state(left), dict(_TALLY.findall(left))
    counted = {member: vote for member, vote in tally.items() if vote != "UNRECORDED"}
    return {
        "value_before": role,
        "from_term": _number(_EPOCH, left.partition("voterStates=")[0]),
        **(
            {"members_before": tuple(m for m, vote in tally.items() if vote == "GRANTED"), "answered": len(counted)}
            if role == "CANDIDATE" and tally
            else {}
        ),
    }


def vote_request(printed: str) -> Fields:
    """Read ``VoteRequestData(...)``: the candidate, the end of its log, and whether it is a pre-vote (``flag``)."""
    fields = {name: _first(pattern, printed) for name, pattern in _REQUEST.items()}
    if fields["peer"] is None:
        raise ValueError("a vote request that names no candidate")
    ends = {name: integer(value) for name, value in fields.items() if name != "peer" and value is not None}
    return {"peer": fields["peer"], **ends, "flag": "preVote=true" in printed}


def voter_set(printed: str) -> tuple[str, ...]:
    """Return the voters' ids from ``VoterSet(voters={1=VoterNode(...), ...})``."""
    return tuple(_NODES_OF_SET.findall(printed))


def rejected(printed: str) -> tuple[str, ...]:
    """Return the voters that rejected a candidate, from ``EpochElection(voterStates={2=VoterState(...,
    state=REJECTED)})``."""
    return tuple(voter for voter, vote in _TALLY.findall(printed) if vote == "REJECTED")


def offset(printed: str) -> int:
    """Return the offset in ``LogOffsetMetadata(offset=3, ...)``, ``Optional[...]`` or ``(offset=3, ...)``."""
    found = _number(_OFFSET, printed)
    if found is None:
        raise ValueError(f"no offset: {printed[:40]!r}")
    return found


def partition_state(printed: str) -> Fields:
    """Read a partition from a record or request: leader, its epoch, the ISR and the partition epoch."""
    found = {name: _first(pattern, printed) for name, pattern in _PARTITION.items()}
    isr = _first(_ISR, printed)
    leader = found["peer"]
    return {
        "peer": None if leader == NOBODY else leader,
        "term": None if found["term"] is None else integer(found["term"]),
        "sync_state_set_epoch": None
        if found["sync_state_set_epoch"] is None
        else integer(found["sync_state_set_epoch"]),
        "members": None if isr is None else _listed(isr),
    }


def partition_change(printed: str) -> Fields:
    """Read ``isr: [1] -> [2], leader: -1 -> 2, ...``: the change of a partition. ``flag``: the new leader was eligible
    though not in sync (ELR, KIP-966), so it has everything committed."""
    fields: dict[str, object] = {}
    for name, pattern in _CHANGE.items():
        found = pattern.search(printed)
        if found is None:
            continue
        before, after = found.groups()
        if name == "members":
            fields |= {"members_before": _listed(before), "members": _listed(after)}
        elif name == "peer":
            fields |= {"peer": None if after == NOBODY else after}
            fields |= {"value_before": None if before == NOBODY else before}
        else:
            fields[name] = integer(after)
            if name == "term":
                fields["from_term"] = integer(before)
    eligible = _listed(_first(_ELIGIBLE, printed) or "")
    return {**fields, "flag": fields.get("peer") in eligible and "-> RECOVERING" not in printed}


def leader(printed: str) -> str | None:
    """Return the id of a leader; None for no leader, however printed."""
    return None if printed in (NOBODY, "(none)") else printed


def topic_id(printed: str) -> str | None:
    """Return the id from ``Some(fAIKNMNGQmWLFnFXVmufNw)`` or alone; None for none."""
    return None if printed == "None" else printed.removeprefix("Some(").removesuffix(")")


KAFKA_SHAPES: Mapping[str, Shape] = {
    "transition": Shape(r".*?", transition, spread=True),
    "vote_request": Shape(r".*?", vote_request, spread=True),
    "voters": Shape(r".*?", voter_set),
    "rejected": Shape(r".*?", rejected),
    "offset": Shape(r".*?", offset),
    "ids": Shape(r"[^.]*?", ids),
    "isr": Shape(r"\[?[\d, ]*?\]?", ids),
    "partition": Shape(r".*?", partition_state, spread=True),
    "change": Shape(r".*?", partition_change, spread=True),
    "leader": Shape(r"-?\d{1,10}|\(none\)", leader),
    "topic_id": Shape(r"\S*?", topic_id),
}
