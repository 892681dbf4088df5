"""The stories of rings: faults that the election must survive, and what it does not survive, in both its forms."""

from dataclasses import replace

from election_replay.election_core.protocols.highest_id.id_order import rank
from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.highest_id import stories
from election_replay.election_core.simulate.highest_id.play import ElectionPlay
from election_replay.election_core.simulate.highest_id.stories import Story, datagrams
from election_replay.election_core.simulate.scenario import Scenario
from election_replay.election_core.simulate.token_ring import machine
from election_replay.election_core.simulate.token_ring.machine import Member, Rules

GROUP = "ring-1"
RING = ("P3", "P5", "P2", "P1", "P4")
TEN = ("P3", "P10", "P2", "P9", "P4")
"""Names whose order as texts is another one than by their numbers."""
ONE_ID = Rules(one_id=True)


def _played(story: Story, rules: Rules = Rules(), ring: tuple[str, ...] = RING) -> Scenario:  # noqa: B008 - frozen
    return Scenario(
        f"ring-{story.name}",
        "token_ring",
        story.broken,
        story.meaning,
        ElectionPlay(machine, "RING", GROUP, numbered=story.numbered),
        lambda: {name: Member(name, ring, rules) for name in sorted(ring, key=rank)},
        story.script,
        datagrams(story.prepare),
    )


def _one_id(story: Story) -> Scenario:
    meaning = f"{story.meaning}; one id in the message"
    return _played(replace(story, name=f"one-id-{story.name}", meaning=meaning), ONE_ID)


_IN_BOTH_FORMS = {"healthy", "kill-leader", "lost-lines", "late-messages", "deaths", "two-sides-numbered", "any-faults"}

_kill = scripts.kill_leader
_first = Story("names-the-first", "a bug: the list makes its first id leader", _kill, broken=True)
_by_text = Story("compares-texts", "a bug: P9 is taken for higher than P10", _kill, broken=True)
_smaller = Story("one-id-passes-the-smaller-on", "a bug: the smaller of two ids goes on", _kill, broken=True)

SCENARIOS = (
    *(_played(story) for story in (*stories.SAFE, *stories.BROKEN)),
    *(_one_id(story) for story in (*stories.SAFE, *stories.BROKEN) if story.name in _IN_BOTH_FORMS),
    _played(_first, Rules(named=lambda members: members[0])),
    _played(_by_text, Rules(named=max), TEN),
    _played(_smaller, Rules(one_id=True, larger=lambda node, other: rank(node) < rank(other))),
)
