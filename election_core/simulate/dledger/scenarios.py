"""Scenarios of DLedger groups: faults that the protocol must survive, and bugs and errors that break it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from election_replay.election_core.protocols.dledger.tables import (
    ALREADY_HAS_LEADER,
    ALREADY_VOTED,
    REVOTE_IMMEDIATELY,
    ROUND_RESULTS,
    SUCCESS,
    TAKE_LEADERSHIP_FAILED,
    TERM_NOT_READY,
    VOTE_CHECKS,
    Ballot,
    RoundResult,
    VoteCheck,
)
from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.dledger import machine
from election_replay.election_core.simulate.dledger.machine import TERM_FILE, Member, Rules
from election_replay.election_core.simulate.dledger.voice import BrokerVoice
from election_replay.election_core.simulate.machine import Write
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import hand_over, led, once_led, started_within
from election_replay.election_core.simulate.world import Play

GROUP = "RaftNode00"
NAMES = ("n0", "n1", "n2")
FIVE = ("n0", "n1", "n2", "n3", "n4")
UNKNOWN_RELEASE = "/opt/rocketmq-all-6.1.0-bin-release"


def _story(
    name: str,
    meaning: str,
    script: Callable[[Stage], Script],
    *,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    names: tuple[str, ...] = NAMES,
    home: str = "/opt/rocketmq",
    **more: Any,
) -> Scenario:
    """Return a scenario of the release in the folder ``home``."""
    play = Play(
        machine,
        lambda rng: BrokerVoice(GROUP, names, rng, home),
        lambda state: state.term if state.role == machine.LEADER else None,
        lambda state: state.committed,
        Write,
    )
    cast = {member: Member(member, GROUP, names, rules) for member in names}
    return Scenario(f"dledger-{name}", "dledger", meaning, script, play, cast, **more)


# -- safe: faults that the protocol must survive --------------------------------------------------------------------


def _transfers(stage: Stage) -> Script:
    """An operator asks four times for another leader."""
    yield from stage.start_all()
    for _ in range(4):
        leader = yield from stage.until_led()
        yield from stage.seconds(10, 20)
        if leader is not None and stage.followers():
            hand_over(stage, leader)
    yield from stage.seconds(25, 35)


def _kill_two(stage: Stage) -> Script:
    """The leader dies, and then the one that took over; both come back."""
    yield from stage.start_all()
    gone = []
    for _ in range(2):
        leader = yield from stage.until_led()
        yield from stage.seconds(12, 20)
        if leader is not None:
            stage.kill(leader)
            gone.append(leader)
    yield from stage.until_led()
    yield from stage.seconds(12, 20)
    for name in gone:
        stage.start(name)
    yield from stage.seconds(25, 35)


def _shipped_twice(stage: Stage) -> Script:
    """At the end one log is found in two folders."""
    yield from scripts.kill_leader(stage)
    name = stage.rng.choice(stage.names)
    stage.ship_twice(name, f"{name}-old-host")


SAFE: tuple[Scenario, ...] = (
    *scripts.survived(_story),
    _story("transfer", "an operator asks the leader to hand over", once_led(led(10, 20), hand_over, then=(25, 35))),
    _story("five-kill-two", "five brokers, of which two die: three are a majority", _kill_two, names=FIVE),
    _story("five-any-faults", "faults drawn at random, among five brokers", scripts.any_faults, names=FIVE),
    _story("unknown-release", "brokers of a release whose texts nobody knows", scripts.healthy, home=UNKNOWN_RELEASE),
    _story("shipped-twice", "the log of one broker is shipped under two names", _shipped_twice),
)

# -- broken: a bug, or an operator's error ---------------------------------------------------------------------------


def _forgetful_voters(stage: Stage) -> Script:
    """All members lose their term files with their processes."""
    yield from stage.led_for(10, 20)
    leader = stage.leader()
    if leader is None:
        return
    for name in stage.followers():
        stage.kill(name)
        stage.lose(name, TERM_FILE)
        stage.start(name)
    stage.isolate(leader)
    yield from stage.healed_after(15, 20)
    yield from stage.seconds(25, 35)


_cold_start = once_led(started_within(0.002, 20, 30), Stage.kill, then=(20, 30))


def _without(*answers: str) -> Rules:
    return Rules(vote_checks=tuple(check for check in VOTE_CHECKS if check.answer not in answers))


def _self_doubt() -> Rules:
    """A candidate whose vote was given to another answers itself that it is not ready for its own term."""

    def fits(ballot: Ballot) -> bool:
        return ballot.term > ballot.own_term or (ballot.to_itself and ballot.voted_otherwise)

    row = VoteCheck(TERM_NOT_READY, fits)
    return Rules(vote_checks=(row, *(check for check in VOTE_CHECKS if check.answer != TERM_NOT_READY)))


def _too_eager() -> Rules:
    """A round without a single vote is asked again at once."""
    eager = RoundResult(REVOTE_IMMEDIATELY, 0, lambda tally, _: tally.accepted == 0)
    return Rules(round_results=(*ROUND_RESULTS[:-1], eager, ROUND_RESULTS[-1]))


_broken = partial(_story, broken=True)

BROKEN: tuple[Scenario, ...] = (
    _broken(
        "old-copy",
        "an old copy of a voter's disk is put back: it votes twice in one term",
        scripts.old_copy((8, 12), (4, 6), (8, 12), (30, 40), of_both=False),
    ),
    _broken("forgetful-voters", "term files are lost with the processes: terms start anew", _forgetful_voters),
    _broken(
        "votes-twice",
        "a bug: a vote does not bind the voter",
        _cold_start,
        rules=_without(ALREADY_VOTED, ALREADY_HAS_LEADER),
    ),
    _broken(
        "lonely-quorum",
        "a bug: one vote is taken for a quorum",
        scripts.two_halves((25, 35)),
        rules=Rules(quorum=lambda _: 1),
    ),
    _broken(
        "clings-to-power",
        "a bug: a leader without quorum does not give up",
        scripts.isolated_leader,
        rules=Rules(leader_gives_up=False),
    ),
    _broken(
        "commits-alone",
        "a bug: a leader commits what it alone has written",
        scripts.isolated_leader,
        rules=Rules(commit_quorum=lambda _: 1, leader_gives_up=False),
    ),
    _broken(
        "impatient",
        "a bug: followers do not wait for the next heartbeat",
        scripts.healthy,
        rules=Rules(silence_ms=1500),
    ),
    _broken(
        "self-doubt",
        "a bug: a candidate calls itself not ready for its own term",
        scripts.kill_leader,
        rules=_self_doubt(),
    ),
    _broken("too-eager", "a bug: a lost round is asked again at once", scripts.kill_leader, rules=_too_eager()),
    _broken(
        "wrong-clock",
        "one clock is off by far more than its bound, and the leader is cut off",
        scripts.isolated_leader,
        prepare=scripts.wrong_clock,
    ),
    _broken("clock-steps", "a clock is set while all are running", scripts.clock_steps),
    _broken(
        "stays-in-its-term",
        "a bug: a candidate that is to raise its term keeps it",
        _cold_start,
        rules=Rules(next_term=lambda current, _: current),
    ),
    _broken(
        "says-it-failed",
        "a bug: who took leadership over says that it could not",
        _transfers,
        rules=Rules(taken_over=lambda code: TAKE_LEADERSHIP_FAILED if code == SUCCESS else code),
    ),
)

SCENARIOS = (*SAFE, *BROKEN)


def of_size(voters: int) -> Scenario:
    """Return a scenario of any faults among this many voters."""
    names = tuple(f"n{number}" for number in range(voters))
    return _story(f"{voters}-voters-any-faults", f"faults among {voters} voters", scripts.any_faults, names=names)
