"""Changes of an etcd cluster's members by an operator during faults: members are added, removed and replaced."""

from collections.abc import Callable
from functools import partial

from election_replay.election_core.simulate.nemesis import Nemesis
from election_replay.election_core.simulate.raft.machine import Change


def _asked(nemesis: Nemesis, words: str, change: Callable[[Change], Change], done: Callable[[], None]) -> None:
    """Ask the leader for other members; ``done`` follows where that is in force a little later."""
    stage, leader = nemesis.stage, nemesis.stage.leader()
    if leader is None:
        return
    wanted = change(_known_to(nemesis, leader))
    stage.ask(leader, wanted, words)

    def look() -> None:
        known = [_known_to(nemesis, name) for name in stage.up()]
        if any((now.voters, now.learners) == (wanted.voters, wanted.learners) for now in known):
            done()

    nemesis.later(1, 3, look)


def _known_to(nemesis: Nemesis, name: str) -> Change:
    process = nemesis.stage.world.processes[name]
    known: Change = process.state.members(process.member.peers)
    return known


def _next(nemesis: Nemesis) -> str | None:
    """Return a machine that has not joined and that no running member knows; None if there is none."""
    world = nemesis.stage.world
    known = {peer for name in nemesis.stage.up() for peer in _known_to(nemesis, name).everybody}
    return next((name for name in world.names() if name in world.joining - known), None)


def scale_out(nemesis: Nemesis, _: str) -> None:
    """Add a voter."""
    _join(nemesis, lambda now, new: Change((*now.voters, new), now.learners), None)


def learn(nemesis: Nemesis, _: str) -> None:
    """Add a learner, which becomes a voter later."""

    def promote(new: str) -> None:
        def promoted(now: Change) -> Change:
            return Change((*now.voters, new), tuple(name for name in now.learners if name != new))

        nemesis.later(5, 40, partial(_asked, nemesis, f"promote {new}", promoted, lambda: None))

    _join(nemesis, lambda now, new: Change(now.voters, (*now.learners, new)), promote)


def _join(nemesis: Nemesis, change: Callable[[Change, str], Change], then: Callable[[str], None] | None) -> None:
    new = _next(nemesis)
    if new is None:
        return

    def begin() -> None:
        nemesis.stage.world.joining.discard(new)
        nemesis.names.append(new)
        nemesis.stage.start(new)
        if then is not None:
            then(new)

    _asked(nemesis, f"add {new}", lambda now: change(now, new), begin)


def scale_in(nemesis: Nemesis, name: str, then: Callable[[], None] = lambda: None) -> None:
    """Remove a voter unless it leads or fewer than three vote."""
    leader = nemesis.stage.leader()
    if leader in (None, name) or len(_known_to(nemesis, str(leader)).voters) < 3:
        return

    def without(now: Change) -> Change:
        voters, learners = (tuple(each for each in names if each != name) for names in (now.voters, now.learners))
        return Change(voters, learners)

    def end() -> None:
        if name in nemesis.names:
            nemesis.names.remove(name)
        if name in nemesis.stage.up():
            nemesis.stage.kill(name)
        then()

    _asked(nemesis, f"remove {name}", without, end)


def replace(nemesis: Nemesis, name: str) -> None:
    """Remove a voter, then add another one."""
    scale_in(nemesis, name, partial(scale_out, nemesis, name))


MOVES = (scale_out, learn, scale_in, replace)
"""All of these."""
