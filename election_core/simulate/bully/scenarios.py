"""The stories of Bully groups: faults that the algorithm must survive, and what it does not survive."""

from election_replay.election_core.protocols.highest_id.id_order import higher
from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.bully import machine
from election_replay.election_core.simulate.bully.machine import Member, Rules
from election_replay.election_core.simulate.highest_id import stories
from election_replay.election_core.simulate.highest_id.play import ElectionPlay
from election_replay.election_core.simulate.highest_id.stories import Story, datagrams
from election_replay.election_core.simulate.scenario import Scenario

GROUP = "bully-1"
NAMES = ("P1", "P2", "P3", "P4", "P5")
TEN = ("P1", "P7", "P8", "P9", "P10")
"""Names whose order as texts is another one than by their numbers."""


def _played(story: Story, rules: Rules = Rules(), names: tuple[str, ...] = NAMES) -> Scenario:  # noqa: B008 - frozen
    return Scenario(
        f"bully-{story.name}",
        "bully",
        story.broken,
        story.meaning,
        ElectionPlay(machine, "BULLY", GROUP, numbered=story.numbered),
        lambda: {name: Member(name, names, rules) for name in names},
        story.script,
        datagrams(story.prepare),
    )


ONLY_THE_NEXT = Rules(asked=lambda node, others: tuple(sorted(higher(node, others)))[:1])
IMPATIENT = Rules(ok_ms=(1, 2))
BY_TEXT = Rules(
    asked=lambda node, others: tuple(other for other in others if other > node),
    accepts=lambda node, other: other > node,
)

_kill = scripts.kill_leader
_next = Story("asks-only-the-next", "a bug: a node asks the next higher one, not all", stories.kill_next, broken=True)
_impatient = Story("impatient", "a bug: a node does not wait for answers", _kill, broken=True)
_impatient_numbered = Story("impatient-numbered", "the same bug; elections are numbered", _kill, True, True)
_by_text = Story("compares-texts", "a bug: P9 is taken for higher than P10", _kill, broken=True)

SCENARIOS = (
    *(_played(story) for story in (*stories.SAFE, *stories.BROKEN)),
    _played(_next, ONLY_THE_NEXT),
    _played(_impatient, IMPATIENT),
    _played(_impatient_numbered, IMPATIENT),
    _played(_by_text, BY_TEXT, TEN),
)
