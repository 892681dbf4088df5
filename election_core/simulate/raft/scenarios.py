"""Scenarios of etcd clusters: faults that Raft must survive, and bugs and errors that break it."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from election_replay.election_core.protocols.raft.tables import LOST, WON, Ballot, count, is_behind, may_vote
from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.machine import Transfer, Write
from election_replay.election_core.simulate.nemesis import FAULTS, wildly
from election_replay.election_core.simulate.raft import machine
from election_replay.election_core.simulate.raft.machine import STATE_FILE, Leave, Member, Rules
from election_replay.election_core.simulate.raft.moves import MOVES
from election_replay.election_core.simulate.raft.voice import IDS, EtcdVoice
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import (
    a_follower,
    hand_over,
    healed,
    led,
    mute,
    once_led,
    started_within,
    to,
)
from election_replay.election_core.simulate.world import SECOND, Play, World

NAMES = tuple(IDS)[:3]

HELD_US = 5 * SECOND
"""etcd closes a connection after this silence (us): messages under way are lost."""


def _story(
    name: str,
    meaning: str,
    script: Callable[[Stage], Script],
    *,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    names: tuple[str, ...] = NAMES,
    joining: tuple[str, ...] = (),
    **more: Any,
) -> Scenario:
    play = Play(
        machine,
        lambda rng: EtcdVoice(rng, rules, names),
        lambda state: state.term if state.role == machine.LEADER else None,
        lambda state: state.committed,
        Write,
        monotonic=True,
        connected=True,
        held_us=HELD_US,
        leave=Leave(),
    )
    cast = {member: Member(member, names, rules) for member in (*names, *joining)}
    return Scenario(f"raft-{name}", "raft", meaning, script, play, cast, joining=joining, **more)


# -- safe: faults that the protocol must survive --------------------------------------------------------------------


_isolated_follower = once_led(led(10, 20), to(a_follower, Stage.isolate), healed(20, 35), then=(20, 30))
_left_behind = once_led(
    led(5, 10),
    *(to(a_follower, Stage.isolate), healed(15, 20), Stage.kill, Stage.led_again, (5, 10), Stage.start),
    then=(15, 25),
)
"""A member misses what the others commit, and returns at the moment at which the leader dies."""


def _lost_lines(world: World) -> None:
    world.drops = 0.05


_WITHOUT_PRE_VOTE = Rules(pre_vote=False)
_PATIENT = Rules(heartbeat_ms=500, election_ms=5_000)
_HASTY = Rules(heartbeat_ms=50, election_ms=500)

SAFE: tuple[Scenario, ...] = (
    *scripts.survived(_story, losing=_lost_lines),
    _story(
        "isolated-leader-without-pre-vote",
        "the leader is cut off, and no round before an election keeps its term from climbing",
        scripts.isolated_leader,
        rules=_WITHOUT_PRE_VOTE,
    ),
    _story(
        "isolated-follower-without-pre-vote",
        "a follower is cut off; its term climbs, and when it is back the leader has to give up",
        _isolated_follower,
        rules=_WITHOUT_PRE_VOTE,
    ),
    _story(
        "isolated-leader-patient",
        "the leader is cut off, where the members wait five seconds for each other",
        scripts.isolated_leader,
        rules=_PATIENT,
    ),
    _story(
        "frozen-leader-patient",
        "the leader gets no time for half a minute, where the members wait five seconds for each other",
        scripts.frozen_leader,
        rules=_PATIENT,
    ),
    _story(
        "kill-leader-hasty",
        "kill -9 of the leader, where the members wait half a second for each other",
        scripts.kill_leader,
        rules=_HASTY,
    ),
    _story(
        "isolated-leader-hasty",
        "the leader is cut off, where the members wait half a second for each other",
        scripts.isolated_leader,
        rules=_HASTY,
    ),
    _story("transfer", "an operator asks the leader to hand over", once_led(led(10, 20), hand_over, then=(20, 30))),
    _story(
        "mute-leader",
        "nobody hears the leader, which hears everybody",
        once_led(led(10, 20), mute, healed(20, 30), then=(20, 30)),
    ),
    _story(
        "doubled-messages",
        "one message in five arrives twice, some late, and the leader is cut off",
        scripts.isolated_leader,
        prepare=scripts.doubling_network,
    ),
)

# -- broken: a bug, or an operator's error ---------------------------------------------------------------------------


def _forgetful_member(stage: Stage) -> Script:
    """A member whose term has climbed while it was cut off loses its hard state, and votes in a smaller term."""
    yield from stage.led_for(5, 10)
    name = stage.rng.choice(stage.followers())
    stage.isolate(name)
    yield from stage.seconds(30, 40)
    stage.kill(name)
    stage.lose(name, STATE_FILE)
    stage.heal()
    stage.start(name)
    yield from stage.seconds(3, 6)
    leader = stage.leader()
    if leader is not None:
        stage.kill(leader)
        yield from stage.led_again(leader)
    yield from stage.seconds(15, 25)


def _handed_around(stage: Stage) -> Script:
    """Every member leads once: each pair of clocks is compared both ways."""
    yield from stage.start_all()
    yield from stage.until_led()
    for _ in stage.names:
        yield from stage.seconds(5, 15)
        leader = stage.leader()
        if leader is not None:
            to = stage.names[(stage.names.index(leader) + 1) % len(stage.names)]
            stage.ask(leader, Transfer(to), f"hand over to {to}")
    yield from stage.seconds(20, 30)


def _votes_for_everybody(ballot: Ballot) -> bool:
    return not is_behind(ballot.end, ballot.own_end)


def _one_is_enough(answers: Iterable[bool], voters: int) -> str:  # noqa: ARG001 - that is the bug
    return count(answers, 1)


def _lost_is_won(answers: Iterable[bool], voters: int) -> str:
    counted = count(answers, voters)
    return WON if counted == LOST else counted


_broken = partial(_story, broken=True)

BROKEN: tuple[Scenario, ...] = (
    _broken(
        "old-copy",
        "old copies of two members' disks are put back: they vote twice in one term",
        scripts.old_copy((5, 8), (3, 5), (5, 8), (20, 30), of_both=True),
    ),
    _broken(
        "forgetful-member",
        "a member loses its term and votes in a term below one that it had reached",
        _forgetful_member,
        rules=_WITHOUT_PRE_VOTE,
    ),
    _broken(
        "votes-twice",
        "a bug: a vote does not bind the voter",
        once_led(started_within(0.002, 15, 20), Stage.kill, then=(20, 30)),
        rules=Rules(granted=_votes_for_everybody, pre_vote=False),
    ),
    _broken(
        "stale-log-vote",
        "a bug: voters do not look at the candidate's log",
        _left_behind,
        rules=Rules(granted=may_vote, pre_vote=False),
    ),
    _broken(
        "lonely-quorum",
        "a bug: one vote is taken for a quorum",
        scripts.two_halves((20, 30)),
        rules=Rules(count=_one_is_enough),
    ),
    _broken(
        "lost-is-won",
        "a bug: a candidate that most have refused takes itself for elected",
        _isolated_follower,
        rules=Rules(count=_lost_is_won, pre_vote=False, check_quorum=False),
    ),
    _broken(
        "without-check-quorum",
        "CheckQuorum is off: a leader that is cut off does not give up",
        scripts.isolated_leader,
        rules=Rules(check_quorum=False),
    ),
    _broken(
        "wrong-clock",
        "one clock is off by far more than its bound, while leadership is handed around",
        _handed_around,
        prepare=scripts.wrong_clock,
    ),
    _broken(
        "clock-steps", "a clock is set while all are running, and the leader is killed", scripts.clock_step_then_kill
    ),
)

SCENARIOS = (*SAFE, *BROKEN)


def moving() -> Scenario:
    """Three members found a cluster; members join and leave during wild faults."""
    script = wildly((*FAULTS, *MOVES, *MOVES))
    return _story("wild-moving", "members come and go beside faults", script, broken=True, joining=tuple(IDS)[3:])


def of_size(voters: int) -> Scenario:
    """Return a scenario of any faults among this many voters."""
    names = tuple(IDS)[:voters]
    return _story(f"{voters}-voters-any-faults", f"faults among {voters} voters", scripts.any_faults, names=names)
