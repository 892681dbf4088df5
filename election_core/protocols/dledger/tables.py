"""What a DLedger member decides, as literal tables: votes, rounds, heartbeats.

Each table is read from the top, and the first row that fits decides (``DLedgerLeaderElector``, 0.3.1.2, in its own
order). The simulated member runs on these tables, and faulty ones have a row removed or changed. The judge compares
logs with the same rows: answers by :data:`ANSWERS`, results of rounds by :data:`ROUND_RESULTS`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from election_replay.election_core.model.timing import Timeout

HEARTBEAT_INTERVAL_MS = Timeout.DLEDGER_HEARTBEAT.value.ms
"""``DLedgerConfig.heartBeatTimeIntervalMs``, where the log does not print it; RocketMQ has no setting for it."""
MAX_HEARTBEAT_LEAK = 3
"""``DLedgerConfig.maxHeartBeatLeak``; never printed."""
SILENCE_MS = MAX_HEARTBEAT_LEAK * HEARTBEAT_INTERVAL_MS
"""A follower tolerates a silent leader, and a leader a missing quorum, for this long (ms)."""

ACCEPT = "ACCEPT"
UNKNOWN_LEADER = "REJECT_UNKNOWN_LEADER"
UNKNOWN = "UNKNOWN"
TERM_NOT_READY = "REJECT_TERM_NOT_READY"
TERM_BELOW_LEDGER = "REJECT_TERM_SMALL_THAN_LEDGER"
ALREADY_HAS_LEADER = "REJECT_ALREADY_HAS_LEADER"
ALREADY_VOTED = "REJECT_ALREADY_VOTED"
EXPIRED_TERM = "REJECT_EXPIRED_VOTE_TERM"
SHORTER_LEDGER = frozenset({"REJECT_EXPIRED_LEDGER_TERM", "REJECT_SMALL_LEDGER_END_INDEX"})

PASSED = "PASSED"
REVOTE_IMMEDIATELY = "REVOTE_IMMEDIATELY"
WAIT_TO_REVOTE = "WAIT_TO_REVOTE"
WAIT_TO_VOTE_NEXT = "WAIT_TO_VOTE_NEXT"
OPEN_TO_ALL = frozenset({REVOTE_IMMEDIATELY, WAIT_TO_VOTE_NEXT})
"""Results of rounds without winner in which a majority answered, none of it had a leader, few had longer logs. The
second result is also that of a round in which somebody was in a larger term."""

# -- votes -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ballot:
    """A request for a vote, and the voter's state; ends of ledgers are ``(term, index)``."""

    voter: str
    candidate: str
    peers: tuple[str, ...]
    term: int
    end: tuple[int, int]
    own_term: int
    own_end: tuple[int, int]
    vote: str | None
    leader: str | None
    taking_over: bool

    @property
    def to_itself(self) -> bool:
        """True when the candidate asks itself."""
        return self.voter == self.candidate

    @property
    def voted_otherwise(self) -> bool:
        """True when the voter gave its vote of this term to another candidate."""
        return self.term == self.own_term and self.vote not in (None, self.candidate)


@dataclass(frozen=True, slots=True)
class VoteCheck:
    """One row: the answer to a ballot that fits it."""

    answer: str
    fits: Callable[[Ballot], bool]


VOTE_CHECKS: tuple[VoteCheck, ...] = (
    VoteCheck(UNKNOWN_LEADER, lambda b: b.candidate not in b.peers),
    # A node's own vote does not come over the network; a request with its own name is from a stranger.
    VoteCheck("REJECT_EXPIRED_LEDGER_TERM", lambda b: b.end[0] < b.own_end[0]),
    VoteCheck("REJECT_SMALL_LEDGER_END_INDEX", lambda b: b.end[0] == b.own_end[0] and b.end[1] < b.own_end[1]),
    VoteCheck(EXPIRED_TERM, lambda b: b.term < b.own_term),
    # Having a leader does not keep a follower that has not voted from voting: the quorum is safe without that.
    VoteCheck(ALREADY_HAS_LEADER, lambda b: b.voted_otherwise and b.leader is not None),
    VoteCheck(ALREADY_VOTED, lambda b: b.voted_otherwise),
    # A vote is never given in the call that first brings its term.
    VoteCheck(TERM_NOT_READY, lambda b: b.term > b.own_term),
    VoteCheck(TERM_BELOW_LEDGER, lambda b: b.term < b.own_end[0]),
    VoteCheck("REJECT_TAKING_LEADERSHIP", lambda b: not b.to_itself and b.taking_over and b.own_end == b.end),
)
"""The checks of ``DLedgerLeaderElector#handleVote``; if no row fits, the vote is given."""


def vote_answer(checks: tuple[VoteCheck, ...], ballot: Ballot) -> str:
    """Return the answer of the first row that fits, ACCEPT without one."""
    return next((check.answer for check in checks if check.fits(ballot)), ACCEPT)


def answered_term(answer: str, ballot: Ballot) -> int:
    """Return the term in the answer: the voter's own, or that of its ledger where the ledger is the reason to
    refuse."""
    return ballot.own_end[0] if answer == TERM_BELOW_LEDGER else ballot.own_term


SMALLER, SAME, LARGER = -1, 0, 1
"""The term in an answer, compared with the term that the candidate asked for."""


@dataclass(frozen=True, slots=True)
class Possible:
    """The conditions of an answer: ``terms`` are the possible comparisons of its term with the requested one.

    ``from_itself``: a candidate that is a member and asks in its own term can get it from itself. ``for_another``: it
    is given only where the vote of the requested term was given to another candidate.
    """

    terms: frozenset[int]
    from_itself: bool
    for_another: bool


def _ballots() -> Iterator[Ballot]:
    """Yield one ballot for each case that the rows of :data:`VOTE_CHECKS` may tell apart."""
    asked, terms = 2, (1, 2, 3)
    ends = ((1, 2), (2, 1), (2, 2), (2, 3), (3, 2))
    votes, leaders = (None, "candidate", "other"), (None, "other")
    for voter, end in product(("candidate", "voter"), ((asked, 2), (3, 2))):
        for peers, own_term, own_end in product((("candidate", "voter"), ("voter",)), terms, ends):
            for vote, leader, taking_over in product(votes, leaders, (False, True)):
                yield Ballot(
                    *(voter, "candidate", peers, asked, end, own_term, own_end, vote, leader), taking_over=taking_over
                )


def _possible() -> dict[str, Possible]:
    given: dict[str, list[Ballot]] = {}
    for ballot in _ballots():
        given.setdefault(vote_answer(VOTE_CHECKS, ballot), []).append(ballot)
    return {
        answer: Possible(
            terms=frozenset(_compared(answered_term(answer, ballot), ballot.term) for ballot in ballots),
            from_itself=any(b.to_itself and b.own_term == b.term and b.candidate in b.peers for b in ballots),
            for_another=all(ballot.voted_otherwise for ballot in ballots),
        )
        for answer, ballots in given.items()
    }


def _compared(term: int, asked: int) -> int:
    return (term > asked) - (term < asked)


ANSWERS: Mapping[str, Possible] = _possible()
"""For each answer that a voter can give, what follows from the rows of :data:`VOTE_CHECKS`."""

UNEXPECTED_LEADER = "REJECT_UNEXPECTED_LEADER"
"""The answer to another process's request under the voter's own id (``handleVote``, ``[BUG] [HandleVote]``). No row
gives it, since members with one list of members send no such request."""


# -- rounds of voting -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    """The answers of one round of voting so far; ``valid`` counts those of members that could be reached."""

    members: int
    term: int
    max_term: int
    answered: int = 0
    valid: int = 0
    accepted: int = 0
    not_ready: int = 0
    bigger_ledger: int = 0
    has_leader: bool = False

    def counting(self, answer: str, term: int) -> "Tally":
        """Return the tally with one more answer; the voter's term counts only in an answer that the term is too old."""
        too_old = answer in (EXPIRED_TERM, TERM_BELOW_LEDGER)
        return replace(
            self,
            answered=self.answered + 1,
            valid=self.valid + (answer != UNKNOWN),
            accepted=self.accepted + (answer == ACCEPT),
            not_ready=self.not_ready + (answer == TERM_NOT_READY),
            bigger_ledger=self.bigger_ledger + (answer in SHORTER_LEDGER),
            has_leader=self.has_leader or answer == ALREADY_HAS_LEADER,
            max_term=max(self.max_term, term) if too_old else self.max_term,
        )

    def is_over(self, quorum: int) -> bool:
        """Return True when the candidate need not wait for more answers."""
        enough = self.accepted >= quorum or self.accepted + self.not_ready >= quorum
        return self.has_leader or enough or self.answered == self.members


@dataclass(frozen=True, slots=True, eq=False)
class RoundResult:
    """One row: the result of a tally that fits it, and the extra pause (ms; None: no pause at all). Rows compare by
    identity."""

    result: str
    more_pause_ms: int | None
    fits: Callable[[Tally, int], bool]


ROUND_RESULTS: tuple[RoundResult, ...] = (
    RoundResult(WAIT_TO_VOTE_NEXT, 0, lambda t, _: t.max_term > t.term),
    RoundResult(WAIT_TO_REVOTE, SILENCE_MS, lambda t, _: t.has_leader),
    RoundResult(WAIT_TO_REVOTE, 0, lambda t, quorum: t.valid < quorum),
    RoundResult(WAIT_TO_REVOTE, 1000, lambda t, quorum: t.valid - t.bigger_ledger < quorum),
    RoundResult(PASSED, None, lambda t, quorum: t.accepted >= quorum),
    RoundResult(REVOTE_IMMEDIATELY, None, lambda t, quorum: t.accepted + t.not_ready >= quorum),
    RoundResult(WAIT_TO_VOTE_NEXT, 0, lambda _t, _quorum: True),
)
"""The results of a round of voting (``DLedgerLeaderElector#maintainAsCandidate``)."""


def round_outcome(results: tuple[RoundResult, ...], tally: Tally, quorum: int) -> RoundResult:
    """Return the first row that fits."""
    return next(row for row in results if row.fits(tally, quorum))


def _answered_once_more() -> Iterator[tuple[Tally, Tally]]:
    """Yield (tally, the same with one more answer) for all tallies of a round of three members."""
    asked = 1
    answers = (
        (EXPIRED_TERM, asked + 1),
        *((answer, asked) for answer in (*ANSWERS, UNKNOWN) if answer != EXPIRED_TERM),
    )
    tallies = {Tally(members=3, term=asked, max_term=asked)}
    for _ in range(3):
        more = {(tally, tally.counting(answer, term)) for tally in tallies for answer, term in answers}
        yield from more
        tallies = {tally for _, tally in more}


LATE_ROWS: frozenset[RoundResult] = frozenset(
    row
    for row in ROUND_RESULTS
    if any(row.fits(after, 2) and not row.fits(before, 2) for before, after in _answered_once_more())
)
"""Rows that one more answer can make fit: one that fits a later tally need not have fitted at the decision. Every other
row can only cease to fit: if it fits a later tally, it fitted at the decision too."""


# -- heartbeats ------------------------------------------------------------------------------------------------------

SUCCESS, UNKNOWN_GROUP, UNKNOWN_MEMBER, EXPIRED, OTHER_LEADER, NOT_READY = 200, 400, 401, 403, 409, 416
TAKE_LEADERSHIP_FAILED, INTERNAL_ERROR = 418, 500
"""``DLedgerResponseCode``, of answers to heartbeats and to requests of a leadership transfer."""


@dataclass(frozen=True, slots=True)
class Beat:
    """A heartbeat, and its receiver's state."""

    sender: str
    peers: tuple[str, ...]
    term: int
    own_term: int
    leader: str | None


@dataclass(frozen=True, slots=True)
class BeatCheck:
    """One row: the code that answers a heartbeat that fits it."""

    code: int
    fits: Callable[[Beat], bool]


BEAT_CHECKS: tuple[BeatCheck, ...] = (
    BeatCheck(UNKNOWN_MEMBER, lambda b: b.sender not in b.peers),
    BeatCheck(EXPIRED, lambda b: b.term < b.own_term),
    BeatCheck(NOT_READY, lambda b: b.term > b.own_term),
    BeatCheck(OTHER_LEADER, lambda b: b.leader not in (None, b.sender)),
    BeatCheck(SUCCESS, lambda _: True),
)
"""The checks of ``DLedgerLeaderElector#handleHeartBeat``: a member's vote does not matter."""


def beat_answer(beat: Beat) -> int:
    """Return the code of the first row that fits."""
    return next(check.code for check in BEAT_CHECKS if check.fits(beat))
