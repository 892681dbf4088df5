"""A message reaches the process to which it was sent, or none."""

from collections.abc import Generator, Mapping
from random import Random
from types import SimpleNamespace
from typing import Any

from election_replay.election_core.simulate.machine import Act, Asked, Heard, Input, Send, Unanswered
from election_replay.election_core.simulate.world import Play, World

Inputs = tuple[Input, ...]


class Post:
    """Sends on request, and keeps what it gets."""

    def start(self, member: str, stored: Mapping[str, Any], now_ms: int) -> tuple[Inputs, tuple[Act, ...]]:  # noqa: ARG002
        return (), ()

    def step(self, member: str, state: Inputs, now_ms: int, incoming: Input) -> tuple[Inputs, tuple[Act, ...]]:  # noqa: ARG002
        sent = (Send("b", incoming.request),) if isinstance(incoming, Asked) else ()
        return (*state, incoming), sent


SILENT = SimpleNamespace(boot=lambda *_: [], stopping=lambda *_: [], render=lambda *_: [])


def heard_over_a_cut(*, b_starts_again: bool) -> tuple[Inputs, Inputs]:
    """What each has got in the end: "first" was sent while b was down, "second" to b's first process, over a cut."""
    world = World(Play(Post(), lambda _: SILENT, lambda _: None), {"a": "a", "b": "b"}, Random(1), 0)

    def script() -> Generator[int, None, None]:
        world.start("a")
        world.network.cut_between("a", "b")
        world.ask("a", "first")
        yield 100
        world.start("b")
        world.ask("a", "second")
        yield 1000
        if b_starts_again:
            world.kill("b")
            world.start("b")
        world.network.cuts.clear()
        yield 2000

    world.run(script())
    return world.processes["a"].state, world.processes["b"].state


def test_what_was_sent_to_a_process_is_no_news_for_the_next_one() -> None:
    """Its machine resets the connection of the process before it: the sender learns of that."""
    sent, got = heard_over_a_cut(b_starts_again=True)
    assert got == ()
    assert {each.message for each in sent if isinstance(each, Unanswered) and each.refused} == {"first", "second"}


def test_whoever_was_down_is_reached_once_it_runs() -> None:
    _, got = heard_over_a_cut(b_starts_again=False)
    assert set(got) == {Heard("a", "first"), Heard("a", "second")}
