"""A world as a story: faults, what the members do about them, and why, where a thing is new."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from election_replay.election_core.simulate.machine import Say
from election_replay.election_core.simulate.world import SECOND, World

Values = dict[str, Any]
"""What a line says, by column."""

Sentences = Mapping[str, Callable[[Values], str | None]]
"""How each kind of line is told, after the name of its node; a kind that is not here, or ``None``, is not told."""


AGAIN_US = 3 * SECOND // 2
"""What is repeated sooner than this is one thing."""


def story(world: World, sentences: Sentences, why: Mapping[str, str]) -> Iterator[str]:
    """The story, line by line; ``why`` explains a kind when it is told for the first time."""
    events: list[tuple[int, int, str, Say | None]] = [
        (fault.true_us, 0, f"        >>> {fault.action}{f' {fault.node}' if fault.node else ''}"
         f"{f', {fault.detail}' if fault.detail else ''}", None) for fault in world.faults
    ]  # fmt: skip
    width = max(4, *(len(name) + 2 for name in world.names()))
    for line in world.lines:
        if line.say is not None and line.say.kind in sentences:
            sentence = sentences[line.say.kind](dict(line.say.values))
            if sentence is not None:
                events.append((line.true_us, 1, f"{line.node:<{width}}{sentence}", line.say))
    for time_us, text in _shortened(events, why):
        yield f"{(time_us - world.began_us) / SECOND:8.2f} s  {text}" if time_us >= 0 else text


def _shortened(events: list[tuple[int, int, str, Say | None]], why: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """What is said over and over within a moment is said once; the first of a kind gets its explanation."""
    recent: dict[str, int] = {}
    explained: set[str] = set()
    for time_us, _, text, say in sorted(events, key=lambda event: event[:2]):
        if time_us - recent.get(text, -AGAIN_US) >= AGAIN_US:
            yield time_us, text
            if say is not None and say.kind in why and say.kind not in explained:
                explained.add(say.kind)
                yield -1, f"{'':15}({why[say.kind]})"
        recent[text] = time_us
