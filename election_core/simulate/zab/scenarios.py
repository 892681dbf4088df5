"""Scenarios of ZooKeeper ensembles: faults that ZAB must survive, and bugs and errors that break it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from election_replay.election_core.protocols.zab.tables import Vote
from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.machine import Write
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import a_follower, frozen, healed, led, mute, once_led, to
from election_replay.election_core.simulate.world import SECOND, Play, World
from election_replay.election_core.simulate.zab import machine
from election_replay.election_core.simulate.zab.machine import EPOCH_FILE, LOG_FILE, Member, Rules, State
from election_replay.election_core.simulate.zab.voice import NAMES, SIDS, ServerVoice


def _established_in(state: State) -> int | None:
    """Return the epoch in which a server is established; an elected server leads nobody yet."""
    return state.epoch if (state.role, state.phase) == (machine.LEADING, machine.BROADCAST) else None


_PLAY = Play(
    machine, ServerVoice, _established_in, lambda state: state.committed, Write, monotonic=True, connected=True
)


def _story(
    name: str,
    meaning: str,
    script: Callable[[Stage], Script],
    *,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    names: tuple[str, ...] = NAMES,
    **more: Any,
) -> Scenario:
    cast = {member: Member(member, names, rules) for member in names}
    return Scenario(f"zab-{name}", "zab", meaning, script, _PLAY, cast, **more)


# -- safe: faults that the protocol must survive --------------------------------------------------------------------


SAFE: tuple[Scenario, ...] = (
    *scripts.survived(_story, flaps=scripts.flapping((20, 30), (14, 18))),
    _story(
        "isolated-leader-hasty",
        "the leader is cut off, where a tick takes half a second",
        scripts.isolated_leader,
        rules=Rules(tick_ms=500),
    ),
    _story(
        "frozen-leader-patient",
        "the leader gets no time for half a minute, where a tick takes three seconds",
        scripts.frozen_leader,
        rules=Rules(tick_ms=3_000),
    ),
    _story(
        "kill-leader-patient",
        "kill -9 of the leader, where a tick takes three seconds",
        scripts.kill_leader,
        rules=Rules(tick_ms=3_000),
    ),
    _story(
        "frozen-follower",
        "a follower gets no time for half a minute",
        once_led(led(10, 20), to(a_follower, frozen(20, 35)), then=(20, 30)),
    ),
    _story(
        "mute-leader",
        "nobody hears the leader, which hears everybody",
        once_led(led(10, 20), mute, healed(25, 35), then=(25, 35)),
    ),
    _story(
        "doubled-messages",
        "one message in five arrives twice, some late, and the leader is cut off",
        scripts.isolated_leader,
        prepare=scripts.doubling_network,
    ),
)

# -- broken: a bug, or an operator's error ---------------------------------------------------------------------------


def _old_copies(stage: Stage) -> Script:
    """Two servers' disks are restored from before the epoch in which a third one leads."""
    first = yield from stage.led_for(5, 10)
    copies = {name: stage.copy_of_disk(name) for name in stage.names}
    if first is None:
        return
    stage.kill(first)
    second = yield from stage.led_again(first)
    yield from stage.seconds(5, 8)
    stage.start(first)
    yield from stage.seconds(8, 12)
    if second is not None:
        stage.isolate(second)
        for name in stage.names:
            if name != second:
                stage.kill(name)
                stage.put_back(name, copies[name])
                stage.start(name)
        yield from stage.led_again(second)
        yield from stage.healed_after(5, 10)
    yield from stage.seconds(25, 35)


def _forgetful_server(stage: Stage) -> Script:
    """A server comes back with an empty disk."""
    leader = yield from stage.led_for(10, 20)
    if leader is not None:
        stage.kill(leader)
        yield from stage.led_again(leader)
        yield from stage.seconds(5, 10)
        stage.start(leader)
        yield from stage.seconds(10, 15)
    name = stage.rng.choice(stage.followers())
    stage.kill(name)
    for file in (EPOCH_FILE, LOG_FILE):
        stage.lose(name, file)
    stage.start(name)
    yield from stage.seconds(20, 30)


def _left_behind(times: int) -> Callable[[Stage], Script]:
    """Return a script: the server with the largest id misses what the others commit, and returns for the next election.
    Twice: they have another election before that, and it misses what their leader was established with."""

    def script(stage: Stage) -> Script:
        yield from stage.led_for(5, 10)
        behind = stage.names[-1]
        stage.kill(behind)
        yield from stage.led_again(behind)
        yield from stage.seconds(10, 15)
        for returning in (stage.names[:-1], stage.names)[-times:]:
            for name in stage.up():
                stage.kill(name)
            yield from stage.seconds(2, 5)
            for name in reversed(returning):
                stage.start(name)
            yield from stage.until_led()
            yield from stage.seconds(20, 30)

    return script


def _together(stage: Stage) -> Script:
    """All start at one moment."""
    yield from stage.start_all(0.002)
    yield from stage.seconds(30, 40)


def _late_clock(world: World) -> None:
    """One clock is behind by far more than its bound: a leader's effects seem to precede it."""
    world.processes[world.rng.choice(NAMES)].clock.offset_us = -world.rng.randrange(45, 90) * SECOND


def _by_id_alone(new: Vote, held: Vote) -> bool:
    return new.leader > held.leader


_broken = partial(_story, broken=True)

BROKEN: tuple[Scenario, ...] = (
    _broken("old-copies", "old copies of two servers' disks are put back: an epoch is given away twice", _old_copies),
    _broken("forgetful-server", "a server loses its disk and comes back with nothing", _forgetful_server),
    _broken(
        "largest-id-wins",
        "a bug: votes are compared by id alone, and winners do not look at their followers' logs",
        _left_behind(1),
        rules=Rules(better=_by_id_alone, ahead=lambda _follower, _leader: False),
    ),
    _broken(
        "largest-id-wins-later",
        "the same bug, after a leader had been established with all that the largest lacks",
        _left_behind(2),
        rules=Rules(better=_by_id_alone, ahead=lambda _follower, _leader: False),
    ),
    _broken("lonely-quorum", "a bug: one server is taken for a quorum", _together, rules=Rules(quorum=lambda _: 1)),
    _broken(
        "clings-to-power",
        "a bug: a leader without followers does not give up",
        scripts.isolated_leader,
        rules=Rules(gives_up=False),
    ),
    _broken(
        "wrong-clock",
        "one clock is off by far more than its bound, and the leader is killed",
        scripts.kill_leader,
        prepare=scripts.wrong_clock,
    ),
    _broken(
        "late-clock",
        "one clock is behind by far more than its bound, and the leader is killed",
        scripts.kill_leader,
        prepare=_late_clock,
    ),
    _broken(
        "clock-steps", "a clock is set while all are running, and the leader is killed", scripts.clock_step_then_kill
    ),
)

SCENARIOS = (*SAFE, *BROKEN)


def of_size(voters: int) -> Scenario:
    """Return a scenario of any faults among this many voters."""
    names = tuple(SIDS)[:voters]
    return _story(f"{voters}-voters-any-faults", f"faults among {voters} voters", scripts.any_faults, names=names)
